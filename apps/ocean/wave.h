/*
 * Waves over a flat bottom: small ones; Fourier's solution of the whole problem (stream-function
 * waves: J. D. Fenton, The numerical solution of steady water wave problems, Comput. Geosci. 14
 * (1988), 357-368); and seas, many small waves of a spectrum (sea.c).
 */
#ifndef SPRY_OCEAN_WAVE_H
#define SPRY_OCEAN_WAVE_H

#include <spry/grid.h>

enum { WAVE_STREAM_MOST = 32, WAVE_MOST = 512 };

/*
 * At phase theta = kx x + ky y - omega t + phase a term has E cos theta of the surface, and of the
 * potential at a height z of the surface B cosh(rise z + ...) / cosh(...) sin theta, the quotient
 * being cosh(rise z) + tanh sinh(rise z). With rise = 0 that is the potential of small waves, at
 * the still surface.
 */
typedef struct ocean_term {
    double E, B, tanh, rise, kx, ky, omega, phase;
} ocean_term;

/* There is no mean current below the troughs. */
typedef struct ocean_wave {
    int count;                      /* of terms; 0: no wave */
    double k, omega, depth, height; /* of a sea: k and omega of the peak, the significant height */
    double head; /* d phi/dt + g eta + |grad phi|^2 / 2, the same everywhere on the surface */
    ocean_term term[WAVE_MOST];
} ocean_wave;

/* Small waves of a length, or (length is 0) of a period. All go along x. */
void ocean_wave_linear(double g, double depth, double height, double length, double period,
                       ocean_wave *w);
/* The same of any height, with `terms` terms; fails with a message where there is no such wave. */
spry_status ocean_wave_stream(spry_context *ctx, double g, double depth, double height,
                              double length, double period, int terms, ocean_wave *w);
/* Has all terms go by another angle. */
void ocean_wave_turn(ocean_wave *w, double angle);
/* The surface, and the potential there. */
void ocean_wave_at(const ocean_wave *w, double x, double y, double t, double *eta, double *phi);
/* The wave number of small waves: omega^2 = g k tanh(k h). */
double ocean_wave_number(double g, double depth, double omega);

/* sea.c. */
typedef struct ocean_sea {
    double height, period;   /* significant height; of the peak */
    double length;           /* of the peak, where the period is 0 */
    double gamma;            /* of the peak: 1 is Pierson and Moskowitz's spectrum */
    double spreading;        /* s of cos^2s of half the angle; 0: long crests */
    double direction;        /* of the middle */
    double shortest;         /* length of waves that may be part of it */
    double round_x, round_y; /* of periodic sides that all waves are to fit; 0: none */
    int terms;
    uint64_t seed;
} ocean_sea;
/* JONSWAP's spectrum of a frequency in Hz, but for a factor. */
double ocean_sea_spectrum(const ocean_sea *sea, double frequency);
spry_status ocean_wave_sea(spry_context *ctx, double g, double depth, const ocean_sea *sea,
                           ocean_wave *w);

#endif
