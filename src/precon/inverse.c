/*
 * Sparse approximate inverses from their patterns: the values, and operators that are products with
 * them and take new values of A. Right ones are computed by columns, as rows of M^T from A^T.
 */
#include "precon/kernels.h"
#include "precon/local.h"

local_problems local_problems_of(const spry_matrix *B, const spry_matrix *P, local_kind kind)
{
    return (local_problems){.kind = kind,
                            .n = B->a.rows,
                            .at = B->a.offsets,
                            .columns = B->a.col_index,
                            .values = B->a.values,
                            .pattern_at = P->a.offsets,
                            .pattern = P->a.col_index};
}

spry_status local_scales(const spry_matrix *B, local_kind kind, void **scale)
{
    spry_context *ctx = B->ctx;
    const spry_arrays *b = &B->a;
    const precon_kernels *kernels = precon_kernels_for(ctx, b->type);
    const int parts = host_threads(ctx, b->nnz);
    int64_t bad = b->rows;
    const spry_status status = base_alloc(ctx, b->rows, spry_type_size(b->type), scale);
    if (status != SPRY_OK)
        return status;
#pragma omp parallel for num_threads(parts) reduction(min : bad)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_share(b->offsets, b->rows, parts, part);
        if (kind == LOCAL_FACTOR) {
            const int64_t found = kernels->local_roots(rows.begin, rows.end, b->offsets,
                                                       b->col_index, b->values, *scale);
            bad = found < rows.end && found < bad ? found : bad;
        } else {
            kernels->local_scale(rows.begin, rows.end, b->offsets, b->values, *scale);
        }
    }
    if (bad == b->rows)
        return SPRY_OK;
    base_free(ctx, *scale);
    *scale = NULL;
    return SPRY_FAIL(ctx, SPRY_BAD_INPUT,
                     "row %" PRId64
                     " (from 0): the diagonal entry is not positive, so the matrix is not positive "
                     "definite; try precon sai or isai",
                     bad);
}

spry_status local_values(const spry_matrix *B, const spry_matrix *P, local_kind kind, double shift,
                         spry_arrays *X, local_outcome *outcome)
{
    spry_context *ctx = B->ctx;
    local_problems p = local_problems_of(B, P, kind);
    void *scale = NULL;
    spry_status status = SPRY_OK;
    *X = P->a;
    X->type = B->a.type;
    SPRY_GO(ctx, local_scales(B, kind, &scale));
    SPRY_GO(ctx, base_alloc(ctx, X->nnz, spry_type_size(X->type), &X->values));
    p.shift = shift;
    p.scale = scale;
    p.x = X->values;
    SPRY_GO(ctx, local_solve(ctx, X->type, &p, outcome));
done:
    if (status != SPRY_OK) {
        base_free(ctx, X->values);
        X->values = NULL;
    }
    base_free(ctx, scale);
    return status;
}

spry_status local_own(spry_context *ctx, const spry_arrays *X, spry_arrays *made)
{
    spry_status status = SPRY_OK;
    *made = *X;
    made->offsets = NULL;
    made->col_index = NULL;
    SPRY_GO(ctx, base_alloc(ctx, X->rows + 1, sizeof *made->offsets, &made->offsets));
    SPRY_GO(ctx, base_alloc(ctx, X->nnz, sizeof *made->col_index, &made->col_index));
    matrix_copy_structure(ctx, X, made);
done:
    return status;
}

/* --- operators -----------------------------------------------------------------------------------
 */

/* What is kept for new values. */
typedef struct inverse {
    precon_job job; /* but for its matrix and options */
    const char *name;
    local_kind kind;
    bool right;
    spry_matrix *pattern; /* of M, or of M^T for right ones */
} inverse;

