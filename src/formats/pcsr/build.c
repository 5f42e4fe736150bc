/* PCSR, padded rows in equal blocks: see pcsr.h. */
#include "formats/pcsr/pcsr.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define PCSR_OPTIONS(item)                                                               \
    item(INT, block, "256", 8, PCSR_MOST, NULL, "entries of a block, a multiple of pad") \
    item(INT, pad, "4", 1, 16, NULL, "rows are padded to multiples of this, summed side by side")

typedef struct pcsr_options {
    PCSR_OPTIONS(SPRY_OPTION_FIELD)
} pcsr_options;

SPRY_OPTION_TABLE(options_table, pcsr_options, PCSR_OPTIONS(SPRY_OPTION_ROW))

static int64_t padded(int64_t n, int64_t pad)
{
    return (n + pad - 1) / pad * pad;
}

static int64_t unit_size(const pcsr_options *o)
{
    return PCSR_UNIT / o->block * o->block;
}

/* Units for `places` places; one for rows that are all empty. */
static int64_t unit_count(int64_t rows, const pcsr_options *o, int64_t places)
{
    const int64_t size = unit_size(o), units = (places + size - 1) / size;
    return units > 0 || rows == 0 ? units : 1;
}

static spry_status check_options(spry_context *ctx, const pcsr_options *o)
{
    if (o->block % o->pad == 0)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "format pcsr: block=%d is not a multiple of pad=%d", (int)o->block,
                     (int)o->pad);
}

spry_status pcsr_describe(layout *L, const void *options, int64_t places)
{
    const pcsr_options *o = options;
    L->number[PCSR_BLOCK] = o->block;
    L->number[PCSR_PAD] = o->pad;
    L->number[PCSR_BLOCKS] = PCSR_UNIT / o->block;
    L->stored = padded(places, o->block);
    L->units = unit_count(L->rows, o, L->stored);
    layout_note(L, "block", o->block);
    layout_note(L, "pad", o->pad);
    return check_options(L->ctx, o);
}

/* The first row that ends after place `before`. */
static int64_t first_row(const int64_t *offsets, int64_t rows, int64_t before)
{
    return matrix_first_from(offsets + 1, rows, before + 1);
}

/* Which rows units set and carry; `offsets` are those of padded rows. Empty rows at the end of a
 * unit are its own, and those at the end of all the last one's. */
static void fill_units(layout *L, const int64_t *offsets)
{
    const int64_t pad = L->number[PCSR_PAD], size = L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS];
    int64_t *firsts = L->array[PCSR_FIRSTS].data;
    uint16_t *ends = L->array[PCSR_ENDS].data;
    for (int64_t u = 0; u < L->units; u++)
        firsts[u] = u == 0 ? 0 : first_row(offsets, L->rows, u * size);
    firsts[L->units] = L->rows;
    L->carry_at[0] = 0;
    for (int64_t u = 0; u < L->units; u++) {
        const int64_t next = firsts[u + 1];
        const bool carries = next < L->rows && offsets[next] < (u + 1) * size;
        L->carry_row[u] = carries ? next : 0;
        L->carry_at[u + 1] = L->carry_at[u] + carries;
    }
#pragma omp parallel for num_threads(matrix_parts(L->ctx, L->rows)) schedule(static)
    for (int64_t u = 0; u < L->units; u++)
        for (int64_t row = firsts[u]; row < firsts[u + 1]; row++)
            ends[row] = (uint16_t)((offsets[row + 1] - u * size) / pad);
}

