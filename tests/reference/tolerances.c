/* The tolerance: absolute with relative, and reached with any preconditioner on any side. */
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x, *r;
    spry_solver *solver;
} fixture;

static void open_fixture(fixture *f)
{
    assert_int_equal(spry_context_new(NULL, &f->ctx), SPRY_STATUS_OK);
    assert_ok(f->ctx, spry_generate(f->ctx, "poisson2d", "size=12", &f->A));
    assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->r));
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_vector_free(f->r);
    spry_matrix_free(f->A);
    spry_context_free(f->ctx);
}

/* |b - A x| of b = 1 times a power of two, and x as it is, with no norm that could overflow. */
static double absolute_residual(fixture *f, double size)
{
    spry_operator *A;
    double norm;
    assert_ok(f->ctx, spry_operator_from_matrix(f->A, NULL, NULL, &A));
    assert_ok(f->ctx, spry_vector_scale((spry_scalar){1 / size, 0}, f->x));
    assert_ok(f->ctx, spry_vector_fill(f->r, (spry_scalar){1, 0}));
    assert_ok(f->ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, f->x,
                                             (spry_scalar){1, 0}, f->r));
    assert_ok(f->ctx, spry_vector_norm(f->r, &norm));
    spry_operator_free(A);
    return norm * size;
}

/* The larger of both tolerances holds, whatever the size of b: |b| = 12 times that. */
static void the_larger_tolerance_holds(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "method=cg precon=none",      "method=gmres precon=jacobi",
        "method=bicgstab precon=ilu", "method=idr:side=left precon=jacobi",
        "method=lsqr precon=none",    "method=direct precon=auto"};
    static const double sizes[] = {1, 0x1p-400, 0x1p600};
    fixture f;
    open_fixture(&f);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const double norm = 12 * sizes[k], atol = 1e-3 * norm;
            spry_result tight = SPRY_RESULT_INIT, loose = SPRY_RESULT_INIT;
            assert_ok(f.ctx, spry_solver_set(f.solver, methods[m]));
            assert_ok(f.ctx, spry_vector_fill(f.b, (spry_scalar){sizes[k], 0}));
            assert_ok(f.ctx, spry_solver_set(f.solver, "tol=1e-8 atol=0"));
            assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
            assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &tight));
            if (!tight.converged || tight.tolerance != 1e-8)
                fail_msg("%s, %g: %s, %s, %g", methods[m], sizes[k], spry_reason_name(tight.reason),
                         tight.detail, tight.tolerance);
            assert_ok(f.ctx, spry_solver_set_real(f.solver, "atol", atol));
            assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
            assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &loose));
            assert_true(loose.converged);
            /* Two norms of 144 numbers, and a quotient. */
            assert_true(fabs(loose.tolerance - 1e-3) <= 1e-3 * 300 * 1.2e-16);
            assert_true(loose.true_residual <= loose.tolerance);
            /* Rounding of the residual that is computed here: 5 entries per row, |x| <= 100 |b|. */
            assert_true(absolute_residual(&f, sizes[k]) <= atol * (1 + 1e-9));
            assert_true(loose.iterations <= tight.iterations);
            if (m < 4)
                assert_true(loose.iterations < tight.iterations);
            spry_result_clear(f.ctx, &tight);
            spry_result_clear(f.ctx, &loose);
        }
    close_fixture(&f);
}

/* A first guess within the tolerance stays as it is; a tolerance of 0 alone is out of reach. */
static void absolute_tolerance_alone(void **state)
{
    (void)state;
    fixture f;
    spry_result result = SPRY_RESULT_INIT;
    open_fixture(&f);
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=none tol=0 atol=12.5"));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
    assert_true(result.converged && result.iterations == 0 && result.true_residual == 1);
    spry_result_clear(f.ctx, &result);
    assert_ok(f.ctx, spry_solver_set(f.solver, "atol=1e-6"));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
    assert_true(result.converged && result.iterations > 0);
    assert_true(absolute_residual(&f, 1) <= 1e-6 * (1 + 1e-6));
    spry_result_clear(f.ctx, &result);
    assert_ok(f.ctx, spry_vector_fill(f.x, (spry_scalar){0, 0}));
    assert_ok(f.ctx, spry_solver_set(f.solver, "atol=0"));
    assert_ok(f.ctx, spry_solve(f.solver, f.b, f.x, &result));
    assert_true(!result.converged && result.tolerance == 0);
    spry_result_clear(f.ctx, &result);
    assert_int_equal(spry_solver_set(f.solver, "atol=-1"), SPRY_STATUS_BAD_USAGE);
    close_fixture(&f);
}

