/* Slices: see slices.h. */
#include "formats/shared/slices.h"

#include "formats/sell/sell.h"
#include "matrix/entries.h"

static int64_t row_length(const matrix_arrays *A, int64_t row)
{
    return A->offsets[row + 1] - A->offsets[row];
}

/* The row of a lane; -1: none. */
static int64_t lane_row(const slices *s, const matrix_arrays *A, int64_t lane)
{
    return s->rows ? s->rows[lane] : lane < A->rows ? lane : -1;
}

/* Sorts the rows of a window by length, longest first, those of one length as they were: digit by
 * digit, the lowest first. */
static void sort_window(const matrix_arrays *A, range window, int32_t *order, int32_t *other)
{
    enum { DIGITS = 256 };
    const int64_t n = window.end - window.begin;
    int64_t longest = 0;
    int32_t *from = order, *to = other;
    for (int64_t i = 0; i < n; i++) {
        const int64_t length = row_length(A, window.begin + i);
        from[i] = (int32_t)(window.begin + i);
        longest = length > longest ? length : longest;
    }
    for (int shift = 0; longest >> shift > 0; shift += 8) {
        int64_t at[DIGITS + 1] = {0};
        for (int64_t i = 0; i < n; i++)
            at[DIGITS - (row_length(A, from[i]) >> shift & (DIGITS - 1))]++;
        for (int d = 0; d < DIGITS; d++)
            at[d + 1] += at[d];
        for (int64_t i = 0; i < n; i++)
            to[at[DIGITS - 1 - (row_length(A, from[i]) >> shift & (DIGITS - 1))]++] = from[i];
        int32_t *last = from;
        from = to;
        to = last;
    }
    if (from != order)
        memcpy(order, from, (size_t)n * sizeof *order);
}

static spry_status sort_rows(spry_context *ctx, const matrix_arrays *A, slices *s)
{
    const int64_t sigma = s->sigma, windows = (A->rows + sigma - 1) / sigma;
    int32_t *other = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->count * s->C, sizeof *s->rows, &s->rows));
    SPRY_GO(ctx, base_alloc(ctx, A->rows, sizeof *other, &other));
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) schedule(static)
    for (int64_t w = 0; w < windows; w++) {
        const int64_t begin = w * sigma, end = A->rows - begin < sigma ? A->rows : begin + sigma;
        sort_window(A, (range){begin, end}, s->rows + begin, other + begin);
    }
    for (int64_t lane = A->rows; lane < s->count * s->C; lane++)
        s->rows[lane] = -1;
done:
    base_free(ctx, other);
    return status;
}

/* Width of a slice, and whether only some of its rows have entries. */
static int64_t slice_width(const slices *s, const matrix_arrays *A, int64_t slice, bool *mixed)
{
    int64_t width = 0, least = INT64_MAX;
    for (int64_t lane = slice * s->C; lane < (slice + 1) * s->C; lane++) {
        const int64_t row = lane_row(s, A, lane);
        if (row < 0)
            break;
        const int64_t length = row_length(A, row);
        width = length > width ? length : width;
        least = length < least ? length : least;
    }
    *mixed = width > 0 && least == 0;
    return width;
}

static spry_status find_offsets(spry_context *ctx, const matrix_arrays *A, slices *s)
{
    bool any = false;
    const spry_status status = base_alloc(ctx, s->count + 1, sizeof *s->offsets, &s->offsets);
    if (status != SPRY_STATUS_OK)
        return status;
    s->offsets[0] = 0;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) reduction(|| : any)
    for (int64_t slice = 0; slice < s->count; slice++) {
        bool mixed;
        s->offsets[slice + 1] = slice_width(s, A, slice, &mixed) * s->C;
        any = any || mixed;
    }
    s->mixed = any;
    return base_prefix_sum(ctx, s->offsets, s->count);
}

spry_status slices_check_fill(spry_context *ctx, const char *name, int64_t C, int64_t stored,
                              int64_t nnz)
{
    enum { MOST_FILL = 64, ALWAYS = 1 << 16 };
    if (stored <= ALWAYS || stored / MOST_FILL <= nnz)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "format %s: slices of %" PRId64 " rows as wide as their longest have "
                     "%" PRId64 " places for %" PRId64 " entries; a larger sigma or a smaller C "
                     "has fewer, CSR has none to fill",
                     name, C, stored, nnz);
}

