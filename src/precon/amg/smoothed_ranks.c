/*
 * Smoothed aggregation across ranks: aggregates are within ranks, but strength and P are those of
 * the whole matrix: rows reach the columns of other ranks, whose owners send their aggregates and
 * tentative P.
 */
#include "precon/amg/smoothed.h"

#include <stdlib.h>

/* --- the first level -----------------------------------------------------------------------------
 */

/* A number that all ranks with rows have, or `other`. */
static spry_status same_of_all(spry_context *ctx, bool owns, int mine, int other, int *found)
{
    double least, most, unused;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_bounds(ctx, owns ? mine : INT32_MAX, &least, &unused));
    SPRY_GO(ctx, team_bounds(ctx, owns ? mine : 0, &unused, &most));
    *found = least == most ? (int)least : other;
done:
    return status;
}

/* Nodes that a cut between ranks goes through are none. */
static bool starts_fit(const spry_matrix *A, int block)
{
    for (int r = 0; r <= team_ranks(A->ctx); r++)
        if (A->distributed->row_starts[r] % block != 0)
            return false;
    return true;
}

/* Near-null vectors are set by each rank for itself. */
static spry_status check_vectors(spry_context *ctx, const spry_matrix *A)
{
    double least, most;
    const spry_status status = team_bounds(ctx, A->near_count, &least, &most);
    if (status != SPRY_STATUS_OK || least == most)
        return status;
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                     "precon amg: a rank has %g near-null vectors and another one %g; all ranks "
                     "set as many",
                     least, most);
}

spry_status amg_smoothed_begin_ranks(amg *h, const precon_job *job)
{
    spry_context *ctx = h->ctx;
    const spry_matrix *own = job->A->distributed->own;
    amg_level *level = &h->levels[0];
    precon_job changed = *job;
    int block = 1;
    spry_status status = SPRY_STATUS_OK;
    changed.A = own;
    level->rows = own->a.rows;
    level->block = 1;
    SPRY_GO(ctx, check_vectors(ctx, job->near));
    if (own->a.rows > 0)
        status = amg_smoothed_begin(h, &changed, level);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, same_of_all(ctx, own->a.rows > 0, level->block, 1, &block));
    if (!starts_fit(job->A, block))
        block = 1;
    if (block != level->block || own->a.rows == 0) {
        /* The vectors of other nodes, or of none. */
        base_free(ctx, h->near.values);
        h->near.values = NULL;
        level->block = block;
        status = amg_first_vectors(h, &changed, block);
    }
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}

/* --- aggregates ----------------------------------------------------------------------------------
 */

/* The graph of own nodes alone, whose rows are `g`'s. */
static spry_status own_graph(spry_context *ctx, const amg_graph *g, int64_t nodes, amg_graph *own)
{
    const int64_t entries = g->offsets[nodes * g->block];
    spry_status status = SPRY_STATUS_OK;
    *own = (amg_graph){.nodes = nodes, .block = g->block, .offsets = g->offsets};
    SPRY_GO(ctx, base_calloc(ctx, nodes, sizeof *own->lengths, &own->lengths));
    SPRY_GO(ctx, base_alloc(ctx, entries, sizeof *own->columns, &own->columns));
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t at = g->offsets[i * g->block];
        for (int32_t k = 0; k < g->lengths[i]; k++)
            if (g->columns[at + k] < nodes)
                own->columns[at + own->lengths[i]++] = g->columns[at + k];
    }
done:
    return status;
}

/* Nodes that are strong with other ranks' alone are aggregates by themselves. */
static spry_status aggregate(spry_context *ctx, const amg_graph *g, amg_level *level)
{
    amg_graph own = {0};
    const int64_t nodes = level->rows / level->block;
    spry_status status = SPRY_STATUS_OK;
    if (level->map)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *level->map, &level->map));
    SPRY_GO(ctx, own_graph(ctx, g, nodes, &own));
    SPRY_GO(ctx, amg_aggregate(ctx, &own, level->map, &level->coarse));
    for (int64_t i = 0; i < nodes; i++)
        if (level->map[i] < 0 && g->lengths[i] > 0)
            level->map[i] = (int32_t)level->coarse++;
