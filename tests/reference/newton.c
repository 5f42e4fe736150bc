/* Newton's method over a solver: manufactured solutions of the differences, Bratu's problem up to
 * its turning point, quadratic convergence, differences in place of a Jacobian, several unknowns
 * per point; a diagonal that is added to an operator. */
#include "operator/operator.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double *at(const spry_vector *v)
{
    return (double *)spry_vector_data_const(v);
}

static spry_vector *zeros(spry_context *ctx, spry_type type, int64_t n)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    return v;
}

/* --- A u + f(u) = g ------------------------------------------------------------------------------
 */

typedef struct problem {
    spry_grid *grid;
    spry_operator *A;
    spry_vector *g; /* NULL: 0 */
    double lambda;  /* Bratu: f = -lambda exp(u); 0: f = u^3 */
    int calls;
    spry_operator *J;
} problem;

static problem make_problem(spry_context *ctx, const char *grid, double lambda)
{
    problem p = {.lambda = lambda};
    assert_ok(ctx, spry_grid_new(ctx, grid, &p.grid));
    assert_ok(ctx, spry_operator_stencil(p.grid, "-laplace", NULL, 0, NULL, NULL, &p.A));
    return p;
}

static void free_problem(problem *p)
{
    spry_vector_free(p->g);
    spry_operator_free(p->A);
    spry_operator_free(p->J);
    spry_grid_free(p->grid);
}

static spry_status residual(void *data, const spry_vector *u, spry_vector *f)
{
    problem *p = data;
    const spry_status status = spry_operator_apply(p->A, u, f);
    p->calls++;
    for (int64_t i = 0; i < spry_vector_size(u) && status == SPRY_STATUS_OK; i++) {
        const double x = at(u)[i];
        at(f)[i] += p->lambda > 0 ? -p->lambda * exp(x) : x * x * x;
        at(f)[i] -= p->g ? at(p->g)[i] : 0;
    }
    return status;
}

static spry_status jacobian(void *data, const spry_vector *u, const spry_operator **J)
{
    problem *p = data;
    spry_vector *d = NULL;
    spry_status status = spry_vector_like(u, spry_vector_size(u), &d);
    for (int64_t i = 0; i < spry_vector_size(u) && status == SPRY_STATUS_OK; i++) {
        const double x = at(u)[i];
        at(d)[i] = p->lambda > 0 ? -p->lambda * exp(x) : 3 * x * x;
    }
    spry_operator_free(p->J);
    p->J = NULL;
    if (status == SPRY_STATUS_OK)
        status = spry_operator_add_diagonal(p->A, d, &p->J);
    *J = p->J;
    spry_vector_free(d);
    return status;
}

static void bumps(void *data, const double *place, spry_scalar *value)
{
    const double pi = acos(-1);
    *value = (spry_scalar){*(double *)data * sin(pi * place[0]) * sin(2 * pi * place[1]), 0};
}

/* g is made from a u of 20 sin sin, which the differences then have as their solution: errors are
 * the tolerance times |g| / 2 pi^2, the least eigenvalue of -laplace. Newton's error is squared by
 * each step, and the tolerance of its solves falls as fast: the last steps show an order near 2,
 * with about as many steps whatever the grid. */
static void cubes(void **state)
{
    spry_context *ctx = *state;
    int64_t first = 0;
    for (int n = 32; n <= 128; n *= 2) {
        char grid[32];
        double size = 20, norm = 0, error = 0;
        snprintf(grid, sizeof grid, "%dx%d", n, n);
        problem p = make_problem(ctx, grid, 0);
        spry_vector *u = NULL, *exact = NULL, *g = NULL;
        spry_result r = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_field_new(p.grid, SPRY_TYPE_D, false, bumps, &size, &exact));
        assert_ok(ctx, spry_vector_like(exact, spry_vector_size(exact), &g));
        assert_ok(ctx, spry_vector_like(exact, spry_vector_size(exact), &u));
        assert_ok(ctx, residual(&p, exact, g));
        p.g = g;
        assert_ok(ctx, spry_newton(residual, jacobian, &p, u, "tol=1e-12", &r));
        assert_true(r.converged && r.reason == SPRY_REASON_CONVERGED);
        assert_true(r.true_residual <= 1e-12 && r.history_size == r.iterations + 1);
        const double *h = r.history;
        double order = 0;
        for (int64_t k = 1; k + 1 < r.history_size; k++)
            if (h[k] < 1e-2 && h[k + 1] > 1e-11)
                order = log(h[k + 1] / h[k]) / log(h[k] / h[k - 1]);
        print_message("%s: %d steps, order %.2f, %s\n", grid, (int)r.iterations, order, r.detail);
        assert_true(order > 1.7);
        first = n == 32 ? r.iterations : first;
        assert_true(r.iterations <= first + 1);
        assert_ok(ctx, spry_vector_norm(g, &norm));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, exact, u));
        assert_ok(ctx, spry_vector_norm(u, &error));
        assert_true(error <= 1e-12 * norm);
        spry_result_clear(ctx, &r);
        spry_vector_free(u);
        spry_vector_free(exact);
        free_problem(&p);
    }
}

