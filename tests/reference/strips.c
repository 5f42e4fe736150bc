/*
 * Absorbing strips: a strip's operator is that of the whole grid between its cuts, one strip is the
 * inverse, several bring few iterations where none brings many, and sweeps keep these few with more
 * of them.
 */
#include "operator/operator.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PI 3.14159265358979323846

/* k that varies with the place by up to a tenth, with a wavelength of `data` on the average. */
static void medium(void *data, const double *place, spry_scalar *value)
{
    const double k = 2 * PI / *(const double *)data *
                     (1 + 0.1 * sin(3 * place[0] + 2 * place[1]) * cos(place[2]));
    *value = (spry_scalar){k * k, 0};
}

typedef struct waves {
    spry_grid *grid;
    spry_grid_info info;
    spry_operator *A;
    spry_type type;
} waves;

static waves waves_new(spry_context *ctx, const char *grid, const char *options, double wavelength)
{
    waves w = {.info = SPRY_GRID_INFO_INIT};
    spry_vector *k2 = NULL;
    assert_ok(ctx, spry_grid_new(ctx, grid, &w.grid));
    assert_ok(ctx, spry_grid_describe(w.grid, &w.info));
    assert_ok(ctx, spry_field_new(w.grid, SPRY_TYPE_D, true, medium, &wavelength, &k2));
    assert_ok(ctx, spry_operator_helmholtz(w.grid, k2, options, &w.A, NULL));
    w.type = spry_operator_type(w.A);
    spry_vector_free(k2);
    return w;
}

static void waves_free(waves *w)
{
    spry_operator_free(w->A);
    spry_grid_free(w->grid);
}

static spry_vector *zeros(const waves *w)
{
    spry_vector *v = NULL;
    assert_ok(w->A->ctx, spry_field_new(w->grid, w->type, false, NULL, NULL, &v));
    return v;
}

/* --- what a strip solves -------------------------------------------------------------------------
 */

/* |M A x - x| as a part of |x|, for random x that is 0 where `margin` is more than the distance to
 * the nearest of the cuts between so many strips along an axis. */
static double defect(const waves *w, const char *spec, int axis, int strips, int64_t margin)
{
    spry_context *ctx = w->A->ctx;
    const spry_grid_info *g = &w->info;
    spry_vector *x = zeros(w), *r = zeros(w), *z = zeros(w);
    spry_operator *M = NULL;
    double error = 0, size = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const int64_t at[] = {i % g->axis_unknowns[0],
                              i / g->axis_unknowns[0] % g->axis_unknowns[1],
                              i / g->axis_unknowns[0] / g->axis_unknowns[1]};
        bool inside = true;
        for (int k = 1; k < strips; k++) {
            const int64_t cut = g->axis_unknowns[axis] * k / strips;
            inside = inside && (at[axis] < cut - margin || at[axis] >= cut + margin);
        }
        if (inside)
            value_set(x->type, x->data, i,
                      (spry_scalar){sin(12.9 * (double)i) + 0.3, cos(78.2 * (double)i)});
    }
    assert_ok(ctx, spry_precon_for_operator(w->A, NULL, spec, &M));
    assert_ok(ctx, spry_operator_apply(w->A, x, r));
    assert_ok(ctx, spry_operator_apply(M, r, z));
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar a = value_get(x->type, x->data, i), b = value_get(z->type, z->data, i);
        error = fmax(error, hypot(a.re - b.re, a.im - b.im));
        size = fmax(size, hypot(a.re, a.im));
    }
    spry_operator_free(M);
    spry_vector_free(x);
    spry_vector_free(r);
    spry_vector_free(z);
    assert_true(size > 0.5);
    return error / size;
}

/* Where x vanishes around cuts, A x is 0 in what a strip has of others, and solving it gives x
 * back: its rows are those of A, of whatever scheme, medium and faces. The condition of a box
 * of few wavelengths with layers, some hundreds, is multiplied by what factors grow by; 1e-10 and
 * 1e-2 are far above both, and what one wrong number of a row makes is far above them: without the
 * medium of the other strips, say, more than 0.1. */
