/* Multigrid whose coarse levels are products R A P of stored matrices, with weights from A. */
#ifndef SPRY_GRID_GALERKIN_H
#define SPRY_GRID_GALERKIN_H

#include "grid/grid.h"
#include "precon/kinds/gmg.h"

/* Whether coefficients are such that differences of them on coarser grids say little of A: they
 * jump from point to point. */
bool galerkin_is_rough(const spry_operator *A);
/* The preconditioner of an operator that one rank has whole, with numbers of a type; fails where
 * rows of order 2 reach further than to the points around. */
spry_status galerkin_make(const precon_job *job, spry_type type, spry_operator **M);

#endif
