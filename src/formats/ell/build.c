/*
 * ELLPACK (ITPACK; Kincaid, Oppe, Young, "ITPACKV 2D user's guide", 1989): all rows as long as
 * the longest, laid out column by column.
 */
#include "formats/ell/ell.h"

SPRY_OPTION_TABLE(options_table, ell_options, ELL_OPTIONS(SPRY_OPTION_ROW))

static columnwise_sizes plan_of(spry_context *ctx, const matrix_arrays *A, bool lengths)
{
    return (columnwise_sizes){
        .T = 1, .width = matrix_longest_row(ctx, A), .lengths_read = lengths, .rest = -1};
}

spry_status ell_build(layout *L, const matrix_arrays *A, bool lengths)
{
    const columnwise_sizes sizes = plan_of(L->ctx, A, lengths);
    return columnwise_build(L, A, &sizes);
}

spry_status ell_forecast(spry_context *ctx, const matrix_arrays *A, const ell_options *given,
                         bool lengths, layout_forecast *f)
{
    const columnwise_sizes sizes = plan_of(ctx, A, lengths);
    return columnwise_estimate(ctx, A, lengths ? "ellr" : "ell", (stored_kind)given->values, &sizes,
                               f);
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    return ell_build(L, A, false);
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    return ell_forecast(ctx, A, given, false, f);
}

const layout_class format_ell = {.name = "ell",
                                 .summary = "column by column, all rows as long as the longest",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .cost = {.byte = 1.15,
                                          .conversion = 10,
                                          .device_byte = 1.05,
                                          .device_uneven = 1.5,
                                          .device_making = 3,
                                          .widest = true},
                                 .walk = WALK_columnwise,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = columnwise_entries,
                                 .work = columnwise_work};
