/* Making matrices of arrays: who owns what, and which arrays are refused with which words. */
#include "support/support.h"

#include "matrix/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* [1 0 2; 0 0 3] */
static const int64_t offsets_23[] = {0, 2, 3};
static const int32_t columns_23[] = {0, 2, 2};
static const double values_23[] = {1, 2, 3};

static void names_are_words(void **state)
{
    (void)state;
    assert_string_equal(spry_format_name(SPRY_FORMAT_COO), "coo");
    assert_string_equal(spry_format_name(SPRY_FORMAT_CSC), "csc");
    assert_string_equal(spry_format_name((spry_format)77), "unknown");
    assert_string_equal(spry_symmetry_name(SPRY_SYMMETRY_GENERAL), "general");
    assert_string_equal(spry_symmetry_name(SPRY_SYMMETRY_SKEW), "skew-symmetric");
    assert_string_equal(spry_symmetry_name((spry_symmetry)-1), "unknown");
}

static void shape_is_as_given(void **state)
{
    spry_matrix *A;
    assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_D, 2, 3, offsets_23, columns_23,
                                           values_23, SPRY_OWN_COPY, &A));
    assert_int_equal(spry_matrix_rows(A), 2);
    assert_int_equal(spry_matrix_cols(A), 3);
    assert_int_equal(spry_matrix_nnz(A), 3);
    assert_int_equal(spry_matrix_type(A), SPRY_TYPE_D);
    assert_int_equal(spry_matrix_format(A), SPRY_FORMAT_CSR);
    assert_int_equal(spry_matrix_symmetry(A), SPRY_SYMMETRY_GENERAL);
    const matrix_arrays a = A->a;
    assert_ptr_not_equal(a.offsets, offsets_23);
    assert_memory_equal(a.offsets, offsets_23, sizeof offsets_23);
    assert_memory_equal(a.col_index, columns_23, sizeof columns_23);
    assert_memory_equal(a.values, values_23, sizeof values_23);
    assert_null(a.row_index);
    spry_matrix_free(A);
    spry_matrix_free(NULL);
}

static void taken_arrays_are_freed_or_left(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A;
    int64_t *offsets = spry_alloc(ctx, sizeof offsets_23);
    int32_t *columns = spry_alloc(ctx, sizeof columns_23);
    double *values = spry_alloc(ctx, sizeof values_23);
    memcpy(offsets, offsets_23, sizeof offsets_23);
    memcpy(columns, columns_23, sizeof columns_23);
    memcpy(values, values_23, sizeof values_23);
    columns[2] = 3; /* refused: the arrays are still ours */
    assert_status(
        ctx, SPRY_STATUS_BAD_INPUT,
        spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, offsets, columns, values, SPRY_OWN_TAKE, &A));
    assert_null(A);
    columns[2] = 2;
    base_fail_allocation(ctx, 1, false); /* so are they when there is no memory for the object */
    assert_status(
        ctx, SPRY_STATUS_NO_MEMORY,
        spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, offsets, columns, values, SPRY_OWN_TAKE, &A));
    assert_null(A);
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, offsets, columns, values,
                                        SPRY_OWN_TAKE, &A));
    assert_ptr_equal(A->a.values, values);
    spry_matrix_free(A); /* teardown finds memory that was not freed */
}

/* Sorting and summing change a matrix, never the arrays it borrowed. */
static void borrowed_arrays_stay_as_they_are(void **state)
{
    const int64_t offsets[] = {0, 4, 4};
    const int32_t columns[] = {2, 0, 2, 1};
    const double values[] = {1, 2, 4, 8};
    spry_matrix *A;
    for (int sum = 0; sum < 2; sum++) {
        assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_D, 2, 3, offsets, columns, values,
                                               SPRY_OWN_BORROW, &A));
        assert_ptr_equal(A->a.values, values);
        assert_ok(*state, sum ? spry_matrix_sum_duplicates(A) : spry_matrix_sort(A));
        const matrix_arrays a = A->a;
        assert_ptr_not_equal(a.values, values);
        if (sum) {
            assert_int_equal(a.nnz, 3);
            assert_memory_equal(a.offsets, ((int64_t[]){0, 3, 3}), 3 * sizeof(int64_t));
            assert_memory_equal(a.col_index, ((int32_t[]){0, 1, 2}), 3 * sizeof(int32_t));
            assert_memory_equal(a.values, ((double[]){2, 8, 5}), 3 * sizeof(double));
        } else {
            assert_memory_equal(a.col_index, ((int32_t[]){0, 1, 2, 2}), 4 * sizeof(int32_t));
            assert_memory_equal(a.values, ((double[]){2, 8, 1, 4}), 4 * sizeof(double));
        }
        spry_matrix_free(A);
        assert_memory_equal(columns, ((int32_t[]){2, 0, 2, 1}), sizeof columns);
        assert_memory_equal(values, ((double[]){1, 2, 4, 8}), sizeof values);
    }
}

