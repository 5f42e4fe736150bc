/*
 * How many threads this process gets. OpenMP's run-times end the process when the system refuses
 * them a thread (limits on memory, processes, control groups), so the threads are asked for here
 * first, once, before the first parallel work; where some are refused, fewer are used.
 *
 * And fork(): the threads of a team do not live on in the child, but gcc's run-time counts on them
 * and would wait for ever. So a child of a process that had several works with one.
 */
#include "base/base.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>

enum { MOST_TRIED = 1024 };

static atomic_int had = 1;        /* threads available when they were asked for */
static atomic_int most = INT_MAX; /* fewer where some were refused, 1 in a child */
static pthread_mutex_t trying = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

/* No fork while threads are tried: the child would find the lock held by a thread it does not have.
 */
static void before_fork(void)
{
    pthread_mutex_lock(&trying);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&trying);
}

/* In the child, in its only thread. A region that is as large as it was decided on before, by a
 * plan that was made then, gets one thread, too; threads that the child makes have their own. */
static void after_fork_child(void)
{
    pthread_mutex_unlock(&trying);
    if (atomic_load(&had) > 1) {
        atomic_store(&most, 1);
        omp_set_max_active_levels(0);
    }
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static void *wait_for_all(void *mutex)
{
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

/* How many threads besides this one can run at once. Their stacks stay with the process: the C
 * library keeps some for the next threads, which are the team's. */
static int try_threads(int wanted)
{
    pthread_t threads[MOST_TRIED];
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    pthread_mutex_lock(&mutex);
    while (made < wanted && made < MOST_TRIED &&
           pthread_create(&threads[made], NULL, wait_for_all, &mutex) == 0)
        made++;
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&mutex);
    return made < MOST_TRIED ? made : wanted;
}

/* There are two teams: OpenMP's for set-up, and the thread pool for the rest. Of those available
 * half are used, so that others, and this process's next ones, get some. */
static int ask_for(const spry_context *ctx, int wanted)
{
    int use = wanted;
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&trying);
    if (wanted > atomic_load(&had)) {
        const int more = try_threads(2 * (wanted - 1)) / 2;
        if (more < wanted - 1) {
            use = 1 + more / 2;
            atomic_store(&most, use);
        }
        if (use > atomic_load(&had))
            atomic_store(&had, use);
    }
    pthread_mutex_unlock(&trying);
    if (use < wanted)
        base_log(ctx, SPRY_LOG_WARNING,
                 "the system refused to make %d threads (see ulimit -v, -u, and the control "
                 "group's pids.max): %d used",
                 wanted, use);
    return use;
}

int base_team(const spry_context *ctx, int wanted)
{
    const int allowed = atomic_load_explicit(&most, memory_order_relaxed);
    if (wanted > allowed)
        wanted = allowed;
    return wanted <= atomic_load_explicit(&had, memory_order_relaxed) ? wanted
                                                                      : ask_for(ctx, wanted);
}
