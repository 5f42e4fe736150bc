/*
 * ELLR-T (Vazquez, Fernandez, Garzon, "Automatic tuning of the sparse matrix vector product on GPUs
 * based on the ELLR-T approach", Parallel Computing 38, 2012): ELLPACK-R with each row distributed
 * to T lines, whose sums are added at the end.
 */
#include "formats/shared/columnwise.h"

#define ELLR_T_OPTIONS(item)                                                                   \
    item(INT, T, "4", 1, 32, NULL, "lines that a row is distributed to: 1, 2, 4, 8, 16 or 32") \
    item(WORD, BS, "any", 0, 0, "any 64 128 256 512 1024",                                     \
         "work-items of a group on devices: whole rows")                                       \
    LAYOUT_VALUES_OPTION(item)

typedef struct ellr_t_options {
    ELLR_T_OPTIONS(SPRY_OPTION_FIELD)
} ellr_t_options;

SPRY_OPTION_TABLE(options_table, ellr_t_options, ELLR_T_OPTIONS(SPRY_OPTION_ROW))

static spry_status make_plan(spry_context *ctx, const matrix_arrays *A, const ellr_t_options *o,
                             columnwise_sizes *sizes)
{
    const int64_t T = o->T;
    if ((T & (T - 1)) != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "format ellr-t: T is %" PRId64 ", expected 1, 2, 4, 8, 16 or 32", T);
    *sizes = (columnwise_sizes){.T = T,
                                .width = (matrix_longest_row(ctx, A) + T - 1) / T,
                                .lengths_read = true,
                                .rest = -1};
    return SPRY_STATUS_OK;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const ellr_t_options *o = given;
    enum { LEAST_BS = 64 };
    columnwise_sizes sizes;
    spry_status status = make_plan(L->ctx, A, o, &sizes);
    if (status == SPRY_STATUS_OK)
        status = columnwise_build(L, A, &sizes);
    layout_note(L, "T", o->T);
    if (o->BS > 0) {
        L->number[COLUMNWISE_BS] = LEAST_BS << (o->BS - 1);
        layout_note(L, "BS", L->number[COLUMNWISE_BS]);
    }
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const ellr_t_options *o = given;
    columnwise_sizes sizes;
    const spry_status status = make_plan(ctx, A, o, &sizes);
    return status == SPRY_STATUS_OK
               ? columnwise_estimate(ctx, A, "ellr-t", (stored_kind)o->values, &sizes, f)
               : status;
}

const layout_class format_ellr_t = {.name = "ellr-t",
                                    .summary = "ellr with each row distributed to T lines",
                                    .options = SPRY_OPTION_LIST(options_table),
                                    .grid = "T=2|4|8|16",
                                    .cost = {.byte = 1.2,
                                             .conversion = 12,
                                             .device_byte = 1.15,
                                             .device_uneven = 1.1,
                                             .device_making = 3,
                                             .widest = true},
                                    .walk = WALK_columnwise,
                                    .build = build,
                                    .forecast = forecast,
                                    .entries = columnwise_entries,
                                    .work = columnwise_work};
