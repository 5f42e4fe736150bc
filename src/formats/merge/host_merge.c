/*
 * Products with merge-path CSR. An entry takes 4 bytes and its value's, a row 2 and those of y. The
 * loop is that of CSR: where a unit begins and ends was found when it was built.
 */
#include "formats/merge/merge.h"
#include "host/kernels/sums.h"

ALWAYS_INLINE cursor place(const layout *A, int64_t at)
{
    return (cursor){(const int32_t *)A->array[MERGE_COLUMNS].data + at,
                    (const stored *)A->array[MERGE_VALUES].data + at};
}

ALWAYS_INLINE void units(const layout *A, int64_t begin, int64_t end, const host_product *p,
                         bool plain)
{
    const factors f = factors_of(p->alpha, p->beta);
    const bool conjugated = plain ? false : p->conjugate;
    const int64_t *starts = A->array[MERGE_STARTS].data;
    const uint16_t *ends = A->array[MERGE_ENDS].data;
    scalar *y = p->y, *carry = p->carry;
    for (int64_t u = begin; u < end; u++) {
        const int64_t last = starts[2 * u + 2];
        cursor at = place(A, starts[2 * u + 1]);
        const stored *values = at.value;
        for (int64_t row = starts[2 * u]; row < last; row++) {
            const scalar sum = sum_entries(&at, values + ends[row], conjugated, p->x);
            if (plain)
                y[row - p->first] = sum;
            else
                put(f, sum, y + (row - p->first));
        }
        if (A->carry_at[u + 1] > A->carry_at[u])
            carry[A->carry_at[u]] =
                mul(f.alpha, sum_entries(&at, place(A, starts[2 * u + 3]).value, conjugated, p->x));
    }
}

void W(merge_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (factors_of(p->alpha, p->beta).plain && !p->conjugate)
        units(A, begin, end, p, true);
    else
        units(A, begin, end, p, false);
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *starts = A->array[MERGE_STARTS].data;
    const uint16_t *ends = A->array[MERGE_ENDS].data;
    for (int64_t u = begin; u < end; u++) {
        const int64_t last = starts[2 * u + 2];
        cursor at = place(A, starts[2 * u + 1]);
        const stored *values = at.value;
        for (int64_t row = starts[2 * u]; row < last; row++) {
            const tile sum = tile_entries(&at, values + ends[row], p->x, p->x_stride, vectors);
            tile_put(&sum, vectors, p, f, row);
        }
        if (A->carry_at[u + 1] > A->carry_at[u]) {
            const tile sum =
                tile_entries(&at, place(A, starts[2 * u + 3]).value, p->x, p->x_stride, vectors);
            tile_carry(&sum, vectors, p, f, A->carry_at[u]);
        }
    }
}

void W(merge_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
