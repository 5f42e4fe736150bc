/* Products of stencils on grids that are cut into blocks. */
#ifndef SPRY_GRID_RANKS_H
#define SPRY_GRID_RANKS_H

#include "grid/blocks.h"

/* Makes what an operator over a cut grid needs for its products. Collective, as these are. */
spry_status stencil_ranks_make(spry_operator *op);
void stencil_ranks_free(spry_context *ctx, struct stencil_ranks *ranks);
spry_status stencil_ranks_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y);
spry_status stencil_ranks_open_rows(const spry_operator *op, spry_transpose transpose,
                                    operator_rows *rows);

#endif
