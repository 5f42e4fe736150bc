/* Arrays as callers have them: every width, base, format and owner gives the same matrix, uses in
 * place what it can, and names faults as the caller counts. */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdlib.h>
#include <string.h>

/* One way to write arrays. */
typedef struct way {
    int offset_bits, index_bits, base;
} way;

static const way ways[] = {{0, 0, 0},   {64, 32, 0}, {32, 0, 0},  {32, 32, 1}, {64, 64, 0},
                           {32, 64, 0}, {0, 32, 1},  {64, 64, 1}, {32, 64, 1}};
enum { WAYS = sizeof ways / sizeof *ways };

/* The numbers as `bits` wide ones, each `base` higher, in memory of the context. */
static void *written(spry_context *ctx, const void *from, bool wide, int64_t n, int bits, int base)
{
    char *to = spry_alloc(ctx, (size_t)n * (size_t)(bits / 8));
    assert_non_null(to);
    for (int64_t k = 0; k < n; k++) {
        const int64_t number =
            base + (wide ? ((const int64_t *)from)[k] : ((const int32_t *)from)[k]);
        const int32_t narrow = (int32_t)number;
        memcpy(to + k * (bits / 8), bits == 64 ? (const void *)&number : &narrow,
               (size_t)(bits / 8));
    }
    return to;
}

/* A's arrays in that way. */
static spry_arrays write_as(spry_context *ctx, const spry_matrix *A, way w)
{
    spry_arrays a = SPRY_ARRAYS_INIT;
    assert_ok(ctx, spry_matrix_arrays(A, &a));
    assert_int_equal(a.size, sizeof a);
    assert_int_equal(a.offset_bits, 64);
    assert_int_equal(a.index_bits, 32);
    assert_int_equal(a.base, 0);
    const int index_bits = w.index_bits ? w.index_bits : 32;
    if (a.offsets)
        a.offsets = written(ctx, a.offsets, true, matrix_major(&A->a) + 1,
                            w.offset_bits ? w.offset_bits : 64, w.base);
    if (a.row_index)
        a.row_index = written(ctx, a.row_index, false, a.nnz, index_bits, w.base);
    if (a.col_index)
        a.col_index = written(ctx, a.col_index, false, a.nnz, index_bits, w.base);
    void *values = spry_alloc(ctx, (size_t)a.nnz * spry_type_size(a.type));
    memcpy(values, a.values, (size_t)a.nnz * spry_type_size(a.type));
    a.values = values;
    a.offset_bits = w.offset_bits;
    a.index_bits = w.index_bits;
    a.base = w.base;
    return a;
}

static void free_arrays(spry_context *ctx, const spry_arrays *a)
{
    spry_free(ctx, a->offsets);
    spry_free(ctx, a->row_index);
    spry_free(ctx, a->col_index);
    spry_free(ctx, a->values);
}

/* What borrowed arrays must be used in place, and nothing else. */
static void check_places(const spry_matrix *B, const spry_arrays *a, way w, spry_own own)
{
    const bool same_offsets = w.offset_bits != 32 && w.base == 0 && own != SPRY_OWN_COPY;
    const bool same_indices = w.index_bits != 64 && w.base == 0 && own != SPRY_OWN_COPY;
    if (a->offsets)
        assert_int_equal((void *)B->a.offsets == a->offsets, same_offsets);
    if (a->row_index)
        assert_int_equal((void *)B->a.row_index == a->row_index, same_indices);
    if (a->col_index)
        assert_int_equal((void *)B->a.col_index == a->col_index, same_indices);
    assert_int_equal(B->a.values == a->values, own != SPRY_OWN_COPY);
}

static void all_ways_give_the_same_matrix(void **state)
{
    spry_context *ctx = *state;
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
        for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_SYMMETRIC; symmetry++)
            for (int k = 0; k < WAYS; k++)
                for (int own = SPRY_OWN_BORROW; own <= SPRY_OWN_TAKE; own++) {
                    const support_recipe recipe = {.type = support_types[k % 4],
                                                   .format = (spry_format)format,
                                                   .symmetry = (spry_symmetry)symmetry,
                                                   .rows = 40,
                                                   .cols = 40,
                                                   .nnz = 300,
                                                   .seed = 5};
                    spry_matrix *A = support_matrix(ctx, &recipe), *B;
                    const spry_arrays a = write_as(ctx, A, ways[k]);
                    assert_ok(ctx, spry_matrix_new(ctx, &a, (spry_own)own, &B));
                    support_same_arrays(A, B);
                    if (own != SPRY_OWN_TAKE) /* freed memory may be given out again */
                        check_places(B, &a, ways[k], (spry_own)own);
                    assert_ok(ctx, spry_matrix_sum_duplicates(B)); /* borrowed ones stay */
                    assert_ok(ctx, spry_matrix_sum_duplicates(A));
                    support_same_arrays(A, B);
                    spry_matrix_free(B);
                    if (own != SPRY_OWN_TAKE)
                        free_arrays(ctx, &a);
                    spry_matrix_free(A);
                }
}

