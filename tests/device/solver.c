/* The solver around methods on devices: where it works, what it copies, what it warns of. */
#include "support/devices.h"
#include "support/numeric.h"

#include "host/apply.h"
#include "krylov/solver.h"

#include <stdlib.h>

static spry_matrix *poisson(spry_context *ctx)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=20", &A));
    return A;
}

static spry_solver *solver_for(spry_context *ctx, const spry_matrix *A, const char *options)
{
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    return solver;
}

static void set_device(spry_solver *solver, const spry_device *d)
{
    char text[64];
    snprintf(text, sizeof text, "device=%s", spry_device_name(d));
    assert_ok(d->ctx, spry_solver_set(solver, text));
}

/* A zero b is answered by zero before any method runs. */
static void check_zero(spry_solver *solver, spry_device *d, bool on_device)
{
    spry_context *ctx = d->ctx;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double norm;
    if (on_device) {
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 400, NULL, &b));
    } else {
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 400, NULL, SPRY_OWN_COPY, &b));
    }
    assert_ok(ctx, spry_vector_like(b, 400, &x));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){3, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_string_equal(result.device, spry_device_name(d));
    assert_true(result.memory_bytes > 400 * 5 * 12); /* A is on the device, too */
    assert_ok(ctx, spry_vector_norm(x, &norm));
    assert_true(norm == 0);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
}

static void places(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, "method=cg precon=jacobi");
    check_zero(solver, d, true); /* auto: where the vectors are */
    set_device(solver, d);
    check_zero(solver, d, false);
    check_zero(solver, d, true);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* Vectors of a device and a solve on the host. */
static void brought_home(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, "method=cg device=cpu tol=1e-10");
    spry_vector *b = NULL, *x = NULL, *r = NULL;
    spry_operator *op = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double b_norm, norm;
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, 400, NULL, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_like(b, 400, &x));
    assert_ok(ctx, spry_vector_like(b, 400, &r));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_string_equal(result.device, "cpu");
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &op));
    assert_ok(ctx, spry_vector_copy(b, r));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                                          (spry_scalar){1, 0}, r));
    assert_ok(ctx, spry_vector_norm(b, &b_norm));
    assert_ok(ctx, spry_vector_norm(r, &norm));
    assert_true(norm <= 2e-10 * b_norm);
    spry_result_clear(ctx, &result);
    spry_operator_free(op);
    spry_vector *const all[] = {b, x, r};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        spry_vector_free(all[i]);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

static void check_warning(spry_context *ctx, spry_device *d, const char *options, const char *word,
                          const char *place)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, options);
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    if (!strstr(options, "device="))
        set_device(solver, d);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 400, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_like(b, 400, &x));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_string_equal(result.device, place);
    assert_non_null(result.warnings);
    if (!strstr(result.warnings, word))
        fail_msg("warnings: %s; expected: %s", result.warnings, word);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

static void warnings(spry_context *ctx, spry_device *d)
{
    check_warning(ctx, d, "method=gmres precon=schwarz", "schwarz runs on the cpu",
                  spry_device_name(d));
    setenv("SPRY_DEVICE", "opencl:99", 1);
    check_warning(ctx, d, "method=cg device=auto", "solved on the cpu", "cpu");
    unsetenv("SPRY_DEVICE");
}

static void nonfinite(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, "method=cg");
    double numbers[400] = {[7] = NAN};
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    set_device(solver, d);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 400, numbers, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_like(b, 400, &x));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, &result));
    support_message_has(ctx, "row 7");
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* SPRY_DEVICE takes the place of auto, and of nothing else. */
static void variable(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, "method=cg");
    spry_vector *b = NULL, *x = NULL;
    static const char *const options[] = {"device=auto", "device=cpu"};
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 400, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_like(b, 400, &x));
    setenv("SPRY_DEVICE", spry_device_name(d), 1);
    for (int k = 0; k < 2; k++) {
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_solver_set(solver, options[k]));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_string_equal(result.device, k == 0 ? spry_device_name(d) : "cpu");
        spry_result_clear(ctx, &result);
    }
    unsetenv("SPRY_DEVICE");
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* --- again and again ----------------------------------------------------------------------------
 */

enum { ROWS = 400 };

static void solve_on_device(spry_solver *solver, const spry_vector *b, spry_vector *x,
                            double *numbers)
{
    spry_context *ctx = x->ctx;
    spry_vector *on_host = NULL;
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, ROWS, numbers, SPRY_OWN_BORROW, &on_host));
    assert_ok(ctx, spry_vector_copy(x, on_host));
    spry_vector_free(on_host);
}

/* What stays from one solve to the next does not show, whatever vectors it is given; nothing is
 * compiled again. */
