/*
 * Sparse factors row by row, for matrices so small or so sparse that no front is worth its name: J.
 * R. Gilbert, T. Peierls, Sparse partial pivoting in time proportional to arithmetic operations,
 * SIAM J. Sci. Stat. Comput. 9 (1988), 862-874, with the pruning of S. C. Eisenstat, J. W. H. Liu,
 * Exploiting structural symmetry in unsymmetric sparse symbolic factorization, SIAM J. Matrix Anal.
 * Appl. 13 (1992), 202-211. Row k of A = C R loses multiples of the rows of R before it: those that
 * a depth-first search from its columns finds, in an order in which none comes too late.
 */
#include "direct/kernels/kernel.h"

/* An entry of row i of A, scaled. */
static inline scalar entry_of(const lu_factors *f, const scalar *values, int64_t i, int64_t k)
{
    return times((real)f->right[f->columns[k]], times((real)f->left[i], values[k]));
}

/* A power of two that brings numbers of this size to 1/2 or more and below 1. */
static double factor_near(double size)
{
    const uint64_t most = sizeof(real) == sizeof(float) ? 72 : 520, one = 1023;
    uint64_t bits;
    if (!(size > 0))
        return 1;
    memcpy(&bits, &size, sizeof bits); /* 1.m times 2 to the power of these less `one` */
    uint64_t exponent = bits >> 52;
    exponent = exponent < one - most ? one - most : exponent > one + most ? one + most : exponent;
    bits = (2 * one - 1 - exponent) << 52;
    memcpy(&size, &bits, sizeof bits);
    return size;
}

bool X(lu_scale)(const lu_factors *f, const void *matrix)
{
    const scalar *values = matrix;
    bool strong = true;
    for (int64_t j = 0; j < f->n; j++)
        f->right[j] = 0;
    for (int64_t i = 0; i < f->n; i++) {
        double most = 0;
        for (int64_t k = f->offsets[i]; k < f->offsets[i + 1]; k++)
            most = (double)size_near(values[k]) > most ? (double)size_near(values[k]) : most;
        f->left[i] = factor_near(most);
        for (int64_t k = f->offsets[i]; k < f->offsets[i + 1]; k++) {
            const double size = f->left[i] * (double)size_near(values[k]);
            double *column = &f->right[f->columns[k]];
            *column = size > *column ? size : *column;
        }
    }
    for (int64_t j = 0; j < f->n; j++)
        f->right[j] = factor_near(f->right[j]);
    for (int64_t i = 0; i < f->n; i++) {
        bool fits = false;
        for (int64_t k = f->offsets[i]; k < f->offsets[i + 1] && !fits; k++)
            fits =
                f->columns[k] == i && (double)size_near(entry_of(f, values, i, k)) >= f->threshold;
        strong = strong && fits;
    }
    return strong;
}

/* Adds the steps before k that a column leads to in front of `top` in f->found, and columns without
 * a step so far to the fresh ones; gives the new top. */
static int32_t search(lu_factors *f, int32_t k, int32_t column, int32_t top)
{
    int32_t depth = 0;
    f->path[0] = f->step_of[column];
    f->next[0] = f->r_at[f->path[0]];
    while (depth >= 0) {
        const int32_t step = f->path[depth], end = f->r_at[step] + f->pruned[step];
        int32_t e = f->next[depth], deeper = k;
        for (; e < end && deeper >= k; e++) {
            const int32_t c = f->r_step[e];
            if (f->mark[c] == f->stamp)
                continue;
            f->mark[c] = f->stamp;
            deeper = f->step_of[c];
            if (deeper >= k)
                f->fresh[f->fresh_count++] = c;
        }
        if (deeper >= k) {
            f->found[--top] = step;
            depth--;
            continue;
        }
        f->next[depth++] = e;
        f->path[depth] = deeper;
        f->next[depth] = f->r_at[deeper];
    }
    return top;
}

/* The columns of row k, and from where on in f->found the steps are that it takes from. */
static int32_t find_pattern(lu_factors *f, int32_t k)
{
    const int32_t i = f->row_of[k];
    int32_t top = (int32_t)f->n;
    f->stamp++;
    f->fresh_count = 0;
    for (int64_t e = f->offsets[i]; e < f->offsets[i + 1]; e++) {
        const int32_t c = f->columns[e];
        if (f->mark[c] == f->stamp)
            continue;
        f->mark[c] = f->stamp;
        if (f->step_of[c] >= k)
            f->fresh[f->fresh_count++] = c;
        else
            top = search(f, k, c, top);
    }
    return top;
}

