/* Walks: the kernels that make products with layouts, by type, kind of values and ISA level. */
#ifndef SPRY_WALK_H
#define SPRY_WALK_H

#include "formats/shared/layout.h"
#include "host/host.h"

/* Products with units begin..end-1 of a layout: see layout.h for what they set and carry. */
typedef struct host_walk {
    void (*multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p);
    void (*columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p);
} host_walk;

/* The walk through a layout for the context's ISA level. */
const host_walk *host_walk_for(const layout *A);

/* The operator of A, any format, stored as `spec` says; A must stay alive. */
spry_status host_layout_operator(const spry_matrix *A, const char *spec, spry_operator **op);

#endif
