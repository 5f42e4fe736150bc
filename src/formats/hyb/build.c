/*
 * HYB (Bell, Garland, "Implementing sparse matrix-vector multiplication on throughput-oriented
 * processors", SC 2009): the first K entries of rows as ELLPACK, the others as coordinates, which
 * are sorted by rows and found by blocks of them.
 */
#include "formats/shared/columnwise.h"
#include "matrix/entries.h"

#define HYB_OPTIONS(item)                                          \
    item(INT, K, "0", 0, 2e9, NULL,                                \
         "entries of each row in the ELLPACK part; 0: as many as " \
         "make the fewest bytes")                                  \
    LAYOUT_VALUES_OPTION(item)

typedef struct hyb_options {
    HYB_OPTIONS(SPRY_OPTION_FIELD)
} hyb_options;

SPRY_OPTION_TABLE(options_table, hyb_options, HYB_OPTIONS(SPRY_OPTION_ROW))

static int64_t length_of(const matrix_arrays *A, int64_t row)
{
    return A->offsets[row + 1] - A->offsets[row];
}

/* counts[k]: rows of k entries, or of at least `most` for k = most; of each part in turn. */
static void count_lengths(const matrix_arrays *A, int parts, int64_t most, int64_t *counts)
{
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range mine = base_share(A->rows, parts, part, 1);
        for (int64_t i = mine.begin; i < mine.end; i++) {
            const int64_t length = length_of(A, i);
            counts[part * (most + 1) + (length < most ? length : most)]++;
        }
    }
    for (int part = 1; part < parts; part++)
        for (int64_t k = 0; k <= most; k++)
            counts[k] += counts[part * (most + 1) + k];
}

static spry_status choose(spry_context *ctx, const matrix_arrays *A, size_t value, int64_t *K)
{
    const int parts = matrix_parts(ctx, A->rows);
    const int64_t most = columnwise_most(A->rows, A->nnz);
    int64_t *counts = NULL;
    const spry_status status = base_calloc(ctx, parts * (most + 1), sizeof *counts, &counts);
    if (status != SPRY_STATUS_OK)
        return status;
    count_lengths(A, parts, most, counts);
    *K = columnwise_choose(A->rows, A->nnz, value, counts);
    base_free(ctx, counts);
    return SPRY_STATUS_OK;
}

static spry_status make_plan(spry_context *ctx, const matrix_arrays *A, const hyb_options *o,
                             columnwise_sizes *sizes)
{
    const size_t value = layout_value_size(A->type, (stored_kind)o->values);
    const int64_t longest = matrix_longest_row(ctx, A);
    int64_t K = o->K, rest = 0;
    const spry_status status = K > 0 ? SPRY_STATUS_OK : choose(ctx, A, value, &K);
    K = K < longest ? K : longest;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->rows)) reduction(+ : rest)
    for (int64_t i = 0; i < A->rows; i++)
        rest += length_of(A, i) > K ? length_of(A, i) - K : 0;
    *sizes = (columnwise_sizes){.T = 1, .width = K, .rest = rest, .beyond = longest - K};
    return status;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    columnwise_sizes sizes;
    spry_status status = make_plan(L->ctx, A, given, &sizes);
    if (status != SPRY_STATUS_OK)
        return status;
    layout_note(L, "K", sizes.width);
    return columnwise_build(L, A, &sizes);
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const hyb_options *o = given;
    columnwise_sizes sizes;
    const spry_status status = make_plan(ctx, A, o, &sizes);
    return status == SPRY_STATUS_OK
               ? columnwise_estimate(ctx, A, "hyb", (stored_kind)o->values, &sizes, f)
               : status;
}

const layout_class format_hyb = {
    .name = "hyb",
    .summary = "the first K entries of rows as ell, the others as coordinates",
    .options = SPRY_OPTION_LIST(options_table),
    .cost = {.byte = 1.1,
             .conversion = 15,
             .row_ends = 0.7,
             .scattered = 0.8,
             .device_byte = 1.05,
             .device_uneven = 0.8,
             .device_making = 4},
    .walk = WALK_columnwise,
    .build = build,
    .forecast = forecast,
    .entries = columnwise_entries,
    .work = columnwise_work};
