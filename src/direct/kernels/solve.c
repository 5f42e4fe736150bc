/*
 * Solves with the part of the factors that a node has, for several columns: each number of the
 * factors is used for all columns while it is in the cache. A column has the same operations in the
 * same order whatever its neighbours are, and however its rows are split.
 */
#include "direct/kernels/kernel.h"

/* Rows whose numbers stay in the first cache while the pivots go by. */
enum { ROWS = 512 };

static scalar *piece_of(const front_pass *p, int column)
{
    return (scalar *)p->piece + column * p->piece_step;
}
static scalar *y_of(const front_pass *p, int column)
{
    return (scalar *)p->y + column * p->step;
}
static scalar *x_of(const front_pass *p, int column)
{
    return (scalar *)p->x + column * p->step;
}

/* subtract_four() for two columns at once. */
static void subtract_four_twice(int64_t n, const scalar *f, const scalar *g,
                                const scalar *restrict x, int64_t step, scalar *restrict y,
                                scalar *restrict z)
{
    const scalar a = minus(f[0]), b = minus(f[1]), c = minus(f[2]), d = minus(f[3]);
    const scalar e = minus(g[0]), h = minus(g[1]), k = minus(g[2]), l = minus(g[3]);
    for (int64_t i = 0; i < n; i++) {
        const scalar two = muladd(b, x[i + step], muladd(a, x[i], y[i]));
        const scalar other = muladd(h, x[i + step], muladd(e, x[i], z[i]));
        y[i] = muladd(d, x[i + 3 * step], muladd(c, x[i + 2 * step], two));
        z[i] = muladd(l, x[i + 3 * step], muladd(k, x[i + 2 * step], other));
    }
}

/* Of all columns: n numbers from `at` lose what those from `from` bring with four columns of L. */
ALWAYS_INLINE void subtract_fours(const front_pass *p, int count, int64_t n, int64_t from,
                                  const scalar *l, int64_t step, int64_t at)
{
    int c = 0;
    for (; c + 2 <= count; c += 2) {
        scalar *w = piece_of(p, c), *v = piece_of(p, c + 1);
        subtract_four_twice(n, w + from, v + from, l, step, w + at, v + at);
    }
    if (c < count)
        subtract_four(n, piece_of(p, c) + from, l, step, piece_of(p, c) + at);
}

ALWAYS_INLINE void subtract_ones(const front_pass *p, int count, int64_t n, int64_t from,
                                 const scalar *l, int64_t at)
{
    for (int c = 0; c < count; c++)
        subtract(n, piece_of(p, c)[from], l, piece_of(p, c) + at);
}

/* Of all columns: number t loses the sum over n numbers from `at`. */
ALWAYS_INLINE void subtract_sums(const front_pass *p, int count, int64_t n, bool conjugated,
                                 const scalar *l, int64_t at, int64_t t)
{
    for (int c = 0; c < count; c++) {
        scalar *w = piece_of(p, c);
        w[t] = sub(w[t], sum_of(n, conjugated, l, w + at));
    }
}

/* L z = y for the pivots. */
ALWAYS_INLINE void forward_lower(const front_node *node, const front_pass *p, int count)
{
    const int64_t n = node->order, pivots = node->pivots;
    const scalar *l = node->lower;
    for (int c = 0; c < count; c++)
        for (int64_t i = 0; i < pivots; i++)
            piece_of(p, c)[i] = y_of(p, c)[node->rows[i]];
    int64_t k = 0;
    for (; k + 4 <= pivots; k += 4) {
        for (int64_t t = 0; t < 3; t++)
            subtract_ones(p, count, 3 - t, k + t, l + (k + t) * n + k + t + 1, k + t + 1);
        subtract_fours(p, count, pivots - k - 4, k, l + k * n + k + 4, n, k + 4);
    }
    for (; k < pivots; k++)
        subtract_ones(p, count, pivots - k - 1, k, l + k * n + k + 1, k + 1);
    for (int c = 0; c < count; c++)
        for (int64_t i = 0; i < pivots; i++)
            x_of(p, c)[node->cols[i]] = piece_of(p, c)[i];
}

