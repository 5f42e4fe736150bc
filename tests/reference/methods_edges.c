/*
 * Edges of a solve: what counts as an iteration, stops that are asked for, operators that go wrong
 * early, numbers at the ends of the range, vectors handed in twice, operators that lack something.
 */
#include "support/faulty.h"
#include "support/problems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 60 };

/* A monitor that counts its calls and may stop or interrupt at one. */
typedef struct counter {
    spry_context *ctx;
    int64_t calls, stop, interrupt; /* 0: never */
} counter;

static bool counting(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    counter *c = data;
    (void)residual;
    (void)x;
    assert_int_equal(iteration, ++c->calls);
    if (iteration == c->interrupt)
        spry_context_interrupt(c->ctx);
    return iteration != c->stop;
}

/* Solves from 0 with a method's text. */
static void solve_text(problem *p, const char *text, const char *options, counter *c,
                       spry_result *result)
{
    spry_solver *solver;
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx, spry_solver_new(p->ctx, &solver));
    assert_ok(p->ctx, spry_solver_set(solver, options));
    assert_ok(p->ctx, spry_solver_set_matrix(solver, p->A));
    assert_ok(p->ctx, spry_solver_set_method_text(solver, text));
    c->ctx = p->ctx;
    spry_solver_set_monitor(solver, counting, c);
    assert_ok(p->ctx, spry_solve(solver, p->b, p->x, result));
    spry_solver_free(solver);
}

/* Where a method has estimates they are the iterations, also if none is ever reported. */
static void loops_without_iterations_end(void **state)
{
    static const char never[] = "method never \"an estimate that is never reported\"\n"
                                "start:\n"
                                "    r = b - A x\n"
                                "    residual |r|\n"
                                "loop:\n"
                                "    r = b - A x\n"
                                "    residual |r|\n"
                                "    if |r| < 0:\n"
                                "        estimate |r|\n"
                                "    end\n"
                                "finish:\n"
                                "    x = x + r\n";
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    counter c = {0};
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 36, &p);
    solve_text(&p, never, "max-iter=10", &c, &result);
    assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
    assert_int_equal(result.iterations, 0);
    assert_int_equal(c.calls, 0);
    spry_result_clear(p.ctx, &result);
    problem_free(&p);
}

/*
 * Richardson's iteration, from start again after each third step: eigenvalues of the grid are in
 * 0.5..8.5, so that a step of 0.2 takes a tenth off the residual or more, and no two are the same.
 */
static void restarts_are_no_iterations(void **state)
{
    static const char *const first[] = {"residual |r|", "k = 0"}; /* reported in start, or not */
    problem p;
    spry_result results[2] = {{0}};
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 36, &p);
    for (int v = 0; v < 2; v++) {
        counter c = {0};
        char text[512];
        snprintf(text, sizeof text,
                 "method again \"begins again\"\nstart:\n k = 0\n r = b - A x\n %s\n"
                 "loop:\n x = x + 0.2 r\n r = b - A x\n k = k + 1\n residual |r|\n"
                 " restart if k == 3\n",
                 first[v]);
        solve_text(&p, text, "max-iter=10 tol=1e-14", &c, &results[v]);
        assert_int_equal(results[v].reason, SPRY_REASON_ITERATIONS);
        assert_int_equal(results[v].iterations, 10);
        assert_int_equal(results[v].history_size, 11);
        assert_int_equal(c.calls, 10);
        assert_true(results[v].history[0] == 1 && results[v].initial_residual == 1);
        for (int i = 0; i < 10; i++)
            assert_true(results[v].history[i + 1] <= 0.9 * (1 + 1e-12) * results[v].history[i]);
    }
    assert_memory_equal(results[0].history, results[1].history, 11 * sizeof(double));
    for (int v = 0; v < 2; v++)
        spry_result_clear(p.ctx, &results[v]);
    problem_free(&p);
}

