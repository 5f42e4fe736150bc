/* AXT: see axt.h. */
#include "formats/axt/axt.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define AXT_OPTIONS(item)                                                                          \
    item(INT, THW, "8", 4, 32, NULL, "values side by side in a tile, a multiple of four")          \
    item(INT, TH, "4", 1, 64, NULL, "lines of a tile")                                             \
    item(WORD, MODE, "unc", 0, 0, "unc com", "rows begin new columns of tiles, or follow closely") \
    item(WORD, refresh, "none", 0, 0, "none array",                                                \
         "where x is gathered: in registers, or kept in tiles behind the values")

typedef struct axt_options {
    AXT_OPTIONS(SPRY_OPTION_FIELD)
} axt_options;

SPRY_OPTION_TABLE(options_table, axt_options, AXT_OPTIONS(SPRY_OPTION_ROW))

enum { MODE_UNC, MODE_COM };
enum { REFRESH_NONE, REFRESH_ARRAY };
enum { SHARE_ENTRIES = 4096 }; /* places of a unit, more or less */

spry_status axt_find_shape(spry_context *ctx, const void *options, axt_shape *s)
{
    const axt_options *o = options;
    *s = (axt_shape){.height = 1};
    if (o->THW % 4 != 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "format axt: THW is %d, expected a multiple of four", (int)o->THW);
    *s = (axt_shape){.THW = o->THW, .TH = o->TH, .compact = o->MODE == MODE_COM};
    s->kept = o->refresh == REFRESH_ARRAY;
    s->tile = s->THW * s->TH;
    s->height = s->TH > 1 ? s->TH : s->compact ? AXT_BLOCK : s->THW;
    while (s->compact && (1 << s->bits) < s->height)
        s->bits++;
    /* Whole tiles and whole strands: a multiple of both, as both are multiples of four. */
    const int64_t whole = s->TH > 1 || !s->compact ? s->tile : s->THW * AXT_BLOCK / 4;
    const int64_t places = (SHARE_ENTRIES + whole - 1) / whole * whole;
    s->share = s->compact ? places : places / s->height;
    return SPRY_STATUS_OK;
}

static int64_t strands_of(const matrix_arrays *A, const axt_shape *s, int64_t row)
{
    return (A->offsets[row + 1] - A->offsets[row] + s->height - 1) / s->height;
}

/* Places for `count` strands or entries: whole tiles. */
static int64_t places_of(const axt_shape *s, int64_t count)
{
    const int64_t places = s->compact ? count : count * s->height;
    return (places + s->tile - 1) / s->tile * s->tile;
}

static int64_t units_of(const axt_shape *s, int64_t count)
{
    return count > 0 ? (count + s->share - 1) / s->share : 1;
}

void axt_describe(layout *L, const axt_shape *s, int64_t count)
{
    L->number[AXT_THW] = s->THW;
    L->number[AXT_TH] = s->TH;
    L->number[AXT_COMPACT] = s->compact;
    L->number[AXT_KEPT] = s->kept;
    L->number[AXT_SHARE] = s->share;
    L->number[AXT_BITS] = s->bits;
    L->stored = places_of(s, count);
    L->units = units_of(s, count);
    layout_note(L, "THW", s->THW);
    layout_note(L, "TH", s->TH);
    layout_note_word(L, "MODE", s->compact ? "com" : "unc");
    layout_note_word(L, "refresh", s->kept ? "array" : "none");
}

/* Where entry t of strand `strand` is among the values; the same without x for columns. */
static int64_t place_of(const axt_shape *s, int64_t strand, int64_t t, bool kept)
{
    const int64_t wide = s->THW * (1 + kept);
    if (s->TH > 1) /* down the columns */
        return (strand / s->THW * s->TH + t) * wide + strand % s->THW;
    const int64_t k = strand * s->height + t;
    return k / s->THW * wide + k % s->THW;
}

