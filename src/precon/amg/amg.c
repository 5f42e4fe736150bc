/* Multigrid as an operator, whatever it was coarsened by. */
#include "precon/amg/amg.h"

/* y = conj(x), by way of room on the host. */
static spry_status conjugate(const amg *h, const spry_vector *x, spry_vector *on_host,
                             spry_vector *y)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, spry_vector_copy(x, on_host));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it exists */
    precon_kernels_for(h->ctx, h->type)->amg_conjugate(on_host->n, on_host->data, on_host->data);
    SPRY_GO(h->ctx, spry_vector_copy(on_host, y));
done:
    return status;
}

/* M^T r is conj(M^H conj(r)); cycles know M and M^H. */
static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z)
{
    const amg *h = op->state;
    spry_vector *turned = NULL, *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (transpose != SPRY_TRANSPOSE_YES)
        return amg_cycle(h, 0, transpose, r, z);
    if (!spry_type_is_complex(h->type))
        return amg_cycle(h, 0, SPRY_TRANSPOSE_CONJUGATE, r, z);
    status = spry_vector_like(r, r->n, &turned);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(h->ctx, h->type, r->n, NULL, SPRY_OWN_COPY, &on_host);
    SPRY_GO(h->ctx, operator_agree(op, status));
    SPRY_GO(h->ctx, conjugate(h, r, on_host, turned));
    SPRY_GO(h->ctx, amg_cycle(h, 0, SPRY_TRANSPOSE_CONJUGATE, turned, z));
    SPRY_GO(h->ctx, conjugate(h, z, on_host, z));
done:
    spry_vector_free(turned);
    spry_vector_free(on_host);
    return status;
}

static void destroy(spry_operator *op)
{
    amg *h = op->state;
    if (!h)
        return;
    amg_clear(h);
    base_free(op->ctx, h->options);
    base_free(op->ctx, h);
}

/* What a cycle reads and writes of matrices: A for each step but the first, P and R. */
static void count_bytes(spry_operator *op, const amg *h)
{
    const int64_t size = (int64_t)spry_type_size(op->type);
    int64_t bytes = h->bottom ? h->bottom->own_bytes : 0;
    for (int l = 0; l < h->count - 1; l++) {
        const amg_level *level = &h->levels[l];
        const int64_t degree = level->smoother.inside ? 2 : level->smoother.degree;
        const int64_t steps = (h->common.pre + h->common.post) * degree;
        bytes += steps * level->op->own_bytes + level->P->own_bytes + level->R->own_bytes;
        bytes += (steps * 4 + 5) * level->rows * size;
        if (level->nodes)
            bytes += 2 * (level->op->own_bytes + level->nodes->P->own_bytes +
                          level->nodes->R->own_bytes + degree * level->nodes->op->own_bytes);
    }
    op->own_bytes = bytes;
    op->bytes = bytes;
}

/* What its parts make of it. */
static void note_traits(spry_operator *op, const amg *h)
{
    const char *smoother = h->common.smoother;
    op->varies = h->common.cycle == AMG_K || (h->bottom && h->bottom->varies);
    /* As much is smoothed after the correction as before it. */
    op->hermitian = h->hermitian && !op->varies && h->common.pre == h->common.post &&
                    strcmp(h->common.coarse, "auto") == 0 &&
                    (strcmp(smoother, "chebyshev") == 0 || strcmp(smoother, "l1-jacobi") == 0);
    op->single = h->bottom && h->bottom->single;
    for (int l = 0; l < h->count; l++) {
        const spry_operator *inside = h->levels[l].smoother.inside;
        op->varies = op->varies || (inside && inside->varies);
        op->single = op->single || (inside && inside->single);
    }
}

static spry_status update(spry_operator *op, const spry_matrix *A)
{
    spry_context *ctx = op->ctx;
    amg *old = op->state, *h = NULL;
    spry_status status = SPRY_STATUS_OK;
    status = base_calloc(ctx, 1, sizeof *h, &h);
    SPRY_GO(ctx, A->distributed ? team_agree(ctx, status) : status);
    *h = *old;
    h->count = 0;
    h->bottom = NULL;
    memset(h->levels, 0, sizeof h->levels);
    precon_job job = old->job;
    job.A = job.near = A;
    job.options = h->options;
    SPRY_GO(ctx, amg_build(h, &job, old));
    amg_clear(old);
    *old = *h;
    note_traits(op, old);
    count_bytes(op, old);
done:
    if (status != SPRY_STATUS_OK && h)
        amg_clear(h);
    base_free(ctx, h);
    return status;
}

static const operator_class amg_class = {.name = "amg",
                                         .has_transpose = true,
                                         .multiply = operator_apply_arrays,
                                         .multiply_vectors = operator_apply_vectors,
                                         .apply = apply,
                                         .update = update,
                                         .destroy = destroy};

/* Without levels. */
static spry_status new_operator(const precon_job *job, const amg_kind *kind, spry_operator **out)
{
    spry_context *ctx = job->A->ctx;
    amg *h = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_operator(job, &amg_class, sizeof *h, &h, out));
    (*out)->name = kind->name;
    (*out)->device = job->device;
    h->ctx = ctx;
    h->type = job->A->a.type;
    h->name = kind->name;
    h->kind = kind;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)kind->options, 1, &h->options));
    memcpy(h->options, job->options, kind->options);
    h->common = *(const amg_common *)job->options;
    h->job = precon_kept(job);
done:
    return status;
}

spry_status amg_make(const precon_job *job, const amg_kind *kind, spry_operator **out)
{
    spry_context *ctx = job->A->ctx;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    status = new_operator(job, kind, &op);
    SPRY_GO(ctx, job->A->distributed ? team_agree(ctx, status) : status);
    amg *h = op->state;
    SPRY_GO(ctx, amg_build(h, job, NULL));
    note_traits(op, h);
    count_bytes(op, h);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
