/*
 * Honest ends: what is called converged has the residual, what drifts is started again, x is up to
 * date wherever a solve ends, and nothing is lost when an operator or the caller stops it.
 */
#include "support/faulty.h"
#include "support/generated.h"
#include "support/numeric.h"
#include "support/problems.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* precon=auto for methods that are built on one, none for the others that converge without. */
static const char *precon_of(const spry_entry *info)
{
    if (strcmp(info->name, "richardson") == 0)
        return "jacobi";
    return strstr(info->text, "\nprecon ") ? "auto" : "none";
}

/* A problem that the method is for, or at least gets somewhere with. */
static void make_for(spry_context *ctx, const spry_entry *info, int64_t n, problem *p)
{
    const bool symmetric = strstr(info->purpose, "complex symmetric") != NULL;
    problem_make(ctx, symmetric ? PROBLEM_SYMMETRIC : PROBLEM_DOMINANT, SPRY_TYPE_Z, n, p);
}

/* No tolerance is too small to ask for, and none is called reached that is not. */
static void tolerances_beyond_rounding(void **state)
{
    spry_entry info = SPRY_ENTRY_INIT;
    for (int t = 0; t < 2; t++) {
        problem p;
        problem_make(*state, PROBLEM_ILL, support_types[t], 36, &p);
        for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++) {
            spry_result result = SPRY_RESULT_INIT;
            char options[128];
            snprintf(options, sizeof options, "method=%s precon=%s tol=%g max-iter=600 stall=100",
                     info.name, precon_of(&info), t == 0 ? 1e-10 : 1e-18);
            problem_solve(&p, options, &result);
            problem_check(&p, &result, options);
            assert_false(result.converged);
            spry_result_clear(p.ctx, &result);
        }
        problem_free(&p);
    }
}

/* The four more recurrences of pipelined conjugate gradients drift: sooner or later they must be
 * started again, with a word about it, and they get there. When is a matter of rounding. */
static void drifting_recurrences_are_replaced(void **state)
{
    const char *options = "method=pipecg precon=none tol=1e-13 max-iter=8000";
    int warned = 0;
    for (int n = 40; n <= 80; n += 8) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        problem_make(*state, PROBLEM_ILL, SPRY_TYPE_D, n, &p);
        problem_solve(&p, options, &result);
        problem_check_converged(&p, &result, 1e-13, options);
        warned += result.warnings &&
                  strstr(result.warnings, "the recurrence had drifted from the true residual: "
                                          "restarted from the best x, with");
        spry_result_clear(p.ctx, &result);
        problem_free(&p);
    }
    assert_true(warned >= 1);
}

/* A left preconditioner changes the norm that the recurrence knows: what it takes for convergence
 * may not be, and then it goes on to less. (The ratio of the norms is at most the condition of M.)
 */
static void left_preconditioners_mislead_nobody(void **state)
{
    static const char *const methods[] = {"gmres", "gcr", "lgmres", "bicgstab", "bicgstabl",
                                          "cgs",   "idr", "qmr",    "tfqmr",    "gpbicg"};
    enum { N = 30 };
    double rows[N * N] = {0};
    for (int i = 0; i < N; i++) {
        const double scale = pow(10, i % 5); /* rows of very different size */
        rows[i * N + i] = 4 * scale;
        rows[i * N + (i + 1) % N] = -scale;
        rows[i * N + (i + N - 1) % N] = -2 * scale;
    }
    problem p;
    problem_from_matrix(*state, support_from_rows(*state, SPRY_TYPE_D, N, N, rows), &p);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        spry_result result = SPRY_RESULT_INIT;
        char options[128];
        snprintf(options, sizeof options, "method=%s:side=left precon=jacobi tol=1e-10",
                 methods[m]);
        problem_solve(&p, options, &result);
        problem_check_converged(&p, &result, 1e-10, options);
        spry_result_clear(p.ctx, &result);
    }
    problem_free(&p);
}

/* Cases that once ended badly: their counts are theory (qmr: those of bicg) or far from the limit.
 */
