/*
 * The CUDA engine over the driver's interface: opening, memory, copies, streams, events. The
 * driver is loaded at run time (cuda_load.c). Work shares the device's primary context with
 * others that use CUDA in the process.
 */
#include "device/engine/cuda.h"

/* --- opening -------------------------------------------------------------------------------------
 */

static void say_unusable(const cuda_driver *driver, cuda_result result, const char *call, char *why,
                         size_t size)
{
    const char *name = NULL;
    const char *advice = result == CUDA_SYSTEM_DRIVER_MISMATCH
                             ? "the driver's library and kernel module are of two versions: "
                               "restart the machine"
                         : result == CUDA_STUB_LIBRARY
                             ? "this is the toolkit's stub for linking: name the driver's own "
                               "library in SPRY_CUDA_LIBRARY"
                             : "check what nvidia-smi says, and CUDA_VISIBLE_DEVICES";
    if (driver->cuGetErrorName(result, &name) != CUDA_OK || !name)
        name = "an error without a name";
    if (result == CUDA_NO_DEVICE || result == CUDA_OK)
        snprintf(why, size,
                 "the driver finds no NVIDIA device: check that nvidia-smi lists one and that "
                 "CUDA_VISIBLE_DEVICES does not hide it");
    else
        snprintf(why, size, "%s: %s (%d): %s", call, name, result, advice);
}

/* Loads and starts the driver; the number of devices, 0 with the reason. */
static int start(cuda_driver *driver, char *why, size_t size)
{
    int count = 0;
    if (!cuda_driver_load(driver, why, size))
        return 0;
    const char *call = "cuInit";
    cuda_result result = driver->cuInit(0);
    if (result == CUDA_OK) {
        call = "cuDeviceGetCount";
        result = driver->cuDeviceGetCount(&count);
    }
    if (result != CUDA_OK || count <= 0) {
        say_unusable(driver, result, call, why, size);
        return 0;
    }
    return count;
}

static int count_devices(spry_context *ctx, char *why, size_t size)
{
    cuda_driver driver;
    (void)ctx;
    why[0] = '\0';
    return start(&driver, why, size);
}

static spry_status read_facts(spry_device *d)
{
    spry_status status;
    cuda_state *state = cuda_of(d);
    device_facts *f = &d->facts;
    size_t bytes = 0;
    int major = 0, minor = 0, cache = 0, local = 0, most = 0, all = 0, cooperation = 0;
    const struct {
        int attribute;
        int *value;
    } wanted[] = {{CUDA_COMPUTE_CAPABILITY_MAJOR, &major},
                  {CUDA_COMPUTE_CAPABILITY_MINOR, &minor},
                  {CUDA_L2_CACHE_SIZE, &cache},
                  {CUDA_MAX_SHARED_MEMORY_PER_BLOCK, &local},
                  {CUDA_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &most},
                  {CUDA_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &all},
                  {CUDA_COOPERATIVE_LAUNCH, &cooperation},
                  {CUDA_MULTIPROCESSOR_COUNT, &f->units},
                  {CUDA_MAX_THREADS_PER_BLOCK, &f->most_group},
                  {CUDA_WARP_SIZE, &f->lanes}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        CUDA_GO(d, cuDeviceGetAttribute, wanted[i].value, wanted[i].attribute, state->device);
    CUDA_GO(d, cuDeviceGetName, f->description, (int)sizeof f->description, state->device);
    CUDA_GO(d, cuDeviceTotalMem, &bytes, state->device);
    state->arch = major * 10 + minor;
    f->memory_bytes = f->most_alloc = (int64_t)bytes;
    f->cache_bytes = cache;
    f->local_bytes = local;
    f->most_local = most;
    f->unit_local = all;
    f->has_double = f->has_graphs = f->has_tickets = f->has_pointers = true;
    f->has_cooperation = cooperation != 0;
    f->has_compilers = true;
    /* Not NVRTC's version: what it compiled must be found again when it is gone. */
    snprintf(f->driver, sizeof f->driver, "CUDA %d.%d", state->driver.version / 1000,
             state->driver.version % 1000 / 10);
    snprintf(f->target, sizeof f->target, "sm_%d", state->arch);
done:
    return status;
}

static void close_device(spry_device *d)
{
    cuda_state *state = cuda_of(d);
    if (state && state->context)
        state->driver.cuDevicePrimaryCtxRelease(state->device);
    base_free(d->ctx, state);
    d->state = NULL;
}

/* Finds the device and what it is. */
static spry_status look(spry_device *d, int index)
{
    spry_status status;
    cuda_state *state = NULL;
    char why[512] = "";
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *state, &state));
    d->state = state;
    const int count = start(&state->driver, why, sizeof why);
    if (index >= count) {
        status = count == 0 ? SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED, "%s", why)
                            : SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE,
                                        "cuda:%d: there are %d CUDA devices, counted from 0", index,
                                        count);
        goto done;
    }
    CUDA_GO(d, cuDeviceGet, &state->device, index);
    SPRY_GO(d->ctx, read_facts(d));
