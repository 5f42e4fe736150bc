/*
 * Reverse Cuthill-McKee: rows are numbered from a start outwards, neighbours of a row by rising
 * degree, and the ordering is reversed (E. Cuthill, J. McKee, Reducing the bandwidth of sparse
 * symmetric matrices, Proc. 24th ACM Conf. (1969), 157-172; A. George, J. Liu, Computer Solution of
 * Large Sparse Positive Definite Systems, 1981, for reversing and for the start).
 *
 * Lists of neighbours are brought into the order of degrees all at once, so that the time is
 * proportional to the entries (W. M. Chan, A. George, A linear time implementation of the reverse
 * Cuthill-McKee algorithm, BIT 20 (1980), 8-14).
 */
#include "matrix/algebra/graph.h"

typedef struct search {
    const graph *g;
    int32_t *sorted; /* the neighbours by rising degree */
    int32_t *queue;  /* rows in the order in which they are met */
    int32_t *seen;   /* the last search of its component that met a row; -1: it has its number */
    int32_t round;
} search;

/* What a search will look at soon: in a matrix without a good ordering each of these is a line of
 * memory by itself. */
static void prefetch_lists(const search *s, const int32_t *queue, int32_t head, int32_t tail)
{
    enum { NEAR = 4, FAR = 2 * NEAR, FARTHEST = 2 * FAR };
    const int64_t *offsets = s->g->offsets;
    if (head + FARTHEST < tail)
        __builtin_prefetch(&offsets[queue[head + FARTHEST]]);
    if (head + FAR < tail)
        __builtin_prefetch(&s->sorted[offsets[queue[head + FAR]]]);
    if (head + NEAR < tail) {
        const int32_t v = queue[head + NEAR];
        const int64_t most = offsets[v] + FARTHEST, end = offsets[v + 1];
        for (int64_t k = offsets[v]; k < end && k < most; k++)
            __builtin_prefetch(&s->seen[s->sorted[k]]);
    }
}

/* A breadth-first search: fills the queue, returns how many it met. *depth counts levels, *last is
 * where the last one begins in the queue. */
static int32_t find_levels(search *s, int32_t start, int32_t *queue, int32_t *depth, int32_t *last)
{
    int32_t head = 0, tail = 1, level_end = 1;
    s->round++;
    queue[0] = start;
    s->seen[start] = s->round;
    *depth = 1;
    *last = 0;
    for (; head < tail; head++) {
        if (head == level_end) {
            (*depth)++;
            *last = head;
            level_end = tail;
        }
        const int32_t v = queue[head];
        prefetch_lists(s, queue, head, tail);
        for (int64_t k = s->g->offsets[v]; k < s->g->offsets[v + 1]; k++) {
            const int32_t w = s->sorted[k];
            if (s->seen[w] == s->round || s->seen[w] < 0)
                continue;
            s->seen[w] = s->round;
            queue[tail++] = w;
        }
    }
    return tail;
}

/* A search from one end of its component: of the last level of a search the row with the fewest
 * neighbours begins the next, as long as there are more levels each time. Fills the queue, returns
 * how many rows there are. */
static int32_t search_from_end(search *s, int32_t start, int32_t *queue)
{
    enum { MOST = 16 }; /* searches; two to four are usual */
    int32_t depth, last, count = find_levels(s, start, queue, &depth, &last);
    for (int k = 0; k < MOST; k++) {
        int32_t deeper;
        start = queue[last];
        for (int32_t i = last; i < count; i++)
            if (graph_degree(s->g, queue[i]) < graph_degree(s->g, start))
                start = queue[i];
        count = find_levels(s, start, queue, &deeper, &last);
        if (deeper <= depth)
            break;
        depth = deeper;
    }
    return count;
}

static void sort_neighbours(const search *s, const int32_t *by_degree, int64_t *next)
{
    const graph *g = s->g;
    memcpy(next, g->offsets, (size_t)g->n * sizeof *next);
    for (int32_t i = 0; i < g->n; i++) {
        const int32_t v = by_degree[i];
        for (int64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++)
            s->sorted[next[g->neighbours[k]]++] = v;
    }
}

/* Every component, that with the row of the fewest neighbours first. */
static void number_all(search *s, const int32_t *by_degree, int32_t *perm)
{
    const int32_t n = s->g->n;
    int32_t done = 0;
    for (int32_t i = 0; i < n; i++) {
        if (s->seen[by_degree[i]] < 0)
            continue;
        s->round = 0; /* no search has run yet */
        const int32_t count = search_from_end(s, by_degree[i], s->queue + done);
        for (int32_t k = done; k < done + count; k++)
            s->seen[s->queue[k]] = -1; /* numbered */
        done += count;
    }
    for (int32_t i = 0; i < n; i++)
        perm[i] = s->queue[n - 1 - i];
}

spry_status graph_rcm(spry_context *ctx, const graph *g, int32_t *perm)
{
    search s = {.g = g};
    int64_t *next = NULL;
    int32_t *by_degree = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *by_degree, &by_degree));
    SPRY_GO(ctx, graph_by_degree(ctx, g, by_degree));
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *next, &next));
    SPRY_GO(ctx, base_alloc(ctx, g->offsets[g->n], sizeof *s.sorted, &s.sorted));
    sort_neighbours(&s, by_degree, next);
    SPRY_GO(ctx, base_alloc(ctx, g->n, sizeof *s.queue, &s.queue));
    SPRY_GO(ctx, base_calloc(ctx, g->n, sizeof *s.seen, &s.seen));
    number_all(&s, by_degree, perm);
done:
    base_free(ctx, s.seen);
    base_free(ctx, s.queue);
    base_free(ctx, s.sorted);
    base_free(ctx, next);
    base_free(ctx, by_degree);
    return status;
}
