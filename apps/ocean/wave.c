/* Waves of permanent form: see wave.h. */
#include "ocean/wave.h"

#include "ocean/dense.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

double ocean_wave_number(double g, double depth, double omega)
{
    /* Newton's method from above: q = k h, q tanh q = omega^2 h / g */
    const double a = omega * omega * depth / g;
    double q = a > 1 ? a : sqrt(a);
    for (int i = 0; i < 100; i++) {
        const double t = tanh(q), change = (q * t - a) / (t + q * (1 - t * t));
        q -= change;
        if (fabs(change) <= 1e-15 * q)
            break;
    }
    return q / depth;
}

void ocean_wave_linear(double g, double depth, double height, double length, double period,
                       ocean_wave *w)
{
    *w = (ocean_wave){.count = 1, .depth = depth, .height = height};
    w->k = length > 0 ? 2 * PI / length : ocean_wave_number(g, depth, 2 * PI / period);
    w->omega = sqrt(g * w->k * tanh(w->k * depth));
    w->term[0] = (ocean_term){.E = height / 2,
                              .B = height / 2 * g / w->omega,
                              .tanh = tanh(w->k * depth),
                              .rise = w->k,
                              .kx = w->k,
                              .omega = w->omega};
}

void ocean_wave_turn(ocean_wave *w, double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int j = 0; j < w->count; j++) {
        ocean_term *a = &w->term[j];
        const double kx = a->kx;
        a->kx = c * kx - s * a->ky;
        a->ky = s * kx + c * a->ky;
    }
}

void ocean_wave_at(const ocean_wave *w, double x, double y, double t, double *eta, double *phi)
{
    double e = 0, p = 0;
    for (int j = 0; j < w->count; j++) {
        const ocean_term *a = &w->term[j];
        e += a->E * cos(a->kx * x + a->ky * y - a->omega * t + a->phase);
    }
    for (int j = 0; j < w->count; j++) {
        const ocean_term *a = &w->term[j];
        /* cosh(a + y) / cosh a, without overflow */
        p += a->B * (cosh(a->rise * e) + a->tanh * sinh(a->rise * e)) *
             sin(a->kx * x + a->ky * y - a->omega * t + a->phase);
    }
    *eta = e;
    *phi = p;
}

/* --- Fourier's solution --------------------------------------------------------------------------
 */

/*
 * In a frame that goes with the wave the flow is steady. The unknowns, with lengths in depths and
 * g = 1: k; the speed U of that frame; Q, what flows through it; R, Bernoulli's constant; the
 * surface at N + 1 places from crest to trough; B_1 .. B_N.
 */
enum { AT_K, AT_U, AT_Q, AT_R, AT_SURFACE, STEADY_MOST = 2 * WAVE_STREAM_MOST + 6 };

typedef struct steady {
    int n;                         /* terms */
    double height, length, period; /* length or period is 0 */
    double x[STEADY_MOST];
} steady;

static int steady_size(const steady *s)
{
    return 2 * s->n + 5;
}

/* The conditions at place m, of the stream function and of the pressure. */
static void surface_conditions(const steady *s, const double *x, int m, double *f)
{
    const double k = x[AT_K], eta = x[AT_SURFACE + m];
    const double *B = x + AT_SURFACE + s->n; /* B[1] is behind the last place */
    double psi = 0, u = 0, w = 0;
    for (int j = 1; j <= s->n; j++) {
        const double t = tanh(j * k), y = j * k * eta, angle = j * m * PI / s->n;
        const double sh = sinh(y) + t * cosh(y), ch = cosh(y) + t * sinh(y);
        psi += B[j] * sh * cos(angle);
        u += j * k * B[j] * ch * cos(angle);
        w += j * k * B[j] * sh * sin(angle);
    }
    u -= x[AT_U];
    f[0] = psi - x[AT_U] * (1 + eta) + x[AT_Q];
    f[1] = (u * u + w * w) / 2 + eta - x[AT_R];
}

static void steady_residual(const steady *s, const double *x, double *f)
{
    const double *eta = x + AT_SURFACE;
    double mean = (eta[0] + eta[s->n]) / 2;
    for (int m = 0; m <= s->n; m++)
        surface_conditions(s, x, m, f + 2 * m);
    for (int m = 1; m < s->n; m++)
        mean += eta[m];
    f += 2 * s->n + 2;
    f[0] = mean / s->n;
    f[1] = eta[0] - eta[s->n] - s->height;
    f[2] = s->length > 0 ? x[AT_K] * s->length / (2 * PI) - 1
                         : x[AT_K] * x[AT_U] * s->period / (2 * PI) - 1;
}

