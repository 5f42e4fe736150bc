/* Building ELLPACK and its kin: see columnwise.h. */
#include "formats/shared/columnwise.h"

static int64_t length_of(const matrix_arrays *A, int64_t row)
{
    return A->offsets[row + 1] - A->offsets[row];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Lines are filled up to an odd multiple of 16: groups of lines that kernels take at once are whole
 * and aligned, and columns do not begin a large power of two apart, where the entries of a row
 * would compete for the same few places of a cache.
 */
int64_t columnwise_stride(int64_t rows, int64_t T)
{
    enum { ALIGN = 16 };
    const int64_t grain = T < ALIGN ? ALIGN / T : 1;
    const int64_t multiple = (rows + grain - 1) / grain;
    return (multiple | 1) * grain * T;
}

/*
 * One more column takes `stride` places of ELLPACK and spares an entry each of the rows that are
 * longer, which become fewer: the best K is the first that is not worth a next. It is less than
 * twice the average, as an entry takes less than twice a place.
 */
int64_t columnwise_most(int64_t rows, int64_t nnz)
{
    return rows > 0 ? 2 * nnz / rows + 1 : 0;
}

int64_t columnwise_choose(int64_t rows, int64_t nnz, size_t value, const int64_t *counts)
{
    const int64_t most = columnwise_most(rows, nnz);
    const int64_t column = columnwise_stride(rows, 1) * (int64_t)(value + sizeof(int32_t));
    int64_t K, longer = rows;
    for (K = 0; K < most; ++K) {
        longer -= counts[K];
        if (longer * (int64_t)(value + 2 * sizeof(int32_t)) <= column)
            break;
    }
    return K;
}

static int64_t units_of(int64_t rows, int64_t T)
{
    return (rows * T + COLUMNWISE_UNIT - 1) / COLUMNWISE_UNIT;
}

/* Places for values, or a failure where they are too many to be of use. */
static spry_status count_places(spry_context *ctx, int64_t rows, int64_t nnz, const char *name,
                                const columnwise_sizes *sizes, int64_t *places)
{
    enum { MOST = 64 };
    const int64_t stride = sizes->width > 0 ? columnwise_stride(rows, sizes->T) : 0;
    const double filled =
        sizes->pad > 0 ? (double)sizes->places : (double)stride * (double)sizes->width;
    if (filled > MOST * ((double)nnz + (double)rows + 16))
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format %s would fill up %" PRId64 " rows of %.1f entries on average to "
                         "%" PRId64 " entries: more than %d places for one; take sell, jds or csr",
                         name, rows, (double)nnz / (double)rows, sizes->width * sizes->T,
                         (int)MOST);
    *places = (int64_t)filled + (sizes->rest > 0 ? sizes->rest : 0);
    return SPRY_STATUS_OK;
}

spry_status columnwise_estimate(spry_context *ctx, const matrix_arrays *A, const char *name,
                                stored_kind kind, const columnwise_sizes *sizes, layout_forecast *f)
{
    const spry_status status = count_places(ctx, A->rows, A->nnz, name, sizes, &f->stored);
    if (status != SPRY_STATUS_OK)
        return status;
    f->bytes = f->stored * (int64_t)(sizeof(int32_t) + layout_value_size(A->type, kind));
    if (sizes->lengths_read)
        f->bytes += A->rows * (int64_t)sizeof(int32_t);
    if (sizes->pad > 0)
        f->bytes += A->rows * (int64_t)sizeof(int32_t) + (sizes->width + 1) * 8;
    if (sizes->rest >= 0)
        f->bytes += sizes->rest * (int64_t)sizeof(int32_t) + (units_of(A->rows, sizes->T) + 1) * 8;
    return SPRY_STATUS_OK;
}

/* --- filling ------------------------------------------------------------------------------------
 */

enum { GROUP = 16 }; /* lines that are written at once: whole lines of the cache */

/* A line: its entries are A's from `first` on, every T-th. */
typedef struct line {
    int64_t first, length;
    int32_t last; /* the column that fill repeats, whose x is at hand */
} line;

static line line_of(const layout *L, const matrix_arrays *A, int64_t l)
{
    const int64_t T = L->number[COLUMNWISE_T];
    const int32_t *rows = L->array[COLUMNWISE_ROWS].data;
    const int32_t *lengths = L->array[COLUMNWISE_LENGTHS].data;
    if (l / T >= L->rows)
        return (line){0, 0, 0};
    const int64_t row = rows ? rows[l] : l / T, entries = lengths[rows ? l : row];
    const int64_t first = A->offsets[row], lane = l % T;
    return (line){first + lane, entries > lane ? (entries - lane + T - 1) / T : 0,
                  entries > 0 ? A->col_index[first + entries - 1] : 0};
}

