/* Diagonals: the arrays of a small matrix, holes, edges, many diagonals, what is refused. */
#include "support/generated.h"
#include "support/layouts.h"

#include "formats/dia/dia.h"

/* The matrix of docs/formats. */
static const double picture[36] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                   3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};

/* Row i of the strip on each of the nine diagonals, from -4 to 4; 0 is a hole. */
static void test_arrays(void **state)
{
    static const int32_t offsets[] = {-4, -3, -1, 0, 1, 4};
    static const double values[6][6] = {{0, 0, 0, 0, 0, 4},  {0, 0, 0, 3, 8, 0},
                                        {0, 3, 7, 8, 9, 2},  {10, 9, 8, 7, 9, -1},
                                        {0, 0, 7, 5, 13, 0}, {-2, 3, 0, 0, 0, 0}};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "dia", &L));
    assert_int_equal(L->units, 1);
    assert_int_equal(L->number[DIA_STRIP], 16);
    assert_int_equal(L->stored, 6 * 16);
    assert_int_equal(L->array[DIA_OFFSETS].count, 6);
    assert_memory_equal(L->array[DIA_OFFSETS].data, offsets, sizeof offsets);
    const double *found = L->array[DIA_VALUES].data;
    const uint8_t *bits = L->array[DIA_ENTRIES].data;
    for (int d = 0; d < 6; d++)
        for (int l = 0; l < 16; l++) {
            const double expected = l < 6 ? values[d][l] : 0;
            assert_true(found[16 * d + l] == expected);
            assert_int_equal(bits[2 * d + l / 8] >> l % 8 & 1, expected != 0);
        }
    layout_free(L);
    spry_matrix_free(A);
}

/* Zeros that are entries stay entries. */
static void test_zeros(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    for (int64_t i = 0; i < 6; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k += 2)
            support_put(A, k, (spry_scalar){A->a.col_index[k] == i ? 0.0 : -0.0, 0});
    layouts_check(ctx, A, "dia");
    layouts_check(ctx, A, "dia:values=f16");
    spry_matrix_free(A);
}

static void check_shape(spry_context *ctx, support_recipe recipe)
{
    static const char *const specs[] = {
        "dia:block=32,fill=1000000", "dia:fill=1000000", "dia:block=1024,fill=1000000",
        "dia:fill=1000000,values=f32", "dia:fill=1000000,values=bf16"};
    for (int t = 0; t < 4; t++) {
        recipe.type = support_types[t];
        recipe.format = SPRY_FORMAT_CSR;
        recipe.sorted = true;
        spry_matrix *A = support_matrix(ctx, &recipe);
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            layouts_check(ctx, A, specs[i]);
        spry_matrix_free(A);
    }
}

/* Diagonals that leave the matrix on all sides, matrices smaller than a strip, a row of all
 * diagonals. */
static void test_any_matrix(void **state)
{
    const int64_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {7, 8}, {31, 33}, {65, 20}, {20, 65}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_shape(*state, (support_recipe){.rows = sizes[i][0],
                                             .cols = sizes[i][1],
                                             .nnz = 3 * (sizes[i][0] + sizes[i][1]) / 2,
                                             .seed = 30 + i});
    for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++)
        check_shape(*state, (support_recipe){.rows = 1100,
                                             .cols = 1111,
                                             .nnz = 1500,
                                             .shape = (support_shape)shape,
                                             .seed = 40});
}

static void test_grids(void **state)
{
    spry_context *ctx = *state;
    static const char *const kinds[][2] = {{"poisson2d", "size=45"},
                                           {"poisson3d", "size=13,points=27"},
                                           {"helmholtz", "size=12"},
                                           {"convection-diffusion", "size=41,type=s"},
                                           {"elasticity", "size=6,type=c"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        spry_matrix *A = generated(ctx, kinds[i][0], kinds[i][1]);
        layouts_check(ctx, A, "dia:fill=20");
        layouts_check(ctx, A, "dia:fill=20,block=32,values=f32");
        spry_matrix_free(A);
    }
}

static void test_refused(void **state)
{
    spry_context *ctx = *state;
    layout *L = NULL;
    layout_forecast f;
    spry_matrix *A = generated(ctx, "random", "size=500");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_build(A, "dia", &L));
    support_message_has(ctx, "more than fill=4 times");
    assert_status(ctx, SPRY_STATUS_UNSUPPORTED, layout_estimate(A, "dia", &f));
    support_message_has(ctx, "more than fill=4 times");
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_zeros, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_any_matrix, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_grids, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_refused, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
