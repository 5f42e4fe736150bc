/* A ship in small waves: see ship.h. */
#include "ocean/ship.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

double ocean_ship_hull(const ocean_flow *f, const ocean_ship *ship, int64_t point)
{
    double x, y;
    ocean_flow_place(f, point, &x, &y);
    const double along = (x - ship->x) / ship->length;
    const double across = f->setup.ny > 0 ? (y - ship->y) / ship->beam : 0;
    if (fabs(along) >= 0.5 || fabs(across) >= 0.5)
        return 0;
    return -ship->draft * pow(cos(PI * along) * cos(PI * across), 2);
}

/* --- the double body -----------------------------------------------------------------------------
 */

typedef struct body {
    ocean_flow *f;
    spry_vector *surface; /* u of a still surface */
    spry_vector *one;     /* a plane */
    spry_vector *four;    /* it, d/dx, d/dy and the Laplacian of it */
    double *numbers;      /* four, on the host */
} body;

static spry_status pick(const body *b, const spry_vector *from, int plane, spry_vector *to)
{
    return ocean_sweep_run(&b->f->points, SWEEP_pick, 0, plane,
                           &(ocean_arrays){.a = from, .tables = b->f->tables, .y = to});
}

/* The vertical velocity at a still surface with potential x. */
static spry_status rise(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                        void *stream)
{
    const body *b = data;
    ocean_flow *f = b->f;
    spry_status status = SPRY_STATUS_OK;
    (void)op;
    (void)stream;
    OCEAN_GO(ocean_sweep_run(&f->points, SWEEP_put, 0, 1,
                             &(ocean_arrays){.a = x, .tables = f->tables, .y = b->surface}));
    OCEAN_GO(ocean_flow_solve(f, b->surface));
    OCEAN_GO(pick(b, f->shape, SHAPE_PLANES + f->points.sizes.nz, y));
    OCEAN_GO(spry_vector_scale((spry_scalar){1 / f->deep, 0}, y));
done:
    return status;
}

/* Differences of a plane, on the device and on the host. */
static spry_status differences(const body *b, const spry_vector *plane)
{
    ocean_flow *f = b->f;
    spry_vector *host = NULL;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_sweep_run(&f->points, SWEEP_metric, 0, 1,
                             &(ocean_arrays){.a = plane, .tables = f->tables, .y = b->four}));
    OCEAN_GO(
        spry_vector_new(f->ctx, SPRY_TYPE_D, 4 * f->plane, b->numbers, SPRY_OWN_BORROW, &host));
    OCEAN_GO(spry_vector_copy(b->four, host));
done:
    spry_vector_free(host);
    return status;
}

/* phi_0 at the surface, into a plane. What is solved for is known to a constant, which differences
 * do not see. Each product is a solve, to less than what this one is to reach. */
