/* Rows in the making: columns as a heap with the least on top, the largest numbers. */
#ifndef SPRY_PRECON_SPARSE_ROW_H
#define SPRY_PRECON_SPARSE_ROW_H

#include "precon/kernels/kernel.h"

static inline void heap_push(int32_t *heap, int64_t *count, int32_t column)
{
    int64_t at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2] > column; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = column;
}

static inline int32_t heap_pop(int32_t *heap, int64_t *count)
{
    const int32_t least = heap[0], last = heap[--*count];
    int64_t at = 0;
    for (int64_t child = 1; child < *count; child = 2 * at + 1) {
        child += child + 1 < *count && heap[child + 1] < heap[child];
        if (heap[child] >= last)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return least;
}

/* Whether column a is to be kept rather than b. */
static inline bool larger(const scalar *w, int32_t a, int32_t b)
{
    const real x = size_of(w[a]), y = size_of(w[b]);
    return x > y || (x == y && a < b);
}

/* Brings the `keep` largest of n columns to the front. */
static inline void select_largest(const scalar *w, int32_t *columns, int64_t n, int64_t keep)
{
    int64_t begin = 0, end = n;
    while (end - begin > 1 && keep > begin && keep < end) {
        const int32_t pivot = columns[begin + (end - begin) / 2];
        int64_t low = begin, high = end - 1;
        while (low <= high) {
            while (larger(w, columns[low], pivot))
                low++;
            while (larger(w, pivot, columns[high]))
                high--;
            if (low <= high) {
                const int32_t swap = columns[low];
                columns[low++] = columns[high];
                columns[high--] = swap;
            }
        }
        if (keep <= high + 1)
            end = high + 1;
        else if (keep >= low)
            begin = low;
        else
            return;
    }
}

/*
 * The next number y of a solution of (I + L) y = b, or of the transpose, with |b| = 1 chosen so
 * that y grows: |y| estimates the norm of a row of the inverse. `sum` is what the row has of
 * earlier y.
 */
static inline scalar grown(scalar sum)
{
    const real most = 1 / UNIT, size = size_of(sum);
    if (!(size > 0))
        return number(1);
    const real by = size < most ? -(1 + 1 / size) : -most / size;
    return times(by, sum);
}

/*
 * Entries that a row of a factor may have, where A's has `own` and the average is known: `fill`
 * times that, for two triangles, and a part of what rows before did without. With orders that
 * spare fill, the last rows need most of it.
 */
static inline int64_t allowance(double fill, int64_t own, int64_t mean, int64_t steps, int64_t used,
                                int64_t n)
{
    const double each = fill * (double)mean / 2, spared = each * (double)steps - (double)used;
    const double base = own > mean ? fill * (double)own / 2 : each;
    const double most = base + 1 + (spared > 0 ? spared / 8 : 0);
    return most < (double)n ? (int64_t)most : n;
}

#endif
