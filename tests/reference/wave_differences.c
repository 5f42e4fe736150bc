/*
 * Waves by the Born series against those by differences: what a smooth scatterer makes of a plane
 * wave, on the same points. The first has a laplace that is exact on the grid, so that the
 * difference falls with the order of the second, down to what the layers of both send back.
 */
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Lengths are wavelengths outside of the scatterer, whose k^2 is higher by less than a half; half a
 * wavelength from its middle 0.2% of that are left, at the faces of the box 4e-6. */
static const double CONTRAST = 0.4, WIDTH = 0.2;

static double contrast_at(const double *place)
{
    const double r = hypot(hypot(place[0], place[1]), place[2]) / WIDTH;
    return 4 * PI * PI * CONTRAST * exp(-r * r / 2);
}

static void medium(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){4 * PI * PI + contrast_at(place), 0};
}

/* What a wave along x sends out there. */
static void source(void *data, const double *place, spry_scalar *value)
{
    const double f = -contrast_at(place), phase = 2 * PI * place[0];
    (void)data;
    *value = (spry_scalar){f * cos(phase), f * sin(phase)};
}

static spry_grid *grid_of(spry_context *ctx, int dimensions, int intervals, int half,
                          const char *faces)
{
    char text[120];
    spry_grid *grid;
    if (dimensions == 2)
        snprintf(text, sizeof text, "%dx%d box=-%d:%d %s", intervals, intervals, half, half, faces);
    else
        snprintf(text, sizeof text, "%dx%dx%d box=-%d:%d %s", intervals, intervals, intervals, half,
                 half, faces);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    return grid;
}

/* A box of two wavelengths, with layers around it that are the solver's own. */
static spry_vector *by_series(spry_context *ctx, const spry_grid *grid, int layer)
{
    char options[60];
    spry_vector *k2, *f, *u;
    spry_wave *wave;
    spry_result result = SPRY_RESULT_INIT;
    snprintf(options, sizeof options, "tol=1e-5 layer=%d", layer);
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, medium, NULL, &k2));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, source, NULL, &f));
    assert_ok(ctx, spry_vector_like(f, f->n, &u));
    assert_ok(ctx, spry_wave_new(grid, k2, options, &wave));
    assert_ok(ctx, spry_wave_solve(wave, f, u, &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_vector_free(f);
    return u;
}

/* The layers are a part of the grid. */
static spry_vector *by_differences(spry_context *ctx, const spry_grid *grid, const char *scheme)
{
    char options[60];
    spry_vector *k2, *f, *u;
    spry_operator *A;
    spry_matrix *M;
    snprintf(options, sizeof options, "scheme=%s layer=pml", scheme);
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, medium, NULL, &k2));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, source, NULL, &f));
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, &A, NULL));
    assert_ok(ctx, spry_stencil_rhs(A, f, NULL, NULL, f));
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, spry_vector_like(f, f->n, &u));
    assert_ok(ctx, spry_vector_fill(u, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_quick_solve(ctx, M, f, u, "precon=direct", NULL));
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_vector_free(k2);
    spry_vector_free(f);
    return u;
}

/* The root mean square of the difference in the box, over that of the field. */
static double difference(spry_context *ctx, int dimensions, int points, int width,
                         const char *scheme)
{
    char faces[60];
    snprintf(faces, sizeof faces, "boundary=absorb layer=%d", width * points);
    spry_grid *box = grid_of(ctx, dimensions, 2 * points, 1, "boundary=neumann");
    spry_grid *wide = grid_of(ctx, dimensions, 2 * (1 + width) * points, 1 + width, faces);
    spry_vector *u = by_series(ctx, box, (dimensions == 2 ? 4 : 2) * points),
                *v = by_differences(ctx, wide, scheme);
    double off = 0, size = 0;
    int64_t found = 0;
    for (int64_t i = 0; i < v->n && found < u->n; i++) { /* the box's points come in its order */
        double here[3] = {0}, there[3] = {0}, apart = 0;
        assert_ok(ctx, spry_grid_place(box, false, found, here));
        assert_ok(ctx, spry_grid_place(wide, false, i, there));
        for (int a = 0; a < 3; a++)
            apart = fmax(apart, fabs(here[a] - there[a]));
        if (apart > 1e-9)
            continue;
        const spry_scalar a = value_get(u->type, u->data, found++);
        const spry_scalar b = value_get(v->type, v->data, i);
        off += pow(a.re - b.re, 2) + pow(a.im - b.im, 2);
        size += pow(a.re, 2) + pow(a.im, 2);
    }
    assert_int_equal(found, u->n);
    spry_vector_free(u);
    spry_vector_free(v);
    spry_grid_free(box);
    spry_grid_free(wide);
    return sqrt(off / size);
}