static void fill_entries(layout *L, const matrix_arrays *A, const int64_t *offsets)
{
    int32_t *columns = L->array[PCSR_COLUMNS].data;
    const int threads = matrix_parts(L->ctx, A->nnz + A->rows);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; part++) {
        const range rows = matrix_rows_of_part(A->offsets, A->rows, threads, part);
        for (int64_t row = rows.begin; row < rows.end; row++) {
            int64_t place = offsets[row];
            for (int64_t k = A->offsets[row]; k < A->offsets[row + 1]; k++, place++) {
                columns[place] = A->col_index[k];
                layout_store(L, place, A->values, k);
            }
            for (; place < offsets[row + 1]; place++)
                columns[place] = columns[place - 1];
        }
    }
    for (int64_t place = offsets[A->rows]; place < L->stored; place++)
        columns[place] = 0;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const pcsr_options *o = given;
    int64_t *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, base_alloc(L->ctx, A->rows + 1, sizeof *offsets, &offsets));
    offsets[0] = 0;
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->rows)) schedule(static)
    for (int64_t row = 0; row < A->rows; row++)
        offsets[row + 1] = padded(A->offsets[row + 1] - A->offsets[row], o->pad);
    SPRY_GO(L->ctx, base_prefix_sum(L->ctx, offsets, A->rows));
    SPRY_GO(L->ctx, pcsr_describe(L, given, offsets[A->rows]));
    SPRY_GO(L->ctx, layout_add_values(L, true));
    SPRY_GO(L->ctx, layout_add(L, PCSR_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, PCSR_FIRSTS, "firsts", L->units + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, PCSR_ENDS, "ends", A->rows, sizeof(uint16_t)));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units, sizeof *L->carry_row, &L->carry_row));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *L->carry_at, &L->carry_at));
    fill_units(L, offsets);
    fill_entries(L, A, offsets);
done:
    base_free(L->ctx, offsets);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const pcsr_options *o = given;
    const int64_t value = (int64_t)spry_type_size(A->type), pad = o->pad;
    int64_t places = 0;
    const spry_status status = check_options(ctx, o);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) reduction(+ : places)
    for (int64_t row = 0; row < A->rows; row++)
        places += padded(A->offsets[row + 1] - A->offsets[row], pad);
    f->stored = padded(places, o->block);
    f->bytes = f->stored * (value + (int64_t)sizeof(int32_t)) +
               (unit_count(A->rows, o, f->stored) + 1) * 8 + A->rows * (int64_t)sizeof(uint16_t);
    return SPRY_STATUS_OK;
}

/* Lists the entries of a row from `begin` to `end`; a group begins with one. */
static void list(const layout *L, int64_t row, int64_t begin, int64_t end, layout_visit visit,
                 void *data)
{
    const int32_t *columns = L->array[PCSR_COLUMNS].data;
    for (int64_t place = begin; place < end; place++)
        if (place % L->number[PCSR_PAD] == 0 || columns[place] != columns[place - 1])
            visit(data, row, columns[place], place);
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *firsts = L->array[PCSR_FIRSTS].data, pad = L->number[PCSR_PAD];
    const int64_t size = L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS];
    const uint16_t *ends = L->array[PCSR_ENDS].data;
    for (int64_t u = begin; u < end; u++) {
        int64_t place = u * size;
        for (int64_t row = firsts[u]; row < firsts[u + 1]; row++) {
            list(L, row, place, u * size + ends[row] * pad, visit, data);
            place = u * size + ends[row] * pad;
        }
        if (L->carry_at[u + 1] > L->carry_at[u])
            list(L, firsts[u + 1], place, (u + 1) * size, visit, data);
    }
}

/* Places and rows: both take time. */
static int64_t work(const layout *L, int64_t unit)
{
    const int64_t places = unit * L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS];
    return (places < L->stored ? places : L->stored) +
           ((const int64_t *)L->array[PCSR_FIRSTS].data)[unit];
}

const layout_class format_pcsr = {.name = "pcsr",
                                  .summary =
                                      "padded rows in equal blocks, summed in groups side by side",
                                  .options = SPRY_OPTION_LIST(options_table),
                                  .grid = "block=128|256|512 pad=4|8",
                                  .cost = {.byte = 1.2,
                                           .conversion = 12,
                                           .device_byte = 1.2,
                                           .device_uneven = 0.7,
                                           .device_making = 3.5},
                                  .walk = WALK_pcsr,
                                  .build = build,
                                  .forecast = forecast,
                                  .entries = entries,
                                  .work = work};
