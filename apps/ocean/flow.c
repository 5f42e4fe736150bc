/* The flow below a surface: see flow.h. */
#include "ocean/flow.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

spry_status ocean_fail(spry_context *ctx, const char *text)
{
    spry_context_set_message(ctx, text);
    return SPRY_STATUS_BAD_INPUT;
}

spry_status ocean_flow_own_vector(const ocean_flow *f, int planes, spry_vector **v)
{
    return ocean_is_cut(f) ? ocean_ranks_vector(f, planes, v)
                           : ocean_flow_vector(f, planes * f->plane, NULL, v);
}

/* Sweeps without neighbours, of this rank's points. */
static ocean_points *own_points(ocean_flow *f)
{
    return ocean_is_cut(f) ? &f->own : &f->points;
}

void ocean_flow_place(const ocean_flow *f, int64_t point, double *x, double *y)
{
    const ocean_sizes *s = &f->points.sizes;
    const int64_t line = point / s->nx;
    *x = f->dx * (double)(point - line * s->nx);
    *y = f->dy * (double)((line + s->first + s->all_y) % s->all_y);
}

void ocean_flow_own_place(const ocean_flow *f, int64_t point, double *x, double *y)
{
    ocean_flow_place(f, point + (int64_t)f->points.sizes.from * f->points.sizes.nx, x, y);
}

/* --- Laplace's equation --------------------------------------------------------------------------
 */

/* Slopes of x below a surface; and, where there is a y, Laplace's operator, or minus it. */
static spry_status multiply(ocean_flow *f, const spry_vector *x, const spry_vector *surface,
                            bool minus, spry_vector *y)
{
    const ocean_arrays shape = {
        .a = x, .b = surface, .c = f->shape, .e = f->still, .tables = f->tables, .y = f->shape};
    ocean_arrays product = shape;
    product.y = y;
    spry_status status = ocean_sweep_run(&f->points, SWEEP_bottom, 0, 0, &shape);
    if (status == SPRY_STATUS_OK)
        status = ocean_sweep_run(&f->points, SWEEP_slopes, 0, 0, &shape);
    if (status == SPRY_STATUS_OK && y)
        status = ocean_sweep_run(&f->points, SWEEP_product, 0, minus, &product);
    return status;
}

spry_status ocean_flow_laplace(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                               void *stream)
{
    ocean_flow *f = data;
    const spry_vector *wide;
    (void)op;
    (void)stream;
    const spry_status status = ocean_flow_widen(f, true, x, &wide);
    return status == SPRY_STATUS_OK ? multiply(f, wide, f->nothing, false, y) : status;
}

/* A cycle of a mode's multigrid. */
static spry_status run_cycle(ocean_flow *f, int m)
{
    spry_vector *in = f->in[f->apart ? 0 : m], *out = f->out[f->apart ? 0 : m];
    spry_status status = SPRY_STATUS_OK;
    if (f->apart)
        status = ocean_sweep_run(own_points(f), SWEEP_pick, 0, m,
                                 &(ocean_arrays){.a = f->before, .tables = f->tables, .y = in});
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(f->cycle[m], in, out);
    if (status == SPRY_STATUS_OK && f->apart)
        status = ocean_sweep_run(own_points(f), SWEEP_put, 0, m,
                                 &(ocean_arrays){.a = out, .tables = f->tables, .y = f->behind});
    return status;
}

/* Into the modes, each by itself, and back. */
spry_status ocean_flow_precon(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                              void *stream)
{
    ocean_flow *f = data;
    (void)op;
    (void)stream;
    spry_status status =
        ocean_sweep_run(own_points(f), SWEEP_into, 0, 0,
                        &(ocean_arrays){.a = x, .tables = f->tables, .y = f->before});
    for (int m = 0; m < f->points.sizes.nz && status == SPRY_STATUS_OK; m++)
        status = run_cycle(f, m);
    if (status == SPRY_STATUS_OK)
        status = ocean_sweep_run(own_points(f), SWEEP_back, 0, 0,
                                 &(ocean_arrays){.a = f->behind, .tables = f->tables, .y = y});
    return status;
}

spry_status ocean_flow_solve_for(ocean_flow *f, const spry_vector *u, spry_vector *phi)
{
    char text[192];
    spry_result result = SPRY_RESULT_INIT;
    const spry_vector *surface;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_flow_widen(f, false, u, &surface));
    OCEAN_GO(ocean_sweep_run(&f->points, SWEEP_metric, 0, 0,
                             /* with a ship all is small, and the surface that of still water */
                             &(ocean_arrays){.a = f->ship ? f->nothing : surface,
                                             .b = f->still,
                                             .tables = f->tables,
                                             .y = f->shape}));
    /* what is known at the surface, brought over */
    OCEAN_GO(multiply(f, f->nothing, surface, true, f->rhs));
    OCEAN_GO(spry_solve(f->solver, f->rhs, phi, &result));
    f->solves++;
    f->iterations += result.iterations;
    f->worst = result.iterations > f->worst ? result.iterations : f->worst;
    f->traffic += (double)result.bytes_per_iteration * (double)result.iterations;
    f->seconds += result.solve_seconds;
    if (!result.converged && result.reason != SPRY_REASON_STOPPED) {
        snprintf(
            text, sizeof text,
            "Laplace's equation was not solved to %g (%s after %lld iterations, residual %.1e): "
            "waves may be too steep for the grid; filter = 1 or a finer grid may help",
            f->setup.tol, spry_reason_name(result.reason), (long long)result.iterations,
            result.true_residual);
        status = ocean_fail(f->ctx, text);
    }
