/*
 * A plane wave exp(i k z) on a sphere of another wave number, or on a medium that is the same all
 * around, for the scalar equation (laplace + k^2) u = 0 with u and its derivative continuous: the
 * series in spherical waves. Needs nothing of the tests' support: bench/scatter.c has it, too.
 */
#ifndef SPRY_TESTS_MIE_H
#define SPRY_TESTS_MIE_H

#include <spry/spry.h>

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
/* The same of k^2 at the distance r from the centre, which is that of outside from the radius on;
 * by the equation of each partial wave, to nine digits or so. index is 0. */
typedef double (*mie_profile)(const void *data, double r);
void mie_fill_profile(double k, mie_profile k2, const void *data, double radius, mie *m);
/* The scattered wave at a place outside of the radius; the centre is 0. */
spry_scalar mie_scattered(const mie *m, const double place[3]);

#endif
