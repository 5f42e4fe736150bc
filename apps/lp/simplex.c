/*
 * What the dual and the primal method share: scaling, the state of a basis, products with its
 * matrix (A, -I), whose right-hand side is 0.
 */
#include "lp/lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lp_simplex_random(lp_simplex *s)
{
    s->random ^= s->random << 13; /* G. Marsaglia, Xorshift RNGs, 2003 */
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (double)(s->random >> 11) * 0x1p-53;
}

/* --- scaling -------------------------------------------------------------------------------------
 * Rows and columns by turns by the geometric mean of their numbers, as powers of two.
 */

static double power_near(double v)
{
    return isfinite(v) && v > 0 ? exp2(rint(log2(v))) : 1;
}

static void mean_of(const lp_sparse *a, int k, const double *other, double *scale)
{
    double sum = 0;
    for (int64_t e = a->start[k]; e < a->start[k + 1]; e++)
        sum += log2(fabs(a->value[e])) + log2(other[a->index[e]]);
    if (a->start[k + 1] > a->start[k])
        scale[k] = exp2(-sum / (double)(a->start[k + 1] - a->start[k]));
}

static void find_scales(lp_simplex *s, const lp_sparse *by_row)
{
    double *col = s->scale, *row = s->scale + s->cols;
    for (int k = 0; k < s->all; k++)
        s->scale[k] = 1;
    for (int pass = 0; pass < 4; pass++) {
        for (int i = 0; i < s->rows; i++)
            mean_of(by_row, i, col, row);
        for (int j = 0; j < s->cols; j++)
            mean_of(&s->A, j, row, col);
    }
    for (int k = 0; k < s->all; k++)
        s->scale[k] = power_near(s->scale[k]);
}

/* Column j is x scale: x_j = scale_j x'_j; row i: r'_i = scale_i r_i. */
static void apply_scales(lp_simplex *s)
{
    const double *col = s->scale, *row = s->scale + s->cols;
    for (int j = 0; j < s->cols; j++) {
        for (int64_t e = s->A.start[j]; e < s->A.start[j + 1]; e++)
            s->A.value[e] *= col[j] * row[s->A.index[e]];
        s->true_cost[j] *= col[j];
        s->lower[j] /= col[j];
        s->upper[j] /= col[j];
    }
    for (int i = 0; i < s->rows; i++) {
        s->lower[s->cols + i] *= row[i];
        s->upper[s->cols + i] *= row[i];
    }
}

/* Costs that are all small become some of about 1: reduced costs are held against a number. */
static void scale_costs(lp_simplex *s)
{
    double largest = 0;
    for (int j = 0; j < s->cols; j++)
        largest = fmax(largest, fabs(s->true_cost[j]));
    s->cost_scale = largest > 0 ? fmax(1, power_near(1 / largest)) : 1;
    for (int j = 0; j < s->cols; j++)
        s->true_cost[j] *= s->cost_scale;
}

