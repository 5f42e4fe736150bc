/* Making a flow: grid, depths, tables, the modes' multigrid, the solver; and what drives it. */
#include "ocean/flow.h"

#include <math.h>
#include <private/programs.h>
#include <stdio.h>
#include <string.h>

/* --- what is asked -------------------------------------------------------------------------------
 */

static spry_status check_axis(spry_context *ctx, const char *name, int intervals, int least)
{
    char text[160];
    if (intervals >= least)
        return SPRY_STATUS_OK;
    snprintf(text, sizeof text,
             "%s = %d: differences of this order, and the filter, need %d or more", name, intervals,
             least);
    return ocean_fail(ctx, text);
}

static spry_status check_setup(spry_context *ctx, const ocean_setup *s)
{
    char text[160];
    spry_status status = check_axis(ctx, "nx", s->nx, 8);
    if (status == SPRY_STATUS_OK && s->ny != 0)
        status = check_axis(ctx, "ny", s->ny, 8);
    if (status == SPRY_STATUS_OK && (s->order % 2 != 0 || s->order < 2 || s->order > 8)) {
        snprintf(text, sizeof text, "order = %d, expected 2, 4, 6 or 8", s->order);
        return ocean_fail(ctx, text);
    }
    if (status == SPRY_STATUS_OK && s->nz > LEVELS_MOST) {
        snprintf(text, sizeof text, "nz = %d, expected %d or less", s->nz, LEVELS_MOST);
        return ocean_fail(ctx, text);
    }
    return status == SPRY_STATUS_OK ? check_axis(ctx, "nz", s->nz, s->order) : status;
}

/* --- depths --------------------------------------------------------------------------------------
 */

/* The same sweep that makes slopes of the surface makes those of the bottom. */
static spry_status make_still(ocean_flow *f)
{
    char text[192];
    const ocean_setup *s = &f->setup;
    spry_vector *u = NULL;
    spry_status status = SPRY_STATUS_OK;
    const ocean_sizes *sizes = &f->points.sizes;
    double *depth = spry_alloc(f->ctx, (size_t)f->wide * sizeof *depth);
    if (!depth)
        return SPRY_STATUS_NO_MEMORY;
    f->shallow = INFINITY;
    for (int64_t i = 0; i < (int64_t)sizes->nx * sizes->all_y; i++) { /* of all ranks */
        const double local = s->depths ? s->depths[i] : s->depth;
        if (!(local > 0)) {
            snprintf(
                text, sizeof text,
                "the depth at x = %g m, y = %g m is %g m: water must be everywhere, as waves do "
                "not run up shores in this model",
                f->dx * (double)(i % sizes->nx), f->dy * (double)(i / sizes->nx), local);
            status = ocean_fail(f->ctx, text);
            goto done;
        }
        f->shallow = fmin(f->shallow, local);
        f->deep = fmax(f->deep, local);
    }
    for (int64_t i = 0; i < f->wide; i++) {
        const int64_t line = (i / sizes->nx + sizes->first + sizes->all_y) % sizes->all_y;
        depth[i] = s->depths ? s->depths[line * sizes->nx + i % sizes->nx] : s->depth;
    }
    OCEAN_GO(ocean_flow_vector(f, f->wide, depth, &u));
    OCEAN_GO(ocean_sweep_run(&f->points, SWEEP_metric, 0, 1,
                             &(ocean_arrays){.a = u, .tables = f->tables, .y = f->still}));
done:
    spry_vector_free(u);
    spry_free(f->ctx, depth);
    return status;
}

/* --- modes ---------------------------------------------------------------------------------------
 */

typedef struct helmholtz {
    const ocean_flow *f;
    double mu;
} helmholtz;

/* mu / h^2 */
static void stiffness(void *data, const double *place, spry_scalar *value)
{
    const helmholtz *z = data;
    const ocean_flow *f = z->f;
    const ocean_sizes *s = &f->points.sizes;
    const int64_t i = llround(place[0] / f->dx) % s->nx;
    const int64_t j = f->setup.ny > 0 ? llround(place[1] / f->dy) % s->all_y : 0;
    const double h = f->setup.depths ? f->setup.depths[j * s->nx + i] : f->setup.depth;
    *value = (spry_scalar){z->mu / (h * h), 0};
}

