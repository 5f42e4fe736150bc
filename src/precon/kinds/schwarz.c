/*
 * Schwarz's methods on one machine: the rows are cut into parts, each part is made larger by its
 * neighbours (overlap), and every part solves its own system, all of them at once. With R_p the
 * rows of part p with its overlap, and Q_p those without (0 in the others' places),
 *
 *   as    M = sum_p R_p^T M_p R_p     hermitian where all M_p are
 *   ras   M = sum_p Q_p^T M_p R_p     fewer iterations, but not symmetric (X.-C. Cai, M. Sarkis, A
 *                                     restricted additive Schwarz preconditioner for general sparse
 *                                     linear systems, SIAM J. Sci. Comput. 21 (1999), 792-797)
 *
 * M_p being any preconditioner for R_p A R_p^T. Without overlap both are block Jacobi. How many
 * parts there are depends on the matrix and not on the threads, so that the result does not either.
 */
#include "precon/kinds/schwarz.h"
#include "precon/kernels.h"
#include "precon/parts.h"

SPRY_OPTION_TABLE(table, schwarz_options, SCHWARZ_OPTIONS(SPRY_OPTION_ROW))

enum { ROWS_OF_PART = 2000, PIECE = 4096 };

/* A part's matrix and what solves with it. */
typedef struct part_solve {
    spry_matrix *A;
    spry_operator *M;
} part_solve;

typedef struct schwarz {
    bool restricted; /* ras */
    parts p;
    part_solve *solves;
    int64_t *owner;   /* the place of each row in its own part */
    int64_t *offsets; /* of each row's places */
    int64_t *places;
    void *r, *z;    /* of all parts */
    bool warmed[3]; /* products that were done once: what they need exists */
} schwarz;

/* --- the operator --------------------------------------------------------------------------------
 */

static void schwarz_destroy(spry_operator *op)
{
    schwarz *state = op->state;
    if (!state)
        return;
    for (int64_t k = 0; state->solves && k < state->p.count; k++) {
        spry_operator_free(state->solves[k].M);
        spry_matrix_free(state->solves[k].A);
    }
    base_free(op->ctx, state->solves);
    base_free(op->ctx, state->owner);
    base_free(op->ctx, state->offsets);
    base_free(op->ctx, state->places);
    base_free(op->ctx, state->r);
    base_free(op->ctx, state->z);
    parts_clear(&state->p);
    base_free(op->ctx, state);
}

/* Solves with part k. */
static spry_status run_part(const spry_operator *op, int64_t k, spry_transpose transpose,
                            const bool *mine, const void *r)
{
    const schwarz *state = op->state;
    const parts *p = &state->p;
    const int64_t first = p->first[k], n = p->first[k + 1] - first;
    const size_t size = spry_type_size(op->type);
    const spry_vector from =
        vector_over(op->ctx, op->type, n, (char *)state->r + (size_t)first * size);
    spry_vector to = vector_over(op->ctx, op->type, n, (char *)state->z + (size_t)first * size);
    precon_kernels_for(op->ctx, op->type)
        ->gather(n, p->rows + first, mine ? mine + first : NULL, r, from.data);
    return spry_operator_multiply(state->solves[k].M, transpose, (spry_scalar){1, 0}, &from,
                                  (spry_scalar){0, 0}, &to);
}

/* The parts' results in their places, or added up, for a share of the rows. */
typedef struct collection {
    const spry_operator *op;
    bool add;
    void *z;
} collection;

static void collect_share(void *argument, int share, int shares)
{
    const collection *c = argument;
    const schwarz *state = c->op->state;
    const size_t size = spry_type_size(c->op->type);
    const range rows = base_share(c->op->rows, shares, share, PIECE);
    if (c->add)
        precon_kernels_for(c->op->ctx, c->op->type)
            ->sum_places(rows.begin, rows.end, state->offsets, state->places, state->z, c->z);
    else
        for (int64_t i = rows.begin; i < rows.end; i++)
            element_move(size, c->z, i, state->z, state->owner[i]);
}

static void collect(const spry_operator *op, bool add, void *z)
{
    collection c = {op, add, z};
    base_share_out(op->ctx, host_threads(op->ctx, op->rows), collect_share, &c);
}

/*
 * Parts are solved by a thread each. Regions within them have one thread then, and nothing is
 * allocated: what a product needs was made by the first one, which goes through the parts in turn.
 */
static spry_status schwarz_apply(const spry_operator *op, spry_transpose transpose,
                                 const spry_vector *r, spry_vector *z)
{
    schwarz *state = op->state;
    const bool restricted = state->restricted, plain = transpose == SPRY_TRANSPOSE_NO;
    const bool *mine = restricted && !plain ? state->p.mine : NULL;
    /* Multigrid has M^T of complex types by way of M^H and vectors made for the product. */
    const bool alone = !state->warmed[transpose] ||
                       (transpose == SPRY_TRANSPOSE_YES && spry_type_is_complex(op->type));
    const int threads = alone ? 1 : host_threads(op->ctx, state->p.total * 16);
    spry_status status = SPRY_STATUS_OK;
    if (threads == 1) {
        for (int64_t k = 0; k < state->p.count; k++)
            SPRY_GO(op->ctx, run_part(op, k, transpose, mine, r->data));
        state->warmed[transpose] = true;
    } else {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(max : status)
        for (int64_t k = 0; k < state->p.count; k++) {
            const spry_status one = run_part(op, k, transpose, mine, r->data);
            status = one > status ? one : status;
        }
    }
    if (status == SPRY_STATUS_OK)
        collect(op, !(restricted && plain), z->data);
done:
    return status;
}

