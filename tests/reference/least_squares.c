/* Options of lsqr and lsmr: damping, rules to accept x by, norms that the method estimates. */
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 40, COLS = 12 };
static const char *const methods[] = {"lsqr", "lsmr"};

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result;
    double a[ROWS * COLS], rhs[ROWS];
} fixture;

/* Columns of sizes 1 to 10^-spread. */
static void open_fixture(fixture *f, spry_type type, double spread)
{
    *f = (fixture){.result = SPRY_RESULT_INIT};
    assert_int_equal(spry_context_new(NULL, &f->ctx), SPRY_STATUS_OK);
    for (int i = 0; i < ROWS; i++) {
        f->rhs[i] = cos(3.0 * i + 1);
        for (int j = 0; j < COLS; j++)
            f->a[i * COLS + j] =
                (cos(1.0 + 7 * i * j + i) + (i == j ? 3 : 0)) * pow(10, -spread * j / (COLS - 1));
    }
    f->A = support_from_rows(f->ctx, type, ROWS, COLS, f->a);
    assert_ok(f->ctx, spry_vector_new(f->ctx, type, ROWS, NULL, SPRY_OWN_COPY, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    const int parts = spry_type_is_complex(type) ? 2 : 1;
    for (int i = 0; i < ROWS; i++)
        ((double *)spry_vector_data(f->b))[i * parts] = f->rhs[i];
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_fixture(fixture *f)
{
    spry_result_clear(f->ctx, &f->result);
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_matrix_free(f->A);
    spry_context_free(f->ctx);
}

static void solve(fixture *f, const char *method, const char *options)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", method, options[0] ? ":" : "", options);
    spry_result_clear(f->ctx, &f->result);
    assert_ok(f->ctx, spry_solver_set_text(f->solver, "method", text));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &f->result));
}

static double number(fixture *f, const char *name)
{
    double value;
    assert_ok(f->ctx, spry_solver_get_real(f->solver, name, &value));
    return value;
}

static double entry(const fixture *f, int j)
{
    const int parts = spry_type_is_complex(spry_vector_type(f->x)) ? 2 : 1;
    return ((const double *)spry_vector_data_const(f->x))[j * parts];
}

/* x of (A^T A + damp^2 I) (x - x0) = A^T (b - A x0), by elimination: it is positive definite. */
static void exact(const fixture *f, double damp, const double *x0, double *x)
{
    long double N[COLS][COLS + 1];
    for (int i = 0; i < COLS; i++) {
        for (int j = 0; j < COLS; j++) {
            N[i][j] = i == j ? (long double)damp * damp : 0;
            for (int k = 0; k < ROWS; k++)
                N[i][j] += (long double)f->a[k * COLS + i] * f->a[k * COLS + j];
        }
        N[i][COLS] = 0;
        for (int k = 0; k < ROWS; k++) {
            long double r = f->rhs[k];
            for (int j = 0; j < COLS; j++)
                r -= (long double)f->a[k * COLS + j] * x0[j];
            N[i][COLS] += f->a[k * COLS + i] * r;
        }
    }
    for (int p = 0; p < COLS; p++)
        for (int i = p + 1; i < COLS; i++) {
            const long double l = N[i][p] / N[p][p];
            for (int j = p; j <= COLS; j++)
                N[i][j] -= l * N[p][j];
        }
    for (int i = COLS - 1; i >= 0; i--) {
        for (int j = i + 1; j < COLS; j++)
            N[i][COLS] -= N[i][j] * N[j][COLS];
        N[i][COLS] /= N[i][i];
    }
    for (int i = 0; i < COLS; i++)
        x[i] = x0[i] + (double)N[i][COLS];
}

/* |A^H r - damp^2 (x - x0)| <= 1e-8 |A| |r| at the end, so that x is off by that over the least
 * singular value squared, which is at least damp^2 or 1. */
static void damping_moves_x_to_the_first_guess(void **state)
{
    (void)state;
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_Z};
    static const double damps[] = {1e-3, 1, 50};
    for (int t = 0; t < 2; t++)
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < 6; k++) {
                fixture f;
                char options[64];
                double x0[COLS], x[COLS];
                open_fixture(&f, types[t], 0);
                const int parts = t + 1;
                for (int j = 0; j < COLS; j++) {
                    x0[j] = k >= 3 ? sin(j) : 0;
                    ((double *)spry_vector_data(f.x))[j * parts] = x0[j];
                }
                snprintf(options, sizeof options, "damp=%g,atol=1e-12", damps[k % 3]);
                solve(&f, methods[m], options);
                assert_int_equal(f.result.reason, SPRY_REASON_ACCEPTED);
                assert_true(strstr(f.result.detail, "least-squares solution") != NULL);
                exact(&f, damps[k % 3], x0, x);
                for (int j = 0; j < COLS; j++)
                    if (!(fabs(entry(&f, j) - x[j]) <= 1e-8))
                        fail_msg("%s, damp %g: x[%d] is %g, not %g", methods[m], damps[k % 3], j,
                                 entry(&f, j), x[j]);
                /* without a rule of its own it ends by itself, too */
                snprintf(options, sizeof options, "damp=%g", damps[k % 3]);
                for (int j = 0; j < COLS; j++)
                    ((double *)spry_vector_data(f.x))[j * parts] = x0[j];
                solve(&f, methods[m], options);
                assert_int_equal(f.result.reason, SPRY_REASON_ACCEPTED);
                for (int j = 0; j < COLS; j++)
                    assert_true(fabs(entry(&f, j) - x[j]) <= 1e-4);
                close_fixture(&f);
            }
}

