/*
 * Sums of several rows side by side, for formats that store rows so: lane l is row l. Each row's
 * products are added one by one in the order they are stored, whatever the number of lanes, so that
 * bits depend neither on it nor on how many columns a product has.
 *
 * Numbers of x are loaded one by one. Gathers are not used on purpose: they save little where loads
 * from memory bound the loop, and processors with the cure for gather data sampling
 * (CVE-2022-40982) take several times as long for one as for the loads it stands for.
 */
#ifndef SPRY_SLICES_LANES_H
#define SPRY_SLICES_LANES_H

#include "host/kernels/walk_kernel.h"

/* A group (entry k of all rows of a slice): the place of its first value, its number among all, and
 * where its columns are, if not there. */
typedef struct slice_cursor {
    int64_t place, group, at;
} slice_cursor;
typedef enum index_kind { INDEX_NEAR, INDEX_FAR, INDEX_RUN } index_kind;

/* Lanes whose sums are kept in registers at once; fewer may be used. */
enum {
    LANES_HALF = KERNEL_COMPLEX ? 4 : 8,
    LANES_MOST = 2 * LANES_HALF,
    LANES_WIDE = KERNEL_COMPLEX ? LANES_MOST : 32
};

#if KERNEL_COMPLEX

/* The products with the values' real and imaginary parts apart, as in tile.h. */
typedef real lane_pair __attribute__((vector_size(2 * sizeof(real))));
typedef real lane_pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* One lane alone. */
typedef struct lane_sum {
    lane_pair by_re, by_im;
} lane_sum;

ALWAYS_INLINE void lane_add(lane_sum *s, stored given, const scalar *x)
{
    const scalar value = value_of(given);
    const lane_pair number = *(const lane_pair_at *)x;
    s->by_re += value.re * number;
    s->by_im += value.im * number;
}
ALWAYS_INLINE scalar lane_take(const lane_sum *s, bool conjugated)
{
    const lane_pair re = s->by_re, im = s->by_im;
    return conjugated ? (scalar){re[0] + im[1], re[1] - im[0]}
                      : (scalar){re[0] - im[1], re[1] + im[0]};
}

typedef struct lanes {
    lane_sum sum[LANES_WIDE];
} lanes;

/* Adds value l times number at[l] of x to lane l < n. */
ALWAYS_INLINE void lanes_add(lanes *s, int n, const stored *values, const scalar *x,
                             const uint32_t *at)
{
#pragma GCC unroll 8
    for (int l = 0; l < n; l++)
        lane_add(&s->sum[l], values[l], x + at[l]);
}
/* The same for numbers that are side by side, from x on. */
ALWAYS_INLINE void lanes_add_run(lanes *s, int n, const stored *values, const scalar *x)
{
#pragma GCC unroll 8
    for (int l = 0; l < n; l++)
        lane_add(&s->sum[l], values[l], x + l);
}
ALWAYS_INLINE void lanes_take(const lanes *s, int n, bool conjugated, scalar *sums)
{
#pragma GCC unroll 16
    for (int l = 0; l < n; l++)
        sums[l] = lane_take(&s->sum[l], conjugated);
}
/* Sums that wait in memory. */
ALWAYS_INLINE void lanes_load(lanes *s, int n, const lane_sum *from)
{
    memcpy(s->sum, from, (size_t)n * sizeof *from);
}
ALWAYS_INLINE void lanes_save(const lanes *s, int n, lane_sum *to)
{
    memcpy(to, s->sum, (size_t)n * sizeof *to);
}

#else

/* One lane alone. */
typedef struct lane_sum {
    real sum;
} lane_sum;

ALWAYS_INLINE void lane_add(lane_sum *s, stored value, const scalar *x)
{
    s->sum += value_of(value) * *x;
}
ALWAYS_INLINE scalar lane_take(const lane_sum *s, bool conjugated)
{
    (void)conjugated;
    return s->sum;
}

/* Numbers of a vector. */
#if defined(__AVX512F__) || (defined(__AVX__) && defined(KERNEL_TYPE_s))
#define LANE_REALS 8
#elif defined(__AVX__) || defined(KERNEL_TYPE_s)
#define LANE_REALS 4
#else
#define LANE_REALS 2
#endif
enum { LANE_BYTES = LANE_REALS * sizeof(real) };
typedef real lane_vec __attribute__((vector_size(LANE_BYTES)));
typedef real lane_vec_at __attribute__((vector_size(LANE_BYTES), aligned(sizeof(real)), may_alias));

typedef struct lanes {
    lane_vec sum[LANES_WIDE / LANE_REALS];
} lanes;

/* LANES_HALF values in vectors of LANE_REALS. Shorter ones are widened all at once, which compilers
 * make better code of than of a few. */
