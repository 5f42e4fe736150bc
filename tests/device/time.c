/*
 * Steps in time of stencils on devices: A + s I is there without a matrix, implicit steps make what
 * they are to make of an eigenvector, and slices of time run side by side on one device.
 */
#include "support/devices.h"
#include "support/numeric.h"
#include "support/rods.h"

#include "grid/grid.h"

#include <float.h>
#include <math.h>

enum { INTERVALS = 16, STEPS = 10 };

static void sines(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    (void)data;
    *value = (spry_scalar){sin(pi * place[0]) * sin(pi * place[1]), 0};
}

static spry_operator *laplace_on(const spry_grid *grid, const char *device)
{
    char options[64];
    spry_operator *A;
    snprintf(options, sizeof options, "device=%s", device);
    assert_int_equal(spry_operator_stencil(grid, "laplace", options, 0, NULL, NULL, &A),
                     SPRY_STATUS_OK);
    return A;
}

/* x - A x / 1000 against the host's: both round each of a row's five numbers, their products and
 * sums, about ten roundings of the sum of moduli, which is at most 8 n^2 / 1000 + 1 times the
 * largest x. */
static void shifted(spry_context *ctx, spry_device *d)
{
    spry_grid *grid;
    spry_operator *A[2], *B[2];
    assert_ok(ctx, spry_grid_new(ctx, "16x16", &grid));
    spry_vector *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 15 * 15, 3), *dx, *dy, *y[2];
    for (int k = 0; k < 2; k++) {
        A[k] = laplace_on(grid, k ? d->facts.name : "cpu");
        assert_ok(ctx, A[k]->class->structure.shifted(A[k], (spry_scalar){-1e-3, 0},
                                                      (spry_scalar){1, 0}, &B[k]));
        assert_ok(ctx, spry_vector_like(x, x->n, &y[k]));
    }
    assert_ptr_equal(spry_operator_device(B[1]), d);
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, x->n, NULL, &dx));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, x->n, NULL, &dy));
    assert_ok(ctx, spry_vector_copy(x, dx));
    assert_ok(ctx, spry_operator_apply(B[0], x, y[0]));
    assert_ok(ctx, spry_operator_apply(B[1], dx, dy));
    assert_ok(ctx, spry_vector_copy(dy, y[1]));
    double largest = 0, worst = 0;
    for (int64_t i = 0; i < x->n; i++) {
        largest = fmax(largest, fabs(((double *)x->data)[i]));
        worst = fmax(worst, fabs(((double *)y[0]->data)[i] - ((double *)y[1]->data)[i]));
    }
    assert_true(worst <= 2 * 10 * DBL_EPSILON * (8e-3 * INTERVALS * INTERVALS + 1) * largest);
    for (int k = 0; k < 2; k++) {
        spry_operator_free(A[k]);
        spry_operator_free(B[k]);
        spry_vector_free(y[k]);
    }
    spry_vector_free(x);
    spry_vector_free(dx);
    spry_vector_free(dy);
    spry_grid_free(grid);
}

/* As in tests/reference/time.c: sin sin is an eigenvector, a step multiplies it by a number that is
 * known. It errs by roundings of dt A u and the residual of its solve, dt |A u| tol. */
static void implicit_steps(spry_context *ctx, spry_device *d)
{
    static const char *const methods[] = {"method=crank-nicolson",
                                          "method=implicit-euler solver=[method=cg precon=jacobi]"};
    const double s = sin(acos(-1) / (2 * INTERVALS)), dt = 1e-3;
    const double z = -dt * 8 * INTERVALS * INTERVALS * s * s;
    const double factors[] = {(1 + z / 2) / (1 - z / 2), 1 / (1 - z)};
    const double bound = STEPS * (32 * DBL_EPSILON - z * 1e-10 * INTERVALS);
    spry_grid *grid;
    spry_vector *start, *u, *back;
    assert_ok(ctx, spry_grid_new(ctx, "16x16", &grid));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, sines, NULL, &start));
    assert_ok(ctx, spry_vector_like(start, start->n, &back));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, start->n, NULL, &u));
    spry_operator *A = laplace_on(grid, d->facts.name);
    for (int m = 0; m < 2; m++) {
        spry_step_stats stats = SPRY_STEP_STATS_INIT;
        spry_stepper *stepper;
        assert_ok(ctx, spry_stepper_new(ctx, methods[m], &stepper));
        assert_ok(ctx, spry_stepper_set_real(stepper, "dt", dt));
        assert_ok(ctx, spry_stepper_set_operator(stepper, A, NULL, NULL, NULL));
        assert_ok(ctx, spry_vector_copy(start, u));
        assert_ok(ctx, spry_stepper_run(stepper, 0, STEPS * dt, u, &stats));
        assert_true(stats.steps == STEPS && stats.solves == STEPS && stats.setups == 1);
        assert_ok(ctx, spry_vector_copy(u, back));
        for (int64_t i = 0; i < back->n; i++)
            assert_true(fabs(((double *)back->data)[i] -
                             pow(factors[m], STEPS) * ((double *)start->data)[i]) <= bound);
        spry_stepper_free(stepper);
    }
    spry_operator_free(A);
    spry_vector_free(start);
    spry_vector_free(back);
    spry_vector_free(u);
    spry_grid_free(grid);
}

/* Two workers, each with a context and so with a queue of its own on the device: the fine run there
 * to the bit, after as many iterations as slices. */
static void slices(spry_context *ctx, spry_device *d)
{
    enum { SLICES = 3, WORKERS = 2 };
    spry_context *contexts[WORKERS] = {ctx, support_context("threads=1")};
    rod r[WORKERS], serial;
    spry_stepper *coarse[WORKERS], *fine[WORKERS];
    spry_result stats_result = SPRY_RESULT_INIT;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    double numbers[2][ROD_POINTS];
    for (int w = 0; w < WORKERS; w++) {
        assert_ok(contexts[w],
                  rod_make(contexts[w], SPRY_TYPE_D, rod_fines[1], d->facts.name, &r[w]));
        coarse[w] = r[w].coarse;
        fine[w] = r[w].fine;
    }
    assert_ok(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[1], d->facts.name, &serial));
    assert_ok(ctx, rod_run_fine(&serial, SLICES));
    assert_ok(ctx, spry_parareal(WORKERS, coarse, fine, 0, ROD_END, r[0].u, "slices=3 tol=0",
                                 &stats_result, &stats));
    assert_true(stats.workers == WORKERS && stats_result.iterations <= SLICES &&
                stats_result.converged);
    assert_ok(ctx, r[0].u->class->get(r[0].u, numbers[0]));
    assert_ok(ctx, serial.u->class->get(serial.u, numbers[1]));
    assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
    rod_free(&serial);
    for (int w = 0; w < WORKERS; w++)
        rod_free(&r[w]);
    spry_device_close_all(contexts[1]);
    support_context_free(contexts[1]);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(shifted), DEVICES_TEST(implicit_steps),
                                         DEVICES_TEST(slices)};
    return DEVICES_RUN(tests);
}
