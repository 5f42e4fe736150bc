/* What every sum and product begins with. */
#include "matrix/algebra/algebra.h"

spry_status algebra_check_pair(const char *what, const spry_matrix *A, const spry_matrix *B)
{
    if (A->ctx != B->ctx)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: the matrices are of different contexts", what);
    if (A->a.type != B->a.type)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "%s: the matrices are of types %s and %s; spry_matrix_cast() changes one",
                         what, spry_type_name(A->a.type), spry_type_name(B->a.type));
    return SPRY_STATUS_OK;
}