static void again(spry_context *ctx, spry_device *d)
{
    static const char *const methods[] = {"method=cg", "method=gmres:restart=5 max-iter=40",
                                          "method=bicgstab precon=jacobi", "method=minres"};
    static double alone[2][ROWS], found[ROWS];
    spry_matrix *A = poisson(ctx);
    spry_vector *b[2] = {NULL}, *x[3] = {NULL};
    for (int k = 0; k < 3; k++) {
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, ROWS, NULL, &x[k]));
        if (k < 2) {
            assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, ROWS, NULL, &b[k]));
            assert_ok(ctx, vector_random(b[k], (uint64_t)k + 5));
        }
    }
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        for (int k = 0; k < 2; k++) {
            spry_solver *fresh = solver_for(ctx, A, methods[m]);
            solve_on_device(fresh, b[k], x[0], alone[k]);
            spry_solver_free(fresh);
        }
        spry_solver *solver = solver_for(ctx, A, methods[m]);
        solve_on_device(solver, b[0], x[0], found);
        const int64_t compiled = d->done[WORK_COMPILE];
        for (int k = 0; k < 6; k++) {
            solve_on_device(solver, b[k % 2], x[k % 3], found);
            assert_memory_equal(found, alone[k % 2], sizeof found);
        }
        assert_int_equal(d->done[WORK_COMPILE], compiled);
        spry_solver_free(solver);
    }
    for (int k = 0; k < 3; k++) {
        spry_vector_free(x[k]);
        if (k < 2)
            spry_vector_free(b[k]);
    }
    spry_matrix_free(A);
}

/* A matrix that the device does not take stays on the host, and is not offered to it again. */
static void stays_home(spry_context *ctx, spry_device *d)
{
    spry_matrix *A = poisson(ctx);
    spry_solver *solver = solver_for(ctx, A, "method=cg format=sym precon=jacobi");
    spry_vector *b = NULL, *x = NULL;
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, ROWS, NULL, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_like(b, ROWS, &x));
    for (int k = 0; k < 3; k++) {
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_true(result.converged);
        assert_string_equal(result.device, "cpu");
        assert_non_null(strstr(result.warnings, "solved on the cpu"));
        assert_true(k == 0 || result.setup_seconds == 0); /* nothing was made */
        spry_result_clear(ctx, &result);
    }
    assert_ok(ctx, spry_solver_set(solver, "format=csr")); /* which it does take */
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_ptr_equal(solver->setup.device, d);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* Element (i, i) is multiplied by 1, 2 or 3. */
static void change_diagonal(spry_matrix *A)
{
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                support_put(A, k, (spry_scalar){4 * (double)(1 + i % 3), 0});
}

/* A preconditioner of the caller's, on the host, that gets other values by itself. */
static void given_precon(spry_context *ctx, spry_device *d)
{
    static double found[ROWS], expected[ROWS], before[ROWS];
    spry_matrix *A = poisson(ctx), *other = poisson(ctx);
    spry_operator *M = NULL, *fresh = NULL;
    spry_vector *b = NULL, *x = NULL;
    change_diagonal(other);
    assert_ok(ctx, spry_precon_new(A, NULL, "jacobi", &M));
    assert_ok(ctx, spry_precon_new(other, NULL, "jacobi", &fresh));
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, ROWS, NULL, &b));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_like(b, ROWS, &x));
    spry_solver *solver = solver_for(ctx, A, "method=cg"),
                *second = solver_for(ctx, A, "method=cg");
    assert_ok(ctx, spry_solver_set_precon(solver, M));
    assert_ok(ctx, spry_solver_set_precon(second, fresh));
    solve_on_device(second, b, x, expected);
    solve_on_device(solver, b, x, before);
    const spry_operator *kept = solver->setup.precon_copy;
    solve_on_device(solver, b, x, found);
    assert_ptr_equal(solver->setup.precon_copy, kept);
    assert_memory_equal(found, before, sizeof found);
    assert_ok(ctx, spry_operator_update(M, other));
    solve_on_device(solver, b, x, found);
    assert_memory_equal(found, expected, sizeof found);
    assert_memory_not_equal(found, before, sizeof found);
    spry_solver_free(solver);
    spry_solver_free(second);
    spry_operator_free(M);
    spry_operator_free(fresh);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_matrix_free(other);
}

int main(void)
{
    static const devices_test tests[] = {
        DEVICES_TEST(places),     DEVICES_TEST(brought_home), DEVICES_TEST(warnings),
        DEVICES_TEST(nonfinite),  DEVICES_TEST(variable),     DEVICES_TEST(again),
        DEVICES_TEST(stays_home), DEVICES_TEST(given_precon),
    };
    return DEVICES_RUN(tests);
}
