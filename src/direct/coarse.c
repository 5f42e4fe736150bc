/*
 * What sparse factors will take, before any ordering: from one separator. Rows are sorted into
 * levels by a breadth-first search from an end of the largest component; the smallest level with at
 * most three quarters of the rows before it, and after it, separates them. Nested dissection of
 * grids in two and in three dimensions does nearly all of its work in separators of that size (A.
 * George, Nested dissection of a regular finite element mesh, SIAM J. Numer. Anal. 10 (1973),
 * 345-363; R. J. Lipton, D. J. Rose, R. E. Tarjan, Generalized nested dissection, SIAM J. Numer.
 * Anal. 16 (1979), 346-358). Long rows, which an ordering puts at the end, and trees that hang on,
 * which cost nothing, are left out.
 */
#include "direct/forecast.h"
#include "matrix/algebra/graph.h"

#include <math.h>

typedef struct search {
    const graph *g;
    int32_t *left;  /* neighbours that are not pruned; 0: the row is pruned itself */
    int32_t *queue; /* rows in the order in which they are met */
    int32_t *seen;  /* the last search that met a row */
    int32_t *start; /* of levels in the queue, and the end of the last one */
    int32_t round;
} search;

typedef struct coarse {
    int32_t rows;      /* of the largest component */
    int32_t depth;     /* its levels */
    int32_t separator; /* rows of it */
} coarse;

/* Takes a row out; neighbours that keep a single one follow it. */
static void prune(search *s, int32_t v)
{
    const graph *g = s->g;
    int32_t tail = 1;
    s->queue[0] = v;
    for (int32_t head = 0; head < tail; head++) {
        const int32_t u = s->queue[head];
        s->left[u] = 0;
        for (int64_t k = g->offsets[u]; k < g->offsets[u + 1]; k++) {
            const int32_t w = g->neighbours[k];
            if (s->left[w] > 0 && --s->left[w] == 1)
                s->queue[tail++] = w;
        }
    }
}

/* Long rows go first, then what hangs on by a single edge. */
static void prune_all(search *s)
{
    const double few = 32, times = 16;
    const graph *g = s->g;
    const double most = fmax(few, times * (double)g->offsets[g->n] / g->n);
    for (int32_t v = 0; v < g->n; v++)
        s->left[v] = graph_degree(g, v);
    for (int32_t v = 0; v < g->n; v++)
        if (s->left[v] > 0 && graph_degree(g, v) > most)
            prune(s, v);
    for (int32_t v = 0; v < g->n; v++)
        if (s->left[v] == 1)
            prune(s, v);
}

/* A breadth-first search: returns the rows that it meets, and where levels start. */
static int32_t find_levels(search *s, int32_t first, int32_t *depth)
{
    const graph *g = s->g;
    int32_t tail = 1, level_end = 0;
    s->round++;
    s->queue[0] = first;
    s->seen[first] = s->round;
    *depth = 0;
    for (int32_t head = 0; head < tail; head++) {
        if (head == level_end) {
            s->start[(*depth)++] = head;
            level_end = tail;
        }
        const int32_t v = s->queue[head];
        for (int64_t k = g->offsets[v]; k < g->offsets[v + 1]; k++) {
            const int32_t w = g->neighbours[k];
            if (s->seen[w] == s->round || s->left[w] == 0)
                continue;
            s->seen[w] = s->round;
            s->queue[tail++] = w;
        }
    }
    s->start[*depth] = tail;
    return tail;
}

static int32_t find_separator(const int32_t *start, const coarse *c)
{
    int32_t least = c->rows;
    for (int32_t l = 0; l < c->depth; l++) {
        const int32_t width = start[l + 1] - start[l];
        const bool inside = start[l] <= c->rows - c->rows / 4 && start[l + 1] >= c->rows / 4;
        least = inside && width < least ? width : least;
    }
    return least;
}

/* The largest component's; nothing but trees has none. */
static coarse find_coarse(search *s)
{
    const graph *g = s->g;
    coarse c = {0};
    int32_t end = 0;
    for (int32_t v = 0; v < g->n; v++) {
        if (s->left[v] == 0 || s->seen[v] > 0)
            continue;
        const int32_t count = find_levels(s, v, &c.depth);
        if (count > c.rows) {
            c.rows = count;
            end = s->queue[count - 1];
        }
    }
    if (c.rows == 0)
        return c;
    find_levels(s, end, &c.depth);
    c.separator = find_separator(s->start, &c);
    return c;
}

/* Operations of symmetric factors in real numbers, products and sums: those of a square grid
 * (George), in a longer one those of each square; no more than those of dense ones. */
static double work_of(const coarse *c)
{
    const double s = c->separator, n = c->rows, square = 2 * 829.0 / 84;
    return fmin(square * s * s * fmax(s, c->depth), n * n * n / 3);
}

double direct_seconds(double flops, double entries, double fronts)
{
    const double entry_rate = 1e8, front_rate = 1e6;
    return flops / MACHINE_FRONT_FLOPS + entries / entry_rate + fronts / front_rate;
}

/*
 * Compared with what the analysis says of 279 matrices, generated ones and those of SPRY_MATRICES
 * (docs/figures.md): half of the estimates are within 0.8 to 2 times its forecast of seconds, 85%
 * within 0.5 to 7. The least is 0.2 (bars, meshes with neighbours of neighbours). Grids of 7 points
 * have 0.9 to 1.3, those of 27 points and finite elements 2 to 5; up to 400 have small power grids
 * and circuits, where trees and blocks hang together loosely.
 */
spry_status direct_estimate(const spry_matrix *A, bool symmetric, double *seconds)
{
    /* Entries of factors over the root of rows times operations, in the median of these matrices,
     * and rows of a front. */
    const double fill = 0.9, front = 7;
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    graph g = {0};
    search s = {.g = &g};
    spry_status status = SPRY_STATUS_OK;
    *seconds = 0;
    if (n == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, graph_make(A, &g));
    SPRY_GO(ctx, base_calloc(ctx, 4 * n + 1, sizeof *s.left, &s.left));
    s.queue = s.left + n;
    s.seen = s.left + 2 * n;
    s.start = s.left + 3 * n;
    prune_all(&s);
    const coarse c = find_coarse(&s);
    const double halves = symmetric ? 1 : 2, each = spry_type_is_complex(A->a.type) ? 4 : 1;
    const double work = work_of(&c), rows = (double)n;
    *seconds =
        direct_seconds(each * halves * work, halves * fill * sqrt(rows * work), rows / front);
    base_log(ctx, SPRY_LOG_DEBUG,
             "sparse factors before any ordering: a separator of %d of %d rows, %d levels, %.2g s",
             (int)c.separator, (int)c.rows, (int)c.depth, *seconds);
done:
    base_free(ctx, s.left);
    graph_clear(ctx, &g);
    return status;
}
