/* Conjugate gradients through the public API: answers checked by hand, and every way a solve can
 * end. */
#include "support/support.h"

#include "operator/operator.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tridiagonal (-1, d, -1); for complex types hermitian: -i below, +i above. */
static spry_matrix *tridiagonal(spry_context *ctx, spry_type type, int64_t n, double diagonal)
{
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n};
    a.offsets = spry_alloc(ctx, (size_t)(n + 1) * sizeof *a.offsets);
    a.col_index = spry_alloc(ctx, (size_t)(3 * n + 1) * sizeof *a.col_index);
    a.values = spry_alloc(ctx, (size_t)(3 * n + 1) * spry_type_size(type));
    bool is_complex = spry_type_is_complex(type);
    a.offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i > 0 ? i - 1 : 0; j <= i + 1 && j < n; j++) {
            double re = i == j ? diagonal : is_complex ? 0 : -1;
            double im = i == j ? 0 : j < i ? -1 : 1;
            int64_t k = a.nnz++;
            a.col_index[k] = (int32_t)j;
            if (type == SPRY_TYPE_S)
                ((float *)a.values)[k] = (float)re;
            else if (type == SPRY_TYPE_D)
                ((double *)a.values)[k] = re;
            else if (type == SPRY_TYPE_C)
                memcpy((float *)a.values + 2 * k, (float[]){(float)re, (float)im}, 8);
            else
                memcpy((double *)a.values + 2 * k, (double[]){re, im}, 16);
        }
        a.offsets[i + 1] = a.nnz;
    }
    spry_matrix *A = NULL;
    assert_ok(ctx, support_new(ctx, &a, SPRY_OWN_TAKE, &A));
    return A;
}

/* |b - A x| / |b| in double arithmetic from the stored entries. */
static double residual_of(spry_context *ctx, const spry_matrix *A, spry_vector *b, spry_vector *x)
{
    int64_t n = spry_matrix_rows(A);
    spry_vector *wide[2] = {NULL, NULL};
    spry_vector *const given[2] = {b, x};
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &wide[k]));
        assert_ok(ctx, spry_vector_copy(given[k], wide[k]));
    }
    spry_scalar *y = spry_alloc(ctx, (size_t)n * sizeof *y + 1);
    support_multiply(A, SPRY_TRANSPOSE_NO, spry_vector_data(wide[1]), y);
    const spry_scalar *bz = spry_vector_data(wide[0]);
    double top = 0, bottom = 0;
    for (int64_t i = 0; i < n; i++) {
        top += pow(bz[i].re - y[i].re, 2) + pow(bz[i].im - y[i].im, 2);
        bottom += pow(bz[i].re, 2) + pow(bz[i].im, 2);
    }
    spry_free(ctx, y);
    spry_vector_free(wide[0]);
    spry_vector_free(wide[1]);
    return sqrt(top / bottom);
}

static double epsilon_of(spry_type type)
{
    return type == SPRY_TYPE_S || type == SPRY_TYPE_C ? FLT_EPSILON : DBL_EPSILON;
}

static void every_type_and_precon_converges(void **state)
{
    spry_context *ctx = *state;
    static const char *const precons[] = {"none", "jacobi", "auto"};
    for (int t = 0; t < 4; t++)
        for (int p = 0; p < 3; p++) {
            spry_type type = support_types[t];
            double tol = epsilon_of(type) * 1e3;
            char options[64];
            snprintf(options, sizeof options, "tol=%g method=cg precon=%s", tol, precons[p]);
            spry_matrix *A = tridiagonal(ctx, type, 500, 2.1);
            spry_vector *b, *x;
            spry_result result = SPRY_RESULT_INIT;
            assert_ok(ctx, spry_vector_ones(ctx, A, &b));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
            assert_true(result.converged);
            assert_int_equal(result.reason, SPRY_REASON_CONVERGED);
            assert_true(result.true_residual <= tol);
            assert_true(result.initial_residual == 1);
            /* The library's residual is rounded by at most (4 terms) 8 eps |A| |x| / |b|; |A|
             * <= 4.1, |x| <= 10 |b| */
            assert_true(residual_of(ctx, A, b, x) <=
                        result.true_residual + 8 * 4.1 * 10 * epsilon_of(type));
            assert_string_equal(result.method, "cg");
            assert_string_equal(result.precon, p == 2 ? "ic" : precons[p]);
            assert_string_equal(result.format, "csr");
            assert_string_equal(result.device, "cpu");
            assert_int_equal(result.type, type);
            assert_int_equal(result.nnz, 1498);
            assert_int_equal(result.history_size, result.iterations + 1);
            assert_true(result.history[0] == 1);
            assert_true(result.history[result.iterations] == result.residual);
            assert_null(result.warnings);
            int64_t size = (int64_t)spry_type_size(type), n = 500;
            /* q = A p | r = r - alpha q, z = M r | x = x + alpha p, p = z + beta p: three sweeps.
             * Jacobi adds the diagonal and the writing of z. */
            if (p < 2)
                assert_int_equal(result.bytes_per_iteration,
                                 1498 * (4 + size) + 501 * 8 + (p == 0 ? 10 : 12) * n * size);
            spry_result_clear(ctx, &result);
            spry_vector_free(b);
            spry_vector_free(x);
            spry_matrix_free(A);
        }
}

