/* Slices of time side by side: the fine run to the bit after as many iterations as slices, on one
 * thread, on several and on ranks; the stop before that; the cost model; bad input. */
#include "matrix/matrix.h"
#include "support/ranked.h"

#include <math.h>

enum { POINTS = 24, SLICES = 5, WORKERS = 3 };
static const double end = 0.05;

static void bump(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){place[0] * (1 - place[0]) * exp(3 * place[0]), 0};
}

/* A rod with its steppers, in a context. */
typedef struct rod {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *u;
    spry_stepper *coarse, *fine;
} rod;

static spry_status make_rod(spry_context *ctx, spry_type type, const char *fine, rod *r)
{
    char options[16];
    spry_status status = SPRY_STATUS_OK;
    *r = (rod){0};
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    SPRY_GO(ctx, spry_grid_new(ctx, "25 ranks=none", &r->grid));
    SPRY_GO(ctx, spry_operator_stencil(r->grid, "laplace", options, 0, NULL, NULL, &r->A));
    SPRY_GO(ctx, spry_field_new(r->grid, type, false, bump, NULL, &r->u));
    SPRY_GO(ctx, spry_stepper_new(ctx, "method=implicit-euler dt=0.01", &r->coarse));
    SPRY_GO(ctx, spry_stepper_new(ctx, fine, &r->fine));
    SPRY_GO(ctx, spry_stepper_set_operator(r->coarse, r->A, NULL, NULL, NULL));
    SPRY_GO(ctx, spry_stepper_set_operator(r->fine, r->A, NULL, NULL, NULL));
done:
    return status;
}

static void free_rod(rod *r)
{
    spry_stepper_free(r->coarse);
    spry_stepper_free(r->fine);
    spry_vector_free(r->u);
    spry_operator_free(r->A);
    spry_grid_free(r->grid);
}

/* The fine run, one slice after the other, with the times that parareal has. */
static spry_status run_fine(rod *r)
{
    spry_status status = SPRY_STATUS_OK;
    for (int n = 0; n < SLICES && status == SPRY_STATUS_OK; n++)
        status = spry_stepper_run(r->fine, n * (end / SLICES),
                                  n + 1 == SLICES ? end : (n + 1) * (end / SLICES), r->u, NULL);
    return status;
}

static const char *const fines[] = {"method=rk4 dt=0.0007", "method=crank-nicolson dt=0.001"};

static void exact_after_all(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 2; f++) {
            rod r, serial;
            spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
            assert_ok(ctx, make_rod(ctx, support_types[t], fines[f], &r));
            assert_ok(ctx, make_rod(ctx, support_types[t], fines[f], &serial));
            assert_ok(ctx, run_fine(&serial));
            assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                                         "slices=5 tol=0 compare=yes", &stats));
            assert_int_equal(stats.slices, SLICES);
            assert_true(stats.iterations <= SLICES && stats.converged);
            assert_memory_equal(r.u->data, serial.u->data,
                                POINTS * spry_type_size(support_types[t]));
            assert_true(stats.difference == 0);
            free_rod(&r);
            free_rod(&serial);
        }
}

/* It stops where the change is within the tolerance. Parareal converges faster than linearly here:
 * what is left is less than the last change. The model is of the two means and the counts. */
static void stops_before(void **state)
{
    spry_context *ctx = *state;
    rod r;
    spry_parareal_stats s = SPRY_PARAREAL_STATS_INIT;
    assert_ok(ctx, make_rod(ctx, SPRY_TYPE_D, fines[0], &r));
    assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                                 "slices=5 tol=1e-2 compare=yes", &s));
    assert_true(s.iterations < SLICES && s.converged && s.change <= 1e-2);
    assert_true(s.difference <= s.change && s.difference > 0);
    const double n = SLICES, k = s.iterations;
    const double model =
        n * s.fine_seconds / ((k + 1) * n * s.coarse_seconds + k * n * s.fine_seconds);
    assert_true(fabs(s.model_speedup - model) <= 1e-12 * model);
    assert_true(s.speedup > 0 && s.workers == 1);
    assert_ok(ctx,
              spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slices=5 tol=0 max-iter=1", &s));
    assert_true(s.iterations == 1 && !s.converged);
    free_rod(&r);
}