/* --- Bratu ---------------------------------------------------------------------------------------
 */

/* -u'' = lambda exp(u) on (0, 1): u = -2 ln(cosh((x - 1/2) t / 2) / cosh(t / 4)), where t = sqrt(2
 * lambda) cosh(t / 4) has two solutions, one at lambda = 3.513830719, and none beyond. By bisection
 * between 0 or 40 and where they meet. */
static double bratu(double lambda, bool upper, double x)
{
    double low = upper ? 4.798714561 : 0, high = upper ? 40 : 4.798714561;
    for (int k = 0; k < 100; k++) {
        const double t = (low + high) / 2, over = t - sqrt(2 * lambda) * cosh(t / 4);
        *((over > 0) == upper ? &low : &high) = t;
    }
    return -2 * log(cosh((x - 0.5) * low / 2) / cosh(low / 4));
}

static double bratu_error(spry_context *ctx, double lambda, bool upper, int n, int *steps)
{
    char grid[32];
    snprintf(grid, sizeof grid, "%d", n);
    problem p = make_problem(ctx, grid, lambda);
    spry_vector *u = zeros(ctx, SPRY_TYPE_D, n - 1);
    spry_result r = SPRY_RESULT_INIT;
    double error = 0;
    for (int i = 1; upper && i < n; i++)
        at(u)[i - 1] = 16.0 * i / n * (1 - (double)i / n);
    assert_ok(ctx, spry_newton(residual, jacobian, &p, u,
                               "tol=1e-10 solver=[method=minres precon=none max-iter=2000]", &r));
    if (!r.converged)
        fail_msg("lambda %g: %s, %.2e, %s", lambda, spry_reason_name(r.reason), r.true_residual,
                 r.detail);
    *steps = (int)r.iterations;
    for (int i = 1; i < n; i++)
        error = fmax(error, fabs(at(u)[i - 1] - bratu(lambda, upper, (double)i / n)));
    spry_result_clear(ctx, &r);
    spry_vector_free(u);
    free_problem(&p);
    return error;
}

/* Both branches, with errors of order 2. Near the turning point the Jacobian is nearly singular,
 * and errors are larger by its inverse: lambda there is off by C h^2 with C = 3.5 pi^2 / 12 or so
 * (of u'' by h^2 u'''' / 12), and u by about the root of that, so that 3.51 needs a fine grid. */
