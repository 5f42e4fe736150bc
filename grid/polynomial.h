/* Polynomials that are small over given numbers and 1 at 0, by their zeros. */
#ifndef SPRY_GRID_POLYNOMIAL_H
#define SPRY_GRID_POLYNOMIAL_H

#include "base/base.h"

#include <complex.h>
#include <math.h>

enum { POLYNOMIAL_MOST = 64 }; /* degree */
/* Orthonormal polynomials: z phi_j = h_0j phi_0 + ... + h_(j+1)j phi_(j+1), phi_0 = 1. */
typedef struct polynomial_basis {
    int degree; /* of the last one */
    double complex h[POLYNOMIAL_MOST + 1][POLYNOMIAL_MOST];
    double complex at_zero[POLYNOMIAL_MOST + 1]; /* phi_j(0), which polynomial_weights() finds */
} polynomial_basis;
/* Inverse zeros of the polynomial of that degree which is 1 at 0 and least in the norm of the
 * basis; the zeros are looked for from a circle on. */
spry_status polynomial_weights(spry_context *ctx, polynomial_basis *b, double complex centre,
                               double radius, spry_scalar *weights);
/* The inverse zeros of the polynomial of that degree, up to the most, that is least in the mean
 * square over n numbers; fewer where fewer make it 0. */
spry_status polynomial_fit(spry_context *ctx, int64_t n, const double complex *z, int degree,
                           int *count, spry_scalar *weights);

#endif
