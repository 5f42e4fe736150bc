/* Products of matrices in any format and symmetry; <A x, y> = <x, A^H y>. */
#include "support/numeric.h"

#include <stdlib.h>

/* |<A x, y> - <x, A^H y>| is bounded by the roundings of both products: rows have at most a few
 * dozen entries of magnitude below 8, columns likewise. */
static void check_adjoint(spry_context *ctx, const spry_matrix *A)
{
    const spry_type type = spry_matrix_type(A);
    const int64_t rows = spry_matrix_rows(A), cols = spry_matrix_cols(A);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    spry_vector *x = numeric_random(ctx, NULL, type, cols, 21),
                *y = numeric_random(ctx, NULL, type, rows, 22);
    spry_vector *Ax = numeric_random(ctx, NULL, type, rows, 23),
                *Ay = numeric_random(ctx, NULL, type, cols, 24);
    spry_scalar left, right;
    assert_ok(ctx, spry_operator_apply(op, x, Ax));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_CONJUGATE, (spry_scalar){1, 0}, y,
                                          (spry_scalar){0, 0}, Ay));
    assert_ok(ctx, spry_vector_dot(Ax, y, &left));
    assert_ok(ctx, spry_vector_dot(x, Ay, &right));
    /* <y, A x> is conjugate to <A x, y>, and dot conjugates its first argument */
    spry_stats stats = SPRY_STATS_INIT;
    assert_ok(ctx, spry_matrix_stats(A, &stats));
    const double longest = (double)(stats.row_max > 100 ? stats.row_max : 100);
    const double bound =
        8 * longest * numeric_unit(type) * stats.norm_frobenius * numeric_norm(x) * numeric_norm(y);
    assert_true(left.re - right.re <= bound && right.re - left.re <= bound);
    assert_true(left.im - right.im <= bound && right.im - left.im <= bound);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(Ax);
    spry_vector_free(Ay);
    spry_operator_free(op);
}

static void test_adjoint(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
            for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++) {
                const support_recipe recipe = {.type = support_types[t],
                                               .format = (spry_format)format,
                                               .rows = 300,
                                               .cols = 211,
                                               .nnz = 3000,
                                               .shape = (support_shape)shape,
                                               .seed = 9};
                spry_matrix *A = support_matrix(ctx, &recipe);
                check_adjoint(ctx, A);
                spry_matrix_free(A);
            }
        }
    }
}

/* Products are those of the full matrix: entries are eighths, so that sums are exact. */
static void check_products(spry_context *ctx, const spry_matrix *A)
{
    const spry_type type = spry_matrix_type(A);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_string_equal(spry_operator_name(op), "csr");
    assert_int_equal(spry_operator_type(op), type);
    assert_true(spry_operator_has_transpose(op));
    for (int kind = SPRY_TRANSPOSE_NO; kind <= SPRY_TRANSPOSE_CONJUGATE; kind++) {
        const bool plain = kind == SPRY_TRANSPOSE_NO;
        const int64_t rows = spry_operator_rows(op), cols = spry_operator_cols(op);
        const int64_t n = plain ? cols : rows, m = plain ? rows : cols;
        spry_vector *x = numeric_random(ctx, NULL, type, n, 31),
                    *y = numeric_random(ctx, NULL, type, m, 32);
        spry_scalar *wide_x = malloc(((size_t)n + 1) * sizeof *wide_x);
        spry_scalar *wide_y = malloc(((size_t)m + 1) * sizeof *wide_y);
        for (int64_t i = 0; i < n; i++) {
            wide_x[i] = support_number(type, 33, (uint64_t)i);
            value_set(type, spry_vector_data(x), i, wide_x[i]);
        }
        support_multiply(A, (spry_transpose)kind, wide_x, wide_y);
        assert_ok(ctx, spry_operator_multiply(op, (spry_transpose)kind, (spry_scalar){1, 0}, x,
                                              (spry_scalar){0, 0}, y));
        for (int64_t i = 0; i < m; i++) {
            const spry_scalar found = value_get(type, spry_vector_data_const(y), i);
            assert_true(found.re == wide_y[i].re && found.im == wide_y[i].im);
        }
        free(wide_x);
        free(wide_y);
        spry_vector_free(x);
        spry_vector_free(y);
    }
    spry_operator_free(op);
}

static void test_formats(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
            for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
                 symmetry++) {
                const support_recipe recipe = {.type = support_types[t],
                                               .format = (spry_format)format,
                                               .symmetry = (spry_symmetry)symmetry,
                                               .rows = 97,
                                               .cols = 97,
                                               .nnz = 800,
                                               .seed = 5};
                spry_matrix *A = support_matrix(ctx, &recipe);
                check_products(ctx, A);
                spry_matrix_free(A);
            }
        }
    }
}

/* Making an operator and its first transposed product, without memory at each step. */
static spry_status use_operator(spry_context *ctx, void *data)
{
    const spry_matrix *A = data;
    spry_operator *op = NULL;
    spry_vector *x = NULL, *y = NULL;
    spry_status status = spry_operator_from_matrix(A, NULL, NULL, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, A, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(op, x, y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_multiply(op, SPRY_TRANSPOSE_YES, (spry_scalar){1, 0}, y,
                                        (spry_scalar){0, 0}, x);
    if (status != SPRY_STATUS_OK && op)
        assert_true(spry_operator_rows(op) == spry_matrix_rows(A));
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        /* half of the entries in one row, which makes it a long one */
        const support_recipe recipe = {.type = SPRY_TYPE_D,
                                       .format = (spry_format)format,
                                       .rows = 100,
                                       .cols = 20000,
                                       .nnz = 40000,
                                       .shape = SUPPORT_ONE_ROW,
                                       .seed = 3};
        spry_matrix *A = support_matrix(ctx, &recipe);
        support_torture(ctx, use_operator, A);
        spry_matrix_free(A);
    }
}

/* A failed first transposed product leaves an operator that works. */
static void test_retry(void **state)
{
    spry_context *ctx = *state;
    const support_recipe recipe = {.type = SPRY_TYPE_D,
                                   .format = SPRY_FORMAT_CSR,
                                   .rows = 50,
                                   .cols = 60,
                                   .nnz = 500,
                                   .seed = 4};
    spry_matrix *A = support_matrix(ctx, &recipe);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    spry_vector *x = numeric_random(ctx, NULL, SPRY_TYPE_D, 50, 1),
                *y = numeric_random(ctx, NULL, SPRY_TYPE_D, 60, 2);
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const double before = ((double *)spry_vector_data(y))[5];
    base_fail_allocation(ctx, 2, false);
    assert_status(ctx, SPRY_STATUS_NO_MEMORY,
                  spry_operator_multiply(op, SPRY_TRANSPOSE_YES, one, x, zero, y));
    base_fail_allocation(ctx, 0, false);
    assert_true(((double *)spry_vector_data(y))[5] == before);
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_YES, one, x, zero, y));
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_adjoint, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_formats, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_retry, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
