/* ell, ellr, ellr-t, jds and hyb: their arrays for the matrix of docs/formats, ragged rows,
 * options.
 */
#include "support/layouts.h"

#include "formats/shared/columnwise.h"

#include <stdlib.h>

static layout *example(spry_context *ctx, const char *spec)
{
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, spec, &L));
    spry_matrix_free(A);
    return L;
}

/* Places first.. of the values and columns. */
static void same_places(const layout *L, int64_t first, int count, const double *values,
                        const int32_t *columns)
{
    assert_true(first + count <= L->stored);
    assert_memory_equal((const double *)L->array[COLUMNWISE_VALUES].data + first, values,
                        (size_t)count * sizeof *values);
    assert_memory_equal((const int32_t *)L->array[COLUMNWISE_COLUMNS].data + first, columns,
                        (size_t)count * sizeof *columns);
}

static void test_ell(void **state)
{
    static const double values[4][16] = {
        {10, 3, 7, 3, 8, 4}, {-2, 9, 8, 8, 9, 2}, {0, 3, 7, 7, 9, -1}, {0, 0, 0, 5, 13, 0}};
    static const int32_t columns[4][16] = {
        {0, 0, 1, 0, 1, 1}, {4, 1, 2, 2, 3, 4}, {4, 5, 3, 3, 4, 5}, {4, 5, 3, 4, 5, 5}};
    static const int32_t lengths[] = {2, 3, 3, 4, 4, 3};
    static const char *const specs[] = {"ell", "ellr", "ellr-t:T=1", "hyb:K=9"};
    for (int i = 0; i < 4; i++) {
        layout *L = example(*state, specs[i]);
        assert_int_equal(L->stored, 64);
        assert_int_equal(L->unit_rows, 64);
        assert_int_equal(L->number[COLUMNWISE_STRIDE], 16);
        for (int k = 0; k < 4; k++)
            same_places(L, 16 * k, 16, values[k], columns[k]);
        assert_memory_equal(L->array[COLUMNWISE_LENGTHS].data, lengths, sizeof lengths);
        assert_int_equal(L->array[COLUMNWISE_LENGTHS].aside, i == 0 || i == 3);
        layout_free(L);
    }
}

static void test_ellr_t(void **state)
{
    static const double values[2][16] = {{10, -2, 3, 9, 7, 8, 3, 8, 8, 9, 4, 2},
                                         {0, 0, 3, 0, 7, 0, 7, 5, 9, 13, -1, 0}};
    static const int32_t columns[2][16] = {{0, 4, 0, 1, 1, 2, 0, 2, 1, 3, 1, 4},
                                           {4, 4, 5, 5, 3, 3, 3, 4, 4, 5, 5, 5}};
    layout *L = example(*state, "ellr-t:T=2");
    assert_int_equal(L->stored, 32);
    assert_int_equal(L->unit_rows, 32);
    for (int k = 0; k < 2; k++)
        same_places(L, 16 * k, 16, values[k], columns[k]);
    layout_free(L);
}

static void test_jds(void **state)
{
    static const double values[] = {3, 8, 3, 7, 4, 10, 8, 9, 9, 8, 2, -2, 7, 9, 3, 7, -1, 5, 13};
    static const int32_t columns[] = {0, 1, 0, 1, 1, 0, 2, 3, 1, 2, 4, 4, 3, 4, 5, 3, 5, 4, 5};
    static const int64_t starts[] = {0, 6, 12, 17, 19}, padded[] = {0, 8, 16, 24, 28};
    static const int32_t rows[] = {3, 4, 1, 2, 5, 0};
    static const double last[] = {7, 9, 3, 7, -1, 0, 0, 0, 5, 13, 0, 0};
    static const int32_t last_columns[] = {3, 4, 5, 3, 5, 4, 0, 0, 4, 5, 5, 3};
    layout *L = example(*state, "jds");
    assert_int_equal(L->stored, 19);
    assert_int_equal(L->unit_rows, 0);
    same_places(L, 0, 19, values, columns);
    assert_memory_equal(L->array[COLUMNWISE_STARTS].data, starts, sizeof starts);
    assert_memory_equal(L->array[COLUMNWISE_ROWS].data, rows, sizeof rows);
    layout_free(L);
    L = example(*state, "jds:pad=4");
    assert_int_equal(L->stored, 28);
    same_places(L, 16, 12, last, last_columns);
    assert_memory_equal(L->array[COLUMNWISE_STARTS].data, padded, sizeof padded);
    assert_memory_equal(L->array[COLUMNWISE_ROWS].data, rows, sizeof rows);
    layout_free(L);
}

static void test_hyb(void **state)
{
    static const double third[] = {0, 3, 7, 7, 9, -1}, rest[] = {5, 13};
    static const int32_t third_columns[] = {4, 5, 3, 3, 4, 5}, rest_columns[] = {4, 5};
    static const int64_t begins[] = {0, 2};
    static const int32_t rows[] = {3, 4};
    layout *L = example(*state, "hyb:K=3");
    assert_int_equal(L->stored, 50);
    same_places(L, 32, 6, third, third_columns);
    same_places(L, 48, 2, rest, rest_columns);
    assert_memory_equal(L->array[COLUMNWISE_REST].data, begins, sizeof begins);
    assert_memory_equal(L->array[COLUMNWISE_REST_ROWS].data, rows, sizeof rows);
    layout_free(L);
}

