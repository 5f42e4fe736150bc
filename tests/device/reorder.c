/* Solves in another order of rows on devices: b and x here or there stay in the caller's. */
#include "support/devices.h"
#include "support/support.h"

#include "krylov/solver.h"

static bool keep_last(void *data, int64_t at, double residual, const spry_vector *x)
{
    (void)at;
    (void)residual;
    return spry_vector_copy(x, data) == SPRY_STATUS_OK;
}

/* |b - A x| / |b| on the host. */
static double residual_of(spry_context *ctx, const spry_matrix *A, const spry_vector *b,
                          const spry_vector *x)
{
    spry_operator *op = NULL;
    spry_vector *r = NULL;
    double norm, b_norm;
    assert_ok(ctx, spry_operator_from_matrix(A, &op));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &r));
    assert_ok(ctx, spry_operator_apply(op, x, r));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, b, r));
    assert_ok(ctx, spry_vector_norm(r, &norm));
    assert_ok(ctx, spry_vector_norm(b, &b_norm));
    spry_operator_free(op);
    spry_vector_free(r);
    return norm / b_norm;
}

static void solve_there(spry_context *ctx, spry_device *d, const spry_matrix *A, bool there)
{
    /* A x is rounded by at most 8 units of |A| |x| for 5 entries per row; |A| is at most 8, and |x|
     * at most |b| / 0.1, the least eigenvalue of a grid of 12 x 12 being 0.116. */
    const double tol = 1e-8, rounding = 8 * 0x1p-53 * 8 / 0.1;
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL, *seen = NULL, *b_there = NULL, *x_there = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char options[128];
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &seen));
    assert_ok(ctx, vector_random(b, 1));
    assert_ok(ctx, vector_random(x, 2));
    if (there) {
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, b->n, NULL, &b_there));
        assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_D, b->n, NULL, &x_there));
        assert_ok(ctx, spry_vector_copy(b, b_there));
        assert_ok(ctx, spry_vector_copy(x, x_there));
    }
    snprintf(options, sizeof options, "method=cg precon=jacobi reorder=rcm tol=%g device=%s", tol,
             spry_device_name(d));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    spry_solver_set_monitor(solver, keep_last, seen);
    assert_ok(ctx, spry_solve(solver, there ? b_there : b, there ? x_there : x, &result));
    assert_true(result.converged);
    assert_non_null(solver->order.matrix);
    assert_string_equal(result.device, spry_device_name(d));
    if (there)
        assert_ok(ctx, spry_vector_copy(x_there, x));
    assert_true(residual_of(ctx, A, b, x) <= tol + rounding);
    /* what the monitor saw last is x, or one iteration from it */
    assert_true(residual_of(ctx, A, b, seen) <= 100 * tol);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(seen);
    spry_vector_free(b_there);
    spry_vector_free(x_there);
}

static void solves_in_another_order(spry_context *ctx, spry_device *d)
{
    enum { SIDE = 12, ROWS = SIDE * SIDE };
    spry_matrix *A = NULL, *shuffled = NULL;
    int32_t perm[ROWS];
    for (int i = 0; i < ROWS; i++)
        perm[i] = 55 * i % ROWS; /* 55 and 144 have no divisor in common */
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=12", &A));
    assert_ok(ctx, spry_matrix_permute(A, perm, perm, &shuffled));
    solve_there(ctx, d, shuffled, false);
    solve_there(ctx, d, shuffled, true);
    spry_matrix_free(A);
    spry_matrix_free(shuffled);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(solves_in_another_order)};
    return DEVICES_RUN(tests);
}
