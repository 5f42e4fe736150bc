/*
 * Sums by columns without tables to search or to clean: columns of a row have places 0, 1, ... in
 * the order in which they come, as marks above a base that rises from row to row. Whether a column
 * has come before is unpredictable, so loops count what they wrote instead of branching.
 */
#ifndef SPRY_PRECON_PLACES_H
#define SPRY_PRECON_PLACES_H

#include "precon/kernels/kernel.h"

/* Below found: a column's place; above: it has none. */
ALWAYS_INLINE uint32_t place_of(const amg_places *at, int64_t column)
{
    return (uint32_t)at->mark[column] - (uint32_t)at->base;
}

/* A place for a column, if it has none. */
ALWAYS_INLINE void give_place(amg_places *at, int32_t column)
{
    const int32_t before = at->mark[column], fresh = before < at->base;
    at->list[at->found] = column;
    at->mark[column] = before + (-fresh & (at->base + at->found - before));
    at->found += fresh;
}

/* Adds a b to a column's sum. */
ALWAYS_INLINE void add_to(amg_places *at, scalar *sums, int32_t column, scalar a, scalar b)
{
    const int32_t before = at->mark[column], fresh = before < at->base,
                  found = at->base + at->found;
    const int32_t now = before + (-fresh & (found - before));
    scalar *sum = sums + (now - at->base);
    at->list[at->found] = column;
    at->mark[column] = now;
    at->found += fresh;
    const scalar old = *sum;
    *sum = muladd(a, b, fresh ? number(0) : old);
}

/* Begins a row; one more place than there were is taken by the row before. */
static inline void begin_places(amg_places *at)
{
    at->base += at->found + 1;
    at->found = 0;
    if (at->base > INT32_MAX - at->cols - 2) {
        memset(at->mark, 0, (size_t)at->cols * sizeof *at->mark);
        at->base = 1;
    }
}

#endif