/* Writes all columns of lines l..l+GROUP-1. With `size` other than 0, values are moved as they are.
 */
ALWAYS_INLINE void fill_group(layout *L, const matrix_arrays *A, int64_t l, size_t size)
{
    const size_t stored = layout_value_size(L->type, L->kind);
    const int64_t *starts = L->array[COLUMNWISE_STARTS].data;
    const int64_t stride = L->number[COLUMNWISE_STRIDE], T = L->number[COLUMNWISE_T];
    char *values = L->array[COLUMNWISE_VALUES].data;
    int32_t *columns = L->array[COLUMNWISE_COLUMNS].data;
    line lines[GROUP];
    for (int i = 0; i < GROUP; i++)
        lines[i] = line_of(L, A, l + i);
    for (int64_t k = 0; k < L->number[COLUMNWISE_WIDTH]; k++) {
        const int64_t at = (starts ? starts[k] : k * stride) + l;
        const int64_t end = starts ? least(l + GROUP, starts[k + 1] - starts[k]) : l + GROUP;
        if (end <= l)
            break;
        for (int64_t i = 0; i < end - l; i++) {
            const int64_t from = lines[i].first + k * T;
            const bool is_entry = k < lines[i].length;
            columns[at + i] = is_entry ? A->col_index[from] : lines[i].last;
            if (!is_entry)
                memset(values + (size_t)(at + i) * stored, 0, size ? size : stored);
            else if (size)
                element_move(size, values, at + i, A->values, from);
            else
                layout_store(L, at + i, A->values, from);
        }
    }
}

/* Fills the places of hyb's other entries of a unit. */
static void fill_rest(layout *L, const matrix_arrays *A, int64_t unit)
{
    const int64_t *rest = L->array[COLUMNWISE_REST].data;
    const int64_t K = L->number[COLUMNWISE_WIDTH], base = L->stored - rest[L->units];
    int32_t *columns = L->array[COLUMNWISE_COLUMNS].data;
    int32_t *rows = L->array[COLUMNWISE_REST_ROWS].data;
    int64_t to = rest[unit];
    for (int64_t i = unit * COLUMNWISE_UNIT; i < (unit + 1) * COLUMNWISE_UNIT && i < L->rows; i++)
        for (int64_t k = A->offsets[i] + K; k < A->offsets[i + 1]; k++, to++) {
            rows[to] = (int32_t)i;
            columns[base + to] = A->col_index[k];
            layout_store(L, base + to, A->values, k);
        }
}

static void fill_range(layout *L, const matrix_arrays *A, range groups)
{
    const size_t size = L->kind == STORED_OWN ? spry_type_size(L->type) : 0;
    for (int64_t g = groups.begin; g < groups.end; g++)
        if (size == 4)
            fill_group(L, A, g * GROUP, 4);
        else if (size == 8)
            fill_group(L, A, g * GROUP, 8);
        else if (size == 16)
            fill_group(L, A, g * GROUP, 16);
        else
            fill_group(L, A, g * GROUP, 0);
}

static void fill(layout *L, const matrix_arrays *A)
{
    const int64_t stride = L->number[COLUMNWISE_STRIDE];
    const int64_t groups = ((stride ? stride : L->number[COLUMNWISE_LINES]) + GROUP - 1) / GROUP;
    const int parts = matrix_parts(L->ctx, L->stored);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        fill_range(L, A, base_share(groups, parts, part, 1));
    if (L->array[COLUMNWISE_REST].data) {
#pragma omp parallel for num_threads(parts) schedule(static)
        for (int64_t unit = 0; unit < L->units; unit++)
            fill_rest(L, A, unit);
    }
}

/* --- the layout ---------------------------------------------------------------------------------
 */

/* The lengths, and per unit the work and (hyb) the entries beyond the width, summed up. */
static spry_status count_units(layout *L, const matrix_arrays *A)
{
    enum { LINE_WORK = 2 }; /* what a line costs besides its entries */
    int32_t *lengths = L->array[COLUMNWISE_LENGTHS].data;
    const int32_t *rows = L->array[COLUMNWISE_ROWS].data;
    int64_t *work = L->array[COLUMNWISE_WORK].data, *rest = L->array[COLUMNWISE_REST].data;
    const int64_t T = L->number[COLUMNWISE_T], width = L->number[COLUMNWISE_WIDTH];
    const int64_t per_pack = COLUMNWISE_UNIT / T;
    const bool whole = L->array[COLUMNWISE_LENGTHS].aside && !rows; /* lines run to the width */
#pragma omp parallel for num_threads(matrix_parts(L->ctx, A->rows)) schedule(static)
    for (int64_t u = 0; u < L->units; u++) {
        int64_t sum = LINE_WORK * COLUMNWISE_UNIT, beyond = 0;
        for (int64_t i = u * per_pack; i < least((u + 1) * per_pack, A->rows); i++) {
            const int64_t length = length_of(A, rows ? rows[i] : i),
                          kept = least(length, width * T);
            lengths[i] = (int32_t)kept;
            beyond += length - kept;
            sum += whole ? width : (kept + T - 1) / T * T;
        }
        work[u + 1] = sum + LINE_WORK * beyond;
        if (rest)
            rest[u + 1] = beyond;
    }
    work[0] = 0;
    const spry_status status = base_prefix_sum(L->ctx, work, L->units);
    if (status != SPRY_STATUS_OK || !rest)
        return status;
    rest[0] = 0;
    return base_prefix_sum(L->ctx, rest, L->units);
}