/* A method that claims to have converged is started again, but not when the caller has enough. */
static void stops_hold_where_methods_lie(void **state)
{
    static const char liar[] = "method liar \"has converged in the third step, it says\"\n"
                               "start:\n k = 0\n r = b - A x\n residual |r|\n"
                               "loop:\n x = x + 0.2 r\n r = b - A x\n k = k + 1\n"
                               " residual where(k < 3, |r|, 0)\n";
    problem p;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 36, &p);
    for (int v = 0; v < 3; v++) {
        counter c = {.stop = v == 1 ? 3 : 0, .interrupt = v == 2 ? 3 : 0};
        spry_result result = SPRY_RESULT_INIT;
        solve_text(&p, liar, "tol=1e-12", &c, &result);
        assert_int_equal(result.iterations, c.calls);
        if (v == 0) { /* never stopped */
            assert_true(result.iterations > 3);
        } else {
            assert_int_equal(result.iterations, 3);
            assert_int_equal(result.reason, SPRY_REASON_STOPPED);
            assert_string_equal(spry_reason_name(result.reason), "interrupted");
            assert_true(result.true_residual < 1);
        }
        assert_false(spry_context_interrupted(p.ctx, true)); /* the solve has taken it */
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

/* A system with an operator of the caller's. */
typedef struct called {
    spry_context *ctx;
    faulty f;
    spry_operator *A;
    spry_vector *b, *x;
    spry_solver *solver;
} called;

static void called_make(spry_context *ctx, faulty f, bool transposes, const char *options,
                        called *s)
{
    *s = (called){.ctx = ctx, .f = f};
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, transposes,
                                               faulty_difference, &s->f, &s->A));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &s->b));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &s->x));
    for (int i = 0; i < N; i++)
        ((double *)spry_vector_data(s->b))[i] = sin(i + 1.0);
    assert_ok(ctx, spry_solver_new(ctx, &s->solver));
    assert_ok(ctx, spry_solver_set(s->solver, options));
    assert_ok(ctx, spry_solver_set_operator(s->solver, s->A));
}

static void called_free(called *s)
{
    spry_solver_free(s->solver);
    spry_operator_free(s->A);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
}

static void assert_finite(const spry_vector *x)
{
    for (int64_t i = 0; i < spry_vector_size(x); i++)
        assert_true(isfinite(((const double *)spry_vector_data_const(x))[i]));
}

/* A product with a NaN is no proof that the matrix is not definite, or singular. No method ends
 * before the 20th product: the sine has a part in all 60 eigenvectors. */
static void nan_is_no_breakdown(void **state)
{
    static const char *const methods[] = {"cg", "bicgstab", "gmres", "minres"};
    const int most = 20;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int k = 0; k < 2 * most; k++) {
            const int from = 1 + k / 2;
            const bool once = k % 2; /* then a look at A, not the method, may have met it */
            called s;
            spry_result result = SPRY_RESULT_INIT;
            char options[96];
            snprintf(options, sizeof options, "method=%s precon=none tol=1e-14", methods[m]);
            called_make(*state, (faulty){.n = N, .from = from, .once = once}, true, options, &s);
            const spry_status status = spry_solve(s.solver, s.b, s.x, &result);
            if (status != SPRY_STATUS_OK) /* A x of the first guess */
                assert_status(s.ctx, SPRY_STATUS_BAD_INPUT, status);
            if (result.reason != SPRY_REASON_NONFINITE && !(once && result.converged))
                fail_msg("%s, NaN from call %d: %s (%s)", options, from,
                         spry_reason_name(result.reason), result.detail);
            assert_finite(s.x);
            spry_result_clear(s.ctx, &result);
            called_free(&s);
        }
}

