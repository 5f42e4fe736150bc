/* Sets of rows that do not depend on each other. */
#include "precon/factors/triangle.h"

void triangle_sets_clear(spry_context *ctx, triangle_sets *s)
{
    base_free(ctx, s->first);
    base_free(ctx, s->rows);
    base_free(ctx, s->places);
    base_free(ctx, s->begins);
    base_free(ctx, s->stage);
    *s = (triangle_sets){0};
}

/*
 * Rows in their order, by chunks: some rows in turn, each a neighbour of one before it in the
 * chunk, which stay together and are done in turn. A row that is none begins a chunk: the end of a
 * grid's line and the beginning of the next, as one, would make all lines wait for each other.
 */
typedef struct chunks {
    int64_t n, most;            /* rows of one */
    const int32_t *perm, *rank; /* NULL: none */
    int32_t *level;             /* all by places in the order: of a row's chunk */
    bool *begins;               /* a chunk */
} chunks;

/* `natural`: without perm and rank, which loops know when they are compiled. */
ALWAYS_INLINE int64_t place_in(const chunks *c, int32_t row, bool natural)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rank is there where perm is */
    return natural ? row : c->rank[row];
}

ALWAYS_INLINE int64_t row_at(const chunks *c, int64_t at, bool natural)
{
    return natural ? at : c->perm[at];
}

/* A chunk in the making: `named` has a bit for each of its places, and of those behind its end,
 * that its rows name. */
typedef struct growing {
    int64_t begin, end;
    int32_t level; /* the first after those of earlier chunks that its rows name, or that name it */
    unsigned named;
} growing;

/* Takes the row at the chunk's end into it; false: it is none of its neighbours. */
ALWAYS_INLINE bool take_row(const chunks *c, const triangle_pattern *p, int count, bool natural,
                            growing *g)
{
    const int64_t own = g->end, i = row_at(c, own, natural), limit = g->begin + c->most;
    const unsigned bit = 1U << (own - g->begin);
    unsigned named = bit;
    int32_t level = c->level[own];
    for (int l = 0; l < count; l++)
        for (int64_t k = p[l].offsets[i]; k < p[l].offsets[i + 1]; k++) {
            const int64_t other = place_in(c, p[l].columns[k], natural);
            if (other < g->begin)
                level = c->level[other] >= level ? c->level[other] + 1 : level;
            else if (other < limit)
                named |= 1U << (other - g->begin);
            else if (p[l].sorted && natural)
                break;
        }
    if (own > g->begin && !(g->named & bit) && !(named & (bit - 1)))
        return false;
    g->named |= named;
    g->level = level > g->level ? level : g->level;
    g->end++;
    return true;
}

/* Rows behind the chunk that its rows name come after it: the last of sorted ones. */
ALWAYS_INLINE void push_levels(const chunks *c, const triangle_pattern *p, bool natural,
                               const growing *g)
{
    for (int64_t at = g->begin; at < g->end; at++) {
        const int64_t i = row_at(c, at, natural), first = p->offsets[i];
        for (int64_t k = p->offsets[i + 1] - 1; k >= first; k--) {
            const int64_t other = place_in(c, p->columns[k], natural);
            if (other >= g->end && c->level[other] <= g->level)
                c->level[other] = g->level + 1;
            else if (other < g->end && p->sorted && natural)
                break;
        }
    }
}

/* The level of each chunk: one more than that of any neighbour that comes before it. Neighbours are
 * named by the earlier row, the later one, or both. Gives the number of levels. */
ALWAYS_INLINE int64_t find_levels_as(const chunks *c, const triangle_pattern *p, int count,
                                     bool natural)
{
    int32_t most = -1;
    memset(c->level, 0, (size_t)c->n * sizeof *c->level);
    memset(c->begins, 0, (size_t)c->n * sizeof *c->begins);
    for (int64_t begin = 0; begin < c->n;) {
        growing g = {.begin = begin, .end = begin};
        while (g.end < c->n && g.end - begin < c->most && take_row(c, p, count, natural, &g))
            ;
        for (int64_t at = begin; at < g.end; at++)
            c->level[at] = g.level;
        for (int l = 0; l < count; l++)
            if (!p[l].symmetric)
                push_levels(c, &p[l], natural, &g);
        c->begins[begin] = true;
        most = g.level > most ? g.level : most;
        begin = g.end;
    }
    return most + 1;
}

