#include "support/scatter.h"

#include "support/mie.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

/* --- the medium ----------------------------------------------------------------------------------
 */

/* The share of the cell around a point that is in the sphere; the wavelength's points determine how
 * large cells are. */
static double share_inside(const scatter *s, const double *place)
{
    const double h = 1.0 / s->points, r = hypot(hypot(place[0], place[1]), place[2]);
    int inside = 0;
    if (fabs(r - s->radius) > h)
        return r < s->radius;
    for (int i = 0; i < s->cuts * s->cuts * s->cuts; i++) {
        double at[3];
        for (int a = 0, rest = i; a < 3; a++, rest /= s->cuts)
            at[a] = place[a] + h * ((rest % s->cuts + 0.5) / s->cuts - 0.5);
        inside += hypot(hypot(at[0], at[1]), at[2]) < s->radius;
    }
    return inside / pow(s->cuts, 3);
}

static double contrast_at(const scatter *s, const double *place)
{
    const double k2 = 4 * PI * PI * s->contrast;
    if (s->radius > 0)
        return k2 * share_inside(s, place);
    const double r = hypot(hypot(place[0], place[1]), place[2]) / s->width;
    return k2 * exp(-r * r / 2);
}

static void medium(void *data, const double *place, spry_scalar *value)
{
    *value = (spry_scalar){4 * PI * PI + contrast_at(data, place), 0};
}

/* -(k^2 - k0^2) times the wave along z */
static void source(void *data, const double *place, spry_scalar *value)
{
    const double f = -contrast_at(data, place), phase = 2 * PI * place[2];
    *value = (spry_scalar){f * cos(phase), f * sin(phase)};
}

static double lens_profile(const void *data, double r)
{
    const scatter *s = data;
    return 4 * PI * PI * (1 + s->contrast * exp(-r * r / (2 * s->width * s->width)));
}

/* --- errors --------------------------------------------------------------------------------------
 */

static spry_status compare(const spry_grid *grid, const spry_vector *u, scatter *s)
{
    const double *got = spry_vector_data_const(u);
    double off = 0, scattered = 0, whole = 0;
    mie m;
    if (s->radius > 0)
        mie_fill(2 * PI, sqrt(1 + s->contrast), s->radius, &m);
    else
        mie_fill_profile(2 * PI, lens_profile, s, s->around - 0.5 / s->points, &m);
    for (int64_t i = 0; i < spry_vector_size(u); i++) {
        double place[3];
        const spry_status status = spry_grid_place(grid, false, i, place);
        if (status != SPRY_STATUS_OK)
            return status;
        const double r = hypot(hypot(place[0], place[1]), place[2]), phase = 2 * PI * place[2];
        if (fabs(r - s->around) > 0.5 / s->points)
            continue;
        const spry_scalar exact = mie_scattered(&m, place);
        off += pow(got[2 * i] - exact.re, 2) + pow(got[2 * i + 1] - exact.im, 2);
        scattered += pow(exact.re, 2) + pow(exact.im, 2);
        whole += pow(exact.re + cos(phase), 2) + pow(exact.im + sin(phase), 2);
    }
    s->error = sqrt(off / whole);
    s->error_scattered = sqrt(off / scattered);
    s->unknowns = spry_vector_size(u);
    return SPRY_STATUS_OK;
}

/* --- fields --------------------------------------------------------------------------------------
 */

#define GO(call)                      \
    do {                              \
        status = (call);              \
        if (status != SPRY_STATUS_OK) \
            goto done;                \
    } while (0)

static spry_status take_result(spry_context *ctx, spry_result *result, scatter *s)
{
    const bool converged = result->converged;
    s->iterations = result->iterations;
    spry_result_clear(ctx, result);
    return converged ? SPRY_STATUS_OK : SPRY_STATUS_BAD_INPUT;
}

spry_status scatter_run(spry_context *ctx, scatter *s)
{
    const double outer = s->half + s->layer;
    const int n = (int)lround(2 * outer * s->points);
    char text[128];
    spry_status status = SPRY_STATUS_OK;
    spry_grid *grid = NULL;
    spry_vector *k2 = NULL, *f = NULL, *u = NULL;
    spry_operator *A = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    snprintf(text, sizeof text, "%dx%dx%d box=%g:%g boundary=absorb layer=%d", n, n, n, -outer,
             outer, (int)lround(s->layer * s->points));
    GO(spry_grid_new(ctx, text, &grid));
    GO(spry_field_new(grid, SPRY_TYPE_D, true, medium, s, &k2));
    GO(spry_field_new(grid, SPRY_TYPE_Z, false, source, s, &f));
    GO(spry_operator_helmholtz(grid, k2, s->options, &A, NULL));
    GO(spry_stencil_rhs(A, f, NULL, NULL, f));
    GO(spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &u));
    GO(spry_solver_new(ctx, &solver));
    GO(spry_solver_set(solver, s->solver));
    GO(spry_solver_set_operator(solver, A));
    GO(spry_solve(solver, f, u, &result));
    GO(take_result(ctx, &result, s));
    GO(compare(grid, u, s));
done:
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_vector_free(k2);
    spry_vector_free(f);
    spry_vector_free(u);
    spry_grid_free(grid);
    return status;
}

spry_status scatter_run_series(spry_context *ctx, const char *options, scatter *s)
{
    const int n = (int)lround(2 * s->half * s->points);
    char text[128];
    spry_status status = SPRY_STATUS_OK;
    spry_grid *grid = NULL;
    spry_vector *k2 = NULL, *f = NULL, *u = NULL;
    spry_wave *wave = NULL;
    spry_result result = SPRY_RESULT_INIT;
    snprintf(text, sizeof text, "%dx%dx%d box=%g:%g boundary=neumann", n, n, n, -s->half, s->half);
    GO(spry_grid_new(ctx, text, &grid));
    GO(spry_field_new(grid, SPRY_TYPE_D, false, medium, s, &k2));
    GO(spry_field_new(grid, SPRY_TYPE_Z, false, source, s, &f));
    GO(spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &u));
    GO(spry_wave_new(grid, k2, options, &wave));
    GO(spry_wave_solve(wave, f, u, &result));
    GO(take_result(ctx, &result, s));
    GO(compare(grid, u, s));
done:
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_vector_free(f);
    spry_vector_free(u);
    spry_grid_free(grid);
    return status;
}
