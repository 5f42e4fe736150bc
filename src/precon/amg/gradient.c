/*
 * The gradient G of edge elements of lowest order, from the rows of A = K + M with K of curl curl.
 * Its column for a node is +-1 at the edges that meet there, its star. K G = 0, and M is small
 * relative to K where gradients matter. So a star is grown from one of its edges: the edge is added
 * that lowers g^H A g, relative to the diagonal entries of the star, most, with the sign that does,
 * until A g is next to nothing.
 *
 * An edge is in two stars, or in one where the other end is on a wall. The signs of the columns are
 * then chosen so that each row of G has a -1 and a +1, which shows that it is a gradient.
 *
 * Real parts are looked at alone: K of scattering and eddy currents has no others.
 */
#include "precon/amg/gradient.h"

#include "matrix/entries.h"

enum { MOST = 40, FEW = 16, LEAST = 2 }; /* edges of a star */

/* What a row makes of g, at most, relative to its diagonal entry: where an edge of a star lacks,
 * its row has 1. */
static const double little = 0.2;

typedef struct search {
    spry_context *ctx;
    const matrix_arrays *a;
    int32_t *stars; /* two for each edge, -1: not known */
    int8_t *signs;  /* of the edge in them */
    int64_t found;
    double *diagonal;
    /* Of the star that is being grown: */
    double *rest;  /* A g */
    int8_t *state; /* by edge */
    int32_t *near, edges[MOST];
    int64_t met;
    int count;
    double energy, sum;
} search;

enum { FAR = 0, NEAR = 2 }; /* or the sign, -1 or 1 */

static void clear(search *s)
{
    base_free(s->ctx, s->signs);
    base_free(s->ctx, s->diagonal);
    base_free(s->ctx, s->rest);
    base_free(s->ctx, s->state);
    base_free(s->ctx, s->near);
}

static spry_status begin(const spry_matrix *A, search *s)
{
    const int64_t n = A->a.rows;
    spry_status status = SPRY_STATUS_OK;
    *s = (search){.ctx = A->ctx, .a = &A->a};
    SPRY_GO(s->ctx, base_alloc(s->ctx, 2 * n, sizeof *s->stars, &s->stars));
    SPRY_GO(s->ctx, base_calloc(s->ctx, 2 * n, sizeof *s->signs, &s->signs));
    SPRY_GO(s->ctx, base_calloc(s->ctx, n, sizeof *s->diagonal, &s->diagonal));
    SPRY_GO(s->ctx, base_calloc(s->ctx, n, sizeof *s->rest, &s->rest));
    SPRY_GO(s->ctx, base_calloc(s->ctx, n, sizeof *s->state, &s->state));
    SPRY_GO(s->ctx, base_alloc(s->ctx, n, sizeof *s->near, &s->near));
    memset(s->stars, 0xff, (size_t)(2 * n) * sizeof *s->stars);
done:
    return status;
}

/* --- one star ------------------------------------------------------------------------------------
 */

static void meet(search *s, int32_t edge)
{
    const int64_t k = matrix_find_diagonal(s->a, edge);
    s->diagonal[edge] = k < 0 ? 0 : value_load(s->a->type, s->a->values, k).re;
    s->state[edge] = NEAR;
    s->near[s->met++] = edge;
}

static void add(search *s, int32_t edge, int sign)
{
    const matrix_arrays *a = s->a;
    s->sum += s->diagonal[edge];
    s->energy += s->diagonal[edge] + 2 * sign * s->rest[edge];
    s->state[edge] = (int8_t)sign;
    s->edges[s->count++] = edge;
    for (int64_t k = a->offsets[edge]; k < a->offsets[edge + 1]; k++) {
        const int32_t j = a->col_index[k];
        if (s->state[j] == FAR)
            meet(s, j);
        s->rest[j] += sign * value_load(a->type, a->values, k).re;
    }
}

/* Whether an edge may be in another star of an edge that is in `other` already. */
static bool is_free(const search *s, int32_t edge, int32_t other)
{
    const int32_t *of = s->stars + 2 * (int64_t)edge;
    return of[1] < 0 && (of[0] < 0 || of[0] != other) && s->diagonal[edge] > 0;
}

