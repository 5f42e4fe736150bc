/*
 * Water waves: small waves against the dispersion that the differences have and c^2 = g
 * tanh(kh)/k, orders, energy and mass, waves of permanent form along any direction, water over a
 * bottom of any shape, ships, the filter, forecasts of memory.
 */
#include "support/support.h"

#include "ocean/ship.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, G = 9.81;

typedef struct fixture {
    spry_context *ctx;
    ocean_flow flow;
    spry_vector *u, *rate;
    double *eta, *eta_rate;
} fixture;

static void setup_flow(fixture *x, spry_context *ctx, const ocean_setup *s)
{
    x->ctx = ctx;
    assert_ok(ctx, ocean_flow_make(ctx, s, &x->flow));
    assert_ok(ctx, ocean_flow_vector(&x->flow, 2 * x->flow.plane, NULL, &x->u));
    assert_ok(ctx, ocean_flow_vector(&x->flow, 2 * x->flow.plane, NULL, &x->rate));
    x->eta = spry_vector_data(x->u);
    x->eta_rate = spry_vector_data(x->rate);
}

static void clear_flow(fixture *x)
{
    spry_vector_free(x->u);
    spry_vector_free(x->rate);
    ocean_flow_free(&x->flow);
}

/* A periodic basin of a wavelength; oblique: as many waves along y. */
static ocean_setup one_wave(const ocean_wave *w, int nx, int nz, int order, bool oblique)
{
    const double side = 2 * PI / w->k * (oblique ? sqrt(2) : 1);
    return (ocean_setup){.nx = nx,
                         .ny = oblique ? nx : 0,
                         .nz = nz,
                         .order = order,
                         .round_x = true,
                         .round_y = true,
                         .length = side,
                         .width = oblique ? side : 0,
                         .gravity = G,
                         .depth = w->depth,
                         .method = "gmres",
                         .tol = 1e-10,
                         .device = "cpu"};
}

/* A basin of 1 m by 1 m (ny = 0: along x alone), 0.3 m deep, periodic. */
static ocean_setup basin(int nx, int ny, int nz, int order)
{
    return (ocean_setup){.nx = nx,
                         .ny = ny,
                         .nz = nz,
                         .order = order,
                         .round_x = true,
                         .round_y = true,
                         .length = 1,
                         .width = ny > 0,
                         .gravity = G,
                         .depth = 0.3,
                         .method = "gmres",
                         .tol = 1e-9,
                         .device = "cpu"};
}

static void put_wave(fixture *x, const ocean_wave *w, double direction)
{
    for (int64_t i = 0; i < x->flow.plane; i++) {
        double a, b;
        ocean_flow_place(&x->flow, i, &a, &b);
        ocean_wave_at(w, a * cos(direction) + b * sin(direction), 0, 0, &x->eta[i],
                      &x->eta[x->flow.plane + i]);
    }
}

/* max |eta_t + c eta_x| over the largest eta_t, of the wave that was put */
static double rate_error(fixture *x, const ocean_wave *w, double direction)
{
    double worst = 0, top = 0;
    put_wave(x, w, direction);
    ocean_wave turned = *w;
    ocean_wave_turn(&turned, direction);
    assert_ok(x->ctx, ocean_flow_set_wave(&x->flow, &turned, 0));
    assert_ok(x->ctx, ocean_flow_rate(&x->flow, 0, x->u, x->rate));
    for (int64_t i = 0; i < x->flow.plane; i++) {
        double a, b, exact = 0;
        ocean_flow_place(&x->flow, i, &a, &b);
        const double theta = w->k * (a * cos(direction) + b * sin(direction));
        for (int j = 1; j <= w->count; j++)
            exact += j * w->omega * w->term[j - 1].E * sin(j * theta);
        worst = fmax(worst, fabs(exact - x->eta_rate[i]));
        top = fmax(top, fabs(exact));
    }
    return worst / top;
}

/* --- waves ---------------------------------------------------------------------------------------
 */

/* A steep wave of permanent form: its rate is that of a shift, with an error that falls as
 * differences of order 6 let it; half the spacings along both axes make it smaller by more than
 * 2^5. The levels begin where the wave is resolved. */
