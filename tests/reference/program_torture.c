/* Every allocation of making plans and of whole solves fails in turn: each time a failure with a
 * message, nothing kept, and the next try goes well. */
#include "support/courses.h"
#include "support/programs.h"
#include "support/support.h"

#include <stdio.h>

typedef struct plan_input {
    const char *text;
    bool fuse;
} plan_input;

static spry_status make_plan(spry_context *ctx, void *data)
{
    const plan_input *input = data;
    const plan_setup setup = {
        .use = {USE_ROWS, USE_CALL}, .fuse = input->fuse, .square = true, .ranked = input->fuse};
    program *g = NULL;
    plan *p = NULL;
    spry_status status = program_parse(ctx, "torture", input->text, strlen(input->text), &g);
    if (status != SPRY_STATUS_OK)
        return status;
    status = plan_make(g, &setup, &p); /* which takes the program */
    assert_true((p != NULL) == (status == SPRY_STATUS_OK));
    plan_free(p);
    return status;
}

static void plans(void **state)
{
    static const char *const methods[] = {"gmres",    "bicgstabl",   "idr",     "lgmres",
                                          "block-cg", "block-gmres", "gmres-dr"};
    spry_entry info = SPRY_ENTRY_INIT;
    for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &info); k++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (int fuse = 0; fuse < 2 && strcmp(info.name, methods[m]) == 0; fuse++)
                support_torture(*state, make_plan, &(plan_input){info.text, fuse == 1});
}

static void plans_by_chance(void **state)
{
    static char text[PROGRAMS_SIZE];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        programs_write(seed, true, text);
        support_torture(*state, make_plan, &(plan_input){text, true});
    }
}

typedef struct solve_input {
    const spry_matrix *A;
    const char *options;
    int count; /* of right-hand sides */
} solve_input;

static spry_status solve(spry_context *ctx, void *data)
{
    const solve_input *input = data;
    spry_solver *solver = NULL;
    spry_vector *b[2] = {NULL, NULL}, *x[2] = {NULL, NULL};
    spry_result results[2] = {{0}, {0}};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_solver_new(ctx, &solver));
    SPRY_GO(ctx, spry_solver_set(solver, input->options));
    SPRY_GO(ctx, spry_solver_set_matrix(solver, input->A));
    for (int k = 0; k < input->count; k++) {
        SPRY_GO(ctx, spry_vector_ones(ctx, input->A, &b[k]));
        SPRY_GO(ctx, spry_vector_zeros(ctx, input->A, &x[k]));
    }
    SPRY_GO(ctx, spry_solve_many(solver, input->count, (const spry_vector *const *)b, x, results));
done:
    for (int k = 0; k < 2; k++) {
        assert_true(status == SPRY_STATUS_OK || !results[k].converged);
        spry_result_clear(ctx, &results[k]);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
    }
    spry_solver_free(solver);
    return status;
}

static void solves(void **state)
{
    static const char *const options[] = {"method=cg precon=jacobi",
                                          "method=gmres:restart=5 precon=ssor",
                                          "method=idr precon=jacobi",
                                          "method=bicgstabl precon=none",
                                          "method=lsmr precon=none",
                                          "method=block-cg precon=jacobi",
                                          "method=block-gmres:restart=2 precon=none",
                                          "method=gmres-dr:restart=4,keep=2 precon=none"};
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=6", &A));
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        for (int count = 1; count <= 2; count++)
            support_torture(ctx, solve, &(solve_input){A, options[k], count});
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plans, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(plans_by_chance, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(solves, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
