/* SELL with columns of 16 bits: see sell16.h. */
#include "matrix/formats/sell16.h"

#include "matrix/entries.h"
#include "matrix/slices.h"

#define SELL16_OPTIONS(item)                                                                   \
    item(INT, C, "0", 0, 1024, NULL, "rows of a slice; 0: chosen for the type")                \
    item(INT, sigma, "1", 1, 1e9, NULL, "rows of a window in which they are sorted by length") \
    LAYOUT_VALUES_OPTION(item)

typedef struct sell16_options {
    SELL16_OPTIONS(SPRY_OPTION_FIELD)
} sell16_options;

#define OPTION_OWNER sell16_options
static const spry_option options_table[] = {SELL16_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

enum { LARGEST = UINT16_MAX };

static spry_status cut(spry_context *ctx, const spry_arrays *A, const sell16_options *o, slices *s)
{
    const int64_t usual = A->type == SPRY_S ? 32 : A->type == SPRY_D ? 16 : 8;
    return slices_cut(ctx, A, "sell16", o->C > 0 ? o->C : usual, o->sigma, s);
}

/* The least column of a group, or -1 where columns are too far apart for 16 bits. */
static int32_t find_base(const int32_t *columns, int64_t C)
{
    int32_t least = columns[0], most = columns[0];
    for (int64_t l = 1; l < C; l++) {
        least = columns[l] < least ? columns[l] : least;
        most = columns[l] > most ? columns[l] : most;
    }
    return most - least <= LARGEST ? least : -1;
}

/* Groups of a slice that need upper halves. */
static int64_t count_wide(const slices *s, const spry_arrays *A, int64_t slice)
{
    int32_t columns[SELL_MOST_C];
    slice_lanes lanes;
    int64_t wide = 0;
    slices_open(s, A, slice, &lanes);
    for (int64_t k = 0; k < lanes.width; k++) {
        slice_columns(&lanes, A, s->C, k, columns);
        wide += find_base(columns, s->C) < 0;
    }
    return wide;
}

/* How many there are before each slice and in all, to be freed by the caller. */
static spry_status find_wide(spry_context *ctx, const slices *s, const spry_arrays *A,
                             int64_t **before)
{
    const int parts = matrix_parts(ctx, A->nnz);
    const bool none = A->cols <= LARGEST + 1;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, base_calloc(ctx, s->count + 1, sizeof **before, before));
    if (none)
        return SPRY_OK;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(s, parts, part);
        for (int64_t slice = mine.begin; slice < mine.end; slice++)
            (*before)[slice + 1] = count_wide(s, A, slice);
    }
    SPRY_GO(ctx, base_prefix_sum(ctx, *before, s->count));
    if ((*before)[s->count] > INT32_MAX)
        status = SPRY_FAIL(ctx, SPRY_UNSUPPORTED,
                           "format sell16: %" PRId64 " groups of entries do not fit into 16 bits, "
                           "which is more than it can count; sell has no such limit",
                           (*before)[s->count]);
done:
    return status;
}

/* Writes the columns of a slice, of whose groups that need upper halves `wide` come before. */
static void store_columns(layout *L, const slices *s, const spry_arrays *A, int64_t slice,
                          int64_t wide)
{
    const int64_t C = s->C;
    uint16_t *low = (uint16_t *)L->array[SELL16_LOW].data + s->offsets[slice];
    uint16_t *high = L->array[SELL16_HIGH].data;
    int32_t *bases = (int32_t *)L->array[SELL16_BASES].data + s->offsets[slice] / C;
    int32_t columns[SELL_MOST_C];
    slice_lanes lanes;
    slices_open(s, A, slice, &lanes);
    for (int64_t k = 0; k < lanes.width; k++, low += C) {
        slice_columns(&lanes, A, C, k, columns);
        const int32_t base = find_base(columns, C);
        bases[k] = base >= 0 ? base : ~(int32_t)wide;
        for (int64_t l = 0; l < C; l++)
            low[l] = (uint16_t)(columns[l] - (base >= 0 ? base : 0));
        if (base >= 0)
            continue;
        for (int64_t l = 0; l < C; l++)
            high[wide * C + l] = (uint16_t)(columns[l] >> 16);
        wide++;
    }
}

static spry_status build(layout *L, const spry_arrays *A, const void *given)
{
    spry_context *ctx = L->ctx;
    slices s;
    int64_t *wide = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, cut(ctx, A, given, &s));
    SPRY_GO(ctx, slices_build(L, A, &s));
    SPRY_GO(ctx, find_wide(ctx, &s, A, &wide));
    SPRY_GO(ctx, layout_add(L, SELL16_LOW, "low", L->stored, sizeof(uint16_t)));
    SPRY_GO(ctx, layout_add(L, SELL16_BASES, "bases", L->stored / s.C, sizeof(int32_t)));
    if (wide[s.count] > 0)
        SPRY_GO(ctx, layout_add(L, SELL16_HIGH, "high", wide[s.count] * s.C, sizeof(uint16_t)));
    const int parts = matrix_parts(ctx, L->stored);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = slices_share(&s, parts, part);
        for (int64_t slice = mine.begin; slice < mine.end; slice++)
            store_columns(L, &s, A, slice, wide[slice]);
    }
done:
    base_free(ctx, wide);
    return status;
}

static spry_status forecast(spry_context *ctx, const spry_arrays *A, const void *given,
                            layout_forecast *f)
{
    const sell16_options *o = given;
    slices s = {0};
    int64_t *wide = NULL;
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, cut(ctx, A, o, &s));
    SPRY_GO(ctx, find_wide(ctx, &s, A, &wide));
    f->stored = s.offsets[s.count];
    f->bytes = slices_bytes(&s, A, (stored_kind)o->values) +
               (f->stored + wide[s.count] * s.C) * (int64_t)sizeof(uint16_t) +
               f->stored / s.C * (int64_t)sizeof(int32_t);
done:
    base_free(ctx, wide);
    slices_free(ctx, &s);
    return status;
}

static int64_t column(const layout *L, int64_t place)
{
    const int64_t C = L->number[SELL_C];
    const int32_t base = ((const int32_t *)L->array[SELL16_BASES].data)[place / C];
    const int64_t low = ((const uint16_t *)L->array[SELL16_LOW].data)[place];
    if (base >= 0)
        return base + low;
    return low |
           (int64_t)((const uint16_t *)L->array[SELL16_HIGH].data)[(int64_t)~base * C + place % C]
               << 16;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_hear hear, void *data)
{
    slices_entries(L, begin, end, column, hear, data);
}

const layout_class format_sell16 = {
    .name = "sell16",
    .summary = "slices of rows with columns of 16 bits",
    .options = {options_table, sizeof options_table / sizeof *options_table},
    .grid = "C=16|32 sigma=1|256",
    .walk = WALK_sliced16,
    .build = build,
    .forecast = forecast,
    .entries = entries,
    .work = slices_work};
