/*
 * Products of a CSR matrix with several vectors that are packed. The sums are those of csr.c, entry
 * by entry, and give the same bits.
 */
#include "host/kernels/tile.h"

/* Four sums side by side, in the order of csr.c. */
ALWAYS_INLINE tile total(const tile s[4], int vectors)
{
#ifdef KERNEL_TYPE_s
    return tile_plus(tile_plus(s[0], s[2], vectors), tile_plus(s[1], s[3], vectors), vectors);
#else
    return tile_plus(tile_plus(s[0], s[1], vectors), tile_plus(s[2], s[3], vectors), vectors);
#endif
}

ALWAYS_INLINE void rows(const host_csr *A, int64_t begin, int64_t end, const host_columns *p,
                        int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    const scalar *values = A->values;
    const real *x = p->x;
    const int64_t step = p->x_step;
    for (int64_t i = begin; i < end; i++) {
        const scalar *value = values + A->offsets[i], *stop = values + A->offsets[i + 1];
        const int32_t *column = A->columns + A->offsets[i];
        tile s[4] = {0};
        for (; stop - value >= 4; value += 4, column += 4) {
            tile_add(&s[0], vectors, value[0], x + column[0] * step);
            tile_add(&s[1], vectors, value[1], x + column[1] * step);
            tile_add(&s[2], vectors, value[2], x + column[2] * step);
            tile_add(&s[3], vectors, value[3], x + column[3] * step);
        }
        if ((stop - value) & 2) {
            tile_add(&s[0], vectors, value[0], x + column[0] * step);
            tile_add(&s[1], vectors, value[1], x + column[1] * step);
            value += 2;
            column += 2;
        }
        if ((stop - value) & 1)
            tile_add(&s[2], vectors, value[0], x + column[0] * step);
        const tile sum = total(s, vectors);
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
