/*
 * Levels set up on the preconditioner's device: what hierarchy.c does, from the pieces of
 * device/linalg/setup.h and the kind's own. Only the coarsest matrix comes to the host, for its
 * factors, and levels whose smoother is set up on the host.
 */
#include "precon/amg/amg.h"

#include "device/linalg/operator.h"

/* Rows of zeros get a 1, by way of the host: they are rare. */
static spry_status mend(spry_device *d, device_matrix *A)
{
    spry_matrix *on_host = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_matrix_get(A, &on_host));
    amg_mend(on_host);
    device_matrix_free(A);
    SPRY_GO(d->ctx, device_matrix_put_csr(d, &on_host->a, A));
done:
    spry_matrix_free(on_host);
    return status;
}

/* The next level's matrix takes the place of this one's, which the level's operator has. Takes P.
 */
static spry_status descend(amg_on_device *w, amg_level *level, device_matrix *P, int64_t vanished)
{
    spry_context *ctx = w->h->ctx;
    device_matrix R = {0}, coarse = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_matrix_transpose(P, true, &R));
    SPRY_GO(ctx, device_matrix_triple(&R, &w->A, P, &coarse));
    if (vanished > 0)
        SPRY_GO(ctx, mend(w->d, &coarse));
    SPRY_GO(ctx, device_matrix_operator(P, false, NULL, &level->P));
    SPRY_GO(ctx, device_matrix_operator(&R, false, NULL, &level->R));
    device_matrix_free(&w->A);
    w->A = coarse;
    coarse = (device_matrix){0};
done:
    device_matrix_free(P);
    device_matrix_free(&R);
    device_matrix_free(&coarse);
    return status;
}

/* The level of the matrix that is at hand. */
static spry_status open_level(amg_on_device *w, amg_level **out)
{
    amg *h = w->h;
    amg_level *level = &h->levels[h->count++];
    spry_status status = SPRY_STATUS_OK;
    *out = level;
    level->rows = w->A.rows;
    level->nnz = w->A.nnz;
    SPRY_GO(h->ctx, device_matrix_operator(&w->A, true, NULL, &level->op));
    SPRY_GO(h->ctx, amg_make_vectors(h, w->job, level));
done:
    return status;
}

/* Levels down to the last, which comes to the host. */
static spry_status build(amg_on_device *w)
{
    amg *h = w->h;
    spry_context *ctx = h->ctx;
    amg_level *level = NULL;
    device_matrix P = {0};
    int64_t vanished;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_device_matrix(w->job, &w->A));
    if (h->kind->begin_on_device)
        SPRY_GO(ctx, h->kind->begin_on_device(w));
    for (;;) {
        SPRY_GO(ctx, base_go_on(ctx, "multigrid"));
        SPRY_GO(ctx, open_level(w, &level));
        const bool small = level->rows <= h->common.coarse_size;
        if (!small || strcmp(h->common.coarse, "smoother") == 0)
            SPRY_GO(ctx, amg_smoother_make(h, w->job, level, &w->A));
        if (small || h->count >= h->common.levels)
            break;
        SPRY_GO(ctx, h->kind->coarsen_on_device(w, h->count - 1, &P, &vanished));
        if (!P.offsets)
            break;
        if (P.cols == 0 || (double)P.cols > 0.85 * (double)P.rows) {
            device_matrix_free(&P);
            break;
        }
        SPRY_GO(ctx, descend(w, level, &P, vanished));
    }
    if (!level->A) {
        SPRY_GO(ctx, device_matrix_get(&w->A, &level->own));
        level->A = level->own;
    }
    SPRY_GO(ctx, amg_make_bottom(h, w->job, level));
    if (!h->bottom && !level->smoother.factor && !level->smoother.inside)
        SPRY_GO(ctx, amg_smoother_make(h, w->job, level, &w->A));
done:
    device_matrix_free(&P);
    return status;
}

spry_status amg_build_on_device(amg *h, const precon_job *job, bool *made)
{
    amg_on_device w = {.h = h, .job = job, .d = job->device};
    *made = h->common.setup != AMG_SETUP_HOST && strcmp(job->values, "own") == 0 &&
            job->A->a.rows > h->common.coarse_size && device_has_room(job->device, job->A);
    if (!*made)
        return SPRY_STATUS_OK;
    const base_kept before = base_try(h->ctx);
    const spry_status status = build(&w);
    device_matrix_free(&w.A);
    device_free(w.near);
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(h->ctx, &before); /* the host has more */
    amg_clear(h);
    *made = false;
    return SPRY_STATUS_OK;
}
