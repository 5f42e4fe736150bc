/*
 * The Helmholtz equation: waves on the grid are those that are reported before a solve, solutions
 * fall with the order of their scheme, layers send back what they are said to, matrices are
 * symmetric where that is promised.
 */
#include "grid/helmholtz.h"
#include "support/support.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PI 3.14159265358979323846

static const char *const schemes[] = {"second", "compact4", "optimal"};
static const int orders[] = {2, 4, 4};

static spry_vector *constant_of(spry_context *ctx, double value)
{
    spry_vector *v;
    assert_ok(ctx, vector_new_at(ctx, NULL, SPRY_TYPE_D, 1, &v));
    ((double *)v->data)[0] = value;
    return v;
}

/* An operator with one k. */
static spry_operator *operator_of(const spry_grid *grid, double k, const char *options,
                                  spry_helmholtz_info *info)
{
    spry_operator *A;
    spry_vector *k2 = constant_of(grid->ctx, k * k);
    assert_ok(grid->ctx, spry_operator_helmholtz(grid, k2, options, &A, info));
    spry_vector_free(k2);
    return A;
}

/* --- waves on the grid ---------------------------------------------------------------------------
 */

typedef struct plane {
    double q, n[3];
} plane;

static double plane_phase(const plane *p, const double *place)
{
    return p->q * (p->n[0] * place[0] + p->n[1] * place[1] + p->n[2] * place[2]);
}

static void plane_value(void *data, const double *place, spry_scalar *value)
{
    const double phase = plane_phase(data, place);
    *value = (spry_scalar){cos(phase), sin(phase)};
}

static void plane_boundary(void *data, int axis, const double *place, spry_scalar *value)
{
    (void)axis;
    plane_value(data, place, value);
}

/* The wave that scheme_number() reports is one of the operator: A u + (what is known at faces) is
 * roundings. Each of a row's numbers, at most 64 that are added up, has few of these, and u those
 * of its phase, which is below 64. */
static void check_wave(const spry_grid *grid, const spry_operator *A, const wave_scheme *scheme,
                       double k, const double n[3])
{
    spry_context *ctx = grid->ctx;
    plane p = {scheme_number(scheme, &grid->shape, k, n), {n[0], n[1], n[2]}};
    spry_vector *u, *b;
    double size = 0;
    assert_true(p.q > 0);
    for (int a = 0; a < grid->shape.dimensions; a++)
        size += 8 / (grid->shape.axis[a].spacing * grid->shape.axis[a].spacing);
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, plane_value, &p, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, NULL, NULL, &b));
    assert_ok(ctx, spry_stencil_rhs(A, NULL, plane_boundary, &p, b));
    assert_ok(ctx, spry_operator_multiply(A, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, u,
                                          (spry_scalar){-1, 0}, b));
    for (int64_t i = 0; i < b->n; i++) {
        const spry_scalar r = value_get(b->type, b->data, i);
        if (!(hypot(r.re, r.im) <= 128 * DBL_EPSILON * (size + k * k)))
            fail_msg("k %g, direction %g %g %g: %.3g is left at %d", k, n[0], n[1], n[2],
                     hypot(r.re, r.im), (int)i);
    }
    spry_vector_free(u);
    spry_vector_free(b);
}

static wave_scheme scheme_of(const spry_grid *grid, int scheme, double k)
{
    return scheme == 0   ? (wave_scheme){0}
           : scheme == 1 ? scheme_compact4
                         : scheme_optimal(&grid->shape, k, k);
}

