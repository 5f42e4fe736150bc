/*
 * Products with entries laid out column by column: see src/formats/shared/columnwise.h.
 *
 * An entry takes a column and a value, 12 bytes in double precision, and no more than one load of
 * each for several lines; what is left of the 1.5 to 2 loads per entry is x. So memory bounds the
 * loop as long as it is read in few streams: every column is one of values and one of indices, and
 * processors prefetch some sixteen to thirty of them. Hence a block of lines takes a panel of few
 * columns at a time, during which the sums of a group of lines are in registers; between panels
 * they are in a buffer that the nearest cache holds.
 */
#include "formats/shared/columnwise.h"
#include "host/kernels/groups.h"

enum {
    PANEL = 9, /* columns */

    BLOCK = KERNEL_COMPLEX ? 256 : 1024,
    TILES = KERNEL_COMPLEX ? 64 : 128 /* lines of a block for several columns of x */
};

ALWAYS_INLINE int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A block of lines: which columns they have. */
typedef struct block {
    int64_t first, count;
    int64_t columns;     /* that some group has in all its lines */
    const int32_t *ends; /* of each row; NULL: all have the width */
    int shift;           /* line l is one of row l >> shift */
    /* Of each group: the columns that all lines have, and those that some have. */
    int32_t whole[BLOCK / GROUP], most[BLOCK / GROUP];
    int32_t room[BLOCK];
} block;

/* Of lines by length: a line has the columns that are longer than its number. */
static void find_ends(const layout *A, block *b)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    int64_t end = b->first + b->count, low = 0, high = A->number[COLUMNWISE_WIDTH];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle + 1] - starts[middle] >= end)
            low = middle + 1;
        else
            high = middle;
    }
    for (; end > b->first; low++) { /* lines with just `low` columns */
        const int64_t next =
            low < A->number[COLUMNWISE_WIDTH] ? starts[low + 1] - starts[low] : b->first;
        for (; end > b->first && end > next; end--)
            b->room[end - 1 - b->first] = (int32_t)low;
    }
}

/* The least end of some rows, and the greatest. */
static void find_extent(const int32_t *ends, int64_t count, int32_t *whole, int32_t *most)
{
    int32_t low = ends[0], high = ends[0];
    for (int64_t i = 1; i < count; i++) {
        low = ends[i] < low ? ends[i] : low;
        high = ends[i] > high ? ends[i] : high;
    }
    *whole = low;
    *most = high;
}

/* Whether the lines of a group end together, as most do: compared two at a time. */
ALWAYS_INLINE bool end_together(const int32_t *ends)
{
    uint64_t pair[GROUP / 2], differ = (uint64_t)(ends[0] ^ ends[1]);
    memcpy(pair, ends, sizeof pair);
#pragma GCC unroll 8
    for (int i = 1; i < GROUP / 2; i++)
        differ |= pair[0] ^ pair[i];
    return differ == 0;
}

/* Where there is fill, a group whose lines end near each other takes it along: that is faster than
 * to go on with some lines only. */
static void find_extents(block *b, bool filled)
{
    enum { NEAR = 4 };
    const int64_t rows = GROUP >> b->shift > 0 ? GROUP >> b->shift : 1;
    b->columns = 0;
    for (int64_t l = 0; l < b->count; l += GROUP) {
        int32_t *whole = b->whole + l / GROUP, *most = b->most + l / GROUP;
        const int32_t *ends = b->ends + (l >> b->shift);
        if (b->count - l < GROUP) {
            *whole = 0;
            *most = INT32_MAX;
        } else if (b->shift == 0 && end_together(ends)) {
            *whole = *most = ends[0];
        } else {
            find_extent(ends, rows, whole, most);
        }
        if (filled && *most / 2 <= *whole + NEAR)
            *whole = *most;
        b->columns = *whole > b->columns ? *whole : b->columns;
    }
}

