/* Products of stencils on grids that are cut into blocks. */
#ifndef SPRY_GRID_RANKS_H
#define SPRY_GRID_RANKS_H

#include "device/engine/device.h"
#include "grid/blocks.h"
#include "ranks/operator.h"

enum { RANKS_SLABS = 2 * GRID_AXES };

/* Rows near a cut, and a small array with their numbers and those around them. */
typedef struct ranks_slab {
    grid_box rows, window;
    int64_t first;     /* of its window among all */
    stencil_form form; /* on the host */
} ranks_slab;

/* A, A^T or A^H. */
typedef struct ranks_side {
    const spry_operator *op;
    spry_transpose transpose;
    grid_box inside; /* rows that need no other rank's numbers */
    ranks_slab slabs[RANKS_SLABS];
    distributed links;
    int64_t cells;                 /* of all windows */
    int64_t *comes;                /* where each is in the compact vector; -1: not needed */
    struct ranks_edges *on_device; /* what edge rows have on the device (ranks_device.c) */
} ranks_side;

/* Makes what an operator over a cut grid needs for its products, where it lives. Collective, as
 * these are. */
spry_status stencil_ranks_make(spry_operator *op);
void stencil_ranks_free(spry_context *ctx, struct stencil_ranks *ranks);
spry_status stencil_ranks_multiply(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const void *x, spry_scalar beta, void *y);
spry_status stencil_ranks_open_rows(const spry_operator *op, spry_transpose transpose,
                                    operator_rows *rows);
/* The same of one that lives on a device. */
spry_status stencil_ranks_multiply_memory(const spry_operator *op, spry_transpose transpose,
                                          spry_scalar alpha, const device_memory *x,
                                          spry_scalar beta, device_memory *y);
/* The operators of a side on the device; parts that have no rows are NULL. */
spry_status ranks_device_parts(ranks_side *s, dist_parts *parts);
void ranks_device_free(spry_context *ctx, struct ranks_edges *e);

#endif
