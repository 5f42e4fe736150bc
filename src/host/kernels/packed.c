/*
 * Products of a CSR matrix with several vectors that are packed. The sums are those of csr.c, entry
 * by entry, and give the same bits.
 */
#include "host/kernels/sums.h"

ALWAYS_INLINE void rows(const host_csr *A, int64_t begin, int64_t end, const host_columns *p,
                        int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->values;
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++) {
        const tile sum = tile_entries(&at, values + A->offsets[i + 1], p->x, p->x_step, vectors);
        tile_put(&sum, vectors, p, f, i);
    }
}

void X(csr_rows_packed)(const host_csr *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->units == 1)
        rows(A, begin, end, p, TILE_UNIT);
    else
        rows(A, begin, end, p, TILE_MOST);
}

void X(pack)(int64_t n, int units, int count, const void *const *x, int64_t step, void *packed)
{
    const int width = units * HOST_UNIT / TILE_PARTS;
    scalar *to = packed;
    const scalar zero = from_scalar((spry_scalar){0, 0});
    for (int c = 0; c < width; c++) {
        const scalar *from = c < count ? x[c] : NULL;
        for (int64_t i = 0; i < n; i++)
            to[i * width + c] = from ? from[i * step] : zero;
    }
}

void X(carry_add)(int64_t n, int64_t width, const void *carry, int count, void *const *y,
                  int64_t y_step)
{
    const scalar one = from_scalar((spry_scalar){1, 0}), *from = carry;
    for (int c = 0; c < count; c++) {
        scalar *to = y[c];
        for (int64_t i = 0; i < n; i++)
            to[i * y_step] = muladd(one, from[i * width + c], to[i * y_step]);
    }
}