done:
    spry_result_clear(f->ctx, &result);
    return status;
}

spry_status ocean_flow_solve(ocean_flow *f, const spry_vector *u)
{
    const spry_vector *below;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_flow_solve_for(f, u, f->phi));
    OCEAN_GO(ocean_flow_widen(f, true, f->phi, &below));
    /* the surface is that of the solve */
    OCEAN_GO(multiply(f, below, ocean_is_cut(f) ? f->wide_u : u, false, NULL));
done:
    return status;
}

spry_status ocean_flow_forget(ocean_flow *f)
{
    double *time = spry_vector_data(f->times);
    time[0] = 0; /* how many there are */
    return spry_vector_fill(f->phi, (spry_scalar){0, 0});
}

/* A first guess at a time, on the line through the last two solutions. Stages at one time have one
 * place there, and the later of them counts. */
static spry_status guess(ocean_flow *f, double t)
{
    enum { COUNT, LAST, BEFORE };
    double *time = spry_vector_data(f->times);
    const double apart = time[LAST] - time[BEFORE];
    const double part = time[COUNT] > 1 ? (t - time[LAST]) / apart : 0;
    if (time[COUNT] > 0 && fabs(t - time[LAST]) <= 1e-3 * fabs(apart))
        return SPRY_STATUS_OK;
    spry_status status = spry_vector_scale((spry_scalar){-part, 0}, f->past);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_axpy((spry_scalar){1 + part, 0}, f->phi, f->past);
    spry_vector *const guessed = f->past;
    f->past = f->phi;
    f->phi = guessed;
    time[BEFORE] = time[LAST];
    time[LAST] = t;
    time[COUNT] = fmin(time[COUNT] + 1, 2);
    return status;
}

spry_status ocean_flow_rate(void *flow, double t, const spry_vector *u, spry_vector *rate)
{
    ocean_flow *f = flow;
    spry_status status = guess(f, t);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_solve(f, u);
    if (status != SPRY_STATUS_OK)
        return status;
    return ocean_sweep_run(&f->points, f->ship ? SWEEP_drift : SWEEP_rates, t, 0,
                           &(ocean_arrays){.a = ocean_is_cut(f) ? f->wide_u : u, /* of the solve */
                                           .b = f->ship,
                                           .c = f->shape,
                                           .e = f->zones,
                                           .tables = f->tables,
                                           .forcing = f->forcing,
                                           .y = rate});
}

spry_status ocean_flow_filter(ocean_flow *f, spry_vector *u)
{
    spry_vector *other = NULL;
    spry_status status = spry_vector_like(u, spry_vector_size(u), &other);
    for (int axis = 0; axis < (f->setup.ny > 0 ? 2 : 1) && status == SPRY_STATUS_OK; axis++) {
        const spry_vector *wide;
        status = ocean_flow_widen(f, false, u, &wide);
        if (status == SPRY_STATUS_OK)
            status = ocean_sweep_run(&f->points, SWEEP_filter, 0, axis,
                                     &(ocean_arrays){.a = wide, .tables = f->tables, .y = other});
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(other, u);
    }
    spry_vector_free(other);
    return status;
}

spry_status ocean_flow_sums(ocean_flow *f, const spry_vector *u, const spry_vector *rate,
                            double *water, double *energy)
{
    double *const sums[] = {water, energy};
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < 2 && status == SPRY_STATUS_OK; i++) {
        spry_scalar sum = {0, 0};
        status =
            ocean_sweep_run(own_points(f), SWEEP_sums, 0, i,
                            &(ocean_arrays){.a = u, .b = rate, .tables = f->tables, .y = f->parts});
        if (status == SPRY_STATUS_OK)
            status = spry_vector_dot(f->ones, f->parts, &sum);
        *sums[i] = sum.re;
    }
    return status;
}

/* The frequency of the shortest waves, and what moving along with the ship adds to it. */
double ocean_flow_limit(const ocean_flow *f)
{
    double square = ocean_shortest(f->setup.order, f->dx), worst = 0;
    if (f->setup.ny > 0)
        square += ocean_shortest(f->setup.order, f->dy);
    const double depths[] = {f->shallow, f->deep};
    for (int i = 0; i < 2; i++)
        worst = fmax(worst, ocean_vertical_response(&f->vertical, depths[i], square));
    return 2 * sqrt(2) /
           (sqrt(f->setup.gravity * worst) + f->speed * ocean_steepest(f->setup.order, f->dx));
}
