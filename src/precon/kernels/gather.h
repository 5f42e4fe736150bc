/* The dense matrix of a problem, taken out of the sparse one: which rows there are, by a small
 * table of the problem's own, in the order in which vectors reach them. */
#ifndef SPRY_PRECON_GATHER_H
#define SPRY_PRECON_GATHER_H

#include "precon/kernels/wide.h"

/* Where a row is in a problem. */
typedef struct place {
    int32_t row, place; /* row -1: empty */
} place;

/* Where the entries of problem k's vectors are. Problems that are the same but for a shift of all
 * indices share one. */
typedef struct shape {
    int64_t k;       /* -1: none yet */
    int32_t rows;    /* how many there are */
    int32_t unit;    /* place of the 1 in e_k; -1: there is none */
    int32_t *places; /* of entries, in their order; -1: left out */
    int32_t *order;  /* cols: where each vector is */
    int32_t *reach;  /* cols: rows that the vectors up to each one that stands so reach */
} shape;

/* Room to order the vectors of a problem. */
typedef struct ordering {
    int32_t *starts, *users; /* rows + 2, entries: the vectors that use a row */
    int32_t *number;         /* rows: the place of a row; -1: not reached */
    int32_t *first, *fresh;  /* cols + 1: a vector's first entry; its rows that are not reached */
} ordering;

/* Those of a batch, and the last of the batch before. */
enum { SHAPES = WIDE + 1 };

/* A thread's room. */
typedef struct gather {
    int64_t ld;     /* rows of columns in `a` */
    wide *a;        /* (cols + 1) x ld: vectors, then e_k */
    wide *x;        /* cols: their factors; what diagonals are divided by */
    int64_t *reach; /* cols: the furthest of all problems */
    place *table;
    ordering room;
    shape shapes[SHAPES];
    int last; /* of shapes: that of the last problem */
} gather;

static inline int table_bits(int64_t rows)
{
    int bits = 4;
    while ((int64_t)1 << bits < 2 * rows && bits < 32)
        bits++;
    return bits;
}

