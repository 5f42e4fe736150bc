/* Sliced COO: see scoo.h. */
#include "formats/scoo/scoo.h"

#include "matrix/entries.h"

#define SCOO_OPTIONS(item)                                                                      \
    item(INT, h, "0", 0, SCOO_MOST_ROWS, NULL,                                                  \
         "rows of a slice; 0: for each slice as many as have entries enough to walk through x") \
    item(WORD, columns, "auto", 0, 0, "auto 16 32",                                             \
         "bits of a column; auto: what takes fewer bytes")                                      \
    item(WORD, order, "column", 0, 0, "column row",                                             \
         "order of entries in a group of columns; row: a part of x stays in a cache, not of y") \
    item(INT, bits, "0", 0, SCOO_MOST_BITS, NULL,                                               \
         "a group has 2^bits columns; 0: 16, by rows as many as have 256 KB of x")              \
    LAYOUT_VALUES_OPTION(item)

typedef struct scoo_options {
    SCOO_OPTIONS(SPRY_OPTION_FIELD)
} scoo_options;

SPRY_OPTION_TABLE(options_table, scoo_options, SCOO_OPTIONS(SPRY_OPTION_ROW))

/* --- slices -------------------------------------------------------------------------------------
 */

/* Columns of a group: by rows as many as have their numbers of x in a part of a second-level cache,
 * next to what streams through it. */
static int64_t group_bits(spry_type type, const scoo_shape *s)
{
    enum { CACHE = 1 << 18 };
    int64_t bits = s->given_bits > 0 ? s->given_bits : SCOO_MOST_BITS;
    while (s->given_bits == 0 && s->order == SCOO_BY_ROW_ORDER &&
           (int64_t)spry_type_size(type) << bits > CACHE)
        bits--;
    return bits;
}

/* Heights by weight: twice the rows until the slice has some entries for each line of x that it
 * walks over or has in a cache. Not so high that its sums would take too much of a cache, or that
 * few slices are left. */
static int64_t chosen_height(const matrix_arrays *A, const scoo_options *o, int64_t row)
{
    enum { LEAST = 512, LINE = 64, CACHE = 1 << 19, LEAST_ENTRIES = 4096, LEAST_SLICES = 16 };
    const int64_t size = (int64_t)spry_type_size(A->type), *offsets = A->offsets;
    const int64_t wanted = (o->order == SCOO_BY_ROW_ORDER ? 8 : 2) * (A->cols * size / LINE);
    const int64_t target = wanted > LEAST_ENTRIES ? wanted : LEAST_ENTRIES;
    int64_t most = A->rows / LEAST_SLICES + 1, h = LEAST;
    most = most < CACHE / size ? most : CACHE / size;
    most = most < SCOO_MOST_ROWS ? most : SCOO_MOST_ROWS;
    while (row + h < A->rows && offsets[row + h] - offsets[row] < target) {
        if (2 * h > most) /* by rows each slice reads all of x again: as tall as it may be */
            return o->order == SCOO_BY_ROW_ORDER && h < most ? most : h;
        h *= 2;
    }
    return h;
}

static int64_t slice_end(const matrix_arrays *A, const scoo_options *o, int64_t row)
{
    const int64_t h = o->h > 0 ? o->h : chosen_height(A, o, row);
    return row + h < A->rows ? row + h : A->rows;
}

spry_status scoo_decide(spry_context *ctx, const layout *L, scoo_shape *s)
{
    if (s->most > UINT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "a slice would have %" PRId64 " entries, more than 32 bits can count: "
                         "take a smaller h",
                         s->most);
    s->bits = group_bits(L->type, s);
    s->groups = (L->cols >> s->bits) + 1;
    s->wide = s->columns == SCOO_WIDE_COLUMNS ||
              (s->columns == SCOO_AUTO_COLUMNS && (s->groups - 1) * s->slices * 8 > 2 * L->nnz);
    if (s->wide)
        s->groups = 1;
    if (s->slices * s->groups > 64 * (L->nnz + L->rows + 1))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "%" PRId64 " slices in %" PRId64 " groups of columns are far more than "
                         "there are entries: take columns=32 or a larger h",
                         s->slices, s->groups);
    return SPRY_STATUS_OK;
}