/* The block of at most `most` lines from `first` on; no lines from `end` on. */
static void block_open(const layout *A, int64_t first, int64_t end, int64_t most, block *b)
{
    const int32_t *lengths = A->array[COLUMNWISE_LENGTHS].data;
    const int64_t T = A->number[COLUMNWISE_T];
    b->first = first;
    b->count = less(end - first, most);
    b->shift = __builtin_ctzll((unsigned long long)T);
    b->columns = A->number[COLUMNWISE_WIDTH];
    b->ends = NULL;
    if (A->array[COLUMNWISE_STARTS].data) {
        find_ends(A, b);
        b->ends = b->room;
    } else if (!A->array[COLUMNWISE_LENGTHS].aside && T == 1) {
        b->ends = lengths + first;
    } else if (!A->array[COLUMNWISE_LENGTHS].aside) {
        for (int64_t row = 0; row < b->count >> b->shift; row++)
            b->room[row] = (lengths[(first >> b->shift) + row] + (int32_t)T - 1) >> b->shift;
        b->ends = b->room;
    }
    if (b->ends)
        find_extents(b, !A->array[COLUMNWISE_STARTS].data);
}

/* A panel: the places where its columns begin, from the block's first line on. */
typedef struct panel {
    const stored *values; /* of place 0 */
    const int32_t *columns;
    int64_t first, count;
    int64_t at[PANEL];
} panel;

/* The next panel, all as wide as can be; false: there is none. */
static bool panel_next(const layout *A, const block *b, panel *p)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t stride = A->number[COLUMNWISE_STRIDE];
    p->first += p->count;
    const int64_t left = b->columns - p->first;
    if (left <= 0)
        return false;
    const int64_t panels = (left + PANEL - 1) / PANEL;
    p->count = (left + panels - 1) / panels;
    for (int64_t k = 0; k < p->count; k++)
        p->at[k] = (starts ? starts[p->first + k] : (p->first + k) * stride) + b->first;
    return true;
}

/* Columns of the panel that the group of line l has in all its lines. */
ALWAYS_INLINE int64_t panel_columns(const panel *p, const block *b, int64_t l)
{
    return b->ends ? less(b->whole[l / GROUP] - p->first, p->count) : p->count;
}

/* --- one x --------------------------------------------------------------------------------------
 */

/* Columns are `stride` apart; with 0 the panel gives their places. */
ALWAYS_INLINE void add_panel(const panel *p, int64_t stride, const block *b, const scalar *x,
                             chain *sums)
{
    for (int64_t l = 0; l < b->count; l += GROUP) {
        const int64_t columns = panel_columns(p, b, l);
        const stored *values = p->values + p->at[0] + l;
        const int32_t *column = p->columns + p->at[0] + l;
        group g;
        if (p->first == 0)
            g = (group){0};
        else
            group_load(&g, sums + l);
        for (int64_t k = 0; k < columns; k++) {
            if (!stride) {
                values = p->values + p->at[k] + l;
                column = p->columns + p->at[k] + l;
                __asm__("" : "+r"(column));
            }
            group_add(&g, values, column, x);
            values += stride;
            column += stride;
        }
        group_store(&g, sums + l);
    }
}

/* What lines have beyond the columns that all of their group have. */
static void add_ends(const layout *A, const block *b, const scalar *x, chain *sums)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t stride = A->number[COLUMNWISE_STRIDE];
    const stored *values = A->array[COLUMNWISE_VALUES].data;
    const int32_t *columns = A->array[COLUMNWISE_COLUMNS].data;
    for (int64_t l = 0; l < b->count; l++) {
        if (b->most[l / GROUP] == b->whole[l / GROUP]) {
            l += GROUP - 1;
            continue;
        }
        for (int64_t k = b->whole[l / GROUP]; k < b->ends[l >> b->shift]; k++) {
            const int64_t at = (starts ? starts[k] : k * stride) + b->first + l;
            chain_add(sums + l, values[at], x + (uint32_t)columns[at]);
        }
    }
}

/* The other entries of hyb's rows. */
static range rest_of(const layout *A, const block *b)
{
    const int64_t *rest = A->array[COLUMNWISE_REST].data;
    const int64_t unit = b->first / COLUMNWISE_UNIT;
    return (range){rest[unit],
                   rest[less(unit + (b->count + COLUMNWISE_UNIT - 1) / COLUMNWISE_UNIT, A->units)]};
}

