/* Options of a context as structs: what is read, generated, tuned and solved begins with them. */
#include "support/support.h"

#include "base/base.h"

#include <spry/kernel.h>
#include <spry/spry.h>

#include <stdlib.h>
#include <unistd.h>

/* A struct of a list with its defaults, as those have it who know the list alone. */
static void *fields_of(spry_context *ctx, spry_option_list list)
{
    void *fields = calloc(1, spry_options_size(list));
    assert_non_null(fields);
    assert_ok(ctx, spry_options_default(ctx, list, fields));
    return fields;
}

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(spry_options_size((spry_option_list){0}), 0);
    /* the fields are those of context_options, of which the last is an int */
    assert_int_equal(spry_options_size(spry_options_of("context")),
                     offsetof(context_options, log) + sizeof(int));
}

static void generating(void **state)
{
    spry_context *ctx = *state;
    const spry_option_list list = spry_options_of("generate");
    void *fields = fields_of(ctx, list);
    spry_matrix *A = NULL;
    assert_ok(ctx, options_set_real(ctx, list, fields, "size", 5));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", NULL, &A));
    assert_int_equal(spry_matrix_rows(A), 25);
    spry_matrix_free(A);
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "nx=2", &A)); /* the text comes after */
    assert_int_equal(spry_matrix_rows(A), 10);
    spry_matrix_free(A);
    assert_ok(ctx, options_set_real(ctx, list, fields, "points", 27)); /* kept, not copied */
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_generate(ctx, "tridiagonal", NULL, &A));
    support_message_has(ctx, "points is not an option of this kind");
    assert_ok(ctx, spry_context_set_options(ctx, list, NULL));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=3", &A));
    assert_int_equal(spry_matrix_rows(A), 9);
    spry_matrix_free(A);
    free(fields);
}

static void reading(void **state)
{
    static const char text[] =
        "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1.5\n1 1 2\n";
    spry_context *ctx = *state;
    const spry_option_list list = spry_options_of("read");
    void *fields = fields_of(ctx, list);
    char path[] = "/tmp/spry \"a\", b=c XXXXXX";
    const int file = mkstemp(path);
    spry_matrix *A = NULL;
    assert_int_equal(write(file, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(file);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, path, NULL, &A));
    assert_ok(ctx, spry_options_set(ctx, list, fields, "duplicates", "sum"));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_ok(ctx, spry_matrix_read(ctx, path, NULL, &A));
    assert_int_equal(spry_matrix_nnz(A), 1);
    spry_matrix_free(A);
    assert_ok(ctx, spry_matrix_read(ctx, path, "type=s", &A)); /* and still the sum */
    assert_int_equal(spry_matrix_type(A), SPRY_TYPE_S);
    spry_matrix_free(A);
    assert_ok(ctx, spry_context_set_options(ctx, list, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_matrix_read(ctx, path, NULL, &A));
    unlink(path);
    free(fields);
}

/* Also those that no text could hold without quotes. */
static void solving(void **state)
{
    spry_context *ctx = *state;
    const spry_option_list list = spry_options_of("solver");
    static const char file[] = "a \"b\", c=[d](e's)\n\001\t";
    void *fields = fields_of(ctx, list);
    spry_solver *solver = NULL;
    char text[SPRY_OPTION_TEXT_SIZE];
    double tol = 0;
    assert_ok(ctx, options_set_real(ctx, list, fields, "tol", 0.25));
    assert_ok(ctx, spry_options_set(ctx, list, fields, "method_file", file));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_get_real(solver, "tol", &tol));
    assert_true(tol == 0.25);
    assert_ok(ctx, spry_solver_get_text(solver, "method_file", text, sizeof text));
    assert_string_equal(text, file);
    spry_solver_free(solver);
    free(fields);
}

/* A preconditioner that is a solver has options of its own: not precon=inner once more, without
 * end. */
static void inner_solvers(void **state)
{
    spry_context *ctx = *state;
    const spry_option_list list = spry_options_of("solver");
    void *fields = fields_of(ctx, list);
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=9", &A));
    assert_ok(ctx, spry_vector_ones(ctx, A, &b));
    assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
    assert_ok(ctx, spry_options_set(ctx, list, fields, "precon", "inner"));
    assert_ok(ctx, spry_options_set(ctx, list, fields, "method", "fgmres"));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_ok(ctx, spry_quick_solve(ctx, A, b, x, NULL, &result));
    assert_true(result.converged);
    assert_string_equal(result.method, "fgmres");
    assert_string_equal(result.precon, "inner");
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    free(fields);
}

static void tuning(void **state)
{
    spry_context *ctx = *state;
    const spry_option_list list = spry_options_of("tune");
    void *fields = fields_of(ctx, list);
    spry_matrix *A = NULL;
    spry_tune_report report = SPRY_TUNE_REPORT_INIT;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=5", &A));
    assert_ok(ctx, options_set_real(ctx, list, fields, "products", 77));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_ok(ctx, spry_tune(A, NULL, NULL, &report));
    assert_int_equal(report.products, 77);
    spry_tune_report_clear(ctx, &report);
    spry_matrix_free(A);
    free(fields);
}

/* The context's own hold at once, all or none, and while nothing belongs to it. */
static void own_options(void **state)
{
    (void)state;
    const spry_option_list list = spry_options_of("context");
    spry_context *ctx = NULL;
    spry_solver *solver = NULL;
    assert_int_equal(spry_context_new("threads=2", &ctx), SPRY_STATUS_OK);
    void *fields = fields_of(ctx, list);
    assert_ok(ctx, options_set_real(ctx, list, fields, "threads", 3));
    assert_ok(ctx, options_set_real(ctx, list, fields, "memory-limit", 100000));
    assert_ok(ctx, spry_context_set_options(ctx, list, fields));
    assert_int_equal(spry_context_threads(ctx), 3);
    assert_null(spry_alloc(ctx, 200000));
    support_message_has(ctx, "memory limit of 100 kB");
    assert_ok(ctx, options_set_real(ctx, list, fields, "threads", 1));
    assert_ok(ctx, spry_options_set(ctx, list, fields, "isa", "a \"b\", c=d"));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_context_set_options(ctx, list, fields));
    support_message_has(ctx, "isa a \"b\", c=d is unknown");
    assert_int_equal(spry_context_threads(ctx), 3);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_context_set_options(ctx, list, NULL));
    support_message_has(ctx, "before it has objects");
    spry_solver_free(solver);
    assert_ok(ctx, spry_context_set_options(ctx, list, NULL));
    void *block = spry_alloc(ctx, 200000);
    assert_non_null(block);
    spry_free(ctx, block);
    spry_context_free(ctx);
    free(fields);
}

/* Every object's list is taken, others are not. */
static void lists(void **state)
{
    spry_context *ctx = *state;
    spry_entry object = SPRY_ENTRY_INIT, precon = SPRY_ENTRY_INIT;
    int objects = 0;
    for (; spry_list_at(SPRY_LIST_OBJECTS, objects, &object); objects++)
        assert_ok(ctx, spry_context_set_options(ctx, object.options, NULL));
    assert_in_range(objects, 6, MOST_LISTS + 1); /* the context's needs no place */
    assert_true(spry_list_find(SPRY_LIST_PRECONS, "sor", &precon));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_context_set_options(ctx, precon.options, NULL));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_context_set_options(ctx, (spry_option_list){0}, NULL));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(sizes),       CASE(generating),    CASE(reading),
                                       CASE(solving),     CASE(inner_solvers), CASE(tuning),
                                       CASE(own_options), CASE(lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