/* A file's pages are read-only: a change must move the matrix into memory of its own first. */
static void mapped_arrays_are_left_and_unmapped(void **state)
{
    const size_t page = 4096;
    for (int change = 0; change < 2; change++) {
        char *pages = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(pages, MAP_FAILED);
        int64_t *offsets = (int64_t *)(void *)pages;
        int32_t *columns = (int32_t *)(void *)(pages + 64);
        double *values = (double *)(void *)(pages + 128);
        memcpy(offsets, offsets_23, sizeof offsets_23);
        memcpy(columns, ((int32_t[]){2, 0, 1}), 3 * sizeof *columns);
        memcpy(values, values_23, sizeof values_23);
        assert_int_equal(mprotect(pages, page, PROT_READ), 0);
        spry_matrix *A;
        assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_D, 2, 3, offsets, columns, values,
                                               SPRY_OWN_BORROW, &A));
        A->mapping = pages;
        A->mapping_bytes = page;
        if (change) {
            assert_ok(*state, spry_matrix_sort(A));
            assert_null(A->mapping);
            assert_memory_equal(A->a.col_index, ((int32_t[]){0, 2, 1}), 3 * sizeof(int32_t));
        }
        spry_matrix_free(A);
        assert_int_not_equal(msync(pages, page, MS_ASYNC), 0); /* no longer mapped */
    }
}

static void empty_shapes_work(void **state)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}};
    const int64_t zeros[6] = {0};
    for (int s = 0; s < 3; s++) {
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
            spry_arrays a = {.type = SPRY_TYPE_Z,
                             .format = (spry_format)format,
                             .rows = shapes[s][0],
                             .cols = shapes[s][1]};
            if (format != SPRY_FORMAT_COO)
                a.offsets = (int64_t *)zeros;
            spry_matrix *A, *B, *C;
            assert_ok(*state, spry_matrix_new(*state, &a, SPRY_OWN_COPY, &A));
            for (int to = SPRY_FORMAT_COO; to <= SPRY_FORMAT_CSC; to++) {
                assert_ok(*state, spry_matrix_convert(A, (spry_format)to, &B));
                assert_ok(*state, spry_matrix_sum_duplicates(B));
                assert_ok(*state, spry_matrix_convert(B, (spry_format)format, &C));
                support_same_arrays(A, C);
                spry_matrix_free(B);
                spry_matrix_free(C);
            }
            assert_ok(*state, matrix_check_values(A));
            spry_matrix_free(A);
        }
    }
}

static void expect_refusal(spry_context *ctx, const spry_arrays *a, spry_status status,
                           const char *message)
{
    for (int own = SPRY_OWN_BORROW; own <= SPRY_OWN_TAKE; own++) {
        spry_matrix *A = (spry_matrix *)ctx;
        assert_status(ctx, status, spry_matrix_new(ctx, a, (spry_own)own, &A));
        assert_null(A);
        assert_string_equal(spry_message(ctx), message);
    }
}

static spry_arrays csr_23(void)
{
    return (spry_arrays){.type = SPRY_TYPE_D,
                         .format = SPRY_FORMAT_CSR,
                         .rows = 2,
                         .cols = 3,
                         .nnz = 3,
                         .offsets = (int64_t *)offsets_23,
                         .col_index = (int32_t *)columns_23,
                         .values = (double *)values_23};
}

