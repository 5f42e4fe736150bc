/* Polynomials that are small over given numbers and 1 at 0, by their zeros. */
#ifndef SPRY_GRID_POLYNOMIAL_H
#define SPRY_GRID_POLYNOMIAL_H

#include "base/base.h"

#include <complex.h>
#include <math.h>

enum { POLYNOMIAL_MOST = 64 }; /* degree */
/* The inverse zeros of the polynomial of that degree, up to the most, that is least in the mean
 * square over n numbers; fewer where fewer make it 0. */
spry_status polynomial_fit(spry_context *ctx, int64_t n, const double complex *z, int degree,
                           int *count, spry_scalar *weights);

#endif
