/*
 * Shortest augmenting paths: I. S. Duff, J. Koster, On algorithms for permuting large entries to
 * the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22 (2001), 973-996; R. Jonker, A.
 * Volgenant, A shortest augmenting path algorithm for dense and sparse linear assignment problems,
 * Computing 38 (1987), 325-340.
 *
 * With the costs reduced by the duals, c - v - u >= 0, every row in turn looks for the nearest free
 * column (Dijkstra): an edge from a row to a column costs its reduced cost, the edge back from a
 * column to the row that has it costs nothing. Along the path rows change columns; the duals follow
 * the distances, so that reduced costs stay nonnegative and are 0 where a row has its column.
 */
#include "matrix/algebra/assign.h"

#include <math.h>

/* A search: distances of columns, those that wait in a heap by distance, and those that were
 * reached at the distance of the search itself, for which no heap is needed. */
typedef struct search {
    spry_context *ctx;
    assignment *s;
    double *distance; /* of columns; infinite: not met */
    int32_t *from;    /* the row a column was met from */
    int32_t *heap;    /* columns; the nearest first */
    int32_t *place;   /* of a column in the heap; -1: not in it */
    int32_t *met;     /* columns in the order in which they are settled, then those at hand */
    int32_t *looked;  /* columns that were given a distance */
    int64_t waiting, settled, at_hand, touched;
    double best; /* distance of the nearest free column so far */
    int32_t end; /* that column */
} search;

/* In this order of operations the least of a row is 0 by first_duals(), not nearly 0. */
static inline double reduced(const assignment *s, int32_t i, int64_t k)
{
    return s->cost[k] - s->u[s->columns[k]] - s->v[i];
}

static void heap_up(search *q, int64_t at, int32_t j)
{
    const double d = q->distance[j];
    while (at > 0) {
        const int64_t above = (at - 1) / 2;
        if (q->distance[q->heap[above]] <= d)
            break;
        q->heap[at] = q->heap[above];
        q->place[q->heap[at]] = (int32_t)at;
        at = above;
    }
    q->heap[at] = j;
    q->place[j] = (int32_t)at;
}

static void heap_down(search *q, int64_t at, int32_t j)
{
    const double d = q->distance[j];
    for (;;) {
        int64_t below = 2 * at + 1;
        if (below >= q->waiting)
            break;
        if (below + 1 < q->waiting && q->distance[q->heap[below + 1]] < q->distance[q->heap[below]])
            below++;
        if (q->distance[q->heap[below]] >= d)
            break;
        q->heap[at] = q->heap[below];
        q->place[q->heap[at]] = (int32_t)at;
        at = below;
    }
    q->heap[at] = j;
    q->place[j] = (int32_t)at;
}

static void heap_remove(search *q, int32_t j)
{
    const int64_t at = q->place[j];
    const int32_t last = q->heap[--q->waiting];
    q->place[j] = -1;
    if (last == j)
        return;
    if (at > 0 && q->distance[last] < q->distance[q->heap[(at - 1) / 2]])
        heap_up(q, at, last);
    else
        heap_down(q, at, last);
}

/* A column was met from row i, nearer than before. */
static void reach(search *q, int32_t j, int32_t i, double distance, double reached)
{
    if (isinf(q->distance[j]))
        q->looked[q->touched++] = j;
    q->distance[j] = distance;
    q->from[j] = i;
    if (q->s->row_of[j] < 0) {
        q->best = distance;
        q->end = j;
    } else if (distance <= reached) {
        if (q->place[j] >= 0)
            heap_remove(q, j);
        q->met[q->at_hand++] = j;
    } else {
        heap_up(q, q->place[j] >= 0 ? q->place[j] : q->waiting++, j);
    }
}

/* The columns of row i, which is at distance `reached`. A settled column is at most as far as that.
 */
static void look(search *q, int32_t i, double reached)
{
    const assignment *s = q->s;
    for (int64_t k = s->offsets[i]; k < s->offsets[i + 1]; k++) {
        const int32_t j = s->columns[k];
        const double over = reduced(s, i, k);
        const double distance = reached + (over > 0 ? over : 0);
        if (distance < q->best && distance < q->distance[j] && !s->shut[j])
            reach(q, j, i, distance, reached);
    }
}

/* Rows along the path to q->end take the columns they were met for. */
static void augment(search *q, int32_t root)
{
    for (int32_t j = q->end, i = -1; i != root;) {
        i = q->from[j];
        const int32_t before = q->s->column_of[i];
        q->s->column_of[i] = j;
        q->s->row_of[j] = i;
        j = before;
    }
    q->s->rank++;
}

/* Duals for the distances: what was settled lies within q->best. */
static void move_duals(search *q, int32_t root)
{
    assignment *s = q->s;
    s->v[root] += q->best;
    for (int64_t m = 0; m < q->settled; m++) {
        const int32_t j = q->met[m];
        const double gap = q->best - q->distance[j];
        s->u[j] -= gap;
        s->v[s->row_of[j]] += gap;
    }
}

static void forget(search *q)
{
    for (int64_t m = 0; m < q->touched; m++) {
        q->distance[q->looked[m]] = INFINITY;
        q->place[q->looked[m]] = -1;
    }
    q->touched = q->waiting = q->settled = q->at_hand = 0;
    q->best = INFINITY;
    q->end = -1;
}

