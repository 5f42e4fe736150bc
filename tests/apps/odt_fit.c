/*
 * Diameter, index and absorption of particles: slopes against differences of the misfit, what an
 * absorbing sphere sends against a refracting one, and particles fitted from noisy holograms, whose
 * errors have to be as large as their standard deviations say.
 */
#include "support/support.h"

#include "odt/search.h"

#include <math.h>
#include <string.h>

static const double IN_LINE[] = {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0};

/* Lengths in wavelengths. */
static odt_setup setup_of(int kind, double tol)
{
    return (odt_setup){.box = {{18, 12, 12}, 0.2},
                       .optics = {.k = 2 * acos(-1),
                                  .sine = 0.55,
                                  .field = 4.5,
                                  .distance = kind == KIND_INTENSITY ? 3.6 : 0,
                                  .pixels = 24,
                                  .kind = kind},
                       .fluid = 1,
                       .views = 2,
                       .directions = IN_LINE,
                       .device = "cpu",
                       .type = "z",
                       .tol = tol,
                       .most_iterations = 2000,
                       .layer = 2};
}

/* Normal numbers, about: sums of twelve even ones. */
static double normal(uint64_t *state)
{
    double sum = -6;
    for (int k = 0; k < 12; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

static void measure(spry_context *ctx, odt_model *m, const odt_particles *truth, double noise,
                    uint64_t *seed)
{
    assert_ok(ctx, odt_model_set_particles(m, truth));
    for (int i = 0; i < m->setup.views; i++) {
        odt_view *v = &m->view[i];
        const int n = odt_view_numbers(v);
        spry_scalar *a = spry_alloc(ctx, (size_t)v->count * sizeof *a);
        double *empty = spry_alloc(ctx, (size_t)n * sizeof *empty), sum = 0;
        memset(a, 0, (size_t)v->count * sizeof *a);
        odt_view_data(v, a, empty);
        assert_ok(ctx, odt_model_see(m, i, a));
        odt_view_data(v, a, v->measured);
        for (int k = 0; k < n; k++)
            sum += pow(v->measured[k] - empty[k], 2);
        for (int k = 0; k < n; k++)
            v->measured[k] += noise * sqrt(sum / n) * normal(seed);
        spry_free(ctx, a);
        spry_free(ctx, empty);
    }
}

/*
 * What a sphere sends is the same function of its contrast c = (n + ik)^2 - 1 whichever part that
 * is in: to first order, a sphere of i c sends i times as much. The second order is of the size of
 * the phase within it, k d |c| / 2 or 3e-4.
 */
static void test_absorbing(void **state)
{
    spry_context *ctx = *state;
    const odt_setup setup = setup_of(KIND_FIELD, 1e-7);
    odt_particle balls[2] = {{.diameter = 1, .index = 1.0001}, {.diameter = 1, .index = 1}};
    odt_model m;
    assert_ok(ctx, odt_model_make(ctx, &setup, &m));
    balls[1].absorption = 0.0001;
    const int n = m.view[0].count;
    spry_scalar *a = spry_alloc(ctx, 2 * (size_t)n * sizeof *a);
    double off = 0, size = 0;
    for (int k = 0; k < 2; k++) {
        const odt_particles one = {1, &balls[k]};
        assert_ok(ctx, odt_model_set_particles(&m, &one));
        assert_ok(ctx, odt_model_see(&m, 0, a + (ptrdiff_t)k * n));
    }
    for (int k = 0; k < n; k++) {
        const spry_scalar turned = {-a[k].im, a[k].re};
        off += odt_square((spry_scalar){a[n + k].re - turned.re, a[n + k].im - turned.im});
        size += odt_square(a[k]);
    }
    assert_true(sqrt(off / size) < 1e-3);
    assert_true(size > 0);
    spry_free(ctx, a);
    odt_model_free(&m);
}

/* Steps are those of the derivatives of voxels; the third order of a phase of k h / 4 = 0.31 over
 * 6 is 1.6% of what moves, and differences are of slopes that may be small: 5% of the largest. */
static void test_slopes(void **state)
{
    spry_context *ctx = *state;
    const odt_setup setup = setup_of(KIND_FIELD, 1e-6);
    odt_particle balls[2] = {{.at = {-0.8, 0.1, 0}, .diameter = 0.95, .index = 1.1},
                             {.at = {0.75, 0, -0.1}, .diameter = 0.9, .index = 1.08}};
    const odt_particles truth = {2, balls};
    odt_model m;
    uint64_t seed = 1;
    balls[1].absorption = 0.02;
    assert_ok(ctx, odt_model_make(ctx, &setup, &m));
    measure(ctx, &m, &truth, 0, &seed);
    odt_search s = {.m = &m, .sample = balls[0], .threshold = 0.3, .most = 2};
    assert_ok(ctx, odt_search_make(&s));
    s.found.count = 2;
    memcpy(s.found.p, balls, sizeof balls);
    s.found.p[1].at[0] += 0.1;
    s.found.p[1].diameter *= 1.1;
    s.found.p[1].index += 0.02;
    s.found.p[1].absorption += 0.01;
    assert_ok(ctx, odt_search_evaluate(&s));
    assert_ok(ctx, odt_search_look(&s));
    double slopes[PARTICLE_NUMBERS], steps[PARTICLE_NUMBERS];
    for (int k = 0; k < PARTICLE_NUMBERS; k++) {
        slopes[k] = odt_slope_of(&s, 1, k);
        steps[k] = k > NUMBER_DIAMETER ? 0.005 : 0.25 * setup.box.h;
    }
    for (int k = 0; k < PARTICLE_NUMBERS; k++) {
        double misfit[2];
        const odt_particle was = s.found.p[1];
        const double by = k > NUMBER_DIAMETER ? 0.005 : 0.25; /* in the units of slopes */
        for (int side = 0; side < 2; side++) {
            *odt_number_of(&s.found.p[1], k) += side ? steps[k] : -steps[k];
            assert_ok(ctx, odt_search_evaluate(&s));
            misfit[side] = s.misfit * s.empty;
            s.found.p[1] = was;
        }
        const double expected = 0.5 * (misfit[1] - misfit[0]) / (2 * by);
        double largest = 0;
        for (int q = 0; q < PARTICLE_NUMBERS; q++) /* of those of the same unit */
            if ((q > NUMBER_DIAMETER) == (k > NUMBER_DIAMETER))
                largest = fmax(largest, fabs(slopes[q]));
        assert_true(fabs(slopes[k] - expected) < 0.05 * largest);
    }
    odt_search_free(&s);
    odt_model_free(&m);
}

/*
 * Two particles that differ, of which the sample is neither. Squares of errors over variances are
 * 1 in the mean; of 24 (fields) and 20 numbers, which are not all independent, the mean is off by
 * less than 0.3 once in three. Above 2.5, or below 0.25, the deviations would be wrong.
 */
static void test_fit(void **state)
{
    spry_context *ctx = *state;
    odt_particle balls[2] = {{.at = {-0.8, 0.1, 0}, .diameter = 1, .index = 1.1},
                             {.at = {0.75, 0, -0.1}, .diameter = 0.85, .index = 1.12}};
    const odt_particles truth = {2, balls};
    balls[1].absorption = 0.02;
    for (int kind = KIND_FIELD; kind <= KIND_INTENSITY; kind++) {
        const odt_setup setup = setup_of(kind, 1e-4);
        const int width = kind == KIND_FIELD ? PARTICLE_NUMBERS : NUMBER_ABSORPTION;
        double sum = 0;
        if (kind == KIND_INTENSITY)
            balls[1].absorption = 0;
        for (uint64_t seed = 1; seed <= 2; seed++) {
            odt_model m;
            uint64_t noise = seed;
            assert_ok(ctx, odt_model_make(ctx, &setup, &m));
            measure(ctx, &m, &truth, 0.03, &noise);
            odt_search s = {.m = &m,
                            .sample = {.diameter = 0.95, .index = 1.09},
                            .threshold = 0.3,
                            .most = 4,
                            .refine = 1,
                            .fit = width - NUMBER_DIAMETER};
            assert_ok(ctx, odt_search_make(&s));
            assert_ok(ctx, odt_search_run(&s, false));
            assert_int_equal(s.found.count, 2);
            for (int j = 0; j < 2; j++) {
                odt_particle *p = &s.found.p[s.found.p[0].at[0] < 0 ? j : 1 - j];
                for (int k = 0; k < width; k++) {
                    const double off = *odt_number_of(p, k) - *odt_number_of(&balls[j], k);
                    assert_true(p->sigma[k] > 0 && p->sigma[k] < 0.1);
                    assert_true(fabs(off) < 5 * p->sigma[k]);
                    sum += off * off / (p->sigma[k] * p->sigma[k]) / (4 * width);
                }
            }
            odt_search_free(&s);
            odt_model_free(&m);
        }
        assert_true(sum > 0.25 && sum < 2.5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_absorbing, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_slopes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_fit, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