static spry_status find_shape(spry_context *ctx, const matrix_arrays *A, const scoo_options *o,
                              scoo_shape *s)
{
    const layout L = {.type = A->type, .rows = A->rows, .cols = A->cols, .nnz = A->nnz};
    *s = (scoo_shape){
        .h = o->h, .given_bits = o->bits, .columns = (int)o->columns, .order = (int)o->order};
    for (int64_t row = 0, end; row < A->rows; row = end, s->slices++) {
        end = slice_end(A, o, row);
        const int64_t entries = A->offsets[end] - A->offsets[row];
        s->longest = end - row > s->longest ? end - row : s->longest;
        s->most = entries > s->most ? entries : s->most;
    }
    return scoo_decide(ctx, &L, s);
}

/* --- sorting a slice by columns -----------------------------------------------------------------
 */

typedef struct record {
    uint32_t column, from; /* place in the slice's rows */
    uint16_t row;
} record;

/* Sorts by digits of columns, the last first; each pass keeps the order of what is equal, so rows
 * rise within a column. Returns the array that the result is in. */
static record *sort_records(record *in, record *out, int64_t n, int64_t cols)
{
    enum { BITS = 11, DIGITS = 1 << BITS };
    for (int shift = 0; cols >> shift > 0 && shift < 32; shift += BITS) {
        uint32_t at[DIGITS] = {0}, sum = 0;
        for (int64_t k = 0; k < n; k++)
            at[in[k].column >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const uint32_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; k++)
            out[at[in[k].column >> shift & (DIGITS - 1)]++] = in[k];
        record *other = in;
        in = out;
        out = other;
    }
    return in;
}

/* Sets an entry: its value, its row in the slice, and its column. */
static void put_entry(layout *L, int64_t place, uint32_t column, int64_t row, const void *values,
                      int64_t from)
{
    if (L->number[SCOO_WIDE])
        ((uint32_t *)L->array[SCOO_COLUMNS].data)[place] = column;
    else
        ((uint16_t *)L->array[SCOO_COLUMNS].data)[place] =
            (uint16_t)(column & ((1u << L->number[SCOO_BITS]) - 1));
    ((uint16_t *)L->array[SCOO_ROWS].data)[place] = (uint16_t)row;
    layout_store(L, place, values, from);
}

static void fill_by_column(layout *L, const matrix_arrays *A, int64_t s, record *room, int64_t most)
{
    const int64_t *slices = L->array[SCOO_SLICES].data, groups = L->number[SCOO_GROUPS];
    const int64_t first = A->offsets[slices[s]], n = A->offsets[slices[s + 1]] - first;
    int64_t *starts = (int64_t *)L->array[SCOO_STARTS].data + s * groups, g = 0;
    for (int64_t i = slices[s]; i < slices[s + 1]; i++)
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++)
            room[k - first] = (record){(uint32_t)A->col_index[k], (uint32_t)(k - first),
                                       (uint16_t)(i - slices[s])};
    const record *sorted = sort_records(room, room + most, n, A->cols);
    starts[0] = first;
    for (int64_t k = 0; k < n; k++) {
        while (!L->number[SCOO_WIDE] && g < sorted[k].column >> L->number[SCOO_BITS])
            starts[++g] = first + k;
        put_entry(L, first + k, sorted[k].column, sorted[k].row, A->values, first + sorted[k].from);
    }
    while (g + 1 < groups)
        starts[++g] = first + n;
}

/* --- by rows ------------------------------------------------------------------------------------
 */

static int64_t group_of(const layout *L, const matrix_arrays *A, int64_t k)
{
    return L->number[SCOO_WIDE] ? 0 : A->col_index[k] >> L->number[SCOO_BITS];
}

/* Distributes the entries to groups, whose next places are in `at`. */
static void fill_by_row(layout *L, const matrix_arrays *A, int64_t s, int64_t *at)
{
    const int64_t *slices = L->array[SCOO_SLICES].data, groups = L->number[SCOO_GROUPS];
    const int64_t first = A->offsets[slices[s]], end = A->offsets[slices[s + 1]];
    int64_t *starts = (int64_t *)L->array[SCOO_STARTS].data + s * groups, sum = first;
    for (int64_t g = 0; g < groups; g++)
        at[g] = 0;
    for (int64_t k = first; k < end; k++)
        at[group_of(L, A, k)]++;
    for (int64_t g = 0; g < groups; g++) {
        starts[g] = sum;
        sum += at[g];
        at[g] = starts[g];
    }
    for (int64_t i = slices[s]; i < slices[s + 1]; i++)
        for (int64_t k = A->offsets[i]; k < A->offsets[i + 1]; k++)
            put_entry(L, at[group_of(L, A, k)]++, (uint32_t)A->col_index[k], i - slices[s],
                      A->values, k);
}

