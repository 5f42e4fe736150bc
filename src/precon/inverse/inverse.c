/*
 * Sparse approximate inverses from their patterns: the values, and operators that are products with
 * them and take new values of A. Right ones are computed by columns, as rows of M^T from A^T.
 */
#include "device/linalg/operator.h"
#include "precon/inverse/local_device.h"
#include "precon/kernels.h"

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

spry_status local_not_positive(spry_context *ctx, int64_t row)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "row %" PRId64
                     " (from 0): the diagonal entry is not positive, so the matrix is not positive "
                     "definite; try precon sai or isai",
                     row);
}

spry_status local_scales(const spry_matrix *B, local_kind kind, void **scale)
{
    spry_context *ctx = B->ctx;
    const matrix_arrays *b = &B->a;
    const precon_kernels *kernels = precon_kernels_for(ctx, b->type);
    const int parts = host_threads(ctx, b->nnz);
    int64_t bad = b->rows;
    const spry_status status = base_alloc(ctx, b->rows, spry_type_size(b->type), scale);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(parts) reduction(min : bad)
    for (int part = 0; part < parts; part++) {
        const range rows = matrix_rows_of_part(b->offsets, b->rows, parts, part);
        if (kind == LOCAL_FACTOR) {
            const int64_t found = kernels->local_roots(rows.begin, rows.end, b->offsets,
                                                       b->col_index, b->values, *scale);
            bad = found < rows.end && found < bad ? found : bad;
        } else {
            kernels->local_scale(rows.begin, rows.end, b->offsets, b->values, *scale);
        }
    }
    if (bad == b->rows)
        return SPRY_STATUS_OK;
    base_free(ctx, *scale);
    *scale = NULL;
    return local_not_positive(ctx, bad);
}

spry_status local_values(const spry_matrix *B, const spry_matrix *P, local_kind kind, double shift,
                         matrix_arrays *X, local_outcome *outcome)
{
    spry_context *ctx = B->ctx;
    local_problems p = local_problems_of(B, P, kind);
    void *scale = NULL;
    spry_status status = SPRY_STATUS_OK;
    *X = P->a;
    X->type = B->a.type;
    X->values = NULL;
    SPRY_GO(ctx, local_scales(B, kind, &scale));
    SPRY_GO(ctx, base_alloc(ctx, X->nnz, spry_type_size(X->type), &X->values));
    p.shift = shift;
    p.scale = scale;
    p.x = X->values;
    SPRY_GO(ctx, local_solve(ctx, X->type, &p, outcome));
done:
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, X->values);
        X->values = NULL;
    }
    base_free(ctx, scale);
    return status;
}

spry_status local_own(spry_context *ctx, const matrix_arrays *X, matrix_arrays *made)
{
    spry_status status = SPRY_STATUS_OK;
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
    precon_job job; /* what is kept of it */
    const char *name;
    local_kind kind;
    bool right;
    spry_matrix *pattern;    /* of M, or of M^T for right ones */
    device_matrix on_device; /* the same where it was set up on a device, and pattern is NULL */
} inverse;

spry_status local_beyond(spry_context *ctx, const char *name, bool right, int64_t row,
                         spry_type type)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "precon %s: %s %" PRId64
                     " (from 0) of the inverse is beyond what type %s can hold; scale the matrix "
                     "first",
                     name, right ? "column" : "row", row, spry_type_name(type));
}

static spry_status judge(spry_context *ctx, const inverse *state, spry_type type,
                         const local_outcome *outcome)
{
    const char *what = state->right ? "column" : "row";
    const int64_t rows = state->pattern ? state->pattern->a.rows : state->on_device.rows;
    const int64_t nnz = state->pattern ? state->pattern->a.nnz : state->on_device.nnz;
    if (outcome->bad >= 0)
        return local_beyond(ctx, state->name, state->right, outcome->bad, type);
    base_log(ctx, SPRY_LOG_INFO,
             "precon %s: %" PRId64 " entries, %.1f a %s; %" PRId64
             " local problems of less than full rank",
             state->name, nnz, rows > 0 ? (double)nnz / (double)rows : 0, what, outcome->deficient);
    return SPRY_STATUS_OK;
}

