/* Singular systems with a null space, solved on devices: b, x and null vectors on the host or on
 * the device. */
#include "support/devices.h"
#include "support/neumann.h"
#include "support/problems.h"

#include "matrix/matrix.h"

static void check(spry_context *ctx, spry_device *d, const spry_matrix *A, const neumann_grid *g,
                  spry_solver *solver, bool on_device)
{
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    const double tol = problem_tolerance(type);
    spry_vector *b = neumann_rhs(ctx, type, g, 1), *x = NULL, *b_on_device = NULL,
                *x_on_device = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){3, 0}));
    if (on_device) {
        assert_ok(ctx, spry_vector_on(d, type, n, NULL, &b_on_device));
        assert_ok(ctx, spry_vector_on(d, type, n, NULL, &x_on_device));
        assert_ok(ctx, spry_vector_copy(b, b_on_device));
        assert_ok(ctx, spry_vector_copy(x, x_on_device));
    }
    assert_ok(
        ctx, spry_solve(solver, on_device ? b_on_device : b, on_device ? x_on_device : x, &result));
    assert_true(result.converged);
    assert_string_equal(result.device, spry_device_name(d));
    if (on_device)
        assert_ok(ctx, spry_vector_copy(x_on_device, x));
    neumann_check(A, g, g->cut ? 2 : 1, b, x, tol, result.true_residual);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(b_on_device);
    spry_vector_free(x_on_device);
}

static spry_solver *solver_on(spry_context *ctx, spry_device *d, const spry_matrix *A,
                              const char *options)
{
    char text[160];
    spry_solver *solver = NULL;
    snprintf(text, sizeof text, "device=%s tol=%g %s", spry_device_name(d),
             problem_tolerance(A->a.type), options);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, text));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    return solver;
}

static void constants(spry_context *ctx, spry_device *d)
{
    /* a diagonal and multigrid are on the device, sweeps of one thread after the other are not */
    static const char *const choices[] = {
        "nullspace=constant precon=none", "nullspace=constant precon=jacobi",
        "nullspace=constant precon=amg", "nullspace=constant precon=direct:kind=dense,regular=yes",
        "nullspace=constant precon=jacobi method=bicg"};
    const neumann_grid g = {.nx = 14, .ny = 9, .nz = 3};
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_Z};
    for (int t = 0; t < 2; t++) {
        spry_matrix *A = neumann_matrix(ctx, types[t], &g);
        for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
            spry_solver *solver = solver_on(ctx, d, A, choices[c]);
            check(ctx, d, A, &g, solver, true);
            check(ctx, d, A, &g, solver, false);
            spry_solver_free(solver);
        }
        spry_matrix_free(A);
    }
}

static void given_vectors(spry_context *ctx, spry_device *d)
{
    const neumann_grid g = {.nx = 14, .ny = 9, .nz = 1, .cut = true, .twisted = true};
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_Z, &g);
    spry_vector *v[2], *on_device[2];
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, A->a.rows, NULL, SPRY_OWN_COPY, &v[k]));
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_Z, A->a.rows, NULL, &on_device[k]));
        for (int64_t i = 0; i < A->a.rows; i++)
            value_set(SPRY_TYPE_Z, v[k]->data, i, neumann_null(&g, k, i));
        assert_ok(ctx, spry_vector_copy(v[k], on_device[k]));
    }
    spry_solver *solver = solver_on(ctx, d, A, "precon=jacobi");
    for (int k = 0; k < 2; k++) { /* null vectors of the host, and of the device */
        assert_ok(ctx, spry_solver_set_null_space(
                           solver, 2, (const spry_vector *const *)(k ? on_device : v), NULL));
        check(ctx, d, A, &g, solver, true);
    }
    spry_solver_free(solver);
    for (int k = 0; k < 2; k++) {
        spry_vector_free(v[k]);
        spry_vector_free(on_device[k]);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(constants), DEVICES_TEST(given_vectors)};
    return DEVICES_RUN(tests);
}
