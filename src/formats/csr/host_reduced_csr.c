/*
 * Products with CSR in groups of rows. An entry takes 4 bytes and its value's, a row 4 and those of
 * y. As in host/kernels/csr.c, two and a half loads per entry keep three load units
 * busy for five sixths of a cycle, so that the loop around them must be nearly free.
 */
#include "formats/csr/csr.h"
#include "host/kernels/sums.h"

ALWAYS_INLINE int64_t last_row(const layout *A, int64_t group)
{
    return (group + 1) * CSR_GROUP < A->rows ? (group + 1) * CSR_GROUP : A->rows;
}

ALWAYS_INLINE cursor place(const layout *A, int64_t at)
{
    return (cursor){(const int32_t *)A->array[CSR_COLUMNS].data + at,
                    (const stored *)A->array[CSR_VALUES].data + at};
}

ALWAYS_INLINE void groups(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool plain)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *starts = A->array[CSR_STARTS].data;
    const uint32_t *ends = A->array[CSR_ENDS].data;
    scalar *y = p->y;
    for (int64_t g = begin; g < end; g++) {
        const int64_t last = last_row(A, g);
        cursor at = place(A, starts[g]);
        const stored *values = at.value;
        for (int64_t row = g * CSR_GROUP; row < last; row++) {
            const scalar sum =
                sum_entries(&at, values + ends[row], plain ? false : p->conjugate, p->x);
            if (plain)
                y[row - p->first] = sum;
            else
                put(f, sum, y + (row - p->first));
        }
    }
}

void W(csr_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (factors_of(p->alpha, p->beta).plain && !p->conjugate)
        groups(A, begin, end, p, true);
    else
        groups(A, begin, end, p, false);
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const int64_t *starts = A->array[CSR_STARTS].data;
    const uint32_t *ends = A->array[CSR_ENDS].data;
    for (int64_t g = begin; g < end; g++) {
        const int64_t last = last_row(A, g);
        cursor at = place(A, starts[g]);
        const stored *values = at.value;
        for (int64_t row = g * CSR_GROUP; row < last; row++) {
            const tile sum = tile_entries(&at, values + ends[row], p->x, p->x_stride, vectors);
            tile_put(&sum, vectors, p, f, row);
        }
    }
}

void W(csr_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
