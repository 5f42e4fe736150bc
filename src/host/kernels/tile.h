/*
 * Sums for several columns at once: number c of all of them side by side, so that an entry of A
 * meets its numbers in one line of the cache. A tile is one unit or two (HOST_UNIT real numbers
 * each), kept in registers: `vectors` is a constant wherever these are used.
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
    VEC_BYTES = HOST_UNIT * sizeof(real) < VEC_MOST ? HOST_UNIT * sizeof(real) : VEC_MOST,
    VEC_REALS = VEC_BYTES / sizeof(real),
    TILE_UNIT = HOST_UNIT / VEC_REALS, /* vectors */
    TILE_MOST = HOST_MOST_UNITS * TILE_UNIT,
    TILE_PARTS = 1 + KERNEL_COMPLEX
};

typedef real vec __attribute__((vector_size(VEC_BYTES)));
typedef real vec_at __attribute__((vector_size(VEC_BYTES), aligned(sizeof(real)), may_alias));

/* Of complex types the products with the values' real and imaginary parts apart: each is a number
 * times a vector, and conjugation matters at the end only. */
typedef struct tile {
    vec by[TILE_PARTS][TILE_MOST];
} tile;

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

/* y = alpha sum + beta y in row `row` of all columns. */
ALWAYS_INLINE void tile_put(const tile *t, int vectors, const host_columns *p, factors f,
                            int64_t row)
{
    enum { NUMBERS = VEC_REALS / TILE_PARTS };
    const int64_t at = (row - p->first) * p->y_step;
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++) {
#pragma GCC unroll 8
        for (int c = 0; c < NUMBERS; c++) {
            if (u * NUMBERS + c >= p->count)
                return;
            put(f, tile_get(t, u, c, p->conjugate), (scalar *)p->y[u * NUMBERS + c] + at);
        }
    }
}

/* carry[place] = alpha sum in all columns. */
ALWAYS_INLINE void tile_carry(const tile *t, int vectors, const host_columns *p, factors f,
                              int64_t place)
{
    enum { NUMBERS = VEC_REALS / TILE_PARTS };
    scalar *to = (scalar *)p->carry + place * (vectors * NUMBERS);
#pragma GCC unroll 8
    for (int u = 0; u < vectors; u++)
#pragma GCC unroll 8
        for (int c = 0; c < NUMBERS; c++)
            to[u * NUMBERS + c] = mul(f.alpha, tile_get(t, u, c, p->conjugate));
}

#endif
