/* Several unknowns per point: products against the matrix, and a multigrid whose iterations do not
 * depend on the size: Navier's equations of elasticity, reactions with strong coupling. */
#include "operator/operator.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 3 };

typedef struct blocks {
    int m;
    spry_grid *grid;
    spry_operator *block[MOST * MOST], *A;
} blocks;

/* Texts by rows; NULL: 0. */
static blocks make_blocks(spry_context *ctx, const char *grid, int m, const char *const *texts,
                          const char *options)
{
    blocks b = {.m = m};
    assert_ok(ctx, spry_grid_new(ctx, grid, &b.grid));
    for (int k = 0; k < m * m; k++)
        if (texts[k])
            assert_ok(ctx,
                      spry_operator_stencil(b.grid, texts[k], options, 0, NULL, NULL, &b.block[k]));
    assert_ok(ctx, spry_operator_blocks(ctx, m, (const spry_operator *const *)b.block, &b.A));
    return b;
}

static void free_blocks(blocks *b)
{
    spry_operator_free(b->A);
    for (int k = 0; k < b->m * b->m; k++)
        spry_operator_free(b->block[k]);
    spry_grid_free(b->grid);
}

static spry_vector *zeros(spry_context *ctx, spry_type type, int64_t n)
{
    spry_vector *v = NULL;
    assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    return v;
}

/* --- products ------------------------------------------------------------------------------------
 */

static const char *const pair[] = {"-laplace + 3", "2*dx - 1", "dx*dy", "-0.5*laplace"};
static const char *const holes[] = {NULL, "dx", "1", NULL};

/* Sums of at most 20 products of numbers up to 16 (n^2 = 64 times 4, x up to 1) on both ways, which
 * round in another order. */
static void products(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 4; k++) {
            const spry_type type = support_types[t];
            char options[32];
            snprintf(options, sizeof options, "type=%s", spry_type_name(type));
            blocks b = make_blocks(ctx, "8x8", 2, k < 2 ? pair : holes, options);
            spry_matrix *A = NULL;
            spry_operator *plain = NULL;
            assert_ok(ctx, spry_operator_to_matrix(b.A, &A));
            assert_ok(ctx, spry_operator_from_matrix(A, NULL, "csr", &plain));
            assert_int_equal(spry_matrix_rows(A), 2 * 49);
            spry_vector *x = zeros(ctx, type, 98), *y = zeros(ctx, type, 98),
                        *z = zeros(ctx, type, 98);
            for (int64_t i = 0; i < 98; i++) {
                value_set(type, spry_vector_data(x), i, (spry_scalar){sin((double)i), 0.5});
                value_set(type, spry_vector_data(y), i, (spry_scalar){cos((double)i), 0.1});
            }
            assert_ok(ctx, spry_vector_copy(y, z));
            const spry_transpose way = k % 2 ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_NO;
            assert_ok(ctx, spry_operator_multiply(b.A, way, (spry_scalar){2, 0}, x,
                                                  (spry_scalar){-1, 0}, y));
            assert_ok(ctx, spry_operator_multiply(plain, way, (spry_scalar){2, 0}, x,
                                                  (spry_scalar){-1, 0}, z));
            const double unit = type_is_single(type) ? FLT_EPSILON : DBL_EPSILON;
            for (int64_t i = 0; i < 98; i++) {
                const spry_scalar one = value_get(type, spry_vector_data(y), i),
                                  other = value_get(type, spry_vector_data(z), i);
                assert_true(hypot(one.re - other.re, one.im - other.im) <= 20 * 4096 * unit);
            }
            spry_vector_free(x);
            spry_vector_free(y);
            spry_vector_free(z);
            spry_operator_free(plain);
            spry_matrix_free(A);
            free_blocks(&b);
        }
}

/* --- elasticity ----------------------------------------------------------------------------------
 */

/* -mu laplace u - (lambda + mu) grad div u with mu = 1, lambda = 2 nu / (1 - 2 nu). */
static blocks elastic(spry_context *ctx, const char *grid, int m, double nu)
{
    char texts[MOST * MOST][96];
    const char *places[MOST * MOST];
    const double both = 1 / (1 - 2 * nu);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            char *text = texts[i * m + j];
            if (i == j)
                snprintf(text, 96, "-laplace - %.17g*d%c^2", both, "xyz"[i]);
            else
                snprintf(text, 96, "-%.17g*d%c*d%c", both, "xyz"[i < j ? i : j],
                         "xyz"[i < j ? j : i]);
            places[i * m + j] = text;
        }
    return make_blocks(ctx, grid, m, places, NULL);
}

