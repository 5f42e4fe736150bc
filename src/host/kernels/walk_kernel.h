/*
 * The words walks are written in, beside those of kernel.h and tile.h: W(name) and stored values.
 * A walk NAME is a file with W(NAME_multiply) and W(NAME_columns), compiled once a scalar type,
 * kind of values (in formats/reduced) and ISA level.
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
