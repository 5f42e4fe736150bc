/* More words of kernels: division, magnitudes, rounding. */
#ifndef SPRY_KERNEL_ARITHMETIC_H
#define SPRY_KERNEL_ARITHMETIC_H

#include "host/kernels/kernel.h"

#include <float.h>

/* The distance from 1 to the next number. */
#if defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)
#define UNIT ((real)FLT_EPSILON)
#else
#define UNIT ((real)DBL_EPSILON)
#endif

#if KERNEL_COMPLEX

static inline scalar add(scalar a, scalar b)
{
    return (scalar){a.re + b.re, a.im + b.im};
}
static inline scalar times(real a, scalar b)
{
    return (scalar){a * b.re, a * b.im};
}
/* 1 / a by Smith's division, which does not overflow where the result does not. */
static inline scalar inverse(scalar a)
{
    const bool wide = (real)fabs((double)a.re) >= (real)fabs((double)a.im);
    const real ratio = wide ? a.im / a.re : a.re / a.im;
    const real scale = wide ? 1 / (a.re + a.im * ratio) : 1 / (a.re * ratio + a.im);
    return a.im == 0 ? (scalar){1 / a.re, 0}
           : wide    ? (scalar){scale, -ratio * scale}
                     : (scalar){ratio * scale, -scale};
}
static inline bool finite_number(scalar a)
{
    return isfinite(a.re) && isfinite(a.im);
}
/* |a|^2 and |a|, the latter without overflow. */
static inline real square_of(scalar a)
{
    return fused(a.re, a.re, a.im * a.im);
}
static inline real size_of(scalar a)
{
    return (real)hypot((double)a.re, (double)a.im);
}
static inline real real_of(scalar a)
{
    return a.re;
}
static inline scalar number(real a)
{
    return (scalar){a, 0};
}

#else

static inline scalar add(scalar a, scalar b)
{
    return a + b;
}
static inline scalar times(real a, scalar b)
{
    return a * b;
}
static inline scalar inverse(scalar a)
{
    return 1 / a;
}
static inline bool finite_number(scalar a)
{
    return isfinite(a);
}
static inline real square_of(scalar a)
{
    return a * a;
}
static inline real size_of(scalar a)
{
    return a < 0 ? -a : a;
}
static inline real real_of(scalar a)
{
    return a;
}
static inline scalar number(real a)
{
    return a;
}

#endif

/* sum a_i x_i, or with conj(a_i); in four sums, which do not wait for each other */
static inline scalar sum_of(int64_t n, bool conjugated, const scalar *a, const scalar *x)
{
    scalar sums[4] = {number(0), number(0), number(0), number(0)};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] = muladd(conjugated ? conjugate(a[i + k]) : a[i + k], x[i + k], sums[k]);
    for (; i < n; i++)
        sums[0] = muladd(conjugated ? conjugate(a[i]) : a[i], x[i], sums[0]);
    return add(add(sums[0], sums[1]), add(sums[2], sums[3]));
}

#endif
