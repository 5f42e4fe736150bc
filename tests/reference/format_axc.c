/* AXC: its arrays for the matrix of docs/formats, x kept in bricks, options. */
#include "support/layouts.h"

#include "formats/axc/axc.h"
#include "host/walk.h"

static void test_arrays(void **state)
{
    static const double ax[] = {10, -2, 0, 0, 3, 9, 3, 0,  7, 8, 7,  0,
                                3,  8,  7, 5, 8, 9, 9, 13, 4, 2, -1, 0};
    static const int32_t columns[] = {0, 4, 4, 4, 0, 1, 5, 5, 1, 2, 3, 3,
                                      0, 2, 3, 4, 1, 3, 4, 5, 1, 4, 5, 5};
    static const int64_t brp[] = {0, 1, 2, 3, 4, 5, 6};
    spry_matrix *A = layouts_example(*state, SPRY_TYPE_D);
    layout *L = NULL;
    assert_ok(*state, layout_build(A, "axc:HBRS=4", &L));
    assert_int_equal(L->stored, 24);
    assert_memory_equal(L->array[AXC_AX].data, ax, sizeof ax);
    assert_memory_equal(L->array[AXC_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[AXC_BRP].data, brp, sizeof brp);
    layout_free(L);
    spry_matrix_free(A);
}

/* A product leaves its x in the bricks, and the values alone. */
static void test_kept(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 6}, expected[] = {0, 39, 66, 80, 175, 12};
    spry_matrix *A = layouts_example(*state, SPRY_TYPE_D);
    layout *plain = NULL, *L = NULL;
    assert_ok(*state, layout_build(A, "axc:HBRS=4", &plain));
    assert_ok(*state, layout_build(A, "axc:HBRS=4,refresh=array", &L));
    assert_int_equal(L->stored, 24);
    assert_int_equal(L->array[AXC_AX].count, 48);
    assert_int_equal(L->unit_rows, 0);
    double y[6];
    const host_product p = {.alpha = {1, 0}, .x = x, .y = y};
    host_walk_for(L)->multiply(L, 0, L->units, &p);
    assert_memory_equal(y, expected, sizeof y);
    const double *ax = L->array[AXC_AX].data, *values = plain->array[AXC_AX].data;
    const int32_t *columns = L->array[AXC_COLUMNS].data;
    for (int k = 0; k < 24; k++) {
        const int at = k / 4 * 8 + k % 4;
        assert_true(ax[at] == values[k] && ax[at + 4] == x[columns[k]]);
    }
    layout_free(plain);
    layout_free(L);
    spry_matrix_free(A);
}

/* Where x is gathered does not show in the bits. */
static void test_same_as_kept(void **state)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    for (int t = 0; t < 4; t++)
        for (int HBRS = 4; HBRS <= 32; HBRS += 4) {
            const support_recipe recipe = {.type = support_types[t],
                                           .format = SPRY_FORMAT_CSR,
                                           .rows = 300,
                                           .cols = 211,
                                           .nnz = 5000,
                                           .shape = SUPPORT_ONE_ROW,
                                           .seed = 5,
                                           .sorted = true};
            spry_matrix *A = support_matrix(*state, &recipe);
            void *x = numeric_array(recipe.type, 211, 0, 3);
            spry_vector *vx = numeric_vector(*state, recipe.type, 211, x), *y[2] = {NULL, NULL};
            for (int kept = 0; kept < 2; kept++) {
                char spec[64];
                spry_operator *op = NULL;
                snprintf(spec, sizeof spec, "axc:HBRS=%d,refresh=%s", HBRS,
                         kept ? "array" : "none");
                assert_ok(*state, host_layout_operator(A, spec, &op));
                assert_ok(*state, spry_vector_ones(*state, A, &y[kept]));
                assert_ok(*state,
                          spry_operator_multiply(op, SPRY_TRANSPOSE_NO, one, vx, zero, y[kept]));
                spry_operator_free(op);
                layouts_check(*state, A, spec);
            }
            assert_memory_equal(y[0]->data, y[1]->data, 300 * spry_type_size(recipe.type));
            numeric_free(recipe.type, x, 0);
            spry_vector_free(vx);
            spry_vector_free(y[0]);
            spry_vector_free(y[1]);
            spry_matrix_free(A);
        }
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
    layouts_same_bits(&recipe, "axc");
    layouts_same_bits(&recipe, "axc:HBRS=4,refresh=array");
}

static void test_wrong(void **state)
{
    spry_matrix *A = layouts_example(*state, SPRY_TYPE_D);
    layout *L = NULL;
    layout_forecast f;
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_build(A, "axc:HBRS=6", &L));
    support_message_has(*state, "HBRS is 6");
    assert_status(*state, SPRY_STATUS_BAD_USAGE, layout_estimate(A, "axc:HBRS=6", &f));
    layouts_torture(*state, A, "axc");
    layouts_torture(*state, A, "axc:refresh=array");
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_kept, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_same_as_kept, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
