/* CSR with columns of 16 bits: see csr16.h. */
#include "formats/csr16/csr16.h"

#include "formats/shared/layout.h"
#include "matrix/entries.h"

/* Parts beyond one per row take time: a group has at most one for that many entries, or columns of
 * 32 bits. */
enum { ENTRIES_PER_PART = 32 };

#define CSR16_OPTIONS(item) LAYOUT_VALUES_OPTION(item)

typedef struct csr16_options {
    CSR16_OPTIONS(SPRY_OPTION_FIELD)
} csr16_options;

SPRY_OPTION_TABLE(options_table, csr16_options, CSR16_OPTIONS(SPRY_OPTION_ROW))

static int64_t group_count(const matrix_arrays *A)
{
    return (A->rows + CSR16_GROUP - 1) / CSR16_GROUP;
}

static range rows_of(int64_t rows, int64_t group)
{
    const int64_t begin = group * CSR16_GROUP;
    return (range){begin, begin + CSR16_GROUP < rows ? begin + CSR16_GROUP : rows};
}

/* The end of the part that begins with the first of n columns; writes their codes unless NULL. */
static int64_t part_end(const int32_t *columns, int64_t n, uint16_t *codes)
{
    int64_t k = 0, base = n > 0 ? columns[0] : 0;
    for (; k < n && columns[k] - base <= CSR16_REACH; k++) {
        if (codes)
            codes[k] = (uint16_t)(columns[k] - base);
        if (k % 4 == 3)
            base = columns[k];
    }
    return k;
}

/* Parts of a row: an empty one has one. */
static int64_t count_parts(const matrix_arrays *A, int64_t row)
{
    const int64_t end = A->offsets[row + 1];
    int64_t parts = 0;
    for (int64_t k = A->offsets[row]; k < end; parts++)
        k += part_end(A->col_index + k, end - k, NULL);
    return parts > 0 ? parts : 1;
}

/* What a group takes: numbers of values, codes and parts. */
static void measure_group(const matrix_arrays *A, int64_t group, int64_t size[CSR16_STEP])
{
    const range rows = rows_of(A->rows, group);
    const int64_t values = A->offsets[rows.end] - A->offsets[rows.begin];
    const int64_t most = (rows.end - rows.begin) + values / ENTRIES_PER_PART;
    int64_t parts = 0;
    for (int64_t row = rows.begin; row < rows.end && parts <= most; row++)
        parts += count_parts(A, row);
    const bool wide = parts > most;
    size[CSR16_VALUE] = values;
    size[CSR16_CODE] = wide ? 2 * values : (values + 1) / 2 * 2;
    size[CSR16_PART] = wide ? rows.end - rows.begin : parts;
}

static spry_status check_group(spry_context *ctx, int64_t places)
{
    return places <= UINT32_MAX
               ? SPRY_STATUS_OK
               : SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "format csr16: %d rows hold %" PRId64
                           " entries, more than offsets of 32 bits can count; take merge",
                           CSR16_GROUP, places);
}

/* Writes the codes and parts of a row of a group whose first value is `first`; the part after. */
static csr16_part *fill_row(const matrix_arrays *A, int64_t row, int64_t first, uint16_t *codes,
                            csr16_part *part)
{
    int64_t k = A->offsets[row];
    const int64_t end = A->offsets[row + 1];
    do {
        const int32_t base = k < end ? A->col_index[k] : 0;
        k += part_end(A->col_index + k, end - k, codes + (k - first));
        *part++ = (csr16_part){(uint32_t)(k - first), k < end ? ~base : base};
    } while (k < end);
    return part;
}

static void fill_group(const layout *L, const matrix_arrays *A, int64_t group)
{
    const int64_t *start = (const int64_t *)L->array[CSR16_STARTS].data + CSR16_STEP * group;
    uint16_t *codes = (uint16_t *)L->array[CSR16_CODES].data + start[CSR16_CODE];
    csr16_part *part = (csr16_part *)L->array[CSR16_PARTS].data + start[CSR16_PART];
    const range rows = rows_of(L->rows, group);
    const int64_t first = start[CSR16_VALUE];
    const int64_t values = start[CSR16_STEP + CSR16_VALUE] - first;
    if (csr16_wide(start)) {
        memcpy(codes, A->col_index + first, (size_t)values * sizeof *A->col_index);
        for (int64_t row = rows.begin; row < rows.end; row++)
            *part++ = (csr16_part){(uint32_t)(A->offsets[row + 1] - first), 0};
        return;
    }
    if (values % 2 == 1)
        codes[values] = 0;
    for (int64_t row = rows.begin; row < rows.end; row++)
        part = fill_row(A, row, first, codes, part);
}

