/*
 * What follows from an order of a graph: the elimination tree (J. W. H. Liu, A compact row storage
 * scheme for Cholesky factors using elimination trees, ACM Trans. Math. Softw. 12 (1986), 127-148),
 * its postorder, and the entries of the columns of L without L (J. R. Gilbert, E. G. Ng,
 * B. W. Peyton, An efficient algorithm to compute row and column counts for sparse Cholesky
 * factorization, SIAM J. Matrix Anal. Appl. 15 (1994), 1075-1091).
 */
#include "direct/inside.h"

#include "matrix/algebra/graph.h"

void frontal_order_clear(spry_context *ctx, frontal_order *o)
{
    base_free(ctx, o->order);
    base_free(ctx, o->parent);
    base_free(ctx, o->count);
    *o = (frontal_order){0};
}

/* Parents of places; `top` is room: the nearest known ancestor, which paths are shortened to. */
static void find_parents(const graph *g, const int32_t *order, const int32_t *place,
                         int32_t *parent, int32_t *top)
{
    for (int32_t k = 0; k < g->n; k++) {
        const int32_t v = order[k];
        parent[k] = top[k] = -1;
        for (int64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++)
            for (int32_t i = place[g->neighbours[e]], next; i >= 0 && i < k; i = next) {
                next = top[i];
                top[i] = k;
                if (next < 0)
                    parent[i] = k;
            }
    }
}

/* A postorder: post[k] is the place that comes k-th. `head` and `next` are room. */
static void find_postorder(int32_t n, const int32_t *parent, int32_t *head, int32_t *next,
                           int32_t *post)
{
    int32_t count = 0;
    memset(head, 0xff, (size_t)n * sizeof *head);
    for (int32_t k = n - 1; k >= 0; k--)
        if (parent[k] >= 0) {
            next[k] = head[parent[k]];
            head[parent[k]] = k;
        }
    for (int32_t root = 0; root < n; root++) {
        if (parent[root] >= 0)
            continue;
        /* Down to the first leaf; then up, with a way down at every other child. */
        for (int32_t k = root; k >= 0;) {
            if (head[k] >= 0) {
                const int32_t child = head[k];
                head[k] = next[child];
                k = child;
                continue;
            }
            post[count++] = k;
            k = k == root ? -1 : parent[k];
        }
    }
}

static int32_t find_top(int32_t *top, int32_t k)
{
    int32_t root = k;
    while (top[root] != root)
        root = top[root];
    while (top[k] != root) {
        const int32_t up = top[k];
        top[k] = root;
        k = up;
    }
    return root;
}

/* Counts of a postordered tree. first[k] is the first descendant of k, most[i] the largest first[]
 * of a leaf of row i's subtree so far, leaf[i] the last such leaf. */
static void count_columns(const graph *g, const int32_t *order, const int32_t *place,
                          const int32_t *parent, int32_t *first, int32_t *most, int32_t *leaf,
                          int32_t *top, int32_t *count)
{
    const int32_t n = g->n;
    for (int32_t k = 0; k < n; k++)
        first[k] = most[k] = leaf[k] = -1;
    for (int32_t k = 0; k < n; k++) {
        top[k] = k;
        count[k] = first[k] < 0;
        for (int32_t j = k; j >= 0 && first[j] < 0; j = parent[j])
            first[j] = k;
    }
    for (int32_t k = 0; k < n; k++) {
        const int32_t v = order[k];
        if (parent[k] >= 0)
            count[parent[k]]--;
        for (int64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++) {
            const int32_t i = place[g->neighbours[e]];
            if (i <= k || first[k] <= most[i])
                continue;
            most[i] = first[k];
            count[k]++;
            if (leaf[i] >= 0)
                count[find_top(top, leaf[i])]--;
            leaf[i] = k;
        }
        if (parent[k] >= 0)
            top[k] = parent[k];
    }
    for (int32_t k = 0; k < n; k++)
        if (parent[k] >= 0)
            count[parent[k]] += count[k];
}

spry_status frontal_order_make(spry_context *ctx, const graph *g, const int32_t *perm,
                               frontal_order *o)
{
    const int64_t n = g->n;
    int32_t *place = NULL, *room = NULL, *post = NULL, *old = NULL;
    spry_status status = SPRY_STATUS_OK;
    *o = (frontal_order){.n = g->n};
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *o->order, &o->order));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *o->parent, &o->parent));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *o->count, &o->count));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *place, &place));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *post, &post));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *old, &old));
    SPRY_GO(ctx, base_alloc(ctx, 4 * n, sizeof *room, &room));
    for (int32_t k = 0; k < n; k++)
        place[perm[k]] = k;
    find_parents(g, perm, place, old, room);
    find_postorder(g->n, old, room, room + n, post);
    for (int32_t k = 0; k < n; k++)
        room[post[k]] = k;
    for (int32_t k = 0; k < n; k++) {
        o->order[k] = perm[post[k]];
        o->parent[k] = old[post[k]] < 0 ? -1 : room[old[post[k]]];
    }
    for (int32_t k = 0; k < n; k++)
        place[o->order[k]] = k;
    count_columns(g, o->order, place, o->parent, room, room + n, room + 2 * n, room + 3 * n,
                  o->count);
done:
    base_free(ctx, place);
    base_free(ctx, room);
    base_free(ctx, post);
    base_free(ctx, old);
    if (status != SPRY_STATUS_OK)
        frontal_order_clear(ctx, o);
    return status;
}

double frontal_order_flops(const frontal_order *o, bool symmetric)
{
    double sum = 0;
    for (int32_t k = 0; k < o->n; k++) {
        const double below = o->count[k] - 1;
        sum += below + (symmetric ? 1 : 2) * below * below;
    }
    return sum;
}