/* U^T z = y. */
ALWAYS_INLINE void forward_upper(const front_node *node, const front_pass *p, int count)
{
    const int64_t n = node->order, pivots = node->pivots;
    const scalar *lower = node->lower, *g = node->inverse;
    for (int c = 0; c < count; c++)
        for (int64_t t = 0; t < pivots; t++)
            piece_of(p, c)[t] = y_of(p, c)[node->cols[t]];
    for (int64_t t = 0; t < pivots; t++) {
        subtract_sums(p, count, t, false, lower + t * n, 0, t);
        for (int c = 0; c < count; c++) {
            scalar *w = piece_of(p, c);
            w[t] = mul(g[t], w[t]);
            x_of(p, c)[node->rows[t]] = w[t];
        }
    }
}

/* What the pivots take from rows begin..end-1 of the rest. */
ALWAYS_INLINE void forward_rows(const front_node *node, const front_pass *p, int count,
                                int64_t begin, int64_t end)
{
    const int64_t pivots = node->pivots, step = p->transposed ? node->order - pivots : node->order;
    const scalar *l = p->transposed ? (const scalar *)node->upper + begin
                                    : (const scalar *)node->lower + pivots + begin;
    const int32_t *rows = (p->transposed ? node->cols : node->rows) + pivots;
    for (int c = 0; c < count; c++)
        for (int64_t i = begin; i < end; i++)
            piece_of(p, c)[pivots + i] = number(0);
    int64_t t = 0;
    for (; t + 4 <= pivots; t += 4)
        subtract_fours(p, count, end - begin, t, l + t * step, step, pivots + begin);
    for (; t < pivots; t++)
        subtract_ones(p, count, end - begin, t, l + t * step, pivots + begin);
    for (int c = 0; c < count; c++) {
        const scalar *w = piece_of(p, c) + pivots;
        scalar *y = y_of(p, c), *above = (scalar *)p->above + c * p->above_step;
        for (int64_t i = begin; i < end; i++) {
            scalar *to = rows[i] < p->end ? y + rows[i] : above + p->above_at[rows[i]];
            *to = add(*to, w[i]);
        }
    }
}

ALWAYS_INLINE void forward(const front_node *node, const front_pass *p, int count)
{
    if (p->transposed)
        forward_upper(node, p, count);
    else
        forward_lower(node, p, count);
}

void X(front_forward)(const front_node *node, const front_pass *p)
{
    if (p->count == 1)
        forward(node, p, 1);
    else
        forward(node, p, p->count);
}

void X(front_forward_rest)(const front_node *node, const front_pass *p, int64_t begin, int64_t end)
{
    if (p->count == 1) /* long columns come from memory the fastest */
        forward_rows(node, p, 1, begin, end);
    else
        for (int64_t at = begin; at < end; at += ROWS)
            forward_rows(node, p, p->count, at, end - at < ROWS ? end : at + ROWS);
}

/* Both at once, for a single column: most nodes are small, and their loops short. */
void X(front_forward_all)(const front_node *node, const front_pass *p)
{
    const int64_t n = node->order, pivots = node->pivots;
    scalar *w = p->piece, *y = p->y, *x = p->x, *above = p->above;
    if (p->count > 1 || p->transposed) {
        X(front_forward)(node, p);
        X(front_forward_rest)(node, p, 0, n - pivots);
        return;
    }
    for (int64_t i = 0; i < pivots; i++)
        w[i] = y[node->rows[i]];
    for (int64_t i = pivots; i < n; i++)
        w[i] = number(0);
    eliminate(n, pivots, node->lower, n, w);
    for (int64_t i = 0; i < pivots; i++)
        x[node->cols[i]] = w[i];
    for (int64_t i = pivots; i < n; i++) {
        const int32_t row = node->rows[i];
        scalar *to = row < p->end ? y + row : above + p->above_at[row];
        *to = add(*to, w[i]);
    }
}

/* D^-1 w */
static void divide_by_pivots(const front_node *node, bool hermitian, scalar *w)
{
    const int64_t pivots = node->pivots;
    const scalar *g = node->inverse;
    for (int64_t t = 0; t < pivots; t++) {
        const scalar off = g[pivots + t];
        if (is_zero(off)) {
            w[t] = mul(g[t], w[t]);
            continue;
        }
        const scalar a = w[t], b = w[t + 1];
        w[t] = muladd(g[t], a, mul(mirrored(hermitian, off), b));
        w[t + 1] = muladd(off, a, mul(g[t + 1], b));
        t++;
    }
}

static inline bool by_lower(const front_pass *p)
{
    return p->symmetric || p->transposed;
}