static void dispersion(void **state)
{
    static const char *const grids[] = {"12", "9x7 box=0:1,0:1.1", "6x5x7 box=0:1,0:0.9,0:1.2"};
    static const double directions[][3] = {{1, 0, 0}, {0.6, 0.8, 0}, {2.0 / 3, 1.0 / 3, 2.0 / 3}};
    spry_context *ctx = *state;
    for (int g = 0; g < 3; g++)
        for (int s = 0; s < 3; s++) {
            spry_grid *grid;
            spry_helmholtz_info info = SPRY_HELMHOLTZ_INFO_INIT;
            char options[64];
            assert_ok(ctx, spry_grid_new(ctx, grids[g], &grid));
            const double k = g == 0 ? 12 : 5;
            const wave_scheme scheme = scheme_of(grid, s, k);
            snprintf(options, sizeof options, "scheme=%s", schemes[s]);
            spry_operator *A = operator_of(grid, k, options, &info);
            for (int d = 0; d <= g; d++) {
                const double *n = directions[d];
                check_wave(grid, A, &scheme, k, n);
                const double q = scheme_number(&scheme, &grid->shape, k, n);
                /* reported for angles at equal steps: others are a few percent off */
                assert_true(fabs(q / k - 1) <= 1.05 * info.wave_number_error);
            }
            assert_true(info.phase_error > 0 &&
                        info.phase_error <= info.wave_number_error * k * 2.1);
            spry_operator_free(A);
            spry_grid_free(grid);
        }
}

/* Relative errors of wave numbers: second order has 1 - sin(kh/2)/(kh/2)'s, (kh)^2 / 24 along an
 * axis; that of compact4 is (kh)^4 / 480, below the next term; optimal has less than a twentieth of
 * that. All are reported. */
static void is_reported(void **state)
{
    spry_context *ctx = *state;
    spry_helmholtz_info info = SPRY_HELMHOLTZ_INFO_INIT;
    spry_grid *grid;
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (int points = 6; points <= 12; points += 6) {
            char text[32];
            double error[3];
            snprintf(text, sizeof text, "%dx%d%s box=0:2", 2 * points, 2 * points,
                     dimensions == 2 ? ""
                     : points == 6   ? "x12"
                                     : "x24");
            assert_ok(ctx, spry_grid_new(ctx, text, &grid));
            spry_vector *k2 = constant_of(ctx, 4 * PI * PI);
            const double kh = 2 * PI / points;
            for (int s = 0; s < 3; s++) {
                char options[32];
                snprintf(options, sizeof options, "scheme=%s", schemes[s]);
                assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, NULL, &info));
                assert_true(fabs(info.points_per_wavelength - points) < 1e-12 * points);
                assert_true(fabs(info.wavelengths - 2) < 1e-12);
                error[s] = info.wave_number_error;
                print_message("%d-D, %d points per wavelength, %s: %.3g of the number, %.3g "
                              "radians\n",
                              dimensions, points, schemes[s], info.wave_number_error,
                              info.phase_error);
            }
            assert_true(fabs(error[0] / (kh * kh / 24) - 1) < kh * kh / 4);
            assert_true(fabs(error[1] / (pow(kh, 4) / 480) - 1) < kh * kh / 4);
            assert_true(error[2] < error[1] / 20);
            spry_vector_free(k2);
            spry_grid_free(grid);
        }
}

/* --- solutions -----------------------------------------------------------------------------------
 */

/* x of A x = b, of the matrix. */
static spry_vector *solve_by(const spry_operator *A, const spry_vector *b, const char *options)
{
    spry_context *ctx = A->ctx;
    spry_matrix *M;
    spry_vector *x;
    spry_result result = SPRY_RESULT_INIT;
    assert_ok(ctx, spry_vector_like(b, b->n, &x));
    assert_ok(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, spry_quick_solve(ctx, M, b, x, options, &result));
    assert_true(result.converged);
    spry_result_clear(ctx, &result);
    spry_matrix_free(M);
    return x;
}

static spry_vector *solve(const spry_operator *A, const spry_vector *b)
{
    return solve_by(A, b, "precon=direct");
}

/* k^2 that varies inside and is k0^2 at all faces, where the mean of f has no values of f. */
static double varied(const plane *p, int dimensions, const double *place)
{
    double bump = 1;
    for (int a = 0; a < dimensions; a++)
        bump *= sin(PI * place[a]) * sin(PI * place[a]);
    return p->q * p->q * (1 + 0.4 * bump);
}

