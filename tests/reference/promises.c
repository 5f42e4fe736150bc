/*
 * What a result says is true of the x that is handed back: at the ends of a type's range, in least
 * squares of any scaling, after runs that went wrong, with operators that give NaN; and what it
 * blames is to blame.
 */
#include "support/faulty.h"
#include "support/support.h"

#include "operator/operator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const least_squares[] = {"lsmr", "lsqr", "cgls"};

/* A system of the test's own, real double unless said otherwise. */
typedef struct given {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_result result;
} given;

static void given_make(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                       const double *entries, const double *b, given *s)
{
    *s = (given){.ctx = ctx, .result = SPRY_RESULT_INIT};
    s->A = support_from_rows(ctx, type, rows, cols, entries);
    assert_ok(ctx, spry_vector_new(ctx, type, rows, NULL, SPRY_OWN_COPY, &s->b));
    assert_ok(ctx, spry_vector_new(ctx, type, cols, NULL, SPRY_OWN_COPY, &s->x));
    for (int64_t i = 0; i < rows; i++)
        value_set(type, spry_vector_data(s->b), i, (spry_scalar){b[i], 0});
}

static void given_solve(given *s, const char *options)
{
    spry_result_clear(s->ctx, &s->result);
    assert_ok(s->ctx, spry_vector_fill(s->x, (spry_scalar){0, 0}));
    assert_ok(s->ctx, spry_quick_solve(s->ctx, s->A, s->b, s->x, options, &s->result));
}

static void given_free(given *s)
{
    spry_result_clear(s->ctx, &s->result);
    spry_matrix_free(s->A);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
}

/* x = b / a of one equation is not a number of the type: above its range or below it. */
static void solutions_beyond_the_range(void **state)
{
    static const struct {
        bool single, above;
        double a, b;
    } cases[] = {
        {false, true, 1e-10, 1e300},  {false, true, 1e-200, 1e200}, {false, false, 1e200, 1e-200},
        {false, false, 1e60, 1e-280}, {true, true, 1e-20, 1e30},    {true, false, 1e20, 1e-30},
    };
    static const char *const methods[] = {"auto", "cg", "gmres", "bicgstabl", "lsqr"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int t = 0; t < 4; t++) {
            const spry_type type = support_types[t];
            given s;
            if (cases[k].single != (type == SPRY_TYPE_S || type == SPRY_TYPE_C))
                continue;
            given_make(*state, type, 1, 1, &cases[k].a, &cases[k].b, &s);
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                char options[48];
                snprintf(options, sizeof options, "method=%s", methods[m]);
                given_solve(&s, options);
                const spry_scalar x = value_get(type, spry_vector_data_const(s.x), 0);
                assert_false(s.result.converged);
                assert_true(x.re == 0 && x.im == 0);
                assert_true(s.result.true_residual == 1);
                /* methods may meet squares of A before they meet x */
                if (!strstr(s.result.detail, "the range of the type"))
                    fail_msg("%s, case %zu: %s", options, k, s.result.detail);
                if (m == 0)
                    assert_int_equal(s.result.reason, cases[k].above ? SPRY_REASON_NONFINITE
                                                                     : SPRY_REASON_STAGNATED);
            }
            given_free(&s);
        }
}

/* |b| is no number where b has nothing but numbers, and x = b / 2 neither. What is 0 in the place
 * of a solution has no relative error. */
static void the_largest_right_hand_sides(void **state)
{
    static const char *const methods[] = {"auto", "cg", "gmres", "bicgstabl", "lsqr", "direct"};
    for (int t = 0; t < 4; t++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const spry_type type = support_types[t];
            const double large = type_is_single(type) ? 3e38 : 1.7e308;
            char options[48];
            given s;
            given_make(*state, type, 3, 3, (double[]){2, 0, 0, 0, 2, 0, 0, 0, 2},
                       (double[]){large, large, large}, &s);
            snprintf(options, sizeof options, "method=%s", methods[m]);
            given_solve(&s, options);
            if (!s.result.converged)
                fail_msg("%s: %s", options, s.result.detail);
            for (int i = 0; i < 3; i++) {
                const double b = value_get(type, spry_vector_data_const(s.b), i).re;
                const double x = value_get(type, spry_vector_data_const(s.x), i).re;
                /* to the tolerance, which is relative: by |b| / b = sqrt(3) for one number */
                assert_true(fabs(2 * (x / b) - 1) <= 2 * (type_is_single(type) ? 1e-4 : 1e-8));
            }
            given_free(&s);
        }
}

