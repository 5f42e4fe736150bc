/*
 * Envelopes and periodic steady states. Of the slow change over the periods of a clock, backward
 * Euler's step over k periods is x((m+k)T) - x(mT) = k (x((m+k)T) - x((m+k-1)T)); its unknown is z
 * = x((m+k-1)T), and Newton's method needs one period at a time (chapter 17 of R. Couturier (ed.),
 * Designing Scientific Applications on GPUs, 2013). The steady state is the same with k infinite
 * (T. J. Aprille and T. N. Trick, 1972).
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEWTON = 10, MOST_SHOTS = 30, LEAST_JUMP = 3, STILL = 4 };

enum { ARRAYS = 7 };
typedef struct follower {
    run *r;
    period p;
    double *x, *z, *end, *right, *change; /* x(mT); z and the end of its period */
    double *slope, *old_slope;            /* over the last period, and the one before it */
    int64_t m;
    double shift; /* of the beginning, in s */
    double *memory;
} follower;

static bool make(follower *f, run *r, const analysis *a)
{
    *f = (follower){.r = r, .x = zeros(ARRAYS * r->c->size)};
    double **const all[ARRAYS] = {&f->x,      &f->z,     &f->end,      &f->right,
                                  &f->change, &f->slope, &f->old_slope};
    double *const memory = f->x;
    for (int k = 0; k < ARRAYS; k++)
        *all[k] = memory + k * r->c->size;
    f->memory = memory;
    r->c->tol.gear = true;
    return period_make(&f->p, r, a->number[0], (int64_t)a->number[2]);
}

static void unmake(follower *f)
{
    progress_clear(&f->r->line);
    free(f->memory);
    period_free(&f->p);
}

/* What an error is measured by. */
static double size_of(const run *r, int64_t k)
{
    return fmax(r->most[k], 1e-3 * r->top[r->c->unknowns[k].current]);
}

/* The largest of |values| over what is allowed of its unknown, over those that are smooth. */
static double worst_of(const run *r, const double *values, double allowed)
{
    double worst = 0;
    for (int64_t k = 1; k <= r->s.rows; k++)
        if (r->smooth[k])
            worst = fmax(worst, fabs(values[k]) / (allowed * size_of(r, k) + 1e-300));
    return worst;
}

/* z and end = x(z) with alpha end - beta z + gamma x = 0 by Newton's method; t: of z. */
static bool solve_periods(follower *f, double t, double gamma, double tolerance, int most)
{
    run *r = f->r;
    period *p = &f->p;
    const int64_t rows = r->s.rows, kept = r->results.rows;
    bool converged = false;
    p->keeps = true;
    for (int i = 0; i < most && !converged; i++) {
        r->results.rows = kept;
        memcpy(f->end, f->z, (size_t)(rows + 1) * sizeof *f->end);
        if (!period_run(p, t, f->end))
            break;
        for (int64_t k = 1; k <= rows; k++)
            f->right[k] = p->alpha * f->end[k] - p->beta * f->z[k] + gamma * f->x[k];
        if (!period_solve(p, f->right, f->change))
            break;
        converged = worst_of(r, f->change, tolerance) <= 1;
        for (int64_t k = 1; k <= rows && !converged; k++)
            f->z[k] -= f->change[k];
    }
    if (!converged)
        r->results.rows = kept;
    p->keeps = false;
    return converged;
}

/* The steady state: after some periods from the operating point, which are mostly near enough. */
void run_pss(run *r, const analysis *a)
{
    follower f;
    bool converged = false, good = make(&f, r, a) && state_initial(r, false, f.z);
    f.p.alpha = f.p.beta = 1;
    for (int tries = 0, periods = 2; good && !converged && tries < STILL; tries++, periods *= 4) {
        f.p.records = false;
        for (int k = 0; k < periods && good; k++) {
            good = period_run(&f.p, f.shift + (double)k * f.p.length, f.z);
            run_note_sizes(r, f.z);
        }
        run_find_smooth(r);
        f.shift += periods * f.p.length;
        f.p.records = true;
        converged = good && solve_periods(&f, f.shift, 0, 1e-3 * r->c->tol.relative, MOST_SHOTS);
        good = r->s.exit_status == EXIT_DONE;
    }
    if (!converged)
        equations_failed(&r->s, "no periodic steady state was found in %lld periods",
                         (long long)r->periods);
    unmake(&f);
}

