/* Propagation blocking: see pb.h. */
#include "formats/pb/pb.h"

#include "formats/merge/merge.h"
#include "matrix/entries.h"

#define PB_OPTIONS(item)                                                                         \
    item(INT, room, "32", 1, PB_MOST_ROOM, NULL,                                                 \
         "kilobytes of cache, or of a device's local memory, for the products of a bin and for " \
         "the part of x of a chunk")

typedef struct pb_options {
    PB_OPTIONS(SPRY_OPTION_FIELD)
} pb_options;

SPRY_OPTION_TABLE(options_table, pb_options, PB_OPTIONS(SPRY_OPTION_ROW))

/* --- how it is cut ------------------------------------------------------------------------------
 */

spry_status pb_find_shape(spry_context *ctx, const matrix_arrays *A, int64_t room, pb_shape *s)
{
    const int64_t width = room * 1024 / (int64_t)spry_type_size(A->type);
    /* devices leave a place free after each 16 products */
    *s = (pb_shape){
        .items = width / 17 * 16, .width = width, .chunks = (A->cols + width - 1) / width};
    s->units = merge_units(A, s->items);
    if (A->nnz > UINT32_MAX || s->units >= INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format pb: %" PRId64 " entries, more than 32 bits can count; take merge",
                         A->nnz);
    if (s->chunks * s->units > A->nnz + A->rows + A->cols + 1)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format pb: %" PRId64 " chunks of columns in %" PRId64
                         " bins are more than there are entries; take a larger room, or merge",
                         s->chunks, s->units);
    return SPRY_STATUS_OK;
}

void pb_describe(layout *L, const pb_shape *s, int64_t room)
{
    L->units = s->units;
    L->stored = L->nnz;
    L->room = (s->items < L->rows ? s->items : L->rows) + 1;
    L->number[PB_ITEMS] = s->items;
    L->number[PB_WIDTH] = s->width;
    L->number[PB_CHUNKS] = s->chunks;
    layout_note(L, "room", room);
}

static int64_t pieces_of(int64_t entries)
{
    return (entries + PB_PIECE - 1) / PB_PIECE;
}

/* What the bins share: for chunk c of bin u its entries, and later where they begin, are at
 * counts[c units + u + 1], and counts[c units + u]. */
typedef struct cutting {
    pb_shape s;
    int threads;
    int64_t *counts;
    int64_t *room; /* two numbers per chunk, for each thread */
} cutting;

static void cutting_free(spry_context *ctx, cutting *c)
{
    base_free(ctx, c->counts);
    base_free(ctx, c->room);
}

/* The entry that bin u begins with. */
static int64_t first_entry(const matrix_arrays *A, const pb_shape *s, int64_t u)
{
    return merge_entries_before(A, s->items, u);
}

/* Counts entries by chunk and bin. */
static spry_status count(spry_context *ctx, const matrix_arrays *A, cutting *c)
{
    const pb_shape *s = &c->s;
    spry_status status = SPRY_STATUS_OK;
    c->threads = matrix_parts(ctx, A->nnz);
    SPRY_GO(ctx, base_calloc(ctx, s->chunks * s->units + 1, sizeof *c->counts, &c->counts));
    SPRY_GO(ctx, base_alloc(ctx, c->threads * 2 * s->chunks, sizeof *c->room, &c->room));
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t u = 0; u < s->units; u++) {
        const int64_t end = first_entry(A, s, u + 1);
        for (int64_t k = first_entry(A, s, u); k < end; k++)
            c->counts[A->col_index[k] / s->width * s->units + u + 1]++;
    }
done:
    return status;
}

/* --- the layout ---------------------------------------------------------------------------------
 */

/* The first piece of each bin; counts are summed up already. */
static spry_status list_pieces(layout *L, const cutting *c)
{
    const int64_t units = c->s.units;
    int64_t all = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, layout_add(L, PB_FIRST, "first", units + 1, sizeof(int32_t)));
    int32_t *first = L->array[PB_FIRST].data;
    first[0] = 0;
#pragma omp parallel for num_threads(c->threads) schedule(static)
    for (int64_t u = 0; u < units; u++) {
        int64_t sum = 0;
        for (int64_t i = u; i < c->s.chunks * units; i += units)
            sum += pieces_of(c->counts[i + 1] - c->counts[i]);
        first[u + 1] = (int32_t)sum;
    }
    for (int64_t u = 0; u < units; u++) {
        all += first[u + 1];
        first[u + 1] = (int32_t)all;
    }
    if (all > INT32_MAX) {
        status = SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                           "format pb: %" PRId64 " pieces, more than 32 bits can count; take merge",
                           all);
        goto done;
    }
    SPRY_GO(L->ctx, layout_add(L, PB_RUNS, "runs", all, sizeof(uint32_t)));
    SPRY_GO(L->ctx, layout_add(L, PB_PLACES, "places", all, sizeof(uint16_t)));
done:
    return status;
}

/* The pieces of a bin; place and run become where the next entry of each chunk goes. */
static void fill_pieces(layout *L, const cutting *c, int64_t u, int64_t *place, int64_t *run)
{
    uint32_t *runs = L->array[PB_RUNS].data;
    uint16_t *places = L->array[PB_PLACES].data;
    int64_t piece = ((const int32_t *)L->array[PB_FIRST].data)[u], at = 0;
    for (int64_t chunk = 0; chunk < c->s.chunks; chunk++) {
        const int64_t *bounds = c->counts + chunk * c->s.units + u, entries = bounds[1] - bounds[0];
        place[chunk] = at;
        run[chunk] = bounds[0];
        for (int64_t done = 0; done < entries; done += PB_PIECE, piece++) {
            runs[piece] = (uint32_t)(bounds[0] + done);
            places[piece] = (uint16_t)(at + done);
        }
        at += entries;
    }
}

