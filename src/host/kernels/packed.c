/*
 * Products of a CSR matrix with several vectors that are packed. The sums are those of csr.c, entry
 * by entry, and give the same bits.
 */
#include "host/kernels/sums.h"

/* `stride` is p->x_stride, once as a constant: that spares a multiplication per entry. */
ALWAYS_INLINE void rows(const host_csr *A, int64_t begin, int64_t end, const host_columns *p,
                        int vectors, int64_t stride)
{
    const factors f = factors_of(p->alpha, p->beta);
    const stored *values = A->values;
    const int32_t *near_end = tile_near_end(p, A->columns, A->offsets[end]);
    const bool crosses = tile_crosses(p, vectors);
    cursor at = {A->columns + A->offsets[begin], values + A->offsets[begin]};
    for (int64_t i = begin; i < end; i++) {
        const tile sum = tile_entries_prefetched(&at, values + A->offsets[i + 1], p->x, stride,
                                                 vectors, near_end, crosses);
        tile_put(&sum, vectors, p, f, i);
    }
}

void X(csr_rows_packed)(const host_csr *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        rows(A, begin, end, p, TILE_PACK, p->x_stride);
    else if (p->x_stride == HOST_MOST_PACKS * HOST_PACK)
        rows(A, begin, end, p, TILE_MOST, HOST_MOST_PACKS * HOST_PACK);
    else
        rows(A, begin, end, p, TILE_MOST, p->x_stride);
}

/* A whole tile of columns that are contiguous each: `width` is a constant. */
ALWAYS_INLINE void pack_whole(int64_t n, int width, const void *const *x, scalar *to)
{
    const scalar *from[HOST_MOST_PACKS * HOST_PACK / TILE_PARTS];
    for (int c = 0; c < width; c++)
        from[c] = x[c];
    for (int64_t i = 0; i < n; i++)
#pragma GCC unroll 8
        for (int c = 0; c < width; c++)
            to[i * width + c] = from[c][i];
}

void X(pack)(int64_t n, int packs, int count, const void *const *x, int64_t stride, void *packed)
{
    enum { PACK = HOST_PACK / TILE_PARTS, MOST = HOST_MOST_PACKS * PACK };
    const int width = packs * PACK;
    scalar *to = packed;
    const scalar zero = from_scalar((spry_scalar){0, 0});
    if (count == width && width > 1 && (const scalar *)x[1] == (const scalar *)x[0] + 1) {
        for (int64_t i = 0; i < n; i++) /* side by side already */
            memcpy(to + i * width, (const scalar *)x[0] + i * stride, (size_t)width * sizeof *to);
        return;
    }
    if (stride == 1 && count == width) {
        if (width == MOST)
            pack_whole(n, MOST, x, to);
        else
            pack_whole(n, PACK, x, to);
        return;
    }
    for (int c = 0; c < width; c++) {
        const scalar *from = c < count ? x[c] : NULL;
        for (int64_t i = 0; i < n; i++)
            to[i * width + c] = from ? from[i * stride] : zero;
    }
}

void X(carry_add)(int64_t n, int64_t width, const void *carry, int count, void *const *y,
                  int64_t y_stride)
{
    const scalar one = from_scalar((spry_scalar){1, 0}), *from = carry;
    for (int c = 0; c < count; c++) {
        scalar *to = y[c];
        for (int64_t i = 0; i < n; i++)
            to[i * y_stride] = muladd(one, from[i * width + c], to[i * y_stride]);
    }
}
