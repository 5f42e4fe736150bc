/* Merge-path CSR: see merge.h. */
#include "formats/merge/merge.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define MERGE_OPTIONS(item) \
    item(INT, items, "8192", 8, 65535, NULL, "entries and ends of rows that a unit consumes")

typedef struct merge_options {
    MERGE_OPTIONS(SPRY_OPTION_FIELD)
} merge_options;

SPRY_OPTION_TABLE(options_table, merge_options, MERGE_OPTIONS(SPRY_OPTION_ROW))

int64_t merge_units(const matrix_arrays *A, int64_t items)
{
    return (A->rows + A->nnz + items - 1) / items;
}

/* Rows whose ends are among the first `consumed` things. An end is consumed before the entry that
 * follows it. */
static int64_t rows_before(const matrix_arrays *A, int64_t consumed)
{
    int64_t low = 0, high = A->rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (A->offsets[middle + 1] + middle < consumed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t merge_entries_before(const matrix_arrays *A, int64_t items, int64_t unit)
{
    const int64_t all = A->rows + A->nnz, consumed = unit * items < all ? unit * items : all;
    return consumed - rows_before(A, consumed);
}

static void fill_ends(const layout *L, const matrix_arrays *A, const int64_t *starts,
                      uint16_t *ends)
{
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->rows)) schedule(static)
    for (int64_t u = 0; u < L->units; u++)
        for (int64_t row = starts[2 * u]; row < starts[2 * u + 2]; row++)
            ends[row] = (uint16_t)(A->offsets[row + 1] - starts[2 * u + 1]);
}

/* What is left of a unit's entries after the last row it sets. */
static void fill_carries(layout *L, const matrix_arrays *A, const int64_t *starts)
{
    L->carry_at[0] = 0;
    for (int64_t u = 0; u < L->units; u++) {
        const int64_t row = starts[2 * u + 2], end = starts[2 * u + 3];
        const bool carries = end > starts[2 * u + 1] && end > A->offsets[row];
        L->carry_row[u] = carries ? row : 0;
        L->carry_at[u + 1] = L->carry_at[u] + carries;
    }
}

spry_status merge_cut(layout *L, const matrix_arrays *A, int64_t items, int starts, int ends)
{
    const int64_t all = A->rows + A->nnz;
    spry_status status = SPRY_STATUS_OK;
    L->units = merge_units(A, items);
    SPRY_GO(L->ctx, layout_add(L, starts, "starts", 2 * (L->units + 1), sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, ends, "ends", A->rows, sizeof(uint16_t)));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units, sizeof *L->carry_row, &L->carry_row));
    SPRY_GO(L->ctx, base_alloc(L->ctx, L->units + 1, sizeof *L->carry_at, &L->carry_at));
    int64_t *at = L->array[starts].data;
    for (int64_t u = 0; u <= L->units; u++) {
        const int64_t consumed = u * items < all ? u * items : all;
        at[2 * u] = rows_before(A, consumed);
        at[2 * u + 1] = consumed - at[2 * u];
    }
    fill_ends(L, A, at, L->array[ends].data);
    fill_carries(L, A, at);
done:
    return status;
}

int64_t merge_work(const layout *L, int64_t items, int64_t unit)
{
    const int64_t all = L->rows + L->nnz, before = unit * items;
    return before < all ? before : all;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const merge_options *o = given;
    spry_status status = SPRY_STATUS_OK;
    L->stored = A->nnz;
    L->number[MERGE_ITEMS] = o->items;
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, MERGE_COLUMNS, "columns", A->nnz, sizeof(int32_t)));
    SPRY_GO(L->ctx, merge_cut(L, A, o->items, MERGE_STARTS, MERGE_ENDS));
    matrix_copy_bytes(L->ctx, L->array[MERGE_COLUMNS].data, A->col_index,
                      (size_t)A->nnz * sizeof(int32_t));
    layout_copy_values(L, A);
    layout_note(L, "items", o->items);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    (void)ctx;
    const merge_options *o = given;
    f->stored = A->nnz;
    f->bytes = A->nnz * (int64_t)(spry_type_size(A->type) + sizeof(int32_t)) +
               A->rows * (int64_t)sizeof(uint16_t) + 2 * (merge_units(A, o->items) + 1) * 8;
    return SPRY_STATUS_OK;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *starts = L->array[MERGE_STARTS].data;
    const uint16_t *ends = L->array[MERGE_ENDS].data;
    const int32_t *columns = L->array[MERGE_COLUMNS].data;
    for (int64_t u = begin; u < end; u++) {
        const int64_t first = starts[2 * u + 1], last = starts[2 * u + 3];
        int64_t place = first;
        for (int64_t row = starts[2 * u]; row < starts[2 * u + 2]; row++)
            for (; place < first + ends[row]; place++)
                visit(data, row, columns[place], place);
        for (; place < last; place++)
            visit(data, starts[2 * u + 2], columns[place], place);
    }
}

static int64_t work(const layout *L, int64_t unit)
{
    return merge_work(L, L->number[MERGE_ITEMS], unit);
}

const layout_class format_merge = {.name = "merge",
                                   .summary =
                                       "CSR in pieces of equally many rows and entries together",
                                   .options = SPRY_OPTION_LIST(options_table),
                                   .grid = "items=2048|8192|32768",
                                   .cost = {.byte = 1.05,
                                            .conversion = 8,
                                            .device_byte = 1.15,
                                            .device_uneven = 0.55,
                                            .device_making = 2.5,
                                            .cuts = true},
                                   .walk = WALK_merge,
                                   .build = build,
                                   .forecast = forecast,
                                   .entries = entries,
                                   .work = work};