static void fill_bin(layout *L, const matrix_arrays *A, const cutting *c, int64_t u, int64_t *room)
{
    const int64_t *starts = L->array[PB_STARTS].data, width = c->s.width;
    const int64_t first = starts[2 * u + 1], end = starts[2 * u + 3];
    uint16_t *columns = L->array[PB_COLUMNS].data;
    uint16_t *slots = (uint16_t *)L->array[PB_SLOTS].data + first;
    int64_t *place = room, *run = room + c->s.chunks;
    fill_pieces(L, c, u, place, run);
    for (int64_t k = first; k < end; k++) {
        const int64_t chunk = A->col_index[k] / width, to = run[chunk]++;
        slots[place[chunk]++] = (uint16_t)(k - first);
        columns[to] = (uint16_t)(A->col_index[k] - chunk * width);
        layout_store(L, to, A->values, k);
    }
}

static void fill(layout *L, const matrix_arrays *A, const cutting *c)
{
    const int64_t units = c->s.units;
    int64_t *heads = L->array[PB_HEADS].data;
    for (int64_t chunk = 0; chunk <= c->s.chunks; chunk++)
        heads[chunk] = c->counts[chunk * units];
#pragma omp parallel for num_threads(c->threads) schedule(static, 1)
    for (int part = 0; part < c->threads; part++)
        for (int64_t u = part; u < units; u += c->threads)
            fill_bin(L, A, c, u, c->room + part * 2 * c->s.chunks);
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const pb_options *o = given;
    cutting c = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, pb_find_shape(L->ctx, A, o->room, &c.s));
    pb_describe(L, &c.s, o->room);
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, PB_COLUMNS, "columns", A->nnz, sizeof(uint16_t)));
    SPRY_GO(L->ctx, layout_add(L, PB_SLOTS, "slots", A->nnz, sizeof(uint16_t)));
    SPRY_GO(L->ctx, layout_add(L, PB_HEADS, "heads", c.s.chunks + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, merge_cut(L, A, c.s.items, PB_STARTS, PB_ENDS));
    SPRY_GO(L->ctx, count(L->ctx, A, &c));
    SPRY_GO(L->ctx, base_prefix_sum(L->ctx, c.counts, c.s.chunks * c.s.units));
    SPRY_GO(L->ctx, list_pieces(L, &c));
    fill(L, A, &c);
done:
    cutting_free(L->ctx, &c);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const pb_options *o = given;
    const int64_t value = (int64_t)spry_type_size(A->type);
    cutting c = {0};
    int64_t pieces = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, pb_find_shape(ctx, A, o->room, &c.s));
    SPRY_GO(ctx, count(ctx, A, &c));
    for (int64_t i = 1; i <= c.s.chunks * c.s.units; i++)
        pieces += pieces_of(c.counts[i]);
    f->stored = A->nnz;
    f->bytes = A->nnz * (value + 4) + (c.s.chunks + 1) * 8 + (c.s.units + 1) * (16 + 4) +
               A->rows * 2 + pieces * (4 + 2);
done:
    cutting_free(ctx, &c);
    return status;
}

/* The chunk that holds a value. */
static int64_t chunk_of(const layout *L, int64_t at)
{
    const int64_t *heads = L->array[PB_HEADS].data;
    int64_t low = 0, high = L->number[PB_CHUNKS] - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (heads[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The row of a slot among rows row..last-1 of a bin, or the one after them. */
static int64_t row_of(const uint16_t *ends, int64_t row, int64_t last, int64_t slot)
{
    while (row < last) {
        const int64_t middle = row + (last - row) / 2;
        if (ends[middle] <= slot)
            row = middle + 1;
        else
            last = middle;
    }
    return row;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *starts = L->array[PB_STARTS].data;
    const int32_t *first = L->array[PB_FIRST].data;
    const uint32_t *runs = L->array[PB_RUNS].data;
    const uint16_t *places = L->array[PB_PLACES].data, *columns = L->array[PB_COLUMNS].data;
    for (int64_t u = begin; u < end; u++) {
        const int64_t count = starts[2 * u + 3] - starts[2 * u + 1];
        const uint16_t *slots = (const uint16_t *)L->array[PB_SLOTS].data + starts[2 * u + 1];
        for (int64_t piece = first[u]; piece < first[u + 1]; piece++) {
            const int64_t stop = piece + 1 < first[u + 1] ? places[piece + 1] : count;
            const int64_t base = chunk_of(L, runs[piece]) * L->number[PB_WIDTH];
            for (int64_t i = 0; i < stop - places[piece]; i++)
                visit(data,
                      row_of(L->array[PB_ENDS].data, starts[2 * u], starts[2 * u + 2],
                             slots[places[piece] + i]),
                      base + columns[runs[piece] + i], runs[piece] + i);
        }
    }
}

static int64_t work(const layout *L, int64_t unit)
{
    return merge_work(L, L->number[PB_ITEMS], unit);
}

const layout_class format_pb = {.name = "pb",
                                .summary = "chunks of columns and bins of rows, in two passes",
                                .options = SPRY_OPTION_LIST(options_table),
                                .grid = "room=32",
                                .cost = {.byte = 3.0,
                                         .conversion = 20,
                                         .device_byte = 0.72,
                                         .device_uneven = 0.5,
                                         .device_making = 8,
                                         .scatters = true},
                                .walk = WALK_pb,
                                .build = build,
                                .forecast = forecast,
                                .entries = entries,
                                .work = work};