static void test_permanent_form(void **state)
{
    spry_context *ctx = *state;
    ocean_wave w;
    fixture x;
    double error[2];
    assert_ok(ctx, ocean_wave_stream(ctx, G, 1 / (2 * PI), 0.05, 1, 0, 20, &w));
    for (int i = 0; i < 2; i++) {
        const ocean_setup s = one_wave(&w, 24 << i, 8 << i, 6, false);
        setup_flow(&x, ctx, &s);
        error[i] = rate_error(&x, &w, 0);
        clear_flow(&x);
    }
    assert_true(error[0] < 2e-3);
    assert_true(error[1] < error[0] / 32);
    /* across the grid, at 45 degrees, points lie closer along the wave: no larger error */
    const ocean_setup s = one_wave(&w, 24, 8, 6, true);
    setup_flow(&x, ctx, &s);
    assert_true(rate_error(&x, &w, PI / 4) < 2 * error[0]);
    clear_flow(&x);
}

/* k^2 of exp(i k x) as differences of an order have it: 2 sum of c_n (1 - cos n k h). */
static double symbol(int order, double k, double h)
{
    static const double c[][4] = {{1},
                                  {4 / 3.0, -1 / 12.0},
                                  {3 / 2.0, -3 / 20.0, 1 / 90.0},
                                  {8 / 5.0, -1 / 5.0, 8 / 315.0, -1 / 560.0}};
    double sum = 0;
    for (int n = 1; n <= order / 2; n++)
        sum += 2 * c[order / 2 - 1][n - 1] * (1 - cos(n * k * h));
    return sum / (h * h);
}

/* Small waves, all orders: their rate is that of the differences' own dispersion, to the solver's
 * tolerance and the square of the height; and that comes to g k tanh(k h) as the order lets it. */
static void test_dispersion(void **state)
{
    spry_context *ctx = *state;
    for (int order = 2; order <= 8; order += 2) {
        double error[2];
        for (int i = 0; i < 2; i++) {
            const int nx = 16 << i, nz = 8 << i;
            ocean_wave w;
            fixture x;
            ocean_wave_linear(G, 0.3, 1e-7, 1, 0, &w);
            const ocean_setup s = one_wave(&w, nx, nz, order, false);
            setup_flow(&x, ctx, &s);
            const double up =
                ocean_vertical_response(&x.flow.vertical, w.depth, symbol(order, w.k, 1.0 / nx));
            put_wave(&x, &w, 0);
            assert_ok(ctx, ocean_flow_rate(&x.flow, 0, x.u, x.rate));
            for (int p = 0; p < nx; p++) {
                const double phi = x.eta[nx + p];
                assert_true(fabs(x.eta_rate[p] - up * phi) < 1e-6 * up * w.term[0].B);
            }
            error[i] = fabs(up / (w.k * tanh(w.k * w.depth)) - 1);
            clear_flow(&x);
        }
        assert_true(error[0] < 0.1);
        /* second differences of one side are of order - 1 */
        assert_true(error[1] < error[0] / pow(2, order - 1));
    }
}

/* --- time ----------------------------------------------------------------------------------------
 */

/* rk4 makes exp(i a) per step shorter by a^6/144, so that a wave of n steps per period loses
 * 2 n a^6/144 of its energy in each. Harmonic j of a wave, bound to it, does so with j a and its
 * share of the energy. */
static double expected_loss(const ocean_wave *w, int steps)
{
    const double a = 2 * PI / steps;
    double sum = 0, all = 0;
    for (int j = 1; j <= w->count; j++) {
        const double E = w->term[j - 1].E;
        sum += pow(j * a, 6) * E * E;
        all += E * E;
    }
    return 2 * steps / 144.0 * sum / all;
}

/* Periods of a wave; its energy and mass after each, and where it is at the end. */
static void run_periods(fixture *x, const ocean_wave *w, int periods, int steps, double *loss,
                        double *gain, double *phase)
{
    const double period = 2 * PI / w->omega;
    double before, after, water, later, c = 0, s = 0;
    spry_stepper *stepper = NULL;
    put_wave(x, w, 0);
    assert_ok(x->ctx, ocean_flow_set_wave(&x->flow, w, 0));
    assert_ok(x->ctx, ocean_flow_rate(&x->flow, 0, x->u, x->rate));
    assert_ok(x->ctx, ocean_flow_sums(&x->flow, x->u, x->rate, &water, &before));
    assert_ok(x->ctx, spry_stepper_new(x->ctx, "method=rk4", &stepper));
    assert_ok(x->ctx, spry_stepper_set_function(stepper, ocean_flow_rate, &x->flow));
    assert_ok(x->ctx, spry_stepper_set_real(stepper, "dt", period / steps));
    assert_ok(x->ctx, spry_stepper_run(stepper, 0, periods * period, x->u, NULL));
    assert_ok(x->ctx, ocean_flow_rate(&x->flow, 0, x->u, x->rate));
    assert_ok(x->ctx, ocean_flow_sums(&x->flow, x->u, x->rate, &later, &after));
    for (int64_t i = 0; i < x->flow.plane; i++) {
        double a, b;
        ocean_flow_place(&x->flow, i, &a, &b);
        c += x->eta[i] * cos(w->k * a);
        s += x->eta[i] * sin(w->k * a);
    }
    *loss = 1 - after / before;
    *gain = later - water;
    *phase = atan2(s, c) / (2 * PI) / periods;
    spry_stepper_free(stepper);
}

