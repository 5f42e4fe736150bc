/*
 * The tree of fronts: columns of L with one structure make a node, and a node is merged with its
 * parent where that brings in few zeros, since small fronts cost more than they compute. C.
 * Ashcraft, R. Grimes, The influence of relaxed supernode partitions on the multifrontal method,
 * ACM Trans. Math. Softw. 15 (1989), 291-309. Children come in the order that needs the least
 * memory: J. W. H. Liu, On the storage requirement in the out-of-core multifrontal method for
 * sparse factorization, ACM Trans. Math. Softw. 12 (1986), 249-264.
 */
#include "direct/inside.h"

#include "matrix/algebra/graph.h"

#include <stdlib.h>

void frontal_tree_clear(spry_context *ctx, frontal_tree *t)
{
    base_free(ctx, t->place);
    base_free(ctx, t->first);
    base_free(ctx, t->parent);
    base_free(ctx, t->child);
    base_free(ctx, t->next);
    base_free(ctx, t->list_at);
    base_free(ctx, t->list);
    *t = (frontal_tree){0};
}

/* Sets of columns while they are merged; into[s] is the one that s went into, s where it stands. */
typedef struct merging {
    int32_t sets;
    int32_t *of;     /* the set of a column */
    int32_t *into;   /* by sets, of this one and below */
    int32_t *parent; /* as the columns have it */
    int32_t *own;    /* columns */
    int32_t *listed; /* rows besides them */
    int32_t *child, *next, *post;
    int32_t *tied; /* whether it has to be merged with its parent */
    double *zeros; /* entries that merging has brought in */
    double *peak;  /* of the memory a subtree needs */
} merging;

static void clear_merging(spry_context *ctx, merging *m)
{
    base_free(ctx, m->of);
    base_free(ctx, m->into);
    base_free(ctx, m->zeros);
}

static spry_status make_merging(spry_context *ctx, int64_t n, merging *m)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *m->of, &m->of));
    SPRY_GO(ctx, base_alloc(ctx, 8 * n, sizeof *m->into, &m->into));
    SPRY_GO(ctx, base_calloc(ctx, 2 * n, sizeof *m->zeros, &m->zeros));
    m->parent = m->into + n;
    m->own = m->into + 2 * n;
    m->listed = m->into + 3 * n;
    m->child = m->into + 4 * n;
    m->next = m->into + 5 * n;
    m->post = m->into + 6 * n;
    m->tied = m->into + 7 * n;
    m->peak = m->zeros + n;
done:
    return status;
}

/* A column whose other half is its parent is tied to it. */
static void find_sets(const frontal_order *o, const int32_t *pair, merging *m)
{
    m->sets = 0;
    for (int32_t k = 0; k < o->n; k++) {
        if (k == 0 || o->parent[k - 1] != k || o->count[k - 1] != o->count[k] + 1) {
            m->own[m->sets] = 0;
            m->into[m->sets] = m->sets;
            m->sets++;
        }
        const int32_t s = m->sets - 1;
        m->of[k] = s;
        m->own[s]++;
        m->listed[s] = o->count[k] - 1;
    }
    for (int32_t k = 0; k < o->n; k++) { /* the last column of a set decides */
        const int32_t up = o->parent[k];
        m->parent[m->of[k]] = up < 0 ? -1 : m->of[up];
        m->tied[m->of[k]] = pair && up >= 0 && pair[o->order[k]] == o->order[up];
    }
}

/* Whether a front of `own` columns may hold this share of zeros. */
static bool is_worth(double own, double share)
{
    return own <= 4 || (own <= 16 && share < 0.6) || (own <= 48 && share < 0.2) || share < 0.06;
}

static void merge_sets(merging *m)
{
    for (int32_t s = 0; s < m->sets; s++) {
        const int32_t p = m->parent[s];
        if (p < 0)
            continue;
        const double own = (double)m->own[s] + m->own[p], rest = m->listed[p];
        const double zeros = m->zeros[s] + m->zeros[p] +
                             (double)m->own[s] * ((double)m->own[p] + rest - m->listed[s]);
        if (!m->tied[s] && !is_worth(own, zeros / (own * (own + 1) / 2 + own * rest)))
            continue;
        m->into[s] = p;
        m->own[p] += m->own[s];
        m->zeros[p] = zeros;
    }
    for (int32_t s = m->sets - 1; s >= 0; s--) /* what they went into comes after them */
        m->into[s] = m->into[m->into[s]];
    for (int32_t s = 0; s < m->sets; s++)
        m->parent[s] = m->parent[s] < 0 ? -1 : m->into[m->parent[s]];
}

