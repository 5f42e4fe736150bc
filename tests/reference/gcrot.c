/* GCROT(m,k): what it gains by the directions it keeps, within a solve and from one to the next. */
#include "support/support.h"

#include <spry/spry.h>

#include <math.h>

enum { SOLVES = 4 };

typedef struct fixture {
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *b, *x;
    spry_solver *solver;
} fixture;

static void open_fixture(fixture *f, const char *method)
{
    assert_int_equal(spry_context_new(NULL, &f->ctx), SPRY_STATUS_OK);
    assert_ok(f->ctx, spry_generate(f->ctx, "convection-diffusion", "size=30", &f->A));
    assert_ok(f->ctx, spry_vector_ones(f->ctx, f->A, &f->b));
    assert_ok(f->ctx, spry_vector_zeros(f->ctx, f->A, &f->x));
    assert_ok(f->ctx, spry_solver_new(f->ctx, &f->solver));
    assert_ok(f->ctx, spry_solver_set(f->solver, "precon=none tol=1e-8"));
    assert_ok(f->ctx, spry_solver_set_text(f->solver, "method", method));
    assert_ok(f->ctx, spry_solver_set_matrix(f->solver, f->A));
}

static void close_fixture(fixture *f)
{
    spry_solver_free(f->solver);
    spry_vector_free(f->b);
    spry_vector_free(f->x);
    spry_matrix_free(f->A);
    spry_context_free(f->ctx);
}

/* Iterations of a solve that has converged, of the kth of some right-hand sides. */
static int64_t solve(fixture *f, int k)
{
    spry_result result = SPRY_RESULT_INIT;
    double *b = spry_vector_data(f->b);
    for (int64_t i = 0; i < spry_vector_size(f->b); i++)
        b[i] = 1 + 0.1 * k * sin(0.01 * (double)((k + 1) * i));
    assert_ok(f->ctx, spry_vector_fill(f->x, (spry_scalar){0, 0}));
    assert_ok(f->ctx, spry_solve(f->solver, f->b, f->x, &result));
    if (!result.converged)
        fail_msg("solve %d: %s after %d at %g, %s", k, spry_reason_name(result.reason),
                 (int)result.iterations, result.true_residual, result.detail);
    const int64_t iterations = result.iterations;
    spry_result_clear(f->ctx, &result);
    return iterations;
}

static int64_t iterations_of(const char *method)
{
    fixture f;
    open_fixture(&f, method);
    const int64_t iterations = solve(&f, 0);
    close_fixture(&f);
    return iterations;
}

/* One cycle is GMRES; several with what they keep need fewer steps than those that forget. */
static void kept_directions_save_steps(void **state)
{
    (void)state;
    assert_int_equal(iterations_of("gcrot:restart=300"), iterations_of("fgmres:restart=300"));
    const int64_t kept = iterations_of("gcrot:restart=8,keep=8");
    const int64_t forgotten = iterations_of("fgmres:restart=8");
    if (!(kept < forgotten))
        fail_msg("%d steps with corrections kept, %d without", (int)kept, (int)forgotten);
}

/* The space of a solve is a good beginning for the next, and changes nothing where it is not asked
 * for. */
static void spaces_are_handed_on(void **state)
{
    (void)state;
    static const char *const methods[] = {"gcrot:restart=20,keep=40",
                                          "gcrot:restart=20,keep=40,recycle=yes"};
    int64_t first[2] = {0, 0}, later[2] = {0, 0}, again = 0;
    for (int m = 0; m < 2; m++) {
        fixture f;
        open_fixture(&f, methods[m]);
        first[m] = solve(&f, 0);
        again = solve(&f, 0); /* its x is in the space of the first */
        for (int k = 1; k < SOLVES; k++)
            later[m] += solve(&f, k);
        if (m == 0)
            assert_int_equal(again, first[0]);
        close_fixture(&f);
    }
    assert_int_equal(first[0], first[1]);
    if (!(later[1] < later[0] && again <= 20))
        fail_msg("%d steps with spaces handed on, %d without; %d the second time", (int)later[1],
                 (int)later[0], (int)again);
}

/* Where A is another one by now the space is forgotten, and the answer is right. */
static void spaces_of_other_matrices_are_forgotten(void **state)
{
    (void)state;
    fixture f, fresh;
    open_fixture(&f, "gcrot:restart=10,keep=6,recycle=yes");
    open_fixture(&fresh, "gcrot:restart=10,keep=6,recycle=yes");
    solve(&f, 0);
    for (int round = 1; round < 3; round++) {
        fixture *const both[] = {&f, &fresh};
        int64_t iterations[2];
        for (int k = 0; k < 2; k++) {
            spry_vector *values;
            const spry_matrix *A = both[k]->A;
            spry_arrays arrays = SPRY_ARRAYS_INIT;
            assert_ok(both[k]->ctx, spry_matrix_arrays(A, &arrays));
            assert_ok(both[k]->ctx, spry_vector_new(both[k]->ctx, SPRY_TYPE_D, arrays.nnz, NULL,
                                                    SPRY_OWN_COPY, &values));
            for (int64_t i = 0; i < arrays.nnz; i++)
                ((double *)spry_vector_data(values))[i] =
                    ((const double *)arrays.values)[i] * (1 + 0.1 * sin((double)i));
            assert_ok(both[k]->ctx, spry_matrix_set_values_from(both[k]->A, values));
            spry_vector_free(values);
            iterations[k] = solve(both[k], 0);
        }
        if (round == 1) /* as one that knew nothing */
            assert_int_equal(iterations[0], iterations[1]);
    }
    close_fixture(&f);
    close_fixture(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_directions_save_steps),
        cmocka_unit_test(spaces_are_handed_on),
        cmocka_unit_test(spaces_of_other_matrices_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