static void varied_k2(void *data, const double *place, spry_scalar *value)
{
    *value = (spry_scalar){varied(data, 2, place), 0};
}

/* f of a plane wave where k^2 varies. */
static void varied_f(void *data, const double *place, spry_scalar *value)
{
    const plane *p = data;
    plane_value(data, place, value);
    const double factor = varied(p, 2, place) - p->q * p->q;
    value->re *= factor;
    value->im *= factor;
}

/* The largest error of a plane wave in a box with its values at faces. */
static double plane_error(spry_context *ctx, int dimensions, int n, const char *scheme, bool varies)
{
    /* k^2 well between the eigenvalues pi^2 (i^2 + j^2 + ...) of the box */
    plane p = {6.5, {0.48, 0.6, 0.64}};
    char text[32], options[64];
    spry_grid *grid;
    spry_operator *A;
    spry_vector *k2, *u, *b;
    if (dimensions == 2)
        p = (plane){5.5, {0.6, 0.8, 0}};
    snprintf(text, sizeof text, dimensions == 2 ? "%dx%d" : "%dx%dx%d", n, n, n);
    snprintf(options, sizeof options, "scheme=%s", scheme);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    if (varies)
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_D, true, varied_k2, &p, &k2));
    else
        k2 = constant_of(ctx, p.q * p.q);
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, &A, NULL));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, plane_value, &p, &u));
    assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, false, varies ? varied_f : NULL, &p, &b));
    assert_ok(ctx, spry_stencil_rhs(A, b, plane_boundary, &p, b));
    spry_vector *x = solve(A, b);
    double worst = 0;
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar a = value_get(x->type, x->data, i), e = value_get(u->type, u->data, i);
        worst = fmax(worst, hypot(a.re - e.re, a.im - e.im));
    }
    spry_vector_free(x);
    spry_vector_free(u);
    spry_vector_free(b);
    spry_vector_free(k2);
    spry_operator_free(A);
    spry_grid_free(grid);
    return worst;
}

/* Twice as many intervals gain 2^order; a third of an order may be missing, since terms of the next
 * orders are not nothing on such grids. Where k varies symmetric matrices are of second order. */
static void rates(void **state)
{
    static const struct {
        const char *scheme;
        int order, varied;
    } cases[] = {
        {"second", 2, 2}, {"compact4", 4, 4}, {"optimal", 4, 2}, {"optimal symmetric=no", 4, 4}};
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (int varies = 0; varies <= (dimensions == 2); varies++)
            for (size_t c = 0; c < COUNT(cases) - !varies; c++) {
                const int n = dimensions == 2 ? 24 : 6;
                const int order = varies ? cases[c].varied : cases[c].order;
                const double coarse = plane_error(*state, dimensions, n, cases[c].scheme, varies),
                             fine = plane_error(*state, dimensions, 2 * n, cases[c].scheme, varies);
                print_message("%d-D, %s%s: %.3g with %d intervals, %.3g with twice as many: %.2f\n",
                              dimensions, cases[c].scheme, varies ? ", k varies" : "", coarse, n,
                              fine, log2(coarse / fine));
                assert_true(log2(coarse / fine) > order - 0.35);
            }
}

/* --- a point that sends waves out ----------------------------------------------------------------
 */

/* A point in the middle of a box of `inner` wavelengths with layers of `width` around it; k is 2
 * pi. */
typedef struct radiation {
    int dimensions, points; /* per wavelength */
    int inner, width;
    double strength;
    const char *scheme, *layer;
} radiation;

typedef struct radiated {
    spry_grid *grid;
    spry_vector *u;
    spry_helmholtz_info info;
} radiated;

