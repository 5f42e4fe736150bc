/*
 * Rows of incomplete factors with exchanges of columns, of a matrix whose rows and columns were
 * equilibrated: (I + L) D (I + U) is about A Q.
 *
 * Of a row that was eliminated the pivot is the entry on the diagonal, where it is not much smaller
 * than the largest one, else that one (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd
 * edition, SIAM 2003, section 10.4.4: ILUTP). Rows that have none, or whose numbers would make the
 * inverse of L grow, are deferred once to the end, where more is known of them. Entries are dropped
 * where they are small relative to the estimated norms of rows of L^-1 and columns of U^-1, which
 * is what bounds the error of the preconditioned matrix: |l_ik| |e_k^T L^-1| <= tau, |u_kj| |U^-1
 * e_k|
 * <= tau (M. Bollhoefer, A robust ILU with pivoting based on monitoring the growth of the inverse
 * factors, Linear Algebra Appl. 338 (2001), 201-218).
 */
#include "precon/kernels/sparse_row.h"

enum { MOST_GROWTH = 1000 }; /* of L^-1, beyond which a row is put off */

/* A row in the making: columns that have steps wait as a heap of these; those that were taken stand
 * in `lower`, those without a step in `upper`. */
typedef struct row {
    ilutp_job *p;
    scalar *w;
    int64_t i, heap, lower, upper, most;
    scalar growth; /* of L^-1 */
} row;

static void add_to(row *r, int32_t j, scalar a)
{
    const ilutp_job *p = r->p;
    if (p->mark[j] == 0) {
        p->mark[j] = 1;
        r->w[j] = number(0);
        if (p->place[j] >= 0)
            heap_push(p->heap, &r->heap, p->place[j]);
        else
            p->upper[r->upper++] = j;
    }
    r->w[j] = add(r->w[j], a);
}

/* Entries that a row may have in each triangle. */
static int64_t most_of(const ilutp_job *p, int64_t step, int64_t i)
{
    const int64_t used = (p->l_offsets[step] + p->u_offsets[step]) / 2;
    return allowance(p->fill, p->a_offsets[i + 1] - p->a_offsets[i], p->mean, step, used, p->n);
}

static real estimate(const void *growth, int64_t k)
{
    const scalar *y = growth;
    return size_of(y[k]);
}

static void eliminate(row *r)
{
    const ilutp_job *p = r->p;
    const scalar *inverses = p->inverse, *u = p->u_values;
    while (r->heap > 0) {
        const int32_t k = heap_pop(p->heap, &r->heap), j = p->column[k];
        const scalar l = mul(r->w[j], inverses[k]);
        if (!(size_of(l) * estimate(p->l_growth, k) > (real)p->tau)) {
            p->mark[j] = 0;
            continue;
        }
        p->lower[r->lower++] = j;
        const scalar minus = sub(number(0), r->w[j]);
        r->w[j] = l;
        for (int64_t e = p->u_offsets[k]; e < p->u_offsets[k + 1]; e++)
            add_to(r, p->u_columns[e], mul(minus, u[e]));
    }
}

/* The column of the pivot and its size; the row's own where that does. -1: there is none. */
static int32_t find_pivot(const row *r, real *size)
{
    const ilutp_job *p = r->p;
    int32_t best = -1;
    *size = 0;
    for (int64_t k = 0; k < r->upper; k++) {
        const real s = size_of(r->w[p->upper[k]]);
        if (s > *size || (s == *size && s > 0 && p->upper[k] < best)) {
            *size = s;
            best = p->upper[k];
        }
    }
    if (best >= 0 && p->mark[r->i] && p->place[r->i] < 0) {
        const real own = size_of(r->w[r->i]);
        if (own > 0 && own >= (real)p->pivot * *size) {
            *size = own;
            best = (int32_t)r->i;
        }
    }
    return best;
}

/* A column without a step, the row's own if it may be, with a number that makes it a pivot. */
static int32_t make_pivot(row *r, real size)
{
    ilutp_job *p = r->p;
    int32_t j = (int32_t)r->i;
    if (p->place[j] >= 0) {
        while (p->place[p->free_column] >= 0)
            p->free_column++;
        j = (int32_t)p->free_column;
    }
    add_to(r, j, number(0));
    r->w[j] = number(size);
    p->perturbed++;
    return j;
}

static void clean(const row *r)
{
    for (int64_t k = 0; k < r->lower; k++)
        r->p->mark[r->p->lower[k]] = 0;
    for (int64_t k = 0; k < r->upper; k++)
        r->p->mark[r->p->upper[k]] = 0;
}

