/* Products with slices of rows, stored column by column. */
#include "host/kernels/walk_kernel.h"
#include "matrix/formats/sell.h"

ALWAYS_INLINE void slices(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool conjugated)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *offsets = A->array[SELL_OFFSETS].data, C = A->number[SELL_C];
    const int32_t *columns = A->array[SELL_COLUMNS].data;
    const stored *values = A->array[SELL_VALUES].data;
    const scalar *x = p->x;
    scalar *y = p->y;
    for (int64_t s = begin; s < end; s++)
        for (int64_t row = s * C; row < (s + 1) * C && row < A->rows; row++) {
            scalar sum = from_scalar((spry_scalar){0, 0});
            for (int64_t k = offsets[s] + row % C; k < offsets[s + 1]; k += C) {
                const scalar value = value_of(values[k]);
                sum = muladd(conjugated ? conjugate(value) : value, x[columns[k]], sum);
            }
            put(f, sum, y + row - p->first);
        }
}

void W(sliced_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (p->conjugate)
        slices(A, begin, end, p, true);
    else
        slices(A, begin, end, p, false);
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *offsets = A->array[SELL_OFFSETS].data, C = A->number[SELL_C];
    const int32_t *column = A->array[SELL_COLUMNS].data;
    const stored *values = A->array[SELL_VALUES].data;
    const real *x = p->x;
    for (int64_t s = begin; s < end; s++)
        for (int64_t row = s * C; row < (s + 1) * C && row < A->rows; row++) {
            tile sum = {0};
            for (int64_t k = offsets[s] + row % C; k < offsets[s + 1]; k += C)
                tile_add(&sum, vectors, value_of(values[k]), x + column[k] * p->x_step);
            tile_put(&sum, vectors, p, f, row);
        }
}

void W(sliced_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->units == 1)
        columns(A, begin, end, p, TILE_UNIT);
    else
        columns(A, begin, end, p, TILE_MOST);
}