static void rows(void **state)
{
    static const struct {
        const char *grid, *options, *spec;
        int axis, strips;
        double wavelength;
    } cases[] = {
        {"24x20 boundary=absorb layer=5", "scheme=optimal", "strips:parts=1", 0, 1, 0.4},
        {"24x40 boundary=absorb layer=5", "scheme=second", "strips:parts=3", 1, 3, 0.4},
        {"40x24 boundary=absorb layer=5", "scheme=compact4", "strips:parts=3", 0, 3, 0.4},
        {"24x40 boundary=absorb layer=5", "scheme=optimal symmetric=no", "strips:parts=3,overlap=3",
         1, 3, 0.4},
        {"24x40 y=absorb x=neumann:dirichlet layer=5", "scheme=optimal layer=damp",
         "strips:parts=2,layer=3", 1, 2, 0.4},
        {"24x30 x=periodic", "scheme=optimal", "strips:parts=2,axis=y,layer=4", 1, 2, 0.4},
        {"40x24 boundary=absorb layer=5", "scheme=optimal type=c", "strips:axis=x,parts=3,sweeps=1",
         0, 3, 0.4},
        {"9x8x24 boundary=absorb layer=3", "scheme=optimal", "strips:parts=2,layer=4,sweeps=2", 2,
         2, 0.7},
        {"60 boundary=absorb layer=8", "scheme=optimal", "strips:parts=4,layer=4", 0, 4, 0.2}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        const bool single = strstr(cases[k].options, "type=c") != NULL;
        waves w = waves_new(*state, cases[k].grid, cases[k].options, cases[k].wavelength);
        const double most = single ? 1e-2 : 1e-10;
        /* a point is coupled with the next one, and the overlap is 3 at most */
        const double left =
            defect(&w, cases[k].spec, cases[k].axis, cases[k].strips, cases[k].strips > 1 ? 4 : 0);
        if (!(left <= most))
            fail_msg("%s, %s, %s: %.3g is left", cases[k].grid, cases[k].options, cases[k].spec,
                     left);
        waves_free(&w);
    }
}

/* --- iterations ----------------------------------------------------------------------------------
 */

static int64_t iterations(const waves *w, const char *options)
{
    spry_context *ctx = w->A->ctx;
    spry_result result = SPRY_RESULT_INIT;
    spry_vector *b = NULL, *x = zeros(w);
    spry_solver *solver = NULL;
    assert_ok(ctx, spry_field_wave(w->grid, w->type, false, "kind=point at=0.4:0.3", &b));
    assert_ok(ctx, spry_stencil_rhs(w->A, b, NULL, NULL, b));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, w->A));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    const int64_t count = result.iterations;
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    return count;
}

/* One strip is the inverse. Were layers perfect, a wave would need an iteration for each strip that
 * it has to cross and one for the rest, on the way forth and back; what they send back is to cost
 * less than that again. In sweeps it would need one whatever the strips. */
static void counts(void **state)
{
    char options[96];
    waves w =
        waves_new(*state, "20x48 box=0:1,0:2.4 boundary=absorb layer=6", "scheme=optimal", 0.4);
    assert_in_range(iterations(&w, "method=gmres precon=strips tol=1e-8"), 1, 2);
    const int64_t plain = iterations(&w, "method=cocr precon=none tol=1e-6");
    int64_t swept[2];
    for (int k = 0; k < 2; k++) {
        const int parts = k == 0 ? 2 : 8;
        snprintf(options, sizeof options, "method=gmres precon=strips:parts=%d tol=1e-6", parts);
        const int64_t at_once = iterations(&w, options);
        assert_in_range(at_once, 2, 4 * (parts + 1));
        assert_true(at_once < plain / 4);
        snprintf(options, sizeof options, "method=gmres precon=strips:parts=%d,sweeps=1 tol=1e-6",
                 parts);
        swept[k] = iterations(&w, options);
        assert_true(swept[k] <= at_once);
    }
    assert_true(swept[1] <= swept[0] + 4);
    assert_true(iterations(&w, "method=bicgstab precon=strips:parts=3,sweeps=1,layer=4 tol=1e-6") <
                20);
    assert_true(iterations(&w, "method=gmres tol=1e-6 "
                               "precon=strips:parts=2,sub=[direct:precision=single]") < 20);
    waves_free(&w);
}