void X(front_backward_begin)(const front_node *node, const front_pass *p)
{
    const int32_t *from = by_lower(p) ? node->rows : node->cols;
    for (int c = 0; c < p->count; c++) {
        scalar *w = piece_of(p, c);
        const scalar *x = x_of(p, c);
        for (int64_t i = 0; i < node->order; i++)
            w[i] = x[from[i]];
        if (p->symmetric)
            divide_by_pivots(node, p->hermitian, w);
    }
}

ALWAYS_INLINE void backward_rest(const front_node *node, const front_pass *p, int count,
                                 int64_t begin, int64_t end)
{
    const int64_t n = node->order, pivots = node->pivots, rest = n - pivots;
    const bool lower = by_lower(p);
    const scalar *l = lower ? (const scalar *)node->lower + pivots : (const scalar *)node->upper;
    for (int64_t t = begin; t < end; t++)
        subtract_sums(p, count, rest, lower && p->hermitian, l + t * (lower ? n : rest), pivots, t);
}

void X(front_backward_rest)(const front_node *node, const front_pass *p, int64_t begin, int64_t end)
{
    if (p->count == 1)
        backward_rest(node, p, 1, begin, end);
    else
        backward_rest(node, p, p->count, begin, end);
}

/* U x = z. */
ALWAYS_INLINE void backward_upper(const front_node *node, const front_pass *p, int count)
{
    const scalar *lower = node->lower, *g = node->inverse;
    for (int64_t t = node->pivots - 1; t >= 0; t--) {
        for (int c = 0; c < count; c++) {
            scalar *w = piece_of(p, c);
            w[t] = mul(g[t], w[t]);
            x_of(p, c)[node->cols[t]] = w[t];
        }
        subtract_ones(p, count, t, t, lower + t * node->order, 0);
    }
}

/* L^T x = z, or L^H x = z. */
ALWAYS_INLINE void backward_lower(const front_node *node, const front_pass *p, int count)
{
    const scalar *lower = node->lower;
    for (int64_t t = node->pivots - 1; t >= 0; t--) {
        subtract_sums(p, count, node->pivots - t - 1, p->hermitian, lower + t * node->order + t + 1,
                      t + 1, t);
        for (int c = 0; c < count; c++)
            x_of(p, c)[node->rows[t]] = piece_of(p, c)[t];
    }
}

ALWAYS_INLINE void backward(const front_node *node, const front_pass *p, int count)
{
    if (by_lower(p))
        backward_lower(node, p, count);
    else
        backward_upper(node, p, count);
}

void X(front_backward)(const front_node *node, const front_pass *p)
{
    if (p->count == 1)
        backward(node, p, 1);
    else
        backward(node, p, p->count);
}

/* U x = z of a single column. */
static void backward_upper_all(const front_node *node, const front_pass *p)
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

void X(front_backward_all)(const front_node *node, const front_pass *p)
{
    if (p->count == 1 && !by_lower(p)) {
        backward_upper_all(node, p);
        return;
    }
    X(front_backward_begin)(node, p);
    X(front_backward_rest)(node, p, 0, node->pivots);
    X(front_backward)(node, p);
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

/* Rows of the rest that are above, in their order. */
void X(front_take_above)(const front_node *node, const front_pass *p, void *kept)
{
    const int32_t *rows = (p->transposed ? node->cols : node->rows) + node->pivots;
    const int64_t rest = node->order - node->pivots;
    for (int c = 0; c < p->count; c++) {
        scalar *above = (scalar *)p->above + c * p->above_step, *to = (scalar *)kept + c * rest;
        for (int64_t i = 0; i < rest; i++)
            if (rows[i] >= p->end) {
                to[i] = above[p->above_at[rows[i]]];
                above[p->above_at[rows[i]]] = number(0);
            }
    }
}

void X(front_add_above)(const front_node *node, const front_pass *p, const void *kept)
{
    const int32_t *rows = (p->transposed ? node->cols : node->rows) + node->pivots;
    const int64_t rest = node->order - node->pivots;
    for (int c = 0; c < p->count; c++) {
        const scalar *from = (const scalar *)kept + c * rest;
        scalar *y = y_of(p, c);
        for (int64_t i = 0; i < rest; i++)
            if (rows[i] >= p->end)
                y[rows[i]] = add(y[rows[i]], from[i]);
    }
}
