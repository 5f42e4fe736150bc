/* Methods with A in every storage format: answers, and the record that says what was used. */
#include "support/layouts.h"
#include "support/problems.h"

#include <string.h>

typedef struct job {
    const char *method;
    problem_kind kind;
    problem *p;
} job;

/* Formats that cannot hold the matrix say so. */
static bool holds(spry_context *ctx, const spry_matrix *A, const char *spec)
{
    spry_operator *op = NULL;
    const spry_status status = spry_operator_from_matrix(A, NULL, spec, &op);
    spry_operator_free(op);
    return !layouts_refused(ctx, spry_matrix_type(A), spec, status);
}

/* The format's name comes out, and options that bring the same again. */
static void check_name(const problem *p, const char *spec, const char *name)
{
    const size_t length = strcspn(spec, ":");
    spry_operator *op = NULL;
    assert_int_equal(strncmp(name, spec, length), 0);
    assert_true(name[length] == '\0' || name[length] == ':');
    assert_ok(p->ctx, spry_operator_from_matrix(p->A, NULL, name, &op));
    spry_operator_free(op);
}

/* Values that are stored shorter are those of another matrix: its answer is not looked at. */
static bool is_exact(const char *spec)
{
    return !strstr(spec, "values=") || strstr(spec, "values=own");
}

static void solve_with(const char *spec, void *data)
{
    const job *j = data;
    problem *p = j->p;
    const double tol = problem_tolerance(p->type);
    spry_result result = {0};
    char options[512];
    if (strstr(spec, "f16") && (p->type == SPRY_TYPE_S || p->type == SPRY_TYPE_C))
        return;
    if (!holds(p->ctx, p->A, spec))
        return;
    snprintf(options, sizeof options, "method=%s tol=%g max-iter=400 format=\"%s\"", j->method, tol,
             spec);
    problem_solve(p, options, &result);
    if (is_exact(spec))
        problem_check_converged(p, &result, tol, options);
    check_name(p, spec, result.format);
    spry_result_clear(p->ctx, &result);
}

static void test_methods(void **state)
{
    job jobs[] = {{"cg", PROBLEM_DOMINANT, NULL},
                  {"bicgstab", PROBLEM_CONVECTION, NULL},
                  {"gmres", PROBLEM_CONVECTION, NULL},
                  {"lsqr", PROBLEM_TALL, NULL}};
    for (size_t k = 0; k < sizeof jobs / sizeof *jobs; k++)
        for (int t = 0; t < 4; t++) {
            problem p;
            if (!support_turn(t, (int64_t)k))
                continue;
            problem_make(*state, jobs[k].kind, support_types[t],
                         jobs[k].kind == PROBLEM_TALL ? 60 : 400, &p);
            jobs[k].p = &p;
            layouts_each(solve_with, &jobs[k]);
            problem_free(&p);
        }
}

/* More rows than a piece, so that fused sweeps and several threads meet units of the format. */
static void solve_columns(const char *spec, void *data)
{
    enum { COUNT = 5, SIZE = 61, N = SIZE * SIZE };
    spry_context *ctx = data;
    spry_matrix *A = NULL;
    spry_vector *b[COUNT], *x[COUNT], *alone = NULL;
    spry_result results[COUNT] = {0}, single = {0};
    spry_solver *solver = NULL;
    char options[512];
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=61", &A));
    if (!holds(ctx, A, spec)) {
        spry_matrix_free(A);
        return;
    }
    for (int k = 0; k < COUNT; k++) {
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &b[k]));
        assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &x[k]));
        double *numbers = spry_vector_data(b[k]);
        for (int64_t i = 0; i < N; i++)
            numbers[i] = support_number(SPRY_TYPE_D, 70 + (uint64_t)k, (uint64_t)i).re;
    }
    snprintf(options, sizeof options, "method=cg tol=1e-6 format=\"%s\"", spec);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve_many(solver, COUNT, (const spry_vector *const *)b, x, results));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, N, NULL, SPRY_OWN_COPY, &alone));
    assert_ok(ctx, spry_solve(solver, b[1], alone, &single));
    for (int k = 0; k < COUNT; k++)
        assert_true(results[k].converged && results[k].true_residual <= 1e-6);
    assert_true(single.converged);
    /* A^-1 has a norm below (61 + 1)^2 / (2 pi^2) < 200; both residuals are below 1e-6 |b|. */
    double difference = 0, norm = 0;
    assert_ok(ctx, spry_vector_norm(b[1], &norm));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, x[1], alone));
    assert_ok(ctx, spry_vector_norm(alone, &difference));
    assert_true(difference <= 2 * 200 * 1e-6 * norm);
    for (int k = 0; k < COUNT; k++) {
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
        spry_result_clear(ctx, &results[k]);
    }
    spry_result_clear(ctx, &single);
    spry_vector_free(alone);
    spry_solver_free(solver);
    spry_matrix_free(A);
}

static void test_many(void **state)
{
    layouts_each(solve_columns, *state);
}

static void test_unknown(void **state)
{
    spry_context *ctx = *state;
    problem p;
    spry_result result = SPRY_RESULT_INIT;
    problem_make(ctx, PROBLEM_DOMINANT, SPRY_TYPE_D, 50, &p);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_quick_solve(ctx, p.A, p.b, p.x, "format=sel", &result));
    support_message_has(ctx, "did you mean sell?");
    spry_result_clear(ctx, &result);
    assert_ok(ctx, spry_quick_solve(ctx, p.A, p.b, p.x, "format=csr", &result));
    assert_string_equal(result.format, "csr");
    spry_result_clear(ctx, &result);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_methods, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_many, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_unknown, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
