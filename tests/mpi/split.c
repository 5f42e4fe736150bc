/*
 * Solves by splitting, with and without waiting: the answer is judged by a product of its own, and
 * a method that needs all ranks in step runs after each, so that no message of before is left.
 */
#include "mpi/ranks.h"

#include <math.h>
#include <pthread.h>
#include <spry/spry.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static spry_matrix *dist_of(spry_context *ctx, const char *kind, const char *options, ranks_way way)
{
    int64_t starts[16];
    spry_matrix *whole = NULL, *A = NULL;
    assert_ok(ctx, spry_generate(ctx, kind, options, &whole));
    ranks_starts(ctx, way, whole->a.rows, 1, starts);
    assert_ok(ctx, dist_from_whole(whole, starts, NULL, &A));
    spry_matrix_free(whole);
    return A;
}

static double residual(const spry_matrix *A, const spry_vector *b, const spry_vector *x)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spry_vector *r = NULL;
    double size = 0, left = 0;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_ones(ctx, A, &r));
    assert_ok(ctx, spry_vector_copy(b, r));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                          (spry_scalar){1, 0}, r));
    assert_ok(ctx, spry_vector_norm(r, &left));
    assert_ok(ctx, spry_vector_norm(b, &size));
    spry_vector_free(r);
    spry_operator_free(op);
    return left / size;
}

static void in_step(const spry_matrix *A, const spry_vector *b)
{
    spry_context *ctx = A->ctx;
    spry_vector *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "method=bicgstab precon=jacobi", &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    spry_vector_free(x);
}

static void check(spry_context *ctx, const char *kind, const char *size, ranks_way way,
                  const char *options)
{
    spry_matrix *A = dist_of(ctx, kind, size, way);
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_split_stats stats = SPRY_SPLIT_STATS_INIT;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solve_split(A, b, x, options, &result, &stats));
    const double left = residual(A, b, x);
    if (!result.converged || result.reason != SPRY_REASON_CONVERGED)
        fail_msg("%s %s: %s after %ld", kind, options, spry_reason_name(result.reason),
                 (long)result.iterations);
    assert_true(left <= 1.01 * result.tolerance);
    assert_true(fabs(left - result.true_residual) <= 1e-3 * result.tolerance + 1e-12);
    assert_true(stats.checks >= 1 && stats.iterations <= result.iterations);
    assert_true(stats.mean_age <= (double)stats.most_age);
    if (strstr(options, "switch-every") && spry_context_ranks(ctx) > 1)
        assert_true(stats.switches > 0);
    in_step(A, b);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

static void test_modes(void **state)
{
    static const char *const modes[] = {"async", "sync", "auto"};
    spry_context *ctx = ranks_context(NULL);
    char options[160];
    (void)state;
    for (int way = 0; way < RANKS_WAYS; way++) {
        for (int m = 0; m < 3; m++) {
            snprintf(options, sizeof options, "mode=%s inner=jacobi", modes[m]);
            check(ctx, "poisson2d", "size=12", (ranks_way)way, options);
            snprintf(options, sizeof options, "mode=%s inner=ilu tol=1e-8", modes[m]);
            check(ctx, "convection-diffusion", "size=8", (ranks_way)way, options);
            snprintf(options, sizeof options,
                     "mode=%s inner=solve solver=[method=cg precon=ic tol=1e-3]", modes[m]);
            check(ctx, "poisson3d", "size=9", (ranks_way)way, options);
        }
        check(ctx, "poisson2d", "size=20", (ranks_way)way, "mode=sync switch-every=7 inner=ic");
    }
    support_context_free(ctx);
}

static void ends(spry_context *ctx, const spry_matrix *A, spry_vector *b, const char *options,
                 spry_reason reason)
{
    spry_vector *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solve_split(A, b, x, options, &result, NULL));
    if (result.reason != reason)
        fail_msg("%s: %s, not %s", options, spry_reason_name(result.reason),
                 spry_reason_name(reason));
    assert_false(result.converged);
    spry_result_clear(ctx, &result);
    spry_vector_free(x);
}

/* What ends a rank's work ends that of all, with the same word. */
static void test_ends(void **state)
{
    static const char *const modes[] = {"mode=async inner=jacobi", "mode=sync inner=jacobi"};
    spry_context *ctx = ranks_context(NULL);
    const bool last = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1;
    spry_matrix *A = dist_of(ctx, "poisson2d", "size=30", RANKS_EVEN);
    spry_vector *b = NULL, *x = NULL;
    char options[160];
    (void)state;
    for (int m = 0; m < 2; m++) {
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        snprintf(options, sizeof options, "%s max-iter=5", modes[m]);
        ends(ctx, A, b, options, SPRY_REASON_ITERATIONS);
        in_step(A, b);
        if (last)
            ((double *)spry_vector_data(b))[0] = NAN;
        ends(ctx, A, b, modes[m], SPRY_REASON_NONFINITE);
        spry_vector_free(b);
    }
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_solve_split(A, b, x, "inner=nothing", NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve_split(A, b, x, "inne=ilu", NULL, NULL));
    in_step(A, b);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
    support_context_free(ctx);
}

static void *ask_to_stop(void *ctx)
{
    const struct timespec while_at_work = {0, 100000000};
    nanosleep(&while_at_work, NULL);
    spry_context_interrupt(ctx);
    return NULL;
}

/* One rank is asked to stop while no rank waits for another: it is reported to the others, and do
 * not go on to the last iteration, of which there are seconds. The request is taken back. */