/* What a child needs beyond what it leaves decides its turn. */
typedef struct sibling {
    double peak, left;
    int32_t set;
} sibling;

static int compare_siblings(const void *a, const void *b)
{
    const sibling *x = a, *y = b;
    const double u = x->peak - x->left, v = y->peak - y->left;
    if (u != v)
        return u > v ? -1 : 1;
    return x->set < y->set ? -1 : 1;
}

/* Sorts the children of s and finds what its subtree needs; `room` holds them. */
static void sort_children(merging *m, int32_t s, sibling *room)
{
    const double order = (double)m->own[s] + m->listed[s];
    int32_t count = 0;
    double kept = 0, peak = 0;
    for (int32_t c = m->child[s]; c >= 0; c = m->next[c])
        room[count++] = (sibling){m->peak[c], (double)m->listed[c] * m->listed[c], c};
    if (count > 1)
        qsort(room, (size_t)count, sizeof *room, compare_siblings);
    m->child[s] = count > 0 ? room[0].set : -1;
    for (int32_t k = 0; k < count; k++) {
        m->next[room[k].set] = k + 1 < count ? room[k + 1].set : -1;
        peak = fmax(peak, kept + room[k].peak);
        kept += room[k].left;
    }
    m->peak[s] = fmax(peak, kept + order * order);
}

/* The sets that stand, in a postorder of their tree: post[k], and child and next set up. */
static int32_t order_sets(merging *m, sibling *room)
{
    int32_t count = 0, roots = -1;
    for (int32_t s = 0; s < m->sets; s++)
        m->child[s] = -1;
    for (int32_t s = m->sets - 1; s >= 0; s--)
        if (m->into[s] == s && m->parent[s] >= 0) {
            m->next[s] = m->child[m->parent[s]];
            m->child[m->parent[s]] = s;
        }
    for (int32_t s = 0; s < m->sets; s++)
        if (m->into[s] == s)
            sort_children(m, s, room);
    for (int32_t s = m->sets - 1; s >= 0; s--)
        if (m->into[s] == s && m->parent[s] < 0) {
            m->next[s] = roots;
            roots = s;
        }
    for (int32_t s = roots; s >= 0;) {
        while (m->child[s] >= 0) {
            const int32_t down = m->child[s];
            m->child[s] = -1;
            s = down;
        }
        m->post[count++] = s;
        s = m->next[s] >= 0 ? m->next[s] : m->parent[s];
    }
    return count;
}

static void link_children(frontal_tree *t)
{
    for (int32_t s = 0; s < t->nodes; s++)
        t->child[s] = -1;
    for (int32_t s = t->nodes - 1; s >= 0; s--) {
        const int32_t p = t->parent[s];
        t->next[s] = p < 0 ? -1 : t->child[p];
        if (p >= 0)
            t->child[p] = s;
    }
}

/* Nodes and places of vertices from sets in their order. */
static spry_status number_nodes(spry_context *ctx, const frontal_order *o, merging *m,
                                int32_t nodes, frontal_tree *t)
{
    int32_t *at = m->own; /* the next place of a set, once its columns are counted */
    spry_status status = SPRY_STATUS_OK;
    *t = (frontal_tree){.n = o->n, .nodes = nodes};
    SPRY_GO(ctx, base_alloc(ctx, o->n, sizeof *t->place, &t->place));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)nodes + 1, sizeof *t->first, &t->first));
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *t->parent, &t->parent));
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *t->child, &t->child));
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *t->next, &t->next));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)nodes + 1, sizeof *t->list_at, &t->list_at));
    t->first[0] = 0;
    t->list_at[0] = 0;
    for (int32_t k = 0; k < nodes; k++) {
        const int32_t s = m->post[k];
        t->first[k + 1] = t->first[k] + m->own[s];
        t->list_at[k + 1] = t->list_at[k] + m->listed[s];
        at[s] = t->first[k];
        m->child[s] = k; /* the node of a set */
    }
    for (int32_t k = 0; k < nodes; k++) {
        const int32_t up = m->parent[m->post[k]];
        t->parent[k] = up < 0 ? -1 : m->child[up];
    }
    for (int32_t k = 0; k < o->n; k++)
        t->place[o->order[k]] = at[m->into[m->of[k]]]++;
    link_children(t);
