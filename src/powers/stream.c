/* One reading of a file: the thread that prefetches, and the steps over what it brings. */
#include "powers/stream.h"

#include "base/background.h"
#include "host/csr_shares.h"
#include "powers/stream_read.h"

/* --- prefetching ---------------------------------------------------------------------------------
 */

typedef struct ahead {
    stream *s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool runs;            /* the thread does; else blocks are read when they are needed */
    bool stops;           /* it is to end */
    int64_t ready, freed; /* blocks that were read; that are no longer needed */
    stream_fault fault;
    double seconds; /* spent reading */
} ahead;

static void *read_ahead(void *data)
{
    ahead *a = data;
    for (int64_t b = 0; b < a->s->blocks.count; b++) {
        pthread_mutex_lock(&a->lock);
        while (!a->stops && b >= a->freed + a->s->slots)
            pthread_cond_wait(&a->changed, &a->lock);
        const bool stops = a->stops;
        pthread_mutex_unlock(&a->lock);
        if (stops)
            break;
        const double begin = base_seconds();
        const stream_fault fault = stream_read_block(a->s, b);
        pthread_mutex_lock(&a->lock);
        a->seconds += base_seconds() - begin;
        a->fault = fault;
        a->ready += fault.kind == FAULT_NONE;
        pthread_cond_broadcast(&a->changed);
        pthread_mutex_unlock(&a->lock);
        if (fault.kind != FAULT_NONE)
            break;
    }
    return NULL;
}

static void ahead_begin(stream *s, ahead *a)
{
    *a = (ahead){.s = s};
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->runs = base_start_thread(&a->thread, read_ahead, a);
}

/* Waits for a block. */
static spry_status ahead_wait(ahead *a, int64_t block)
{
    const double begin = base_seconds();
    if (!a->runs) {
        a->fault = stream_read_block(a->s, block);
        a->seconds += base_seconds() - begin;
    } else {
        pthread_mutex_lock(&a->lock);
        while (a->ready <= block && a->fault.kind == FAULT_NONE)
            pthread_cond_wait(&a->changed, &a->lock);
        const bool ready = a->ready > block;
        pthread_mutex_unlock(&a->lock);
        if (ready) {
            a->s->wait_seconds += base_seconds() - begin;
            return io_go_on(a->s->ctx, a->s->path);
        }
    }
    a->s->wait_seconds += base_seconds() - begin;
    return a->fault.kind == FAULT_NONE ? io_go_on(a->s->ctx, a->s->path)
                                       : stream_report(a->s, &a->fault);
}