static void what_is_lost_has_no_error_bound(void **state)
{
    static const double cases[][2] = {{1e200, 1e-200}, {1e-10, 1e300}};
    for (int k = 0; k < 2; k++) {
        given s;
        double backward, bound;
        spry_solver *solver = NULL;
        given_make(*state, SPRY_TYPE_D, 1, 1, &cases[k][0], &cases[k][1], &s);
        assert_ok(s.ctx, spry_solver_new(s.ctx, &solver));
        assert_ok(s.ctx, spry_solver_set(solver, "method=direct"));
        assert_ok(s.ctx, spry_solver_set_matrix(solver, s.A));
        assert_ok(s.ctx, spry_solve(solver, s.b, s.x, &s.result));
        assert_ok(s.ctx, spry_solver_errors(solver, s.b, s.x, &backward, &bound));
        assert_true(isinf(bound) && backward >= 1);
        spry_solver_free(solver);
        given_free(&s);
    }
}

/* At the lower end x loses digits: what is left of it has the residual that is reported. */
static void solutions_that_lose_digits(void **state)
{
    const double a = 0x1.8p600, b = 0x1p-460; /* x = 2^-1060 / 1.5, of 14 bits */
    given s;
    given_make(*state, SPRY_TYPE_D, 1, 1, &a, &b, &s);
    given_solve(&s, "method=cg");
    const double x = *(const double *)spry_vector_data_const(s.x);
    const double residual = fabs(1 - ldexp(x, 1060) * 1.5);
    assert_true(residual > 1e-8 && residual < 1e-3);
    assert_true(s.result.true_residual == residual);
    assert_false(s.result.converged);
    given_solve(&s, "method=cg tol=1e-3");
    assert_true(s.result.converged && s.result.true_residual == residual);
    given_free(&s);
}

/* max |a_j^H r| / (|a_j| |r|), and the same relative to the sum of its terms, in long double. */
static double worst_column(const given *s, int rows, int cols, const double *entries, bool balance)
{
    long double r[64], norm = 0, worst = 0;
    const double *b = spry_vector_data_const(s->b), *x = spry_vector_data_const(s->x);
    for (int i = 0; i < rows; i++) {
        r[i] = b[i];
        for (int j = 0; j < cols; j++)
            r[i] -= (long double)entries[i * cols + j] * x[j];
        norm = hypotl(norm, r[i]);
    }
    for (int j = 0; j < cols; j++) {
        long double dot = 0, size = 0, sum = 0;
        for (int i = 0; i < rows; i++) {
            dot += entries[i * cols + j] * r[i];
            sum += fabsl(entries[i * cols + j] * r[i]);
            size = hypotl(size, entries[i * cols + j]);
        }
        worst = fmaxl(worst, fabsl(dot) / (balance ? sum : size * norm));
    }
    return (double)worst;
}

/* Columns or rows of very different size do not hide that x is far from the least-squares solution.
 * Rows are weights: the heavy equation has no solution with the others. */
static void least_squares_of_any_scaling(void **state)
{
    enum { ROWS = 24, COLS = 8 };
    for (int rows = 0; rows < 2; rows++)
        for (size_t m = 0; m < 3; m++) {
            double entries[ROWS * COLS], b[ROWS];
            char options[64];
            given s;
            for (int i = 0; i < ROWS; i++) {
                const double weight = rows && i == 3 ? 3e3 : 1;
                b[i] = weight * sin(1.0 + i * i);
                for (int j = 0; j < COLS; j++)
                    entries[i * COLS + j] = weight * (cos(1.0 + 3 * i * j + i) + (i == j ? 3 : 0)) *
                                            (rows ? 1 : pow(10, j % 2 == 0 ? 0 : -5));
            }
            given_make(*state, SPRY_TYPE_D, ROWS, COLS, entries, b, &s);
            snprintf(options, sizeof options, "method=%s tol=1e-6 max-iter=5000", least_squares[m]);
            given_solve(&s, options);
            if (!s.result.converged || !strstr(s.result.detail, "to the least-squares solution"))
                fail_msg("%s: %s (%s)", options, spry_reason_name(s.result.reason),
                         s.result.detail);
            const double found = worst_column(&s, ROWS, COLS, entries, rows);
            if (!(found <= 1.001e-6))
                fail_msg("%s: a column has %g", options, found);
            given_free(&s);
        }
}

