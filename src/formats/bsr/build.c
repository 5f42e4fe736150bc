/* Dense blocks: see bsr.h. */
#include "formats/bsr/bsr.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define BSR_OPTIONS(item)                                                                  \
    item(INT, r, "0", 0, BSR_MOST, NULL, "rows of a block; 0: what takes least memory")    \
    item(INT, c, "0", 0, BSR_MOST, NULL, "columns of a block; 0: what takes least memory") \
    LAYOUT_VALUES_OPTION(item)

typedef struct bsr_options {
    BSR_OPTIONS(SPRY_OPTION_FIELD)
} bsr_options;

SPRY_OPTION_TABLE(options_table, bsr_options, BSR_OPTIONS(SPRY_OPTION_ROW))

/* The entries of a block row that blocks do not hold yet. */
typedef struct rest {
    const matrix_arrays *A;
    int64_t rows, at[BSR_MOST], end[BSR_MOST];
} rest;

static rest rest_of(const matrix_arrays *A, int64_t r, int64_t block_row)
{
    rest s = {.A = A};
    for (int64_t row = block_row * r; row < (block_row + 1) * r && row < A->rows; row++) {
        s.at[s.rows] = A->offsets[row];
        s.end[s.rows++] = A->offsets[row + 1];
    }
    return s;
}

/* The first column of the next block; false at the end. */
static inline bool next_block(const rest *s, int64_t c, int64_t *column)
{
    int64_t first = INT64_MAX;
    for (int64_t i = 0; i < s->rows; i++)
        if (s->at[i] < s->end[i] && s->A->col_index[s->at[i]] < first)
            first = s->A->col_index[s->at[i]];
    *column = first < s->A->cols - c ? first : s->A->cols - c;
    return first < INT64_MAX;
}

static int64_t count_blocks(const matrix_arrays *A, int64_t r, int64_t c, int64_t block_row)
{
    rest s = rest_of(A, r, block_row);
    int64_t count = 0, column;
    for (; next_block(&s, c, &column); count++)
        for (int64_t i = 0; i < s.rows; i++)
            while (s.at[i] < s.end[i] && A->col_index[s.at[i]] < column + c)
                s.at[i]++;
    return count;
}

int64_t bsr_stretches(int64_t rows)
{
    const int64_t all = (rows + BSR_STRETCH - 1) / BSR_STRETCH;
    return all < BSR_STRETCHES ? all : BSR_STRETCHES;
}

int64_t bsr_stretch(int64_t rows, int64_t t)
{
    const int64_t all = (rows + BSR_STRETCH - 1) / BSR_STRETCH;
    return all * t / bsr_stretches(rows) * BSR_STRETCH;
}

/* Bytes of a sample of rows in blocks of r x c: stretches have a multiple of all r. */
static int64_t sample_bytes(const matrix_arrays *A, int64_t r, int64_t c, int64_t value)
{
    int64_t bytes = 0;
    for (int64_t t = 0; t < bsr_stretches(A->rows); t++) {
        const int64_t row = bsr_stretch(A->rows, t);
        const int64_t end = row + BSR_STRETCH < A->rows ? row + BSR_STRETCH : A->rows;
        for (int64_t b = row / r; b * r < end; b++)
            bytes += count_blocks(A, r, c, b) * (r * c * value + 4) + 8;
    }
    return bytes;
}

/* The best of 1 .. most for one of the two numbers, the other being given. */
static int64_t best_of(const matrix_arrays *A, int64_t r, int64_t c, int64_t most, int64_t value)
{
    int64_t least = INT64_MAX, best = 1;
    for (int64_t k = 1; k <= most; k++) {
        const int64_t bytes = sample_bytes(A, r ? r : k, c ? c : k, value);
        if (bytes < least) {
            least = bytes;
            best = k;
        }
    }
    return best;
}

/* One number after the other, columns first: blocks show in single rows already. That looks at 24
 * sizes and not at 64. */
void bsr_choose(const matrix_arrays *A, const void *options, int64_t *r, int64_t *c)
{
    const bsr_options *o = options;
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    const int64_t widest = A->cols < 1 ? 1 : A->cols < BSR_MOST ? A->cols : BSR_MOST;
    *r = o->r;
    *c = o->c < widest ? o->c : widest;
    if (*c == 0)
        *c = best_of(A, *r ? *r : 1, 0, widest, value);
    if (*r == 0) {
        *r = best_of(A, 0, *c, BSR_MOST, value);
        if (o->c == 0 && *r > 1)
            *c = best_of(A, *r, 0, widest, value);
    }
}

/* offsets[b] = blocks before block row b. */
static spry_status count_all(spry_context *ctx, const matrix_arrays *A, int64_t r, int64_t c,
                             int64_t block_rows, int64_t *offsets)
{
    const int parts = matrix_parts(ctx, A->nnz);
    offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = base_share(block_rows, parts, part, 1);
        for (int64_t b = mine.begin; b < mine.end; b++)
            offsets[b + 1] = count_blocks(A, r, c, b);
    }
    return base_prefix_sum(ctx, offsets, block_rows);
}