static void add_rest(const layout *A, const block *b, const scalar *x, chain *sums)
{
    enum { LONG = 8 };
    const range entries = rest_of(A, b);
    const int64_t places = A->stored - ((const int64_t *)A->array[COLUMNWISE_REST].data)[A->units];
    const stored *values = (const stored *)A->array[COLUMNWISE_VALUES].data + places;
    const int32_t *columns = (const int32_t *)A->array[COLUMNWISE_COLUMNS].data + places;
    const int32_t *rows = A->array[COLUMNWISE_REST_ROWS].data;
    for (int64_t e = entries.begin; e < entries.end;) {
        const int32_t row = rows[e];
        chain sum = sums[row - b->first];
        int64_t end = e + 1;
        if (e + LONG < entries.end && rows[e + LONG] == row) /* seldom: no test an entry else */
            for (end += LONG; end < entries.end && rows[end] == row;)
                end++;
        for (; e < end; e++)
            chain_add(&sum, values[e], x + (uint32_t)columns[e]);
        sums[row - b->first] = sum;
    }
}

/* Adds each T sums up to one: halves upon each other. */
ALWAYS_INLINE void fold_by(chain *sums, int64_t rows, int T)
{
    for (int64_t row = 0; row < rows; row++) {
        chain s[32] = {0};
        for (int t = 0; t < T; t++)
            s[t] = sums[row * T + t];
        for (int half = T / 2; half > 0; half /= 2)
            for (int t = 0; t < half; t++)
                s[t] = chain_plus(s[t], s[t + half]);
        sums[row] = s[0];
    }
}

static void fold(chain *sums, int64_t lines, int64_t T)
{
    if (T == 2)
        fold_by(sums, lines / 2, 2);
    else if (T == 4)
        fold_by(sums, lines / 4, 4);
    else if (T == 8)
        fold_by(sums, lines / 8, 8);
    else if (T == 16)
        fold_by(sums, lines / 16, 16);
    else if (T == 32)
        fold_by(sums, lines / 32, 32);
}

ALWAYS_INLINE void put_rows(const layout *A, const block *b, const host_product *p,
                            const chain *sums, factors f, bool conjugated)
{
    const int64_t T = A->number[COLUMNWISE_T], first = b->first / T;
    const int64_t count = less(b->count / T, A->rows - first);
    const int32_t *rows = A->array[COLUMNWISE_ROWS].data;
    scalar *y = (scalar *)p->y - p->first;
    if (rows)
        for (int64_t i = 0; i < count; i++)
            put(f, chain_value(sums[i], conjugated), y + rows[first + i]);
    else
        for (int64_t i = 0; i < count; i++)
            put(f, chain_value(sums[i], conjugated), y + first + i);
}

/* Where sums are kept: in y itself where they are its numbers, in groups of whole lines. */
static chain *sums_at(const layout *A, const block *b, const host_product *p, factors f,
                      chain *buffer)
{
#if !KERNEL_COMPLEX
    if (f.plain && b->shift == 0 && b->count % GROUP == 0 && !A->array[COLUMNWISE_ROWS].data)
        return (chain *)p->y + (b->first - p->first);
#else
    (void)A, (void)b, (void)p, (void)f;
#endif
    return buffer;
}

void W(columnwise_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t last = less(end * COLUMNWISE_UNIT, A->number[COLUMNWISE_LINES]);
    const int64_t stride = A->number[COLUMNWISE_STRIDE];
    block b;
    for (int64_t first = begin * COLUMNWISE_UNIT; first < last; first += BLOCK) {
        _Alignas(64) chain buffer[BLOCK];
        panel columns = {
            A->array[COLUMNWISE_VALUES].data, A->array[COLUMNWISE_COLUMNS].data, 0, 0, {0}};
        block_open(A, first, last, BLOCK, &b);
        chain *sums = sums_at(A, &b, p, f, buffer);
        if (b.columns == 0)
            memset(sums, 0, sizeof *sums * (size_t)b.count);
        while (panel_next(A, &b, &columns))
            if (stride)
                add_panel(&columns, stride, &b, p->x, sums);
            else
                add_panel(&columns, 0, &b, p->x, sums);
        if (b.ends)
            add_ends(A, &b, p->x, sums);
        if (A->array[COLUMNWISE_REST].data)
            add_rest(A, &b, p->x, sums);
        if (b.shift > 0)
            fold(sums, b.count, A->number[COLUMNWISE_T]);
        if (sums != buffer)
            continue;
        if (p->conjugate)
            put_rows(A, &b, p, sums, f, true);
        else
            put_rows(A, &b, p, sums, f, false);
    }
}

