/* Sliced COO: the arrays of a small matrix, groups of columns, heights, products by ranges. */
#include "support/layouts.h"

#include "formats/scoo/scoo.h"
#include "host/walk.h"
#include "matrix/entries.h"

#include <stdlib.h>

/* The matrix of docs/formats. */
static const double picture[36] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                   3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};

static void test_arrays(void **state)
{
    static const double values[] = {10, 3, 9, 7, 8, 7, -2, 3, 3, 8, 4, 8, 7, 9, 5, 9, 2, 13, -1};
    static const uint16_t columns[] = {0, 0, 1, 1, 2, 3, 4, 5, 0, 1, 1, 2, 3, 3, 4, 4, 4, 5, 5};
    static const uint16_t rows[] = {0, 1, 1, 2, 2, 2, 0, 1, 0, 1, 2, 0, 0, 1, 0, 1, 2, 1, 2};
    static const int64_t starts[] = {0, 8, 19}, slices[] = {0, 3, 6};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "scoo:h=3", &L));
    assert_string_equal(L->params, "h=3,columns=16,order=column");
    assert_int_equal(L->unit_rows, 0); /* 3 does not divide 1024 */
    assert_memory_equal(L->array[SCOO_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[SCOO_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[SCOO_ROWS].data, rows, sizeof rows);
    assert_int_equal(L->array[SCOO_STARTS].count, 3);
    assert_memory_equal(L->array[SCOO_STARTS].data, starts, sizeof starts);
    assert_memory_equal(L->array[SCOO_SLICES].data, slices, sizeof slices);
    layout_free(L);
    spry_matrix_free(A);
}

/* Columns in several groups, on both sides of their edges; empty groups; both widths. */
static void test_groups(void **state)
{
    static const int32_t columns[] = {0, 65535, 65536, 65537, 131071, 149999};
    enum { COUNT = sizeof columns / sizeof *columns, ROWS = 9 };
    static const char *const specs[] = {"scoo:columns=16", "scoo:h=2,columns=16",
                                        "scoo:h=4,columns=32", "scoo:h=1", "scoo:columns=32"};
    spry_context *ctx = *state;
    int64_t offsets[ROWS + 1] = {0};
    int32_t col_index[ROWS * COUNT];
    double values[ROWS * COUNT];
    for (int i = 0; i < ROWS; i++) {
        offsets[i + 1] = offsets[i];
        for (int c = i % 3; c < COUNT && i != 4; c += 1 + i % 2) {
            col_index[offsets[i + 1]] = columns[c];
            values[offsets[i + 1]] = support_number(SPRY_TYPE_D, 3, (uint64_t)(8 * i + c)).re;
            offsets[i + 1]++;
        }
    }
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, ROWS, 150000, offsets, col_index, values,
                                        SPRY_OWN_COPY, &A));
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        layouts_check(ctx, A, specs[s]);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "scoo:h=2,columns=16", &L));
    assert_int_equal(L->number[SCOO_GROUPS], 3);
    assert_int_equal(L->array[SCOO_STARTS].count, 5 * 3 + 1);
    layout_free(L);
    assert_ok(ctx, layout_build(A, "scoo:h=2", &L)); /* groups would take more */
    assert_int_equal(L->number[SCOO_WIDE], 1);
    layout_free(L);
    spry_matrix_free(A);
}

/* In the order of rows: the rows of a slice one after the other, group by group. */
static void test_arrays_by_row(void **state)
{
    enum { ROWS = 3, COLS = 40000 }; /* groups of 32,768 columns in d */
    static const int64_t offsets[] = {0, 3, 5, 8}, starts[] = {0, 3, 5, 7, 8}, slices[] = {0, 2, 3};
    static const int32_t index[] = {0, 32767, 32768, 5, 39999, 1, 2, 39999};
    static const double given[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const double values[] = {1, 2, 4, 3, 5, 6, 7, 8};
    static const uint16_t columns[] = {0, 32767, 5, 0, 7231, 1, 2, 7231};
    static const uint16_t rows[] = {0, 0, 1, 0, 1, 0, 0, 0};
    spry_context *ctx = *state;
    int64_t offsets_copy[ROWS + 1];
    int32_t index_copy[8];
    double given_copy[8];
    spry_matrix *A = NULL;
    layout *L = NULL;
    memcpy(offsets_copy, offsets, sizeof offsets);
    memcpy(index_copy, index, sizeof index);
    memcpy(given_copy, given, sizeof given);
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, ROWS, COLS, offsets_copy, index_copy,
                                        given_copy, SPRY_OWN_COPY, &A));
    assert_ok(ctx, layout_build(A, "scoo:h=2,columns=16,order=row", &L));
    assert_string_equal(L->params, "h=2,columns=16,order=row");
    assert_int_equal(L->number[SCOO_BITS], 15);
    assert_int_equal(L->number[SCOO_GROUPS], 2);
    assert_memory_equal(L->array[SCOO_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[SCOO_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[SCOO_ROWS].data, rows, sizeof rows);
    assert_memory_equal(L->array[SCOO_STARTS].data, starts, sizeof starts);
    assert_memory_equal(L->array[SCOO_SLICES].data, slices, sizeof slices);
    layout_free(L);
    spry_matrix_free(A);
}

/* Rows of many lengths in several groups: batches of one row and of several, blocks and what is
 * left of them, groups with fewer entries than lines of x. A wide matrix and a tall one. */
static void test_batches(void **state)
{
    enum { ROWS = 90, COLS = 70000, MOST = ROWS * 1200 };
    spry_context *ctx = *state;
    int64_t *offsets = malloc((ROWS + 1) * sizeof *offsets);
    int32_t *columns = malloc(MOST * sizeof *columns);
    offsets[0] = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t length = i % 30 == 7 ? 1200 : i % 9;
        offsets[i + 1] = offsets[i] + length;
        for (int64_t k = 0; k < length; k++) /* the first half of them close together */
            columns[offsets[i] + k] = (int32_t)(2 * k < length ? 11 * k + i : k * (COLS / length));
    }
    for (int type = SPRY_TYPE_S; type <= SPRY_TYPE_Z; type++) {
        spry_matrix *A = NULL, *T = NULL;
        void *values = numeric_array((spry_type)type, offsets[ROWS], 0, 93);
        assert_ok(ctx, spry_matrix_from_csr(ctx, (spry_type)type, ROWS, COLS, offsets, columns,
                                            values, SPRY_OWN_COPY, &A));
        assert_ok(ctx, spry_matrix_transpose(A, false, &T));
        assert_true(layouts_check(ctx, A, "scoo:columns=16,order=row"));
        assert_true(layouts_check(ctx, A, "scoo:h=64,columns=32,order=row"));
        assert_true(layouts_check(ctx, T, "scoo:columns=16,order=row"));
        spry_matrix_free(A);
        spry_matrix_free(T);
        numeric_free((spry_type)type, values, 0);
    }
    free(offsets);
    free(columns);
}

