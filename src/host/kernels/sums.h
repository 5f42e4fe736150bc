/*
 * Sums of products of stored values with numbers of x, four of them side by side: what the walks
 * through CSR-like formats are made of. The order of additions is that of csr.c, so that a row
 * which is summed in one piece gets the bits of CSR. Where numbers of x lie is the walk's business:
 * it hands over their places.
 */
#ifndef SPRY_SUMS_H
#define SPRY_SUMS_H

#include "host/kernels/walk_kernel.h"

#ifdef __ARM_NEON
#include <arm_neon.h>
#endif
#if defined(__F16C__) && defined(KERNEL_KIND_f16)
#include <immintrin.h>
#endif

typedef real pair __attribute__((vector_size(2 * sizeof(real))));
/* A pair in memory, with the alignment of its numbers. */
typedef real pair_at
    __attribute__((vector_size(2 * sizeof(real)), aligned(sizeof(real)), may_alias));

#if KERNEL_COMPLEX

/* Products with the values' real and imaginary parts apart: each is a number times a pair, and
 * conjugation matters at the end only. */
typedef struct sums {
    pair by_re[4], by_im[4];
} sums;

ALWAYS_INLINE void add_one(sums *s, int l, const stored *value, const scalar *x)
{
#if defined(KERNEL_TYPE_c) && defined(KERNEL_KIND_own)
    const pair parts = *(const pair_at *)value; /* one load: two take arm64 three times as long */
    const scalar v = {parts[0], parts[1]};
#else
    const scalar v = value_of(*value);
#endif
    const pair number = *(const pair_at *)x;
    s->by_re[l] += v.re * number;
    s->by_im[l] += v.im * number;
}

ALWAYS_INLINE void add_two(sums *s, int l, const stored *value, const scalar *x0, const scalar *x1)
{
    add_one(s, l, value, x0);
    add_one(s, l + 1, value + 1, x1);
}

ALWAYS_INLINE void add_four(sums *s, const stored *value, const scalar *x0, const scalar *x1,
                            const scalar *x2, const scalar *x3)
{
    add_two(s, 0, value, x0, x1);
    add_two(s, 2, value + 2, x2, x3);
}

ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    const pair re = (s->by_re[0] + s->by_re[1]) + (s->by_re[2] + s->by_re[3]);
    const pair im = (s->by_im[0] + s->by_im[1]) + (s->by_im[2] + s->by_im[3]);
    return conjugated ? (scalar){re[0] + im[1], re[1] - im[0]}
                      : (scalar){re[0] - im[1], re[1] + im[0]};
}

#elif defined(KERNEL_TYPE_s)

typedef struct sums {
    pair lane[2];
} sums;

ALWAYS_INLINE void add_one(sums *s, int l, const stored *value, const scalar *x)
{
    s->lane[l / 2][l % 2] += value_of(*value) * *x;
}

ALWAYS_INLINE void add_two(sums *s, int l, const stored *value, const scalar *x0, const scalar *x1)
{
    s->lane[l / 2] += *(const pair_at *)value * (pair){*x0, *x1};
}

ALWAYS_INLINE void add_four(sums *s, const stored *value, const scalar *x0, const scalar *x1,
                            const scalar *x2, const scalar *x3)
{
    add_two(s, 0, value, x0, x1);
    add_two(s, 2, value + 2, x2, x3);
}

ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    (void)conjugated;
    const pair both = s->lane[0] + s->lane[1];
    return both[0] + both[1];
}

#else

#if defined(__aarch64__) && !defined(KERNEL_KIND_own)
/* Values come out of their conversion in pairs. Sums 1 and 3 are the lower numbers of pairs: what
 * is multiplied by the upper number of a pair has to be a vector here, and moving the sums to and
 * fro would take as long as adding. */
typedef struct sums {
    real even[2];
    pair odd[2];
} sums;

ALWAYS_INLINE void add_product(sums *s, int l, real value, real x)
{
    if (l % 2 == 0)
        s->even[l / 2] += value * x;
    else
        s->odd[l / 2] += value * (pair){x, 0};
}
ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    (void)conjugated;
    return (s->even[0] + s->odd[0][0]) + (s->even[1] + s->odd[1][0]);
}
#else
typedef struct sums {
    real lane[4];
} sums;

