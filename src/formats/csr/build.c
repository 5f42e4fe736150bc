/* CSR as a layout: see csr.h. */
#include "formats/csr/csr.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define CSR_OPTIONS(item) LAYOUT_VALUES_OPTION(item)

typedef struct csr_options {
    CSR_OPTIONS(SPRY_OPTION_FIELD)
} csr_options;

SPRY_OPTION_TABLE(options_table, csr_options, CSR_OPTIONS(SPRY_OPTION_ROW))

static int64_t group_count(const matrix_arrays *A)
{
    return (A->rows + CSR_GROUP - 1) / CSR_GROUP;
}

/* Whether the places of every group can be counted with 32 bits. */
static spry_status check_groups(spry_context *ctx, const matrix_arrays *A)
{
    for (int64_t row = 0; row < A->rows; row += CSR_GROUP) {
        const int64_t end = row + CSR_GROUP < A->rows ? row + CSR_GROUP : A->rows;
        const int64_t places = A->offsets[end] - A->offsets[row];
        if (places > UINT32_MAX)
            return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                             "format csr: rows %" PRId64 " to %" PRId64 " hold %" PRId64
                             " entries, more than offsets of 32 bits can count; take merge",
                             row, end - 1, places);
    }
    return SPRY_STATUS_OK;
}

static void fill(const layout *L, const matrix_arrays *A)
{
    const int64_t groups = L->units;
    int64_t *starts = L->array[CSR_STARTS].data;
    uint32_t *ends = L->array[CSR_ENDS].data;
    starts[groups] = A->nnz;
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->rows)) schedule(static)
    for (int64_t g = 0; g < groups; g++) {
        starts[g] = A->offsets[g * CSR_GROUP];
        for (int64_t row = g * CSR_GROUP; row < (g + 1) * CSR_GROUP && row < A->rows; row++)
            ends[row] = (uint32_t)(A->offsets[row + 1] - starts[g]);
    }
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, check_groups(L->ctx, A));
    L->units = group_count(A);
    L->unit_rows = CSR_GROUP;
    L->stored = A->nnz;
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, CSR_COLUMNS, "columns", A->nnz, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, CSR_STARTS, "starts", L->units + 1, sizeof(int64_t)));
    SPRY_GO(L->ctx, layout_add(L, CSR_ENDS, "ends", A->rows, sizeof(uint32_t)));
    fill(L, A);
    matrix_copy_bytes(L->ctx, L->array[CSR_COLUMNS].data, A->col_index,
                      (size_t)A->nnz * sizeof(int32_t));
    layout_copy_values(L, A);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const csr_options *o = given;
    const spry_status status = check_groups(ctx, A);
    if (status != SPRY_STATUS_OK)
        return status;
    const int64_t value = (int64_t)layout_value_size(A->type, (stored_kind)o->values);
    f->stored = A->nnz;
    f->bytes = A->nnz * (value + 4) + A->rows * 4 + (group_count(A) + 1) * 8;
    return SPRY_STATUS_OK;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t *starts = L->array[CSR_STARTS].data;
    const uint32_t *ends = L->array[CSR_ENDS].data;
    const int32_t *columns = L->array[CSR_COLUMNS].data;
    for (int64_t g = begin; g < end; g++) {
        int64_t place = starts[g];
        for (int64_t row = g * CSR_GROUP; row < (g + 1) * CSR_GROUP && row < L->rows; row++)
            for (; place < starts[g] + ends[row]; place++)
                visit(data, row, columns[place], place);
    }
}

/* Entries and rows: both take time. */
static int64_t work(const layout *L, int64_t unit)
{
    const int64_t rows = unit * CSR_GROUP;
    return ((const int64_t *)L->array[CSR_STARTS].data)[unit] + (rows < L->rows ? rows : L->rows);
}

const layout_class format_csr = {.name = "csr",
                                 .summary = "rows one after another, with offsets of 32 bits",
                                 .options = SPRY_OPTION_LIST(options_table),
                                 .grid = NULL,
                                 .cost = {.byte = 1.0,
                                          .conversion = 8,
                                          .device_byte = 1.0,
                                          .device_uneven = 1.0,
                                          .device_making = 2},
                                 .walk = WALK_csr,
                                 .build = build,
                                 .forecast = forecast,
                                 .entries = entries,
                                 .work = work};
