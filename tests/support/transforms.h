/* Fourier transforms by their sums, in long double, and what a fast one may be off by. */
#ifndef SPRY_TESTS_TRANSFORMS_H
#define SPRY_TESTS_TRANSFORMS_H

#include "support/support.h"

/*
 * |F x - sum| <= bound |x| of a fast transform, with the unit of rounding u: a stage of radix r is
 * off by (r + 2) sqrt(r) u, as each of its r numbers is a sum of r terms of which (r + 2) roundings
 * are seen by the last one, and the product with a root by 4 u; all stages are unitary but for a
 * factor, so that these add up. Two roundings more for the scale.
 */
double transforms_bound(spry_type type, const int n[3]);
/* Looks at F, its inverse and its transpose, with vectors of the host. */
void transforms_check(const spry_operator *F, const int n[3]);

#endif
