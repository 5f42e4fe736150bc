/*
 * Products with dense matrices: every width, both layouts of B and of C, gaps between rows or
 * columns, all types, operators with and without a product of their own. Numbers are eighths, so
 * that results are exact and the order of sums does not matter.
 */
#include "support/numeric.h"

#include "host/walk.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 45, COLS = 37, GAP = 3 };

static const int widths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11, 12,
                             13, 14, 15, 16, 17, 18, 19, 20, 64, 255, 256};

/* A matrix of random numbers with gaps, which must stay as they are. */
static spry_dense dense_new(spry_type type, int64_t rows, int64_t cols, bool by_rows, uint64_t seed)
{
    const spry_dense M = {0, rows, cols, (by_rows ? cols : rows) + GAP, by_rows, NULL, NULL};
    const int64_t count = M.ld * ((by_rows ? rows : cols) + 1);
    spry_dense made = M;
    made.data = malloc((size_t)count * spry_type_size(type));
    for (int64_t k = 0; k < count; k++)
        value_set(type, made.data, k, support_number(type, seed, (uint64_t)k));
    return made;
}

static int64_t place(const spry_dense *M, int64_t i, int64_t j)
{
    return M->by_rows ? i * M->ld + j : j * M->ld + i;
}

/* Gaps hold what dense_new() put there. */
static void check_gaps(spry_type type, const spry_dense *M, uint64_t seed)
{
    const int64_t lines = M->by_rows ? M->rows : M->cols, used = M->ld - GAP;
    for (int64_t l = 0; l < lines; l++)
        for (int64_t g = used; g < M->ld; g++) {
            const int64_t k = l * M->ld + g;
            const spry_scalar found = value_get(type, M->data, k);
            const spry_scalar expected = support_number(type, seed, (uint64_t)k);
            assert_true(found.re == expected.re && found.im == expected.im);
        }
}

static void check_dense(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                        spry_transpose transpose, int width, int layouts)
{
    const spry_type type = A->a.type;
    const bool plain = transpose == SPRY_TRANSPOSE_NO, again = width % 3 == 0;
    const int64_t n = plain ? COLS : ROWS, m = plain ? ROWS : COLS;
    const spry_scalar alpha = {again ? 2 : 1, 0}, beta = {again ? -1 : 0, 0};
    const spry_dense B = dense_new(type, n, width, layouts & 1, 5);
    const spry_dense C = dense_new(type, m, width, layouts & 2, 6);
    assert_ok(ctx, spry_operator_multiply_dense(op, transpose, alpha, &B, beta, &C));
    for (int c = 0; c < width; c++) {
        spry_scalar x[ROWS + COLS], y[ROWS + COLS];
        for (int64_t i = 0; i < n; i++)
            x[i] = value_get(type, B.data, place(&B, i, c));
        support_multiply(A, transpose, x, y);
        for (int64_t i = 0; i < m; i++) {
            const int64_t at = place(&C, i, c);
            const spry_scalar found = value_get(type, C.data, at);
            const spry_scalar old = support_number(type, 6, (uint64_t)at);
            const double re = alpha.re * y[i].re + beta.re * old.re;
            const double im = alpha.re * y[i].im + beta.re * old.im;
            if (found.re != re || found.im != im)
                fail_msg("type %s, width %d, layouts %d, (%d, %d): found %g%+gi, expected %g%+gi",
                         spry_type_name(type), width, layouts, (int)i, c, found.re, found.im, re,
                         im);
        }
    }
    check_gaps(type, &B, 5);
    check_gaps(type, &C, 6);
    free(B.data);
    free(C.data);
}

static void check_widths(spry_context *ctx, const spry_matrix *A, const spry_operator *op,
                         spry_transpose transpose)
{
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int layouts = 0; layouts < 4; layouts++)
            check_dense(ctx, A, op, transpose, widths[w], layouts);
}

static spry_matrix *small_matrix(spry_context *ctx, spry_type type)
{
    return support_sorted(ctx, type, SUPPORT_UNIFORM, ROWS, COLS, 200, 21);
}

static void csr(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = small_matrix(ctx, support_types[t]);
        spry_operator *op = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        for (int transpose = SPRY_TRANSPOSE_NO; transpose <= SPRY_TRANSPOSE_CONJUGATE; transpose++)
            check_widths(ctx, A, op, (spry_transpose)transpose);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

static void test_csr(void **state)
{
    csr(*state);
}

static void formats(spry_context *ctx)
{
    static const char *const specs[] = {"sell", "axc:HBRS=4", "axt:TH=1,MODE=com"};
    for (int t = 0; t < 4; t++)
        for (int s = 0; s < 3; s++) {
            spry_matrix *A = small_matrix(ctx, support_types[t]);
            spry_operator *op = NULL;
            assert_ok(ctx, host_layout_operator(A, specs[s], &op));
            check_widths(ctx, A, op, SPRY_TRANSPOSE_NO);
            spry_operator_free(op);
            spry_matrix_free(A);
        }
}

static void test_formats(void **state)
{
    formats(*state);
}

/* An operator that has products with single vectors only. */
static spry_status through_matrix(void *data, spry_transpose transpose, const void *x, void *y)
{
    const spry_operator *op = data;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    return op->class->multiply(op, transpose, one, x, zero, y);
}

static void test_function(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = small_matrix(*state, support_types[t]);
        spry_operator *inner = NULL, *op = NULL;
        assert_ok(*state, spry_operator_from_matrix(A, NULL, NULL, &inner));
        assert_ok(*state, spry_operator_from_function(*state, support_types[t], ROWS, COLS, true,
                                                      through_matrix, inner, &op));
        check_widths(*state, A, op, SPRY_TRANSPOSE_NO);
        check_widths(*state, A, op, SPRY_TRANSPOSE_YES);
        spry_operator_free(op);
        spry_operator_free(inner);
        spry_matrix_free(A);
    }
}

