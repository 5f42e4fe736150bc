/*
 * Versions of a matrix: every change is counted, so that those who share it or were made from it
 * notice; and holds, which keep it from changes.
 */
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

void matrix_changed(spry_matrix *A)
{
    matrix_touch(A, false);
    matrix_forget(A, FACTS_ALL & ~FACTS_OF_PATTERN);
}

/* --- sharing ------------------------------------------------------------------------------------
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

/* --- in use -------------------------------------------------------------------------------------
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

spry_status matrix_check_changeable(const spry_matrix *A)
{
    return atomic_load(holds_of(A)) == 0
               ? SPRY_STATUS_OK
               : SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                           "a solver is running with the matrix: it can be changed when the solve "
                           "has ended");
}
