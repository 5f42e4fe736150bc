/* Waiting for another thread: first awake, then asleep. */
#include "base/barrier.h"

#include "base/base.h"

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

bool barrier_spin(const barrier *g, unsigned old)
{
    enum { TURNS = 32 }; /* between looks at the clock */
    const double patience = 30e-6;
    double until = 0;
    for (int turn = 1; atomic_load_explicit(&g->word, memory_order_acquire) == old; turn++) {
        relax();
        if (turn % TURNS != 0)
            continue;
        const double now = base_seconds();
        if (until == 0)
            until = now + patience;
        else if (now > until)
            return false;
    }
    return true;
}

void barrier_wait(barrier *g, unsigned old)
{
    if (barrier_spin(g, old))
        return;
    /* Who changes the word looks for sleepers after that; here it is the other way round: one of
     * the two sees the other. */
    atomic_fetch_add(&g->asleep, 1);
    pthread_mutex_lock(&g->lock);
    while (atomic_load(&g->word) == old)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    atomic_fetch_sub(&g->asleep, 1);
}

void barrier_set(barrier *g, unsigned word)
{
    atomic_store(&g->word, word);
    barrier_wake(g);
}

void barrier_wake(barrier *g)
{
    if (atomic_load(&g->asleep) == 0)
        return;
    /* Who holds the lock has looked at the word and is about to sleep. */
    pthread_mutex_lock(&g->lock);
    pthread_mutex_unlock(&g->lock);
    pthread_cond_broadcast(&g->changed);
}

void barrier_clear(barrier *g)
{
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
}
