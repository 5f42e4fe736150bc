/*
 * Products with AXC's bricks. A place takes a value and a column, 12 bytes in d, as in CSR, and a
 * row 8; there is no test for the end of a row inside a brick. With x kept in the bricks it is 20
 * bytes, and 8 of them are written back: 28 cross the bus, so that more than twice the time of CSR
 * is to be expected outside the caches. Numbers of x are gathered and used brick by brick, while
 * both halves are in the nearest cache: a pass over all bricks before the product would read and
 * write them once more.
 *
 * Several columns take x where it is: of each there would have to be a half of its own.
 */
#include "formats/axc/axc.h"
#include "host/kernels/lanes.h"
#include "host/kernels/walk_kernel.h"

ALWAYS_INLINE void rows(const layout *A, int64_t begin, int64_t end, const host_product *p,
                        bool kept)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *brp = A->array[AXC_BRP].data, HBRS = A->number[AXC_HBRS];
    const int32_t *columns = A->array[AXC_COLUMNS].data;
    scalar *ax = A->array[AXC_AX].data, *y = p->y;
    const int64_t stop = end * AXC_ROWS < A->rows ? end * AXC_ROWS : A->rows;
    for (int64_t row = begin * AXC_ROWS; row < stop; row++) {
        const int64_t at = brp[row] * HBRS, n = brp[row + 1] * HBRS - at;
        const chain sum = kept ? lanes_sum_kept(ax + 2 * at, columns + at, n, HBRS, p->x)
                               : lanes_sum(ax + at, columns + at, n, p->x);
        put(f, chain_value(sum, p->conjugate), y + row - p->first);
    }
}

void W(bricks_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (A->number[AXC_KEPT])
        rows(A, begin, end, p, true);
    else
        rows(A, begin, end, p, false);
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *brp = A->array[AXC_BRP].data, HBRS = A->number[AXC_HBRS];
    const int64_t wide = HBRS * (1 + A->number[AXC_KEPT]), stride = p->x_stride;
    const int64_t stop = end * AXC_ROWS < A->rows ? end * AXC_ROWS : A->rows;
    const scalar *ax = A->array[AXC_AX].data;
    const real *x = p->x;
    const bool crosses = tile_crosses(p, vectors);
    const int32_t *near_end = tile_near_end(p, A->array[AXC_COLUMNS].data, A->stored);
    for (int64_t row = begin * AXC_ROWS; row < stop; row++) {
        const int32_t *column = (const int32_t *)A->array[AXC_COLUMNS].data + brp[row] * HBRS;
        tile s[2] = {0};
        for (int64_t b = brp[row]; b < brp[row + 1]; b++, column += HBRS)
            for (int64_t l = 0; l < HBRS; l += 2) {
                if (column + l < near_end) {
                    tile_fetch(x + column[TILE_AHEAD + l] * stride, vectors, crosses);
                    tile_fetch(x + column[TILE_AHEAD + l + 1] * stride, vectors, crosses);
                }
                tile_add(&s[0], vectors, ax[b * wide + l], x + column[l] * stride);
                tile_add(&s[1], vectors, ax[b * wide + l + 1], x + column[l + 1] * stride);
            }
        const tile sum = tile_plus(s[0], s[1], vectors);
        tile_put(&sum, vectors, p, f, row);
    }
}

void W(bricks_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
