/*
 * The dual simplex method with bounds: steepest edge (J. J. Forrest, D. Goldfarb, Math. Programming
 * 57 (1992)), a ratio test that lets variables between two bounds change sides and tolerates small
 * errors to find large pivots (I. Maros, European J. Oper. Res. 149 (2003); P. M. J. Harris, Math.
 * Programming 5 (1973)), costs perturbed at random and shifted where a step would break a sign (A.
 * Koberstein, The dual simplex method, Paderborn 2005).
 */
#include "lp/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT 1e-9      /* smallest, over 1 */
#define GOOD_PIVOT 1e-7 /* smaller ones are avoided */
#define LEAST_WEIGHT 1e-4
enum { MOST_REFUSED = 50 };

/* Costs move away from 0 in the direction that keeps signs, by some 5e-7 of their size. */
static void perturb(lp_simplex *s)
{
    double largest = 0;
    for (int j = 0; j < s->cols; j++)
        largest = fmax(largest, fabs(s->true_cost[j]));
    const double base = 5e-7 * (largest > 100 ? sqrt(sqrt(largest)) / sqrt(sqrt(100.0)) : 1);
    for (int j = 0; j < s->all; j++) {
        const double l = s->lower[j], u = s->upper[j], r = 1 + lp_simplex_random(s);
        const double by = j < s->cols ? (fabs(s->cost[j]) + 1) * base * r : 1e-12 * r;
        if (l == u || (!isfinite(l) && !isfinite(u)))
            continue;
        if (!isfinite(u))
            s->cost[j] += by;
        else if (!isfinite(l))
            s->cost[j] -= by;
        else
            s->cost[j] += s->cost[j] >= 0 ? by : -by;
    }
}

/* Signs that are wrong are mended by the other bound where there is one, else by the cost. */
static void mend_signs(lp_simplex *s)
{
    bool moved = false;
    for (int k = 0; k < s->all; k++) {
        if (s->where[k] >= 0)
            continue;
        const bool both = isfinite(s->lower[k]) && isfinite(s->upper[k]);
        if (both && s->lower[k] < s->upper[k] && lp_simplex_wrong(s, k) > s->tol) {
            s->state[k] = s->d[k] < 0 ? LP_AT_UPPER : LP_AT_LOWER;
            s->x[k] = s->d[k] < 0 ? s->upper[k] : s->lower[k];
            moved = true;
        } else if (!both && lp_simplex_wrong(s, k) > 0) {
            s->cost[k] -= s->d[k];
            s->d[k] = 0;
        }
    }
    if (moved)
        lp_simplex_primals(s);
}

static int choose_row(const lp_simplex *s)
{
    double most = 0;
    int best = -1;
    for (int r = 0; r < s->rows; r++) {
        const double by = lp_simplex_infeasible(s, s->head[r]);
        if (fabs(by) > s->tol && by * by > most * s->weight[r]) {
            most = by * by / s->weight[r];
            best = r;
        }
    }
    return best;
}

/* Candidates of the ratio test, in `list`; those behind `left` have changed sides. */
typedef struct test {
    int *list, count, flips;
    double sign; /* of the row, so that steps are positive */
} test;

static bool is_candidate(const lp_simplex *s, int k, double alpha)
{
    if (s->lower[k] == s->upper[k])
        return false;
    return s->state[k] == LP_AT_LOWER   ? alpha > PIVOT
           : s->state[k] == LP_AT_UPPER ? alpha < -PIVOT
                                        : fabs(alpha) > PIVOT;
}

static double ratio_of(const lp_simplex *s, int k, double alpha, double slack)
{
    return (fmax(0, s->state[k] == LP_FREE ? 0
                    : alpha > 0            ? s->d[k]
                                           : -s->d[k]) +
            slack) /
           fabs(alpha);
}