static void fill_row(layout *L, const matrix_arrays *A, int64_t block_row)
{
    const int64_t r = L->number[BSR_R], c = L->number[BSR_C], bytes = (r * c + 7) / 8;
    int64_t k = ((const int64_t *)L->array[BSR_OFFSETS].data)[block_row], column;
    int32_t *columns = L->array[BSR_COLUMNS].data;
    uint8_t *entries = L->array[BSR_ENTRIES].data;
    const int64_t size = r * c * (int64_t)L->array[BSR_VALUES].size;
    rest s = rest_of(A, r, block_row);
    for (; next_block(&s, c, &column); k++) {
        uint8_t *bits = entries + k * bytes;
        columns[k] = (int32_t)column;
        memset(bits, 0, (size_t)bytes);
        memset((char *)L->array[BSR_VALUES].data + k * size, 0, (size_t)size);
        for (int64_t i = 0; i < s.rows; i++)
            for (; s.at[i] < s.end[i] && A->col_index[s.at[i]] < column + c; s.at[i]++) {
                const int64_t place = (A->col_index[s.at[i]] - column) * r + i;
                layout_store(L, k * r * c + place, A->values, s.at[i]);
                bits[place / 8] |= (uint8_t)(1 << place % 8);
            }
    }
}

/* The values, and room to read behind them. */
static spry_status add_values(layout *L)
{
    const size_t size = layout_value_size(L->type, L->kind);
    const spry_status status = layout_add(L, BSR_VALUES, "values", L->stored + BSR_BEHIND, size);
    if (status == SPRY_STATUS_OK)
        memset((char *)L->array[BSR_VALUES].data + (size_t)L->stored * size, 0, BSR_BEHIND * size);
    L->array[BSR_VALUES].count = L->stored;
    return status;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    spry_status status = SPRY_STATUS_OK;
    int64_t r, c;
    bsr_choose(A, given, &r, &c);
    const int64_t block_rows = (A->rows + r - 1) / r;
    const int parts = matrix_parts(L->ctx, A->nnz);
    L->number[BSR_R] = r;
    L->number[BSR_C] = c;
    L->units = (A->rows + BSR_UNIT_ROWS - 1) / BSR_UNIT_ROWS;
    L->unit_rows = BSR_UNIT_ROWS;
    SPRY_GO(L->ctx, layout_add(L, BSR_OFFSETS, "offsets", block_rows + 1, sizeof(int64_t)));
    int64_t *offsets = L->array[BSR_OFFSETS].data;
    SPRY_GO(L->ctx, count_all(L->ctx, A, r, c, block_rows, offsets));
    const int64_t blocks = offsets[block_rows];
    L->stored = blocks * r * c;
    SPRY_GO(L->ctx, add_values(L));
    SPRY_GO(L->ctx, layout_add(L, BSR_COLUMNS, "columns", blocks, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, BSR_ENTRIES, "entries", blocks * ((r * c + 7) / 8), 1));
    L->array[BSR_ENTRIES].aside = true;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = base_share(block_rows, parts, part, 1);
        for (int64_t b = mine.begin; b < mine.end; b++)
            fill_row(L, A, b);
    }
    layout_note(L, "r", r);
    layout_note(L, "c", c);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const bsr_options *o = given;
    int64_t r, c, *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    bsr_choose(A, o, &r, &c);
    const int64_t block_rows = (A->rows + r - 1) / r;
    SPRY_GO(ctx, base_alloc(ctx, block_rows + 1, sizeof *offsets, &offsets));
    SPRY_GO(ctx, count_all(ctx, A, r, c, block_rows, offsets));
    f->stored = offsets[block_rows] * r * c;
    f->bytes = f->stored * (int64_t)layout_value_size(A->type, (stored_kind)o->values) +
               4 * offsets[block_rows] + 8 * (block_rows + 1);
done:
    base_free(ctx, offsets);
    return status;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t r = L->number[BSR_R], c = L->number[BSR_C], bytes = (r * c + 7) / 8;
    const int64_t *offsets = L->array[BSR_OFFSETS].data;
    const int32_t *columns = L->array[BSR_COLUMNS].data;
    const uint8_t *bits = L->array[BSR_ENTRIES].data;
    for (int64_t row = begin * BSR_UNIT_ROWS; row < end * BSR_UNIT_ROWS && row < L->rows; row++)
        for (int64_t k = offsets[row / r]; k < offsets[row / r + 1]; k++)
            for (int64_t j = 0; j < c; j++) {
                const int64_t place = j * r + row % r;
                if (bits[k * bytes + place / 8] >> place % 8 & 1)
                    visit(data, row, columns[k] + j, k * r * c + place);
            }
}

static int64_t work(const layout *L, int64_t unit)
{
    const int64_t row = unit * BSR_UNIT_ROWS < L->rows ? unit * BSR_UNIT_ROWS : L->rows;
    const int64_t *offsets = L->array[BSR_OFFSETS].data, r = L->number[BSR_R];
    return offsets[(row + r - 1) / r] * r * L->number[BSR_C];
}

const layout_class format_bsr = {.name = "bsr",
                                 .summary = "small dense blocks",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .grid = "r=0|1|3|4",
                                 .cost = {.byte = 1.15,
                                          .conversion = 15,
                                          .device_byte = 1.1,
                                          .device_uneven = 1.1,
                                          .device_making = 4,
                                          .blocks = true},
                                 .walk = WALK_blocks,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = entries,
                                 .work = work};
