/*
 * Allocations that fail, each in turn, in what a solver does besides its iteration: attempts one
 * after the other, what is looked for in singular matrices, the doctor. Some of that is done
 * without where there is no memory, so that a call may go well all the same: then what it says must
 * be true.
 */
#include "krylov/singular.h"
#include "krylov/solver.h"
#include "support/neumann.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <spry/doctor.h>
#include <spry/plan.h>

/* A system, and how it is solved. */
typedef struct tortured {
    spry_matrix *A;
    spry_vector *b, *x;
    spry_operator *M;
    const char *options;
    int ended_well; /* calls that went well although an allocation had failed */
} tortured;

/* As support_torture(), but for the end: where no allocation was left to fail. */
static void torture(spry_context *ctx, support_call call, tortured *t)
{
    for (int all = 0; all < 2; all++) {
        int64_t nth = 1;
        t->ended_well = 0;
        for (bool reached = true; reached; nth++) {
            int64_t before, after, most;
            assert_true(nth < 100000);
            spry_context_memory(ctx, &before, &most);
            base_fail_allocation(ctx, nth, all == 1);
            const spry_status status = call(ctx, t);
            reached = ctx->fail_in <= 1;
            base_fail_allocation(ctx, 0, false);
            spry_context_memory(ctx, &after, &most);
            assert_int_equal(after, before);
            t->ended_well += status == SPRY_STATUS_OK && reached;
            if (status == SPRY_STATUS_OK)
                continue;
            assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
            assert_true(spry_message(ctx)[0] != '\0');
        }
        print_message("%d allocations, %d of which can be done without\n", (int)nth, t->ended_well);
    }
}

/* |b - A x| / |b|, of general CSR with real doubles, without memory. */
static double residual(const tortured *t)
{
    const matrix_arrays *a = &t->A->a;
    const double *b = t->b->data, *x = t->x->data, *values = a->values;
    double sum = 0, all = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        double r = b[i];
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            r -= values[k] * x[a->col_index[k]];
        sum += r * r;
        all += b[i] * b[i];
    }
    return sqrt(sum / all);
}

static spry_status solve_once(spry_context *ctx, void *data)
{
    const tortured *t = data;
    spry_result result = SPRY_RESULT_INIT;
    memset(t->x->data, 0, (size_t)t->x->n * sizeof(double));
    const spry_status status = spry_quick_solve(ctx, t->A, t->b, t->x, t->options, &result);
    if (status == SPRY_STATUS_OK) {
        const double true_residual = residual(t);
        assert_true(!result.converged || true_residual <= 1e-8);
        assert_true(fabs(true_residual - result.true_residual) <= 1e-12);
    }
    spry_result_clear(ctx, &result);
    return status;
}

/* The Laplacian of a grid minus a shift between its eigenvalues, the diagonal of which is positive:
 * cg breaks down, and other attempts follow. */
static void attempts_one_after_the_other(void **state)
{
    static const char *const options[] = {"precon=none restart=50", "", "method=cg"};
    spry_context *ctx = *state;
    tortured t = {0};
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &t.A));
    for (int64_t i = 0; i < t.A->a.rows; i++)
        ((double *)t.A->a.values)[matrix_find(&t.A->a, i, i)] -= 1.3;
    matrix_changed(t.A);
    assert_ok(ctx, spry_vector_ones(ctx, t.A, &t.b));
    assert_ok(ctx, spry_vector_zeros(ctx, t.A, &t.x));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        t.options = options[k];
        torture(ctx, solve_once, &t);
    }
    spry_vector_free(t.b);
    spry_vector_free(t.x);
    spry_matrix_free(t.A);
}

static spry_status plan_and_solve(spry_context *ctx, void *data)
{
    const tortured *t = data;
    spry_plan planned = SPRY_PLAN_INIT;
    spry_result result = SPRY_RESULT_INIT;
    spry_solver *solver = NULL;
    memset(t->x->data, 0, (size_t)t->x->n * sizeof(double));
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, t->options);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, t->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_plan(solver, 1, &planned);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, t->b, t->x, &result);
    if (status == SPRY_STATUS_OK)
        assert_true(fabs(residual(t) - result.true_residual) <= 1e-12);
    spry_result_clear(ctx, &result);
    spry_plan_clear(ctx, &planned);
    spry_solver_free(solver);
    return status;
}

/* By sparse factors, which the plan begins, and by what comes after them. */
static void a_plan_and_its_solve(void **state)
{
    spry_context *ctx = *state;
    tortured t = {.options = "memory=no method=direct:kind=sparse"};
    assert_ok(ctx, spry_generate(ctx, "convection-diffusion", "size=6", &t.A));
    assert_ok(ctx, spry_vector_ones(ctx, t.A, &t.b));
    assert_ok(ctx, spry_vector_zeros(ctx, t.A, &t.x));
    torture(ctx, plan_and_solve, &t);
    t.options = "memory=no";
    torture(ctx, plan_and_solve, &t);
    spry_vector_free(t.b);
    spry_vector_free(t.x);
    spry_matrix_free(t.A);
}

static spry_status solve_singular(spry_context *ctx, void *data)
{
    const tortured *t = data;
    singular_result s;
    (void)ctx;
    memset(t->x->data, 0, (size_t)t->x->n * sizeof(double));
    const spry_status status =
        singular_solve(&krylov_nested, t->A, t->M, t->b, t->x, 1e-8, 1000, &s);
    if (status == SPRY_STATUS_OK && s.singular) {
        assert_true(s.rank == t->A->a.rows - 1);
        assert_true(fabs(residual(t) - s.residual) <= 1e-12);
    }
    return status;
}

static spry_status diagnose(spry_context *ctx, void *data)
{
    const tortured *t = data;
    spry_diagnosis d = SPRY_DIAGNOSIS_INIT;
    const spry_status status = spry_diagnose(t->A, t->b, t->options, NULL, &d);
    spry_diagnosis_clear(ctx, &d);
    return status;
}

static void singular_systems(void **state)
{
    static const neumann_grid g = {.nx = 4, .ny = 3, .nz = 1};
    spry_context *ctx = *state;
    tortured t = {.A = neumann_matrix(ctx, SPRY_TYPE_D, &g),
                  .b = neumann_rhs(ctx, SPRY_TYPE_D, &g, 1),
                  .options = "method=direct"};
    assert_ok(ctx, spry_vector_zeros(ctx, t.A, &t.x));
    assert_ok(ctx, spry_precon_new(t.A, NULL, "direct:kind=sparse,regular=yes", &t.M));
    torture(ctx, solve_singular, &t);
    torture(ctx, solve_once, &t);
    t.options = "seconds=1000 nullspace=constant";
    torture(ctx, diagnose, &t);
    t.options = "seconds=1000 method=cg precon=ilu";
    torture(ctx, diagnose, &t);
    spry_operator_free(t.M);
    spry_vector_free(t.b);
    spry_vector_free(t.x);
    spry_matrix_free(t.A);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {
        TEST(attempts_one_after_the_other),
        TEST(a_plan_and_its_solve),
        TEST(singular_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
