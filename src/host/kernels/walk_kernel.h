/*
 * The words walks are written in, besides those of kernel.h and tile.h: W(name) and stored values.
 * A walk NAME is a file with W(NAME_multiply) and W(NAME_columns), compiled once a scalar type,
 * kind of values (those in host_reduced_NAME.c) and ISA level. Rows of entries are summed by
 * sums.h, several columns by tile.h.
 */
#ifndef SPRY_WALK_KERNEL_H
#define SPRY_WALK_KERNEL_H

#include "formats/shared/reduced.h"
#include "host/kernels/tile.h"
#include "host/walk.h"

#define W(name) KERNEL_JOIN(name, KERNEL_WALK_SUFFIX)

#define WALK_DECLARE(name)                                                                       \
    void W(name##_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p); \
    void W(name##_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p);
LAYOUT_WALKS(WALK_DECLARE)

/* A real number as it is stored, and the number it is. */
#if defined(KERNEL_KIND_f32)
typedef float stored_real;
ALWAYS_INLINE real real_of(stored_real value)
{
    return (real)value;
}
#elif defined(KERNEL_KIND_f16)
typedef f16 stored_real;
ALWAYS_INLINE real real_of(stored_real value)
{
    return (real)f16_value(value);
}
#elif defined(KERNEL_KIND_bf16)
typedef bf16 stored_real;
ALWAYS_INLINE real real_of(stored_real value)
{
    return (real)bf16_value(value);
}
#else
typedef real stored_real;
ALWAYS_INLINE real real_of(stored_real value)
{
    return value;
}
#endif

#if defined(__ARM_NEON) && defined(__aarch64__) && !defined(KERNEL_KIND_own)
#include <arm_neon.h>
/* Four stored numbers as doubles. */
ALWAYS_INLINE void widen_four(const stored_real *from, float64x2_t to[2])
{
#if defined(KERNEL_KIND_f32)
    const float32x4_t value = vld1q_f32(from);
#elif defined(KERNEL_KIND_f16)
    const float32x4_t value = vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&from->bits)));
#else
    const float32x4_t value = vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(&from->bits), 16));
#endif
    to[0] = vcvt_f64_f32(vget_low_f32(value));
    to[1] = vcvt_high_f64_f32(value);
}
#endif

/* A value as it is stored, and the scalar it is. */
#if KERNEL_COMPLEX
typedef struct stored {
    stored_real re, im;
} stored;
ALWAYS_INLINE scalar value_of(stored value)
{
    return (scalar){real_of(value.re), real_of(value.im)};
}
#else
typedef stored_real stored;
ALWAYS_INLINE scalar value_of(stored value)
{
    return real_of(value);
}
#endif

#endif
