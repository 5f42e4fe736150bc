/* The same matrix in another format. */
#include "matrix/entries.h"

/* Fills `to`, which is allocated and of another format than `from`. */
static spry_status fill(spry_context *ctx, const matrix_arrays *from, const matrix_arrays *to)
{
    if (to->format != SPRY_FORMAT_COO)
        return matrix_group(ctx, from, to->format == SPRY_FORMAT_CSR, to);
    const size_t nnz = (size_t)from->nnz;
    const bool by_row = from->format == SPRY_FORMAT_CSR;
    matrix_write_major(ctx, from, by_row ? to->row_index : to->col_index);
    matrix_copy_bytes(ctx, by_row ? to->col_index : to->row_index, matrix_minor(from),
                      nnz * sizeof(int32_t));
    matrix_copy_bytes(ctx, to->values, from->values, nnz * spry_type_size(from->type));
    return SPRY_STATUS_OK;
}

spry_status spry_matrix_convert(const spry_matrix *A, spry_format format, spry_matrix **B)
{
    SPRY_NEED(CTX_OF(A), A, B);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    *B = NULL;
    if (format < SPRY_FORMAT_COO || format > SPRY_FORMAT_CSC)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "format is %d, expected coo, csr or csc",
                         (int)format);
    if (format == A->a.format)
        return matrix_copy(A, B);
    matrix_arrays to = matrix_like(&A->a, format);
    SPRY_GO(ctx, matrix_allocate(ctx, &to));
    SPRY_GO(ctx, fill(ctx, &A->a, &to));
done:
    status = matrix_finish(ctx, status, &to, B);
    if (status == SPRY_STATUS_OK)
        matrix_carry(A, *B, FACTS_BUT_ORDER);
    return status;
}

/* Offsets are all that COO with rising rows (columns) lacks to be CSR (CSC), and an index array all
 * that CSR or CSC lacks to be COO. */
static spry_status complete(spry_matrix *A, spry_format format, bool *completed)
{
    spry_context *ctx = A->ctx;
    matrix_arrays *a = &A->a;
    spry_status status = SPRY_STATUS_OK;
    const bool by_row = (format == SPRY_FORMAT_COO ? a->format : format) == SPRY_FORMAT_CSR;
    const int64_t major = by_row ? a->rows : a->cols;
    int32_t **index = by_row ? &a->row_index : &a->col_index;
    *completed = false;
    if (A->owns != MATRIX_OWNS_ALL)
        return SPRY_STATUS_OK;
    if (format == SPRY_FORMAT_COO) {
        int32_t *made = NULL;
        SPRY_GO(ctx, base_alloc(ctx, a->nnz, sizeof *made, &made));
        matrix_write_major(ctx, a, made);
        base_free(ctx, a->offsets);
        a->offsets = NULL;
        *index = made;
    } else if (a->format == SPRY_FORMAT_COO && matrix_rises(ctx, *index, a->nnz)) {
        int64_t *made = NULL;
        SPRY_GO(ctx, base_alloc(ctx, major + 1, sizeof *made, &made));
        matrix_count_rising(ctx, *index, a->nnz, major, made);
        base_free(ctx, *index);
        *index = NULL;
        a->offsets = made;
    } else {
        return SPRY_STATUS_OK;
    }
    a->format = format;
    *completed = true;
done:
    return status;
}

spry_status matrix_become(spry_matrix *A, spry_format format)
{
    spry_status status = SPRY_STATUS_OK;
    bool completed = A->a.format == format;
    if (completed)
        return SPRY_STATUS_OK;
    matrix_forget(A, FACT_BIT(SPRY_FACT_SORTED)); /* which means another order then */
    SPRY_GO(A->ctx, complete(A, format, &completed));
    if (!completed) {
        spry_matrix *B = NULL;
        SPRY_GO(A->ctx, spry_matrix_convert(A, format, &B));
        matrix_replace(A, &B->a);
        base_object_free(A->ctx, B);
    }
done:
    return status;
}
