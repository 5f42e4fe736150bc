/*
 * Standard aggregation (Vanek, Mandel, Brezina 1996): a node none of whose neighbours is taken
 * makes an aggregate with all of them. Nodes between aggregates join an adjacent one; the remaining
 * nodes make aggregates of their own. One thread goes through the nodes in their order, which
 * leaves few holes in meshes that are numbered along lines.
 */
#include "precon/amg/amg.h"

enum { FREE = -2, ALONE = -1 }; /* a node adjacent to aggregate a, for the time being: -3 - a */

static int32_t adjacent_to(int32_t a)
{
    return -3 - a;
}

/* Node i and those of its neighbours that are free become aggregate a; the neighbours of these are
 * adjacent to it. */
static void take(const amg_graph *g, int64_t i, int32_t a, int32_t *map)
{
    const int32_t *near = g->columns + g->offsets[i * g->block];
    map[i] = a;
    for (int32_t k = 0; k < g->lengths[i]; k++)
        if (map[near[k]] < ALONE)
            map[near[k]] = a;
    for (int32_t k = 0; k < g->lengths[i]; k++) {
        const int64_t j = near[k];
        const int32_t *next = g->columns + g->offsets[j * g->block];
        for (int32_t l = 0; map[j] == a && l < g->lengths[j]; l++)
            if (map[next[l]] == FREE)
                map[next[l]] = adjacent_to(a);
    }
}

/* Whether no neighbour has an aggregate of its own. */
static bool untouched(const amg_graph *g, int64_t i, const int32_t *map)
{
    const int32_t *near = g->columns + g->offsets[i * g->block];
    for (int32_t k = 0; k < g->lengths[i]; k++)
        if (map[near[k]] >= 0)
            return false;
    return true;
}

spry_status amg_aggregate(spry_context *ctx, const amg_graph *g, int32_t *map, int64_t *count)
{
    int32_t found = 0;
    (void)ctx;
    for (int64_t i = 0; i < g->nodes; i++)
        map[i] = g->lengths[i] > 0 ? FREE : ALONE;
    for (int64_t i = 0; i < g->nodes; i++)
        if (map[i] == FREE && untouched(g, i, map))
            take(g, i, found++, map);
    for (int64_t i = 0; i < g->nodes; i++)
        if (map[i] < FREE)
            map[i] = -3 - map[i];
    for (int64_t i = 0; i < g->nodes; i++)
        if (map[i] == FREE)
            take(g, i, found++, map);
    for (int64_t i = 0; i < g->nodes; i++)
        if (map[i] < FREE)
            map[i] = -3 - map[i];
    *count = found;
    return SPRY_STATUS_OK;
}
