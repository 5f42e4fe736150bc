/* Diagonals: see dia.h. */
#include "formats/dia/dia.h"

#include "formats/shared/layout.h"
#include "formats/shared/strip_rows.h"
#include "matrix/entries.h"

#include <stdlib.h>

#define DIA_OPTIONS(item)                                                                        \
    item(WORD, block, "128", 0, 0, "32 128 512 1024", "rows that share a list of diagonals")     \
    item(INT, fill, "4", 1, 1e6, NULL, "places per nonzero from which on the matrix is refused") \
    LAYOUT_VALUES_OPTION(item)

typedef struct dia_options {
    DIA_OPTIONS(SPRY_OPTION_FIELD)
} dia_options;

SPRY_OPTION_TABLE(options_table, dia_options, DIA_OPTIONS(SPRY_OPTION_ROW))

int64_t dia_block_rows(int64_t word)
{
    static const int64_t rows[] = {32, 128, 512, 1024};
    return rows[word];
}

int64_t dia_strip_rows(spry_type type)
{
    return STRIP_BYTES / (int64_t)spry_type_size(type);
}

/* Places for one diagonal in a block: whole strips. */
static int64_t block_places(const matrix_arrays *A, int64_t block, int64_t b)
{
    const int64_t strip = dia_strip_rows(A->type), rest = A->rows - b * block;
    return rest < block ? (rest + strip - 1) / strip * strip : block;
}

/* What threads need to find the diagonals of blocks: marks for all of them, a list of those found.
 */
typedef struct finder {
    int64_t block, blocks;
    int parts;
    int64_t words, room; /* of one thread */
    uint64_t *marks;
    int32_t *found;
} finder;

static void finder_free(spry_context *ctx, finder *f)
{
    base_free(ctx, f->marks);
    base_free(ctx, f->found);
}

static spry_status finder_make(spry_context *ctx, const matrix_arrays *A, int64_t block, finder *f)
{
    *f = (finder){.block = block, .blocks = (A->rows + block - 1) / block};
    spry_status status = SPRY_STATUS_OK;
    if (A->rows > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format dia: %" PRId64 " rows, expected at most %d; sell takes more",
                         A->rows, INT32_MAX);
    for (int64_t b = 0; b < f->blocks; b++) {
        const int64_t end = (b + 1) * block < A->rows ? (b + 1) * block : A->rows;
        const int64_t entries = A->offsets[end] - A->offsets[b * block];
        f->room = entries > f->room ? entries : f->room;
    }
    f->room = f->room < A->rows + A->cols ? f->room : A->rows + A->cols;
    f->words = (A->rows + A->cols) / 64 + 1;
    f->parts = matrix_parts(ctx, A->nnz);
    SPRY_GO(ctx, base_calloc(ctx, f->parts * f->words, sizeof *f->marks, &f->marks));
    SPRY_GO(ctx, base_alloc(ctx, f->parts * f->room, sizeof *f->found, &f->found));
done:
    return status;
}

/* The diagonals of a block, in the order found; how many. */
static int64_t find(const finder *f, const matrix_arrays *A, int part, int64_t b, int32_t *found)
{
    uint64_t *marks = f->marks + part * f->words;
    const int64_t end = (b + 1) * f->block < A->rows ? (b + 1) * f->block : A->rows;
    int64_t count = 0;
    for (int64_t row = b * f->block; row < end; row++)
        for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++) {
            const int64_t mark = A->col_index[k] - row + A->rows;
            const uint64_t bit = (uint64_t)1 << mark % 64;
            if (!(marks[mark / 64] & bit)) {
                marks[mark / 64] |= bit;
                found[count++] = (int32_t)(mark - A->rows);
            }
        }
    for (int64_t d = 0; d < count; d++)
        marks[(found[d] + A->rows) / 64] = 0;
    return count;
}

static range share_blocks(const finder *f, const matrix_arrays *A, int part)
{
    /* by rows: blocks of a matrix with diagonals are much alike */
    const range rows = base_share(A->rows, f->parts, part, f->block);
    return (range){rows.begin / f->block, (rows.end + f->block - 1) / f->block};
}

spry_status dia_check_fill(spry_context *ctx, double places, int64_t nnz, int64_t fill)
{
    if (places <= (double)fill * (double)nnz)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                     "format dia: the diagonals have %.0f places for %" PRId64
                     " entries, more than fill=%" PRId64
                     " times as many; sell and csr have no holes",
                     places, nnz, fill);
}

/* Sets counts[b + 1] to the number of diagonals of block b; fails when too many places would be
 * holes. */
static spry_status count_all(spry_context *ctx, const matrix_arrays *A, const finder *f,
                             int64_t fill, int64_t *counts)
{
    double places = 0;
    counts[0] = 0;
#pragma omp parallel for num_threads(f->parts) schedule(static, 1)
    for (int part = 0; part < f->parts; part++) {
        const range mine = share_blocks(f, A, part);
        for (int64_t b = mine.begin; b < mine.end; b++)
            counts[b + 1] = find(f, A, part, b, f->found + part * f->room);
    }
    for (int64_t b = 0; b < f->blocks; b++) {
        const int64_t rest = A->rows - b * f->block;
        places += (double)counts[b + 1] * (double)(rest < f->block ? rest : f->block);
    }
    return dia_check_fill(ctx, places, A->nnz, fill);
}