done:
    return status;
}

static spry_status describe(spry_device *d, int index)
{
    const spry_status status = look(d, index);
    close_device(d);
    return status;
}

static spry_status open_device(spry_device *d, int index)
{
    spry_status status;
    SPRY_GO(d->ctx, look(d, index));
    cuda_state *state = cuda_of(d);
    CUDA_GO(d, cuDevicePrimaryCtxRetain, &state->context, state->device);
done:
    if (status != SPRY_STATUS_OK)
        close_device(d);
    return status;
}

/* --- memory and copies ---------------------------------------------------------------------------
 */

static spry_status allocate(spry_device *d, int64_t bytes, engine_block *block)
{
    spry_status status;
    cuda_place place = 0;
    CUDA_CALL(d, cuMemAlloc, &place, (size_t)bytes);
    *block = (engine_block)place;
    return status;
}

static void release(spry_device *d, engine_block block)
{
    const bool entered = cuda_enter(d);
    cuda_of(d)->driver.cuMemFree(block);
    cuda_leave(d, entered);
}

static void memory(spry_device *d, int64_t *free_bytes)
{
    size_t free_now = 0, total = 0;
    const bool entered = cuda_enter(d);
    const cuda_result result = cuda_of(d)->driver.cuMemGetInfo(&free_now, &total);
    *free_bytes = result == CUDA_OK ? (int64_t)free_now : -1;
    cuda_leave(d, entered);
}

static spry_status pin(spry_device *d, int64_t bytes, void **pinned)
{
    spry_status status;
    *pinned = NULL;
    CUDA_CALL(d, cuMemHostAlloc, pinned, (size_t)bytes, CUDA_MEMHOSTALLOC_PORTABLE);
    return status;
}

static void unpin(spry_device *d, void *pinned)
{
    const bool entered = cuda_enter(d);
    if (pinned)
        cuda_of(d)->driver.cuMemFreeHost(pinned);
    cuda_leave(d, entered);
}

static spry_status put(spry_device *d, engine_stream s, engine_block to, int64_t at,
                       const void *from, int64_t bytes, bool wait)
{
    spry_status status;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuMemcpyHtoDAsync, to + (cuda_place)at, from, (size_t)bytes, s);
    if (wait)
        CUDA_GO(d, cuStreamSynchronize, s);
done:
    cuda_leave(d, entered);
    return status;
}

static spry_status get(spry_device *d, engine_stream s, engine_block from, int64_t at, void *to,
                       int64_t bytes, bool wait)
{
    spry_status status;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuMemcpyDtoHAsync, to, from + (cuda_place)at, (size_t)bytes, s);
    if (wait)
        CUDA_GO(d, cuStreamSynchronize, s);
done:
    cuda_leave(d, entered);
    return status;
}