static void exchange(int *list, int a, int b)
{
    const int kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/*
 * The variable that enters, -1: none. Groups of candidates that come up together change sides as
 * long as the slope stays; of the group that ends that the largest pivot is taken, or one of a
 * group before it that is larger by far. t->list: those that change sides come first.
 */
static int choose_column(const lp_simplex *s, test *t, double slope)
{
    enum { GROUPS = 100 };
    int begin[GROUPS + 1], groups = 0, done = 0;
    const double *row = s->row.value;
    while (done < t->count && groups < GROUPS) {
        double bound = INFINITY, change = 0;
        for (int n = done; n < t->count; n++)
            bound = fmin(bound, ratio_of(s, t->list[n], t->sign * row[t->list[n]], s->tol));
        begin[groups++] = done;
        for (int n = done; n < t->count; n++) {
            const int k = t->list[n];
            const double alpha = t->sign * row[k];
            if (ratio_of(s, k, alpha, 0) > bound)
                continue;
            change += fabs(alpha) * (s->upper[k] - s->lower[k]);
            exchange(t->list, n, done++);
        }
        slope -= change;
        if (!(slope >= 0))
            break;
    }
    begin[groups] = done;
    if (done == t->count && slope > s->tol) /* all of them together do not suffice */
        return -1;
    double largest = 0, wanted;
    for (int n = 0; n < done; n++)
        largest = fmax(largest, fabs(row[t->list[n]]));
    wanted = fmin(0.1 * largest, 1);
    for (int g = groups; g-- > 0;) {
        int best = -1;
        for (int n = begin[g]; n < begin[g + 1]; n++)
            if (best < 0 || fabs(row[t->list[n]]) > fabs(row[t->list[best]]))
                best = n;
        if (best >= 0 && (fabs(row[t->list[best]]) >= wanted || g == 0)) {
            t->flips = begin[g];
            const int enters = t->list[best];
            exchange(t->list, best, begin[g]);
            t->count = begin[g + 1];
            return enters;
        }
    }
    return -1;
}

/* Variables that change sides move what the basis has to make up for. */
static void flip(lp_simplex *s, const test *t)
{
    if (t->flips == 0)
        return;
    lp_vector_clear(&s->move, s->rows);
    for (int n = 0; n < t->flips; n++) {
        const int k = t->list[n];
        const double old = s->x[k];
        s->state[k] = s->state[k] == LP_AT_LOWER ? LP_AT_UPPER : LP_AT_LOWER;
        s->x[k] = s->state[k] == LP_AT_LOWER ? s->lower[k] : s->upper[k];
        lp_simplex_column(s, k, old - s->x[k], &s->move);
    }
    lp_factor_forward(s->factor, &s->move, false);
    for (int n = 0; n < s->move.count; n++)
        s->x[s->head[s->move.list[n]]] += s->move.value[s->move.list[n]];
}

/* The step: 0 where the sign of the one that enters is already wrong; others that would be wrong
 * behind it have their costs shifted. */
static double settle(lp_simplex *s, const test *t, int enters)
{
    const double alpha = t->sign * s->row.value[enters];
    double step = s->d[enters] / alpha;
    if (step < 0) {
        s->cost[enters] -= s->d[enters];
        s->d[enters] = 0;
        step = 0;
    }
    for (int n = t->flips; n < t->count; n++) {
        const int k = t->list[n];
        const double by = t->sign * s->row.value[k], left = s->d[k] - step * by;
        if (k == enters || (s->state[k] == LP_AT_LOWER   ? left >= 0
                            : s->state[k] == LP_AT_UPPER ? left <= 0
                                                         : left == 0))
            continue;
        s->cost[k] -= left;
        s->d[k] -= left;
    }
    return t->sign * step;
}

static void update_weights(lp_simplex *s, int place, double alpha, double weight)
{
    for (int n = 0; n < s->column.count; n++) {
        const int r = s->column.list[n];
        const double by = s->column.value[r] / alpha;
        if (r != place)
            s->weight[r] =
                fmax(s->weight[r] + by * (by * weight - 2 * s->tau.value[r]), LEAST_WEIGHT);
    }
    s->weight[place] = fmax(weight / (alpha * alpha), LEAST_WEIGHT);
}

/* The row of the basis' inverse that belongs to a place, into price, and its products. */
static double make_row(lp_simplex *s, int place)
{
    double weight = 0;
    lp_vector_clear(&s->price, s->rows);
    s->price.value[place] = 1;
    s->price.count = -1;
    lp_factor_backward(s->factor, &s->price);
    for (int n = 0; n < s->price.count; n++)
        weight += s->price.value[s->price.list[n]] * s->price.value[s->price.list[n]];
    return weight;
}

static void list_candidates(const lp_simplex *s, test *t)
{
    t->count = 0;
    for (int n = 0; n < s->row.count; n++)
        if (is_candidate(s, s->row.list[n], t->sign * s->row.value[s->row.list[n]]))
            t->list[t->count++] = s->row.list[n];
}

/* The step in x and d, behind which the basis is exchanged. False: pivots disagree. */
static bool step(lp_simplex *s, const test *t, int place, int enters, double weight)
{
    const int leaves = s->head[place];
    const double in_row = s->row.value[enters];
    lp_vector_clear(&s->column, s->rows);
    lp_simplex_column(s, enters, 1, &s->column);
    lp_factor_forward(s->factor, &s->column, true);
    const double alpha = s->column.value[place];
    if (fabs(alpha - in_row) > 1e-7 * (1 + fabs(alpha)) || fabs(alpha) < PIVOT)
        return false;
    flip(s, t);
    const double dual = settle(s, t, enters);
    lp_vector_clear(&s->tau, s->rows);
    memcpy(s->tau.value, s->price.value, (size_t)s->rows * sizeof *s->tau.value);
    s->tau.count = -1;
    lp_factor_forward(s->factor, &s->tau, false);
    const int to = t->sign < 0 ? LP_AT_LOWER : LP_AT_UPPER;
    const double by =
        (s->x[leaves] - (to == LP_AT_LOWER ? s->lower[leaves] : s->upper[leaves])) / alpha;
    for (int n = 0; n < s->column.count; n++)
        s->x[s->head[s->column.list[n]]] -= by * s->column.value[s->column.list[n]];
    s->x[enters] += by;
    for (int n = 0; n < s->row.count; n++)
        s->d[s->row.list[n]] -= dual * s->row.value[s->row.list[n]];
    s->d[enters] = 0;
    s->d[leaves] = -dual;
    update_weights(s, place, alpha, weight);
    if (!lp_simplex_pivot(s, place, enters, to, alpha))
        mend_signs(s);
    else if (s->fresh)
        mend_signs(s);
    return true;
}

lp_verdict lp_dual(lp_simplex *s)
{
    test t = {.list = s->candidates};
    lp_verdict verdict = LP_OPTIMAL;
    perturb(s);
    lp_simplex_duals(s);
    mend_signs(s);
    while (!lp_simplex_ends(s, &verdict)) {
        const int place = choose_row(s);
        if (place < 0 && s->fresh)
            return LP_OPTIMAL;
        if (place < 0) {
            lp_simplex_factorise(s);
            mend_signs(s);
            continue;
        }
        const double weight = make_row(s, place), slope = lp_simplex_infeasible(s, s->head[place]);
        const double said = s->weight[place];
        s->weight[place] = fmax(weight, LEAST_WEIGHT);
        if (said < 0.1 * weight) /* it was chosen by mistake */
            continue;
        lp_simplex_row(s, &s->price, &s->row);
        t.sign = slope < 0 ? -1 : 1;
        list_candidates(s, &t);
        const int enters = choose_column(s, &t, fabs(slope));
        if (enters < 0 && s->fresh) {
            memcpy(s->ray.value, s->price.value, (size_t)s->rows * sizeof *s->ray.value);
            for (int i = 0; i < s->rows; i++)
                s->ray.value[i] *= t.sign;
            return LP_INFEASIBLE;
        }
        if (enters < 0 || !step(s, &t, place, enters, weight)) {
            if (s->fresh && !lp_factor_stabilise(s->factor)) {
                s->weight[place] *= 1e6; /* others first: nothing better is to be had here */
                if (++s->refused > MOST_REFUSED)
                    return LP_TROUBLE;
                continue;
            }
            lp_simplex_factorise(s);
            mend_signs(s);
        }
        lp_simplex_report(s);
    }
    return verdict;
}