/* The arrays of M, as far as they came when it fails; takes A^T. */
static spry_status compute_on_host(const inverse *state, const spry_matrix *A,
                                   spry_matrix *transposed, matrix_arrays *M)
{
    spry_context *ctx = A->ctx;
    matrix_arrays X = {0};
    local_outcome outcome;
    spry_status status = SPRY_STATUS_OK;
    if (state->right && !transposed)
        SPRY_GO(ctx, spry_matrix_transpose(A, false, &transposed));
    SPRY_GO(ctx, local_values(state->right ? transposed : A, state->pattern, state->kind, 0, &X,
                              &outcome));
    spry_matrix_free(transposed);
    transposed = NULL;
    SPRY_GO(ctx, judge(ctx, state, X.type, &outcome));
    if (state->right) {
        SPRY_GO(ctx, matrix_transpose_arrays(ctx, &X, M));
    } else {
        const matrix_arrays taken = X;
        X.values = NULL;
        SPRY_GO(ctx, local_own(ctx, &taken, M));
    }
done:
    base_free(ctx, X.values);
    spry_matrix_free(transposed);
    return status;
}

/* Takes T. */
static spry_status compute_and_store(const inverse *state, const spry_matrix *A, spry_matrix *T,
                                     spry_operator **op)
{
    spry_context *ctx = A->ctx;
    precon_job job = state->job;
    matrix_arrays made = {0};
    spry_matrix *M = NULL;
    spry_status status = SPRY_STATUS_OK;
    job.A = A;
    SPRY_GO(ctx, matrix_finish(ctx, compute_on_host(state, A, T, &made), &made, &M));
    SPRY_GO(ctx, precon_store(&job, M, op));
done:
    return status;
}

/* --- on devices ----------------------------------------------------------------------------------
 */

bool local_is_on_device(const precon_job *job, spry_type type)
{
    return job->device && (!job->values || strcmp(job->values, "own") == 0) &&
           (job->device->facts.has_double || type_is_single(type));
}

/* M from X over a pattern, which is transposed or copied; takes x. */
static spry_status assemble(const device_matrix *P, spry_type type, device_memory *x, bool right,
                            device_matrix *M)
{
    device_matrix X = *P;
    *M = (device_matrix){0};
    if (!right)
        return local_device_matrix(P, type, x, M);
    X.type = type;
    X.values = x;
    const spry_status status = device_matrix_transpose(&X, false, M);
    device_free(x);
    return status;
}

/* A becomes what the problems are made of: A^T where A M is to be near I. */
static spry_status turn_on_device(const inverse *state, device_matrix *A)
{
    device_matrix T = {0};
    if (!state->right)
        return SPRY_STATUS_OK;
    const spry_status status = device_matrix_transpose(A, false, &T);
    device_matrix_free(A);
    *A = T;
    return status;
}

/* The operator from B = A or A^T, which it takes, and the pattern. */
static spry_status compute_on_device(const inverse *state, device_matrix *B, const device_matrix *P,
                                     spry_operator **op)
{
    spry_context *ctx = B->d->ctx;
    device_matrix M = {0};
    device_memory *x = NULL;
    local_outcome outcome;
    spry_status status = SPRY_STATUS_OK;
    const spry_type type = B->type;
    SPRY_GO(ctx, local_device_values(B, P, state->kind, 0, &x, &outcome));
    device_matrix_free(B);
    SPRY_GO(ctx, judge(ctx, state, type, &outcome));
    device_memory *taken = x;
    x = NULL;
    SPRY_GO(ctx, assemble(P, type, taken, state->right, &M));
    SPRY_GO(ctx, device_matrix_operator(&M, false, NULL, op));
done:
    device_free(x);
    device_matrix_free(B);
    return status;
}

/* The same with A of the host's. */
static spry_status bring_and_compute(const inverse *state, const spry_matrix *A, spry_operator **op)
{
    spry_context *ctx = A->ctx;
    device_matrix on_device = {0}, P = {0};
    spry_status status = SPRY_STATUS_OK;
    if (state->pattern)
        SPRY_GO(ctx, local_device_put_pattern(state->job.device, state->pattern, &P));
    SPRY_GO(ctx, device_matrix_put_csr(state->job.device, &A->a, &on_device));
    SPRY_GO(ctx, turn_on_device(state, &on_device));
    SPRY_GO(ctx, compute_on_device(state, &on_device, state->pattern ? &P : &state->on_device, op));
done:
    device_matrix_free(&P);
    return status;
}

/* T is A^T, which it takes, or NULL. */
static spry_status compute(const inverse *state, const spry_matrix *A, spry_matrix *T,
                           spry_operator **op)
{
    spry_status status = SPRY_STATUS_NO_MEMORY;
    const base_kept before = base_try(A->ctx);
    *op = NULL;
    if (local_is_on_device(&state->job, A->a.type))
        status = bring_and_compute(state, A, op);
    if (status == SPRY_STATUS_NO_MEMORY && state->pattern) {
        base_forgive(A->ctx, &before); /* nothing failed for the caller */
        status = compute_and_store(state, A, T, op);
        T = NULL;
    }
    spry_matrix_free(T);
    if (status == SPRY_STATUS_OK)
        (*op)->name = state->name;
    return status;
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    spry_operator *fresh = NULL;
    const spry_status status = compute(op->making, A, NULL, &fresh);
    if (status == SPRY_STATUS_OK)
        operator_become(op, fresh);
    return status;
}

