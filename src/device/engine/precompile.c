/* See precompile.h. One lock and one condition serve all: jobs take tenths of a second. */
#include "device/engine/precompile.h"

#include "base/background.h"
#include "device/engine/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 32 };

typedef enum job_state { JOB_WAITS, JOB_RUNS, JOB_MADE } job_state;

typedef struct precompile_job {
    cache_key key;
    char *text, options[256];
    compiled made;
    job_state state;
    struct precompile_job *next;
} precompile_job;

struct precompile_queue {
    spry_device *d;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    precompile_job *jobs; /* in the order of their coming */
    pthread_t threads[MOST_THREADS];
    int count, idle; /* threads, and those that have nothing to do */
    bool ending;
    pid_t process; /* a child of a fork has none of the threads */
    struct precompile_queue *next;
};

/* --- compiling -----------------------------------------------------------------------------------
 */

spry_status compiled_open(compiled *c, spry_context *own)
{
    *c = (compiled){.own = own};
    if (!own && spry_context_new("threads=1", &c->own) != SPRY_STATUS_OK)
        return SPRY_STATUS_NO_MEMORY;
    return base_calloc(c->own, COMPLAINT_SIZE, 1, &c->complaint);
}

void compiled_free(compiled *c, const spry_device *d)
{
    if (!c->own)
        return;
    base_free(c->own, c->binary);
    base_free(c->own, c->complaint);
    if (c->own != d->ctx)
        spry_context_free(c->own);
    *c = (compiled){0};
}

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* The compiler is loaded when it is first needed. */
static spry_status open_compiler(spry_device *d, spry_context *ctx)
{
    spry_status status = SPRY_STATUS_OK;
    if (!d->engine->open_compiler)
        return status;
    pthread_mutex_lock(&loading);
    status = d->engine->open_compiler(d, ctx);
    pthread_mutex_unlock(&loading);
    return status;
}

void compiled_make(compiled *c, spry_device *d, const char *text, const char *options)
{
    const double begin = base_seconds();
    c->status = open_compiler(d, c->own);
    if (c->status == SPRY_STATUS_OK)
        c->status = d->engine->compile(d, c->own, text, options, &c->binary, &c->size, c->complaint,
                                       COMPLAINT_SIZE);
    c->seconds = base_seconds() - begin;
}

/* --- the end of the process ----------------------------------------------------------------------
 *
 * A compiler must not be at work while the process takes itself down, as where a program ends
 * without freeing its context.
 */

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct precompile_queue *all;

static void end_threads(struct precompile_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ending = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    for (int k = 0; k < q->count; k++)
        pthread_join(q->threads[k], NULL);
    q->count = 0;
}

static void end_all(void)
{
    pthread_mutex_lock(&all_lock);
    for (struct precompile_queue *q = all; q; q = q->next)
        if (q->process == getpid())
            end_threads(q);
    pthread_mutex_unlock(&all_lock);
}

static void watch_end(void)
{
    (void)atexit(end_all);
}

/* A child of a fork finds no lock held by a thread that it does not have. */
static void lock_all(void)
{
    pthread_mutex_lock(&all_lock);
    pthread_mutex_lock(&loading);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&loading);
    pthread_mutex_unlock(&all_lock);
}

static void watch_forks(void)
{
    (void)pthread_atfork(lock_all, unlock_all, unlock_all);
}

static void list_queue(struct precompile_queue *q)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&all_lock);
    q->next = all;
    all = q;
    pthread_mutex_unlock(&all_lock);
}

