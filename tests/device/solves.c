/*
 * Solves on devices against those of the host: several right-hand sides, numbers whose squares
 * leave the range, callers that look and stop, recurrences that drift.
 */
#include "support/devices.h"
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double tolerance = 1e-10;
/* Residuals of the first iterations differ by the order of sums only: see methods_theory.c. */
static const double alike = 1e-8;

static spry_solver *solver_for(const problem *p, const char *place, const char *options)
{
    spry_solver *solver = NULL;
    char text[64];
    snprintf(text, sizeof text, "device=%s", place);
    assert_ok(p->ctx, spry_solver_new(p->ctx, &solver));
    assert_ok(p->ctx, spry_solver_set(solver, options));
    assert_ok(p->ctx, spry_solver_set(solver, text));
    assert_ok(p->ctx, spry_solver_set_matrix(solver, p->A));
    return solver;
}

/* Random numbers, times a scale. */
static spry_vector *numbers_of(const problem *p, uint64_t seed, double scale)
{
    const int64_t n = spry_matrix_rows(p->A);
    spry_vector *v = NULL;
    double *numbers = malloc((size_t)n * sizeof *numbers);
    assert_non_null(numbers);
    for (int64_t i = 0; i < n; i++)
        numbers[i] = scale * support_number(SPRY_TYPE_D, seed, (uint64_t)i).re;
    assert_ok(p->ctx, spry_vector_new(p->ctx, SPRY_TYPE_D, n, numbers, SPRY_OWN_COPY, &v));
    free(numbers);
    return v;
}

/* |x - y|, or |x| where y is NULL */
static long double distance(const problem *p, const spry_vector *x, const spry_vector *y)
{
    const double *a = spry_vector_data_const(x), *b = y ? spry_vector_data_const(y) : NULL;
    long double sum = 0;
    for (int64_t i = 0; i < spry_matrix_rows(p->A); i++) {
        const long double part = (long double)a[i] - (b ? (long double)b[i] : 0);
        sum += part * part;
    }
    return sqrtl(sum);
}

/* The first iterations reported the same residuals. */
static void same_beginning(const spry_result *on_device, const spry_result *host)
{
    for (int64_t k = 0; k <= 6; k++) {
        assert_true(k < on_device->history_size && k < host->history_size);
        if (!(fabs(on_device->history[k] - host->history[k]) <= alike * host->history[k]))
            fail_msg("iteration %lld: %.12g on the device, %.12g on the host", (long long)k,
                     on_device->history[k], host->history[k]);
    }
}

/* Both reach the tolerance on the way of the method; then they differ by what their residuals allow
 * (a hundredth for what rounding adds to those). Clears the results. */
static void check_both(const problem *p, const spry_vector *b, spry_vector *const x[2],
                       spry_result results[2], const char *device, const char *options)
{
    for (int k = 0; k < 2; k++) {
        problem one = *p;
        one.b = (spry_vector *)(uintptr_t)b;
        one.x = x[k];
        one.inverse = 0; /* the problem's own answer is to another b */
        problem_check_converged(&one, &results[k], tolerance, options);
        assert_string_equal(results[k].device, k == 0 ? device : "cpu");
    }
    same_beginning(&results[0], &results[1]);
    const long double apart = distance(p, x[0], x[1]);
    const long double most = 2.02L * tolerance * p->inverse * distance(p, b, NULL);
    if (!(apart <= most))
        fail_msg("%s: %Lg from the host's answer, at most %Lg follows", options, apart, most);
    for (int k = 0; k < 2; k++)
        spry_result_clear(p->ctx, &results[k]);
}

/* One group of eight and three more, or all at once; a b of zeros and one whose squares overflow
 * among them. */
