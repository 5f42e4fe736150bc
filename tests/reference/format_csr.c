/* CSR with short offsets, short values and short columns: arrays of a small matrix, rows that reach
 * as far as 16 bits and farther, groups with columns of 32 bits. */
#include "support/layouts.h"

#include "formats/csr/csr.h"
#include "formats/csr16/csr16.h"
#include "host/walk.h"

#include <stdlib.h>

/* The matrix of docs/formats. */
static const double picture[36] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                   3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};
static const double values[] = {10, -2, 3, 9, 3, 7, 8, 7, 3, 8, 7, 5, 8, 9, 9, 13, 4, 2, -1};

static void test_arrays(void **state)
{
    static const int32_t columns[] = {0, 4, 0, 1, 5, 1, 2, 3, 0, 2, 3, 4, 1, 3, 4, 5, 1, 4, 5};
    static const uint32_t ends[] = {2, 5, 8, 12, 16, 19};
    static const int64_t starts[] = {0, 19};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "csr", &L));
    assert_int_equal(L->units, 1);
    assert_int_equal(L->stored, 19);
    assert_memory_equal(L->array[CSR_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[CSR_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[CSR_ENDS].data, ends, sizeof ends);
    assert_memory_equal(L->array[CSR_STARTS].data, starts, sizeof starts);
    assert_true(L->exact);
    layout_free(L);
    spry_matrix_free(A);
}

static void test_arrays_16(void **state)
{
    static const uint16_t codes[] = {0, 4, 0, 1, 5, 0, 1, 2, 0, 2, 3, 4, 0, 2, 3, 4, 0, 3, 4, 0};
    static const csr16_part parts[] = {{2, 0}, {5, 0}, {8, 1}, {12, 0}, {16, 1}, {19, 1}};
    static const int64_t starts[] = {0, 0, 0, 19, 20, 6};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "csr16", &L));
    assert_int_equal(L->stored, 19);
    assert_memory_equal(L->array[CSR16_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[CSR16_CODES].data, codes, sizeof codes);
    assert_memory_equal(L->array[CSR16_PARTS].data, parts, sizeof parts);
    assert_memory_equal(L->array[CSR16_STARTS].data, starts, sizeof starts);
    layout_free(L);
    spry_matrix_free(A);
}

/* A matrix of type d with `rows` rows of the columns from first[i] to first[i + 1] - 1. */
static spry_matrix *from_columns(spry_context *ctx, int64_t rows, int64_t cols,
                                 const int64_t *first, const int32_t *columns)
{
    spry_matrix *A = NULL;
    double *numbers = malloc((size_t)(first[rows] + 1) * sizeof *numbers);
    for (int64_t k = 0; k < first[rows]; k++)
        numbers[k] = support_number(SPRY_TYPE_D, 5, (uint64_t)k).re;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, rows, cols, first, columns, numbers,
                                        SPRY_OWN_COPY, &A));
    free(numbers);
    return A;
}

/* Rows that reach exactly as far as a code can, one farther, and very far; enough short rows with
 * them to keep the group's columns at 16 bits. */
static void test_reach(void **state)
{
    enum { SHORT = 90, LENGTH = 8, FAR = 2000000000 };
    static const int32_t special[] = {
        0,     65535, 65536, 65537, /* the third begins a part */
        0,     1,     2,     3,
        65538, 65539, 65540, /* the fifth is as far as can be from the 4th */
        5,     FAR};
    static const int64_t ends[] = {0, 4, 11, 11, 13}; /* an empty row among them */
    static const csr16_part parts[] = {{2, ~0}, {4, 65536}, {9, ~0},  {11, 65539},
                                       {11, 0}, {12, ~5},   {13, FAR}};
    static const uint16_t codes[] = {0, 65535, 0, 1, 0, 1, 2, 3, 65535, 0, 1, 0, 0};
    spry_context *ctx = *state;
    int64_t first[4 + SHORT + 1];
    int32_t columns[13 + SHORT * LENGTH];
    memcpy(first, ends, sizeof ends);
    memcpy(columns, special, sizeof special);
    for (int i = 0; i < SHORT; i++) {
        for (int k = 0; k < LENGTH; k++)
            columns[13 + i * LENGTH + k] = FAR - 100000 + i + 10000 * k;
        first[4 + i + 1] = 13 + (i + 1) * LENGTH;
    }
    spry_matrix *A = from_columns(ctx, 4 + SHORT, FAR + 1, first, columns), *back = NULL;
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "csr16", &L));
    assert_int_equal(L->array[CSR16_PARTS].count, 7 + SHORT);
    assert_memory_equal(L->array[CSR16_PARTS].data, parts, sizeof parts);
    assert_memory_equal(L->array[CSR16_CODES].data, codes, sizeof codes);
    assert_ok(ctx, layout_to_csr(L, &back));
    support_same_arrays(A, back);
    layout_free(L);
    spry_matrix_free(back);
    spry_matrix_free(A);
}

