/* diag(left) A diag(right). */
#include "matrix/algebra/algebra.h"

#include "matrix/distribution.h"
#include "matrix/entries.h"

#include <spry/scale.h>

static spry_status check(const spry_matrix *A, const char *name, const char *side,
                         const spry_vector *v, int64_t n)
{
    if (!v)
        return SPRY_STATUS_OK;
    if (v->ctx != A->ctx)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE, "scaling: %s is of another context", name);
    if (v->type != A->a.type)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "scaling: %s is of type %s, the matrix of type %s", name,
                         spry_type_name(v->type), spry_type_name(A->a.type));
    if (v->n != n)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "scaling: %s has %" PRId64 " numbers, the matrix %" PRId64 " %s", name,
                         v->n, n, side);
    return SPRY_STATUS_OK;
}

/* Its numbers on the host; NULL stays NULL. */
static spry_status look_at(const spry_vector *v, const spry_vector **on_host, spry_vector **copy)
{
    *on_host = NULL;
    return v ? vector_on_host(v, on_host, copy) : SPRY_STATUS_OK;
}

/* Whether diag(left) A diag(right) is of A's symmetric kind. */
static bool keeps_symmetry(const matrix_arrays *a, const spry_vector *left,
                           const spry_vector *right)
{
    const double sign = a->symmetry == SPRY_SYMMETRY_HERMITIAN ? -1 : 1;
    const spry_scalar one = {1, 0};
    if (left == right && a->symmetry != SPRY_SYMMETRY_HERMITIAN)
        return true;
    for (int64_t i = 0; i < a->rows; i++) {
        const spry_scalar l = left ? value_get(a->type, left->data, i) : one;
        const spry_scalar r = right ? value_get(a->type, right->data, i) : one;
        if (l.re != r.re || l.im != sign * r.im)
            return false;
    }
    return true;
}

/* (left a) right: a product of the factors alone could overflow where all three together do not. */
ALWAYS_INLINE void scale_entries(spry_type type, const matrix_arrays *a, const void *left,
                                 const void *right, range entries)
{
    entry_loop w;
    entry_loop_start(&w, a, entries);
    while (entry_loop_next(&w))
        for (int i = 0; i < w.count; i++) {
            spry_scalar v = value_load(type, a->values, w.first + i);
            if (left)
                v = algebra_times(value_load(type, left, w.row[i]), v);
            if (right)
                v = algebra_times(value_load(type, right, w.col[i]), v);
            value_store(type, a->values, w.first + i, v);
        }
}

static void scale_range(const matrix_arrays *a, const void *left, const void *right, range entries)
{
    switch (a->type) {
    case SPRY_TYPE_S:
        scale_entries(SPRY_TYPE_S, a, left, right, entries);
        break;
    case SPRY_TYPE_D:
        scale_entries(SPRY_TYPE_D, a, left, right, entries);
        break;
    case SPRY_TYPE_C:
        scale_entries(SPRY_TYPE_C, a, left, right, entries);
        break;
    default:
        scale_entries(SPRY_TYPE_Z, a, left, right, entries);
    }
}

spry_status spry_matrix_scale(spry_matrix *A, const spry_vector *left, const spry_vector *right)
{
    SPRY_NEED(CTX_OF(A), A);
    matrix_follow(A);
    spry_context *ctx = A->ctx;
    spry_vector *left_copy = NULL, *right_copy = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, dist_check_editable(A));
    SPRY_GO(ctx, check(A, "left", "rows", left, A->a.rows));
    SPRY_GO(ctx, check(A, "right", "columns", right, A->a.cols));
    SPRY_GO(ctx, look_at(left, &left, &left_copy));
    SPRY_GO(ctx, look_at(right, &right, &right_copy));
    if (A->a.symmetry != SPRY_SYMMETRY_GENERAL && !keeps_symmetry(&A->a, left, right)) {
        spry_matrix *full = NULL;
        SPRY_GO(ctx, spry_matrix_expand(A, &full));
        matrix_replace(A, &full->a);
        matrix_touch(A, true);
        base_object_free(ctx, full);
        matrix_forget(A, FACTS_ALL);
    }
    SPRY_GO(ctx, matrix_make_own(A));
    const int parts = matrix_parts(ctx, A->a.nnz);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; part++)
        scale_range(&A->a, left ? left->data : NULL, right ? right->data : NULL,
                    base_share(A->a.nnz, parts, part, 1));
    matrix_changed(A);
done:
    spry_vector_free(left_copy);
    spry_vector_free(right_copy);
    return status;
}
