/*
 * Partitions of a graph that is distributed over ranks, by PT-Scotch (C. Chevalier, F. Pellegrini,
 * PT-Scotch: a tool for efficient parallel graph ordering, Parallel Comput. 34 (2008), 318-331).
 */
#include "ranks/mpi/dist.h"

#ifdef SPRY_HAVE_PTSCOTCH
#include <stdio.h> /* which ptscotch.h needs before it */

#include <ptscotch.h>
#include <stdlib.h>
#include <string.h>

/* The graph in numbers of PT-Scotch's, which may be shorter than ours. */
typedef struct numbers {
    SCOTCH_Num *offsets, *neighbours, *weights, *part, *shares;
} numbers;

static void numbers_free(numbers *a)
{
    free(a->offsets);
    free(a->neighbours);
    free(a->weights);
    free(a->part);
    free(a->shares);
}

static SCOTCH_Num *room_for(int64_t n)
{
    return malloc(((size_t)n + 1) * sizeof(SCOTCH_Num)); /* never of no bytes */
}

static SCOTCH_Num *copy(int64_t n, const int64_t *from)
{
    SCOTCH_Num *to = room_for(n);
    for (int64_t k = 0; to && k < n; k++)
        to[k] = (SCOTCH_Num)from[k];
    return to;
}

/* Shares in whole numbers, of which the smallest is 1 at least. */
static void weigh_parts(const team_graph *g, SCOTCH_Num *shares)
{
    const double unit = 10000;
    for (int k = 0; k < g->parts; k++) {
        const double whole = unit * g->shares[k] + 0.5;
        shares[k] = whole < 1 ? 1 : (SCOTCH_Num)whole;
    }
}

static bool numbers_make(const team_graph *g, numbers *a)
{
    a->offsets = copy(g->vertices + 1, g->offsets);
    a->neighbours = copy(g->offsets[g->vertices], g->neighbours);
    a->weights = copy(g->vertices, g->weights);
    a->part = room_for(g->vertices);
    a->shares = room_for(g->parts);
    if (!a->offsets || !a->neighbours || !a->weights || !a->part || !a->shares)
        return false;
    weigh_parts(g, a->shares);
    return true;
}

/* Whether all ranks' sums of vertices, neighbours and weights fit, and all have memory. */
static spry_status check(team *t, const team_graph *g, bool made)
{
    mpi_state *m = t->state;
    int64_t mine[4] = {g->vertices, g->offsets[g->vertices], 0, !made}, all[4];
    for (int64_t i = 0; i < g->vertices; i++)
        mine[2] += g->weights[i];
    const int error = MPI_Allreduce(mine, all, 4, MPI_INT64_T, MPI_SUM, m->comm);
    if (error)
        return mpi_failed(t, "MPI_Allreduce", error);
    if (all[3])
        return mpi_no_memory(t, mine[1] * (int64_t)sizeof(SCOTCH_Num));
    for (int k = 0; k < 3; k++)
        if (all[k] > SCOTCH_NUMMAX) {
            snprintf(t->message, sizeof t->message,
                     "the graph has %lld vertices and %lld neighbours, and this PT-Scotch counts "
                     "to %lld; partition=rows counts further",
                     (long long)all[0], (long long)all[1], (long long)SCOTCH_NUMMAX);
            return SPRY_STATUS_UNSUPPORTED;
        }
    return SPRY_STATUS_OK;
}

static int map(SCOTCH_Dgraph *graph, const team_graph *g, const numbers *a, int ranks)
{
    const double imbalance = 0.03; /* as METIS has it */
    SCOTCH_Arch places;
    SCOTCH_Strat way;
    SCOTCH_randomReset(); /* the same again where it can be */
    int failed = SCOTCH_archInit(&places);
    if (failed)
        return failed;
    failed = SCOTCH_stratInit(&way);
    if (!failed) {
        failed =
            SCOTCH_archCmpltw(&places, g->parts, a->shares) ||
            SCOTCH_stratDgraphMapBuild(&way, SCOTCH_STRATDEFAULT, ranks, g->parts, imbalance) ||
            SCOTCH_dgraphMap(graph, &places, &way, a->part);
        SCOTCH_stratExit(&way);
    }
    SCOTCH_archExit(&places);
    return failed;
}

/* By one thread a rank: its threads send messages, which MPI may not allow them, and wait for ever.
 */
static int map_alone(SCOTCH_Dgraph *graph, const team_graph *g, const numbers *a, int ranks)
{
    SCOTCH_Context alone;
    SCOTCH_Dgraph bound;
    int failed = SCOTCH_contextInit(&alone);
    if (failed)
        return failed;
    failed = SCOTCH_contextThreadSpawn(&alone, 1, NULL) ||
             SCOTCH_contextBindDgraph(&alone, graph, &bound);
    if (!failed) {
        failed = map(&bound, g, a, ranks);
        SCOTCH_dgraphExit(&bound);
    }
    SCOTCH_contextExit(&alone);
    return failed;
}

static spry_status partition(team *t, const team_graph *g, const numbers *a)
{
    mpi_state *m = t->state;
    SCOTCH_Dgraph graph;
    int failed = SCOTCH_dgraphInit(&graph, m->comm);
    if (!failed) {
        const SCOTCH_Num edges = a->offsets[g->vertices];
        failed = SCOTCH_dgraphBuild(&graph, 0, (SCOTCH_Num)g->vertices, (SCOTCH_Num)g->vertices,
                                    a->offsets, a->offsets + 1, a->weights, NULL, edges, edges,
                                    a->neighbours, NULL, NULL);
        failed = failed || map_alone(&graph, g, a, t->ranks);
        SCOTCH_dgraphExit(&graph);
    }
    if (failed)
        snprintf(t->message, sizeof t->message, "PT-Scotch could not make %d parts", g->parts);
    return failed ? SPRY_STATUS_NO_MEMORY : SPRY_STATUS_OK;
}

spry_status mpi_partition(team *t, const team_graph *g, int32_t *part)
{
    numbers a = {0};
    spry_status status = check(t, g, numbers_make(g, &a));
    if (status == SPRY_STATUS_OK && g->parts > 1)
        status = partition(t, g, &a);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < g->vertices; i++)
        part[i] = g->parts > 1 ? (int32_t)a.part[i] : 0;
    numbers_free(&a);
    return status;
}
#endif
