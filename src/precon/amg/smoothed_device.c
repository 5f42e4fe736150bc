/*
 * Smoothed aggregation by the device that the preconditioner lives on: what smoothed.c does, from
 * the pieces of device/linalg/setup.h. Aggregates are those of independent sets two steps wide,
 * chosen by hashes (N. Bell, S. Dalton, L. N. Olson, Exposing fine-grained parallelism in algebraic
 * multigrid methods, SIAM J. Sci. Comput. 34 (2012), C123-C152), so that they are others than the
 * host's.
 */
#include "precon/amg/smoothed.h"

#include "device/linalg/setup.h"

/* The strong entries, of nodes in *S and of rows in *F, with the others on the diagonal. */
static spry_status filter(const amg_on_device *w, double theta, device_matrix *S, device_matrix *F)
{
    spry_context *ctx = w->h->ctx;
    device_matrix nodes = {0};
    spry_status status = SPRY_STATUS_OK;
    if (w->block == 1) {
        SPRY_GO(ctx, device_matrix_filter(&w->A, theta, true, F));
        goto done;
    }
    SPRY_GO(ctx, device_matrix_condense(&w->A, w->block, &nodes));
    SPRY_GO(ctx, device_matrix_filter(&nodes, theta, false, S));
    SPRY_GO(ctx, device_matrix_filter_blocks(&w->A, w->block, S, true, F));
done:
    device_matrix_free(&nodes);
    return status;
}

/* Sets are independent in symmetric patterns only: of others, neighbours either way are neighbours.
 * Flows have half as many aggregates then. */
static spry_status aggregate(const amg_on_device *w, const device_matrix *strong,
                             device_memory *map, int64_t *count)
{
    spry_context *ctx = w->h->ctx;
    device_matrix turned = {0}, both = {0};
    spry_status status = SPRY_STATUS_OK;
    if (!w->h->hermitian) {
        SPRY_GO(ctx, device_matrix_transpose(strong, true, &turned));
        SPRY_GO(ctx, device_matrix_add((spry_scalar){1, 0}, strong, (spry_scalar){1, 0}, NULL,
                                       &turned, &both));
    }
    SPRY_GO(ctx, device_aggregate(both.offsets ? &both : strong, false, map, count));
done:
    device_matrix_free(&turned);
    device_matrix_free(&both);
    return status;
}

/* P = (I - omega D^-1 A_F) T. */
static spry_status smooth(const amg_on_device *w, const amg_level *level, const device_matrix *F,
                          const device_matrix *T, device_matrix *P)
{
    spry_context *ctx = w->h->ctx;
    device_memory *inverse = NULL;
    device_scales scales;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(w->d, F->rows * (int64_t)spry_type_size(F->type), &inverse));
    SPRY_GO(ctx, device_matrix_inverse_diagonal(F, inverse, NULL, &scales));
    const double smoothing = ((const smoothed_options *)w->h->options)->smoothing;
    double largest = scales.bound;
    if (largest > 2.1 && level->smoother.largest > 0 && level->smoother.largest < largest)
        largest = level->smoother.largest;
    SPRY_GO(ctx,
            device_smooth_prolongator(F, inverse, largest > 0 ? smoothing / largest : 0, T, P));
done:
    device_free(inverse);
    return status;
}

/* P of a level, none where it cannot be coarsened; near-null vectors become the next level's. */
spry_status amg_smoothed_coarsen_on_device(amg_on_device *w, int l, device_matrix *P,
                                           int64_t *vanished)
{
    spry_context *ctx = w->h->ctx;
    amg_level *level = &w->h->levels[l];
    const int64_t nodes = level->rows / w->block;
    device_matrix S = {0}, F = {0}, T = {0};
    device_memory *map = NULL, *coarse = NULL;
    spry_status status = SPRY_STATUS_OK;
    *vanished = 0;
    SPRY_GO(ctx, filter(w, ldexp(w->theta, -l), &S, &F));
    SPRY_GO(ctx, device_alloc(w->d, nodes * (int64_t)sizeof(int32_t), &map));
    SPRY_GO(ctx, aggregate(w, w->block == 1 ? &F : &S, map, &level->coarse));
    if (level->coarse == 0 || (double)level->coarse * w->vectors > 0.85 * (double)level->rows)
        goto done;
    const device_nodes all = {.count = nodes,
                              .aggregates = level->coarse,
                              .aggregate = map,
                              .block = w->block,
                              .vectors = w->vectors,
                              .near_null = w->near};
    SPRY_GO(ctx, device_tentative(w->d, w->h->type, &all, &T, &coarse, vanished));
    SPRY_GO(ctx, smooth(w, level, &F, &T, P));
    device_free(w->near);
    w->near = coarse;
    coarse = NULL;
    w->block = w->vectors;
done:
    device_free(coarse);
    device_free(map);
    device_matrix_free(&S);
    device_matrix_free(&F);
    device_matrix_free(&T);
    return status;
}

spry_status amg_smoothed_begin_on_device(amg_on_device *w)
{
    amg *h = w->h;
    spry_context *ctx = h->ctx;
    amg_level first = {.rows = w->A.rows};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, amg_smoothed_begin(h, w->job, &first));
    w->block = first.block;
    w->theta = amg_smoothed_theta(h, w->job->A, first.block);
    w->vectors = h->near.count;
    if (w->vectors > 1 || (w->job->near && w->job->near->near_count > 0)) {
        const int64_t bytes = first.rows * w->vectors * (int64_t)spry_type_size(h->type);
        SPRY_GO(ctx, device_alloc(w->d, bytes, &w->near));
        SPRY_GO(ctx, device_put(w->near, 0, h->near.values, bytes));
    }
done:
    return status;
}
