/* Backward errors and error bounds that direct solves report, against the truth: systems whose
 * solution is known, or is computed in 113 bits. */
#include "support/generated.h"
#include "support/numeric.h"
#include "support/quad.h"

#include "matrix/matrix.h"

#include <float.h>
#include <math.h>
#include <private/programs.h>

enum { MOST = 40 };

static quad size(quad a)
{
    return a < 0 ? -a : a;
}

/* A x = b by elimination with the largest pivots, in 113 bits; real, n <= MOST. */
static void solve_wide(int n, const quad *A, const quad *b, quad *x)
{
    quad a[MOST][MOST + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            a[i][j] = A[i * n + j];
        a[i][n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = size(a[i][k]) > size(a[best][k]) ? i : best;
        for (int j = k; j <= n; j++) {
            const quad keep = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = keep;
        }
        for (int i = k + 1; i < n; i++) {
            const quad f = a[i][k] / a[k][k];
            for (int j = k; j <= n; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = a[i][n];
        for (int j = i + 1; j < n; j++)
            x[i] -= a[i][j] * x[j];
        x[i] /= a[i][i];
    }
}

typedef struct outcome {
    double backward, bound, estimate, error;
} outcome;

/* Solves with b of small whole numbers, and compares. */
static outcome solve_and_judge(spry_context *ctx, spry_type type, int n, const double *dense,
                               const char *options, bool quickly)
{
    spry_matrix *A = support_from_rows(ctx, type, n, n, dense);
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    quad exact[MOST], numbers[MOST * MOST], right[MOST];
    double worst = 0, most = 0;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_like(b, n, &x));
    for (int i = 0; i < n; i++) {
        right[i] = (i * 7) % 11 - 5;
        value_set(type, b->data, i, (spry_scalar){(double)right[i], 0});
        for (int j = 0; j < n; j++)
            numbers[i * n + j] = type_is_single(type) ? (float)dense[i * n + j] : dense[i * n + j];
    }
    solve_wide(n, numbers, right, exact);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=direct"));
    if (options)
        assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    for (int i = 0; i < n; i++) {
        const spry_scalar v = value_get(type, x->data, i);
        worst = fmax(worst, hypot((double)(v.re - exact[i]), v.im));
        most = fmax(most, hypot(v.re, v.im));
    }
    outcome found = {.error = worst / most};
    if (quickly) {
        assert_ok(ctx,
                  spry_solver_judge(solver, b, x, &found.backward, &found.bound, &found.estimate));
    } else {
        assert_ok(ctx, spry_solver_errors(solver, b, x, &found.backward, &found.bound));
        assert_ok(ctx, spry_solver_error_estimate(solver, b, x, &found.estimate));
    }
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    return found;
}

static outcome solve_system(spry_context *ctx, spry_type type, int n, const double *dense,
                            const char *options)
{
    return solve_and_judge(ctx, type, n, dense, options, false);
}

static outcome solve_quickly(spry_context *ctx, spry_type type, int n, const double *dense,
                             const char *options)
{
    return solve_and_judge(ctx, type, n, dense, options, true);
}

typedef double entry_fn(int n, int i, int j);
static double random_entry(int n, int i, int j)
{
    const double u = (double)(base_random((uint64_t)n, (uint64_t)(i * 100 + j)) >> 11) * 0x1p-53;
    return u < 0.6 && i != j ? 0 : 2 * u - 1.3 + 3 * (i == j);
}
static double hilbert(int n, int i, int j)
{
    (void)n;
    return 1.0 / (i + j + 1);
}
static double kahan(int n, int i, int j)
{
    (void)n;
    const double c = 0.6, s = 0.8;
    return pow(s, i) * (i == j ? 1 : j > i ? -c : 0);
}
/* Elimination with row exchanges doubles the last column at each step. */
static double wilkinson(int n, int i, int j)
{
    return i == j || j == n - 1 ? 1 : j < i ? -1 : 0;
}
static double graded(int n, int i, int j)
{
    return ldexp(random_entry(n, i, j), -2 * i);
}
static double graded_columns(int n, int i, int j)
{
    return ldexp(random_entry(n, i, j), 2 * j - n);
}

/* The bound holds, unless it says that nothing is known; the backward error is what refinement
 * leaves. On those that are no worse than their rows' sizes the bound is no more than a thousand
 * times the error, or than the unit that x itself is rounded to. */
static void test_bounds(void **state)
{
    spry_context *ctx = *state;
    static const struct {
        const char *name;
        entry_fn *entry;
        int least, most;
        bool tame, level; /* its rows are alike */
    } families[] = {{"random", random_entry, 1, MOST, true, true},
                    {"Hilbert", hilbert, 1, 11, false, false},
                    {"Kahan", kahan, 2, 30, false, false},
                    {"Wilkinson", wilkinson, 2, MOST, true, true},
                    {"graded", graded, 2, MOST, true, false},
                    {"graded columns", graded_columns, 2, MOST, false, false}};
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_S, SPRY_TYPE_Z, SPRY_TYPE_C};
    double dense[MOST * MOST];
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (int n = families[f].least; n <= families[f].most; n += n < 12 ? 1 : 7)
            for (int t = 0; t < 4; t++) {
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++)
                        dense[i * n + j] = families[f].entry(n, i, j);
                const double unit = numeric_unit(types[t]);
                const outcome o = solve_system(ctx, types[t], n, dense,
                                               type_is_single(types[t]) ? "tol=1e-6" : "tol=1e-14");
                if (isnan(o.bound) && !families[f].tame)
                    continue; /* singular to single precision */
                if (!(o.backward >= 0 && o.backward <= 100 * n * unit) && families[f].level)
                    fail_msg("%s, n %d, type %s: backward error %g", families[f].name, n,
                             spry_type_name(types[t]), o.backward);
                if (!(o.error <= o.bound) && !(o.bound > 0.1))
                    fail_msg("%s, n %d, type %s: off by %g, bound %g", families[f].name, n,
                             spry_type_name(types[t]), o.error, o.bound);
                if (families[f].tame && !(o.bound <= 1e3 * fmax(o.error, unit)))
                    fail_msg("%s, n %d, type %s: off by %g, bound %g says little", families[f].name,
                             n, spry_type_name(types[t]), o.error, o.bound);
            }
}

