/*
 * Smoothed aggregation made by the device that the preconditioner lives on: what smoothed.c does,
 * from the pieces of device/setup.h. Aggregates are those of independent sets two steps wide,
 * chosen by hashes (N. Bell, S. Dalton, L. N. Olson, Exposing fine-grained parallelism in algebraic
 * multigrid methods, SIAM J. Sci. Comput. 34 (2012), C123-C152), so that they are others than the
 * host's. Only the coarsest matrix comes to the host, for its factors.
 */
#include "precon/amg/amg.h"

#include "device/operator.h"
#include "device/setup.h"
#include "device/vector.h"

typedef struct hierarchy_there {
    amg *h;
    const precon_job *job;
    spry_device *d;
    double theta, smoothing;
    device_matrix A;     /* of the level at work */
    device_memory *near; /* its near-null vectors; NULL: one of ones */
    int vectors, block;
} hierarchy_there;

/* F = 1 / D and a bound of the eigenvalues of F A. */
static spry_status make_smoother(const hierarchy_there *w, amg_level *level)
{
    amg *h = w->h;
    spry_context *ctx = h->ctx;
    amg_smoother *s = &level->smoother;
    void *f = NULL;
    int64_t bad = -1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, spry_vector_on(w->d, h->type, level->rows, NULL, &s->factor));
    SPRY_GO(ctx, device_matrix_inverse_diagonal(&w->A, s->factor->memory, &bad));
    if (bad >= 0 && level == h->levels)
        SPRY_GO(ctx, amg_no_inverse(h, bad));
    SPRY_GO(ctx, device_matrix_bound(&w->A, &s->largest));
    if (spry_type_is_complex(h->type)) { /* who looks for imaginary parts is on the host */
        const int64_t bytes = level->rows * (int64_t)spry_type_size(h->type);
        SPRY_GO(ctx, base_alloc(ctx, bytes, 1, &f));
        SPRY_GO(ctx, device_get(s->factor->memory, 0, f, bytes));
    }
    SPRY_GO(ctx, amg_smoother_finish(h, w->job, level, f));
done:
    base_free(ctx, f);
    return status;
}

/* The strong entries, of nodes in *S and of rows in *F, with the others on the diagonal. */
static spry_status filter(const hierarchy_there *w, double theta, device_matrix *S,
                          device_matrix *F)
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

/* P = (I - omega D^-1 A_F) T. */
static spry_status smooth(const hierarchy_there *w, const amg_level *level, const device_matrix *F,
                          const device_matrix *T, device_matrix *P)
{
    spry_context *ctx = w->h->ctx;
    device_memory *inverse = NULL;
    double largest = 0;
    int64_t bad = -1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_alloc(w->d, F->rows * (int64_t)spry_type_size(F->type), &inverse));
    SPRY_GO(ctx, device_matrix_inverse_diagonal(F, inverse, &bad));
    SPRY_GO(ctx, device_matrix_bound(F, &largest));
    if (largest > 2.1 && level->smoother.largest > 0 && level->smoother.largest < largest)
        largest = level->smoother.largest;
    SPRY_GO(ctx,
            device_smooth_prolongator(F, inverse, largest > 0 ? w->smoothing / largest : 0, T, P));
done:
    device_free(inverse);
    return status;
}

/* P of a level, none where it cannot be coarsened; near-null vectors become the next level's. */
static spry_status prolong(hierarchy_there *w, int l, device_matrix *P, int64_t *vanished)
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
    SPRY_GO(ctx, device_aggregate(w->block == 1 ? &F : &S, false, map, &level->coarse));
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

/* Rows of zeros get a 1, by way of the host: they are rare. */
static spry_status mend(spry_device *d, device_matrix *A)
{
    spry_matrix *here = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, device_matrix_get(A, &here));
    amg_mend(here);
    device_matrix_free(A);
    SPRY_GO(d->ctx, device_matrix_put_csr(d, &here->a, A));
done:
    spry_matrix_free(here);
    return status;
}

/* The next level's matrix takes the place of this one's, which the level's operator has. */
static spry_status descend(hierarchy_there *w, amg_level *level, device_matrix *P, int64_t vanished)
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
    device_matrix_free(&R);
    device_matrix_free(&coarse);
    return status;
}

static spry_status begin(hierarchy_there *w)
{
    amg *h = w->h;
    spry_context *ctx = h->ctx;
    amg_level first = {.rows = w->job->A->a.rows};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, precon_device_matrix(w->job, &w->A));
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

spry_status amg_smoothed_device(amg *h, const precon_job *job, double smoothing)
{
    spry_context *ctx = h->ctx;
    hierarchy_there w = {.h = h, .job = job, .d = job->device, .smoothing = smoothing};
    amg_level *level = NULL;
    device_matrix P = {0};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, begin(&w));
    for (;;) {
        int64_t vanished;
        level = &h->levels[h->count++];
        level->rows = w.A.rows;
        level->nnz = w.A.nnz;
        SPRY_GO(ctx, device_matrix_operator(&w.A, true, NULL, &level->op));
        SPRY_GO(ctx, amg_make_vectors(h, job, level));
        SPRY_GO(ctx, make_smoother(&w, level));
        if (level->rows <= h->common.coarse_size || h->count >= h->common.levels)
            break;
        SPRY_GO(ctx, prolong(&w, h->count - 1, &P, &vanished));
        if (!P.offsets)
            break;
        SPRY_GO(ctx, descend(&w, level, &P, vanished));
    }
    SPRY_GO(ctx, device_matrix_get(&w.A, &level->own));
    level->A = level->own;
    SPRY_GO(ctx, amg_make_bottom(h, job, level));
done:
    device_matrix_free(&P);
    device_matrix_free(&w.A);
    device_free(w.near);
    return status;
}
