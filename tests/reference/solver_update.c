/* New values in an old pattern: a solver notified of them gives what a new solver gives. */
#include "support/renewed.h"

#include "krylov/solver.h"

#include <spry/spry.h>

#include <math.h>

/* A's values in place. */
static void change(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            support_put(A, k, renewed_value(A, i, k));
}

static void solve(spry_context *ctx, spry_solver *solver, const spry_vector *b, spry_vector *x,
                  spry_result *result)
{
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, result));
    assert_true(result->converged);
}

static void run(spry_context *ctx, spry_type type, const char *options)
{
    char text[64];
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL, *fresh = NULL;
    spry_solver *solver = NULL;
    spry_result first = {0}, second = {0}, third = {0};
    snprintf(text, sizeof text, "size=13 type=%s", spry_type_name(type));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", text, &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &fresh));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solver_update(solver)); /* before anything was made */
    solve(ctx, solver, b, x, &first);
    change(A);
    assert_ok(ctx, spry_solver_update(solver));
    solve(ctx, solver, b, x, &second);
    assert_ok(ctx, spry_quick_solve(ctx, A, b, fresh, options, &third));
    assert_int_equal(second.iterations, third.iterations);
    assert_memory_equal(x->data, fresh->data, (size_t)x->n * spry_type_size(type));
    assert_true(second.iterations != first.iterations || second.residual != first.residual);
    spry_result_clear(ctx, &first);
    spry_result_clear(ctx, &second);
    spry_result_clear(ctx, &third);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(fresh);
    spry_matrix_free(A);
}

static void test_update(void **state)
{
    static const char *const options[] = {
        "method=cg precon=jacobi tol=1e-5",
        "method=cg precon=none format=sell tol=1e-5",
        "method=bicg precon=jacobi format=csr tol=1e-5", /* the transpose is made again, too */
        "method=cg precon=ssor tol=1e-5",
        "method=bicgstab precon=jacobi:precision=single tol=1e-5",
    };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        run(*state, SPRY_TYPE_D, options[k]);
        run(*state, SPRY_TYPE_Z, options[k]);
    }
    run(*state, SPRY_TYPE_S, options[0]);
}

static spry_status nothing(void *data, spry_transpose op, const void *x, void *y)
{
    (void)data, (void)op, (void)x, (void)y;
    return SPRY_STATUS_OK;
}

static void test_bad(void **state)
{
    spry_context *ctx = *state;
    spry_solver *solver = NULL;
    spry_matrix *A = NULL, *B = NULL;
    spry_operator *M = NULL;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_update(solver));
    support_message_has(ctx, "no matrix");
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &A));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &B));
    assert_ok(ctx, spry_precon_new(A, NULL, "jacobi", &M));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_update(M, B));
    support_message_has(ctx, "the matrix is another");
    support_put(A, A->a.offsets[3], (spry_scalar){0, 0});
    for (int64_t k = A->a.offsets[3]; k < A->a.offsets[4]; k++)
        support_put(A, k, (spry_scalar){0, 0});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_operator_update(M, A));
    support_message_has(ctx, "row 3");
    spry_operator_free(M);
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, 25, 25, false, nothing, NULL, &M));
    assert_true(spry_operator_is_current(M));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_operator_update(M, A));
    spry_operator_free(M);
    spry_matrix_free(A);
    spry_matrix_free(B);
    spry_solver_free(solver);
}

/* Options in brackets are a value's own; brackets within them, too. */
static void test_brackets(void **state)
{
    spry_context *ctx = *state;
    spry_solver *solver = NULL;
    static const char *const bad[] = {"precon=[sor:omega=9] tol=1e-3", "precon=(sor:omega=9)",
                                      "precon=\"sor:omega=9\""};
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_set(solver, bad[k]));
        support_message_has(ctx, "omega=9 is outside");
    }
    assert_ok(ctx, spry_solver_set(solver, "precon=[sor:omega=1.5],tol=1e-3 method=gmres"));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_solver_set(solver, "precon=[sor:omega=[1.5] tol=1"));
    support_message_has(ctx, "the [ is not closed");
    assert_ok(ctx, spry_solve(solver, b, x, NULL)); /* as before */
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

static void fill_values(spry_matrix *A, int64_t i, int64_t j, double value)
{
    for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
        if (A->a.col_index[k] == j)
            support_put(A, k, (spry_scalar){value, 0});
}

/* What was chosen for values that are no more is chosen again; numbers that are none are refused.
 */
