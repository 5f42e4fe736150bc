/* Small blocks along the diagonal: their inverses, and products with them. */
#include "precon/kernels/kernel.h"

#include "formats/shared/reduced.h"

/* Kinds of numbers: as in formats/shared/layout.h, which kernels do not see. */
enum { OWN, F32, F16 };

/* The block written out, column by column; gives the largest sum of a row. */
static double gather(const host_csr *A, int64_t first, int64_t n, scalar *a)
{
    double most = 0;
    for (int64_t i = 0; i < n * n; i++)
        a[i] = number(0);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = A->offsets[first + i]; k < A->offsets[first + i + 1]; k++) {
            const int64_t j = A->columns[k] - first;
            if (j < 0 || j >= n)
                continue;
            a[j * n + i] = ((const scalar *)A->values)[k];
            sum += (double)size_of(a[j * n + i]);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* The largest sum of a row; NaN, or infinite, where a number is not finite. */
static double norm(int64_t n, const scalar *a)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += (double)size_of(a[j * n + i]);
        most = sum <= most || isnan(most) ? most : sum;
    }
    return most;
}

int64_t X(block_invert)(const host_csr *A, const precon_blocks *b, int64_t begin, int64_t end,
                        double *conditions)
{
    scalar a[PRECON_MOST_BLOCK * PRECON_MOST_BLOCK];
    int32_t rows[PRECON_MOST_BLOCK];
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = b->first[k], n = b->first[k + 1] - first;
        scalar *to = (scalar *)(void *)((char *)b->values + b->place[k]);
        const double size = gather(A, first, n, a);
        if (X(dense_factor)(n, 0, n, a, rows) < n)
            return k;
        for (int64_t i = 0; i < n * n; i++)
            to[i] = number(i % (n + 1) == 0 ? 1 : 0);
        const dense_factors f = {n, n, a, rows, NULL};
        X(dense_solve)(&f, SPRY_TRANSPOSE_NO, n, to);
        conditions[k] = size * norm(n, to);
        if (!(conditions[k] * (sizeof(real) == 4 ? 0x1p-24 : 0x1p-53) < 0.25))
            return k; /* as far as this precision shows */
    }
    return end;
}

/* Column j of block k, as it means; `room` may be needed for it. */
ALWAYS_INLINE const scalar *column_of(const precon_blocks *b, int64_t k, int64_t n, int64_t j,
                                      scalar *room)
{
    const char *from = (const char *)b->values + b->place[k];
    enum { PARTS = sizeof(scalar) / sizeof(real) };
    if (b->kind[k] == OWN)
        return (const scalar *)(const void *)from + j * n;
    real *to = (real *)room;
    const float *single = (const float *)(const void *)from + j * n * PARTS;
    const f16 *half = (const f16 *)(const void *)from + j * n * PARTS;
    for (int64_t i = 0; i < n * PARTS; i++)
        to[i] = b->kind[k] == F32 ? (real)single[i] : (real)f16_value(half[i]);
    return room;
}

void X(block_apply)(const precon_blocks *b, int64_t begin, int64_t end, spry_transpose transpose,
                    const void *r, void *z)
{
    scalar room[PRECON_MOST_BLOCK], sums[PRECON_MOST_BLOCK];
    for (int64_t k = begin; k < end; k++) {
        const int64_t first = b->first[k], n = b->first[k + 1] - first;
        const real factor = (real)ldexp(1, -b->exponent[k]);
        const scalar *x = (const scalar *)r + first;
        scalar *y = (scalar *)z + first;
        for (int64_t i = 0; i < n; i++)
            sums[i] = number(0);
        for (int64_t j = 0; j < n; j++) {
            const scalar *a = column_of(b, k, n, j, room);
            if (transpose == SPRY_TRANSPOSE_NO)
                for (int64_t i = 0; i < n; i++)
                    sums[i] = muladd(a[i], x[j], sums[i]);
            else
                for (int64_t i = 0; i < n; i++)
                    sums[j] = muladd(transpose == SPRY_TRANSPOSE_CONJUGATE ? conjugate(a[i]) : a[i],
                                     x[i], sums[j]);
        }
        for (int64_t i = 0; i < n; i++)
            y[i] = times(factor, sums[i]);
    }
}