done:
    amg_graph_clear(ctx, &own);
    return status;
}

/* --- the aggregates of others --------------------------------------------------------------------
 */

/* Of own nodes and those of others in reach; aggregates of others are numbered behind the own. */
typedef struct extended {
    int64_t nodes, others;
    int64_t *node_starts;          /* ranks + 1, of nodes */
    int64_t *starts;               /* ranks + 1, of aggregates */
    int64_t *numbers;              /* of others' nodes */
    int64_t *theirs;               /* others' aggregates over all ranks; -1: none */
    int64_t *listed, listed_count; /* the same, each once, rising */
    int64_t *all;                  /* own nodes' aggregates over all ranks */
    int32_t *map;
    char *tentative;
} extended;

static void extended_clear(spry_context *ctx, extended *x)
{
    void *const arrays[] = {x->node_starts, x->starts, x->numbers, x->theirs,
                            x->listed,      x->all,    x->map,     x->tentative};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(ctx, arrays[k]);
}

static spry_status extended_allocate(const amg *h, const amg_level *level, extended *x)
{
    spry_context *ctx = h->ctx;
    const size_t row = (size_t)h->near.count * spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    x->nodes = level->rows / level->block;
    x->others = level->reach->count / level->block;
    const int64_t all = x->nodes + x->others;
    SPRY_GO(ctx, base_alloc(ctx, team_ranks(ctx) + 1, sizeof *x->node_starts, &x->node_starts));
    SPRY_GO(ctx, base_alloc(ctx, x->others, sizeof *x->numbers, &x->numbers));
    SPRY_GO(ctx, base_alloc(ctx, x->others, sizeof *x->theirs, &x->theirs));
    SPRY_GO(ctx, base_alloc(ctx, x->others, sizeof *x->listed, &x->listed));
    SPRY_GO(ctx, base_alloc(ctx, x->nodes, sizeof *x->all, &x->all));
    SPRY_GO(ctx, base_alloc(ctx, all, sizeof *x->map, &x->map));
    SPRY_GO(ctx, base_alloc(ctx, all * level->block, row, &x->tentative));
    for (int r = 0; r <= team_ranks(ctx); r++)
        x->node_starts[r] = level->A->distributed->row_starts[r] / level->block;
    for (int64_t k = 0; k < x->others; k++)
        x->numbers[k] = level->reach->others[k * level->block] / level->block;
done:
    return status;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void number_theirs(const amg_level *level, extended *x)
{
    int64_t n = 0;
    for (int64_t k = 0; k < x->others; k++)
        if (x->theirs[k] >= 0)
            x->listed[n++] = x->theirs[k];
    qsort(x->listed, (size_t)n, sizeof *x->listed, by_number);
    for (int64_t k = 0; k < n; k++)
        if (x->listed_count == 0 || x->listed[x->listed_count - 1] != x->listed[k])
            x->listed[x->listed_count++] = x->listed[k];
    memcpy(x->map, level->map, (size_t)x->nodes * sizeof *x->map);
    for (int64_t k = 0; k < x->others; k++)
        x->map[x->nodes + k] =
            x->theirs[k] < 0
                ? -1
                : (int32_t)(level->coarse + ranks_find(x->listed, x->listed_count, x->theirs[k]));
}

/* Receives the data of other ranks' nodes in reach. */
static spry_status extend(const amg *h, const amg_level *level, const void *tentative, extended *x)
{
    spry_context *ctx = h->ctx;
    const size_t node = (size_t)(level->block * h->near.count) * spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, extended_allocate(h, level, x)));
    SPRY_GO(ctx, team_offsets(ctx, level->coarse, &x->starts));
    for (int64_t i = 0; i < x->nodes; i++)
        x->all[i] = level->map[i] < 0 ? -1 : x->starts[team_rank(ctx)] + level->map[i];
    SPRY_GO(ctx, ranks_fetch(ctx, x->node_starts, sizeof *x->all, x->all, x->others, x->numbers,
                             x->theirs));
    if (x->nodes > 0)
        memcpy(x->tentative, tentative, (size_t)x->nodes * node);
    SPRY_GO(ctx, ranks_fetch(ctx, x->node_starts, node, tentative, x->others, x->numbers,
                             x->tentative + (size_t)x->nodes * node));
    number_theirs(level, x);
