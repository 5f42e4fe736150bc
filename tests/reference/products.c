/*
 * How many products a solve takes, counted by an operator of the caller's: one for each step of the
 * method, one for the true residual of the end, one for b - A x where x is not 0, and none to find
 * out what nothing depends on.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40 }; /* below 64, from where on the true residual is looked at on the way, too */

typedef struct counted {
    double above; /* the entries off the diagonal on one side; -1: symmetric */
    int products;
} counted;

/* y = tridiag(-1, 3, above) x */
static spry_status multiply(void *data, spry_transpose transpose, const void *from, void *to)
{
    counted *c = data;
    const double *x = from;
    double *y = to;
    (void)transpose;
    c->products++;
    for (int i = 0; i < N; i++)
        y[i] = 3 * x[i] - (i > 0 ? x[i - 1] : 0) + (i + 1 < N ? c->above * x[i + 1] : 0);
    return SPRY_STATUS_OK;
}

/* Solves from x = guess everywhere. */
static spry_result solve(spry_context *ctx, counted *c, const char *options, double guess)
{
    spry_operator *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, false, multiply, c, &A));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x));
    for (int i = 0; i < N; i++)
        ((double *)spry_vector_data(b))[i] = sin(i + 1.0);
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){guess, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    return result;
}

static void products_are_counted(void **state)
{
    static const struct {
        const char *options;
        double above, guess;
        int besides; /* the steps and the true residual at the end */
    } cases[] = {
        {"method=cg precon=none", -1, 0, 0},
        {"method=cg precon=none", -1, 0.5, 1},
        {"method=cg precon=none fuse=no", -1, 0.5, 1},
        {"method=minres precon=none", -1, 0, 0},
        {"method=gmres:restart=50 precon=none", -0.5, 0, 0},
        {"method=gmres:restart=50 precon=none", -0.5, 0.5, 1},
        {"method=auto precon=none", -1, 0, 2}, /* here symmetry decides */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        counted c = {.above = cases[k].above};
        spry_result result = solve(*state, &c, cases[k].options, cases[k].guess);
        if (!result.converged || c.products != result.iterations + 1 + cases[k].besides)
            fail_msg("%s from %g: %s, %d products in %d iterations", cases[k].options,
                     cases[k].guess, spry_reason_name(result.reason), c.products,
                     (int)result.iterations);
        assert_null(result.warnings);
        spry_result_clear(*state, &result);
    }
}

/* Where cg has not arrived, why is worth two products. */
static void symmetry_is_probed_where_a_solve_fails(void **state)
{
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        counted c = {.above = symmetric ? -1 : 0.5};
        spry_result result = solve(*state, &c, "method=cg precon=none max-iter=2", 0);
        assert_false(result.converged);
        assert_int_equal(c.products, 2 + 1 + 2);
        if (symmetric)
            assert_null(result.warnings);
        else
            assert_string_equal(result.warnings,
                                "the matrix is not symmetric (hermitian): cg is not made for it");
        spry_result_clear(*state, &result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products_are_counted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(symmetry_is_probed_where_a_solve_fails, support_setup,
                                        support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
