/*
 * A thread pool: the threads that a calling thread has for the work of iterations, which comes in
 * pieces of some microseconds. OpenMP's threads spin at their barriers: with other processes the
 * one that waits keeps the other from its core, or waits a time slice for it, again and again. Here
 *
 *  - who waits sleeps after a while (barrier.h),
 *  - shares that no thread has begun are done by the caller, who does not wait for threads that
 * have no core,
 *  - and where shares side by side take about as long as one after the other would, because threads
 * wait for cores that others have, the thread pool goes on with half of its threads, or one, for a
 * while, and then tries again with more.
 *
 * Threads are made at the first work for several, and end with the thread they belong to. Results
 * do not depend on how many there are: the caller decides on the shares.
 */
#define _GNU_SOURCE /* of a thread's processors */
#include "base/background.h"
#include "base/barrier.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

enum { NOTHING, POSTED, END }; /* what a worker finds at its barrier */

/* Work that shows whether threads serve: this long, and longer where they did not for other reasons
 * than a lack of cores, so that the scheduler is seldom asked. */
static const double SHORT_WINDOW = 200e-6, LONG_WINDOW = 25e-3;
static const double SERVES = 0.6; /* of a team's time is spent in its work */
static const double SHORT_REST = 1e-3, LONG_REST = 64e-3;

typedef struct worker {
    barrier barrier;
    struct pool *pool;
    pthread_t thread;
    atomic_int id;    /* of the thread, as the system counts; 0: not known yet */
    int number, seat; /* in the thread pool; in the team that synchronises */
    double spent;     /* in the work at hand, without waiting */
    double waited;    /* for a core, when the scheduler was asked last */
} worker;

typedef struct pool {
    barrier done, start, phase; /* the last one ended; the team is complete; it has synchronised */
    _Alignas(BARRIER_LINE) atomic_int open, arrived;
    worker *workers; /* the first is the caller */
    int count, room;

    /* The work at hand. */
    base_work work;
    void *argument;
    int shares, team;
    bool together;
    unsigned round; /* what `start` shows before the team is complete */

    /* How well threads served lately. */
    int limit; /* the most to use now */
    double took, due, spent, window, rest, rest_until;
    bool asked; /* the scheduler, at the end of the window before */
} pool;

static _Thread_local pool *own;       /* of the calling thread */
static _Thread_local worker *working; /* who runs a share in this thread, if any does */
static worker lone;                   /* who runs what one thread does alone */
static pthread_key_t ending;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static bool usable;
static atomic_bool all_serve; /* whatever it costs: for tests */

/* --- at work -------------------------------------------------------------------------------------
 */

/* Takes what was posted, unless another has. */
static bool take(barrier *g)
{
    unsigned posted = POSTED;
    return atomic_compare_exchange_strong(&g->word, &posted, NOTHING);
}

/* Runs the shares number, number + team, ... of which `m` spends its time with. */
static void run_shares(worker *m, int number)
{
    const pool *c = m->pool;
    const double begin = base_seconds();
    working = m;
    for (int share = number; share < c->shares; share += c->team)
        c->work(c->argument, share, c->shares);
    working = NULL;
    m->spent += base_seconds() - begin;
}

static void run_seat(worker *m)
{
    const pool *c = m->pool;
    const double begin = base_seconds();
    working = m;
    c->work(c->argument, m->seat, c->team);
    working = NULL;
    m->spent += base_seconds() - begin;
}

static void end_work(pool *c)
{
    if (atomic_fetch_sub(&c->open, 1) == 1)
        barrier_set(&c->done, atomic_load(&c->done.word) + 1);
}

static void *serve(void *data)
{
    worker *m = data;
    pool *c = m->pool;
    atomic_store(&m->id, base_thread_id());
    for (;;) {
        barrier_wait(&m->barrier, NOTHING);
        if (atomic_load(&m->barrier.word) == END)
            return NULL;
        if (!take(&m->barrier))
            continue;
        m->spent = 0;
        if (c->together) {
            barrier_wait(&c->start, c->round);
            run_seat(m);
        } else {
            run_shares(m, m->number);
        }
        end_work(c);
    }
}

void base_barrier(void)
{
    worker *m = working;
    pool *c = m ? m->pool : NULL;
    if (!c)
        return;
    const unsigned phase = atomic_load(&c->phase.word);
    if (atomic_fetch_add(&c->arrived, 1) == c->team - 1) {
        atomic_store(&c->arrived, 0);
        barrier_set(&c->phase, phase + 1);
        return;
    }
    const double begin = base_seconds();
    barrier_wait(&c->phase, phase);
    m->spent -= base_seconds() - begin;
}

