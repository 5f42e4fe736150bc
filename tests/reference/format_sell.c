/* Slices of rows: arrays of a small matrix, sorted and not, slices of any size, what fill must not
 * do, and columns that fit 16 bits, do not, or need none. */
#include "support/layouts.h"

#include "formats/sell16/sell16.h"
#include "host/walk.h"

#include <math.h>
#include <stdlib.h>

static void test_arrays(void **state)
{
    static const double values[] = {10, 3, -2, 9, 0, 3, 7, 3, 8,  8,  7,
                                    7,  0, 5,  8, 4, 9, 2, 9, -1, 13, 0};
    static const int32_t columns[] = {0, 0, 4, 1, 4, 5, 1, 0, 2, 2, 3,
                                      3, 3, 4, 1, 1, 3, 4, 4, 5, 5, 5};
    static const int64_t offsets[] = {0, 6, 14, 22};
    static const int32_t lengths[] = {2, 3, 3, 4, 4, 3};
    spry_context *ctx = *state;
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sell:C=2", &L));
    assert_string_equal(L->params, "C=2,sigma=1");
    assert_int_equal(L->stored, 22);
    assert_int_equal(L->units, 3);
    assert_int_equal(L->unit_rows, 2);
    assert_memory_equal(L->array[SELL_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[SELL_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[SELL_OFFSETS].data, offsets, sizeof offsets);
    assert_memory_equal(L->array[SELL_LENGTHS].data, lengths, sizeof lengths);
    assert_null(L->array[SELL_ROWS].data);
    assert_null(L->array[SELL_MIXED].data);
    layout_free(L);
    spry_matrix_free(A);
}

/* Longest first, rows of one length in their order; units are windows where those divide 1024. */
static void test_sorted(void **state)
{
    static const int32_t rows[] = {3, 4, 1, 2, 5, 0};
    static const int64_t offsets[] = {0, 8, 14, 20};
    static const int32_t windows[] = {3, 1, 2, 0, 4, 5};
    spry_context *ctx = *state;
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sell:C=2,sigma=7", &L)); /* windows hold whole slices */
    assert_string_equal(L->params, "C=2,sigma=6");
    assert_int_equal(L->unit_rows, 0);
    assert_int_equal(L->units, 3);
    assert_memory_equal(L->array[SELL_ROWS].data, rows, sizeof rows);
    assert_memory_equal(L->array[SELL_OFFSETS].data, offsets, sizeof offsets);
    layout_free(L);
    assert_ok(ctx, layout_build(A, "sell:C=1,sigma=4", &L));
    assert_int_equal(L->unit_rows, 4);
    assert_int_equal(L->units, 2);
    assert_memory_equal(L->array[SELL_ROWS].data, windows, sizeof windows);
    layout_free(L);
    assert_ok(ctx, layout_build(A, "sell:C=4,sigma=7", &L)); /* sorting slices does nothing */
    assert_string_equal(L->params, "C=4,sigma=1");
    layout_free(L);
    spry_matrix_free(A);
}

/* Lengths of one, two and three digits of the sort; windows that end before the matrix. */
static void test_long_sort(void **state)
{
    enum { ROWS = 700, COLS = 70000 };
    spry_context *ctx = *state;
    int64_t *offsets = malloc((ROWS + 1) * sizeof *offsets), nnz = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        offsets[i] = nnz;
        nnz += i % 97 == 5 ? 300 + i : i == 400 ? 66000 : i % 7;
    }
    offsets[ROWS] = nnz;
    int32_t *columns = malloc((size_t)nnz * sizeof *columns);
    float *values = calloc((size_t)nnz, sizeof *values);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
            columns[k] = (int32_t)(k - offsets[i] + i);
    spry_matrix *A = NULL, *back = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_S, ROWS, COLS, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sell:C=4,sigma=600", &L));
    const int32_t *rows = L->array[SELL_ROWS].data;
    assert_int_equal(rows[0], 400);
    for (int i = 1; i < ROWS; i++) {
        const int64_t before = offsets[rows[i - 1] + 1] - offsets[rows[i - 1]];
        const int64_t length = offsets[rows[i] + 1] - offsets[rows[i]];
        if (i != 600)
            assert_true(before > length || (before == length && rows[i - 1] < rows[i]));
    }
    assert_ok(ctx, layout_to_csr(L, &back));
    support_same_arrays(A, back);
    layout_free(L);
    spry_matrix_free(back);
    spry_matrix_free(A);
    free(offsets);
    free(columns);
    free(values);
}

/* Slices that fill registers, do not, and lie across. */
static void test_sizes(void **state)
{
    static const char *const specs[] = {"sell:C=1",
                                        "sell:C=3",
                                        "sell:C=4",
                                        "sell:C=13,sigma=100",
                                        "sell:C=24",
                                        "sell:C=64,sigma=128",
                                        "sell:C=1024,sigma=1000000000",
                                        "sell16:C=1",
                                        "sell16:C=5,values=f16",
                                        "sell16:C=28",
                                        "sell16:C=64,sigma=64",
                                        "sell16:C=64,sigma=256"};
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_sorted(ctx, support_types[t], SUPPORT_UNIFORM, 333, 301, 2000, 5);
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            if (!strstr(specs[i], "values") || t % 2 == 1) /* which is for d and z */
                layouts_check(ctx, A, specs[i]);
        spry_matrix_free(A);
    }
}