static spry_status make_mode(ocean_flow *f, int m)
{
    static const char *const names[] = {"k"};
    char options[64];
    helmholtz z = {f, f->vertical.mu[m]};
    spry_vector *k = NULL;
    spry_status status = SPRY_STATUS_OK;
    snprintf(options, sizeof options, "order=2 device=%s", f->setup.device);
    /* one number is a constant of a device's programs, which all modes are to share */
    if (f->setup.depths || f->device)
        OCEAN_GO(spry_field_new(f->surface, SPRY_TYPE_D, true, stiffness, &z, &k));
    else {
        const double place[3] = {0, 0, 0};
        spry_scalar value;
        stiffness(&z, place, &value);
        OCEAN_GO(spry_vector_new(f->ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_TAKE, &k));
        OCEAN_GO(spry_vector_fill(k, value));
    }
    OCEAN_GO(spry_operator_stencil(f->surface, "laplace - k", options, 1, names,
                                   (const spry_vector *const[]){k}, &f->mode[m]));
    OCEAN_GO(spry_precon_for_operator(
        f->mode[m], NULL,
        f->setup.single ? "gmg:symmetric=no,precision=single" : "gmg:symmetric=no", &f->cycle[m]));
done:
    spry_vector_free(k);
    return status;
}

static spry_status make_surface(ocean_flow *f)
{
    const ocean_setup *s = &f->setup;
    char text[256];
    if (s->ny > 0)
        snprintf(text, sizeof text, "%dx%d box=0:%.17g,0:%.17g x=%s y=%s ranks=1x%d", s->nx, s->ny,
                 s->length, s->width, s->round_x ? "periodic" : "neumann",
                 s->round_y ? "periodic" : "neumann", spry_context_ranks(f->ctx));
    else
        snprintf(text, sizeof text, "%d box=0:%.17g x=%s", s->nx, s->length,
                 s->round_x ? "periodic" : "neumann");
    return spry_grid_new(f->ctx, text, &f->surface);
}

/* --- all -----------------------------------------------------------------------------------------
 */

/* A vertical difference at a level as sweeps have it: the surface's weight stands by itself. */
static void put_difference(const ocean_vertical *v, int level, const double *weights, double *row)
{
    memcpy(row, weights, (size_t)v->width * sizeof *row);
    if (v->first[level] + v->order < v->intervals)
        return;
    row[v->width] = row[v->width - 1];
    row[v->width - 1] = 0;
}

static spry_status make_tables(ocean_flow *f)
{
    const ocean_sizes *s = &f->points.sizes;
    const ocean_vertical *v = &f->vertical;
    const ocean_tables at = ocean_tables_of(s);
    const int nz = s->nz;
    double *t = spry_alloc(f->ctx, (size_t)at.size * sizeof *t);
    if (!t)
        return SPRY_STATUS_NO_MEMORY;
    memset(t, 0, (size_t)at.size * sizeof *t);
    t[TABLE_X] = 1 / f->dx;
    t[TABLE_Y] = s->ny > 1 ? 1 / f->dy : 0;
    t[TABLE_G] = f->setup.gravity;
    t[TABLE_SLOPE] = v->slope;
    ocean_filter_weights(t + TABLE_FILTER);
    memcpy(t + at.sigma, v->sigma, (size_t)(nz + 1) * sizeof *t);
    for (int k = 0; k <= nz; k++) {
        put_difference(v, k, v->d1 + (ptrdiff_t)k * v->width, t + at.d1 + k * at.width);
        put_difference(v, k, v->d2 + (ptrdiff_t)k * v->width, t + at.d2 + k * at.width);
    }
    for (int k = 0; k < nz; k++) {
        memcpy(t + at.into + k * at.row, v->into + (ptrdiff_t)k * nz, (size_t)nz * sizeof *t);
        memcpy(t + at.back + k * at.row, v->back + (ptrdiff_t)k * nz, (size_t)nz * sizeof *t);
    }
    const spry_status status = ocean_flow_vector(f, at.size, t, &f->tables);
    spry_free(f->ctx, t);
    return status;
}

