/* ELLPACK, with the lengths of rows or without: what the formats ell and ellr share. */
#ifndef SPRY_ELL_H
#define SPRY_ELL_H

#include "formats/shared/columnwise.h"

#define ELL_OPTIONS(item) LAYOUT_VALUES_OPTION(item)

typedef struct ell_options {
    ELL_OPTIONS(SPRY_OPTION_FIELD)
} ell_options;

/* All rows as long as the longest; `lengths`: of the format ellr, whose products read the lengths
 * of rows and end with them. */
spry_status ell_build(layout *L, const matrix_arrays *A, bool lengths);
spry_status ell_forecast(spry_context *ctx, const matrix_arrays *A, const ell_options *given,
                         bool lengths, layout_forecast *f);

#endif