/* Small waves lose what rk4 takes, within a tenth, and no water but what each solve may err by;
 * they are late by the differences' dispersion and by rk4's a^5/120 per step, 2 pi a^4/120 / (2 pi)
 * of a period. */
static void test_small_wave(void **state)
{
    spry_context *ctx = *state;
    ocean_wave w;
    fixture x;
    double loss, gain, phase;
    const int steps = 40, periods = 3;
    ocean_wave_linear(G, 1 / (2 * PI), 1e-6, 1, 0, &w);
    const ocean_setup s = one_wave(&w, 32, 8, 6, false);
    setup_flow(&x, ctx, &s);
    const double up = ocean_vertical_response(&x.flow.vertical, w.depth, symbol(6, w.k, 1.0 / 32));
    const double slow = sqrt(G * up) / w.omega - 1, late = pow(2 * PI / steps, 4) / 120;
    run_periods(&x, &w, periods, steps, &loss, &gain, &phase);
    assert_true(fabs(loss - periods * expected_loss(&w, steps)) < 0.1 * loss);
    assert_true(fabs(gain) < 4 * steps * periods * s.tol * w.height);
    assert_true(fabs(phase - (slow - late)) < 0.1 * late);
    clear_flow(&x);
}

/* A stream-function wave of the source's long run, (kh, H/L) = (1, 0.0502) on 30 x 6 intervals: 50
 * periods are in docs/ocean.md. It loses at most twice what rk4 takes of its harmonics, keeps its
 * water and its shape. */
static void test_long_run(void **state)
{
    spry_context *ctx = *state;
    ocean_wave w;
    fixture x;
    double loss, gain, phase;
    const int steps = 60, periods = support_full() ? 5 : 3;
    assert_ok(ctx, ocean_wave_stream(ctx, G, 1 / (2 * PI), 0.0502, 1, 0, 16, &w));
    const ocean_setup s = one_wave(&w, 30, 6, 6, false);
    setup_flow(&x, ctx, &s);
    run_periods(&x, &w, periods, steps, &loss, &gain, &phase);
    assert_true(loss < 4 * periods * expected_loss(&w, steps) && loss > 0);
    assert_true(fabs(gain) < 1e-4 * w.height);
    assert_true(fabs(phase) < 1e-4);
    clear_flow(&x);
}

/* The shortest wave has the highest frequency, a: rk4 multiplies its energy by 1 - y^6/72 + y^8/576
 * in a step, y = a dt, which is 1 at y = 2 sqrt 2: the longest stable step. */
static void test_stability(void **state)
{
    enum { NX = 16, STEPS = 10 };
    spry_context *ctx = *state;
    for (int i = 0; i < 3; i++) {
        const double part = 0.9 + 0.1 * i, y = part * sqrt(8);
        ocean_wave w;
        fixture x;
        double water, before, after;
        spry_stepper *stepper = NULL;
        ocean_wave_linear(G, 0.3, 1e-9, 1, 0, &w);
        const ocean_setup s = one_wave(&w, NX, 8, 6, false);
        setup_flow(&x, ctx, &s);
        for (int p = 0; p < NX; p++)
            x.eta[p] = p % 2 == 0 ? 1e-9 : -1e-9;
        assert_ok(ctx, ocean_flow_sums(&x.flow, x.u, x.rate, &water, &before));
        assert_ok(ctx, spry_stepper_new(ctx, "method=rk4", &stepper));
        assert_ok(ctx, spry_stepper_set_function(stepper, ocean_flow_rate, &x.flow));
        const double dt = part * ocean_flow_limit(&x.flow);
        assert_ok(ctx, spry_stepper_set_real(stepper, "dt", dt));
        assert_ok(ctx, spry_stepper_run(stepper, 0, STEPS * dt, x.u, NULL));
        assert_ok(ctx, ocean_flow_rate(&x.flow, 0, x.u, x.rate));
        assert_ok(ctx, ocean_flow_sums(&x.flow, x.u, x.rate, &water, &after));
        const double expected = pow(1 - pow(y, 6) / 72 + pow(y, 8) / 576, STEPS);
        assert_true(fabs(after / before / expected - 1) < 1e-4);
        spry_stepper_free(stepper);
        clear_flow(&x);
    }
}

