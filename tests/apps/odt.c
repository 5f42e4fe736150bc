/*
 * Optical diffraction tomography: plane waves against sums in long double, cameras and the model
 * against their transposes, what a weak sphere sends out against Born's formula, and particles that
 * are found again, from fields and from intensities, with noise, and where one stands behind
 * another.
 */
#include "support/support.h"

#include "odt/compare.h"
#include "odt/search.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Lengths in wavelengths. Five voxels to one are enough for what is smooth. */
static const double IN_LINE[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
static const double ONE_CAMERA[] = {1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1};

static odt_setup setup_of(int64_t n, int kind, int views, const double *directions, double tol)
{
    const double side = 3 * (double)n / 5;
    return (odt_setup){.box = {{n, n, n}, 0.2},
                       .optics = {.k = 2 * PI,
                                  .sine = 0.55,
                                  .field = side,
                                  .distance = kind == KIND_INTENSITY ? side : 0,
                                  .pixels = (int)ceil(4 * 0.55 * side) + 4,
                                  .kind = kind},
                       .fluid = 1,
                       .views = views,
                       .directions = directions,
                       .device = "cpu",
                       .type = "z",
                       .tol = tol,
                       .most_iterations = 2000,
                       .layer = 2}; /* what comes back from it is a part of both sides */
}

/* Numbers from -1 to 1 that are always the same. */
static double number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void fill(uint64_t *state, int64_t n, double *x)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = number(state);
}

static spry_scalar *scalars(spry_context *ctx, int64_t n)
{
    spry_scalar *p = spry_alloc(ctx, (size_t)n * sizeof *p);
    assert_non_null(p);
    return p;
}

/* --- waves ---------------------------------------------------------------------------------------
 */

/* Each sum has n terms, each a product of four numbers of modulus 1 and the table's arguments,
 * whose rounding is that of a phase of up to 100. */
static void test_sums_of_waves(void **state)
{
    enum { COUNT = 7 };
    spry_context *ctx = *state;
    const odt_box box = {{9, 6, 5}, 0.13};
    const odt_part all = {{0, 0, 0}, {9, 6, 5}};
    const int64_t n = odt_voxels(&box);
    double k[3 * COUNT];
    uint64_t seed = 1;
    odt_waves w;
    spry_vector *field = NULL, *given = NULL;
    spry_scalar values[9 * 6 * 5], c[COUNT], a[COUNT];
    fill(&seed, 3 * COUNT, k);
    fill(&seed, 2 * n, &values[0].re);
    fill(&seed, 2 * COUNT, &c[0].re);
    memset(values + 12, 0, 9 * sizeof *values); /* lines of zeros are skipped */
    for (int j = 0; j < 3 * COUNT; j++)
        k[j] *= 7;
    assert_ok(ctx, odt_waves_make(ctx, NULL, &box, COUNT, k, &w));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &field));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, values, SPRY_OWN_BORROW, &given));
    assert_ok(ctx, odt_waves_read(&w, &all, given, a));
    assert_ok(ctx, odt_waves_sum(&w, c, field));
    const spry_scalar *got = spry_vector_data_const(field);
    const double bound = (double)(n + 100) * 4 * DBL_EPSILON;
    double forward = 0, backward = 0, size = 0;
    for (int j = 0; j < COUNT; j++) {
        long double complex sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at[3] = {i % 9, i / 9 % 6, i / 54};
            long double phase = 0;
            for (int axis = 0; axis < 3; axis++)
                phase -= (long double)k[3 * j + axis] * odt_place(&box, axis, at[axis]);
            sum += ((long double)values[i].re + I * (long double)values[i].im) *
                   (cosl(phase) + I * sinl(phase));
        }
        assert_true(cabsl(sum - (a[j].re + I * a[j].im)) <= bound * (double)n);
    }
    for (int j = 0; j < COUNT; j++) {
        forward += odt_times(a[j], c[j]).re;
        size += sqrt(odt_square(a[j]) * odt_square(c[j]));
    }
    for (int64_t i = 0; i < n; i++) {
        backward += odt_times(values[i], got[i]).re;
        size += sqrt(odt_square(values[i]) * odt_square(got[i]));
    }
    assert_true(fabs(forward - backward) <= bound * size);
    spry_vector_free(field);
    spry_vector_free(given);
    odt_waves_free(&w);
}