/* --- the layout ---------------------------------------------------------------------------------
 */

static spry_status fill(layout *L, const matrix_arrays *A, const scoo_shape *s)
{
    const int threads = matrix_parts(L->ctx, A->nnz);
    const bool by_row = L->number[SCOO_BY_ROW];
    const int64_t each = by_row ? s->groups : 2 * s->most; /* of a thread's room */
    void *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx,
            base_alloc(L->ctx, threads * each, by_row ? sizeof(int64_t) : sizeof(record), &room));
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; part++)
        for (int64_t i = part; i < s->slices; i += threads)
            if (by_row)
                fill_by_row(L, A, i, (int64_t *)room + part * each);
            else
                fill_by_column(L, A, i, (record *)room + part * each, s->most);
done:
    base_free(L->ctx, room);
    return status;
}

void scoo_describe(layout *L, const scoo_shape *s)
{
    const bool by_row = s->order == SCOO_BY_ROW_ORDER;
    L->units = s->slices;
    L->unit_rows = s->h > 0 && OPERATOR_GRAIN % s->h == 0 ? s->h : 0;
    L->stored = L->nnz;
    L->room = s->longest;
    L->number[SCOO_GROUPS] = s->groups;
    L->number[SCOO_WIDE] = s->wide;
    L->number[SCOO_BITS] = s->bits;
    L->number[SCOO_BY_ROW] = by_row;
    layout_note(L, "h", s->h);
    layout_note(L, "columns", s->wide ? 32 : 16);
    layout_note_word(L, "order", by_row ? "row" : "column");
    if (s->given_bits > 0)
        layout_note(L, "bits", s->given_bits);
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const scoo_options *o = given;
    scoo_shape s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, find_shape(L->ctx, A, o, &s));
    scoo_describe(L, &s);
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, SCOO_COLUMNS, "columns", A->nnz, s.wide ? 4 : 2));
    SPRY_GO(L->ctx, layout_add(L, SCOO_ROWS, "rows", A->nnz, sizeof(uint16_t)));
    SPRY_GO(L->ctx, layout_add(L, SCOO_STARTS, "starts", s.slices * s.groups + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, SCOO_SLICES, "slices", s.slices + 1, sizeof(int64_t)));
    int64_t *slices = L->array[SCOO_SLICES].data, *starts = L->array[SCOO_STARTS].data;
    slices[0] = 0;
    for (int64_t i = 0; i < s.slices; i++)
        slices[i + 1] = slice_end(A, o, slices[i]);
    starts[s.slices * s.groups] = A->nnz;
    SPRY_GO(L->ctx, fill(L, A, &s));
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const scoo_options *o = given;
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    scoo_shape s;
    const spry_status status = find_shape(ctx, A, o, &s);
    f->stored = A->nnz;
    f->bytes = A->nnz * (value + (s.wide ? 4 : 2) + 2) + (s.slices * s.groups + 1) * 8 +
               (s.slices + 1) * 8;
    return status;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *slices = L->array[SCOO_SLICES].data, *starts = L->array[SCOO_STARTS].data;
    const int64_t groups = L->number[SCOO_GROUPS];
    const uint16_t *rows = L->array[SCOO_ROWS].data;
    const void *columns = L->array[SCOO_COLUMNS].data;
    for (int64_t s = begin; s < end; s++)
        for (int64_t g = 0; g < groups; g++)
            for (int64_t k = starts[s * groups + g]; k < starts[s * groups + g + 1]; k++)
                visit(data, slices[s] + rows[k],
                      (g << L->number[SCOO_BITS]) + (L->number[SCOO_WIDE]
                                                         ? (int64_t)((const uint32_t *)columns)[k]
                                                         : (int64_t)((const uint16_t *)columns)[k]),
                      k);
}

static int64_t work(const layout *L, int64_t unit)
{
    const int64_t *starts = L->array[SCOO_STARTS].data, *slices = L->array[SCOO_SLICES].data;
    return starts[unit * L->number[SCOO_GROUPS]] + slices[unit];
}

const layout_class format_scoo = {
    .name = "scoo",
    .summary = "slices of rows in groups of columns",
    .options = SPRY_OPTION_LIST(options_table),
    .grid = "order=row|column h=0|65536|16384|4096",
    .cost = {.byte = 1.4, .conversion = 15, .row_ends = 0.7, .scattered = 0.45},
    .walk = WALK_scattered,
    .build = build,
    .forecast = forecast,
    .entries = entries,
    .work = work};