/* A diagonal matrix with k distinct eigenvalues is solved in k steps. */
static void distinct_eigenvalues_bound_the_steps(void **state)
{
    spry_context *ctx = *state;
    enum { N = 60 };
    for (int k = 1; k <= 6; k++) {
        int64_t offsets[N + 1] = {0};
        int32_t columns[N];
        double values[N];
        for (int i = 0; i < N; i++) {
            offsets[i + 1] = i + 1;
            columns[i] = i;
            values[i] = 1 + i % k;
        }
        spry_matrix *A;
        spry_vector *b, *x;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, N, N, offsets, columns, values,
                                            SPRY_OWN_BORROW, &A));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "tol=1e-12 precon=none", &result));
        assert_true(result.converged);
        assert_int_equal(result.iterations, k);
        /* With Jacobi the matrix is the identity: one step. */
        spry_result_clear(ctx, &result);
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "tol=1e-12 precon=jacobi", &result));
        assert_int_equal(result.iterations, 1);
        const double *numbers = spry_vector_data_const(x);
        for (int i = 0; i < N; i++) /* rounding of 1 / v and of a few sums */
            assert_true(fabs(numbers[i] - 1 / values[i]) <= 100 * DBL_EPSILON);
        spry_result_clear(ctx, &result);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

/* One run on a small dense system; the caller looks at the result. */
typedef struct small {
    spry_matrix *A;
    spry_vector *b, *x;
    spry_result result;
    spry_status status;
} small;

static small run_small(spry_context *ctx, spry_type type, int64_t n, const double *rows,
                       const double *b, const char *options)
{
    small s = {0};
    s.A = support_from_rows(ctx, type, n, n, rows);
    assert_ok(ctx, spry_vector_zeros(ctx, s.A, &s.x));
    if (type == SPRY_TYPE_D)
        assert_ok(ctx, spry_vector_new(ctx, type, n, (void *)(uintptr_t)b, SPRY_OWN_COPY, &s.b));
    else
        assert_ok(ctx, spry_vector_ones(ctx, s.A, &s.b));
    s.status = spry_quick_solve(ctx, s.A, s.b, s.x, options, &s.result);
    return s;
}

static void free_small(spry_context *ctx, small *s)
{
    spry_result_clear(ctx, &s->result);
    spry_vector_free(s->b);
    spry_vector_free(s->x);
    spry_matrix_free(s->A);
}

static void breakdowns_are_named(void **state)
{
    spry_context *ctx = *state;
    /* p = b has (p, A p) = 0 at once */
    small s = run_small(ctx, SPRY_TYPE_D, 2, (double[]){1, 0, 0, -1}, (double[]){1, 1},
                        "method=cg precon=none");
    assert_int_equal(s.status, SPRY_STATUS_OK);
    assert_false(s.result.converged);
    assert_int_equal(s.result.reason, SPRY_REASON_BREAKDOWN);
    assert_string_equal(s.result.detail,
                        "(p, A p) = 0 is not positive: the matrix is not positive definite; try "
                        "method=minres, or precon=direct");
    assert_true(s.result.true_residual == 1);
    free_small(ctx, &s);
    /* A negative diagonal makes Jacobi indefinite when it is asked for, and auto leaves it. */
    s = run_small(ctx, SPRY_TYPE_D, 2, (double[]){-1, 0, 0, -2}, (double[]){1, 1},
                  "method=cg precon=jacobi");
    assert_int_equal(s.result.reason, SPRY_REASON_BREAKDOWN);
    assert_non_null(strstr(s.result.detail, "the preconditioner is not positive definite"));
    free_small(ctx, &s);
    s = run_small(ctx, SPRY_TYPE_D, 2, (double[]){-1, 0, 0, -2}, (double[]){1, 1},
                  "method=cg precon=auto");
    assert_string_not_equal(s.result.precon, "jacobi");
    free_small(ctx, &s);
}