/* --- fill ----------------------------------------------------------------------------------------
 */

/* One number of x is NaN: rows with an entry there have it too, and no others, empty ones least. */
static void check_nan(spry_context *ctx, const spry_matrix *A, const char *spec, int64_t where)
{
    const int64_t n = A->a.cols, m = A->a.rows;
    double *x = numeric_array(SPRY_TYPE_D, n, 0, 3), *y = numeric_array(SPRY_TYPE_D, m, 0, 4);
    double *both = calloc((size_t)(2 * (n + m)), sizeof *both);
    spry_operator *op = NULL;
    x[where] = NAN;
    for (int64_t j = 0; j < n; j++)
        both[2 * j] = both[2 * j + 1] = x[j];
    const spry_dense B = {0, n, 2, 2, true, both, NULL}, C = {0, m, 2, 2, true, both + 2 * n, NULL};
    spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, n, x),
                *vy = numeric_vector(ctx, SPRY_TYPE_D, m, y);
    assert_ok(ctx, host_layout_operator(A, spec, &op));
    assert_ok(ctx, spry_operator_apply(op, vx, vy));
    assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, &B,
                                                (spry_scalar){0, 0}, &C));
    for (int64_t i = 0; i < m; i++) {
        bool has = false;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++)
            has = has || A->a.col_index[k] == where;
        if (!!isnan(y[i]) != has || !!isnan(both[2 * n + 2 * i]) != has)
            fail_msg("%s: row %" PRId64 " is %g and %g, x[%" PRId64 "] is NaN", spec, i, y[i],
                     both[2 * n + 2 * i], where);
    }
    spry_operator_free(op);
    spry_vector_free(vx);
    spry_vector_free(vy);
    numeric_free(SPRY_TYPE_D, x, 0);
    numeric_free(SPRY_TYPE_D, y, 0);
    free(both);
}

static void test_nan(void **state)
{
    static const char *const specs[] = {"sell",       "sell:C=8,sigma=32", "sell:C=5",
                                        "sell16:C=8", "sell16:C=16",       "sell16:C=32,sigma=64"};
    spry_context *ctx = *state;
    spry_matrix *A = support_sorted(ctx, SPRY_TYPE_D, SUPPORT_UNIFORM, 203, 20, 250, 0);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (int64_t where = 0; where < 20; where++)
            check_nan(ctx, A, specs[i], where);
    spry_matrix_free(A);
}