/* The 12 x 12 Hilbert matrix: what is called the least-squares solution is one at the tolerance. */
static void least_squares_at_the_tolerance(void **state)
{
    enum { N = 12 };
    static const char *const precons[] = {"none", "ilut", "jacobi"};
    double entries[N * N], b[N];
    given s;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            entries[i * N + j] = 1.0 / (i + j + 1);
    for (int i = 0; i < N; i++)
        b[i] = i % 3 - 1;
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    for (size_t m = 0; m < 9; m++)
        for (int e = 4; e <= 10; e += 2) {
            char options[96];
            snprintf(options, sizeof options, "method=%s precon=%s tol=1e-%d max-iter=3000",
                     least_squares[m % 3], precons[m / 3], e);
            given_solve(&s, options);
            /* r has rounding errors of |A| |x|, here up to 1e16 */
            double size = 0;
            for (int j = 0; j < N; j++)
                size = fmax(size, fabs(((const double *)spry_vector_data_const(s.x))[j]));
            const double rounding = N * DBL_EPSILON * size;
            if (s.result.converged && s.result.true_residual > pow(10, -e) &&
                !(worst_column(&s, N, N, entries, false) <=
                  1.01 * pow(10, -e) + rounding / s.result.true_residual))
                fail_msg("%s: %s, a column has %g", options, s.result.detail,
                         worst_column(&s, N, N, entries, false));
        }
    given_free(&s);
}

/* Hilbert matrices are not singular, so that 0 is the least residual: those of 6 to 8 rows, with a
 * condition up to 1.5e10, have stairs on which A^H r is small. */
static void what_is_called_the_least_is_the_least(void **state)
{
    enum { MOST = 8 };
    for (int n = 6; n <= MOST; n++)
        for (size_t m = 0; m < 3; m++) {
            double entries[MOST * MOST], b[MOST];
            char options[48];
            given s;
            for (int i = 0; i < n * n; i++)
                entries[i] = 1.0 / (i / n + i % n + 1);
            for (int i = 0; i < n; i++)
                b[i] = 1;
            given_make(*state, SPRY_TYPE_D, n, n, entries, b, &s);
            snprintf(options, sizeof options, "method=%s precon=none", least_squares[m]);
            given_solve(&s, options);
            if (!s.result.converged || strstr(s.result.detail, "least-squares") ||
                !(s.result.true_residual <= 1e-8))
                fail_msg("%s, %d rows: %s (%s), residual %g", options, n,
                         spry_reason_name(s.result.reason), s.result.detail,
                         s.result.true_residual);
            given_free(&s);
        }
}

