/*
 * The factorised sparse approximate inverse of hermitian positive definite matrices: M = G^H G with
 * G lower triangular on a pattern, G A G^H with ones on its diagonal, and || I - G L ||_F least for
 * the factor A = L L^H, which need not be known (L. Kolotilina, A. Yeremin, Factorized sparse
 * approximate inverse preconditionings I, SIAM J. Matrix Anal. Appl. 14 (1993), 45-58). M is
 * positive definite, as conjugate gradients needs it. The pattern comes from A's lower triangle, or
 * grows from that: see grow.h.
 *
 * A product is two with sparse matrices, G and G^H, both stored. Across ranks each computes its
 * rows of G, and both are distributed.
 */
#include "device/linalg/operator.h"
#include "precon/inverse/local_device.h"
#include "precon/inverse/local_ranks.h"

#define FSAI_OPTIONS(item)                                                                         \
    item(INT, growth, "0", 0, 1000, NULL, "how often rows grow, by what gains most")               \
    item(INT, add, "2", 1, 1000, NULL, "entries that a row grows by each time")                    \
    item(REAL, eps, "0.001", 0, 1, NULL, "gain of an entry that is worth having")                  \
    item(REAL, shift, "0", 0, 1000, NULL,                                                          \
         "diagonals of local blocks are multiplied by 1 + shift, for matrices that are not quite " \
         "positive definite")
typedef struct fsai_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    LOCAL_PATTERN(SPRY_OPTION_FIELD)
    FSAI_OPTIONS(SPRY_OPTION_FIELD)
} fsai_options;
SPRY_OPTION_TABLE(table, fsai_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) LOCAL_PATTERN(SPRY_OPTION_ROW)
                      FSAI_OPTIONS(SPRY_OPTION_ROW))

typedef struct fsai {
    precon_job job; /* what is kept of it */
    double shift;
    spry_matrix *pattern;     /* of G */
    ranks_rows rows;          /* the same across ranks: this one's */
    spry_operator *G, *other; /* G^H */
    spry_vector *between;
} fsai;

static local_pattern pattern_of(const fsai_options *options)
{
    return (local_pattern){
        .tau = options->tau, .power = options->power, .most = options->most, .lower = true};
}

static local_growth growth_of(const fsai_options *options)
{
    return (local_growth){.kind = LOCAL_FACTOR,
                          .eps = options->eps,
                          .shift = options->shift,
                          .steps = options->growth,
                          .add = options->add,
                          .most = options->most};
}

/* z = G^H (G r), or G^T (conj(G) r). */
static spry_status fsai_apply(const spry_operator *op, spry_transpose transpose,
                              const spry_vector *r, spry_vector *z)
{
    const fsai *state = op->state;
    const bool flips = transpose == SPRY_TRANSPOSE_YES && spry_type_is_complex(op->type);
    const spry_operator *first = flips ? state->other : state->G;
    const spry_operator *second = flips ? state->G : state->other;
    const spry_transpose how = flips ? SPRY_TRANSPOSE_YES : SPRY_TRANSPOSE_NO;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, spry_operator_multiply(first, how, one, r, zero, state->between));
    SPRY_GO(op->ctx, spry_operator_multiply(second, how, one, state->between, zero, z));
done:
    return status;
}

static void fsai_destroy(spry_operator *op)
{
    fsai *state = op->state;
    if (!state)
        return;
    spry_operator_free(state->G);
    spry_operator_free(state->other);
    spry_vector_free(state->between);
    spry_matrix_free(state->pattern);
    ranks_rows_clear(op->ctx, &state->rows);
    base_free(op->ctx, state);
}

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status not_definite(spry_context *ctx, int64_t row)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                     "row %" PRId64
                     " (from 0): its block of the matrix is not positive definite for precon fsai; "
                     "try fsai:shift=0.1, or sai",
                     row);
}

