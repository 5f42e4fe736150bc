/*
 * Slices of time distributed to ranks: every rank ends with the fine run's u, to the bit, and with
 * the bits of one process where it stops before; fewer slices than ranks, threads on ranks; what
 * one rank gets wrong is reported to all.
 */
#include "mpi/ranks.h"
#include "support/rods.h"

#include <math.h>
#include <string.h>

enum { WORKERS = 2, STOPPED_SLICES = 7 };

/* u of all ranks against one u. */
static void check_bits(const spry_vector *u, const spry_vector *expected)
{
    assert_int_equal(u->n, expected->n);
    assert_memory_equal(u->data, expected->data, (size_t)u->n * spry_type_size(u->type));
}

/* After as many iterations as there are slices: fewer than ranks, as many, some more each. */
static void fine_run_after_all(void **state)
{
    spry_context *ctx = ranks_context("threads=1");
    const int ranks = spry_context_ranks(ctx);
    const int slices[] = {1, 2, ranks, 5, 2 * ranks + 1};
    (void)state;
    for (int k = 0; k < 5; k++)
        for (int f = 0; f < 2; f++) {
            const spry_type type = support_types[(k + f) % 4];
            char options[64];
            rod r, serial;
            spry_result stats_result = SPRY_RESULT_INIT;
            spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
            snprintf(options, sizeof options, "slices=%d tol=0 compare=yes", slices[k]);
            assert_ok(ctx, rod_make(ctx, type, rod_fines[f], NULL, &r));
            assert_ok(ctx, rod_make(ctx, type, rod_fines[f], NULL, &serial));
            assert_ok(ctx, rod_run_fine(&serial, slices[k]));
            assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, ROD_END, r.u, options,
                                         &stats_result, &stats));
            assert_true(stats_result.iterations <= slices[k] && stats_result.converged);
            assert_true(stats.workers == ranks && stats.slices == slices[k]);
            assert_true(stats.difference == 0);
            check_bits(r.u, serial.u);
            rod_free(&r);
            rod_free(&serial);
        }
    support_context_free(ctx);
}

/* It stops by itself, after as many iterations everywhere, with the u of one process; parareal
 * converges faster than linearly here, so that what is left is less than the last change. */
static void stops_before(void **state)
{
    static const char options[] = "slices=7 tol=1e-3 compare=yes";
    spry_context *ctx = ranks_context("threads=1"), *alone = support_context("threads=1");
    spry_result s_result = SPRY_RESULT_INIT, one_result = SPRY_RESULT_INIT;
    spry_parareal_stats s = SPRY_PARAREAL_STATS_INIT, one = SPRY_PARAREAL_STATS_INIT;
    rod r, serial;
    (void)state;
    assert_ok(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[1], NULL, &r));
    assert_ok(alone, rod_make(alone, SPRY_TYPE_D, rod_fines[1], NULL, &serial));
    assert_ok(ctx, spry_parareal(1, &r.coarse, &r.fine, 0, ROD_END, r.u, options, &s_result, &s));
    assert_ok(alone, spry_parareal(1, &serial.coarse, &serial.fine, 0, ROD_END, serial.u, options,
                                   &one_result, &one));
    assert_true(s_result.converged && s_result.iterations < STOPPED_SLICES &&
                s_result.iterations == one_result.iterations);
    assert_true(s_result.residual <= 1e-3 && s_result.residual == one_result.residual);
    assert_true(s.difference > 0 && s.difference <= s_result.residual);
    check_bits(r.u, serial.u);
    /* the model: all ranks' means, and the slices that the busiest worker has */
    const double n = STOPPED_SLICES, k = (double)s_result.iterations, c = s.coarse_seconds,
                 f = s.fine_seconds;
    const double model = n * f / ((k + 1) * n * c + k * ceil(n / s.workers) * f);
    assert_true(fabs(s.model_speedup - model) <= 1e-12 * model);
    rod_free(&r);
    rod_free(&serial);
    support_context_free(ctx);
    support_context_free(alone);
}

/* Threads on every rank. */
static void threads_on_ranks(void **state)
{
    spry_context *ctx[WORKERS];
    rod r[WORKERS], serial;
    spry_stepper *coarse[WORKERS], *fine[WORKERS];
    spry_result stats_result = SPRY_RESULT_INIT;
    spry_parareal_stats stats = SPRY_PARAREAL_STATS_INIT;
    (void)state;
    for (int w = 0; w < WORKERS; w++) {
        ctx[w] = w == 0 ? ranks_context("threads=1") : support_context("threads=1");
        assert_ok(ctx[w], rod_make(ctx[w], SPRY_TYPE_D, rod_fines[1], NULL, &r[w]));
        coarse[w] = r[w].coarse;
        fine[w] = r[w].fine;
    }
    assert_ok(ctx[0], rod_make(ctx[0], SPRY_TYPE_D, rod_fines[1], NULL, &serial));
    assert_ok(ctx[0], rod_run_fine(&serial, 5));
    assert_ok(ctx[0], spry_parareal(WORKERS, coarse, fine, 0, ROD_END, r[0].u, "slices=5 tol=0",
                                    &stats_result, &stats));
    assert_int_equal(stats.workers, WORKERS * spry_context_ranks(ctx[0]));
    check_bits(r[0].u, serial.u);
    rod_free(&serial);
    for (int w = WORKERS - 1; w >= 0; w--) {
        rod_free(&r[w]);
        support_context_free(ctx[w]);
    }
}

/* What only the last rank has wrong: its steps, its number of slices, its tolerance. */
static void one_rank_fails(void **state)
{
    spry_context *ctx = ranks_context("threads=1");
    const bool last = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1;
    spry_status status;
    rod r;
    (void)state;
    assert_ok(ctx, rod_make(ctx, SPRY_TYPE_D, rod_fines[1], NULL, &r));
    if (last)
        assert_ok(ctx, spry_stepper_set(r.fine, "method=euler dt=0.005"));
    status = spry_parareal(1, &r.coarse, &r.fine, 0, 1, r.u, "slices=5", NULL, NULL);
    assert_int_equal(status, SPRY_STATUS_BAD_INPUT);
    ranks_alike(ctx, status);
    support_message_has(ctx, "largest stable one");
    if (spry_context_ranks(ctx) > 1) {
        status = spry_parareal(1, &r.coarse, &r.fine, 0, 1, r.u, last ? "slices=4" : "slices=5",
                               NULL, NULL);
        assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
        ranks_alike(ctx, status);
        support_message_has(ctx, "slices: ranks have 4 to 5");
        status = spry_parareal(1, &r.coarse, &r.fine, 0, 1, r.u, last ? "tol=0.5" : "tol=0.25",
                               NULL, NULL);
        assert_int_equal(status, SPRY_STATUS_BAD_USAGE);
        support_message_has(ctx, "tol: ranks have 0.25 to 0.5");
    }
    rod_free(&r);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_run_after_all), cmocka_unit_test(stops_before),
        cmocka_unit_test(threads_on_ranks), cmocka_unit_test(one_rank_fails)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