/* --- cameras -------------------------------------------------------------------------------------
 */

/* Pictures and back are sums of at most m^2 terms. */
static void test_cameras(void **state)
{
    spry_context *ctx = *state;
    for (int kind = KIND_FIELD; kind <= KIND_INTENSITY; kind++) {
        const odt_setup s = setup_of(16, kind, 1, IN_LINE + 6, 1e-6);
        const int m = s.optics.pixels;
        const double bound = 8.0 * m * m * DBL_EPSILON;
        uint64_t seed = 3;
        odt_view v;
        assert_ok(ctx, odt_view_make(ctx, NULL, &s.box, &s.optics, IN_LINE + 6, IN_LINE + 9, &v));
        const int n = odt_view_numbers(&v);
        spry_scalar *a = scalars(ctx, 3 * v.count), *da = a + v.count, *c = da + v.count;
        double *y = (double *)scalars(ctx, 2 * n), *dy = y + n, *r = dy + n;
        fill(&seed, 4 * v.count, &a[0].re);
        fill(&seed, n, r);
        spry_scalar *picture = scalars(ctx, (int64_t)m * m);
        odt_view_picture(&v, a, picture);
        odt_view_pupil(&v, picture, c);
        for (int k = 0; k < v.count; k++)
            assert_true(hypot(c[k].re - a[k].re, c[k].im - a[k].im) <= bound * v.count);
        odt_view_data(&v, a, y);
        odt_view_change(&v, da, dy);
        odt_view_back(&v, r, c);
        double forward = 0, backward = 0, size = 0;
        for (int k = 0; k < n; k++) {
            forward += r[k] * dy[k];
            size += fabs(r[k] * dy[k]);
        }
        for (int k = 0; k < v.count; k++) {
            backward += odt_times(c[k], da[k]).re;
            size += sqrt(odt_square(c[k]) * odt_square(da[k]));
        }
        assert_true(fabs(forward - backward) <= bound * size);
        /* y is a square of a: its change along da is dy up to a square of the step */
        const double step = 1e-4;
        for (int k = 0; k < v.count; k++)
            a[k] = odt_plus(a[k], (spry_scalar){step * da[k].re, step * da[k].im});
        double *later = (double *)scalars(ctx, n), *square = later + n;
        odt_view_data(&v, a, later);
        odt_view_picture(&v, da, picture);
        for (int k = 0; k < n; k++) {
            square[k] = kind == KIND_FIELD ? 0 : step * step * odt_square(picture[k]) / (2 * m);
            assert_true(fabs(later[k] - y[k] - step * dy[k] - square[k]) <=
                        bound * (1 + fabs(y[k])));
        }
        spry_free(ctx, later);
        spry_free(ctx, picture);
        spry_free(ctx, y);
        spry_free(ctx, a);
        odt_view_free(&v);
    }
}

/* --- the model -----------------------------------------------------------------------------------
 */

/*
 * The first-order change of what a camera sees, against its transpose through the medium: equal as
 * far as both solves are exact. Each has a relative residual of tol, and what comes of it is at
 * most |S| |f| times the field: with a contrast of 0.2 in a small ball less than ten.
 */
