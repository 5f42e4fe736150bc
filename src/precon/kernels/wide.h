/*
 * Numbers of several problems side by side: what is done to one is done to all, so that problems
 * are solved as fast as vectors allow, however small they are.
 */
#ifndef SPRY_PRECON_WIDE_H
#define SPRY_PRECON_WIDE_H

#include "precon/kernels/kernel.h"

/* Vectors are what the processor has; of short ones there are two, for more to do at a time. */
#if defined(__AVX512F__)
enum { WIDE_BYTES = 64, WIDE_PARTS = 1 };
#elif defined(__AVX__)
enum { WIDE_BYTES = 32, WIDE_PARTS = 1 };
#else
enum { WIDE_BYTES = 16, WIDE_PARTS = 2 };
#endif
enum { WIDE = WIDE_PARTS * WIDE_BYTES / sizeof(real) }; /* problems */

typedef real lanes __attribute__((vector_size(WIDE_BYTES), may_alias));
typedef struct reals {
    lanes part[WIDE_PARTS];
} reals;

#if KERNEL_COMPLEX
typedef struct wide {
    reals re, im;
} wide;
#else
typedef struct wide {
    reals re;
} wide;
#endif

ALWAYS_INLINE real *lane_of(reals *a, int lane)
{
    return (real *)a + lane;
}
ALWAYS_INLINE void wide_set(wide *a, int lane, scalar value)
{
#if KERNEL_COMPLEX
    *lane_of(&a->re, lane) = value.re;
    *lane_of(&a->im, lane) = value.im;
#else
    *lane_of(&a->re, lane) = value;
#endif
}
ALWAYS_INLINE scalar wide_get(const wide *a, int lane)
{
#if KERNEL_COMPLEX
    return (scalar){((const real *)&a->re)[lane], ((const real *)&a->im)[lane]};
#else
    return ((const real *)&a->re)[lane];
#endif
}

/* What follows is done to every part. */
#define EACH_PART for (int h = 0; h < WIDE_PARTS; h++)

/* s += |a|^2 */
ALWAYS_INLINE void wide_square(reals *s, const wide *a)
{
    EACH_PART s->part[h] += a->re.part[h] * a->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART s->part[h] += a->im.part[h] * a->im.part[h];
#endif
}
/* s += conj(v) a */
ALWAYS_INLINE void wide_dot(wide *s, const wide *v, const wide *a)
{
    EACH_PART s->re.part[h] += v->re.part[h] * a->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART s->re.part[h] += v->im.part[h] * a->im.part[h];
    EACH_PART s->im.part[h] += v->re.part[h] * a->im.part[h];
    EACH_PART s->im.part[h] -= v->im.part[h] * a->re.part[h];
#endif
}
/* a -= s v */
ALWAYS_INLINE void wide_less(wide *a, const wide *s, const wide *v)
{
    EACH_PART a->re.part[h] -= s->re.part[h] * v->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART a->re.part[h] += s->im.part[h] * v->im.part[h];
    EACH_PART a->im.part[h] -= s->re.part[h] * v->im.part[h];
    EACH_PART a->im.part[h] -= s->im.part[h] * v->re.part[h];
#endif
}
/* a -= s conj(v) */
ALWAYS_INLINE void wide_less_conj(wide *a, const wide *s, const wide *v)
{
    EACH_PART a->re.part[h] -= s->re.part[h] * v->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART a->re.part[h] -= s->im.part[h] * v->im.part[h];
    EACH_PART a->im.part[h] -= s->im.part[h] * v->re.part[h];
    EACH_PART a->im.part[h] += s->re.part[h] * v->im.part[h];
#endif
}
/* a *= b */
ALWAYS_INLINE void wide_times(wide *a, const wide *b)
{
#if KERNEL_COMPLEX
    const wide c = *a;
    EACH_PART a->re.part[h] = c.re.part[h] * b->re.part[h] - c.im.part[h] * b->im.part[h];
    EACH_PART a->im.part[h] = c.re.part[h] * b->im.part[h] + c.im.part[h] * b->re.part[h];
#else
    EACH_PART a->re.part[h] *= b->re.part[h];
#endif
}
/* a += b */
ALWAYS_INLINE void wide_add(wide *a, const wide *b)
{
    EACH_PART a->re.part[h] += b->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART a->im.part[h] += b->im.part[h];
#endif
}
/* a -= b */
ALWAYS_INLINE void wide_subtract(wide *a, const wide *b)
{
    EACH_PART a->re.part[h] -= b->re.part[h];
#if KERNEL_COMPLEX
    EACH_PART a->im.part[h] -= b->im.part[h];
#endif
}
ALWAYS_INLINE void wide_scale(wide *a, const reals *f)
{
    EACH_PART a->re.part[h] *= f->part[h];
#if KERNEL_COMPLEX
    EACH_PART a->im.part[h] *= f->part[h];
#endif
}

#endif