/* A row of 100,000 entries among rows of one: absurd in slices of 1024, fine where it is alone. */
static void test_absurd(void **state)
{
    enum { N = 100000, ROWS = 2000 };
    spry_context *ctx = *state;
    int64_t offsets[ROWS + 1];
    int32_t *columns = malloc((N + ROWS) * sizeof *columns);
    float *values = calloc(N + ROWS, sizeof *values);
    for (int i = 0; i <= ROWS; i++)
        offsets[i] = i <= 7 ? i : N - 1 + i;
    for (int64_t k = 0; k < offsets[ROWS]; k++)
        columns[k] = k >= 7 && k < N + 7 ? (int32_t)k - 7 : 3;
    spry_matrix *A = NULL;
    layout *L = NULL;
    layout_forecast f;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_S, ROWS, N, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    for (int i = 0; i < 2; i++) {
        const char *spec = i == 0 ? "sell:C=1024" : "sell16:C=1024";
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(A, spec, &L));
        support_message_has(ctx, "102401024 places for 101999 entries");
        assert_null(L);
        assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, spec, &f));
        assert_ok(ctx, layout_estimate(A, i == 0 ? "sell:C=32" : "sell16:C=32", &f));
    }
    spry_matrix_free(A);
    free(columns);
    free(values);
}

/* --- bits ----------------------------------------------------------------------------------------
 */

/* A column among several has the bits it has alone, whatever the size of slices. */
static void test_bits(void **state)
{
    static const char *const specs[] = {"sell",     "sell:C=3",    "sell:C=32,sigma=64",
                                        "sell:C=8", "sell16:C=12", "sell16:C=16"};
    enum { N = 300 };
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const size_t bytes = N * spry_type_size(type);
        spry_matrix *A = support_sorted(ctx, type, SUPPORT_ONE_ROW, N, N, 4000, 9);
        void *x = numeric_array(type, N, 0, 1), *y = numeric_array(type, N, 0, 2);
        void *expected = malloc(bytes);
        spry_vector *vx = numeric_vector(ctx, type, N, x), *vy = numeric_vector(ctx, type, N, y);
        const spry_dense B = {0, N, 1, N, false, x, NULL}, C = {0, N, 1, N, false, y, NULL};
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
            spry_operator *op = NULL;
            assert_ok(ctx, host_layout_operator(A, specs[i], &op));
            assert_ok(ctx, spry_operator_apply(op, vx, vy));
            if (i == 0)
                memcpy(expected, y, bytes);
            assert_memory_equal(y, expected, bytes);
            memset(y, 0, bytes);
            assert_ok(ctx, spry_operator_multiply_dense(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0},
                                                        &B, (spry_scalar){0, 0}, &C));
            assert_memory_equal(y, expected, bytes);
            spry_operator_free(op);
        }
        spry_vector_free(vx);
        spry_vector_free(vy);
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
        free(expected);
        spry_matrix_free(A);
    }
}

static void test_threads(void **state)
{
    static const char *const specs[] = {"sell:C=16,sigma=256", "sell:C=8,sigma=3000", "sell16"};
    (void)state;
    for (int t = 0; t < 4; t++)
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            layouts_same_bits(&(support_recipe){.type = support_types[t],
                                                .format = SPRY_FORMAT_CSR,
                                                .rows = 5000,
                                                .cols = 5000,
                                                .nnz = 40000,
                                                .seed = 8,
                                                .sorted = true},
                              specs[i]);
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layouts_torture(ctx, A, "sell:C=2,sigma=4");
    layouts_torture(ctx, A, "sell16:C=2,sigma=4");
    spry_matrix_free(A);
}

/* --- columns of 16 bits --------------------------------------------------------------------------
 */