spry_status columnwise_describe(layout *L, const columnwise_sizes *sizes)
{
    const int64_t rows = L->rows, T = sizes->T, pad = sizes->pad;
    L->number[COLUMNWISE_LINES] = pad > 0 ? (rows + pad - 1) / pad * pad : rows * T;
    L->number[COLUMNWISE_STRIDE] = pad > 0 ? 0 : columnwise_stride(rows, T);
    L->number[COLUMNWISE_WIDTH] = sizes->width;
    L->number[COLUMNWISE_T] = T;
    L->number[COLUMNWISE_BEYOND] = sizes->beyond;
    L->units = units_of(rows, T);
    L->unit_rows = pad > 0 ? 0 : COLUMNWISE_UNIT / T;
    return count_places(L->ctx, rows, L->nnz, L->class->name, sizes, &L->stored);
}

spry_status columnwise_build(layout *L, const matrix_arrays *A, const columnwise_sizes *sizes)
{
    spry_status status = SPRY_STATUS_OK;
    if (sizes->pad > 0) {
        L->array[COLUMNWISE_ROWS] =
            (layout_array){.name = "rows", .count = A->rows, .size = 4, .data = sizes->rows};
        L->array[COLUMNWISE_STARTS] = (layout_array){
            .name = "starts", .count = sizes->width + 1, .size = 8, .data = sizes->starts};
    }
    SPRY_GO(L->ctx, columnwise_describe(L, sizes));
    SPRY_GO(L->ctx, layout_add(L, COLUMNWISE_LENGTHS, "lengths", A->rows, sizeof(int32_t)));
    SPRY_GO(L->ctx, layout_add(L, COLUMNWISE_WORK, "work", L->units + 1, sizeof(int64_t)));
    L->array[COLUMNWISE_LENGTHS].aside = !sizes->lengths_read;
    L->array[COLUMNWISE_WORK].aside = true;
    if (sizes->rest >= 0) {
        SPRY_GO(L->ctx, layout_add(L, COLUMNWISE_REST, "rest", L->units + 1, sizeof(int64_t)));
        SPRY_GO(L->ctx,
                layout_add(L, COLUMNWISE_REST_ROWS, "rest_rows", sizes->rest, sizeof(int32_t)));
    }
    SPRY_GO(L->ctx, count_units(L, A));
    SPRY_GO(L->ctx, layout_add_values(L, false));
    SPRY_GO(L->ctx, layout_add(L, COLUMNWISE_COLUMNS, "columns", L->stored, sizeof(int32_t)));
    fill(L, A);
done:
    return status;
}

void columnwise_entries(const layout *L, int64_t begin, int64_t end, layout_visit visit, void *data)
{
    const int32_t *columns = L->array[COLUMNWISE_COLUMNS].data;
    const int32_t *lengths = L->array[COLUMNWISE_LENGTHS].data;
    const int32_t *rows = L->array[COLUMNWISE_ROWS].data;
    const int32_t *rest_rows = L->array[COLUMNWISE_REST_ROWS].data;
    const int64_t *starts = L->array[COLUMNWISE_STARTS].data;
    const int64_t *rest = L->array[COLUMNWISE_REST].data;
    const int64_t T = L->number[COLUMNWISE_T], stride = L->number[COLUMNWISE_STRIDE];
    const int64_t per_pack = COLUMNWISE_UNIT / T;
    for (int64_t i = begin * per_pack; i < least(end * per_pack, L->rows); i++)
        for (int64_t e = 0; e < lengths[i]; e++) {
            const int64_t place = (starts ? starts[e] : e / T * stride) + i * T + e % T;
            visit(data, rows ? rows[i] : i, columns[place], place);
        }
    for (int64_t e = rest ? rest[begin] : 0; e < (rest ? rest[end] : 0); e++) {
        const int64_t place = L->stored - rest[L->units] + e;
        visit(data, rest_rows[e], columns[place], place);
    }
}

int64_t columnwise_work(const layout *L, int64_t unit)
{
    return ((const int64_t *)L->array[COLUMNWISE_WORK].data)[unit];
}
