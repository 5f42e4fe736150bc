/* Proven bounds for the error of an x. */
#ifndef SPRY_KRYLOV_ENCLOSE_H
#define SPRY_KRYLOV_ENCLOSE_H

#include "matrix/entries.h"
#include "operator/operator.h"

#include <float.h>
#include <math.h>

/* What a number may lose where it is scaled to below the normal ones. */
ALWAYS_INLINE double enclose_lost(spry_scalar a, double scale)
{
    const bool low =
        (a.re != 0 && fabs(scale * a.re) < DBL_MIN) || (a.im != 0 && fabs(scale * a.im) < DBL_MIN);
    return low ? 2 * DBL_TRUE_MIN : 0;
}

/* What n products may lose that are below all numbers: nothing where that is far below what their
 * rounding is bounded by, relative to their terms. Subnormal numbers are slow to compute with. */
ALWAYS_INLINE double enclose_vanished(int64_t n, double terms)
{
    const double low = 1e-250;
    return terms > low ? 0 : (double)n * DBL_TRUE_MIN;
}

/*
 * The largest |x - A^-1 b| is at most *error, where each residual is at most what `residuals` says;
 * NaN: that is not shown, and A may be singular. M is about the inverse, with its transpose; A is
 * general CSR. By an inverse: a solve and a product with A for each row. By
 * comparison: one solve, for matrices like those of diffusion: `sums` are those of |A|'s rows. By
 * dominance: one pass over A, each of whose diagonal entries is larger than the rest of its row.
 */
double enclose_by_dominance(const spry_matrix *A, const double *residuals);
spry_status enclose_by_inverse(const spry_operator *M, const spry_matrix *A,
                               const double *residuals, double *error);
spry_status enclose_by_comparison(const spry_operator *M, const spry_matrix *A, const double *sums,
                                  const double *residuals, double *error);
/* The same with residuals of scale (b - A x) in double precision: |x - A^-1 b|, scaled, is at most
 * *error, and the componentwise backward error at most *backward; both NaN where A is not dominant.
 */
void enclose_quickly(const matrix_arrays *a, const spry_vector *b, const spry_vector *x,
                     double scale, double *backward, double *error);

#endif