static void ends_that_were_bad(void **state)
{
    static const struct {
        problem_kind kind;
        spry_type type;
        int64_t n, most;
        const char *options;
    } cases[] = {
        {PROBLEM_SINGULAR, SPRY_TYPE_Z, 36, 20, "method=qmr precon=jacobi tol=1e-10"},
        {PROBLEM_SINGULAR, SPRY_TYPE_Z, 36, 20, "method=qmr:side=left precon=jacobi tol=1e-10"},
        {PROBLEM_INDEFINITE, SPRY_TYPE_S, 36, 50,
         "method=bicgstabl:side=left precon=jacobi tol=1e-4"},
        {PROBLEM_ILL, SPRY_TYPE_D, 36, 3000, "method=gcr:side=left precon=jacobi tol=1e-10"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        problem_make(*state, cases[k].kind, cases[k].type, cases[k].n, &p);
        problem_solve(&p, cases[k].options, &result);
        p.inverse = p.shortest ? 0 : p.inverse; /* preconditioned: not the shortest answer */
        problem_check_converged(&p, &result, numeric_unit(cases[k].type) > 1e-10 ? 1e-4 : 1e-10,
                                cases[k].options);
        if (result.iterations > cases[k].most)
            fail_msg("%s: %lld iterations", cases[k].options, (long long)result.iterations);
        spry_result_clear(p.ctx, &result);
        problem_free(&p);
    }
}

/*
 * Wherever the limit on iterations falls, x is up to date: its residual is the one the method
 * reported. 1e-8: see methods_theory.c. symmlq reports a bound.
 */
static void any_iteration_can_be_the_last(void **state)
{
    spry_entry info = SPRY_ENTRY_INIT;
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++) {
        problem p;
        make_for(*state, &info, 49, &p);
        for (int limit = 0; limit <= 9; limit++) {
            spry_result result = SPRY_RESULT_INIT;
            char options[128];
            snprintf(options, sizeof options,
                     "method=%s precon=%s tol=1e-12 restart=4 max-iter=%d keep=last", info.name,
                     precon_of(&info), limit);
            problem_solve(&p, options, &result);
            problem_check(&p, &result, options);
            assert_true(result.iterations <= limit);
            assert_true(result.converged || result.iterations == limit);
            const double reported = result.residual, truth = result.true_residual;
            const bool bound = strcmp(info.name, "symmlq") == 0;
            /* the best x may be an earlier one */
            if (!(truth <= reported * (1 + 1e-8) + 1e-14) ||
                (!bound && reported <= result.initial_residual &&
                 !(truth >= reported * (1 - 1e-8) - 1e-14)))
                fail_msg("%s: reported %.10g, true is %.10g", options, reported, truth);
            spry_result_clear(p.ctx, &result);
        }
        problem_free(&p);
    }
}

typedef struct watch {
    problem *p;
    int64_t calls, stop;
    bool estimates, interrupt;
} watch;

static bool watching(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    watch *w = data;
    assert_int_equal(iteration, ++w->calls);
    if (!w->estimates) {
        problem seen = *w->p;
        seen.x = (spry_vector *)(uintptr_t)x;
        const double truth = problem_residual(&seen, NULL);
        if (!(fabs(truth - residual) <= 1e-8 * residual + 1e-14))
            fail_msg("iteration %lld: the method reported %.10g, x has %.10g", (long long)iteration,
                     residual, truth);
    }
    if (w->interrupt && iteration == w->stop)
        spry_context_interrupt(w->p->ctx);
    return w->interrupt || iteration != w->stop;
}

/* The monitor sees each iteration with its x (that would be handed back), and
 * can stop it; so can an interrupt. x is up to date then as well. */
