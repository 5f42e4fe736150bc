/* The operations in which kernels of sparse factors are written: those of host kernels, division,
 * and sums over columns. */
#ifndef SPRY_FACTOR_KERNEL_H
#define SPRY_FACTOR_KERNEL_H

#include "direct/kernels.h"
#include "host/kernels/arithmetic.h"

#include <string.h>

FRONT_KERNELS(KERNEL_DECLARE)

/* A size that is cheap to compute and at most sqrt(2) times the modulus. */
static inline real size_near(scalar a)
{
#if KERNEL_COMPLEX
    return (a.re < 0 ? -a.re : a.re) + (a.im < 0 ? -a.im : a.im);
#else
    return a < 0 ? -a : a;
#endif
}
static inline scalar minus(scalar a)
{
    return sub(number(0), a);
}
/* conj(a) for hermitian matrices. */
static inline scalar mirrored(bool hermitian, scalar a)
{
    return hermitian ? conjugate(a) : a;
}
static inline void exchange(scalar *a, scalar *b)
{
    const scalar keep = *a;
    *a = *b;
    *b = keep;
}

/* y -= f x */
ALWAYS_INLINE void subtract(int64_t n, scalar f, const scalar *restrict x, scalar *restrict y)
{
    const scalar g = minus(f);
    for (int64_t i = 0; i < n; i++)
        y[i] = muladd(g, x[i], y[i]);
}

/* y -= f_0 x_0 + ... + f_3 x_3, the columns x being `step` apart */
static inline void subtract_four(int64_t n, const scalar *f, const scalar *restrict x, int64_t step,
                                 scalar *restrict y)
{
    const scalar a = minus(f[0]), b = minus(f[1]), c = minus(f[2]), d = minus(f[3]);
    for (int64_t i = 0; i < n; i++) {
        const scalar two = muladd(b, x[i + step], muladd(a, x[i], y[i]));
        y[i] = muladd(d, x[i + 3 * step], muladd(c, x[i + 2 * step], two));
    }
}

/* w by a unit lower triangle of `depth` columns, `step` apart, that go on for n rows: its first
 * numbers become the solution, and the rest loses what they bring. */
static inline void eliminate(int64_t n, int64_t depth, const scalar *l, int64_t step, scalar *w)
{
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        for (int64_t t = 0; t < 3; t++)
            subtract(3 - t, w[k + t], l + (k + t) * step + k + t + 1, w + k + t + 1);
        subtract_four(n - k - 4, w + k, l + k * step + k + 4, step, w + k + 4);
    }
    for (; k < depth; k++)
        subtract(n - k - 1, w[k], l + k * step + k + 1, w + k + 1);
}

/* The largest of n numbers and its place; -1 for none. */
typedef struct found {
    real size;
    int64_t at;
} found;
static inline found largest(int64_t n, const scalar *x)
{
    found f = {-1, -1};
    for (int64_t i = 0; i < n; i++)
        if (size_near(x[i]) > f.size)
            f = (found){size_near(x[i]), i};
    return f;
}
static inline real largest_size(int64_t n, const scalar *x)
{
    real most = 0;
    for (int64_t i = 0; i < n; i++)
        most = size_near(x[i]) > most ? size_near(x[i]) : most;
    return most;
}

#endif