/* Neither singular nor a preconditioner's fault. */
static void huge_and_tiny_matrices(void **state)
{
    static const char *const methods[] = {"auto",      "gmres", "minres", "bicgstab",
                                          "bicgstabl", "lsqr",  "idr"};
    static const double sizes[] = {1e-170, 1e160};
    for (int k = 0; k < 2; k++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (int direct = 0; direct < 2; direct++) {
                given s;
                char options[64];
                given_make(*state, SPRY_TYPE_D, 2, 2, (double[]){0, sizes[k], sizes[k], 0},
                           (double[]){1, 1}, &s);
                snprintf(options, sizeof options, "method=%s precon=%s", methods[m],
                         direct ? "direct" : "none");
                given_solve(&s, options);
                if (!s.result.converged && !strstr(s.result.detail, "leave the range of the type"))
                    fail_msg("%s: %s", options, s.result.detail);
                /* what is named does it */
                if (!s.result.converged && !direct &&
                    !strstr(s.result.detail, "try method=direct, or scale A"))
                    fail_msg("%s: %s", options, s.result.detail);
                given_solve(&s, "method=direct");
                assert_true(s.result.converged);
                given_free(&s);
            }
}

/*
 * r falls to 2^-10 |b| at iteration 10 and grows to 1000 times that by iteration 13; A is the
 * identity. With residual x is there at each step, with estimate at the end alone.
 */
static const char falls_and_grows[] = "method falls \"and grows\"\n"
                                      "start:\n    r = b - A x\n    residual |r|\n    k = 0\n"
                                      "    d = 0 r\n"
                                      "loop:\n    alpha = where(k < 10, 0.5, -9)\n"
                                      "    k = k + 1\n"
                                      "    %s = %s + alpha r\n    q = A r\n"
                                      "    r = r - alpha q\n    %s |r|\n%s";

static void the_best_x_is_kept(void **state)
{
    spry_context *ctx = *state;
    enum { N = 50 };
    for (int form = 0; form < 8; form++) {
        const bool estimate = form & 1, last = form & 2, guess = form & 4;
        spry_matrix *A;
        spry_vector *b, *x;
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        char text[512];
        const char *v = estimate ? "d" : "x";
        snprintf(text, sizeof text, falls_and_grows, v, v, estimate ? "estimate" : "residual",
                 estimate ? "finish:\n    x = x + d\n" : "");
        double rows[N * N] = {0};
        for (int i = 0; i < N; i++)
            rows[i * N + i] = 1;
        A = support_from_rows(ctx, SPRY_TYPE_D, N, N, rows);
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x));
        assert_ok(ctx, spry_vector_fill(b, (spry_scalar){4, 0}));
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){guess ? 2 : 0, 0}));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "precon=none max-iter=13"));
        assert_ok(ctx, spry_solver_set_text(solver, "keep", last ? "last" : "best"));
        assert_ok(ctx, spry_solver_set_method_text(solver, text));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        const double least = ldexp(guess ? 0.5 : 1, -10), end = 1000 * least;
        assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
        assert_int_equal(result.iterations, 13);
        assert_int_equal(result.history_size, 14);
        assert_true(fabs(result.residual - end) <= 1e-12 * end);
        assert_true(fabs(result.true_residual - (last ? end : least)) <= 1e-12);
        const double found = ((const double *)spry_vector_data_const(x))[N / 2];
        assert_true(fabs(fabs(4 - found) / 4 - result.true_residual) <= 1e-12);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_matrix_free(A);
        spry_vector_free(b);
        spry_vector_free(x);
    }
}

/* A residual that parts from the true one late, without a word, leaves a better x on its way: the
 * solve goes on from there. From iteration 21 on x goes wrong; 2^-27 is below the tolerance. */
static void drifted_runs_have_a_better_x(void **state)
{
    static const char text[] = "method lies \"in the end\"\n"
                               "start:\n    r = b - A x\n    residual |r|\n    k = 0\n"
                               "loop:\n    k = k + 1\n    wrong = where(k > 20, 1, 0)\n"
                               "    x = x + 0.5 r + wrong b\n    q = A r\n    r = r - 0.5 q\n"
                               "    residual |r|\n";
    spry_context *ctx = *state;
    given s;
    spry_solver *solver;
    given_make(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 0, 0, 1}, (double[]){3, -5}, &s);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "precon=none"));
    assert_ok(ctx, spry_solver_set_method_text(solver, text));
    assert_ok(ctx, spry_solver_set_matrix(solver, s.A));
    assert_ok(ctx, spry_solve(solver, s.b, s.x, &s.result));
    assert_true(s.result.converged && s.result.true_residual <= 1e-8);
    assert_non_null(strstr(s.result.warnings, "restarted from the best x, with 6.1e-05"));
    spry_solver_free(solver);
    given_free(&s);
}

/* The identity, which is stopped at a certain call. */
typedef struct stopped {
    spry_context *ctx;
    int calls, at;
} stopped;

static spry_status identity(void *data, spry_transpose op, const void *in, void *out)
{
    stopped *s = data;
    (void)op;
    if (++s->calls == s->at)
        spry_context_interrupt(s->ctx);
    memcpy(out, in, 3 * sizeof(double));
    return SPRY_STATUS_OK;
}

/* A request to stop is heard, and taken back, wherever it comes: 16 products are those of the run
 * and of its true residuals, more are those of its repetition. */