static void test_image_is_transpose(void **state)
{
    const double tol = 1e-7;
    spry_context *ctx = *state;
    const odt_setup s = setup_of(12, KIND_FIELD, 2, ONE_CAMERA, tol);
    const int64_t n = odt_voxels(&s.box);
    odt_particle ball = {.at = {0.1, -0.15, 0.05}, .diameter = 1.2, .index = 1.1};
    const odt_particles one = {1, &ball};
    odt_model m;
    uint64_t seed = 5;
    double forward = 0, backward = 0, size = 0;
    assert_ok(ctx, odt_model_make(ctx, &s, &m));
    assert_ok(ctx, odt_model_set_particles(&m, &one));
    double *change = (double *)scalars(ctx, n);
    fill(&seed, n, change);
    for (int i = 0; i < 2; i++) {
        spry_scalar *all[2], *c[2];
        for (int k = 0; k < 2; k++) {
            all[k] = scalars(ctx, m.view[k].count);
            c[k] = scalars(ctx, m.view[k].count);
            memset(c[k], 0, (size_t)m.view[k].count * sizeof **c);
        }
        spry_scalar *image = scalars(ctx, n);
        spry_scalar *to = spry_vector_data(m.on_host);
        for (int64_t k = 0; k < n; k++)
            to[k] = (spry_scalar){change[k], 0};
        assert_ok(ctx, odt_model_see_change(&m, all));
        const spry_scalar *a = all[i];
        fill(&seed, 2 * m.view[i].count, &c[i][0].re);
        forward = backward = size = 0;
        for (int k = 0; k < m.view[i].count; k++) {
            forward += odt_times(c[i][k], a[k]).re;
            size += sqrt(odt_square(c[i][k]) * odt_square(a[k]));
            c[i][k] = odt_times(c[i][k], m.view[i].factor[k]);
        }
        assert_ok(ctx, odt_model_image(&m, (const spry_scalar *const *)c, image));
        for (int64_t k = 0; k < n; k++) {
            backward -= m.kb2 * change[k] * image[k].re;
            size += m.kb2 * fabs(change[k]) * sqrt(odt_square(image[k]));
        }
        assert_true(fabs(forward - backward) <= 10 * tol * size);
        assert_true(fabs(forward) > 1e-3 * size / sqrt((double)n)); /* it is not nothing */
        for (int k = 0; k < 2; k++) {
            spry_free(ctx, all[k]);
            spry_free(ctx, c[k]);
        }
        spry_free(ctx, image);
    }
    spry_free(ctx, change);
    odt_model_free(&m);
}

/*
 * A sphere of radius R and a contrast that is nearly nothing sends out factor * f * (4 pi R^3 /
 * h^3) j1(qR) / (qR), q being the change of direction. What differs: the steps of its surface, of
 * which a ramp leaves (h / R)^2 / 8 or so, and the second order of the contrast.
 */
static void test_weak_sphere(void **state)
{
    spry_context *ctx = *state;
    const odt_setup s = setup_of(16, KIND_FIELD, 2, ONE_CAMERA, 1e-5);
    const double radius = 1;
    odt_particle ball = {.at = {0.11, -0.23, 0.05}, .diameter = 2 * radius, .index = 1.0001};
    const odt_particles one = {1, &ball};
    const double f = -4 * PI * PI * (ball.index * ball.index - 1);
    odt_model m;
    assert_ok(ctx, odt_model_make(ctx, &s, &m));
    assert_ok(ctx, odt_model_set_particles(&m, &one));
    for (int i = 0; i < 2; i++) {
        const odt_view *v = &m.view[i];
        spry_scalar *a = scalars(ctx, v->count), *b = scalars(ctx, v->count);
        double most = 0, worst = 0;
        assert_ok(ctx, odt_model_see_particles(&m, i, &one, a));
        assert_ok(ctx, odt_model_see(&m, i, b));
        for (int k = 0; k < v->count; k++) {
            double q = 0, phase = 0;
            for (int axis = 0; axis < 3; axis++) {
                const double d = v->k[3 * k + axis] - s.optics.k * v->light[axis];
                q = hypot(q, d);
                phase -= d * ball.at[axis];
            }
            const double x = q * radius;
            const double j1 = x > 1e-3 ? (sin(x) / x - cos(x)) / x : x / 3;
            const double size = x > 1e-3 ? j1 / x : 1.0 / 3;
            const double sum = f * 4 * PI * pow(radius / s.box.h, 3) * size;
            const spry_scalar expected =
                odt_times(v->factor[k], (spry_scalar){sum * cos(phase), sum * sin(phase)});
            const spry_scalar forward = odt_times(
                v->factor[k], (spry_scalar){f * 4 * PI * pow(radius / s.box.h, 3) / 3, 0});
            most = fmax(most, sqrt(odt_square(forward)));
            worst = fmax(worst, hypot(a[k].re - expected.re, a[k].im - expected.im));
            /* one particle is all there is */
            assert_true(hypot(a[k].re - b[k].re, a[k].im - b[k].im) <=
                        1e-12 * sqrt(odt_square(forward)));
        }
        assert_true(worst <= 0.02 * most);
        spry_free(ctx, a);
        spry_free(ctx, b);
    }
    odt_model_free(&m);
}

/* --- particles -----------------------------------------------------------------------------------
 */

enum { MOST = 6 };

