/* See triangle_device.h: chunks, and the cheapest stretches. */
#include "precon/factors/triangle_device.h"

void triangle_plan_clear(spry_context *ctx, triangle_plan *plan)
{
    base_free(ctx, plan->first);
    base_free(ctx, plan->stretch);
    *plan = (triangle_plan){0};
}

/* Work-items of a row: about a third of its entries, where they run in step. */
static int lanes_of(const spry_device *d, int64_t n, int64_t entries)
{
    const int64_t mean = entries / (n > 0 ? n : 1);
    int lanes = 1;
    while (d->facts.lanes > 1 && lanes < 32 && 3 * lanes < mean)
        lanes *= 2;
    return lanes;
}

static int lanes_for(const triangle_chain *c)
{
    const int64_t n = c->sets->n;
    int64_t most = 0;
    for (int k = 0; k < c->count; k++)
        most = c->t[k].offsets[n] > most ? c->t[k].offsets[n] : most;
    return lanes_of(c->device, n, most);
}

/* Nanoseconds, measured on an H200 and on a processor of two cores: of a chunk and of a set in each
 * way, and of a launch. What another group wrote is visible after two trips to the second-level
 * cache; a group's own values are in its local memory. */
typedef struct costs {
    int64_t alone, set, chunk, launch;
} costs;

/* A processor's threads are not to keep each other from their cores. */
static bool may_wait(const spry_device *d)
{
    return d->facts.has_tickets && !d->facts.processor;
}

static costs costs_of(const spry_device *d)
{
    const int units = d->facts.units > 0 ? d->facts.units : 1;
    costs c = {.alone = 120, .set = 700, .chunk = 5, .launch = 3000};
    if (d->facts.processor)
        c = (costs){.alone = 3000, .chunk = 3000 / units, .launch = 20000};
    if (!may_wait(d))
        c.set = c.launch;
    return c;
}

static spry_status cut_chunks(spry_context *ctx, const triangle_sets *s, triangle_plan *plan)
{
    const int64_t rows = TRIANGLE_TEAM / plan->lanes;
    int64_t chunks = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t t = 0; t < s->count; t++)
        chunks += (s->first[t + 1] - s->first[t] + rows - 1) / rows;
    plan->chunks = (int32_t)chunks;
    SPRY_GO(ctx, base_alloc(ctx, chunks + 1, sizeof *plan->first, &plan->first));
    chunks = 0;
    for (int64_t t = 0; t < s->count; t++)
        for (int64_t k = s->first[t]; k < s->first[t + 1]; k += rows)
            plan->first[chunks++] = (int32_t)k;
    plan->first[chunks] = (int32_t)s->n;
done:
    return status;
}

static int64_t chunks_of(const triangle_sets *s, const triangle_plan *plan, int64_t set)
{
    const int64_t rows = TRIANGLE_TEAM / plan->lanes;
    return (s->first[set + 1] - s->first[set] + rows - 1) / rows;
}

/* The way of each set, so that all together take the least time: the best so far that ends in
 * either way is all that the next set needs to know. */
static void choose_ways(const triangle_sets *s, const triangle_plan *plan, const costs *c,
                        bool *shared, bool *before[2])
{
    int64_t best[2] = {0, 0};
    for (int64_t t = 0; t < s->count; t++) {
        const int64_t chunks = chunks_of(s, plan, t),
                      own[2] = {chunks * c->alone, c->set + chunks * c->chunk};
        int64_t next[2];
        for (int way = 0; way < 2; way++) {
            const bool stay = best[way] <= best[!way] + c->launch;
            before[way][t] = stay ? way : !way;
            next[way] = own[way] + (stay ? best[way] : best[!way] + c->launch);
        }
        best[0] = next[0];
        best[1] = next[1];
    }
    bool way = best[1] < best[0];
    for (int64_t t = s->count; t-- > 0;) {
        shared[t] = way;
        way = before[way][t];
    }
}

/* Rows of some sets are on their way at once: those that wait have what they need by then, but
 * for the last. More would only look again and again. */