/* Each of several right-hand sides has a tolerance of its own. */
static void each_right_hand_side_has_its_own(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    fixture f;
    spry_vector *b[COUNT], *x[COUNT];
    spry_result results[COUNT];
    open_fixture(&f);
    for (int k = 0; k < COUNT; k++) {
        results[k] = (spry_result)SPRY_RESULT_INIT;
        assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &b[k]));
        assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &x[k]));
        assert_ok(f.ctx, spry_vector_fill(b[k], (spry_scalar){pow(100, k), 0}));
    }
    assert_ok(f.ctx, spry_solver_set(f.solver, "method=cg precon=none tol=1e-10 atol=1e-6"));
    assert_ok(f.ctx, spry_solve_many(f.solver, COUNT, (const spry_vector *const *)b, x, results));
    for (int k = 0; k < COUNT; k++) {
        const double tolerance = fmax(1e-10, 1e-6 / (12 * pow(100, k)));
        assert_true(fabs(results[k].tolerance - tolerance) <= 1e-13 * tolerance);
        assert_true(results[k].converged && results[k].true_residual <= results[k].tolerance);
        assert_true(k == 0 || results[k].iterations > results[k - 1].iterations);
        spry_result_clear(f.ctx, &results[k]);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
    }
    close_fixture(&f);
}

/* Numbers in -1..1 that are the same everywhere. */
static double next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

enum { LARGEST = 30 };

/* B B^T + I / 10, or B itself. */
static void make_random(uint64_t *state, int n, bool definite, double *out)
{
    double B[LARGEST * LARGEST];
    for (int k = 0; k < n * n; k++)
        B[k] = next_number(state);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++)
                sum += B[i * n + k] * B[j * n + k];
            out[i * n + j] = definite ? sum : B[i * n + j];
        }
}

/* One random system with a random M. Its spaces are whole after n steps, and no cycle is shorter:
 * what converges from the right does so from the left. */
static void solve_random(spry_context *ctx, spry_type type, uint64_t seed, const char *method,
                         double tol)
{
    double entries[LARGEST * LARGEST];
    const int n = 5 + (int)(seed % (LARGEST - 4));
    uint64_t state = seed + 1;
    spry_operator *M;
    spry_vector *b, *x;
    spry_solver *solver;
    spry_result result = SPRY_RESULT_INIT;
    make_random(&state, n, true, entries);
    spry_matrix *A = support_from_rows(ctx, type, n, n, entries);
    make_random(&state, n, seed % 2 == 0, entries);
    spry_matrix *P = support_from_rows(ctx, type, n, n, entries);
    assert_ok(ctx, spry_operator_from_matrix(P, NULL, NULL, &M));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set_text(solver, "method", method));
    assert_ok(ctx, spry_solver_set_real(solver, "tol", tol));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solver_set_precon(solver, M));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    if (!result.converged || !(result.true_residual <= tol))
        fail_msg("%s, type %s, system %d (n = %d), tol %g: %s after %d at %g, %s", method,
                 spry_type_name(type), (int)seed, n, tol, spry_reason_name(result.reason),
                 (int)result.iterations, result.true_residual, result.detail);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(M);
    spry_matrix_free(A);
    spry_matrix_free(P);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* A preconditioner on the left changes what methods see of the residual, by its condition, which
 * here is as bad as can be: they go on until the true one is at the tolerance. */
static void the_true_residual_is_reached_from_the_left(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "gmres:side=left", "lgmres:side=left",    "gcr:side=left",
        "idr:side=left",   "bicgstabl:side=left", "gpbicg:side=left",
        "cgs:side=left",   "tfqmr:side=left",     "bicgstab:side=left"};
    static const double tolerances[] = {0.1, 1e-3};
    spry_context *ctx;
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (uint64_t seed = 0; seed < 60; seed++)
            for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
                solve_random(ctx, SPRY_TYPE_D, seed, methods[m], tolerances[t]);
                solve_random(ctx, SPRY_TYPE_Z, seed, methods[m], tolerances[t]);
            }
    spry_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_larger_tolerance_holds),
        cmocka_unit_test(absolute_tolerance_alone),
        cmocka_unit_test(each_right_hand_side_has_its_own),
        cmocka_unit_test(the_true_residual_is_reached_from_the_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
