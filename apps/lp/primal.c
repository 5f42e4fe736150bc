/*
 * The primal simplex method from a basis that is feasible: devex prices (P. M. J. Harris, Math.
 * Programming 5 (1973)) and a ratio test in two passes, which tolerates bounds that are broken by
 * less than the tolerance to find large pivots.
 */
#include "lp/lp.h"

#include <math.h>

#define PIVOT 1e-9

static int choose_column(const lp_simplex *s)
{
    double most = 0;
    int best = -1;
    for (int k = 0; k < s->all; k++) {
        const double wrong = lp_simplex_wrong(s, k);
        if (wrong > s->tol && wrong * wrong > most * s->reference[k]) {
            most = wrong * wrong / s->reference[k];
            best = k;
        }
    }
    return best;
}

/* How far a basic variable lets the step go, with its bounds let out by `slack`. */
static double ratio_of(const lp_simplex *s, int k, double speed, double slack)
{
    const double bound = speed < 0 ? s->lower[k] - slack : s->upper[k] + slack;
    return fmax(0, (bound - s->x[k]) / speed);
}

/* The place that leaves, -1: the one that enters reaches its other bound, or (*step infinite) there
 * is no end. sign: where the one that enters moves to. */
static int choose_row(const lp_simplex *s, int enters, double sign, double *step)
{
    double bound = INFINITY, largest = 0;
    int best = -1;
    for (int n = 0; n < s->column.count; n++) {
        const double speed = -sign * s->column.value[s->column.list[n]];
        if (fabs(speed) > PIVOT)
            bound = fmin(bound, ratio_of(s, s->head[s->column.list[n]], speed, 0.5 * s->tol));
    }
    const double across = s->upper[enters] - s->lower[enters];
    if (across <= bound) {
        *step = across;
        return -1;
    }
    for (int n = 0; n < s->column.count; n++) {
        const int r = s->column.list[n];
        const double speed = -sign * s->column.value[r];
        if (fabs(speed) > PIVOT && fabs(speed) > largest &&
            ratio_of(s, s->head[r], speed, 0) <= bound) {
            largest = fabs(speed);
            best = r;
        }
    }
    *step = INFINITY;
    if (best >= 0)
        *step = ratio_of(s, s->head[best], -sign * s->column.value[best], 0);
    return best;
}

static void move(lp_simplex *s, int enters, double by)
{
    for (int n = 0; n < s->column.count; n++)
        s->x[s->head[s->column.list[n]]] -= by * s->column.value[s->column.list[n]];
    s->x[enters] += by;
}

/* Reduced costs and reference weights behind an exchange; the row is that of the old basis. */
static void update_prices(lp_simplex *s, int place, int enters, double alpha)
{
    const double dual = s->d[enters] / alpha, weight = s->reference[enters];
    const int leaves = s->head[place];
    for (int n = 0; n < s->row.count; n++) {
        const int k = s->row.list[n];
        const double by = s->row.value[k] / alpha;
        s->d[k] -= dual * s->row.value[k];
        s->reference[k] = fmax(s->reference[k], by * by * weight);
    }
    s->d[enters] = 0;
    s->d[leaves] = -dual;
    s->reference[leaves] = fmax(weight / (alpha * alpha), 1);
}

static void make_ray(lp_simplex *s, int enters, double sign)
{
    for (int k = 0; k < s->all; k++)
        s->ray.value[k] = 0;
    s->ray.value[enters] = sign;
    for (int n = 0; n < s->column.count; n++)
        s->ray.value[s->head[s->column.list[n]]] = -sign * s->column.value[s->column.list[n]];
}

lp_verdict lp_primal(lp_simplex *s)
{
    lp_verdict verdict = LP_OPTIMAL;
    for (int k = 0; k < s->all; k++)
        s->reference[k] = 1;
    while (!lp_simplex_ends(s, &verdict)) {
        const int enters = choose_column(s);
        if (enters < 0 && s->fresh)
            return LP_OPTIMAL;
        if (enters < 0) {
            lp_simplex_factorise(s);
            continue;
        }
        const double sign = s->d[enters] < 0 ? 1 : -1;
        double length = 0;
        lp_vector_clear(&s->column, s->rows);
        lp_simplex_column(s, enters, 1, &s->column);
        lp_factor_forward(s->factor, &s->column, true);
        const int place = choose_row(s, enters, sign, &length);
        if (place < 0 && !isfinite(length)) {
            if (!s->fresh) {
                lp_simplex_factorise(s);
                continue;
            }
            make_ray(s, enters, sign);
            return LP_UNBOUNDED;
        }
        move(s, enters, sign * length);
        lp_simplex_report(s);
        if (place < 0) {
            s->state[enters] = s->state[enters] == LP_AT_LOWER ? LP_AT_UPPER : LP_AT_LOWER;
            s->x[enters] = s->state[enters] == LP_AT_LOWER ? s->lower[enters] : s->upper[enters];
            s->iterations++;
            continue;
        }
        const double alpha = s->column.value[place];
        lp_vector_clear(&s->price, s->rows);
        s->price.value[place] = 1;
        s->price.count = -1;
        lp_factor_backward(s->factor, &s->price);
        lp_simplex_row(s, &s->price, &s->row);
        update_prices(s, place, enters, alpha);
        lp_simplex_pivot(s, place, enters, sign * alpha > 0 ? LP_AT_LOWER : LP_AT_UPPER, alpha);
    }
    return verdict;
}
