/* What preconditioners for hermitian matrices ask of A. */
#include "precon/precon.h"

spry_status precon_check_hermitian(const spry_matrix *A, const char *name, const char *instead,
                                   bool *pattern)
{
    spry_context *ctx = A->ctx;
    const bool is_complex = spry_type_is_complex(A->a.type);
    bool hermitian = false;
    matrix_mirror found;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, &hermitian));
    if (hermitian) {
        SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_PATTERN_SYMMETRIC, pattern));
        return SPRY_STATUS_OK;
    }
    if (A->distributed) /* no rank has all rows to look for the place */
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "precon %s is for %s matrices; take %s", name,
                         is_complex ? "hermitian" : "symmetric", instead);
    SPRY_GO(ctx, matrix_compare_mirror(ctx, A, false, &found)); /* again, for its place */
    status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                       "precon %s: row %" PRId64 " (from 0) is not the %s its column, and %s is "
                       "for %s matrices; take %s",
                       name, found.unlike, is_complex ? "conjugate of" : "same as", name,
                       is_complex ? "hermitian" : "symmetric", instead);
done:
    return status;
}