typedef struct lane_values {
    lane_vec part[LANES_HALF / LANE_REALS];
} lane_values;

#if defined(KERNEL_KIND_own)
ALWAYS_INLINE void load_values(const stored *values, lane_values *v)
{
#pragma GCC unroll 8
    for (int i = 0; i < LANES_HALF / LANE_REALS; i++)
        v->part[i] = *(const lane_vec_at *)(values + i * LANE_REALS);
}
#else
typedef float lane_floats __attribute__((vector_size(LANES_HALF * 4)));
typedef float lane_floats_at __attribute__((vector_size(LANES_HALF * 4), aligned(4), may_alias));
typedef uint32_t lane_bits __attribute__((vector_size(LANES_HALF * 4)));
typedef int32_t lane_signed __attribute__((vector_size(LANES_HALF * 4)));
typedef uint16_t lane_halves_at __attribute__((vector_size(LANES_HALF * 2), aligned(2), may_alias));
typedef double lane_doubles __attribute__((vector_size(LANES_HALF * 8)));

ALWAYS_INLINE void load_values(const stored *values, lane_values *v)
{
#if defined(KERNEL_KIND_f32)
    const lane_floats f = *(const lane_floats_at *)values;
#else
    const lane_bits bits = __builtin_convertvector(*(const lane_halves_at *)values, lane_bits)
                           << 16;
#if defined(KERNEL_KIND_bf16)
    const lane_floats f = (lane_floats)bits;
#else /* as f16_value() does it; the sign is shifted in from the left, and all but one of it go */
    const lane_floats f =
        (lane_floats)((lane_bits)((lane_signed)bits >> 3) & 0x8fffe000) * 0x1p112f;
#endif
#endif
    const lane_doubles d = __builtin_convertvector(f, lane_doubles);
    memcpy(v, &d, sizeof *v);
}
#endif

#define LANE_PAIR(x, at) (x)[(at)[0]], (x)[(at)[1]]
#define LANE_FOUR(x, at) LANE_PAIR(x, at), LANE_PAIR(x, (at) + 2)
ALWAYS_INLINE lane_vec load_numbers(const scalar *x, const uint32_t *at)
{
#if LANE_REALS == 2
    return (lane_vec){LANE_PAIR(x, at)};
#elif LANE_REALS == 4
    return (lane_vec){LANE_FOUR(x, at)};
#else
    return (lane_vec){LANE_FOUR(x, at), LANE_FOUR(x, at + 4)};
#endif
}

/* Adds value l times number at[l] of x to lane l < n. */
ALWAYS_INLINE void lanes_add(lanes *s, int n, const stored *values, const scalar *x,
                             const uint32_t *at)
{
#pragma GCC unroll 4
    for (int l = 0; l < n; l += LANES_HALF) {
        lane_values v;
        load_values(values + l, &v);
        AHEAD(values + l, AHEAD_BYTES);
#pragma GCC unroll 8
        for (int i = 0; i < LANES_HALF / LANE_REALS; i++)
            s->sum[l / LANE_REALS + i] += v.part[i] * load_numbers(x, at + l + i * LANE_REALS);
    }
}

/* The same for numbers that are side by side, from x on. */
ALWAYS_INLINE void lanes_add_run(lanes *s, int n, const stored *values, const scalar *x)
{
#pragma GCC unroll 4
    for (int l = 0; l < n; l += LANES_HALF) {
        lane_values v;
        load_values(values + l, &v);
        AHEAD(values + l, AHEAD_BYTES);
#pragma GCC unroll 8
        for (int i = 0; i < LANES_HALF / LANE_REALS; i++)
            s->sum[l / LANE_REALS + i] +=
                v.part[i] * *(const lane_vec_at *)(x + l + i * LANE_REALS);
    }
}

ALWAYS_INLINE void lanes_take(const lanes *s, int n, bool conjugated, scalar *sums)
{
    (void)conjugated;
    const int parts = n / LANE_REALS;
#pragma GCC unroll 16
    for (int i = 0; i < parts; i++)
        *(lane_vec_at *)(sums + i * LANE_REALS) = s->sum[i];
}

/* Sums that wait in memory. */
ALWAYS_INLINE void lanes_load(lanes *s, int n, const lane_sum *from)
{
    const int parts = n / LANE_REALS;
#pragma GCC unroll 16
    for (int i = 0; i < parts; i++)
        s->sum[i] = *(const lane_vec_at *)(from + i * LANE_REALS);
}
ALWAYS_INLINE void lanes_save(const lanes *s, int n, lane_sum *to)
{
    const int parts = n / LANE_REALS;
#pragma GCC unroll 16
    for (int i = 0; i < parts; i++)
        *(lane_vec_at *)(to + i * LANE_REALS) = s->sum[i];
}

#endif
#endif