/* Measures particles, with noise of a share of what they make, and looks for them. */
static void search_for(spry_context *ctx, odt_model *m, const odt_particles *truth, double noise,
                       bool linear, int refine, odt_search *s)
{
    uint64_t seed = 11;
    assert_ok(ctx, odt_model_set_particles(m, truth));
    for (int i = 0; i < m->setup.views; i++) {
        odt_view *v = &m->view[i];
        const int n = odt_view_numbers(v);
        spry_scalar *a = scalars(ctx, (int64_t)v->count * truth->count), *none;
        double *empty = (double *)scalars(ctx, n), sum = 0;
        assert_ok(ctx, odt_model_see_particles(m, i, truth, a));
        for (int j = 1; j < truth->count; j++)
            for (int k = 0; k < v->count; k++)
                a[k] = odt_plus(a[k], a[j * v->count + k]);
        none = scalars(ctx, v->count);
        memset(none, 0, (size_t)v->count * sizeof *none);
        odt_view_data(v, none, empty);
        odt_view_data(v, a, v->measured);
        for (int k = 0; k < n; k++)
            sum += (v->measured[k] - empty[k]) * (v->measured[k] - empty[k]);
        for (int k = 0; k < n; k++) /* numbers from -1 to 1 have a mean square of 1/3 */
            v->measured[k] += noise * sqrt(3 * sum / n) * number(&seed);
        spry_free(ctx, a);
        spry_free(ctx, none);
        spry_free(ctx, empty);
    }
    *s = (odt_search){.m = m,
                      .sample = {.diameter = truth->p[0].diameter, .index = truth->p[0].index},
                      .threshold = 0.3,
                      .most = MOST,
                      .refine = refine};
    assert_ok(ctx, odt_search_make(s));
    assert_ok(ctx, odt_search_run(s, linear));
}