static axt_shape shape_of(const layout *L)
{
    const bool compact = L->number[AXT_COMPACT] != 0;
    const int64_t THW = L->number[AXT_THW], TH = L->number[AXT_TH];
    return (axt_shape){.THW = THW,
                       .TH = TH,
                       .compact = compact,
                       .kept = L->number[AXT_KEPT] != 0,
                       .height = TH > 1    ? TH
                                 : compact ? AXT_BLOCK
                                           : THW,
                       .tile = THW * TH,
                       .share = L->number[AXT_SHARE],
                       .bits = (int)L->number[AXT_BITS]};
}

/* The rows that begin in each unit, and the carries of those that began before. */
static spry_status cut_units(layout *L, const axt_shape *s, const int64_t *starts)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, layout_add(L, AXT_FIRST, "first", L->units + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units, sizeof *L->carry_row, &L->carry_row));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *L->carry_at, &L->carry_at));
    int64_t *first = L->array[AXT_FIRST].data;
    L->carry_at[0] = 0;
    for (int64_t u = 0; u < L->units; u++) {
        const int64_t at = u * s->share;
        first[u] = u > 0 ? matrix_first_from(starts, L->rows, at) : 0;
        const bool carries = u > 0 && starts[first[u]] > at;
        L->carry_row[u] = first[u] - carries;
        L->carry_at[u + 1] = L->carry_at[u] + carries;
    }
    first[L->units] = L->rows;
done:
    return status;
}

ALWAYS_INLINE void put_value(layout *L, int64_t place, const matrix_arrays *A, int64_t k)
{
    void *ax = L->array[AXT_AX].data;
    if (L->array[AXT_AX].size == 8)
        element_move(8, ax, place, A->values, k);
    else if (L->array[AXT_AX].size == 4)
        element_move(4, ax, place, A->values, k);
    else
        element_move(16, ax, place, A->values, k);
}

/* Fill repeats the row's last column, whose x is at hand: as columns rise otherwise, that is also
 * how entries() knows it. */
static void fill_strands(layout *L, const axt_shape *s, const matrix_arrays *A,
                         const int64_t *starts, int64_t row)
{
    const int64_t stride = s->TH > 1 ? s->THW : 1;
    for (int64_t strand = starts[row]; strand < starts[row + 1]; strand++) {
        const int64_t from = A->offsets[row] + (strand - starts[row]) * s->height;
        const int64_t rest = A->offsets[row + 1] - from,
                      count = rest < s->height ? rest : s->height;
        const int64_t place = place_of(s, strand, 0, s->kept);
        int32_t *column = (int32_t *)L->array[AXT_COLUMNS].data + place_of(s, strand, 0, false);
        ((int32_t *)L->array[AXT_ROWS].data)[strand] = (int32_t)row;
        for (int64_t t = 0; t < count; t++) {
            put_value(L, place + t * stride * (1 + (s->kept && s->TH > 1)), A, from + t);
            column[t * stride] = A->col_index[from + t];
        }
        for (int64_t t = count; t < s->height; t++)
            column[t * stride] = A->col_index[from + count - 1];
    }
}

/* The strands of the last tile that no row has are fill of the last one that has any. */
static void fill_rest(layout *L, const axt_shape *s, int64_t strands)
{
    int32_t *columns = L->array[AXT_COLUMNS].data, *rwp = L->array[AXT_ROWS].data;
    for (int64_t strand = strands; strand < L->array[AXT_ROWS].count; strand++) {
        rwp[strand] = rwp[strands - 1];
        for (int64_t t = 0; t < s->height; t++)
            columns[place_of(s, strand, t, false)] =
                columns[place_of(s, strands - 1, s->height - 1, false)];
    }
}

