/* Singular systems with a null space: the shortest solution, whatever the method, preconditioner,
 * type and b; and claims that are not true. */
#include "support/neumann.h"
#include "support/problems.h"

#include "krylov/solver.h"

#include <stdio.h>
#include <string.h>

static const neumann_grid flat = {.nx = 20, .ny = 15, .nz = 1}, deep = {.nx = 8, .ny = 7, .nz = 6};

static spry_solver *solver_for(spry_context *ctx, const spry_matrix *A, const char *options)
{
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    if (A)
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
    return solver;
}

/* The null vectors of a grid, given to the solver as another basis of their space. */
static void give_null_space(spry_context *ctx, spry_solver *solver, spry_type type,
                            const neumann_grid *g, bool both)
{
    const int count = g->cut ? 2 : 1;
    const int64_t n = (int64_t)g->nx * g->ny * g->nz;
    spry_vector *v[2] = {NULL, NULL};
    for (int k = 0; k < count; k++) {
        assert_ok(ctx, spry_vector_new(ctx, type, n, NULL, SPRY_OWN_COPY, &v[k]));
        for (int64_t i = 0; i < n; i++) {
            const spry_scalar p = neumann_null(g, 0, i),
                              q = count > 1 ? neumann_null(g, 1, i) : (spry_scalar){0, 0};
            const double s = k == 0 ? 3 : -2;
            value_set(type, v[k]->data, i, (spry_scalar){p.re + s * q.re, p.im + s * q.im});
        }
    }
    assert_ok(ctx, spry_solver_set_null_space(solver, count, (const spry_vector *const *)v,
                                              both ? (const spry_vector *const *)v : NULL));
    for (int k = 0; k < count; k++) /* it has copies */
        spry_vector_free(v[k]);
}

static void check_solve(spry_solver *solver, const spry_matrix *A, const neumann_grid *g,
                        double share, double tol, const char *options)
{
    spry_context *ctx = A->ctx;
    const int count = g->cut ? 2 : 1;
    char dimension[96];
    spry_vector *b = neumann_rhs(ctx, A->a.type, g, share), *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){7, 0})); /* much of the null space */
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    if (!result.converged)
        fail_msg("%s: %s, %s; %s", options, spry_reason_name(result.reason), result.detail,
                 result.warnings ? result.warnings : "");
    snprintf(dimension, sizeof dimension,
             "to the solution of least norm, as the null space has dimension %d", count);
    assert_string_equal(result.detail, dimension);
    neumann_check(A, g, count, b, x, tol, result.true_residual);
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
}

static void grids_are_solved(void **state)
{
    static const char *const choices[] = {"precon=auto",
                                          "precon=none",
                                          "precon=jacobi",
                                          "precon=ic",
                                          "precon=amg",
                                          "precon=ssor method=minres",
                                          "precon=inner",
                                          "precon=ilu method=gmres:side=left",
                                          "precon=ilu method=gmres",
                                          "precon=jacobi method=bicg",
                                          "precon=ilu method=bicgstab",
                                          "precon=none method=lsqr",
                                          "precon=direct:kind=dense,regular=yes",
                                          "precon=direct",
                                          "precon=direct method=cg",
                                          "precon=direct:kind=dense method=gmres"};
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 2; k++) {
            const neumann_grid *g = k == 0 ? &flat : &deep;
            spry_matrix *A = neumann_matrix(*state, support_types[t], g);
            const double tol = problem_tolerance(support_types[t]);
            for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
                char options[128];
                snprintf(options, sizeof options, "nullspace=constant tol=%g %s", tol, choices[c]);
                spry_solver *solver = solver_for(*state, A, options);
                check_solve(solver, A, g, 0, tol, options);
                check_solve(solver, A, g, 1, tol, options);
                spry_solver_free(solver);
            }
            spry_matrix_free(A);
        }
}

/* Phases, two components, and both; bases that are not orthogonal. */
static void vectors_are_given(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 4; k++) {
            neumann_grid g = flat;
            g.cut = k & 1;
            g.twisted = (k & 2) && spry_type_is_complex(support_types[t]);
            spry_matrix *A = neumann_matrix(*state, support_types[t], &g);
            const double tol = problem_tolerance(support_types[t]);
            char options[128];
            snprintf(options, sizeof options, "tol=%g", tol);
            spry_solver *solver = solver_for(*state, A, options);
            give_null_space(*state, solver, support_types[t], &g, false);
            check_solve(solver, A, &g, 1, tol, options);
            assert_ok(*state, spry_solver_set(solver, "precon=amg"));
            check_solve(solver, A, &g, 1, tol, options);
            /* real vectors do for complex matrices */
            if (!g.twisted) {
                give_null_space(*state, solver, SPRY_TYPE_D, &g, true);
                check_solve(solver, A, &g, 1, tol, options);
            }
            spry_solver_free(solver);
            spry_matrix_free(A);
        }
}