static spry_status judge(spry_context *ctx, const inverse *state, spry_type type,
                         const local_outcome *outcome)
{
    const char *what = state->right ? "column" : "row";
    const spry_arrays *p = &state->pattern->a;
    if (outcome->bad >= 0)
        return SPRY_FAIL(ctx, SPRY_BAD_INPUT,
                         "precon %s: %s %" PRId64
                         " (from 0) of the inverse is beyond what type %s can hold; scale the "
                         "matrix first",
                         state->name, what, outcome->bad, spry_type_name(type));
    base_log(ctx, SPRY_LOG_INFO,
             "precon %s: %" PRId64 " entries, %.1f a %s; %" PRId64
             " local problems of less than full rank",
             state->name, p->nnz, p->rows > 0 ? (double)p->nnz / (double)p->rows : 0, what,
             outcome->deficient);
    return SPRY_OK;
}

/* The arrays of M, as far as they came when it fails. */
static spry_status compute_here(const inverse *state, const spry_matrix *A, spry_arrays *M)
{
    spry_context *ctx = A->ctx;
    spry_matrix *transposed = NULL;
    spry_arrays X = {0};
    local_outcome outcome;
    spry_status status = SPRY_OK;
    if (state->right)
        SPRY_GO(ctx, spry_matrix_transpose(A, false, &transposed));
    SPRY_GO(ctx, local_values(transposed ? transposed : A, state->pattern, state->kind, 0, &X,
                              &outcome));
    spry_matrix_free(transposed);
    transposed = NULL;
    SPRY_GO(ctx, judge(ctx, state, X.type, &outcome));
    if (state->right) {
        SPRY_GO(ctx, matrix_transpose_arrays(ctx, &X, M));
    } else {
        const spry_arrays taken = X;
        X.values = NULL;
        SPRY_GO(ctx, local_own(ctx, &taken, M));
    }
done:
    base_free(ctx, X.values);
    spry_matrix_free(transposed);
    return status;
}

static spry_status compute(const inverse *state, const spry_matrix *A, spry_operator **op)
{
    spry_context *ctx = A->ctx;
    precon_job job = state->job;
    spry_arrays made = {0};
    spry_matrix *M = NULL;
    spry_status status = SPRY_OK;
    job.A = A;
    *op = NULL;
    SPRY_GO(ctx, matrix_finish(ctx, compute_here(state, A, &made), &made, &M));
    SPRY_GO(ctx, precon_store(&job, M, op));
    (*op)->name = state->name;
done:
    return status;
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    spry_operator *fresh = NULL;
    const spry_status status = compute(op->making, A, &fresh);
    if (status == SPRY_OK)
        operator_become(op, fresh);
    return status;
}

static void free_state(spry_context *ctx, inverse *state)
{
    if (!state)
        return;
    spry_matrix_free(state->pattern);
    base_free(ctx, state);
}

static void destroy(spry_operator *op)
{
    free_state(op->ctx, op->making);
}

static const operator_maker maker = {update, destroy};

spry_status local_inverse(const precon_job *job, const char *name, local_kind kind, bool right,
                          spry_matrix *pattern, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    inverse *state = NULL;
    spry_status status = base_calloc(ctx, 1, sizeof *state, &state);
    *M = NULL;
    if (status != SPRY_OK) {
        spry_matrix_free(pattern);
        return status;
    }
    *state = (inverse){*job, name, kind, right, pattern};
    state->job.options = NULL;
    SPRY_GO(ctx, compute(state, job->A, M));
    (*M)->maker = &maker;
    (*M)->making = state;
    state = NULL;
done:
    free_state(ctx, state);
    return status;
}

double local_inverse_bytes(const precon_job *job, const local_size *size, int64_t nnz)
{
    const spry_arrays *a = &job->A->a;
    const double number = (double)spry_type_size(a->type), n = (double)a->rows;
    /* A^T, the pattern, X and what it is transposed into, the rooms of threads, what is stored. */
    return (double)a->nnz * (4 + number) + n * (40 + number) +
           local_solve_bytes(job->A->ctx, a->type, a->rows, size) + (double)nnz * (8 + 2 * number) +
           2 * precon_store_bytes(job, a->rows, nnz);
}