static void many_by(spry_context *ctx, spry_device *d, const char *options)
{
    enum { COUNT = 11, ZERO = 3, HUGE_ONE = 6 };
    const char *const places[2] = {spry_device_name(d), "cpu"};
    problem p;
    const spry_vector *b[COUNT];
    spry_vector *x[2][COUNT];
    spry_result results[2][COUNT] = {0};
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 100, &p);
    for (int k = 0; k < COUNT; k++)
        b[k] = numbers_of(&p, (uint64_t)k, k == ZERO ? 0 : k == HUGE_ONE ? 1e200 : 1);
    for (int place = 0; place < 2; place++) {
        spry_solver *solver = solver_for(&p, places[place], options);
        for (int k = 0; k < COUNT; k++)
            assert_ok(ctx, spry_vector_like(b[k], spry_matrix_rows(p.A), &x[place][k]));
        assert_ok(ctx, spry_solve_many(solver, COUNT, b, x[place], results[place]));
        spry_solver_free(solver);
    }
    for (int k = 0; k < COUNT; k++) {
        spry_result both[2] = {results[0][k], results[1][k]};
        spry_vector *const pair[2] = {x[0][k], x[1][k]};
        if (k == ZERO) {
            assert_true(both[0].converged && distance(&p, pair[0], NULL) == 0);
            spry_result_clear(ctx, &both[0]);
            spry_result_clear(ctx, &both[1]);
        } else {
            check_both(&p, b[k], pair, both, places[0], options);
        }
        spry_vector_free(pair[0]);
        spry_vector_free(pair[1]);
        spry_vector_free((spry_vector *)(uintptr_t)b[k]);
    }
    problem_free(&p);
}

static void many(spry_context *ctx, spry_device *d)
{
    many_by(ctx, d, "method=cg precon=jacobi tol=1e-10");
    many_by(ctx, d, "method=block-cg precon=jacobi tol=1e-10");
    many_by(ctx, d, "method=block-gmres:restart=4 precon=jacobi tol=1e-10");
    many_by(ctx, d, "method=block-bicgstab precon=jacobi tol=1e-10");
    if (devices_few(d))
        return;
    many_by(ctx, d, "method=gmres-dr:restart=6,keep=2 precon=jacobi tol=1e-10");
    many_by(ctx, d, "method=s-step-cg:s=2 precon=jacobi tol=1e-10");
}

/* Right-hand sides whose squares are beyond the numbers there are, and below them. */
static void scaled(spry_context *ctx, spry_device *d)
{
    static const double scales[] = {1e200, 1e-200};
    const char *const options = "method=cg precon=jacobi tol=1e-10";
    const char *const places[2] = {spry_device_name(d), "cpu"};
    problem p;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 100, &p);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        spry_vector *b = numbers_of(&p, 1, scales[s]), *x[2];
        spry_result results[2] = {{0}};
        for (int place = 0; place < 2; place++) {
            spry_solver *solver = solver_for(&p, places[place], options);
            assert_ok(ctx, spry_vector_like(b, spry_matrix_rows(p.A), &x[place]));
            assert_ok(ctx, spry_solve(solver, b, x[place], &results[place]));
            spry_solver_free(solver);
        }
        check_both(&p, b, x, results, places[0], options);
        spry_vector_free(x[0]);
        spry_vector_free(x[1]);
        spry_vector_free(b);
    }
    problem_free(&p);
}

/* --- dense blocks --------------------------------------------------------------------------------
 */

/* Columns of blocks on the device, stored either way, are solved as those of the host. */
static void blocks(spry_context *ctx, spry_device *d)
{
    enum { COUNT = 3, SIZE = 100 };
    problem p;
    problem_make(ctx, PROBLEM_DEFINITE, SPRY_TYPE_D, SIZE, &p);
    const int64_t n = spry_matrix_rows(p.A), all = n * COUNT;
    double *numbers = malloc((size_t)all * sizeof *numbers);
    for (int order = 0; order < 4; order++) {
        spry_dense at[2] = {SPRY_DENSE_INIT, SPRY_DENSE_INIT};
        spry_vector *on_device[2], *on_host[2], *host;
        spry_result results[COUNT] = {{0}};
        for (int64_t k = 0; k < all; k++)
            numbers[k] = cos((double)k);
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, all, numbers, SPRY_OWN_BORROW, &host));
        for (int v = 0; v < 2; v++) {
            assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, all, NULL, &on_device[v]));
            assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &on_host[v]));
            at[v].rows = n;
            at[v].cols = COUNT;
            at[v].by_rows = (order >> v) & 1;
            at[v].ld = at[v].by_rows ? COUNT : n;
            at[v].data = spry_vector_handle(on_device[v]);
            at[v].device = d;
        }
        assert_ok(ctx, spry_vector_copy(host, on_device[0]));
        spry_solver *solver = solver_for(&p, spry_device_name(d), "method=cg precon=jacobi");
        assert_ok(ctx, spry_solve_dense(solver, &at[0], &at[1], results));
        spry_vector_free(host);
        double *solved = malloc((size_t)all * sizeof *solved);
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, all, solved, SPRY_OWN_BORROW, &host));
        assert_ok(ctx, spry_vector_copy(on_device[1], host));
        for (int j = 0; j < COUNT; j++) {
            assert_true(results[j].converged);
            double *b = spry_vector_data(on_host[0]), *x = spry_vector_data(on_host[1]);
            for (int64_t i = 0; i < n; i++) {
                b[i] = numbers[at[0].by_rows ? i * COUNT + j : j * n + i];
                x[i] = solved[at[1].by_rows ? i * COUNT + j : j * n + i];
            }
            problem seen = p;
            seen.b = on_host[0];
            seen.x = on_host[1];
            assert_true(fabs(problem_residual(&seen, NULL) - results[j].true_residual) <= 1e-12);
            spry_result_clear(ctx, &results[j]);
        }
        for (int v = 0; v < 2; v++) {
            spry_vector_free(on_device[v]);
            spry_vector_free(on_host[v]);
        }
        spry_vector_free(host);
        free(solved);
        spry_solver_free(solver);
    }
    free(numbers);
    problem_free(&p);
}