/* New values for the parts: every preconditioner takes them. */
static spry_status schwarz_update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    schwarz *state = op->state;
    int32_t *local = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, parts_local(ctx, op->rows, &local));
    memset(state->warmed, 0, sizeof state->warmed);
    for (int64_t k = 0; k < state->p.count; k++) {
        const part_solve *s = &state->solves[k];
        parts_fill(A, &state->p, k, local, s->A);
        SPRY_GO(ctx, spry_operator_update(s->M, s->A));
    }
done:
    base_free(ctx, local);
    return status;
}

static const operator_class schwarz_class = {.name = "schwarz",
                                             .has_transpose = true,
                                             .multiply = operator_apply_arrays,
                                             .multiply_vectors = operator_apply_vectors,
                                             .apply = schwarz_apply,
                                             .update = schwarz_update,
                                             .destroy = schwarz_destroy};

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status cut(const spry_matrix *A, const schwarz_options *o, parts *p)
{
    const int64_t found = (A->a.rows + ROWS_OF_PART - 1) / ROWS_OF_PART;
    return parts_make(A, o->parts > 0 ? o->parts : found, o->overlap, p);
}

/* Where the places of each row are. */
static spry_status make_places(schwarz *state)
{
    const parts *p = &state->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, p->n, sizeof *state->owner, &state->owner));
    SPRY_GO(ctx, base_calloc(ctx, p->n + 2, sizeof *state->offsets, &state->offsets));
    SPRY_GO(ctx, base_alloc(ctx, p->total, sizeof *state->places, &state->places));
    for (int64_t i = 0; i < p->total; i++)
        state->offsets[p->rows[i] + 2]++;
    for (int64_t i = 0; i < p->n; i++)
        state->offsets[i + 2] += state->offsets[i + 1];
    for (int64_t i = 0; i < p->total; i++) {
        state->places[state->offsets[p->rows[i] + 1]++] = i;
        if (p->mine[i])
            state->owner[p->rows[i]] = i;
    }
done:
    return status;
}

/* A part's own matrix and what solves with it, on the host. */
static spry_status make_solve(const precon_job *job, const schwarz *state, int64_t k,
                              int32_t *local)
{
    const char *sub = ((const schwarz_options *)job->options)->sub;
    spry_context *ctx = job->A->ctx;
    part_solve *s = &state->solves[k];
    precon_job changed = *job;
    spry_status status = SPRY_STATUS_OK;
    changed.device = NULL;
    SPRY_GO(ctx, parts_matrix(job->A, &state->p, k, local, &s->A));
    status = precon_make_inner(&changed, s->A, sub, &s->M);
    if (status == SPRY_STATUS_OK && !s->M)
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                           "sub=%s solves nothing; take sub=direct, or ilu", sub);
    if (status != SPRY_STATUS_OK)
        status =
            SPRY_CAUSE(ctx, status, "precon schwarz: part %" PRId64 " (from 0, %" PRId64 " rows)",
                       k, s->A->a.rows);
done:
    return status;
}

/* All of them; `op` gets the traits that follow. */
static spry_status make_solves(const precon_job *job, const schwarz *state, spry_operator *op)
{
    spry_context *ctx = op->ctx;
    int32_t *local = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, parts_local(ctx, op->rows, &local));
    for (int64_t k = 0; k < state->p.count; k++) {
        SPRY_GO(ctx, base_go_on(ctx, "subdomains"));
        SPRY_GO(ctx, make_solve(job, state, k, local));
        const spry_operator *M = state->solves[k].M;
        op->own_bytes += M->own_bytes;
        op->varies = op->varies || M->varies;
        op->single = op->single || M->single;
    }
done:
    base_free(ctx, local);
    return status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    const schwarz_options *options = job->options;
    spry_context *ctx = job->A->ctx;
    const int64_t n = job->A->a.rows;
    const int64_t size = (int64_t)spry_type_size(job->A->a.type);
    spry_operator *op = NULL;
    schwarz *state = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, precon_operator(job, &schwarz_class, sizeof *state, &state, &op));
    state->p.ctx = ctx;
    state->restricted = options->kind == SCHWARZ_RAS;
    SPRY_GO(ctx, cut(job->A, options, &state->p));
    SPRY_GO(ctx, make_places(state));
    SPRY_GO(ctx, base_alloc(ctx, state->p.total, (size_t)size, &state->r));
    SPRY_GO(ctx, base_alloc(ctx, state->p.total, (size_t)size, &state->z));
    SPRY_GO(ctx, base_calloc(ctx, state->p.count, sizeof *state->solves, &state->solves));
    SPRY_GO(ctx, make_solves(job, state, op));
    op->own_bytes += state->p.total * (4 * size + 8) + n * 8;
    op->bytes = op->own_bytes + 2 * n * size;
    base_log(ctx, SPRY_LOG_INFO,
             "precon schwarz: %" PRId64 " parts, %.2f times the rows with overlap %d, each by %s",
             state->p.count, (double)state->p.total / (double)(n > 0 ? n : 1),
             (int)options->overlap, options->sub);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

const precon_kind precon_kind_schwarz = {
    .name = "schwarz",
    .summary = "parts of the rows, each solved by itself, with overlap",
    .options = SPRY_OPTION_LIST(table),
    .make = make,
    .make_ranks = schwarz_make_ranks,
    .cost = {.share = 0.2}};
