/* Small symmetric positive definite systems, by Cholesky's factors. */
#ifndef SPRY_ODT_SMALL_H
#define SPRY_ODT_SMALL_H

#include <stdbool.h>

/* A = L L^T, L in the place of A's lower triangle; false: A is not positive definite. */
bool odt_factor(int n, double *A);
/* Solves L L^T x = b in the place of b. */
void odt_substitute(int n, const double *L, double *b);

#endif