/* --- what is refused -----------------------------------------------------------------------------
 */

static void refuse(const waves *w, const char *spec, spry_status expected, const char *says)
{
    spry_operator *M = NULL;
    const spry_status status = spry_precon_for_operator(w->A, NULL, spec, &M);
    assert_int_equal(status, expected);
    assert_null(M);
    if (!strstr(spry_message(w->A->ctx), says))
        fail_msg("%s: \"%s\" does not say \"%s\"", spec, spry_message(w->A->ctx), says);
}

static void refused(void **state)
{
    spry_context *ctx = *state;
    waves w = waves_new(ctx, "24x30 boundary=absorb layer=5", "scheme=second", 0.5);
    refuse(&w, "strips:parts=30", SPRY_STATUS_BAD_USAGE, "30 strips along y, which has 29");
    refuse(&w, "strips:parts=2,axis=z", SPRY_STATUS_BAD_USAGE, "no such axis");
    refuse(&w, "strips:sub=none", SPRY_STATUS_BAD_USAGE, "sub=none");
    refuse(&w, "strips:sub=nothing", SPRY_STATUS_BAD_USAGE, "nothing");
    refuse(&w, "strips:precision=single", SPRY_STATUS_UNSUPPORTED, "direct:precision=single");
    refuse(&w, "strips:sub=[direct:kind=sparse,most=1e-30]", SPRY_STATUS_UNSUPPORTED, "forecast");
    const int64_t limit = ctx->options.memory_limit;
    ctx->options.memory_limit = ctx->memory_now + 400000;
    refuse(&w, "strips:sub=[direct:kind=sparse]", SPRY_STATUS_NO_MEMORY, "memory");
    ctx->options.memory_limit = limit;

    spry_matrix *A = NULL;
    spry_operator *M = NULL;
    assert_ok(ctx, spry_operator_to_matrix(w.A, &A));
    assert_int_equal(spry_precon_new(A, NULL, "strips", &M), SPRY_STATUS_UNSUPPORTED);
    assert_non_null(strstr(spry_message(ctx), "precon schwarz takes matrices"));
    spry_matrix_free(A);
    spry_operator_free(w.A);
    assert_ok(ctx, spry_operator_stencil(w.grid, "laplace + 900", "type=z", 0, NULL, NULL, &w.A));
    refuse(&w, "strips", SPRY_STATUS_BAD_USAGE, "spry_operator_helmholtz()");
    waves_free(&w);

    w = waves_new(ctx, "12x12", "type=d", 0.5);
    refuse(&w, "strips", SPRY_STATUS_BAD_USAGE, "type=z");
    waves_free(&w);
    w = waves_new(ctx, "12x12 boundary=periodic", "", 0.5);
    refuse(&w, "strips:parts=2", SPRY_STATUS_UNSUPPORTED, "periodic");
    assert_true(defect(&w, "strips", 0, 1, 0) < 1e-8);
    waves_free(&w);
}

static spry_status life(spry_context *ctx, void *data)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL, *M = NULL;
    spry_vector *k2 = NULL, *b = NULL, *x = NULL;
    double wavelength = 0.5;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_grid_new(ctx, "9x14 boundary=absorb layer=3", &grid));
    SPRY_GO(ctx, spry_field_new(grid, SPRY_TYPE_D, true, medium, &wavelength, &k2));
    SPRY_GO(ctx, spry_operator_helmholtz(grid, k2, "scheme=second", &A, NULL));
    SPRY_GO(ctx, spry_precon_for_operator(A, NULL, data, &M));
    SPRY_GO(ctx, spry_field_wave(grid, SPRY_TYPE_Z, false, "kind=point at=0.4:0.3", &b));
    SPRY_GO(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &x));
    SPRY_GO(ctx, spry_operator_apply(M, b, x));
done:
    spry_operator_free(M);
    spry_operator_free(A);
    spry_grid_free(grid);
    spry_vector_free(k2);
    spry_vector_free(b);
    spry_vector_free(x);
    return status;
}

static void torture(void **state)
{
    char spec[] = "strips:parts=2,layer=2,sweeps=1,sub=[direct:kind=band]";
    support_torture(*state, life, spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(counts, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(refused, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