slices slices_plan(spry_type type, int64_t rows, int64_t C, int64_t sigma)
{
    if (C == 0)
        C = spry_type_is_complex(type) ? 8 : 16;
    /* Windows hold whole slices; sorting inside of one does nothing. */
    return (slices){
        .C = C, .sigma = sigma < 2 * C ? 1 : sigma / C * C, .count = (rows + C - 1) / C};
}

spry_status slices_cut(spry_context *ctx, const matrix_arrays *A, const char *name, int64_t C,
                       int64_t sigma, slices *s)
{
    spry_status status = SPRY_STATUS_OK;
    *s = slices_plan(A->type, A->rows, C, sigma);
    if (s->sigma > 1)
        SPRY_GO(ctx, sort_rows(ctx, A, s));
    SPRY_GO(ctx, find_offsets(ctx, A, s));
    SPRY_GO(ctx, slices_check_fill(ctx, name, s->C, s->offsets[s->count], A->nnz));
done:
    if (status != SPRY_STATUS_OK)
        slices_free(ctx, s);
    return status;
}

void slices_free(spry_context *ctx, slices *s)
{
    base_free(ctx, s->offsets);
    base_free(ctx, s->rows);
    s->offsets = NULL;
    s->rows = NULL;
}

int64_t slices_bytes(const slices *s, const matrix_arrays *A, stored_kind kind)
{
    return s->offsets[s->count] * (int64_t)layout_value_size(A->type, kind) +
           (s->count + 1) * (int64_t)sizeof *s->offsets +
           (s->rows ? s->count * s->C * (int64_t)sizeof *s->rows : 0) + (s->mixed ? s->count : 0);
}

range slices_share(const slices *s, int parts, int part)
{
    int64_t cut[2];
    for (int side = 0; side < 2; side++) {
        const int64_t target =
            (int64_t)((double)s->offsets[s->count] * (part + side) / (double)parts);
        cut[side] = matrix_first_from(s->offsets, s->count, target);
    }
    return (range){part == 0 ? 0 : cut[0], part + 1 == parts ? s->count : cut[1]};
}

void slices_open(const slices *s, const matrix_arrays *A, int64_t slice, slice_lanes *lanes)
{
    const int64_t C = s->C;
    int64_t some = 0;
    lanes->width = (s->offsets[slice + 1] - s->offsets[slice]) / C;
    lanes->mixed = false;
    for (int64_t l = 0; l < C; l++) {
        const int64_t row = lane_row(s, A, slice * C + l);
        lanes->start[l] = row < 0 ? 0 : A->offsets[row];
        lanes->length[l] = row < 0 ? 0 : row_length(A, row);
        some = lanes->length[l] > lanes->length[some] ? l : some;
        lanes->mixed = lanes->mixed || (row >= 0 && lanes->width > 0 && lanes->length[l] == 0);
    }
    for (int64_t l = 0; l < C; l++) {
        const int64_t like = lanes->length[l] > 0 ? l : some;
        lanes->reach[l] = lanes->length[like];
        lanes->start[l] = lanes->start[like];
    }
}

/* --- building ----------------------------------------------------------------------------------
 */

/* The values of a slice, whose places are written in their order. */
ALWAYS_INLINE void copy_values(size_t size, const slice_lanes *lanes, int64_t C, const char *from,
                               char *to)
{
    for (int64_t k = 0; k < lanes->width; k++)
        for (int64_t l = 0; l < C; l++, to += size) {
            if (k < lanes->length[l])
                memcpy(to, from + (size_t)(lanes->start[l] + k) * size, size);
            else
                memset(to, 0, size);
        }
}

static void store_values(layout *L, const slices *s, const matrix_arrays *A, int64_t slice,
                         const slice_lanes *lanes)
{
    const size_t size = layout_value_size(L->type, L->kind);
    char *to = (char *)L->array[SELL_VALUES].data + (size_t)s->offsets[slice] * size;
    if (L->kind != STORED_OWN) {
        memset(to, 0, (size_t)(lanes->width * s->C) * size);
        for (int64_t l = 0; l < s->C; l++)
            for (int64_t k = 0; k < lanes->length[l]; k++)
                layout_store(L, s->offsets[slice] + k * s->C + l, A->values, lanes->start[l] + k);
    } else if (size == 4) {
        copy_values(4, lanes, s->C, A->values, to);
    } else if (size == 8) {
        copy_values(8, lanes, s->C, A->values, to);
    } else {
        copy_values(16, lanes, s->C, A->values, to);
    }
}

