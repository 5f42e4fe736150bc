/* Exact solves: matrices for them, and the residual that backward stability allows. */
#ifndef SPRY_TESTS_EXACT_H
#define SPRY_TESTS_EXACT_H

#include "support/numeric.h"

/* Of a grid with so many points a side: hermitian and positive definite, or neither; complex for
 * complex types. */
spry_matrix *exact_matrix(spry_context *ctx, spry_type type, bool hermitian, int size);
/* The hermitian one with so much taken from its diagonal. */
spry_matrix *exact_shifted(spry_context *ctx, spry_type type, int size, double shift);
/* Diagonally dominant but for the rows at the ends: the sums of all rows are 0. */
spry_matrix *exact_neumann(spry_context *ctx, spry_type type, int size);

/* |r - op(A) z| <= bound |op(A)| |z| for z = op(M) r, in the largest norm: elimination with pivots
 * is backward stable, with errors of n units; others grow by that times `growth`. Vectors are the
 * host's, wherever M is. */
void exact_check(spry_context *ctx, const spry_matrix *A, const spry_operator *M, spry_transpose op,
                 double growth, const char *what);

#endif
