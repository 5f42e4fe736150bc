/*
 * Strips: neighbouring rows side by side, as many as 128 bytes of y hold, kept in the widest
 * vectors there are. For formats in which what rows next to each other need of x is next to each
 * other too, so that nothing is gathered.
 */
#ifndef SPRY_STRIP_H
#define SPRY_STRIP_H

#include "formats/shared/strip_rows.h"
#include "host/kernels/walk_kernel.h"

#if defined(__AVX__) && !defined(KERNEL_KIND_own) /* a header that takes long to compile */
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define LANE_BYTES 64
#elif defined(__AVX__)
#define LANE_BYTES 32
#else
#define LANE_BYTES 16
#endif
#if defined(KERNEL_TYPE_s) || defined(KERNEL_TYPE_c)
#define LANES (LANE_BYTES / 4)
#else
#define LANES (LANE_BYTES / 8)
#endif
enum { STRIP_ROWS = STRIP_BYTES / sizeof(scalar), STRIP_VECTORS = STRIP_BYTES / LANE_BYTES };

typedef real lanes __attribute__((vector_size(LANE_BYTES)));
typedef real lanes_at __attribute__((vector_size(LANE_BYTES), aligned(sizeof(real)), may_alias));

/* Two vectors of numbers as they are stored: two, because that is what arm64 makes of one. */
#if defined(KERNEL_KIND_own)
ALWAYS_INLINE void lanes_load(const stored_real *from, lanes *to)
{
    to[0] = *(const lanes_at *)from;
    to[1] = *(const lanes_at *)(from + LANES);
}
#elif defined(__AVX512F__) || (defined(__AVX2__) && defined(__F16C__))
#ifdef __AVX512F__
typedef __m256 floats;
#define FLOATS_LOAD(from) _mm256_loadu_ps(from)
#define FLOATS_F16(from) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from)))
#define FLOATS_BF16(from) \
    _mm256_castsi256_ps(  \
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(from))), 16))
#define FLOATS_DOUBLE(value) _mm512_cvtps_pd(value)
#else
typedef __m128 floats;
#define FLOATS_LOAD(from) _mm_loadu_ps(from)
#define FLOATS_F16(from) _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(from)))
#define FLOATS_BF16(from) \
    _mm_castsi128_ps(     \
        _mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(from))), 16))
#define FLOATS_DOUBLE(value) _mm256_cvtps_pd(value)
#endif
ALWAYS_INLINE void lanes_load(const stored_real *from, lanes *to)
{
    for (int h = 0; h < 2; h++) {
#if defined(KERNEL_KIND_f32)
        const floats value = FLOATS_LOAD(from + h * LANES);
#elif defined(KERNEL_KIND_f16)
        const floats value = FLOATS_F16(from + h * LANES);
#else
        const floats value = FLOATS_BF16(from + h * LANES);
#endif
        to[h] = (lanes)FLOATS_DOUBLE(value);
    }
}
#elif defined(__ARM_NEON) && defined(__aarch64__)
ALWAYS_INLINE void lanes_load(const stored_real *from, lanes *to)
{
    float64x2_t value[2];
    widen_four(from, value);
    to[0] = (lanes)value[0];
    to[1] = (lanes)value[1];
}
#else
ALWAYS_INLINE void lanes_load(const stored_real *from, lanes *to)
{
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < LANES; i++)
            to[h][i] = real_of(from[h * LANES + i]);
}
#endif

/* Sums of STRIP_ROWS rows. Of complex types the products with the real and imaginary parts of A's
 * values apart, as in a tile. */
typedef struct strip {
    lanes by[TILE_PARTS][STRIP_VECTORS];
} strip;

