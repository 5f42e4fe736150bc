/* The tuner with matrices of all kinds: what it takes gives A's own products, whatever was timed.
 */
#include "choose/tune.h"
#include "support/support.h"

#include <stdlib.h>

static const char forced[] = "auto:always=yes,budget=10,remember=no";

static void check(spry_context *ctx, const support_recipe *recipe)
{
    spry_matrix *A = support_matrix(ctx, recipe);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, forced, &op));
    support_exact(ctx, A, op);
    spry_operator_free(op);
    spry_matrix_free(A);
}

static void test_kinds(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
            for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++)
                check(*state, &(support_recipe){.type = support_types[t],
                                                .format = (spry_format)format,
                                                .shape = (support_shape)shape,
                                                .rows = 700,
                                                .cols = 650,
                                                .nnz = 4000,
                                                .seed = 31});
}

static void test_symmetric(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++)
            check(*state, &(support_recipe){.type = support_types[t],
                                            .format = SPRY_FORMAT_CSR,
                                            .symmetry = (spry_symmetry)symmetry,
                                            .rows = 300,
                                            .cols = 300,
                                            .nnz = 1500,
                                            .seed = 32});
}

static void test_empty(void **state)
{
    const int64_t sizes[][2] = {{0, 0}, {0, 3}, {3, 0}, {1, 1}, {9, 5}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check(*state, &(support_recipe){.type = SPRY_TYPE_D,
                                        .format = SPRY_FORMAT_CSR,
                                        .rows = sizes[i][0],
                                        .cols = sizes[i][1]});
}

/* Row 0 is CSR; the choice is among the rows and, if it is not CSR, at least 3% faster and cheaper
 * in all; nothing that changes values is even listed. */
static void test_report(void **state)
{
    spry_context *ctx = *state;
    spry_tune_report r = SPRY_TUNE_REPORT_INIT;
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson3d", "size=24", &A));
    ((double *)A->a.values)[77] = 1.0 / 3;
    assert_ok(ctx, spry_tune(A, NULL, "always=yes products=300 remember=no", &r));
    assert_false(r.remembered || r.untried);
    assert_int_equal(r.products, 300);
    assert_string_equal(r.rows[0].format, "csr");
    bool found = false;
    for (int64_t i = 0; i < r.count; i++) {
        const spry_tune_row *row = &r.rows[i];
        assert_true(!strstr(row->format, "values=") || strstr(row->format, "values=own"));
        if (row->seconds > 0)
            assert_true(row->total_seconds ==
                        row->conversion_seconds + (double)r.products * row->seconds);
        if (strcmp(row->format, r.format) != 0)
            continue;
        found = true;
        assert_true(i == 0 || (row->seconds <= 0.97 * r.rows[0].seconds &&
                               row->total_seconds < r.rows[0].total_seconds));
    }
    assert_true(found);
    spry_tune_report_clear(ctx, &r);
    spry_matrix_free(A);
}

/* Where it cannot pay nothing is timed. */
static void test_untried(void **state)
{
    spry_context *ctx = *state;
    spry_tune_report r = SPRY_TUNE_REPORT_INIT;
    spry_matrix *small = NULL, *large = NULL;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=30", &small));
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=700", &large));
    assert_ok(ctx, spry_tune(small, NULL, NULL, &r));
    assert_true(r.untried && r.count == 0);
    assert_string_equal(r.format, "csr");
    spry_tune_report_clear(ctx, &r);
    assert_ok(ctx, spry_tune(large, NULL, "products=5", &r));
    assert_true(r.untried);
    spry_tune_report_clear(ctx, &r);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_tune(large, NULL, "product=5", &r));
    support_message_has(ctx, "did you mean products?");
    spry_tune_report_clear(ctx, &r);
    spry_operator *op = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_matrix(large, NULL, "auto:budget=-1", &op));
    assert_null(op);
    spry_matrix_free(small);
    spry_matrix_free(large);
}