static int64_t find_levels(const chunks *c, const triangle_pattern *p, int count)
{
    return c->perm ? find_levels_as(c, p, count, false) : find_levels_as(c, p, count, true);
}

/* Rows by levels, within a level in the order they had, with their places. */
static spry_status sort_levels(spry_context *ctx, const chunks *c, triangle_sets *s)
{
    int64_t *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, s->count + 1, sizeof *s->first, &s->first));
    SPRY_GO(ctx, base_alloc(ctx, s->count + 1, sizeof *next, &next));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->rows, &s->rows));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->places, &s->places));
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *s->begins, &s->begins));
    for (int64_t at = 0; at < s->n; at++)
        s->first[c->level[at] + 1]++;
    for (int64_t t = 0; t < s->count; t++)
        s->first[t + 1] += s->first[t];
    memcpy(next, s->first, (size_t)s->count * sizeof *next);
    for (int64_t at = 0; at < s->n; at++) {
        const int64_t row = row_at(c, at, !c->perm), place = next[c->level[at]]++;
        s->rows[place] = (int32_t)row;
        s->places[row] = (int32_t)place;
        s->begins[place] = c->begins[at];
    }
done:
    base_free(ctx, next);
    return status;
}

range triangle_share(const triangle_sets *s, int64_t set, int parts, int part)
{
    const int64_t first = s->first[set], last = s->first[set + 1];
    range own = base_share(last - first, parts, part, 1);
    own = (range){first + own.begin, first + own.end};
    while (own.begin < last && s->begins && !s->begins[own.begin])
        own.begin++;
    while (own.end < last && s->begins && !s->begins[own.end])
        own.end++;
    return own;
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

/* Sets of much work are shared; those between are done in turn. */
static spry_status make_stages(spry_context *ctx, double work, bool in_turn, triangle_sets *s)
{
    enum { SHARED = 8192 }; /* rows and entries: some microseconds */
    const spry_status status = base_alloc(ctx, s->count, sizeof *s->stage, &s->stage);
    if (status == SPRY_STATUS_OK)
        s->stages = cut_stages(s, in_turn ? INT64_MAX : (int64_t)(SHARED / work), s->stage);
    return status;
}

spry_status triangle_sets_make(spry_context *ctx, int64_t n, const triangle_pattern *p, int count,
                               const int32_t *perm, bool always, triangle_sets *s)
{
    enum { MEAN = 64 }; /* rows of a set; with fewer, what lies together in rows matters more */
    int32_t *rank = NULL;
    double work = (double)n;
    spry_status status = SPRY_STATUS_OK;
    chunks c = {.n = n, .most = always ? 1 : TRIANGLE_CHUNK, .perm = perm};
    *s = (triangle_sets){.n = n, .natural = !perm};
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *c.level, &c.level));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *c.begins, &c.begins));
    if (perm)
        SPRY_GO(ctx, invert(ctx, n, perm, &rank));
    c.rank = rank;
    s->count = find_levels(&c, p, count);
    for (int l = 0; l < count; l++)
        work += (double)p[l].offsets[n];
    const bool in_turn = !always && n < MEAN * s->count;
    if (in_turn)
        SPRY_GO(ctx, keep_order(ctx, perm, s));
    else
        SPRY_GO(ctx, sort_levels(ctx, &c, s));
    SPRY_GO(ctx, make_stages(ctx, n > 0 ? work / (double)n : 1, in_turn, s));
done:
    base_free(ctx, c.level);
    base_free(ctx, c.begins);
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