ALWAYS_INLINE void add_product(sums *s, int l, real value, real x)
{
    s->lane[l] += value * x;
}
ALWAYS_INLINE scalar total(const sums *s, bool conjugated)
{
    (void)conjugated;
    return (s->lane[0] + s->lane[1]) + (s->lane[2] + s->lane[3]);
}
#endif

#ifndef KERNEL_KIND_own
/* Four values at once: one load and few conversions. */
typedef float floats __attribute__((vector_size(16)));
typedef struct four {
    double v __attribute__((vector_size(32)));
} four;

#if defined(KERNEL_KIND_f32)
typedef float floats_at __attribute__((vector_size(16), aligned(4), may_alias));
ALWAYS_INLINE floats load_floats(const stored *value)
{
    return *(const floats_at *)value;
}
#elif __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
ALWAYS_INLINE floats load_floats(const stored *value)
{
    return (floats){(float)value_of(value[0]), (float)value_of(value[1]), (float)value_of(value[2]),
                    (float)value_of(value[3])};
}
#elif defined(KERNEL_KIND_f16) && defined(__ARM_NEON)
ALWAYS_INLINE floats load_floats(const stored *value)
{
    return (floats)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&value->bits)));
}
#elif defined(KERNEL_KIND_f16) && defined(__F16C__)
ALWAYS_INLINE floats load_floats(const stored *value)
{
    return (floats)_mm_cvtph_ps(_mm_loadu_si64(value));
}
#else
typedef uint16_t halves __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
/* The bits of four values in the upper halves of words: compilers do not see that widening numbers
 * of 16 bits can be done so. */
ALWAYS_INLINE words load_upper(const stored *value)
{
    typedef uint64_t longs __attribute__((vector_size(16)));
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    const halves low = (halves)(longs){bits, 0}, none = {0};
    return (words)__builtin_shufflevector(none, low, 0, 8, 1, 9, 2, 10, 3, 11);
}
ALWAYS_INLINE floats load_floats(const stored *value)
{
    const words bits = load_upper(value);
#if defined(KERNEL_KIND_f16) /* as f16_value() */
    return (floats)((bits & 0x80000000) | (bits & 0x7fff0000) >> 3) * 0x1p112f;
#else
    return (floats)bits;
#endif
}
#endif

ALWAYS_INLINE four load_four(const stored *value)
{
    typedef double doubles __attribute__((vector_size(32)));
    return (four){__builtin_convertvector(load_floats(value), doubles)};
}
#endif

ALWAYS_INLINE void add_one(sums *s, int l, const stored *value, const scalar *x)
{
    add_product(s, l, value_of(*value), *x);
}

ALWAYS_INLINE void add_two(sums *s, int l, const stored *value, const scalar *x0, const scalar *x1)
{
    add_one(s, l, value, x0);
    add_one(s, l + 1, value + 1, x1);
}

ALWAYS_INLINE void add_four(sums *s, const stored *value, const scalar *x0, const scalar *x1,
                            const scalar *x2, const scalar *x3)
{
#ifdef KERNEL_KIND_own
    add_two(s, 0, value, x0, x1);
    add_two(s, 2, value + 2, x2, x3);
#else
    const four v = load_four(value);
    add_product(s, 0, v.v[0], *x0);
    add_product(s, 1, v.v[1], *x1);
    add_product(s, 2, v.v[2], *x2);
    add_product(s, 3, v.v[3], *x3);
#endif
}

#endif

/* --- entries with columns of 32 bits ------------------------------------------------------------
 */

/* A place in the arrays of columns and values. */
typedef struct cursor {
    const int32_t *column;
    const stored *value;
} cursor;

/* Columns taken as unsigned spare their sign extension. */
ALWAYS_INLINE const scalar *number_at(const scalar *x, int32_t column)
{
    return x + (uint32_t)column;
}