/* The edge that lowers the energy most, -1: there is none; *most: how much of its diagonal entry a
 * row makes of g. */
static int32_t best(const search *s, int32_t other, double *most)
{
    const double tie = 1e-5; /* rounding errors decide nothing: the first one met is taken */
    double least = INFINITY;
    int32_t found = -1;
    *most = 0;
    for (int64_t k = 0; k < s->met; k++) {
        const int32_t j = s->near[k];
        const double own = s->diagonal[j], rest = fabs(s->rest[j]);
        *most = rest > *most * own ? rest / own : *most;
        if (s->state[j] != NEAR || !is_free(s, j, other))
            continue;
        const double share = (s->energy + own - 2 * rest) / (s->sum + own);
        if (share < least - tie) {
            least = share;
            found = j;
        }
    }
    return found;
}

/* Grows a star of `first` with at most so many edges, and says whether it is one; forget() is to
 * follow. */
static bool grow(search *s, int32_t first, int most_edges)
{
    const int32_t other = s->stars[2 * (int64_t)first];
    s->count = 0;
    s->met = 0;
    s->energy = s->sum = 0;
    meet(s, first);
    if (!(s->diagonal[first] > 0))
        return false;
    add(s, first, 1);
    while (s->count < most_edges) {
        double most;
        const int32_t next = best(s, other, &most);
        if (most <= little)
            return s->count >= LEAST;
        if (next < 0)
            return false;
        add(s, next, s->rest[next] > 0 ? -1 : 1);
    }
    return false;
}

static void forget(search *s)
{
    for (int64_t k = 0; k < s->met; k++) {
        s->rest[s->near[k]] = 0;
        s->state[s->near[k]] = FAR;
    }
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static void note_star(search *s)
{
    for (int k = 0; k < s->count; k++) {
        const int64_t edge = s->edges[k], at = 2 * edge + (s->stars[2 * edge] >= 0);
        s->stars[at] = (int32_t)s->found;
        s->signs[at] = s->state[edge];
    }
    s->found++;
}

static spry_status find_stars(search *s, int most_edges)
{
    enum { BATCH = 4096 };
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = 0; i < s->a->rows; i++) {
        bool more = true;
        if (i % BATCH == 0)
            SPRY_GO(s->ctx, base_go_on(s->ctx, "the gradient of edge elements"));
        for (int side = 0; side < 2 && more; side++) {
            more = s->stars[2 * i + 1] < 0 && grow(s, (int32_t)i, most_edges);
            if (more)
                note_star(s);
            forget(s);
        }
    }
done:
    return status;
}

/* The edges of each star. */
static spry_status list_stars(const search *s, int64_t **starts, int32_t **edges)
{
    const int64_t ends = 2 * s->a->rows;
    int64_t *at = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, base_calloc(s->ctx, s->found + 2, sizeof **starts, starts));
    SPRY_GO(s->ctx, base_alloc(s->ctx, ends, sizeof **edges, edges));
    at = *starts + 1;
    for (int64_t k = 0; k < ends; k++)
        if (s->stars[k] >= 0)
            at[s->stars[k] + 1]++;
    for (int64_t v = 0; v < s->found; v++)
        at[v + 1] += at[v];
    for (int64_t k = 0; k < ends; k++)
        if (s->stars[k] >= 0)
            (*edges)[at[s->stars[k]]++] = (int32_t)(k / 2);
done:
    return status;
}

/* Whether the columns' signs can be chosen so that the two ends of each edge have different ones:
 * goes from star to star and changes them. */