static void monitors_see_all_and_may_stop(void **state)
{
    spry_context *ctx = *state;
    spry_entry info = SPRY_ENTRY_INIT;
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++)
        for (int interrupt = 0; interrupt < 2; interrupt++) {
            problem p;
            spry_solver *solver;
            spry_result result = SPRY_RESULT_INIT;
            char options[128];
            make_for(ctx, &info, 49, &p);
            /* Those two are there in a few steps, and direct in one but for single precision. */
            const bool direct = strcmp(info.name, "direct") == 0;
            watch w = {.p = &p,
                       .stop = direct || strcmp(info.name, "refine") == 0 ? 1
                               : strcmp(info.name, "s-step-cg") == 0      ? 3
                                                                          : 6,
                       .estimates = strstr(info.text, "estimate ") != NULL,
                       .interrupt = interrupt};
            snprintf(options, sizeof options, "method=%s%s precon=%s tol=1e-12", info.name,
                     direct ? ":precision=single" : "", precon_of(&info));
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            assert_ok(ctx, spry_solver_set(solver, options));
            assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
            spry_solver_set_monitor(solver, watching, &w);
            assert_ok(ctx, spry_solve(solver, p.b, p.x, &result));
            problem_check(&p, &result, options);
            if (result.reason != SPRY_REASON_STOPPED || result.iterations != w.stop ||
                w.calls != w.stop)
                fail_msg("%s: %s after %lld iterations and %lld calls", options,
                         spry_reason_name(result.reason), (long long)result.iterations,
                         (long long)w.calls);
            if (!(result.true_residual < 1))
                fail_msg("%s: x is the first guess", options);
            assert_false(spry_context_interrupted(ctx, true)); /* the solve has taken it */
            spry_result_clear(ctx, &result);
            spry_solver_free(solver);
            problem_free(&p);
        }
}

/* Iterative refinement: each round of an inner solve in single precision, to 1e-3, gains about
 * three digits, or as many as single precision has over the condition. */
static void lower_precision_inside(void **state)
{
    static const struct {
        const char *options;
        int64_t most;
    } cases[] = {
        {"method=refine tol=1e-13", 6},
        {"method=refine precon=inner:tol=1e-1 tol=1e-13", 20},
        {"method=refine precon=inner:method=gmres,restart=10,tol=1e-5 tol=1e-13", 4},
        {"method=fgmres precon=inner tol=1e-13", 6},
        {"method=fcg precon=inner:tol=1e-2 tol=1e-13", 12},
        {"method=gcr precon=inner:max-iter=3 tol=1e-13", 30},
    };
    for (int t = 1; t < 4; t += 2) {
        problem p;
        problem_make(*state, PROBLEM_DOMINANT, support_types[t], 100, &p);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            spry_result result = SPRY_RESULT_INIT;
            problem_solve(&p, cases[k].options, &result);
            problem_check_converged(&p, &result, 1e-13, cases[k].options);
            assert_string_equal(result.precon, "inner");
            if (result.iterations > cases[k].most)
                fail_msg("%s: %lld iterations", cases[k].options, (long long)result.iterations);
            spry_result_clear(p.ctx, &result);
        }
        problem_free(&p);
    }
}

/* Whatever a method does with a NaN, it ends, says so, and keeps a finite x. */
static void operators_may_go_wrong(void **state)
{
    spry_context *ctx = *state;
    spry_entry info = SPRY_ENTRY_INIT;
    enum { N = 60 };
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++) {
        if (strcmp(precon_of(&info), "auto") == 0 && !strstr(info.text, "precon none"))
            continue; /* needs a matrix */
        for (int fail_too = 0; fail_too < 2; fail_too++) {
            faulty f = {.n = N, .from = 14, .fail = fail_too};
            spry_operator *A;
            spry_vector *b, *x;
            spry_solver *solver;
            spry_result result = SPRY_RESULT_INIT;
            char options[96];
            assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, true,
                                                       faulty_difference, &f, &A));
            assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b));
            assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x));
            for (int i = 0; i < N; i++)
                ((double *)spry_vector_data(b))[i] = sin(i + 1.0);
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            snprintf(options, sizeof options,
                     "method=%s precon=none tol=1e-14 max-iter=500 stall=50", info.name);
            assert_ok(ctx, spry_solver_set(solver, options));
            assert_ok(ctx, spry_solver_set_operator(solver, A));
            const spry_status status = spry_solve(solver, b, x, &result);
            assert_false(result.converged);
            if (fail_too) {
                assert_int_equal(status, SPRY_STATUS_IO);
            } else if (status != SPRY_STATUS_OK || result.reason == SPRY_REASON_ITERATIONS ||
                       !result.detail[0]) {
                fail_msg("%s: status %d, %s, %s", options, (int)status,
                         spry_reason_name(result.reason), result.detail);
            }
            for (int i = 0; i < N; i++)
                assert_true(isfinite(((const double *)spry_vector_data_const(x))[i]));
            spry_result_clear(ctx, &result);
            spry_solver_free(solver);
            spry_operator_free(A);
            spry_vector_free(b);
            spry_vector_free(x);
        }
    }
}