/* Rows that depend on each other, which rounding hides from factors: no bound, nor an estimate. */
static void test_singular(void **state)
{
    spry_context *ctx = *state;
    static const double steps[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const char *const kinds[] = {"method=direct:kind=dense", "method=direct:kind=sparse"};
    for (int k = 0; k < 2 * 8; k++) {
        double dense[9];
        for (int i = 0; i < 9; i++)
            dense[i] = steps[i] * (k / 4 % 2 ? 0.1 : 1); /* in 0.1 they nearly do */
        const spry_type type = support_types[k % 4];
        const outcome o = solve_system(ctx, type, 3, dense, kinds[k / 8]);
        if (!isnan(o.bound) || isfinite(o.estimate))
            fail_msg("%s, type %s: bound %g, estimate %g", kinds[k / 8], spry_type_name(type),
                     o.bound, o.estimate);
    }
}

/* Of matrices that are too large for a proof row by row: dominant up to a scaling there is a bound,
 * else an estimate alone. x is all ones, and b = A x exact. */
static void test_large(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 2; k++) {
        spry_matrix *A = generated(ctx, "poisson2d", "size=100");
        spry_vector *b = NULL, *x = NULL, *ones = NULL;
        spry_operator *op = NULL;
        spry_solver *solver = NULL;
        double backward, bound, estimate, off = 0;
        for (int64_t i = 0; i < A->a.rows && k == 1; i++)
            for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
                if (A->a.col_index[e] == i)
                    support_put(A, e, (spry_scalar){3, 0}); /* indefinite */
        assert_ok(ctx, spry_vector_ones(ctx, A, &ones));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        assert_ok(ctx, spry_operator_apply(op, ones, b));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=direct tol=1e-12"));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, NULL));
        assert_ok(ctx, spry_solver_errors(solver, b, x, &backward, &bound));
        assert_ok(ctx, spry_solver_error_estimate(solver, b, x, &estimate));
        for (int64_t i = 0; i < x->n; i++)
            off = fmax(off, fabs(value_get(SPRY_TYPE_D, x->data, i).re - 1));
        /* of a condition of about 10^4, 10^7 at most */
        if (!(estimate >= 0 && estimate < 1e-6))
            fail_msg("off by %g, estimate %g", off, estimate);
        if (k == 0 ? !(off <= bound * 1.001 && bound < 1e-9) : !isnan(bound))
            fail_msg("off by %g, bound %g", off, bound);
        spry_solver_free(solver);
        spry_operator_free(op);
        spry_vector_free(ones);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

static double dominant_entry(int n, int i, int j)
{
    const double v = random_entry(n, i, j);
    double rest = 0;
    for (int k = 0; k < n && i == j; k++)
        rest += k == i ? 0 : fabs(random_entry(n, i, k));
    return i == j ? (v < 0 ? -1 : 1) * (1.01 * rest + 1e-3) : v;
}

static double dominant_graded(int n, int i, int j)
{
    return ldexp(dominant_entry(n, i, j), -3 * i);
}

/* Dominant matrices have a bound without factors, too, that is no more than what the residual
 * allows: |A^-1| <= 1 / (|a_ii| - sum |a_ij|). With a row that is not dominant there is none. */
static void test_dominant(void **state)
{
    spry_context *ctx = *state;
    static entry_fn *const families[] = {dominant_entry, dominant_graded};
    static const spry_type types[] = {SPRY_TYPE_D, SPRY_TYPE_S, SPRY_TYPE_Z, SPRY_TYPE_C};
    static const char *const solves[] = {"method=gmres precon=jacobi tol=1e-2",
                                         "method=bicgstab precon=jacobi tol=1e-5",
                                         "method=fgmres precon=ilu tol=1e-5"};
    double dense[MOST * MOST];
    for (int k = 0; k < 2 * 4 * 3; k++)
        for (int n = 1; n <= MOST; n += n < 12 ? 1 : 7) {
            const spry_type type = types[k / 3 % 4];
            double least = INFINITY, most = 0;
            for (int i = 0; i < n; i++) {
                double gap = 0, sum = 0;
                for (int j = 0; j < n; j++) {
                    const double v = families[k / 12](n, i, j);
                    dense[i * n + j] = v;
                    gap += i == j ? fabs(v) : -fabs(v);
                    sum += fabs(v);
                }
                least = fmin(least, gap / sum);
                most = fmax(most, sum / gap);
            }
            assert_true(least > 0);
            const outcome o = solve_system(ctx, type, n, dense, solves[k % 3]);
            const outcome q = solve_quickly(ctx, type, n, dense, solves[k % 3]);
            if (!(o.error <= o.bound && q.error <= q.bound && o.backward <= q.backward))
                fail_msg("n %d, type %s, %s: off by %g, bounds %g and %g, backward %g and %g", n,
                         spry_type_name(type), solves[k % 3], o.error, o.bound, q.bound, o.backward,
                         q.backward);
            /* as far as residuals allow: 2 |b| + rounding, over the smallest gap */
            if (!(q.bound <= most * (4 * q.backward + 100 * n * DBL_EPSILON) || q.bound > 1))
                fail_msg("n %d, type %s, %s: off by %g, bound %g says little", n,
                         spry_type_name(type), solves[k % 3], q.error, q.bound);
            double rest = 0;
            for (int j = 1; j < n; j++)
                rest += fabs(dense[j]);
            dense[0] = 0.99 * rest; /* is not dominant */
            if (rest > 0)
                assert_true(isnan(solve_quickly(ctx, type, n, dense, solves[0]).bound));
        }
}

/* x is below all numbers: relative to the 0 that is found it is infinitely far off. */
static void test_vanished(void **state)
{
    spry_context *ctx = *state;
    const double dense[] = {2e200, 1e200, 1e200, 2e200};
    double right[] = {1e-200, 2e-200};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, dense);
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double backward, bound, estimate;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 2, right, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg precon=none"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_false(result.converged);
    assert_true(result.energy_error == 0);
    assert_ok(ctx, spry_solver_judge(solver, b, x, &backward, &bound, &estimate));
    assert_true(bound == INFINITY);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

/* No bound without factors of one that is not dominant, nor of a matrix without an inverse; nothing
 * without a matrix. */
static void test_unknown(void **state)
{
    spry_context *ctx = *state;
    static const double regular[] = {4, 3, 0, 3, 4, 1, 0, 1, 4};
    const outcome o = solve_system(ctx, SPRY_TYPE_D, 3, regular, "method=gmres precon=jacobi");
    assert_true(isnan(o.bound) && o.backward >= 0 && o.backward < 1e-12);
    static const double singular[] = {1, 1, 1, 1};
    assert_true(isnan(solve_system(ctx, SPRY_TYPE_D, 2, singular, NULL).bound));
    assert_true(
        isnan(solve_system(ctx, SPRY_TYPE_D, 3, regular, "method=direct:precision=single").bound));
    spry_solver *solver = NULL;
    spry_vector *b = NULL;
    double backward, bound;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &b));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_errors(solver, b, b, &backward, &bound));
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, singular);
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_errors(solver, b, b, &backward, &bound));
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_matrix_free(A);
}