/* Where b is scaled, a first guess that would leave the range is not: x stays finite. */
static void first_guesses_may_be_huge(void **state)
{
    static const char *const methods[] = {"cg", "gmres", "bicgstab"};
    static const double sizes[] = {1e-200, 1, 1e200}, guesses[] = {0, 1, 1e50, 1e150, 1e290};
    problem p;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 36, &p);
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 3; k++)
            for (int g = 0; g < 5; g++) {
                char options[64];
                spry_result result = SPRY_RESULT_INIT;
                snprintf(options, sizeof options, "method=%s precon=none", methods[m]);
                assert_ok(p.ctx, spry_vector_fill(p.b, (spry_scalar){sizes[k], 0}));
                assert_ok(p.ctx, spry_vector_fill(p.x, (spry_scalar){guesses[g], 0}));
                const spry_status status = spry_quick_solve(p.ctx, p.A, p.b, p.x, options, &result);
                if (status != SPRY_STATUS_OK) /* |b - A x| / |b| is no number */
                    support_message_has(p.ctx,
                                        "of the first guess is beyond the range of the type");
                if (guesses[g] <= sizes[k] && !result.converged)
                    fail_msg("%s, b %g, x %g: %s (%s)", options, sizes[k], guesses[g],
                             spry_reason_name(result.reason), result.detail);
                assert_true(status == SPRY_STATUS_OK || guesses[g] / sizes[k] > 1e290);
                assert_finite(p.x);
                spry_result_clear(p.ctx, &result);
            }
    problem_free(&p);
}

/* What is not known is NaN. The second product is the first residual of the second system. */
static void failures_before_the_first_residual(void **state)
{
    enum { COUNT = 3 };
    called s;
    spry_result results[COUNT] = {{0}};
    spry_vector *x[COUNT];
    called_make(*state, (faulty){.n = N, .from = 2, .fail = true}, true,
                "method=bicgstab precon=none", &s);
    const spry_vector *const b[COUNT] = {s.b, s.b, s.b};
    for (int k = 0; k < COUNT; k++) {
        assert_ok(s.ctx, spry_vector_new(s.ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x[k]));
        assert_ok(s.ctx, spry_vector_fill(x[k], (spry_scalar){1, 0})); /* 0 needs no product */
    }
    assert_status(s.ctx, SPRY_STATUS_IO, spry_solve_many(s.solver, COUNT, b, x, results));
    for (int k = 0; k < COUNT; k++) {
        assert_false(results[k].converged);
        assert_int_equal(results[k].reason, SPRY_REASON_FAILED);
        assert_int_equal(results[k].iterations, 0);
        assert_true(isnan(results[k].true_residual));
        assert_int_equal(results[k].history_size, k == 2 ? 0 : 1);
        assert_true((results[k].history != NULL) == (k < 2));
        if (k == 0) {
            assert_true(isfinite(results[k].initial_residual) &&
                        results[k].history[0] == results[k].initial_residual);
        } else {
            assert_true(isnan(results[k].initial_residual) && isnan(results[k].residual));
            assert_true(k == 2 || isnan(results[k].history[0]));
        }
        spry_result_clear(s.ctx, &results[k]);
        assert_finite(x[k]);
        spry_vector_free(x[k]);
    }
    called_free(&s);
}

/* An x cannot be two answers, nor an answer and a right-hand side. One b may serve for several. */
static void vectors_are_not_shared(void **state)
{
    called s, other;
    called_make(*state, (faulty){.n = N, .from = 10000}, true, "method=cg", &s);
    called_make(*state, (faulty){.n = N, .from = 10000}, true, "method=cg", &other);
    spry_vector *const twice[] = {s.x, s.x}, *const over[] = {s.x, other.x};
    const spry_vector *const b[] = {s.b, other.b}, *const bad[] = {s.b, s.x},
                             *const same[] = {s.b, s.b};
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE, spry_solve_many(s.solver, 2, b, twice, NULL));
    support_message_has(s.ctx, "x 0 and x 1 are the same array");
    assert_status(s.ctx, SPRY_STATUS_BAD_USAGE, spry_solve_many(s.solver, 2, bad, over, NULL));
    support_message_has(s.ctx, "x 0 and b 1 are the same array");
    assert_ok(s.ctx, spry_solve_many(s.solver, 2, same, over, NULL));
    called_free(&s);
    called_free(&other);
}