/* The largest distance, in voxels, from one that there is to the nearest that was found. */
static double worst_of(const odt_search *s, const odt_particles *truth)
{
    double worst = 0;
    for (int j = 0; j < truth->count; j++) {
        double least = INFINITY;
        for (int i = 0; i < s->found.count; i++) {
            const double *a = s->found.p[i].at, *b = truth->p[j].at;
            least = fmin(least, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
        }
        worst = fmax(worst, least / s->m->setup.box.h);
    }
    return worst;
}

/*
 * In an empty volume the filter is the sum over waves of what is not explained times the sample's
 * amplitudes, turned by the way from the sample: an identity, so that only roundings differ, of
 * sums of all voxels and of transforms.
 */
static void test_filter(void **state)
{
    spry_context *ctx = *state;
    const odt_setup setup = setup_of(14, KIND_FIELD, 2, ONE_CAMERA, 1e-3);
    const int64_t n = odt_voxels(&setup.box);
    odt_model m;
    uint64_t seed = 9;
    odt_search s = {.m = &m, .sample = {.diameter = 0.9, .index = 1.15}, .most = 1};
    assert_ok(ctx, odt_model_make(ctx, &setup, &m));
    for (int i = 0; i < 2; i++)
        fill(&seed, odt_view_numbers(&m.view[i]), m.view[i].measured);
    assert_ok(ctx, odt_search_make(&s));
    assert_ok(ctx, odt_search_evaluate(&s));
    assert_ok(ctx, odt_search_look(&s));
    for (int64_t k = 0; k < n; k += 13) {
        const int64_t at[3] = {k % 14, k / 14 % 14, k / 196};
        spry_scalar sum = {0, 0};
        double size = 0;
        for (int i = 0; i < 2; i++) {
            const odt_view *v = &m.view[i];
            odt_view_back(&m.view[i], s.rest[i], s.c[i]);
            for (int j = 0; j < v->count; j++) {
                double phase = 0;
                for (int axis = 0; axis < 3; axis++)
                    phase += (setup.optics.k * v->light[axis] - v->k[3 * j + axis]) *
                             (odt_place(&setup.box, axis, at[axis]) - s.sample.at[axis]);
                const spry_scalar one = odt_times(s.c[i][j], s.sample_a[i][j]);
                sum = odt_plus(sum, odt_times(one, (spry_scalar){cos(phase), sin(phase)}));
                size += sqrt(odt_square(one));
            }
        }
        if (at[0] > 4 && at[0] < 9 && at[1] > 4 && at[1] < 9 && at[2] > 4 && at[2] < 9)
            assert_true(hypot(s.match[k].re - sum.re, s.match[k].im - sum.im) <=
                        (double)n * DBL_EPSILON * size);
    }
    odt_search_free(&s);
    odt_model_free(&m);
}

/*
 * One particle: by the first image near the top of a parabola (0.011 voxels off), with a score near
 * 1 (intensities are no linear image). Moved to where the misfit is least, it is where it was made:
 * what is left is a step below 0.005 voxels, after which moving ends, and what the tolerance of
 * solves does, which is of the order of tol times what one voxel's way changes. Noise of a share q
 * in n numbers moves it by about q over the square root of n times a wavelength's part, far below a
 * tenth of a voxel.
 */
static void test_one_particle(void **state)
{
    spry_context *ctx = *state;
    for (int kind = KIND_FIELD; kind <= KIND_INTENSITY; kind++) {
        const odt_setup s = setup_of(14, kind, 2, IN_LINE, 1e-3);
        odt_particle ball = {.at = {0.23, -0.31, 0.17}, .diameter = 0.9, .index = 1.1};
        const odt_particles truth = {1, &ball};
        odt_model m;
        odt_search found;
        assert_ok(ctx, odt_model_make(ctx, &s, &m));
        if (kind == KIND_FIELD) {
            search_for(ctx, &m, &truth, 0, true, 0, &found);
            assert_true(worst_of(&found, &truth) < 0.1);
            assert_true(fabs(found.found.p[0].score - 1) < 0.2);
            odt_search_free(&found);
        }
        search_for(ctx, &m, &truth, kind == KIND_FIELD ? 0 : 0.05, false, 1, &found);
        assert_int_equal(found.found.count, 1);
        assert_true(worst_of(&found, &truth) < (kind == KIND_FIELD ? 0.02 : 0.1));
        odt_search_free(&found);
        odt_model_free(&m);
    }
}

/* One particle in the shadow of another: what the first does to its light is known once that is
 * found. */
static void test_two_particles(void **state)
{
    spry_context *ctx = *state;
    const odt_setup s = setup_of(16, KIND_FIELD, 2, IN_LINE, 1e-3);
    odt_particle balls[] = {{.at = {-0.6, 0.1, 0.05}, .diameter = 0.9, .index = 1.15},
                            {.at = {0.6, 0.05, -0.1}, .diameter = 0.9, .index = 1.15}};
    const odt_particles truth = {2, balls};
    odt_model m;
    odt_search found;
    assert_ok(ctx, odt_model_make(ctx, &s, &m));
    search_for(ctx, &m, &truth, 0, true, 0, &found);
    const double linear = worst_of(&found, &truth);
    odt_search_free(&found);
    search_for(ctx, &m, &truth, 0, false, 1, &found);
    assert_int_equal(found.found.count, 2);
    assert_true(worst_of(&found, &truth) < 0.1);
    assert_true(worst_of(&found, &truth) < linear);
    odt_search_free(&found);
    odt_model_free(&m);
}

/* --- devices and memory --------------------------------------------------------------------------
 */

/* The same on a device: sums and readings of waves are terms of modulus one, products of four, in
 * the same order, and a sphere's edge is of few roundings. */
static void test_device(void **state)
{
    enum { COUNT = 5 };
    spry_context *ctx = *state;
    const odt_box box = {{17, 5, 6}, 0.2};
    const odt_part part = {{3, 1, 2}, {9, 4, 3}};
    const int64_t n = odt_voxels(&box);
    spry_device *device = NULL;
    spry_vector *field[2] = {NULL, NULL}, *copy = NULL;
    double k[3 * COUNT];
    spry_scalar c[COUNT], read[2][COUNT];
    uint64_t seed = 7;
    if (spry_device_open(ctx, "opencl", &device) != SPRY_STATUS_OK)
        skip();
    fill(&seed, 3 * COUNT, k);
    fill(&seed, 2 * COUNT, &c[0].re);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &field[0]));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &copy));
    assert_ok(ctx, spry_vector_on(device, SPRY_TYPE_Z, n, NULL, &field[1]));
    for (int on_device = 0; on_device < 2; on_device++) {
        odt_waves w;
        assert_ok(ctx, odt_waves_make(ctx, on_device ? device : NULL, &box, COUNT, k, &w));
        assert_ok(ctx, odt_waves_sum(&w, c, field[on_device]));
        assert_ok(ctx, odt_waves_read(&w, &part, field[on_device], read[on_device]));
        assert_ok(ctx, spry_vector_copy(field[on_device], on_device ? copy : field[0]));
        odt_waves_free(&w);
    }
    const spry_scalar *a = spry_vector_data_const(field[0]), *b = spry_vector_data_const(copy);
    for (int64_t i = 0; i < n; i++)
        assert_true(hypot(a[i].re - b[i].re, a[i].im - b[i].im) <= 8 * COUNT * DBL_EPSILON);
    /* 108 numbers of at most COUNT, each off by the bound above, and their own sums */
    for (int j = 0; j < COUNT; j++)
        assert_true(hypot(read[0][j].re - read[1][j].re, read[0][j].im - read[1][j].im) <=
                    108 * COUNT * (8 * COUNT + 120) * DBL_EPSILON);
    spry_vector_free(field[0]);
    spry_vector_free(field[1]);
    spry_vector_free(copy);
    spry_device_close_all(ctx);
}