typedef struct torture {
    spry_solver *solver;
    spry_vector *b, *x;
} torture;

static spry_status use(spry_context *ctx, void *data)
{
    (void)ctx;
    const torture *t = data;
    double backward, bound;
    const spry_status status = spry_solver_errors(t->solver, t->b, t->x, &backward, &bound);
    return status == SPRY_STATUS_OK ? spry_solver_error_estimate(t->solver, t->b, t->x, &backward)
                                    : status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    static const double regular[] = {4, 1, 0, 1, 4, 1, 0, 1, 4};
    torture t = {0};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, regular);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &t.b));
    assert_ok(ctx, spry_vector_fill(t.b, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_vector_like(t.b, 3, &t.x));
    assert_ok(ctx, spry_solver_new(ctx, &t.solver));
    assert_ok(ctx, spry_solver_set(t.solver, "method=direct"));
    assert_ok(ctx, spry_solver_set_matrix(t.solver, A));
    assert_ok(ctx, spry_solve(t.solver, t.b, t.x, NULL));
    support_torture(ctx, use, &t);
    spry_solver_free(t.solver);
    spry_vector_free(t.b);
    spry_vector_free(t.x);
    spry_matrix_free(A);
}

/* Near the end of the range: numbers of x have few digits left, or none were lost; the bound holds,
 * and is not 0 where x is off. 3 x = b is exact in no digit. */