static void test_arrays_16(void **state)
{
    static const int32_t words[] = {0, 1, 4, 0, 2, 3, 3, 1, 3, 4, 5};
    static const uint16_t halves[] = {0, 0, 3, 0, 0, 1, 1, 0, 0, 0, 0,
                                      0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0};
    static const int64_t starts[] = {0, 6, 14, 22};
    spry_context *ctx = *state;
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sell16:C=2", &L));
    assert_int_equal(L->array[SELL16_WORDS].count, 11);
    assert_memory_equal(L->array[SELL16_WORDS].data, words, sizeof words);
    assert_int_equal(L->array[SELL16_HALVES].count, 22);
    assert_memory_equal(L->array[SELL16_HALVES].data, halves, sizeof halves);
    assert_memory_equal(L->array[SELL16_STARTS].data, starts, sizeof starts);
    layout_free(L);
    spry_matrix_free(A);
}

/* Rows of two entries. */
static spry_matrix *pairs(spry_context *ctx, int rows, int64_t cols, const int32_t *columns)
{
    spry_matrix *A = NULL;
    int64_t *offsets = malloc((size_t)(rows + 1) * sizeof *offsets);
    double *values = malloc((size_t)(2 * rows) * sizeof *values);
    for (int i = 0; i <= rows; i++)
        offsets[i] = 2 * i;
    for (int k = 0; k < 2 * rows; k++)
        values[k] = support_number(SPRY_TYPE_D, 6, (uint64_t)k).re;
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_D, rows, cols, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    free(offsets);
    free(values);
    return A;
}

/* Columns as far apart as 16 bits can express, one farther, beyond 2^30, and next to each other. */
static void test_kinds(void **state)
{
    enum { BIG = 1 << 30, MOST = INT32_MAX };
    static const int32_t columns[] = {0,   65536,   65535,   65537,    /* both fit: 65535, 1 */
                                      0,   65540,   65536,   70000,    /* the first does not */
                                      BIG, BIG + 2, BIG + 1, BIG + 3,  /* next to each other, but */
                                      7,   100,     8,       101,      /* these can express it */
                                      0,   5,       0,       MOST - 1, /* widest */
                                      4,   6};
    static const int32_t words[] = {0, 65536, -1, 65540, -1, -1, SELL16_RUN + 7, SELL16_RUN + 100,
                                    0, -1,    4,  6};
    static const uint16_t halves[] = {0,         65535,     0, 1, /* */
                                      0,         0,         0, 1,     0,         4460,      0, 1,
                                      BIG >> 16, BIG >> 16, 2, 3,     BIG >> 16, BIG >> 16, 0, 0,
                                      5,         65534,     0, 32767, 0,         0,         0, 0};
    spry_context *ctx = *state;
    spry_matrix *A = pairs(ctx, 11, MOST, columns), *back = NULL;
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "sell16:C=2", &L));
    assert_memory_equal(L->array[SELL16_WORDS].data, words, sizeof words);
    assert_memory_equal(L->array[SELL16_HALVES].data, halves, sizeof halves);
    assert_ok(ctx, layout_to_csr(L, &back));
    support_same_arrays(A, back);
    layout_free(L);
    spry_matrix_free(back);
    spry_matrix_free(A);
}

/* The same kinds in slices of all sizes that products have loops for. */
static void test_kinds_of_slices(void **state)
{
    static const char *const specs[] = {"sell16:C=4",  "sell16:C=8",  "sell16:C=16",
                                        "sell16:C=32", "sell16:C=20", "sell16:C=16,values=bf16"};
    enum { ROWS = 387, COLS = 150000 };
    spry_context *ctx = *state;
    int32_t *columns = malloc(2 * ROWS * sizeof *columns);
    for (int i = 0; i < ROWS; i++) {
        const bool run = i / 64 % 3 == 0, far = i / 64 % 3 == 1;
        columns[2 * i] = run ? i : far ? (i * 7919) % 70000 : (i * 31) % 60000;
        columns[2 * i + 1] = run ? i + 90000 : far ? 80000 + (i * 5) % 3000 : 60000 + i % 9;
    }
    spry_matrix *A = pairs(ctx, ROWS, COLS, columns);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        layouts_check(ctx, A, specs[i]);
    spry_matrix_free(A);
    free(columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sorted, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_long_sort, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sizes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_nan, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_absurd, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_arrays_16, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kinds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kinds_of_slices, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