/* Large enough for rows of B to be fetched ahead: the bits are those of single products. */
static void scattered(spry_context *ctx)
{
    enum { N = 20000, WIDTH = 8 };
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const size_t size = spry_type_size(type);
        spry_matrix *A = support_sorted(ctx, type, SUPPORT_UNIFORM, N, N, 120000, 22);
        spry_operator *op = NULL;
        assert_true(host_scattered(N, N, A->a.offsets, A->a.col_index));
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        const spry_dense B = dense_new(type, N, WIDTH, true, 7);
        const spry_dense C = dense_new(type, N, WIDTH, false, 8);
        const spry_scalar one = {1, 0}, zero = {0, 0};
        assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &B, zero, &C));
        char *x = malloc(N * size), *y = malloc(N * size);
        for (int c = 0; c < WIDTH; c++) {
            for (int64_t i = 0; i < N; i++)
                memcpy(x + (size_t)i * size, (char *)B.data + (size_t)place(&B, i, c) * size, size);
            assert_ok(ctx, op->class->multiply(op, SPRY_TRANSPOSE_NO, one, x, zero, y));
            assert_memory_equal(y, (char *)C.data + (size_t)(c * C.ld) * size, N * size);
        }
        free(x);
        free(y);
        free(B.data);
        free(C.data);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

static void test_scattered(void **state)
{
    scattered(*state);
}

static void test_other_levels(void **state)
{
    (void)state;
    numeric_other_levels(csr);
    numeric_other_levels(formats);
    numeric_other_levels(scattered);
}

/* Grids, bands and short matrices are not scattered. */
static void test_not_scattered(void **state)
{
    const support_recipe recipes[] = {
        {.rows = 20000, .cols = 20000, .nnz = 200000, .shape = SUPPORT_BANDED},
        {.rows = 1000, .cols = 1000, .nnz = 5000}};
    for (int r = 0; r < 2; r++) {
        support_recipe recipe = recipes[r];
        recipe.type = SPRY_TYPE_D;
        recipe.format = SPRY_FORMAT_CSR;
        recipe.seed = 23;
        recipe.sorted = true;
        spry_matrix *A = support_matrix(*state, &recipe);
        assert_false(host_scattered(A->a.rows, A->a.cols, A->a.offsets, A->a.col_index));
        spry_matrix_free(A);
    }
}

static void test_wrong(void **state)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_matrix *A = small_matrix(*state, SPRY_TYPE_D);
    spry_operator *op = NULL;
    double numbers[ROWS * 4] = {0};
    const spry_dense B = {0, COLS, 2, 2, true, numbers, NULL},
                     C = {0, ROWS, 2, 2, true, numbers, NULL};
    assert_ok(*state, spry_operator_from_matrix(A, NULL, NULL, &op));
    const struct {
        spry_dense B, C;
        const char *message;
    } wrong[] = {{{0, COLS + 1, 2, 2, true, numbers, NULL}, C, "B is"},
                 {{0, COLS, 3, 3, true, numbers, NULL}, C, "C is"},
                 {{0, COLS, 2, 1, true, numbers, NULL}, C, "B: ld is 1"},
                 {{0, COLS, 2, COLS - 1, false, numbers, NULL}, C, "B: ld is"},
                 {{0, COLS, 2, 2, true, NULL, NULL}, C, "B has no data"},
                 {B, {0, ROWS - 1, 2, 2, true, numbers, NULL}, "C is"},
                 {B, {0, ROWS, 2, 1, true, numbers, NULL}, "C: ld is 1"},
                 {B, {0, ROWS, 2, INT64_MAX, true, numbers, NULL}, "C: 45 lines"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_status(*state, SPRY_STATUS_BAD_USAGE,
                      spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &wrong[i].B, zero,
                                                   &wrong[i].C));
        support_message_has(*state, wrong[i].message);
    }
    /* No columns are no work. */
    const spry_dense none[] = {{0, COLS, 0, 0, true, NULL, NULL},
                               {0, ROWS, 0, 0, true, NULL, NULL}};
    assert_ok(*state,
              spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, one, &none[0], zero, &none[1]));
    spry_operator_free(op);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_csr, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_formats, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_function, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_scattered, support_setup, support_teardown),
        cmocka_unit_test(test_other_levels),
        cmocka_unit_test_setup_teardown(test_not_scattered, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