/* A matrix whose row i has length(i) of 200 columns. */
static spry_matrix *by_lengths(spry_context *ctx, spry_type type, int64_t n,
                               int64_t (*length)(int64_t i))
{
    enum { COLS = 200 };
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets), k = 0;
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++)
        offsets[i + 1] = offsets[i] + length(i);
    int32_t *columns = malloc((size_t)(offsets[n] + 1) * sizeof *columns);
    void *values = numeric_array(type, offsets[n] + 1, 0, 11);
    spry_matrix *A = NULL;
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = length(i), step = count > 0 ? COLS / count : 1;
        for (int64_t c = 0; c < count; c++)
            columns[k++] = (int32_t)(c * step + i % step);
    }
    assert_ok(
        ctx, spry_matrix_from_csr(ctx, type, n, COLS, offsets, columns, values, SPRY_OWN_COPY, &A));
    free(offsets);
    free(columns);
    numeric_free(type, values, 0);
    return A;
}

/* Groups of lines that end together, near each other, and far from each other. */
static int64_t ragged(int64_t i)
{
    if (i % 97 == 5)
        return 190;
    return i < 1100 ? 12 : i < 2200 ? 3 + i % 5 : i * 7919 % 23;
}

static void test_ragged(void **state)
{
    static const char *const specs[] = {"ell",         "ellr",        "ellr-t:T=1", "ellr-t:T=2",
                                        "ellr-t:T=16", "ellr-t:T=32", "jds",        "jds:pad=16",
                                        "hyb",         "hyb:K=1",     "hyb:K=14",   "hyb:K=190",
                                        "jds:pad=7",   "jds:pad=1000"};
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = by_lengths(*state, support_types[t], 2611, ragged);
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
            layout_forecast f;
            assert_ok(*state, layout_estimate(A, specs[i], &f));
            layouts_check(*state, A, specs[i]);
        }
        spry_matrix_free(A);
    }
}

static int64_t mostly_five(int64_t i)
{
    return i % 8 == 3 ? 20 : 5;
}

/* K makes the fewest bytes: every other one makes more. */
static void test_choice(void **state)
{
    static const char *const kinds[] = {"own", "f32", "f16"};
    spry_matrix *A = by_lengths(*state, SPRY_TYPE_D, 1024, mostly_five);
    layout_forecast best, other;
    char spec[64];
    for (int kind = 0; kind < 3; kind++) {
        snprintf(spec, sizeof spec, "hyb:values=%s", kinds[kind]);
        assert_ok(*state, layout_estimate(A, spec, &best));
        for (int K = 1; K <= 20; K++) {
            snprintf(spec, sizeof spec, "hyb:K=%d,values=%s", K, kinds[kind]);
            assert_ok(*state, layout_estimate(A, spec, &other));
            assert_true(K == 5 ? other.bytes == best.bytes : other.bytes > best.bytes);
        }
    }
    spry_matrix_free(A);
}

/* No large power of two from a column to the next. */
static void test_step(void **state)
{
    (void)state;
    assert_int_equal(columnwise_stride(0, 1), 16);
    assert_int_equal(columnwise_stride(16, 1), 16);
    assert_int_equal(columnwise_stride(17, 1), 48);
    assert_int_equal(columnwise_stride((int64_t)1 << 31, 1), ((int64_t)1 << 31) + 16);
    assert_int_equal(columnwise_stride(1 << 20, 4), (1 << 22) + 16);
    assert_int_equal(columnwise_stride(1 << 20, 32), (1 << 25) + 32);
}

static void test_threads(void **state)
{
    (void)state;
    const support_recipe recipe = {.type = SPRY_TYPE_D,
                                   .format = SPRY_FORMAT_CSR,
                                   .rows = 20000,
                                   .cols = 20000,
                                   .nnz = 200000,
                                   .seed = 8,
                                   .sorted = true};
    static const char *const specs[] = {"ell", "ellr", "ellr-t", "jds", "jds:pad=16", "hyb:K=8"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        layouts_same_bits(&recipe, specs[i]);
}

static int64_t one_long(int64_t i)
{
    return i == 70 ? 200 : i == 3;
}

static void test_wrong(void **state)
{
    static const char *const refused[] = {"ell", "ellr", "ellr-t:T=8", "jds:pad=1024", "hyb:K=150"};
    static const char *const used[] = {"ell", "ellr-t", "jds", "jds:pad=4", "hyb", "hyb:K=2"};
    spry_matrix *A = by_lengths(*state, SPRY_TYPE_D, 5000, one_long);
    layout *L = NULL;
    layout_forecast f;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const bool fits = i == 3; /* 200 columns of 1024 lines are few for so many rows */
        assert_status(*state, fits ? SPRY_STATUS_OK : SPRY_STATUS_UNSUPPORTED,
                      layout_estimate(A, refused[i], &f));
        assert_status(*state, fits ? SPRY_STATUS_OK : SPRY_STATUS_UNSUPPORTED,
                      layout_build(A, refused[i], &L));
        if (!fits)
            support_message_has(*state, "more than 64 places for one");
        layout_free(L);
        L = NULL;
    }
    layouts_check(*state, A, "jds");
    layouts_check(*state, A, "hyb");
    spry_matrix_free(A);
    A = layouts_example(*state, SPRY_TYPE_D);
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_build(A, "ellr-t:T=3", &L));
    support_message_has(*state, "T is 3");
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_estimate(A, "ellr-t:T=3", &f));
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        layouts_torture(*state, A, used[i]);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ell, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ellr_t, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_jds, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_hyb, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ragged, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_choice, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_step, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
