/*
 * Tridiagonal systems side by side, by factors that were made before: down and up once. Numbers of
 * a row are side by side, so that systems share registers where there are several; one alone is a
 * chain of dependent operations.
 *
 * Least traffic: factors once, r twice each way (from the cache where it fits), x once each way.
 */
#include "host/kernels/arithmetic.h"

/* r = by (r - a before) */
ALWAYS_INLINE void go_down(int64_t n, const scalar *a, const scalar *by, const scalar *before,
                           scalar *r)
{
    for (int64_t i = 0; i < n; i++)
        r[i] = mul(by[i], sub(r[i], mul(a[i], before[i])));
}

/* r -= a behind */
ALWAYS_INLINE void go_up(int64_t n, const scalar *a, const scalar *behind, scalar *r)
{
    for (int64_t i = 0; i < n; i++)
        r[i] = sub(r[i], mul(a[i], behind[i]));
}

/* One system, whose numbers are stored one behind the other. */
static void solve_one(const host_lines *l, int64_t rows, scalar *r)
{
    const scalar *lower = l->lower, *inverse = l->inverse, *upper = l->upper;
    scalar last = mul(inverse[0], r[0]);
    r[0] = last;
    for (int64_t j = 1; j < rows; j++)
        r[j] = last = mul(inverse[j], sub(r[j], mul(lower[j], last)));
    for (int64_t j = rows - 2; j >= 0; j--)
        r[j] = last = sub(r[j], mul(upper[j], last));
}

static void solve_side_by_side(const host_lines *l, int64_t rows, scalar *r)
{
    const scalar *lower = l->lower, *by = l->inverse, *upper = l->upper;
    const int64_t n = l->width;
    for (int64_t i = 0; i < n; i++)
        r[i] = mul(by[i], r[i]);
    for (int64_t j = 1; j < rows; j++)
        go_down(n, lower + j * l->stride, by + j * l->stride, r + (j - 1) * n, r + j * n);
    for (int64_t j = rows - 2; j >= 0; j--)
        go_up(n, upper + j * l->stride, r + (j + 1) * n, r + j * n);
}

/* The last number of each system, from the first and the one before, and its part of all others. */
static void close_round(const host_lines *l, scalar *r)
{
    const int64_t n = l->width, last = l->count - 1, at = last * l->stride;
    const scalar *round = l->round, *a = (const scalar *)l->lower + at,
                 *c = (const scalar *)l->upper + at;
    scalar *end = r + last * n;
    for (int64_t i = 0; i < n; i++)
        end[i] = mul(round[at + i], sub(sub(end[i], mul(c[i], r[i])), mul(a[i], end[i - n])));
    for (int64_t j = 0; j < last; j++)
        go_up(n, round + j * l->stride, end, r + j * n);
}

void X(lines)(const host_lines *l, double omega, void *right, void *solution)
{
    scalar *r = right, *x = solution;
    const int64_t rows = l->count - (l->round != NULL);
    if (l->width == 1 && l->stride == 1)
        solve_one(l, rows, r);
    else
        solve_side_by_side(l, rows, r);
    if (l->round)
        close_round(l, r);
    for (int64_t j = 0; j < l->count; j++)
        for (int64_t i = l->first; i < l->width; i += l->step)
            x[j * l->stride + i] =
                add(x[j * l->stride + i], times((real)omega, r[j * l->width + i]));
}
