/* A problem's memory, its matrix by rows, and what is true of an answer. */
#include "lp/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lp_sparse_free(lp_sparse *a)
{
    free(a->start);
    free(a->index);
    free(a->value);
    *a = (lp_sparse){0};
}

void lp_model_free(lp_model *p)
{
    for (int k = 0; p->names && k < p->cols + p->rows; k++)
        free(p->names[k]);
    free(p->names);
    free(p->cost);
    free(p->lower);
    free(p->upper);
    free(p->integer);
    lp_sparse_free(&p->by_col);
    *p = (lp_model){0};
}

lp_sparse lp_sparse_turn(const lp_sparse *a)
{
    const int64_t entries = a->start[a->major];
    lp_sparse t = {.major = a->minor, .minor = a->major};
    t.start = cli_alloc((size_t)(t.major + 2) * sizeof *t.start);
    t.index = cli_alloc((size_t)(entries + 1) * sizeof *t.index);
    t.value = cli_alloc((size_t)(entries + 1) * sizeof *t.value);
    memset(t.start, 0, (size_t)(t.major + 2) * sizeof *t.start);
    for (int64_t e = 0; e < entries; e++)
        t.start[a->index[e] + 2]++;
    for (int i = 0; i < t.major; i++)
        t.start[i + 2] += t.start[i + 1];
    for (int j = 0; j < a->major; j++)
        for (int64_t e = a->start[j]; e < a->start[j + 1]; e++) {
            const int64_t at = t.start[a->index[e] + 1]++;
            t.index[at] = j;
            t.value[at] = a->value[e];
        }
    return t;
}

/* --- certificates --------------------------------------------------------------------------------
 * Sums with twice the precision (T. Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005)).
 */

typedef struct sum {
    double high, low, size; /* size: of what was added */
} sum;

static void add_number(sum *s, double v)
{
    const double t = s->high + v, z = t - s->high;
    s->low += (s->high - (t - z)) + (v - z);
    s->high = t;
    s->size += fabs(v);
}

static void add_product(sum *s, double a, double b)
{
    const double p = a * b;
    add_number(s, p);
    s->low += fma(a, b, -p);
}

static double value_of(const sum *s)
{
    return s->high + s->low;
}

static double broken(double v, double lower, double upper)
{
    return isnan(v) ? INFINITY : fmax(0, fmax(lower - v, v - upper));
}

static void worst(double by, double size, double *most, double *relative)
{
    *most = fmax(*most, by);
    *relative = fmax(*relative, by / (1 + size));
}

/* The dual objective takes of each variable the bound that its reduced cost pushes it to; what is
 * pushed to a bound that it has not is broken by as much. */
static void add_dual(const lp_model *p, int k, double d, double size, sum *dual, lp_certificate *c)
{
    const double bound = d > 0 ? p->lower[k] : p->upper[k];
    if (d == 0)
        return;
    if (isfinite(bound))
        add_product(dual, d, bound);
    else
        worst(fabs(d), size, &c->dual, &c->dual_relative);
}

lp_certificate lp_certify(const lp_model *p, const lp_answer *a)
{
    lp_certificate c = {0};
    sum *rows = cli_alloc((size_t)(p->rows + 1) * sizeof *rows);
    sum primal = {0}, dual = {0};
    memset(rows, 0, (size_t)(p->rows + 1) * sizeof *rows);
    add_number(&primal, p->constant);
    add_number(&dual, p->constant);
    for (int j = 0; j < p->cols; j++) {
        sum d = {0};
        add_number(&d, p->cost[j]);
        for (int64_t e = p->by_col.start[j]; e < p->by_col.start[j + 1]; e++) {
            add_product(&d, -a->y[p->by_col.index[e]], p->by_col.value[e]);
            add_product(&rows[p->by_col.index[e]], p->by_col.value[e], a->x[j]);
        }
        a->d[j] = value_of(&d);
        if (a->state && a->state[j] == LP_BASIC && fabs(a->d[j]) <= 1e-13 * d.size)
            a->d[j] = 0; /* rounding of what is 0 */
        add_product(&primal, p->cost[j], a->x[j]);
        worst(broken(a->x[j], p->lower[j], p->upper[j]), fabs(a->x[j]), &c.primal,
              &c.primal_relative);
        add_dual(p, j, a->d[j], d.size, &dual, &c);
    }
    for (int i = 0; i < p->rows; i++) {
        a->x[p->cols + i] = value_of(&rows[i]);
        worst(broken(a->x[p->cols + i], p->lower[p->cols + i], p->upper[p->cols + i]), rows[i].size,
              &c.primal, &c.primal_relative);
        add_dual(p, p->cols + i, a->y[i], fabs(a->y[i]), &dual, &c);
    }
    c.objective = value_of(&primal);
    c.gap = fabs(value_of(&primal) - value_of(&dual)) /
            (1 + fabs(value_of(&primal)) + fabs(value_of(&dual)));
    free(rows);
    return c;
}

/* The row y A, within the bounds of columns, and y r within those of rows: they cannot be equal
 * where one is above the other. */
double lp_certify_infeasible(const lp_model *p, const double *y)
{
    sum gap = {0}; /* least of y r - (y A) x */
    for (int i = 0; i < p->rows; i++) {
        const double bound = y[i] > 0 ? p->lower[p->cols + i] : p->upper[p->cols + i];
        if (y[i] != 0)
            add_product(&gap, y[i], bound);
    }
    for (int j = 0; j < p->cols; j++) {
        sum d = {0};
        for (int64_t e = p->by_col.start[j]; e < p->by_col.start[j + 1]; e++)
            add_product(&d, y[p->by_col.index[e]], p->by_col.value[e]);
        const double v = value_of(&d), bound = v > 0 ? p->upper[j] : p->lower[j];
        if (fabs(v) <= 1e-12 * d.size && !isfinite(bound))
            continue; /* rounding of what is 0 */
        if (v != 0)
            add_product(&gap, -v, bound);
    }
    return isfinite(gap.size) && gap.size > 0 ? value_of(&gap) / gap.size : -1;
}