/* Cuts a room up; with room == NULL, only counts its bytes. */
static inline int64_t gather_cut(const local_size *most, char *room, gather *g)
{
    enum { PARTS = 12 };
    const int64_t cols = most->cols + 1, rows = most->rows + 1;
    const int64_t sizes[PARTS] = {cols * rows * (int64_t)sizeof(wide),
                                  cols * (int64_t)sizeof(wide),
                                  cols * (int64_t)sizeof(int64_t),
                                  ((int64_t)sizeof(place) << table_bits(rows + 1)),
                                  SHAPES * most->entries * (int64_t)sizeof(int32_t),
                                  SHAPES * cols * (int64_t)sizeof(int32_t),
                                  SHAPES * cols * (int64_t)sizeof(int32_t),
                                  (rows + 2) * (int64_t)sizeof(int32_t),
                                  most->entries * (int64_t)sizeof(int32_t),
                                  rows * (int64_t)sizeof(int32_t),
                                  cols * (int64_t)sizeof(int32_t),
                                  cols * (int64_t)sizeof(int32_t)};
    char *parts[PARTS];
    int64_t at = 0;
    for (int k = 0; k < PARTS; k++) {
        parts[k] = room ? room + at : NULL;
        at += (sizes[k] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (!room)
        return at;
    *g = (gather){.ld = rows,
                  .a = (void *)parts[0],
                  .x = (void *)parts[1],
                  .reach = (void *)parts[2],
                  .table = (void *)parts[3],
                  .room = {.starts = (void *)parts[7],
                           .users = (void *)parts[8],
                           .number = (void *)parts[9],
                           .first = (void *)parts[10],
                           .fresh = (void *)parts[11]}};
    for (int k = 0; k < SHAPES; k++)
        g->shapes[k] = (shape){.k = -1,
                               .places = (int32_t *)(void *)parts[4] + k * most->entries,
                               .reach = (int32_t *)(void *)parts[5] + k * cols,
                               .order = (int32_t *)(void *)parts[6] + k * cols};
    return at;
}

ALWAYS_INLINE uint32_t table_start(int32_t row, int bits)
{
    return (uint32_t)row * 2654435769u >> (32 - bits);
}

/* The place of a row; one that is new gets place *count, and *count grows, or -1 where it must
 * exist. */
ALWAYS_INLINE int32_t table_find(place *table, int bits, int32_t row, bool fixed, int32_t *count)
{
    const uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1);
    uint32_t at = table_start(row, bits);
    while (table[at].row != row) {
        if (table[at].row < 0) {
            if (fixed)
                return -1;
            table[at] = (place){row, (*count)++};
            break;
        }
        at = (at + 1) & mask;
    }
    return table[at].place;
}

/* Whether problem k is the one before it, which has as many vectors, moved by one. */
static inline bool is_moved_by_one(const local_problems *p, int64_t k, int64_t cols)
{
    const int32_t *J = p->pattern + p->pattern_at[k], *I = p->pattern + p->pattern_at[k - 1];
    int32_t differ = 0;
    unsigned moved = 1;
    for (int64_t j = 0; j < cols; j++)
        differ |= J[j] - I[j] - 1;
    for (int64_t j = 0; j < cols && differ == 0; j++)
        moved &= p->moved[J[j]];
    return differ == 0 && moved;
}

/* Whether problem k is problem s->k moved along. */
static inline bool is_moved(const local_problems *p, int64_t k, const shape *s)
{
    if (s->k < 0)
        return false;
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    const int32_t *J = p->pattern + p->pattern_at[k], *I = p->pattern + p->pattern_at[s->k];
    const int32_t shift = (int32_t)(k - s->k);
    int32_t differ = (int32_t)(p->pattern_at[s->k + 1] - p->pattern_at[s->k] - cols);
    if (shift == 1 && differ == 0 && p->moved)
        return is_moved_by_one(p, k, cols);
    for (int64_t j = 0; j < cols && differ == 0; j++) {
        const int64_t length = p->at[J[j] + 1] - p->at[J[j]];
        const int32_t *new = p->columns + p->at[J[j]], *old = p->columns + p->at[I[j]];
        differ = J[j] - I[j] - shift;
        if (p->at[I[j] + 1] - p->at[I[j]] != length)
            return false;
        for (int64_t e = 0; e < length; e++)
            differ |= new[e] - old[e] - shift;
    }
    return differ == 0;
}

/* Which vectors use each row, from the places of entries. */
static inline void find_users(int64_t cols, const shape *s, const ordering *o)
{
    const int32_t entries = o->first[cols];
    memset(o->starts, 0, (size_t)(s->rows + 2) * sizeof *o->starts);
    for (int32_t e = 0; e < entries; e++)
        o->starts[s->places[e] + 2]++;
    for (int32_t i = 0; i < s->rows; i++) {
        o->starts[i + 2] += o->starts[i + 1];
        o->number[i] = -1;
    }
    for (int32_t j = 0; j < cols; j++)
        for (int32_t e = o->first[j]; e < o->first[j + 1]; e++)
            o->users[o->starts[s->places[e] + 1]++] = j;
}

/* The vector with the fewest rows that are new. */
static inline int32_t fewest(int64_t cols, const int32_t *fresh)
{
    int32_t best = 0;
    for (int32_t j = 1; j < cols; j++)
        best = fresh[j] < fresh[best] ? j : best;
    return best;
}

/* Puts vectors in the order in which the fewest rows are new each time, which makes most zeros, and
 * rows as that reaches them. */
static inline void order_vectors(int64_t cols, shape *s, const ordering *o)
{
    int32_t count = 0;
    find_users(cols, s, o);
    for (int32_t j = 0; j < cols; j++)
        o->fresh[j] = o->first[j + 1] - o->first[j];
    for (int32_t at = 0; at < cols; at++) {
        const int32_t j = fewest(cols, o->fresh);
        s->order[j] = at;
        for (int32_t e = o->first[j]; e < o->first[j + 1]; e++) {
            const int32_t row = s->places[e];
            if (o->number[row] >= 0)
                continue;
            o->number[row] = count++;
            for (int32_t u = o->starts[row]; u < o->starts[row + 1]; u++)
                o->fresh[o->users[u]]--;
        }
        o->fresh[j] = INT32_MAX; /* no longer available, however many go */
        s->reach[at] = count;
    }
    for (int32_t e = 0; e < o->first[cols]; e++)
        s->places[e] = o->number[s->places[e]];
    s->unit = s->unit >= 0 ? o->number[s->unit] : -1;
}

/* Vectors of a problem that are ordered: of fewer, the order costs more than it spares. */
enum { ORDERED = 32 };

static inline void find_places(const local_problems *p, int64_t k, const gather *g, shape *s)
{
    const int32_t *J = p->pattern + p->pattern_at[k];
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    const bool fixed = p->kind != LOCAL_LEAST_SQUARES;
    place *table = g->table;
    int64_t entries = 0, at = 0;
    int32_t rows = 0;
    for (int64_t j = 0; j < cols; j++)
        entries += p->at[J[j] + 1] - p->at[J[j]];
    const bool ordered = !fixed && cols >= ORDERED && entries < INT32_MAX;
    entries = fixed ? cols : entries < p->n ? entries : p->n;
    const int bits = table_bits(entries + 1);
    memset(table, 0xff, sizeof(place) << bits);
    for (int64_t j = 0; fixed && j < cols; j++)
        table_find(table, bits, J[j], false, &rows);
    for (int64_t j = 0; j < cols; j++) {
        const int64_t end = p->at[J[j] + 1];
        g->room.first[j] = (int32_t)at;
        for (int64_t e = p->at[J[j]]; e < end; e++)
            s->places[at++] = table_find(table, bits, p->columns[e], fixed, &rows);
        s->reach[j] = rows;
        s->order[j] = (int32_t)j;
    }
    g->room.first[cols] = (int32_t)at;
    s->unit = table_find(table, bits, (int32_t)k, true, &rows);
    s->rows = rows;
    if (ordered)
        order_vectors(cols, s, &g->room);
}

/* The shape of problem k. It stays as it is until WIDE others were asked for. */
static inline const shape *gather_shape(const local_problems *p, int64_t k, gather *g)
{
    if (!is_moved(p, k, &g->shapes[g->last])) {
        g->last = (g->last + 1) % SHAPES;
        find_places(p, k, g, &g->shapes[g->last]);
    }
    g->shapes[g->last].k = k;
    return &g->shapes[g->last];
}

#endif