static void a_zero_diagonal_is_named(void **state)
{
    spry_context *ctx = *state;
    const double rows[] = {1, 0, 0, 0, 0, 1, 0, 1, 0};
    small s = run_small(ctx, SPRY_TYPE_D, 3, rows, (double[]){1, 1, 1}, "precon=jacobi");
    assert_int_equal(s.status, SPRY_STATUS_BAD_INPUT);
    support_message_has(ctx, "row 1 (from 0): diagonal entry 0 has no inverse");
    free_small(ctx, &s);
}

static void unsymmetric_matrices_are_warned_about(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        small s = run_small(ctx, support_types[t], 2, (double[]){2, 1, 0, 2}, (double[]){1, 1},
                            "method=cg max-iter=5");
        assert_int_equal(s.status, SPRY_STATUS_OK);
        assert_string_equal(s.result.warnings,
                            "the matrix is not symmetric (hermitian): cg is not made for it");
        free_small(ctx, &s);
    }
}

static void nonfinite_input_is_refused_and_placed(void **state)
{
    spry_context *ctx = *state;
    small s =
        run_small(ctx, SPRY_TYPE_D, 2, (double[]){1, 0, 0, NAN}, (double[]){1, 1}, "precon=none");
    assert_int_equal(s.status, SPRY_STATUS_BAD_INPUT);
    assert_int_equal(s.result.reason, SPRY_REASON_NONFINITE);
    assert_false(s.result.converged);
    assert_true(strlen(s.result.detail) > 0);
    free_small(ctx, &s);
    s = run_small(ctx, SPRY_TYPE_D, 2, (double[]){1, 0, 0, 1}, (double[]){1, INFINITY}, "");
    assert_int_equal(s.status, SPRY_STATUS_BAD_INPUT);
    assert_string_equal(spry_message(ctx), "the right-hand side is not finite at row 1 (from 0)");
    /* the same solver input with a bad guess */
    ((double *)spry_vector_data(s.b))[1] = 1;
    ((double *)spry_vector_data(s.x))[0] = NAN;
    spry_result_clear(ctx, &s.result);
    assert_int_equal(spry_quick_solve(ctx, s.A, s.b, s.x, "", &s.result), SPRY_STATUS_BAD_INPUT);
    assert_string_equal(s.result.detail, "the first guess is not finite at row 0 (from 0)");
    free_small(ctx, &s);
    /* large numbers whose products do not overflow: the only pivot's inverse, to a few roundings */
    s = run_small(ctx, SPRY_TYPE_D, 1, (double[]){1e300}, (double[]){1}, "precon=none");
    assert_int_equal(s.status, SPRY_STATUS_OK);
    assert_true(s.result.converged);
    assert_true(fabs(((const double *)spry_vector_data_const(s.x))[0] * 1e300 - 1) <=
                4 * DBL_EPSILON);
    free_small(ctx, &s);
    /* finite numbers whose product overflows */
    s = run_small(ctx, SPRY_TYPE_D, 1, (double[]){1e300}, (double[]){1}, "");
    ((double *)spry_vector_data(s.x))[0] = 1e300;
    spry_result_clear(ctx, &s.result);
    assert_int_equal(spry_quick_solve(ctx, s.A, s.b, s.x, "", &s.result), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "beyond the range of the type: begin with x = 0"));
    assert_string_not_equal(s.result.method, "");
    assert_string_not_equal(s.result.precon, "");
    free_small(ctx, &s);
}

