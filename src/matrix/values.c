/*
 * New values for a matrix, and how those who look at it or were made from it get to know: every
 * change is counted.
 */
#include "matrix/distribution.h"
#include "matrix/entries.h"

int64_t matrix_version(const spry_matrix *A)
{
    return A->changes + (A->origin ? matrix_version(A->origin) : 0);
}

int64_t matrix_pattern_version(const spry_matrix *A)
{
    return A->pattern_changes + (A->origin ? matrix_pattern_version(A->origin) : 0);
}

void matrix_touch(spry_matrix *A, bool pattern)
{
    A->changes++;
    A->pattern_changes += pattern;
}

/* --- sharing -------------------------------------------------------------------------------------
 */

spry_status matrix_view(spry_context *ctx, const spry_matrix *A, spry_matrix **view)
{
    const spry_status status = base_object_new(ctx, sizeof **view, view);
    if (status != SPRY_STATUS_OK)
        return status;
    (*view)->ctx = ctx;
    (*view)->origin = A;
    (*view)->seen = -1;
    matrix_follow(*view);
    return SPRY_STATUS_OK;
}

void matrix_follow(const spry_matrix *A)
{
    if (!A->origin || matrix_version(A->origin) == A->seen)
        return;
    const spry_matrix *owner = A->origin; /* of shares of shares: others may read those between */
    while (owner->origin)
        owner = owner->origin;
    spry_matrix *view = (spry_matrix *)(uintptr_t)A; /* nothing changes but where the numbers are */
    view->a = owner->a;
    view->near_null = owner->near_null;
    view->near_count = owner->near_count;
    view->seen = matrix_version(A->origin);
}

void matrix_part(spry_matrix *view)
{
    const spry_matrix *A = view->origin;
    if (!A)
        return;
    view->changes = matrix_version(view);
    view->pattern_changes = matrix_pattern_version(view);
    view->origin = NULL; /* before facts are noted: they are the view's own from here on */
    view->near_null = NULL;
    view->near_count = 0;
    matrix_carry(A, view, FACTS_ALL);
}

spry_status spry_matrix_share(spry_context *ctx, const spry_matrix *A, spry_matrix **B)
{
    SPRY_NEED(ctx, ctx, A, B);
    *B = NULL;
    return matrix_view(ctx, A, B);
}

/* --- in use --------------------------------------------------------------------------------------
 */

/* Holds are no part of the matrix's value: those who only read it have them. */
static atomic_uint *holds_of(const spry_matrix *A)
{
    return &((spry_matrix *)(uintptr_t)A)->holds;
}

void matrix_hold(const spry_matrix *A)
{
    for (; A; A = A->origin)
        atomic_fetch_add(holds_of(A), 1);
}

void matrix_let_go(const spry_matrix *A)
{
    while (A) {
        const spry_matrix *origin = A->origin; /* A may be gone then */
        if (atomic_fetch_sub(holds_of(A), 1) == MATRIX_FREED + 1)
            matrix_destroy((spry_matrix *)(uintptr_t)A);
        A = origin;
    }
}

spry_status matrix_check_changeable(const spry_matrix *A)
{
    return atomic_load(holds_of(A)) == 0
               ? SPRY_STATUS_OK
               : SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                           "a solver is running with the matrix: it can be changed when the solve "
                           "has ended");
}

int64_t dist_entries(const spry_matrix *A)
{
    const distributed *s = A->distributed;
    if (!s)
        return A->a.nnz;
    int64_t count = s->own->a.nnz;
    for (int64_t k = 0; k < s->edge->a.nnz; k++) /* own entries of edge rows stand twice */
        count += s->edge->a.col_index[k] >= s->kept;
    return count;
}

spry_status dist_check_editable(const spry_matrix *A)
{
    if (A->distributed) /* the parts of it that products use would stay as they are */
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "a matrix that is distributed over ranks cannot be changed: make it anew");
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

/* Memory of A's own for values; what is there is nothing. */
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
    const spry_vector *here = NULL;
    spry_vector *copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    status = check_vector(A, values);
    if (status == SPRY_STATUS_OK)
        status = vector_here(values, &here, &copy);
    SPRY_GO(ctx, A->distributed ? team_agree(ctx, status) : status);
    SPRY_GO(ctx, spry_matrix_set_values(A, here->data, SPRY_OWN_COPY));
done:
    spry_vector_free(copy);
    return status;
}
