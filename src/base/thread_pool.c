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

enum { NOTHING, POSTED, TAKEN, END }; /* what a worker has to do; taken: it is at it */

/* Work that shows whether threads serve: this long, and longer where they did not for other reasons
 * than a lack of cores, so that the scheduler is seldom asked. */
static const double SHORT_WINDOW = 200e-6, LONG_WINDOW = 25e-3;
static const double SERVES = 0.6; /* of a team's time is spent in its work */
static const double SHORT_REST = 1e-3, LONG_REST = 64e-3;

typedef struct worker {
    barrier task; /* the worker waits for one, the caller for its end */
    barrier step; /* how often it has come to a point where others may wait for it */
    struct pool *pool;
    pthread_t thread;
    atomic_int id;    /* of the thread, as the system counts; 0: not known yet */
    int number, seat; /* in the thread pool; in the team that synchronises */
    double spent;     /* in the work at hand, without waiting */
    double waited;    /* for a core, when the scheduler was asked last */
} worker;

typedef struct pool {
    barrier start, phase; /* the team is complete; it has synchronised */
    worker *workers;      /* the first is the caller */
    int count, room, processors;
    worker **seats; /* who is who in a team that synchronises */

    /* The work at hand: in lines that change with it alone. */
    _Alignas(BARRIER_LINE) base_work work;
    void *argument;
    int shares, team;
    bool together;
    unsigned round; /* what `start` shows before the team is complete */

    /* How well threads served lately. */
    _Alignas(BARRIER_LINE) int limit; /* the most to use now */
    double took, due, spent, window, rest, rest_until;
    bool asked; /* the scheduler, at the end of the window before */
    double run; /* seconds of iterations since OpenMP's threads were ended */
} pool;

static _Thread_local pool *own;       /* of the calling thread */
static _Thread_local worker *working; /* who runs a share in this thread, if any does */
static _Thread_local bool iterating;  /* see base_iterate() */
static worker lone;                   /* who runs what one thread does alone */
static pthread_key_t ending;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static bool usable;
static atomic_bool all_serve; /* whatever it costs: for tests */

/* --- at work -------------------------------------------------------------------------------------
 */

/* Takes what was posted to a worker, unless it is taken: for itself, or for the caller. */
static bool take(worker *m, unsigned as)
{
    unsigned posted = POSTED;
    return atomic_load_explicit(&m->task.word, memory_order_relaxed) == POSTED &&
           atomic_compare_exchange_strong(&m->task.word, &posted, as);
}

