/* SELL-C-sigma: see sell.h. */
#include "matrix/formats/sell.h"

#include "matrix/entries.h"
#include "matrix/layout.h"

#define SELL_OPTIONS(item)                                                                     \
    item(INT, C, "8", 1, 1024, NULL, "rows of a slice")                                        \
    item(INT, sigma, "1", 1, 1e9, NULL, "rows of a window in which they are sorted by length") \
    LAYOUT_VALUES_OPTION(item)

typedef struct sell_options {
    SELL_OPTIONS(SPRY_OPTION_FIELD)
} sell_options;

#define OPTION_OWNER sell_options
static const spry_option options_table[] = {SELL_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

static int64_t row_length(const spry_arrays *A, int64_t row)
{
    return row < A->rows ? A->offsets[row + 1] - A->offsets[row] : 0;
}

/* Width of slice s when rows keep their order. */
static int64_t slice_width(const spry_arrays *A, int64_t C, int64_t s)
{
    int64_t width = 0;
    for (int64_t row = s * C; row < (s + 1) * C && row < A->rows; row++)
        width = row_length(A, row) > width ? row_length(A, row) : width;
    return width;
}

static spry_status build(layout *L, const spry_arrays *A, const void *given)
{
    const sell_options *o = given;
    const int64_t C = o->C;
    spry_status status = SPRY_OK;
    L->units = (A->rows + C - 1) / C;
    L->unit_rows = C;
    L->number[SELL_C] = C;
    L->number[SELL_SIGMA] = o->sigma;
    SPRY_GO(L->ctx, layout_add(L, SELL_OFFSETS, "offsets", L->units + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, SELL_LENGTHS, "lengths", A->rows, sizeof(int32_t)));
    L->array[SELL_LENGTHS].aside = true;
    int64_t *offsets = L->array[SELL_OFFSETS].data;
    int32_t *lengths = L->array[SELL_LENGTHS].data;
    offsets[0] = 0;
    for (int64_t s = 0; s < L->units; s++)
        offsets[s + 1] = offsets[s] + slice_width(A, C, s) * C;
    L->stored = offsets[L->units];
    SPRY_GO(L->ctx, layout_add_values(L, true));
    SPRY_GO(L->ctx, layout_add(L, SELL_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    int32_t *columns = L->array[SELL_COLUMNS].data;
    for (int64_t s = 0; s < L->units; s++) {
        const int64_t width = (offsets[s + 1] - offsets[s]) / C;
        for (int64_t l = 0; l < C; l++) {
            const int64_t row = s * C + l, length = row_length(A, row);
            int32_t last = 0; /* fill repeats the last column, whose x is at hand */
            for (int64_t k = 0; k < width; k++) {
                const int64_t place = offsets[s] + k * C + l;
                if (k < length) {
                    last = A->col_index[A->offsets[row] + k];
                    layout_store(L, place, A->values, A->offsets[row] + k);
                }
                columns[place] = last;
            }
            if (row < A->rows)
                lengths[row] = (int32_t)length;
        }
    }
    layout_note(L, "C", C);
    layout_note(L, "sigma", o->sigma);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const spry_arrays *A, const void *given,
                            layout_forecast *f)
{
    (void)ctx;
    const sell_options *o = given;
    const int64_t slices = (A->rows + o->C - 1) / o->C;
    const size_t value = layout_value_size(A->type, (stored_kind)o->values);
    for (int64_t s = 0; s < slices; s++)
        f->stored += slice_width(A, o->C, s) * o->C;
    f->bytes = f->stored * (int64_t)(sizeof(int32_t) + value) + (slices + 1) * 8;
    return SPRY_OK;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_hear hear, void *data)
{
    const int64_t *offsets = L->array[SELL_OFFSETS].data, C = L->number[SELL_C];
    const int32_t *columns = L->array[SELL_COLUMNS].data, *lengths = L->array[SELL_LENGTHS].data;
    for (int64_t row = begin * C; row < end * C && row < L->rows; row++)
        for (int64_t k = 0; k < lengths[row]; k++) {
            const int64_t place = offsets[row / C] + k * C + row % C;
            hear(data, row, columns[place], place);
        }
}

static int64_t work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[SELL_OFFSETS].data)[unit];
}

const layout_class format_sell = {
    .name = "sell",
    .summary = "slices of rows, as wide as their longest",
    .options = {options_table, sizeof options_table / sizeof *options_table},
    .grid = "C=4|8|16",
    .walk = WALK_sliced,
    .build = build,
    .forecast = forecast,
    .entries = entries,
    .work = work};
