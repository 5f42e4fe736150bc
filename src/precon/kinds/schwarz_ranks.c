/*
 * Schwarz's methods across ranks (see schwarz.c): a rank's rows are a part, made larger by
 * rows of other ranks, layer by layer. Each rank solves with its own part by any preconditioner;
 * elements of r come from their owners before, and with kind=as elements of z go back after, to be
 * added in the order of ranks.
 */
#include "precon/kinds/schwarz.h"

#include "ranks/reach.h"

typedef struct schwarz_ranks {
    bool restricted;
    ranks_reach part; /* this rank's, with the overlap */
    ranks_halo halo;
    spry_operator *M;
    spry_vector *r, *z; /* with the overlap */
    bool warmed[3];     /* products that all ranks have done once: what they need exists */
} schwarz_ranks;

static void destroy(spry_operator *op)
{
    schwarz_ranks *s = op->state;
    if (!s)
        return;
    ranks_halo_clear(&s->halo);
    spry_operator_free(s->M);
    ranks_reach_clear(op->ctx, &s->part);
    spry_vector_free(s->r);
    spry_vector_free(s->z);
    base_free(op->ctx, s);
}

/* --- applying ------------------------------------------------------------------------------------
 */

static char *behind(const schwarz_ranks *s, const spry_vector *v)
{
    return (char *)v->data + (size_t)s->part.own * spry_type_size(v->type);
}

static spry_status solve_part(schwarz_ranks *s, spry_context *ctx, spry_transpose transpose)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const spry_status status = spry_operator_multiply(s->M, transpose, one, s->r, zero, s->z);
    return precon_warm(ctx, &s->warmed[transpose], status);
}

/* ras takes the rows of others before it solves, its transpose gives them away after it. */
static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z)
{
    schwarz_ranks *s = op->state;
    const size_t size = spry_type_size(op->type), own = (size_t)s->part.own * size;
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    spry_status status = SPRY_STATUS_OK;
    if (own > 0)
        memcpy(s->r->data, r->data, own);
    if (!s->restricted || plain)
        SPRY_GO(op->ctx, ranks_halo_exchange(&s->halo, r->data, behind(s, s->r)));
    else
        memset(behind(s, s->r), 0, (size_t)s->part.count * size);
    SPRY_GO(op->ctx, solve_part(s, op->ctx, transpose));
    if (own > 0)
        memcpy(z->data, s->z->data, own);
    if (!s->restricted || !plain)
        SPRY_GO(op->ctx, ranks_halo_add(&s->halo, behind(s, s->z), z->data));
done:
    return status;
}

static const operator_class ranks_class = {.name = "schwarz",
                                           .has_transpose = true,
                                           .multiply = operator_apply_arrays,
                                           .multiply_vectors = operator_apply_vectors,
                                           .apply = apply,
                                           .destroy = destroy};

/* --- making --------------------------------------------------------------------------------------
 */

static spry_status make_solve(const precon_job *job, const schwarz_options *o, schwarz_ranks *s)
{
    spry_context *ctx = job->A->ctx;
    const int64_t n = s->part.own + s->part.count;
    precon_job changed = *job;
    spry_status status = SPRY_STATUS_OK;
    changed.device = NULL;
    changed.near = NULL;
    changed.op = NULL;
    SPRY_GO(ctx, spry_vector_new(ctx, s->part.A->a.type, n, NULL, SPRY_OWN_COPY, &s->r));
    SPRY_GO(ctx, spry_vector_new(ctx, s->part.A->a.type, n, NULL, SPRY_OWN_COPY, &s->z));
    SPRY_GO(ctx, precon_make_inner(&changed, s->part.A, o->sub, &s->M));
    if (!s->M)
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                      "precon schwarz: sub=%s solves nothing; take sub=direct, or ilu", o->sub);
done:
    return status;
}

/* What one rank's part is makes all of them so. */
static spry_status note_traits(const schwarz_ranks *s, spry_operator *op)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(op->ctx, team_any(op->ctx, s->M->varies, &op->varies));
    SPRY_GO(op->ctx, team_any(op->ctx, s->M->single, &op->single));
    const int64_t size = (int64_t)spry_type_size(op->type);
    op->own_bytes = s->M->own_bytes + 4 * (s->part.own + s->part.count) * size;
    op->bytes = op->own_bytes + 2 * s->part.own * size;
done:
    return status;
}

spry_status schwarz_make_ranks(const precon_job *job, spry_operator **M)
{
    const schwarz_options *o = job->options;
    spry_context *ctx = job->A->ctx;
    spry_operator *op = NULL;
    schwarz_ranks *s = NULL;
    spry_status status = precon_operator(job, &ranks_class, sizeof *s, &s, &op);
    *M = NULL;
    SPRY_GO(ctx, team_agree(ctx, status));
    s->restricted = o->kind == SCHWARZ_RAS;
    SPRY_GO(ctx, ranks_reach_make(job->A, o->overlap, 1, &s->part));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it exists */
    SPRY_GO(ctx, ranks_halo_make(ctx, op->type, job->A->distributed->row_starts, s->part.count,
                                 s->part.others, &s->halo));
    SPRY_GO(ctx, team_agree(ctx, make_solve(job, o, s)));
    SPRY_GO(ctx, note_traits(s, op));
    base_log(ctx, SPRY_LOG_INFO,
             "precon schwarz: a part per rank, %" PRId64 " rows here and %" PRId64
             " of other ranks, by %s",
             s->part.own, s->part.count, o->sub);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
