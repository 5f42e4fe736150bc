/*
 * Sums of products with x taken from anywhere, four side by side: what walks through bricks and
 * tiles are made of. Four divides every width they may have, and is a vector of 16 or 32 bytes.
 */
#ifndef SPRY_LANES_H
#define SPRY_LANES_H

#include "host/kernels/kernel.h"

enum { LANES = 4 };

typedef real lane_pair __attribute__((vector_size(2 * sizeof(real))));
typedef real lane_pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

#if KERNEL_COMPLEX
/* One sum. The products with the values' real and imaginary parts apart: each is a number times a
 * pair, and conjugation matters at the end only. */
typedef struct chain {
    lane_pair re, im;
} chain;

ALWAYS_INLINE void chain_add(chain *s, scalar value, const scalar *x)
{
    const lane_pair number = *(const lane_pair_at *)x;
    s->re += value.re * number;
    s->im += value.im * number;
}
ALWAYS_INLINE chain chain_plus(chain a, chain b)
{
    return (chain){a.re + b.re, a.im + b.im};
}
ALWAYS_INLINE scalar chain_value(chain s, bool conjugated)
{
    return conjugated ? (scalar){s.re[0] + s.im[1], s.re[1] - s.im[0]}
                      : (scalar){s.re[0] - s.im[1], s.re[1] + s.im[0]};
}

typedef struct lanes {
    chain lane[LANES];
} lanes;

/* Adds four entries, one to each sum, and keeps the numbers of x where `kept` is not NULL. */
ALWAYS_INLINE void lanes_add(lanes *s, const scalar *value, const int32_t *column, const scalar *x,
                             scalar *kept)
{
#pragma GCC unroll 4
    for (int l = 0; l < LANES; l++) {
        const scalar *number = x + (uint32_t)column[l];
        chain_add(&s->lane[l], value[l], number);
        if (kept)
            kept[l] = *number;
    }
}
ALWAYS_INLINE lanes lanes_plus(lanes a, lanes b)
{
#pragma GCC unroll 4
    for (int l = 0; l < LANES; l++)
        a.lane[l] = chain_plus(a.lane[l], b.lane[l]);
    return a;
}
ALWAYS_INLINE chain lanes_chain(const lanes *s, int l)
{
    return s->lane[l];
}

#else

typedef struct chain {
    real sum;
} chain;

ALWAYS_INLINE void chain_add(chain *s, scalar value, const scalar *x)
{
    s->sum += value * *x;
}
ALWAYS_INLINE chain chain_plus(chain a, chain b)
{
    return (chain){a.sum + b.sum};
}
ALWAYS_INLINE scalar chain_value(chain s, bool conjugated)
{
    (void)conjugated;
    return s.sum;
}

#if defined(KERNEL_TYPE_s) || defined(__AVX__)
enum { LANES_VEC = 4 };
#else
enum { LANES_VEC = 2 };
#endif
typedef real lanes_vec __attribute__((vector_size(LANES_VEC * sizeof(real))));
typedef real lanes_vec_at
    __attribute__((vector_size(LANES_VEC * sizeof(real)), aligned(sizeof(real)), may_alias));

typedef struct lanes {
    lanes_vec part[LANES / LANES_VEC];
} lanes;

ALWAYS_INLINE void lanes_add(lanes *s, const scalar *value, const int32_t *column, const scalar *x,
                             scalar *kept)
{
#pragma GCC unroll 2
    for (int l = 0; l < LANES; l += LANES_VEC) {
#if defined(KERNEL_TYPE_s) || defined(__AVX__)
        const lanes_vec number = {x[(uint32_t)column[l]], x[(uint32_t)column[l + 1]],
                                  x[(uint32_t)column[l + 2]], x[(uint32_t)column[l + 3]]};
#else
        const lanes_vec number = {x[(uint32_t)column[l]], x[(uint32_t)column[l + 1]]};
#endif
        s->part[l / LANES_VEC] += *(const lanes_vec_at *)(value + l) * number;
        if (kept)
            *(lanes_vec_at *)(kept + l) = number;
    }
}
ALWAYS_INLINE lanes lanes_plus(lanes a, lanes b)
{
#pragma GCC unroll 2
    for (int v = 0; v < LANES / LANES_VEC; v++)
        a.part[v] += b.part[v];
    return a;
}
ALWAYS_INLINE chain lanes_chain(const lanes *s, int l)
{
    return (chain){s->part[l / LANES_VEC][l % LANES_VEC]};
}

#endif

/* The four sums together. */
ALWAYS_INLINE chain lanes_total(const lanes *s)
{
    return chain_plus(chain_plus(lanes_chain(s, 0), lanes_chain(s, 1)),
                      chain_plus(lanes_chain(s, 2), lanes_chain(s, 3)));
}

/* The sum over n entries, a multiple of four. */
ALWAYS_INLINE chain lanes_sum(const scalar *value, const int32_t *column, int64_t n,
                              const scalar *x)
{
    lanes a = {0}, b = {0};
    for (; n >= 2 * LANES; n -= 2 * LANES, value += 2 * LANES, column += 2 * LANES) {
        lanes_add(&a, value, column, x, NULL);
        lanes_add(&b, value + LANES, column + LANES, x, NULL);
    }
    if (n > 0)
        lanes_add(&a, value, column, x, NULL);
    const lanes s = lanes_plus(a, b);
    return lanes_total(&s);
}

/* The same, in the same order, for values that are stored in bricks of `half` with room for as many
 * numbers of x behind them. */
ALWAYS_INLINE chain lanes_sum_kept(scalar *brick, const int32_t *column, int64_t n, int64_t half,
                                   const scalar *x)
{
    lanes s[2] = {0};
    for (int64_t k = 0; k < n; brick += 2 * half)
        for (int64_t l = 0; l < half; l += LANES, k += LANES) {
            if (k / LANES % 2 == 0)
                lanes_add(&s[0], brick + l, column + k, x, brick + half + l);
            else
                lanes_add(&s[1], brick + l, column + k, x, brick + half + l);
        }
    const lanes sum = lanes_plus(s[0], s[1]);
    return lanes_total(&sum);
}

#endif