/* What is known of b = P b + null part is reported; all of it gone is x = 0. */
static void parts_of_b_are_reported(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &flat);
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant precon=jacobi");
    spry_vector *b = NULL, *x = NULL, *other = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double norm, share;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &other));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){2, 0}));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged && result.iterations == 0 && result.true_residual == 0);
    assert_string_equal(result.warnings, "1 of |b| is in the null space of A^H and was removed: "
                                         "residuals are those of the rest");
    assert_ok(ctx, spry_vector_norm(x, &norm));
    assert_true(norm == 0);
    spry_result_clear(ctx, &result);
    /* 3 : 4, exactly: 0.6 */
    for (int64_t i = 0; i < b->n; i++)
        ((double *)b->data)[i] = i % 2 ? 3 + 4 : 3 - 4;
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_int_equal(sscanf(result.warnings, "%lf of |b| is in the null space", &share), 1);
    assert_true(share == 0.6);
    spry_result_clear(ctx, &result);
    /* the same without that part: the same x to the last bits, and nothing to report */
    for (int64_t i = 0; i < b->n; i++)
        ((double *)b->data)[i] = i % 2 ? 4 : -4;
    assert_ok(ctx, spry_solve(solver, b, other, &result));
    assert_null(result.warnings);
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, x, other));
    assert_ok(ctx, spry_vector_norm(x, &share));
    assert_ok(ctx, spry_vector_norm(other, &norm));
    assert_true(norm <= 1e-6 * share); /* tol 1e-8 by a condition below 100 */
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(other);
    spry_matrix_free(A);
}

static void claims_are_checked(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL, *short_one = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=12", &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant");
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "the constant vector is not in the null space of A: |A v| is 0.");
    assert_ok(ctx, spry_solver_set(solver, "nullspace=none"));
    assert_ok(ctx, spry_solver_set_null_space(solver, 1, (const spry_vector *[]){b}, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "a vector given as null vector is not in the null space of A");
    assert_ok(ctx, spry_solver_set_null_space(solver, 0, NULL, NULL));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged && !result.detail[0]);
    spry_result_clear(ctx, &result);
    /* vectors that are none */
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_solver_set_null_space(solver, 2, (const spry_vector *[]){b, b}, NULL));
    support_message_has(ctx, "null vector 1 (from 0) depends on those before it");
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_solver_set_null_space(solver, 1, (const spry_vector *[]){x}, NULL));
    support_message_has(ctx, "null vector 0 (from 0) is zero");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_set_null_space(solver, -1, NULL, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solver_set_null_space(solver, 1, NULL, NULL));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &short_one));
    assert_ok(ctx, spry_vector_fill(short_one, (spry_scalar){1, 0}));
    assert_ok(ctx, spry_solver_set_null_space(solver, 1, (const spry_vector *[]){short_one}, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "null vectors have 3 elements, the matrix needs 144");
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(short_one);
}

/* Numbers that were rounded to six digits: a warning with the figure, and an answer. */
static void nearly_null_is_warned_about(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &flat);
    spry_vector *b = neumann_rhs(ctx, SPRY_TYPE_D, &flat, 0), *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double figure;
    for (int64_t k = 0; k < A->a.nnz; k++)
        support_put(A, k, (spry_scalar){round(((double *)A->a.values)[k] * 1e6) / 1e6, 0});
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant tol=1e-4");
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_int_equal(
        sscanf(result.warnings, "null vector 0 (from 0) is one up to %lf: |A v| is", &figure), 1);
    assert_true(figure > 1e-8 && figure < 1e-5); /* five roundings by 5e-7 per row at most */
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* A wind: A 1 = 0, but not A^H 1. What is in the range of A has a solution, other b have none. */
static void unsymmetric_matrices(void **state)
{
    spry_context *ctx = *state;
    neumann_grid g = flat;
    g.wind = 0.3;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &g);
    spry_vector *y = neumann_rhs(ctx, SPRY_TYPE_D, &g, 1), *b = NULL, *x = NULL;
    spry_operator *op = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(ctx, spry_operator_apply(op, y, b));
    static const char *const choices[] = {"", "precon=none method=gmres:restart=100",
                                          "precon=ilu method=bicgstab", "method=qmr precon=ilu"};
    for (size_t c = 0; c < sizeof choices / sizeof *choices; c++) {
        spry_solver *solver = solver_for(ctx, A, choices[c]);
        assert_ok(ctx, spry_solver_set(solver, "nullspace=constant"));
        assert_ok(ctx, spry_vector_fill(x, (spry_scalar){5, 0}));
        assert_ok(ctx, spry_solve(solver, b, x, &result));
        assert_true(result.converged);
        assert_null(result.warnings);
        neumann_check(A, &g, 0, b, x, 1e-8, result.true_residual);
        double sum = 0, size;
        for (int64_t i = 0; i < x->n; i++)
            sum += ((double *)x->data)[i];
        assert_ok(ctx, spry_vector_norm(x, &size));
        assert_true(fabs(sum) <= sqrt((double)x->n) * (double)x->n * 2.3e-16 * size);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant max-iter=50");
    assert_ok(ctx, spry_solve(solver, y, x, &result));
    assert_false(result.converged);
    assert_non_null(
        strstr(result.warnings, "the null space of A^H is not that of A, and not known"));
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(op);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(y);
}