done:
    return status;
}

/* --- P -------------------------------------------------------------------------------------------
 */

/* Columns as all ranks number them. */
static spry_status number_columns(const amg *h, const amg_level *level, const extended *x,
                                  const spry_matrix *P, ranks_rows *rows)
{
    spry_context *ctx = h->ctx;
    const matrix_arrays *p = &P->a;
    const int ranks = team_ranks(ctx), count = h->near.count;
    const int64_t own = level->coarse * count, start = x->starts[team_rank(ctx)] * count;
    spry_status status = SPRY_STATUS_OK;
    *rows = (ranks_rows){.type = p->type,
                         .begin = level->reach->begin,
                         .rows = p->rows,
                         .all_rows = level->A->distributed->row_starts[ranks],
                         .all_cols = x->starts[ranks] * count};
    SPRY_GO(ctx, base_alloc(ctx, p->rows + 1, sizeof *rows->offsets, &rows->offsets));
    SPRY_GO(ctx, base_alloc(ctx, p->nnz, sizeof *rows->columns, &rows->columns));
    SPRY_GO(ctx, base_alloc(ctx, p->nnz, spry_type_size(p->type), &rows->values));
    memcpy(rows->offsets, p->offsets, (size_t)(p->rows + 1) * sizeof *rows->offsets);
    for (int64_t k = 0; k < p->nnz; k++) {
        const int64_t c = p->col_index[k], other = c - own;
        rows->columns[k] = c < own ? start + c : x->listed[other / count] * count + other % count;
    }
    if (p->nnz > 0)
        memcpy(rows->values, p->values, (size_t)p->nnz * spry_type_size(p->type));
done:
    return status;
}

static spry_status make_rows(const amg *h, const amg_level *level, const amg_graph *g,
                             const extended *x, double largest, ranks_rows *P)
{
    spry_matrix *made = NULL;
    const amg_prolong_from from = {.a = &level->reach->A->a,
                                   .rows = level->rows,
                                   .map = x->map,
                                   .coarse = level->coarse + x->listed_count,
                                   .tentative = x->tentative,
                                   .largest = largest,
                                   .smoothing = ((const smoothed_options *)h->options)->smoothing};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(h->ctx, amg_make_prolongation(h, level, g, &from, &made));
    SPRY_GO(h->ctx, number_columns(h, level, x, made, P));
done:
    spry_matrix_free(made);
    return status;
}

/* --- fewer ranks ---------------------------------------------------------------------------------
 */

/*
 * Where a level has few rows per rank, messages take longer than its products: rows of neighbours
 * in the order of ranks go to the first of them, the others have none. Gives whether rows move.
 */
static bool join_ranks(int ranks, int64_t least, int64_t *first)
{
    const int64_t all = first[ranks], before = first[0];
    int with_rows = 0;
    for (int r = 0; r < ranks; r++)
        with_rows += first[r + 1] > first[r];
    const int64_t wanted = all / least > 1 ? all / least : 1;
    if (wanted >= with_rows)
        return false;
    int64_t group = -1, start = before; /* of the rows at hand; what rank r began with */
    for (int r = 0; r < ranks; r++) {
        const int64_t end = first[r + 1], middle = start + (end - start) / 2;
        const int64_t mine = end > start ? middle * wanted / all : group;
        /* A rank that goes on with a group has nothing: it begins where the next one does. */
        first[r] = mine > group ? start : -1;
        group = mine;
        start = end;
    }
    for (int r = ranks - 1; r >= 0; r--)
        first[r] = first[r] < 0 ? first[r + 1] : first[r];
    first[0] = before;
    return true;
}