/* The path for one row; q->end < 0 where there is none. */
static spry_status find_path(search *q, int32_t root)
{
    look(q, root, 0);
    for (;;) {
        if (q->settled == q->at_hand) {
            if (q->waiting == 0 || q->distance[q->heap[0]] >= q->best)
                return SPRY_STATUS_OK;
            const int32_t nearest = q->heap[0];
            heap_remove(q, nearest);
            q->met[q->at_hand++] = nearest;
        }
        const int32_t j = q->met[q->settled];
        if (q->distance[j] >= q->best)
            return SPRY_STATUS_OK;
        q->settled++;
        look(q, q->s->row_of[j], q->distance[j]);
        if (q->settled % 65536 == 0 && spry_context_interrupted(q->ctx, false))
            return SPRY_FAIL(q->ctx, SPRY_STATUS_INTERRUPTED, "matching: interrupted");
    }
}

static void shut_tree(search *q)
{
    for (int64_t m = 0; m < q->settled; m++)
        q->s->shut[q->met[m]] = true;
}

/* Whether a row has so many entries that it takes its column last: once it has one, every search
 * that comes by has to look at all of them. */
static bool is_long(const assignment *s, int64_t i)
{
    const int64_t length = s->offsets[i + 1] - s->offsets[i];
    return length > 64 && length > 8 * (s->offsets[s->rows] / s->rows);
}

static spry_status search_rows(search *q, bool long_ones)
{
    assignment *s = q->s;
    for (int32_t i = 0; i < s->rows; i++) {
        if (s->column_of[i] >= 0 || is_long(s, i) != long_ones)
            continue;
        if (spry_context_interrupted(q->ctx, false))
            return SPRY_FAIL(q->ctx, SPRY_STATUS_INTERRUPTED, "matching: interrupted");
        const spry_status status = find_path(q, i);
        if (status != SPRY_STATUS_OK)
            return status;
        if (q->end < 0) {
            shut_tree(q);
        } else {
            move_duals(q, i);
            augment(q, i);
        }
        forget(q);
    }
    return SPRY_STATUS_OK;
}

static void first_duals(const assignment *s, bool all)
{
    for (int64_t j = 0; j < s->cols; j++)
        s->u[j] = all ? INFINITY : 0;
    for (int64_t k = 0; all && k < s->offsets[s->rows]; k++)
        s->u[s->columns[k]] = fmin(s->u[s->columns[k]], s->cost[k]);
    for (int64_t j = 0; j < s->cols; j++)
        if (isinf(s->u[j]))
            s->u[j] = 0; /* an empty column */
    for (int64_t i = 0; i < s->rows; i++) {
        double least = INFINITY;
        for (int64_t k = s->offsets[i]; k < s->offsets[i + 1]; k++)
            least = fmin(least, s->cost[k] - s->u[s->columns[k]]);
        s->v[i] = isinf(least) ? 0 : least;
    }
}

static void take(assignment *s, int32_t i, int32_t j)
{
    s->column_of[i] = j;
    s->row_of[j] = i;
}

/* A free column that row i can have at no cost from entry *k on; -1: none. */
static int32_t free_column(const assignment *s, int32_t i, int64_t *k)
{
    for (; *k < s->offsets[i + 1]; ++*k) {
        const int32_t j = s->columns[*k];
        if (s->row_of[j] < 0 && reduced(s, i, *k) <= 0)
            return j;
    }
    return -1;
}

/* A first assignment: columns that cost nothing, also such that another row can leave for one that
 * costs nothing. `next` remembers how far each row has looked: columns do not become free again. */
static void assign_cheaply(assignment *s, int64_t *next)
{
    for (int32_t i = 0; i < s->rows; i++) {
        next[i] = s->offsets[i];
        const int32_t j = is_long(s, i) ? -1 : free_column(s, i, &next[i]);
        if (j >= 0) {
            take(s, i, j);
            s->rank++;
        }
    }
    for (int32_t i = 0; i < s->rows; i++) {
        if (is_long(s, i))
            continue;
        for (int64_t k = s->offsets[i]; s->column_of[i] < 0 && k < s->offsets[i + 1]; k++) {
            const int32_t j = s->columns[k];
            if (reduced(s, i, k) > 0)
                continue;
            const int32_t other = s->row_of[j]; /* it is taken: the first pass left none */
            const int32_t to = free_column(s, other, &next[other]);
            if (to < 0)
                continue;
            take(s, other, to);
            take(s, i, j);
            s->rank++;
        }
    }
}

static spry_status make_search(search *q)
{
    spry_context *ctx = q->ctx;
    const int64_t cols = q->s->cols;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->distance, &q->distance));
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->from, &q->from));
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->heap, &q->heap));
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->place, &q->place));
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->met, &q->met));
    SPRY_GO(ctx, base_alloc(ctx, cols, sizeof *q->looked, &q->looked));
    for (int64_t j = 0; j < cols; j++)
        q->looked[j] = (int32_t)j; /* so that forget() clears them all */
    q->touched = cols;
    forget(q);
done:
    return status;
}

spry_status assign(spry_context *ctx, assignment *s, bool all)
{
    search q = {.ctx = ctx, .s = s};
    int64_t *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    s->rank = 0;
    for (int64_t i = 0; i < s->rows; i++)
        s->column_of[i] = -1;
    for (int64_t j = 0; j < s->cols; j++) {
        s->row_of[j] = -1;
        s->shut[j] = false;
    }
    SPRY_GO(ctx, base_alloc(ctx, s->rows, sizeof *next, &next));
    SPRY_GO(ctx, make_search(&q));
    first_duals(s, all);
    assign_cheaply(s, next);
    SPRY_GO(ctx, search_rows(&q, false));
    SPRY_GO(ctx, search_rows(&q, true));
done:
    base_free(ctx, q.distance);
    base_free(ctx, q.from);
    base_free(ctx, q.heap);
    base_free(ctx, q.place);
    base_free(ctx, q.met);
    base_free(ctx, q.looked);
    base_free(ctx, next);
    return status;
}
