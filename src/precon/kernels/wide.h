/*
 * Numbers of several problems side by side: what is done to one is done to all, so that problems
 * are solved as fast as vectors allow, however small they are.
 */
#ifndef SPRY_PRECON_WIDE_H
#define SPRY_PRECON_WIDE_H

#include "precon/kernels/kernel.h"

#ifdef __AVX512F__
#define WIDE_BYTES 64
#else
#define WIDE_BYTES 32
#endif
enum { WIDE = WIDE_BYTES / sizeof(real) }; /* problems */

typedef real lanes __attribute__((vector_size(WIDE_BYTES), may_alias));

#if KERNEL_COMPLEX
typedef struct wide {
    lanes re, im;
} wide;
#else
typedef struct wide {
    lanes re;
} wide;
#endif

ALWAYS_INLINE void wide_clear(wide *a)
{
    *a = (wide){0};
}
ALWAYS_INLINE void wide_set(wide *a, int lane, scalar value)
{
#if KERNEL_COMPLEX
    ((real *)&a->re)[lane] = value.re;
    ((real *)&a->im)[lane] = value.im;
#else
    ((real *)&a->re)[lane] = value;
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
/* s += |a|^2 */
ALWAYS_INLINE void wide_square(lanes *s, const wide *a)
{
    *s += a->re * a->re;
#if KERNEL_COMPLEX
    *s += a->im * a->im;
#endif
}
/* s += conj(v) a */
ALWAYS_INLINE void wide_dot(wide *s, const wide *v, const wide *a)
{
    s->re += v->re * a->re;
#if KERNEL_COMPLEX
    s->re += v->im * a->im;
    s->im += v->re * a->im - v->im * a->re;
#endif
}
/* a -= s v */
ALWAYS_INLINE void wide_less(wide *a, const wide *s, const wide *v)
{
    a->re -= s->re * v->re;
#if KERNEL_COMPLEX
    a->re += s->im * v->im;
    a->im -= s->re * v->im + s->im * v->re;
#endif
}
/* a -= s conj(v) */
ALWAYS_INLINE void wide_less_conj(wide *a, const wide *s, const wide *v)
{
    a->re -= s->re * v->re;
#if KERNEL_COMPLEX
    a->re -= s->im * v->im;
    a->im -= s->im * v->re - s->re * v->im;
#endif
}
/* a *= b */
ALWAYS_INLINE void wide_times(wide *a, const wide *b)
{
#if KERNEL_COMPLEX
    const wide c = *a;
    a->re = c.re * b->re - c.im * b->im;
    a->im = c.re * b->im + c.im * b->re;
#else
    a->re *= b->re;
#endif
}
ALWAYS_INLINE void wide_scale(wide *a, const lanes *f)
{
    a->re *= *f;
#if KERNEL_COMPLEX
    a->im *= *f;
#endif
}

#endif
