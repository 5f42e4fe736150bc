/* R A P: the matrix of a coarse level. */
#include "matrix/algebra/algebra.h"

#include "matrix/entries.h"

static spry_status check_sizes(const spry_matrix *R, const spry_matrix *A, const spry_matrix *P)
{
    if (A->a.cols != P->a.rows)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "triple product: A has %" PRId64 " columns, P %" PRId64 " rows", A->a.cols,
                         P->a.rows);
    if (R ? R->a.cols != A->a.rows : P->a.rows != A->a.rows)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "triple product: %s has %" PRId64 " columns, A %" PRId64 " rows",
                         R ? "R" : "P^H", R ? R->a.cols : P->a.rows, A->a.rows);
    return SPRY_STATUS_OK;
}

spry_status spry_matrix_triple(const spry_matrix *R, const spry_matrix *A, const spry_matrix *P,
                               spry_matrix **C)
{
    SPRY_NEED(CTX_OF_ANY(A, P), A, P, C);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *r = NULL, *a = NULL, *p = NULL;
    spry_matrix *own_r = NULL, *own_a = NULL, *own_p = NULL, *half = NULL;
    *C = NULL;
    SPRY_GO(ctx, algebra_check_pair("triple product", A, P));
    if (R)
        SPRY_GO(ctx, algebra_check_pair("triple product", A, R));
    SPRY_GO(ctx, check_sizes(R, A, P));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &a, &own_a));
    SPRY_GO(ctx, matrix_as_sorted_csr(P, &p, &own_p));
    if (R) {
        SPRY_GO(ctx, matrix_as_sorted_csr(R, &r, &own_r));
    } else {
        SPRY_GO(ctx, spry_matrix_transpose(p, true, &own_r));
        r = own_r;
    }
    if (algebra_multiply_work(a, p) <= algebra_multiply_work(r, a)) {
        SPRY_GO(ctx, algebra_multiply(a, p, false, false, &half));
        SPRY_GO(ctx, algebra_multiply(r, half, false, false, C));
    } else {
        SPRY_GO(ctx, algebra_multiply(r, a, false, false, &half));
        SPRY_GO(ctx, algebra_multiply(half, p, false, false, C));
    }
done:
    spry_matrix_free(half);
    spry_matrix_free(own_r);
    spry_matrix_free(own_p);
    spry_matrix_free(own_a);
    return status;
}
