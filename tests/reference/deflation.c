/*
 * Methods that work without what slows others down, a few eigenvalues near 0: gmres-dr from cycle
 * to cycle, dcg from solve to solve. Spectra are known, so that theory says how many steps are
 * enough.
 */
#include "support/problems.h"

#include "matrix/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 120, NEAR = 4 };

/* NEAR eigenvalues of about 0.001, the others in 1..2. */
static void spectrum(spry_context *ctx, spry_type type, bool conjugate, problem *p)
{
    spry_scalar values[N];
    for (int i = 0; i < N; i++)
        values[i] =
            (spry_scalar){i < NEAR ? 1e-3 * (1 + i) : 1 + (double)(i - NEAR) / (N - NEAR - 1), 0};
    problem_from_spectrum(ctx, type, N, values, conjugate, p);
}

static int64_t iterations_of(problem *p, const char *method, double tol)
{
    char options[128];
    spry_result result = SPRY_RESULT_INIT;
    snprintf(options, sizeof options, "method=%s precon=none tol=%g max-iter=2000", method, tol);
    problem_solve(p, options, &result);
    problem_check_converged(p, &result, tol, options);
    const int64_t count = result.iterations;
    spry_result_clear(p->ctx, &result);
    return count;
}

/*
 * One cycle is GMRES. A cycle whose space holds the NEAR eigenvectors is left with a condition of
 * 2, for which the residual falls by (sqrt(2) - 1)^2 < 0.18 with each step, 1e-10 in 14; restarted
 * GMRES(12) never has them, and 1 - t^12 over 0.001..2 falls by less than a tenth in a cycle.
 */
static void cycles(void **state)
{
    for (int t = 1; t < 4; t += 2) { /* single precision ends before eigenvalues near 0 matter */
        const double tol = problem_tolerance(support_types[t]);
        problem p;
        spectrum(*state, support_types[t], true, &p);
        const int64_t whole = iterations_of(&p, "gmres:restart=100", tol);
        assert_int_equal(iterations_of(&p, "gmres-dr:restart=100", tol), whole);
        const int64_t forgets = iterations_of(&p, "gmres:restart=12", tol);
        const int64_t keeps = iterations_of(&p, "gmres-dr:restart=12,keep=6", tol);
        if (!(2 * keeps < forgets && keeps < 4 * whole))
            fail_msg("type %d: %lld steps with vectors kept, %lld without, %lld in one cycle", t,
                     (long long)keeps, (long long)forgets, (long long)whole);
        /* as many as there can be, and pairs that are cut */
        assert_true(iterations_of(&p, "gmres-dr:restart=12,keep=300", tol) < forgets);
        assert_true(iterations_of(&p, "gmres-dr:restart=12,keep=5", tol) < forgets);
        problem_free(&p);
    }
}

/* Complex eigenvalues near 0, in real types by pairs. */
static void pairs(void **state)
{
    spry_matrix *A = NULL;
    assert_ok(*state, spry_generate(*state, "convection-diffusion", "size=20", &A));
    problem p;
    problem_from_matrix(*state, A, &p);
    for (int keep = 1; keep < 8; keep++) {
        char method[64];
        snprintf(method, sizeof method, "gmres-dr:restart=10,keep=%d", keep);
        iterations_of(&p, method, 1e-9);
    }
    problem_free(&p);
}

static int64_t solve_next(spry_solver *solver, problem *p, int k, double tol)
{
    spry_result result = SPRY_RESULT_INIT;
    const int64_t n = spry_vector_size(p->b);
    for (int64_t i = 0; i < n; i++)
        value_set(p->type, spry_vector_data(p->b), i,
                  (spry_scalar){2 * base_uniform(50 + (uint64_t)k, (uint64_t)i) - 1, 0});
    assert_ok(p->ctx, spry_vector_fill(p->x, (spry_scalar){0, 0}));
    assert_ok(p->ctx, spry_solve(solver, p->b, p->x, &result));
    double rounding;
    const double residual = problem_residual(p, &rounding);
    if (!result.converged || !(residual <= tol + rounding))
        fail_msg("solve %d: %s, %g", k, result.detail, residual);
    const int64_t count = result.iterations;
    spry_result_clear(p->ctx, &result);
    return count;
}

/*
 * The error of cg in the norm of A falls by 2 ((sqrt(c) - 1) / (sqrt(c) + 1))^k, and |r| is that
 * but for sqrt(c): of c = 2 when the eigenvectors near 0 are left out, which makes tol in
 * log(2 sqrt(2) / tol) / log(5.83) steps. They are known to some digits alone: what is left of them
 * is taken by a step each.
 */
static void solves(void **state)
{
    for (int t = 0; t < 4; t++) {
        const double tol = problem_tolerance(support_types[t]);
        const int64_t enough = (int64_t)ceil(log(2 * sqrt(2) / tol) / log(5.83)) + NEAR;
        char options[96];
        spry_solver *solver = NULL;
        problem p;
        spectrum(*state, support_types[t], true, &p);
        snprintf(options, sizeof options, "method=dcg:keep=6,gather=16 precon=none tol=%g", tol);
        assert_ok(p.ctx, spry_solver_new(p.ctx, &solver));
        assert_ok(p.ctx, spry_solver_set(solver, options));
        assert_ok(p.ctx, spry_solver_set_matrix(solver, p.A));
        const int64_t first = solve_next(solver, &p, 0, tol);
        int64_t last = first;
        for (int k = 1; k < 5; k++)
            last = solve_next(solver, &p, k, tol);
        if (!(last <= enough && last < first))
            fail_msg("type %d: %lld steps, then %lld; %lld are enough", t, (long long)first,
                     (long long)last, (long long)enough);
        /* again the last one: its b is what it was, so that as many steps are enough */
        assert_true(solve_next(solver, &p, 4, tol) <= enough);
        spry_solver_free(solver);
        problem_free(&p);
    }
}

/* Vectors of the caller's are taken for what they are, and another A makes them again. */
static void spaces(void **state)
{
    const double tol = 1e-10;
    spry_vector *w[6] = {NULL};
    spry_solver *solver = NULL, *other = NULL;
    problem p;
    spectrum(*state, SPRY_TYPE_D, true, &p);
    assert_ok(p.ctx, spry_solver_new(p.ctx, &solver));
    assert_ok(p.ctx,
              spry_solver_set(solver, "method=dcg:keep=6,gather=16 precon=jacobi tol=1e-10"));
    assert_ok(p.ctx, spry_solver_set_matrix(solver, p.A));
    const int64_t first = solve_next(solver, &p, 0, tol);
    for (int k = 1; k < 4; k++)
        solve_next(solver, &p, k, tol);
    for (int k = 0; k < 6; k++)
        assert_ok(p.ctx, spry_vector_like(p.b, N, &w[k]));
    assert_ok(p.ctx, spry_solver_get_space(solver, "W", 6, w));
    assert_ok(p.ctx, spry_solver_new(p.ctx, &other));
    assert_ok(p.ctx, spry_solver_set(other, "method=dcg:keep=6,gather=16 precon=jacobi tol=1e-10"));
    assert_ok(p.ctx, spry_solver_set_matrix(other, p.A));
    assert_ok(p.ctx, spry_solver_set_space(other, "W", 6, (const spry_vector *const *)w));
    assert_true(solve_next(other, &p, 0, tol) < first);
    for (int k = 0; k < 6; k++)
        spry_vector_free(w[k]);
    spry_solver_free(other);
    spry_solver_free(solver);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cycles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(pairs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(solves, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(spaces, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