/* As numbers, relative to the largest. */
static void assert_alike(int64_t n, const spry_scalar *a, const spry_scalar *b, double bound)
{
    double most = 0;
    for (int64_t k = 0; k < n; k++)
        most = fmax(most, hypot(a[k].re, a[k].im));
    assert_true(most > 0);
    for (int64_t k = 0; k < n; k++)
        assert_true(hypot(a[k].re - b[k].re, a[k].im - b[k].im) <= bound * most);
}

/* A model on a device: what a particle sends, and the image of it. Both differ by what solves
 * leave, tol of fields and of what they are multiplied with, as in the test of the transpose. */
static void test_device_model(void **state)
{
    spry_context *ctx = *state;
    const double tol = 1e-5;
    odt_particle ball = {
        .at = {0.1, -0.15, 0.05}, .diameter = 0.9, .index = 1.1, .absorption = 0.02};
    const odt_particles one = {1, &ball};
    spry_device *device = NULL;
    spry_scalar *a[2], *b[2], *change[2], *image[2];
    if (spry_device_open(ctx, "opencl", &device) != SPRY_STATUS_OK)
        skip();
    odt_setup s = setup_of(11, KIND_FIELD, 1, ONE_CAMERA, tol);
    const int64_t n = odt_voxels(&s.box);
    int count = 0;
    for (int on_device = 0; on_device < 2; on_device++) {
        odt_model m;
        s.device = on_device ? "opencl" : "cpu";
        assert_ok(ctx, odt_model_make(ctx, &s, &m));
        assert_ok(ctx, odt_model_set_particles(&m, &one));
        count = m.view[0].count;
        a[on_device] = scalars(ctx, count);
        image[on_device] = scalars(ctx, n);
        assert_ok(ctx, odt_model_see_particles(&m, 0, &one, a[on_device]));
        const spry_scalar *const c[] = {a[0]};
        assert_ok(ctx, odt_model_image(&m, c, image[on_device]));
        /* any contrast, and what a change of it is seen as */
        double *contrast = spry_alloc(ctx, (size_t)n * sizeof *contrast);
        assert_non_null(contrast);
        for (int64_t k = 0; k < n; k++)
            contrast[k] = 0.02 * (double)(k % 5);
        b[on_device] = scalars(ctx, count);
        change[on_device] = scalars(ctx, count);
        assert_ok(ctx, odt_model_set_contrast(&m, contrast));
        assert_ok(ctx, odt_model_see(&m, 0, b[on_device]));
        spry_scalar *to = spry_vector_data(m.on_host);
        for (int64_t k = 0; k < n; k++)
            to[k] = (spry_scalar){contrast[k], 0};
        assert_ok(ctx, odt_model_see_change(&m, &change[on_device]));
        spry_free(ctx, contrast);
        odt_model_free(&m);
    }
    assert_alike(count, a[0], a[1], 10 * tol);
    assert_alike(count, b[0], b[1], 10 * tol);
    assert_alike(count, change[0], change[1], 20 * tol);
    assert_alike(n, image[0], image[1], 20 * tol);
    for (int on_device = 0; on_device < 2; on_device++) {
        spry_free(ctx, a[on_device]);
        spry_free(ctx, b[on_device]);
        spry_free(ctx, change[on_device]);
        spry_free(ctx, image[on_device]);
    }
    spry_device_close_all(ctx);
}