static void branches(void **state)
{
    static const struct {
        double lambda;
        bool upper;
    } cases[] = {{1, false}, {3, false}, {3.5, false}, {3, true}, {3.5, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int steps[2];
        const double coarse = bratu_error(*state, cases[k].lambda, cases[k].upper, 128, &steps[0]);
        const double fine = bratu_error(*state, cases[k].lambda, cases[k].upper, 256, &steps[1]);
        print_message("lambda %g%s: %.2e, %.2e, %d and %d steps\n", cases[k].lambda,
                      cases[k].upper ? " above" : "", coarse, fine, steps[0], steps[1]);
        assert_true(fabs(log2(coarse / fine) - 2) < 0.15);
        assert_true(steps[1] <= 12);
    }
}

/* In two dimensions, with multigrid, up to 6.8 of 6.808124; beyond there is no solution, and that
 * is what is reported. */
static void turning_point(void **state)
{
    spry_context *ctx = *state;
    static const double lambdas[] = {1, 6, 6.8, 7};
    for (int k = 0; k < 4; k++) {
        problem p = make_problem(ctx, "128x128", lambdas[k]);
        spry_vector *u = zeros(ctx, SPRY_TYPE_D, 127 * 127);
        spry_result r = SPRY_RESULT_INIT;
        double most = 0;
        assert_ok(ctx, spry_newton(residual, jacobian, &p, u, "solver=[method=cg precon=gmg]", &r));
        for (int i = 0; i < 127 * 127; i++)
            most = fmax(most, at(u)[i]);
        print_message("lambda %g: %s after %d, max u %.4f, residual %.1e, %s\n", lambdas[k],
                      spry_reason_name(r.reason), (int)r.iterations, most, r.true_residual,
                      r.detail);
        assert_true(r.converged == (lambdas[k] < 6.9));
        if (lambdas[k] < 6.9)
            assert_true(r.iterations <= 12 && most < 1.4);
        else
            assert_true(r.true_residual > r.tolerance && r.true_residual < 1);
        spry_result_clear(ctx, &r);
        spry_vector_free(u);
        free_problem(&p);
    }
}

/* --- without a Jacobian --------------------------------------------------------------------------
 */

static void differences(void **state)
{
    spry_context *ctx = *state;
    problem p = make_problem(ctx, "16x16", 6);
    spry_vector *u = zeros(ctx, SPRY_TYPE_D, 225), *v = zeros(ctx, SPRY_TYPE_D, 225);
    spry_result r = SPRY_RESULT_INIT;
    double error = 0;
    assert_ok(ctx, spry_newton(residual, jacobian, &p, u, "tol=1e-12", NULL));
    p.calls = 0;
    assert_ok(ctx, spry_newton(residual, NULL, &p, v, "tol=1e-10", &r));
    assert_true(r.converged && p.calls > r.iterations);
    assert_string_equal(r.method, "newton");
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, u, v));
    assert_ok(ctx, spry_vector_norm(v, &error));
    /* |F| of the first guess is 6 * 15; F' has 2 pi^2 - 6 * e^u, more than 1, as its least value */
    assert_true(error <= 1e-10 * 90);
    spry_result_clear(ctx, &r);
    spry_vector_free(u);
    spry_vector_free(v);
    free_problem(&p);
}

/* --- shortened steps -----------------------------------------------------------------------------
 */

/* atan(u) = 0 from u = 10: whole steps lead farther and farther away. */
static spry_status arc(void *data, const spry_vector *u, spry_vector *f)
{
    (void)data;
    at(f)[0] = atan(at(u)[0]);
    return SPRY_STATUS_OK;
}

static spry_status arc_slope(void *data, const spry_vector *u, const spry_operator **J)
{
    spry_operator **own = data;
    spry_matrix *A =
        support_from_rows(u->ctx, SPRY_TYPE_D, 1, 1, (double[]){1 / (1 + at(u)[0] * at(u)[0])});
    spry_operator_free(*own);
    const spry_status status = spry_operator_from_matrix(A, NULL, "csr", own);
    if (status == SPRY_STATUS_OK)
        operator_keep(*own, A);
    *J = *own;
    return status;
}

static void shortened(void **state)
{
    spry_context *ctx = *state;
    spry_vector *u = zeros(ctx, SPRY_TYPE_D, 1);
    spry_operator *J = NULL;
    spry_result r = SPRY_RESULT_INIT;
    at(u)[0] = 10;
    assert_ok(ctx, spry_newton(arc, arc_slope, &J, u, "tol=0 atol=1e-12", &r));
    assert_true(r.converged && fabs(at(u)[0]) <= 1e-12);
    spry_result_clear(ctx, &r);
    /* at the solution there is nothing to do */
    assert_ok(ctx, spry_newton(arc, arc_slope, &J, u, "tol=0 atol=1e-12", &r));
    assert_true(r.converged && r.iterations == 0);
    spry_result_clear(ctx, &r);
    at(u)[0] = 10;
    assert_ok(ctx, spry_newton(arc, arc_slope, &J, u, "max-iter=2", &r));
    assert_true(!r.converged && r.reason == SPRY_REASON_ITERATIONS && r.iterations == 2);
    assert_true(fabs(r.true_residual - fabs(atan(at(u)[0])) / atan(10)) <= DBL_EPSILON);
    spry_result_clear(ctx, &r);
    spry_operator_free(J);
    spry_vector_free(u);
}

/* --- two unknowns --------------------------------------------------------------------------------
 */

/* -laplace u + u^2 v = g, -0.1 laplace v + u v^2 = h */
typedef struct pair {
    spry_operator *A[4], *part[4], *whole, *J;
    spry_vector *g;
    int64_t n;
} pair;