static void wrong_headers_are_refused(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_new(ctx, NULL, SPRY_OWN_COPY, &A));
    assert_string_equal(spry_message(ctx), "spry_matrix_new: arrays is NULL");
    spry_arrays a = csr_23();
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_new(ctx, &a, (spry_own)9, &A));
    assert_string_equal(spry_message(ctx), "own is 9, expected borrow, copy or take");
    a.type = (spry_type)4;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_USAGE, "type is 4, expected s, d, c or z");
    a = csr_23();
    a.format = (spry_format)3;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_USAGE, "format is 3, expected coo, csr or csc");
    a = csr_23();
    a.symmetry = (spry_symmetry)5;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_USAGE,
                   "symmetry is 5, expected general, symmetric, skew-symmetric or hermitian");
    a = csr_23();
    a.rows = INT64_C(2147483648);
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_INPUT, "rows is 2147483648, expected 0..2147483647");
    a = csr_23();
    a.cols = -1;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_INPUT, "cols is -1, expected 0..2147483647");
    a = csr_23();
    a.nnz = -3;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_INPUT, "nnz is -3, expected 0 or more");
    a = csr_23();
    a.symmetry = SPRY_SYMMETRY_SYMMETRIC;
    expect_refusal(ctx, &a, SPRY_STATUS_BAD_INPUT,
                   "a symmetric matrix must be square, but this one is 2 x 3");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_matrix_from_csr(ctx, SPRY_TYPE_D, 2, 3, NULL, columns_23, values_23,
                                       SPRY_OWN_COPY, &A));
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_from_csr(ctx, SPRY_TYPE_D, INT64_MAX, 3, offsets_23, columns_23,
                                       values_23, SPRY_OWN_COPY, &A));
}

static void missing_and_extra_arrays_are_refused(void **state)
{
    spry_arrays a = csr_23();
    a.offsets = NULL;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_USAGE,
                   "offsets is NULL, which the format csr needs");
    a = csr_23();
    a.values = NULL;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_USAGE, "values is NULL, which the format csr needs");
    a = csr_23();
    a.col_index = NULL;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_USAGE,
                   "col_index is NULL, which the format csr needs");
    a = csr_23();
    a.row_index = (int32_t *)columns_23;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_USAGE,
                   "row_index is not NULL, but the format csr has none");
    a = csr_23();
    a.format = SPRY_FORMAT_COO;
    a.row_index = (int32_t *)columns_23;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_USAGE,
                   "offsets is not NULL, but the format coo has none");
}

static void wrong_offsets_are_refused(void **state)
{
    spry_arrays a = csr_23();
    a.offsets = (int64_t[]){1, 2, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "offsets[0] is 1, expected 0");
    a.offsets = (int64_t[]){0, 4, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "row 1: offsets fall from 4 to 3");
    a.offsets = (int64_t[]){0, -1, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "row 0: offsets fall from 0 to -1");
    a.offsets = (int64_t[]){0, 2, 2};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "offsets end with 2, expected nnz, which is 3");
    a.offsets = (int64_t[]){0, 2, INT64_MAX};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "offsets end with 9223372036854775807, expected nnz, which is 3");
    a = csr_23();
    a.format = SPRY_FORMAT_CSC;
    a.row_index = a.col_index;
    a.col_index = NULL;
    a.offsets = (int64_t[]){0, 2, 1, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "column 1: offsets fall from 2 to 1");
}