/* Near-null vectors of the next level go to the ranks that are to have its rows. */
static spry_status move_near(amg *h, const int64_t *from, const int64_t *to)
{
    spry_context *ctx = h->ctx;
    const int me = team_rank(ctx);
    const size_t row = (size_t)h->near.count * spry_type_size(h->type);
    const int64_t n = to[me + 1] - to[me];
    int64_t *numbers = NULL;
    char *values = NULL;
    spry_status status = base_alloc(ctx, n, sizeof *numbers, &numbers);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, n, row, &values);
    SPRY_GO(ctx, team_agree(ctx, status));
    for (int64_t i = 0; i < n; i++)
        numbers[i] = to[me] + i;
    SPRY_GO(ctx, ranks_fetch(ctx, from, row, h->near.values, n, numbers, values));
    base_free(ctx, h->near.values);
    h->near.values = values;
    values = NULL;
done:
    base_free(ctx, numbers);
    base_free(ctx, values);
    return status;
}

/* Which rows of the next level each rank has, from its aggregates. */
static spry_status place_rows(amg *h, int64_t *starts, int64_t **first)
{
    spry_context *ctx = h->ctx;
    const smoothed_options *options = h->options;
    const int ranks = team_ranks(ctx);
    int64_t *joined = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, ranks + 1, sizeof *joined, &joined)));
    for (int r = 0; r <= ranks; r++)
        joined[r] = starts[r] *= h->near.count;
    if (join_ranks(ranks, options->rank_rows, joined))
        SPRY_GO(ctx, move_near(h, starts, joined));
    *first = joined;
    joined = NULL;
done:
    base_free(ctx, joined);
    return status;
}

/* theta where it is left to us: the least of all ranks', of rows with all their columns. */
static spry_status choose_theta(amg *h, const amg_level *level)
{
    spry_matrix rows = {.ctx = h->ctx, .a = level->reach->A->a};
    double most;
    rows.a.rows = level->rows;
    const double mine = level->rows > 0 ? amg_smoothed_theta(h, &rows, level->block) : INFINITY;
    return team_bounds(h->ctx, mine, &h->theta, &most);
}

spry_status amg_smoothed_coarsen_ranks(amg *h, const precon_job *job, int l, ranks_rows *P,
                                       int64_t **first)
{
    spry_context *ctx = h->ctx;
    amg_level *level = &h->levels[l];
    amg_graph g = {0};
    extended x = {0};
    void *tentative = NULL;
    double least, largest;
    spry_status status = SPRY_STATUS_OK;
    (void)job;
    *P = (ranks_rows){0};
    if (l == 0)
        SPRY_GO(ctx, choose_theta(h, level));
    status = amg_graph_make(level->reach->A, level->block, ldexp(h->theta, -l), &g);
    if (status == SPRY_STATUS_OK)
        status = aggregate(ctx, &g, level);
    if (status == SPRY_STATUS_OK)
        status = amg_make_tentative(h, level, &tentative);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, extend(h, level, tentative, &x));
    SPRY_GO(ctx, team_bounds(ctx, g.largest, &least, &largest));
    SPRY_GO(ctx, team_agree(ctx, make_rows(h, level, &g, &x, largest, P)));
    SPRY_GO(ctx, place_rows(h, x.starts, first));
done:
    extended_clear(ctx, &x);
    base_free(ctx, tentative);
    amg_graph_clear(ctx, &g);
    return status;
}
