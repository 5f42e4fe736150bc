/* A front from A and from what children left, and what becomes of it. */
#include "direct/kernels/kernel.h"

void X(front_gather)(const front *f, const front_entries *e)
{
    const scalar *values = e->values;
    scalar *a = f->a;
    const int64_t row = e->row_at[e->variable], col = e->col_at[e->variable];
    const double left = e->left[e->variable], right = e->right[e->variable];
    for (int64_t k = 0; k < e->count; k++) {
        const int32_t other = e->index[k];
        const bool below = other >= 0;
        const int64_t i = below ? e->row_at[other] : row, j = below ? col : e->col_at[~other];
        const double factor = below ? e->left[other] * right : left * e->right[~other];
        scalar *to = a + j * f->order + i;
        *to = add(*to, times((real)factor, values[e->from[k]]));
    }
}

void X(front_add)(const front *f, int64_t order, const void *left, const int32_t *rows,
                  const int32_t *cols)
{
    const scalar *from = left;
    for (int64_t j = 0; j < order; j++) {
        scalar *to = (scalar *)f->a + cols[j] * f->order;
        for (int64_t i = f->symmetric ? j : 0; i < order; i++)
            to[rows[i]] = add(to[rows[i]], from[j * order + i]);
    }
}

void X(front_store)(const front *f, const front_node *node)
{
    const scalar *a = f->a;
    const int64_t n = f->order, pivots = node->pivots, rest = n - pivots, real_ones = f->done;
    scalar *lower = node->lower, *upper = node->upper, *to = node->inverse;
    const scalar *inverse = f->inverse;
    for (int64_t t = 0; t < real_ones; t++)
        memcpy(lower + t * n, a + t * n, (size_t)n * sizeof *a);
    for (int64_t t = real_ones; t < pivots; t++)
        for (int64_t i = 0; i < n; i++) /* nothing of those that are as good as 0, but U above */
            lower[t * n + i] = i < real_ones && !f->symmetric ? a[t * n + i] : number(0);
    for (int64_t t = 0; t < pivots; t++) {
        to[t] = t < real_ones ? inverse[t] : number(0);
        if (f->symmetric)
            to[pivots + t] = t < real_ones ? inverse[f->full + t] : number(0);
    }
    if (f->symmetric)
        return;
    for (int64_t i = 0; i < rest; i++)
        for (int64_t t = 0; t < pivots; t++)
            upper[t * rest + i] = t < real_ones ? a[(pivots + i) * n + t] : number(0);
}

void X(front_leave)(const front *f, const front_node *node)
{
    const int64_t n = f->order, rest = n - node->pivots;
    const scalar *a = (const scalar *)f->a + node->pivots * n + node->pivots;
    scalar *to = node->left;
    for (int64_t j = 0; j < rest; j++)
        memmove(to + j * rest, a + j * n, (size_t)rest * sizeof *a);
}