/* Heavy rows make low slices, light ones high slices; all heights in one matrix. */
static void test_heights(void **state)
{
    enum { N = 40000 };
    spry_context *ctx = *state;
    int64_t *offsets = malloc((N + 1) * sizeof *offsets), k = 0;
    int32_t *columns = malloc(40 * N * sizeof *columns);
    float *values = malloc(40 * N * sizeof *values);
    for (int64_t i = 0; i < N; i++) {
        offsets[i] = k;
        for (int64_t c = 0; c < (i < 2000 ? 40 : i < 20000 ? 6 : 1); c++, k++) {
            columns[k] = (int32_t)(c * 1000 + i % 1000);
            values[k] = (float)support_number(SPRY_TYPE_S, 4, (uint64_t)k).re;
        }
    }
    offsets[N] = k;
    spry_matrix *A = NULL;
    layout *L = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_S, N, N, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    assert_ok(ctx, layout_build(A, "scoo", &L));
    const int64_t *slices = L->array[SCOO_SLICES].data;
    assert_int_equal(slices[1], 512);
    assert_int_equal(slices[L->units - 2] - slices[L->units - 3], 2048);
    for (int64_t s = 0; s + 2 < L->units; s++)
        assert_true(slices[s + 1] - slices[s] <= slices[s + 2] - slices[s + 1] ||
                    s + 3 >= L->units);
    layout_free(L);
    layouts_check(ctx, A, "scoo");
    spry_matrix_free(A);
    free(offsets);
    free(columns);
    free(values);
}

/* Slices that products by ranges of rows can use: their sums need no room of the operator's. */
static void test_ranges(void **state)
{
    enum { N = 5000 };
    spry_context *ctx = *state;
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, N, N, 9 * N, 12);
    spry_operator *op = NULL;
    operator_rows rows = {0};
    double *x = malloc(8 * N * sizeof *x), *y = malloc(N * sizeof *y), *all = malloc(N * sizeof *y);
    for (int k = 0; k < 8 * N; k++)
        x[k] = base_uniform(6, (uint64_t)k);
    assert_ok(ctx, host_layout_operator(A, "scoo:h=512", &op));
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_NO, &rows));
    assert_non_null(rows.run);
    spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, N, x),
                *vy = numeric_vector(ctx, SPRY_TYPE_D, N, all);
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                          (spry_scalar){0, 0}, vy));
    rows.run(&rows, 1024, 4096, x, y);
    assert_memory_equal(y, all + 1024, (4096 - 1024) * sizeof *y);
    double *packed = malloc(8 * N * sizeof *packed);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 8; c++)
            packed[8 * i + c] = c == 2 ? x[i] : 0;
    double *ys[3] = {malloc(N * sizeof *y), malloc(N * sizeof *y), y};
    rows.run_packed(&rows, 4096, N, 2, packed, 3, (void *const *)ys);
    for (int i = 4096; i < N; i++) {
        assert_true(y[i - 4096] == all[i]);
        assert_true(ys[0][i - 4096] == 0);
    }
    spry_vector_free(vx);
    spry_vector_free(vy);
    spry_operator_free(op);
    spry_matrix_free(A);
    free(ys[0]);
    free(ys[1]);
    free(x);
    free(y);
    free(all);
    free(packed);
}

static spry_status use(spry_context *ctx, void *data)
{
    spry_operator *op = NULL;
    spry_status status = host_layout_operator(data, "scoo:h=2", &op);
    (void)ctx;
    spry_operator_free(op);
    op = NULL;
    if (status == SPRY_STATUS_OK)
        status = host_layout_operator(data, "scoo:h=2,order=row", &op);
    spry_operator_free(op);
    return status;
}

static void test_allocations_fail(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 6, 6, picture);
    support_torture(*state, use, A);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_arrays_by_row, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_batches, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_groups, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_heights, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ranges, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_allocations_fail, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
