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

/* Fills parts, fields and text of a stencil whose shape and order are there. On failure what was
 * made is left for terms_clear(). */
spry_status terms_make(spry_context *ctx, spry_type type, const terms_given *given, stencil *s);
void terms_clear(spry_context *ctx, stencil *s);

#endif
