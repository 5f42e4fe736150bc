/*
 * Which order: approximate minimum degree, or nested dissection where the work of elimination is
 * worth another order and turns out to be less with it. The halves of a 2 x 2 pivot are ordered as
 * one: I. S. Duff, S. Pralet, Strategies for scaling and pivoting for sparse symmetric indefinite
 * problems, SIAM J. Matrix Anal. Appl. 27 (2005), 313-340.
 */
#include "direct/inside.h"

#include "base/machine.h"
#include "matrix/algebra/algebra.h"
#include "matrix/algebra/graph.h"

/* The graph of what is ordered as one: of[v] is the vertex that v is a part of, first[u] the first
 * part of u. */
typedef struct joined {
    graph g;
    int32_t *of, *first;
} joined;

static void clear_joined(spry_context *ctx, joined *j)
{
    graph_clear(ctx, &j->g);
    base_free(ctx, j->of);
    base_free(ctx, j->first);
}

/* Neighbours of u in `to`, each once; mark[v] == u marks that v is in the list. */
static int64_t join_rows(const graph *g, const joined *j, const int32_t *pair, int32_t u,
                         int32_t *mark, int32_t *to)
{
    int64_t count = 0;
    const int32_t v = j->first[u];
    mark[u] = u;
    for (int half = 0; half < (pair[v] == v ? 1 : 2); half++) {
        const int32_t part = half == 0 ? v : pair[v];
        for (int64_t e = g->offsets[part]; e < g->offsets[part + 1]; e++) {
            const int32_t w = j->of[g->neighbours[e]];
            if (mark[w] != u) {
                mark[w] = u;
                to[count++] = w;
            }
        }
    }
    return count;
}

static spry_status join(spry_context *ctx, const graph *g, const int32_t *pair, joined *j)
{
    int32_t *mark = NULL, count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *j->of, &j->of));
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *j->first, &j->first));
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *mark, &mark));
    for (int32_t v = 0; v < g->n; v++) {
        if (pair[v] < v) {
            j->of[v] = j->of[pair[v]];
        } else {
            j->first[count] = v;
            j->of[v] = count++;
        }
        mark[v] = -1;
    }
    j->g.n = count;
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)count + 1, sizeof *j->g.offsets, &j->g.offsets));
    SPRY_GO(ctx, base_alloc(ctx, g->offsets[g->n], sizeof *j->g.neighbours, &j->g.neighbours));
    j->g.offsets[0] = 0;
    for (int32_t u = 0; u < count; u++)
        j->g.offsets[u + 1] =
            j->g.offsets[u] + join_rows(g, j, pair, u, mark, j->g.neighbours + j->g.offsets[u]);
done:
    base_free(ctx, mark);
    return status;
}

/* The order of the parts from that of the joined ones. */
static spry_status split(spry_context *ctx, int32_t n, const joined *j, const int32_t *pair,
                         int32_t **perm)
{
    int32_t *all = NULL, count = 0;
    const spry_status status = base_alloc(ctx, n, sizeof *all, &all);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int32_t k = 0; k < j->g.n; k++) {
        const int32_t v = j->first[(*perm)[k]];
        all[count++] = v;
        if (pair[v] != v)
            all[count++] = pair[v];
    }
    base_free(ctx, *perm);
    *perm = all;
    return SPRY_STATUS_OK;
}

/* Nested dissection; *perm is NULL, and nothing noted, where this build has none. */
static spry_status dissect(spry_context *ctx, const graph *g, int32_t **perm)
{
    spry_status status = base_alloc(ctx, g->n, sizeof **perm, perm);
    if (status != SPRY_STATUS_OK)
        return status;
    const base_kept before = base_try(ctx);
    status = graph_nd(ctx, g, *perm);
    if (status != SPRY_STATUS_OK) {
        base_free(ctx, *perm);
        *perm = NULL;
    }
    if (status == SPRY_STATUS_UNSUPPORTED) {
        base_forgive(ctx, &before);
        status = SPRY_STATUS_OK;
    }
    return status;
}

spry_status frontal_order_choose(spry_context *ctx, const graph *g, const int32_t *pair,
                                 bool symmetric, double most, double each, frontal_order *o)
{
    static const double worth = 2e4; /* operations for each edge that dissection looks at */
    /* Dissection takes five to ten times as long as minimum degree, whose order has up to 9 times
     * the work: 9 on cage11, 7 on kkt_CVXQP3_L, 2 to 4 on grids and meshes. */
    static const double gain = 10;
    frontal_order other = {0};
    joined j = {0};
    int32_t *perm = NULL;
    spry_status status = SPRY_STATUS_OK;
    *o = (frontal_order){0};
    if (pair)
        SPRY_GO(ctx, join(ctx, g, pair, &j));
    const graph *seen = pair ? &j.g : g;
    const int64_t edges = seen->offsets[seen->n];
    SPRY_GO(ctx, algebra_amd(ctx, seen->n, seen->offsets, seen->neighbours, &perm));
    if (pair)
        SPRY_GO(ctx, split(ctx, g->n, &j, pair, &perm));
    SPRY_GO(ctx, frontal_order_make(ctx, g, perm, o));
    const double flops = frontal_order_flops(o, symmetric);
    if (!(flops > worth * (double)(edges + g->n)) || edges == 0)
        goto done;
    const double least = each * flops / gain / MACHINE_FRONT_FLOPS;
    if (most > 0 && least > most) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                           "factors are forecast to take more than %.2g s of one core, %.2g were "
                           "allowed",
                           least, most);
        goto done;
    }
    base_free(ctx, perm);
    perm = NULL;
    SPRY_GO(ctx, dissect(ctx, seen, &perm));
    if (!perm)
        goto done;
    if (pair)
        SPRY_GO(ctx, split(ctx, g->n, &j, pair, &perm));
    SPRY_GO(ctx, frontal_order_make(ctx, g, perm, &other));
    if (frontal_order_flops(&other, symmetric) < flops) {
        frontal_order_clear(ctx, o);
        *o = other;
        other = (frontal_order){0};
    }
done:
    base_free(ctx, perm);
    clear_joined(ctx, &j);
    frontal_order_clear(ctx, &other);
    if (status != SPRY_STATUS_OK)
        frontal_order_clear(ctx, o);
    return status;
}