static void test_small(void **state)
{
    static const struct {
        double a, b;
    } sizes[] = {{1e10, 1e-309}, {1, 1e-318}, {1, 1e-300}, {1e300, 1e-10}, {1e-300, 1e-10}};
    spry_context *ctx = *state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const double dense[] = {3 * sizes[k].a, sizes[k].a, sizes[k].a, -3 * sizes[k].a};
        const double right[] = {sizes[k].b, 2 * sizes[k].b};
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, dense);
        spry_vector *b = NULL, *x = NULL;
        spry_solver *solver = NULL;
        double backward, bound;
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 2, (void *)(uintptr_t)right,
                                       SPRY_OWN_BORROW, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=direct"));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_solve(solver, b, x, NULL));
        assert_ok(ctx, spry_solver_errors(solver, b, x, &backward, &bound));
        const double *found = spry_vector_data_const(x);
        const quad p = dense[0], q = dense[1], both = p * p + q * q;
        const quad exact[] = {(p * right[0] + q * right[1]) / both,
                              (q * right[0] - p * right[1]) / both};
        const double most = fmax(fabs(found[0]), fabs(found[1]));
        const double off = fmax((double)(size(found[0] - exact[0]) / most),
                                (double)(size(found[1] - exact[1]) / most));
        if (!(bound > 0 && bound < INFINITY && off <= bound))
            fail_msg("%g x = %g: off by %g, bound %g", sizes[k].a, sizes[k].b, off, bound);
        spry_solver_free(solver);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_matrix_free(A);
    }
}

/* x = 0 is exact where b is: nothing is off. */
static void test_exact(void **state)
{
    static const double dense[] = {2, 1, 0, 1, 2, 1, 0, 1, 2};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, dense);
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    double backward, bound;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=direct"));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, NULL));
    assert_ok(ctx, spry_solver_errors(solver, b, x, &backward, &bound));
    assert_true(backward == 0 && bound == 0);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bounds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_singular, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_large, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_dominant, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_vanished, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_unknown, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_exact, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_small, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
