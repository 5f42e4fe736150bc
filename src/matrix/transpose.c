/* A^T and A^H. */
#include "matrix/entries.h"

void matrix_flip_values(const spry_context *ctx, spry_type type, void *values, int64_t n,
                        bool negate, bool conjugate)
{
    conjugate = conjugate && spry_type_is_complex(type);
    if (!negate && !conjugate)
        return;
    const int parts = matrix_parts(ctx, n);
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        spry_scalar v = value_load(type, values, k);
        if (negate)
            v = (spry_scalar){-v.re, -v.im};
        if (conjugate)
            v.im = -v.im;
        value_store(type, values, k, v);
    }
}

/* Groups a general compressed matrix by its other index: A^T in A's format. */
static spry_status transpose_compressed(spry_context *ctx, const matrix_arrays *a,
                                        matrix_arrays *to)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_allocate(ctx, to));
    SPRY_GO(ctx, matrix_group(ctx, a, a->format == SPRY_FORMAT_CSC, to));
done:
    return status;
}

static spry_status transpose_coo(spry_context *ctx, const matrix_arrays *a, matrix_arrays *to)
{
    const spry_status status = matrix_allocate(ctx, to);
    if (status != SPRY_STATUS_OK)
        return status;
    const size_t nnz = (size_t)a->nnz;
    matrix_copy_bytes(ctx, to->row_index, a->col_index, nnz * sizeof(int32_t));
    matrix_copy_bytes(ctx, to->col_index, a->row_index, nnz * sizeof(int32_t));
    matrix_copy_bytes(ctx, to->values, a->values, nnz * spry_type_size(a->type));
    return SPRY_STATUS_OK;
}

spry_status matrix_transpose_arrays(spry_context *ctx, const matrix_arrays *a, matrix_arrays *to)
{
    *to = matrix_like(a, a->format);
    to->rows = a->cols;
    to->cols = a->rows;
    return a->format == SPRY_FORMAT_COO ? transpose_coo(ctx, a, to)
                                        : transpose_compressed(ctx, a, to);
}

spry_status spry_matrix_transpose(const spry_matrix *A, bool conjugate, spry_matrix **B)
{
    SPRY_NEED(CTX_OF(A), A, B);
    matrix_follow(A);
    spry_status status = SPRY_STATUS_OK;
    const spry_symmetry symmetry = A->a.symmetry;
    *B = NULL;
    if (symmetry == SPRY_SYMMETRY_GENERAL) {
        matrix_arrays to;
        status = matrix_transpose_arrays(A->ctx, &A->a, &to);
        SPRY_GO(A->ctx, matrix_finish(A->ctx, status, &to, B));
        matrix_carry(A, *B, FACTS_BUT_ORDER);
    } else { /* the same places; A^T is A, -A or conj(A) */
        SPRY_GO(A->ctx, matrix_copy(A, B));
    }
    matrix_flip_values(A->ctx, A->a.type, (*B)->a.values, A->a.nnz, symmetry == SPRY_SYMMETRY_SKEW,
                       conjugate != (symmetry == SPRY_SYMMETRY_HERMITIAN));
done:
    return status;
}