static void repetitions_can_be_stopped(void **state)
{
    spry_context *ctx = *state;
    char text[512];
    snprintf(text, sizeof text, falls_and_grows, "d", "d", "estimate", "finish:\n    x = x + d\n");
    for (int at = 1; at < 30; at++) {
        stopped s = {.ctx = ctx, .at = at};
        spry_operator *A;
        spry_vector *b, *x;
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx,
                  spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 3, false, identity, &s, &A));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &b));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &x));
        assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "precon=none max-iter=13"));
        assert_ok(ctx, spry_solver_set_method_text(solver, text));
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        if (s.calls < at) { /* never asked */
            assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
            assert_true(fabs(result.true_residual - ldexp(1, -10)) <= 1e-14);
        } else if (!spry_context_interrupted(ctx, true)) { /* not after the last look */
            assert_int_equal(result.reason, SPRY_REASON_STOPPED);
        }
        assert_true(result.true_residual <= 1);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_operator_free(A);
        spry_vector_free(b);
        spry_vector_free(x);
    }
}

/* An M that is nearly the inverse leaves nothing but rounding errors to all steps but the first. */
static void nearly_exact_preconditioners(void **state)
{
    enum { N = 40 };
    double entries[N * N], b[N];
    given s;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            entries[i * N + j] = sin(1.0 + 1.37 * (i + 1) * (j + 2)) * pow(10, (i * 5 % 9) - 4);
    for (int i = 0; i < N; i++)
        b[i] = cos(i * 2.0);
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    for (int l = 1; l <= 8; l++)
        for (int left = 0; left < 2; left++) {
            char options[64];
            snprintf(options, sizeof options, "method=bicgstabl:l=%d,side=%s precon=direct", l,
                     left ? "left" : "right");
            given_solve(&s, options);
            if (!s.result.converged || s.result.iterations > 2)
                fail_msg("%s: %s after %d", options, spry_reason_name(s.result.reason),
                         (int)s.result.iterations);
        }
    given_free(&s);
}

/* Who gave a NaN is reported, and in which row. */
static void a_callers_nan_is_called_one(void **state)
{
    spry_context *ctx = *state;
    enum { N = 60 };
    static const char *const methods[] = {"cg", "bicgstab", "gmres", "bicgstabl"};
    for (size_t m = 0; m < 4; m++)
        for (int of_m = 0; of_m < 2; of_m++)
            for (int from = 1; from < 8; from += 3) {
                faulty a = {.n = N, .from = of_m ? 100000 : from}, p = {.n = N, .from = from};
                spry_operator *A, *M;
                spry_vector *b, *x;
                spry_solver *solver;
                spry_result result = SPRY_RESULT_INIT;
                char options[64];
                assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, true,
                                                           faulty_difference, &a, &A));
                assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, true,
                                                           faulty_difference, &p, &M));
                assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b));
                assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x));
                for (int i = 0; i < N; i++)
                    ((double *)spry_vector_data(b))[i] = sin(i + 1.0);
                assert_ok(ctx, spry_solver_new(ctx, &solver));
                snprintf(options, sizeof options, "method=%s precon=none", methods[m]);
                assert_ok(ctx, spry_solver_set(solver, options));
                assert_ok(ctx, spry_solver_set_operator(solver, A));
                if (of_m)
                    assert_ok(ctx, spry_solver_set_precon(solver, M));
                (void)spry_solve(solver, b, x, &result);
                char expected[96];
                snprintf(expected, sizeof expected, "the caller's function for %s gave a NaN",
                         of_m ? "M" : "A");
                if (result.reason != SPRY_REASON_NONFINITE || !strstr(result.detail, expected) ||
                    !strstr(result.detail, "row "))
                    fail_msg("%s, %s from %d: %s", options, of_m ? "M" : "A", from, result.detail);
                spry_result_clear(ctx, &result);
                spry_solver_free(solver);
                spry_operator_free(A);
                spry_operator_free(M);
                spry_vector_free(b);
                spry_vector_free(x);
            }
}

/* What rounding makes is said to be so, and nothing else is. */
static void stagnation_has_a_cause(void **state)
{
    given s;
    enum { N = 12 };
    double entries[N * N], b[N];
    for (int i = 0; i < N; i++) {
        b[i] = i % 3 - 1;
        for (int j = 0; j < N; j++)
            entries[i * N + j] = 1.0 / (i + j + 1);
    }
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    given_solve(&s, "method=gmres precon=direct tol=1e-15");
    assert_int_equal(s.result.reason, SPRY_REASON_STAGNATED);
    assert_non_null(strstr(s.result.detail, "rounding in "));
    given_free(&s);
    /* b is not in the range */
    given_make(*state, SPRY_TYPE_D, 2, 2, (double[]){1, 1, 1, 1}, (double[]){1, 0}, &s);
    given_solve(&s, "method=bicgstabl precon=none");
    assert_false(s.result.converged);
    assert_null(strstr(s.result.detail, "rounding"));
    assert_non_null(strstr(s.result.detail, "try "));
    given_free(&s);
}

