/* Sets of rows that do not depend on each other. */
#include "precon/factors/triangle.h"

void triangle_sets_clear(spry_context *ctx, triangle_sets *s)
{
    base_free(ctx, s->first);
    base_free(ctx, s->rows);
    base_free(ctx, s->places);
    base_free(ctx, s->stage);
    *s = (triangle_sets){0};
}

/* Rows in their order, by chunks: rows of a chunk stay together and are done in turn. */
typedef struct chunks {
    int64_t n, size;
    int bits;                   /* the logarithm of the size */
    const int32_t *perm, *rank; /* NULL: none */
} chunks;

static int64_t chunk_of(const chunks *c, int32_t row)
{
    return (c->rank ? c->rank[row] : row) >> c->bits;
}

static int64_t end_of(const chunks *c, int64_t own)
{
    return (own + 1) * c->size < c->n ? (own + 1) * c->size : c->n;
}

/* The first level after those of the chunks before this one that its rows name. */
static int32_t level_after(const chunks *c, const triangle_pattern *p, int64_t own,
                           const int32_t *level)
{
    const int64_t end = end_of(c, own);
    int32_t after = level[own];
    for (int64_t at = own * c->size; at < end; at++) {
        const int64_t i = c->perm ? c->perm[at] : at;
        for (int64_t k = p->offsets[i]; k < p->offsets[i + 1]; k++) {
            const int64_t other = chunk_of(c, p->columns[k]);
            if (other >= own && p->sorted && !c->perm)
                break;
            if (other < own && level[other] >= after)
                after = level[other] + 1;
        }
    }
    return after;
}

/* Chunks behind this one that its rows name come after it. */
static void push_levels(const chunks *c, const triangle_pattern *p, int64_t own, int32_t *level)
{
    const int64_t end = end_of(c, own);
    for (int64_t at = own * c->size; at < end; at++) {
        const int64_t i = c->perm ? c->perm[at] : at;
        for (int64_t k = p->offsets[i]; k < p->offsets[i + 1]; k++) {
            const int64_t other = chunk_of(c, p->columns[k]);
            if (other > own && level[other] <= level[own])
                level[other] = level[own] + 1;
        }
    }
}

/* The level of each chunk: one more than that of any neighbour that comes before it. Neighbours are
 * named by the earlier row, the later one, or both. Gives the number of levels. */
static int64_t find_levels(const chunks *c, const triangle_pattern *p, int count, int32_t *level)
{
    const int64_t all = (c->n + c->size - 1) / c->size;
    int32_t most = -1;
    memset(level, 0, (size_t)all * sizeof *level);
    for (int64_t own = 0; own < all; own++) {
        for (int l = 0; l < count; l++)
            level[own] = level_after(c, &p[l], own, level);
        for (int l = 0; l < count; l++)
            if (!p[l].symmetric)
                push_levels(c, &p[l], own, level);
        most = level[own] > most ? level[own] : most;
    }
    return most + 1;
}

/* Rows by levels, within a level in the order they had, with their places. */
static spry_status sort_levels(spry_context *ctx, const chunks *c, const int32_t *level,
                               triangle_sets *s)
{
    int64_t *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, s->count + 1, sizeof *s->first, &s->first));
    SPRY_GO(ctx, base_alloc(ctx, s->count + 1, sizeof *next, &next));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->rows, &s->rows));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->places, &s->places));
    for (int64_t own = 0; own << c->bits < s->n; own++)
        s->first[level[own] + 1] += end_of(c, own) - (own << c->bits);
    for (int64_t t = 0; t < s->count; t++)
        s->first[t + 1] += s->first[t];
    memcpy(next, s->first, (size_t)s->count * sizeof *next);
    for (int64_t own = 0; own << c->bits < s->n; own++) {
        int64_t place = next[level[own]];
        for (int64_t at = own << c->bits; at < end_of(c, own); at++, place++) {
            const int32_t row = c->perm ? c->perm[at] : (int32_t)at;
            s->rows[place] = row;
            s->places[row] = (int32_t)place;
        }
        next[level[own]] = place;
    }
done:
    base_free(ctx, next);
    return status;
}

