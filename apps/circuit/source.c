/* Waveforms of independent sources, and their corners. */
#include "circuit/circuit.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Numbers of PULSE: from, to, delay, rise, fall, width, period (0: none). */
static double pulse(const double *n, double t)
{
    double s = t - n[2];
    if (s > 0 && n[6] > 0)
        s -= n[6] * floor(s / n[6]);
    if (s <= 0 || s >= n[3] + n[5] + n[4])
        return n[0];
    if (s < n[3])
        return n[0] + (n[1] - n[0]) * s / n[3];
    if (s <= n[3] + n[5])
        return n[1];
    return n[1] + (n[0] - n[1]) * (s - n[3] - n[5]) / n[4];
}

static double pulse_corner(const double *n, double t)
{
    const double part[4] = {0, n[3], n[3] + n[5], n[3] + n[5] + n[4]};
    const double cycle = n[6] > 0 && t > n[2] ? floor((t - n[2]) / n[6]) : 0;
    /* the cycle that rounding took for the one before has its corners in the next */
    for (int c = 0; c < 3; c++)
        for (int k = 0; k < 4; k++) {
            const double at = n[2] + (cycle + c) * n[6] + part[k];
            if (at > t * (1 + 1e-12) && at > 0)
                return at;
        }
    return INFINITY;
}

/* Numbers of SIN: offset, amplitude, frequency, delay, damping, phase. */
static double sine(const double *n, double t)
{
    const double s = fmax(t - n[3], 0), phase = n[5] * PI / 180;
    return n[0] + n[1] * exp(-s * n[4]) * sin(2 * PI * n[2] * s + phase);
}

/* Numbers of EXP: from, to, delay, constant of the rise, delay, constant of the fall. */
static double exponential(const double *n, double t)
{
    double v = n[0];
    if (t > n[2])
        v -= (n[1] - n[0]) * expm1(-(t - n[2]) / n[3]);
    if (t > n[4])
        v -= (n[0] - n[1]) * expm1(-(t - n[4]) / n[5]);
    return v;
}

static double polygon(const wave *w, double t)
{
    const double *n = w->number;
    int low = 0, high = w->count / 2 - 1;
    if (t <= n[0])
        return n[1];
    if (t >= n[2 * high])
        return n[2 * high + 1];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (n[2 * middle] <= t)
            low = middle;
        else
            high = middle;
    }
    const double part = (t - n[2 * low]) / (n[2 * high] - n[2 * low]);
    return n[2 * low + 1] + part * (n[2 * high + 1] - n[2 * low + 1]);
}

double wave_value(const wave *w, double t)
{
    switch (w->kind) {
    case WAVE_PULSE:
        return pulse(w->number, t);
    case WAVE_SIN:
        return sine(w->number, t);
    case WAVE_EXP:
        return exponential(w->number, t);
    case WAVE_PWL:
        return polygon(w, t);
    default:
        return w->dc;
    }
}

double wave_corner(const wave *w, double t)
{
    const double *n = w->number, later = t * (1 + 1e-12);
    if (w->kind == WAVE_PULSE)
        return pulse_corner(n, t);
    if (w->kind == WAVE_SIN)
        return n[3] > later ? n[3] : INFINITY;
    if (w->kind == WAVE_EXP)
        return n[2] > later ? n[2] : n[4] > later ? n[4] : INFINITY;
    for (int k = 0; w->kind == WAVE_PWL && k < w->count; k += 2)
        if (n[k] > later)
            return n[k];
    return INFINITY;
}