static int64_t solve(spry_context *ctx, const blocks *b, const spry_vector *right, spry_vector *x,
                     const char *options)
{
    spry_solver *s = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_solver_new(ctx, &s));
    assert_ok(ctx, spry_solver_set_operator(s, b->A));
    assert_ok(ctx, spry_solver_set(s, options));
    assert_ok(ctx, spry_solve(s, right, x, &result));
    if (!result.converged)
        fail_msg("%s: %s, residual %.2e after %d", options, spry_reason_name(result.reason),
                 result.true_residual, (int)result.iterations);
    const int64_t iterations = result.iterations;
    spry_result_clear(ctx, &result);
    spry_solver_free(s);
    return iterations;
}

/* Of right-hand sides of ones and -1 in a fixed disorder, to 1e-8. */
static int64_t iterations_of(spry_context *ctx, const blocks *b, const char *options)
{
    const int64_t n = spry_operator_rows(b->A);
    spry_vector *right = zeros(ctx, SPRY_TYPE_D, n), *x = zeros(ctx, SPRY_TYPE_D, n);
    for (int64_t i = 0; i < n; i++)
        ((double *)spry_vector_data(right))[i] = sin(0.7 * (double)(i * i % 1009)) > 0 ? 1 : -1;
    const int64_t count = solve(ctx, b, right, x, options);
    spry_vector_free(right);
    spry_vector_free(x);
    return count;
}

/* Each doubling of the intervals may add one iteration, of what smooth errors are left. */
static void elasticity(void **state)
{
    static const struct {
        int m;
        double nu;
        const char *grids[3];
        int64_t most;
    } cases[] = {{2, 0.3, {"64x64", "128x128", "256x256"}, 14},
                 {2, 0.4, {"64x64", "128x128", "256x256"}, 17},
                 {2, 0.4, {"32x32 x=periodic", "64x64 x=periodic", NULL}, 17},
                 {3, 0.4, {"8x8x8", "16x16x16", "32x32x32"}, 17}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t first = 0;
        for (int k = 0; k < 3 && cases[c].grids[k]; k++) {
            blocks b = elastic(*state, cases[c].grids[k], cases[c].m, cases[c].nu);
            const int64_t count =
                iterations_of(*state, &b, "method=cg precon=gmg:pre=2,post=2 tol=1e-8");
            print_message("nu %g, %s: %d\n", cases[c].nu, cases[c].grids[k], (int)count);
            first = k == 0 ? count : first;
            assert_true(count <= cases[c].most && count <= first + 2 * k);
            free_blocks(&b);
        }
    }
}

/* u = sin pi x sin pi y, v = sin 2 pi x sin pi y: errors of the differences, of order 2. */
static double elastic_error(spry_context *ctx, int n)
{
    char grid[32];
    snprintf(grid, sizeof grid, "%dx%d", n, n);
    const double pi = acos(-1), nu = 0.4, both = 1 / (1 - 2 * nu);
    blocks b = elastic(ctx, grid, 2, nu);
    const int64_t rows = spry_operator_rows(b.A), half = rows / 2;
    spry_vector *right = zeros(ctx, SPRY_TYPE_D, rows), *x = zeros(ctx, SPRY_TYPE_D, rows);
    double *f = spry_vector_data(right), error = 0;
    for (int64_t k = 0; k < half; k++) {
        const double px = pi * (double)(k % (n - 1) + 1) / n,
                     py = pi * (double)(k / (n - 1) + 1) / n;
        f[k] =
            (2 + both) * pi * pi * sin(px) * sin(py) - both * 2 * pi * pi * cos(2 * px) * cos(py);
        f[half + k] =
            (5 + both) * pi * pi * sin(2 * px) * sin(py) - both * pi * pi * cos(px) * cos(py);
    }
    solve(ctx, &b, right, x, "method=cg precon=gmg tol=1e-11");
    const double *u = spry_vector_data(x);
    for (int64_t k = 0; k < half; k++) {
        const double px = pi * (double)(k % (n - 1) + 1) / n,
                     py = pi * (double)(k / (n - 1) + 1) / n;
        error = fmax(error, fabs(u[k] - sin(px) * sin(py)));
        error = fmax(error, fabs(u[half + k] - sin(2 * px) * sin(py)));
    }
    spry_vector_free(right);
    spry_vector_free(x);
    free_blocks(&b);
    return error;
}