/* Adds the four entries at k. */
ALWAYS_INLINE void add_quad(sums *s, cursor at, int k, const scalar *x)
{
    const int32_t *c = at.column + k;
    add_four(s, at.value + k, number_at(x, c[0]), number_at(x, c[1]), number_at(x, c[2]),
             number_at(x, c[3]));
}

/* Entries ahead of those at hand that are asked for. */
enum { SUMS_AHEAD = AHEAD_BYTES / sizeof(scalar) };

ALWAYS_INLINE void prefetch_entries(cursor at)
{
    AHEAD(at.value, SUMS_AHEAD * sizeof(stored));
    AHEAD(at.column, SUMS_AHEAD * sizeof(int32_t));
}

/* The sum over the entries up to the value at `end`, where the cursor is afterwards. */
ALWAYS_INLINE scalar sum_entries(cursor *from, const stored *end, bool conjugated, const scalar *x)
{
    sums s = {0};
    cursor at = *from;
    while (end - at.value >= 8) {
        prefetch_entries(at);
        add_quad(&s, at, 0, x);
        add_quad(&s, at, 4, x);
        at.column += 8;
        at.value += 8;
    }
    const int64_t rest = end - at.value;
    if (rest > 0)
        prefetch_entries(at);
    if (rest & 4) {
        add_quad(&s, at, 0, x);
        at.column += 4;
        at.value += 4;
    }
    if (rest & 2) {
        add_two(&s, 0, at.value, number_at(x, at.column[0]), number_at(x, at.column[1]));
        at.column += 2;
        at.value += 2;
    }
    if (rest & 1) {
        add_one(&s, 2, at.value, number_at(x, at.column[0]));
        at.column += 1;
        at.value += 1;
    }
    *from = at;
    return total(&s, conjugated);
}

/* --- the same for several columns ---------------------------------------------------------------
 */

/* In the order of total(). */
ALWAYS_INLINE tile tile_total(const tile s[4], int vectors)
{
#ifdef KERNEL_TYPE_s
    return tile_plus(tile_plus(s[0], s[2], vectors), tile_plus(s[1], s[3], vectors), vectors);
#else
    return tile_plus(tile_plus(s[0], s[1], vectors), tile_plus(s[2], s[3], vectors), vectors);
#endif
}

ALWAYS_INLINE tile tile_entries_prefetched(cursor *from, const stored *end, const real *x,
                                           int64_t stride, int vectors, const int32_t *near_end,
                                           bool crosses)
{
    tile s[4] = {0};
    cursor at = *from;
    for (; end - at.value >= 4; at.value += 4, at.column += 4) {
        prefetch_entries(at);
        if (at.column < near_end)
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++)
                tile_fetch(tile_row(x, at.column[TILE_AHEAD + k], stride), vectors, crosses);
        tile_add(&s[0], vectors, value_of(at.value[0]), tile_row(x, at.column[0], stride));
        tile_add(&s[1], vectors, value_of(at.value[1]), tile_row(x, at.column[1], stride));
        tile_add(&s[2], vectors, value_of(at.value[2]), tile_row(x, at.column[2], stride));
        tile_add(&s[3], vectors, value_of(at.value[3]), tile_row(x, at.column[3], stride));
    }
    const int64_t rest = end - at.value;
    if (rest & 2) {
        tile_add(&s[0], vectors, value_of(at.value[0]), tile_row(x, at.column[0], stride));
        tile_add(&s[1], vectors, value_of(at.value[1]), tile_row(x, at.column[1], stride));
        at.value += 2;
        at.column += 2;
    }
    if (rest & 1) {
        tile_add(&s[2], vectors, value_of(at.value[0]), tile_row(x, at.column[0], stride));
        at.value += 1;
        at.column += 1;
    }
    *from = at;
    return tile_total(s, vectors);
}

/* The same without fetching ahead. */
ALWAYS_INLINE tile tile_entries(cursor *from, const stored *end, const real *x, int64_t stride,
                                int vectors)
{
    return tile_entries_prefetched(from, end, x, stride, vectors, NULL, false);
}

#endif
