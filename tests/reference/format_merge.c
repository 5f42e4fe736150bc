/* Formats whose units cut rows: arrays of a small matrix, rows that span several units, empty rows
 * at all places. */
#include "support/layouts.h"

#include "formats/merge/merge.h"
#include "formats/pcsr/pcsr.h"

#include <stdlib.h>

/* The matrix of docs/formats. */
static const double picture[36] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                   3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};

static void test_merge_arrays(void **state)
{
    static const int64_t starts[] = {0, 0, 2, 6, 4, 12, 5, 19, 6, 19};
    static const uint16_t ends[] = {2, 5, 2, 6, 4, 0};
    static const int64_t carry_row[] = {2, 0, 5, 0}, carry_at[] = {0, 1, 1, 2, 2};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "merge:items=8", &L));
    assert_int_equal(L->units, 4);
    assert_int_equal(L->stored, 19);
    assert_memory_equal(L->array[MERGE_VALUES].data, A->a.values, 19 * sizeof(double));
    assert_memory_equal(L->array[MERGE_COLUMNS].data, A->a.col_index, 19 * sizeof(int32_t));
    assert_memory_equal(L->array[MERGE_STARTS].data, starts, sizeof starts);
    assert_memory_equal(L->array[MERGE_ENDS].data, ends, sizeof ends);
    assert_memory_equal(L->carry_row, carry_row, sizeof carry_row);
    assert_memory_equal(L->carry_at, carry_at, sizeof carry_at);
    layout_free(L);
    layouts_check(ctx, A, "merge:items=8");
    spry_matrix_free(A);
}

static void test_pcsr_arrays(void **state)
{
    static const double values[] = {10, -2, 3, 9, 3, 0,  7, 8, 7,  0, 3, 8,
                                    7,  5,  8, 9, 9, 13, 4, 2, -1, 0, 0, 0};
    static const int32_t columns[] = {0, 4, 0, 1, 5, 5, 1, 2, 3, 3, 0, 2,
                                      3, 4, 1, 3, 4, 5, 1, 4, 5, 5, 0, 0};
    static const uint16_t ends[] = {1, 3, 5, 7, 9, 11};
    static const int64_t firsts[] = {0, 6};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "pcsr:block=8,pad=2", &L));
    assert_int_equal(L->units, 1);
    assert_int_equal(L->stored, 24);
    assert_memory_equal(L->array[PCSR_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[PCSR_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[PCSR_ENDS].data, ends, sizeof ends);
    assert_memory_equal(L->array[PCSR_FIRSTS].data, firsts, sizeof firsts);
    assert_int_equal(L->carry_at[1], 0);
    layout_free(L);
    layouts_check(ctx, A, "pcsr:block=8,pad=2");
    spry_matrix_free(A);
}

static void test_pcsr_refuses(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    layout_forecast f;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, layout_build(A, "pcsr:block=256,pad=3", &L));
    support_message_has(ctx, "block=256 is not a multiple of pad=3");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, layout_estimate(A, "pcsr:block=256,pad=3", &f));
    spry_matrix_free(A);
}

/* Rows of these lengths, type t. */
static spry_matrix *from_lengths(spry_context *ctx, spry_type type, int64_t rows,
                                 const int64_t *lengths)
{
    matrix_arrays a = {.type = type, .format = SPRY_FORMAT_CSR, .rows = rows, .cols = 1};
    for (int64_t i = 0; i < rows; i++) {
        a.nnz += lengths[i];
        a.cols = lengths[i] + 2 > a.cols ? lengths[i] + 2 : a.cols;
    }
    assert_ok(ctx, matrix_allocate(ctx, &a));
    a.offsets[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        a.offsets[i + 1] = a.offsets[i] + lengths[i];
        for (int64_t k = 0; k < lengths[i]; k++)
            a.col_index[a.offsets[i] + k] = (int32_t)(k + i % 3);
    }
    for (int64_t k = 0; k < a.nnz; k++)
        value_set(type, a.values, k, support_number(type, 6, (uint64_t)k));
    spry_matrix *A = NULL;
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    return A;
}

/* Ends of rows, of units and of the matrix that fall together or not; rows over several units. */
static void test_cuts(void **state)
{
    static const int64_t lengths[][12] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},    {4096, 0, 0, 4096, 0, 0, 0, 0, 0, 0, 0, 0},
        {0, 0, 9000, 1, 0, 3, 0, 0, 4, 5, 7, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
        {4095, 1, 1, 4094, 5, 0, 0, 0, 0, 0},    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8193},
        {7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},    {12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12}};
    static const char *const specs[] = {"merge:items=8",      "merge:items=9",
                                        "merge:items=65535",  "merge",
                                        "pcsr:block=8,pad=1", "pcsr:block=1020,pad=3",
                                        "pcsr:block=8,pad=8", "pcsr:block=1024,pad=16"};
    spry_context *ctx = *state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        spry_matrix *A = from_lengths(ctx, support_types[i % 4], 12, lengths[i]);
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
            layouts_check(ctx, A, specs[k]);
        spry_matrix_free(A);
    }
}

/* A row over three units: two carry, the last sets it. */
static void test_carries(void **state)
{
    static const int64_t lengths[] = {3, 10000, 2};
    spry_context *ctx = *state;
    spry_matrix *A = from_lengths(ctx, SPRY_TYPE_D, 3, lengths);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "pcsr", &L));
    assert_int_equal(L->units, 3);
    assert_int_equal(L->carry_at[3], 2);
    assert_int_equal(L->carry_row[0], 1);
    assert_int_equal(L->carry_row[1], 1);
    const int64_t *firsts = L->array[PCSR_FIRSTS].data;
    assert_int_equal(firsts[1], 1);
    assert_int_equal(firsts[2], 1);
    assert_int_equal(firsts[3], 3);
    layout_free(L);
    assert_ok(ctx, layout_build(A, "merge:items=4000", &L));
    assert_int_equal(L->units, 3);
    assert_int_equal(L->carry_at[3], 2);
    assert_int_equal(L->carry_row[1], 1);
    layout_free(L);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_merge_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pcsr_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pcsr_refuses, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_cuts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_carries, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
