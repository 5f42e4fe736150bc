/*
 * The words kernels are written in: scalar, real, X(name), and arithmetic that reads the same for
 * real and complex numbers. Included by src/host/kernels/ only; compiled once a scalar type and ISA
 * level.
 */
#ifndef SPRY_KERNEL_H
#define SPRY_KERNEL_H

#include "host/host.h"

#include <math.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/*
 * Asks for a line of the cache that will be read soon, some bytes ahead in a stream. Prefetchers of
 * x86 do not look past the page and leave a third of the bandwidth of a core unused; those of arm64
 * need no help.
 */
#ifdef __x86_64__
#define AHEAD(place, bytes) __builtin_prefetch((const char *)(place) + (bytes))
#else
#define AHEAD(place, bytes) ((void)(place))
#endif
enum { AHEAD_BYTES = 2048 }; /* of the widest stream of a loop */

#if defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)
typedef float real;
#else
typedef double real;
#endif

#define KERNEL_JOIN2(name, suffix) host_##name##_##suffix
#define KERNEL_JOIN(name, suffix) KERNEL_JOIN2(name, suffix)
#define X(name) KERNEL_JOIN(name, KERNEL_SUFFIX)

#define KERNEL_DECLARE(result, name, arguments) result X(name) arguments;
HOST_KERNELS(KERNEL_DECLARE)

/* a * b + c, rounded once where the processor can. Written out where bits must not depend on where
 * an entry stands in a loop: of two products a compiler fuses either one or none, and the vector
 * part of a loop multiplies first and adds in order. */
static inline real fused(real a, real b, real c)
{
#if (defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)) && defined(__FP_FAST_FMAF)
    return __builtin_fmaf(a, b, c);
#elif (defined(KERNEL_TYPE_d) || defined(KERNEL_TYPE_z)) && defined(__FP_FAST_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

#if defined(KERNEL_TYPE_c) || defined(KERNEL_TYPE_z)

#define KERNEL_COMPLEX 1
typedef struct scalar {
    real re, im;
} scalar;

static inline scalar from_scalar(spry_scalar a)
{
    return (scalar){(real)a.re, (real)a.im};
}
static inline spry_scalar to_scalar(scalar a)
{
    return (spry_scalar){(double)a.re, (double)a.im};
}
static inline scalar mul(scalar a, scalar b)
{
    return (scalar){fused(a.re, b.re, -(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}
/* a * b + c */
static inline scalar muladd(scalar a, scalar b, scalar c)
{
    return (scalar){fused(-a.im, b.im, fused(a.re, b.re, c.re)),
                    fused(a.im, b.re, fused(a.re, b.im, c.im))};
}
static inline scalar sub(scalar a, scalar b)
{
    return (scalar){a.re - b.re, a.im - b.im};
}
static inline scalar conjugate(scalar a)
{
    return (scalar){a.re, -a.im};
}
static inline bool is_zero(scalar a)
{
    return a.re == 0 && a.im == 0;
}
static inline bool is_one(scalar a)
{
    return a.re == 1 && a.im == 0;
}

#else

#define KERNEL_COMPLEX 0
typedef real scalar;

static inline scalar from_scalar(spry_scalar a)
{
    return (real)a.re;
}
static inline spry_scalar to_scalar(scalar a)
{
    return (spry_scalar){(double)a, 0};
}
static inline scalar mul(scalar a, scalar b)
{
    return a * b;
}
static inline scalar muladd(scalar a, scalar b, scalar c)
{
    return a * b + c;
}
static inline scalar sub(scalar a, scalar b)
{
    return a - b;
}
static inline scalar conjugate(scalar a)
{
    return a;
}
static inline bool is_zero(scalar a)
{
    return a == 0;
}
static inline bool is_one(scalar a)
{
    return a == 1;
}

#endif

/* The factors of a product, and what they spare. */
typedef struct factors {
    scalar alpha, beta;
    bool plain, reads;
} factors;

static inline factors factors_of(spry_scalar a, spry_scalar b)
{
    const scalar alpha = from_scalar(a), beta = from_scalar(b);
    return (factors){alpha, beta, is_one(alpha) && is_zero(beta), !is_zero(beta)};
}
/* *y = alpha sum + beta *y */
ALWAYS_INLINE void put(factors f, scalar sum, scalar *y)
{
    if (f.plain)
        *y = sum;
    else if (f.reads)
        *y = muladd(f.beta, *y, mul(f.alpha, sum));
    else
        *y = mul(f.alpha, sum);
}

#endif