/* What was posted to a worker that has not begun becomes the caller's. */
static bool take_back(worker *m)
{
    if (!take(m, NOTHING))
        return false;
    m->spent = 0;
    return true;
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

static void *serve(void *data)
{
    worker *m = data;
    pool *c = m->pool;
    atomic_store(&m->id, base_thread_id());
    for (;;) {
        barrier_wait(&m->task, NOTHING);
        if (atomic_load(&m->task.word) == END)
            return NULL;
        if (!take(m, TAKEN))
            continue;
        m->spent = 0;
        if (c->together) {
            barrier_wait(&c->start, c->round);
            run_seat(m);
        } else {
            run_shares(m, m->number);
        }
        barrier_set(&m->task, NOTHING);
    }
}

/* Waits for a word to change, which is none of the work of `m`. */
static void await(worker *m, barrier *g, unsigned old)
{
    if (atomic_load_explicit(&g->word, memory_order_acquire) != old)
        return;
    const double begin = base_seconds();
    barrier_wait(g, old);
    m->spent -= base_seconds() - begin;
}

void base_step(void)
{
    worker *m = working;
    if (m && m->pool)
        barrier_set(&m->step, atomic_load_explicit(&m->step.word, memory_order_relaxed) + 1);
}

void base_wait_for(int member, unsigned steps)
{
    worker *m = working;
    if (!m || !m->pool)
        return;
    barrier *step = &m->pool->seats[member]->step;
    unsigned at = atomic_load_explicit(&step->word, memory_order_acquire);
    for (; at < steps; at = atomic_load_explicit(&step->word, memory_order_acquire))
        await(m, step, at);
}

/* The caller looks at all others' steps, each in a line of its own, and all look at the one word
 * that it changes then: no line is written by many. */
void base_barrier(void)
{
    worker *m = working;
    pool *c = m ? m->pool : NULL;
    if (!c)
        return;
    const unsigned phase = atomic_load_explicit(&c->phase.word, memory_order_acquire);
    base_step();
    if (m->seat > 0) {
        await(m, &c->phase, phase);
        return;
    }
    const unsigned steps = atomic_load_explicit(&m->step.word, memory_order_relaxed);
    for (int i = 1; i < c->team; i++)
        base_wait_for(i, steps);
    barrier_set(&c->phase, phase + 1);
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
        *m = (worker){.task = BARRIER_INIT, .step = BARRIER_INIT, .pool = c, .number = c->count};
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
        barrier_set(&c->workers[i].task, END);
    for (int i = 1; i < c->count; i++)
        pthread_join(c->workers[i].thread, NULL);
    for (int i = 0; i < c->count; i++) {
        barrier_clear(&c->workers[i].task);
        barrier_clear(&c->workers[i].step);
    }
    barrier_clear(&c->start);
    barrier_clear(&c->phase);
    free(c->seats);
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
    worker **seats = workers ? calloc((size_t)room, sizeof *seats) : NULL;
    if (seats && pthread_setspecific(ending, c) == 0) {
        *c = (pool){.start = BARRIER_INIT,
                    .phase = BARRIER_INIT,
                    .workers = workers,
                    .seats = seats,
                    .count = 1,
                    .room = room,
                    .processors = omp_get_num_procs(),
                    .limit = room,
                    .window = SHORT_WINDOW,
                    .rest = SHORT_REST};
        workers[0] =
            (worker){.task = BARRIER_INIT, .step = BARRIER_INIT, .pool = c, .id = base_thread_id()};
        return c;
    }
    free(seats);
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

bool base_iterate(bool yes)
{
    const bool before = iterating;
    iterating = yes;
    return before;
}

/* OpenMP's threads of this one spin for milliseconds after a parallel region. Where they and the
 * pool's have no core each, iterations end them from time to time; where there are none, that takes
 * some nanoseconds. OpenMP starts others at its next region, some tens of microseconds each: work
 * between such regions, as of a set-up, leaves them. */
static void end_spinning(pool *c, double seconds)
{
    const double often = 2e-3;
    if (!iterating)
        return;
    c->run += seconds;
    if (c->run < often)
        return;
    c->run = 0;
    if (2 * c->count > c->processors + 1)
        (void)omp_pause_resource_all(omp_pause_soft);
}

/* After work of a team that took from `begin` to `end`. */
static void judge(pool *c, double begin, double end)
{
    end_spinning(c, end - begin);
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

/* Has the workers 1..team-1 come: stores to their lines are under way at the same time, and waited
 * for once. */
static void post(pool *c, int team)
{
    c->workers[0].spent = 0;
    for (int i = 1; i < team; i++)
        atomic_store_explicit(&c->workers[i].task.word, POSTED, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 1; i < team; i++)
        barrier_wake(&c->workers[i].task);
}

/* Waits for all that were posted, and judges how they served. */
static void finish(pool *c, int posted, double begin)
{
    for (int i = 1; i < posted; i++)
        barrier_wait(&c->workers[i].task, TAKEN);
    c->team = posted;
    for (int i = 0; i < posted; i++)
        c->spent += c->workers[i].spent;
    judge(c, begin, base_seconds());
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
    c->work = work;
    c->argument = argument;
    c->shares = shares;
    c->team = team;
    c->together = false;
    post(c, team);
    run_shares(&c->workers[0], 0);
    for (int i = 1; i < team; i++)
        if (take_back(&c->workers[i]))
            run_shares(&c->workers[0], i);
    finish(c, team, begin);
}

/* Workers that come at once get seats; work that synchronises cannot be done for the others. */
static int fill_seats(pool *c, int wanted)
{
    int seats = 1;
    bool patient = true;
    c->together = true;
    c->round = atomic_load(&c->start.word);
    c->seats[0] = &c->workers[0];
    post(c, wanted);
    for (int i = 1; i < wanted; i++) {
        worker *m = &c->workers[i];
        patient = patient && barrier_spin(&m->task, POSTED);
        if (take_back(m))
            continue;
        m->seat = seats;
        c->seats[seats++] = m;
    }
    for (int i = 0; i < seats; i++)
        atomic_store_explicit(&c->seats[i]->step.word, 0, memory_order_relaxed);
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
    c->work = work;
    c->argument = argument;
    c->team = fill_seats(c, asked);
    barrier_set(&c->start, c->round + 1);
    run_seat(&c->workers[0]);
    finish(c, asked, begin);
}
