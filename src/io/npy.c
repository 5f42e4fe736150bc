/* Reading and writing dense arrays as NumPy's .npy. */
#include "io/npy.h"

/* A C-ordered array of two dimensions column by column. */
static void copy_by_columns(spry_context *ctx, const npy_array *a, io_dense *dense)
{
#pragma omp parallel for schedule(static) num_threads(spry_context_threads(ctx))
    for (int64_t j = 0; j < dense->cols; j++)
        for (int64_t i = 0; i < dense->rows; i++)
            value_set(dense->type, dense->values, j * dense->rows + i,
                      io_npy_number(a, i * dense->cols + j));
}

/* Rows of nothing would cost memory that the file does not account for. */
static spry_status check_numbers(spry_context *ctx, const char *path, int64_t rows, int64_t cols)
{
    if ((rows == 0 || cols == 0) && (rows > 1 || cols > 1))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: the array has rows or columns, but no numbers", path);
    return SPRY_STATUS_OK;
}

static spry_status read_array(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    npy_array a;
    io_dense dense = {0};
    SPRY_GO(ctx, io_npy_parse(ctx, bytes->path, bytes->data, bytes->size, bytes->size, &a));
    SPRY_GO(ctx, io_npy_type(ctx, &a, &dense.type));
    if (a.dims < 1 || (a.dims == 3 && a.fortran))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: the array has %d dimensions%s, a vector has 1 and a matrix 2",
                         bytes->path, a.dims, a.fortran ? " in Fortran's order" : "");
    dense.rows = a.shape[0];
    dense.cols = a.dims >= 2 ? a.shape[a.dims - 1] : 1;
    if (a.dims == 3) {
        dense.planes = a.shape[0];
        dense.rows *= a.shape[1]; /* the parser has multiplied them, too */
    }
    if (dense.rows > INT32_MAX || dense.cols > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: %" PRId64 " by %" PRId64 " numbers: a side is at most %" PRId32,
                         bytes->path, dense.rows, dense.cols, INT32_MAX);
    SPRY_GO(ctx, check_numbers(ctx, bytes->path, dense.rows, dense.cols));
    SPRY_GO(ctx, base_alloc(ctx, a.count, spry_type_size(dense.type), &dense.values));
    if (a.fortran || dense.rows <= 1 || dense.cols <= 1)
        io_npy_copy(ctx, &a, dense.type, dense.values);
    else
        copy_by_columns(ctx, &a, &dense);
    content->dense = dense;
done:
    return status;
}

static spry_status write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    spry_context *ctx = v->ctx;
    char header[NPY_HEADER];
    io_writer *w = NULL;
    spry_status status = io_create(ctx, path, &w);
    if (status != SPRY_STATUS_OK)
        return status;
    const int64_t shape[] = {v->n / cols, cols};
    io_write(w, header,
             io_npy_header(header, io_npy_descr(v->type), cols == 1 ? 1 : 2, shape, cols > 1));
    io_write(w, v->data, (size_t)v->n * spry_type_size(v->type));
    return io_commit(ctx, w);
}

/* A sparse matrix easily makes a file that no memory holds and no disk has room for. */
static spry_status check_dense_size(const spry_matrix *A, const char *path)
{
    const int64_t limit = A->ctx->options.memory_limit;
    const double bytes = (double)A->a.rows * (double)A->a.cols * (double)spry_type_size(A->a.type);
    if (limit > 0 && bytes > (double)limit)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_NO_MEMORY,
                         "%s: %" PRId64 " x %" PRId64 " numbers, zeros included, take %.3g bytes; "
                         "the memory limit is %" PRId64,
                         path, A->a.rows, A->a.cols, bytes, limit);
    return SPRY_STATUS_OK;
}

/* All places of the matrix, zeros included, row by row. */
static spry_status write_matrix(const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    char header[NPY_HEADER];
    void *row = NULL;
    io_writer *w = NULL;
    const spry_type type = A->a.type;
    const size_t bytes = (size_t)A->a.cols * spry_type_size(type);
    SPRY_GO(ctx, check_numbers(ctx, path, A->a.rows, A->a.cols));
    SPRY_GO(ctx, check_dense_size(A, path));
    SPRY_GO(ctx, matrix_as_csr(A, &csr, &owned));
    SPRY_GO(ctx, base_alloc(ctx, A->a.cols, spry_type_size(type), &row));
    SPRY_GO(ctx, io_create(ctx, path, &w));
    io_write(
        w, header,
        io_npy_header(header, io_npy_descr(type), 2, (int64_t[]){A->a.rows, A->a.cols}, false));
    for (int64_t i = 0; i < csr->a.rows && !io_write_failed(w); i++) {
        memset(row, 0, bytes);
        for (int64_t k = csr->a.offsets[i]; k < csr->a.offsets[i + 1]; k++) {
            spry_scalar sum = value_get(type, row, csr->a.col_index[k]);
            const spry_scalar value = value_get(type, csr->a.values, k);
            sum.re += value.re, sum.im += value.im; /* entries at one place add up */
            value_set(type, row, csr->a.col_index[k], sum);
        }
        io_write(w, row, bytes);
    }
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    base_free(ctx, row);
    spry_matrix_free(owned);
    return status;
}

static bool matches(const io_bytes *bytes)
{
    return bytes->size >= 6 && memcmp(bytes->data, "\x93NUMPY", 6) == 0;
}

const io_format io_npy = {
    .name = "npy",
    .endings = ".npy",
    .summary = "NumPy array, dense",
    .matches = matches,
    .read = read_array,
    .write_matrix = write_matrix,
    .write_vector = write_vector,
};
