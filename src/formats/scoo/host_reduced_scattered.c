/*
 * Products with entries of slices sorted by column: y of the slice is the buffer that they are
 * added to, h numbers that stay in a near cache, while x is walked through once from left to right.
 *
 * Least bytes per entry: value, column and row, 12 in double with columns of 16 bits, as CSR has;
 * loads and stores five. What is gained is the order in which x is read: where CSR waits for
 * memory and for the pages of x at each entry, a slice passes over lines and pages in order.
 *
 * With entries in the order of rows the group's part of x stays in a cache, and y is walked
 * through. Numbers of x are prefetched a group ahead: addresses at random are not predicted by
 * the processor; and a batch reads all of them before it adds to y, since a processor must take a
 * load to follow any store of an address that it does not know yet.
 */
#include "formats/scoo/scoo.h"
#include "host/kernels/walk_kernel.h"

ALWAYS_INLINE uint32_t column_at(const void *columns, int64_t k, bool wide)
{
    return wide ? ((const uint32_t *)columns)[k] : ((const uint16_t *)columns)[k];
}

/* Adds the entries from..to-1 of a group to y of their slice; `scaled`: times alpha. */
ALWAYS_INLINE void add_entries(const layout *A, int64_t from, int64_t to, const scalar *restrict x,
                               scalar *restrict y, scalar alpha, bool scaled, bool conjugated,
                               bool wide)
{
    const stored *restrict values = A->array[SCOO_VALUES].data;
    const void *columns = A->array[SCOO_COLUMNS].data;
    const uint16_t *restrict rows = A->array[SCOO_ROWS].data;
    for (int64_t k = from; k < to; k++) {
        scalar value = value_of(values[k]);
        if (conjugated)
            value = conjugate(value);
        if (scaled)
            value = mul(alpha, value);
        y[rows[k]] = muladd(value, x[column_at(columns, k, wide)], y[rows[k]]);
    }
}

/* --- in the order of rows -----------------------------------------------------------------------
 */

ALWAYS_INLINE scalar plus(scalar a, scalar b)
{
#if KERNEL_COMPLEX
    return (scalar){a.re + b.re, a.im + b.im};
#else
    return a + b;
#endif
}

enum { BATCH = 8, BLOCK = 8 * BATCH, LINE = 64 };

/* The next BATCH entries. Rows rise: where the first and the last are the same, all are, and their
 * sum is taken in registers. */
ALWAYS_INLINE void add_batch(const stored *restrict values, const uint16_t *restrict columns,
                             const uint16_t *restrict rows, const scalar *restrict x,
                             scalar *restrict y, scalar alpha, bool scaled, bool conjugated)
{
    scalar product[BATCH];
#pragma GCC unroll 8
    for (int q = 0; q < BATCH; q++) {
        scalar value = value_of(values[q]);
        if (conjugated)
            value = conjugate(value);
        if (scaled)
            value = mul(alpha, value);
        product[q] = mul(value, x[columns[q]]);
    }
    if (rows[0] == rows[BATCH - 1]) {
        const scalar low = plus(plus(product[0], product[1]), plus(product[2], product[3]));
        const scalar high = plus(plus(product[4], product[5]), plus(product[6], product[7]));
        y[rows[0]] = plus(y[rows[0]], plus(low, high));
        return;
    }
#pragma GCC unroll 8
    for (int q = 0; q < BATCH; q++)
        y[rows[q]] = plus(y[rows[q]], product[q]);
}

/* The part of x that a group of columns reads. */
typedef struct part {
    const char *at;
    int64_t lines;
} part;

static part part_of(const layout *A, const void *x, int64_t group)
{
    const int64_t width = (int64_t)1 << A->number[SCOO_BITS], rest = A->cols - group * width;
    return (part){(const char *)x + group * width * (int64_t)sizeof(scalar),
                  (rest < width ? rest : width) * (int64_t)sizeof(scalar) / LINE};
}

/* The same as add_entries() for entries in the order of rows, with columns of 16 bits, while
 * `next`, what comes afterwards, is brought near, unless there is far more of it. */
ALWAYS_INLINE void add_rows(const layout *A, int64_t from, int64_t to, const scalar *restrict x,
                            part next, scalar *restrict y, scalar alpha, bool scaled,
                            bool conjugated)
{
    const stored *restrict values = A->array[SCOO_VALUES].data;
    const uint16_t *restrict columns = A->array[SCOO_COLUMNS].data;
    const uint16_t *restrict rows = A->array[SCOO_ROWS].data;
    const int64_t blocks = (to - from) / BLOCK, end = from + blocks * BLOCK;
    const int64_t share = blocks > 0 ? (next.lines + blocks - 1) / blocks : 0;
    int64_t left = share <= BLOCK ? next.lines : 0;
    int64_t k = from;
    while (k < end) {
        for (int64_t line = share < left ? share : left; line > 0; line--, left--, next.at += LINE)
            __builtin_prefetch(next.at, 0, 2);
        for (const int64_t stop = k + BLOCK; k < stop; k += BATCH)
            add_batch(values + k, columns + k, rows + k, x, y, alpha, scaled, conjugated);
    }
    add_entries(A, end, to, x, y, alpha, scaled, conjugated, false);
}

/* --- slices -------------------------------------------------------------------------------------
 */