static void ahead_free(ahead *a, int64_t freed)
{
    if (!a->runs)
        return;
    pthread_mutex_lock(&a->lock);
    a->freed = freed;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

static void ahead_end(ahead *a)
{
    if (a->runs) {
        pthread_mutex_lock(&a->lock);
        a->stops = true;
        pthread_cond_broadcast(&a->changed);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    a->s->read_seconds += a->seconds;
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
}

/* --- steps ---------------------------------------------------------------------------------------
 */

/* A step of the rows of a block. */
typedef struct block_job {
    const stream *s;
    const host_kernels *kernels;
    const stream_work *work;
    int step;
    int64_t block;
    const char *before, *x;
    char *y;
} block_job;

/* A long row is summed up as csr_shares.c does it, for its bits. */
static void run_long_row(const block_job *job, const host_csr *csr, int64_t row, const void *x,
                         char *y)
{
    const spry_type type = job->s->sizes.type;
    const int64_t size = (int64_t)spry_type_size(type), end = csr->offsets[row + 1];
    spry_scalar sum = {0, 0};
    for (int64_t k = csr->offsets[row]; k < end; k += LONG_ROW) {
        const spry_scalar part =
            job->kernels->csr_sum(end - k < LONG_ROW ? end - k : LONG_ROW, csr->columns + k,
                                  (const char *)csr->values + k * size, false, x);
        sum = (spry_scalar){sum.re + part.re, sum.im + part.im};
    }
    const spry_scalar alpha = job->work->alpha, beta = job->work->beta;
    spry_scalar all = {alpha.re * sum.re - alpha.im * sum.im,
                       alpha.re * sum.im + alpha.im * sum.re};
    if (beta.re != 0 || beta.im != 0) {
        const spry_scalar old = value_get(type, y, 0);
        all.re += beta.re * old.re - beta.im * old.im;
        all.im += beta.re * old.im + beta.im * old.re;
    }
    value_set(type, y, 0, all);
}

/* Rows begin..end-1 of the block, whose y is at `y`. */
static void run_rows(const block_job *job, const host_csr *csr, int64_t begin, int64_t end, char *y)
{
    const stream_work *w = job->work;
    const int64_t size = (int64_t)spry_type_size(job->s->sizes.type);
    int64_t from = begin;
    for (int64_t i = begin; job->s->has_long && i < end; i++) {
        if (csr->offsets[i + 1] - csr->offsets[i] <= LONG_ROW)
            continue;
        job->kernels->csr_rows(csr, from, i, false, w->alpha, job->x, w->beta,
                               y + (from - begin) * size);
        run_long_row(job, csr, i, job->x, y + (i - begin) * size);
        from = i + 1;
    }
    job->kernels->csr_rows(csr, from, end, false, w->alpha, job->x, w->beta,
                           y + (from - begin) * size);
}

static void run_share(void *argument, int share, int shares)
{
    enum { GRAIN = 16 };
    const block_job *job = argument;
    const stream *s = job->s;
    const int64_t first = s->blocks.row[job->block], size = (int64_t)spry_type_size(s->sizes.type);
    const range mine = base_share(s->blocks.row[job->block + 1] - first, shares, share, GRAIN);
    const host_csr csr = stream_slot(s, job->block);
    const int64_t at = (first + mine.begin) * size;
    if (mine.begin == mine.end)
        return;
    run_rows(job, &csr, mine.begin, mine.end, job->y + at);
    if (!job->work->steps)
        return;
    const power_step *step = &job->work->steps[job->step];
    power_step_keep(step, at, job->y + at, (mine.end - mine.begin) * size);
    power_step_finish(job->kernels, step, mine.end - mine.begin,
                      job->before ? job->before + at : NULL, job->x + at, job->y + at);
}

static void run_block(const stream *s, const stream_work *w, int step, int64_t block)
{
    block_job job = {.s = s,
                     .kernels = host_kernels_for(s->ctx, s->sizes.type),
                     .work = w,
                     .step = step,
                     .block = block,
                     .before = step > 1    ? w->v[step - 2]
                               : step == 1 ? w->x
                                           : w->before,
                     .x = step > 0 ? w->v[step - 1] : w->x,
                     .y = w->v[step]};
    base_share_out(s->ctx, host_threads(s->ctx, s->entry[block + 1] - s->entry[block]), run_share,
                   &job);
}

/* One reading of the file; count at most the depth. Ends when a stop was asked for. */
static spry_status read_once(stream *s, const stream_work *work)
{
    stream_work w = *work;
    skew_fronts f = {0};
    ahead a;
    spry_status status = SPRY_STATUS_OK;
    if (w.steps) {
        w.alpha = (spry_scalar){1, 0};
        w.beta = (spry_scalar){0, 0};
    }
    for (int j = 0; j < w.count; j++)
        f.end[j] = s->blocks.count;
    ahead_begin(s, &a);
    while (f.next[0] < s->blocks.count) {
        SPRY_GO(s->ctx, ahead_wait(&a, f.next[0]));
        run_block(s, &w, 0, f.next[0]++);
        for (int j = 1; j < w.count; j++)
            while (skew_may_go(&s->blocks, &f, j))
                run_block(s, &w, j, f.next[j]++);
        ahead_free(&a, f.next[w.count - 1]);
    }
done:
    ahead_end(&a);
    return status;
}

spry_status stream_steps(stream *s, int count, const power_step *steps, const void *x,
                         void *const *v)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < count && status == SPRY_STATUS_OK; j += s->depth) {
        const stream_work work = {.count = count - j < s->depth ? count - j : s->depth,
                                  .steps = steps + j,
                                  .before = j > 1    ? v[j - 2]
                                            : j == 1 ? x
                                                     : NULL,
                                  .x = j > 0 ? v[j - 1] : x,
                                  .v = v + j};
        status = read_once(s, &work);
    }
    return status;
}

spry_status stream_multiply(stream *s, spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    return read_once(
        s,
        &(stream_work){.count = 1, .alpha = alpha, .beta = beta, .x = x, .v = (void *const[]){y}});
}

static void add_diagonal(const stream *s, int64_t block, void *d)
{
    const spry_type type = s->sizes.type;
    const host_csr csr = stream_slot(s, block);
    const int64_t first = s->blocks.row[block], rows = s->blocks.row[block + 1] - first;
    for (int64_t i = 0; i < rows; i++) {
        spry_scalar sum = {0, 0};
        for (int64_t k = csr.offsets[i]; k < csr.offsets[i + 1]; k++) {
            if (csr.columns[k] != first + i)
                continue;
            const spry_scalar v = value_get(type, csr.values, k);
            sum = (spry_scalar){sum.re + v.re, sum.im + v.im};
        }
        value_set(type, d, first + i, sum);
    }
}

spry_status stream_diagonal(stream *s, void *d)
{
    ahead a;
    spry_status status = SPRY_STATUS_OK;
    ahead_begin(s, &a);
    for (int64_t b = 0; b < s->blocks.count; b++) {
        SPRY_GO(s->ctx, ahead_wait(&a, b));
        add_diagonal(s, b, d);
        ahead_free(&a, b + 1);
    }
done:
    ahead_end(&a);
    return status;
}