static void elastic_order(void **state)
{
    const double coarse = elastic_error(*state, 32), fine = elastic_error(*state, 64);
    assert_true(fabs(log2(coarse / fine) - 2) < 0.1 && fine < 1e-2);
}

/* --- reactions -----------------------------------------------------------------------------------
 */

/* [-laplace + a, -b; c, -d laplace + e] with reactions far stronger than diffusion over the grid's
 * length, both ways, and one that feeds itself. On coarse grids sweeps alone solve it; on finer
 * ones it is diffusion again. */
static void reactions(void **state)
{
    static const char *const systems[][4] = {
        {"-laplace + 1e4", "-1e4", "1e4", "-0.01*laplace"},
        {"-laplace + 10", "-1e5", "1e5", "-laplace"},
        {"-laplace + 1e3", "-1e3 + 10*dx", "-1e3", "-0.1*laplace + 1e3"},
    };
    static const char *const grids[] = {"64x64", "128x128", "256x256"};
    for (size_t c = 0; c < sizeof systems / sizeof *systems; c++) {
        for (int k = 0; k < 3; k++) {
            blocks b = make_blocks(*state, grids[k], 2, systems[c], NULL);
            const int64_t count =
                iterations_of(*state, &b, "method=gmres precon=gmg:pre=2,post=2 tol=1e-8");
            const int64_t other =
                iterations_of(*state, &b, "method=bicgstab precon=gmg:cycle=w tol=1e-8");
            print_message("system %d, %s: gmres %d, bicgstab %d\n", (int)c, grids[k], (int)count,
                          (int)other);
            assert_true(count <= 16 && other <= 16);
            free_blocks(&b);
        }
    }
}

/* Corrections by levels of order 2 are relaxed, which Neumann faces of order 4 need to converge;
 * and levels of one grid are not made for blocks of two. */
static void orders_and_faces(void **state)
{
    static const char *const texts[] = {"-laplace + 1e-3", NULL, NULL, "-laplace + 1e-3"};
    static const char *const faces[] = {"32x32 boundary=neumann", "32x32 boundary=robin(1000)"};
    spry_context *ctx = *state;
    blocks b = make_blocks(ctx, "64x64 x=neumann:dirichlet", 2, texts, "order=4");
    assert_true(iterations_of(ctx, &b, "method=richardson precon=gmg tol=1e-8") <= 60);
    free_blocks(&b);
    spry_grid *grid[2];
    spry_operator *block[2], *A;
    for (int k = 0; k < 2; k++) {
        assert_ok(ctx, spry_grid_new(ctx, faces[k], &grid[k]));
        assert_ok(ctx, spry_operator_stencil(grid[k], texts[0], NULL, 0, NULL, NULL, &block[k]));
    }
    assert_ok(ctx, spry_operator_blocks(
                       ctx, 2, (const spry_operator *[]){block[0], NULL, NULL, block[1]}, &A));
    assert_null(operator_find_precon(A, "gmg"));
    spry_operator_free(A);
    for (int k = 0; k < 2; k++) {
        spry_operator_free(block[k]);
        spry_grid_free(grid[k]);
    }
}

/* --- time ----------------------------------------------------------------------------------------
 */

/* u' = A u of two unknowns that turn into each other, (u, v) = sin sin (cos w t, sin w t) e^(-rt).
 */