/* --- several x ----------------------------------------------------------------------------------
 */

/* to = from, or to += from. */
ALWAYS_INLINE void tile_take(tile *to, const tile *from, int vectors, bool add)
{
#pragma GCC unroll 2
    for (int part = 0; part < TILE_PARTS; part++)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; v++)
            to->by[part][v] = add ? to->by[part][v] + from->by[part][v] : from->by[part][v];
}

ALWAYS_INLINE void tiles_panel(const panel *c, const block *b, const host_columns *p, int vectors,
                               tile *sums)
{
    for (int64_t l = 0; l < b->count; l++) {
        const int64_t columns = panel_columns(c, b, l);
        tile sum;
        tile_take(&sum, sums + l, vectors, false);
        for (int64_t k = 0; k < columns; k++)
            tile_add(&sum, vectors, value_of(c->values[c->at[k] + l]),
                     (const real *)p->x + c->columns[c->at[k] + l] * p->x_stride);
        tile_take(sums + l, &sum, vectors, false);
    }
}

ALWAYS_INLINE void tiles_ends(const layout *A, const block *b, const host_columns *p, int vectors,
                              tile *sums)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t stride = A->number[COLUMNWISE_STRIDE];
    const stored *values = A->array[COLUMNWISE_VALUES].data;
    const int32_t *columns = A->array[COLUMNWISE_COLUMNS].data;
    for (int64_t l = 0; l < b->count; l++)
        for (int64_t k = b->whole[l / GROUP]; k < b->ends[l >> b->shift]; k++) {
            const int64_t at = (starts ? starts[k] : k * stride) + b->first + l;
            tile_add(sums + l, vectors, value_of(values[at]),
                     (const real *)p->x + columns[at] * p->x_stride);
        }
}

ALWAYS_INLINE void tiles_rest(const layout *A, const block *b, const host_columns *p, int vectors,
                              tile *sums)
{
    const range entries = rest_of(A, b);
    const int64_t places = A->stored - ((const int64_t *)A->array[COLUMNWISE_REST].data)[A->units];
    const stored *values = (const stored *)A->array[COLUMNWISE_VALUES].data + places;
    const int32_t *columns = (const int32_t *)A->array[COLUMNWISE_COLUMNS].data + places;
    const int32_t *rows = A->array[COLUMNWISE_REST_ROWS].data;
    for (int64_t e = entries.begin; e < entries.end; e++)
        tile_add(sums + rows[e] - b->first, vectors, value_of(values[e]),
                 (const real *)p->x + columns[e] * p->x_stride);
}

ALWAYS_INLINE void tiles_put(const layout *A, const block *b, const host_columns *p, int vectors,
                             factors f, tile *sums)
{
    const int64_t T = A->number[COLUMNWISE_T], first = b->first / T;
    const int64_t count = less(b->count / T, A->rows - first);
    const int32_t *rows = A->array[COLUMNWISE_ROWS].data;
    for (int64_t i = 0; i < count; i++) {
        tile *s = sums + i * T;
        for (int64_t half = T / 2; half > 0; half /= 2)
            for (int64_t t = 0; t < half; t++)
                tile_take(s + t, s + t + half, vectors, true);
        tile_put(s, vectors, p, f, rows ? rows[first + i] : first + i);
    }
}

ALWAYS_INLINE void columns_of(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                              int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t last = less(end * COLUMNWISE_UNIT, A->number[COLUMNWISE_LINES]);
    block b;
    for (int64_t first = begin * COLUMNWISE_UNIT; first < last; first += TILES) {
        tile sums[TILES] = {0};
        panel columns = {
            A->array[COLUMNWISE_VALUES].data, A->array[COLUMNWISE_COLUMNS].data, 0, 0, {0}};
        block_open(A, first, last, TILES, &b);
        while (panel_next(A, &b, &columns))
            tiles_panel(&columns, &b, p, vectors, sums);
        if (b.ends)
            tiles_ends(A, &b, p, vectors, sums);
        if (A->array[COLUMNWISE_REST].data)
            tiles_rest(A, &b, p, vectors, sums);
        tiles_put(A, &b, p, vectors, f, sums);
    }
}

void W(columnwise_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns_of(A, begin, end, p, TILE_PACK);
    else
        columns_of(A, begin, end, p, TILE_MOST);
}
