/* New values for a matrix on the host: every format, every preconditioner, solvers. */
#include "support/layouts.h"
#include "support/renewed.h"

#include "operator/operator.h"

#include <math.h>

static void one_format(const char *spec, void *ctx)
{
    for (int t = 0; t < 4; t++)
        if (!layouts_too_short(support_types[t], spec))
            renewed_operator(ctx, NULL, support_types[t], spec);
}

static void operators(void **state)
{
    layouts_each(one_format, *state);
}

static void one_precon(const precons_case *c, void *ctx)
{
    renewed_precon(ctx, NULL, SPRY_TYPE_D, c);
    renewed_precon(ctx, NULL, SPRY_TYPE_Z, c);
}

static void precons(void **state)
{
    precons_each(one_precon, *state);
}

static void solvers(void **state)
{
    static const char *const options[] = {
        "method=cg precon=jacobi tol=1e-5",
        "method=cg precon=none format=sell tol=1e-5",
        "method=bicg precon=jacobi tol=1e-5", /* the transpose is made again, too */
        "method=bicg precon=none format=ell tol=1e-5",
        "method=cg precon=amg tol=1e-5",
        "method=cg precon=poly tol=1e-5",
        "method=bicgstab precon=ilu:precision=single tol=1e-5",
        "method=fgmres precon=inner tol=1e-5",
        "tol=1e-5",
    };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        renewed_solver(*state, SPRY_TYPE_D, options[k]);
        renewed_solver(*state, SPRY_TYPE_Z, options[k]);
    }
}

/* The operator of a caller must be up to date, the preconditioner need not be. */
static void given(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    spry_operator *op = NULL, *csr = NULL, *M = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=9", &A));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, "sell", &op));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &csr));
    assert_ok(ctx, spry_precon_new(A, NULL, "ic", &M));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg"));
    assert_ok(ctx, spry_solver_set_operator(solver, op));
    assert_ok(ctx, spry_solver_set_precon(solver, M));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    double values[5 * 81];
    for (int64_t k = 0; k < A->a.nnz; k++)
        values[k] = 2 * ((const double *)A->a.values)[k];
    assert_ok(ctx, spry_matrix_set_values(A, values, SPRY_OWN_BORROW));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "operator sell has old values of its matrix");
    assert_ok(ctx, spry_operator_update(op, A));
    assert_false(spry_operator_is_current(M));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    const double half = ((const double *)x->data)[40];
    /* CSR reads the matrix itself, and so does a solver that has run with it before. */
    assert_ok(ctx, spry_solver_set_operator(solver, csr));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    double more[5 * 81];
    for (int64_t k = 0; k < A->a.nnz; k++)
        more[k] = 2 * values[k];
    assert_ok(ctx, spry_matrix_set_values(A, more, SPRY_OWN_BORROW));
    for (int64_t k = 0; k < A->a.nnz; k++)
        values[k] = 0; /* owned by none any more */
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    assert_true(fabs(((const double *)x->data)[40] / half - 0.5) < 1e-6); /* tol is 1e-8 */
    spry_solver_free(solver);
    spry_operator_free(op);
    spry_operator_free(csr);
    spry_operator_free(M);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* A pattern that changes under a solver: all is made again. */
static void patterns(void **state)
{
    spry_context *ctx = *state;
    const int32_t rows[] = {0, 1, 1, 2, 0, 2}, cols[] = {0, 1, 1, 2, 0, 0};
    const double values[] = {1, 2, 3, 4, 5, 0};
    const spry_arrays a = {.type = SPRY_TYPE_D,
                           .format = SPRY_FORMAT_COO,
                           .rows = 3,
                           .cols = 3,
                           .nnz = 6,
                           .row_index = (int32_t *)rows,
                           .col_index = (int32_t *)cols,
                           .values = (double *)values};
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_BORROW, &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=gmres precon=ilu"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_ok(ctx, spry_matrix_sum_duplicates(A));
    assert_int_equal(A->a.nnz, 4);
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_true(fabs(((const double *)x->data)[1] - 0.2) < 1e-8);
    assert_ok(ctx, spry_matrix_set_values(A, (double[]){12, 10, 0, 8}, SPRY_OWN_COPY));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_true(fabs(((const double *)x->data)[1] - 0.1) < 1e-8);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {TEST(operators), TEST(precons), TEST(solvers), TEST(given),
                                       TEST(patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
