/*
 * Below the surface, and seas: velocities and pressure against those of waves of permanent form,
 * forces on walls against small standing waves, seas against their spectrum, stream-function
 * waves against Stokes' expansion, steep ones of many terms.
 */
#include "support/support.h"

#include "ocean/inside.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, G = 9.81;

typedef struct fixture {
    spry_context *ctx;
    ocean_flow flow;
    ocean_inside inside;
    spry_vector *u, *rate;
} fixture;

static void setup_flow(fixture *x, spry_context *ctx, const ocean_setup *s)
{
    x->ctx = ctx;
    assert_ok(ctx, ocean_flow_make(ctx, s, &x->flow));
    assert_ok(ctx, ocean_flow_vector(&x->flow, 2 * x->flow.plane, NULL, &x->u));
    assert_ok(ctx, ocean_flow_vector(&x->flow, 2 * x->flow.plane, NULL, &x->rate));
    assert_ok(ctx, ocean_inside_make(&x->flow, &x->inside));
}

static void clear_flow(fixture *x)
{
    spry_vector_free(x->u);
    spry_vector_free(x->rate);
    ocean_inside_free(&x->inside);
    ocean_flow_free(&x->flow);
}

static ocean_setup basin(double length, double width, int nx, int ny, int nz)
{
    return (ocean_setup){.nx = nx,
                         .ny = ny,
                         .nz = nz,
                         .order = 6,
                         .round_x = true,
                         .round_y = true,
                         .length = length,
                         .width = width,
                         .gravity = G,
                         .depth = 1 / (2 * PI),
                         .method = "gmres",
                         .tol = 1e-10,
                         .device = "cpu"};
}

/* Puts a wave, and looks below it. */
static void look(fixture *x, const ocean_wave *w)
{
    double *u = spry_vector_data(x->u);
    for (int64_t i = 0; i < x->flow.plane; i++) {
        double a, b;
        ocean_flow_place(&x->flow, i, &a, &b);
        ocean_wave_at(w, a, b, 0, &u[i], &u[x->flow.plane + i]);
    }
    assert_ok(x->ctx, ocean_flow_set_wave(&x->flow, w, 0));
    assert_ok(x->ctx, ocean_flow_rate(&x->flow, 0, x->u, x->rate));
    assert_ok(x->ctx, ocean_inside_take(&x->inside, x->u, x->rate));
}

/* Of all terms: grad phi, and phi_t = -omega/k of the slope along the wave. */
static double exact(const ocean_wave *w, double x, double y, double z, double v[3])
{
    double rising = 0;
    v[0] = v[1] = v[2] = 0;
    for (int j = 0; j < w->count; j++) {
        const ocean_term *a = &w->term[j];
        const double theta = a->kx * x + a->ky * y, k = hypot(a->kx, a->ky);
        const double up = cosh(k * (z + w->depth)) / cosh(k * w->depth);
        const double wall = sinh(k * (z + w->depth)) / cosh(k * w->depth);
        v[0] += a->kx * a->B * up * cos(theta);
        v[1] += a->ky * a->B * up * cos(theta);
        v[2] += k * a->B * wall * sin(theta);
        rising -= a->omega * a->B * up * cos(theta);
    }
    return w->head - rising - G * z - (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
}

/* The largest differences of velocities over the speed of the wave, and of the pressure over g H,
 * at places between points. */
static double water_error(fixture *x, const ocean_wave *w)
{
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        const double a = fmod(i * 0.618034, 1) * x->flow.setup.length;
        const double b = fmod(i * 0.754878, 1) * x->flow.setup.width;
        const double z = -w->depth + fmod(i * 0.569840, 1) * w->depth * 0.85;
        ocean_near near[2];
        ocean_water water;
        double v[3];
        ocean_inside_near(&x->inside, a, b, near);
        assert_true(ocean_inside_at(&x->inside, near, z, &water));
        const double p = exact(w, a, b, z, v);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(water.velocity[k] - v[k]) / (w->omega / w->k));
        worst = fmax(worst, fabs(water.pressure - p) / (G * w->height));
    }
    return worst;
}

/* --- velocities and pressure ---------------------------------------------------------------------
 */

static void test_water(void **state)
{
    spry_context *ctx = *state;
    static ocean_wave w;
    fixture x;
    double error[2];
    assert_ok(ctx, ocean_wave_stream(ctx, G, 1 / (2 * PI), 0.05, 1, 0, 20, &w));
    for (int i = 0; i < 2; i++) {
        const ocean_setup s = basin(1, 0, 24 << i, 0, 8 << i);
        setup_flow(&x, ctx, &s);
        look(&x, &w);
        error[i] = water_error(&x, &w);
        ocean_near near[2];
        ocean_water water;
        ocean_inside_near(&x.inside, 0.5, 0, near);
        assert_false(ocean_inside_at(&x.inside, near, 0, &water)); /* in the trough */
        /* the pressure is 0 at the surface, to what differences of order 6 leave */
        double z;
        ocean_inside_near(&x.inside, 0.3, 0, near);
        ocean_inside_level(&x.inside, near, s.nz, &z, &water);
        assert_true(fabs(water.pressure) < 2 * error[i] * G * w.height);
        clear_flow(&x);
    }
    assert_true(error[0] < 4e-3);
    assert_true(error[1] < error[0] / 32);
    /* across the grid */
    ocean_wave_turn(&w, PI / 4);
    const ocean_setup s = basin(sqrt(2), sqrt(2), 24, 24, 8);
    setup_flow(&x, ctx, &s);
    look(&x, &w);
    assert_true(water_error(&x, &w) < 2 * error[0]);
    clear_flow(&x);
}

