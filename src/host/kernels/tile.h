/*
 * Sums for several columns at once: number c of all of them side by side, so that the numbers
 * that an entry of A takes are in one line of the cache. A tile is one pack or two (HOST_PACK real
 * numbers each), kept in registers: `vectors` is a constant wherever these are used.
 */
#ifndef SPRY_TILE_H
#define SPRY_TILE_H

#include "host/kernels/kernel.h"

/* Wider vectors than the processor has go through memory. */
#ifdef __AVX__
enum { VEC_MOST = 32 };
#else
enum { VEC_MOST = 16 };
#endif
enum {
    VEC_BYTES = HOST_PACK * sizeof(real) < VEC_MOST ? HOST_PACK * sizeof(real) : VEC_MOST,
    VEC_REALS = VEC_BYTES / sizeof(real),
    TILE_PACK = HOST_PACK / VEC_REALS, /* vectors */
    TILE_MOST = HOST_MOST_PACKS * TILE_PACK,
    TILE_PARTS = 1 + KERNEL_COMPLEX
};

typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real vec_at __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

/* Of complex types the products with the values' real and imaginary parts apart: each is a number
 * times a vector, and conjugation matters at the end only. */
typedef struct tile {
    vec by[TILE_PARTS][TILE_MOST];
} tile;

/*
 * Brings the numbers at x nearer for an entry that comes TILE_AHEAD entries later. A row of B is
 * loaded in several pieces, and each piece that has to wait takes one of the few places that the
 * processor has for waiting: what is nearer already takes none. Worth a factor of three where B is
 * much larger than the caches and rows are taken at random.
 */
enum { TILE_AHEAD = 64 };

ALWAYS_INLINE void tile_fetch(const real *x, int vectors, bool crosses)
{
    const char *at = (const char *)x;
#ifdef __aarch64__
    __asm__("" : "+r"(at)); /* Neoverse V1 does nothing for addresses with an index */
#endif
    __builtin_prefetch(at, 0, 2);
    if (crosses)
        __builtin_prefetch(at + vectors * VEC_BYTES - 1, 0, 2);
}

/* Up to where in an array of `count` columns the eight entries TILE_AHEAD later exist, and
 * worth fetching: NULL for nowhere. */
ALWAYS_INLINE const int32_t *tile_near_end(const host_columns *p, const int32_t *columns,
                                           int64_t count)
{
    return p->scattered && count > TILE_AHEAD + 8 ? columns + count - TILE_AHEAD - 8 : NULL;
}

ALWAYS_INLINE const real *tile_row(const real *x, int32_t column, int64_t stride)
{
    return x + (uint64_t)(uint32_t)column * (uint64_t)stride;
}

/* Whether rows of B may lie in two lines of the cache. */
ALWAYS_INLINE bool tile_crosses(const host_columns *p, int vectors)
{
    const uintptr_t width = (uintptr_t)vectors * VEC_BYTES;
    return (((uintptr_t)p->x | (uintptr_t)p->x_stride * sizeof(real)) & (width - 1)) != 0;
}

/* Adds a value times the numbers at x. */
ALWAYS_INLINE void tile_add(tile *t, int vectors, scalar value, const real *x)
{
    const vec_at *number = (const vec_at *)x;
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#if KERNEL_COMPLEX
        t->by[0][u] += value.re * number[u];
        t->by[1][u] += value.im * number[u];
#else
        t->by[0][u] += value * number[u];
#endif
    }
}

ALWAYS_INLINE tile tile_plus(tile a, tile b, int vectors)
{
    tile sum;
#pragma GCC unroll 2
    for (int part = 0; part < TILE_PARTS; part++)
#pragma GCC unroll 8
        for (int u = 0; u < vectors; u++)
            sum.by[part][u] = a.by[part][u] + b.by[part][u];
    /* cppcheck-suppress uninitvar ; `vectors` of it are set */
    return sum;
}

/* The sum for column c of vector u: c counts the vector's columns. */
ALWAYS_INLINE scalar tile_get(const tile *t, int u, int c, bool conjugated)
{
#if KERNEL_COMPLEX
    const vec re = t->by[0][u], im = t->by[1][u];
    return conjugated ? (scalar){re[2 * c] + im[2 * c + 1], re[2 * c + 1] - im[2 * c]}
                      : (scalar){re[2 * c] - im[2 * c + 1], re[2 * c + 1] + im[2 * c]};
#else
    (void)conjugated;
    return t->by[0][u][c];
#endif
}

enum { TILE_NUMBERS = VEC_REALS / TILE_PARTS }; /* columns of a vector */

/* The sums of vector u, as they lie side by side. */
ALWAYS_INLINE vec tile_vector(const tile *t, int u, bool conjugated)
{
#if KERNEL_COMPLEX
    const vec re = t->by[0][u], im = t->by[1][u];
    vec turned; /* i im, or its opposite */
#pragma GCC unroll 8
    for (int c = 0; c < TILE_NUMBERS; c++) {
        turned[2 * c] = conjugated ? im[2 * c + 1] : -im[2 * c + 1];
        turned[2 * c + 1] = conjugated ? -im[2 * c] : im[2 * c];
    }
    return re + turned;
#else
    (void)conjugated;
    return t->by[0][u];
#endif
}

/* What tile_put() does not do at once: factors, and columns that do not fill the tile. */
__attribute__((noinline, unused)) static void tile_put_any(const tile *t, const host_columns *p,
                                                           factors f, int64_t at)
{
    for (int c = 0; c < p->count; c++)
        put(f, tile_get(t, c / TILE_NUMBERS, c % TILE_NUMBERS, p->conjugate),
            (scalar *)p->y[c] + at);
}

/* y = alpha sum + beta y in row `row` of all columns. */
ALWAYS_INLINE void tile_put(const tile *t, int vectors, const host_columns *p, factors f,
                            int64_t row)
{
    const int64_t at = (row - p->first) * p->y_stride;
    if (f.plain && p->together) {
        vec_at *y = (vec_at *)((scalar *)p->y[0] + at);
#pragma GCC unroll 8
        for (int u = 0; u < vectors; u++)
            y[u] = tile_vector(t, u, p->conjugate);
    } else if (f.plain && p->count == vectors * TILE_NUMBERS) {
#pragma GCC unroll 8
        for (int u = 0; u < vectors; u++)
#pragma GCC unroll 8
            for (int c = 0; c < TILE_NUMBERS; c++)
                ((scalar *)p->y[u * TILE_NUMBERS + c])[at] = tile_get(t, u, c, p->conjugate);
    } else {
        tile copy = {0}; /* so that *t itself can stay in registers */
#pragma GCC unroll 2
        for (int part = 0; part < TILE_PARTS; part++)
#pragma GCC unroll 8
            for (int u = 0; u < vectors; u++)
                copy.by[part][u] = t->by[part][u];
        tile_put_any(&copy, p, f, at);
    }
}

/* carry[place] = alpha sum in all columns. */
ALWAYS_INLINE void tile_carry(const tile *t, int vectors, const host_columns *p, factors f,
                              int64_t place)
{
    scalar *to = (scalar *)p->carry + place * (vectors * TILE_NUMBERS);
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++)
#pragma GCC unroll 8
        for (int c = 0; c < TILE_NUMBERS; c++)
            to[u * TILE_NUMBERS + c] = mul(f.alpha, tile_get(t, u, c, p->conjugate));
}

#endif
