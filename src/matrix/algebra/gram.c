/*
 * A^T A and A^H A. Row i is the sum of the rows of A that row i of A^T names; only what lies on and
 * below the diagonal is made, which is half of the work, and mirrored.
 */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

/* A number times its conjugate is real, but for rounding where products and sums are fused. */
static void make_diagonal_real(const spry_matrix *C)
{
    const matrix_arrays *c = &C->a;
    for (int64_t i = 0; i < c->rows; i++) {
        const int64_t k = c->offsets[i + 1] - 1;
        if (k < c->offsets[i] || c->col_index[k] != i)
            continue;
        const spry_scalar v = value_get(c->type, c->values, k);
        value_set(c->type, c->values, k, (spry_scalar){v.re, 0});
    }
}

/* A^T as CSR: sorted CSC arrays are those already, else *owned has it. */
static spry_status transpose(const spry_matrix *A, const spry_matrix *csr, spry_matrix *view,
                             spry_matrix **owned, const spry_matrix **transposed)
{
    const matrix_arrays *a = &A->a;
    if (a->format != SPRY_FORMAT_CSC || a->symmetry != SPRY_SYMMETRY_GENERAL ||
        !matrix_is_sorted(A->ctx, A, true)) {
        const spry_status status = spry_matrix_transpose(csr, false, owned);
        *transposed = *owned;
        return status;
    }
    *view = (spry_matrix){.ctx = A->ctx, .a = *a};
    view->a.format = SPRY_FORMAT_CSR;
    view->a.rows = a->cols;
    view->a.cols = a->rows;
    view->a.col_index = a->row_index;
    view->a.row_index = NULL;
    *transposed = view;
    return SPRY_STATUS_OK;
}

spry_status spry_matrix_gram(const spry_matrix *A, bool conjugate, spry_matrix **C)
{
    SPRY_NEED(CTX_OF(A), A, C);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *csr = NULL, *transposed = NULL;
    spry_matrix *own = NULL, *own_transposed = NULL, *lower = NULL, view;
    *C = NULL;
    conjugate = conjugate && spry_type_is_complex(A->a.type);
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &own));
    SPRY_GO(ctx, transpose(A, csr, &view, &own_transposed, &transposed));
    SPRY_GO(ctx, algebra_multiply(transposed, csr, conjugate, true, &lower));
    spry_matrix_free(own_transposed);
    spry_matrix_free(own);
    own_transposed = own = NULL;
    if (conjugate)
        make_diagonal_real(lower);
    SPRY_GO(ctx, spry_matrix_expand(lower, C));
done:
    spry_matrix_free(lower);
    spry_matrix_free(own_transposed);
    spry_matrix_free(own);
    return status;
}