static void trivial_systems(void **state)
{
    spry_context *ctx = *state;
    small s = run_small(ctx, SPRY_TYPE_D, 2, (double[]){2, 0, 0, 4}, (double[]){0, 0}, "");
    assert_true(s.result.converged);
    assert_int_equal(s.result.iterations, 0);
    assert_true(s.result.true_residual == 0);
    free_small(ctx, &s);
    s = run_small(ctx, SPRY_TYPE_D, 0, NULL, NULL, "");
    assert_int_equal(s.status, SPRY_STATUS_OK);
    assert_true(s.result.converged);
    free_small(ctx, &s);
    s = run_small(ctx, SPRY_TYPE_D, 1, (double[]){4}, (double[]){2}, "tol=1e-15");
    assert_true(s.result.converged);
    assert_true(((const double *)spry_vector_data_const(s.x))[0] == 0.5);
    /* a guess that is the answer takes no iteration */
    spry_result_clear(ctx, &s.result);
    assert_ok(ctx, spry_quick_solve(ctx, s.A, s.b, s.x, NULL, &s.result));
    assert_int_equal(s.result.iterations, 0);
    assert_true(s.result.converged);
    /* b = 0 forgets a guess */
    spry_result_clear(ctx, &s.result);
    assert_ok(ctx, spry_vector_fill(s.b, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_quick_solve(ctx, s.A, s.b, s.x, NULL, NULL));
    assert_true(((const double *)spry_vector_data_const(s.x))[0] == 0);
    free_small(ctx, &s);
}

typedef struct watch {
    int64_t calls, stop_at;
    double least;
    spry_context *interrupt;
} watch;

static bool watching(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    watch *w = data;
    assert_int_equal(iteration, ++w->calls);
    assert_true(spry_vector_size(x) > 0);
    w->least = fmin(w->least, residual);
    if (w->interrupt && iteration == w->stop_at)
        spry_context_interrupt(w->interrupt);
    return w->interrupt || iteration < w->stop_at;
}

static void limits_monitors_and_interruption(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 400, 2);
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));

    assert_ok(ctx, spry_solver_set(solver, "max-iter=7 method=cg precon=jacobi"));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_int_equal(result.reason, SPRY_REASON_ITERATIONS);
    assert_int_equal(result.iterations, 7);
    /* the same sums in another order: rounding of 400 terms */
    assert_true(fabs(residual_of(ctx, A, b, x) - result.true_residual) <=
                400 * DBL_EPSILON * (1 + result.true_residual) * 400);
    spry_result_clear(ctx, &result);

    watch w = {.stop_at = 5, .least = INFINITY};
    spry_solver_set_monitor(solver, watching, &w);
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solver_set(solver, "max-iter=100000"));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_int_equal(result.reason, SPRY_REASON_STOPPED);
    assert_int_equal(result.iterations, 5);
    assert_int_equal(w.calls, 5);
    spry_result_clear(ctx, &result);

    w = (watch){.stop_at = 3, .least = INFINITY, .interrupt = ctx};
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_int_equal(result.reason, SPRY_REASON_STOPPED);
    assert_int_equal(result.iterations, 3);
    assert_false(spry_context_interrupted(ctx, false));
    spry_result_clear(ctx, &result);

    spry_solver_free(solver);
    spry_solver_free(NULL);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* The residual of CG grows at first for this one; with a limit on growth the first guess is the
 * best iterate. */
static void divergence_hands_back_the_best_iterate(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 400, 2);
    spry_vector *b, *x;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "divergence=1.5 method=cg precon=none", &result));
    assert_int_equal(result.reason, SPRY_REASON_DIVERGED);
    assert_true(result.residual > 1.5);
    assert_true(result.true_residual == 1);
    const double *numbers = spry_vector_data_const(x);
    for (int i = 0; i < 400; i++)
        assert_true(numbers[i] == 0);
    spry_result_clear(ctx, &result);
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "stall=5 divergence=1e9 method=cg precon=none",
                                    &result));
    assert_int_equal(result.reason, SPRY_REASON_STAGNATED);
    assert_true(result.true_residual <= 1);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* More than rounding allows: the recurrence gets there, the true residual does not, and the result
 * says so. (A diagonal of 2 would have an answer of whole numbers, which can be met exactly.) */
static void unattainable_tolerance_is_not_called_converged(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 3000, 2.001);
    spry_vector *b, *x;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x,
                                    "tol=1e-20 max-iter=100000 method=cg precon=jacobi", &result));
    assert_false(result.converged);
    assert_int_equal(result.reason, SPRY_REASON_STAGNATED);
    assert_true(result.true_residual > 1e-20);
    assert_true(strlen(result.detail) > 0);
    assert_non_null(strstr(result.warnings, "drifted"));
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* A singular system without a solution: what is left is the part of b that A cannot make, and no x
 * that is worse than one seen before is handed back. */
