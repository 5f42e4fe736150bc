/* Stencils on a part of the grid, within a boundary that cuts between points. */
#ifndef SPRY_GRID_DOMAIN_H
#define SPRY_GRID_DOMAIN_H

#include "grid/grid.h"

/* Fills in the field of the diagonal, when all others exist; of a level of multigrid (coarse),
 * numbers of outer points are so large that corrections there are 0. */
spry_status domain_fill(spry_operator *op, bool coarse);
/* Subtracts what is known at the boundary from b; outside b is 0. boundary may be NULL. */
void domain_subtract(const spry_operator *A, spry_boundary_fn boundary, void *data, spry_vector *b);

#endif