static spry_status solve_body(body *b, double speed, spry_vector *phi)
{
    ocean_flow *f = b->f;
    char text[160];
    spry_operator *op = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(pick(b, b->four, 1, b->one));
    OCEAN_GO(spry_vector_scale((spry_scalar){-speed, 0}, b->one));
    OCEAN_GO(spry_operator_from_product(f->ctx, f->device, SPRY_TYPE_D, f->plane, f->plane, false,
                                        rise, b, &op));
    OCEAN_GO(spry_solver_new(f->ctx, &solver));
    OCEAN_GO(spry_solver_set_real(f->solver, "tol", fmax(0.01 * f->setup.tol, 1e-13)));
    snprintf(text, sizeof text, "method=gmres:restart=100 precon=none tol=%.17g max-iter=1000",
             10 * f->setup.tol);
    OCEAN_GO(spry_solver_set(solver, text));
    OCEAN_GO(spry_solver_set_operator(solver, op));
    OCEAN_GO(spry_solve(solver, b->one, phi, &result));
    if (!result.converged && result.reason != SPRY_REASON_STOPPED) {
        snprintf(text, sizeof text,
                 "the flow around the ship was not solved to %g (%s, residual %.1e): a smaller tol "
                 "may help",
                 10 * f->setup.tol, spry_reason_name(result.reason), result.true_residual);
        status = ocean_fail(f->ctx, text);
        goto done;
    }
    OCEAN_GO(spry_solver_set_real(f->solver, "tol", f->setup.tol));
done:
    spry_result_clear(f->ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(op);
    return status;
}

/* --- what it makes of small waves ----------------------------------------------------------------
 */

/* The planes of `ship`, from u_0; in the place of the hull comes p/rho. */
static void fill_planes(const body *b, const ocean_ship *ship, double *hull, double *planes)
{
    const int64_t n = b->f->plane;
    const double *u = b->numbers + n, *v = u + n, U = ship->speed;
    for (int64_t i = 0; i < n; i++) {
        const double air = 1 + hull[i] / ship->draft, m = 1 - air * air;
        const double head = U * u[i] - (u[i] * u[i] + v[i] * v[i]) / 2;
        planes[i] = u[i] - U;
        planes[n + i] = v[i];
        planes[2 * n + i] = (1 - m) * head;
        hull[i] = m * head - b->f->setup.gravity * hull[i];
    }
}

/* The integral of p d eta/dx is that of -eta dp/dx, also for sums and centred differences. */
static spry_status make_lever(body *b, const double *pressure)
{
    ocean_flow *f = b->f;
    const double area = f->dx * (f->setup.ny > 0 ? f->dy : 1);
    spry_status status = SPRY_STATUS_OK;
    OCEAN_GO(ocean_flow_copy(f, pressure, b->one));
    OCEAN_GO(differences(b, b->one));
    OCEAN_GO(pick(b, b->four, 1, b->one));
    OCEAN_GO(spry_vector_scale((spry_scalar){-area, 0}, b->one));
    OCEAN_GO(ocean_flow_vector(f, 2 * f->plane, NULL, &f->lever));
    OCEAN_GO(ocean_sweep_run(&f->points, SWEEP_put, 0, 0,
                             &(ocean_arrays){.a = b->one, .tables = f->tables, .y = f->lever}));
done:
    return status;
}

spry_status ocean_flow_set_ship(ocean_flow *f, const ocean_ship *ship)
{
    const size_t size = (size_t)f->plane * sizeof(double);
    body b = {.f = f};
    spry_vector *phi = NULL;
    spry_status status = SPRY_STATUS_OK;
    double *hull = spry_alloc(f->ctx, size), *planes = spry_alloc(f->ctx, 3 * size);
    b.numbers = spry_alloc(f->ctx, 4 * size);
    if (!hull || !planes || !b.numbers) {
        status = SPRY_STATUS_NO_MEMORY;
        goto done;
    }
    f->speed = ship->speed;
    for (int64_t i = 0; i < f->plane; i++)
        hull[i] = ocean_ship_hull(f, ship, i);
    OCEAN_GO(ocean_flow_vector(f, 3 * f->plane, NULL, &f->ship));
    OCEAN_GO(ocean_flow_vector(f, 2 * f->plane, NULL, &b.surface));
    OCEAN_GO(ocean_flow_vector(f, f->plane, hull, &b.one));
    OCEAN_GO(ocean_flow_vector(f, 4 * f->plane, NULL, &b.four));
    OCEAN_GO(ocean_flow_vector(f, f->plane, NULL, &phi));
    OCEAN_GO(differences(&b, b.one));
    OCEAN_GO(solve_body(&b, ship->speed, phi));
    OCEAN_GO(differences(&b, phi));
    fill_planes(&b, ship, hull, planes);
    OCEAN_GO(ocean_flow_copy(f, planes, f->ship));
    OCEAN_GO(make_lever(&b, hull));
    OCEAN_GO(spry_vector_fill(f->phi, (spry_scalar){0, 0})); /* of no waves */
    f->solves = f->iterations = f->worst = 0;
    f->traffic = f->seconds = 0;
done:
    spry_vector_free(phi);
    spry_vector_free(b.surface);
    spry_vector_free(b.one);
    spry_vector_free(b.four);
    spry_free(f->ctx, hull);
    spry_free(f->ctx, planes);
    spry_free(f->ctx, b.numbers);
    return status;
}

spry_status ocean_flow_resistance(const ocean_flow *f, const spry_vector *u, double *resistance)
{
    spry_scalar sum = {0, 0};
    const spry_status status = spry_vector_dot(f->lever, u, &sum);
    *resistance = sum.re;
    return status;
}
