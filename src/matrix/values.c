/* New values for a matrix. */
#include "matrix/distribution.h"
#include "matrix/entries.h"

int64_t dist_entries(const spry_matrix *A)
{
    const distributed *s = A->distributed;
    if (!s)
        return A->a.nnz;
    int64_t count = s->own->a.nnz;
    for (int64_t k = 0; k < s->edge->a.nnz; k++) /* own entries of edge rows are stored twice */
        count += s->edge->a.col_index[k] >= s->kept;
    return count;
}

spry_status dist_check_editable(const spry_matrix *A)
{
    if (A->distributed) /* the parts of it that products use would stay as they are */
        return SPRY_FAIL(
            A->ctx, SPRY_STATUS_UNSUPPORTED,
            "a matrix that is distributed over ranks cannot be changed: create it again");
    return matrix_check_changeable(A);
}

/* --- new values ----------------------------------------------------------------------------------
 */

static size_t value_bytes(const spry_matrix *A)
{
    return (size_t)A->a.nnz * spry_type_size(A->a.type);
}

/* What the diagonals of skew-symmetric and hermitian matrices must be. */
static spry_status check_values(const spry_matrix *A, const void *values)
{
    matrix_arrays a = A->a;
    if (a.symmetry != SPRY_SYMMETRY_SKEW && a.symmetry != SPRY_SYMMETRY_HERMITIAN)
        return SPRY_STATUS_OK;
    a.values = (void *)(uintptr_t)values;
    const spry_arrays shown = matrix_shown(&a);
    return matrix_check_entries(A->ctx, &a, &shown);
}

/* Gives A these values in the place of those it had. */
static void put_values(spry_matrix *A, void *values, bool owned)
{
    matrix_part(A);
    if (A->owns & MATRIX_OWNS_VALUES && A->a.values != values)
        base_free(A->ctx, A->a.values);
    A->a.values = values;
    A->owns = owned ? A->owns | MATRIX_OWNS_VALUES : A->owns & ~(unsigned)MATRIX_OWNS_VALUES;
}

/* Memory of A's own for values, which it does not fill. */
static spry_status make_room(spry_matrix *A)
{
    void *values = NULL;
    if (A->owns & MATRIX_OWNS_VALUES)
        return SPRY_STATUS_OK;
    const spry_status status = base_alloc(A->ctx, A->a.nnz, spry_type_size(A->a.type), &values);
    if (status == SPRY_STATUS_OK)
        put_values(A, values, true);
    return status;
}

spry_status spry_matrix_set_values(spry_matrix *A, const void *values, spry_own own)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    status = vector_check_own(ctx, own);
    SPRY_GO(ctx, A->distributed ? team_agree(ctx, status) : status);
    if (A->distributed) {
        SPRY_GO(ctx, A->distributed->class->set_values(A, values));
        if (own == SPRY_OWN_TAKE)
            spry_free(ctx, (void *)(uintptr_t)values);
        return status;
    }
    SPRY_GO(ctx, matrix_check_changeable(A));
    if (!values && A->a.nnz > 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "values is NULL, expected %" PRId64 " numbers of type %s", A->a.nnz,
                         spry_type_name(A->a.type));
    SPRY_GO(ctx, check_values(A, values));
    if (own == SPRY_OWN_COPY) {
        SPRY_GO(ctx, make_room(A));
        if (values != A->a.values)
            matrix_copy_bytes(ctx, A->a.values, values, value_bytes(A));
    } else {
        put_values(A, (void *)(uintptr_t)values,
                   own == SPRY_OWN_TAKE || (values == A->a.values && A->owns & MATRIX_OWNS_VALUES));
    }
    matrix_changed(A);
done:
    return status;
}

static spry_status check_vector(const spry_matrix *A, const spry_vector *v)
{
    if (v->ctx != A->ctx)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "the matrix and its new values are of different contexts");
    const int64_t entries = dist_entries(A);
    if (v->type != A->a.type || v->n != entries)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "new values are %" PRId64 " numbers of type %s, the matrix has %" PRId64
                         " entries of type %s",
                         v->n, spry_type_name(v->type), entries, spry_type_name(A->a.type));
    return SPRY_STATUS_OK;
}

spry_status spry_matrix_set_values_from(spry_matrix *A, const spry_vector *values)
{
    SPRY_NEED(CTX_OF_ANY(A, values), A, values);
    spry_context *ctx = A->ctx;
    const spry_vector *on_host = NULL;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    status = check_vector(A, values);
    if (status == SPRY_STATUS_OK)
        status = vector_on_host(values, &on_host, &copy);
    SPRY_GO(ctx, A->distributed ? team_agree(ctx, status) : status);
    SPRY_GO(ctx, spry_matrix_set_values(A, on_host->data, SPRY_OWN_COPY));
done:
    spry_vector_free(copy);
    return status;
}