/* --- envelopes -------------------------------------------------------------------------------- */

/* How many periods a step may take whose error is that of k periods. */
static double length_for(double k, double error)
{
    return k * fmin(3, fmax(0.2, 0.9 / sqrt(error + 1e-30)));
}

/* The error of backward Euler's step: half of k times what the slope changed. */
static double error_of(follower *f, double k)
{
    for (int64_t i = 1; i <= f->r->s.rows; i++)
        f->change[i] = k / 2 * (f->slope[i] - f->old_slope[i]);
    return worst_of(f->r, f->change, f->r->c->tol.envelope);
}

static void swap_slopes(follower *f)
{
    double *const old = f->old_slope;
    f->old_slope = f->slope;
    f->slope = old;
}

/* A period as it is. */
static bool walk(follower *f)
{
    const int64_t rows = f->r->s.rows;
    memcpy(f->end, f->x, (size_t)(rows + 1) * sizeof *f->end);
    if (!period_run(&f->p, (double)f->m * f->p.length, f->end))
        return false;
    swap_slopes(f);
    for (int64_t k = 1; k <= rows; k++)
        f->slope[k] = f->end[k] - f->x[k];
    memcpy(f->x, f->end, (size_t)(rows + 1) * sizeof *f->x);
    f->m++;
    return true;
}

/* A step over k periods; taken where it is not off by too much. */
static bool jump(follower *f, int64_t k, double *error)
{
    run *r = f->r;
    const int64_t rows = r->s.rows, kept = r->results.rows;
    const double t = (double)(f->m + k - 1) * f->p.length;
    *error = INFINITY;
    f->p.alpha = (double)(k - 1);
    f->p.beta = (double)k;
    for (int64_t i = 0; i <= rows; i++)
        f->z[i] = f->x[i] + (double)(k - 1) * f->slope[i];
    if (!solve_periods(f, t, 1, 0.05 * r->c->tol.envelope, MOST_NEWTON))
        return false;
    swap_slopes(f);
    for (int64_t i = 1; i <= rows; i++)
        f->slope[i] = f->end[i] - f->z[i];
    *error = error_of(f, (double)k);
    if (*error > 1) {
        swap_slopes(f);
        r->results.rows = kept;
        return false;
    }
    memcpy(f->x, f->end, (size_t)(rows + 1) * sizeof *f->x);
    f->m += k;
    r->jumps++;
    return true;
}

static bool follow(follower *f, const analysis *a)
{
    run *r = f->r;
    const int64_t last = (int64_t)ceil(a->number[1] / a->number[0] - 1e-9);
    double k = 1, error = 0;
    char text[64];
    bool good = true;
    for (int walked = 0; f->m < last && good;) {
        bool taken = false;
        k = fmin(fmin(k, a->number[3]), (double)(last - f->m));
        if (k >= LEAST_JUMP && walked >= 2) {
            taken = jump(f, (int64_t)k, &error);
            k = isfinite(error) ? length_for(floor(k), error) : k / 4;
            good = r->s.exit_status == EXIT_DONE;
        }
        if (good && !taken && (k < LEAST_JUMP || walked < 2)) {
            good = walk(f);
            walked++;
            /* the error of k periods is k^2 times that of one */
            k = sqrt(1 / (error_of(f, 1) + 1e-30));
        }
        run_note_sizes(r, f->x);
        snprintf(text, sizeof text, "period %lld, %lld computed", (long long)f->m,
                 (long long)r->periods);
        progress_part(&r->line, (double)f->m / (double)last, text);
    }
    return good;
}

void run_envelope(run *r, const analysis *a)
{
    follower f;
    if (make(&f, r, a) && state_initial(r, false, f.x)) {
        f.p.records = true;
        equations_sources(&r->s, 0);
        equations_evaluate(&r->s, f.x);
        run_find_smooth(r);
        run_note_sizes(r, f.x);
        results_add(&r->results, 0, f.x, NULL);
        if (!follow(&f, a))
            equations_failed(&r->s, "in period %lld Newton's method fails", (long long)f.m + 1);
    }
    unmake(&f);
}
