/*
 * Sparse approximate inverses across ranks: each computes its rows of M (or, right, of M^T) from
 * the rows of A (of A^T) that these name, and fetches those that others have. A product with M is
 * one with a distributed matrix.
 */
#include "precon/inverse/local_ranks.h"

/* --- values --------------------------------------------------------------------------------------
 */

/* What the problems of a pattern are made of. */
typedef struct surroundings {
    ranks_rows mine, theirs;
    ranks_frame f;
    spry_matrix *B, *P;
} surroundings;

static void surroundings_clear(spry_context *ctx, surroundings *s)
{
    ranks_rows_clear(ctx, &s->mine);
    ranks_rows_clear(ctx, &s->theirs);
    ranks_frame_clear(ctx, &s->f);
    spry_matrix_free(s->B);
    spry_matrix_free(s->P);
}

/* Factors need diagonals of others, too: their owners look at them. */
static spry_status check_diagonals(spry_context *ctx, const ranks_rows *rows)
{
    for (int64_t i = 0; i < rows->rows; i++) {
        double diagonal = 0;
        for (int64_t k = rows->offsets[i]; k < rows->offsets[i + 1]; k++)
            if (rows->columns[k] == rows->begin + i)
                diagonal = value_load(rows->type, rows->values, k).re;
        if (!(diagonal > 0))
            return local_not_positive(ctx, rows->begin + i);
    }
    return SPRY_STATUS_OK;
}

/* Matrices in the frame. For factors these are the rank's own rows, for least squares all columns
 * of these. */
static spry_status place(spry_context *ctx, const ranks_rows *P, bool wide, surroundings *s)
{
    ranks_frame rows = {0};
    spry_status status = SPRY_STATUS_OK;
    const int64_t count = s->f.count, *others = s->f.others;
    if (wide) {
        rows = s->f;
        s->f = (ranks_frame){.begin = rows.begin, .own = rows.own};
        others = rows.others;
        SPRY_GO(ctx, ranks_frame_add(ctx, &s->f, P));
        SPRY_GO(ctx, ranks_frame_add(ctx, &s->f, &s->mine));
        SPRY_GO(ctx, ranks_frame_add(ctx, &s->f, &s->theirs));
    }
    SPRY_GO(ctx,
            ranks_frame_square(ctx, &s->f, &s->mine, count > 0 ? &s->theirs : NULL, others, &s->B));
    SPRY_GO(ctx, ranks_frame_square(ctx, &s->f, P, NULL, NULL, &s->P));
done:
    ranks_frame_clear(ctx, &rows);
    return status;
}

/* The rows of B that the pattern names, and of `layers` more around them. */
static spry_status surroundings_make(const spry_matrix *B, const ranks_rows *P, local_kind kind,
                                     int64_t layers, surroundings *s)
{
    spry_context *ctx = B->ctx;
    const int64_t *first = B->distributed->row_starts;
    bool more = true;
    spry_status status = SPRY_STATUS_OK;
    *s = (surroundings){.f = {.begin = P->begin, .own = P->rows}};
    SPRY_GO(ctx, ranks_rows_of(B, &s->mine));
    status = kind == LOCAL_FACTOR ? check_diagonals(ctx, &s->mine) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK)
        status = ranks_frame_add(ctx, &s->f, P);
    if (status == SPRY_STATUS_OK && layers > 0)
        status = ranks_frame_add(ctx, &s->f, &s->mine);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t k = 0; k < layers && more; k++) {
        const int64_t before = s->f.count;
        SPRY_GO(ctx, ranks_fetch_rows(ctx, &s->mine, first, before, s->f.others, &s->theirs));
        status = ranks_frame_add(ctx, &s->f, &s->theirs);
        ranks_rows_clear(ctx, &s->theirs);
        SPRY_GO(ctx, team_agree(ctx, status));
        SPRY_GO(ctx, team_any(ctx, s->f.count > before, &more));
    }
    SPRY_GO(ctx, ranks_fetch_rows(ctx, &s->mine, first, s->f.count, s->f.others, &s->theirs));
    SPRY_GO(ctx, team_agree(ctx, place(ctx, P, kind != LOCAL_FACTOR, s)));
done:
    return status;
}

spry_status local_grow_ranks(const spry_matrix *B, const local_growth *how, ranks_rows *P)
{
    spry_context *ctx = B->ctx;
    surroundings s;
    ranks_rows grown = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, surroundings_make(B, P, how->kind, how->steps, &s));
    status = local_grow(s.B, NULL, how, s.P);
    base_free(ctx, s.P->a.values);
    s.P->a.values = NULL; /* they are those of the pattern before */
    if (status == SPRY_STATUS_OK)
        status = ranks_frame_rows(&s.f, s.P, P->all_rows, &grown);
    SPRY_GO(ctx, team_agree(ctx, status));
    ranks_rows_clear(ctx, P);
    *P = grown;
done:
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, &grown);
    surroundings_clear(ctx, &s);
    return status;
}