static int compare(const void *a, const void *b)
{
    const int32_t first = *(const int32_t *)a, second = *(const int32_t *)b;
    return (first > second) - (first < second);
}

/* Stores a block's values; offsets are its diagonals, rising as the columns of each row do. */
static void fill_block(layout *L, const matrix_arrays *A, int64_t b, const int32_t *offsets,
                       int64_t count, int64_t start)
{
    const int64_t block = L->number[DIA_BLOCK], strip = L->number[DIA_STRIP];
    uint8_t *bits = L->array[DIA_ENTRIES].data;
    const int64_t end = (b + 1) * block < A->rows ? (b + 1) * block : A->rows;
    const int64_t places = count * block_places(A, block, b); /* strips have a multiple of 8 rows */
    memset(bits + start / 8, 0, (size_t)places / 8);
    for (int64_t row = b * block; row < end; row++) {
        const int64_t l = (row - b * block) % strip;
        int64_t place = start + (row - b * block - l) * count + l;
        const int32_t *offset = offsets;
        for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++) {
            while (*offset != A->col_index[k] - row) {
                offset++;
                place += strip;
            }
            layout_store(L, place, A->values, k);
            bits[place / 8] |= (uint8_t)(1 << place % 8);
        }
    }
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const dia_options *o = given;
    finder f = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, finder_make(L->ctx, A, dia_block_rows(o->block), &f));
    L->units = f.blocks;
    L->unit_rows = L->number[DIA_BLOCK] = f.block;
    L->number[DIA_STRIP] = dia_strip_rows(A->type);
    SPRY_GO(L->ctx, layout_add(L, DIA_LISTS, "lists", f.blocks + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, DIA_STARTS, "starts", f.blocks + 1, sizeof(int64_t)));
    int64_t *lists = L->array[DIA_LISTS].data, *starts = L->array[DIA_STARTS].data;
    SPRY_GO(L->ctx, count_all(L->ctx, A, &f, o->fill, lists));
    starts[0] = 0;
    for (int64_t b = 0; b < f.blocks; b++) {
        starts[b + 1] = starts[b] + lists[b + 1] * block_places(A, f.block, b);
        lists[b + 1] += lists[b];
    }
    L->stored = starts[f.blocks];
    SPRY_GO(L->ctx, layout_add(L, DIA_OFFSETS, "offsets", lists[f.blocks], sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add_values(L, true));
    SPRY_GO(L->ctx, layout_add(L, DIA_ENTRIES, "entries", L->stored / 8, 1));
    L->array[DIA_ENTRIES].aside = true;
    int32_t *offsets = L->array[DIA_OFFSETS].data;
#pragma omp parallel for num_threads(f.parts) schedule(static, 1)
    for (int part = 0; part < f.parts; part++) {
        const range mine = share_blocks(&f, A, part);
        for (int64_t b = mine.begin; b < mine.end; b++) {
            int32_t *list = offsets + lists[b];
            const int64_t count = find(&f, A, part, b, list);
            qsort(list, (size_t)count, sizeof *list, compare);
            fill_block(L, A, b, list, count, starts[b]);
        }
    }
    layout_note(L, "block", f.block);
    layout_note(L, "fill", o->fill);
done:
    finder_free(L->ctx, &f);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *forecast)
{
    const dia_options *o = given;
    finder f = {0};
    int64_t *counts = NULL, lists = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, finder_make(ctx, A, dia_block_rows(o->block), &f));
    SPRY_GO(ctx, base_alloc(ctx, f.blocks + 1, sizeof *counts, &counts));
    SPRY_GO(ctx, count_all(ctx, A, &f, o->fill, counts));
    for (int64_t b = 0; b < f.blocks; b++) {
        forecast->stored += counts[b + 1] * block_places(A, f.block, b);
        lists += counts[b + 1];
    }
    forecast->bytes =
        forecast->stored * (int64_t)layout_value_size(A->type, (stored_kind)o->values) + 4 * lists +
        16 * (f.blocks + 1);
done:
    base_free(ctx, counts);
    finder_free(ctx, &f);
    return status;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *lists = L->array[DIA_LISTS].data, *starts = L->array[DIA_STARTS].data;
    const int64_t block = L->number[DIA_BLOCK], strip = L->number[DIA_STRIP];
    const int32_t *offsets = L->array[DIA_OFFSETS].data;
    const uint8_t *bits = L->array[DIA_ENTRIES].data;
    for (int64_t b = begin; b < end; b++)
        for (int64_t row = b * block; row < (b + 1) * block && row < L->rows; row++) {
            const int64_t l = (row - b * block) % strip;
            int64_t place = starts[b] + (row - b * block - l) * (lists[b + 1] - lists[b]) + l;
            for (int64_t d = lists[b]; d < lists[b + 1]; d++, place += strip)
                if (bits[place / 8] >> place % 8 & 1)
                    visit(data, row, row + offsets[d], place);
        }
}

static int64_t work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[DIA_STARTS].data)[unit];
}

const layout_class format_dia = {.name = "dia",
                                 .summary = "diagonals, listed by blocks of rows",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .grid = "block=32|128|1024",
                                 .cost = {.byte = 0.95,
                                          .conversion = 10,
                                          .device_byte = 1.0,
                                          .device_uneven = 1.0,
                                          .device_making = 4},
                                 .walk = WALK_diagonals,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = entries,
                                 .work = work};
