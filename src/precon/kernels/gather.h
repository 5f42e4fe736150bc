/* The dense matrix of a problem, taken out of the sparse one: which rows there are, by a small
 * table of the problem's own, in the order in which vectors reach them. */
#ifndef SPRY_PRECON_GATHER_H
#define SPRY_PRECON_GATHER_H

#include "precon/kernels/wide.h"

/* Where a row stands in a problem. */
typedef struct place {
    int32_t row, place; /* row -1: nothing here */
} place;

/* A thread's room. */
typedef struct gather {
    int64_t ld;      /* rows of columns in `a` */
    wide *a;         /* (cols + 1) x ld: vectors, then e_k */
    wide *x;         /* cols: their factors; what diagonals are divided by */
    int64_t *reach;  /* cols: rows that the vectors up to each one reach, of all problems */
    int32_t *places; /* WIDE x entries: of the entries of vectors, in their order; -1: left out */
    int32_t *unit;   /* WIDE: place of the 1 in e_k; -1: there is none */
    int64_t entries;
    place *table;
} gather;

static inline int table_bits(int64_t rows)
{
    int bits = 4;
    while ((int64_t)1 << bits < 2 * rows && bits < 32)
        bits++;
    return bits;
}

/* Cuts a room of gather_bytes() up; with room == NULL, only counts. */
static inline int64_t gather_cut(const local_size *most, char *room, gather *g)
{
    const int64_t cols = most->cols, rows = most->rows + 1;
    const int64_t sizes[] = {(cols + 1) * rows * (int64_t)sizeof(wide),
                             (cols + 1) * (int64_t)sizeof(wide),
                             (cols + 1) * (int64_t)sizeof(int64_t),
                             WIDE * most->entries * (int64_t)sizeof(int32_t),
                             WIDE * (int64_t)sizeof(int32_t),
                             ((int64_t)sizeof(place) << table_bits(rows + 1))};
    char *parts[sizeof sizes / sizeof *sizes];
    int64_t at = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        parts[k] = room ? room + at : NULL;
        at += (sizes[k] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    *g = (gather){rows,
                  (void *)parts[0],
                  (void *)parts[1],
                  (void *)parts[2],
                  (void *)parts[3],
                  (void *)parts[4],
                  most->entries,
                  (void *)parts[5]};
    return at;
}

ALWAYS_INLINE uint32_t table_start(int32_t row, int bits)
{
    return (uint32_t)row * 2654435769u >> (32 - bits);
}

/* The place of a row; one that is new gets place *count, and *count grows, or -1 where it must be
 * there. */
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

/*
 * Finds the places of problem k's entries and of its 1, and the rows that vectors reach; gives how
 * many rows there are. reach_j of the problems before is raised where this one reaches further.
 */
static inline int32_t gather_places(const local_problems *p, int64_t k, gather *g, int32_t *places,
                                    int32_t *unit)
{
    const int32_t *J = p->pattern + p->pattern_at[k];
    const int64_t cols = p->pattern_at[k + 1] - p->pattern_at[k];
    const bool fixed = p->kind != LOCAL_LEAST_SQUARES;
    int64_t entries = 0, at = 0;
    int32_t rows = 0;
    for (int64_t j = 0; j < cols; j++)
        entries += p->at[J[j] + 1] - p->at[J[j]];
    entries = fixed ? cols : entries < p->n ? entries : p->n;
    const int bits = table_bits(entries + 1);
    memset(g->table, 0xff, sizeof(place) << bits);
    for (int64_t j = 0; fixed && j < cols; j++)
        table_find(g->table, bits, J[j], false, &rows);
    for (int64_t j = 0; j < cols; j++) {
        const int64_t end = p->at[J[j] + 1];
        for (int64_t e = p->at[J[j]]; e < end; e++)
            places[at++] = table_find(g->table, bits, p->columns[e], fixed, &rows);
        g->reach[j] = g->reach[j] > rows ? g->reach[j] : rows;
    }
    *unit = table_find(g->table, bits, (int32_t)k, true, &rows);
    return rows;
}

#endif