static int64_t groups_for(const spry_device *d, int64_t widest, int64_t chunks)
{
    enum { SETS = 4, MOST = 8 };
    const int64_t units = d->facts.units > 0 ? d->facts.units : 1;
    int64_t groups = SETS * widest > units ? SETS * widest : units;
    if (d->facts.processor)
        groups = units;
    groups = groups < MOST * units ? groups : MOST * units;
    return groups < chunks ? groups : chunks;
}

/* Sets of the same way that follow each other are one stretch. */
static void cut_stretches(const triangle_chain *c, const bool *shared, triangle_plan *plan)
{
    const bool waiting = c->wish.way == TRIANGLE_ANY
                             ? may_wait(c->device)
                             : c->wish.way == TRIANGLE_SHARED && c->device->facts.has_tickets;
    int64_t widest = 0;
    int32_t chunk = 0;
    for (int64_t t = 0; t < c->sets->count; t++) {
        const triangle_way way = !shared[t] ? TRIANGLE_ALONE
                                 : waiting  ? TRIANGLE_SHARED
                                            : TRIANGLE_SET;
        const int64_t chunks = chunks_of(c->sets, plan, t);
        triangle_stretch *last = plan->stretch + plan->stretches - 1;
        if (plan->stretches == 0 || last->way != way || way == TRIANGLE_SET) {
            plan->stretch[plan->stretches++] = (triangle_stretch){.way = way, .begin = chunk};
            widest = 0;
            last++;
        }
        chunk += (int32_t)chunks;
        widest = chunks > widest ? chunks : widest;
        last->count = chunk - last->begin;
        last->groups = way == TRIANGLE_ALONE ? 1
                       : way == TRIANGLE_SET ? last->count
                                             : groups_for(c->device, widest, last->count);
        plan->has[way] = true;
    }
}

spry_status triangle_plan_make(const triangle_chain *c, triangle_plan *plan)
{
    spry_context *ctx = c->device->ctx;
    const triangle_sets *s = c->sets;
    const costs cost = costs_of(c->device);
    bool *ways = NULL;
    spry_status status = SPRY_STATUS_OK;
    *plan = (triangle_plan){.lanes = c->wish.lanes > 0 ? c->wish.lanes : lanes_for(c)};
    SPRY_GO(ctx, cut_chunks(ctx, s, plan));
    SPRY_GO(ctx, base_alloc(ctx, s->count, sizeof *plan->stretch, &plan->stretch));
    SPRY_GO(ctx, base_alloc(ctx, 3 * s->count, sizeof *ways, &ways));
    if (c->wish.way != TRIANGLE_ANY)
        memset(ways, c->wish.way != TRIANGLE_ALONE, (size_t)s->count * sizeof *ways);
    else
        choose_ways(s, plan, &cost, ways, (bool *[2]){ways + s->count, ways + 2 * s->count});
    cut_stretches(c, ways, plan);
done:
    base_free(ctx, ways);
    if (status != SPRY_STATUS_OK)
        triangle_plan_clear(ctx, plan);
    return status;
}

void triangle_plan_columns(const spry_context *ctx, const triangle_plan *plan, const triangle *t,
                           int64_t recent, int32_t *columns)
{
    memcpy(columns, t->columns, (size_t)t->offsets[t->sets->n] * sizeof *columns);
    for (int64_t s = 0; s < plan->stretches; s++) {
        const triangle_stretch *own = &plan->stretch[s];
        const int64_t low = plan->first[own->begin], high = plan->first[own->begin + own->count];
        if (own->way != TRIANGLE_ALONE)
            continue;
#pragma omp parallel for num_threads(host_threads(ctx, t->offsets[high] - t->offsets[low]))
        for (int64_t k = low; k < high; k++)
            for (int64_t e = t->offsets[k]; e < t->offsets[k + 1]; e++) {
                const int64_t c = columns[e], away = c < k ? k - c : c - k;
                if (c >= low && c < high && away < recent - TRIANGLE_TEAM)
                    columns[e] = ~(int32_t)(c & (recent - 1));
            }
    }
}