/* A small standing wave at its highest: nothing flows, and walls are pushed by g a tanh(kh)/k per
 * length more than by still water at its crest, by as much less at its trough. Terms of the second
 * order are a k of it; differences leave 1e-5. */
static void test_forces(void **state)
{
    spry_context *ctx = *state;
    const double a = 1e-7, k = PI, width = 0.7, h = 1 / (2 * PI);
    for (int wide = 0; wide < 2; wide++) {
        fixture x;
        double force[4];
        ocean_setup s = basin(1, wide ? width : 0, 24, wide ? 8 : 0, 8);
        s.round_x = s.round_y = false;
        s.tol = 1e-11;
        setup_flow(&x, ctx, &s);
        double *u = spry_vector_data(x.u);
        for (int64_t i = 0; i < x.flow.plane; i++) {
            double p, q;
            ocean_flow_place(&x.flow, i, &p, &q);
            u[i] = a * cos(k * p);
        }
        assert_ok(ctx, ocean_flow_rate(&x.flow, 0, x.u, x.rate));
        assert_ok(ctx, ocean_inside_take(&x.inside, x.u, x.rate));
        ocean_inside_forces(&x.inside, force);
        const double whole = G * a * tanh(k * h) / k * (wide ? width : 1);
        assert_true(fabs(force[0] - whole) < 2e-5 * whole);
        assert_true(fabs(force[1] + whole) < 2e-5 * whole);
        assert_true(fabs(force[2]) < 2e-5 * whole && fabs(force[3]) < 2e-5 * whole);
        clear_flow(&x);
    }
}

/* --- waves ---------------------------------------------------------------------------------------
 */

/* Deep water: c^2 k/g = 1 + e^2 + e^4/2 + O(e^6), e = k H/2 (G. G. Stokes; coefficients of Fenton,
 * 1985). The depth is 12/k, of which tanh is 1 to 1e-10. */
static void test_stokes(void **state)
{
    spry_context *ctx = *state;
    static ocean_wave w;
    const double e = 0.1, k = 2 * PI;
    assert_ok(ctx, ocean_wave_stream(ctx, G, 12 / k, 2 * e / k, 1, 0, 16, &w));
    const double c = w.omega / w.k;
    assert_true(fabs(c * c * k / G - (1 + e * e + pow(e, 4) / 2)) < pow(e, 6));
    double crest, trough, phi;
    ocean_wave_at(&w, 0, 0, 0, &crest, &phi);
    ocean_wave_at(&w, 0.5, 0, 0, &trough, &phi);
    assert_true(fabs(crest - trough - w.height) < 1e-12 * w.height);
    /* given by its period it is the same one */
    static ocean_wave v;
    assert_ok(ctx, ocean_wave_stream(ctx, G, 12 / k, 2 * e / k, 0, 2 * PI / w.omega, 16, &v));
    assert_true(fabs(v.k - w.k) < 1e-10 * w.k);
    /* higher than waves can be */
    assert_int_equal(ocean_wave_stream(ctx, G, 1, 0.9, 1, 0, 16, &v), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "higher than waves can be"));
}

/* Nearly the highest wave of deep water: more terms change it by less and less, 32 by nothing that
 * is seen in 16. */
static void test_terms(void **state)
{
    spry_context *ctx = *state;
    static ocean_wave w;
    double omega[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(ctx, ocean_wave_stream(ctx, G, 1, 0.135, 1, 0, 8 << i, &w));
        omega[i] = w.omega;
    }
    assert_true(fabs(omega[2] - omega[1]) < fabs(omega[1] - omega[0]) / 50);
    assert_true(fabs(omega[2] / omega[1] - 1) < 1e-5);
}

static ocean_sea some_sea(void)
{
    return (ocean_sea){
        .height = 0.1, .period = 1.5, .gamma = 3.3, .shortest = 0.05, .terms = 200, .seed = 7};
}

/* Energy of a band of frequencies, by Fourier's sums of a series. */
static double band(const double *eta, int n, double dt, double low, double high)
{
    double sum = 0;
    for (int m = 1; m < n / 2; m++) {
        const double f = m / (n * dt);
        double c = 0, s = 0;
        if (f < low || f >= high)
            continue;
        for (int i = 0; i < n; i++) {
            c += eta[i] * cos(2 * PI * m * i / n);
            s += eta[i] * sin(2 * PI * m * i / n);
        }
        sum += 2 * (c * c + s * s) / ((double)n * n);
    }
    return sum;
}

