/* SELL-C-sigma: see sell.h. */
#include "formats/sell/sell.h"

#include "formats/shared/slices.h"
#include "matrix/entries.h"

#define SELL_OPTIONS(item)                                                                         \
    item(INT, C, "0", 0, 1024, NULL, "rows of a slice; 0: chosen for the type (32: ELL-WARP, K1)") \
    item(INT, sigma, "1", 1, 1e9, NULL, "rows of a window in which they are sorted by length")     \
    LAYOUT_VALUES_OPTION(item)

typedef struct sell_options {
    SELL_OPTIONS(SPRY_OPTION_FIELD)
} sell_options;

SPRY_OPTION_TABLE(options_table, sell_options, SELL_OPTIONS(SPRY_OPTION_ROW))

static spry_status cut(spry_context *ctx, const matrix_arrays *A, const sell_options *o, slices *s)
{
    return slices_cut(ctx, A, "sell", o->C, o->sigma, s);
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    slices s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, cut(L->ctx, A, given, &s));
    SPRY_GO(L->ctx, slices_build(L, A, &s));
    SPRY_GO(L->ctx, layout_add(L, SELL_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    int32_t *columns = L->array[SELL_COLUMNS].data;
    const int parts = matrix_parts(L->ctx, L->stored);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(&s, parts, part);
        slice_lanes lanes;
        for (int64_t slice = mine.begin; slice < mine.end; slice++) {
            slices_open(&s, A, slice, &lanes);
            for (int64_t k = 0; k < lanes.width; k++)
                slice_columns(&lanes, A, s.C, k, columns + s.offsets[slice] + k * s.C);
        }
    }
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const sell_options *o = given;
    slices s;
    const spry_status status = cut(ctx, A, o, &s);
    if (status != SPRY_STATUS_OK)
        return status;
    f->stored = s.offsets[s.count];
    f->bytes = f->stored * (int64_t)sizeof(int32_t) + slices_bytes(&s, A, (stored_kind)o->values);
    slices_free(ctx, &s);
    return SPRY_STATUS_OK;
}

static int64_t columns_of(const layout *L, int64_t group, int64_t at, int32_t *to)
{
    const int64_t C = L->number[SELL_C];
    memcpy(to, (const int32_t *)L->array[SELL_COLUMNS].data + group * C, (size_t)C * sizeof *to);
    return at;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    slices_entries(L, begin, end, NULL, columns_of, visit, data);
}

const layout_class format_sell = {.name = "sell",
                                  .summary = "slices of rows, as wide as their longest",
                                  .options = SPRY_OPTION_LIST(options_table),
                                  .grid = "C=8|16|32 sigma=1|256",
                                  .cost = {.byte = 0.93,
                                           .conversion = 10,
                                           .row_ends = 0.7,
                                           .scattered = 0.8,
                                           .device_byte = 0.93,
                                           .device_uneven = 1.0,
                                           .device_making = 3},
                                  .walk = WALK_sliced,
                                  .build = build,
                                  .forecast = forecast,
                                  .entries = entries,
                                  .work = slices_work};
