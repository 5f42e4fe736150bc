/* The diagonal as a vector. */
#include "matrix/entries.h"

/* Adds up the diagonal entries of each row (column) of a compressed matrix. */
static void gather(const spry_context *ctx, const matrix_arrays *a, int64_t n, void *values)
{
    const int32_t *index = matrix_minor(a);
    const int64_t major = matrix_major(a);
    const int parts = matrix_parts(ctx, a->nnz + n);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(a->offsets, major, parts, part);
        for (int64_t i = rows.begin; i < rows.end && i < n; i++) {
            spry_scalar sum = {0, 0};
            for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
                if (index[k] != i)
                    continue;
                const spry_scalar v = value_load(a->type, a->values, k);
                sum = (spry_scalar){sum.re + v.re, sum.im + v.im};
            }
            value_store(a->type, values, i, sum);
        }
    }
}

spry_status spry_matrix_diagonal(const spry_matrix *A, spry_vector **d)
{
    SPRY_NEED(CTX_OF(A), A, d);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const int64_t n = A->a.rows < A->a.cols ? A->a.rows : A->a.cols;
    spry_matrix *csr = NULL;
    void *values = NULL;
    *d = NULL;
    if (A->a.format == SPRY_FORMAT_COO) {
        SPRY_GO(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &csr));
        A = csr;
    }
    SPRY_GO(ctx, base_alloc(ctx, n, spry_type_size(A->a.type), &values));
    gather(ctx, &A->a, n, values);
    SPRY_GO(ctx, spry_vector_new(ctx, A->a.type, n, values, SPRY_OWN_TAKE, d));
    values = NULL;
done:
    base_free(ctx, values);
    spry_matrix_free(csr);
    return status;
}