/* G's arrays with A's values, as far as they came when it fails. */
static spry_status compute(const fsai *state, const spry_matrix *A, matrix_arrays *G)
{
    spry_context *ctx = A->ctx;
    matrix_arrays X;
    local_outcome outcome;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, local_values(A, state->pattern, LOCAL_FACTOR, state->shift, &X, &outcome));
    if (outcome.bad >= 0) {
        base_free(ctx, X.values);
        return not_definite(ctx, outcome.bad);
    }
    SPRY_GO(ctx, local_own(ctx, &X, G));
done:
    return status;
}

/* G of the host. */
static spry_status make_matrix(const fsai *state, const spry_matrix *A, spry_matrix **G)
{
    matrix_arrays arrays = {0};
    return matrix_finish(A->ctx, compute(state, A, &arrays), &arrays, G);
}

/* The same across ranks. */
static spry_status make_distributed(const fsai *state, const spry_matrix *A, spry_matrix **G)
{
    spry_context *ctx = A->ctx;
    ranks_rows X = {0};
    local_outcome outcome;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, local_values_ranks(A, &state->rows, LOCAL_FACTOR, state->shift, &X, &outcome));
    status = outcome.bad >= 0 ? not_definite(ctx, outcome.bad) : SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, ranks_distribute(ctx, &X, X.rows, G));
done:
    ranks_rows_clear(ctx, &X);
    return status;
}

/* G and G^H as operators, from G of the host. */
static spry_status keep_on_host(const fsai *state, const spry_matrix *A, spry_operator *pair[2])
{
    spry_context *ctx = A->ctx;
    spry_matrix *G = NULL, *other = NULL, *taken;
    spry_status status = SPRY_STATUS_OK;
    precon_job job = state->job;
    job.A = A;
    SPRY_GO(ctx, A->distributed ? make_distributed(state, A, &G) : make_matrix(state, A, &G));
    SPRY_GO(ctx, A->distributed ? dist_transpose(G, true, &other)
                                : spry_matrix_transpose(G, true, &other));
    taken = G;
    G = NULL;
    SPRY_GO(ctx, precon_store(&job, taken, &pair[0]));
    taken = other;
    other = NULL;
    SPRY_GO(ctx, precon_store(&job, taken, &pair[1]));
done:
    spry_matrix_free(G);
    spry_matrix_free(other);
    return status;
}

/* The same with values made on the device. */
static spry_status keep_on_device(const fsai *state, const spry_matrix *A, spry_operator *pair[2])
{
    spry_context *ctx = A->ctx;
    spry_device *d = state->job.device;
    device_matrix B = {0}, P = {0}, G = {0}, other = {0};
    device_memory *x = NULL;
    local_outcome outcome;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_put_csr(d, &A->a, &B));
    SPRY_GO(ctx, local_device_put_pattern(d, state->pattern, &P));
    SPRY_GO(ctx, local_device_values(&B, &P, LOCAL_FACTOR, state->shift, &x, &outcome));
    device_matrix_free(&B);
    if (outcome.bad >= 0) {
        status = not_definite(ctx, outcome.bad);
        goto done;
    }
    device_memory *taken = x;
    x = NULL;
    SPRY_GO(ctx, local_device_matrix(&P, A->a.type, taken, &G));
    SPRY_GO(ctx, device_matrix_transpose(&G, true, &other));
    SPRY_GO(ctx, device_matrix_operator(&G, false, NULL, &pair[0]));
    SPRY_GO(ctx, device_matrix_operator(&other, false, NULL, &pair[1]));
done:
    device_free(x);
    device_matrix_free(&B);
    device_matrix_free(&P);
    device_matrix_free(&G);
    device_matrix_free(&other);
    return status;
}

