/*
 * Jagged diagonals (Saad, "Krylov subspace methods on supercomputers", SIAM J. Sci. Stat. Comput.
 * 10, 1989): rows sorted by length, longest first, and the k-th entries of all that have one stored
 * one after the other. With pad > 1 it is pJDS (Kreutzer et al., "Sparse matrix-vector
 * multiplication on GPGPU clusters: a new storage format and a scalable implementation", IPDPS
 * workshops 2012): blocks of a few rows are filled up to their longest.
 */
#include "formats/shared/columnwise.h"
#include "matrix/entries.h"

#define JDS_OPTIONS(item)                                      \
    item(INT, pad, "1", 1, 1024, NULL,                         \
         "rows of a block that are filled up to its longest; " \
         "1: no fill, jagged diagonals")                       \
    LAYOUT_VALUES_OPTION(item)

typedef struct jds_options {
    JDS_OPTIONS(SPRY_OPTION_FIELD)
} jds_options;

SPRY_OPTION_TABLE(options_table, jds_options, JDS_OPTIONS(SPRY_OPTION_ROW))

static int64_t length_of(const matrix_arrays *A, int64_t row)
{
    return A->offsets[row + 1] - A->offsets[row];
}

/* How many rows of each length there are, in each part of the rows. */
typedef struct histogram {
    int parts;
    int64_t size;   /* lengths 0..size-1 */
    int64_t *count; /* of part p and length k at p size + k */
} histogram;

static spry_status histogram_make(spry_context *ctx, const matrix_arrays *A, int64_t longest,
                                  histogram *h)
{
    /* All parts together are not longer than a few times the rows. */
    const int64_t most = 1 + 4 * A->rows / (longest + 1);
    h->parts = matrix_parts(ctx, A->rows);
    h->parts = h->parts < most ? h->parts : (int)most;
    h->size = longest + 1;
    const spry_status status = base_calloc(ctx, h->parts * h->size, sizeof *h->count, &h->count);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(h->parts) schedule(static, 1)
    for (int part = 0; part < h->parts; part++) {
        const range mine = base_share(A->rows, h->parts, part, 1);
        for (int64_t i = mine.begin; i < mine.end; i++)
            h->count[part * h->size + length_of(A, i)]++;
    }
    return SPRY_STATUS_OK;
}

/* Counts become the places of each part's first row of each length, longest first; starts[k] those
 * of the columns, which have as many lines as there are rows longer than k. */
static void find_places(histogram *h, int64_t pad, int64_t *starts)
{
    int64_t before = 0;
    for (int64_t k = h->size - 1; k >= 0; k--) {
        if (k + 1 < h->size)
            starts[k + 1] = (before + pad - 1) / pad * pad;
        for (int part = 0; part < h->parts; part++) {
            const int64_t count = h->count[part * h->size + k];
            h->count[part * h->size + k] = before;
            before += count;
        }
    }
    starts[0] = 0;
    for (int64_t k = 0; k + 1 < h->size; k++)
        starts[k + 1] += starts[k];
}

static void sort_rows(const matrix_arrays *A, const histogram *h, int32_t *rows)
{
#pragma omp parallel for num_threads(h->parts) schedule(static, 1)
    for (int part = 0; part < h->parts; part++) {
        const range mine = base_share(A->rows, h->parts, part, 1);
        int64_t *next = h->count + part * h->size;
        for (int64_t i = mine.begin; i < mine.end; i++)
            rows[next[length_of(A, i)]++] = (int32_t)i;
    }
}

/* With sizes->rows to be filled, or without. */
static spry_status make_plan(spry_context *ctx, const matrix_arrays *A, int64_t pad, bool with_rows,
                             columnwise_sizes *sizes)
{
    histogram h = {0};
    spry_status status = SPRY_STATUS_OK;
    *sizes =
        (columnwise_sizes){.T = 1, .width = matrix_longest_row(ctx, A), .pad = pad, .rest = -1};
    SPRY_GO(ctx, histogram_make(ctx, A, sizes->width, &h));
    SPRY_GO(ctx, base_alloc(ctx, sizes->width + 1, sizeof *sizes->starts, &sizes->starts));
    find_places(&h, pad, sizes->starts);
    sizes->places = sizes->starts[sizes->width];
    if (with_rows) {
        SPRY_GO(ctx, base_alloc(ctx, A->rows, sizeof *sizes->rows, &sizes->rows));
        sort_rows(A, &h, sizes->rows);
    }
done:
    base_free(ctx, h.count);
    return status;
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    const jds_options *o = given;
    columnwise_sizes sizes;
    spry_status status = make_plan(L->ctx, A, o->pad, true, &sizes);
    if (status == SPRY_STATUS_OK) {
        layout_note(L, "pad", o->pad);
        return columnwise_build(L, A, &sizes);
    }
    base_free(L->ctx, sizes.rows);
    base_free(L->ctx, sizes.starts);
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const jds_options *o = given;
    columnwise_sizes sizes;
    spry_status status = make_plan(ctx, A, o->pad, false, &sizes);
    if (status == SPRY_STATUS_OK)
        status = columnwise_estimate(ctx, A, "jds", (stored_kind)o->values, &sizes, f);
    base_free(ctx, sizes.starts);
    return status;
}

const layout_class format_jds = {
    .name = "jds",
    .summary = "rows sorted by length, column by column; padded to blocks: pJDS",
    .options = SPRY_OPTION_LIST(options_table),
    .grid = "pad=1|16|64",
    .cost = {.byte = 1.5, .conversion = 15},
    .walk = WALK_columnwise,
    .build = build,
    .forecast = forecast,
    .entries = columnwise_entries,
    .work = columnwise_work};
