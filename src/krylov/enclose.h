/* Proven bounds for the error of an x. */
#ifndef SPRY_KRYLOV_ENCLOSE_H
#define SPRY_KRYLOV_ENCLOSE_H

#include "operator/operator.h"

/*
 * The largest |x - A^-1 b| is at most *error, where each residual is at most what `residuals` says;
 * NaN: that is not shown, and A may be singular. M is about the inverse, with its transpose; A is
 * general CSR. By an inverse: a solve and a product with A for each row. By
 * comparison: one solve, for matrices like those of diffusion: `sums` are those of |A|'s rows.
 */
spry_status enclose_by_inverse(const spry_operator *M, const spry_matrix *A,
                               const double *residuals, double *error);
spry_status enclose_by_comparison(const spry_operator *M, const spry_matrix *A, const double *sums,
                                  const double *residuals, double *error);

#endif