static spry_status copy(spry_device *d, engine_stream s, engine_block from, int64_t from_at,
                        engine_block to, int64_t to_at, int64_t bytes)
{
    spry_status status;
    CUDA_CALL(d, cuMemcpyDtoDAsync, to + (cuda_place)to_at, from + (cuda_place)from_at,
              (size_t)bytes, s);
    return status;
}

static spry_status clear(spry_device *d, engine_stream s, engine_block to, int64_t at,
                         int64_t bytes)
{
    spry_status status;
    CUDA_CALL(d, cuMemsetD8Async, to + (cuda_place)at, 0, (size_t)bytes, s);
    return status;
}

/* --- streams and events --------------------------------------------------------------------------
 */

static spry_status stream_new(spry_device *d, engine_stream *s)
{
    spry_status status;
    CUDA_CALL(d, cuStreamCreate, s, CUDA_STREAM_NON_BLOCKING);
    return status;
}

static void stream_free(spry_device *d, engine_stream s)
{
    const bool entered = cuda_enter(d);
    cuda_of(d)->driver.cuStreamDestroy(s);
    cuda_leave(d, entered);
}

static spry_status stream_finish(spry_device *d, engine_stream s)
{
    spry_status status;
    CUDA_CALL(d, cuStreamSynchronize, s);
    return status;
}

static spry_status stream_wait(spry_device *d, engine_stream s, engine_stream other)
{
    spry_status status;
    cuda_handle event = NULL;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuEventCreate, &event, CUDA_EVENT_DISABLE_TIMING);
    CUDA_GO(d, cuEventRecord, event, other);
    CUDA_GO(d, cuStreamWaitEvent, s, event, 0);
done:
    if (event)
        cuda_of(d)->driver.cuEventDestroy(event); /* it is destroyed once it has happened */
    cuda_leave(d, entered);
    return status;
}

static spry_status event_new(spry_device *d, engine_event *e)
{
    spry_status status;
    *e = NULL;
    CUDA_CALL(d, cuEventCreate, e, CUDA_EVENT_DEFAULT);
    return status;
}

static void event_free(spry_device *d, engine_event e)
{
    const bool entered = cuda_enter(d);
    if (e)
        cuda_of(d)->driver.cuEventDestroy(e);
    cuda_leave(d, entered);
}

static spry_status event_record(spry_device *d, engine_event *e, engine_stream s)
{
    spry_status status;
    CUDA_CALL(d, cuEventRecord, *e, s);
    return status;
}

static spry_status event_seconds(spry_device *d, engine_event from, engine_event to,
                                 double *seconds)
{
    spry_status status;
    float milliseconds = 0;
    const bool entered = cuda_enter(d);
    CUDA_GO(d, cuEventSynchronize, from);
    CUDA_GO(d, cuEventSynchronize, to);
    CUDA_GO(d, cuEventElapsedTime, &milliseconds, from, to);
    *seconds = (double)milliseconds * 1e-3;
done:
    cuda_leave(d, entered);
    return status;
}

const engine_class engine_cuda = {
    .name = "cuda",
    .count = count_devices,
    .open = open_device,
    .close = close_device,
    .describe = describe,
    .enter = cuda_enter,
    .leave = cuda_leave,
    .allocate = allocate,
    .release = release,
    .memory = memory,
    .pin = pin,
    .unpin = unpin,
    .put = put,
    .get = get,
    .copy = copy,
    .clear = clear,
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_finish = stream_finish,
    .stream_wait = stream_wait,
    .open_compiler = cuda_open_compiler,
    .compile = cuda_compile,
    .load = cuda_load,
    .unload = cuda_unload,
    .kernel = cuda_kernel,
    .kernel_free = cuda_kernel_free,
    .launch = cuda_launch,
    .whole_groups = cuda_whole_groups,
    .record_begin = cuda_record_begin,
    .record_end = cuda_record_end,
    .play = cuda_play,
    .graph_free = cuda_graph_free,
    .event_new = event_new,
    .event_free = event_free,
    .event_record = event_record,
    .event_seconds = event_seconds,
};