/* [1 0 2; 0 0 3], counted from 1. */
static const int32_t offsets_23[] = {1, 3, 4};
static const int64_t columns_23[] = {1, 3, 3};
static const double values_23[] = {1, 2, 3};

static spry_arrays fortran_23(void)
{
    return (spry_arrays){.type = SPRY_TYPE_D,
                         .format = SPRY_FORMAT_CSR,
                         .rows = 2,
                         .cols = 3,
                         .nnz = 3,
                         .offsets = (int32_t *)offsets_23,
                         .col_index = (int64_t *)columns_23,
                         .values = (double *)values_23,
                         .offset_bits = 32,
                         .index_bits = 64,
                         .base = 1};
}

static void refused(spry_context *ctx, const spry_arrays *a, spry_status status,
                    const char *message)
{
    for (int own = SPRY_OWN_BORROW; own <= SPRY_OWN_TAKE; own++) {
        spry_matrix *A = (spry_matrix *)ctx;
        assert_status(ctx, status, spry_matrix_new(ctx, a, (spry_own)own, &A));
        assert_null(A);
        assert_string_equal(spry_message(ctx), message);
    }
}

static void widths_and_bases_are_checked(void **state)
{
    spry_arrays a = fortran_23();
    a.offset_bits = 16;
    refused(*state, &a, SPRY_STATUS_BAD_USAGE, "offset_bits is 16, expected 32 or 64");
    a = fortran_23();
    a.index_bits = 8;
    refused(*state, &a, SPRY_STATUS_BAD_USAGE, "index_bits is 8, expected 32 or 64");
    a = fortran_23();
    a.base = 2;
    refused(*state, &a, SPRY_STATUS_BAD_USAGE, "base is 2, expected 0 or 1");
}

static void offsets_are_reported_as_given(void **state)
{
    spry_arrays a = fortran_23();
    a.offsets = (int32_t[]){0, 2, 3};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "offsets[0] is 0, expected 1");
    a.offsets = (int32_t[]){1, 4, 3};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "row 2: offsets fall from 4 to 3");
    a.offsets = (int32_t[]){1, INT32_MIN, 4};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "row 1: offsets fall from 1 to -2147483648");
    a.offsets = (int32_t[]){1, 3, 5};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "offsets end with 5, expected nnz + 1, which is 4");
    a.offset_bits = 64;
    a.offsets = (int64_t[]){1, INT64_MAX, 4};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "row 2: offsets fall from 9223372036854775807 to 4");
    a.offsets = (int64_t[]){INT64_MIN, 3, 4};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "offsets[0] is -9223372036854775808, expected 1");
}

static void indices_are_reported_as_given(void **state)
{
    spry_arrays a = fortran_23();
    a.col_index = (int64_t[]){1, 3, 4};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 3, row 2: column 4 is outside 1..3");
    a.col_index = (int64_t[]){1, 0, 4};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 2, row 1: column 0 is outside 1..3");
    /* 32 bits of these would be 1 and 2. */
    a.col_index = (int64_t[]){1, 3, (INT64_C(1) << 32) + 1};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 3, row 2: column 4294967297 is outside 1..3");
    a.col_index = (int64_t[]){1, INT64_MIN + 2, 3};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT,
            "entry 2, row 1: column -9223372036854775806 is outside 1..3");
    a.base = 0;
    a.offsets = (int32_t[]){0, 2, 3};
    a.col_index = (int64_t[]){0, 2, INT64_C(1) << 31};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 2, row 1: column 2147483648 is outside 0..2");
    a.format = SPRY_FORMAT_COO;
    a.offsets = NULL;
    a.base = 1;
    a.row_index = (int64_t[]){1, INT64_MAX, 2};
    a.col_index = (int64_t[]){1, 2, 3};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT, "entry 2: row 9223372036854775807 is outside 1..2");
    a.rows = 3;
    a.symmetry = SPRY_SYMMETRY_SYMMETRIC;
    a.row_index = (int64_t[]){1, 1, 3};
    refused(*state, &a, SPRY_STATUS_BAD_INPUT,
            "entry 2 at row 1, column 2 lies above the diagonal; a symmetric matrix stores the "
            "lower triangle");
}

