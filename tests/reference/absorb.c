/* Absorbing layers: their profiles, and how little of a wave comes back from one. */
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static spry_vector *layer_of(spry_context *ctx, const char *text, spry_type type,
                             const char *options)
{
    spry_grid *grid;
    spry_vector *v;
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_field_absorb(grid, type, options, &v));
    spry_grid_free(grid);
    return v;
}

static void assert_value(const spry_vector *v, int64_t i, double re, double im)
{
    const spry_scalar value = value_get(v->type, v->data, i);
    assert_true(value.re == re && value.im == im);
}

/* Depths are quarters and powers of two, so that all is exact. */
static void profiles(void **state)
{
    static const double low[] = {32, 18, 8, 2, 0, 0, 0, 0, 0};
    spry_vector *v =
        layer_of(*state, "8x2 box=0:8 x=absorb:neumann layer=4", SPRY_TYPE_D, "strength=32 axis=x");
    assert_int_equal(v->n, 9 * 3);
    for (int i = 0; i < 27; i++)
        assert_true(((double *)v->data)[i] == low[i % 9]);
    spry_vector_free(v);
    v = layer_of(*state, "8x8 box=0:8 boundary=absorb y=periodic layer=2", SPRY_TYPE_S, "power=1");
    for (int i = 0; i < 9; i++)
        assert_true((double)((float *)v->data)[i] == (i < 2 ? 2 - i : i > 6 ? i - 6 : 0) / 2.0);
    spry_vector_free(v);
    /* both axes: 1 added to 1, and 1 / (1 + i) twice */
    v = layer_of(*state, "8x8 box=0:8 boundary=absorb layer=2", SPRY_TYPE_D, NULL);
    assert_true(((double *)v->data)[0] == 2 && ((double *)v->data)[4] == 1 &&
                ((double *)v->data)[4 * 9 + 4] == 0);
    spry_vector_free(v);
    v = layer_of(*state, "8x8 box=0:8 boundary=absorb layer=2", SPRY_TYPE_Z, "kind=stretch");
    const spry_scalar corner = value_get(v->type, v->data, 0),
                      edge = value_get(v->type, v->data, 4),
                      inside = value_get(v->type, v->data, 4 * 9 + 4);
    assert_true(corner.re == 0 && corner.im == -0.5 && edge.re == 0.5 && edge.im == -0.5);
    assert_true(inside.re == 1 && inside.im == 0);
    spry_vector_free(v);
    /* s = 1 + i at faces: s_y / s_x is 1 at a corner, 1 / s in the middle of a face of x and s of
     * one of y; s_x s_y = 2 i at a corner */
    v = layer_of(*state, "8x8 box=0:8 boundary=absorb layer=2", SPRY_TYPE_Z, "kind=pml axis=x");
    assert_value(v, 0, 1, 0);
    assert_value(v, 4 * 9, 0.5, -0.5);
    assert_value(v, 4, 1, 1);
    assert_value(v, 4 * 9 + 4, 1, 0);
    spry_vector_free(v);
    v = layer_of(*state, "8x8 box=0:8 boundary=absorb layer=2", SPRY_TYPE_Z, "kind=pml");
    assert_value(v, 0, 0, 2);
    assert_value(v, 4, 1, 1);
    assert_value(v, 4 * 9 + 4, 1, 0);
    spry_vector_free(v);
}

/* How much |u| differs from place to place between the source in the middle and the layers, over
 * its mean: what comes back adds to the wave here and takes away from it there. */
static double ripple(spry_context *ctx, int n, const char *faces)
{
    const char *names[] = {"a"};
    char text[64];
    spry_grid *grid;
    spry_operator *A;
    spry_matrix *M;
    spry_vector *a, *b, *x;
    double most = 0, least = INFINITY;
    snprintf(text, sizeof text, "%d %s layer=%d", n, faces, n / 5);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_field_absorb(grid, SPRY_TYPE_Z, "kind=stretch strength=4", &a));
    assert_ok(ctx, spry_operator_stencil(grid, "-a*div(a*grad) - 900", "type=z", 1, names,
                                         (const spry_vector *[]){a}, &A));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &b));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &x));
    value_set(SPRY_TYPE_Z, b->data, n / 2 - 1, (spry_scalar){n, 0});
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, spry_quick_solve(ctx, M, b, x, "precon=direct", NULL));
    for (int i = n / 5; i < 2 * n / 5; i++) {
        const spry_scalar u = value_get(SPRY_TYPE_Z, x->data, i);
        most = fmax(most, hypot(u.re, u.im));
        least = fmin(least, hypot(u.re, u.im));
    }
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_vector_free(a);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_grid_free(grid);
    return 2 * (most - least) / (most + least);
}

/* Waves of number 30 through a layer of 1/5: there and back exp(-2 30 4 / 5 / 3) = 1e-7 is left of
 * them. What is seen is of the differences, of order 2, so that twice as many points leave a
 * quarter; without a layer all of it comes back. */
static void waves(void **state)
{
    const double coarse = ripple(*state, 300, "x=absorb"), fine = ripple(*state, 600, "x=absorb"),
                 bare = ripple(*state, 300, "x=dirichlet");
    print_message("ripples: %.3g, %.3g, without layers %.3g\n", coarse, fine, bare);
    assert_true(coarse < 0.001 && coarse / fine > 3);
    assert_true(bare > 1);
}

static void faults(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_vector *v;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_new(ctx, "8 x=absorb layer=4", &grid));
    support_message_has(ctx, "layers of 8 intervals along x");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_grid_new(ctx, "8 x=absorb:periodic", &grid));
    assert_ok(ctx, spry_grid_new(ctx, "8 x=absorb layer=2", &grid));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_field_absorb(grid, SPRY_TYPE_D, "axis=y", &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_field_absorb(grid, SPRY_TYPE_D, "kind=stretch", &v));
    support_message_has(ctx, "take c or z");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_field_absorb(grid, SPRY_TYPE_D, "width=2", &v));
    assert_null(v);
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(profiles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(waves, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