static void test_chosen(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = {0};
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=40", &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    solve(ctx, solver, b, x, &result);
    assert_string_equal(result.method, "direct"); /* as definite */
    assert_string_equal(result.precon, "direct");
    spry_result_clear(ctx, &result);
    for (int64_t i = 1; i < A->a.rows; i++) /* a wind blows */
        fill_values(A, i, i - 1, -0.5);
    assert_ok(ctx, spry_solver_update(solver));
    solve(ctx, solver, b, x, &result);
    assert_true(result.converged);
    assert_string_equal(result.precon, "direct"); /* as general */
    spry_result_clear(ctx, &result);
    fill_values(A, 7, 7, NAN);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_solver_set(solver, "precon=ilu") == SPRY_STATUS_OK
                      ? spry_solve(solver, b, x, NULL)
                      : SPRY_STATUS_OK);
    support_message_has(ctx, "(7, 7)");
    spry_solver_free(solver);
    spry_operator *M = NULL;
    fill_values(A, 7, 7, 4);
    assert_ok(ctx, spry_precon_new(A, NULL, "ilu", &M));
    fill_values(A, 7, 7, INFINITY);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_operator_update(M, A));
    support_message_has(ctx, "entry (7, 7) (from 0) is inf");
    fill_values(A, 7, 7, 4);
    assert_ok(ctx, spry_operator_update(M, A));
    spry_operator_free(M);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* Conjugate gradients and minres are not chosen for preconditioners that are not definite. */
static void test_indefinite(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(
        ctx, SPRY_TYPE_D, 4, 4, (double[]){4, 1, 0, 0, 1, -3, 1, 0, 0, 1, 5, 1, 0, 0, 1, -2});
    spry_vector *b = NULL, *x = NULL;
    spry_result result = {0};
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, "precon=jacobi", &result));
    assert_true(result.converged);
    assert_string_equal(result.method, "gmres");
    spry_result_clear(ctx, &result);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* Solves from zeros; the warnings must have the text, or be none (NULL). */
static void expect_warning(spry_context *ctx, spry_solver *solver, const spry_vector *b,
                           spry_vector *x, const char *text)
{
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    if (text ? !result.warnings || strcmp(result.warnings, text) != 0 : result.warnings != NULL)
        fail_msg("warnings: %s; expected: %s", result.warnings ? result.warnings : "none",
                 text ? text : "none");
    spry_result_clear(ctx, &result);
}

/* A method that was asked for stays; what is wrong with it is reported for the current values. */
static void test_warnings(void **state)
{
    spry_context *ctx = *state;
    static const char *const options[] = {"method=cg precon=none max-iter=3",
                                          "method=cg precon=jacobi max-iter=3",
                                          "method=cg precon=ssor max-iter=3"};
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        spry_matrix *A = NULL;
        spry_vector *b = NULL, *x = NULL;
        spry_solver *solver = NULL;
        assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=13", &A));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options[k]));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        expect_warning(ctx, solver, b, x, NULL);
        const plan *kept = solver->setup.plan;
        fill_values(A, 1, 0, -0.5);
        expect_warning(ctx, solver, b, x,
                       "the matrix is not symmetric (hermitian): cg is not made for it");
        fill_values(A, 1, 0, -1);
        expect_warning(ctx, solver, b, x, NULL);
        fill_values(A, 5, 5, -4);
        expect_warning(ctx, solver, b, x,
                       "the matrix is not positive definite: cg is made for those that are; try "
                       "minres");
        assert_ptr_equal(solver->setup.plan, kept);
        spry_solver_free(solver);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

/* What can take new values is kept, though something after it cannot or is missing. */
static void test_kept(void **state)
{
    spry_context *ctx = *state;
    static const char *const changes[] = {"", "precon=jacobi", "method=gmres"};
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL, *fresh = NULL;
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=13", &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &fresh));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=fgmres precon=inner format=sell"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    const spry_operator *kept = solver->setup.own_operator;
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        static const char *const all[] = {"method=fgmres precon=inner format=sell",
                                          "method=fgmres precon=jacobi format=sell",
                                          "method=gmres precon=jacobi format=sell"};
        assert_ok(ctx, spry_solver_set(solver, changes[k]));
        change(A);
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_vector_fill(fresh, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, b, x, NULL));
        assert_ptr_equal(solver->setup.own_operator, kept);
        assert_true(solver->setup.updated_seconds == 0); /* reported, and not once more */
        assert_ok(ctx, spry_quick_solve(ctx, A, b, fresh, all[k], NULL));
        assert_memory_equal(x->data, fresh->data, (size_t)x->n * sizeof(double));
    }
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(fresh);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_update),     CASE(test_bad),      CASE(test_brackets), CASE(test_chosen),
        CASE(test_indefinite), CASE(test_warnings), CASE(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