/* Where the rules say so x is taken, though the solver's own tolerance is out of reach. */
static void rules_end_solves(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        fixture f;
        open_fixture(&f, SPRY_TYPE_D, 0);
        assert_ok(f.ctx, spry_solver_set(f.solver, "tol=1e-14"));
        solve(&f, methods[m], "");
        const int64_t all = f.result.iterations;
        assert_int_not_equal(f.result.reason, SPRY_REASON_ACCEPTED);
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
        solve(&f, methods[m], "atol=1e-3,btol=1e-3");
        assert_int_equal(f.result.reason, SPRY_REASON_ACCEPTED);
        assert_true(f.result.iterations < all && f.result.iterations > 1);
        assert_true(number(&f, "method:agrad") <= 1e-3);
        /* a system with a solution: |r| <= btol |b| */
        spry_operator *op;
        assert_ok(f.ctx, spry_operator_from_matrix(f.A, NULL, NULL, &op));
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){1, 0}));
        assert_ok(f.ctx, spry_operator_apply(op, f.x, f.b));
        assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
        solve(&f, methods[m], "btol=1e-4");
        assert_int_equal(f.result.reason, SPRY_REASON_ACCEPTED);
        assert_true(strstr(f.result.detail, "x is a solution") != NULL);
        assert_true(f.result.true_residual <= 1.0001e-4 && f.result.true_residual > 1e-14);
        spry_operator_free(op);
        close_fixture(&f);
    }
}

/* The condition of columns of sizes 1 to 1e-6 is seen as it grows, and may be too much. */
static void conditions_are_reported(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        fixture f;
        open_fixture(&f, SPRY_TYPE_D, 6);
        solve(&f, methods[m], "conlim=1e4");
        assert_int_equal(f.result.reason, SPRY_REASON_ACCEPTED);
        assert_true(strstr(f.result.detail, "the condition of A is") != NULL);
        assert_true(number(&f, "method:acond") >= 1e4);
        close_fixture(&f);
        open_fixture(&f, SPRY_TYPE_D, 0);
        solve(&f, methods[m], "atol=1e-13,conlim=1e8");
        double frobenius = 0;
        for (int k = 0; k < ROWS * COLS; k++)
            frobenius = hypot(frobenius, f.a[k]);
        /* sums of squares of the bidiagonal matrix: all of A's when it is whole, some before; lost
         * orthogonality may count some twice */
        const double reported = number(&f, "method:fnorm");
        assert_true(reported <= 2 * frobenius && reported >= 0.5 * frobenius);
        /* at least 1, and at most |A|_F |A^+|_F of columns of this size */
        assert_true(number(&f, "method:acond") >= 1 && number(&f, "method:acond") <= 1e3);
        double value;
        assert_int_equal(spry_solver_get_real(f.solver, "method:nothing", &value),
                         SPRY_STATUS_BAD_USAGE);
        assert_ok(f.ctx, spry_solver_set_text(f.solver, "method", "lsqr:damp=2"));
        assert_int_equal(spry_solver_get_real(f.solver, "method:fnorm", &value),
                         SPRY_STATUS_BAD_USAGE);
        support_message_has(f.ctx, "it is known after a solve");
        assert_true(number(&f, "method:damp") == 2);
        close_fixture(&f);
    }
}

/* diag(1, 2, 3) in three steps, which is all of the space: the diagonal of (A^H A + damp^2 I)^-1,
 * up to the rounding of a few steps times the condition of A^H A, 9. */
static void variances_are_summed_up(void **state)
{
    (void)state;
    const double rows[4 * 3] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
    for (int type = SPRY_TYPE_D; type <= SPRY_TYPE_Z; type += SPRY_TYPE_Z - SPRY_TYPE_D) {
        for (int damp = 0; damp < 2; damp++) {
            fixture f = {.result = SPRY_RESULT_INIT};
            spry_vector *var = NULL;
            assert_int_equal(spry_context_new(NULL, &f.ctx), SPRY_STATUS_OK);
            f.A = support_from_rows(f.ctx, (spry_type)type, 4, 3, rows);
            assert_ok(f.ctx, spry_vector_new(f.ctx, (spry_type)type, 4, NULL, SPRY_OWN_COPY, &f.b));
            assert_ok(f.ctx, spry_vector_fill(f.b, (spry_scalar){1, 0}));
            assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &f.x));
            assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &var));
            assert_ok(f.ctx, spry_solver_new(f.ctx, &f.solver));
            assert_ok(f.ctx, spry_solver_set_matrix(f.solver, f.A));
            assert_ok(f.ctx, spry_solver_set(f.solver, "max-iter=3 tol=0"));
            solve(&f, "lsqr", damp ? "variances=1,damp=1" : "variances=1");
            assert_int_equal(f.result.iterations, 3);
            assert_ok(f.ctx, spry_solver_get_space(f.solver, "var", 1, &var));
            const int parts = spry_type_is_complex((spry_type)type) ? 2 : 1;
            for (int j = 0; j < 3; j++) {
                const double exact = 1.0 / ((j + 1) * (j + 1) + damp);
                const double made = ((const double *)spry_vector_data(var))[j * parts];
                assert_true(fabs(made - exact) <= 1e-12 * exact);
            }
            solve(&f, "lsqr", "");
            assert_int_equal(spry_solver_get_space(f.solver, "var", 1, &var),
                             SPRY_STATUS_BAD_USAGE);
            spry_vector_free(var);
            close_fixture(&f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damping_moves_x_to_the_first_guess),
        cmocka_unit_test(rules_end_solves),
        cmocka_unit_test(conditions_are_reported),
        cmocka_unit_test(variances_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
