/*
 * Approximate inverses of triangles with the triangle's own pattern: rows w of W, with one on the
 * diagonal, so that W (I + T) is I where I + T has entries (H. Anzt, T. K. Huckle, J. Braeckle, J.
 * Dongarra, Incomplete sparse approximate inverses for parallel preconditioning, Parallel Comput.
 * 71 (2018), 1-22). The system of a row is triangular: its numbers follow one after the other, from
 * the diagonal outwards, each taken from those that its row of T names.
 */
#include "precon/kernels/kernel.h"

/* Takes number k's row of T from those that are left; `where` gives their places from 1. */
static void take_row(const triangle_pass *t, int64_t k, scalar number_k, const int32_t *where,
                     scalar *w)
{
    const scalar *values = t->values;
    const scalar minus = sub(number(0), number_k);
    for (int64_t e = t->offsets[k]; e < t->offsets[k + 1]; e++) {
        const int32_t to = where[t->columns[e]];
        if (to > 0)
            w[to - 1] = muladd(minus, values[e], w[to - 1]);
    }
}

void X(isai_rows)(const triangle_pass *t, int64_t begin, int64_t end, int32_t *where, void *inverse)
{
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = t->offsets[i], n = t->offsets[i + 1] - first;
        const int32_t *columns = t->columns + first;
        scalar *w = (scalar *)inverse + first;
        for (int64_t k = 0; k < n; k++) {
            where[columns[k]] = (int32_t)(k + 1);
            w[k] = number(0);
        }
        take_row(t, i, number(1), where, w);
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = t->upper ? k : n - 1 - k;
            take_row(t, columns[at], w[at], where, w);
        }
        for (int64_t k = 0; k < n; k++)
            where[columns[k]] = 0;
    }
}