/* One step of Newton's method; the largest residual before it, or a negative number. Derivatives
 * are central differences, whose error is far below what convergence needs. */
static double steady_step(steady *s)
{
    enum { MOST = STEADY_MOST };
    const int size = steady_size(s);
    static const double part = 1e-6;
    double J[MOST * MOST], f[MOST], ahead[MOST], behind[MOST], worst = 0;
    for (int c = 0; c < size; c++) {
        const double kept = s->x[c], step = part * fmax(fabs(kept), 1e-2);
        s->x[c] = kept + step;
        steady_residual(s, s->x, ahead);
        s->x[c] = kept - step;
        steady_residual(s, s->x, behind);
        s->x[c] = kept;
        for (int r = 0; r < size; r++)
            J[r * size + c] = (ahead[r] - behind[r]) / (2 * step);
    }
    steady_residual(s, s->x, f);
    for (int r = 0; r < size; r++)
        worst = isfinite(f[r]) ? fmax(worst, fabs(f[r])) : INFINITY;
    if (!isfinite(worst) || !dense_solve(size, J, f))
        return -1;
    for (int c = 0; c < size; c++)
        s->x[c] -= f[c];
    return worst;
}

/* From small waves up to the height in steps, each begun with the wave before. The residual, of
 * numbers around 1, says when it is done: with many terms changes stay larger, as the last of them
 * hardly matter. */
static bool steady_solve(steady *s, const ocean_wave *small, double unit)
{
    enum { HEIGHTS = 8, NEWTON = 30 };
    const double whole = s->height, U = small->omega / small->k / unit;
    s->x[AT_K] = small->k * small->depth;
    s->x[AT_U] = s->x[AT_Q] = U;
    s->x[AT_R] = U * U / 2;
    for (int m = 0; m <= s->n; m++)
        s->x[AT_SURFACE + m] = whole / HEIGHTS / 2 * cos(m * PI / s->n);
    s->x[AT_SURFACE + s->n + 1] = whole / HEIGHTS / 2 / (s->x[AT_K] * U);
    for (int j = 2; j <= s->n; j++)
        s->x[AT_SURFACE + s->n + j] = 0;
    for (int h = 1; h <= HEIGHTS; h++) {
        double left = 1;
        s->height = whole * h / HEIGHTS;
        for (int i = 0; i < NEWTON && left > 1e-13; i++) {
            left = steady_step(s);
            if (left < 0)
                return false;
        }
        if (left > 1e-13)
            return false;
    }
    return true;
}

/* Cosines of the surface, from its values at places. */
static void take_terms(const steady *s, double unit, ocean_wave *w)
{
    const double *eta = s->x + AT_SURFACE, *B = s->x + AT_SURFACE + s->n;
    for (int j = 1; j <= s->n; j++) {
        double sum = (eta[0] + eta[s->n] * cos(j * PI)) / 2;
        for (int m = 1; m < s->n; m++)
            sum += eta[m] * cos(j * m * PI / s->n);
        w->term[j - 1] = (ocean_term){.E = (j < s->n ? 2 : 1) * sum / s->n * w->depth,
                                      .B = B[j] * unit * w->depth,
                                      .tanh = tanh(j * w->k * w->depth),
                                      .rise = j * w->k,
                                      .kx = j * w->k,
                                      .omega = j * w->omega};
    }
}

spry_status ocean_wave_stream(spry_context *ctx, double g, double depth, double height,
                              double length, double period, int terms, ocean_wave *w)
{
    char text[256];
    const double unit = sqrt(g * depth); /* of speed */
    ocean_wave small;
    steady s = {.n = terms,
                .height = height / depth,
                .length = length / depth,
                .period = period * unit / depth};
    ocean_wave_linear(g, depth, height, length, period, &small);
    *w = (ocean_wave){.count = terms, .depth = depth, .height = height};
    if (terms < 1 || terms > WAVE_STREAM_MOST || !steady_solve(&s, &small, unit)) {
        snprintf(text, sizeof text,
                 "no wave of permanent form was found of height %g m, %s %g %s, over %g m of "
                 "water, with %d terms: it may be higher than waves can be",
                 height, length > 0 ? "length" : "period", length > 0 ? length : period,
                 length > 0 ? "m" : "s", depth, terms);
        spry_context_set_message(ctx, text);
        return SPRY_STATUS_BAD_INPUT;
    }
    w->k = s.x[AT_K] / depth;
    w->omega = w->k * s.x[AT_U] * unit;
    w->head = (s.x[AT_R] - s.x[AT_U] * s.x[AT_U] / 2) * g * depth;
    take_terms(&s, unit, w);
    return SPRY_STATUS_OK;
}