/* Groups of all kinds in one matrix: simple, with rows of two parts, with columns of 32 bits. */
static int32_t kind_column(int row, int k)
{
    switch (row / CSR16_GROUP) {
    case 1: /* the 34th is far from the others */
        return row + k + (k >= 33 ? 400000 : 0);
    case 2: /* no four fit */
        return row + 22000 * k;
    default: /* more than 65535 columns, but four always fit */
        return row + 12000 * k;
    }
}

static void test_kinds_of_groups(void **state)
{
    enum { ROWS = 3 * CSR16_GROUP + 7, COLS = 900000, LENGTH = 40 };
    static const int64_t parts[] = {CSR16_GROUP, 2 * CSR16_GROUP, CSR16_GROUP, 7};
    spry_context *ctx = *state;
    int64_t first[ROWS + 1];
    int32_t *columns = malloc(ROWS * LENGTH * sizeof *columns);
    for (int i = 0; i <= ROWS; i++)
        first[i] = (int64_t)i * LENGTH;
    for (int i = 0; i < ROWS * LENGTH; i++)
        columns[i] = kind_column(i / LENGTH, i % LENGTH);
    spry_matrix *A = from_columns(ctx, ROWS, COLS, first, columns);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "csr16", &L));
    const int64_t *starts = L->array[CSR16_STARTS].data;
    for (int g = 0; g < 4; g++) {
        assert_int_equal(csr16_wide(starts + (ptrdiff_t)g * CSR16_STEP), g == 2);
        assert_int_equal(starts[(g + 1) * CSR16_STEP + CSR16_PART] -
                             starts[g * CSR16_STEP + CSR16_PART],
                         parts[g]);
    }
    layout_free(L);
    layouts_check(ctx, A, "csr16");
    layouts_check(ctx, A, "csr16:values=bf16");
    spry_matrix_free(A);
    free(columns);
}

/* Without parts the sums are those of CSR, bit by bit, for one column and several. */
static void test_bits_of_csr(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_ONE_ROW, 300, 300, 4000, 9);
        const spry_type type = support_types[t];
        const size_t bytes = 300 * spry_type_size(type);
        void *x = numeric_array(type, 300, 0, 1), *expected = numeric_array(type, 300, 0, 2);
        static const char *const specs[] = {"csr", "csr16"};
        spry_operator *csr = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &csr));
        spry_vector *vx = numeric_vector(ctx, type, 300, x);
        spry_vector *ve = numeric_vector(ctx, type, 300, expected);
        assert_ok(ctx, spry_operator_multiply(csr, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                              (spry_scalar){0, 0}, ve));
        for (int i = 0; i < 2; i++) {
            void *y = numeric_array(type, 300, 0, 3);
            spry_vector *vy = numeric_vector(ctx, type, 300, y);
            spry_operator *op = NULL;
            assert_ok(ctx, host_layout_operator(A, specs[i], &op));
            assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                                  (spry_scalar){0, 0}, vy));
            assert_memory_equal(y, expected, bytes);
            spry_operator_free(op);
            spry_vector_free(vy);
            numeric_free(type, y, 0);
        }
        spry_operator_free(csr);
        spry_vector_free(vx);
        spry_vector_free(ve);
        numeric_free(type, x, 0);
        numeric_free(type, expected, 0);
        spry_matrix_free(A);
    }
}

/* What 16 bits hold exactly is reported as exact. */
static void test_exact(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "csr16:values=bf16", &L));
    assert_true(L->exact);
    assert_string_equal(L->params, "values=bf16");
    layout_free(L);
    support_put(A, 3, (spry_scalar){1.0 / 3, 0});
    assert_ok(ctx, layout_build(A, "csr16:values=bf16", &L));
    assert_false(L->exact);
    layout_free(L);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_arrays_16, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_reach, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kinds_of_groups, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bits_of_csr, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_exact, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