/* --- workers -------------------------------------------------------------------------------------
 */

/* Where OpenMP binds its threads, the calling one is bound, too, and those that it makes would be
 * to the same place: each gets the next place instead. */
static void place_worker(const worker *m)
{
#ifdef __linux__
    const int places = omp_get_num_places(), first = omp_get_place_num();
    int processors[CPU_SETSIZE];
    cpu_set_t set;
    if (omp_get_proc_bind() == omp_proc_bind_false || places < 1 || first < 0)
        return;
    const int place = (first + m->number) % places, n = omp_get_place_num_procs(place);
    if (n < 1 || n > CPU_SETSIZE)
        return;
    CPU_ZERO(&set);
    omp_get_place_proc_ids(place, processors);
    for (int i = 0; i < n; i++)
        CPU_SET((size_t)processors[i], &set);
    (void)pthread_setaffinity_np(m->thread, sizeof set, &set);
#else
    (void)m;
#endif
}

bool base_start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
    static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    sigset_t all, old;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
        sigdelset(&all, own_faults[i]);
    if (pthread_sigmask(SIG_SETMASK, &all, &old) != 0)
        return false;
    const bool started = pthread_create(thread, NULL, run, data) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* As many workers as are wanted, or as the system gives. */
static void add_workers(pool *c, int wanted)
{
    for (; c->count < wanted && c->count < c->room; c->count++) {
        worker *m = &c->workers[c->count];
        *m = (worker){.barrier = BARRIER_INIT, .pool = c, .number = c->count};
        if (!base_start_thread(&m->thread, serve, m)) {
            c->room = c->count;
            break;
        }
        place_worker(m);
    }
}

/* With the thread that has the thread pool. */
static void end_pool(void *data)
{
    pool *c = data;
    for (int i = 1; i < c->count; i++)
        barrier_set(&c->workers[i].barrier, END);
    for (int i = 1; i < c->count; i++) {
        pthread_join(c->workers[i].thread, NULL);
        barrier_clear(&c->workers[i].barrier);
    }
    barrier_clear(&c->done);
    barrier_clear(&c->start);
    barrier_clear(&c->phase);
    free(c->workers);
    free(c);
    own = NULL;
}

/* The child of a fork has none of the threads; the thread pool's memory stays as it is. */
static void forget(void)
{
    own = NULL;
    working = NULL;
    (void)pthread_setspecific(ending, NULL);
}

static void prepare(void)
{
    usable = pthread_key_create(&ending, end_pool) == 0 && pthread_atfork(NULL, NULL, forget) == 0;
}

/* Not a context's memory: the thread pool outlives it. */
static pool *make_pool(void)
{
    pthread_once(&prepared, prepare);
    const int room = base_most_threads();
    pool *c = usable ? aligned_alloc(BARRIER_LINE, sizeof *c) : NULL;
    worker *workers = c ? aligned_alloc(BARRIER_LINE, (size_t)room * sizeof *workers) : NULL;
    if (workers && pthread_setspecific(ending, c) == 0) {
        *c = (pool){.done = BARRIER_INIT,
                    .start = BARRIER_INIT,
                    .phase = BARRIER_INIT,
                    .workers = workers,
                    .count = 1,
                    .room = room,
                    .limit = room,
                    .window = SHORT_WINDOW,
                    .rest = SHORT_REST};
        workers[0] = (worker){.pool = c, .id = base_thread_id()};
        return c;
    }
    free(workers);
    free(c);
    return NULL;
}

/* --- the caller ----------------------------------------------------------------------------------
 */

/* How many threads to use now. */
static int find_team(const spry_context *ctx, int wanted)
{
    if (wanted <= 1 || working || omp_in_parallel())
        return 1;
    wanted = base_team(ctx, wanted);
    if (wanted > 1 && !own)
        own = make_pool();
    pool *c = own;
    if (wanted <= 1 || !c)
        return 1;
    if (c->limit < wanted && base_seconds() > c->rest_until) {
        c->limit *= 2;
        c->rest_until = base_seconds() + c->rest;
    }
    wanted = wanted < c->limit ? wanted : c->limit;
    if (c->count < wanted)
        add_workers(c, wanted);
    return wanted < c->count ? wanted : c->count;
}