/* --- bottoms -------------------------------------------------------------------------------------
 */

static double hilly(double x, double y)
{
    return 0.25 + 0.08 * cos(2 * PI * x) * (1 + 0.5 * cos(PI * y)) + 0.03 * cos(PI * x);
}

/* Between walls, over a bottom with slopes of a half and below a surface with waves: nothing flows
 * through either, so that the surface's rate has no sum. What is left of it falls with the order,
 * and so does the change of the rate at common points from grid to grid. */
static void check_bottom(spry_context *ctx, int order, bool wide)
{
    double left[2], depths[65 * 65], before[65] = {0};
    for (int i = 0; i < 2; i++) {
        const int nx = 32 << i, ny = wide ? 16 << i : 0, nz = 8 << i, lines = wide ? ny + 1 : 1;
        const ocean_setup s = {.nx = nx,
                               .ny = ny,
                               .nz = nz,
                               .order = order,
                               .length = 1,
                               .width = wide,
                               .gravity = G,
                               .depths = depths,
                               .method = "gmres",
                               .tol = 1e-11,
                               .device = "cpu"};
        fixture x;
        for (int p = 0; p < (nx + 1) * lines; p++)
            depths[p] = hilly((double)(p % (nx + 1)) / nx, wide ? (double)(p / (nx + 1)) / ny : 0);
        setup_flow(&x, ctx, &s);
        double sum = 0, energy, top = 0, change = 0;
        for (int64_t p = 0; p < x.flow.plane; p++) {
            double a, b;
            ocean_flow_place(&x.flow, p, &a, &b);
            x.eta[p] = 0.02 * cos(2 * PI * a) * cos(PI * b);
            x.eta[x.flow.plane + p] = cos(PI * a) + 0.3 * cos(2 * PI * a) * cos(PI * b);
        }
        assert_ok(ctx, ocean_flow_rate(&x.flow, 0, x.u, x.rate));
        for (int64_t p = 0; p < x.flow.plane; p++)
            top = fmax(top, fabs(x.eta_rate[p]));
        memcpy(x.eta, x.eta_rate, (size_t)x.flow.plane * sizeof(double));
        assert_ok(ctx, ocean_flow_sums(&x.flow, x.u, x.rate, &sum, &energy));
        for (int p = 0; i == 1 && p <= 32; p++)
            change = fmax(change, fabs(x.eta_rate[2 * p] - before[p]));
        memcpy(before, x.eta_rate, sizeof(double) * 33);
        left[i] = fabs(sum) / top;
        if (i == 1)
            assert_true(change / top < 0.01);
        clear_flow(&x);
    }
    assert_true(left[0] < 1e-2);
    assert_true(left[1] < left[0] / pow(2, order - 1));
}

static void test_bottom(void **state)
{
    check_bottom(*state, 4, false);
    check_bottom(*state, 6, false);
    check_bottom(*state, 4, true);
}

/* --- ships ---------------------------------------------------------------------------------------
 */

/* k of exp(i k x) as first differences of order 6 have it. */
static double first_symbol(double k, double h)
{
    return (3 / 2.0 * sin(k * h) - 3 / 10.0 * sin(2 * k * h) + 1 / 30.0 * sin(3 * k * h)) / h;
}

/* The phase of a wave at a point, with `count` of its lengths along both axes. */
static double phase_at(int p, int n, int lines, int a, int b)
{
    const int j = p / n, i = p - j * n;
    return 2 * PI * ((double)a * i / n + (double)b * j / lines);
}

/* One wave of a real function of n x lines points: the sums of it with cos and -sin. */
static void transform(const double *v, int n, int lines, int a, int b, double *re, double *im)
{
    *re = *im = 0;
    for (int p = 0; p < n * lines; p++) {
        const double angle = phase_at(p, n, lines, a, b);
        *re += v[p] * cos(angle);
        *im -= v[p] * sin(angle);
    }
}

/*
 * A ship of a small draft in a periodic basin, from rest: linear equations with constant
 * coefficients, so that each wave of the grid goes by itself. With N = k tanh(k h) and D = k_x as
 * differences have them, w^2 = g N and F the wave's part of what drives it (the plane of f->ship),
 *
 *   eta = F N/w int_0^t exp(i U D s) sin(w s) ds
 *
 * phi_0 is checked against N phi_0 = -i U D eta_0, by way of u_0 = i D phi_0: what is left of the
 * right-hand side, 10 tol of its norm, is all in one wave at worst, and D/N is at most 1/tanh(k h),
 * 1.4. What may differ in eta: rk4, (w_most dt)^4/120 of a wave per unit of w t; solves, to 1e-9
 * each; the draft over the ship's length, 1e-7.
 */
