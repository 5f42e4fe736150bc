/*
 * Singular systems with a null space that is known: Laplacians of grids with no boundary condition
 * but Neumann's, weighted, cut in two, turned by phases, with a wind that makes them unsymmetric.
 */
#ifndef SPRY_TESTS_NEUMANN_H
#define SPRY_TESTS_NEUMANN_H

#include "support/support.h"

typedef struct neumann_grid {
    int nx, ny, nz;
    double wind;  /* edges weigh 1 + wind one way and 1 - wind the other; A 1 = 0 all the same */
    bool cut;     /* no edges between the halves by x: two null vectors */
    bool twisted; /* complex: A v = 0 for v_i of modulus 1, neumann_null() */
} neumann_grid;

spry_matrix *neumann_matrix(spry_context *ctx, spry_type type, const neumann_grid *g);
/* Element i of null vector k: 1, or a phase; of a half alone where the grid is cut. */
spry_scalar neumann_null(const neumann_grid *g, int k, int64_t i);
/* b with random parts in the range and `share` times as much of the null vectors. */
spry_vector *neumann_rhs(spry_context *ctx, spry_type type, const neumann_grid *g, double share);

/*
 * What x must be, in long double: |P b - A x| <= tol |P b| up to rounding, where P removes the null
 * vectors (count of them, orthogonal) of A^H from b; the true residual reported is that; and x has
 * no part in those of A, up to n eps |x|.
 */
void neumann_check(const spry_matrix *A, const neumann_grid *g, int count, const spry_vector *b,
                   const spry_vector *x, double tol, double reported);

#endif