/* |b - A x| / |b|, products without any rounding: numbers of 64 bits, which long double may have,
 * are not enough for them. Their high parts cancel, and no bit of that is lost. */
static double long_residual(const given *s, int n, const double *entries, const double *b)
{
    const double *x = spry_vector_data_const(s->x);
    long double sum = 0, all = 0;
    for (int i = 0; i < n; i++) {
        long double high = b[i], low = 0;
        for (int j = 0; j < n; j++) {
            const double product = entries[i * n + j] * x[j];
            high -= product;
            low -= fma(entries[i * n + j], x[j], -product);
        }
        sum += (high + low) * (high + low);
        all += (long double)b[i] * b[i];
    }
    return (double)sqrtl(sum / all);
}

/* An arrow that is singular but for its last digits: x is so large that residuals which are
 * computed in double precision are all rounding. What is reported of a failure is true, and the
 * same twice. */
static void residuals_of_failures_are_true(void **state)
{
    enum { N = 27 };
    static const char *const options[] = {"method=cg precon=jacobi", "method=bicgstab precon=ilu",
                                          "method=gmres precon=ilu", "method=direct", ""};
    double entries[N * N] = {0}, b[N];
    given s;
    for (int i = 0; i < N; i++) {
        entries[i] = entries[i * N] = entries[i * N + i] = 1;
        b[i] = i == 3;
    }
    entries[0] = 26.0000000000001;
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        given_solve(&s, options[k]);
        const double truth = long_residual(&s, N, entries, b), reported = s.result.true_residual;
        if (!(fabs(reported - truth) <=
              0.02 * truth)) /* the measure is wide where 1% is at stake */
            fail_msg("%s: %g is reported, %g is true", options[k], reported, truth);
        const char *text = strstr(s.result.detail, "stays at ");
        if (text && !(fabs(strtod(text + 9, NULL) - reported) <= 0.06 * reported)) /* two digits */
            fail_msg("%s: %g is reported, and %s", options[k], reported, s.result.detail);
    }
    given_free(&s);
}

/* A tolerance below the digits of b, and factors that are not exact, are called so. */
static void tolerances_are_reported_out_of_reach(void **state)
{
    enum { N = 12 };
    double entries[N * N], b[N];
    given s;
    for (int i = 0; i < N; i++) {
        b[i] = i % 3 - 1.1;
        for (int j = 0; j < N; j++)
            entries[i * N + j] = i == j ? 2 : abs(i - j) == 1 ? -0.9 : 0;
    }
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    given_solve(&s, "method=direct tol=1e-19");
    assert_int_equal(s.result.reason, SPRY_REASON_STAGNATED);
    assert_non_null(strstr(s.result.detail, "1e-19 was not reached"));
    assert_non_null(strstr(s.result.detail, "exact factors"));
    assert_true(s.result.true_residual <= 1e-15); /* a few roundings of b */
    given_solve(&s, "method=direct:precision=single tol=1e-19");
    assert_non_null(strstr(s.result.detail, "single-precision factors"));
    given_free(&s);
}

/* What was not said follows from the precision of A; what was said stays. */
static void tolerances_follow_the_precision(void **state)
{
    static const double expected[] = {[SPRY_TYPE_S] = 1e-4, [SPRY_TYPE_D] = 1e-8};
    static const double entries[] = {3, 1, 1, 3}, b[] = {1, 2};
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_D; type++) {
        spry_solver *solver = NULL;
        double tol;
        given s;
        given_make(*state, (spry_type)type, 2, 2, entries, b, &s);
        assert_ok(*state, spry_solver_new(*state, &solver));
        assert_ok(*state, spry_solver_set(solver, "max-iter=50"));
        assert_ok(*state, spry_solver_set_matrix(solver, s.A));
        assert_ok(*state, spry_solve(solver, s.b, s.x, NULL));
        assert_ok(*state, spry_solver_get_real(solver, "tol", &tol));
        assert_true(tol == expected[type]);
        assert_ok(*state, spry_solver_set_real(solver, "tol", 1e-8));
        assert_ok(*state, spry_solve(solver, s.b, s.x, NULL));
        assert_ok(*state, spry_solver_get_real(solver, "tol", &tol));
        assert_true(tol == 1e-8);
        spry_solver_free(solver);
        given_free(&s);
    }
}