static void check_ship(spry_context *ctx, int nx, int ny, double depth)
{
    enum { STEPS = 32, MOST = 24 * 12 };
    const int lines = ny > 0 ? ny : 1, n = nx * lines;
    const double U = 0.8, dx = 2.0 / nx, dy = ny > 0 ? 1.0 / ny : 1;
    ocean_setup s = basin(nx, ny, 8, 6);
    s.length = 2;
    s.depth = depth;
    const ocean_ship ship = {
        .speed = U, .length = 0.8, .beam = 0.6, .draft = 1e-7, .x = 1.2, .y = 0.5};
    fixture x;
    spry_stepper *stepper = NULL;
    double hull[MOST], expected[MOST] = {0}, top = 0, fastest = 0;
    setup_flow(&x, ctx, &s);
    assert_ok(ctx, ocean_flow_set_ship(&x.flow, &ship));
    const double *planes = spry_vector_data(x.flow.ship);
    const double dt = 0.05 * ocean_flow_limit(&x.flow), end = STEPS * dt;
    for (int p = 0; p < n; p++)
        hull[p] = ocean_ship_hull(&x.flow, &ship, p);
    double worst = 0, flow_top = 0;
    for (int a = 0; a < nx; a++)
        for (int b = 0; b < lines; b++) {
            const double kx = 2 * PI * a / 2.0, ky = 2 * PI * b;
            const double square = symbol(6, kx, dx) + (ny > 0 ? symbol(6, ky, dy) : 0);
            const double D = first_symbol(kx, dx);
            double h_re, h_im, u_re, u_im, re, im;
            if (a == 0 && b == 0)
                continue;
            const double N = ocean_vertical_response(&x.flow.vertical, depth, square);
            const double w = sqrt(G * N), up = U * D + w, down = U * D - w;
            /* u_0 = i D phi_0 = U D^2 / N eta_0 */
            transform(hull, nx, lines, a, b, &h_re, &h_im);
            transform(planes, nx, lines, a, b, &u_re, &u_im);
            worst = fmax(worst, hypot(u_re - U * D * D / N * h_re, u_im - U * D * D / N * h_im));
            flow_top = fmax(flow_top, hypot(u_re, u_im));
            transform(planes + 2 * (ptrdiff_t)n, nx, lines, a, b, &re, &im);
            /* the integral is (E(up) - E(down)) / 2i, E(q) = (exp(i q t) - 1) / (i q) */
            const double half[] = {up * end / 2, down * end / 2};
            double c[2], d[2];
            for (int q = 0; q < 2; q++) {
                const double size = half[q] == 0 ? end : end * sin(half[q]) / half[q];
                c[q] = size * cos(half[q]);
                d[q] = size * sin(half[q]);
            }
            const double ire = N / w * (d[0] - d[1]) / 2, iim = -N / w * (c[0] - c[1]) / 2;
            const double e_re = re * ire - im * iim, e_im = re * iim + im * ire;
            for (int p = 0; p < n; p++) {
                const double angle = phase_at(p, nx, lines, a, b);
                expected[p] += (e_re * cos(angle) - e_im * sin(angle)) / n;
            }
            fastest = fmax(fastest, fmax(fabs(up), fabs(down)));
        }
    assert_true(worst < 1.4 * sqrt(n) * 10 * s.tol * flow_top);
    assert_ok(ctx, spry_stepper_new(ctx, "method=rk4", &stepper));
    assert_ok(ctx, spry_stepper_set_function(stepper, ocean_flow_rate, &x.flow));
    assert_ok(ctx, spry_stepper_set_real(stepper, "dt", dt));
    assert_ok(ctx, spry_stepper_run(stepper, 0, end, x.u, NULL));
    for (int p = 0; p < n; p++)
        top = fmax(top, fabs(expected[p]));
    const double bound = fastest * end * pow(fastest * dt, 4) / 120 + 1e-6;
    assert_true(bound < 1e-3);
    for (int p = 0; p < n; p++)
        assert_true(fabs(x.eta[p] - expected[p]) < bound * top);
    spry_stepper_free(stepper);
    clear_flow(&x);
}

