/*
 * Irregular seas: small waves with random phases, whose amplitudes are those of a spectrum (K.
 * Hasselmann et al., Measurements of wind-wave growth and swell decay during the Joint North Sea
 * Wave Project, Deutsche Hydrographische Zeitschrift, Suppl. A 8, No. 12, 1973), and whose
 * directions are spread as cos^2s of half the angle. Each frequency has one direction, so that no
 * two waves of one frequency stand still against each other (E. R. Jefferys, Directional seas
 * should be ergodic, Appl. Ocean Res. 9 (1987), 186-191).
 */
#include "ocean/wave.h"

#include <math.h>
#include <stdio.h>

static const double PI = 3.14159265358979323846;

double ocean_sea_spectrum(const ocean_sea *sea, double frequency)
{
    const double q = frequency * sea->period, wide = q > 1 ? 0.09 : 0.07;
    return pow(q, -5) * exp(-1.25 * pow(q, -4)) *
           pow(sea->gamma, exp(-(q - 1) * (q - 1) / (2 * wide * wide)));
}

/* From 0 to 1: G. L. Steele et al., Fast splittable pseudorandom number generators, 2014. */
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The angle that a part of the energy is below, of waves that go ahead: up to a right angle. */
static double angle_of(const ocean_sea *sea, double part)
{
    enum { STEPS = 720 };
    double sum[STEPS + 1] = {0};
    if (sea->spreading == 0)
        return 0;
    for (int i = 0; i < STEPS; i++) {
        const double angle = PI * ((i + 0.5) / STEPS - 0.5);
        sum[i + 1] = sum[i] + pow(cos(angle / 2), 2 * sea->spreading);
    }
    int i = 0;
    while (i < STEPS - 1 && sum[i + 1] < part * sum[STEPS])
        i++;
    const double rest = (part * sum[STEPS] - sum[i]) / (sum[i + 1] - sum[i]);
    return PI * ((i + rest) / STEPS - 0.5);
}

/* The nearest wave number that fits sides of a length; 0 sides: as it is. */
static double fit(double k, double side)
{
    return side > 0 ? 2 * PI / side * round(k * side / (2 * PI)) : k;
}

/* A wave of a number; what is as long and goes the same way as one before makes that higher. */
static void add_wave(ocean_wave *w, double g, const ocean_term *a)
{
    const double k = hypot(a->kx, a->ky);
    for (int j = 0; j < w->count; j++)
        if (fabs(w->term[j].kx - a->kx) + fabs(w->term[j].ky - a->ky) < 1e-9 * k) {
            w->term[j].E = hypot(w->term[j].E, a->E);
            return;
        }
    ocean_term *new = &w->term[w->count++];
    *new = *a;
    new->omega = sqrt(g * k * tanh(k * w->depth));
}

/* Bands of frequencies of the same width, each with a wave of a random frequency within. */
static void add_waves(const ocean_sea *sea, double g, double low, double high, ocean_wave *w)
{
    uint64_t state = sea->seed;
    int turn[WAVE_MOST];
    for (int i = 0; i < sea->terms; i++) { /* directions in a random order */
        const int other = (int)(draw(&state) * (i + 1));
        turn[i] = turn[other];
        turn[other] = i;
    }
    for (int i = 0; i < sea->terms; i++) {
        const double f = low + (high - low) * (i + draw(&state)) / sea->terms;
        const double part = (turn[i] + draw(&state)) / sea->terms;
        const double k = ocean_wave_number(g, w->depth, 2 * PI * f);
        const double angle = sea->direction + angle_of(sea, part), phase = 2 * PI * draw(&state);
        ocean_term a = {.E = sqrt(ocean_sea_spectrum(sea, f)),
                        .kx = fit(k * cos(angle), sea->round_x),
                        .ky = fit(k * sin(angle), sea->round_y),
                        .phase = phase};
        if (a.kx != 0 || a.ky != 0)
            add_wave(w, g, &a);
    }
}

spry_status ocean_wave_sea(spry_context *ctx, double g, double depth, const ocean_sea *asked,
                           ocean_wave *w)
{
    char text[256];
    ocean_sea sea = *asked;
    ocean_wave peak;
    ocean_wave_linear(g, depth, sea.height, sea.length, sea.period, &peak);
    sea.period = 2 * PI / peak.omega;
    *w = (ocean_wave){.depth = depth, .height = sea.height, .k = peak.k, .omega = peak.omega};
    const double k = 2 * PI / sea.shortest, fastest = sqrt(g * k * tanh(k * depth)) / (2 * PI);
    const double low = 0.5 / sea.period, high = fmin(3.5 / sea.period, fastest);
    double square = 0;
    if (!(high * sea.period >= 1.5)) {
        snprintf(
            text, sizeof text,
            "waves of the sea's peak are %.3g m long: the grid has waves of %.3g m or more, and "
            "such of two thirds of the peak's period, too, are to be on it; take more points",
            2 * PI / peak.k, sea.shortest);
        spry_context_set_message(ctx, text);
        return SPRY_STATUS_BAD_INPUT;
    }
    add_waves(&sea, g, low, high, w);
    for (int j = 0; j < w->count; j++)
        square += w->term[j].E * w->term[j].E / 2;
    if (!(square > 0)) {
        spry_context_set_message(ctx,
                                 "no wave of the sea fits the periodic basin: it is too short");
        return SPRY_STATUS_BAD_INPUT;
    }
    for (int j = 0; j < w->count; j++) { /* the variance is the square of a quarter of the height */
        ocean_term *a = &w->term[j];
        a->E *= sea.height / 4 / sqrt(square);
        a->B = a->E * g / a->omega;
    }
    return SPRY_STATUS_OK;
}
