/* Numbers of MATLAB's files, of any type, made to matrices and arrays of ours. */
#include "io/mat.h"

size_t io_mat_number_size(uint32_t type)
{
    switch (type) {
    case MI_INT8:
    case MI_UINT8:
        return 1;
    case MI_INT16:
    case MI_UINT16:
        return 2;
    case MI_INT32:
    case MI_UINT32:
    case MI_SINGLE:
        return 4;
    case MI_DOUBLE:
    case MI_INT64:
    case MI_UINT64:
        return 8;
    default:
        return 0;
    }
}

#define LOAD(kind)                  \
    do {                            \
        kind v;                     \
        memcpy(&v, data, sizeof v); \
        return (double)v;           \
    } while (0)

/* Number k: whole numbers are stored in the smallest type that holds them all. */
static double number_at(const mat_numbers *n, size_t k)
{
    const char *data = n->data + k * n->stride;
    switch (n->type) {
    case MI_INT8:
        LOAD(int8_t);
    case MI_UINT8:
        LOAD(uint8_t);
    case MI_INT16:
        LOAD(int16_t);
    case MI_UINT16:
        LOAD(uint16_t);
    case MI_INT32:
        LOAD(int32_t);
    case MI_UINT32:
        LOAD(uint32_t);
    case MI_SINGLE:
        LOAD(float);
    case MI_INT64:
        LOAD(int64_t);
    case MI_UINT64:
        LOAD(uint64_t);
    default:
        LOAD(double);
    }
}
#undef LOAD

static void copy_values(const mat_numbers *re, const mat_numbers *im, spry_type type, size_t count,
                        void *values)
{
    for (size_t k = 0; k < count; k++) {
        const spry_scalar value = {number_at(re, k), im->data ? number_at(im, k) : 0};
        value_set(type, values, (int64_t)k, value);
    }
}

/* Copies offsets or rows, each a whole number from 0 to `most`. */
static bool copy_whole(const mat_numbers *n, size_t count, double most, int64_t *wide,
                       int32_t *narrow)
{
    for (size_t k = 0; k < count; k++) {
        const double value = number_at(n, k);
        if (!(value >= 0 && value <= most) || value != (double)(int64_t)value)
            return false;
        if (wide)
            wide[k] = (int64_t)value;
        else
            narrow[k] = (int32_t)value;
    }
    return true;
}

spry_status io_mat_take_sparse(spry_context *ctx, const char *path, const mat_sparse *given,
                               io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays a = {.type = given->im.data ? SPRY_TYPE_Z : SPRY_TYPE_D,
                       .format = SPRY_FORMAT_CSC,
                       .rows = given->rows,
                       .cols = given->cols};
    if (a.rows < 0 || a.rows > INT32_MAX || a.cols < 0 || a.cols > INT32_MAX ||
        given->offsets.count <= (size_t)a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: a matrix of %" PRId64 " x %" PRId64 " has %zu offsets of columns",
                         path, a.rows, a.cols, given->offsets.count);
    const double nnz = number_at(&given->offsets, (size_t)a.cols);
    if (!(nnz >= 0 && nnz <= (double)given->row_index.count && nnz <= (double)given->re.count) ||
        (given->im.data && !(nnz <= (double)given->im.count)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: a matrix has fewer rows or values than its %.17g entries", path, nnz);
    a.nnz = (int64_t)nnz;
    SPRY_GO(ctx, matrix_allocate(ctx, &a));
    if (!copy_whole(&given->offsets, (size_t)a.cols + 1, nnz, a.offsets, NULL) ||
        !copy_whole(&given->row_index, (size_t)a.nnz, (double)a.rows - 1, NULL, a.row_index))
        SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: an index is out of range", path));
    copy_values(&given->re, &given->im, a.type, (size_t)a.nnz, a.values);
    SPRY_GO(ctx, SPRY_CAUSE(ctx, matrix_check_arrays(ctx, &a), "%s", path));
    return matrix_wrap(ctx, &a, &content->matrix);
done:
    matrix_free_arrays(ctx, &a);
    return status;
}

spry_status io_mat_take_dense(spry_context *ctx, int64_t rows, int64_t cols, bool single,
                              const mat_numbers *re, const mat_numbers *im, io_content *content)
{
    const bool complex = im->data != NULL;
    io_dense d = {.rows = rows, .cols = cols};
    d.type = single ? (complex ? SPRY_TYPE_C : SPRY_TYPE_S) : (complex ? SPRY_TYPE_Z : SPRY_TYPE_D);
    const spry_status status = base_alloc(ctx, rows * cols, spry_type_size(d.type), &d.values);
    if (status != SPRY_STATUS_OK)
        return status;
    copy_values(re, im, d.type, (size_t)(rows * cols), d.values);
    content->dense = d;
    return status;
}