static radiated radiate(spry_context *ctx, const radiation *r)
{
    char text[96], options[96];
    radiated out = {.info = SPRY_HELMHOLTZ_INFO_INIT};
    const int n = (r->inner + 2 * r->width) * r->points, half = r->inner / 2 + r->width;
    spry_vector *b;
    snprintf(text, sizeof text, "%dx%d%s", n, n, "");
    if (r->dimensions == 3)
        snprintf(text, sizeof text, "%dx%dx%d", n, n, n);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             " box=-%d:%d boundary=absorb layer=%d", half, half, r->width * r->points);
    assert_ok(ctx, spry_grid_new(ctx, text, &out.grid));
    snprintf(options, sizeof options, "scheme=%s layer=%s strength=%g", r->scheme, r->layer,
             r->strength);
    spry_operator *A = operator_of(out.grid, 2 * PI, options, &out.info);
    assert_ok(ctx, spry_field_wave(out.grid, SPRY_TYPE_Z, false, "kind=point amplitude=-1", &b));
    assert_ok(ctx, spry_stencil_rhs(A, b, NULL, NULL, b));
    /* in space factors take longer */
    out.u = r->dimensions == 3 ? solve_by(A, b, "method=bicg precon=none tol=1e-6") : solve(A, b);
    spry_vector_free(b);
    spry_operator_free(A);
    return out;
}

static void radiated_free(radiated *r)
{
    spry_vector_free(r->u);
    spry_grid_free(r->grid);
}

/* i/4 H0(k r) or exp(i k r) / (4 pi r). */
static spry_scalar green(int dimensions, double r)
{
    const double kr = 2 * PI * r;
    if (dimensions == 2)
        return (spry_scalar){-y0(kr) / 4, j0(kr) / 4};
    return (spry_scalar){cos(kr) / (4 * PI * r), sin(kr) / (4 * PI * r)};
}

/* The largest error relative to |G| at distances from a wavelength to half the box. */
static double green_error(spry_context *ctx, const radiation *r, spry_helmholtz_info *info)
{
    radiated s = radiate(ctx, r);
    double worst = 0;
    for (int64_t i = 0; i < s.u->n; i++) {
        double place[3] = {0};
        assert_ok(ctx, spry_grid_place(s.grid, false, i, place));
        const double far = hypot(hypot(place[0], place[1]), place[2]);
        if (far < 1 || far > r->inner / 2.0)
            continue;
        const spry_scalar u = value_get(s.u->type, s.u->data, i), g = green(r->dimensions, far);
        worst = fmax(worst, hypot(u.re - g.re, u.im - g.im) / hypot(g.re, g.im));
    }
    *info = s.info;
    radiated_free(&s);
    return worst;
}

/* Errors fall with the order; they are those of the phase that is reported, at the distance of half
 * the box, and as much again of its size; layers of 3 wavelengths send 1e-3 back. */
static void points(void **state)
{
    for (int s = 0; s < 3; s++) {
        double error[2];
        for (int fine = 0; fine < 2; fine++) {
            const radiation r = {2, fine ? 9 : 6, 4, 3, 0, schemes[s], "pml"};
            spry_helmholtz_info info;
            error[fine] = green_error(*state, &r, &info);
            print_message("%s, %d points per wavelength: off by %.3g, reported %.3g\n", r.scheme,
                          r.points, error[fine], 2 * PI * 2 * info.wave_number_error);
            assert_true(error[fine] < 2 * PI * 2 * 2 * info.wave_number_error + 0.005);
        }
        if (s < 2)
            assert_true(log(error[0] / error[1]) / log(1.5) > orders[s] - 0.35);
    }
}

/* What Green's function is at a place, and at faces. */
static void green_value(void *data, int axis, const double *place, spry_scalar *value)
{
    (void)data;
    (void)axis;
    *value = green(2, hypot(place[0], place[1]));
}

/* The largest error of a point in the middle of a square with Green's function at its faces, half
 * a wavelength and more away; no layers are in the way of the order. */