static spry_status pair_residual(void *data, const spry_vector *u, spry_vector *f)
{
    const pair *p = data;
    const spry_status status = spry_operator_apply(p->whole, u, f);
    for (int64_t i = 0; i < p->n && status == SPRY_STATUS_OK; i++) {
        const double a = at(u)[i], b = at(u)[p->n + i];
        at(f)[i] += a * a * b - (p->g ? at(p->g)[i] : 0);
        at(f)[p->n + i] += a * b * b - (p->g ? at(p->g)[p->n + i] : 0);
    }
    return status;
}

static spry_status pair_jacobian(void *data, const spry_vector *u, const spry_operator **J)
{
    pair *p = data;
    spry_vector *d = NULL;
    spry_status status = spry_vector_like(u, p->n, &d);
    spry_operator_free(p->J);
    p->J = NULL;
    for (int k = 0; k < 4 && status == SPRY_STATUS_OK; k++) {
        for (int64_t i = 0; i < p->n; i++) {
            const double a = at(u)[i], b = at(u)[p->n + i];
            const double slopes[] = {2 * a * b, a * a, b * b, 2 * a * b};
            at(d)[i] = slopes[k];
        }
        spry_operator_free(p->part[k]);
        status = spry_operator_add_diagonal(p->A[k], d, &p->part[k]);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_operator_blocks(u->ctx, 2, (const spry_operator *const *)p->part, &p->J);
    *J = p->J;
    spry_vector_free(d);
    return status;
}

static void two_unknowns(void **state)
{
    spry_context *ctx = *state;
    static const char *const texts[] = {"-laplace", "0", "0", "-0.1*laplace"};
    pair p = {.n = 63 * 63};
    spry_grid *grid = NULL;
    spry_result r = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_grid_new(ctx, "64x64", &grid));
    for (int k = 0; k < 4; k++)
        assert_ok(ctx, spry_operator_stencil(grid, texts[k], NULL, 0, NULL, NULL, &p.A[k]));
    assert_ok(ctx, spry_operator_blocks(ctx, 2, (const spry_operator *const *)p.A, &p.whole));
    spry_vector *exact = zeros(ctx, SPRY_TYPE_D, 2 * p.n), *u = zeros(ctx, SPRY_TYPE_D, 2 * p.n),
                *g = zeros(ctx, SPRY_TYPE_D, 2 * p.n);
    const double pi = acos(-1);
    for (int64_t i = 0; i < p.n; i++) {
        const double s = sin(pi * (double)(i % 63 + 1) / 64) * sin(pi * (double)(i / 63 + 1) / 64);
        at(exact)[i] = 2 * s;
        at(exact)[p.n + i] = s;
    }
    assert_ok(ctx, pair_residual(&p, exact, g));
    p.g = g;
    assert_ok(ctx, spry_newton(pair_residual, pair_jacobian, &p, u,
                               "tol=1e-11 solver=[method=bicgstab]", &r));
    print_message("two unknowns: %d steps, %s with %s\n", (int)r.iterations, r.detail, r.precon);
    double norm = 0, error = 0;
    assert_ok(ctx, spry_vector_norm(g, &norm));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, exact, u));
    assert_ok(ctx, spry_vector_norm(u, &error));
    /* the symmetric part of the Jacobian is above [2 pi^2 + 4 s^2, 2.5 s^2; 2.5 s^2, 0.2 pi^2 + 4
     * s^2] for s within 0 and 1, whose eigenvalues are above 1 */
    assert_true(r.converged && error <= 1e-11 * norm && r.iterations <= 10);
    spry_result_clear(ctx, &r);
    for (int k = 0; k < 4; k++) {
        spry_operator_free(p.A[k]);
        spry_operator_free(p.part[k]);
    }
    spry_operator_free(p.whole);
    spry_operator_free(p.J);
    spry_grid_free(grid);
    spry_vector_free(exact);
    spry_vector_free(u);
    spry_vector_free(g);
}

/* --- a diagonal ----------------------------------------------------------------------------------
 */

/* The same products as with another operator and d x besides; both round some ten products of
 * numbers up to 4 * 64. */