static void test_ship(void **state)
{
    check_ship(*state, 48, 0, 0.3);
    check_ship(*state, 24, 12, 0.3);
}

/* The part of a line of the surface that goes as exp(i k x), over whole wavelengths. */
static void fit_wave(const fixture *x, double k, int from, int count, double *size, double *phase)
{
    double c = 0, d = 0;
    for (int i = from; i < from + count; i++) {
        c += 2 * x->eta[i] * cos(k * x->flow.dx * i) / count;
        d -= 2 * x->eta[i] * sin(k * x->flow.dx * i) / count;
    }
    *size = hypot(c, d);
    *phase = atan2(d, c);
}

/*
 * The waves behind a ship along x alone stand still relative to it: their k has U^2 = g tanh(k
 * h)/k, and as their energy, g a^2/2 over the density, is left behind at U - c_g, the ship works
 * for it: R U = g a^2/2 (U - c_g). Both to 1%, which leaves room for what is still there of the
 * beginning. Its waves whose crests keep up with the ship only in part, omega = g/4U, die out
 * slowly; within `ramp` seconds they are made 1/(omega ramp) as high, and fall with the root of the
 * time.
 */
static void test_wake(void **state)
{
    enum { NX = 224 };
    spry_context *ctx = *state;
    const double U = 1, depth = 0.5, zone = 2, ramp = 6, end = 17;
    ocean_setup s = basin(NX, 0, 6, 6);
    const ocean_ship ship = {.speed = U, .length = 0.4, .draft = 1e-4, .x = 6.2};
    const ocean_wave none = {.depth = depth};
    double rest[NX + 1], nothing[NX + 1] = {0}, k = G / (U * U), size[2], phase[2], R;
    fixture x;
    spry_stepper *stepper = NULL;
    for (int i = 0; i < 100; i++)
        k = G / (U * U) * tanh(k * depth);
    s.clustered = true;
    s.round_x = false;
    s.length = 8.96;
    s.depth = depth;
    s.tol = 1e-6;
    setup_flow(&x, ctx, &s);
    assert_ok(ctx, ocean_flow_set_ship(&x.flow, &ship));
    const double dt = 0.9 * ocean_flow_limit(&x.flow);
    for (int i = 0; i <= NX; i++) {
        const double way = fmin(x.flow.dx * i, s.length - x.flow.dx * i);
        rest[i] = pow(1 - fmin(way / zone, 1), 5) / dt;
    }
    assert_ok(ctx, ocean_flow_set_zones(&x.flow, nothing, rest));
    assert_ok(ctx, ocean_flow_set_wave(&x.flow, &none, ramp));
    assert_ok(ctx, spry_stepper_new(ctx, "method=rk4", &stepper));
    assert_ok(ctx, spry_stepper_set_function(stepper, ocean_flow_rate, &x.flow));
    assert_ok(ctx, spry_stepper_set_real(stepper, "dt", dt));
    assert_ok(ctx, spry_stepper_run(stepper, 0, end, x.u, NULL));
    const int count = (int)lround(2 * 2 * PI / k / x.flow.dx), from = 60;
    for (int i = 0; i < 2; i++)
        fit_wave(&x, k, from + i * count, count, &size[i], &phase[i]);
    /* what the phase of the second window is ahead is what k differs by */
    const double turned = remainder(phase[1] - phase[0], 2 * PI), a = (size[0] + size[1]) / 2;
    assert_true(fabs(turned / (count * x.flow.dx)) < 0.01 * k);
    assert_ok(ctx, ocean_flow_resistance(&x.flow, x.u, &R));
    const double group = U / 2 * (1 + 2 * k * depth / sinh(2 * k * depth));
    const double expected = G * a * a / 2 * (1 - group / U);
    assert_true(fabs(R - expected) < 0.01 * expected);
    spry_stepper_free(stepper);
    clear_flow(&x);
}

/* --- devices -------------------------------------------------------------------------------------
 */

/* A vector, wherever it is, to the host. */
static void bring(spry_context *ctx, const spry_vector *v, double *to)
{
    spry_vector *on_host = NULL;
    assert_ok(
        ctx, spry_vector_new(ctx, SPRY_TYPE_D, spry_vector_size(v), to, SPRY_OWN_BORROW, &on_host));
    assert_ok(ctx, spry_vector_copy(v, on_host));
    spry_vector_free(on_host);
}