/* A search in a volume that is as small as can be, with an empty hologram: each allocation fails.
 */
static spry_status small_search(spry_context *ctx, void *data)
{
    odt_model m = {0};
    odt_search s = {.m = &m,
                    .sample = {.diameter = 0.5, .index = 1.05},
                    .threshold = 0.3,
                    .most = 1,
                    .refine = 1};
    spry_status status = odt_model_make(ctx, data, &m);
    if (status == SPRY_STATUS_OK) {
        for (int k = 0; k < odt_view_numbers(&m.view[0]); k++)
            m.view[0].measured[k] = 1e-3 * (k % 3);
        status = odt_search_make(&s);
    }
    if (status == SPRY_STATUS_OK)
        status = odt_search_run(&s, false);
    odt_search_free(&s);
    odt_model_free(&m);
    return status;
}

/* Solves allocate again and again in the same places: after the first few allocations, which make
 * things, each tenth or so fails; SPRY_TEST_FULL=1 has all. */
static void test_memory(void **state)
{
    spry_context *ctx = *state;
    odt_setup s = setup_of(10, KIND_FIELD, 1, IN_LINE, 1e-2);
    if (support_full()) {
        support_torture(ctx, small_search, &s);
        return;
    }
    spry_status status = SPRY_STATUS_NO_MEMORY;
    for (int64_t nth = 1; status != SPRY_STATUS_OK; nth += 1 + nth / 6) {
        int64_t before, after, most;
        spry_context_memory(ctx, &before, &most);
        base_fail_allocation(ctx, nth, nth % 2 == 1);
        status = small_search(ctx, &s);
        base_fail_allocation(ctx, 0, false);
        spry_context_memory(ctx, &after, &most);
        assert_int_equal(after, before);
        if (status != SPRY_STATUS_OK)
            assert_status(ctx, SPRY_STATUS_NO_MEMORY, status);
    }
}

/* A search's first image, and fields of a sample once more. */
static void look_and_solve(spry_context *ctx, const odt_setup *setup)
{
    odt_model m;
    odt_search s = {.m = &m, .sample = {.diameter = 0.5, .index = 1.05}, .most = 1};
    assert_ok(ctx, odt_model_make(ctx, setup, &m));
    for (int i = 0; i < setup->views; i++)
        m.view[i].measured[0] = 1;
    assert_ok(ctx, odt_search_make(&s));
    assert_ok(ctx, odt_search_evaluate(&s));
    assert_ok(ctx, odt_search_look(&s));
    assert_ok(ctx, odt_model_set_particles(&m, &(odt_particles){1, &s.sample}));
    odt_search_free(&s);
    odt_model_free(&m);
}

/* Solves take half of the memory that is left for columns side by side, and count on what they had.
 * Fields of all views that a search needs, two for each and one more, are there before the first
 * solve; so a quarter more than these and room for two columns are enough. */
static void test_memory_of_columns(void **state)
{
    enum { VIEWS = 24 };
    double directions[6 * VIEWS];
    int64_t made;
    char options[64];
    odt_model m;
    spry_wave_info info = SPRY_WAVE_INFO_INIT;
    for (int k = 0; k < 6 * VIEWS; k++)
        directions[k] = IN_LINE[k % 18];
    odt_setup setup = setup_of(10, KIND_FIELD, VIEWS, directions, 1e-2);
    setup.type = "c";
    assert_ok(*state, odt_model_make(*state, &setup, &m));
    assert_ok(*state, spry_wave_describe(m.wave, &info));
    spry_context_memory(*state, &made, NULL);
    odt_model_free(&m);
    const int64_t fields = (2 * VIEWS + 1) * odt_voxels(&setup.box) * (int64_t)sizeof(spry_scalar);
    const int64_t limit = made + fields + fields / 4 + 2 * info.solve_bytes;
    snprintf(options, sizeof options, "memory-limit=%lld", (long long)limit);
    spry_context *ctx = support_context(options);
    look_and_solve(ctx, &setup);
    support_context_free(ctx);
}

/* --- what was found against what is known --------------------------------------------------------
 */

static odt_particle at(double x, double y, double z)
{
    return (odt_particle){.at = {x, y, z}, .diameter = 1, .index = 1.1};
}

