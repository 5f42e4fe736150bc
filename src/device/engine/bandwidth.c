/* How fast a device reads its memory: measured once, since it takes a second with opening, and kept
 * for the device and its driver. */
#include "base/kept_rate.h"
#include "device/engine/engine.h"
#include "host/host.h"

enum {
    PASSES = 6,
    PAIR = 16,        /* bytes of an element */
    WIDE_GROUP = 256, /* work-items of a group; 1 on processors */
    LEAST_BYTES = 1 << 26
};

/* --- measuring -----------------------------------------------------------------------------------
 */

typedef struct stage {
    device_program *program;
    device_memory *array, *sums;
    device_event *begin, *end;
    int64_t pairs;
    int group;
} stage;

/* Far beyond the caches, whose size drivers do not always report, and not much of the memory. */
static spry_status allocate(spry_device *d, stage *s)
{
    const device_facts *f = &d->facts;
    int64_t bytes = f->processor ? 4 * f->cache_bytes : 64 * f->cache_bytes;
    const int64_t least = f->processor ? (int64_t)1 << 28 : (int64_t)1 << 31;
    bytes = bytes > least ? bytes : least;
    if (bytes > f->memory_bytes / 16)
        bytes = f->memory_bytes / 16;
    if (f->most_alloc > 0 && bytes > f->most_alloc)
        bytes = f->most_alloc;
    spry_status status = device_alloc(d, bytes, &s->array);
    while (status == SPRY_STATUS_NO_MEMORY && bytes > LEAST_BYTES) { /* others use it, too */
        bytes /= 2;
        status = device_alloc(d, bytes, &s->array);
    }
    s->pairs = bytes / PAIR;
    return status;
}

/* Seconds of the fastest of some passes by `groups` groups. */
static spry_status time_read(stage *s, int64_t groups, double *best)
{
    spry_status status = SPRY_STATUS_OK;
    spry_context *ctx = s->array->d->ctx;
    const device_arg args[] = {DEVICE_VALUE(s->pairs), device_arg_memory(s->array),
                               device_arg_memory(s->sums)};
    for (int pass = 0; pass < PASSES; pass++) {
        double seconds = 0;
        SPRY_GO(ctx, device_event_record(s->begin, NULL));
        SPRY_GO(ctx, device_launch(s->program, "bandwidth_read", NULL, groups, s->group, args, 3));
        SPRY_GO(ctx, device_event_record(s->end, NULL));
        SPRY_GO(ctx, device_event_seconds(s->begin, s->end, &seconds));
        if (seconds > 0 && (*best == 0 || seconds < *best))
            *best = seconds;
    }
done:
    return status;
}

static int group_of(const spry_device *d)
{
    return d->facts.processor ? 1 : WIDE_GROUP;
}

static spry_status build(spry_device *d, device_program **p)
{
    char options[64];
    snprintf(options, sizeof options, "-DSP_GROUP=%d%s", group_of(d),
             d->facts.processor ? " -DCHUNKS" : "");
    return device_build_text(d, "bandwidth", options, p);
}

static spry_status measure(spry_device *d, double *bandwidth)
{
    spry_context *ctx = d->ctx;
    spry_status status = SPRY_STATUS_OK;
    stage s = {.group = group_of(d)};
    double best = 0;
    const int64_t most = 32 * (int64_t)(d->facts.units > 0 ? d->facts.units : 1);
    SPRY_GO(ctx, build(d, &s.program));
    SPRY_GO(ctx, allocate(d, &s));
    SPRY_GO(ctx, device_alloc(d, most * s.group * (int64_t)sizeof(double), &s.sums));
    SPRY_GO(ctx, device_event_new(d, &s.begin));
    SPRY_GO(ctx, device_event_new(d, &s.end));
    const device_arg args[] = {DEVICE_VALUE(s.pairs), device_arg_memory(s.array)};
    SPRY_GO(ctx, device_launch(s.program, "bandwidth_fill", NULL, most, s.group, args, 2));
    /* How many groups keep the memory busiest differs. */
    for (int64_t groups = most; groups >= most / 8; groups /= 2)
        SPRY_GO(ctx, time_read(&s, groups, &best));
    if (best <= 0) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_DEVICE, "%s: its event timer does not advance",
                           d->facts.name);
        goto done;
    }
    *bandwidth = (double)(int64_t)((double)s.pairs * PAIR / best); /* as it is remembered */
done:
    device_event_free(s.begin);
    device_event_free(s.end);
    device_free(s.array);
    device_free(s.sums);
    return status;
}

spry_status device_read_bandwidth(spry_device *d, bool again, double *bytes_per_second)
{
    char about[400];
    spry_status status = SPRY_STATUS_OK;
    *bytes_per_second = 0;
    snprintf(about, sizeof about, "%s (%s), %s", d->facts.name, d->facts.description,
             d->facts.driver);
    if (d->read_bandwidth <= 0 && !again)
        d->read_bandwidth = base_kept_rate("bandwidth", about);
    if (d->read_bandwidth <= 0 || again) {
        SPRY_GO(d->ctx, measure(d, &d->read_bandwidth));
        base_keep_rate(d->ctx, "bandwidth", about, d->read_bandwidth);
    }
    *bytes_per_second = d->read_bandwidth;
done:
    return status;
}

/* That of a device which is opened for it, if it is not open. */
static spry_status by_name(spry_context *ctx, const char *name, bool again, double *read)
{
    spry_device *d = NULL;
    const spry_device *first = ctx->devices;
    spry_status status = device_open(ctx, name, &d);
    if (status != SPRY_STATUS_OK)
        return status;
    const bool opened = ctx->devices != first;
    status = device_read_bandwidth(d, again, read);
    if (opened)
        device_close(d);
    return status;
}

spry_status spry_device_bandwidth(spry_context *ctx, const char *name, bool again,
                                  spry_bandwidth *bandwidth)
{
    SPRY_NEED(ctx, ctx, bandwidth);
    static const base_sized sized = BASE_SIZED(spry_bandwidth, triad);
    spry_bandwidth found = SPRY_BANDWIDTH_INIT;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_blank(ctx, bandwidth, &sized));
    if (!name || strcmp(name, "cpu") == 0)
        SPRY_GO(ctx, host_bandwidth(ctx, again, &found));
    else
        SPRY_GO(ctx, by_name(ctx, name, again, &found.read));
    base_give(bandwidth, &found, &sized);
done:
    return status;
}
