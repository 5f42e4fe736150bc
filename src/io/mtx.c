/*
 * Reading Matrix Market files in parallel: the body is cut at line ends, the lines of each piece
 * are counted, and each piece is then parsed straight into its place.
 */
#include "io/mtx.h"

enum { PIECES = 64, PIECE_MIN = 64, PIECE_MAX = 1 << 20 };

static bool matches(const io_bytes *bytes)
{
    return base_starts_with(bytes->data, bytes->data + bytes->size, "%%matrixmarket");
}

/* Cuts at the first line starts after equal steps. */
spry_status io_mtx_cut(spry_context *ctx, const char *begin, const char *end, mtx_part *part)
{
    spry_status status = SPRY_STATUS_OK;
    const int64_t size = end - begin;
    int64_t step = size / PIECES;
    step = step < PIECE_MIN ? PIECE_MIN : step > PIECE_MAX ? PIECE_MAX : step;
    part->pieces = size / step + 1;
    SPRY_GO(ctx, base_alloc(ctx, part->pieces, sizeof *part->lines, &part->lines));
    const char *p = begin;
    for (int64_t i = 0; i < part->pieces; i++) {
        const char *from = p;
        /* A line longer than a step leaves empty pieces behind it. */
        if (i + 1 == part->pieces)
            p = end;
        else if (p - begin < (i + 1) * step)
            p = mtx_next_line(begin + (i + 1) * step - 1, end);
        part->lines[i] = (mtx_lines){.begin = from, .end = p};
    }
done:
    return status;
}

spry_status io_mtx_count_part(spry_context *ctx, const char *path, mtx_part *part)
{
#pragma omp parallel for schedule(dynamic) num_threads(spry_context_threads(ctx))
    for (int64_t i = 0; i < part->pieces; i++)
        if (!spry_context_interrupted(ctx, false))
            part->lines[i].count = io_mtx_count(part->lines[i].begin, part->lines[i].end);
    const spry_status status = io_go_on(ctx, path);
    if (status != SPRY_STATUS_OK)
        return status;
    part->count = 0;
    for (int64_t i = 0; i < part->pieces; i++) {
        part->lines[i].first = part->count;
        part->count += part->lines[i].count;
    }
    return SPRY_STATUS_OK;
}

spry_status io_mtx_miscounted(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                              int64_t found, const char *extra)
{
    if (found < h->entries)
        return io_fault(ctx, bytes, bytes->size,
                        "the file ends after %" PRId64 " of the %" PRId64
                        " entries its header promises",
                        found, h->entries);
    return io_fault(ctx, bytes, (size_t)(extra - bytes->data),
                    "more than the %" PRId64 " entries the header promises", h->entries);
}

/* Counts the body's entries and compares their number with the header's. */
static spry_status count(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                         mtx_part *in)
{
    const char *body = bytes->data + h->body, *end = bytes->data + bytes->size;
    const spry_status status = io_mtx_count_part(ctx, bytes->path, in);
    if (status != SPRY_STATUS_OK || in->count == h->entries)
        return status;
    return io_mtx_miscounted(ctx, bytes, h, in->count, io_mtx_find(body, end, h->entries));
}

spry_status io_mtx_parse_part(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                              mtx_part *in, const mtx_target *target)
{
#pragma omp parallel for schedule(dynamic) num_threads(spry_context_threads(ctx))
    for (int64_t i = 0; i < in->pieces; i++)
        if (!spry_context_interrupted(ctx, false))
            io_mtx_parse(h, &in->lines[i], target);
    const spry_status status = io_go_on(ctx, bytes->path);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < in->pieces; i++)
        if (in->lines[i].fault != MTX_FINE)
            return io_mtx_explain(ctx, bytes, h, &in->lines[i]);
    return SPRY_STATUS_OK;
}

static spry_status read_coordinate(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                                   mtx_part *in, spry_matrix **A)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays a = {.type = h->field == MTX_COMPLEX ? SPRY_TYPE_Z : SPRY_TYPE_D,
                       .format = SPRY_FORMAT_COO,
                       .symmetry = h->symmetry,
                       .rows = h->rows,
                       .cols = h->cols,
                       .nnz = h->entries};
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    const mtx_target target = {
        .row_index = a.row_index, .col_index = a.col_index, .values = a.values};
    SPRY_GO(ctx, io_mtx_parse_part(ctx, bytes, h, in, &target));
    status = matrix_wrap(ctx, &a, A);
    a = (matrix_arrays){0}; /* the matrix's, or freed */
done:
    matrix_free_arrays(ctx, &a);
    return status;
}

/* The line of an array's entry, which for symmetric kinds may stand for its mirror image. */
static int64_t array_line(const mtx_header *h, int64_t row, int64_t col)
{
    if (h->symmetry == SPRY_SYMMETRY_GENERAL)
        return col * h->rows + row;
    const int64_t i = row > col ? row : col, j = row > col ? col : row;
    const int64_t skip = h->symmetry == SPRY_SYMMETRY_SKEW;
    return j * h->rows - j * (j - 1) / 2 - j * skip + i - j - skip;
}

