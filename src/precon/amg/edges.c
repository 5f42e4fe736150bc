/*
 * Multigrid for edge elements of Maxwell's equations, curl curl u + k u (S. Reitzinger, J.
 * Schoeberl, An algebraic multigrid method for finite element discretizations with edge elements,
 * Numer. Linear Algebra Appl. 9 (2002), 223-238). Gradients of functions on the nodes are the null
 * space of curl curl, with G from gradient.c. Smoothers work on A and, for gradients, on G^H A G
 * (R. Hiptmair, Multigrid method for Maxwell's equations, SIAM J. Numer. Anal. 36 (1998), 204-225).
 *
 * Nodes are joined to aggregates, which are the next level's nodes, and edges between the same two
 * aggregates to one edge: T, with T G_c = G T_n. P = (I - 4/3/l D^-1 A) T has the same of curl
 * curl, since that makes nothing of gradients (J. J. Hu, R. S. Tuminaro, P. B. Bochev, C. J.
 * Garasi, A. C. Robinson, Toward an h-independent algebraic multigrid method for Maxwell's
 * equations, SIAM J. Sci. Comput. 27 (2006), 1669-1688).
 */
#include "precon/amg/gradient.h"
#include "precon/amg/smoothed.h"

#include "matrix/entries.h"
#include "matrix/stats.h"

#include <float.h>
#include <spry/algebra.h>

#define AMG_EDGES(item)                          \
    item(REAL, smoothing, "1.33333", 0, 2, NULL, \
         "of the prolongation, over the largest eigenvalue; 0: none")

typedef struct edges_options {
    PRECON_COMMON(SPRY_OPTION_FIELD)
    AMG_COMMON(SPRY_OPTION_FIELD)
    AMG_EDGES(SPRY_OPTION_FIELD)
} edges_options;
SPRY_OPTION_TABLE(table, edges_options,
                  PRECON_COMMON(SPRY_OPTION_ROW) AMG_COMMON(SPRY_OPTION_ROW)
                      AMG_EDGES(SPRY_OPTION_ROW))

/* --- smoothing gradients -------------------------------------------------------------------------
 */

/* G of a level: -1 where an edge begins, 1 where it ends. */
static spry_status make_gradient(const amg *h, const amg_level *level, spry_matrix **G)
{
    matrix_arrays g = {
        .format = SPRY_FORMAT_CSR, .type = h->type, .rows = level->rows, .cols = level->between};
    int64_t at = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < 2 * level->rows; k++)
        g.nnz += level->ends[k] >= 0;
    SPRY_GO(h->ctx, matrix_allocate(h->ctx, &g));
    g.offsets[0] = 0;
    for (int64_t i = 0; i < level->rows; i++) {
        const int32_t *end = level->ends + 2 * i;
        const int first = end[0] > end[1]; /* columns rise */
        for (int k = 0; k < 2; k++) {
            const int side = k ^ first;
            if (end[side] < 0)
                continue;
            g.col_index[at] = end[side];
            value_store(h->type, g.values, at++, (spry_scalar){side ? 1 : -1, 0});
        }
        g.offsets[i + 1] = at;
    }
    SPRY_GO(h->ctx, matrix_wrap(h->ctx, &g, G));
done:
    return status;
}

static double size_at(const matrix_arrays *a, int64_t k)
{
    return scalar_size(a->type, value_load(a->type, a->values, k));
}

/* Whether gradients at node v are in the null space of A, as without a mass term: its diagonal
 * entry of B = G^H A G has nothing but rounding errors. */
static bool is_null(const matrix_arrays *a, const matrix_arrays *gh, const matrix_arrays *b,
                    int64_t v)
{
    const double rounding = 300 * (type_is_single(a->type) ? FLT_EPSILON : DBL_EPSILON);
    const int64_t d = matrix_find(b, v, v);
    double sum = 0;
    for (int64_t k = gh->offsets[v]; k < gh->offsets[v + 1]; k++) {
        const int64_t at = matrix_find_diagonal(a, gh->col_index[k]);
        sum += at < 0 ? 0 : size_at(a, at);
    }
    return d < 0 || size_at(b, d) <= rounding * sum;
}

/* Columns of G whose gradients are in the null space, or those whose are not, become zero, and rows
 * and columns of B those of the identity; how many are left. */
