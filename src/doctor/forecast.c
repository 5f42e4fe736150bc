/*
 * What factoring will take: the elimination tree and the counts of columns of a Cholesky factor
 * with the pattern of A + A^T (J. W. H. Liu, The role of elimination trees in sparse factorization,
 * SIAM J. Matrix Anal. Appl. 11 (1990), 134-172). Pivots make LU somewhat more.
 */
#include "doctor/doctor.h"

#include "algebra/graph.h"
#include "matrix/entries.h"

#include <spry/reorder.h>

typedef struct tree {
    int32_t *perm, *place; /* new to old, old to new */
    int32_t *parent, *ancestor, *mark;
    int64_t *count;
} tree;

/* Row i of the reordered graph: ancestors of its neighbours before i are joined below i. */
static void join(const graph *g, tree *t, int32_t i)
{
    const int32_t old = t->perm[i];
    t->parent[i] = t->ancestor[i] = -1;
    for (int64_t k = g->offsets[old]; k < g->offsets[old + 1]; k++) {
        int32_t j = t->place[g->neighbours[k]];
        while (j >= 0 && j < i) {
            const int32_t next = t->ancestor[j];
            t->ancestor[j] = i;
            if (next < 0)
                t->parent[j] = i;
            j = next;
        }
    }
}

/* Row i of the factor: the ways up the tree from its neighbours before i. How many it has. */
static int64_t walk(const graph *g, tree *t, int32_t i)
{
    const int32_t old = t->perm[i];
    int64_t length = 0;
    t->mark[i] = i;
    for (int64_t k = g->offsets[old]; k < g->offsets[old + 1]; k++)
        for (int32_t j = t->place[g->neighbours[k]]; j < i && t->mark[j] != i; j = t->parent[j]) {
            t->mark[j] = i;
            t->count[j]++;
            length++;
        }
    return length;
}

static spry_status open_tree(const spry_matrix *A, tree *t)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    spry_status status = spry_reorder(A, "amd", &t->perm);
    if (status == SPRY_STATUS_UNSUPPORTED)
        status = spry_reorder(A, "rcm", &t->perm);
    if (status != SPRY_STATUS_OK)
        return status;
    SPRY_GO(ctx, matrix_invert(ctx, "perm", t->perm, n, &t->place));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *t->parent, &t->parent));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *t->ancestor, &t->ancestor));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *t->mark, &t->mark));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *t->count, &t->count));
    for (int64_t i = 0; i < n; i++)
        t->mark[i] = -1;
done:
    return status;
}

spry_status doctor_forecast(const spry_matrix *A, double most, double *operations)
{
    spry_context *ctx = A->ctx;
    graph g = {0};
    tree t = {0};
    double entries = 0;
    spry_status status = SPRY_STATUS_OK;
    *operations = 0;
    SPRY_GO(ctx, graph_make(A, &g));
    SPRY_GO(ctx, open_tree(A, &t));
    for (int32_t i = 0; i < g.n; i++)
        join(&g, &t, i);
    /* A column of c entries takes about c^2: at least entries^2 / n of all, so that the walk, which
     * takes as long as there are entries, can end. */
    for (int32_t i = 0; i < g.n && entries * entries <= most * (double)g.n; i++)
        entries += (double)walk(&g, &t, i);
    for (int32_t i = 0; i < g.n; i++)
        *operations += 2 * ((double)t.count[i] + 1) * ((double)t.count[i] + 1);
    if (entries * entries > most * (double)g.n)
        *operations = INFINITY;
done:
    graph_clear(ctx, &g);
    base_free(ctx, t.perm);
    base_free(ctx, t.place);
    base_free(ctx, t.parent);
    base_free(ctx, t.ancestor);
    base_free(ctx, t.mark);
    base_free(ctx, t.count);
    return status;
}
