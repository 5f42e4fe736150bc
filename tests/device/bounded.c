/* Lower bounds on devices: every method finds what it finds on the host, with vectors of the
 * device. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/engine/device.h"
#include "grid/grid.h"

#include <spry/spry.h>

#include <math.h>
#include <stdlib.h>

static void bumpy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(7 * place[0]) * cos(5 * place[1]), 0};
}

static void rough(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){0.1 * sin(60 * place[0] + 70 * place[1] + 80 * place[2]), 0};
}

typedef struct problem {
    const char *grid, *text, *options;
} problem;

typedef struct place_of {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *b, *lower, *x;
} place_of;

/* A vector on the device, or (NULL) as it is. */
static spry_vector *brought(spry_context *ctx, spry_device *d, spry_vector *v)
{
    spry_vector *on_device = v;
    if (d) {
        assert_ok(ctx,
                  spry_vector_on(d, spry_vector_type(v), spry_vector_size(v), NULL, &on_device));
        assert_ok(ctx, spry_vector_copy(v, on_device));
        spry_vector_free(v);
    }
    return on_device;
}

/* A problem on a device, or (NULL) on the host: -10 or so on the right, rough bounds. */
static place_of make(spry_context *ctx, spry_device *d, const problem *p)
{
    static const char *const names[] = {"k"};
    char all[96];
    place_of s = {0};
    spry_vector *k;
    assert_ok(ctx, spry_grid_new(ctx, p->grid, &s.grid));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, true, bumpy, NULL, &k));
    snprintf(all, sizeof all, "device=%s", d ? d->facts.name : "cpu");
    assert_ok(ctx, spry_operator_stencil(s.grid, p->text, all, 1, names, (const spry_vector *[]){k},
                                         &s.A));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, bumpy, NULL, &s.b));
    assert_ok(ctx, spry_vector_scale((spry_scalar){-7, 0}, s.b));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, rough, NULL, &s.lower));
    assert_ok(ctx, spry_field_new(s.grid, SPRY_TYPE_D, false, NULL, NULL, &s.x));
    s.b = brought(ctx, d, s.b);
    s.lower = brought(ctx, d, s.lower);
    s.x = brought(ctx, d, s.x);
    spry_vector_free(k);
    return s;
}

static void unmake(place_of *s)
{
    spry_vector_free(s->b);
    spry_vector_free(s->lower);
    spry_vector_free(s->x);
    spry_operator_free(s->A);
    spry_grid_free(s->grid);
}

typedef struct outcome {
    spry_result r;
    spry_bounded_stats b;
} outcome;

static outcome solve(spry_context *ctx, place_of *s, const char *options)
{
    spry_bounded *solver;
    outcome stats = {.r = SPRY_RESULT_INIT, .b = SPRY_BOUNDED_STATS_INIT};
    assert_ok(ctx, spry_bounded_new(s->A, options, &solver));
    assert_ok(ctx, spry_bounded_solve(solver, s->b, s->lower, s->x, &stats.r, &stats.b));
    print_message("%s: %s, %d iterations (%d untruncated), residual %.2e, %d contacts\n", options,
                  spry_reason_name(stats.r.reason), (int)stats.r.iterations,
                  (int)stats.b.untruncated, stats.r.residual, (int)stats.b.contacts);
    spry_bounded_free(solver);
    return stats;
}

/* Two solutions differ by the sum of their residuals, times 1 + 1/8 (tests/reference/bounded.c says
 * why); as many points are in contact, since bounds are kept to the bit, and no multiplier is near
 * 0 with these numbers. Devices halve all axes together, which may take other cycles. */
static void check(spry_context *ctx, spry_device *d, const problem *p)
{
    place_of on_host = make(ctx, NULL, p), on_device = make(ctx, d, p);
    const outcome a = solve(ctx, &on_host, p->options), b = solve(ctx, &on_device, p->options);
    assert_true(a.r.converged && b.r.converged);
    assert_int_equal(a.b.contacts, b.b.contacts);
    spry_vector *got;
    assert_ok(ctx, spry_vector_like(on_host.x, spry_vector_size(on_host.x), &got));
    assert_ok(ctx, spry_vector_copy(on_device.x, got));
    const double *x = spry_vector_data_const(on_host.x), *y = spry_vector_data_const(got);
    for (int64_t i = 0; i < spry_vector_size(got); i++)
        assert_true(fabs(x[i] - y[i]) <= 1.125 * (a.r.residual + b.r.residual));
    spry_vector_free(got);
    unmake(&on_host);
    unmake(&on_device);
}

static void test_methods(spry_context *ctx, spry_device *d)
{
    static const problem problems[] = {
        {"24x16x20", "-laplace", "tol=1e-9"},
        {"24x16x20", "-laplace", "method=redblack tol=1e-9"},
        {"24x16x20", "-laplace", "method=richardson tol=1e-9 look-every=9"},
        {"32x24 y=periodic x=neumann:dirichlet", "-div(k*grad) + 1", "tol=1e-9"},
    };
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        check(ctx, d, &problems[k]);
}

static void test_faults(spry_context *ctx, spry_device *d)
{
    const problem p = {"32x24 y=periodic x=neumann:dirichlet", "-div(k*grad) + 1", "max-iter=1"};
    place_of on_host = make(ctx, NULL, &p), on_device = make(ctx, d, &p);
    spry_bounded *solver;
    assert_ok(ctx, spry_bounded_new(on_device.A, NULL, &solver));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_bounded_solve(solver, on_device.b, on_host.lower, on_device.x, NULL, NULL));
    support_message_has(ctx, "lower is on cpu, the operator on");
    spry_bounded_free(solver);
    /* a NaN is seen */
    outcome stats;
    assert_ok(ctx, spry_vector_fill(on_device.b, (spry_scalar){NAN, 0}));
    stats = solve(ctx, &on_device, "tol=1e-9");
    assert_int_equal(stats.r.reason, SPRY_REASON_NONFINITE);
    unmake(&on_host);
    unmake(&on_device);
}

static spry_status life(spry_context *ctx, void *data)
{
    const place_of *s = data;
    spry_bounded *solver = NULL;
    (void)ctx;
    spry_status status = spry_bounded_new(s->A, "max-iter=1", &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_solve(solver, s->b, s->lower, s->x, NULL, NULL);
    spry_bounded_free(solver);
    return status;
}

static void test_failures(spry_context *ctx, spry_device *d)
{
    const problem p = {"32x24 y=periodic x=neumann:dirichlet", "-div(k*grad) + 1", ""};
    place_of s = make(ctx, d, &p);
    devices_torture(ctx, d, 1, life, &s);
    unmake(&s);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_methods), DEVICES_TEST(test_faults),
                                         DEVICES_TEST(test_failures)};
    return DEVICES_RUN(tests);
}
