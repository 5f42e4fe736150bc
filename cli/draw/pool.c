/* Work by several threads: each takes the next unit until there is none. */
#include "draw.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

typedef struct pool {
    atomic_int next, threads;
    int units;
    void (*work)(void *data, int unit, int thread);
    void *data;
} pool;

static void *take_units(void *data)
{
    pool *p = data;
    const int thread = atomic_fetch_add(&p->threads, 1);
    for (int unit; (unit = atomic_fetch_add(&p->next, 1)) < p->units;)
        p->work(p->data, unit, thread);
    return NULL;
}

int thread_pool_size(const spry_context *ctx)
{
    const int threads = spry_context_threads(ctx);
    return threads < 1 ? 1 : threads > POOL_MOST ? POOL_MOST : threads;
}

void thread_pool_run(const spry_context *ctx, int units,
                     void (*work)(void *data, int unit, int thread), void *data)
{
    pool p = {.units = units, .work = work, .data = data};
    pthread_t helpers[POOL_MOST];
    int count = 0;
    sigset_t everything, before;
    sigfillset(&everything); /* signals are for who called */
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    while (count + 1 < thread_pool_size(ctx) && count + 1 < units &&
           pthread_create(&helpers[count], NULL, take_units, &p) == 0)
        count++; /* where there are fewer, these do more */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    take_units(&p);
    for (int k = 0; k < count; k++)
        pthread_join(helpers[k], NULL);
}