static int64_t leave_out(const spry_matrix *A, bool null, spry_matrix *G, spry_matrix *GH,
                         spry_matrix *B)
{
    const spry_type type = A->a.type;
    const spry_scalar zero = {0, 0}, one = {1, 0};
    int64_t left = 0;
    for (int64_t v = 0; v < B->a.rows; v++) {
        if (is_null(&A->a, &GH->a, &B->a, v) != null) {
            left++;
            continue;
        }
        for (int64_t k = GH->a.offsets[v]; k < GH->a.offsets[v + 1]; k++) {
            value_store(type, GH->a.values, k, zero);
            value_store(type, G->a.values, matrix_find(&G->a, GH->a.col_index[k], v), zero);
        }
        for (int64_t k = null ? B->a.offsets[v] : B->a.offsets[v + 1]; k < B->a.offsets[v + 1];
             k++) {
            const int64_t j = B->a.col_index[k], mirror = matrix_find(&B->a, j, v);
            value_store(type, B->a.values, k, j == v ? one : zero);
            if (mirror >= 0 && j != v)
                value_store(type, B->a.values, mirror, zero);
        }
    }
    return left;
}

static spry_status store(const precon_job *job, spry_matrix **A, spry_operator **op)
{
    spry_matrix *handed = *A;
    *A = NULL;
    return precon_store(job, handed, op);
}

/* What smooths gradients; takes the matrices. */
static spry_status make_nodes(const amg *h, const precon_job *job, amg_level *level,
                              spry_matrix **G, spry_matrix **GH, spry_matrix **B)
{
    spry_context *ctx = h->ctx;
    amg_level *nodes = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *nodes, &nodes));
    level->nodes = nodes;
    SPRY_GO(ctx, store(job, B, &nodes->op));
    SPRY_GO(ctx, store(job, G, &nodes->P));
    SPRY_GO(ctx, store(job, GH, &nodes->R));
    nodes->A = nodes->op->kept;
    nodes->rows = nodes->A->a.rows;
    nodes->nnz = nodes->A->a.nnz;
    spry_vector **const vectors[] = {&nodes->t, &nodes->x, &nodes->b};
    for (int k = 0; k < 3; k++)
        SPRY_GO(ctx, precon_vector(job, nodes->rows, NULL, vectors[k]));
    SPRY_GO(ctx, amg_smoother_make(h, job, nodes, NULL));
done:
    return status;
}

/* A + s G G^H for a direct solve, with the gradients of the null space: solutions without those are
 * the same, and M stays hermitian. */
static spry_status regularize(const amg *h, amg_level *level, const spry_matrix *G,
                              const spry_matrix *GH)
{
    spry_matrix *product = NULL;
    double most = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = 0; i < level->rows; i++) {
        const int64_t k = matrix_find_diagonal(&level->A->a, i);
        most = k < 0 ? most : fmax(most, size_at(&level->A->a, k));
    }
    SPRY_GO(h->ctx, spry_matrix_multiply(G, GH, &product));
    SPRY_GO(h->ctx, spry_matrix_add((spry_scalar){1, 0}, level->A, (spry_scalar){most / 2, 0},
                                    product, &level->own));
    SPRY_GO(h->ctx, spry_matrix_sort(level->own));
    level->A = level->own;
done:
    spry_matrix_free(product);
    return status;
}

/* On the last level, which is solved exactly, gradients of the null space matter, on others the
 * rest of them. */
static spry_status use_gradient(const amg *h, const precon_job *job, amg_level *level, bool last)
{
    spry_context *ctx = h->ctx;
    spry_matrix *G = NULL, *GH = NULL, *B = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_gradient(h, level, &G));
    SPRY_GO(ctx, spry_matrix_transpose(G, true, &GH));
    SPRY_GO(ctx, amg_galerkin(GH, level->A, G, &B));
    if (leave_out(level->A, !last, G, GH, B) > 0)
        SPRY_GO(ctx, last ? regularize(h, level, G, GH) : make_nodes(h, job, level, &G, &GH, &B));
done:
    spry_matrix_free(G);
    spry_matrix_free(GH);
    spry_matrix_free(B);
    return status;
}

static spry_status find_ends(amg_level *level)
{
    const spry_matrix *A = level->A;
    int64_t count[3] = {0}; /* of edges with so many ends */
    const spry_status status = amg_find_ends(A, &level->ends, &level->between);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t i = 0; i < A->a.rows; i++)
        count[(level->ends[2 * i] >= 0) + (level->ends[2 * i + 1] >= 0)]++;
    base_log(A->ctx, SPRY_LOG_INFO,
             "precon edges: %" PRId64 " nodes; %" PRId64 " edges have two of them, %" PRId64
             " one, %" PRId64 " none",
             level->between, count[2], count[1], count[0]);
    return status;
}

static spry_status open_level(amg *h, const precon_job *job, int l, bool last)
{
    amg_level *level = &h->levels[l];
    spry_status status = SPRY_STATUS_OK;
    if (!level->ends)
        SPRY_GO(h->ctx, find_ends(level));
    if (level->between > 0)
        SPRY_GO(h->ctx, use_gradient(h, job, level, last));
done:
    return status;
}