static double enclosed_error(spry_context *ctx, int n, const char *scheme)
{
    /* k^2 is 14 (pi / side)^2, between the eigenvalues 10 and 18 of waves with a middle */
    const double half = sqrt(14) / 4;
    char text[96], options[64];
    spry_grid *grid;
    spry_vector *b;
    double worst = 0;
    snprintf(text, sizeof text, "%dx%d box=%.17g:%.17g", n, n, -half, half);
    snprintf(options, sizeof options, "scheme=%s", scheme);
    assert_ok(ctx, spry_grid_new(ctx, text, &grid));
    spry_operator *A = operator_of(grid, 2 * PI, options, NULL);
    assert_ok(ctx, spry_field_wave(grid, SPRY_TYPE_Z, false, "kind=point amplitude=-1", &b));
    assert_ok(ctx, spry_stencil_rhs(A, b, green_value, NULL, b));
    spry_vector *x = solve(A, b);
    for (int64_t i = 0; i < x->n; i++) {
        double place[3] = {0};
        spry_scalar g;
        assert_ok(ctx, spry_grid_place(grid, false, i, place));
        if (hypot(place[0], place[1]) < 0.5)
            continue;
        const spry_scalar u = value_get(x->type, x->data, i);
        green_value(NULL, 0, place, &g);
        worst = fmax(worst, hypot(u.re - g.re, u.im - g.im) / hypot(g.re, g.im));
    }
    spry_vector_free(x);
    spry_vector_free(b);
    spry_operator_free(A);
    spry_grid_free(grid);
    return worst;
}

/* Of points, too, errors fall with the order: f is their mean over neighbours, as the scheme wants
 * it. Without that mean all schemes are of second order. */
static void enclosed(void **state)
{
    for (int s = 0; s < 3; s++) {
        const double coarse = enclosed_error(*state, 16, schemes[s]),
                     fine = enclosed_error(*state, 32, schemes[s]);
        print_message("%s, a point in a box: %.3g with 16 intervals, %.3g with 32: %.2f\n",
                      schemes[s], coarse, fine, log2(coarse / fine));
        assert_true(log2(coarse / fine) > orders[s] - 0.35);
    }
}

static void points_in_space(void **state)
{
    double error[3];
    for (int s = 0; s < 3; s++) {
        const radiation r = {3, 5, 2, 1, 0, schemes[s], "pml"};
        spry_helmholtz_info info;
        error[s] = green_error(*state, &r, &info);
        print_message("3-D, %s, 5 points per wavelength: off by %.3g\n", r.scheme, error[s]);
    }
    assert_true(error[1] < error[0] / 3 && error[2] < error[1]);
}

/* --- layers --------------------------------------------------------------------------------------
 */

/* What a box with layers has else than a large one, relative to the wave where the layers begin. */
static double reflection(spry_context *ctx, const radiation *r, const radiated *large)
{
    radiated here = radiate(ctx, r);
    const int64_t n = here.grid->shape.axis[0].unknowns, m = large->grid->shape.axis[0].unknowns;
    const int64_t half = (int64_t)r->inner * r->points / 2;
    double worst = 0;
    for (int64_t y = -half; y <= half; y++)
        for (int64_t x = -half; x <= half; x++) {
            const int64_t i = (n / 2 + y) * n + n / 2 + x, j = (m / 2 + y) * m + m / 2 + x;
            const spry_scalar u = value_get(SPRY_TYPE_Z, here.u->data, i);
            const spry_scalar v = value_get(SPRY_TYPE_Z, large->u->data, j);
            worst = fmax(worst, hypot(u.re - v.re, u.im - v.im));
        }
    const spry_scalar edge = green(2, r->inner / 2.0);
    radiated_free(&here);
    return worst / hypot(edge.re, edge.im);
}

/* Waves from the middle meet the layers of a square at 45 degrees at most, so that each of its four
 * sides leaves exp(-2 k strength width cos 45 / 3) of them, as long as this is more than what
 * differences send back: doubling the width, or the strength, squares it. */