/* The rows of P with other values, which are taken. */
static spry_status give_values(spry_context *ctx, const ranks_rows *P, spry_type type,
                               void **values, ranks_rows *X)
{
    const int64_t nnz = P->offsets[P->rows];
    spry_status status = SPRY_STATUS_OK;
    *X = *P;
    X->type = type;
    X->offsets = X->columns = NULL;
    X->values = *values;
    *values = NULL;
    SPRY_GO(ctx, base_alloc(ctx, P->rows + 1, sizeof *X->offsets, &X->offsets));
    SPRY_GO(ctx, base_alloc(ctx, nnz, sizeof *X->columns, &X->columns));
    memcpy(X->offsets, P->offsets, (size_t)(P->rows + 1) * sizeof *X->offsets);
    if (nnz > 0)
        memcpy(X->columns, P->columns, (size_t)nnz * sizeof *X->columns);
done:
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, X);
    return status;
}

spry_status local_values_ranks(const spry_matrix *B, const ranks_rows *P, local_kind kind,
                               double shift, ranks_rows *X, local_outcome *outcome)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): right ones come with A^T */
    spry_context *ctx = B->ctx;
    surroundings s;
    matrix_arrays made = {0};
    spry_status status = SPRY_STATUS_OK;
    *X = (ranks_rows){0};
    SPRY_GO(ctx, surroundings_make(B, P, kind, 0, &s));
    /* Rows of others are empty in the pattern: the values are those of own rows, in their order. */
    status = local_values(s.B, s.P, kind, shift, &made, outcome);
    if (status == SPRY_STATUS_OK)
        status = give_values(ctx, P, s.B->a.type, &made.values, X);
    SPRY_GO(ctx, team_agree(ctx, status));
    outcome->bad = outcome->bad < 0 ? -1 : ranks_frame_number(&s.f, outcome->bad);
done:
    if (status != SPRY_STATUS_OK)
        ranks_rows_clear(ctx, X);
    surroundings_clear(ctx, &s);
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
    ranks_rows pattern; /* this rank's rows of M's, or of M^T's */
} inverse;

static spry_status judge(spry_context *ctx, const inverse *state, spry_type type,
                         const local_outcome *outcome)
{
    return outcome->bad < 0 ? SPRY_STATUS_OK
                            : local_beyond(ctx, state->name, state->right, outcome->bad, type);
}

/* M of rows of A, or of A^T for right ones, T. */
static spry_status compute(const inverse *state, const spry_matrix *A, const spry_matrix *T,
                           spry_operator **op)
{
    spry_context *ctx = A->ctx;
    precon_job job = state->job;
    ranks_rows X = {0};
    spry_matrix *M = NULL, *turned = NULL;
    local_outcome outcome;
    int64_t deficient = 0;
    spry_status status = SPRY_STATUS_OK;
    *op = NULL;
    job.A = A;
    SPRY_GO(ctx, local_values_ranks(state->right ? T : A, &state->pattern, state->kind, 0, &X,
                                    &outcome));
    SPRY_GO(ctx, team_agree(ctx, judge(ctx, state, X.type, &outcome)));
    SPRY_GO(ctx, team_sum(ctx, outcome.deficient, &deficient));
    SPRY_GO(ctx, ranks_distribute(ctx, &X, X.rows, &M));
    ranks_rows_clear(ctx, &X);
    if (state->right) {
        SPRY_GO(ctx, dist_transpose(M, false, &turned));
        spry_matrix_free(M);
        M = turned;
    }
    base_log(ctx, SPRY_LOG_INFO,
             "precon %s: %" PRId64 " entries on all ranks; %" PRId64
             " local problems of less than full rank",
             state->name, M->distributed->nnz, deficient);
    spry_matrix *taken = M;
    M = NULL;
    SPRY_GO(ctx, precon_store(&job, taken, op));
    (*op)->name = state->name;
done:
    ranks_rows_clear(ctx, &X);
    spry_matrix_free(M);
    return status;
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    const inverse *state = op->making;
    spry_operator *fresh = NULL;
    spry_matrix *T = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (state->right)
        SPRY_GO(op->ctx, dist_transpose(A, false, &T));
    SPRY_GO(op->ctx, compute(state, A, T, &fresh));
    operator_become(op, fresh);
done:
    spry_matrix_free(T);
    return status;
}

static void free_state(spry_context *ctx, inverse *state)
{
    if (!state)
        return;
    ranks_rows_clear(ctx, &state->pattern);
    base_free(ctx, state);
}

static void destroy(spry_operator *op)
{
    free_state(op->ctx, op->making);
}

static const operator_maker maker = {update, destroy};

spry_status local_inverse_ranks(const precon_job *job, const char *name, local_kind kind,
                                const local_pattern *how, spry_operator **M)
{
    spry_context *ctx = job->A->ctx;
    inverse *state = NULL;
    spry_matrix *T = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, team_agree(ctx, base_calloc(ctx, 1, sizeof *state, &state)));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all ranks have agreed that it is set */
    *state =
        (inverse){.job = precon_kept(job), .name = name, .kind = kind, .right = how->transposed};
    if (how->transposed)
        SPRY_GO(ctx, dist_transpose(job->A, false, &T));
    SPRY_GO(ctx, local_pattern_ranks(job->A, T, how, &state->pattern));
    SPRY_GO(ctx, compute(state, job->A, T, M));
    (*M)->maker = &maker;
    (*M)->making = state;
    state = NULL;
done:
    free_state(ctx, state);
    spry_matrix_free(T);
    return status;
}
