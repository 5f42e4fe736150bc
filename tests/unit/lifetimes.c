/* Objects are freed in any order: the context before them, or between. What is left works on. */
#include "support/kept.h"

static kept make(support_counts *counts)
{
    kept k = kept_begin(counts, "threads=2");
    assert_ok(k.ctx, spry_operator_from_format(k.A, "sell", &k.op));
    assert_ok(k.ctx, spry_precon_new(k.A, NULL, "ssor", &k.M));
    assert_ok(k.ctx, spry_vector_ones(k.ctx, k.A, &k.b));
    assert_ok(k.ctx, spry_vector_zeros(k.ctx, k.A, &k.x));
    assert_ok(k.ctx, spry_solver_set_precon(k.solver, k.M));
    assert_ok(k.ctx, spry_solve(k.solver, k.b, k.x, NULL));
    return k;
}

/* Each object is the first once, and each is the last once; but a matrix stays while a solver has
 * it. */
static void test_any_order(void **state)
{
    (void)state;
    for (int first = 0; first < KEPT_COUNT; first++) {
        for (int step = 1; step < KEPT_COUNT; step++) {
            support_counts counts = {0};
            kept k = make(&counts);
            for (int i = 0; i < KEPT_COUNT; i++)
                kept_drop(&k, (first + i * step) % KEPT_COUNT);
            assert_int_equal(counts.blocks, 0);
        }
    }
}

static void count(void *data, spry_log_level level, const char *text)
{
    (void)level, (void)text;
    ++*(int *)data;
}

/* Without its context a solver solves, fails with a status, and tells nobody. */
static void test_works_on(void **state)
{
    (void)state;
    support_counts counts = {0};
    int told = 0;
    kept k = make(&counts);
    spry_result result = SPRY_RESULT_INIT;
    spry_context_set_log(k.ctx, count, &told);
    spry_context_free(k.ctx);
    assert_int_equal(spry_vector_fill(k.x, (spry_scalar){0, 0}), SPRY_STATUS_OK);
    assert_int_equal(spry_solve(k.solver, k.b, k.x, &result), SPRY_STATUS_OK);
    assert_true(result.converged);
    spry_result_clear(k.ctx, &result); /* as long as there are objects */
    assert_int_equal(spry_solver_set(k.solver, "tol=nonsense"), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(told, 0);
    for (int i = 1; i < KEPT_COUNT; i++)
        kept_drop(&k, i);
    assert_int_equal(counts.blocks, 0);
}

/* An object that could not be made holds nothing. */
static spry_status make_some(spry_context *ctx, void *data)
{
    spry_vector *v = NULL;
    spry_solver *solver = NULL;
    spry_operator *op = NULL;
    spry_status status = spry_vector_new(ctx, SPRY_TYPE_D, 100, NULL, SPRY_OWN_COPY, &v);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_from_format(data, "ell", &op);
    spry_vector_free(v);
    spry_solver_free(solver);
    spry_operator_free(op);
    return status;
}

static void test_failures_hold_nothing(void **state)
{
    (void)state;
    support_counts counts = {0};
    kept k = make(&counts);
    support_torture(k.ctx, make_some, k.A);
    for (int i = KEPT_COUNT - 1; i >= 0; i--)
        if (i != KEPT_A)
            kept_drop(&k, i);
    assert_true(counts.blocks > 0);
    kept_drop(&k, KEPT_A); /* the matrix was the last */
    assert_int_equal(counts.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_works_on),
        cmocka_unit_test(test_failures_hold_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