/* A segment: entries begin..end-1 of a row, which are in one strand. */
static void fill_segment(layout *L, const axt_shape *s, const matrix_arrays *A, int64_t begin,
                         int64_t end, int64_t row)
{
    const int64_t strand = begin / s->height, t = begin % s->height;
    const int64_t stride = s->TH > 1 ? s->THW : 1, at = place_of(s, strand, t, false);
    int32_t *column = (int32_t *)L->array[AXT_COLUMNS].data + at;
    uint32_t *hdr = (uint32_t *)L->array[AXT_ROWS].data + at;
    for (int64_t k = 0; k < end - begin; k++) {
        const int64_t place = s->kept ? place_of(s, strand, t + k, true) : at + k * stride;
        put_value(L, place, A, begin + k);
        column[k * stride] = A->col_index[begin + k];
        hdr[k * stride] = (uint32_t)(row << s->bits | (end - begin - k - 1));
    }
}

/* The entries of a unit: segments end with their row, their strand and the unit. */
static void fill_segments(layout *L, const axt_shape *s, const matrix_arrays *A, int64_t unit)
{
    const int64_t *first = L->array[AXT_FIRST].data;
    const int64_t begin = unit * s->share;
    const int64_t end = begin + s->share < A->nnz ? begin + s->share : A->nnz;
    int64_t row = L->carry_row[unit];
    for (int64_t k = begin, stop; k < end; k = stop) {
        while (A->offsets[row + 1] <= k)
            row++;
        stop = (k / s->height + 1) * s->height;
        stop = stop < A->offsets[row + 1] ? stop : A->offsets[row + 1];
        stop = stop < end ? stop : end;
        fill_segment(L, s, A, k, stop, row - first[unit] + 1);
    }
}

/* What no entry has at the end. */
static void clear_rest(layout *L, const axt_shape *s, int64_t nnz)
{
    for (int64_t k = nnz; k < L->stored; k++) {
        const int64_t place = place_of(s, k / s->height, k % s->height, false);
        ((int32_t *)L->array[AXT_COLUMNS].data)[place] = 0;
        ((uint32_t *)L->array[AXT_ROWS].data)[place] = 0;
    }
}

/* Rows of a unit that hdr[] has no bits for. */
spry_status axt_check_rows(spry_context *ctx, const axt_shape *s, int64_t rows)
{
    if (!s->compact || (rows + 1) >> (32 - s->bits) == 0)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "format axt: %" PRId64 " rows share %" PRId64
                     " entries, which MODE=com has no bits for; MODE=unc has",
                     rows, s->share);
}

static spry_status fill(layout *L, const axt_shape *s, const matrix_arrays *A,
                        const int64_t *starts)
{
    const int threads = matrix_parts(L->ctx, A->nnz + A->rows);
    const int64_t *first = L->array[AXT_FIRST].data;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t u = 0; u < L->units; u++)
        SPRY_GO(L->ctx, axt_check_rows(L->ctx, s, first[u + 1] - first[u]));
    layout_clear(L, AXT_AX);
    if (s->compact) {
#pragma omp parallel for num_threads(threads)
        for (int64_t u = 0; u < L->units; u++)
            fill_segments(L, s, A, u);
        clear_rest(L, s, A->nnz);
    } else {
#pragma omp parallel for num_threads(threads)
        for (int64_t i = 0; i < A->rows; i++)
            fill_strands(L, s, A, starts, i);
        fill_rest(L, s, starts[A->rows]);
    }
done:
    return status;
}

int64_t axt_row_numbers(const axt_shape *s, int64_t stored)
{
    return s->compact ? stored : stored / s->height;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    axt_shape s;
    int64_t *strands = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, axt_find_shape(L->ctx, given, &s));
    const int64_t *starts = A->offsets;
    if (!s.compact) {
        SPRY_GO(L->ctx, base_alloc(L->ctx, A->rows + 1, sizeof *strands, &strands));
        strands[0] = 0;
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->rows))
        for (int64_t i = 0; i < A->rows; i++)
            strands[i + 1] = strands_of(A, &s, i);
        SPRY_GO(L->ctx, base_prefix_sum(L->ctx, strands, A->rows));
        starts = strands;
    }
    axt_describe(L, &s, starts[A->rows]);
    SPRY_GO(L->ctx, layout_add(L, AXT_AX, "ax", L->stored * (1 + s.kept), spry_type_size(L->type)));
    SPRY_GO(L->ctx, layout_add(L, AXT_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, AXT_ROWS, s.compact ? "hdr" : "rwp",
                               axt_row_numbers(&s, L->stored), sizeof(int32_t)));
    SPRY_GO(L->ctx, cut_units(L, &s, starts));
    SPRY_GO(L->ctx, fill(L, &s, A, starts));
