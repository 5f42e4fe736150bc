/* Conversions and changes of matrices small enough to be worked out by hand. */
#include "support/support.h"

#include "matrix/entries.h"

#include <math.h>
#include <stdlib.h>

/* COO of
 *     [ 1  .  2  . ]
 *     [ .  .  .  . ]
 *     [ 3  4  .  5 ]
 * in no order, with 4 given as 1 + 3. */
static spry_matrix *example(spry_context *ctx, spry_type type)
{
    const double numbers[] = {5, 1, 1, 2, 3, 3};
    double values[12];
    for (int k = 0; k < 6; k++)
        value_set(type, values, k, (spry_scalar){numbers[k], 0});
    const spry_arrays a = {.type = type,
                           .format = SPRY_FORMAT_COO,
                           .rows = 3,
                           .cols = 4,
                           .nnz = 6,
                           .row_index = (int32_t[]){2, 0, 2, 0, 2, 2},
                           .col_index = (int32_t[]){3, 0, 1, 2, 0, 1},
                           .values = values};
    spry_matrix *A;
    assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_COPY, &A));
    return A;
}

static void expect(const spry_matrix *A, const int64_t *offsets, const int32_t *row,
                   const int32_t *col, const double *numbers)
{
    const matrix_arrays a = A->a;
    for (int64_t i = 0; offsets && i <= matrix_major(&a); i++)
        assert_int_equal(a.offsets[i], offsets[i]);
    for (int64_t k = 0; k < a.nnz; k++) {
        if (row)
            assert_int_equal(a.row_index[k], row[k]);
        if (col)
            assert_int_equal(a.col_index[k], col[k]);
        assert_true(value_get(a.type, a.values, k).re == numbers[k]);
        assert_true(value_get(a.type, a.values, k).im == 0);
    }
}

static void conversion_keeps_the_order_of_entries(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = example(*state, support_types[t]), *B;
        assert_ok(*state, spry_matrix_convert(A, SPRY_FORMAT_CSR, &B));
        expect(B, (int64_t[]){0, 2, 2, 6}, NULL, (int32_t[]){0, 2, 3, 1, 0, 1},
               (double[]){1, 2, 5, 1, 3, 3});
        spry_matrix_free(B);
        assert_ok(*state, spry_matrix_convert(A, SPRY_FORMAT_CSC, &B));
        expect(B, (int64_t[]){0, 2, 4, 5, 6}, (int32_t[]){0, 2, 2, 2, 0, 2}, NULL,
               (double[]){1, 3, 1, 3, 2, 5});
        spry_matrix_free(B);
        assert_ok(*state, spry_matrix_convert(A, SPRY_FORMAT_COO, &B));
        support_same_arrays(A, B);
        spry_matrix_free(B);
        assert_status(*state, SPRY_STATUS_BAD_USAGE, spry_matrix_convert(A, (spry_format)3, &B));
        assert_null(B);
        spry_matrix_free(A);
    }
}

static void sorting_and_summing(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = example(*state, support_types[t]);
        assert_ok(*state, spry_matrix_sort(A));
        expect(A, NULL, (int32_t[]){0, 0, 2, 2, 2, 2}, (int32_t[]){0, 2, 0, 1, 1, 3},
               (double[]){1, 2, 3, 1, 3, 5});
        assert_ok(*state, spry_matrix_sum_duplicates(A));
        assert_int_equal(spry_matrix_nnz(A), 5);
        expect(A, NULL, (int32_t[]){0, 0, 2, 2, 2}, (int32_t[]){0, 2, 0, 1, 3},
               (double[]){1, 2, 3, 4, 5});
        const void *values = A->a.values;
        assert_ok(*state, spry_matrix_sum_duplicates(A)); /* nothing to do, nothing moves */
        assert_ptr_equal(A->a.values, values);
        spry_matrix_free(A);
    }
}