/* A wave over hills, with zones, filtered: u and its rate, on the host. */
static void run_hills(spry_context *ctx, const char *device, double *u, double *rate)
{
    enum { NX = 16, NY = 17 };
    double depths[NX * NY], zone[NX * NY];
    ocean_wave w;
    fixture x;
    ocean_wave_linear(G, 0.3, 0.01, 1, 0, &w);
    for (int p = 0; p < NX * NY; p++) {
        depths[p] = 0.3 + 0.05 * cos(2 * PI * (p % NX) / NX) * cos(PI * (p / NX) / (NY - 1.0));
        zone[p] = p % 3;
    }
    ocean_setup s = basin(NX, NY - 1, 6, 4);
    s.round_y = false;
    s.depths = depths;
    s.tol = 1e-10;
    s.device = device;
    x.ctx = ctx;
    assert_ok(ctx, ocean_flow_make(ctx, &s, &x.flow));
    assert_ok(ctx, ocean_flow_vector(&x.flow, 2 * x.flow.plane, NULL, &x.u));
    assert_ok(ctx, ocean_flow_vector(&x.flow, 2 * x.flow.plane, NULL, &x.rate));
    for (int p = 0; p < NX * NY; p++)
        ocean_wave_at(&w, (double)(p % NX) / NX, 0, 0, &u[p], &u[NX * NY + p]);
    assert_ok(ctx, ocean_flow_copy(&x.flow, u, x.u));
    assert_ok(ctx, ocean_flow_set_wave(&x.flow, &w, 0.5));
    assert_ok(ctx, ocean_flow_set_spot(
                       &x.flow, &(ocean_spot){.pressure = 0.1, .x = 0.5, .y = 0.5, .radius = 0.2}));
    assert_ok(ctx, ocean_flow_set_zones(&x.flow, zone, zone));
    assert_ok(ctx, ocean_flow_filter(&x.flow, x.u));
    assert_ok(ctx, ocean_flow_rate(&x.flow, 0.25, x.u, x.rate));
    bring(ctx, x.u, u);
    bring(ctx, x.rate, rate);
    clear_flow(&x);
}

/* A small wave around a ship: its rate. Sizes are those of the hills: the device has the program.
 */
static void run_ship(spry_context *ctx, const char *device, double *u, double *rate)
{
    enum { NX = 16, NY = 17 };
    ocean_setup s = basin(NX, NY - 1, 6, 4);
    s.round_y = false;
    s.device = device;
    const ocean_ship ship = {
        .speed = 1, .length = 0.6, .beam = 0.5, .draft = 0.01, .x = 0.5, .y = 0.5};
    fixture x = {.ctx = ctx};
    for (int p = 0; p < 2 * NX * NY; p++)
        u[p] = 0.001 * cos(2 * PI * (p % NX) / NX);
    assert_ok(ctx, ocean_flow_make(ctx, &s, &x.flow));
    assert_ok(ctx, ocean_flow_vector(&x.flow, 2 * x.flow.plane, u, &x.u));
    assert_ok(ctx, ocean_flow_vector(&x.flow, 2 * x.flow.plane, NULL, &x.rate));
    assert_ok(ctx, ocean_flow_set_ship(&x.flow, &ship));
    assert_ok(ctx, ocean_flow_rate(&x.flow, 0.25, x.u, x.rate));
    bring(ctx, x.rate, rate);
    clear_flow(&x);
}

static void check_near(const double *a, const double *b, int n, double tol)
{
    double top = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, fabs(b[i]));
    assert_true(top > 0);
    for (int i = 0; i < n; i++)
        assert_true(fabs(a[i] - b[i]) < tol * top);
}

/* The same text runs there. Both solves have residuals of 1e-10, which the differences that make a
 * rate of the potential, 1/0.03 per level, may enlarge by some hundreds; those of the ship 1e-9. */
