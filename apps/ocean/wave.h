/*
 * Regular waves of permanent form over a flat bottom: small ones, and Fourier's solution of the
 * whole problem (stream-function waves: J. D. Fenton, The numerical solution of steady water wave
 * problems, Comput. Geosci. 14 (1988), 357-368).
 */
#ifndef SPRY_OCEAN_WAVE_H
#define SPRY_OCEAN_WAVE_H

#include <spry/grid.h>

enum { WAVE_MOST = 32 };

/*
 * At phase theta = k x - omega t the surface is sum E_j cos j theta, and the potential
 * sum B_j cosh(j k (z + h)) / cosh(j k h) sin j theta. There is no mean current below the troughs.
 */
typedef struct ocean_wave {
    int count; /* of terms; 0: no wave */
    double k, omega, depth, height;
    double head; /* d phi/dt + g eta + |grad phi|^2 / 2, the same everywhere on the surface */
    double E[WAVE_MOST + 1], B[WAVE_MOST + 1]; /* from 1 on */
} ocean_wave;

/* Small waves of a length, or (length is 0) of a period. */
void ocean_wave_linear(double g, double depth, double height, double length, double period,
                       ocean_wave *w);
/* The same of any height, with `terms` terms; fails with a message where there is no such wave. */
spry_status ocean_wave_stream(spry_context *ctx, double g, double depth, double height,
                              double length, double period, int terms, ocean_wave *w);
/* The surface, and the potential there, at a phase. */
void ocean_wave_at(const ocean_wave *w, double theta, double *eta, double *phi);

#endif
