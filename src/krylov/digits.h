/* The last digits of x, chosen together. */
#ifndef SPRY_KRYLOV_DIGITS_H
#define SPRY_KRYLOV_DIGITS_H

#include "operator/operator.h"

/*
 * Changes the last digits of x so that |r| falls, r = b - A x being given in full precision, until
 * it is at most `goal` or no more is to be had for the work that is allowed. A is square general
 * CSR, on the host as the vectors are. r is what is left by what was computed along: the true
 * residual of x is the caller's to measure.
 */
spry_status digits_choose(const spry_matrix *A, double goal, spry_vector *x, spry_vector *r);

#endif
