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
} terms_given;

/* Fills parts, fields and text of a stencil whose shape, rows and order are there. On failure what
 * was made is left for terms_clear(). Collective where the grid is cut. */
spry_status terms_make(spry_context *ctx, spry_type type, const terms_given *given, stencil *s);
void terms_clear(spry_context *ctx, stencil *s);
/* The points that a stencil's rows need fields at, where `wider` more rows than its own are made.
 */
grid_box terms_points(const spry_context *ctx, const stencil *s, const int64_t wider[GRID_AXES]);

#endif