done:
    base_free(L->ctx, strands);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    axt_shape s;
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, axt_find_shape(ctx, given, &s));
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) reduction(+ : count)
    for (int64_t i = 0; i < A->rows; i++)
        count += strands_of(A, &s, i);
    count = s.compact ? A->nnz : count;
    const int64_t units = units_of(&s, count);
    for (int64_t u = 0, from = 0; u < units && s.compact; u++) {
        const int64_t to =
            u + 1 < units ? matrix_first_from(A->offsets, A->rows, (u + 1) * s.share) : A->rows;
        SPRY_GO(ctx, axt_check_rows(ctx, &s, to - from));
        from = to;
    }
    f->stored = places_of(&s, count);
    f->bytes = f->stored * ((1 + s.kept) * (int64_t)spry_type_size(A->type) + 4) +
               axt_row_numbers(&s, f->stored) * 4 + (units + 1) * 8;
done:
    return status;
}

static void list_strands(const layout *L, const axt_shape *s, int64_t unit, layout_visit visit,
                         void *data)
{
    const int32_t *columns = L->array[AXT_COLUMNS].data, *rwp = L->array[AXT_ROWS].data;
    const int64_t begin = unit * s->share, most = L->array[AXT_ROWS].count;
    const int64_t end = begin + s->share < most ? begin + s->share : most;
    int64_t row = -1, last = -1;
    for (int64_t strand = begin; strand < end; strand++)
        for (int64_t t = 0; t < s->height; t++) {
            const int64_t col = columns[place_of(s, strand, t, false)];
            if (rwp[strand] == row && col <= last)
                continue;
            row = rwp[strand];
            last = col;
            visit(data, row, col, place_of(s, strand, t, s->kept));
        }
}

static void list_segments(const layout *L, const axt_shape *s, int64_t unit, layout_visit visit,
                          void *data)
{
    const int64_t *first = L->array[AXT_FIRST].data;
    const int32_t *columns = L->array[AXT_COLUMNS].data;
    const uint32_t *hdr = L->array[AXT_ROWS].data;
    const int64_t begin = unit * s->share;
    const int64_t end = begin + s->share < L->nnz ? begin + s->share : L->nnz;
    for (int64_t k = begin; k < end; k++) {
        const int64_t place = place_of(s, k / s->height, k % s->height, false);
        visit(data, first[unit] - 1 + (hdr[place] >> s->bits), columns[place],
              place_of(s, k / s->height, k % s->height, s->kept));
    }
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const axt_shape s = shape_of(L);
    for (int64_t unit = begin; unit < end; unit++) {
        if (s.compact)
            list_segments(L, &s, unit, visit, data);
        else
            list_strands(L, &s, unit, visit, data);
    }
}

const layout_class format_axt = {
    .name = "axt",
    .summary = "tiles whose columns hold a row each, or entries one after another",
    .options = SPRY_OPTION_LIST(options_table),
    .grid = "THW=4|8 TH=1|8 MODE=unc|com",
    .cost = {.byte = 1.05,
             .conversion = 15,
             .row_ends = 0.7,
             .scattered = 0.8,
             .device_byte = 1.15,
             .device_uneven = 0.55,
             .device_making = 3.5},
    .walk = WALK_tiles,
    .build = build,
    .forecast = forecast,
    .entries = entries};