static void check_layers(spry_context *ctx, const char *scheme, const radiated *large)
{
    static const struct {
        int width;
        double strength;
    } cases[] = {{1, 0.5}, {1, 1}, {2, 0.5}, {2, 1}};
    double found[4];
    for (int c = 0; c < 4; c++) {
        const radiation r = {2, 8, 4, cases[c].width, cases[c].strength, scheme, "pml"};
        const double bound = 4 * exp(-4 * PI * cases[c].strength * cases[c].width * sqrt(0.5) / 3);
        found[c] = reflection(ctx, &r, large);
        print_message("%s, width %d, strength %g: %.3g comes back, bound %.3g\n", scheme,
                      cases[c].width, cases[c].strength, found[c], bound);
        assert_true(found[c] < bound);
    }
    assert_true(found[1] < found[0] / 3 && found[2] < found[0] / 3 && found[3] < found[1] / 3);
}

/* k^2 that is damped alone: much more comes back, and less of it the wider the layer is. */
static void check_damped(spry_context *ctx, const radiated *large)
{
    const radiation thin = {2, 8, 4, 1, 0, "optimal", "damp"},
                    thick = {2, 8, 4, 3, 0, "optimal", "damp"};
    const double one = reflection(ctx, &thin, large), three = reflection(ctx, &thick, large);
    print_message("damped: %.3g comes back of 1 wavelength, %.3g of 3\n", one, three);
    assert_true(three < one / 3 && three < 0.1);
}

static void layers(void **state)
{
    for (int s = 0; s < 3; s += 2) {
        const radiation r = {2, 8, 8, 3, 2, schemes[s], "pml"};
        radiated large = radiate(*state, &r);
        check_layers(*state, schemes[s], &large);
        if (s == 2)
            check_damped(*state, &large);
        radiated_free(&large);
    }
}

/* --- matrices ------------------------------------------------------------------------------------
 */

static void noise(void *data, const double *place, spry_scalar *value)
{
    uint64_t *seed = data;
    (void)place;
    *value = (spry_scalar){20 + 10 * base_uniform(*seed, 0), base_uniform(*seed, 1)};
    *seed += 1;
}

/* Whether A is A^T to the last bit. */
static bool is_symmetric(spry_context *ctx, const char *grid_text, const char *options, bool varies)
{
    spry_grid *grid;
    spry_operator *A;
    spry_matrix *M;
    spry_vector *k2;
    uint64_t seed = 1;
    bool yes;
    assert_ok(ctx, spry_grid_new(ctx, grid_text, &grid));
    if (varies)
        assert_ok(ctx, spry_field_new(grid, SPRY_TYPE_Z, true, noise, &seed, &k2));
    else
        k2 = constant_of(ctx, 25);
    assert_ok(ctx, spry_operator_helmholtz(grid, k2, options, &A, NULL));
    assert_ok(ctx, spry_operator_to_matrix(A, &M));
    assert_ok(ctx, matrix_find_out(ctx, M, SPRY_FACT_SYMMETRIC, &yes));
    spry_matrix_free(M);
    spry_operator_free(A);
    spry_vector_free(k2);
    spry_grid_free(grid);
    return yes;
}

static void symmetric(void **state)
{
    static const char *const grids[] = {"16x12 boundary=absorb layer=3 box=0:2,0:1.7",
                                        "8x9x7 boundary=absorb z=periodic layer=2"};
    for (int g = 0; g < 2; g++) {
        assert_true(is_symmetric(*state, grids[g], "scheme=second", true));
        assert_true(is_symmetric(*state, grids[g], "scheme=optimal", true));
        assert_true(is_symmetric(*state, grids[g], "scheme=optimal layer=damp", true));
        assert_true(is_symmetric(*state, grids[g], "scheme=compact4 symmetric=yes", true));
        assert_false(is_symmetric(*state, grids[g], "scheme=compact4", true));
    }
    assert_true(is_symmetric(*state, "9x8x7", "scheme=compact4", false));
}

/* Methods for such matrices agree with factors, within what their residuals allow of a matrix whose
 * condition is below 1e4. */
