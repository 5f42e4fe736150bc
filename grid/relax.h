/* Relaxation of defect correction. */
#ifndef SPRY_GRID_RELAX_H
#define SPRY_GRID_RELAX_H

#include "grid/grid.h"

/* The omega that suits corrections by the same terms with order 2: 1 where A has order 2. */
spry_status stencil_relaxation(const spry_operator *A, double *omega);

#endif