/* Threads have a context each, and give the bits of one. */
static void threads(void **state)
{
    (void)state;
    spry_context *ctx[WORKERS];
    rod r[WORKERS], alone;
    spry_stepper *coarse[WORKERS], *fine[WORKERS];
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    for (int w = 0; w < WORKERS; w++) {
        ctx[w] = support_context("threads=1");
        assert_ok(ctx[w], make_rod(ctx[w], SPRY_TYPE_D, fines[1], &r[w]));
        coarse[w] = r[w].coarse;
        fine[w] = r[w].fine;
    }
    assert_ok(ctx[0], make_rod(ctx[0], SPRY_TYPE_D, fines[1], &alone));
    assert_ok(ctx[0], spry_parareal(1, &alone.coarse, &alone.fine, 0, end, alone.u,
                                    "slices=7 max-iter=2 tol=0", NULL));
    assert_ok(ctx[0], spry_parareal(WORKERS, coarse, fine, 0, end, r[0].u,
                                    "slices=7 max-iter=2 tol=0", &stats));
    assert_int_equal(stats.workers, WORKERS);
    assert_memory_equal(r[0].u->data, alone.u->data, POINTS * sizeof(double));
    /* two workers of one context; a slice that fails on a thread is told */
    coarse[1] = coarse[0];
    fine[1] = fine[0];
    assert_status(ctx[0], SPRY_STATUS_BAD_USAGE,
                  spry_parareal(2, coarse, fine, 0, end, r[0].u, NULL, NULL));
    support_message_has(ctx[0], "same context");
    coarse[1] = r[1].coarse;
    fine[1] = r[1].fine;
    assert_ok(ctx[1], spry_stepper_set(fine[1], "method=euler dt=0.005"));
    assert_ok(ctx[1], spry_stepper_set(coarse[1], "dt=0.005"));
    assert_status(ctx[0], SPRY_STATUS_BAD_INPUT,
                  spry_parareal(WORKERS, coarse, fine, 0, 1, r[0].u, "slices=6", NULL));
    support_message_has(ctx[0], "slice from t = 0.333333");
    support_message_has(ctx[0], "largest stable one");
    free_rod(&alone);
    for (int w = 0; w < WORKERS; w++) {
        free_rod(&r[w]);
        support_context_free(ctx[w]);
    }
}

/* Every rank ends with the u of one process. */
static const char *on_ranks(spry_context *ctx, void *data)
{
    rod r, serial;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    (void)data;
    CHECK_OK(ctx, make_rod(ctx, SPRY_TYPE_D, fines[1], &r));
    CHECK_OK(ctx, make_rod(ctx, SPRY_TYPE_D, fines[1], &serial));
    CHECK_OK(ctx, run_fine(&serial));
    CHECK_OK(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slices=5 tol=0 compare=yes",
                                &stats));
    CHECK(stats.workers == spry_context_ranks(ctx) && stats.difference == 0);
    CHECK(memcmp(r.u->data, serial.u->data, POINTS * sizeof(double)) == 0);
    /* one rank's failure is that of all */
    if (spry_context_rank(ctx) == 1)
        CHECK_OK(ctx, spry_stepper_set(r.fine, "method=euler dt=0.005"));
    CHECK_STATUS(ctx, SPRY_STATUS_BAD_INPUT,
                 spry_parareal(1, &r.coarse, &r.fine, 0, 1, r.u, "slices=5", &stats));
    CHECK(strstr(spry_message(ctx), "largest stable one"));
    free_rod(&r);
    free_rod(&serial);
    return NULL;
}

static void ranks(void **state)
{
    (void)state;
    ranked_run(2, on_ranks, NULL);
    ranked_run(3, on_ranks, NULL);
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    rod r;
    assert_ok(ctx, make_rod(ctx, SPRY_TYPE_D, fines[0], &r));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(0, &r.coarse, &r.fine, 0, end, r.u, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(1, &r.coarse, &r.fine, 1, 1, r.u, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slice=4", NULL));
    support_message_has(ctx, "slices");
    free_rod(&r);
}

static spry_status run(spry_context *ctx, void *data)
{
    rod r;
    (void)data;
    spry_status status = make_rod(ctx, SPRY_TYPE_D, fines[0], &r);
    if (status == SPRY_STATUS_OK)
        status = spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                               "slices=2 max-iter=1 compare=yes", NULL);
    free_rod(&r);
    return status;
}

static void torture(void **state)
{
    support_torture(*state, run, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exact_after_all, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(stops_before, support_setup, support_teardown),
        cmocka_unit_test(threads),
        cmocka_unit_test(ranks),
        cmocka_unit_test_setup_teardown(bad_input, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
