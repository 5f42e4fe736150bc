/*
 * The memory bandwidth that products are measured against: reading arrays far beyond the caches
 * with plain loads, and the triad of J. D. McCalpin's STREAM (IEEE TCCA Newsletter, December 1995).
 * It is measured once and kept: arrays of 4 times the caches are gigabytes on a large machine.
 */
#include "base/kept_rate.h"
#include "host/host.h"

#include <math.h>
#include <omp.h>

enum { ARRAYS = 3, PASSES = 5, GRAIN = 4096 };

typedef struct stage {
    const spry_context *ctx;
    const host_kernels *kernels;
    int64_t length; /* of each array */
    double *array[ARRAYS];
} stage;

/* Together the arrays are 4 times the caches, but not more than an eighth of the memory. */
static int64_t array_length(void)
{
    const int64_t cache = host_cache_bytes(), memory = base_machine_memory();
    int64_t bytes = 4 * (cache > 0 ? cache : 32 << 20);
    if (memory > 0 && bytes > memory / 8)
        bytes = memory / 8;
    return bytes / ARRAYS / (int64_t)sizeof(double);
}

/* What one thread does with its part of the arrays. */
typedef void (*stage_work)(const stage *s, range part, int streams);

static void touch(const stage *s, range part, int streams)
{
    (void)streams;
    for (int k = 0; k < ARRAYS; k++)
        s->kernels->fill(part.end - part.begin, (spry_scalar){1, 0}, s->array[k] + part.begin);
}

static void read_all(const stage *s, range part, int streams)
{
    /* The sums go nowhere: the kernel is called by pointer, so the reading cannot be left out. */
    for (int k = 0; k < ARRAYS; k++)
        (void)s->kernels->sum(part.end - part.begin, streams, s->array[k] + part.begin);
}

static void triad(const stage *s, range part, int streams)
{
    (void)streams;
    s->kernels->triad(part.end - part.begin, (spry_scalar){0.5, 0}, s->array[1] + part.begin,
                      s->array[2] + part.begin, s->array[0] + part.begin);
}

/* Seconds of the fastest pass; there are no more of them once they have taken `enough`. */
static double fastest(const stage *s, stage_work work, int streams, int passes)
{
    const double enough = 0.02;
    double best = 0, spent = 0;
    for (int pass = 0; pass < passes && spent < enough; pass++) {
        const double start = base_seconds();
#pragma omp parallel num_threads(spry_context_threads(s->ctx))
        work(s, base_share(s->length, omp_get_num_threads(), omp_get_thread_num(), GRAIN), streams);
        const double seconds = base_seconds() - start;
        if (pass == 0 || seconds < best)
            best = seconds;
        spent += seconds;
    }
    return best;
}

static spry_status measure(spry_context *ctx, spry_bandwidth *bandwidth)
{
    stage s = {.ctx = ctx, .kernels = host_kernels_for(ctx, SPRY_TYPE_D), .length = array_length()};
    spry_status status = SPRY_STATUS_OK;
    *bandwidth = (spry_bandwidth)SPRY_BANDWIDTH_INIT;
    for (int k = 0; k < ARRAYS; k++)
        SPRY_GO(ctx, base_alloc(ctx, s.length, sizeof(double), &s.array[k]));
    const double bytes = (double)s.length * sizeof(double) * ARRAYS;
    fastest(&s, touch, 1, 1);
    /* How many streams per core reads best at once differs: one is too few for some prefetchers. */
    for (int streams = 1; streams <= 4; streams *= 2) {
        const double read = bytes / fastest(&s, read_all, streams, PASSES);
        if (read > bandwidth->read)
            bandwidth->read = read;
    }
    bandwidth->triad = floor(bytes / fastest(&s, triad, 1, PASSES)); /* as it is kept */
    bandwidth->read = floor(bandwidth->read);
    ctx->bandwidth = *bandwidth;
done:
    for (int k = 0; k < ARRAYS; k++)
        base_free(ctx, s.array[k]);
    return status;
}

spry_status host_bandwidth(spry_context *ctx, bool again, spry_bandwidth *bandwidth)
{
    char name[128], about[192];
    spry_status status = SPRY_STATUS_OK;
    host_this_processor(name, sizeof name);
    snprintf(about, sizeof about, "%s, %d threads, %s", name, spry_context_threads(ctx),
             spry_context_isa(ctx));
    if (!again && ctx->bandwidth.read <= 0) {
        ctx->bandwidth.read = base_kept_rate("host-read", about);
        ctx->bandwidth.triad = base_kept_rate("host-triad", about);
    }
    if (again || ctx->bandwidth.read <= 0 || ctx->bandwidth.triad <= 0) {
        SPRY_GO(ctx, measure(ctx, bandwidth));
        base_keep_rate(ctx, "host-read", about, ctx->bandwidth.read);
        base_keep_rate(ctx, "host-triad", about, ctx->bandwidth.triad);
    }
    *bandwidth = ctx->bandwidth;
done:
    return status;
}
