/* Dense blocks: the arrays of a small matrix, sizes that are found, all sizes, units that cut block
 * rows. */
#include "support/generated.h"
#include "support/layouts.h"

#include "formats/bsr/bsr.h"
#include "host/walk.h"

#include <stdlib.h>

/* The matrix of docs/formats. */
static const double picture[36] = {10, 0, 0, 0, -2, 0, 3, 9, 0, 0, 0, 3,  0, 7, 8, 7, 0, 0,
                                   3,  0, 8, 7, 5,  0, 0, 8, 0, 9, 9, 13, 0, 4, 0, 0, 2, -1};

static void test_arrays(void **state)
{
    static const int32_t columns[] = {0, 4, 0, 2, 4, 1, 3, 4};
    static const int64_t offsets[] = {0, 2, 5, 8};
    static const double values[] = {10, 3, 0, 9, -2, 0, 0, 3, 0, 3, 7, 0, 8, 8, 7,  7,
                                    0,  5, 0, 0, 8,  4, 0, 0, 9, 0, 9, 2, 0, 0, 13, -1};
    /* which places are entries, block by block: columns of two from the lowest bit on */
    static const uint8_t entries[] = {0xb, 0x9, 0x6, 0xf, 0x2, 0x3, 0xd, 0xc};
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 6, 6, picture);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "bsr:r=2,c=2", &L));
    assert_int_equal(L->array[BSR_COLUMNS].count, 8);
    assert_memory_equal(L->array[BSR_COLUMNS].data, columns, sizeof columns);
    assert_memory_equal(L->array[BSR_OFFSETS].data, offsets, sizeof offsets);
    assert_memory_equal(L->array[BSR_VALUES].data, values, sizeof values);
    assert_memory_equal(L->array[BSR_ENTRIES].data, entries, sizeof entries);
    layout_free(L);
    spry_matrix_free(A);
}

static void found(spry_context *ctx, const char *kind, const char *options, const char *expected)
{
    spry_matrix *A = generated(ctx, kind, options);
    layout *L = NULL;
    assert_ok(ctx, layout_build(A, "bsr", &L));
    assert_string_equal(L->params, expected);
    layout_free(L);
    layouts_check(ctx, A, "bsr");
    spry_matrix_free(A);
}

static void test_sizes_found(void **state)
{
    found(*state, "elasticity", "size=8", "r=3,c=3");
    found(*state, "elasticity", "size=6,type=z", "r=3,c=3");
    found(*state, "tridiagonal", "size=5000", "r=1,c=3");
    found(*state, "dense", "size=64", "r=8,c=8");
}

/* Every size of blocks, with rows and columns that are no multiples of it. */
static void test_all_sizes(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A =
            support_sorted(ctx, support_types[t], SUPPORT_BANDED, 1031, 1030, 6000, 11);
        for (int size = 0; size < 64; size++) {
            char spec[64];
            snprintf(spec, sizeof spec, "bsr:r=%d,c=%d%s", size / 8 + 1, size % 8 + 1,
                     size % 3 == t ? ",values=f32" : "");
            layouts_check(ctx, A, spec);
        }
        spry_matrix_free(A);
    }
}

/* Rows computed by ranges, whose ends cut blocks, are those of the whole product. */
static void test_ranges(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = generated(ctx, "elasticity", "size=12");
    const int64_t n = A->a.rows;
    spry_operator *op = NULL;
    operator_rows rows = {0};
    double *x = numeric_array(SPRY_TYPE_D, n, 1, 5);
    double *y = malloc((size_t)n * sizeof *y), *z = malloc((size_t)n * sizeof *z);
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, "bsr:r=3,c=3", &op));
    assert_ok(ctx, operator_open_rows(op, SPRY_TRANSPOSE_NO, &rows));
    assert_non_null(rows.run);
    spry_vector *vx = numeric_vector(ctx, SPRY_TYPE_D, n, x),
                *vy = numeric_vector(ctx, SPRY_TYPE_D, n, y);
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, vx,
                                          (spry_scalar){0, 0}, vy));
    for (int64_t begin = 0; begin < n; begin += OPERATOR_GRAIN) {
        const int64_t end = begin + OPERATOR_GRAIN < n ? begin + OPERATOR_GRAIN : n;
        rows.run(&rows, begin, end, x, z + begin);
    }
    assert_memory_equal(y, z, (size_t)n * sizeof *y);
    spry_vector_free(vx);
    spry_vector_free(vy);
    numeric_free(SPRY_TYPE_D, x, 1);
    free(y);
    free(z);
    spry_operator_free(op);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arrays, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sizes_found, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_all_sizes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ranges, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
