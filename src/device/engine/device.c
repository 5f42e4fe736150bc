/* Devices: opening and closing them. */
#include "base/team.h"
#include "device/engine/engine.h"
#include "device/engine/forecast.h"
#include "device/engine/staging.h"
#include "device/linalg/vector.h"

#include <private/programs.h>
#include <stdatomic.h>
#include <stdlib.h>

static const engine_class *const engines[] = {&engine_cuda, &engine_opencl};
enum { ENGINES = sizeof engines / sizeof *engines };

const engine_class *device_engine(int index)
{
    return index >= 0 && index < ENGINES ? engines[index] : NULL;
}

/* --- opening -------------------------------------------------------------------------------------
 */

static const engine_class *find_engine(const char *name, size_t length)
{
    for (int i = 0; i < ENGINES; i++) {
        if (strlen(engines[i]->name) == length && strncmp(engines[i]->name, name, length) == 0)
            return engines[i];
    }
    return NULL;
}

int device_count(spry_context *ctx, const char *engine, char *why, size_t size)
{
    const engine_class *e = find_engine(engine, strlen(engine));
    *why = '\0';
    if (e) {
        device_drivers_hold(true);
        const int count = e->count(ctx, why, size);
        device_drivers_hold(false);
        return count;
    }
    snprintf(why, size, "this library has no engine %.32s", engine);
    return 0;
}

void device_for_rank(spry_context *ctx, const char *wanted, char name[DEVICE_NAME])
{
    const char *named = getenv("SPRY_DEVICE"), *at = wanted;
    const int place = ctx->team ? ctx->team->place : 0;
    char one[20], why[256];
    if (strcmp(at, "auto") == 0)
        at = named && *named && strcmp(named, "auto") != 0 ? named : "cpu";
    for (int k = place; k > 0 && strchr(at, ','); k--)
        at = strchr(at, ',') + 1;
    snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
    if (strcmp(one, "gpu") == 0 && device_count(ctx, "cuda", why, sizeof why) > 0)
        snprintf(one, sizeof one, "cuda");
    if (strcmp(one, "auto") == 0)
        snprintf(one, sizeof one, "cpu");
    const bool whole = strcmp(one, "cpu") != 0 && !strchr(one, ':');
    const int count = whole ? device_count(ctx, one, why, sizeof why) : 0;
    if (count > 0)
        snprintf(name, DEVICE_NAME, "%s:%d", one, place % count);
    else
        snprintf(name, DEVICE_NAME, "%s", one);
}

static void close_all(spry_context *ctx)
{
    while (ctx->devices)
        device_close(ctx->devices);
}

void spry_device_close_all(spry_context *ctx)
{
    spry_device *next = NULL;
    for (spry_device *d = ctx ? ctx->devices : NULL; d; d = next) {
        next = d->next;
        if (d->users == 0)
            device_close(d);
    }
}

static spry_status open_new(spry_context *ctx, const engine_class *engine, int index,
                            spry_device **out)
{
    static atomic_bool started; /* drivers of all engines: only CUDA's is forecast */
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    spry_device *d = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *d, &d));
    d->ctx = ctx;
    d->engine = engine;
    snprintf(d->facts.name, sizeof d->facts.name, "%s:%d", engine->name, index);
    d->base = (vector_device){d->facts.name, &device_vectors};
    status = engine->open(d, index);
    if (status != SPRY_STATUS_OK) {
        SPRY_CAUSE(ctx, status, "%s", d->facts.name);
        base_free(ctx, d);
        return status;
    }
    d->next = ctx->devices;
    ctx->devices = d;
    ctx->close_devices = close_all;
    SPRY_GO(ctx, device_pool_open(d));
    SPRY_GO(ctx, device_stream_new(d, &d->stream));
    if (d->facts.has_pointers && !atomic_exchange(&started, true))
        d->opening = base_seconds() - begin;
    *out = d;
    d = NULL;
done:
    device_close(d);
    return status;
}

/* The context's device if it is open already, else a new one. */
static spry_status open_index(spry_context *ctx, const engine_class *engine, int index,
                              spry_device **out)
{
    char name[32];
    snprintf(name, sizeof name, "%s:%d", engine->name, index);
    for (spry_device *d = ctx->devices; d; d = d->next) {
        if (strcmp(d->facts.name, name) == 0) {
            *out = d;
            return SPRY_STATUS_OK;
        }
    }
    return open_new(ctx, engine, index, out);
}