static void diagonals(void **state)
{
    spry_context *ctx = *state;
    static const char *const grids[] = {"8x8", "8x8 boundary=periodic", "8x8 boundary=neumann",
                                        "8x8x4 x=neumann:dirichlet"};
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 4; k++) {
            const spry_type type = support_types[t];
            spry_grid *grid = NULL;
            spry_operator *A = NULL, *B = NULL;
            char options[32];
            snprintf(options, sizeof options, "type=%s order=%d", spry_type_name(type),
                     k == 1 ? 4 : 2);
            assert_ok(ctx, spry_grid_new(ctx, grids[k], &grid));
            assert_ok(ctx,
                      spry_operator_stencil(grid, "-laplace + dx", options, 0, NULL, NULL, &A));
            const int64_t n = spry_operator_rows(A);
            spry_vector *d = zeros(ctx, type, n), *x = zeros(ctx, type, n),
                        *y = zeros(ctx, type, n), *z = zeros(ctx, type, n);
            for (int64_t i = 0; i < n; i++) {
                value_set(type, spry_vector_data(d), i, (spry_scalar){cos((double)i), 0.3});
                value_set(type, spry_vector_data(x), i, (spry_scalar){sin((double)i), 0.5});
            }
            assert_ok(ctx, spry_operator_add_diagonal(A, d, &B));
            assert_ok(ctx, spry_operator_apply(B, x, y));
            assert_ok(ctx, spry_operator_apply(A, x, z));
            assert_ok(ctx, spry_vector_multiply(d, x, d));
            assert_ok(ctx, spry_vector_axpy((spry_scalar){1, 0}, d, z));
            const double unit = type_is_single(type) ? FLT_EPSILON : DBL_EPSILON;
            for (int64_t i = 0; i < n; i++) {
                const spry_scalar one = value_get(type, spry_vector_data(y), i),
                                  other = value_get(type, spry_vector_data(z), i);
                assert_true(hypot(one.re - other.re, one.im - other.im) <= 20 * 256 * unit);
            }
            spry_vector_free(d);
            spry_vector_free(x);
            spry_vector_free(y);
            spry_vector_free(z);
            spry_operator_free(A);
            spry_operator_free(B);
            spry_grid_free(grid);
        }
}

/* --- the rest ------------------------------------------------------------------------------------
 */

static spry_status failing(void *data, const spry_vector *u, spry_vector *f)
{
    (void)data;
    (void)f;
    spry_context_set_message(u->ctx, "out of fuel");
    return SPRY_STATUS_BAD_INPUT;
}

static spry_status infinite(void *data, const spry_vector *u, spry_vector *f)
{
    (void)data;
    (void)u;
    return spry_vector_fill(f, (spry_scalar){INFINITY, 0});
}

static spry_status no_jacobian(void *data, const spry_vector *u, const spry_operator **J)
{
    (void)data;
    (void)u;
    (void)J;
    return SPRY_STATUS_OK;
}

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    problem p = make_problem(ctx, "8x8", 1);
    spry_vector *u = zeros(ctx, SPRY_TYPE_D, 49), *few = zeros(ctx, SPRY_TYPE_D, 3);
    spry_operator *J = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_newton(NULL, NULL, NULL, u, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_newton(arc, NULL, NULL, u, "tl=1", NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_newton(failing, NULL, NULL, u, NULL, NULL));
    support_message_has(ctx, "out of fuel");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_newton(infinite, NULL, NULL, u, NULL, NULL));
    support_message_has(ctx, "not finite");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_newton(residual, no_jacobian, &p, u, NULL, NULL));
    support_message_has(ctx, "the Jacobian is 0 x 0");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_add_diagonal(p.A, few, &J));
    support_message_has(ctx, "the diagonal has 3 elements");
    spry_vector_free(u);
    spry_vector_free(few);
    free_problem(&p);
}

static spry_status run_newton(spry_context *ctx, void *data)
{
    problem *p = data;
    spry_vector *u = NULL;
    spry_status status = spry_vector_new(ctx, SPRY_TYPE_D, 49, NULL, SPRY_OWN_COPY, &u);
    if (status == SPRY_STATUS_OK)
        status = spry_newton(residual, jacobian, data, u, "max-iter=2 solver=[method=cg]", NULL);
    spry_operator_free(p->J);
    p->J = NULL;
    spry_vector_free(u);
    return status;
}

static void torture(void **state)
{
    problem p = make_problem(*state, "8x8", 1);
    support_torture(*state, run_newton, &p);
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cubes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(branches, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(turning_point, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(differences, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(shortened, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(two_unknowns, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(diagonals, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_input, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