ALWAYS_INLINE void add_group(const layout *A, int64_t s, int64_t g, const host_product *p,
                             scalar *y, scalar alpha, bool scaled, bool conjugated, bool wide,
                             bool by_row)
{
    const int64_t groups = A->number[SCOO_GROUPS];
    const int64_t *starts = (const int64_t *)A->array[SCOO_STARTS].data + s * groups + g;
    const scalar *x = (const scalar *)p->x + (g << A->number[SCOO_BITS]);
    if (by_row)
        add_rows(A, starts[0], starts[1], x, part_of(A, p->x, g + 1 < groups ? g + 1 : 0), y, alpha,
                 scaled, conjugated);
    else
        add_entries(A, starts[0], starts[1], x, y, alpha, scaled, conjugated, wide);
}

ALWAYS_INLINE void slices(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool conjugated, bool wide, bool by_row)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *slice = A->array[SCOO_SLICES].data;
    const int64_t groups = A->number[SCOO_GROUPS];
    for (int64_t s = begin; s < end; s++) {
        scalar *y = (scalar *)p->y + slice[s] - p->first;
        const int64_t rows = slice[s + 1] - slice[s];
        for (int64_t i = 0; i < rows; i++)
            y[i] = f.reads ? mul(f.beta, y[i]) : from_scalar((spry_scalar){0, 0});
        for (int64_t g = 0; g < groups; g++)
            if (f.reads)
                add_group(A, s, g, p, y, f.alpha, true, conjugated, wide, by_row);
            else
                add_group(A, s, g, p, y, f.alpha, false, conjugated, wide, by_row);
        if (!f.reads && !f.plain)
            for (int64_t i = 0; i < rows; i++)
                y[i] = mul(f.alpha, y[i]);
    }
}

void W(scattered_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const bool conjugated = KERNEL_COMPLEX && p->conjugate;
    if (A->number[SCOO_WIDE])
        slices(A, begin, end, p, conjugated, true, false);
    else if (A->number[SCOO_BY_ROW])
        slices(A, begin, end, p, conjugated, false, true);
    else
        slices(A, begin, end, p, conjugated, false, false);
}

/* --- several columns ----------------------------------------------------------------------------
 */

/* A number times those at x, added to the sums of a row. */
ALWAYS_INLINE void add_tile(vec_at *sum, int vectors, scalar value, const real *x)
{
    const vec_at *number = (const vec_at *)x;
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#if KERNEL_COMPLEX
        vec turned = number[u];
#pragma GCC unroll 4
        for (int c = 0; c < VEC_REALS; c += 2) {
            turned[c] = -number[u][c + 1];
            turned[c + 1] = number[u][c];
        }
        sum[u] += value.re * number[u] + value.im * turned;
#else
        sum[u] += value * number[u];
#endif
    }
}

ALWAYS_INLINE void group_columns(const layout *A, int64_t from, int64_t to, const host_columns *p,
                                 const real *x, vec_at *sums, int vectors, bool wide)
{
    const stored *values = A->array[SCOO_VALUES].data;
    const void *columns = A->array[SCOO_COLUMNS].data;
    const uint16_t *rows = A->array[SCOO_ROWS].data;
    for (int64_t k = from; k < to; k++) {
        const scalar value = value_of(values[k]);
        add_tile(sums + (int64_t)rows[k] * vectors, vectors,
                 p->conjugate ? conjugate(value) : value,
                 x + column_at(columns, k, wide) * p->x_stride);
    }
}

ALWAYS_INLINE void slice_columns(const layout *A, int64_t s, const host_columns *p, vec_at *sums,
                                 int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *slice = A->array[SCOO_SLICES].data, groups = A->number[SCOO_GROUPS];
    const int64_t *starts = (const int64_t *)A->array[SCOO_STARTS].data + s * groups;
    const int64_t rows = slice[s + 1] - slice[s];
    const vec none = {0};
    for (int64_t k = 0; k < rows * vectors; k++)
        sums[k] = none;
    for (int64_t g = 0; g < groups; g++) {
        const real *x = (const real *)p->x + (g << A->number[SCOO_BITS]) * p->x_stride;
        if (A->number[SCOO_WIDE])
            group_columns(A, starts[g], starts[g + 1], p, x, sums, vectors, true);
        else
            group_columns(A, starts[g], starts[g + 1], p, x, sums, vectors, false);
    }
    for (int64_t i = 0; i < rows; i++) {
        const scalar *sum = (const scalar *)(sums + i * vectors);
        const int64_t at = (slice[s] + i - p->first) * p->y_stride;
        for (int c = 0; c < p->count; c++)
            put(f, sum[c], (scalar *)p->y[c] + at);
    }
}

/* Sums of slices of few rows: products by ranges of rows have no work space. */
ALWAYS_INLINE void all_columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                               int vectors)
{
    vec near[OPERATOR_GRAIN * TILE_MOST];
    for (int64_t s = begin; s < end; s++)
        /* cppcheck-suppress legacyUninitvar ; room, which is cleared there */
        slice_columns(A, s, p, A->room <= OPERATOR_GRAIN ? (vec_at *)near : p->room, vectors);
}

void W(scattered_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        all_columns(A, begin, end, p, TILE_PACK);
    else
        all_columns(A, begin, end, p, TILE_MOST);
}
