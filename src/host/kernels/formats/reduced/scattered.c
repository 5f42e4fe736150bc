/*
 * Products with entries of slices sorted by column: y of the slice is the buffer that they are
 * added to, h numbers that stay in a near cache, while x is walked through once from left to right.
 *
 * Least bytes per entry: value, column and row, 12 in double with columns of 16 bits, as CSR has;
 * loads and stores five. What is gained is the order in which x is read: where CSR waits for
 * memory and for the pages of x at each entry, a slice passes over lines and pages in order.
 */
#include "host/kernels/walk_kernel.h"
#include "matrix/formats/scoo.h"

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

ALWAYS_INLINE void slices(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool conjugated, bool wide)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *slice = A->array[SCOO_SLICES].data, *starts = A->array[SCOO_STARTS].data;
    const int64_t groups = A->number[SCOO_GROUPS];
    for (int64_t s = begin; s < end; s++) {
        scalar *y = (scalar *)p->y + slice[s] - p->first;
        const int64_t rows = slice[s + 1] - slice[s];
        for (int64_t i = 0; i < rows; i++)
            y[i] = f.reads ? mul(f.beta, y[i]) : from_scalar((spry_scalar){0, 0});
        for (int64_t g = 0; g < groups; g++) {
            const int64_t from = starts[s * groups + g], to = starts[s * groups + g + 1];
            const scalar *x = (const scalar *)p->x + (g << SCOO_GROUP_BITS);
            if (f.reads)
                add_entries(A, from, to, x, y, f.alpha, true, conjugated, wide);
            else
                add_entries(A, from, to, x, y, f.alpha, false, conjugated, wide);
        }
        if (!f.reads && !f.plain)
            for (int64_t i = 0; i < rows; i++)
                y[i] = mul(f.alpha, y[i]);
    }
}

void W(scattered_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    const bool conjugated = KERNEL_COMPLEX && p->conjugate;
    if (A->number[SCOO_WIDE])
        slices(A, begin, end, p, conjugated, true);
    else
        slices(A, begin, end, p, conjugated, false);
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
        const real *x = (const real *)p->x + (g << SCOO_GROUP_BITS) * p->x_stride;
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

/* Slices of few rows have their sums here: products by ranges of rows bring no room. */
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
