/* Writing Matrix Market files: blocks of lines are formatted in parallel and written in order. */
#include "io/mtx.h"

enum { BLOCK = 1 << 13, LINE = MTX_LINE };

/* Formats entries begin to end - 1, a line each; returns the number of characters. */
typedef size_t format_lines(const void *data, range entries, char *out);

static size_t print_value(spry_type type, const void *values, int64_t k, char *out)
{
    char *p = out;
    switch (type) {
    case SPRY_TYPE_S:
        p += io_print_float(p, ((const float *)values)[k]);
        break;
    case SPRY_TYPE_D:
        p += io_print_double(p, ((const double *)values)[k]);
        break;
    case SPRY_TYPE_C:
        p += io_print_float(p, ((const float *)values)[2 * k]);
        *p++ = ' ';
        p += io_print_float(p, ((const float *)values)[2 * k + 1]);
        break;
    case SPRY_TYPE_Z:
        p += io_print_double(p, ((const double *)values)[2 * k]);
        *p++ = ' ';
        p += io_print_double(p, ((const double *)values)[2 * k + 1]);
        break;
    }
    *p++ = '\n';
    return (size_t)(p - out);
}

static size_t print_place(int64_t row, int64_t col, char *out)
{
    char *p = out;
    p += io_print_int(p, row + 1);
    *p++ = ' ';
    p += io_print_int(p, col + 1);
    *p++ = ' ';
    return (size_t)(p - out);
}

static size_t format_entries(const void *data, range entries, char *out)
{
    const matrix_arrays *a = data;
    char *p = out;
    int64_t row, col;
    matrix_place(a, entries.begin, &row, &col);
    for (int64_t k = entries.begin; k < entries.end; k++) {
        while (a->format == SPRY_FORMAT_CSR && a->offsets[row + 1] <= k)
            row++;
        while (a->format == SPRY_FORMAT_CSC && a->offsets[col + 1] <= k)
            col++;
        p += print_place(a->format == SPRY_FORMAT_CSR ? row : a->row_index[k],
                         a->format == SPRY_FORMAT_CSC ? col : a->col_index[k], p);
        p += print_value(a->type, a->values, k, p);
    }
    return (size_t)(p - out);
}

size_t io_mtx_format_numbers(spry_type type, const void *values, range entries, char *out)
{
    char *p = out;
    for (int64_t k = entries.begin; k < entries.end; k++)
        p += print_value(type, values, k, p);
    return (size_t)(p - out);
}

static size_t format_numbers(const void *data, range entries, char *out)
{
    const spry_vector *v = data;
    return io_mtx_format_numbers(v->type, v->data, entries, out);
}

/* Formats count lines, as many blocks at a time as there are threads for. */
static spry_status write_lines(spry_context *ctx, io_writer *writer, format_lines *format,
                               const void *data, int64_t count)
{
    spry_status status = SPRY_STATUS_OK;
    const int64_t blocks = count / BLOCK + (count % BLOCK != 0);
    const int most = spry_context_threads(ctx), threads = blocks < most ? (int)blocks : most;
    char *text = NULL;
    size_t *length = NULL;
    SPRY_GO(ctx, base_alloc(ctx, threads, BLOCK * LINE, &text));
    SPRY_GO(ctx, base_alloc(ctx, threads, sizeof *length, &length));
    for (int64_t begin = 0; begin < count && !io_write_failed(writer);
         begin += (int64_t)threads * BLOCK) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; t++) {
            const int64_t from = begin + (int64_t)t * BLOCK;
            const range block = {from, from + BLOCK < count ? from + BLOCK : count};
            length[t] = from < count ? format(data, block, text + (size_t)t * BLOCK * LINE) : 0;
        }
        for (int t = 0; t < threads; t++)
            io_write(writer, text + (size_t)t * BLOCK * LINE, length[t]);
    }
done:
    base_free(ctx, text);
    base_free(ctx, length);
    return status;
}

static spry_status write_file(spry_context *ctx, const char *path, const char *head,
                              format_lines *format, const void *data, int64_t count)
{
    spry_status status = SPRY_STATUS_OK;
    io_writer *writer = NULL;
    SPRY_GO(ctx, io_create(ctx, path, &writer));
    io_printf(writer, "%%%%MatrixMarket matrix %s", head);
    SPRY_GO(ctx, write_lines(ctx, writer, format, data, count));
    status = io_commit(ctx, writer);
    writer = NULL;
done:
    io_abort(ctx, writer);
    return status;
}

const char *io_mtx_field(spry_type type)
{
    return spry_type_is_complex(type) ? "complex" : "real";
}

spry_status io_mtx_write_matrix(const spry_matrix *A, const char *path)
{
    static const char *const words[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    const matrix_arrays *a = &A->a;
    /* A real hermitian matrix is a symmetric one, and the format knows it only as such. */
    const bool real = !spry_type_is_complex(a->type);
    const spry_symmetry kind =
        real && a->symmetry == SPRY_SYMMETRY_HERMITIAN ? SPRY_SYMMETRY_SYMMETRIC : a->symmetry;
    char head[128];
    snprintf(head, sizeof head, "coordinate %s %s\n%" PRId64 " %" PRId64 " %" PRId64 "\n",
             io_mtx_field(a->type), words[kind], a->rows, a->cols, a->nnz);
    return write_file(A->ctx, path, head, format_entries, a, a->nnz);
}

spry_status io_mtx_write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    char head[128];
    snprintf(head, sizeof head, "array %s general\n%" PRId64 " %" PRId64 "\n",
             io_mtx_field(v->type), v->n / cols, cols);
    return write_file(v->ctx, path, head, format_numbers, v, v->n);
}
