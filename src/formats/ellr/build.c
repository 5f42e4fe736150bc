/*
 * ELLPACK-R (Vazquez, Fernandez, Garzon, "A new approach for sparse matrix vector product on NVIDIA
 * GPUs", Concurrency Computat.: Pract. Exper. 23, 2011): ELLPACK and the lengths of rows, so that
 * fill is read only where that is faster.
 */
#include "formats/shared/columnwise.h"

#define ELLR_OPTIONS(item) LAYOUT_VALUES_OPTION(item)

typedef struct ellr_options {
    ELLR_OPTIONS(SPRY_OPTION_FIELD)
} ellr_options;

SPRY_OPTION_TABLE(options_table, ellr_options, ELLR_OPTIONS(SPRY_OPTION_ROW))

static columnwise_sizes plan_of(spry_context *ctx, const matrix_arrays *A)
{
    return (columnwise_sizes){
        .T = 1, .width = matrix_longest_row(ctx, A), .lengths_read = true, .rest = -1};
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    const columnwise_sizes sizes = plan_of(L->ctx, A);
    return columnwise_build(L, A, &sizes);
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const ellr_options *o = given;
    const columnwise_sizes sizes = plan_of(ctx, A);
    return columnwise_estimate(ctx, A, "ellr", (stored_kind)o->values, &sizes, f);
}

const layout_class format_ellr = {.name = "ellr",
                                  .summary = "ell whose products end where rows do",
                                  .options = SPRY_OPTION_LIST(options_table),
                                  .cost = {.byte = 1.4,
                                           .conversion = 10,
                                           .device_byte = 1.1,
                                           .device_uneven = 1.2,
                                           .device_making = 3},
                                  .walk = WALK_columnwise,
                                  .build = build,
                                  .forecast = forecast,
                                  .entries = columnwise_entries,
                                  .work = columnwise_work};