/*
 * A queue of at most n - 1 that grows at rate 0.5 and shrinks at rate 1: the generator's transpose
 * has columns that sum to 0, and the stationary state pi_i = 2^-i as null vector. b with a part of
 * 1 is made solvable, x has nothing of pi.
 */
static void markov_chains(void **state)
{
    enum { N = 40 };
    spry_context *ctx = *state;
    double rows[N * N] = {0};
    for (int i = 0; i + 1 < N; i++) { /* from i to i + 1 and back */
        rows[i * N + i] += 0.5;
        rows[(i + 1) * N + i] -= 0.5;
        rows[(i + 1) * N + i + 1] += 1;
        rows[i * N + i + 1] -= 1;
    }
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, N, N, rows);
    spry_vector *pi = NULL, *ones = NULL, *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    spry_scalar part;
    double norm, sum = 0, share;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &pi));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &b));
    assert_ok(ctx, spry_vector_ones(ctx, A, &ones));
    for (int i = 0; i < N; i++) {
        ((double *)pi->data)[i] = ldexp(1, -i);
        ((double *)b->data)[i] = base_uniform(3, (uint64_t)i);
        sum += ((double *)b->data)[i];
    }
    spry_solver *solver = solver_for(ctx, A, "precon=none method=gmres:restart=60 tol=1e-10");
    assert_ok(ctx, spry_solver_set_null_space(solver, 1, (const spry_vector *[]){pi},
                                              (const spry_vector *[]){ones}));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_ok(ctx, spry_vector_norm(b, &norm));
    assert_int_equal(sscanf(result.warnings, "%lf of |b|", &share), 1);
    assert_true(fabs(share - sum / sqrt(N) / norm) < 0.01); /* two digits */
    assert_ok(ctx, spry_vector_dot(pi, x, &part));
    assert_ok(ctx, spry_vector_norm(x, &norm));
    assert_true(fabs(part.re) <= N * 2.3e-16 * norm * 1.2); /* |pi| < 1.2 */
    spry_result_clear(ctx, &result);
    /* the wrong way round */
    assert_ok(ctx, spry_solver_set_null_space(solver, 1, (const spry_vector *[]){pi},
                                              (const spry_vector *[]){pi}));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "a vector given as null vector of A^H is none");
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_vector_free(pi);
    spry_vector_free(ones);
    spry_vector_free(b);
    spry_vector_free(x);
}

/* Multigrid, whose coarsest level is singular, too; and what auto takes. */
static void large_grids_by_default(void **state)
{
    static const neumann_grid grids[] = {{.nx = 110, .ny = 95, .nz = 1},
                                         {.nx = 23, .ny = 22, .nz = 21},
                                         {.nx = 2000, .ny = 1, .nz = 1}};
    for (int k = 0; k < 3; k++) {
        spry_matrix *A = neumann_matrix(*state, SPRY_TYPE_D, &grids[k]);
        spry_solver *solver =
            solver_for(*state, A, k < 2 ? "nullspace=constant precon=amg" : "nullspace=constant");
        check_solve(solver, A, &grids[k], 1, 1e-8, k < 2 ? "amg" : "auto");
        spry_solver_free(solver);
        spry_matrix_free(A);
    }
}