static double *copied(const double *from, int count, int room)
{
    double *to = cli_alloc((size_t)(room + 1) * sizeof *to);
    memset(to, 0, (size_t)(room + 1) * sizeof *to);
    if (from)
        memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

lp_simplex *lp_simplex_new(const lp_model *p, const lp_options *o)
{
    lp_simplex *s = cli_alloc(sizeof *s);
    const int n = p->cols, m = p->rows, all = n + m;
    *s = (lp_simplex){.rows = m, .cols = n, .all = all, .tol = o->tol, .most = o->max_iter};
    const int64_t entries = p->by_col.start[n];
    s->random = 88172645463325252u;
    s->A = p->by_col;
    s->A.start = cli_alloc((size_t)(n + 1) * sizeof *s->A.start);
    memcpy(s->A.start, p->by_col.start, (size_t)(n + 1) * sizeof *s->A.start);
    s->A.index = cli_alloc((size_t)(entries + 1) * sizeof *s->A.index);
    memcpy(s->A.index, p->by_col.index, (size_t)entries * sizeof *s->A.index);
    s->A.value = copied(p->by_col.value, (int)entries, (int)entries);
    s->lower = copied(p->lower, all, all);
    s->upper = copied(p->upper, all, all);
    s->true_cost = copied(p->cost, n, all);
    s->scale = copied(NULL, 0, all);
    for (int k = 0; k < all; k++)
        s->scale[k] = 1;
    if (o->scale) {
        lp_sparse by_row = lp_sparse_turn(&s->A);
        find_scales(s, &by_row);
        lp_sparse_free(&by_row);
        apply_scales(s);
    }
    scale_costs(s);
    s->by_row = lp_sparse_turn(&s->A);
    s->cost = copied(s->true_cost, all, all);
    s->x = copied(NULL, 0, all);
    s->d = copied(NULL, 0, all);
    s->weight = copied(NULL, 0, m);
    s->kept_weight = copied(NULL, 0, all);
    s->reference = copied(NULL, 0, all);
    s->head = cli_alloc((size_t)(m + 1) * sizeof *s->head);
    s->where = cli_alloc((size_t)(all + 1) * sizeof *s->where);
    s->state = cli_alloc((size_t)all + 1);
    s->out = cli_alloc((size_t)(m + 1) * sizeof *s->out);
    s->in = cli_alloc((size_t)(m + 1) * sizeof *s->in);
    s->candidates = cli_alloc((size_t)(all + 1) * sizeof *s->candidates);
    s->factor = lp_factor_new(m);
    s->row = lp_vector_new(all);
    s->ray = lp_vector_new(all);
    s->column = lp_vector_new(m);
    s->tau = lp_vector_new(m);
    s->price = lp_vector_new(m);
    s->move = lp_vector_new(m);
    for (int k = 0; k < all; k++) {
        s->where[k] = k >= n ? k - n : -1;
        s->state[k] = LP_BASIC;
        if (k >= n) {
            s->head[k - n] = k;
            s->weight[k - n] = 1;
        } else {
            lp_simplex_rest(s, k);
        }
    }
    return s;
}

void lp_simplex_free(lp_simplex *s)
{
    lp_sparse_free(&s->A);
    lp_sparse_free(&s->by_row);
    lp_factor_free(s->factor);
    lp_vector *const vectors[] = {&s->row, &s->ray, &s->column, &s->tau, &s->price, &s->move};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        lp_vector_free(vectors[k]);
    void *const all[] = {s->lower,       s->upper,  s->cost,      s->true_cost, s->scale, s->x,
                         s->d,           s->weight, s->reference, s->head,      s->where, s->state,
                         s->kept_weight, s->out,    s->in,        s->candidates};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    free(s);
}

/* --- the basis -----------------------------------------------------------------------------------
 */

/* A variable that is not basic goes to the bound that is nearer to 0, or to 0. */
void lp_simplex_rest(lp_simplex *s, int k)
{
    const double l = s->lower[k], u = s->upper[k];
    s->state[k] = isfinite(l) && (!isfinite(u) || fabs(l) <= fabs(u)) ? LP_AT_LOWER
                  : isfinite(u)                                       ? LP_AT_UPPER
                                                                      : LP_FREE;
    s->x[k] = s->state[k] == LP_AT_LOWER ? l : s->state[k] == LP_AT_UPPER ? u : 0;
}

double lp_simplex_infeasible(const lp_simplex *s, int k)
{
    return s->x[k] < s->lower[k]   ? s->x[k] - s->lower[k]
           : s->x[k] > s->upper[k] ? s->x[k] - s->upper[k]
                                   : 0;
}

void lp_simplex_column(const lp_simplex *s, int k, double factor, lp_vector *to)
{
    if (k >= s->cols)
        to->value[k - s->cols] -= factor;
    else
        for (int64_t e = s->A.start[k]; e < s->A.start[k + 1]; e++)
            to->value[s->A.index[e]] += factor * s->A.value[e];
    to->count = -1;
}

/* By rows where few of rho are not 0, else by columns. */
void lp_simplex_row(lp_simplex *s, const lp_vector *rho, lp_vector *row)
{
    lp_vector_clear(row, s->all);
    double *v = row->value;
    if (10 * (int64_t)rho->count < 3 * (int64_t)s->rows) {
        for (int n = 0; n < rho->count; n++) {
            const int i = rho->list[n];
            const double by = rho->value[i];
            for (int64_t e = s->by_row.start[i]; e < s->by_row.start[i + 1]; e++)
                v[s->by_row.index[e]] += by * s->by_row.value[e];
        }
    } else {
        for (int j = 0; j < s->cols; j++) {
            double sum = 0;
            if (s->where[j] < 0)
                for (int64_t e = s->A.start[j]; e < s->A.start[j + 1]; e++)
                    sum += s->A.value[e] * rho->value[s->A.index[e]];
            v[j] = sum;
        }
    }
    for (int n = 0; n < rho->count; n++)
        v[s->cols + rho->list[n]] = -rho->value[rho->list[n]];
    for (int k = 0; k < s->all; k++)
        if (v[k] == 0)
            continue;
        else if (s->where[k] >= 0 || fabs(v[k]) < 1e-12)
            v[k] = 0;
        else
            row->list[row->count++] = k;
}

void lp_simplex_primals(lp_simplex *s)
{
    for (int pass = 0; pass < 2; pass++) { /* the second refines */
        lp_vector_clear(&s->move, s->rows);
        for (int k = 0; k < s->all; k++)
            if (s->x[k] != 0 && (s->where[k] < 0 || pass > 0))
                lp_simplex_column(s, k, -s->x[k], &s->move);
        lp_factor_forward(s->factor, &s->move, false);
        for (int r = 0; r < s->rows; r++)
            s->x[s->head[r]] = s->move.value[r] + (pass > 0 ? s->x[s->head[r]] : 0);
    }
}

void lp_simplex_duals(lp_simplex *s)
{
    lp_vector_clear(&s->price, s->rows);
    for (int r = 0; r < s->rows; r++)
        s->price.value[r] = s->cost[s->head[r]];
    s->price.count = -1;
    lp_factor_backward(s->factor, &s->price);
    for (int j = 0; j < s->cols; j++) {
        double sum = s->cost[j];
        if (s->where[j] < 0)
            for (int64_t e = s->A.start[j]; e < s->A.start[j + 1]; e++)
                sum -= s->A.value[e] * s->price.value[s->A.index[e]];
        s->d[j] = s->where[j] < 0 ? sum : 0;
    }
    for (int i = 0; i < s->rows; i++) {
        const int k = s->cols + i;
        s->d[k] = s->where[k] < 0 ? s->cost[k] + s->price.value[i] : 0;
    }
}

bool lp_simplex_factorise(lp_simplex *s)
{
    for (int r = 0; r < s->rows; r++)
        s->kept_weight[s->head[r]] = s->weight[r];
    const int missing = lp_factor_make(s->factor, &s->A, s->head, s->out, s->in);
    for (int n = 0; n < missing; n++) {
        s->where[s->out[n]] = -1;
        lp_simplex_rest(s, s->out[n]);
        s->state[s->in[n]] = LP_BASIC;
        s->kept_weight[s->in[n]] = 1;
    }
    for (int r = 0; r < s->rows; r++) {
        s->where[s->head[r]] = r;
        s->weight[r] = s->kept_weight[s->head[r]];
    }
    s->fresh = true;
    lp_simplex_primals(s);
    lp_simplex_duals(s);
    return missing == 0;
}

/* `enters` takes the place of what leaves to a bound; x is up to date. */
bool lp_simplex_pivot(lp_simplex *s, int place, int enters, int leaves_to, double alpha)
{
    const int leaves = s->head[place];
    s->where[leaves] = -1;
    s->state[leaves] = (signed char)leaves_to;
    s->x[leaves] = leaves_to == LP_AT_LOWER   ? s->lower[leaves]
                   : leaves_to == LP_AT_UPPER ? s->upper[leaves]
                                              : s->x[leaves];
    s->head[place] = enters;
    s->where[enters] = place;
    s->state[enters] = LP_BASIC;
    s->iterations++;
    s->fresh = false;
    const bool good = lp_factor_update(s->factor, place, alpha);
    if (good && !lp_factor_is_stale(s->factor))
        return true;
    lp_simplex_factorise(s);
    return good;
}

/* A reduced cost of the wrong sign. */
double lp_simplex_wrong(const lp_simplex *s, int k)
{
    if (s->where[k] >= 0 || s->lower[k] == s->upper[k])
        return 0;
    return s->state[k] == LP_AT_LOWER   ? fmax(0, -s->d[k])
           : s->state[k] == LP_AT_UPPER ? fmax(0, s->d[k])
                                        : fabs(s->d[k]);
}

bool lp_simplex_ends(lp_simplex *s, lp_verdict *verdict)
{
    if (s->iterations >= s->most)
        *verdict = LP_ITERATIONS;
    else if (s->iterations % 64 == 0 && signals_pending())
        *verdict = LP_STOPPED;
    else
        return false;
    return true;
}

void lp_simplex_report(lp_simplex *s)
{
    char text[64];
    if (s->iterations % 64 != 0 || cli_clock() < s->reported + 0.2)
        return;
    s->reported = cli_clock();
    double broken = 0;
    for (int r = 0; r < s->rows; r++)
        broken += fabs(lp_simplex_infeasible(s, s->head[r]));
    snprintf(text, sizeof text, "%s pivots, bounds broken by %.1e", text_count(s->iterations),
             broken);
    progress_note(&s->line, PHASE_ITERATE, text);
}