static void free_state(spry_context *ctx, inverse *state)
{
    if (!state)
        return;
    spry_matrix_free(state->pattern);
    device_matrix_free(&state->on_device);
    base_free(ctx, state);
}

static void destroy(spry_operator *op)
{
    free_state(op->ctx, op->making);
}

static const operator_maker maker = {update, destroy};

static spry_status new_state(const precon_job *job, const char *name, local_kind kind, bool right,
                             inverse **state)
{
    spry_context *ctx = job->device ? job->device->ctx : job->A->ctx;
    const spry_status status = base_calloc(ctx, 1, sizeof **state, state);
    if (status == SPRY_STATUS_OK)
        **state = (inverse){.job = precon_kept(job), .name = name, .kind = kind, .right = right};
    return status;
}

static void give(inverse **state, spry_operator *M)
{
    M->maker = &maker;
    M->making = *state;
    *state = NULL;
}

spry_status local_inverse(const precon_job *job, const char *name, local_kind kind, bool right,
                          spry_matrix *pattern, spry_matrix *T, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    inverse *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, new_state(job, name, kind, right, &state));
    state->pattern = pattern;
    pattern = NULL;
    spry_matrix *taken = T;
    T = NULL;
    SPRY_GO(ctx, compute(state, job->A, taken, M));
    give(&state, *M);
done:
    spry_matrix_free(pattern);
    spry_matrix_free(T);
    free_state(ctx, state);
    return status;
}

/* *made is false where the device cannot make the pattern. Takes A. */
static spry_status make_on_device(const precon_job *job, device_matrix *A, const char *name,
                                  local_kind kind, const local_pattern *how, bool *made,
                                  spry_operator **M)
{
    spry_context *ctx = job->device->ctx;
    inverse *state = NULL;
    local_pattern pattern = *how;
    /* All of A: then it is all of A^T that makes the pattern of A^T. */
    const bool all = how->tau >= 1 && how->power == 1;
    spry_status status = SPRY_STATUS_OK;
    *made = false;
    SPRY_GO(ctx, new_state(job, name, kind, how->transposed, &state));
    if (all) {
        SPRY_GO(ctx, turn_on_device(state, A));
        pattern.transposed = false;
    }
    SPRY_GO(ctx, local_device_pattern(A, &pattern, made, &state->on_device));
    if (!*made)
        goto done;
    if (!all)
        SPRY_GO(ctx, turn_on_device(state, A));
    SPRY_GO(ctx, compute_on_device(state, A, &state->on_device, M));
    (*M)->name = name;
    give(&state, *M);
done:
    device_matrix_free(A);
    free_state(ctx, state);
    return status;
}

spry_status local_inverse_on_device(const precon_job *job, const device_matrix *A, const char *name,
                                    local_kind kind, const local_pattern *how, bool *made,
                                    spry_operator **M)
{
    device_matrix own = {0};
    *made = false;
    *M = NULL;
    if (!local_is_on_device(job, A->type))
        return SPRY_STATUS_OK;
    const spry_status status = device_matrix_copy(A, &own);
    return status == SPRY_STATUS_OK ? make_on_device(job, &own, name, kind, how, made, M) : status;
}

spry_status local_inverse_from(const precon_job *job, const char *name, local_kind kind,
                               const local_pattern *how, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    spry_matrix *P = NULL, *T = NULL, *taken;
    device_matrix on_device = {0};
    bool made = false;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    const base_kept before = base_try(ctx);
    if (local_is_on_device(job, job->A->a.type)) {
        status = precon_device_matrix(job, &on_device);
        if (status == SPRY_STATUS_OK)
            status = make_on_device(job, &on_device, name, kind, how, &made, M);
    }
    if (status == SPRY_STATUS_OK && made)
        return status;
    if (status != SPRY_STATUS_NO_MEMORY)
        SPRY_GO(ctx, status);
    base_forgive(ctx, &before); /* the host has more */
    if (how->transposed)
        SPRY_GO(ctx, spry_matrix_transpose(job->A, false, &T));
    SPRY_GO(ctx, local_pattern_make(job->A, T, how, &P));
    taken = T;
    T = NULL;
    SPRY_GO(ctx, local_inverse(job, name, kind, how->transposed, P, taken, M));
done:
    spry_matrix_free(T);
    return status;
}
