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

/* Gives A values that differ by a share of 1%. */
static void change_values(fixture *f)
{
    spry_vector *values;
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    assert_ok(f->ctx, spry_matrix_arrays(f->A, &arrays));
    assert_ok(f->ctx,
              spry_vector_new(f->ctx, SPRY_TYPE_D, arrays.nnz, NULL, SPRY_OWN_COPY, &values));
    for (int64_t i = 0; i < arrays.nnz; i++)
        ((double *)spry_vector_data(values))[i] =
            ((const double *)arrays.values)[i] * (1 + 0.01 * sin((double)i));
    assert_ok(f->ctx, spry_matrix_set_values_from(f->A, values));
    spry_vector_free(values);
}

enum { KEEP = 30 };
static const char recycling[] = "gcrot:restart=20,keep=30,recycle=yes";

/* Where A has other values by now the answer is right, and no later than from nothing. */
static void spaces_of_other_matrices_do_no_harm(void **state)
{
    (void)state;
    fixture f, fresh;
    open_fixture(&f, recycling);
    open_fixture(&fresh, recycling);
    solve(&f, 0);
    change_values(&f);
    change_values(&fresh);
    assert_true(solve(&f, 0) <= solve(&fresh, 0));
    /* nor does one that was lost to a NaN */
    spry_result result = SPRY_RESULT_INIT;
    ((double *)spry_vector_data(f.b))[0] = NAN;
    assert_int_equal(spry_solve(f.solver, f.b, f.x, &result), SPRY_STATUS_BAD_INPUT);
    spry_result_clear(f.ctx, &result);
    solve(&f, 0);
    close_fixture(&f);
    close_fixture(&fresh);
}

/* A space goes from one solver to another, also to one whose A is a little different. */
static void spaces_go_out_and_in(void **state)
{
    (void)state;
    fixture f;
    spry_vector *U[KEEP], *none[1] = {NULL};
    open_fixture(&f, recycling);
    for (int k = 0; k < KEEP; k++)
        assert_ok(f.ctx, spry_vector_zeros(f.ctx, f.A, &U[k]));
    assert_int_equal(spry_solver_get_space(f.solver, "U", 1, U), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "there is no space before a solve");
    const int64_t first = solve(&f, 0);
    assert_ok(f.ctx, spry_solver_get_space(f.solver, "U", KEEP, U));
    int found = 0;
    double size;
    for (; found < KEEP; found++) {
        assert_ok(f.ctx, spry_vector_norm(U[found], &size));
        if (size == 0)
            break;
    }
    assert_int_equal(found, (first + 19) / 20); /* one for each cycle */
    for (int changed = 0; changed < 2; changed++) {
        fixture other;
        spry_vector *copies[KEEP];
        int64_t plain = first;
        if (changed) {
            open_fixture(&other, recycling);
            change_values(&other);
            plain = solve(&other, 0);
            close_fixture(&other);
        }
        open_fixture(&other, recycling);
        if (changed)
            change_values(&other);
        for (int k = 0; k < found; k++)
            assert_ok(other.ctx,
                      spry_vector_new(other.ctx, SPRY_TYPE_D, spry_vector_size(U[k]),
                                      spry_vector_data(U[k]), SPRY_OWN_COPY, &copies[k]));
        assert_ok(other.ctx, spry_solver_set_space(other.solver, "U", found,
                                                   (const spry_vector *const *)copies));
        const int64_t steps = solve(&other, 0);
        if (!(changed ? steps < plain : steps <= 20))
            fail_msg("%d steps with the space of another solver, %d without", (int)steps,
                     (int)plain);
        for (int k = 0; k < found; k++)
            spry_vector_free(copies[k]);
        close_fixture(&other);
    }
    assert_int_equal(spry_solver_get_space(f.solver, "V", 1, U), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "method gcrot keeps no vectors V");
    assert_int_equal(spry_solver_get_space(f.solver, "U", KEEP + 1, U), SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "31 vectors U, of which the method keeps 30");
    assert_int_equal(spry_solver_get_space(f.solver, "U", 1, none), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(spry_solver_set_space(f.solver, "U", -1, NULL), SPRY_STATUS_BAD_USAGE);
    spry_vector_free(U[0]);
    assert_ok(f.ctx, spry_vector_new(f.ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &U[0]));
    assert_int_equal(spry_solver_set_space(f.solver, "U", 1, (const spry_vector *const *)U),
                     SPRY_STATUS_BAD_USAGE);
    support_message_has(f.ctx, "vector 0 has 3 elements of type d, U has 900 of type d");
    assert_ok(f.ctx, spry_solver_set_space(f.solver, "U", 0, NULL)); /* forgets it */
    assert_int_equal(solve(&f, 0), first);
    for (int k = 0; k < KEEP; k++)
        spry_vector_free(U[k]);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_directions_save_steps),
        cmocka_unit_test(spaces_are_handed_on),
        cmocka_unit_test(spaces_of_other_matrices_do_no_harm),
        cmocka_unit_test(spaces_go_out_and_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
