/* SELL with columns of 16 bits: see sell16.h. */
#include "formats/sell16/sell16.h"

#include "formats/shared/slices.h"
#include "matrix/entries.h"

#define SELL16_OPTIONS(item)                                                                   \
    item(INT, C, "0", 0, 1024, NULL, "rows of a slice; 0: chosen for the type")                \
    item(INT, sigma, "1", 1, 1e9, NULL, "rows of a window in which they are sorted by length") \
    LAYOUT_VALUES_OPTION(item)

typedef struct sell16_options {
    SELL16_OPTIONS(SPRY_OPTION_FIELD)
} sell16_options;

SPRY_OPTION_TABLE(options_table, sell16_options, SELL16_OPTIONS(SPRY_OPTION_ROW))

static spry_status cut(spry_context *ctx, const matrix_arrays *A, const sell16_options *o,
                       slices *s)
{
    return slices_cut(ctx, A, "sell16", o->C, o->sigma, s);
}

/* Whether the columns of each group are next to each other, all over the slice. */
static bool is_run(const slice_lanes *lanes, const matrix_arrays *A, int64_t C)
{
    for (int64_t k = 0; k < lanes->width; k++) {
        const int32_t first = slice_column(lanes, A, 0, k);
        if (first >= SELL16_RUN)
            return false;
        for (int64_t l = 1; l < C; l++)
            if (slice_column(lanes, A, l, k) - first != l)
                return false;
    }
    return true;
}

/* The word of a group with these columns. */
static int32_t find_word(const int32_t *columns, int64_t C, bool run)
{
    int32_t least = columns[0], most = columns[0];
    if (run)
        return SELL16_RUN + columns[0];
    for (int64_t l = 1; l < C; l++) {
        least = columns[l] < least ? columns[l] : least;
        most = columns[l] > most ? columns[l] : most;
    }
    return least < SELL16_RUN && most - least <= UINT16_MAX ? least : SELL16_WIDE;
}

/* What a slice has in the stream. */
static int64_t count_halves(const slices *s, const matrix_arrays *A, int64_t slice)
{
    int32_t columns[SELL_MOST_C];
    slice_lanes lanes;
    int64_t halves = 0;
    columns[0] = 0; /* C is 1 at least, which linters cannot know */
    slices_open(s, A, slice, &lanes);
    if (is_run(&lanes, A, s->C))
        return 0;
    for (int64_t k = 0; k < lanes.width; k++) {
        slice_columns(&lanes, A, s->C, k, columns);
        halves += sell16_halves(find_word(columns, s->C, false), s->C);
    }
    return halves;
}

/* What comes before each slice: array of one more than slices, to be freed by the caller; NULL when
 * it fails. */
static spry_status find_starts(spry_context *ctx, const slices *s, const matrix_arrays *A,
                               int64_t **starts)
{
    const int parts = matrix_parts(ctx, A->nnz);
    int64_t *counts = NULL;
    spry_status status = SPRY_STATUS_OK;
    *starts = NULL;
    SPRY_GO(ctx, base_alloc(ctx, s->count + 1, sizeof *counts, &counts));
    counts[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(s, parts, part);
        for (int64_t slice = mine.begin; slice < mine.end; slice++)
            counts[slice + 1] = count_halves(s, A, slice);
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, counts, s->count));
    *starts = counts;
    counts = NULL;
done:
    base_free(ctx, counts);
    return status;
}

static void store_columns(layout *L, const slices *s, const matrix_arrays *A, int64_t slice)
{
    const int64_t C = s->C, start = ((const int64_t *)L->array[SELL16_STARTS].data)[slice];
    uint16_t *half = (uint16_t *)L->array[SELL16_HALVES].data + start;
    int32_t *words = (int32_t *)L->array[SELL16_WORDS].data + s->offsets[slice] / C;
    int32_t columns[SELL_MOST_C];
    slice_lanes lanes;
    slices_open(s, A, slice, &lanes);
    const bool run = is_run(&lanes, A, C);
    for (int64_t k = 0; k < lanes.width; k++) {
        slice_columns(&lanes, A, C, k, columns);
        words[k] = find_word(columns, C, run);
        const int64_t halves = sell16_halves(words[k], C);
        for (int64_t l = 0; l < C && halves > 0; l++)
            half[l] = (uint16_t)(columns[l] - (words[k] < 0 ? 0 : words[k]));
        for (int64_t l = C; l < halves; l++)
            half[l] = (uint16_t)(columns[l - C] >> 16);
        half += halves;
    }
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    spry_context *ctx = L->ctx;
    slices s;
    int64_t *starts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, cut(ctx, A, given, &s));
    SPRY_GO(ctx, slices_build(L, A, &s));
    SPRY_GO(ctx, find_starts(ctx, &s, A, &starts));
    L->array[SELL16_STARTS] = (layout_array){
        .name = "starts", .count = s.count + 1, .size = sizeof *starts, .data = starts};
    SPRY_GO(ctx, layout_add(L, SELL16_HALVES, "halves", starts[s.count], sizeof(uint16_t)));
    SPRY_GO(ctx, layout_add(L, SELL16_WORDS, "words", L->stored / s.C, sizeof(int32_t)));
    const int parts = matrix_parts(ctx, L->stored);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(&s, parts, part);
        for (int64_t slice = mine.begin; slice < mine.end; slice++)
            store_columns(L, &s, A, slice);
    }
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const sell16_options *o = given;
    slices s = {0};
    int64_t *starts = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, cut(ctx, A, o, &s));
    SPRY_GO(ctx, find_starts(ctx, &s, A, &starts));
    f->stored = s.offsets[s.count];
    f->bytes = slices_bytes(&s, A, (stored_kind)o->values) +
               starts[s.count] * (int64_t)sizeof(uint16_t) +
               f->stored / s.C * (int64_t)sizeof(int32_t) + (s.count + 1) * (int64_t)sizeof *starts;
done:
    base_free(ctx, starts);
    slices_free(ctx, &s);
    return status;
}

/* The columns of a slice's group from `at` on in the stream. */
static int64_t columns(const layout *L, int64_t group, int64_t at, int32_t *to)
{
    const int64_t C = L->number[SELL_C];
    const int32_t word = ((const int32_t *)L->array[SELL16_WORDS].data)[group];
    const uint16_t *half = (const uint16_t *)L->array[SELL16_HALVES].data + at;
    for (int64_t l = 0; l < C; l++)
        to[l] = word < 0             ? half[l] | (int32_t)half[C + l] << 16
                : word >= SELL16_RUN ? word - SELL16_RUN + (int32_t)l
                                     : word + half[l];
    return at + sell16_halves(word, C);
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    slices_entries(L, begin, end, L->array[SELL16_STARTS].data, columns, visit, data);
}

const layout_class format_sell16 = {.name = "sell16",
                                    .summary = "slices of rows with columns of 16 bits",
                                    .options = SPRY_OPTION_LIST(options_table),
                                    .grid = "C=8|16 sigma=1|256",
                                    .cost = {.byte = 0.9,
                                             .conversion = 15,
                                             .row_ends = 0.7,
                                             .scattered = 0.8,
                                             .device_byte = 1.0,
                                             .device_uneven = 1.1,
                                             .device_making = 5,
                                             .even = true},
                                    .walk = WALK_sliced16,
                                    .build = build,
                                    .forecast = forecast,
                                    .entries = entries,
                                    .work = slices_work};
