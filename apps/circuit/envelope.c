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

enum { MOST_NEWTON = 10, MOST_SHOTS = 60, LEAST_JUMP = 3, STILL = 4 };

typedef struct follower {
    run *r;
    period p;
    double *x, *z, *end, *right, *change; /* x(mT); z and the end of its period */
    double *slope, *old_slope;            /* over the last period, and the one before it */
    int64_t m, jumps;
    double shift; /* of the beginning, in s */
} follower;

static spry_status make(follower *f, run *r, const analysis *a)
{
    double **const all[] = {&f->x, &f->z, &f->end, &f->right, &f->change, &f->slope, &f->old_slope};
    *f = (follower){.r = r};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = cli_alloc((size_t)r->c->size * sizeof **all[k]);
        memset(*all[k], 0, (size_t)r->c->size * sizeof **all[k]);
    }
    return period_make(&f->p, r, a->number[0], (int64_t)a->number[2]);
}

static void unmake(follower *f)
{
    double *const all[] = {f->x, f->z, f->end, f->right, f->change, f->slope, f->old_slope};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
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
static spry_status solve_periods(follower *f, double t, double gamma, double tolerance, int most,
                                 bool *converged)
{
    run *r = f->r;
    period *p = &f->p;
    const int64_t rows = r->s.rows, kept = r->results.rows;
    spry_status status = SPRY_STATUS_OK;
    *converged = false;
    p->keeps = true;
    for (int i = 0; i < most && status == SPRY_STATUS_OK && !*converged; i++) {
        bool good = false;
        r->results.rows = kept;
        memcpy(f->end, f->z, (size_t)(rows + 1) * sizeof *f->end);
        status = period_run(p, t, f->end, &good);
        if (status != SPRY_STATUS_OK || !good)
            break;
        for (int64_t k = 1; k <= rows; k++)
            f->right[k] = p->alpha * f->end[k] - p->beta * f->z[k] + gamma * f->x[k];
        status = period_solve(p, f->right, f->change, &good);
        if (status != SPRY_STATUS_OK || !good)
            break;
        *converged = worst_of(r, f->change, tolerance) <= 1;
        for (int64_t k = 1; k <= rows && !*converged; k++)
            f->z[k] -= f->change[k];
    }
    if (!*converged)
        r->results.rows = kept;
    p->keeps = false;
    return status;
}

/* --- the steady state ----------------------------------------------------------------------------
 */

/* Some periods from the operating point first, which are mostly near enough. */
static spry_status approach(follower *f, int periods, bool *converged)
{
    spry_status status = SPRY_STATUS_OK;
    *converged = true;
    for (int k = 0; k < periods && status == SPRY_STATUS_OK && *converged; k++) {
        status = period_run(&f->p, f->shift + (double)k * f->p.length, f->z, converged);
        run_note_sizes(f->r, f->z);
    }
    return status;
}

int run_pss(run *r, const analysis *a)
{
    follower f;
    bool converged = false;
    spry_status status = make(&f, r, a);
    r->c->tol.gear = true;
    f.p.alpha = f.p.beta = 1;
    int exit_status =
        status == SPRY_STATUS_OK ? state_initial(r, false, f.z) : cli_failed(r->s.ctx, status);
    for (int tries = 0, periods = 2; exit_status == EXIT_DONE && !converged && tries < STILL;
         tries++) {
        f.p.records = false;
        status = approach(&f, periods, &converged);
        run_find_smooth(r);
        f.shift += periods * f.p.length;
        f.p.records = true;
        if (status == SPRY_STATUS_OK && converged)
            status = solve_periods(&f, f.shift, 0, 1e-3 * r->c->tol.relative, MOST_SHOTS / 2,
                                   &converged);
        if (status != SPRY_STATUS_OK)
            break;
        periods *= 4;
    }
    progress_clear(&r->line);
    if (exit_status == EXIT_DONE && status != SPRY_STATUS_OK)
        exit_status = cli_failed(r->s.ctx, status);
    else if (exit_status == EXIT_DONE && !converged)
        exit_status = run_failed(r, "no periodic steady state was found in %lld periods",
                                 (long long)r->periods);
    unmake(&f);
    return exit_status;
}

/* --- envelopes -----------------------------------------------------------------------------------
 */

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
static spry_status walk(follower *f, bool *converged)
{
    const int64_t rows = f->r->s.rows;
    memcpy(f->end, f->x, (size_t)(rows + 1) * sizeof *f->end);
    const spry_status status = period_run(&f->p, (double)f->m * f->p.length, f->end, converged);
    if (status != SPRY_STATUS_OK || !*converged)
        return status;
    swap_slopes(f);
    for (int64_t k = 1; k <= rows; k++)
        f->slope[k] = f->end[k] - f->x[k];
    memcpy(f->x, f->end, (size_t)(rows + 1) * sizeof *f->x);
    f->m++;
    return status;
}

/* A step over k periods; taken where it is not off by too much. */
static spry_status jump(follower *f, int64_t k, double *error, bool *taken)
{
    run *r = f->r;
    const int64_t rows = r->s.rows, kept = r->results.rows;
    const double t = (double)(f->m + k - 1) * f->p.length;
    *taken = false;
    *error = INFINITY;
    f->p.alpha = (double)(k - 1);
    f->p.beta = (double)k;
    for (int64_t i = 0; i <= rows; i++)
        f->z[i] = f->x[i] + (double)(k - 1) * f->slope[i];
    spry_status status = solve_periods(f, t, 1, 0.05 * r->c->tol.envelope, MOST_NEWTON, taken);
    if (status != SPRY_STATUS_OK || !*taken)
        return status;
    swap_slopes(f);
    for (int64_t i = 1; i <= rows; i++)
        f->slope[i] = f->end[i] - f->z[i];
    *error = error_of(f, (double)k);
    *taken = *error <= 1;
    if (!*taken) {
        swap_slopes(f);
        r->results.rows = kept;
        return status;
    }
    memcpy(f->x, f->end, (size_t)(rows + 1) * sizeof *f->x);
    f->m += k;
    f->jumps++;
    return status;
}

static spry_status follow(follower *f, const analysis *a, bool *converged)
{
    run *r = f->r;
    const int64_t last = (int64_t)ceil(a->number[1] / a->number[0] - 1e-9);
    spry_status status = SPRY_STATUS_OK;
    double k = 1, error = 0;
    char text[64];
    int walked = 0;
    *converged = true;
    while (f->m < last && status == SPRY_STATUS_OK && *converged) {
        const int64_t left = last - f->m;
        bool taken = false;
        k = fmin(fmin(k, a->number[3]), (double)left);
        if (k >= LEAST_JUMP && walked >= 2) {
            status = jump(f, (int64_t)k, &error, &taken);
            k = taken             ? length_for(floor(k), error)
                : isfinite(error) ? length_for(floor(k), error)
                                  : k / 4;
        }
        if (status == SPRY_STATUS_OK && !taken && (k < LEAST_JUMP || walked < 2)) {
            status = walk(f, converged);
            walked++;
            /* the error of k periods is k^2 times that of one */
            k = sqrt(1 / (error_of(f, 1) + 1e-30));
        }
        run_note_sizes(r, f->x);
        snprintf(text, sizeof text, "period %lld, %lld computed", (long long)f->m,
                 (long long)r->periods);
        progress_part(&r->line, (double)f->m / (double)last, text);
    }
    return status;
}

int run_envelope(run *r, const analysis *a)
{
    follower f;
    bool converged = false;
    spry_status status = make(&f, r, a);
    r->c->tol.gear = true;
    f.p.records = true;
    int exit_status =
        status == SPRY_STATUS_OK ? state_initial(r, false, f.x) : cli_failed(r->s.ctx, status);
    if (exit_status == EXIT_DONE) {
        equations_sources(&r->s, 0);
        equations_evaluate(&r->s, f.x);
        run_find_smooth(r);
        run_note_sizes(r, f.x);
        results_add(&r->results, 0, f.x, NULL);
        status = follow(&f, a, &converged);
        r->jumps += f.jumps;
        progress_clear(&r->line);
        if (status != SPRY_STATUS_OK)
            exit_status = cli_failed(r->s.ctx, status);
        else if (!converged)
            exit_status = run_failed(r, "in period %lld Newton's method fails", (long long)f.m + 1);
    }
    unmake(&f);
    return exit_status;
}