static void test_stops(void **state)
{
    spry_context *ctx = ranks_context(NULL);
    const bool asked = spry_context_rank(ctx) == spry_context_ranks(ctx) - 1;
    spry_matrix *A = dist_of(ctx, "poisson2d", "size=60", RANKS_EVEN);
    spry_vector *b = NULL;
    pthread_t thread;
    (void)state;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    if (asked)
        assert_int_equal(pthread_create(&thread, NULL, ask_to_stop, ctx), 0);
    ends(ctx, A, b, "mode=async inner=jacobi tol=0 max-iter=300000", SPRY_REASON_STOPPED);
    if (asked)
        pthread_join(thread, NULL);
    in_step(A, b);
    spry_vector_free(b);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Messages that are lost on the way come late, and those behind them. */
static void test_lost(void **state)
{
    spry_context *ctx = ranks_context("delays=[post=0.0001,drop=0.2]");
    (void)state;
    check(ctx, "poisson2d", "size=12", RANKS_EVEN, "mode=async inner=ilu");
    support_context_free(ctx);
}

/* max |min(A x - b, x - lower)| over max |b| of all ranks. */
static double complement(const spry_matrix *A, const spry_vector *b, const spry_vector *lower,
                         const spry_vector *x)
{
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spry_vector *r = NULL, *mine = NULL, *all = NULL;
    double most[2] = {0};
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_vector_ones(ctx, A, &r));
    assert_ok(ctx, spry_vector_copy(b, r));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, x,
                                          (spry_scalar){-1, 0}, r));
    for (int64_t i = 0; i < spry_vector_size(r); i++) {
        const double left = ((const double *)spry_vector_data_const(r))[i],
                     at = ((const double *)spry_vector_data_const(x))[i],
                     least = ((const double *)spry_vector_data_const(lower))[i];
        assert_true(at >= least);
        most[0] = fmax(most[0], fabs(fmin(left, at - least)));
        most[1] = fmax(most[1], fabs(((const double *)spry_vector_data_const(b))[i]));
    }
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 2, most, SPRY_OWN_BORROW, &mine));
    assert_ok(ctx, spry_vector_collect(mine, &all));
    const double *found = spry_vector_data_const(all);
    for (int k = 0; k < spry_context_ranks(ctx); k++)
        for (int i = 0; i < 2; i++)
            most[i] = fmax(most[i], found[2 * k + i]);
    spry_vector_free(all);
    spry_vector_free(mine);
    spry_vector_free(r);
    spry_operator_free(op);
    return most[0] / most[1];
}

/*
 * With lower bounds: 1 and -1 on the right in turns of rows, bounds of 0. All find the same x: two
 * of them differ by less than the sum of their residuals times 1 + max w, where A w >= 1: for
 * poisson2d of 12 x 12 points, 4 on the diagonal, w is at most 13^2 / 8.
 */
static void test_bounds(void **state)
{
    static const char *const options[] = {"mode=sync inner=jacobi", "mode=sync inner=gs",
                                          "mode=async inner=jacobi", "mode=async inner=gs",
                                          "mode=auto inner=gs switch-every=5"};
    spry_context *ctx = ranks_context(NULL);
    (void)state;
    for (int way = 0; way < RANKS_WAYS; way++) {
        spry_matrix *A = dist_of(ctx, "poisson2d", "size=12", (ranks_way)way);
        spry_vector *b = NULL, *lower = NULL, *x = NULL, *first = NULL;
        spry_ranked place = SPRY_RANKED_INIT;
        assert_ok(ctx, spry_matrix_ranked(A, &place));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &lower));
        for (int64_t i = 0; i < spry_vector_size(b); i++)
            ((double *)spry_vector_data(b))[i] = (place.first_row + i) / 30 % 2 ? 1 : -1;
        for (int k = 0; k < 5; k++) {
            char all[160];
            spry_result result = SPRY_RESULT_INIT;
            snprintf(all, sizeof all, "%s tol=1e-8", options[k]);
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            assert_ok(ctx, spry_solve_split_above(A, b, lower, x, all, &result, NULL));
            const double left = complement(A, b, lower, x);
            if (!result.converged)
                fail_msg("%s: %s after %ld", all, spry_reason_name(result.reason),
                         (long)result.iterations);
            assert_true(left <= 1e-8 && fabs(left - result.true_residual) <= 1e-13);
            for (int64_t i = 0; first && i < spry_vector_size(x); i++)
                assert_true(fabs(((double *)spry_vector_data(x))[i] -
                                 ((double *)spry_vector_data(first))[i]) <= 2e-8 * (1 + 169. / 8));
            if (!first)
                first = x;
            else
                spry_vector_free(x);
            spry_result_clear(ctx, &result);
            in_step(A, b);
        }
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_solve_split_above(A, b, lower, first, "inner=ilu", NULL, NULL));
        spry_vector_free(first);
        spry_vector_free(b);
        spry_vector_free(lower);
        spry_matrix_free(A);
    }
    support_context_free(ctx);
}

/* Over a slow network, where the word that it is over comes late, too. */
static void test_delays(void **state)
{
    spry_context *ctx = ranks_context("delays=[halo=0.001 reduction=0.001 post=0.002]");
    (void)state;
    check(ctx, "poisson2d", "size=8", RANKS_EVEN, "mode=async inner=ilu");
    check(ctx, "poisson2d", "size=8", RANKS_EVEN, "mode=sync inner=ilu switch-every=3");
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes), cmocka_unit_test(test_ends),   cmocka_unit_test(test_stops),
        cmocka_unit_test(test_lost),  cmocka_unit_test(test_bounds), cmocka_unit_test(test_delays)};
    MPI_Init(NULL, NULL);
    cmocka_set_test_filter(getenv("SPRY_TEST")); /* NULL: all */
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
