/* Small dense matrices, by rows. */
#ifndef SPRY_OCEAN_DENSE_H
#define SPRY_OCEAN_DENSE_H

#include <stdbool.h>

/* b = A^-1 b by elimination with pivots; A is spent. false: A is singular. */
bool dense_solve(int n, double *A, double *b);
/* Eigenvalues of a symmetric matrix, and its eigenvectors as columns of V; A is spent. */
void dense_eigen(int n, double *A, double *values, double *V);

#endif
