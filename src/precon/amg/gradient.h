/* The gradient of edge elements, found in their matrix. */
#ifndef SPRY_AMG_GRADIENT_H
#define SPRY_AMG_GRADIENT_H

#include "precon/precon.h"

/*
 * ends[2 i] and ends[2 i + 1] are the nodes at which the edge of row i begins and ends; -1: it has
 * none there, as at walls, or none was found. Fails where A (sorted CSR) is not one of edge
 * elements.
 */
spry_status amg_find_ends(const spry_matrix *A, int32_t **ends, int64_t *nodes);

#endif
