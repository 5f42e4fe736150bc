/* Slices of time side by side: the fine run to the bit after as many iterations as slices, on one
 * thread, on several and on ranks; the stop before that; the cost model; bad input. */
#include "matrix/matrix.h"
#include "support/ranked.h"
#include "support/rods.h"

#include <math.h>

enum { SLICES = 5, WORKERS = 3 };
static const double end = ROD_END;

static void exact_after_all(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int f = 0; f < 2; f++) {
            rod r, serial;
            spry_result stats_result = SPRY_RESULT_INIT;
            spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
            assert_ok(ctx, rod_make(ctx, support_types[t], rod_fines[f], NULL, &r));
            assert_ok(ctx, rod_make(ctx, support_types[t], rod_fines[f], NULL, &serial));
            assert_ok(ctx, rod_run_fine(&serial, SLICES));
            assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                                         "slices=5 tol=0 compare=yes", &stats_result, &stats));
            assert_int_equal(stats.slices, SLICES);
            assert_true(stats_result.iterations <= SLICES && stats_result.converged);
            assert_memory_equal(r.u->data, serial.u->data,
                                ROD_POINTS * spry_type_size(support_types[t]));
            assert_true(stats.difference == 0);
            rod_free(&r);
            rod_free(&serial);
        }
}

/* It stops where the change is within the tolerance. Parareal converges faster than linearly here:
 * what is left is less than the last change. The model is of the two means and the counts. */
static void stops_before(void **state)
{
    spry_context *ctx = *state;
    rod r;
    spry_result s_result = SPRY_RESULT_INIT;
    spry_parareal_stats s = SPRY_PARAREAL_STATS_INIT;
    assert_ok(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[0], NULL, &r));
    assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                                 "slices=5 tol=1e-2 compare=yes", &s_result, &s));
    assert_true(s_result.iterations < SLICES && s_result.converged && s_result.residual <= 1e-2);
    assert_true(s.difference <= s_result.residual && s.difference > 0);
    const double n = SLICES, k = (double)s_result.iterations;
    const double model =
        n * s.fine_seconds / ((k + 1) * n * s.coarse_seconds + k * n * s.fine_seconds);
    assert_true(fabs(s.model_speedup - model) <= 1e-12 * model);
    assert_true(s.speedup > 0 && s.workers == 1);
    assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slices=5 tol=0 max-iter=1",
                                 &s_result, &s));
    assert_true(s_result.iterations == 1 && !s_result.converged);
    rod_free(&r);
}

/* Threads have a context each, and give the bits of one. */
static void threads(void **state)
{
    (void)state;
    spry_context *ctx[WORKERS];
    rod r[WORKERS], alone;
    spry_stepper *coarse[WORKERS], *fine[WORKERS];
    spry_result stats_result = SPRY_RESULT_INIT;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    for (int w = 0; w < WORKERS; w++) {
        ctx[w] = support_context("threads=1");
        assert_ok(ctx[w], rod_make(ctx[w], SPRY_TYPE_D, rod_fines[1], NULL, &r[w]));
        coarse[w] = r[w].coarse;
        fine[w] = r[w].fine;
    }
    assert_ok(ctx[0], rod_make(ctx[0], SPRY_TYPE_D, rod_fines[1], NULL, &alone));
    assert_ok(ctx[0], spry_parareal(1, &alone.coarse, &alone.fine, 0, end, alone.u,
                                    "slices=7 max-iter=2 tol=0", NULL, NULL));
    assert_ok(ctx[0], spry_parareal(WORKERS, coarse, fine, 0, end, r[0].u,
                                    "slices=7 max-iter=2 tol=0", &stats_result, &stats));
    assert_int_equal(stats.workers, WORKERS);
    assert_memory_equal(r[0].u->data, alone.u->data, ROD_POINTS * sizeof(double));
    /* two workers of one context; a slice that fails on a thread is reported */
    coarse[1] = coarse[0];
    fine[1] = fine[0];
    assert_status(ctx[0], SPRY_STATUS_BAD_USAGE,
                  spry_parareal(2, coarse, fine, 0, end, r[0].u, NULL, NULL, NULL));
    support_message_has(ctx[0], "same context");
    coarse[1] = r[1].coarse;
    fine[1] = r[1].fine;
    assert_ok(ctx[1], spry_stepper_set(fine[1], "method=euler dt=0.005"));
    assert_ok(ctx[1], spry_stepper_set(coarse[1], "dt=0.005"));
    assert_status(ctx[0], SPRY_STATUS_BAD_INPUT,
                  spry_parareal(WORKERS, coarse, fine, 0, 1, r[0].u, "slices=6", NULL, NULL));
    support_message_has(ctx[0], "slice from t = 0.333333");
    support_message_has(ctx[0], "largest stable one");
    rod_free(&alone);
    for (int w = 0; w < WORKERS; w++) {
        rod_free(&r[w]);
        support_context_free(ctx[w]);
    }
}

/* Every rank ends with the u of one process. */
static const char *on_ranks(spry_context *ctx, void *data)
{
    rod r, serial;
    spry_result stats_result = SPRY_RESULT_INIT;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    (void)data;
    CHECK_OK(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[1], NULL, &r));
    CHECK_OK(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[1], NULL, &serial));
    CHECK_OK(ctx, rod_run_fine(&serial, SLICES));
    CHECK_OK(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slices=5 tol=0 compare=yes",
                                &stats_result, &stats));
    CHECK(stats.workers == spry_context_ranks(ctx) && stats.difference == 0);
    CHECK(memcmp(r.u->data, serial.u->data, ROD_POINTS * sizeof(double)) == 0);
    /* one rank's failure is that of all */
    if (spry_context_rank(ctx) == 1)
        CHECK_OK(ctx, spry_stepper_set(r.fine, "method=euler dt=0.005"));
    CHECK_STATUS(
        ctx, SPRY_STATUS_BAD_INPUT,
        spry_parareal(1, &r.coarse, &r.fine, 0, 1, r.u, "slices=5", &stats_result, &stats));
    CHECK(strstr(spry_message(ctx), "largest stable one"));
    rod_free(&r);
    rod_free(&serial);
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
    assert_ok(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[0], NULL, &r));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(0, &r.coarse, &r.fine, 0, end, r.u, NULL, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(1, &r.coarse, &r.fine, 1, 1, r.u, NULL, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u, "slice=4", NULL, NULL));
    support_message_has(ctx, "slices");
    rod_free(&r);
}

static spry_status run(spry_context *ctx, void *data)
{
    rod r;
    (void)data;
    spry_status status = rod_make(ctx, SPRY_TYPE_D, rod_fines[0], NULL, &r);
    if (status == SPRY_STATUS_OK)
        status = spry_parareal(1, &r.coarse, &r.fine, 0, end, r.u,
                               "slices=2 max-iter=1 compare=yes", NULL, NULL);
    rod_free(&r);
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
