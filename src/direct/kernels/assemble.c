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

void X(front_add)(const front *f, const front_node *child, const int32_t *rows, const int32_t *cols,
                  int64_t begin, int64_t end)
{
    const scalar *from = child->left;
    const int64_t order = child->order - child->pivots;
    for (int64_t j = begin; j < end; j++) {
        scalar *to = (scalar *)f->a + cols[j] * f->order;
        for (int64_t i = f->symmetric ? j : 0; i < order; i++)
            to[rows[i]] = add(to[rows[i]], from[j * order + i]);
    }
}

void X(front_store)(const front *f, const front_node *node, int64_t begin, int64_t end)
{
    const scalar *a = f->a;
    const int64_t n = f->order, pivots = node->pivots, rest = n - pivots, real_ones = f->done;
    scalar *lower = node->lower, *upper = node->upper, *to = node->inverse;
    const scalar *inverse = f->inverse;
    for (int64_t t = begin; t < end; t++) {
        const int64_t above = f->symmetric ? t : 0; /* what nothing was written to */
        memset(lower + t * n, 0, (size_t)above * sizeof *a);
        if (t < real_ones)
            memcpy(lower + t * n + above, a + t * n + above, (size_t)(n - above) * sizeof *a);
        for (int64_t i = 0; i < n && t >= real_ones; i++) /* 0 as they are, but for U above */
            lower[t * n + i] = i < real_ones && !f->symmetric ? a[t * n + i] : number(0);
        to[t] = t < real_ones ? inverse[t] : number(0);
        if (f->symmetric)
            to[pivots + t] = t < real_ones ? inverse[f->full + t] : number(0);
    }
    if (f->symmetric)
        return;
    for (int64_t i = 0; i < rest; i++)
        for (int64_t t = begin; t < end; t++)
            upper[t * rest + i] = t < real_ones ? a[(pivots + i) * n + t] : number(0);
}

void X(front_leave)(const front *f, const front_node *node, int64_t begin, int64_t end)
{
    const int64_t n = f->order, rest = n - node->pivots;
    const scalar *a = (const scalar *)f->a + node->pivots * n + node->pivots;
    scalar *to = node->left;
    for (int64_t j = begin; j < end; j++) {
        const int64_t above = f->symmetric ? j : 0;
        memmove(to + j * rest + above, a + j * n + above, (size_t)(rest - above) * sizeof *a);
    }
}