#if KERNEL_COMPLEX
/* Of pairs: the first of each twice, the second twice, the two exchanged. */
#if LANES == 2
#define LANES_PICK(v, a, b) __builtin_shufflevector(v, v, a, b)
#elif LANES == 4
#define LANES_PICK(v, a, b) __builtin_shufflevector(v, v, a, b, 2 + a, 2 + b)
#elif LANES == 8
#define LANES_PICK(v, a, b) \
    __builtin_shufflevector(v, v, a, b, 2 + a, 2 + b, 4 + a, 4 + b, 6 + a, 6 + b)
#else
#define LANES_PICK(v, a, b)                                                                     \
    __builtin_shufflevector(v, v, a, b, 2 + a, 2 + b, 4 + a, 4 + b, 6 + a, 6 + b, 8 + a, 8 + b, \
                            10 + a, 10 + b, 12 + a, 12 + b, 14 + a, 14 + b)
#endif
#endif

/* Adds value i times x_i in row i. */
ALWAYS_INLINE void strip_add(strip *s, const stored *values, const scalar *x)
{
    const stored_real *from = (const stored_real *)values;
    const real *number = (const real *)x;
#pragma GCC unroll 8
    for (int u = 0; u < STRIP_VECTORS; u += 2) {
        lanes value[2];
        lanes_load(from + u * LANES, value);
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            const lanes other = *(const lanes_at *)(number + (u + h) * LANES);
#if KERNEL_COMPLEX
            s->by[0][u + h] += LANES_PICK(value[h], 0, 0) * other;
            s->by[1][u + h] += LANES_PICK(value[h], 1, 1) * other;
#else
            s->by[0][u + h] += value[h] * other;
#endif
        }
    }
}

/* Adds c times x_i in row i; `real_only`: c has no imaginary part. */
ALWAYS_INLINE void strip_add_constant(strip *s, scalar c, bool real_only, const scalar *x)
{
    const lanes_at *other = (const lanes_at *)x;
#pragma GCC unroll 8
    for (int u = 0; u < STRIP_VECTORS; u++) {
#if KERNEL_COMPLEX
        s->by[0][u] += c.re * other[u];
        if (!real_only)
            s->by[1][u] += c.im * other[u];
#else
        (void)real_only;
        s->by[0][u] += c * other[u];
#endif
    }
}

/* The STRIP_ROWS numbers of x from `first` on, some of which may lie outside 0..n-1: those are
 * zeros in a copy made in `room`. */
static inline const scalar *strip_cut(const scalar *x, int64_t n, int64_t first, scalar *room)
{
    if (first >= 0 && first + STRIP_ROWS <= n)
        return x + first;
    memset(room, 0, STRIP_BYTES);
    const int64_t from = first < 0 ? 0 : first;
    const int64_t to = first + STRIP_ROWS < n ? first + STRIP_ROWS : n;
    if (from < to)
        memcpy(room + (from - first), x + from, (size_t)(to - from) * sizeof *x);
    return room;
}

/* y_i = alpha sum + beta y_i in the first `count` rows. */
ALWAYS_INLINE void strip_put(const strip *s, factors f, bool conjugated, int64_t count, scalar *y)
{
    lanes sum[STRIP_VECTORS];
#pragma GCC unroll 8
    for (int u = 0; u < STRIP_VECTORS; u++) {
#if KERNEL_COMPLEX
        const lanes turned = LANES_PICK(s->by[1][u], 1, 0); /* im, re of what i was left out of */
        lanes sign;
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            sign[i] = (i % 2 == 0) == conjugated ? 1 : -1;
        sum[u] = s->by[0][u] + sign * turned;
#else
        (void)conjugated;
        sum[u] = s->by[0][u];
#endif
    }
    if (f.plain && count == STRIP_ROWS) {
#pragma GCC unroll 8
        for (int u = 0; u < STRIP_VECTORS; u++)
            ((lanes_at *)y)[u] = sum[u];
        return;
    }
    scalar rows[STRIP_ROWS];
    memcpy(rows, sum, sizeof rows);
    for (int64_t i = 0; i < count; i++)
        put(f, rows[i], y + i);
}

#endif
