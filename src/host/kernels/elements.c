/*
 * Element by element: each result depends on the same place of the operands alone, so arrays may be
 * the same. The compiler vectorises these loops.
 */
#include "host/kernels/kernel.h"

void X(fill)(int64_t n, spry_scalar a, void *x)
{
    const scalar value = from_scalar(a);
    scalar *to = x;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = value;
}

void X(axpy)(int64_t n, spry_scalar a, const void *x, void *y)
{
    const scalar factor = from_scalar(a), *from = x;
    scalar *to = y;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = muladd(factor, from[i], to[i]);
}

void X(xpay)(int64_t n, const void *x, spry_scalar b, void *y)
{
    const scalar factor = from_scalar(b), *from = x;
    scalar *to = y;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = muladd(factor, to[i], from[i]);
}

void X(scale)(int64_t n, spry_scalar a, void *x)
{
    const scalar factor = from_scalar(a);
    scalar *to = x;
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

void X(triad)(int64_t n, spry_scalar a, const void *x, const void *y, void *z)
{
    const scalar factor = from_scalar(a), *left = x, *right = y;
    scalar *to = z;
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        to[i] = muladd(factor, right[i], left[i]);
}