/* Least squares that are looked at, a run that is repeated from a first guess, and a stagnation. */
static spry_status solve_all(spry_context *ctx, void *data)
{
    static const char *const options[] = {"method=lsqr tol=1e-6", "method=gmres tol=1e-16",
                                          "method=cgs max-iter=6"};
    const given *s = data;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++) {
        spry_result result = SPRY_RESULT_INIT;
        (void)spry_vector_fill(s->x, (spry_scalar){0.1, 0});
        status = spry_quick_solve(ctx, s->A, s->b, s->x, options[k], &result);
        spry_result_clear(ctx, &result);
    }
    return status;
}

static void every_allocation_may_fail(void **state)
{
    enum { N = 8 };
    double entries[N * N], b[N];
    given s;
    for (int i = 0; i < N; i++) {
        b[i] = i % 3 - 1;
        for (int j = 0; j < N; j++)
            entries[i * N + j] = 1.0 / (i + j + 1);
    }
    given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
    support_torture(*state, solve_all, &s);
    given_free(&s);
}

/* Rows and columns of sizes that differ by 1e200 and more, and half of the time a row twice: least
 * squares with the factors end, whatever their gradient comes to. */
static void graded_and_singular(void **state)
{
    enum { N = 9, TURNS = 60 };
    int singular = 0;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        double entries[N * N], b[N], sizes[2 * N];
        uint64_t at = 1000 * turn;
        given s;
        for (int i = 0; i < 2 * N; i++)
            sizes[i] = pow(10, 220 * (base_uniform(9, at++) - 0.5));
        for (int i = 0; i < N; i++) {
            b[i] = 1;
            for (int j = 0; j < N; j++) {
                const bool stored = i == j || base_uniform(9, at++) < 0.4;
                const double value = (base_uniform(9, at++) - 0.5) * sizes[i] * sizes[N + j];
                entries[i * N + j] = stored && isfinite(value) ? value : 0;
            }
        }
        if (turn % 2)
            memcpy(entries + N, entries, N * sizeof *entries);
        given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
        given_solve(&s, "method=direct");
        assert_true(s.result.converged == (s.result.true_residual <= 1e-8));
        singular += s.result.reason == SPRY_REASON_SINGULAR;
        given_free(&s);
    }
    assert_true(singular > 0);
}

/* A b of any size is scaled by a power of two, which changes no digit: what was measured in twice
 * the precision holds of the x that is handed back. */
static void large_and_small_right_hand_sides(void **state)
{
    enum { N = 7 };
    static const double sizes[] = {1, 5e-98, 4.995214244942585e98, 1e-250, 1e150};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        double entries[N * N], b[N] = {sizes[k]};
        given s;
        for (int i = 0; i < N * N; i++)
            entries[i] = 1.0 / (i / N + i % N + 1);
        given_make(*state, SPRY_TYPE_D, N, N, entries, b, &s);
        given_solve(&s, "method=direct tol=2e-12"); /* a rounding is up to 1e-11 */
        assert_true(s.result.converged);
        given_free(&s);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(solutions_beyond_the_range),
        TEST(solutions_that_lose_digits),
        TEST(least_squares_of_any_scaling),
        TEST(least_squares_at_the_tolerance),
        TEST(what_is_called_the_least_is_the_least),
        TEST(the_largest_right_hand_sides),
        TEST(what_is_lost_has_no_error_bound),
        TEST(huge_and_tiny_matrices),
        TEST(the_best_x_is_kept),
        TEST(nearly_exact_preconditioners),
        TEST(a_callers_nan_is_called_one),
        TEST(drifted_runs_have_a_better_x),
        TEST(repetitions_can_be_stopped),
        TEST(stagnation_has_a_cause),
        TEST(every_allocation_may_fail),
        TEST(residuals_of_failures_are_true),
        TEST(tolerances_are_reported_out_of_reach),
        TEST(tolerances_follow_the_precision),
        TEST(graded_and_singular),
        TEST(large_and_small_right_hand_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