static spry_status direct_stars(search *s, bool *gradient)
{
    int64_t *starts = NULL, done_with = 0, reached = 0;
    int32_t *edges = NULL, *queue = NULL;
    int8_t *flips = NULL;
    spry_status status = SPRY_STATUS_OK;
    *gradient = true;
    SPRY_GO(s->ctx, list_stars(s, &starts, &edges));
    SPRY_GO(s->ctx, base_calloc(s->ctx, s->found, sizeof *flips, &flips));
    SPRY_GO(s->ctx, base_alloc(s->ctx, s->found, sizeof *queue, &queue));
    for (int64_t root = 0; root < s->found; root++) {
        if (flips[root] == 0) {
            flips[root] = 1;
            queue[reached++] = (int32_t)root;
        }
        for (; done_with < reached; done_with++) {
            const int32_t v = queue[done_with];
            for (int64_t k = starts[v]; k < starts[v + 1]; k++) {
                const int64_t at = 2 * (int64_t)edges[k], own = at + (s->stars[at] != v);
                const int64_t far = at + (s->stars[at] == v);
                const int32_t w = s->stars[far];
                const int8_t flip = (int8_t)(-flips[v] * s->signs[own] * s->signs[far]);
                if (w < 0)
                    continue;
                if (flips[w] == 0) {
                    flips[w] = flip;
                    queue[reached++] = w;
                }
                *gradient = *gradient && flips[w] == flip;
            }
        }
    }
    for (int64_t k = 0; k < 2 * s->a->rows; k++)
        if (s->stars[k] >= 0)
            s->signs[k] = (int8_t)(s->signs[k] * flips[s->stars[k]]);
done:
    base_free(s->ctx, starts);
    base_free(s->ctx, edges);
    base_free(s->ctx, queue);
    base_free(s->ctx, flips);
    return status;
}

/* In the place of stars: where the edge begins, -1, comes first. */
static int64_t order_ends(search *s)
{
    int64_t without = 0;
    for (int64_t i = 0; i < s->a->rows; i++) {
        int32_t *of = s->stars + 2 * i;
        const int8_t *signs = s->signs + 2 * i;
        const int32_t first = of[0];
        without += first < 0;
        if (first >= 0 && signs[0] > 0) {
            of[0] = of[1];
            of[1] = first;
        }
    }
    return without;
}

spry_status amg_find_ends(const spry_matrix *A, int32_t **ends, int64_t *nodes)
{
    search s;
    bool gradient = true;
    int64_t without = 0;
    spry_status status = SPRY_STATUS_OK;
    *ends = NULL;
    SPRY_GO(A->ctx, begin(A, &s));
    /* Small ones first: gradients of functions that are 1 on several nodes have more edges. */
    SPRY_GO(A->ctx, find_stars(&s, FEW));
    SPRY_GO(A->ctx, find_stars(&s, MOST));
    SPRY_GO(A->ctx, direct_stars(&s, &gradient));
    without = order_ends(&s);
    if (!gradient || 2 * without > A->a.rows) {
        status = SPRY_FAIL(
            A->ctx, SPRY_STATUS_BAD_INPUT,
            "precon edges: the matrix is not one of edge elements: the edges that "
            "meet at a node were found for %" PRId64 " of %" PRId64 " rows%s; take auto, ic or ilu",
            A->a.rows - without, A->a.rows, gradient ? "" : ", with signs that are no gradient's");
        goto done;
    }
    *nodes = s.found;
    *ends = s.stars;
    s.stars = NULL;
done:
    base_free(A->ctx, s.stars);
    clear(&s);
    return status;
}

/* Whether a star of `first` is found, and from another edge of it the same one, or that of the
 * edge's other end. */
static bool confirm(search *s, int32_t first)
{
    enum { FEWEST = 3 };
    int32_t edges[MOST];
    const bool found = grow(s, first, MOST);
    const int count = s->count;
    int shared = 0;
    memcpy(edges, s->edges, (size_t)count * sizeof *edges);
    forget(s);
    if (!found || count < FEWEST)
        return false;
    const bool again = grow(s, edges[1], MOST);
    for (int k = 0; k < count; k++)
        shared += s->state[edges[k]] == 1 || s->state[edges[k]] == -1;
    const bool same = shared == count && s->count == count;
    forget(s);
    return again && (same || shared == 1);
}

spry_status precon_edges_suits(const spry_matrix *A, bool *yes)
{
    enum { SAMPLE = 32 };
    const int64_t step = A->a.rows / SAMPLE + 1;
    int64_t seen = 0, confirmed = 0;
    search s;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, begin(A, &s));
    for (int64_t i = step / 2; i < A->a.rows; i += step, seen++)
        confirmed += confirm(&s, (int32_t)i);
done:
    *yes = status == SPRY_STATUS_OK && 4 * confirmed > 3 * seen;
    base_free(A->ctx, s.stars);
    clear(&s);
    return status;
}
