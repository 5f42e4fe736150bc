/*
 * ELLPACK (ITPACK; Kincaid, Oppe, Young, "ITPACKV 2D user's guide", 1989): all rows as long as
 * the longest, laid out column by column.
 */
#include "formats/shared/columnwise.h"

#define ELL_OPTIONS(item) LAYOUT_VALUES_OPTION(item)

typedef struct ell_options {
    ELL_OPTIONS(SPRY_OPTION_FIELD)
} ell_options;

SPRY_OPTION_TABLE(options_table, ell_options, ELL_OPTIONS(SPRY_OPTION_ROW))

static columnwise_sizes plan_of(spry_context *ctx, const matrix_arrays *A)
{
    return (columnwise_sizes){.T = 1, .width = matrix_longest_row(ctx, A), .rest = -1};
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
    const ell_options *o = given;
    const columnwise_sizes sizes = plan_of(ctx, A);
    return columnwise_estimate(ctx, A, "ell", (stored_kind)o->values, &sizes, f);
}

const layout_class format_ell = {.name = "ell",
                                 .summary = "column by column, all rows as long as the longest",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .cost = {.byte = 1.15,
                                          .conversion = 10,
                                          .device_byte = 1.05,
                                          .device_uneven = 1.5,
                                          .device_making = 3},
                                 .walk = WALK_columnwise,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = columnwise_entries,
                                 .work = columnwise_work};
