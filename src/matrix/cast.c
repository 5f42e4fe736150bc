/* The same matrix with numbers of another type; what does not fit is an error, not a silent change.
 */
#include "matrix/entries.h"

/* Converts a range of values; returns the first that the type cannot hold, or the end. */
ALWAYS_INLINE int64_t cast_values(spry_type from, spry_type to, const void *in, void *out,
                                  range entries)
{
    const bool single = type_is_single(to);
    const bool real = to == SPRY_TYPE_S || to == SPRY_TYPE_D;
    for (int64_t k = entries.begin; k < entries.end; k++) {
        const spry_scalar v = value_load(from, in, k);
        if (real && v.im != 0)
            return k;
        if (single && value_overflows_single(v))
            return k;
        value_store(to, out, k, v);
    }
    return entries.end;
}

/* One loop a pair of types, so that none asks for the type of each number. */
static int64_t cast_range(spry_type from, spry_type to, const void *in, void *out, range entries)
{
    switch (4 * (int)from + (int)to) {
    case 4 * SPRY_TYPE_S + SPRY_TYPE_D:
        return cast_values(SPRY_TYPE_S, SPRY_TYPE_D, in, out, entries);
    case 4 * SPRY_TYPE_D + SPRY_TYPE_S:
        return cast_values(SPRY_TYPE_D, SPRY_TYPE_S, in, out, entries);
    default:
        return cast_values(from, to, in, out, entries);
    }
}

static spry_status fail_cast(const spry_matrix *A, spry_type type, int64_t k)
{
    int64_t row, col;
    matrix_place(&A->a, k, &row, &col);
    const spry_scalar v = value_get(A->a.type, A->a.values, k);
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_INPUT,
                     "row %" PRId64 ", column %" PRId64 " (from 0): (%g, %g) does not fit type %s",
                     row, col, v.re, v.im, spry_type_name(type));
}

spry_status spry_matrix_cast(const spry_matrix *A, spry_type type, spry_matrix **B)
{
    SPRY_NEED(CTX_OF(A), A, B);
    matrix_follow(A);
    const matrix_arrays *a = &A->a;
    spry_context *ctx = A->ctx;
    *B = NULL;
    spry_status status = base_check_type(ctx, type);
    if (status != SPRY_STATUS_OK)
        return status;
    if (type == a->type)
        return matrix_copy(A, B);
    matrix_arrays to = matrix_like(a, a->format);
    to.type = type;
    SPRY_GO(ctx, matrix_allocate(ctx, &to));
    matrix_copy_structure(ctx, a, &to);
    const int parts = matrix_parts(ctx, a->nnz);
    int64_t fault = a->nnz;
#pragma omp parallel for num_threads(parts) schedule(static, 1) reduction(min : fault)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(a->nnz, parts, part, 1);
        const int64_t k = cast_range(a->type, type, a->values, to.values, r);
        if (k < r.end && k < fault)
            fault = k;
    }
    if (fault < a->nnz)
        SPRY_GO(ctx, fail_cast(A, type, fault));
done:
    status = matrix_finish(ctx, status, &to, B);
    /* Mirror images are rounded alike; small numbers may become 0. */
    if (status == SPRY_STATUS_OK)
        matrix_carry(A, *B,
                     FACTS_ALL & ~FACT_BIT(SPRY_FACT_DEFINITE) &
                         ~FACT_BIT(SPRY_FACT_POSITIVE_DIAGONAL));
    return status;
}