static void methods(void **state)
{
    static const char *const names[] = {"cocg", "cocr", "bicgstab", "idr"};
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_vector *b;
    assert_ok(ctx, spry_grid_new(ctx, "24x24 box=0:4 boundary=absorb layer=6", &grid));
    spry_operator *A = operator_of(grid, 2 * PI, NULL, NULL);
    assert_ok(ctx, spry_field_wave(grid, SPRY_TYPE_Z, false, "kind=point at=2.01:1.9", &b));
    assert_ok(ctx, spry_stencil_rhs(A, b, NULL, NULL, b));
    spry_vector *x = solve(A, b);
    for (size_t m = 0; m < COUNT(names); m++) {
        char options[64];
        spry_solver *solver;
        spry_vector *y;
        spry_result result = SPRY_RESULT_INIT;
        double norm, off;
        assert_ok(ctx, spry_vector_like(b, b->n, &y));
        assert_ok(ctx, spry_vector_fill(y, (spry_scalar){0, 0}));
        snprintf(options, sizeof options, "method=%s precon=none tol=1e-10 max-iter=2000",
                 names[m]);
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, options));
        assert_ok(ctx, spry_solver_set_operator(solver, A));
        assert_ok(ctx, spry_solve(solver, b, y, &result));
        if (!result.converged)
            fail_msg("%s: %s", names[m], result.detail);
        assert_ok(ctx, spry_vector_norm(x, &norm));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, x, y));
        assert_ok(ctx, spry_vector_norm(y, &off));
        assert_true(off <= 1e-6 * norm);
        spry_result_clear(ctx, &result);
        spry_solver_free(solver);
        spry_vector_free(y);
    }
    spry_vector_free(x);
    spry_vector_free(b);
    spry_operator_free(A);
    spry_grid_free(grid);
}

/* --- sources -------------------------------------------------------------------------------------
 */

static spry_vector *wave_of(const spry_grid *grid, spry_type type, const char *options)
{
    spry_vector *v;
    assert_ok(grid->ctx, spry_field_wave(grid, type, true, options, &v));
    return v;
}

static void sources(void **state)
{
    spry_context *ctx = *state;
    spry_grid *grid;
    assert_ok(ctx, spry_grid_new(ctx, "8x4x4 box=0:4,0:2,0:1 x=periodic", &grid));
    /* cells of 1/2 1/2 1/4; a place between points is shared out: the sum stays */
    static const char *const places[] = {"kind=point at=1:1:0.5", "kind=point at=3.875:1.125:0.3"};
    for (int c = 0; c < 2; c++) {
        spry_vector *v = wave_of(grid, SPRY_TYPE_D, places[c]);
        double sum = 0;
        int there = 0;
        for (int64_t i = 0; i < v->n; i++) {
            sum += ((double *)v->data)[i] / 16;
            there += ((double *)v->data)[i] != 0;
        }
        assert_true(fabs(sum - 1) < 8 * DBL_EPSILON);
        assert_int_equal(there, c == 0 ? 1 : 8);
        spry_vector_free(v);
    }
    /* phase 0 at a place, k times the distance along the direction elsewhere: 2 (1 - 0.5) */
    spry_vector *v = wave_of(grid, SPRY_TYPE_Z, "k=2 direction=0:0:3 at=0:0:0.5 amplitude=3");
    const spry_scalar last = value_get(v->type, v->data, v->n - 1);
    assert_true(fabs(last.re - 3 * cos(1)) < 8 * DBL_EPSILON &&
                fabs(last.im - 3 * sin(1)) < 8 * DBL_EPSILON);
    spry_vector_free(v);
    /* at the focus 1, next to it exp(-r^2 / waist^2), along the axis 1 / (1 + i z / zr) exp(i k z)
     * with zr = k waist^2 / 2 = 1 */
    v = wave_of(grid, SPRY_TYPE_Z, "kind=beam k=2 waist=1 at=2:1:0");
    const int64_t focus = 2 * 8 + 4;
    const spry_scalar middle = value_get(v->type, v->data, focus),
                      nearby = value_get(v->type, v->data, focus + 1),
                      along = value_get(v->type, v->data, focus + 4 * 8 * 5);
    assert_true(fabs(middle.re - 1) < 4 * DBL_EPSILON && fabs(middle.im) < 4 * DBL_EPSILON);
    assert_true(fabs(nearby.re - exp(-0.25)) < 4 * DBL_EPSILON);
    assert_true(fabs(along.re - (cos(2) + sin(2)) / 2) < 8 * DBL_EPSILON);
    assert_true(fabs(along.im - (sin(2) - cos(2)) / 2) < 8 * DBL_EPSILON);
    spry_vector_free(v);
    spry_grid_free(grid);
}