/* Keeps the largest of L, and updates the growth of L^-1. */
static void choose_lower(row *r)
{
    const ilutp_job *p = r->p;
    const scalar *growth = p->l_growth;
    scalar sum = number(0);
    select_largest(r->w, p->lower, r->lower, r->most);
    const int64_t left = r->lower < r->most ? r->lower : r->most;
    for (int64_t k = left; k < r->lower; k++)
        p->mark[p->lower[k]] = 0;
    r->lower = left;
    for (int64_t k = 0; k < left; k++)
        sum = add(sum, mul(r->w[p->lower[k]], growth[p->place[p->lower[k]]]));
    r->growth = grown(sum);
}

static void store_lower(const row *r, int64_t step)
{
    const ilutp_job *p = r->p;
    scalar *l = p->l_values;
    int64_t to = p->l_offsets[step];
    for (int64_t k = 0; k < r->lower; k++, to++) {
        l[to] = r->w[p->lower[k]];
        p->l_columns[to] = p->place[p->lower[k]];
    }
    p->l_offsets[step + 1] = to;
}

/* What is left of the row, divided by the pivot. */
static void store_upper(const row *r, int64_t step, int32_t pivot)
{
    const ilutp_job *p = r->p;
    scalar *u = p->u_values, *inverses = p->inverse, *growth = p->u_growth;
    const scalar by = inverse(r->w[pivot]), y = grown(growth[pivot]);
    const real least = (real)p->tau / size_of(y) * size_of(r->w[pivot]);
    int64_t left = 0, to = p->u_offsets[step];
    for (int64_t k = 0; k < r->upper; k++) {
        const int32_t j = p->upper[k];
        p->mark[j] = 0;
        if (j != pivot && size_of(r->w[j]) > least)
            p->upper[left++] = j;
    }
    select_largest(r->w, p->upper, left, r->most);
    left = left < r->most ? left : r->most;
    for (int64_t k = 0; k < left; k++, to++) {
        const int32_t j = p->upper[k];
        u[to] = mul(r->w[j], by);
        p->u_columns[to] = j;
        growth[j] = add(growth[j], mul(u[to], y));
    }
    p->u_offsets[step + 1] = to;
    inverses[step] = by;
}

/* The next row of the queue, or one that was put off. */
static int64_t next_row(const ilutp_job *p)
{
    return p->next < p->n ? (p->order ? p->order[p->next] : p->next) : p->later[p->retaken];
}

/* Whether the row was taken, and not put off. */
static bool do_row(ilutp_job *p, int64_t step, int64_t i, bool last)
{
    const scalar *values = p->a_values;
    const real least = 16 * UNIT;
    row r = {.p = p, .w = p->w, .i = i, .most = most_of(p, step, i)};
    real size;
    for (int64_t k = p->a_offsets[i]; k < p->a_offsets[i + 1]; k++)
        if (!is_zero(values[k]))
            add_to(&r, p->a_columns[k], values[k]);
    eliminate(&r);
    choose_lower(&r);
    int32_t pivot = find_pivot(&r, &size);
    const bool bad = pivot < 0 || !(size > least);
    if (!last && (bad || !(size_of(r.growth) <= MOST_GROWTH))) {
        clean(&r);
        return false;
    }
    if (bad)
        pivot = make_pivot(&r, (real)sqrt((double)UNIT));
    ((scalar *)p->l_growth)[step] = r.growth;
    for (int64_t k = 0; k < r.lower; k++)
        p->mark[p->lower[k]] = 0;
    store_lower(&r, step);
    store_upper(&r, step, pivot);
    p->row[step] = (int32_t)i;
    p->column[step] = pivot;
    p->place[pivot] = (int32_t)step;
    return true;
}

int64_t X(ilutp_rows)(ilutp_job *p, int64_t begin, int64_t end)
{
    for (int64_t step = begin; step < end;) {
        const bool last = p->next == p->n;
        const int64_t i = next_row(p);
        p->need = most_of(p, step, i);
        if (p->l_offsets[step] + p->need > p->l_room || p->u_offsets[step] + p->need > p->u_room)
            return step;
        const bool taken = do_row(p, step, i, last || !p->defer);
        p->next += !last;
        p->retaken += last;
        if (taken)
            step++;
        else
            p->later[p->put_off++] = (int32_t)i;
    }
    return end;
}