static spry_status invert(spry_context *ctx, int64_t n, const int32_t *perm, int32_t **inverse)
{
    const spry_status status = base_alloc(ctx, n, sizeof **inverse, inverse);
    if (status != SPRY_STATUS_OK)
        return status;
#pragma omp parallel for num_threads(host_threads(ctx, n)) schedule(static)
    for (int64_t k = 0; k < n; k++)
        (*inverse)[perm[k]] = (int32_t)k;
    return SPRY_STATUS_OK;
}

/* One set of all rows, which are to be done in turn. */
static spry_status keep_order(spry_context *ctx, const int32_t *perm, triangle_sets *s)
{
    spry_status status = SPRY_STATUS_OK;
    s->count = 1;
    SPRY_GO(ctx, base_alloc(ctx, 2, sizeof *s->first, &s->first));
    s->first[0] = 0;
    s->first[1] = s->n;
    if (perm) {
        SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->rows, &s->rows));
        memcpy(s->rows, perm, (size_t)s->n * sizeof *s->rows);
        SPRY_GO(ctx, invert(ctx, s->n, perm, &s->places));
    }
done:
    return status;
}

/* Stages with sets of `least` rows and more shared; gives their number, count at most. */
static int64_t cut_stages(const triangle_sets *s, int64_t least, triangle_stage *stage)
{
    int64_t stages = 0;
    for (int64_t t = 0; t < s->count; t++) {
        const bool shared = s->first[t + 1] - s->first[t] >= least;
        if (!shared && stages > 0 && !stage[stages - 1].shared)
            stage[stages - 1].end = t + 1;
        else
            stage[stages++] = (triangle_stage){t, t + 1, shared};
    }
    return stages;
}

/* Sets of many rows are shared; those between are done in turn. */
static spry_status make_stages(spry_context *ctx, bool in_turn, triangle_sets *s)
{
    enum { SHARED = 1024 }; /* rows: some microseconds of work */
    const spry_status status = base_alloc(ctx, s->count, sizeof *s->stage, &s->stage);
    if (status == SPRY_STATUS_OK)
        s->stages = cut_stages(s, in_turn ? INT64_MAX : SHARED, s->stage);
    return status;
}

spry_status triangle_sets_make(spry_context *ctx, int64_t n, const triangle_pattern *p, int count,
                               const int32_t *perm, bool always, triangle_sets *s)
{
    enum { MEAN = 64 }; /* rows of a set; with fewer, what lies together in rows matters more */
    int32_t *level = NULL, *rank = NULL;
    spry_status status = SPRY_STATUS_OK;
    chunks c = {.n = n, .bits = always ? 0 : TRIANGLE_CHUNK_BITS, .perm = perm};
    c.size = (int64_t)1 << c.bits;
    *s = (triangle_sets){.n = n, .natural = !perm};
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *level, &level));
    if (perm)
        SPRY_GO(ctx, invert(ctx, n, perm, &rank));
    c.rank = rank;
    s->count = find_levels(&c, p, count, level);
    const bool in_turn = !always && n < MEAN * s->count;
    if (in_turn)
        SPRY_GO(ctx, keep_order(ctx, perm, s));
    else
        SPRY_GO(ctx, sort_levels(ctx, &c, level, s));
    SPRY_GO(ctx, make_stages(ctx, in_turn, s));
done:
    base_free(ctx, level);
    base_free(ctx, rank);
    if (status != SPRY_STATUS_OK)
        triangle_sets_clear(ctx, s);
    return status;
}

spry_status triangle_sets_rename(spry_context *ctx, triangle_sets *s, const int32_t *perm)
{
    spry_status status = SPRY_STATUS_OK;
    if (!perm)
        return SPRY_STATUS_OK;
    if (!s->rows) {
        SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->rows, &s->rows));
        for (int64_t k = 0; k < s->n; k++)
            s->rows[k] = (int32_t)k;
    }
    for (int64_t k = 0; k < s->n; k++)
        s->rows[k] = perm[s->rows[k]];
    s->natural = false;
    base_free(ctx, s->places);
    s->places = NULL;
    SPRY_GO(ctx, invert(ctx, s->n, s->rows, &s->places));
done:
    return status;
}