/* Changing format in place keeps the arrays that can serve. */
static void becoming_keeps_arrays(void **state)
{
    spry_matrix *A = example(*state, SPRY_TYPE_D), *B;
    assert_ok(*state, spry_matrix_sum_duplicates(A));
    const matrix_arrays before = A->a;
    assert_ok(*state, matrix_become(A, SPRY_FORMAT_CSR));
    assert_ptr_equal(A->a.values, before.values);
    assert_ptr_equal(A->a.col_index, before.col_index);
    expect(A, (int64_t[]){0, 2, 2, 5}, NULL, (int32_t[]){0, 2, 0, 1, 3}, (double[]){1, 2, 3, 4, 5});
    assert_ok(*state, matrix_become(A, SPRY_FORMAT_CSR));
    assert_ok(*state, matrix_become(A, SPRY_FORMAT_COO));
    assert_ptr_equal(A->a.values, before.values);
    expect(A, NULL, (int32_t[]){0, 0, 2, 2, 2}, (int32_t[]){0, 2, 0, 1, 3},
           (double[]){1, 2, 3, 4, 5});
    assert_ok(*state, matrix_become(A, SPRY_FORMAT_CSC)); /* columns do not rise: entries move */
    expect(A, (int64_t[]){0, 2, 3, 4, 5}, (int32_t[]){0, 2, 2, 0, 2}, NULL,
           (double[]){1, 3, 4, 2, 5});
    matrix_arrays borrowed = A->a;
    assert_ok(*state, support_new(*state, &borrowed, SPRY_OWN_BORROW, &B));
    assert_ok(*state, matrix_become(B, SPRY_FORMAT_COO)); /* borrowed arrays cannot be kept */
    assert_ptr_not_equal(B->a.values, borrowed.values);
    expect(B, NULL, (int32_t[]){0, 2, 2, 0, 2}, (int32_t[]){0, 0, 1, 2, 3},
           (double[]){1, 3, 4, 2, 5});
    spry_matrix_free(B);
    spry_matrix_free(A);
}

static spry_matrix *triangle(spry_context *ctx, spry_symmetry symmetry)
{
    /* lower triangle [d . .; 2+i d .; . 3-2i d], d = 0 where it must be */
    const double d = symmetry == SPRY_SYMMETRY_SKEW ? 0 : 5;
    const spry_arrays a = {.type = SPRY_TYPE_Z,
                           .format = SPRY_FORMAT_CSR,
                           .symmetry = symmetry,
                           .rows = 3,
                           .cols = 3,
                           .nnz = 5,
                           .offsets = (int64_t[]){0, 1, 3, 5},
                           .col_index = (int32_t[]){0, 0, 1, 1, 2},
                           .values = (double[]){d, 0, 2, 1, d, 0, 3, -2, d, 0}};
    spry_matrix *A;
    assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_COPY, &A));
    return A;
}

