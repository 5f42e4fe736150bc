/*
 * fork() after work with several threads, which the child does not have: it goes on with one, with
 * the objects of its parent and with its own, and gets the same numbers. (OpenMP's run-time would
 * wait for the threads for ever.)
 */
#include "support/generated.h"
#include "support/support.h"

#include "base/base.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN
#endif
#endif

/* Enough rows for all threads in each region. */
enum { SIZE = 150, ROWS = SIZE * SIZE };

/* Solves with what there is; 0 when x is `expected`, bit by bit. */
static int solve(spry_context *ctx, spry_solver *solver, const spry_vector *b, spry_vector *x,
                 const double *expected)
{
    spry_result result = SPRY_RESULT_INIT;
    memset(spry_vector_data(x), 0, ROWS * sizeof(double));
    if (spry_solve(solver, b, x, &result) != SPRY_STATUS_OK)
        return 1;
    const bool converged = result.converged;
    spry_result_clear(ctx, &result);
    if (!converged)
        return 2;
    return memcmp(spry_vector_data_const(x), expected, ROWS * sizeof(double)) == 0 ? 0 : 3;
}

/* All of it again. */
static int solve_again(const char *precon, const double *expected)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    char options[64];
    int found = 10;
    snprintf(options, sizeof options, "method=cg precon=%s", precon);
    if (spry_context_new("threads=3", &ctx) == SPRY_STATUS_OK && spry_context_threads(ctx) == 1 &&
        spry_generate(ctx, "poisson2d", "size=150", &A) == SPRY_STATUS_OK &&
        spry_vector_ones(ctx, A, &b) == SPRY_STATUS_OK &&
        spry_vector_zeros(ctx, A, &x) == SPRY_STATUS_OK &&
        spry_solver_new(ctx, &solver) == SPRY_STATUS_OK &&
        spry_solver_set(solver, options) == SPRY_STATUS_OK &&
        spry_solver_set_matrix(solver, A) == SPRY_STATUS_OK)
        found = solve(ctx, solver, b, x, expected);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return found;
}

static void child_solves(const char *precon)
{
    spry_context *ctx = support_context("threads=3");
    spry_matrix *A = generated(ctx, "poisson2d", "size=150");
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    char options[64];
    double *expected = malloc(ROWS * sizeof *expected);
    int status = 0;
    snprintf(options, sizeof options, "method=cg precon=%s", precon);
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    memcpy(expected, spry_vector_data_const(x), ROWS * sizeof *expected);
    const pid_t child = fork();
    if (child == 0) {
        alarm(100); /* where it hangs */
        int found = spry_context_threads(ctx) == 1 ? solve(ctx, solver, b, x, expected) : 9;
        _exit(found == 0 ? solve_again(precon, expected) : found);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
    /* The parent has its threads as before. */
    assert_int_equal(spry_context_threads(ctx), 3);
    assert_int_equal(solve(ctx, solver, b, x, expected), 0);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    free(expected);
    support_context_free(ctx);
}

static void test_children(void **state)
{
    (void)state;
#ifdef UNDER_TSAN /* it does not follow such a child */
    skip();
#endif
    static const char *const precons[] = {"jacobi", "amg", "ic", "direct"};
    for (int i = 0; i < 4; i++)
        child_solves(precons[i]);
}

static void *ask_for_many(void *ctx)
{
    (void)base_team(ctx, 800);
    return NULL;
}

/* A process whose first threads are being tried by one thread while another forks. */
static int fork_meanwhile(void)
{
    spry_context *ctx = NULL;
    int status = 0;
    pthread_t asking;
    if (spry_context_new("threads=1", &ctx) != SPRY_STATUS_OK ||
        pthread_create(&asking, NULL, ask_for_many, ctx) != 0)
        return 20;
    for (int k = 0; k < 40; k++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(20); /* where it hangs */
            (void)base_team(ctx, 2);
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return 21;
        usleep(200);
    }
    pthread_join(asking, NULL);
    spry_context_free(ctx);
    return 0;
}

/* Before any other test: the process must not have asked for threads. */
static void test_meanwhile(void **state)
{
    (void)state;
#ifdef UNDER_TSAN
    skip();
#endif
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(fork_meanwhile());
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meanwhile),
                                       cmocka_unit_test(test_children)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