static spry_status make_vectors(ocean_flow *f)
{
    const int nz = f->points.sizes.nz;
    const struct {
        spry_vector **v;
        int planes;
        bool wide;
    } list[] = {{&f->still, 4, true},    {&f->shape, SHAPE_PLANES + nz + 1, true},
                {&f->zones, 2, true},    {&f->nothing, nz, true},
                {&f->phi, nz, false},    {&f->past, nz, false},
                {&f->rhs, nz, false},    {&f->ones, 1, false},
                {&f->before, nz, false}, {&f->behind, nz, false},
                {&f->parts, 1, false}};
    spry_status status = SPRY_STATUS_OK;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        OCEAN_GO(list[i].wide ? ocean_flow_vector(f, list[i].planes * f->wide, NULL, list[i].v)
                              : ocean_flow_own_vector(f, list[i].planes, list[i].v));
    OCEAN_GO(spry_vector_new(f->ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_TAKE, &f->times));
    OCEAN_GO(ocean_flow_vector(f, DRIVE_SIZE, f->drive, &f->forcing));
    OCEAN_GO(spry_vector_fill(f->ones, (spry_scalar){1, 0}));
done:
    return status;
}

/* Number m of the planes of a vector, in place; or, where that is not possible, a plane. */
static spry_status make_plane(const ocean_flow *f, spry_vector *planes, int m, spry_vector **v)
{
    double *data = spry_vector_data(planes);
    if (!data)
        return ocean_flow_vector(f, f->plane, NULL, v);
    data += m * f->plane;
    return f->device ? spry_vector_on(f->device, SPRY_TYPE_D, f->plane, data, v)
                     : spry_vector_new(f->ctx, SPRY_TYPE_D, f->plane, data, SPRY_OWN_BORROW, v);
}

static spry_status make_planes(ocean_flow *f)
{
    spry_status status = SPRY_STATUS_OK;
    f->apart = !spry_vector_data(f->before);
    for (int m = 0; m < (f->apart ? 1 : f->setup.nz); m++) {
        OCEAN_GO(make_plane(f, f->before, m, &f->in[m]));
        OCEAN_GO(make_plane(f, f->behind, m, &f->out[m]));
    }
done:
    return status;
}

static spry_status make_solver(ocean_flow *f)
{
    char options[160];
    const int64_t n = f->plane * f->points.sizes.nz;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(spry_operator_from_product(f->ctx, f->device, SPRY_TYPE_D, n, n, false,
                                        ocean_flow_laplace, f, &f->laplace));
    OCEAN_GO(spry_operator_from_product(f->ctx, f->device, SPRY_TYPE_D, n, n, false,
                                        ocean_flow_precon, f, &f->precon));
    if (ocean_is_cut(f)) {
        OCEAN_GO(spry_operator_set_ranked(f->laplace, f->phi));
        OCEAN_GO(spry_operator_set_ranked(f->precon, f->phi));
    }
    OCEAN_GO(spry_operator_set_bytes(f->laplace, (int64_t)ocean_bytes_product(&f->setup)));
    OCEAN_GO(spry_operator_set_bytes(f->precon, (int64_t)ocean_bytes_precon(&f->setup, f->apart)));
    OCEAN_GO(spry_solver_new(f->ctx, &f->solver));
    snprintf(options, sizeof options, "method=%s tol=%.17g max-iter=200", f->setup.method,
             f->setup.tol);
    OCEAN_GO(spry_solver_set(f->solver, options));
    OCEAN_GO(spry_solver_set_operator(f->solver, f->laplace));
    OCEAN_GO(spry_solver_set_precon(f->solver, f->precon));
done:
    return status;
}

