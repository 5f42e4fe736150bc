/* AXT: the four variants' arrays for the matrix of docs/formats, rows that meet the ends of units,
 * options. */
#include "support/layouts.h"

#include "formats/axt/axt.h"
#include "host/walk.h"

#include <stdlib.h>

static void check_arrays(spry_context *ctx, const char *spec, int count, const double *ax,
                         const int32_t *columns, int rows_count, const int32_t *rows)
{
    spry_matrix *A = layouts_example(ctx, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, spec, &L));
    assert_int_equal(L->array[AXT_AX].count, count);
    assert_int_equal(L->array[AXT_ROWS].count, rows_count);
    assert_memory_equal(L->array[AXT_AX].data, ax, (size_t)count * sizeof *ax);
    assert_memory_equal(L->array[AXT_COLUMNS].data, columns,
                        (size_t)L->array[AXT_COLUMNS].count * sizeof *columns);
    assert_memory_equal(L->array[AXT_ROWS].data, rows, (size_t)rows_count * sizeof *rows);
    assert_int_equal(L->units, 1);
    layout_free(L);
    layouts_check(ctx, A, spec);
    spry_matrix_free(A);
}

static void test_uh1(void **state)
{
    static const double ax[] = {10, -2, 0, 0, 3, 9, 3, 0,  7, 8, 7,  0,
                                3,  8,  7, 5, 8, 9, 9, 13, 4, 2, -1, 0};
    static const int32_t columns[] = {0, 4, 4, 4, 0, 1, 5, 5, 1, 2, 3, 3,
                                      0, 2, 3, 4, 1, 3, 4, 5, 1, 4, 5, 5};
    static const int32_t rwp[] = {0, 1, 2, 3, 4, 5};
    check_arrays(*state, "axt:THW=4,TH=1,MODE=unc", 24, ax, columns, 6, rwp);
}

static void test_uh(void **state)
{
    static const double ax[] = {10, 3, 3, 7, -2, 9, 0,  8, 7,  3, 7, 8,
                                0,  8, 5, 9, 9,  4, -1, 0, 13, 2, 0, 0};
    static const int32_t columns[] = {0, 0, 5, 1, 4, 1, 5, 2, 3, 0, 3, 1,
                                      3, 2, 4, 3, 4, 1, 5, 5, 5, 4, 5, 5};
    static const int32_t rwp[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5};
    check_arrays(*state, "axt:THW=4,TH=2,MODE=unc", 24, ax, columns, 12, rwp);
}

/* The same with x behind each line; no product was made so far. */
static void test_uh_kept(void **state)
{
    static const double ax[] = {10, 3, 3,  7, 0, 0, 0, 0, -2, 9, 0, 8, 0, 0, 0, 0,
                                7,  3, 7,  8, 0, 0, 0, 0, 0,  8, 5, 9, 0, 0, 0, 0,
                                9,  4, -1, 0, 0, 0, 0, 0, 13, 2, 0, 0, 0, 0, 0, 0};
    static const int32_t columns[] = {0, 0, 5, 1, 4, 1, 5, 2, 3, 0, 3, 1,
                                      3, 2, 4, 3, 4, 1, 5, 5, 5, 4, 5, 5};
    static const int32_t rwp[] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5};
    check_arrays(*state, "axt:THW=4,TH=2,MODE=unc,refresh=array", 48, ax, columns, 12, rwp);
}

static void test_ch1(void **state)
{
    static const double ax[] = {10, -2, 3, 9, 3, 7, 8, 7, 3, 8, 7, 5, 8, 9, 9, 13, 4, 2, -1, 0};
    static const int32_t columns[] = {0, 4, 0, 1, 5, 1, 2, 3, 0, 2, 3, 4, 1, 3, 4, 5, 1, 4, 5, 0};
    static const int lengths[] = {2, 3, 3, 4, 4, 3};
    int32_t hdr[20] = {0};
    for (int row = 0, k = 0; row < 6; row++)
        for (int rest = lengths[row] - 1; rest >= 0; rest--)
            hdr[k++] = (row + 1) * AXT_BLOCK + rest;
    check_arrays(*state, "axt:THW=4,TH=1,MODE=com", 20, ax, columns, 20, hdr);
}

static void test_ch(void **state)
{
    static const double ax[] = {10, 3, 3, 8,  -2, 9,  7, 7, 3, 7, 8, 9,
                                8,  5, 9, 13, 4,  -1, 0, 0, 2, 0, 0, 0};
    static const int32_t columns[] = {0, 0, 5, 2, 4, 1, 1, 3, 0, 3, 1, 4,
                                      2, 4, 3, 5, 1, 5, 0, 0, 4, 0, 0, 0};
    static const int32_t hdr[] = {3, 5, 4,  7,  2,  4,  6, 6, 9,  9, 11, 11,
                                  8, 8, 10, 10, 13, 12, 0, 0, 12, 0, 0,  0};
    check_arrays(*state, "axt:THW=4,TH=2,MODE=com", 24, ax, columns, 24, hdr);
}