static void implied_triangles_are_written_out(void **state)
{
    static const spry_symmetry kinds[] = {SPRY_SYMMETRY_SYMMETRIC, SPRY_SYMMETRY_SKEW,
                                          SPRY_SYMMETRY_HERMITIAN};
    static const spry_scalar first[] = {{2, 1}, {-2, -1}, {2, -1}}; /* at (0, 1) */
    static const spry_scalar second[] = {{3, -2}, {-3, 2}, {3, 2}}; /* at (1, 2) */
    for (int s = 0; s < 3; s++) {
        spry_matrix *A = triangle(*state, kinds[s]), *B;
        assert_ok(*state, spry_matrix_expand(A, &B));
        const matrix_arrays b = B->a;
        assert_int_equal(b.symmetry, SPRY_SYMMETRY_GENERAL);
        assert_int_equal(b.nnz, 7);
        assert_memory_equal(b.offsets, ((int64_t[]){0, 2, 5, 7}), 4 * sizeof(int64_t));
        assert_memory_equal(b.col_index, ((int32_t[]){0, 1, 0, 1, 2, 1, 2}), 7 * sizeof(int32_t));
        const double *values = b.values;
        assert_memory_equal(values + 2, &first[s], sizeof first[s]);
        assert_memory_equal(values + 8, &second[s], sizeof second[s]);
        spry_matrix_free(B);
        spry_matrix_free(A);
    }
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    spry_matrix *A, *B;
    A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, (double[]){1, 2, 1e300, 4});
    assert_status(*state, SPRY_STATUS_BAD_INPUT, spry_matrix_cast(A, SPRY_TYPE_S, &B));
    assert_null(B);
    assert_string_equal(spry_message(*state),
                        "row 1, column 0 (from 0): (1e+300, 0) does not fit type s");
    support_put(A, 2, (spry_scalar){INFINITY, 0}); /* infinite already: kept */
    assert_ok(*state, spry_matrix_cast(A, SPRY_TYPE_S, &B));
    assert_true(isinf(value_get(SPRY_TYPE_S, B->a.values, 2).re));
    spry_matrix_free(B);
    spry_matrix_free(A);
    A = triangle(*state, SPRY_SYMMETRY_SYMMETRIC);
    assert_status(*state, SPRY_STATUS_BAD_INPUT, spry_matrix_cast(A, SPRY_TYPE_D, &B));
    assert_string_equal(spry_message(*state),
                        "row 1, column 0 (from 0): (2, 1) does not fit type d");
    assert_status(*state, SPRY_STATUS_BAD_USAGE, spry_matrix_cast(A, (spry_type)4, &B));
    support_put(A, 1, (spry_scalar){2, 1e39});
    assert_status(*state, SPRY_STATUS_BAD_INPUT, spry_matrix_cast(A, SPRY_TYPE_C, &B));
    assert_string_equal(spry_message(*state),
                        "row 1, column 0 (from 0): (2, 1e+39) does not fit type c");
    spry_matrix_free(A);
}

static void wrong_permutations_are_refused(void **state)
{
    spry_matrix *A = example(*state, SPRY_TYPE_S), *B;
    assert_status(*state, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_permute(A, (int32_t[]){0, 1, 3}, NULL, &B));
    assert_null(B);
    assert_string_equal(spry_message(*state), "row_perm[2] is 3, which is outside 0..2");
    assert_status(*state, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_permute(A, NULL, (int32_t[]){0, 2, 1, 2}, &B));
    assert_string_equal(spry_message(*state), "col_perm is not a permutation: 2 is at 1 and at 3");
    spry_matrix_free(A);
}

static void permuted_places(void **state)
{
    spry_matrix *A = example(*state, SPRY_TYPE_D), *B;
    assert_ok(*state, spry_matrix_permute(A, (int32_t[]){2, 0, 1}, (int32_t[]){3, 2, 1, 0}, &B));
    /* row 0 is row 2 backwards: 5 . 1+3 3; row 1 is row 0 backwards: . 2 . 1 */
    expect(B, NULL, (int32_t[]){0, 0, 0, 0, 1, 1}, (int32_t[]){0, 2, 2, 3, 1, 3},
           (double[]){5, 1, 3, 3, 2, 1});
    spry_matrix_free(B);
    spry_matrix_free(A);
}

static void diagonal_of_rectangles(void **state)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        const spry_arrays a = {.type = SPRY_TYPE_D,
                               .format = SPRY_FORMAT_COO,
                               .rows = 4,
                               .cols = 3,
                               .nnz = 5,
                               .row_index = (int32_t[]){2, 0, 3, 2, 0},
                               .col_index = (int32_t[]){2, 1, 0, 2, 0},
                               .values = (double[]){1, 2, 4, 8, 16}};
        spry_matrix *coo, *A;
        spry_vector *d;
        assert_ok(*state, spry_matrix_new(*state, &a, SPRY_OWN_COPY, &coo));
        assert_ok(*state, spry_matrix_convert(coo, (spry_format)format, &A));
        assert_ok(*state, spry_matrix_diagonal(A, &d));
        assert_int_equal(spry_vector_size(d), 3);
        assert_memory_equal(spry_vector_data_const(d), ((double[]){16, 0, 9}), 3 * sizeof(double));
        spry_vector_free(d);
        spry_matrix_free(A);
        spry_matrix_free(coo);
    }
}

