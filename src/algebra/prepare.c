/* What every sum and product begins with. */
#include "algebra/algebra.h"

#include "matrix/entries.h"

spry_status algebra_prepare(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned)
{
    spry_status status = SPRY_OK;
    SPRY_GO(A->ctx, matrix_as_csr(A, csr, owned));
    if (matrix_sorted(A->ctx, &(*csr)->a, true))
        return SPRY_OK;
    if (!*owned)
        SPRY_GO(A->ctx, matrix_copy(A, owned));
    *csr = *owned;
    SPRY_GO(A->ctx, spry_matrix_sum_duplicates(*owned));
done:
    return status;
}

spry_status algebra_check_pair(const char *what, const spry_matrix *A, const spry_matrix *B)
{
    if (A->ctx != B->ctx)
        return SPRY_FAIL(A->ctx, SPRY_BAD_USAGE, "%s: the matrices are of different contexts",
                         what);
    if (A->a.type != B->a.type)
        return SPRY_FAIL(A->ctx, SPRY_BAD_USAGE,
                         "%s: the matrices are of types %s and %s; spry_matrix_cast() changes one",
                         what, spry_type_name(A->a.type), spry_type_name(B->a.type));
    return SPRY_OK;
}