/* --- coarsening ----------------------------------------------------------------------------------
 */

/* The edges of each node. */
static spry_status list_edges(const amg *h, const amg_level *level, int64_t **starts,
                              int32_t **edges)
{
    int64_t *at = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, base_calloc(h->ctx, level->between + 2, sizeof **starts, starts));
    SPRY_GO(h->ctx, base_alloc(h->ctx, 2 * level->rows, sizeof **edges, edges));
    at = *starts + 1;
    for (int64_t k = 0; k < 2 * level->rows; k++)
        if (level->ends[k] >= 0)
            at[level->ends[k] + 1]++;
    for (int64_t v = 0; v < level->between; v++)
        at[v + 1] += at[v];
    for (int64_t k = 0; k < 2 * level->rows; k++)
        if (level->ends[k] >= 0)
            (*edges)[at[level->ends[k]]++] = (int32_t)(k / 2);
done:
    return status;
}

/* The other end; -1: there is none. */
static int32_t across(const amg_level *level, int32_t edge, int64_t v)
{
    const int32_t *end = level->ends + 2 * (int64_t)edge;
    return end[end[0] == v];
}

/* Two nodes are neighbours where an edge joins them, or two paths of two edges, as across a face.
 */
static spry_status make_graph(const amg *h, const amg_level *level, int64_t **offsets, amg_graph *g)
{
    spry_context *ctx = h->ctx;
    const int64_t n = level->between;
    int64_t *starts = NULL;
    int32_t *edges = NULL, *paths = NULL, *list = NULL;
    spry_status status = SPRY_STATUS_OK;
    *g = (amg_graph){.nodes = n, .block = 1};
    SPRY_GO(ctx, list_edges(h, level, &starts, &edges));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *paths, &paths));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *list, &list));
    SPRY_GO(ctx, base_alloc(ctx, n + 1, sizeof **offsets, offsets));
    (*offsets)[0] = 0;
    for (int64_t v = 0; v < n; v++) {
        int64_t most = 0;
        for (int64_t k = starts[v]; k < starts[v + 1]; k++) {
            const int32_t w = across(level, edges[k], v);
            most += w < 0 ? 0 : 1 + starts[w + 1] - starts[w];
        }
        (*offsets)[v + 1] = (*offsets)[v] + (most < n ? most : n);
    }
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *g->lengths, &g->lengths));
    SPRY_GO(ctx, base_alloc(ctx, (*offsets)[n], sizeof *g->columns, &g->columns));
    g->offsets = *offsets;
    for (int64_t v = 0; v < n; v++) {
        int32_t met = 0, kept = 0;
        for (int64_t k = starts[v]; k < starts[v + 1]; k++) {
            const int32_t w = across(level, edges[k], v);
            if (w < 0)
                continue;
            if (paths[w] == 0)
                list[met++] = w;
            paths[w] += 2;
            for (int64_t j = starts[w]; j < starts[w + 1]; j++) {
                const int32_t u = across(level, edges[j], w);
                if (u < 0 || u == v)
                    continue;
                if (paths[u] == 0)
                    list[met++] = u;
                paths[u]++;
            }
        }
        for (int32_t k = 0; k < met; k++) {
            if (paths[list[k]] >= 2)
                g->columns[(*offsets)[v] + kept++] = list[k];
            paths[list[k]] = 0;
        }
        g->lengths[v] = kept;
    }
done:
    base_free(ctx, starts);
    base_free(ctx, edges);
    base_free(ctx, paths);
    base_free(ctx, list);
    return status;
}

static int32_t aggregate_of(const amg_level *level, int32_t node)
{
    return node < 0 ? -1 : level->second[node];
}

/* An edge for each two aggregates, or one and the wall, that edges of the level join: from the
 * lower number to the higher one. */
