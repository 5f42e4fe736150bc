/* Solving triangular systems on the host, set by set. */
#include "precon/triangle.h"

#include <omp.h>
#include <sched.h>
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

/* Threads meet after each stage. A stage is some microseconds of work, which is why they do not
 * sleep, but let others run where there are more threads than processors. */
static void meet(atomic_llong *arrived, int64_t wanted)
{
    enum { PATIENCE = 4096 };
    atomic_fetch_add_explicit(arrived, 1, memory_order_acq_rel);
    for (int turn = 0; atomic_load_explicit(arrived, memory_order_acquire) < wanted; turn++)
        if (turn >= PATIENCE)
            sched_yield();
}

bool triangle_each_stage(const triangle_sets *sets, int threads, bool backward, triangle_work work,
                         void *data)
{
    if (threads == 1) {
        bool fine = true;
        for (int64_t t = 0; t < sets->stages && fine; t++) {
            const triangle_stage *stage = &sets->stage[backward ? sets->stages - 1 - t : t];
            fine = work(data, 0, sets->first[stage->begin], sets->first[stage->end]);
        }
        return fine;
    }
    atomic_llong arrived = 0, failed = sets->stages; /* the stage that did: all end after it */
#pragma omp parallel num_threads(threads)
    {
        const int team = omp_get_num_threads(), own = omp_get_thread_num();
        for (int64_t t = 0; t < sets->stages && t <= atomic_load(&failed); t++) {
            const triangle_stage *stage = &sets->stage[backward ? sets->stages - 1 - t : t];
            const int64_t begin = sets->first[stage->begin];
            const int64_t rows = sets->first[stage->end] - begin;
            const range share = stage->shared ? base_share(rows, team, own, TRIANGLE_CHUNK)
                                : own == 0    ? (range){0, rows}
                                              : (range){0, 0};
            if (share.end > share.begin && !work(data, own, begin + share.begin, begin + share.end))
                atomic_store(&failed, t);
            meet(&arrived, (t + 1) * team);
        }
    }
    return failed == sets->stages;
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
    triangle_each_stage(sets, triangle_threads(ctx, sets, pass->offsets[sets->n]), pass->upper,
                        run_places, &r);
}