/* The first that can be used; the message of a failure is that of the first. */
static spry_status open_any(spry_context *ctx, const engine_class *engine, int count,
                            spry_device **d)
{
    const spry_status status = open_index(ctx, engine, 0, d);
    if (status == SPRY_STATUS_OK || status == SPRY_STATUS_NO_MEMORY)
        return status;
    const base_kept first = base_try(ctx);
    for (int i = 1; i < count; i++) {
        if (open_index(ctx, engine, i, d) == SPRY_STATUS_OK)
            return SPRY_STATUS_OK;
    }
    base_forgive(ctx, &first);
    return status;
}

/* What "gpu" is: CUDA's first device that can be used, else the first of OpenCL that is no
 * processor. */
static spry_status open_gpu(spry_context *ctx, spry_device **d)
{
    char why[ENGINES][256];
    const base_kept before = base_try(ctx);
    for (int e = 0; e < ENGINES; e++) {
        const int count = engines[e]->count(ctx, why[e], sizeof why[e]);
        for (int i = 0; i < count; i++) {
            const spry_device *newest = ctx->devices;
            if (open_index(ctx, engines[e], i, d) == SPRY_STATUS_OK && !(*d)->facts.processor)
                return SPRY_STATUS_OK;
            if (ctx->devices != newest) /* opened for this look alone */
                device_close(*d);
            *d = NULL;
        }
        if (count > 0)
            snprintf(why[e], sizeof why[e], "there is no GPU that can be used");
    }
    base_forgive(ctx, &before);
    return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "gpu: %s: %s; %s: %s", engines[0]->name, why[0],
                     engines[1]->name, why[1]);
}

static spry_status open_named(spry_context *ctx, const char *name, spry_device **d)
{
    char why[256], word[64], words[64] = "cpu gpu";
    *d = NULL;
    const size_t length = strcspn(name, ":");
    const engine_class *engine = find_engine(name, length);
    if (strcmp(name, "cpu") == 0)
        return SPRY_FAIL(
            ctx, SPRY_STATUS_BAD_USAGE,
            "cpu is the host, which needs no device: vectors and operators without one "
            "live on it");
    if (strcmp(name, "gpu") == 0)
        return open_gpu(ctx, d);
    if (!engine) {
        snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), name);
        for (int i = 0; i < ENGINES; i++)
            base_add_word(words, sizeof words, engines[i]->name);
        return base_unknown_word(ctx, "device", word, words);
    }
    const int count = engine->count(ctx, why, sizeof why);
    if (count == 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "%s: %s", engine->name, why);
    if (!name[length])
        return open_any(ctx, engine, count, d);
    int64_t index = -1;
    const char *end = name + strlen(name);
    if (base_parse_int(name + length + 1, end, &index) != end || index < 0)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "device %.40s: expected %s, or %s:0 to %s:%d",
                         name, engine->name, engine->name, engine->name, count - 1);
    if (index >= count)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "device %.40s: the last one is %s:%d; `spry devices` lists them", name,
                         engine->name, count - 1);
    return open_index(ctx, engine, (int)index, d);
}

spry_status device_open(spry_context *ctx, const char *name, spry_device **d)
{
    device_drivers_hold(true);
    const spry_status status = open_named(ctx, name, d);
    device_drivers_hold(false);
    return status;
}

void device_close(spry_device *d)
{
    if (!d)
        return;
    if (d->stream && !d->lost)
        (void)d->engine->stream_finish(d, d->stream->handle);
    device_pace_remember(d);
    device_event_free(d->marks[0]);
    device_event_free(d->marks[1]);
    device_staging_close(d);
    device_pinned_free(d, d->bounce);
    device_programs_close(d);
    device_pool_close(d);
    if (d->stream && d->stream->borrowed) { /* also where it was lost */
        d->stream->handle = d->own_stream;
        d->stream->borrowed = false;
    }
    device_stream_free(d->stream);
    d->engine->close(d);
    for (spry_device **at = &d->ctx->devices; *at; at = &(*at)->next) {
        if (*at == d) {
            *at = d->next;
            break;
        }
    }
    base_free(d->ctx, d);
}

spry_status spry_device_open(spry_context *ctx, const char *name, spry_device **device)
{
    SPRY_NEED(ctx, ctx, name, device);
    return device_open(ctx, name, device);
}

const char *spry_device_name(const spry_device *device)
{
    return device ? device->facts.name : "cpu";
}