/* What is known of a slice's lanes besides their columns. */
static void store_slice(layout *L, const slices *s, const matrix_arrays *A, int64_t slice,
                        slice_lanes *lanes)
{
    int32_t *lengths = L->array[SELL_LENGTHS].data;
    uint8_t *mixed = L->array[SELL_MIXED].data;
    slices_open(s, A, slice, lanes);
    store_values(L, s, A, slice, lanes);
    for (int64_t l = 0; l < s->C; l++)
        lengths[slice * s->C + l] = (int32_t)lanes->length[l];
    if (mixed)
        mixed[slice] = lanes->mixed;
}

/* Units are slices, or windows where ranges of rows can be made of these. */
void slices_describe(layout *L, const slices *s)
{
    enum { GRAIN = 1024 };
    const bool windows = s->sigma > 1 && GRAIN % s->sigma == 0;
    const int64_t per_pack = windows ? s->sigma / s->C : 1;
    L->units = (s->count + per_pack - 1) / per_pack;
    L->unit_rows = windows ? s->sigma : s->sigma == 1 ? s->C : 0;
    L->number[SELL_C] = s->C;
    L->number[SELL_SIGMA] = s->sigma;
    L->number[SELL_SLICES] = s->count;
    L->number[SELL_PER_UNIT] = per_pack;
    layout_note(L, "C", s->C);
    layout_note(L, "sigma", s->sigma);
}

spry_status slices_build(layout *L, const matrix_arrays *A, const slices *s)
{
    spry_status status = SPRY_STATUS_OK;
    slices_describe(L, s);
    L->stored = s->offsets[s->count];
    L->array[SELL_OFFSETS] = (layout_array){
        .name = "offsets", .count = s->count + 1, .size = sizeof *s->offsets, .data = s->offsets};
    if (s->rows)
        L->array[SELL_ROWS] = (layout_array){
            .name = "rows", .count = s->count * s->C, .size = sizeof *s->rows, .data = s->rows};
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, SELL_LENGTHS, "lengths", s->count * s->C, sizeof(int32_t)));
    L->array[SELL_LENGTHS].aside = true;
    if (s->mixed)
        SPRY_GO(L->ctx, layout_add(L, SELL_MIXED, "mixed", s->count, 1));
    const int parts = matrix_parts(L->ctx, L->stored);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(s, parts, part);
        slice_lanes lanes;
        for (int64_t slice = mine.begin; slice < mine.end; slice++)
            store_slice(L, s, A, slice, &lanes);
    }
done:
    return status;
}

/* --- looking at a layout ------------------------------------------------------------------------
 */

/* The first slice of a unit. */
static int64_t unit_slice(const layout *L, int64_t unit)
{
    const int64_t slice = unit * L->number[SELL_PER_UNIT];
    return slice < L->number[SELL_SLICES] ? slice : L->number[SELL_SLICES];
}

void slices_entries(const layout *L, int64_t begin, int64_t end, const int64_t *starts,
                    slices_columns columns, layout_visit visit, void *data)
{
    const int64_t *offsets = L->array[SELL_OFFSETS].data, C = L->number[SELL_C];
    const int32_t *rows = L->array[SELL_ROWS].data, *lengths = L->array[SELL_LENGTHS].data;
    int32_t column[SELL_MOST_C];
    for (int64_t slice = unit_slice(L, begin); slice < unit_slice(L, end); slice++) {
        int64_t at = starts ? starts[slice] : 0;
        for (int64_t k = 0; k < (offsets[slice + 1] - offsets[slice]) / C; k++) {
            at = columns(L, offsets[slice] / C + k, at, column);
            for (int64_t l = 0; l < C; l++) {
                const int64_t lane = slice * C + l;
                if (k < lengths[lane])
                    visit(data, rows ? rows[lane] : lane, column[l], offsets[slice] + k * C + l);
            }
        }
    }
}

int64_t slices_work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[SELL_OFFSETS].data)[unit_slice(L, unit)];
}