void base_use_all_threads(bool yes)
{
    atomic_store(&all_serve, yes);
}

/* Seconds that the thread which waited longest for a core has done so since the last question;
 * infinite where the system does not tell. All are asked: the next team may be a larger one. */
static double ask_scheduler(pool *c)
{
    double most = 0;
    for (int i = 0; i < c->count; i++) {
        worker *m = &c->workers[i];
        const double waited = base_thread_waited(atomic_load(&m->id));
        most = fmax(most, waited - m->waited);
        m->waited = waited < INFINITY ? waited : 0;
    }
    return most;
}

/* Fewer threads for a while, if those there are wait for cores. Otherwise they wait for each other,
 * or have too little to do, which fewer would not mend. */
static void rest(pool *c, double end)
{
    const double waited = ask_scheduler(c);
    const bool known = c->asked;
    c->asked = true;
    if (!known && waited < INFINITY) /* which may have been long ago */
        return;
    if (waited <= (1 - SERVES) * c->took) {
        c->window = fmin(2 * c->window, LONG_WINDOW);
        return;
    }
    c->window = SHORT_WINDOW;
    c->limit = c->team / 2;
    c->rest_until = end + c->rest;
    c->rest = fmin(2 * c->rest, LONG_REST);
}

/* After work of a team that took from `begin` to `end`. */
static void judge(pool *c, double begin, double end)
{
    c->took += end - begin;
    c->due += SERVES * c->team * (end - begin);
    if (c->took < c->window)
        return;
    if (c->spent < c->due && !atomic_load(&all_serve)) {
        rest(c, end);
    } else {
        c->rest = fmax(c->rest / 2, SHORT_REST);
        c->asked = false;
    }
    c->took = c->due = c->spent = 0;
}

static void run_alone(int shares, base_work work, void *argument)
{
    worker *outer = working;
    working = &lone;
    for (int share = 0; share < shares; share++)
        work(argument, share, shares);
    working = outer;
}

void base_share_out(const spry_context *ctx, int shares, base_work work, void *argument)
{
    const int team = find_team(ctx, shares);
    pool *c = own;
    if (team == 1) {
        run_alone(shares, work, argument);
        return;
    }
    const double begin = base_seconds();
    const unsigned done = atomic_load(&c->done.word);
    c->work = work;
    c->argument = argument;
    c->shares = shares;
    c->team = team;
    c->together = false;
    atomic_store(&c->open, team - 1);
    for (int i = 1; i < team; i++)
        barrier_set(&c->workers[i].barrier, POSTED);
    c->workers[0].spent = 0;
    run_shares(&c->workers[0], 0);
    for (int i = 1; i < team; i++)
        if (take(&c->workers[i].barrier)) {
            c->workers[i].spent = 0;
            run_shares(&c->workers[0], i);
            end_work(c);
        }
    barrier_wait(&c->done, done);
    for (int i = 0; i < team; i++)
        c->spent += c->workers[i].spent;
    judge(c, begin, base_seconds());
}

/* Workers that come at once get seats; work that synchronises cannot be done for the others. */
static int fill_seats(pool *c, int wanted)
{
    int seats = 1;
    bool patient = true;
    c->together = true;
    c->round = atomic_load(&c->start.word);
    for (int i = 1; i < wanted; i++)
        barrier_set(&c->workers[i].barrier, POSTED);
    for (int i = 1; i < wanted; i++) {
        worker *m = &c->workers[i];
        patient = patient && barrier_spin(&m->barrier, POSTED);
        m->seat = take(&m->barrier) ? 0 : seats++;
    }
    return seats;
}

void base_work_together(const spry_context *ctx, int wanted, base_work work, void *argument)
{
    const int asked = find_team(ctx, wanted);
    pool *c = own;
    if (asked == 1) {
        run_alone(1, work, argument);
        return;
    }
    const double begin = base_seconds();
    const unsigned done = atomic_load(&c->done.word);
    c->work = work;
    c->argument = argument;
    c->team = fill_seats(c, asked);
    atomic_store(&c->open, c->team);
    barrier_set(&c->start, c->round + 1);
    c->workers[0].spent = 0;
    run_seat(&c->workers[0]);
    end_work(c);
    barrier_wait(&c->done, done);
    c->spent += c->workers[0].spent;
    for (int i = 1; i < asked; i++)
        if (c->workers[i].seat > 0)
            c->spent += c->workers[i].spent;
    c->team = asked;
    judge(c, begin, base_seconds());
}