/* --- faults --------------------------------------------------------------------------------------
 */

static void faults(void **state)
{
    static const struct {
        const char *grid, *options, *message;
        double k;
    } cases[] = {{"32x32", NULL, "too coarse for the wavelength: 3.14 intervals", 64},
                 {"32x32", NULL, "take 41 intervals instead of 32", 64},
                 {"32x32", "scheme=sixth", "scheme", 10},
                 {"32x32 stretch=y:cosine", NULL, "equal intervals, axis y has points", 10},
                 {"32x32 x=absorb layer=4", "type=d", "take c or z", 10}};
    static const char *const waves[][2] = {{"kind=plane", "expected a wave number above 0"},
                                           {"kind=beam k=3", "expected one above 0"},
                                           {"k=3 direction=0:0", "expected one that is not 0"},
                                           {"k=3 direction=1", "expected 2 numbers with colons"},
                                           {"k=3 direction=1:2:3", "expected 2 numbers"},
                                           {"kind=point at=2:0.5", "outside of the box"},
                                           {"kind=wave", "kind"}};
    spry_context *ctx = *state;
    spry_grid *grid;
    spry_operator *A;
    spry_vector *v;
    for (size_t c = 0; c < COUNT(cases); c++) {
        spry_helmholtz_info info = SPRY_HELMHOLTZ_INFO_INIT;
        assert_ok(ctx, spry_grid_new(ctx, cases[c].grid, &grid));
        spry_vector *k2 = constant_of(ctx, cases[c].k * cases[c].k);
        assert_int_not_equal(spry_operator_helmholtz(grid, k2, cases[c].options, &A, &info),
                             SPRY_STATUS_OK);
        assert_null(A);
        support_message_has(ctx, cases[c].message);
        spry_vector_free(k2);
        spry_grid_free(grid);
    }
    assert_ok(ctx, spry_grid_new(ctx, "8x8", &grid));
    assert_ok(ctx, vector_new_at(ctx, NULL, SPRY_TYPE_Z, 7, &v));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_helmholtz(grid, v, NULL, &A, NULL));
    support_message_has(ctx, "one for each of the 81 points");
    spry_vector_free(v);
    v = constant_of(ctx, NAN);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_operator_helmholtz(grid, v, NULL, &A, NULL));
    spry_vector_free(v);
    for (size_t c = 0; c < COUNT(waves); c++) {
        assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                      spry_field_wave(grid, SPRY_TYPE_Z, false, waves[c][0], &v));
        assert_null(v);
        support_message_has(ctx, waves[c][1]);
    }
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_field_wave(grid, SPRY_TYPE_D, false, "k=3", &v));
    support_message_has(ctx, "take c or z");
    spry_grid_free(grid);
}

static spry_status whole_life(spry_context *ctx, void *data)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *b = NULL;
    spry_status status = spry_grid_new(ctx, "7x6 boundary=absorb layer=2", &grid);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_helmholtz(grid, data, NULL, &A, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_field_wave(grid, SPRY_TYPE_Z, false, "kind=point", &b);
    if (status == SPRY_STATUS_OK)
        status = spry_stencil_rhs(A, b, NULL, NULL, b);
    spry_vector_free(b);
    spry_operator_free(A);
    spry_grid_free(grid);
    return status;
}

static void torture(void **state)
{
    spry_vector *k2 = constant_of(*state, 16);
    support_torture(*state, whole_life, k2);
    spry_vector_free(k2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dispersion, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(is_reported, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(rates, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(points, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(enclosed, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(points_in_space, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(layers, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(symmetric, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(methods, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(sources, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(faults, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(torture, support_setup, support_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