/* x = x - c R_step. */
ALWAYS_INLINE void subtract_row(const lu_factors *f, int32_t step, scalar c, scalar *x)
{
    const scalar *r = f->r, less = minus(c);
    for (int32_t e = f->r_at[step]; e < f->r_at[step + 1]; e++)
        x[f->r_step[e]] = muladd(less, r[e], x[f->r_step[e]]);
}

/* The pivot among fresh columns: the one that is wanted, if it is large enough; -1: none. */
static int32_t choose_pivot(const lu_factors *f, int32_t wanted, const scalar *x)
{
    real most = 0;
    int32_t best = -1;
    for (int32_t e = 0; e < f->fresh_count; e++)
        if (size_near(x[f->fresh[e]]) > most) {
            most = size_near(x[f->fresh[e]]);
            best = f->fresh[e];
        }
    const bool fits = best >= 0 && f->mark[wanted] == f->stamp &&
                      (double)size_near(x[wanted]) >= f->threshold * (double)most;
    return fits ? wanted : best;
}

/* Step k has a pivot's column; the step that was to have it gets what this one was to have. */
static void take_pivot(const lu_factors *f, int32_t k, int32_t pivot)
{
    const int32_t other = f->step_of[pivot], wanted = f->column_of[k];
    f->column_of[other] = wanted;
    f->step_of[wanted] = other;
    f->column_of[k] = pivot;
    f->step_of[pivot] = k;
}

/* Rows of R that row k has taken from and that have its pivot: what has no step yet among their
 * columns is found by way of row k from now on. */
static void prune(const lu_factors *f, int32_t k)
{
    scalar *r = f->r;
    for (int32_t e = f->c_at[k]; e < f->c_at[k + 1]; e++) {
        const int32_t step = f->c_step[e], first = f->r_at[step], end = f->r_at[step + 1];
        bool has = false;
        for (int32_t l = first; l < end && f->pruned[step] == end - first && !has; l++)
            has = f->r_step[l] == f->column_of[k];
        if (!has)
            continue;
        int32_t kept = first;
        for (int32_t l = first; l < end; l++) {
            const int32_t column = f->r_step[l];
            if (f->step_of[column] > k)
                continue;
            f->r_step[l] = f->r_step[kept];
            f->r_step[kept] = column;
            exchange(&r[l], &r[kept++]);
        }
        f->pruned[step] = kept - first;
    }
}

/* Row k of R: what is left of x, over the pivot. */
static void store_row(const lu_factors *f, int32_t k, scalar *x)
{
    scalar *r = f->r, *pivots = f->inverse;
    int32_t to = f->r_at[k];
    pivots[k] = inverse(x[f->column_of[k]]);
    for (int32_t e = 0; e < f->fresh_count; e++) {
        const int32_t column = f->fresh[e];
        if (column != f->column_of[k]) {
            f->r_step[to] = column;
            r[to++] = mul(pivots[k], x[column]);
        }
        x[column] = number(0);
    }
    f->r_at[k + 1] = to;
    f->pruned[k] = to - f->r_at[k];
}

/* False: there is no room for it, or no pivot in it. */
static bool add_row(lu_factors *f, int32_t k, const scalar *values)
{
    const int32_t i = f->row_of[k], top = find_pattern(f, k), n = (int32_t)f->n;
    scalar *x = f->x, *c = f->c, *pivots = f->inverse;
    int32_t to = f->c_at[k];
    if (to + n - top > f->room || f->r_at[k] + f->fresh_count > f->room)
        return false;
    for (int64_t e = f->offsets[i]; e < f->offsets[i + 1]; e++)
        x[f->columns[e]] = entry_of(f, values, i, e);
    for (int32_t t = top; t < n; t++) {
        const int32_t step = f->found[t], column = f->column_of[step];
        c[to] = x[column];
        f->c_step[to] = step;
        x[column] = number(0);
        subtract_row(f, step, c[to++], x);
    }
    f->c_at[k + 1] = to;
    const int32_t pivot = choose_pivot(f, f->column_of[k], x);
    if (pivot < 0)
        return false;
    take_pivot(f, k, pivot);
    store_row(f, k, x);
    prune(f, k);
    return finite_number(pivots[k]);
}

bool X(lu_factor)(lu_factors *f, const void *values)
{
    const int32_t n = (int32_t)f->n;
    memset(f->x, 0, (size_t)n * sizeof(scalar));
    for (int32_t k = 0; k < n; k++)
        if (!add_row(f, k, values))
            return false;
    for (int32_t e = 0; e < f->r_at[n]; e++)
        f->r_step[e] = f->step_of[f->r_step[e]];
    return true;
}

