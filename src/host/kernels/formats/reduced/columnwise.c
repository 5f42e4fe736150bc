/*
 * Products with entries laid out column by column: see src/matrix/formats/columnwise.h.
 *
 * An entry takes a column and a value, 12 bytes in double precision, and no more than one load of
 * each for several lines; what is left of the 1.5 to 2 loads an entry is x. So memory bounds the
 * loop as long as it is read in few streams: every column is one of values and one of indices, and
 * processors foresee some sixteen to thirty of them. Hence a block of lines takes a panel of few
 * columns at a time, during which the sums of a group of lines are in registers; between panels
 * they are in a buffer that the nearest cache holds.
 */
#include "matrix/formats/columnwise.h"
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

/* A block of lines. */
typedef struct block {
    int64_t first;
    int64_t count;
    int64_t panels;               /* columns that some group has in all its lines */
    const int32_t *ends;          /* columns that each line has; NULL: the width */
    int32_t whole[BLOCK / GROUP]; /* columns that all lines of a group have */
    int32_t room[BLOCK];
} block;

/* Of lines by length: a line has the columns that are longer than its number. */
static void find_ends(const layout *A, block *b)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    int64_t line = b->first + b->count - 1, low = 0, high = A->number[COLUMNWISE_WIDTH];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (starts[middle + 1] - starts[middle] > line)
            low = middle + 1;
        else
            high = middle;
    }
    for (; line >= b->first; line--) {
        while (low < A->number[COLUMNWISE_WIDTH] && starts[low + 1] - starts[low] > line)
            low++;
        b->room[line - b->first] = (int32_t)low;
    }
}

/* The block of at most `most` lines from `first` on; no lines from `end` on. */
static void block_open(const layout *A, int64_t first, int64_t end, int64_t most, block *b)
{
    const int32_t *lengths = A->array[COLUMNWISE_LENGTHS].data;
    const int64_t T = A->number[COLUMNWISE_T];
    b->first = first;
    b->count = less(end - first, most);
    b->panels = A->number[COLUMNWISE_WIDTH];
    b->ends = NULL;
    if (A->array[COLUMNWISE_STARTS].data) {
        find_ends(A, b);
        b->ends = b->room;
    } else if (!A->array[COLUMNWISE_LENGTHS].aside && T == 1) {
        b->ends = lengths + first;
    } else if (!A->array[COLUMNWISE_LENGTHS].aside) {
        for (int64_t l = 0; l < b->count; l++)
            b->room[l] = (int32_t)((lengths[(first + l) / T] + T - 1) / T);
        b->ends = b->room;
    }
    if (!b->ends)
        return;
    b->panels = 0;
    for (int64_t l = 0; l < b->count; l += GROUP) {
        int32_t whole = b->count - l < GROUP ? 0 : INT32_MAX;
        for (int64_t i = l; i < less(l + GROUP, b->count); i++)
            whole = b->ends[i] < whole ? b->ends[i] : whole;
        b->whole[l / GROUP] = whole;
        b->panels = whole > b->panels ? whole : b->panels;
    }
}

/* A panel: where its columns begin, from the block's first line on. */
typedef struct panel {
    int64_t first;
    int64_t count;
    const stored *values[PANEL];
    const int32_t *columns[PANEL];
} panel;

/* The next panel, all as wide as can be; false: there is none. */
static bool panel_next(const layout *A, const block *b, panel *p)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t step = A->number[COLUMNWISE_STEP];
    p->first += p->count;
    const int64_t left = b->panels - p->first;
    if (left <= 0)
        return false;
    const int64_t panels = (left + PANEL - 1) / PANEL;
    p->count = (left + panels - 1) / panels;
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t column = p->first + k;
        const int64_t at = (starts ? starts[column] : column * step) + b->first;
        p->values[k] = (const stored *)A->array[COLUMNWISE_VALUES].data + at;
        p->columns[k] = (const int32_t *)A->array[COLUMNWISE_COLUMNS].data + at;
    }
    return true;
}

/* Columns of the panel that the group of line l has in all its lines. */
ALWAYS_INLINE int64_t panel_columns(const panel *p, const block *b, int64_t l)
{
    return b->ends ? less(b->whole[l / GROUP] - p->first, p->count) : p->count;
}

/* --- one x --------------------------------------------------------------------------------------
 */