/* Two that are known near one that was found: one of them is missed. */
static void test_pairs(void **state)
{
    spry_context *ctx = *state;
    odt_particle known[] = {at(0, 0, 0), at(0.6, 0, 0), at(5, 0, 0)};
    odt_particle one[] = {at(0.35, 0, 0), at(9, 0, 0)};
    odt_particle three[] = {at(0.3, 0, 0), at(0.05, 0, 0), at(5, 0.5, 0)};
    const odt_particles truth = {3, known};
    odt_compared c = {0};
    assert_ok(ctx, odt_compare_particles(ctx, &truth, &(odt_particles){2, one}, &c));
    assert_int_equal(c.pairs, 1);
    assert_int_equal(c.partner[0], 1); /* the nearer one */
    assert_int_equal(c.partner[1], -1);
    assert_true(fabs(c.apart[0] - 0.25) < 1e-12 && isnan(c.apart[1]) && c.worst == c.apart[0]);
    odt_compared_free(ctx, &c);
    /* The nearest pair comes first: the one between both goes to the other. */
    assert_ok(ctx, odt_compare_particles(ctx, &truth, &(odt_particles){3, three}, &c));
    assert_int_equal(c.pairs, 3);
    assert_int_equal(c.partner[0], 1);
    assert_int_equal(c.partner[1], 0);
    assert_int_equal(c.partner[2], 2); /* half a diameter off is within */
    assert_true(fabs(c.worst - 0.5) < 1e-12);
    odt_compared_free(ctx, &c);
    /* Nothing known, nothing found. */
    assert_ok(ctx, odt_compare_particles(ctx, &(odt_particles){0}, &(odt_particles){2, one}, &c));
    assert_int_equal(c.pairs, 0);
    odt_compared_free(ctx, &c);
    assert_ok(ctx, odt_compare_particles(ctx, &truth, &(odt_particles){0}, &c));
    assert_int_equal(c.pairs, 0);
    odt_compared_free(ctx, &c);
}

static spry_status compare_once(spry_context *ctx, void *data)
{
    odt_compared c = {0};
    const spry_status status = odt_compare_particles(ctx, data, data, &c);
    odt_compared_free(ctx, &c);
    return status;
}

static void test_pairs_without_memory(void **state)
{
    odt_particle known[] = {at(0, 0, 0), at(2, 0, 0)};
    odt_particles truth = {2, known};
    support_torture(*state, compare_once, &truth);
}

/* Half of the contrast is missing everywhere: so is that share of what the index has more than the
 * fluid. The fluid alone is 1 off. */
static void test_index_errors(void **state)
{
    spry_context *ctx = *state;
    const odt_setup s = setup_of(10, KIND_FIELD, 1, IN_LINE, 1e-6);
    odt_particle known[] = {at(0.1, 0, 0)};
    const odt_particles truth = {1, known};
    const int64_t n = odt_voxels(&s.box);
    odt_model m = {.ctx = ctx, .setup = s};
    odt_compared c = {0};
    spry_scalar contrast[1000];
    float index[1000];
    assert_int_equal(n, 1000);
    odt_model_contrast(&m, &truth, contrast);
    for (int64_t k = 0; k < n; k++)
        index[k] = (float)(1 + 0.5 * (sqrt(1 + contrast[k].re) - 1));
    assert_ok(ctx, odt_compare_index(&m, &truth, index, &c));
    assert_true(fabs(c.inside - 0.5) < 1e-5 && fabs(c.all - 0.5) < 1e-5);
    for (int64_t k = 0; k < n; k++)
        index[k] = 1;
    assert_ok(ctx, odt_compare_index(&m, &truth, index, &c));
    assert_true(fabs(c.inside - 1) < 1e-12 && fabs(c.all - 1) < 1e-12);
    index[0] = 2; /* outside of the particle */
    assert_ok(ctx, odt_compare_index(&m, &truth, index, &c));
    assert_true(fabs(c.inside - 1) < 1e-12 && c.all > 1.1);
    assert_ok(ctx, odt_compare_index(&m, &(odt_particles){0}, index, &c));
    assert_true(isnan(c.inside) && isnan(c.all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums_of_waves, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_cameras, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_image_is_transpose, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_weak_sphere, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_filter, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_one_particle, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_two_particles, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pairs, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pairs_without_memory, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_index_errors, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_device, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_device_model, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_memory, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_memory_of_columns, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
