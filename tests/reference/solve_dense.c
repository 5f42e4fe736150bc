/* Right-hand sides as dense blocks: the numbers of spry_solve_many(), in any order of storage. */
#include "support/support.h"

#include <spry/spry.h>

#include <stdlib.h>
#include <string.h>

enum { COUNT = 11, PAD = 3 };

typedef struct block {
    spry_dense dense;
    char *memory;
    size_t bytes;
} block;

static char *number_at(const block *b, size_t size, int64_t i, int64_t j)
{
    const int64_t at = b->dense.by_rows ? i * b->dense.ld + j : j * b->dense.ld + i;
    return b->memory + (size_t)at * size;
}

static void open_block(block *b, spry_type type, int64_t n, bool by_rows)
{
    const size_t size = spry_type_size(type);
    *b = (block){.dense = SPRY_DENSE_INIT};
    b->dense.rows = n;
    b->dense.cols = COUNT;
    b->dense.by_rows = by_rows;
    b->dense.ld = (by_rows ? COUNT : n) + PAD;
    b->bytes = (size_t)(b->dense.ld * (by_rows ? n : COUNT)) * size;
    b->memory = malloc(b->bytes);
    memset(b->memory, 0x55, b->bytes); /* what is between the lines stays */
    b->dense.data = b->memory;
}

/* Whether what is between the lines is as it was. */
static bool is_clean(const block *b, size_t size)
{
    const int64_t lines = b->dense.by_rows ? b->dense.rows : b->dense.cols;
    const int64_t length = b->dense.by_rows ? b->dense.cols : b->dense.rows;
    for (int64_t l = 0; l < lines; l++)
        for (size_t k = (size_t)length * size; k < (size_t)b->dense.ld * size; k++)
            if (b->memory[(size_t)(l * b->dense.ld) * size + k] != 0x55)
                return false;
    return true;
}

static void blocks_are_columns(void **state)
{
    (void)state;
    static const spry_type types[] = {SPRY_TYPE_S, SPRY_TYPE_D, SPRY_TYPE_C, SPRY_TYPE_Z};
    for (int t = 0; t < 4; t++)
        for (int order = 0; order < 4; order++) {
            spry_context *ctx;
            spry_matrix *made, *A;
            spry_solver *solver;
            spry_vector *b[COUNT], *x[COUNT];
            spry_result many[COUNT] = {{0}}, dense[COUNT] = {{0}};
            block B, X;
            const size_t size = spry_type_size(types[t]);
            assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
            assert_ok(ctx, spry_generate(ctx, "poisson2d", "size=9", &made));
            assert_ok(ctx, spry_matrix_cast(made, types[t], &A));
            assert_ok(ctx, spry_solver_new(ctx, &solver));
            assert_ok(ctx, spry_solver_set(solver, "method=cg precon=jacobi"));
            assert_ok(ctx, spry_solver_set_matrix(solver, A));
            const int64_t n = spry_matrix_rows(A);
            open_block(&B, types[t], n, order % 2);
            open_block(&X, types[t], n, order / 2);
            for (int k = 0; k < COUNT; k++) {
                assert_ok(ctx, spry_vector_ones(ctx, A, &b[k]));
                assert_ok(ctx, spry_vector_zeros(ctx, A, &x[k]));
                assert_ok(ctx, spry_vector_scale((spry_scalar){k + 1, 0}, b[k]));
                assert_ok(ctx, spry_vector_fill(x[k], (spry_scalar){0.1 * k, 0}));
                memcpy(spry_vector_data(b[k]), spry_vector_data(x[k]), size * (size_t)k);
                for (int64_t i = 0; i < n; i++) {
                    memcpy(number_at(&B, size, i, k),
                           (char *)spry_vector_data(b[k]) + size * (size_t)i, size);
                    memcpy(number_at(&X, size, i, k),
                           (char *)spry_vector_data(x[k]) + size * (size_t)i, size);
                }
            }
            assert_ok(ctx, spry_solve_many(solver, COUNT, (const spry_vector *const *)b, x, many));
            assert_ok(ctx, spry_solve_dense(solver, &B.dense, &X.dense, dense));
            for (int k = 0; k < COUNT; k++) {
                assert_true(many[k].converged && dense[k].converged);
                assert_int_equal(many[k].iterations, dense[k].iterations);
                for (int64_t i = 0; i < n; i++)
                    assert_memory_equal(number_at(&X, size, i, k),
                                        (char *)spry_vector_data(x[k]) + size * (size_t)i, size);
                spry_result_clear(ctx, &many[k]);
                spry_result_clear(ctx, &dense[k]);
                spry_vector_free(b[k]);
                spry_vector_free(x[k]);
            }
            assert_true(is_clean(&B, size) && is_clean(&X, size));
            free(B.memory);
            free(X.memory);
            spry_solver_free(solver);
            spry_matrix_free(A);
            spry_matrix_free(made);
            spry_context_free(ctx);
        }
}

static void wrong_blocks_are_refused(void **state)
{
    (void)state;
    double numbers[2][12] = {{0}};
    const double one[] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    spry_context *ctx;
    spry_solver *solver;
    assert_int_equal(spry_context_new(NULL, &ctx), SPRY_STATUS_OK);
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, one);
    spry_dense B = SPRY_DENSE_INIT, X;
    B.rows = 3;
    B.cols = 2;
    B.ld = 3;
    B.data = numbers[0];
    X = B;
    X.data = numbers[1];
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_int_equal(spry_solve_dense(solver, &B, &X, NULL), SPRY_STATUS_BAD_USAGE);
    support_message_has(ctx, "no matrix and no operator");
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve_dense(solver, &B, &X, NULL));
    const struct {
        spry_dense B, X;
        const char *message;
    } cases[] = {
        {{B.size, 2, 2, 3, false, B.data, NULL}, X, "B is 2 x 2, it should be 3 x 2"},
        {B, {B.size, 3, 1, 3, false, X.data, NULL}, "X is 3 x 1, it should be 3 x 2"},
        {B, {B.size, 3, 2, 2, false, X.data, NULL}, "leading dimension of 2, which is less than 3"},
        {B, {B.size, 3, 2, 3, false, NULL, NULL}, "X has no data"},
        {B, {B.size, 3, 2, 3, false, numbers[0] + 2, NULL}, "B and X share memory"},
        {{B.size, 3, -1, 3, false, B.data, NULL}, X, "-1 right-hand sides"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_int_equal(spry_solve_dense(solver, &cases[k].B, &cases[k].X, NULL),
                         SPRY_STATUS_BAD_USAGE);
        support_message_has(ctx, cases[k].message);
    }
    B.cols = X.cols = 0;
    B.data = X.data = NULL;
    assert_ok(ctx, spry_solve_dense(solver, &B, &X, NULL));
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_columns),
        cmocka_unit_test(wrong_blocks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