/* Methods with A^H say so where an operator has none. */
static void missing_transposes_are_named(void **state)
{
    static const char *const methods[] = {"bicg", "qmr", "lsqr", "lsmr", "cgls"};
    spry_context *ctx = *state;
    faulty f = {.n = 5, .from = 1000};
    spry_operator *A;
    spry_vector *b, *x;
    spry_solver *solver;
    assert_ok(
        ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 5, 5, false, faulty_difference, &f, &A));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 5, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    for (int m = 0; m < 5; m++) {
        char options[32];
        snprintf(options, sizeof options, "method=%s", methods[m]);
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_solve(solver, b, x, NULL));
        support_message_has(ctx, "needs products with A^H, which operator function does not have");
    }
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* What method=auto finds out by products with random vectors, and by the diagonal. */
static void auto_suits_the_matrix(void **state)
{
    static const struct {
        problem_kind kind;
        spry_type type;
        const char *method;
    } cases[] = {
        {PROBLEM_DEFINITE, SPRY_TYPE_D, "cg"},
        {PROBLEM_DEFINITE, SPRY_TYPE_C, "cg"},
        {PROBLEM_INDEFINITE, SPRY_TYPE_S, "minres"},
        {PROBLEM_INDEFINITE, SPRY_TYPE_Z, "minres"},
        {PROBLEM_SYMMETRIC, SPRY_TYPE_D, "cg"},
        {PROBLEM_SYMMETRIC, SPRY_TYPE_Z, "cocg"},
        {PROBLEM_CONVECTION, SPRY_TYPE_D, "bicgstabl"},
        {PROBLEM_CONVECTION, SPRY_TYPE_C, "bicgstabl"},
        {PROBLEM_TALL, SPRY_TYPE_D, "lsmr"},
        {PROBLEM_WIDE, SPRY_TYPE_C, "lsmr"},
        {PROBLEM_INCONSISTENT, SPRY_TYPE_Z, "lsmr"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const double tol = problem_tolerance(cases[k].type);
        char options[32];
        problem p;
        spry_result result = SPRY_RESULT_INIT;
        problem_make(*state, cases[k].kind, cases[k].type, 36, &p);
        snprintf(options, sizeof options, "precon=none tol=%g", tol);
        problem_solve(&p, options, &result);
        assert_string_equal(result.method, cases[k].method);
        assert_null(result.warnings);
        problem_check_converged(&p, &result, tol, options);
        spry_result_clear(p.ctx, &result);
        problem_free(&p);
    }
}

/* Several right-hand sides at once: the same bits and the same ends as one by one, also when they
 * end at different times; a zero among them. */
static void several_right_hand_sides_are_as_one(void **state)
{
    static const char *const methods[] = {"cg",   "gmres:restart=5", "bicgstabl", "minres", "idr",
                                          "lsmr", "jacobi"};
    enum { COUNT = 11 };
    spry_context *ctx = *state;
    problem p;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_C, 100, &p);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        spry_vector *b[COUNT], *x[COUNT];
        spry_result results[COUNT] = {{0}}, single = SPRY_RESULT_INIT;
        spry_solver *solver;
        char options[64];
        snprintf(options, sizeof options, "method=%s tol=1e-5", methods[m]);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_ok(ctx, spry_solver_set_matrix(solver, p.A));
        for (int k = 0; k < COUNT; k++) {
            assert_ok(ctx, spry_vector_ones(ctx, p.A, &b[k]));
            assert_ok(ctx, spry_vector_zeros(ctx, p.A, &x[k]));
            for (int i = 0; i < 100; i++) /* from smooth to rough */
                value_set(SPRY_TYPE_C, spry_vector_data(b[k]), i,
                          (spry_scalar){k == 3 ? 0 : sin(0.1 * k * i + 1), k == 3 ? 0 : k});
        }
        assert_ok(ctx, spry_solve_many(solver, COUNT, (const spry_vector *const *)b, x, results));
        for (int k = 0; k < COUNT; k++) {
            assert_ok(ctx, spry_vector_fill(p.x, (spry_scalar){0, 0}));
            assert_ok(ctx, spry_solve(solver, b[k], p.x, &single));
            assert_true(results[k].converged && single.converged);
            assert_int_equal(results[k].iterations, single.iterations);
            assert_memory_equal(results[k].history, single.history,
                                (size_t)single.history_size * sizeof *single.history);
            assert_memory_equal(spry_vector_data_const(x[k]), spry_vector_data_const(p.x),
                                100 * spry_type_size(SPRY_TYPE_C));
            spry_result_clear(ctx, &single);
            spry_result_clear(ctx, &results[k]);
            spry_vector_free(b[k]);
            spry_vector_free(x[k]);
        }
        spry_solver_free(solver);
    }
    problem_free(&p);
}