static void test_device(void **state)
{
    enum { SIZE = 2 * 16 * 17 };
    spry_context *ctx = *state;
    static double u[2][SIZE], rate[2][SIZE];
    spry_device *device = NULL;
    if (spry_device_open(ctx, "opencl", &device) != SPRY_STATUS_OK)
        skip();
    run_hills(ctx, "cpu", u[0], rate[0]);
    run_hills(ctx, "opencl", u[1], rate[1]);
    for (int i = 0; i < SIZE; i++)
        assert_true(fabs(u[1][i] - u[0][i]) < 1e-13);
    check_near(rate[1], rate[0], SIZE, 1e-7);
    run_ship(ctx, "cpu", u[0], rate[0]);
    run_ship(ctx, "opencl", u[1], rate[1]);
    check_near(rate[1], rate[0], SIZE, 1e-6);
    spry_device_close_all(ctx);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

/* Weights of the filter: polynomials to degree 10 stay, which are even moments of 0, and the
 * shortest wave is damped. */
static void test_filter(void **state)
{
    double w[FILTER_REACH + 1], saw = 0;
    (void)state;
    ocean_filter_weights(w);
    for (int m = 0; m <= 10; m += 2) {
        double sum = m == 0 ? w[0] : 0;
        for (int p = 1; p <= FILTER_REACH; p++)
            sum += 2 * w[p] * pow((double)p / FILTER_REACH, m);
        assert_true(fabs(sum - (m == 0)) < 1e-9);
    }
    for (int p = -FILTER_REACH; p <= FILTER_REACH; p++)
        saw += (p % 2 == 0 ? 1 : -1) * w[p < 0 ? -p : p];
    assert_true(fabs(saw) < 0.5);
}

/* A small flow and one rate, then a ship in it and its resistance, with memory that runs out
 * anywhere. */
static spry_status small_flow(spry_context *ctx, void *data)
{
    const ocean_ship ship = {.speed = 1, .length = 0.8, .draft = 0.01, .x = 0.5};
    double resistance = 0;
    ocean_flow f;
    spry_vector *u = NULL, *rate = NULL;
    spry_status status = ocean_flow_make(ctx, data, &f);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_vector(&f, 2 * f.plane, NULL, &u);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_like(u, 2 * f.plane, &rate);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_rate(&f, 0, u, rate);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_filter(&f, u);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_set_ship(&f, &ship);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_rate(&f, 1, u, rate);
    if (status == SPRY_STATUS_OK)
        status = ocean_flow_resistance(&f, u, &resistance);
    spry_vector_free(u);
    spry_vector_free(rate);
    ocean_flow_free(&f);
    return status;
}

static void test_memory(void **state)
{
    ocean_wave w;
    ocean_wave_linear(G, 0.3, 1e-7, 1, 0, &w);
    ocean_setup s = one_wave(&w, 8, 2, 2, false);
    support_torture(*state, small_flow, &s);
}

/* What a flow, a stage and what a step keeps take of the host's memory is what was forecast, or
 * less, and not much less. */
static void check_forecast(spry_context *ctx, const ocean_setup *s)
{
    double host, device;
    int64_t before, most;
    fixture x;
    spry_stepper *stepper = NULL;
    ocean_bytes_kept(s, &host, &device);
    assert_true(device == 0);
    spry_context_memory(ctx, &before, NULL);
    setup_flow(&x, ctx, s);
    x.eta[3] = 1e-3;
    assert_ok(ctx, spry_stepper_new(ctx, "method=rk4", &stepper));
    assert_ok(ctx, spry_stepper_set_function(stepper, ocean_flow_rate, &x.flow));
    assert_ok(ctx, spry_stepper_set_real(stepper, "dt", 1e-3));
    assert_ok(ctx, spry_stepper_run(stepper, 0, 1e-3, x.u, NULL));
    spry_context_memory(ctx, NULL, &most);
    assert_true((double)(most - before) < host);
    assert_true((double)(most - before) > host / 1.5);
    spry_stepper_free(stepper);
    clear_flow(&x);
}

static void test_forecast(void **state)
{
    ocean_setup s = basin(128, 64, 6, 4);
    s.method = "bicgstab";
    s.single = true;
    check_forecast(*state, &s);
    /* what a context had at most is kept: this one takes more */
    s.single = false;
    s.method = "gmres";
    check_forecast(*state, &s);
}

static void test_wrong(void **state)
{
    spry_context *ctx = *state;
    ocean_wave w;
    ocean_flow f;
    double depths[9 * 9];
    ocean_wave_linear(G, 0.3, 1e-7, 1, 0, &w);
    ocean_setup s = one_wave(&w, 16, 4, 6, false);
    assert_int_equal(ocean_flow_make(ctx, &s, &f), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "nz = 4"));
    ocean_flow_free(&f);
    s.nz = 8;
    s.order = 5;
    assert_int_equal(ocean_flow_make(ctx, &s, &f), SPRY_STATUS_BAD_INPUT);
    ocean_flow_free(&f);
    s.order = 4;
    for (int i = 0; i < 16; i++)
        depths[i] = 8 - i;
    s.depths = depths;
    assert_int_equal(ocean_flow_make(ctx, &s, &f), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(ctx), "the depth at x = 0.5 m, y = 0 m is 0 m"));
    ocean_flow_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_permanent_form, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_dispersion, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_small_wave, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_long_run, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_stability, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_bottom, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_ship, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wake, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_device, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_memory, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_forecast, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_filter, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_wrong, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
