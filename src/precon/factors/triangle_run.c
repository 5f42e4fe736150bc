/* Solving triangular systems on the host, set by set. */
#include "precon/factors/triangle.h"

#include <stdatomic.h>

int triangle_threads(const spry_context *ctx, const triangle_sets *sets, int64_t entries)
{
    int64_t shared = 0;
    for (int64_t t = 0; t < sets->stages; t++)
        if (sets->stage[t].shared)
            shared += sets->first[sets->stage[t].end] - sets->first[sets->stage[t].begin];
    /* Where one thread does half of the rows, others are not worth waiting for. */
    return 2 * shared > sets->n ? host_threads(ctx, entries + sets->n) : 1;
}

typedef struct stages {
    const triangle_sets *sets;
    bool backward;
    triangle_work work;
    void *data;
    atomic_llong failed; /* the stage that did: all end after it */
} stages;

/* Threads pass a barrier after each stage, which is some microseconds of work. */
static void run_stages(void *argument, int own, int team)
{
    stages *s = argument;
    const triangle_sets *sets = s->sets;
    for (int64_t t = 0; t < sets->stages && t <= atomic_load(&s->failed); t++) {
        const triangle_stage *stage = &sets->stage[s->backward ? sets->stages - 1 - t : t];
        const range all = {sets->first[stage->begin], sets->first[stage->end]};
        const range share = stage->shared ? triangle_share(sets, stage->begin, team, own)
                            : own == 0    ? all
                                          : (range){0, 0};
        if (share.end > share.begin && !s->work(s->data, own, share.begin, share.end))
            atomic_store(&s->failed, t);
        if (team > 1)
            base_barrier();
    }
}

bool triangle_each_stage(const spry_context *ctx, const triangle_sets *sets, int threads,
                         bool backward, triangle_work work, void *data)
{
    stages s = {sets, backward, work, data, sets->stages};
    base_work_together(ctx, threads, run_stages, &s);
    return atomic_load(&s.failed) == sets->stages;
}

typedef struct run {
    const triangle_sets *sets;
    const precon_kernels *kernels;
    int count;
    const triangle_pass *pass;
    const triangle_waits *waits;
} run;

/* A thread's parts of a set: its own, and those of threads that the team does not have. */
static void run_parts(const run *r, int k, int64_t set, int own, int team, unsigned before)
{
    const triangle_waits *w = &r->waits[k];
    for (int p = own; p < w->parts[set]; p += team) {
        const int64_t task = set * w->most + p;
        const range rows = triangle_share(r->sets, set, w->parts[set], p);
        for (int64_t i = w->first[task]; i < w->first[task + 1]; i++)
            if (w->wait[i].part % team != own)
                base_wait_for(w->wait[i].part % team, before + w->wait[i].steps);
        r->kernels->triangle_rows(&r->pass[k], rows.begin, rows.end);
    }
}

/* All pass all sets, in order, and step after each: who waits does so for an earlier one. */
static void run_all(void *argument, int own, int team)
{
    const run *r = argument;
    const int64_t sets = r->sets->count;
    unsigned before = 0;
    for (int k = 0; k < r->count; k++) {
        const bool upper = r->pass[k].upper;
        if (r->waits[k].most <= 1 && own == 0)
            for (int64_t i = 0; i < sets; i++) {
                const int64_t t = upper ? sets - 1 - i : i;
                r->kernels->triangle_rows(&r->pass[k], r->sets->first[t], r->sets->first[t + 1]);
            }
        for (int64_t i = 0; i < sets && r->waits[k].most > 1; i++, before++) {
            run_parts(r, k, upper ? sets - 1 - i : i, own, team, before - (unsigned)i);
            base_step();
        }
        if (k + 1 < r->count)
            base_barrier();
        before++;
    }
}

void triangle_run(const spry_context *ctx, spry_type type, const triangle_sets *sets, int count,
                  const triangle_pass *pass, const triangle_waits *waits)
{
    run r = {sets, precon_kernels_for(ctx, type), count, pass, waits};
    int threads = 1;
    for (int k = 0; k < count; k++)
        threads = waits[k].most > threads ? waits[k].most : threads;
    base_work_together(ctx, threads, run_all, &r);
}

triangle_pass triangle_pass_for(const triangle *t, bool conjugate, const void *f)
{
    return (triangle_pass){.offsets = t->offsets,
                           .columns = t->columns,
                           .values = t->values,
                           .upper = t->upper,
                           .conjugate = conjugate,
                           .f = f};
}