/* Forecasts from a sample of the rows are near those from all. */
static void test_sample(void **state)
{
    spry_context *ctx = *state;
    const char *const kinds[][2] = {
        {"poisson2d", "size=600"}, {"random", "size=60000"}, {"elasticity", "size=20"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        spry_matrix *A = NULL, *sample = NULL;
        tune_list list;
        assert_ok(ctx, spry_generate(ctx, kinds[k][0], kinds[k][1], &A));
        assert_ok(ctx, tune_sample(A, false, &sample));
        if (sample) {
            const matrix_arrays s = sample->a;
            assert_ok(ctx, matrix_check_arrays(ctx, &s));
            assert_true(s.nnz > 50000 && s.nnz < spry_matrix_nnz(A));
        }
        assert_ok(ctx, tune_list_make(A, NULL, 1000, &list));
        for (int i = 1; i < list.count; i++) {
            tune_candidate *c = &list.all[i];
            const int64_t estimate = c->row.bytes;
            if (!c->possible || !c->estimated || strncmp(c->row.format, "sell:", 5) != 0)
                continue;
            tune_estimate(A, c);
            assert_true(llabs(estimate - c->row.bytes) < c->row.bytes / 20);
        }
        tune_list_free(&list);
        spry_matrix_free(sample);
        spry_matrix_free(A);
    }
}

/* Few rows over an x much longer than the second-level cache: anywhere, or side by side. */
static spry_matrix *over_long_x(spry_context *ctx, bool anywhere)
{
    enum { ROWS = 4096, PER_ROW = 16 };
    const int64_t cols = 5 * tune_second_cache() / (int64_t)sizeof(double), step = cols / PER_ROW;
    int64_t *offsets = malloc((ROWS + 1) * sizeof *offsets);
    int32_t *columns = malloc(ROWS * PER_ROW * sizeof *columns);
    double *values = malloc(ROWS * PER_ROW * sizeof *values);
    spry_matrix *A = NULL;
    for (int64_t i = 0; i <= ROWS; i++)
        offsets[i] = i * PER_ROW;
    for (int64_t k = 0; k < ROWS * PER_ROW; k++) {
        const int64_t within =
            anywhere ? (int64_t)(base_uniform(8, (uint64_t)k) * (double)step) : k / PER_ROW;
        columns[k] = (int32_t)(k % PER_ROW * step + within);
        values[k] = base_uniform(9, (uint64_t)k);
    }
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, ROWS, cols, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    free(offsets);
    free(columns);
    free(values);
    return A;
}

/* Where CSR waits for x, whose numbers are met without order, the model looks to scoo by rows
 * first; where it waits for something else it does not know that. */
static void test_without_order(void **state)
{
    spry_context *ctx = *state;
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        spry_matrix *A = over_long_x(ctx, anywhere);
        const tune_machine machine = {0};
        const tune_candidate *least = NULL, *scoo = NULL;
        tune_list list;
        assert_ok(ctx, tune_list_make(A, NULL, 1000, &list));
        tune_model(A, &machine, 1.0, &list); /* far slower than any memory */
        assert_true(list.scattered);
        assert_int_equal(list.without_order, anywhere);
        for (int i = 1; i < list.count; i++) {
            const tune_candidate *c = &list.all[i];
            if (!c->possible)
                continue;
            if (!scoo && strncmp(c->row.format, "scoo", 4) == 0)
                scoo = c;
            if (!least || c->row.model_seconds * TUNE_CLOSE < least->row.model_seconds)
                least = c;
        }
        assert_non_null(scoo);
        assert_string_equal(scoo->row.format, "scoo:order=row,h=0");
        assert_int_equal(least == scoo, anywhere);
        tune_list_free(&list);
        spry_matrix_free(A);
    }
}

/* Candidates that do not fit are left out, and the work goes on. */
static void test_memory_limit(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=2");
    spry_matrix *A = NULL;
    spry_operator *op = NULL;
    int64_t now = 0;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=300", &A));
    spry_context_memory(ctx, &now, NULL);
    ctx->options.memory_limit = now + (3 << 20); /* x, y, and little more */
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, forced, &op));
    spry_operator_free(op);
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Each allocation fails once, alone and with all after it: a choice, or a clear no; nothing leaks
 * (the context is checked at the end). */
static void test_torture(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=2");
    spry_matrix *A = support_matrix(ctx, &(support_recipe){.type = SPRY_TYPE_D,
                                                           .format = SPRY_FORMAT_CSR,
                                                           .rows = 200,
                                                           .cols = 200,
                                                           .nnz = 900,
                                                           .seed = 3});
    int64_t before = 0, after = 0;
    spry_context_memory(ctx, &before, NULL);
    for (int all = 0; all < 2; all++)
        for (int64_t nth = 1; nth < 120; nth++) {
            spry_operator *op = NULL;
            base_fail_allocation(ctx, nth, all);
            const spry_status status = spry_operator_from_matrix(A, NULL, forced, &op);
            base_fail_allocation(ctx, 0, false);
            assert_true(status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY);
            assert_true((status == SPRY_STATUS_OK) == (op != NULL));
            spry_operator_free(op);
            spry_context_memory(ctx, &after, NULL);
            assert_int_equal(before, after);
        }
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* A stop that was asked for ends the race at once; CSR is always there. */
static void test_interrupt(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = NULL;
    spry_tune_report r = SPRY_TUNE_REPORT_INIT;
    assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=100", &A));
    spry_context_interrupt(ctx);
    assert_ok(ctx, spry_tune(A, NULL, "always=yes remember=no", &r));
    assert_string_equal(r.format, "csr");
    assert_true(spry_context_interrupted(ctx, true));
    spry_tune_report_clear(ctx, &r);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_symmetric, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_empty, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_report, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_untried, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sample, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_without_order, support_setup, support_teardown),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_torture),
        cmocka_unit_test_setup_teardown(test_interrupt, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
