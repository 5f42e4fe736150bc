/*
 * Element by element: each result depends on the same place of the operands alone, so arrays may be
 * the same. The compiler vectorises these loops. A real factor, which is all that conjugate
 * gradients have, lets complex arrays be taken as twice as many real numbers: half the work.
 */
#include "host/kernels/kernel.h"

enum { PARTS = 1 + KERNEL_COMPLEX };

void X(fill)(int64_t n, spry_scalar a, void *x)
{
    const scalar value = from_scalar(a);
    scalar *to = x;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = value;
}

static void combine_reals(int64_t n, real a, const real *x, const real *y, real *z)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        z[i] = x[i] + a * y[i];
}

static void combine(int64_t n, scalar a, const scalar *x, const scalar *y, scalar *z)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        z[i] = muladd(a, y[i], x[i]);
}

void X(triad)(int64_t n, spry_scalar a, const void *x, const void *y, void *z)
{
    if (a.im == 0)
        combine_reals(n * PARTS, (real)a.re, x, y, z);
    else
        combine(n, from_scalar(a), x, y, z);
}

void X(axpy)(int64_t n, spry_scalar a, const void *x, void *y)
{
    X(triad)(n, a, y, x, y);
}

void X(xpay)(int64_t n, const void *x, spry_scalar b, void *y)
{
    X(triad)(n, b, x, y, y);
}

static void scale_reals(int64_t n, real a, real *x)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        x[i] *= a;
}

void X(scale)(int64_t n, spry_scalar a, void *x)
{
    const scalar factor = from_scalar(a);
    scalar *to = x;
    if (a.im == 0) {
        scale_reals(n * PARTS, (real)a.re, x);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = mul(factor, to[i]);
}

void X(multiply)(int64_t n, const void *x, const void *y, void *z)
{
    const scalar *left = x, *right = y;
    scalar *to = z;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = mul(left[i], right[i]);
}

void X(multiply_conj)(int64_t n, const void *x, const void *y, void *z)
{
    const scalar *left = x, *right = y;
    scalar *to = z;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = mul(conjugate(left[i]), right[i]);
}

#if KERNEL_COMPLEX
/*
 * R. L. Smith, Algorithm 116: Complex division, Comm. ACM 5 (1962): divides by the larger part of b
 * first, so that nothing overflows that need not. Choices instead of branches, for vectors.
 */
static inline scalar quotient(scalar a, scalar b)
{
    const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    const real most = wide ? b.re : b.im, least = wide ? b.im : b.re;
    const real first = wide ? a.re : a.im, second = wide ? a.im : a.re;
    const real ratio = least / most, below = most + least * ratio;
    const real im = (second - first * ratio) / below;
    return (scalar){(first + second * ratio) / below, wide ? im : -im};
}
#else
static inline scalar quotient(scalar a, scalar b)
{
    return a / b;
}
#endif

void X(divide)(int64_t n, const void *x, const void *y, void *z)
{
    const scalar *left = x, *right = y;
    scalar *to = z;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = quotient(left[i], right[i]);
}

void X(random)(int64_t n, uint64_t seed, int64_t first, void *x)
{
    /* Odd multiples of 2^-DIGITS, which the type holds: as many below 0 as above, none at it. */
    enum { DIGITS = sizeof(real) == 4 ? 24 : 53 };
    const real unit = (real)1 / (real)(UINT64_C(1) << DIGITS);
    real *to = x;
    for (int64_t i = 0; i < n * PARTS; i++) {
        const uint64_t bits = base_random(seed, (uint64_t)(first * PARTS + i)) >> (64 - DIGITS);
        to[i] = (real)(2 * (int64_t)bits + 1 - (INT64_C(1) << DIGITS)) * unit;
    }
}
