/* From a text to the parts of a stencil. */
#ifndef SPRY_GRID_TERMS_H
#define SPRY_GRID_TERMS_H

#include "grid/grid.h"

/* What a caller gives: see spry_operator_stencil(). */
typedef struct terms_given {
    const char *text;
    int count;
    const char *const *names;
    const spry_vector *const *values;
    const char
        *domain; /* the name of a coefficient that is negative inside; NULL, "": everywhere */
} terms_given;

/* Fills parts, fields and text of a stencil whose shape, rows and order are set. On failure what
 * was made is left for terms_clear(). Collective where the grid is cut. */
spry_status terms_make(spry_context *ctx, spry_type type, const terms_given *given, stencil *s);
void terms_clear(spry_context *ctx, stencil *s);
/* The operator of terms on the host, of a class of stencils. Collective where the grid is cut. */
spry_status stencil_of_terms(spry_context *ctx, const operator_class *class,
                             const grid_shape *shape, int order, spry_type type,
                             const terms_given *given, spry_operator **A);
/* The farthest that rows reach along each axis, with those of A^T or without. */
void terms_reach(const stencil *s, bool transposes, int64_t reach[GRID_AXES]);
/* Makes a field's numbers at the points of a box. */
typedef spry_status (*terms_numbers)(void *data, int field, const grid_box *own, void *to);
/* Fills `count` fields at the points that rows need them at, where `wider` more rows than those of
 * this rank are made; each rank makes its own points' numbers. Collective where the grid is cut. */
spry_status terms_fill(spry_context *ctx, spry_type type, stencil *s, int count,
                       const int64_t wider[GRID_AXES], terms_numbers numbers, void *data);

#endif