static spry_status build(layout *L, const matrix_arrays *A, const void *given)
{
    (void)given;
    const int64_t groups = group_count(A);
    const int threads = matrix_parts(L->ctx, A->nnz + A->rows);
    spry_status status = SPRY_STATUS_OK;
    L->units = groups;
    L->unit_rows = CSR16_GROUP;
    L->stored = A->nnz;
    SPRY_GO(L->ctx,
            layout_add(L, CSR16_STARTS, "starts", CSR16_STEP * (groups + 1), sizeof(int64_t)));
    int64_t *starts = L->array[CSR16_STARTS].data;
    memset(starts, 0, CSR16_STEP * sizeof *starts);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t g = 0; g < groups; g++)
        measure_group(A, g, starts + CSR16_STEP * (g + 1));
    for (int64_t g = 0; g < groups; g++) {
        SPRY_GO(L->ctx, check_group(L->ctx, starts[CSR16_STEP * (g + 1) + CSR16_VALUE]));
        for (int k = 0; k < CSR16_STEP; k++)
            starts[CSR16_STEP * (g + 1) + k] += starts[CSR16_STEP * g + k];
    }
    const int64_t *all = starts + CSR16_STEP * groups;
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, CSR16_CODES, "codes", all[CSR16_CODE], sizeof(uint16_t)));
    SPRY_GO(L->ctx, layout_add(L, CSR16_PARTS, "parts", all[CSR16_PART], sizeof(csr16_part)));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t g = 0; g < groups; g++)
        fill_group(L, A, g);
    layout_copy_values(L, A);
done:
    return status;
}

static spry_status forecast(spry_context *ctx, const matrix_arrays *A, const void *given,
                            layout_forecast *f)
{
    const csr16_options *o = given;
    const int64_t groups = group_count(A);
    int64_t codes = 0, parts = 0, most = 0;
#pragma omp parallel for num_threads(matrix_parts(ctx, A->nnz + A->rows)) schedule(dynamic, 64) \
    reduction(+ : codes, parts) reduction(max : most)
    for (int64_t g = 0; g < groups; g++) {
        int64_t size[CSR16_STEP];
        measure_group(A, g, size);
        codes += size[CSR16_CODE];
        parts += size[CSR16_PART];
        most = size[CSR16_VALUE] > most ? size[CSR16_VALUE] : most;
    }
    f->stored = A->nnz;
    f->bytes = A->nnz * (int64_t)layout_value_size(A->type, (stored_kind)o->values) + codes * 2 +
               parts * (int64_t)sizeof(csr16_part) + CSR16_STEP * (groups + 1) * 8;
    return check_group(ctx, most);
}

/* Lists the entries of a group; decodes its parts and columns. */
static void list_group(const layout *L, int64_t group, layout_visit visit, void *data)
{
    const int64_t *start = (const int64_t *)L->array[CSR16_STARTS].data + CSR16_STEP * group;
    const uint16_t *codes = (const uint16_t *)L->array[CSR16_CODES].data + start[CSR16_CODE];
    const csr16_part *parts = L->array[CSR16_PARTS].data;
    const bool wide = csr16_wide(start);
    int64_t row = group * CSR16_GROUP, k = 0;
    for (int64_t p = start[CSR16_PART]; p < start[CSR16_STEP + CSR16_PART]; p++) {
        const bool more = parts[p].base < 0;
        const int64_t first = k;
        int64_t base = more ? ~parts[p].base : parts[p].base;
        for (; k < parts[p].end; k++) {
            const int64_t col = wide ? ((const int32_t *)(const void *)codes)[k] : base + codes[k];
            visit(data, row, col, start[CSR16_VALUE] + k);
            if ((k - first) % 4 == 3)
                base = col;
        }
        row += more ? 0 : 1;
    }
}

static void entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    for (int64_t g = begin; g < end; g++)
        list_group(L, g, visit, data);
}

/* Entries and parts: both take time. */
static int64_t work(const layout *L, int64_t unit)
{
    const int64_t *start = (const int64_t *)L->array[CSR16_STARTS].data + CSR16_STEP * unit;
    return start[CSR16_VALUE] + start[CSR16_PART];
}

const layout_class format_csr16 = {.name = "csr16",
                                   .summary =
                                       "CSR with columns of 16 bits, relative to the four before",
                                   .options = SPRY_OPTION_LIST(options_table),
                                   .grid = NULL,
                                   .cost = {.byte = 1.15,
                                            .conversion = 15,
                                            .device_byte = 1.15,
                                            .device_uneven = 1.15,
                                            .device_making = 2.5},
                                   .walk = WALK_csr16,
                                   .build = build,
                                   .forecast = forecast,
                                   .entries = entries,
                                   .work = work};