/* Rows of one unit, just less, just more, several and none, so that they begin and end where units
 * do. */
static spry_matrix *edge_matrix(spry_context *ctx, spry_type type)
{
    static const int64_t lengths[] = {0,    0, 4096, 0, 4095, 1, 0, 9000, 0, 0, 8192, 3,
                                      4093, 0, 1,    1, 4097, 7, 0, 512,  0, 5, 511,  0};
    enum { ROWS = sizeof lengths / sizeof *lengths, COLS = 9000 };
    int64_t offsets[ROWS + 1] = {0};
    for (int i = 0; i < ROWS; i++)
        offsets[i + 1] = offsets[i] + lengths[i];
    int32_t *columns = malloc((size_t)offsets[ROWS] * sizeof *columns);
    for (int i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < lengths[i]; k++)
            columns[offsets[i] + k] = (int32_t)(k * (COLS / lengths[i]));
    void *values = numeric_array(type, offsets[ROWS], 0, 12);
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, type, ROWS, COLS, offsets, columns, values,
                                        SPRY_OWN_COPY, &A));
    numeric_free(type, values, 0);
    free(columns);
    return A;
}

static void test_edges(void **state)
{
    static const char *const specs[] = {"THW=8,TH=1",  "THW=8,TH=4",  "THW=12,TH=3", "THW=4,TH=64",
                                        "THW=32,TH=1", "THW=12,TH=1", "THW=8,TH=5"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (int variant = 0; variant < 4; variant++) {
            char spec[96];
            spry_matrix *A = edge_matrix(*state, support_types[(i + (size_t)variant) % 4]);
            snprintf(spec, sizeof spec, "axt:%s,MODE=%s,refresh=%s", specs[i],
                     variant % 2 ? "com" : "unc", variant / 2 ? "array" : "none");
            layouts_check(*state, A, spec);
            spry_matrix_free(A);
        }
}

static void test_threads(void **state)
{
    (void)state;
    static const char *const specs[] = {"axt:TH=1,MODE=unc", "axt:TH=8,MODE=unc,refresh=array",
                                        "axt:TH=1,MODE=com,refresh=array", "axt:TH=4,MODE=com"};
    for (int i = 0; i < 4; i++)
        layouts_same_bits(&(support_recipe){.type = support_types[i],
                                            .format = SPRY_FORMAT_CSR,
                                            .rows = 20000,
                                            .cols = 20000,
                                            .nnz = 200000,
                                            .shape = i % 2 ? SUPPORT_ONE_ROW : SUPPORT_UNIFORM,
                                            .seed = 9,
                                            .sorted = true},
                          specs[i]);
}

/* Two entries with nine million empty rows between them: one unit has all rows. */
static void test_no_bits(void **state)
{
    enum { ROWS = 9000000 };
    int64_t *offsets = malloc((ROWS + 1) * sizeof *offsets);
    const int32_t columns[] = {0, 1};
    const float values[] = {1, 2};
    spry_matrix *A = NULL;
    layout *L = NULL;
    layout_forecast f;
    for (int64_t i = 0; i <= ROWS; i++)
        offsets[i] = i == 0 ? 0 : i == ROWS ? 2 : 1;
    assert_ok(*state, spry_matrix_from_csr(*state, SPRY_TYPE_S, ROWS, 2, offsets, columns, values,
                                           SPRY_OWN_BORROW, &A));
    assert_status(*state, SPRY_STATUS_UNSUPPORTED, layout_build(A, "axt:TH=1,MODE=com", &L));
    support_message_has(*state, "MODE=unc");
    assert_status(*state, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, "axt:TH=1,MODE=com", &f));
    assert_ok(*state, layout_estimate(A, "axt:TH=8,MODE=com", &f));
    assert_ok(*state, layout_estimate(A, "axt:TH=1,MODE=unc", &f));
    spry_matrix_free(A);
    free(offsets);
}

static void test_wrong(void **state)
{
    spry_matrix *A = layouts_example(*state, SPRY_TYPE_Z);
    layout *L = NULL;
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_build(A, "axt:THW=10", &L));
    support_message_has(*state, "THW is 10");
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_build(A, "axt:TH=0", &L));
    layouts_torture(*state, A, "axt:TH=1,MODE=com");
    layouts_torture(*state, A, "axt:TH=2,refresh=array");
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_uh1, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_uh, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_uh_kept, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ch1, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ch, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_edges, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_no_bits, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