static void add_panel(const panel *p, const block *b, const scalar *x, chain *sums)
{
    for (int64_t l = 0; l < b->count; l += GROUP) {
        const int64_t columns = panel_columns(p, b, l);
        group g;
        if (columns <= 0)
            continue;
        group_load(&g, sums + l);
        for (int64_t k = 0; k < columns; k++)
            group_add(&g, p->values[k] + l, p->columns[k] + l, x);
        group_store(&g, sums + l);
    }
}

/* What lines have beyond the columns that all of their group have. */
static void add_ends(const layout *A, const block *b, const scalar *x, chain *sums)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t step = A->number[COLUMNWISE_STEP];
    const stored *values = A->array[COLUMNWISE_VALUES].data;
    const int32_t *columns = A->array[COLUMNWISE_COLUMNS].data;
    for (int64_t l = 0; l < b->count; l++)
        for (int64_t k = b->whole[l / GROUP]; k < b->ends[l]; k++) {
            const int64_t at = (starts ? starts[k] : k * step) + b->first + l;
            chain_add(sums + l, values[at], x + (uint32_t)columns[at]);
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
    const range entries = rest_of(A, b);
    const int64_t places = A->stored - ((const int64_t *)A->array[COLUMNWISE_REST].data)[A->units];
    const stored *values = (const stored *)A->array[COLUMNWISE_VALUES].data + places;
    const int32_t *columns = (const int32_t *)A->array[COLUMNWISE_COLUMNS].data + places;
    const int32_t *rows = A->array[COLUMNWISE_REST_ROWS].data;
    for (int64_t e = entries.begin; e < entries.end; e++)
        chain_add(sums + rows[e] - b->first, values[e], x + (uint32_t)columns[e]);
}

/* Adds each T sums up to one: halves upon each other. */
static void fold(chain *sums, int64_t count, int64_t T)
{
    for (int64_t row = 0; row < count / T; row++) {
        chain *s = sums + row * T;
        for (int64_t half = T / 2; half > 0; half /= 2)
            for (int64_t t = 0; t < half; t++)
                s[t] = chain_plus(s[t], s[t + half]);
        sums[row] = s[0];
    }
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

void W(columnwise_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t last = less(end * COLUMNWISE_UNIT, A->number[COLUMNWISE_LINES]);
    const int64_t T = A->number[COLUMNWISE_T];
    block b;
    for (int64_t first = begin * COLUMNWISE_UNIT; first < last; first += BLOCK) {
        _Alignas(64) chain sums[BLOCK];
        panel columns = {0};
        block_open(A, first, last, BLOCK, &b);
        memset(sums, 0, sizeof *sums * (size_t)((b.count + GROUP - 1) / GROUP * GROUP));
        while (panel_next(A, &b, &columns))
            add_panel(&columns, &b, p->x, sums);
        if (b.ends)
            add_ends(A, &b, p->x, sums);
        if (A->array[COLUMNWISE_REST].data)
            add_rest(A, &b, p->x, sums);
        if (T > 1)
            fold(sums, b.count, T);
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
            tile_add(&sum, vectors, value_of(c->values[k][l]),
                     (const real *)p->x + c->columns[k][l] * p->x_step);
        tile_take(sums + l, &sum, vectors, false);
    }
}

ALWAYS_INLINE void tiles_ends(const layout *A, const block *b, const host_columns *p, int vectors,
                              tile *sums)
{
    const int64_t *starts = A->array[COLUMNWISE_STARTS].data;
    const int64_t step = A->number[COLUMNWISE_STEP];
    const stored *values = A->array[COLUMNWISE_VALUES].data;
    const int32_t *columns = A->array[COLUMNWISE_COLUMNS].data;
    for (int64_t l = 0; l < b->count; l++)
        for (int64_t k = b->whole[l / GROUP]; k < b->ends[l]; k++) {
            const int64_t at = (starts ? starts[k] : k * step) + b->first + l;
            tile_add(sums + l, vectors, value_of(values[at]),
                     (const real *)p->x + columns[at] * p->x_step);
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
                 (const real *)p->x + columns[e] * p->x_step);
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
        panel columns = {0};
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
    if (p->units == 1)
        columns_of(A, begin, end, p, TILE_UNIT);
    else
        columns_of(A, begin, end, p, TILE_MOST);
}