/* --- callers that look and stop -----------------------------------------------------------------
 */

enum { STOP = 6 };

typedef struct caller {
    const problem *p;
    int64_t calls;
    double heard[STOP + 1];
} caller;

static bool hear(void *data, int64_t iteration, double residual)
{
    caller *c = data;
    assert_int_equal(iteration, ++c->calls);
    assert_true(iteration <= STOP); /* who has stopped is not called again */
    c->heard[iteration] = residual;
    return iteration != STOP;
}

static bool look(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    const caller *c = data;
    problem seen = *c->p;
    seen.x = (spry_vector *)(uintptr_t)x;
    const double truth = problem_residual(&seen, NULL);
    if (!(fabs(truth - residual) <= alike * residual))
        fail_msg("iteration %lld: the method reported %.10g, x has %.10g", (long long)iteration,
                 residual, truth);
    return hear(data, iteration, residual);
}

/* Ended by the caller, with an x that is as good as reported. */
static void check_stopped(problem *p, const char *options, const char *place, bool looks,
                          spry_result *result)
{
    caller c = {.p = p};
    spry_solver *solver = solver_for(p, place, options);
    if (looks) {
        spry_solver_set_monitor(solver, look, &c);
    } else {
        spry_solver_set_watch(solver, hear, &c);
    }
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx, spry_solve(solver, p->b, p->x, result));
    problem_check(p, result, options);
    /* A watch is heard while the device goes on, which may have got there meanwhile. */
    if (looks || strcmp(place, "cpu") == 0 || !result->converged)
        assert_int_equal(result->reason, SPRY_REASON_STOPPED);
    assert_int_equal(c.calls, STOP);
    assert_true(result->true_residual < result->initial_residual);
    assert_string_equal(result->device, place);
    /* Restarts report a residual in the place of the last estimate. */
    for (int k = 1; k <= STOP; k++)
        assert_true(fabs(c.heard[k] - result->history[k]) <= alike * result->history[k]);
    spry_solver_free(solver);
}

/* A monitor makes every iteration wait for it; a watch hears of them while the device goes on. */
static void callers_of(spry_context *ctx, spry_device *d, const char *options)
{
    problem p;
    problem_make(ctx, PROBLEM_DEFINITE, SPRY_TYPE_D, 100, &p);
    for (int looks = 0; looks < 2; looks++) {
        spry_result on_device = SPRY_RESULT_INIT, host = SPRY_RESULT_INIT;
        check_stopped(&p, options, spry_device_name(d), looks, &on_device);
        check_stopped(&p, options, "cpu", looks, &host);
        same_beginning(&on_device, &host);
        assert_int_equal(host.iterations, STOP);
        if (looks) {
            assert_int_equal(on_device.iterations, STOP);
            assert_true(fabs(on_device.true_residual - host.true_residual) <=
                        alike * host.true_residual);
        } else {
            assert_true(on_device.iterations >= STOP);
        }
        spry_result_clear(ctx, &on_device);
        spry_result_clear(ctx, &host);
    }
    problem_free(&p);
}

/* x at each step, or at the end of a cycle: then it is made for who looks. */
static void callers(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {"method=cg precon=jacobi tol=1e-10",
                                          "method=gmres:restart=4 precon=jacobi tol=1e-10",
                                          "method=gmres precon=ssor tol=1e-13",
                                          "method=fgmres:restart=3 precon=jacobi tol=1e-10",
                                          "method=lgmres:restart=4 precon=none tol=1e-10",
                                          "method=bicgstabl precon=none tol=1e-13",
                                          "method=gpbicg precon=none tol=1e-13"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k += devices_few(d) ? 3 : 1)
        callers_of(ctx, d, options[k]);
}