static void inconsistent_systems_keep_the_best_iterate(void **state)
{
    spry_context *ctx = *state;
    enum { N = 200 };
    double rows[N * N] = {0}, b[N];
    for (int i = 0; i < N;
         i++) { /* the second difference with free ends: its null space is the constants */
        rows[i * N + i] = (i > 0) + (i < N - 1);
        if (i > 0)
            rows[i * N + i - 1] = rows[(i - 1) * N + i] = -1;
        b[i] = sin(37.0 * i) + 0.01;
    }
    for (int limit = 10; limit <= 10000; limit *= 10) {
        char options[64];
        snprintf(options, sizeof options, "tol=1e-10 max-iter=%d", limit);
        small s = run_small(ctx, SPRY_TYPE_D, N, rows, b, options);
        assert_int_equal(s.status, SPRY_STATUS_OK);
        assert_false(s.result.converged);
        assert_true(s.result.true_residual <= 1);
        assert_true(fabs(residual_of(ctx, s.A, s.b, s.x) - s.result.true_residual) <=
                    N * DBL_EPSILON * 4);
        free_small(ctx, &s);
    }
}

/* b far outside the range in which squares can be taken: the answer is the scaled one, to the bit.
 */
static void tiny_and_huge_right_hand_sides(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_type type = support_types[t];
        bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
        spry_matrix *A = tridiagonal(ctx, type, 100, 2.5);
        spry_vector *b, *x, *reference;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &reference));
        assert_ok(ctx, spry_quick_solve(ctx, A, b, reference, "tol=1e-5", NULL));
        for (int sign = -1; sign <= 1; sign += 2) {
            int exponent = sign * (single ? 100 : 900);
            assert_ok(ctx, spry_vector_fill(b, (spry_scalar){ldexp(1, exponent), 0}));
            assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
            assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "tol=1e-5", &result));
            assert_true(result.converged);
            assert_ok(ctx, spry_vector_scale((spry_scalar){ldexp(1, -exponent), 0}, x));
            assert_memory_equal(spry_vector_data_const(x), spry_vector_data_const(reference),
                                100 * spry_type_size(type));
            spry_result_clear(ctx, &result);
            spry_vector_free(x);
        }
        spry_vector_free(reference);
        spry_vector_free(b);
        spry_matrix_free(A);
    }
}

static bool largest_seen(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    (void)iteration;
    (void)residual;
    *(double *)data = ((const double *)spry_vector_data_const(x))[50];
    return true;
}

/* The monitor sees x in the caller's units although the solve works with scaled numbers. */
static void monitors_see_unscaled_iterates(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 100, 2.5);
    spry_vector *b, *x;
    spry_solver *solver;
    double seen = 0;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){0x1p800, 0}));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    spry_solver_set_monitor(solver, largest_seen, &seen);
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_true(seen == ((const double *)spry_vector_data_const(x))[50]);
    assert_true(seen > 0x1p799);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* converged is the true residual at or below tol, whichever way the run ended. */
static void converged_means_the_true_residual(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_S, 300, 2.05);
    spry_vector *b, *x;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    for (int limit = 0; limit < 60; limit++) {
        char options[80];
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        snprintf(options, sizeof options, "tol=1e-9 max-iter=%d", limit);
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
        double reached = result.true_residual;
        spry_result_clear(ctx, &result);
        spry_vector_free(x);
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        snprintf(options, sizeof options, "tol=%.17g max-iter=%d", reached < 1 ? reached : 1,
                 limit);
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, options, &result));
        assert_true(result.true_residual <= (reached < 1 ? reached : 1));
        assert_true(result.converged);
        spry_result_clear(ctx, &result);
        spry_vector_free(x);
    }
    spry_vector_free(b);
    spry_matrix_free(A);
}

static void answers_do_not_depend_on_threads(void **state)
{
    (void)state;
    double first[2000] = {0};
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 20000, 2.5);
        spry_vector *b, *x;
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "tol=1e-10", NULL));
        if (t == 0)
            memcpy(first, spry_vector_data_const(x), sizeof first);
        else
            assert_memory_equal(first, spry_vector_data_const(x), sizeof first);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
}

/* 2 I as a function, and a function that fails. */
static spry_status twice(void *data, spry_transpose op, const void *x, void *y)
{
    (void)op;
    if (*(int *)data)
        return SPRY_STATUS_UNSUPPORTED;
    for (int i = 0; i < 10; i++)
        ((double *)y)[i] = 2 * ((const double *)x)[i];
    return SPRY_STATUS_OK;
}