static void wrong_entries_are_refused(void **state)
{
    spry_arrays a = csr_23();
    a.col_index = (int32_t[]){0, 2, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 2, row 1: column 3 is outside 0..2");
    a.col_index = (int32_t[]){0, INT32_MIN, 3};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "entry 1, row 0: column -2147483648 is outside 0..2");
    a.format = SPRY_FORMAT_COO;
    a.offsets = NULL;
    a.row_index = (int32_t[]){0, 1, 2};
    a.col_index = (int32_t[]){0, 1, 2};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 2: row 2 is outside 0..1");
    a.row_index = (int32_t[]){0, INT32_MAX, 2};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 1: row 2147483647 is outside 0..1");
    a.rows = 3;
    a.row_index = (int32_t[]){0, 1, 1};
    a.symmetry = SPRY_SYMMETRY_SYMMETRIC;
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "entry 2 at row 1, column 2 lies above the diagonal; a symmetric matrix stores "
                   "the lower triangle");
    a.row_index = (int32_t[]){0, 1, 2};
    a.symmetry = SPRY_SYMMETRY_SKEW;
    a.values = (double[]){0, 2, 1};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "entry 1 at row 1, column 1 is (2, 0), but the diagonal of a skew-symmetric "
                   "matrix is 0");
    a.symmetry = SPRY_SYMMETRY_HERMITIAN;
    a.type = SPRY_TYPE_Z;
    a.values = (double[]){1, 0, 2, 0.5, 3, 0};
    expect_refusal(*state, &a, SPRY_STATUS_BAD_INPUT,
                   "entry 1 at row 1, column 1 is (2, 0.5), but the diagonal of a hermitian matrix "
                   "is real");
}

/* Several faults far apart: threads find theirs at any time, the message is about the first. */
static void the_first_fault_is_named(void **state)
{
    (void)state;
    enum { N = 200000 };
    int32_t *row = calloc(N, sizeof *row), *col = calloc(N, sizeof *col);
    float *values = calloc(N, sizeof *values);
    for (int k = 0; k < N; k++)
        row[k] = col[k] = k % 1000;
    col[199999] = 1000;
    col[150000] = -7;
    row[60001] = 2000;
    col[60003] = 2000;
    values[170000] = NAN;
    values[90909] = -INFINITY;
    spry_arrays a = {.type = SPRY_TYPE_S,
                     .format = SPRY_FORMAT_COO,
                     .rows = 1000,
                     .cols = 1000,
                     .nnz = N,
                     .row_index = row,
                     .col_index = col,
                     .values = values};
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        spry_matrix *A;
        expect_refusal(ctx, &a, SPRY_STATUS_BAD_INPUT, "entry 60001: row 2000 is outside 0..999");
        spry_arrays sound = a;
        sound.rows = sound.cols = 2001;
        col[150000] = 7;
        assert_ok(ctx, spry_matrix_new(ctx, &sound, SPRY_OWN_BORROW, &A));
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, matrix_check_values(A));
        assert_string_equal(spry_message(ctx), "row 909, column 909 (from 0): the value is -inf");
        spry_matrix_free(A);
        col[150000] = -7;
        support_context_free(ctx);
    }
    free(row);
    free(col);
    free(values);
}

static void values_are_checked_in_every_type(void **state)
{
    static const char *const found[] = {"the value is nan", "the value is nan",
                                        "the value is (1, nan)", "the value is (1, nan)"};
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_from_rows(*state, support_types[t], 2, 2, (double[]){1, 1, 1, 1});
        assert_ok(*state, matrix_check_values(A));
        const bool complex = spry_type_is_complex(support_types[t]);
        support_put(A, 2, complex ? (spry_scalar){1, NAN} : (spry_scalar){NAN, 0});
        assert_status(*state, SPRY_STATUS_BAD_INPUT, matrix_check_values(A));
        support_message_has(*state, "row 1, column 0 (from 0): ");
        support_message_has(*state, found[t]);
        spry_matrix_free(A);
    }
}

static spry_status make_copy(spry_context *ctx, void *data)
{
    spry_matrix *A;
    const spry_status status = spry_matrix_new(ctx, data, SPRY_OWN_COPY, &A);
    spry_matrix_free(A);
    return status;
}

static void copying_survives_without_memory(void **state)
{
    spry_arrays a = csr_23();
    support_torture(*state, make_copy, &a);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_are_words),
        TEST(shape_is_as_given),
        TEST(taken_arrays_are_freed_or_left),
        TEST(borrowed_arrays_stay_as_they_are),
        TEST(mapped_arrays_are_left_and_unmapped),
        TEST(empty_shapes_work),
        TEST(wrong_headers_are_refused),
        TEST(missing_and_extra_arrays_are_refused),
        TEST(wrong_offsets_are_refused),
        TEST(wrong_entries_are_refused),
        TEST(the_first_fault_is_named),
        TEST(values_are_checked_in_every_type),
        TEST(copying_survives_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