bool X(lu_refill)(const lu_factors *f, const void *matrix)
{
    const double weak = 1e-2 * f->threshold;
    const scalar *values = matrix;
    scalar *x = f->x, *c = f->c, *r = f->r, *pivots = f->inverse;
    memset(x, 0, (size_t)f->n * sizeof *x);
    for (int32_t k = 0; k < f->n; k++) {
        const int32_t i = f->row_of[k];
        for (int64_t e = f->offsets[i]; e < f->offsets[i + 1]; e++)
            x[f->step_of[f->columns[e]]] = entry_of(f, values, i, e);
        for (int32_t e = f->c_at[k]; e < f->c_at[k + 1]; e++) {
            c[e] = x[f->c_step[e]];
            x[f->c_step[e]] = number(0);
            subtract_row(f, f->c_step[e], c[e], x);
        }
        const real size = size_near(x[k]);
        real most = 0;
        pivots[k] = inverse(x[k]);
        x[k] = number(0);
        for (int32_t e = f->r_at[k]; e < f->r_at[k + 1]; e++) {
            scalar *at = &x[f->r_step[e]];
            most = size_near(*at) > most ? size_near(*at) : most;
            r[e] = mul(pivots[k], *at);
            *at = number(0);
        }
        if (!((double)size >= weak * (double)most) || !finite_number(pivots[k]))
            return false;
    }
    return true;
}

/* sum - a_e x of the places of e, for e in begin..end-1. */
ALWAYS_INLINE scalar less_row(scalar sum, const scalar *a, const int32_t *place, int32_t begin,
                              int32_t end, const scalar *x)
{
    for (int32_t e = begin; e < end; e++)
        sum = sub(sum, mul(a[e], x[place[e]]));
    return sum;
}

/* x = R^-1 C^-1 x */
static void eliminate_all(const lu_factors *f, scalar *x)
{
    const scalar *pivots = f->inverse;
    for (int32_t k = 0; k < f->n; k++)
        x[k] = mul(pivots[k], less_row(x[k], f->c, f->c_step, f->c_at[k], f->c_at[k + 1], x));
    for (int32_t k = (int32_t)f->n - 1; k >= 0; k--)
        x[k] = less_row(x[k], f->r, f->r_step, f->r_at[k], f->r_at[k + 1], x);
}

double X(lu_growth)(const lu_factors *f)
{
    scalar *x = f->x;
    double sum = 0;
    for (int32_t k = 0; k < f->n; k++)
        x[k] = number(base_random(1, (uint64_t)f->row_of[k]) & 1 ? 1 : -1);
    eliminate_all(f, x);
    for (int32_t k = 0; k < f->n; k++)
        sum += (double)size_of(x[k]);
    return sum;
}

/* z = A^-1 z */
static void solve(const lu_factors *f, scalar *z)
{
    scalar *x = f->x;
    for (int32_t k = 0; k < f->n; k++)
        x[k] = times((real)f->left[f->row_of[k]], z[f->row_of[k]]);
    eliminate_all(f, x);
    for (int32_t k = 0; k < f->n; k++)
        z[f->column_of[k]] = times((real)f->right[f->column_of[k]], x[k]);
}

/* z = A^-T z */
static void solve_transposed(const lu_factors *f, scalar *z)
{
    const scalar *pivots = f->inverse, *c = f->c;
    scalar *x = f->x;
    for (int32_t k = 0; k < f->n; k++)
        x[k] = times((real)f->right[f->column_of[k]], z[f->column_of[k]]);
    for (int32_t k = 0; k < f->n; k++)
        subtract_row(f, k, x[k], x);
    for (int32_t k = (int32_t)f->n - 1; k >= 0; k--) {
        x[k] = mul(pivots[k], x[k]);
        for (int32_t e = f->c_at[k]; e < f->c_at[k + 1]; e++)
            x[f->c_step[e]] = muladd(minus(x[k]), c[e], x[f->c_step[e]]);
        z[f->row_of[k]] = times((real)f->left[f->row_of[k]], x[k]);
    }
}

void X(lu_solve)(const lu_factors *f, spry_transpose transpose, void *column)
{
    scalar *z = column;
    const bool conjugated = transpose == SPRY_TRANSPOSE_CONJUGATE;
    for (int64_t i = 0; conjugated && i < f->n; i++)
        z[i] = conjugate(z[i]);
    if (transpose == SPRY_TRANSPOSE_NO)
        solve(f, z);
    else
        solve_transposed(f, z);
    for (int64_t i = 0; conjugated && i < f->n; i++)
        z[i] = conjugate(z[i]);
}
