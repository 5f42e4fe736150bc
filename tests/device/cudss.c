/*
 * Factors by the true cuDSS on CUDA devices: all types and kinds of matrices, all products, several
 * right-hand sides, new values, singular ones, a solve. Skipped, by name, on other devices and
 * where the library is missing (SPRY_CUDSS_LIBRARY).
 */
#include "support/devices.h"
#include "support/exact.h"

#include "direct/factor.h"

#include <math.h>
#include <stdio.h>

static const char spec[] = "direct:kind=cudss";

static void need_library(spry_context *ctx, const spry_device *d)
{
    if (factor_cudss_is_available(ctx, d))
        return;
    print_message("SKIP: no cuDSS for %s\n", d->facts.name);
    skip();
}

static void check_all(spry_context *ctx, const spry_device *d, const spry_matrix *A,
                      const spry_operator *M, double growth, const char *what)
{
    assert_ptr_equal(spry_operator_device(M), d);
    for (int op = 0; op < 3; op++)
        exact_check(ctx, A, M, (spry_transpose)op, growth, what);
}

/* A complex symmetric matrix: the grid's with another diagonal. */
static spry_matrix *symmetric(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = exact_matrix(ctx, type, true, size);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            support_put(A, k,
                        A->a.col_index[k] == i ? (spry_scalar){4, 1} : (spry_scalar){-1, 0.25});
    return A;
}

/* Static pivots of indefinite matrices let numbers grow; what is promised is a residual of a
 * hundredth, and these are far from it. */
static void solves(spry_context *ctx, spry_device *d)
{
    static const char *const names[] = {"definite", "general", "indefinite", "complex symmetric"};
    need_library(ctx, d);
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < (spry_type_is_complex(support_types[t]) ? 4 : 3); k++) {
            const spry_type type = support_types[t];
            spry_operator *M = NULL;
            spry_matrix *A = k < 2    ? exact_matrix(ctx, type, k == 0, 40)
                             : k == 2 ? exact_shifted(ctx, type, 40, 3.3)
                                      : symmetric(ctx, type, 40);
            assert_ok(ctx, spry_precon_new(A, d, spec, &M));
            check_all(ctx, d, A, M, k == 2 ? 1e3 : 1, names[k]);
            check_all(ctx, d, A, M, k == 2 ? 1e3 : 1, names[k]); /* another right-hand side */
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* Definite at first; other numbers of the same kind; then neither definite nor hermitian. */
static void updates(spry_context *ctx, spry_device *d)
{
    need_library(ctx, d);
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = exact_matrix(ctx, type, true, 25);
        spry_operator *M = NULL;
        assert_ok(ctx, spry_precon_new(A, d, spec, &M));
        for (int64_t k = 0; k < A->a.nnz; k++) {
            const spry_scalar v = value_get(type, A->a.values, k);
            support_put(A, k, (spry_scalar){2 * v.re, 2 * v.im});
        }
        assert_ok(ctx, spry_operator_update(M, A));
        check_all(ctx, d, A, M, 1, "twice");
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
                if (A->a.col_index[k] > i)
                    support_put(A, k, (spry_scalar){0.25, 0});
        assert_ok(ctx, spry_operator_update(M, A));
        check_all(ctx, d, A, M, 1, "no longer hermitian");
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* Rows of zero sums, and pivots that are zero but need not be. */
static void pivots(spry_context *ctx, spry_device *d)
{
    static const double rows[16] = {0, 2, 0, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0, 0, 4, 0};
    need_library(ctx, d);
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = exact_neumann(ctx, support_types[t], 20),
                    *B = support_from_rows(ctx, support_types[t], 4, 4, rows);
        /* A residual of a hundredth, in the units of the type's rounding that exact_check() takes.
         */
        const double static_pivots =
            2500 * numeric_unit(SPRY_TYPE_S) / numeric_unit(support_types[t]);
        spry_operator *M = NULL;
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, d, spec, &M));
        support_message_has(ctx, "singular");
        assert_ok(ctx, spry_precon_new(A, d, "direct:kind=cudss,regular=yes", &M));
        assert_null(spry_operator_device(M));
        spry_operator_free(M);
        /* cuDSS may exchange rows for it or put other pivots in their place: what it makes leaves a
         * residual of a hundredth at most, or is refused: refinement does the rest. */
        const spry_status status = spry_precon_new(B, d, spec, &M);
        if (status == SPRY_STATUS_OK)
            check_all(ctx, d, B, M, static_pivots, "zero pivots");
        else
            assert_int_equal(status, SPRY_STATUS_BAD_INPUT);
        spry_operator_free(M);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* A failure anywhere is passed on and leaves nothing of ours behind. */
static void failures(spry_context *ctx, spry_device *d)
{
    static const device_work works[] = {WORK_ALLOC, WORK_COPY, WORK_LAUNCH};
    need_library(ctx, d);
    spry_matrix *A = exact_matrix(ctx, SPRY_TYPE_D, false, 6);
    for (int w = 0; w < 3; w++)
        for (int64_t nth = 1; nth < 12; nth++) {
            int64_t before, after, most;
            spry_operator *M = NULL;
            device_memory_now(d, &before, &most, NULL);
            device_fail_next(d, works[w], nth);
            const spry_status status = spry_precon_new(A, d, spec, &M);
            device_fail_next(d, works[w], 0);
            assert_true((status == SPRY_STATUS_OK) == (M != NULL));
            spry_operator_free(M);
            device_memory_now(d, &after, &most, NULL);
            assert_int_equal(before, after);
        }
    spry_matrix_free(A);
}

/* By the methods that ask for M alone and for M^H as well. */
static void methods(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {"method=direct:kind=cudss",
                                          "method=gmres precon=direct:kind=cudss",
                                          "method=qmr precon=direct:kind=cudss"};
    need_library(ctx, d);
    for (int k = 0; k < 3; k++) {
        spry_matrix *A = exact_matrix(ctx, SPRY_TYPE_D, false, 60);
        char text[128];
        spry_solver *solver = NULL;
        spry_result result = SPRY_RESULT_INIT;
        spry_vector *b = numeric_random(ctx, NULL, SPRY_TYPE_D, A->a.rows, 3),
                    *x = numeric_random(ctx, NULL, SPRY_TYPE_D, A->a.rows, 0);
        snprintf(text, sizeof text, "%s device=%s tol=1e-10", options[k], d->facts.name);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, text));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_true(result.converged && result.iterations <= 3);
        assert_string_equal(result.device, d->facts.name);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(solves), DEVICES_TEST(updates),
                                         DEVICES_TEST(pivots), DEVICES_TEST(failures),
                                         DEVICES_TEST(methods)};
    return DEVICES_RUN(tests);
}