spry_status ocean_flow_make(spry_context *ctx, const ocean_setup *setup, ocean_flow *f)
{
    spry_status status = SPRY_STATUS_OK;
    *f = (ocean_flow){.ctx = ctx, .setup = *setup};
    OCEAN_GO(check_setup(ctx, setup));
    ocean_sizes sizes = ocean_sizes_of(setup), own = sizes;
    if (spry_context_ranks(ctx) > 1)
        OCEAN_GO(ocean_ranks_make(f, &sizes, &own));
    f->plane = (int64_t)own.nx * own.ny;
    f->wide = (int64_t)sizes.nx * sizes.ny;
    f->dx = setup->length / setup->nx;
    f->dy = setup->ny > 0 ? setup->width / setup->ny : 0;
    if (strcmp(setup->device, "cpu") != 0)
        OCEAN_GO(spry_device_open(ctx, setup->device, &f->device));
    ocean_vertical_make(setup->nz, setup->order, setup->clustered, &f->vertical);
    OCEAN_GO(ocean_points_make(ctx, f->device, &sizes, &f->points));
    if (ocean_is_cut(f))
        OCEAN_GO(ocean_points_make(ctx, f->device, &own, &f->own));
    OCEAN_GO(make_tables(f));
    OCEAN_GO(make_surface(f));
    OCEAN_GO(make_vectors(f));
    OCEAN_GO(make_planes(f));
    OCEAN_GO(make_still(f));
    for (int m = 0; m < setup->nz; m++)
        OCEAN_GO(make_mode(f, m));
    OCEAN_GO(make_solver(f));
done:
    f->setup.depths = NULL; /* the caller's */
    return status;
}

void ocean_flow_free(ocean_flow *f)
{
    spry_vector *const list[] = {f->still, f->shape, f->tables, f->forcing, f->zones,  f->nothing,
                                 f->phi,   f->rhs,   f->ones,   f->before,  f->behind, f->past,
                                 f->times, f->ship,  f->lever,  f->parts};
    spry_solver_free(f->solver);
    spry_operator_free(f->laplace);
    spry_operator_free(f->precon);
    for (int m = 0; m < LEVELS_MOST; m++) {
        spry_operator_free(f->cycle[m]);
        spry_operator_free(f->mode[m]);
        spry_vector_free(f->in[m]);
        spry_vector_free(f->out[m]);
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        spry_vector_free(list[i]);
    spry_grid_free(f->surface);
    ocean_ranks_free(f);
    ocean_points_free(&f->own);
    ocean_points_free(&f->points);
}

/* --- what drives it ------------------------------------------------------------------------------
 */

static spry_status set_forcing(ocean_flow *f)
{
    return ocean_flow_copy(f, f->drive, f->forcing);
}

spry_status ocean_flow_set_wave(ocean_flow *f, const ocean_wave *w, double ramp)
{
    double *d = f->drive;
    d[FORCING_COUNT] = w->count;
    d[FORCING_RAMP] = ramp;
    d[FORCING_HEAD] = w->head;
    for (int j = 0; j < w->count; j++) {
        const ocean_term *a = &w->term[j];
        const double numbers[FORCING_TERM] = {a->E,          a->B,          a->tanh,  a->rise,
                                              a->kx * f->dx, a->ky * f->dy, a->omega, a->phase};
        memcpy(d + FORCING_TERMS + FORCING_TERM * j, numbers, sizeof numbers);
    }
    return set_forcing(f);
}

spry_status ocean_flow_set_spot(ocean_flow *f, const ocean_spot *spot)
{
    const double dy = f->dy > 0 ? f->dy : 1;
    double *d = f->drive;
    d[FORCING_PRESSURE] = spot->pressure;
    d[FORCING_FROM_X] = spot->x / f->dx;
    d[FORCING_FROM_Y] = f->dy > 0 ? spot->y / dy : 0;
    d[FORCING_SPEED_X] = spot->speed * cos(spot->heading) / f->dx;
    d[FORCING_SPEED_Y] = f->dy > 0 ? spot->speed * sin(spot->heading) / dy : 0;
    d[FORCING_RADIUS_X] = spot->radius / f->dx;
    d[FORCING_RADIUS_Y] = spot->radius / dy;
    return set_forcing(f);
}

spry_status ocean_flow_set_zones(ocean_flow *f, const double *wave, const double *rest)
{
    const size_t size = (size_t)f->wide * sizeof(double);
    double *both = spry_alloc(f->ctx, 2 * size);
    if (!both)
        return SPRY_STATUS_NO_MEMORY;
    memcpy(both, wave, size);
    memcpy(both + f->wide, rest, size);
    const spry_status status = ocean_flow_copy(f, both, f->zones);
    spry_free(f->ctx, both);
    return status;
}