static void functions_and_preconditioners_of_the_caller(void **state)
{
    spry_context *ctx = *state;
    int fail = 0;
    spry_operator *op, *M, *small_M;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    spry_matrix *eye = tridiagonal(ctx, SPRY_TYPE_D, 10, 4),
                *less = tridiagonal(ctx, SPRY_TYPE_D, 9, 4);
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 10, 10, true, twice, &fail, &op));
    assert_ok(ctx, spry_precon_new(eye, NULL, "jacobi", &M));
    assert_ok(ctx, spry_precon_new(less, NULL, "jacobi", &small_M));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 10, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 10, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){3, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(solver, b, x, &result));
    support_message_has(ctx, "no matrix and no operator");
    assert_ok(ctx, spry_solver_set_operator(solver, op));
    assert_ok(ctx, spry_solver_set_precon(solver, M));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_string_equal(result.precon, "jacobi");
    assert_string_equal(result.format, "function");
    assert_true(((const double *)spry_vector_data_const(x))[9] == 1.5);
    spry_result_clear(ctx, &result);
    assert_ok(ctx, spry_solver_set_precon(solver, small_M));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(solver, b, x, &result));
    support_message_has(ctx, "the preconditioner is 9 x 9");
    spry_result_clear(ctx, &result);
    assert_ok(ctx, spry_solver_set_precon(solver, NULL));
    assert_ok(ctx, spry_solver_set(solver, "precon=jacobi"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(solver, b, x, &result));
    support_message_has(ctx, "needs a matrix");
    assert_ok(ctx, spry_solver_set(solver, "precon=none"));
    fail = 1;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_solve(solver, b, x, &result));
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(op);
    spry_operator_free(M);
    spry_operator_free(small_M);
    spry_matrix_free(eye);
    spry_matrix_free(less);
}

static void wrong_use_is_explained(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_D, 4, 3);
    spry_matrix *wide = support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (double[]){1, 0, 1, 0, 1, 0});
    spry_vector *b, *x, *single;
    spry_operator *op;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_S, 4, NULL, SPRY_OWN_COPY, &single));
    static const char *const bad[][2] = {
        {"method=cgg", "method cgg is unknown; did you mean cg?"},
        {"method=gauss", "method gauss is unknown; there are: auto bicg"},
        {"precon=jacoby", "precon jacoby is unknown; did you mean jacobi?"},
        {"tolerance=1", "option tolerance is unknown"},
        {"tol=-1", "tol=-1 is outside 0..1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_quick_solve(ctx, A, b, x, bad[i][0], NULL));
        support_message_has(ctx, bad[i][1]);
    }
    spry_result result = SPRY_RESULT_INIT;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_quick_solve(ctx, A, b, b, "", &result));
    support_message_has(ctx, "b and x are the same array");
    assert_false(result.converged);
    assert_int_equal(result.reason, SPRY_REASON_FAILED);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_quick_solve(ctx, A, b, single, "", NULL));
    support_message_has(ctx, "x has 4 elements of type s, the matrix needs 4 of type d");
    spry_context *other = support_context(NULL);
    spry_vector *foreign = NULL;
    assert_ok(other, spry_vector_new(other, SPRY_TYPE_D, 4, NULL, SPRY_OWN_COPY, &foreign));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_quick_solve(ctx, A, foreign, x, "method=cg precon=none", NULL));
    support_message_has(ctx, "b and x are of different contexts");
    spry_vector_free(foreign);
    support_context_free(other);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_quick_solve(ctx, wide, b, x, "method=cg", NULL));
    support_message_has(ctx, "cg needs a square matrix, not 2 x 3; lsmr, lsqr and cgls do not");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(wide, NULL, "jacobi", &op));
    assert_null(op);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(single);
    spry_matrix_free(A);
    spry_matrix_free(wide);
}