/* A third of an order may be missing: terms of the next orders, and 2e-3 that layers send back. */
static void orders(void **state)
{
    static const struct {
        const char *scheme;
        int order, coarse, fine;
    } cases[] = {{"second", 2, 6, 9}, {"compact4", 4, 5, 7}};
    for (int c = 0; c < 2; c++) {
        const double coarse = difference(*state, 2, cases[c].coarse, 3, cases[c].scheme),
                     fine = difference(*state, 2, cases[c].fine, 3, cases[c].scheme);
        const double order =
            log(coarse / fine) / log((double)cases[c].fine / (double)cases[c].coarse);
        print_message("%s: %.3g off with %d points per wavelength, %.3g with %d: order %.2f\n",
                      cases[c].scheme, coarse, cases[c].coarse, fine, cases[c].fine, order);
        assert_true(order > cases[c].order - 0.35);
    }
}

/* In space, with layers of one wavelength for differences, of which 4% come back, and of two for
 * the series: 1% (docs/waves.md, docs/born.md). */
static void in_space(void **state)
{
    const double off = difference(*state, 3, 5, 1, "optimal");
    print_message("3-D, 5 points per wavelength: optimal is %.3g off\n", off);
    assert_true(off < 0.05);
}

/* --- the series before differences ---------------------------------------------------------------
 */

static spry_status by_waves(void *wave, spry_transpose transpose, const spry_vector *f,
                            spry_vector *u, void *stream)
{
    (void)transpose;
    (void)stream;
    return spry_wave_solve(wave, f, u, NULL);
}

/* A few steps of the series in the place of the inverse, as docs/born.md has it. */
static void as_preconditioner(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid = grid_of(ctx, 2, 36, 3, "boundary=absorb layer=6");
    spry_vector *k2, *inside, *f, *u;
    spry_wave *wave;
    spry_operator *A, *M;
    int64_t counts[2];
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, medium, NULL, &k2));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, false, medium, NULL, &inside));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, source, NULL, &f));
    assert_ok(ctx, spry_vector_like(f, f->n, &u));
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, "scheme=compact4 layer=pml", &A, NULL));
    assert_ok(ctx, spry_stencil_rhs(A, f, NULL, NULL, f));
    assert_ok(ctx, spry_wave_new(grid, inside, "tol=1e-2 layer=6", &wave));
    assert_ok(ctx, spry_operator_from_product(ctx, NULL, SPRY_TYPE_Z, f->n, f->n, false, by_waves,
                                              wave, &M));
    for (int k = 0; k < 2; k++) {
        spry_solver *solver;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=fgmres:restart=100 precon=none tol=1e-6"));
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        if (k == 1)
            assert_ok(ctx, spry_solver_set_precon(solver, M));
        assert_ok(ctx, spry_vector_fill(u, (spry_scalar){0, 0}));
        assert_ok(ctx, spry_solve(solver, f, u, &result));
        assert_true(result.converged);
        counts[k] = result.iterations;
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
    }
    print_message("%d iterations, %d with the series\n", (int)counts[0], (int)counts[1]);
    assert_true(4 * counts[1] < counts[0]);
    spry_operator_free(M);
    spry_operator_free(A);
    spry_wave_free(wave);
    spry_vector_free(k2);
    spry_vector_free(inside);
    spry_vector_free(f);
    spry_vector_free(u);
    spry_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_preconditioner, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(orders, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(in_space, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
