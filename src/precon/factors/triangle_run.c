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
        const int64_t begin = sets->first[stage->begin];
        const int64_t rows = sets->first[stage->end] - begin;
        const range share = stage->shared ? base_share(rows, team, own, TRIANGLE_CHUNK)
                            : own == 0    ? (range){0, rows}
                                          : (range){0, 0};
        if (share.end > share.begin &&
            !s->work(s->data, own, begin + share.begin, begin + share.end))
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

triangle_pass triangle_pass_for(const triangle *t, bool conjugate, const void *f)
{
    return (triangle_pass){.offsets = t->offsets,
                           .columns = t->columns,
                           .values = t->values,
                           .upper = t->upper,
                           .conjugate = conjugate,
                           .f = f};
}

typedef struct run {
    const precon_kernels *kernels;
    const triangle_pass *pass;
} run;

static bool run_places(void *data, int thread, int64_t begin, int64_t end)
{
    const run *r = data;
    (void)thread;
    r->kernels->triangle_rows(r->pass, begin, end);
    return true;
}

void triangle_run(const spry_context *ctx, spry_type type, const triangle_sets *sets,
                  const triangle_pass *pass)
{
    run r = {precon_kernels_for(ctx, type), pass};
    triangle_each_stage(ctx, sets, triangle_threads(ctx, sets, pass->offsets[sets->n]), pass->upper,
                        run_places, &r);
}