/* A gauge in a sea: four times the root of the variance is the significant height, and bands have
 * the energy of the spectrum. What is random is where waves lie within bands of 3.5/1.5/200 Hz, and
 * the beats that a series of 1,000 s cannot tell apart from one another: a thirtieth of them. */
static void test_sea(void **state)
{
    enum { N = 4096 };
    spry_context *ctx = *state;
    static ocean_wave w;
    static double eta[N];
    const double dt = 0.25, low = 0.5 / 1.5, high = 3.5 / 1.5;
    const ocean_sea sea = some_sea();
    double square = 0, whole = 0, phi;
    assert_ok(ctx, ocean_wave_sea(ctx, G, 0.8, &sea, &w));
    assert_int_equal(w.count, 200);
    for (int i = 0; i < N; i++) {
        ocean_wave_at(&w, 3, 0, i * dt, &eta[i], &phi);
        square += eta[i] * eta[i] / N;
    }
    assert_true(fabs(4 * sqrt(square) / sea.height - 1) < 0.03);
    for (int i = 0; i < 10000; i++)
        whole += ocean_sea_spectrum(&sea, low + (high - low) * (i + 0.5) / 10000);
    /* below, around and above the peak, up to half of what the series resolves */
    const double edges[] = {0.4, 0.62, 0.72, 0.9, 1.5};
    for (int b = 0; b < 4; b++) {
        double expected = 0;
        for (int i = 0; i < 10000; i++) {
            const double f = low + (high - low) * (i + 0.5) / 10000;
            if (f >= edges[b] && f < edges[b + 1])
                expected += ocean_sea_spectrum(&sea, f) / whole;
        }
        const double found = band(eta, N, dt, edges[b], edges[b + 1]) / square;
        assert_true(fabs(found - expected) < 0.03);
    }
    /* the same seed is the same sea, another is another */
    static ocean_wave again;
    ocean_sea other = sea;
    assert_ok(ctx, ocean_wave_sea(ctx, G, 0.8, &sea, &again));
    assert_memory_equal(&w, &again, sizeof w);
    other.seed = 8;
    assert_ok(ctx, ocean_wave_sea(ctx, G, 0.8, &other, &again));
    assert_true(again.term[0].phase != w.term[0].phase);
    other.shortest = 2;
    assert_int_equal(ocean_wave_sea(ctx, G, 0.8, &other, &again), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "take more points"));
}

/* Directions: the mean of cos of the angle over their energy is that of the distribution up to a
 * right angle on both sides, and that of sin is none, to four deviations of a mean of random angles
 * with these weights. In a periodic basin all waves fit, with the same energy. */
static void test_directions(void **state)
{
    spry_context *ctx = *state;
    static ocean_wave w;
    ocean_sea sea = some_sea();
    double c = 0, s = 0, energy = 0, squares = 0, expected = 0, spread[2] = {0}, all = 0;
    sea.terms = 512;
    sea.spreading = 8;
    assert_ok(ctx, ocean_wave_sea(ctx, G, 0.8, &sea, &w));
    for (int j = 0; j < w.count; j++) {
        const ocean_term *a = &w.term[j];
        const double k = hypot(a->kx, a->ky);
        c += a->E * a->E * a->kx / k;
        s += a->E * a->E * a->ky / k;
        energy += a->E * a->E;
        squares += pow(a->E, 4);
        assert_true(fabs(a->omega * a->omega - G * k * tanh(0.8 * k)) < 1e-12 * G * k);
    }
    for (int i = 0; i < 1000; i++) {
        const double angle = PI * ((i + 0.5) / 1000 - 0.5), d = pow(cos(angle / 2), 16);
        expected += d * cos(angle);
        spread[0] += d * cos(angle) * cos(angle);
        spread[1] += d * sin(angle) * sin(angle);
        all += d;
    }
    expected /= all;
    const double part = 4 * sqrt(squares) / energy;
    assert_true(part < 1);
    assert_true(fabs(c / energy - expected) < part * sqrt(spread[0] / all - expected * expected));
    assert_true(fabs(s / energy) < part * sqrt(spread[1] / all));
    sea.round_x = 20;
    sea.round_y = 10;
    assert_ok(ctx, ocean_wave_sea(ctx, G, 0.8, &sea, &w));
    energy = 0;
    for (int j = 0; j < w.count; j++) {
        const double m = w.term[j].kx * 20 / (2 * PI), n = w.term[j].ky * 10 / (2 * PI);
        assert_true(fabs(m - round(m)) < 1e-9 && fabs(n - round(n)) < 1e-9);
        energy += w.term[j].E * w.term[j].E / 2;
    }
    assert_true(fabs(16 * energy / (sea.height * sea.height) - 1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_water, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_forces, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_stokes, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_terms, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_sea, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_directions, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