/* A few iterations of a method on a grid of 60 x 60, which several threads share; the bits of x. */
static void run_on_threads(const spry_entry *info, int threads, double *bits)
{
    char text[96];
    snprintf(text, sizeof text, "threads=%d", threads);
    spry_context *ctx = support_context(text);
    spry_matrix *A = generated(ctx, "convection-diffusion", "size=60");
    spry_vector *b, *x;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    snprintf(text, sizeof text, "method=%s precon=%s max-iter=6", info->name, precon_of(info));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, text, NULL));
    memcpy(bits, spry_vector_data_const(x), 3600 * sizeof *bits);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    support_context_free(ctx);
}

static void no_method_depends_on_threads(void **state)
{
    (void)state;
    spry_entry info = SPRY_ENTRY_INIT;
    double *first = malloc(3600 * sizeof *first), *other = malloc(3600 * sizeof *other);
    assert_true(first && other);
    for (int m = 0; spry_list_at(SPRY_LIST_METHODS, m, &info); m++) {
        run_on_threads(&info, 1, first);
        for (int t = 2; t <= 3; t++) {
            run_on_threads(&info, t, other);
            if (memcmp(first, other, 3600 * sizeof *first) != 0)
                fail_msg("%s depends on the number of threads", info.name);
        }
    }
    free(first);
    free(other);
}

typedef struct torture {
    problem p;
    char options[96];
} torture;

static spry_status whole_solve(spry_context *ctx, void *data)
{
    torture *t = data;
    spry_result result = {0};
    spry_status status = spry_vector_fill(t->p.x, (spry_scalar){0, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_quick_solve(ctx, t->p.A, t->p.b, t->p.x, t->options, &result);
    spry_result_clear(ctx, &result);
    return status;
}

/* Methods with every kind of memory: arrays, transposes, inner solvers, colours. */
static void every_allocation_may_fail(void **state)
{
    static const char *const methods[] = {"gmres restart=2", "lsmr", "refine", "sor", "auto"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        torture t;
        problem_make(*state, PROBLEM_CONVECTION, SPRY_TYPE_Z, 9, &t.p);
        snprintf(t.options, sizeof t.options, "method=%s max-iter=3", methods[m]);
        support_torture(*state, whole_solve, &t);
        problem_free(&t.p);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(tolerances_beyond_rounding),
        TEST(drifting_recurrences_are_replaced),
        TEST(left_preconditioners_mislead_nobody),
        TEST(ends_that_were_bad),
        TEST(any_iteration_can_be_the_last),
        TEST(monitors_see_all_and_may_stop),
        TEST(lower_precision_inside),
        TEST(operators_may_go_wrong),
        TEST(missing_transposes_are_named),
        TEST(auto_suits_the_matrix),
        TEST(several_right_hand_sides_are_as_one),
        TEST(no_method_depends_on_threads),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
