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