/* Any number is a seed; the vector's elements are between -1 and 1 and not all 0. */
static void any_number_is_a_seed(void **state)
{
    static const char *const seeds[] = {"1e300", "-1e300", "inf - inf", "-inf", "-3", "0.5"};
    problem p;
    problem_make(*state, PROBLEM_DOMINANT, SPRY_TYPE_D, 36, &p);
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        counter c = {0};
        spry_result result = SPRY_RESULT_INIT;
        char text[512];
        snprintf(text, sizeof text,
                 "method seeded \"steps and chance\"\nstart:\n seed = %s\n v = random(seed)\n"
                 " vv = (v, v)\n breakdown if not positive(vv) or vv > 36 \"{vv}\"\n"
                 " r = b - A x\n residual |r|\n"
                 "loop:\n x = x + 0.2 r\n r = b - A x\n residual |r|\n",
                 seeds[k]);
        solve_text(&p, text, "tol=1e-8", &c, &result);
        problem_check_converged(&p, &result, 1e-8, seeds[k]);
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

static spry_status zero(void *data, spry_transpose op, const void *in, void *out)
{
    (void)op;
    (void)in;
    memset(out, 0, *(const size_t *)data);
    return SPRY_STATUS_OK;
}

/* On the left the residual is measured by M: where that is 0 the division is not done. */
static void singular_preconditioners_are_named(void **state)
{
    static const char *const methods[] = {"bicgstab", "bicgstabl",    "cgs",  "gcr",
                                          "gmres",    "gpbicg",       "idr",  "lgmres",
                                          "qmr",      "pipebicgstab", "tfqmr"};
    size_t bytes = N * sizeof(double);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        called s;
        spry_operator *M;
        spry_result result = SPRY_RESULT_INIT;
        char options[64];
        snprintf(options, sizeof options, "method=%s:side=left", methods[m]);
        called_make(*state, (faulty){.n = N, .from = 10000}, true, options, &s);
        assert_ok(s.ctx,
                  spry_operator_from_function(s.ctx, SPRY_TYPE_D, N, N, true, zero, &bytes, &M));
        assert_ok(s.ctx, spry_solver_set_precon(s.solver, M));
        assert_ok(s.ctx, spry_solve(s.solver, s.b, s.x, &result));
        if (result.reason != SPRY_REASON_BREAKDOWN ||
            strcmp(result.detail, "M r = 0: the preconditioner is singular") != 0)
            fail_msg("%s: %s (%s)", options, spry_reason_name(result.reason), result.detail);
        spry_result_clear(s.ctx, &result);
        called_free(&s);
        spry_operator_free(M);
    }
}

/* A^H and M^H are asked for where they are used: steps along M A^H r, and along M^H r. The zero
 * operator for M leaves x alone. */
static void transposes_are_asked_for_one_by_one(void **state)
{
    static const char *const products[] = {"M A^H r", "M^H r"}; /* of A, of M */
    size_t bytes = N * sizeof(double);
    for (int v = 0; v < 2; v++)
        for (int missing = 0; missing < 2; missing++) { /* from A, from M */
            called s;
            spry_operator *M;
            char text[256];
            snprintf(
                text, sizeof text,
                "method steps \"steps\"\nstart:\n r = b - A x\nloop:\n x = x + %s\n r = b - A x\n"
                " residual |r|\n",
                products[v]);
            called_make(*state, (faulty){.n = N, .from = 10000}, missing != 0, "max-iter=3", &s);
            assert_ok(s.ctx, spry_operator_from_function(s.ctx, SPRY_TYPE_D, N, N, missing != 1,
                                                         zero, &bytes, &M));
            assert_ok(s.ctx, spry_solver_set_precon(s.solver, M));
            assert_ok(s.ctx, spry_solver_set_method_text(s.solver, text));
            const spry_status status = spry_solve(s.solver, s.b, s.x, NULL);
            if (missing != v) {
                assert_ok(s.ctx, status);
            } else {
                assert_status(s.ctx, SPRY_STATUS_UNSUPPORTED, status);
                snprintf(text, sizeof text,
                         "method steps needs products with %c^H, which operator function does not "
                         "have",
                         "AM"[v]);
                support_message_has(s.ctx, text);
            }
            called_free(&s);
            spry_operator_free(M);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(loops_without_iterations_end),
        TEST(restarts_are_no_iterations),
        TEST(stops_hold_where_methods_lie),
        TEST(nan_is_no_breakdown),
        TEST(first_guesses_may_be_huge),
        TEST(failures_before_the_first_residual),
        TEST(vectors_are_not_shared),
        TEST(any_number_is_a_seed),
        TEST(singular_preconditioners_are_named),
        TEST(transposes_are_asked_for_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