/* Both operators, with A's values. */
static spry_status fill(spry_operator *op, const spry_matrix *A)
{
    fsai *state = op->state;
    spry_operator *pair[2] = {NULL, NULL};
    spry_status status = SPRY_STATUS_NO_MEMORY;
    const base_kept before = base_try(op->ctx);
    if (!A->distributed && local_is_on_device(&state->job, op->type))
        status = keep_on_device(state, A, pair);
    if (status == SPRY_STATUS_NO_MEMORY) {
        spry_operator_free(pair[0]);
        pair[0] = NULL;
        base_forgive(op->ctx, &before); /* nothing failed for the caller */
        status = keep_on_host(state, A, pair);
    }
    if (status != SPRY_STATUS_OK || !pair[0] || !pair[1]) {
        spry_operator_free(pair[0]);
        return status;
    }
    spry_operator_free(state->G);
    spry_operator_free(state->other);
    state->G = pair[0];
    state->other = pair[1];
    op->own_bytes = pair[0]->own_bytes + pair[1]->own_bytes;
    op->bytes = pair[0]->bytes + pair[1]->bytes;
    return SPRY_STATUS_OK;
}

static spry_status fsai_update(spry_operator *op, const spry_matrix *A)
{
    bool symmetric;
    const spry_status status = precon_check_hermitian(A, "fsai", "sai or isai", &symmetric);
    return status == SPRY_STATUS_OK ? fill(op, A) : status;
}

static const operator_class fsai_class = {.name = "fsai",
                                          .has_transpose = true,
                                          .multiply = operator_apply_arrays,
                                          .multiply_vectors = operator_apply_vectors,
                                          .apply = fsai_apply,
                                          .update = fsai_update,
                                          .destroy = fsai_destroy};

/* This rank's rows of it. */
static spry_status find_rows(const precon_job *job, fsai *state)
{
    const fsai_options *options = job->options;
    const local_pattern how = pattern_of(options);
    const local_growth growth = growth_of(options);
    spry_context *ctx = job->A->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, local_pattern_ranks(job->A, NULL, &how, &state->rows));
    if (options->growth > 0)
        SPRY_GO(ctx, local_grow_ranks(job->A, &growth, &state->rows));
    base_log(ctx, SPRY_LOG_INFO, "precon fsai: %" PRId64 " entries in this rank's rows of G",
             state->rows.offsets[state->rows.rows]);
done:
    return status;
}

static spry_status find_pattern(const precon_job *job, fsai *state)
{
    const fsai_options *options = job->options;
    const local_pattern how = pattern_of(options);
    const local_growth growth = growth_of(options);
    spry_context *ctx = job->A->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, local_pattern_make(job->A, NULL, &how, &state->pattern));
    if (options->growth > 0)
        SPRY_GO(ctx, local_grow(job->A, NULL, &growth, state->pattern));
    base_log(ctx, SPRY_LOG_INFO, "precon fsai: %" PRId64 " entries in G, %.1f per row",
             state->pattern->a.nnz,
             (double)state->pattern->a.nnz / (double)(job->A->a.rows > 0 ? job->A->a.rows : 1));
done:
    return status;
}

/* Without a pattern. */
static spry_status new_operator(const precon_job *job, spry_operator **op)
{
    const fsai_options *options = job->options;
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    fsai *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_operator(job, &fsai_class, sizeof *state, &state, op));
    (*op)->device = job->device;
    (*op)->hermitian = (*op)->definite = true;
    state->job = precon_kept(job);
    state->shift = options->shift;
    SPRY_GO(ctx, precon_vector(job, A->a.rows, NULL, &state->between));
    state->between->part = dist_own_rows(A);
done:
    return status;
}

static spry_status check(const precon_job *job)
{
    bool symmetric;
    return precon_check_hermitian(job->A, "fsai", "sai or isai", &symmetric);
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    const spry_matrix *A = job->A;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, check(job));
    status = new_operator(job, &op);
    SPRY_GO(ctx, A->distributed ? team_agree(ctx, status) : status);
    SPRY_GO(ctx, A->distributed ? find_rows(job, op->state) : find_pattern(job, op->state));
    SPRY_GO(ctx, fill(op, A));
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

const precon_kind precon_kind_fsai = {
    .name = "fsai",
    .summary = "a factorised sparse approximate inverse, for positive definite matrices",
    .options = SPRY_OPTION_LIST(table),
    .check = check,
    .make = make,
    .make_ranks = make,
    .on_devices = true,
    .ranks_on_devices = true,
    .half = true,
    .cost = {.kept = 1.2, .work = 1, .products = 100, .vectors = 1, .share = 0.5}};
