/*
 * Sums of lines that are stored side by side: an entry of each of a group's lines is a vector of
 * values and one of columns. A group is a line of the cache wide in values of types s, d and z.
 */
#ifndef SPRY_GROUPS_H
#define SPRY_GROUPS_H

#include "host/kernels/walk_kernel.h"

#if KERNEL_COMPLEX

enum { GROUP = 4 };

typedef real group_pair __attribute__((vector_size(2 * sizeof(real))));
typedef real group_pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* The sum of a line. The products with the values' real and imaginary parts apart: each is a number
 * times a pair, and conjugation matters at the end only. */
typedef struct chain {
    group_pair re, im;
} chain;

ALWAYS_INLINE void chain_add(chain *sum, stored value, const scalar *x)
{
    const group_pair number = *(const group_pair_at *)x;
    const scalar v = value_of(value);
    sum->re += v.re * number;
    sum->im += v.im * number;
}
ALWAYS_INLINE chain chain_plus(chain a, chain b)
{
    return (chain){a.re + b.re, a.im + b.im};
}
ALWAYS_INLINE scalar chain_value(chain sum, bool conjugated)
{
    return conjugated ? (scalar){sum.re[0] + sum.im[1], sum.re[1] - sum.im[0]}
                      : (scalar){sum.re[0] - sum.im[1], sum.re[1] + sum.im[0]};
}

typedef struct group {
    chain lane[GROUP];
} group;

ALWAYS_INLINE void group_load(group *g, const chain *sums)
{
#pragma GCC unroll 4
    for (int l = 0; l < GROUP; l++)
        g->lane[l] = sums[l];
}
ALWAYS_INLINE void group_add(group *g, const stored *values, const int32_t *columns,
                             const scalar *x)
{
#pragma GCC unroll 4
    for (int l = 0; l < GROUP; l++)
        chain_add(&g->lane[l], values[l], x + (uint32_t)columns[l]);
}
ALWAYS_INLINE void group_store(const group *g, chain *sums)
{
#pragma GCC unroll 4
    for (int l = 0; l < GROUP; l++)
        sums[l] = g->lane[l];
}

#else

/* One vector where x can be gathered; plain numbers elsewhere, which the compilers pair as the
 * processor likes it best. */
#ifdef __AVX512F__
#include <immintrin.h>
#endif
enum { GROUP = 64 / sizeof(real) };

typedef real chain;

ALWAYS_INLINE void chain_add(chain *sum, stored value, const scalar *x)
{
    *sum += value_of(value) * *x;
}
ALWAYS_INLINE chain chain_plus(chain a, chain b)
{
    return a + b;
}
ALWAYS_INLINE scalar chain_value(chain sum, bool conjugated)
{
    (void)conjugated;
    return sum;
}

#ifdef __AVX512F__

typedef real group_vec __attribute__((vector_size(64)));
typedef real group_vec_at __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));

typedef struct group {
    group_vec sum;
} group;

/* All lanes, as a number the compiler does not know. A gather waits for what its register held
 * before, which it would leave as it was if it knew that nothing of it stays. */
ALWAYS_INLINE __mmask16 all_lanes(void)
{
    __mmask16 mask = 0xffff;
    __asm__("" : "+Yk"(mask));
    return mask;
}

/* The numbers of x at a group's columns. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
ALWAYS_INLINE group_vec gather(const real *x, const int32_t *columns)
{
#ifdef KERNEL_TYPE_d
    const __m256i at = _mm256_loadu_si256((const void *)columns);
    return (group_vec)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), (__mmask8)all_lanes(), at, x,
                                               8);
#else
    const __m512i at = _mm512_loadu_si512((const void *)columns);
    return (group_vec)_mm512_mask_i32gather_ps(_mm512_setzero_ps(), all_lanes(), at, x, 4);
#endif
}
#pragma GCC diagnostic pop

ALWAYS_INLINE void group_load(group *g, const chain *sums)
{
    g->sum = *(const group_vec_at *)sums;
}
ALWAYS_INLINE void group_add(group *g, const stored *values, const int32_t *columns,
                             const scalar *x)
{
#ifdef KERNEL_KIND_own
    g->sum += *(const group_vec_at *)values * gather(x, columns);
#else
    real numbers[GROUP];
    for (int l = 0; l < GROUP; l++)
        numbers[l] = value_of(values[l]);
    g->sum += *(const group_vec_at *)numbers * gather(x, columns);
#endif
}
ALWAYS_INLINE void group_store(const group *g, chain *sums)
{
    *(group_vec_at *)sums = g->sum;
}

#else

typedef struct group {
    real lane[GROUP];
} group;

ALWAYS_INLINE void group_load(group *g, const chain *sums)
{
#pragma GCC unroll 16
    for (int l = 0; l < GROUP; l++)
        g->lane[l] = sums[l];
}
ALWAYS_INLINE void group_add(group *g, const stored *values, const int32_t *columns,
                             const scalar *x)
{
#ifdef KERNEL_KIND_own
    const real *numbers = values;
#else
    real numbers[GROUP];
    for (int l = 0; l < GROUP; l++)
        numbers[l] = value_of(values[l]);
#endif
#pragma GCC unroll 16
    for (int l = 0; l < GROUP; l++)
        g->lane[l] += numbers[l] * x[(uint32_t)columns[l]];
}
ALWAYS_INLINE void group_store(const group *g, chain *sums)
{
#pragma GCC unroll 16
    for (int l = 0; l < GROUP; l++)
        sums[l] = g->lane[l];
}

#endif

#endif

#endif