/* --- preconditioners that are called -------------------------------------------------------------
 */

static bool count_calls(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    double norm;
    (void)residual;
    if (iteration % 2 == 0) /* a look changes nothing */
        assert_ok(x->ctx, spry_vector_norm(x, &norm));
    ++*(int64_t *)data;
    return true;
}

static spry_vector *solved(const problem *p, spry_solver *solver, const spry_vector *b,
                           spry_result *result)
{
    spry_vector *x = NULL;
    assert_ok(p->ctx, spry_vector_like(b, spry_matrix_rows(p->A), &x));
    assert_ok(p->ctx, spry_solve(solver, b, x, result));
    assert_true(result->converged);
    return x;
}

/* Whether turns are sent ahead, recorded, or each residual is judged before the next: the numbers
 * are the same to the bit, also those of later solves by one solver. */
static void check_ahead(const problem *p, const char *options, const char *place)
{
    enum { ROUNDS = 4 };
    spry_solver *again = solver_for(p, place, options);
    for (int round = 0; round < ROUNDS; round++) {
        spry_vector *b = numbers_of(p, (uint64_t)round % 3, 1), *x[3];
        spry_result results[3] = {SPRY_RESULT_INIT, SPRY_RESULT_INIT, SPRY_RESULT_INIT};
        spry_solver *fresh = solver_for(p, place, options), *heard = solver_for(p, place, options);
        int64_t calls = 0;
        spry_solver_set_monitor(heard, count_calls, &calls);
        x[0] = solved(p, again, b, &results[0]);
        x[1] = solved(p, fresh, b, &results[1]);
        x[2] = solved(p, heard, b, &results[2]);
        assert_int_equal(calls, results[2].iterations);
        for (int k = 0; k < 3; k++) {
            if (results[k].iterations != results[0].iterations || distance(p, x[k], x[0]) != 0 ||
                results[k].true_residual != results[0].true_residual)
                fail_msg("%s, solve %d: %lld iterations to %g, %lld to %g where it is %s", options,
                         round, (long long)results[0].iterations, results[0].true_residual,
                         (long long)results[k].iterations, results[k].true_residual,
                         k == 1 ? "the first" : "heard");
        }
        for (int k = 0; k < 3; k++) {
            spry_vector_free(x[k]);
            spry_result_clear(p->ctx, &results[k]);
        }
        spry_solver_free(fresh);
        spry_solver_free(heard);
        spry_vector_free(b);
    }
    spry_solver_free(again);
}

static void ahead(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {"method=cg precon=sai tol=1e-10",
                                          "method=cg precon=amg:coarse_size=20 tol=1e-10",
                                          "method=bicgstab precon=sai tol=1e-10",
                                          "method=gmres:restart=4 precon=sai tol=1e-10",
                                          "method=minres precon=poly tol=1e-10",
                                          "method=cg precon=amg:coarse_size=20,cycle=k tol=1e-10"};
    problem p;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 300, &p);
    for (size_t k = devices_few(d); k < sizeof options / sizeof *options;
         k += devices_few(d) ? 2 : 1)
        check_ahead(&p, options[k], spry_device_name(d));
    problem_free(&p);
}

/* As on the host (methods_ends.c): pipelined conjugate gradients are started again when they have
 * drifted, with a word about it, and get there. When is a matter of rounding. */
static void drifting(spry_context *ctx, spry_device *d)
{
    char options[128];
    int warned = 0;
    snprintf(options, sizeof options, "method=pipecg precon=none tol=1e-13 max-iter=8000 device=%s",
             spry_device_name(d));
    for (int n = 40; n <= 80; n += 8) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        problem_make(ctx, PROBLEM_ILL, SPRY_TYPE_D, n, &p);
        problem_solve(&p, options, &result);
        problem_check_converged(&p, &result, 1e-13, options);
        assert_string_equal(result.device, spry_device_name(d));
        warned += result.warnings &&
                  strstr(result.warnings, "the recurrence had drifted from the true residual: "
                                          "restarted from the best x, with");
        spry_result_clear(ctx, &result);
        problem_free(&p);
    }
    assert_true(warned >= 1);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(many),    DEVICES_TEST(blocks), DEVICES_TEST(scaled),
        DEVICES_TEST(callers), DEVICES_TEST(ahead),  DEVICES_TEST(drifting),
    };
    return DEVICES_RUN(tests);
}