done:
    return status;
}

/* Marks variables of a node's list that are new and hands them on. */
static int64_t gather_list(const graph *g, const frontal_tree *t, const int32_t *vertex, int32_t s,
                           int32_t *mark, int32_t *list)
{
    const int32_t last = t->first[s + 1];
    int64_t count = 0;
    for (int32_t k = t->first[s]; k < last; k++)
        for (int64_t e = g->offsets[vertex[k]]; e < g->offsets[vertex[k] + 1]; e++) {
            const int32_t i = t->place[g->neighbours[e]];
            if (i >= last && mark[i] != s) {
                mark[i] = s;
                list[count++] = i;
            }
        }
    for (int32_t c = t->child[s]; c >= 0; c = t->next[c])
        for (int64_t e = t->list_at[c]; e < t->list_at[c + 1]; e++) {
            const int32_t i = t->list[e];
            if (i >= last && mark[i] != s) {
                mark[i] = s;
                list[count++] = i;
            }
        }
    return count;
}

/* Sorts all lists at once: by variables, and back. */
static spry_status sort_lists(spry_context *ctx, const frontal_tree *t)
{
    const int64_t n = t->n, all = t->list_at[t->nodes];
    int64_t *start = NULL, *at = NULL;
    int32_t *node = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, n + 2, sizeof *start, &start));
    SPRY_GO(ctx, base_alloc(ctx, t->nodes, sizeof *at, &at));
    SPRY_GO(ctx, base_alloc(ctx, all, sizeof *node, &node));
    for (int64_t e = 0; e < all; e++)
        start[t->list[e] + 2]++;
    for (int64_t i = 0; i < n; i++)
        start[i + 2] += start[i + 1];
    for (int32_t s = 0; s < t->nodes; s++) {
        at[s] = t->list_at[s];
        for (int64_t e = t->list_at[s]; e < t->list_at[s + 1]; e++)
            node[start[t->list[e] + 1]++] = s;
    }
    for (int32_t i = 0; i < n; i++)
        for (int64_t e = start[i]; e < start[i + 1]; e++)
            t->list[at[node[e]]++] = i;
done:
    base_free(ctx, start);
    base_free(ctx, at);
    base_free(ctx, node);
    return status;
}

static spry_status make_lists(spry_context *ctx, const graph *g, frontal_tree *t)
{
    int32_t *vertex = NULL, *mark = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, t->n, sizeof *vertex, &vertex));
    SPRY_GO(ctx, base_alloc(ctx, t->n, sizeof *mark, &mark));
    SPRY_GO(ctx, base_alloc(ctx, t->list_at[t->nodes], sizeof *t->list, &t->list));
    for (int32_t v = 0; v < t->n; v++) {
        vertex[t->place[v]] = v;
        mark[v] = -1;
    }
    for (int32_t s = 0; s < t->nodes; s++)
        gather_list(g, t, vertex, s, mark, t->list + t->list_at[s]);
    SPRY_GO(ctx, sort_lists(ctx, t));
done:
    base_free(ctx, vertex);
    base_free(ctx, mark);
    return status;
}

spry_status frontal_tree_make(spry_context *ctx, const graph *g, const frontal_order *o,
                              const int32_t *pair, frontal_tree *t)
{
    merging m = {0};
    sibling *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    *t = (frontal_tree){0};
    SPRY_GO(ctx, make_merging(ctx, o->n, &m));
    SPRY_GO(ctx, base_alloc(ctx, o->n, sizeof *room, &room));
    find_sets(o, pair, &m);
    merge_sets(&m);
    SPRY_GO(ctx, number_nodes(ctx, o, &m, order_sets(&m, room), t));
    SPRY_GO(ctx, make_lists(ctx, g, t));
done:
    base_free(ctx, room);
    clear_merging(ctx, &m);
    if (status != SPRY_STATUS_OK)
        frontal_tree_clear(ctx, t);
    return status;
}