/* A share has the arrays of its matrix as they are, not as they were: those may have been freed. */
static void shares_follow(void **state)
{
    static double numbers[] = {7, 8, 9};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 2, 0, 3}), *B, *C,
                *copy = NULL;
    spry_arrays shown = SPRY_ARRAYS_INIT;
    spry_operator *op = NULL;
    spry_vector *d = NULL, *x = NULL, *y = NULL;
    assert_ok(ctx, spry_matrix_share(ctx, A, &B));
    assert_ok(ctx, spry_matrix_share(ctx, B, &C));
    assert_int_equal(spry_matrix_nnz(C), 3);
    assert_ok(ctx, spry_matrix_set_values(A, numbers, SPRY_OWN_BORROW)); /* frees its own */
    assert_ok(ctx, spry_matrix_arrays(C, &shown));
    assert_ptr_equal(shown.values, numbers);
    assert_ok(ctx, spry_matrix_set_values(A, (double[]){4, 5, 6}, SPRY_OWN_COPY));
    assert_ok(ctx, spry_operator_from_matrix(C, NULL, "ell", &op));
    assert_ok(ctx, spry_vector_ones(ctx, C, &x));
    assert_ok(ctx, spry_vector_zeros(ctx, C, &y));
    assert_ok(ctx, spry_operator_apply(op, x, y));
    assert_true(value_get(SPRY_TYPE_D, y->data, 0).re == 9);
    assert_ok(ctx, spry_matrix_set_values(A, numbers, SPRY_OWN_BORROW));
    assert_false(spry_operator_is_current(op));
    assert_ok(ctx, spry_operator_update(op, C));
    assert_ok(ctx, spry_operator_apply(op, x, y));
    assert_true(value_get(SPRY_TYPE_D, y->data, 0).re == 15);
    assert_ok(ctx, spry_matrix_set_values(A, (double[]){4, 5, 6}, SPRY_OWN_COPY));
    assert_ok(ctx, spry_matrix_diagonal(B, &d));
    assert_true(value_get(SPRY_TYPE_D, d->data, 1).re == 6);
    assert_ok(ctx, spry_matrix_set_values(A, numbers, SPRY_OWN_BORROW));
    assert_ok(ctx, spry_matrix_transpose(B, false, &copy));
    assert_true(value_get(SPRY_TYPE_D, copy->a.values, 0).re == 7);
    spry_vector_free(d);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(op);
    spry_matrix_free(copy);
    spry_matrix_free(C);
    spry_matrix_free(B);
    spry_matrix_free(A);
}

/* Every number once, in the order of multiples of a prime, sorted and half sorted. */
static void columns_of_rows(void **state)
{
    (void)state;
    enum { STEP = 40009, SMALL = 300, LARGE = 200000 };
    int32_t *columns = malloc(LARGE * sizeof *columns);
    for (int64_t n = 0; n <= SMALL + 3; n++) {
        const int64_t sizes[] = {4000, 30000, LARGE}, count = n > SMALL ? sizes[n - SMALL - 1] : n;
        for (int64_t k = 0; k < count; k++)
            columns[k] = (int32_t)(k * STEP % count);
        for (int round = 0; round < 2; round++) {
            matrix_sort_columns(columns, count);
            for (int64_t k = 0; k < count; k++)
                assert_int_equal(columns[k], k);
            for (int64_t k = 0; k + 1 < count; k += 7) {
                columns[k] = (int32_t)(k + 1);
                columns[k + 1] = (int32_t)k;
            }
        }
    }
    free(columns);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conversion_keeps_the_order_of_entries),
        TEST(sorting_and_summing),
        TEST(becoming_keeps_arrays),
        TEST(implied_triangles_are_written_out),
        TEST(numbers_that_do_not_fit_are_refused),
        TEST(wrong_permutations_are_refused),
        TEST(permuted_places),
        TEST(diagonal_of_rectangles),
        TEST(shares_follow),
        cmocka_unit_test(columns_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