static void unlist_queue(const struct precompile_queue *q)
{
    pthread_mutex_lock(&all_lock);
    for (struct precompile_queue **at = &all; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
}

/* --- threads -------------------------------------------------------------------------------------
 */

static precompile_job *first_waiting(const struct precompile_queue *q)
{
    precompile_job *job = q->jobs;
    while (job && job->state != JOB_WAITS)
        job = job->next;
    return job;
}

static int waiting(const struct precompile_queue *q)
{
    int count = 0;
    for (const precompile_job *job = q->jobs; job; job = job->next)
        count += job->state == JOB_WAITS;
    return count;
}

static void *serve(void *data)
{
    struct precompile_queue *q = data;
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    pthread_mutex_lock(&q->lock);
    while (!q->ending) {
        precompile_job *job = first_waiting(q);
        if (!job) {
            q->idle++;
            pthread_cond_wait(&q->changed, &q->lock);
            q->idle--;
            continue;
        }
        job->state = JOB_RUNS;
        pthread_mutex_unlock(&q->lock);
        compiled_make(&job->made, q->d, job->text, job->options);
        /* After the compiler was loaded: what is registered last is called first. */
        pthread_once(&watched, watch_end);
        pthread_mutex_lock(&q->lock);
        job->state = JOB_MADE;
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static bool start_thread(struct precompile_queue *q)
{
    const bool started = base_start_thread(&q->threads[q->count], serve, q);
    q->count += started;
    return started;
}

static struct precompile_queue *queue_of(spry_device *d)
{
    struct precompile_queue *q = d->cache->queue;
    if (q)
        return q->process == getpid() ? q : NULL;
    if (base_calloc(d->ctx, 1, sizeof *q, &q) != SPRY_STATUS_OK)
        return NULL;
    q->d = d;
    q->process = getpid();
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    d->cache->queue = q;
    list_queue(q);
    return q;
}

/* --- jobs ----------------------------------------------------------------------------------------
 */

static void free_job(const spry_device *d, precompile_job *job)
{
    compiled_free(&job->made, d);
    base_free(d->ctx, job->text);
    base_free(d->ctx, job);
}

/* The place of a job in the list; it holds NULL where there is none. */
static precompile_job **find_job(struct precompile_queue *q, cache_key key)
{
    precompile_job **at = &q->jobs;
    while (*at && memcmp(&(*at)->key, &key, sizeof key) != 0)
        at = &(*at)->next;
    return at;
}

/* In the queue's lock. */
static bool put_job(struct precompile_queue *q, precompile_job *job)
{
    precompile_job **at = find_job(q, job->key);
    if (*at)
        return false;
    if (waiting(q) >= q->idle && q->count < MOST_THREADS &&
        q->count < spry_context_threads(q->d->ctx) && !start_thread(q) && q->count == 0)
        return false;
    *at = job;
    pthread_cond_broadcast(&q->changed);
    return true;
}

void precompile_add(spry_device *d, cache_key key, char *text, const char *options)
{
    struct precompile_queue *q = queue_of(d);
    precompile_job *job = NULL;
    bool put = false;
    if (q && strlen(options) < sizeof job->options &&
        base_calloc(d->ctx, 1, sizeof *job, &job) == SPRY_STATUS_OK) {
        job->key = key;
        job->text = text;
        text = NULL;
        snprintf(job->options, sizeof job->options, "%s", options);
        if (compiled_open(&job->made, NULL) == SPRY_STATUS_OK) {
            pthread_mutex_lock(&q->lock);
            put = put_job(q, job);
            pthread_mutex_unlock(&q->lock);
        }
        if (!put)
            free_job(d, job);
    }
    base_free(d->ctx, text);
}

bool precompile_take(spry_device *d, cache_key key, compiled *c)
{
    struct precompile_queue *q = d->cache->queue ? queue_of(d) : NULL;
    if (!q)
        return false;
    pthread_mutex_lock(&q->lock);
    precompile_job **at = find_job(q, key), *job = *at;
    while (job && job->state == JOB_RUNS) {
        pthread_cond_wait(&q->changed, &q->lock);
        at = find_job(q, key);
    }
    const bool made = job && job->state == JOB_MADE;
    if (job)
        *at = job->next;
    pthread_mutex_unlock(&q->lock);
    if (made) {
        *c = job->made;
        job->made = (compiled){0};
    }
    if (job)
        free_job(d, job);
    return made;
}

void precompile_finish(spry_device *d)
{
    struct precompile_queue *q = d->cache && d->cache->queue ? queue_of(d) : NULL;
    if (!q)
        return;
    pthread_mutex_lock(&q->lock);
    for (const precompile_job *job = q->jobs; job;) {
        if (job->state != JOB_MADE) {
            pthread_cond_wait(&q->changed, &q->lock);
            job = q->jobs;
        } else {
            job = job->next;
        }
    }
    pthread_mutex_unlock(&q->lock);
}

void precompile_close(spry_device *d)
{
    struct precompile_queue *q = d->cache ? d->cache->queue : NULL;
    if (!q)
        return;
    unlist_queue(q);
    const bool own = q->process == getpid();
    if (own)
        end_threads(q);
    while (q->jobs) {
        precompile_job *job = q->jobs;
        q->jobs = job->next;
        if (job->state == JOB_MADE && job->made.status == SPRY_STATUS_OK)
            (void)cache_write(d, job->key, job->made.binary, job->made.size);
        free_job(d, job);
    }
    if (own) { /* in a child those who wait at them are gone, and never leave */
        pthread_mutex_destroy(&q->lock);
        pthread_cond_destroy(&q->changed);
    }
    base_free(d->ctx, q);
    d->cache->queue = NULL;
}
