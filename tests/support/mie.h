/*
 * A plane wave exp(i k z) on a sphere of another wave number, for the scalar equation
 * (laplace + k^2) u = 0 with u and its derivative continuous: the series in spherical waves.
 */
#ifndef SPRY_TESTS_MIE_H
#define SPRY_TESTS_MIE_H

#include "support/support.h"

enum { MIE_TERMS = 40 };

/* j_l(x) and y_l(x) for l below MIE_TERMS, and their derivatives. */
typedef struct mie_bessel {
    double j[MIE_TERMS], y[MIE_TERMS], dj[MIE_TERMS], dy[MIE_TERMS];
} mie_bessel;
void mie_bessel_fill(double x, mie_bessel *b);

typedef struct mie {
    double k, index, radius;
    int terms;
    spry_scalar a[MIE_TERMS]; /* of the scattered wave, times i^l (2 l + 1) h_l(k r) P_l */
} mie;
void mie_fill(double k, double index, double radius, mie *m);
/* The scattered wave at a place outside of the sphere, whose centre is 0. */
spry_scalar mie_scattered(const mie *m, const double place[3]);

#endif
