/*
 * A plane wave on a sphere and on a smooth lens, by differences and by the Born series, against the
 * series in spherical waves; and that series against printed coefficients.
 */
#include "support/scatter.h"
#include "support/mie.h"
#include "support/support.h"

#include <math.h>

#define PI 3.14159265358979323846

/* --- the series itself ---------------------------------------------------------------------------
 */

/* Published values: Abramowitz and Stegun, tables 10.1 and 10.5; the Wronskian is 1 / x^2. */
static void spherical_bessel(void **state)
{
    (void)state;
    mie_bessel b;
    mie_bessel_fill(1, &b);
    assert_true(fabs(b.j[0] - 0.84147098) < 1e-8 && fabs(b.j[1] - 0.30116868) < 1e-8 &&
                fabs(b.j[2] - 0.062035052) < 1e-9 && fabs(b.y[2] + 3.6050176) < 1e-7);
    assert_true(fabs(b.j[10] - 7.1165526e-11) < 1e-18);
    mie_bessel_fill(10, &b);
    assert_true(fabs(b.j[10] - 0.064605154) < 1e-9);
    for (int l = 0; l < 20; l++) {
        const double found = 100 * (b.j[l] * b.dy[l] - b.dj[l] * b.y[l]);
        assert_true(fabs(found - 1) < 1e-10);
    }
}

/*
 * For l >= 1 the scalar coefficients are those of the magnetic partial waves of light, a_l = -b_l:
 * both have u and du/dr continuous. Printed: C. Bohren, D. Huffman, Absorption and Scattering of
 * Light by Small Particles (1983), table 4.1, x = 3 and m = 1.33 + 1e-8 i, five digits; the sign of
 * imaginary parts depends on that of time. l = 0, which light has not, is the phase shift of a
 * spherical well: tan(k R + delta) = k / K tan(K R) (L. Schiff, Quantum Mechanics, section 19).
 */
static void printed_coefficients(void **state)
{
    static const double b[][2] = {{7.3767e-1, 4.3990e-1},
                                  {4.0079e-1, 4.9006e-1},
                                  {9.3553e-3, 9.6269e-2},
                                  {6.8810e-5, 8.2949e-3},
                                  {2.8390e-7, 5.3204e-4}};
    mie m;
    (void)state;
    mie_fill(3, 1.33, 1, &m);
    for (int l = 1; l <= 5; l++) {
        const double re = b[l - 1][0], im = b[l - 1][1];
        print_message("b_%d: %.5g %.5g\n", l, -m.a[l].re, fabs(m.a[l].im));
        /* half of the last digit, and of 1e-8 i what a derivative of some l may make */
        assert_true(fabs(m.a[l].re + re) < 6e-5 * re + 1e-8);
        assert_true(fabs(fabs(m.a[l].im) - im) < 6e-5 * im);
    }
    const double delta = atan(tan(1.33 * 3) / 1.33) - 3; /* but for multiples of pi */
    assert_true(fabs(m.a[0].re - (cos(2 * delta) - 1) / 2) < 1e-12);
    assert_true(fabs(m.a[0].im - sin(2 * delta) / 2) < 1e-12);
}

/* Extinction of light over the sphere's cross-section, 2 / x^2 sum (2 l + 1) Re(a_l + b_l), with
 * b_l of the scalar series and a_l, for which fields times m^2 are continuous, from its functions.
 */
static double extinction(double x, double index)
{
    mie_bessel out, in;
    mie m;
    double sum = 0;
    mie_fill(x, index, 1, &m);
    mie_bessel_fill(x, &out);
    mie_bessel_fill(index * x, &in);
    for (int l = 1; l < m.terms; l++) {
        const double inside = in.j[l] + index * x * in.dj[l]; /* (r j)' */
        const double top = index * index * in.j[l] * (out.j[l] + x * out.dj[l]) - out.j[l] * inside;
        const double side =
            index * index * in.j[l] * (out.y[l] + x * out.dy[l]) - out.y[l] * inside;
        sum += (2 * l + 1) * (top * top / (top * top + side * side) - m.a[l].re);
    }
    return 2 * sum / (x * x);
}

/* Printed: Bohren and Huffman, appendix A, a sphere of 1.55 with x = 2 pi 0.525 / 0.6328; W.
 * Wiscombe, Mie Scattering Calculations, NCAR/TN-140 (1979), case 7: 0.75 with x = 10. */
static void printed_extinction(void **state)
{
    const double bohren = extinction(2 * PI * 0.525 / 0.6328, 1.55),
                 wiscombe = extinction(10, 0.75);
    (void)state;
    print_message("extinction: %.6g, %.7g\n", bohren, wiscombe);
    assert_true(fabs(bohren - 3.10543) < 6e-6);
    assert_true(fabs(wiscombe - 2.232265) < 6e-7);
}

