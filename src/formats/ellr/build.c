/*
 * ELLPACK-R (Vazquez, Fernandez, Garzon, "A new approach for sparse matrix vector product on NVIDIA
 * GPUs", Concurrency Computat.: Pract. Exper. 23, 2011): ELLPACK and the lengths of rows, so that
 * fill is read only where that is faster.
 */
#include "formats/ell/ell.h"

SPRY_OPTION_TABLE(options_table, ell_options, ELL_OPTIONS(SPRY_OPTION_ROW))

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    return ell_build(L, A, true);
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    return ell_forecast(ctx, A, given, true, f);
}

const layout_class format_ellr = {.name = "ellr",
                                  .summary = "ell whose products end where rows do",
                                  .options = SPRY_OPTION_LIST(options_table),
                                  .cost = {.byte = 1.4,
                                           .conversion = 10,
                                           .device_byte = 1.1,
                                           .device_uneven = 1.2,
                                           .device_making = 3,
                                           .widest = true},
                                  .walk = WALK_columnwise,
                                  .build = build,
                                  .forecast = forecast,
                                  .entries = columnwise_entries,
                                  .work = columnwise_work};