static spry_status join_edges(const amg *h, amg_level *level, int64_t aggregates, amg_level *next)
{
    spry_context *ctx = h->ctx;
    const int64_t n = level->rows;
    int64_t *starts = NULL;
    int32_t *order = NULL, *low = NULL, *met = NULL, *with = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, aggregates + 3, sizeof *starts, &starts));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *order, &order));
    SPRY_GO(ctx, base_alloc(ctx, 2 * n, sizeof *low, &low));
    SPRY_GO(ctx, base_alloc(ctx, aggregates, sizeof *met, &met));
    SPRY_GO(ctx, base_alloc(ctx, aggregates, sizeof *with, &with));
    if (!level->map)
        SPRY_GO(ctx, base_alloc(ctx, n, sizeof *level->map, &level->map));
    int64_t *at = starts + 1; /* by the lower number, from -1 on */
    for (int64_t i = 0; i < n; i++) {
        const int32_t a = aggregate_of(level, level->ends[2 * i]),
                      b = aggregate_of(level, level->ends[2 * i + 1]);
        low[2 * i] = a < b ? a : b;
        low[2 * i + 1] = a < b ? b : a;
        level->map[i] = -1;
        at[low[2 * i] + 2] += a != b;
    }
    for (int64_t k = 0; k <= aggregates; k++)
        at[k + 1] += at[k];
    for (int64_t i = 0; i < n; i++)
        if (low[2 * i] != low[2 * i + 1])
            order[at[low[2 * i] + 1]++] = (int32_t)i;
    for (int64_t k = 0; k < aggregates; k++)
        with[k] = -2;
    SPRY_GO(ctx, base_alloc(ctx, 2 * n, sizeof *next->ends, &next->ends));
    level->coarse = 0;
    for (int64_t k = 0; k < starts[aggregates + 1]; k++) {
        const int64_t i = order[k];
        const int32_t a = low[2 * i], b = low[2 * i + 1];
        if (with[b] != a) {
            with[b] = a;
            met[b] = (int32_t)level->coarse++;
            next->ends[2 * (int64_t)met[b]] = a;
            next->ends[2 * (int64_t)met[b] + 1] = b;
        }
        level->map[i] = met[b];
    }
    next->between = aggregates;
done:
    base_free(ctx, starts);
    base_free(ctx, order);
    base_free(ctx, low);
    base_free(ctx, met);
    base_free(ctx, with);
    return status;
}

static spry_status make_aggregates(const amg *h, amg_level *level, int64_t *count)
{
    amg_graph g = {0};
    int64_t *offsets = NULL;
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    if (level->second) {
        for (int64_t v = 0; v < level->between; v++)
            *count = level->second[v] >= *count ? level->second[v] + 1 : *count;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(h->ctx, base_alloc(h->ctx, level->between, sizeof *level->second, &level->second));
    SPRY_GO(h->ctx, make_graph(h, level, &offsets, &g));
    SPRY_GO(h->ctx, amg_aggregate(h->ctx, &g, level->second, count));
done:
    amg_graph_clear(h->ctx, &g);
    base_free(h->ctx, offsets);
    return status;
}

static spry_status coarsen(amg *h, const precon_job *job, int l, spry_matrix **P)
{
    spry_context *ctx = h->ctx;
    const edges_options *o = h->options;
    amg_level *level = &h->levels[l], *next = level + 1;
    amg_graph g = {0};
    void *tentative = NULL;
    int64_t aggregates = 0;
    spry_status status = SPRY_STATUS_OK;
    (void)job;
    *P = NULL;
    level->block = h->near.count = 1;
    if (l + 1 >= AMG_MOST_LEVELS || level->between == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, make_aggregates(h, level, &aggregates));
    SPRY_GO(ctx, join_edges(h, level, aggregates, next));
    if (level->coarse == 0)
        goto done;
    SPRY_GO(ctx, base_alloc(ctx, level->rows, spry_type_size(h->type), &tentative));
    for (int64_t i = 0; i < level->rows; i++) {
        const int32_t *end = level->ends + 2 * i;
        const bool along = aggregate_of(level, end[0]) < aggregate_of(level, end[1]);
        value_store(h->type, tentative, i, (spry_scalar){along ? 1 : -1, 0});
    }
    SPRY_GO(ctx, amg_graph_make(level->A, 1, 0, &g));
    const amg_prolong_from from = {.a = &level->A->a,
                                   .rows = level->A->a.rows,
                                   .map = level->map,
                                   .coarse = level->coarse,
                                   .tentative = tentative,
                                   .largest = g.largest,
                                   .smoothing = o->smoothing};
    SPRY_GO(ctx, amg_make_prolongation(h, level, &g, &from, P));
done:
    base_free(ctx, tentative);
    amg_graph_clear(ctx, &g);
    return status;
}

static spry_status make(const precon_job *job, spry_operator **M)
{
    /* Sweeps stall where A is complex. */
    static const amg_kind kind = {.name = "edges",
                                  .options = sizeof(edges_options),
                                  .smoother = "chebyshev",
                                  .open = open_level,
                                  .coarsen = coarsen};
    return amg_make(job, &kind, M);
}

const precon_kind precon_kind_edges = {.name = "edges",
                                       .summary = "multigrid for edge elements of Maxwell's "
                                                  "equations",
                                       .options = SPRY_OPTION_LIST(table),
                                       .make = make,
                                       .on_devices = true,
                                       .cost = {.kept = 2,
                                                .work = 2,
                                                .products = 220,
                                                .solve = 250,
                                                .vectors = 8,
                                                .iterations = 25,
                                                .sweeps = 12}};