/* SciPy's arrays: columns and values in place, offsets widened. */
static void csr_of_32_bits(void **state)
{
    const int32_t offsets[] = {0, 2, 3}, columns[] = {0, 2, 2};
    spry_matrix *A, *B;
    assert_ok(*state, spry_matrix_from_csr32(*state, SPRY_TYPE_D, 2, 3, offsets, columns, values_23,
                                             SPRY_OWN_BORROW, &A));
    assert_ptr_equal(A->a.col_index, columns);
    assert_ptr_equal(A->a.values, values_23);
    assert_int_equal(spry_matrix_nnz(A), 3);
    const spry_arrays a = fortran_23();
    assert_ok(*state, spry_matrix_new(*state, &a, SPRY_OWN_COPY, &B));
    support_same_arrays(A, B);
    spry_matrix_free(A);
    spry_matrix_free(B);
    assert_status(*state, SPRY_STATUS_BAD_USAGE,
                  spry_matrix_from_csr32(*state, SPRY_TYPE_D, 2, 3, NULL, columns, values_23,
                                         SPRY_OWN_COPY, &A));
    assert_null(A);
}

typedef struct job {
    spry_arrays arrays;
    spry_own own;
} job;

static spry_status make(spry_context *ctx, void *data)
{
    const job *j = data;
    spry_matrix *A = NULL;
    const spry_status status = spry_matrix_new(ctx, &j->arrays, j->own, &A);
    spry_matrix_free(A);
    return status;
}

static void each_allocation_may_fail(void **state)
{
    spry_context *ctx = *state;
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
        for (int k = 0; k < WAYS; k++) {
            const support_recipe recipe = {
                .format = (spry_format)format, .rows = 9, .cols = 9, .nnz = 30, .seed = 3};
            spry_matrix *A = support_matrix(ctx, &recipe), *B = NULL;
            job j = {write_as(ctx, A, ways[k]), SPRY_OWN_BORROW};
            support_torture(ctx, make, &j);
            j.own = SPRY_OWN_COPY;
            support_torture(ctx, make, &j);
            /* Arrays that could not be taken are the caller's still, whole. */
            for (int64_t nth = 1; !B; nth++) {
                base_fail_allocation(ctx, nth, true);
                const spry_status status = spry_matrix_new(ctx, &j.arrays, SPRY_OWN_TAKE, &B);
                base_fail_allocation(ctx, 0, false);
                assert_true(status == (B ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY));
            }
            support_same_arrays(A, B);
            spry_matrix_free(A);
            spry_matrix_free(B);
        }
}

/* Long enough for several threads, whose number does not show. */
static void threads_do_not_show(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[t]);
        spry_context *ctx = support_context(options);
        const support_recipe recipe = {.type = SPRY_TYPE_S,
                                       .format = SPRY_FORMAT_CSR,
                                       .rows = 50000,
                                       .cols = 70000,
                                       .nnz = 300000,
                                       .seed = 8};
        spry_matrix *A = support_matrix(ctx, &recipe), *B;
        spry_arrays a = write_as(ctx, A, (way){32, 64, 1});
        assert_ok(ctx, spry_matrix_new(ctx, &a, SPRY_OWN_BORROW, &B));
        support_same_arrays(A, B);
        spry_matrix_free(B);
        int64_t *columns = a.col_index;
        const int64_t entry = 250000;
        columns[entry] = 70001;
        columns[entry + 1000] = -5;
        char message[120];
        int64_t row = 0;
        while (A->a.offsets[row + 1] <= entry)
            row++;
        snprintf(message, sizeof message,
                 "entry %" PRId64 ", row %" PRId64 ": column 70001 is outside 1..70000", entry + 1,
                 row + 1);
        refused(ctx, &a, SPRY_STATUS_BAD_INPUT, message);
        free_arrays(ctx, &a);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_ways_give_the_same_matrix),
        TEST(widths_and_bases_are_checked),
        TEST(offsets_are_reported_as_given),
        TEST(indices_are_reported_as_given),
        TEST(csr_of_32_bits),
        TEST(each_allocation_may_fail),
        TEST(threads_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
