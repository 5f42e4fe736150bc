/* Solves with the part of the factors that a node has. Variables of its list are taken from and
 * added to the vectors of all. */
#include "factor/kernels/kernel.h"

/* L z = y for the pivots, and what they take from the rest. */
static void forward_lower(const front_node *node, const front_pass *p)
{
    const int64_t n = node->order, pivots = node->pivots;
    scalar *w = p->piece, *y = p->y, *x = p->x;
    for (int64_t i = 0; i < pivots; i++)
        w[i] = y[node->rows[i]];
    for (int64_t i = pivots; i < n; i++)
        w[i] = number(0);
    eliminate(n, pivots, node->lower, n, w);
    for (int64_t i = 0; i < pivots; i++)
        x[node->cols[i]] = w[i];
    for (int64_t i = pivots; i < n; i++)
        y[node->rows[i]] = add(y[node->rows[i]], w[i]);
}

/* U^T z = y. */
static void forward_upper(const front_node *node, const front_pass *p)
{
    const int64_t n = node->order, pivots = node->pivots, rest = n - pivots;
    const scalar *lower = node->lower, *upper = node->upper, *g = node->inverse;
    scalar *w = p->piece, *y = p->y, *x = p->x;
    for (int64_t t = 0; t < pivots; t++) {
        w[t] = mul(g[t], sub(y[node->cols[t]], sum_of(t, false, lower + t * n, w)));
        x[node->rows[t]] = w[t];
    }
    for (int64_t i = 0; i < rest; i++)
        w[pivots + i] = number(0);
    int64_t t = 0;
    for (; t + 4 <= pivots; t += 4)
        subtract_four(rest, w + t, upper + t * rest, rest, w + pivots);
    for (; t < pivots; t++)
        subtract(rest, w[t], upper + t * rest, w + pivots);
    for (int64_t i = pivots; i < n; i++)
        y[node->cols[i]] = add(y[node->cols[i]], w[i]);
}

/* U x = z, z standing in x. */
static void backward_upper(const front_node *node, const front_pass *p)
{
    const int64_t n = node->order, pivots = node->pivots, rest = n - pivots;
    const scalar *lower = node->lower, *upper = node->upper, *g = node->inverse;
    scalar *w = p->piece, *x = p->x;
    for (int64_t i = 0; i < n; i++)
        w[i] = x[node->cols[i]];
    for (int64_t t = 0; t < pivots; t++)
        w[t] = sub(w[t], sum_of(rest, false, upper + t * rest, w + pivots));
    for (int64_t t = pivots - 1; t >= 0; t--) {
        w[t] = mul(g[t], w[t]);
        subtract(t, w[t], lower + t * n, w);
        x[node->cols[t]] = w[t];
    }
}

/* L^T x = z, or L^H x = D^-1 z. */
static void backward_lower(const front_node *node, const front_pass *p)
{
    const int64_t n = node->order, pivots = node->pivots;
    const scalar *lower = node->lower, *g = node->inverse;
    scalar *w = p->piece, *x = p->x;
    for (int64_t i = 0; i < n; i++)
        w[i] = x[node->rows[i]];
    for (int64_t t = 0; t < pivots && p->symmetric; t++) {
        const scalar beside = g[pivots + t];
        if (is_zero(beside)) {
            w[t] = mul(g[t], w[t]);
            continue;
        }
        const scalar a = w[t], b = w[t + 1];
        w[t] = muladd(g[t], a, mul(mirrored(p->hermitian, beside), b));
        w[t + 1] = muladd(beside, a, mul(g[t + 1], b));
        t++;
    }
    for (int64_t t = pivots - 1; t >= 0; t--) {
        w[t] = sub(w[t], sum_of(n - t - 1, p->hermitian, lower + t * n + t + 1, w + t + 1));
        x[node->rows[t]] = w[t];
    }
}

void X(front_forward)(const front_node *node, const front_pass *p)
{
    if (p->transposed)
        forward_upper(node, p);
    else
        forward_lower(node, p);
}

void X(front_backward)(const front_node *node, const front_pass *p)
{
    if (p->symmetric || p->transposed)
        backward_lower(node, p);
    else
        backward_upper(node, p);
}

void X(front_enter)(int64_t n, const int32_t *place, const double *scale, bool conjugated,
                    const void *z, void *y)
{
    const scalar *from = z;
    scalar *to = y;
    for (int64_t i = 0; i < n; i++)
        to[place[i]] = times((real)scale[place[i]], conjugated ? conjugate(from[i]) : from[i]);
}

void X(front_return)(int64_t n, const int32_t *place, const double *scale, bool conjugated,
                     const void *x, void *z)
{
    const scalar *from = x;
    scalar *to = z;
    for (int64_t i = 0; i < n; i++) {
        const scalar v = times((real)scale[place[i]], from[place[i]]);
        to[i] = conjugated ? conjugate(v) : v;
    }
}