/* The diagonal of a hermitian array must be real. */
static spry_status check_diagonal(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                                  const double *packed)
{
    const char *end = bytes->data + bytes->size;
    for (int64_t j = 0; j < h->rows && h->symmetry == SPRY_SYMMETRY_HERMITIAN; j++) {
        const int64_t line = array_line(h, j, j);
        if (packed[2 * line + 1] != 0)
            return io_fault(ctx, bytes,
                            (size_t)(io_mtx_find(bytes->data + h->body, end, line) - bytes->data),
                            "entry (%" PRId64 ", %" PRId64
                            ") of a hermitian matrix is on the diagonal and not real",
                            j + 1, j + 1);
    }
    return SPRY_STATUS_OK;
}

/* Writes the implied triangle of an array out: packed holds columns from the diagonal (skew: below
 * it) on. */
static void unfold(const mtx_header *h, const double *packed, double *full)
{
    const int64_t n = h->rows, width = h->field == MTX_COMPLEX ? 2 : 1;
    const int64_t skip = h->symmetry == SPRY_SYMMETRY_SKEW;
    const double re_sign = skip ? -1 : 1;
    const double im_sign = h->symmetry == SPRY_SYMMETRY_SYMMETRIC ? 1 : -1;
    for (int64_t j = 0; j < n; j++) {
        if (skip)
            memset(full + width * (j * n + j), 0, (size_t)width * sizeof *full);
        for (int64_t i = j + skip; i < n; i++, packed += width) {
            double *lower = full + width * (j * n + i), *upper = full + width * (i * n + j);
            upper[0] = re_sign * packed[0];
            lower[0] = packed[0];
            if (width == 2) {
                upper[1] = i == j ? packed[1] : im_sign * packed[1];
                lower[1] = packed[1];
            }
        }
    }
}

static spry_status read_array(spry_context *ctx, const io_bytes *bytes, const mtx_header *h,
                              mtx_part *in, io_dense *dense)
{
    spry_status status = SPRY_STATUS_OK;
    const spry_type type = h->field == MTX_COMPLEX ? SPRY_TYPE_Z : SPRY_TYPE_D;
    double *values = NULL, *full = NULL;
    SPRY_GO(ctx, base_alloc(ctx, h->entries, spry_type_size(type), &values));
    const mtx_target target = {.values = values};
    SPRY_GO(ctx, io_mtx_parse_part(ctx, bytes, h, in, &target));
    SPRY_GO(ctx, check_diagonal(ctx, bytes, h, values));
    if (h->symmetry != SPRY_SYMMETRY_GENERAL) {
        SPRY_GO(ctx, base_alloc(ctx, h->rows * h->cols, spry_type_size(type), &full));
        unfold(h, values, full);
        base_free(ctx, values);
        values = full;
    }
    *dense = (io_dense){.type = type, .rows = h->rows, .cols = h->cols, .values = values};
done:
    if (status != SPRY_STATUS_OK)
        base_free(ctx, values);
    return status;
}

static spry_status read_mtx(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    mtx_header header;
    mtx_part in = {0};
    mtx_problem problem;
    if (!io_mtx_read_header(bytes, &header, &problem) || !io_mtx_check_sizes(&header, &problem))
        return io_fault(ctx, bytes, problem.position, "%s", problem.text);
    SPRY_GO(ctx, io_mtx_cut(ctx, bytes->data + header.body, bytes->data + bytes->size, &in));
    SPRY_GO(ctx, count(ctx, bytes, &header, &in));
    if (header.array)
        SPRY_GO(ctx, read_array(ctx, bytes, &header, &in, &content->dense));
    else
        SPRY_GO(ctx, read_coordinate(ctx, bytes, &header, &in, &content->matrix));
done:
    base_free(ctx, in.lines);
    return status;
}

/* Looks through the file again: only done for a message. */
static size_t position_of(const io_bytes *bytes, int64_t row, int64_t col, int occurrence)
{
    mtx_header h;
    mtx_problem problem;
    if (!io_mtx_read_header(bytes, &h, &problem))
        return bytes->size;
    const char *end = bytes->data + bytes->size, *p = bytes->data + h.body;
    if (h.array)
        return (size_t)(io_mtx_find(p, end, array_line(&h, row, col)) - bytes->data);
    for (p = io_mtx_find(p, end, 0); p < end; p = io_mtx_find(mtx_next_line(p, end), end, 0)) {
        int64_t i = 0, j = 0;
        const char *q = base_parse_int(p, end, &i);
        q = q ? base_parse_int(mtx_skip_blanks(q, end), end, &j) : NULL;
        if (q && i == row + 1 && j == col + 1 && --occurrence == 0)
            break;
    }
    return (size_t)(p - bytes->data);
}

const io_format io_mtx = {
    .name = "mtx",
    .endings = ".mtx .mtx.gz",
    .summary = "Matrix Market, text: read and write",
    .text = true,
    .matches = matches,
    .read = read_mtx,
    .write_matrix = io_mtx_write_matrix,
    .write_vector = io_mtx_write_vector,
    .position_of = position_of,
};
