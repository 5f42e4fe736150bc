/*
 * Coarse and fine points by parallel modified independent sets (H. De Sterck, U. M. Yang, J. J.
 * Heys, Reducing complexity in parallel algebraic multigrid preconditioners, SIAM J. Matrix Anal.
 * Appl. 27 (2006), 1019-1039): a point on which more depend than on all its neighbours becomes
 * coarse, those that depend on it fine. Ties are broken by a random number, which
 * follows from the point's index alone, so that the outcome does not depend on threads.
 */
#include "precon/amg/amg.h"

enum { OPEN, COARSE, FINE };

typedef struct points {
    spry_context *ctx;
    const amg_graph *g;
    int threads;
    float *weight;
    uint8_t *state, *best;
} points;

static bool heavier(const points *p, int64_t i, int64_t j)
{
    return p->weight[i] != p->weight[j] ? p->weight[i] > p->weight[j] : i > j;
}

static spry_status weigh(points *p)
{
    const amg_graph *g = p->g;
    int32_t *depending = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(p->ctx, base_calloc(p->ctx, g->nodes, sizeof *depending, &depending));
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++)
        for (int32_t k = 0; k < g->lengths[i]; k++) {
            int32_t *of = &depending[g->columns[g->offsets[i] + k]];
#pragma omp atomic
            ++*of;
        }
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++) {
        p->weight[i] = (float)depending[i] + (float)base_uniform(17, (uint64_t)i);
        p->state[i] = depending[i] == 0 || g->lengths[i] == 0 ? FINE : OPEN;
    }
done:
    base_free(p->ctx, depending);
    return status;
}

/* One round; gives how many points are still open. */
static int64_t run_round(const points *p)
{
    const amg_graph *g = p->g;
    int64_t open = 0;
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++)
        p->best[i] = p->state[i] == OPEN;
        /* Of two open points of which one depends on the other, the lighter is not the best. */
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++) {
        const int32_t *near = g->columns + g->offsets[i];
        for (int32_t k = 0; p->state[i] == OPEN && k < g->lengths[i]; k++) {
            if (p->state[near[k]] != OPEN)
                continue;
            uint8_t *loser = &p->best[heavier(p, i, near[k]) ? near[k] : i];
#pragma omp atomic write
            *loser = 0;
        }
    }
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int64_t i = 0; i < g->nodes; i++)
        if (p->best[i])
            p->state[i] = COARSE;
#pragma omp parallel for num_threads(p->threads) schedule(static) reduction(+ : open)
    for (int64_t i = 0; i < g->nodes; i++) {
        const int32_t *near = g->columns + g->offsets[i];
        bool fine = false;
        if (p->state[i] != OPEN)
            continue;
        for (int32_t k = 0; k < g->lengths[i] && !fine; k++)
            fine = p->best[near[k]] != 0;
        /* Others look at `best` and at states of coarse points only in this pass. */
        if (fine)
            p->state[i] = FINE;
        open += !fine;
    }
    return open;
}

spry_status amg_pmis(spry_context *ctx, const amg_graph *g, int32_t *map, int64_t *count)
{
    points p = {.ctx = ctx, .g = g, .threads = host_threads(ctx, 4 * g->nodes)};
    int32_t found = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->nodes, sizeof *p.weight, &p.weight));
    SPRY_GO(ctx, base_alloc(ctx, g->nodes, sizeof *p.state, &p.state));
    SPRY_GO(ctx, base_alloc(ctx, g->nodes, sizeof *p.best, &p.best));
    SPRY_GO(ctx, weigh(&p));
    while (run_round(&p) > 0) {
    }
    for (int64_t i = 0; i < g->nodes; i++)
        map[i] = p.state[i] == COARSE ? found++ : -1;
    *count = found;
done:
    base_free(ctx, p.weight);
    base_free(ctx, p.state);
    base_free(ctx, p.best);
    return status;
}
