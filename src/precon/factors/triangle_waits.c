/*
 * Which threads wait for which in a triangular solve. A set is cut into parts of some hundred
 * entries, part p for thread p; a part waits for the parts of earlier sets that its rows name, not
 * for whole sets. Of these waits those remain that no earlier wait of the same thread covers. (J.
 * Park, M. Smelyanskiy, N. Sundaram, P. Dubey, Sparsifying synchronization for high-performance
 * shared-memory sparse triangular solver, Supercomputing, ISC 2014.)
 */
#include "precon/factors/triangle.h"

void triangle_waits_clear(spry_context *ctx, triangle_waits *w)
{
    base_free(ctx, w->parts);
    base_free(ctx, w->first);
    base_free(ctx, w->wait);
    *w = (triangle_waits){0};
}

/* Into how many parts sets are cut; gives the most. A row or an entry takes 1.8 ns, to hear of
 * another thread 300. One where all sets together would not be done in two thirds of the time. */
static int cut_sets(const triangle *t, int threads, int32_t *parts)
{
    enum { LEAST = 128, WAIT = 160 }; /* rows and entries; as many as a wait takes */
    const triangle_sets *s = t->sets;
    double alone = 0, together = 0;
    int most = 1;
    for (int64_t set = 0; set < s->count; set++) {
        const int64_t begin = s->first[set], end = s->first[set + 1];
        const int64_t work = t->offsets[end] - t->offsets[begin] + end - begin;
        const int64_t chunks = (end - begin + TRIANGLE_CHUNK - 1) / TRIANGLE_CHUNK;
        int64_t count = work / LEAST < threads ? work / LEAST : threads;
        count = count < chunks ? count : chunks;
        parts[set] = count > 1 ? (int32_t)count : 1;
        most = parts[set] > most ? parts[set] : most;
        alone += (double)work;
        together += (double)work / parts[set] + WAIT;
    }
    return 3 * together < 2 * alone ? most : 1;
}

/* The task of each place: set by set, `most` of each. */
static void number_tasks(const triangle_sets *s, const triangle_waits *w, uint32_t *task)
{
#pragma omp parallel for num_threads(w->most) schedule(dynamic, 16)
    for (int64_t set = 0; set < s->count; set++)
        for (int p = 0; p < w->parts[set]; p++) {
            const range own = triangle_share(s, set, w->parts[set], p);
            for (int64_t k = own.begin; k < own.end; k++)
                task[k] = (uint32_t)(set * w->most + p);
        }
}

/* How far the others have to be for a part of a set: latest[q], in steps. */
static void find_latest(const triangle *t, const triangle_waits *w, range rows,
                        const uint32_t *task, uint32_t *latest)
{
    const uint32_t most = (uint32_t)w->most;
    memset(latest, 0, most * sizeof *latest);
    for (int64_t e = t->offsets[rows.begin]; e < t->offsets[rows.end]; e++) {
        const uint32_t other = task[t->columns[e]], set = other / most, q = other - set * most;
        const uint32_t steps = t->upper ? (uint32_t)t->sets->count - set : set + 1;
        if (steps > latest[q])
            latest[q] = steps;
    }
}

/* The waits of part p of all sets, in the order in which they are done: counted, or written. */
static void list_waits(const triangle *t, const triangle_waits *w, int p, const uint32_t *task,
                       uint32_t *latest, uint32_t *heard)
{
    const int64_t count = t->sets->count;
    memset(heard, 0, (size_t)w->most * sizeof *heard);
    for (int64_t i = 0; i < count; i++) {
        const int64_t set = t->upper ? count - 1 - i : i, own = set * w->most + p;
        int64_t waits = 0;
        if (p < w->parts[set]) {
            find_latest(t, w, triangle_share(t->sets, set, w->parts[set], p), task, latest);
            for (int q = 0; q < w->most; q++) {
                if (q == p || latest[q] <= heard[q])
                    continue;
                heard[q] = latest[q];
                if (w->wait)
                    w->wait[w->first[own] + waits] = (triangle_wait){q, latest[q]};
                waits++;
            }
        }
        if (!w->wait)
            w->first[own + 1] = waits;
    }
}

static void list_all(const triangle *t, const triangle_waits *w, const uint32_t *task,
                     uint32_t *room)
{
    const int most = w->most;
#pragma omp parallel for num_threads(most) schedule(static, 1)
    for (int p = 0; p < most; p++)
        list_waits(t, w, p, task, room + (int64_t)2 * p * most, room + (int64_t)(2 * p + 1) * most);
}

spry_status triangle_waits_make(spry_context *ctx, const triangle *t, triangle_waits *w)
{
    const triangle_sets *s = t->sets;
    const int threads = host_threads(ctx, t->offsets[s->n] + s->n);
    uint32_t *task = NULL, *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    *w = (triangle_waits){.most = 1};
    if (threads == 1 || s->count == 1) /* which is done in turn */
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, s->count, sizeof *w->parts, &w->parts));
    w->most = cut_sets(t, threads, w->parts);
    if (w->most == 1 || s->count > (int64_t)UINT32_MAX / w->most) {
        triangle_waits_clear(ctx, w);
        w->most = 1;
        return SPRY_STATUS_OK;
    }
    SPRY_GO(ctx, base_alloc(ctx, s->n, sizeof *task, &task));
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)2 * w->most * w->most, sizeof *room, &room));
    SPRY_GO(ctx, base_calloc(ctx, s->count * w->most + 1, sizeof *w->first, &w->first));
    number_tasks(s, w, task);
    list_all(t, w, task, room);
    SPRY_GO(ctx, base_prefix_sum(ctx, w->first, s->count * w->most));
    SPRY_GO(ctx, base_alloc(ctx, w->first[s->count * w->most], sizeof *w->wait, &w->wait));
    list_all(t, w, task, room);
done:
    base_free(ctx, task);
    base_free(ctx, room);
    if (status != SPRY_STATUS_OK)
        triangle_waits_clear(ctx, w);
    return status;
}
