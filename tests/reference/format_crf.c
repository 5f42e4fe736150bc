/* Constant diagonals: the arrays of a small matrix, runs, main diagonals of all kinds, what is
 * refused. */
#include "support/generated.h"
#include "support/layouts.h"

#include "formats/crf/crf.h"

#include <stdlib.h>

/* The matrix of docs/formats/crf.md. */
static const double picture[36] = {4, -1, 0, -2, 0, 0, -1, 4, -1, 0, -2, 0, 0, -1, 4, 0,  0, -2, -2,
                                   0, 0,  5, -1, 0, 0, -2, 0, -1, 6, -1, 0, 0, -2, 0, -1, 7};

static void test_arrays(void **state)
{
    static const double values[] = {-2, -1, -1, -2, 4, 4, 4, 5, 6, 7};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "crf", &L));
    assert_int_equal(L->stored, 10);
    assert_memory_equal(L->array[CRF_VALUES].data, values, sizeof values);
    assert_int_equal(L->array[CRF_RUNS].count, 6);
    const crf_run *found = L->array[CRF_RUNS].data;
    const int32_t *starts = L->array[CRF_STARTS].data, *offsets = L->array[CRF_OFFSETS].data;
    for (int r = 0; r < 6; r++) {
        const int32_t *list = offsets + starts[found[r].shape];
        const int count = starts[found[r].shape + 1] - starts[found[r].shape];
        assert_int_equal(found[r].rows, 1);
        assert_int_equal(found[r].place, 4 + r);
        assert_int_equal(found[r].main, CRF_EACH);
        for (int t = 0; t < count; t++)
            assert_true(picture[6 * r + r + list[t]] != 0);
    }
    layout_free(L);
    spry_matrix_free(A);
}

/* A long grid has three runs per line; a number that stays is stored once. */
static void test_runs(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson2d", "nx=100,ny=5");
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "crf", &L));
    assert_int_equal(L->array[CRF_RUNS].count, 15);
    assert_int_equal(L->array[CRF_STARTS].count, 9 + 1);
    assert_int_equal(L->stored, 4 + 15);
    const crf_run *runs = L->array[CRF_RUNS].data;
    assert_int_equal(runs[1].rows, 98);
    assert_int_equal(runs[1].main, CRF_SAME);
    layout_free(L);
    spry_matrix_free(A);
}

static void test_grids(void **state)
{
    spry_context *ctx = *state;
    static const char *const kinds[][2] = {
        {"tridiagonal", "size=1"},          {"tridiagonal", "size=2"},
        {"tridiagonal", "size=3000"},       {"poisson2d", "size=45,points=9"},
        {"poisson3d", "size=13,type=c"},    {"poisson3d", "nx=40,ny=3,nz=3,points=27,type=s"},
        {"helmholtz", "size=12"},           {"helmholtz", "nx=60,ny=7,nz=5,layer=3,type=c"},
        {"anisotropic", "size=37,angle=30"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        spry_matrix *A = generated(ctx, kinds[i][0], kinds[i][1]);
        layout *L = NULL;
        assert_ok(ctx, layout_build(A, "crf", &L));
        layout_free(L);
        layouts_check(ctx, A, "crf");
        spry_matrix_free(A);
    }
}

static void test_bands(void **state)
{
    spry_context *ctx = *state;
    const int64_t sizes[][2] = {{1, 1}, {9, 9}, {40, 40}, {1100, 1100}, {1024, 1030}, {90, 60}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t turn = 1; turn < 100; turn = 3 * turn + 5)
            for (int t = 0; t < 4; t++) {
                spry_matrix *A =
                    generated_band(ctx, support_types[t], sizes[i][0], sizes[i][1], turn, true);
                layout *L = NULL;
                assert_ok(ctx, layout_build(A, "crf", &L));
                layout_free(L);
                layouts_check(ctx, A, "crf");
                spry_matrix_free(A);
            }
}

static void test_threads(void **state)
{
    (void)state;
    uint8_t *first = NULL;
    for (int t = 0; t < 3; t++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", t + 1);
        spry_context *ctx = support_context(options);
        spry_matrix *A = generated(ctx, "helmholtz", "size=40");
        spry_operator *op = NULL;
        const size_t bytes = (size_t)A->a.rows * spry_type_size(A->a.type);
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, "crf", &op));
        void *x = numeric_array(A->a.type, A->a.rows, 1, 7), *y = malloc(bytes);
        spry_vector *vx = numeric_vector(ctx, A->a.type, A->a.rows, x);
        spry_vector *vy = numeric_vector(ctx, A->a.type, A->a.rows, y);
        assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                              (spry_scalar){0, 0}, vy));
        if (first)
            assert_memory_equal(first, y, bytes);
        spry_vector_free(vx);
        spry_vector_free(vy);
        numeric_free(A->a.type, x, 1);
        if (first)
            free(y);
        else
            first = y;
        spry_operator_free(op);
        spry_matrix_free(A);
        support_context_free(ctx);
    }
    free(first);
}

static spry_status convert(spry_context *ctx, void *data)
{
    layout *L = NULL;
    layout_forecast f;
    spry_status status = layout_estimate(data, "crf", &f);
    if (status == SPRY_STATUS_OK)
        status = layout_build(data, "crf", &L);
    layout_free(L);
    (void)ctx;
    return status;
}

static void test_allocations_fail(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "poisson3d", "size=20");
    support_torture(ctx, convert, A);
    spry_matrix_free(A);
}

static void refuse(spry_context *ctx, const spry_matrix *A, const char *text)
{
    layout *L = NULL;
    layout_forecast f;
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(A, "crf", &L));
    support_message_has(ctx, text);
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, "crf", &f));
    support_message_has(ctx, text);
}

/* Too many pairs of diagonal and number; too many sets of them, one per row and more. */
static void test_refused(void **state)
{
    enum { ROWS = 3000, TERMS = 12 };
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "random", "size=500");
    refuse(ctx, A, "more than 64 pairs");
    spry_matrix_free(A);
    int64_t offsets[ROWS + 1] = {0};
    int32_t *columns = calloc(ROWS * TERMS, sizeof *columns);
    float *values = calloc(ROWS * TERMS, sizeof *values);
    for (int i = 0; i < ROWS; i++) {
        offsets[i + 1] = offsets[i];
        for (int d = 0; d < TERMS; d++)
            if (i >> d & 1)
                columns[offsets[i + 1]++] = i + d + 1;
    }
    assert_ok(ctx, spry_matrix_from_csr(ctx, SPRY_TYPE_S, ROWS, ROWS + TERMS, offsets, columns,
                                        values, SPRY_OWN_COPY, &A));
    refuse(ctx, A, "more than 1024 different sets");
    spry_matrix_free(A);
    free(columns);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_runs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bands, support_setup, support_teardown),
        cmocka_unit_test(test_threads),
        cmocka_unit_test_setup_teardown(test_allocations_fail, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