static void jacobi_products(void **state)
{
    spry_context *ctx = *state;
    const double numbers[] = {2, 0, 0, 4, -8, 0, 0, 1}; /* diagonal 2, 4i (below), -8, i */
    spry_arrays a = {
        .type = SPRY_TYPE_Z, .format = SPRY_FORMAT_COO, .rows = 4, .cols = 4, .nnz = 4};
    int32_t places[] = {0, 1, 2, 3};
    a.row_index = a.col_index = places;
    a.values = (void *)(uintptr_t)numbers;
    spry_matrix *A;
    spry_operator *op;
    spry_vector *x, *y;
    assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_BORROW, &A));
    assert_ok(ctx, spry_precon_new(A, NULL, "jacobi", &op));
    assert_int_equal(spry_operator_bytes(op), 3 * 4 * 16);
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_ones(ctx, A, &y));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){1, 1}));
    const spry_scalar *out = spry_vector_data_const(y);
    /* every number below is a power of two or a sum of two: exact */
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){2, 0}, x,
                                          (spry_scalar){3, 0}, y));
    const spry_scalar plain[] = {{4, 1}, {3.5, -0.5}, {2.75, -0.25}, {5, -2}};
    for (int i = 0; i < 4; i++)
        assert_true(out[i].re == plain[i].re && out[i].im == plain[i].im);
    assert_ok(ctx, spry_vector_fill(y, (spry_scalar){NAN, NAN}));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){0, 1}, x,
                                          (spry_scalar){0, 0}, y));
    /* i conj(1/d) (1 + i): conj(1/d) = 1/2, i/4, -1/8, i */
    const spry_scalar conjugated[] = {{-0.5, 0.5}, {-0.25, -0.25}, {0.125, -0.125}, {-1, -1}};
    for (int i = 0; i < 4; i++)
        assert_true(out[i].re == conjugated[i].re && out[i].im == conjugated[i].im);
    spry_operator_free(op);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_matrix_free(A);
}

static spry_status whole_solve(spry_context *ctx, void *data)
{
    spry_matrix *A = data;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = {0};
    spry_status status = spry_vector_ones(ctx, A, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_quick_solve(ctx, A, b, x, "tol=1e-10", &result);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = tridiagonal(ctx, SPRY_TYPE_Z, 300, 2.05);
    support_torture(ctx, whole_solve, A);
    spry_matrix_free(A);
}

static void names_of_methods_reasons_and_precons(void **state)
{
    (void)state;
    spry_entry info = SPRY_ENTRY_INIT;
    int methods = 0;
    for (bool cg = false; spry_list_at(SPRY_LIST_METHODS, methods, &info) || !cg; methods++) {
        assert_non_null(info.name); /* cg is there */
        cg = cg || strcmp(info.name, "cg") == 0;
        assert_true(info.purpose[0] && info.reference[0] && strstr(info.text, "loop:"));
    }
    assert_true(methods >= 33);
    assert_false(spry_list_at(SPRY_LIST_METHODS, methods, &info));
    assert_false(spry_list_at(SPRY_LIST_METHODS, -1, &info));
    assert_true(spry_list_at(SPRY_LIST_PRECONS, 1, &info)); /* by name, after none */
    assert_string_equal(info.name, "amg");
    assert_false(spry_list_at(SPRY_LIST_PRECONS, -1, &info));
    assert_string_equal(spry_reason_name(SPRY_REASON_NONFINITE), "nan");
    assert_string_equal(spry_reason_name((spry_reason)99), "unknown");
    assert_string_equal(spry_reason_text((spry_reason)99), "unknown reason");
    assert_string_equal(spry_reason_text(SPRY_REASON_STAGNATED), "the residual no longer falls");
    spry_result_clear(NULL, NULL);
    assert_true(spry_options_of("solver").count >= 6);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_type_and_precon_converges),
        TEST(distinct_eigenvalues_bound_the_steps),
        TEST(breakdowns_are_named),
        TEST(a_zero_diagonal_is_named),
        TEST(unsymmetric_matrices_are_warned_about),
        TEST(nonfinite_input_is_refused_and_placed),
        TEST(trivial_systems),
        TEST(limits_monitors_and_interruption),
        TEST(divergence_hands_back_the_best_iterate),
        TEST(unattainable_tolerance_is_not_called_converged),
        TEST(inconsistent_systems_keep_the_best_iterate),
        TEST(tiny_and_huge_right_hand_sides),
        TEST(monitors_see_unscaled_iterates),
        TEST(converged_means_the_true_residual),
        TEST(answers_do_not_depend_on_threads),
        TEST(functions_and_preconditioners_of_the_caller),
        TEST(wrong_use_is_explained),
        TEST(jacobi_products),
        TEST(every_allocation_may_fail),
        TEST(names_of_methods_reasons_and_precons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
