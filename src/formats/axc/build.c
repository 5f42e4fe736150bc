/* AXC: see axc.h. */
#include "formats/axc/axc.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

#define AXC_OPTIONS(item)                                                      \
    item(INT, HBRS, "8", 4, 32, NULL, "values of a brick, a multiple of four") \
    item(WORD, refresh, "none", 0, 0, "none array",                            \
         "where x is gathered: in registers, or kept in bricks behind the values")

typedef struct axc_options {
    AXC_OPTIONS(SPRY_OPTION_FIELD)
} axc_options;

SPRY_OPTION_TABLE(options_table, axc_options, AXC_OPTIONS(SPRY_OPTION_ROW))

enum { REFRESH_NONE, REFRESH_ARRAY };

static spry_status check_options(spry_context *ctx, const axc_options *o)
{
    if (o->HBRS % 4 == 0)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "format axc: HBRS is %d, expected a multiple of four", (int)o->HBRS);
}

spry_status axc_describe(layout *L, const void *options)
{
    const axc_options *o = options;
    const bool kept = o->refresh == REFRESH_ARRAY;
    L->number[AXC_HBRS] = o->HBRS;
    L->number[AXC_KEPT] = kept;
    L->units = (L->rows + AXC_ROWS - 1) / AXC_ROWS;
    /* Units write the bricks they use: no other product may use them at the same time. */
    L->unit_rows = kept ? 0 : AXC_ROWS;
    layout_note(L, "HBRS", o->HBRS);
    layout_note_word(L, "refresh", kept ? "array" : "none");
    return check_options(L->ctx, o);
}

static int64_t bricks_of(const matrix_arrays *A, int64_t HBRS, int64_t row)
{
    return (A->offsets[row + 1] - A->offsets[row] + HBRS - 1) / HBRS;
}

/* Fills the bricks of a row. Fill repeats the row's last column, whose x is at hand: as columns
 * rise otherwise, that is also how entries() knows it. */
static void fill_row(layout *L, const matrix_arrays *A, int64_t row)
{
    const int64_t HBRS = L->number[AXC_HBRS], wide = HBRS * (1 + L->number[AXC_KEPT]);
    const int64_t *brp = L->array[AXC_BRP].data;
    const size_t size = L->array[AXC_AX].size;
    int64_t k = A->offsets[row];
    for (int64_t b = brp[row]; b < brp[row + 1]; b++) {
        const int64_t rest = A->offsets[row + 1] - k, count = rest < HBRS ? rest : HBRS;
        char *ax = (char *)L->array[AXC_AX].data + (size_t)(b * wide) * size;
        int32_t *columns = (int32_t *)L->array[AXC_COLUMNS].data + b * HBRS;
        memcpy(ax, (const char *)A->values + (size_t)k * size, (size_t)count * size);
        memset(ax + (size_t)count * size, 0, (size_t)(wide - count) * size);
        memcpy(columns, A->col_index + k, (size_t)count * sizeof *columns);
        for (int64_t l = count; l < HBRS; l++)
            columns[l] = columns[count - 1];
        k += count;
    }
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const axc_options *o = given;
    const int64_t HBRS = o->HBRS, kept = o->refresh == REFRESH_ARRAY;
    const int threads = matrix_parts(L->ctx, A->nnz + A->rows);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(L->ctx, axc_describe(L, given));
    SPRY_GO(L->ctx, layout_add(L, AXC_BRP, "brp", A->rows + 1, sizeof(int64_t)));
    int64_t *brp = L->array[AXC_BRP].data;
    brp[0] = 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < A->rows; i++)
        brp[i + 1] = bricks_of(A, HBRS, i);
    SPRY_GO(L->ctx, base_prefix_sum(L->ctx, brp, A->rows));
    L->stored = brp[A->rows] * HBRS;
    SPRY_GO(L->ctx, layout_add(L, AXC_AX, "ax", L->stored * (1 + kept), spry_type_size(L->type)));
    SPRY_GO(L->ctx, layout_add(L, AXC_COLUMNS, "columns", L->stored, sizeof(int32_t)));
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < A->rows; i++)
        fill_row(L, A, i);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const axc_options *o = given;
    const int64_t HBRS = o->HBRS, kept = o->refresh == REFRESH_ARRAY;
    const spry_status status = check_options(ctx, o);
    int64_t bricks = 0;
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) reduction(+ : bricks)
    for (int64_t i = 0; i < A->rows; i++)
        bricks += bricks_of(A, HBRS, i);
    f->stored = bricks * HBRS;
    f->bytes = f->stored * ((1 + kept) * (int64_t)spry_type_size(A->type) + 4) + (A->rows + 1) * 8;
    return SPRY_STATUS_OK;
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int64_t HBRS = L->number[AXC_HBRS], wide = HBRS * (1 + L->number[AXC_KEPT]);
    const int64_t *brp = L->array[AXC_BRP].data;
    const int32_t *columns = L->array[AXC_COLUMNS].data;
    for (int64_t row = begin * AXC_ROWS; row < end * AXC_ROWS && row < L->rows; row++) {
        int64_t last = -1;
        for (int64_t k = brp[row] * HBRS; k < brp[row + 1] * HBRS && columns[k] > last; k++) {
            last = columns[k];
            visit(data, row, last, k / HBRS * wide + k % HBRS);
        }
    }
}

static int64_t work(const layout *L, int64_t unit)
{
    const int64_t row = unit * AXC_ROWS;
    const int64_t *brp = L->array[AXC_BRP].data;
    return brp[row < L->rows ? row : L->rows] * L->number[AXC_HBRS];
}

const layout_class format_axc = {
    .name = "axc",
    .summary = "rows cut into bricks of values, with the numbers of x behind them",
    .options = SPRY_OPTION_LIST(options_table),
    .grid = "HBRS=4|8|16",
    .cost = {.byte = 1.0,
             .conversion = 12,
             .row_ends = 0.7,
             .scattered = 0.8,
             .device_byte = 1.15,
             .device_uneven = 1.0,
             .device_making = 3},
    .walk = WALK_bricks,
    .build = build,
    .forecast = forecast,
    .entries = entries,
    .work = work};
