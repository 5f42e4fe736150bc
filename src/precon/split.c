/* Blocks of a matrix whose rows are in two parts. */
#include "precon/split.h"

#include <spry/algebra.h>
#include <spry/scale.h>

spry_status split_block(const precon_split *s, const spry_matrix *A, int rows, int cols,
                        bool diagonal, spry_matrix **block)
{
    const matrix_arrays *a = &A->a;
    const size_t size = spry_type_size(a->type);
    matrix_arrays b = {
        .format = SPRY_FORMAT_CSR, .type = a->type, .rows = s->n[rows], .cols = s->n[cols]};
    int64_t to = 0, row = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1] && split_part(s, i) == rows; k++)
            b.nnz += split_part(s, a->col_index[k]) == cols && (!diagonal || a->col_index[k] == i);
    SPRY_GO(A->ctx, matrix_allocate(A->ctx, &b));
    b.offsets[0] = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        if (split_part(s, i) != rows)
            continue;
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int32_t j = a->col_index[k];
            if (split_part(s, j) != cols || (diagonal && j != i))
                continue;
            b.col_index[to] = split_place(s, j);
            element_move(size, b.values, to++, a->values, k);
        }
        b.offsets[++row] = to;
    }
    SPRY_GO(A->ctx, matrix_wrap(A->ctx, &b, block));
done:
    return status;
}

spry_status split_schur(double sign, const spry_matrix *C, const spry_matrix *B,
                        const spry_matrix *E, const spry_vector *inverse, spry_matrix **S)
{
    spry_context *ctx = C->ctx;
    spry_matrix *scaled = NULL, *product = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_matrix_convert(B, SPRY_FORMAT_CSR, &scaled));
    SPRY_GO(ctx, spry_matrix_scale(scaled, inverse, NULL));
    SPRY_GO(ctx, spry_matrix_multiply(E, scaled, &product));
    SPRY_GO(ctx, spry_matrix_add((spry_scalar){sign, 0}, C, (spry_scalar){-sign, 0}, product, S));
    SPRY_GO(ctx, spry_matrix_sort(*S));
    SPRY_GO(ctx, matrix_check_values(*S));
done:
    spry_matrix_free(scaled);
    spry_matrix_free(product);
    return status;
}

spry_status split_multiply(const spry_operator *A, spry_transpose transpose, double alpha,
                           const spry_vector *x, double beta, spry_vector *y)
{
    return spry_operator_multiply(A, transpose, (spry_scalar){alpha, 0}, x, (spry_scalar){beta, 0},
                                  y);
}