static void steps(void **state)
{
    spry_context *ctx = *state;
    static const char *const texts[] = {"laplace", "-3", "3", "laplace"};
    blocks b = make_blocks(ctx, "32x32", 2, texts, NULL);
    const int64_t n = spry_operator_rows(b.A), half = n / 2;
    spry_vector *u = zeros(ctx, SPRY_TYPE_D, n);
    double *x = spry_vector_data(u), pi = acos(-1), error = 0;
    for (int64_t k = 0; k < half; k++)
        x[k] = sin(pi * (double)(k % 31 + 1) / 32) * sin(pi * (double)(k / 31 + 1) / 32);
    spry_stepper *s = NULL;
    spry_step_stats stats = SPRY_STEP_STATS_INIT;
    assert_ok(ctx, spry_stepper_new(ctx, "method=ark4 tol=1e-6 solver=[method=bicgstab]", &s));
    assert_ok(ctx, spry_stepper_set_operator(s, b.A, NULL, NULL, NULL));
    assert_ok(ctx, spry_stepper_run(s, 0, 0.1, u, &stats));
    const double wave = sin(pi / 64), rate = 8 * 32 * 32 * wave * wave, left = exp(-0.1 * rate);
    for (int64_t k = 0; k < half; k++) {
        const double at = sin(pi * (double)(k % 31 + 1) / 32) * sin(pi * (double)(k / 31 + 1) / 32);
        error = fmax(error, fabs(x[k] - left * cos(0.3) * at));
        error = fmax(error, fabs(x[half + k] - left * sin(0.3) * at));
    }
    /* as many steps, each within 1e-6 of u that only falls */
    assert_true(error <= 1e-6 * (double)stats.steps && stats.solves > 0);
    spry_stepper_free(s);
    spry_vector_free(u);
    free_blocks(&b);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

static void bad_input(void **state)
{
    spry_context *ctx = *state;
    blocks b = make_blocks(ctx, "8x8", 2, pair, NULL),
           other = make_blocks(ctx, "4x4", 2, pair, NULL);
    spry_operator *A = NULL;
    const spry_operator *row[] = {b.block[0], b.block[1], NULL, NULL};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_blocks(ctx, 2, row, &A));
    support_message_has(ctx, "row 1 has no block");
    const spry_operator *col[] = {b.block[0], NULL, b.block[1], NULL};
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_blocks(ctx, 2, col, &A));
    support_message_has(ctx, "column 1 has no block");
    row[2] = other.block[0];
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_blocks(ctx, 2, row, &A));
    support_message_has(ctx, "block (1, 0) is 9 x 9");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_blocks(ctx, 9, row, &A));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_blocks(ctx, 0, row, &A));
    spry_solver *s = NULL;
    assert_ok(ctx, spry_solver_new(ctx, &s));
    assert_ok(ctx, spry_solver_set_operator(s, b.A));
    assert_ok(ctx, spry_solver_set(s, "method=gmres precon=gmg:smoother=line"));
    spry_vector *x = zeros(ctx, SPRY_TYPE_D, 98), *y = zeros(ctx, SPRY_TYPE_D, 98);
    assert_ok(ctx, spry_vector_fill(y, (spry_scalar){1, 0}));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_solve(s, y, x, NULL));
    support_message_has(ctx, "no smoother but jacobi");
    assert_ok(ctx, spry_solver_set(s, "precon=gmg:levels=galerkin"));
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, spry_solve(s, y, x, NULL));
    support_message_has(ctx, "no levels=galerkin");
    spry_solver_free(s);
    spry_vector_free(x);
    spry_vector_free(y);
    free_blocks(&b);
    free_blocks(&other);
}

static spry_status run_blocks(spry_context *ctx, void *data)
{
    const blocks *b = data;
    spry_operator *A = NULL, *M = NULL;
    spry_vector *x = NULL, *y = NULL;
    spry_solver *s = NULL;
    spry_status status = spry_operator_blocks(ctx, 2, (const spry_operator *const *)b->block, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, spry_operator_rows(A), NULL, SPRY_OWN_COPY, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_D, spry_operator_rows(A), NULL, SPRY_OWN_COPY, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(y, (spry_scalar){1, 0});
    if (status == SPRY_STATUS_OK)
        status = spry_solver_new(ctx, &s);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(s, "method=gmres precon=gmg:coarsest=20");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_operator(s, A);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(s, y, x, NULL);
    spry_solver_free(s);
    spry_operator_free(M);
    spry_operator_free(A);
    spry_vector_free(x);
    spry_vector_free(y);
    return status;
}

static void torture(void **state)
{
    blocks b = make_blocks(*state, "8x8", 2, pair, NULL);
    support_torture(*state, run_blocks, &b);
    free_blocks(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(products, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(elasticity, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(elastic_order, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(reactions, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(orders_and_faces, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(steps, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(bad_input, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