/* A sphere that does not absorb lets out what comes in: |1 + 2 a_l| = 1. */
static void energy_of_spheres(void **state)
{
    (void)state;
    mie m;
    mie_fill(2 * PI, 1.3, 1.2, &m);
    for (int l = 0; l < m.terms; l++)
        assert_true(fabs(hypot(1 + 2 * m.a[l].re, 2 * m.a[l].im) - 1) < 1e-12);
    mie_fill(2 * PI, 1.3, 0.001, &m); /* a small one: Born's first approximation */
    const double x3 = pow(2 * PI * 0.001, 3), first = x3 * (1.69 - 1) / 3;
    assert_true(fabs(m.a[0].im / first - 1) < 1e-3);
}

static double ball(const void *data, double r)
{
    (void)data;
    (void)r;
    return pow(2 * PI * 1.3, 2);
}

/* The equation of partial waves for a sphere: steps of 0.0017 with slopes of l + 1/2 at most, so
 * that 4,000 errors of (0.0017 l)^5 / 120 are below 1e-7 up to l = 20. */
static void partial_waves(void **state)
{
    mie m, other;
    (void)state;
    mie_fill(2 * PI, 1.3, 0.7, &m);
    mie_fill_profile(2 * PI, ball, NULL, 0.7, &other);
    assert_int_equal(m.terms, other.terms);
    for (int l = 0; l < m.terms; l++)
        assert_true(hypot(m.a[l].re - other.a[l].re, m.a[l].im - other.a[l].im) < 1e-7);
}

/* --- fields on a sphere around it ----------------------------------------------------------------
 */

/* A sphere of 1.2, one wavelength wide, in a box that is as small as can be: layers of 0.8
 * wavelengths leave less than a percent of the field (docs/waves.md). */
static scatter sphere_of(int points, int cuts)
{
    return (scatter){.points = points,
                     .half = 0.6,
                     .layer = 0.8,
                     .options = "scheme=optimal",
                     .solver = "method=gmres precon=gmg:shift=0.3 tol=1e-3",
                     .contrast = 0.44,
                     .radius = 0.5,
                     .cuts = cuts,
                     .around = 0.55};
}

/* With k^2 averaged over cells errors are of the second order, as those of the scheme are where k
 * varies; a third of an order may be missing. Without, the sphere is one of steps. */
static void sphere_by_differences(void **state)
{
    spry_context *ctx = *state;
    scatter coarse = sphere_of(5, 10), fine = sphere_of(10, 10), steps = sphere_of(5, 1);
    assert_ok(ctx, scatter_run(ctx, &coarse));
    assert_ok(ctx, scatter_run(ctx, &fine));
    assert_ok(ctx, scatter_run(ctx, &steps));
    const double order = log2(coarse.error / fine.error);
    print_message("by differences: %.3g of the field with 5 points per wavelength, %.3g with 10: "
                  "order %.2f; %.3g with 5 and k^2 at points\n",
                  coarse.error, fine.error, order, steps.error);
    assert_true(fine.error < 0.05);
    assert_true(order > 2 - 0.35);
    assert_true(coarse.error < steps.error / 2);
}

static void sphere_by_the_series(void **state)
{
    spry_context *ctx = *state;
    scatter coarse = sphere_of(5, 10), fine = sphere_of(10, 10);
    assert_ok(ctx, scatter_run_series(ctx, "layer=5", &coarse));
    assert_ok(ctx, scatter_run_series(ctx, "layer=10", &fine));
    print_message("by the Born series: %.3g with 5 points, %.3g with 10\n", coarse.error,
                  fine.error);
    assert_true(fine.error < 0.05);
    assert_true(fine.error < coarse.error / 2);
}

/* A lens that is smooth has no cells to be averaged: what is left are the layers, of which 0.7%
 * come back with two and a half wavelengths (docs/born.md). */
static void lens_by_the_series(void **state)
{
    spry_context *ctx = *state;
    scatter lens = sphere_of(6, 1);
    lens.radius = 0;
    lens.width = 0.18;
    lens.around = 0.9;
    lens.half = 1;
    assert_ok(ctx, scatter_run_series(ctx, "layer=15 tol=1e-4", &lens));
    print_message("a lens by the Born series: %.3g of what it scatters\n", lens.error_scattered);
    assert_true(lens.error_scattered < 0.007);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
    const struct CMUnitTest tests[] = {TEST(spherical_bessel),     TEST(printed_coefficients),
                                       TEST(printed_extinction),   TEST(energy_of_spheres),
                                       TEST(partial_waves),        TEST(sphere_by_differences),
                                       TEST(sphere_by_the_series), TEST(lens_by_the_series)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
