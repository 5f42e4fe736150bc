/*
 * Fourier transforms of fields against sums in long double, axis by axis: all radices of ours and
 * others, one to three axes, both types, any number of threads; unitary, its own transpose.
 */
#include "support/numeric.h"
#include "support/transforms.h"

static spry_operator *fourier_of(spry_context *ctx, const int n[3], const char *options)
{
    char text[96];
    spry_grid *grid;
    spry_operator *F;
    int used = snprintf(text, sizeof text, "%d", n[0]);
    for (int a = 1; a < 3 && n[a] > 1; a++)
        used += snprintf(text + used, sizeof text - (size_t)used, "x%d", n[a]);
    snprintf(text + used, sizeof text - (size_t)used, " boundary=periodic");
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    assert_ok(ctx, spry_operator_fourier(grid, options, &F));
    spry_grid_free(grid);
    return F;
}

static void check_shape(spry_context *ctx, const int n[3])
{
    for (int t = 0; t < 2; t++) {
        spry_operator *F = fourier_of(ctx, n, t == 0 ? "type=c" : "type=z");
        transforms_check(F, n);
        spry_operator_free(F);
    }
}

static void lines(void **state)
{
    for (int n = 2; n <= 66; n++)
        check_shape(*state, (const int[]){n, 1, 1});
    check_shape(*state, (const int[]){240, 1, 1});
    check_shape(*state, (const int[]){11 * 13, 1, 1});
}

static void planes_and_boxes(void **state)
{
    static const int shapes[][3] = {{12, 10, 1}, {9, 7, 1},  {2, 40, 1},  {17, 30, 1},
                                    {6, 5, 4},   {10, 9, 8}, {17, 3, 12}, {2, 2, 50}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_shape(*state, shapes[i]);
}

/* Bits do not depend on threads. */
static void threads_alike(void **state)
{
    (void)state;
    static const int n[] = {24, 30, 25}; /* enough for several threads to be used */
    spry_vector *first = NULL;
    spry_context *ctx[2];
    for (int k = 0; k < 2; k++) {
        ctx[k] = support_context(k == 0 ? "threads=1" : "threads=3");
        spry_operator *F = fourier_of(ctx[k], n, NULL);
        spry_vector *x = numeric_random(ctx[k], NULL, F->type, F->rows, 7);
        spry_vector *y = numeric_random(ctx[k], NULL, F->type, F->rows, 0);
        assert_ok(ctx[k], spry_operator_apply(F, x, y));
        if (first)
            assert_memory_equal(first->data, y->data, (size_t)y->n * spry_type_size(y->type));
        spry_vector_free(x);
        if (k == 0)
            first = y;
        else
            spry_vector_free(y);
        spry_operator_free(F);
    }
    spry_vector_free(first);
    support_context_free(ctx[0]);
    support_context_free(ctx[1]);
}

static spry_status make_and_run(spry_context *ctx, void *data)
{
    const spry_grid *grid = data;
    spry_operator *F = NULL;
    spry_vector *x = NULL, *y = NULL;
    spry_status status = spry_operator_fourier(grid, "type=c", &F);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(ctx, SPRY_TYPE_C, F->rows, NULL, SPRY_OWN_COPY, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_like(x, x->n, &y);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(F, x, y);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_operator_free(F);
    return status;
}

static void failures(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_operator *F;
    assert_ok(ctx, spry_grid_new(ctx, "5x6x7", &grid));
    support_torture(ctx, make_and_run, grid);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_fourier(grid, "type=d", &F));
    assert_null(F);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_fourier(grid, "typ=c", &F));
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(planes_and_boxes, support_setup, support_teardown),
        cmocka_unit_test(threads_alike),
        cmocka_unit_test_setup_teardown(failures, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