/* Side by side, each with its own part of the null space. */
static void several_right_hand_sides(void **state)
{
    enum { COUNT = 11 };
    spry_context *ctx = *state;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_Z, &deep);
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant precon=ic");
    spry_vector *b[COUNT], *x[COUNT];
    spry_result results[COUNT];
    for (int k = 0; k < COUNT; k++) {
        results[k] = (spry_result)SPRY_RESULT_INIT;
        b[k] = neumann_rhs(ctx, SPRY_TYPE_Z, &deep, k);
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x[k]));
    }
    assert_ok(ctx, spry_vector_fill(b[5], (spry_scalar){1, 2}));
    assert_ok(ctx, spry_solve_many(solver, COUNT, (const spry_vector *const *)b, x, results));
    for (int k = 0; k < COUNT; k++) {
        assert_true(results[k].converged);
        assert_true((results[k].iterations == 0) == (k == 5));
        if (k != 5)
            neumann_check(A, &deep, 1, b[k], x[k], 1e-8, results[k].true_residual);
        spry_result_clear(ctx, &results[k]);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
    }
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* The null space goes with the plan: operator and preconditioner stay. New values are looked at. */
static void what_is_kept(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &flat);
    spry_solver *solver = solver_for(ctx, A, "precon=ssor nullspace=constant");
    check_solve(solver, A, &flat, 1, 1e-8, "first");
    const spry_operator *op = solver->setup.own_operator, *M = solver->setup.own_precon;
    assert_true(solver->setup.projected && solver_precon(solver) == solver->setup.projected);
    give_null_space(ctx, solver, SPRY_TYPE_D, &flat, false);
    assert_ptr_equal(solver->setup.own_precon, M);
    check_solve(solver, A, &flat, 1, 1e-8, "given");
    assert_ok(ctx, spry_solver_set(solver, "nullspace=none"));
    assert_ok(ctx, spry_solver_set_null_space(solver, 0, NULL, NULL));
    assert_ok(ctx, spry_solver_set(solver, "nullspace=constant"));
    check_solve(solver, A, &flat, 1, 1e-8, "again");
    assert_ptr_equal(solver->setup.own_operator, op);
    assert_ptr_equal(solver->setup.own_precon, M);
    for (int64_t k = 0; k < A->a.nnz; k++)
        support_put(A, k, (spry_scalar){3 * ((double *)A->a.values)[k], 0});
    assert_ok(ctx, spry_solver_update(solver));
    check_solve(solver, A, &flat, 1, 1e-8, "updated");
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            if (A->a.col_index[k] == i)
                support_put(A, k, (spry_scalar){2 * ((double *)A->a.values)[k], 0});
    assert_ok(ctx, spry_solver_update(solver));
    spry_vector *b = NULL, *x = NULL;
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, NULL));
    support_message_has(ctx, "the constant vector is not in the null space");
    spry_vector_free(b);
    spry_vector_free(x);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

/* b and x far outside of the range of squares: they are scaled, after the null space is gone. */
static void huge_numbers(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = neumann_matrix(ctx, SPRY_TYPE_D, &deep);
    spry_vector *b = neumann_rhs(ctx, SPRY_TYPE_D, &deep, 1), *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    spry_solver *solver = solver_for(ctx, A, "nullspace=constant precon=jacobi");
    assert_ok(ctx, spry_vector_scale((spry_scalar){0x1p700, 0}, b));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_ok(ctx, spry_vector_scale((spry_scalar){0x1p-700, 0}, b));
    assert_ok(ctx, spry_vector_scale((spry_scalar){0x1p-700, 0}, x));
    neumann_check(A, &deep, 1, b, x, 1e-8, result.true_residual);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
}

typedef struct tortured {
    const spry_matrix *A;
    const spry_vector *b;
    spry_vector *x;
} tortured;

static spry_status solve_once(spry_context *ctx, void *data)
{
    const tortured *t = data;
    spry_solver *solver = NULL;
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, "precon=ssor max-iter=3 method=bicg");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, t->A);
    if (status == SPRY_STATUS_OK) {
        spry_vector *ones = NULL;
        status = spry_vector_ones(ctx, t->A, &ones);
        if (status == SPRY_STATUS_OK)
            status = spry_solver_set_null_space(solver, 1, (const spry_vector *[]){ones},
                                                (const spry_vector *[]){ones});
        spry_vector_free(ones);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, t->b, t->x, NULL);
    spry_solver_free(solver);
    return status;
}

static void every_allocation_fails(void **state)
{
    spry_context *ctx = *state;
    const neumann_grid small = {.nx = 4, .ny = 3, .nz = 1};
    tortured t = {.A = neumann_matrix(ctx, SPRY_TYPE_D, &small)};
    spry_vector *b = neumann_rhs(ctx, SPRY_TYPE_D, &small, 1);
    t.b = b;
    assert_ok(ctx, spry_vector_zeros(ctx, t.A, &t.x));
    support_torture(ctx, solve_once, &t);
    spry_vector_free(b);
    spry_vector_free(t.x);
    spry_matrix_free((spry_matrix *)(uintptr_t)t.A);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(grids_are_solved),
        TEST(vectors_are_given),
        TEST(parts_of_b_are_reported),
        TEST(claims_are_checked),
        TEST(nearly_null_is_warned_about),
        TEST(unsymmetric_matrices),
        TEST(markov_chains),
        TEST(large_grids_by_default),
        TEST(several_right_hand_sides),
        TEST(what_is_kept),
        TEST(huge_numbers),
        TEST(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
