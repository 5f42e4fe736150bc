/* Objects are freed in any order: the context before them, or between. What is left works on. */
#include "support/kept.h"

#include <pthread.h>
#include <string.h>

static kept make(support_counts *counts)
{
    kept k = kept_begin(counts, "threads=2");
    assert_ok(k.ctx, spry_operator_from_matrix(k.A, NULL, "sell", &k.op));
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

/* Without its context a solver solves, fails with a status, and logs nothing. */
static void test_works_on(void **state)
{
    (void)state;
    support_counts counts = {0};
    int calls = 0;
    kept k = make(&counts);
    spry_result result = SPRY_RESULT_INIT;
    spry_context_set_log(k.ctx, count, &calls);
    spry_context_free(k.ctx);
    assert_int_equal(spry_vector_fill(k.x, (spry_scalar){0, 0}), SPRY_STATUS_OK);
    assert_int_equal(spry_solve(k.solver, k.b, k.x, &result), SPRY_STATUS_OK);
    assert_true(result.converged);
    spry_result_clear(k.ctx, &result); /* as long as there are objects */
    assert_int_equal(spry_solver_set(k.solver, "tol=nonsense"), SPRY_STATUS_BAD_USAGE);
    assert_int_equal(calls, 0);
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
        status = spry_operator_from_matrix(data, NULL, "ell", &op);
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

/* --- those who lend -----------------------------------------------------------------------------
 */

static void note(void *data)
{
    ++*(int *)data;
}

static spry_status nothing(void *data, spry_transpose op, const void *x, void *y)
{
    (void)data;
    (void)op;
    memcpy(y, x, 3 * sizeof(double));
    return SPRY_STATUS_OK;
}

/* Whoever lends something hears once that it is no longer used, and not before. */
static void test_lenders_are_notified(void **state)
{
    (void)state;
    static int64_t offsets[] = {0, 1, 2, 3};
    static int32_t columns[] = {0, 1, 2};
    static double values[] = {1, 2, 3}, numbers[3];
    int calls[4] = {0};
    spry_context *ctx;
    spry_matrix *A;
    spry_vector *v, *w;
    spry_operator *op;
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    spry_arrays arrays = SPRY_ARRAYS_INIT;
    arrays.type = SPRY_TYPE_D;
    arrays.format = SPRY_FORMAT_CSR;
    arrays.rows = arrays.cols = arrays.nnz = 3;
    arrays.offsets = offsets;
    arrays.col_index = columns;
    arrays.values = values;
    assert_ok(ctx, spry_matrix_new(ctx, &arrays, SPRY_OWN_BORROW, &A));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, numbers, SPRY_OWN_BORROW, &v));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, numbers, SPRY_OWN_BORROW, &w));
    assert_ok(ctx,
              spry_operator_from_function(ctx, SPRY_TYPE_D, 3, 3, false, nothing, &calls, &op));
    assert_ok(ctx, spry_matrix_set_release(A, note, &calls[0]));
    assert_ok(ctx, spry_vector_set_release(v, note, &calls[1]));
    assert_ok(ctx, spry_operator_set_release(op, note, &calls[2]));
    assert_ok(ctx, spry_vector_set_release(w, note, &calls[3]));
    assert_ok(ctx, spry_vector_set_release(w, NULL, NULL)); /* taken back */
    spry_context_free(ctx);                                 /* which they keep */
    for (int k = 0; k < 4; k++)
        assert_int_equal(calls[k], 0);
    spry_vector_free(v);
    assert_int_equal(calls[1], 1);
    spry_operator_free(op);
    assert_int_equal(calls[2], 1);
    spry_vector_free(w);
    spry_matrix_free(A);
    assert_int_equal(calls[0], 1);
    assert_true(calls[1] == 1 && calls[2] == 1 && calls[3] == 0);
}

/* --- finalizers in other threads -----------------------------------------------------------------
 */

enum { THINGS = 400 };

typedef struct bin {
    spry_vector *v[THINGS];
    spry_matrix *A[THINGS];
    spry_operator *op[THINGS];
    spry_solver *solver[THINGS];
} bin;

static void *empty(void *data)
{
    bin *b = data;
    for (int k = 0; k < THINGS; k++) {
        spry_matrix_free(b->A[k]); /* before what was made from it */
        spry_solver_free(b->solver[k]);
        spry_vector_free(b->v[k]);
        spry_operator_free(b->op[k]);
    }
    return NULL;
}

/* What is unused is freed by another thread while this one works in the same context. */
static void test_other_threads_may_free(void **state)
{
    (void)state;
    static bin b;
    spry_context *ctx;
    pthread_t thread;
    int64_t before, after;
    assert_int_equal(spry_context_new("threads=1", &ctx), SPRY_STATUS_OK);
    spry_context_memory(ctx, &before, NULL);
    for (int k = 0; k < THINGS; k++) {
        assert_ok(ctx, spry_generate(ctx, "tridiagonal", "size=40", &b.A[k]));
        assert_ok(ctx, spry_operator_from_matrix(b.A[k], NULL, "ell", &b.op[k]));
        assert_ok(ctx, spry_vector_ones(ctx, b.A[k], &b.v[k]));
        assert_ok(ctx, spry_solver_new(ctx, &b.solver[k]));
        assert_ok(ctx, spry_solver_set_matrix(b.solver[k], b.A[k]));
    }
    assert_int_equal(pthread_create(&thread, NULL, empty, &b), 0);
    for (int k = 0; k < 50; k++) {
        spry_matrix *A;
        spry_vector *x, *y;
        assert_ok(ctx, spry_generate(ctx, "tridiagonal", "size=30", &A));
        assert_ok(ctx, spry_vector_ones(ctx, A, &y));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        assert_ok(ctx, spry_quick_solve(ctx, A, y, x, "method=cg precon=jacobi", NULL));
        spry_vector_free(x);
        spry_vector_free(y);
        spry_matrix_free(A);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    spry_context_memory(ctx, &after, NULL);
    assert_int_equal(after, before);
    spry_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_works_on),
        cmocka_unit_test(test_failures_hold_nothing),
        cmocka_unit_test(test_lenders_are_notified),
        cmocka_unit_test(test_other_threads_may_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
