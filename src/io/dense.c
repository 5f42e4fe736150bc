/* Dense arrays from files as matrices and vectors. */
#include "io/finish.h"

/* Whether number k of an array is anything but 0; a NaN is. */
static bool is_entry(spry_type type, const void *values, int64_t k)
{
    const spry_scalar value = value_get(type, values, k);
    return value.re != 0 || value.im != 0;
}

/* Counts the entries of each row at offsets[row + 1], or stores them at offsets[row] and advances
 * it. Threads take ranges of rows and go down the columns, so that columns rise within rows. */
static void sweep(spry_context *ctx, const io_dense *dense, matrix_arrays *a, bool store)
{
    const int threads = spry_context_threads(ctx);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; t++) {
        const range rows = base_share(dense->rows, threads, t, 8);
        for (int64_t j = 0; j < dense->cols; j++) {
            for (int64_t i = rows.begin; i < rows.end; i++) {
                const int64_t from = j * dense->rows + i;
                if (!is_entry(dense->type, dense->values, from))
                    continue;
                if (store) {
                    const int64_t k = a->offsets[i]++;
                    a->col_index[k] = (int32_t)j;
                    value_set(a->type, a->values, k, value_get(dense->type, dense->values, from));
                } else {
                    a->offsets[i + 1]++;
                }
            }
        }
    }
}

spry_status io_dense_to_matrix(spry_context *ctx, const io_dense *dense, spry_matrix **A)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays a = {
        .type = dense->type, .format = SPRY_FORMAT_CSR, .rows = dense->rows, .cols = dense->cols};
    if (dense->rows > INT32_MAX || dense->cols > INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%" PRId64 " x %" PRId64 " is more than the %d rows and columns spry can "
                         "index",
                         dense->rows, dense->cols, INT32_MAX);
    SPRY_GO(ctx, base_calloc(ctx, a.rows + 1, sizeof *a.offsets, &a.offsets));
    sweep(ctx, dense, &a, false);
    SPRY_GO(ctx, base_prefix_sum(ctx, a.offsets, a.rows));
    a.nnz = a.offsets[a.rows];
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, sizeof *a.col_index, &a.col_index));
    SPRY_GO(ctx, base_alloc(ctx, a.nnz, spry_type_size(a.type), &a.values));
    sweep(ctx, dense, &a, true);
    /* Each offset has moved on to the next row's. */
    memmove(a.offsets + 1, a.offsets, (size_t)a.rows * sizeof *a.offsets);
    a.offsets[0] = 0;
    status = matrix_wrap(ctx, &a, A);
    a = (matrix_arrays){0}; /* the matrix's, or freed */
done:
    matrix_free_arrays(ctx, &a);
    return status;
}

spry_status io_matrix_to_dense(const spry_matrix *A, io_dense *dense)
{
    spry_status status = SPRY_STATUS_OK;
    const matrix_arrays *a = &A->a;
    *dense = (io_dense){.type = a->type, .rows = a->rows, .cols = a->cols};
    SPRY_GO(A->ctx,
            base_calloc(A->ctx, a->rows * a->cols, spry_type_size(a->type), &dense->values));
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++)
            value_set(a->type, dense->values, a->col_index[k] * a->rows + i,
                      value_get(a->type, a->values, k));
done:
    return status;
}
