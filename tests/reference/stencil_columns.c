/*
 * Stencils with several columns at once: those with fields, without, of waves, of all types, with
 * periodic faces and points of their own at others; the transposed ones, too.
 */
#include "support/columns.h"

#include "support/support.h"

#include <spry/spry.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void wavy(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1.5 + sin(7 * place[0]) * cos(5 * place[1]), sin(3 * place[0])};
}

static void check(spry_context *ctx, const char *size, const char *text, const char *options)
{
    static const char *const names[] = {"k"};
    static const int columns[] = {1, 2, 3, 5, 8, 17};
    spry_grid *grid;
    spry_vector *k;
    spry_operator *A;
    const bool complex = strstr(options, "type=c") || strstr(options, "type=z");
    assert_ok(ctx, spry_grid_new(ctx, size, &grid));
    assert_ok(ctx, spry_field_new(grid, complex ? SPRY_TYPE_Z : SPRY_TYPE_D, true, wavy, NULL, &k));
    assert_ok(ctx,
              spry_operator_stencil(grid, text, options, 1, names, (const spry_vector *[]){k}, &A));
    for (int c = 0; c < 6; c++)
        columns_check(A, SPRY_TRANSPOSE_NO, columns[c]);
    columns_check(A, SPRY_TRANSPOSE_YES, 3);
    columns_check(A, SPRY_TRANSPOSE_CONJUGATE, 9);
    spry_operator_free(A);
    spry_vector_free(k);
    spry_grid_free(grid);
}

static void test_stencils(void **state)
{
    check(*state, "13", "dx*k*dx + dx^2", "type=c order=4");
    check(*state, "9x7 y=periodic", "-div(k*grad) + k", "type=d");
    check(*state, "7x6x5 x=periodic,z=neumann", "-div(k*grad)", "type=s order=4");
    check(*state, "8x11x4", "-laplace + k", "type=z");
    check(*state, "6x5x4", "-laplace", "type=d"); /* without fields */
}

static void test_waves(void **state)
{
    static const char *const schemes[] = {"second", "compact4", "optimal"};
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_vector *k2;
    assert_ok(ctx, spry_grid_new(ctx, "9x8x7 box=0:9,0:8,0:7 boundary=absorb layer=2", &grid));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 1, NULL, SPRY_OWN_COPY, &k2));
    assert_ok(ctx, spry_vector_fill(k2, (spry_scalar){0.3, 0}));
    for (int i = 0; i < 3; i++) {
        char options[64];
        spry_operator *A;
        snprintf(options, sizeof options, "scheme=%s", schemes[i]);
        assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, &A, NULL));
        columns_check(A, SPRY_TRANSPOSE_NO, 5);
        spry_operator_free(A);
    }
    spry_vector_free(k2);
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stencils, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_waves, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
