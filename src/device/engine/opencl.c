/*
 * The OpenCL engine: version 1.2 of any driver. Blocks are cl_mem, streams are command queues that
 * work in order, events are markers in them.
 */
#include "device/engine/opencl.h"

/* --- opening -------------------------------------------------------------------------------------
 */

static int count(spry_context *ctx, char *why, size_t size)
{
    (void)ctx;
    opencl_api cl;
    opencl_place places[OPENCL_MOST_DEVICES];
    return opencl_find(&cl, places, why, size);
}

static void fill_facts(spry_device *d)
{
    enum { USUAL_LOCAL = 48 << 10 };
    opencl_state *s = d->state;
    const opencl_api *cl = &s->cl;
    const cl_device_id device = s->place.device;
    device_facts *f = &d->facts;
    char platform[48] = "", version[32], driver[32], name[64];
    cl->clGetPlatformInfo(s->place.platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    opencl_device_text(cl, device, CL_DEVICE_NAME, f->description, sizeof f->description);
    opencl_device_text(cl, device, CL_DEVICE_NAME, name, sizeof name);
    opencl_device_text(cl, device, CL_DEVICE_VERSION, version, sizeof version);
    opencl_device_text(cl, device, CL_DRIVER_VERSION, driver, sizeof driver);
    s->nvidia = strncmp(platform, "NVIDIA", 6) == 0;
    s->amd = strncmp(platform, "AMD", 3) == 0;
    /* "OpenCL 3.0", without what drivers add to it. */
    const size_t word = strcspn(version, " ");
    const int length = (int)(word + (version[word] ? 1 + strcspn(version + word + 1, " ") : 0));
    snprintf(f->driver, sizeof f->driver, "%.*s, %.40s %s", length, version, platform, driver);
    snprintf(f->target, sizeof f->target, "%s", name);
    f->memory_bytes = opencl_device_number(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE);
    f->cache_bytes = opencl_device_number(cl, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    f->most_alloc = opencl_device_number(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    f->local_bytes = opencl_device_number(cl, device, CL_DEVICE_LOCAL_MEM_SIZE);
    f->unit_local = f->local_bytes;
    /* NVIDIA's driver reports what a multiprocessor has; arrays of a kernel's own get this much of
     * it */
    f->most_local = s->nvidia && f->local_bytes > USUAL_LOCAL ? USUAL_LOCAL : f->local_bytes;
    f->units = (int)opencl_device_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
    f->most_group = (int)opencl_device_number(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    f->processor =
        (opencl_device_number(cl, device, CL_DEVICE_TYPE) & (int64_t)CL_DEVICE_TYPE_CPU) != 0;
    const uint32_t step = s->nvidia ? CL_DEVICE_WARP_SIZE_NV : CL_DEVICE_WAVEFRONT_WIDTH_AMD;
    const int64_t lanes = s->nvidia || s->amd ? opencl_device_number(cl, device, step)
                          : f->processor      ? 1
                                              : 32;
    f->lanes = lanes > 0 ? (int)lanes : 1;
    f->has_double = true; /* opencl_usable() asks for it */
    /* OpenCL 1.2 does not promise it. NVIDIA's fence and the atomics of processors do. */
    f->has_tickets = s->nvidia || f->processor;
}

/* OpenCL has no pinned memory by itself: it is a buffer in the host's memory that stays mapped. */
typedef struct opencl_pinned {
    cl_mem buffer;
    void *memory;
    struct opencl_pinned *next;
} opencl_pinned;

static void unpin(spry_device *d, void *pinned)
{
    opencl_state *s = d->state;
    for (opencl_pinned **at = &s->pinned; *at; at = &(*at)->next) {
        opencl_pinned *p = *at;
        if (p->memory != pinned)
            continue;
        *at = p->next;
        s->cl.clEnqueueUnmapMemObject(s->queue, p->buffer, p->memory, 0, NULL, NULL);
        s->cl.clFinish(s->queue);
        s->cl.clReleaseMemObject(p->buffer);
        base_free(d->ctx, p);
        return;
    }
}

static void close_device(spry_device *d)
{
    opencl_state *s = d->state;
    if (!s)
        return;
    while (s->pinned)
        unpin(d, s->pinned->memory);
    if (s->queue)
        s->cl.clReleaseCommandQueue(s->queue);
    if (s->context)
        s->cl.clReleaseContext(s->context);
    base_free(d->ctx, s);
    d->state = NULL;
}

/* Finds the device and what it is. */
static spry_status look(spry_device *d, int index)
{
    spry_context *ctx = d->ctx;
    opencl_place places[OPENCL_MOST_DEVICES];
    char why[256];
    spry_status status = SPRY_STATUS_OK;
    opencl_state *s = NULL;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *s, &s));
    d->state = s;
    const int found = opencl_find(&s->cl, places, why, sizeof why);
    if (index >= found) {
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "%s", found ? "no such device" : why);
        goto done;
    }
    s->place = places[index];
    fill_facts(d);
    if (!opencl_usable(&s->cl, &s->place, why, sizeof why))
        status = SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED, "%s cannot be used: %s",
                           d->facts.description, why);
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
    spry_status status = SPRY_STATUS_OK;
    int32_t error = CL_SUCCESS;
    SPRY_GO(d->ctx, look(d, index));
    opencl_state *s = d->state;
    const intptr_t properties[] = {CL_CONTEXT_PLATFORM, (intptr_t)s->place.platform, 0};
    s->context = s->cl.clCreateContext(properties, 1, &s->place.device, NULL, NULL, &error);
    SPRY_GO(d->ctx, opencl_check(d, error, "clCreateContext"));
    s->queue = s->cl.clCreateCommandQueue(s->context, s->place.device, 0, &error);
    SPRY_GO(d->ctx, opencl_check(d, error, "clCreateCommandQueue"));
done:
    if (status != SPRY_STATUS_OK)
        close_device(d);
    return status;
}

/* --- memory --------------------------------------------------------------------------------------
 */

/* A buffer that the device has room for. Drivers make one in name only until it is first used;
 * writing a byte shows a lack of memory early, while it can be handled. */
static spry_status make_buffer(spry_device *d, int64_t bytes, uint64_t flags, cl_mem *buffer)
{
    opencl_state *s = d->state;
    const char zero = 0;
    int32_t error = CL_SUCCESS;
    *buffer =
        s->cl.clCreateBuffer(s->context, CL_MEM_READ_WRITE | flags, (size_t)bytes, NULL, &error);
    if (error != CL_SUCCESS)
        return opencl_check(d, error, "clCreateBuffer");
    error = s->cl.clEnqueueWriteBuffer(s->queue, *buffer, 1, 0, 1, &zero, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        s->cl.clReleaseMemObject(*buffer);
        *buffer = NULL;
    }
    return opencl_check(d, error, "clEnqueueWriteBuffer");
}

static spry_status allocate(spry_device *d, int64_t bytes, engine_block *block)
{
    cl_mem buffer = NULL;
    const spry_status status = make_buffer(d, bytes, 0, &buffer);
    *block = (engine_block)buffer;
    return status;
}

static void release(spry_device *d, engine_block block)
{
    opencl_state *s = d->state;
    s->cl.clReleaseMemObject((cl_mem)block);
}

static void memory(spry_device *d, int64_t *free_bytes)
{
    /* Only AMD has a word for it, in KiB. */
    opencl_state *s = d->state;
    const int64_t kib =
        s->amd ? opencl_device_number(&s->cl, s->place.device, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD)
               : 0;
    *free_bytes = kib > 0 ? kib * 1024 : -1;
}

static spry_status pin(spry_device *d, int64_t bytes, void **memory_out)
{
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    int32_t error = CL_SUCCESS;
    opencl_pinned *p = NULL;
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *p, &p));
    SPRY_GO(d->ctx, make_buffer(d, bytes, CL_MEM_ALLOC_HOST_PTR, &p->buffer));
    p->memory = s->cl.clEnqueueMapBuffer(s->queue, p->buffer, 1, CL_MAP_READ | CL_MAP_WRITE, 0,
                                         (size_t)bytes, 0, NULL, NULL, &error);
    SPRY_GO(d->ctx, opencl_check(d, error, "clEnqueueMapBuffer"));
    p->next = s->pinned;
    s->pinned = p;
    *memory_out = p->memory;
done:
    if (status != SPRY_STATUS_OK && p) {
        if (p->buffer)
            s->cl.clReleaseMemObject(p->buffer);
        base_free(d->ctx, p);
    }
    return status;
}

/* --- copies --------------------------------------------------------------------------------------
 */

static spry_status put(spry_device *d, engine_stream queue, engine_block to, int64_t at,
                       const void *from, int64_t bytes, bool wait)
{
    opencl_state *s = d->state;
    const spry_status status =
        opencl_check(d,
                     s->cl.clEnqueueWriteBuffer(queue, (cl_mem)to, wait, (size_t)at, (size_t)bytes,
                                                from, 0, NULL, NULL),
                     "clEnqueueWriteBuffer");
    return status != SPRY_STATUS_OK || wait ? status
                                            : opencl_check(d, s->cl.clFlush(queue), "clFlush");
}

static spry_status get(spry_device *d, engine_stream queue, engine_block from, int64_t at, void *to,
                       int64_t bytes, bool wait)
{
    opencl_state *s = d->state;
    const spry_status status =
        opencl_check(d,
                     s->cl.clEnqueueReadBuffer(queue, (cl_mem)from, wait, (size_t)at, (size_t)bytes,
                                               to, 0, NULL, NULL),
                     "clEnqueueReadBuffer");
    return status != SPRY_STATUS_OK || wait ? status
                                            : opencl_check(d, s->cl.clFlush(queue), "clFlush");
}

static spry_status copy(spry_device *d, engine_stream queue, engine_block from, int64_t from_at,
                        engine_block to, int64_t to_at, int64_t bytes)
{
    opencl_state *s = d->state;
    return opencl_check(d,
                        s->cl.clEnqueueCopyBuffer(queue, (cl_mem)from, (cl_mem)to, (size_t)from_at,
                                                  (size_t)to_at, (size_t)bytes, 0, NULL, NULL),
                        "clEnqueueCopyBuffer");
}

static spry_status clear(spry_device *d, engine_stream queue, engine_block to, int64_t at,
                         int64_t bytes)
{
    /* The wider the pattern the faster; place and length are multiples of it. */
    static const char zeros[16] = {0};
    opencl_state *s = d->state;
    size_t width = sizeof zeros;
    while ((size_t)(at | bytes) % width != 0)
        width /= 2;
    return opencl_check(d,
                        s->cl.clEnqueueFillBuffer(queue, (cl_mem)to, zeros, width, (size_t)at,
                                                  (size_t)bytes, 0, NULL, NULL),
                        "clEnqueueFillBuffer");
}

/* --- streams and events --------------------------------------------------------------------------
 */

static spry_status stream_new(spry_device *d, engine_stream *stream)
{
    opencl_state *s = d->state;
    int32_t error = CL_SUCCESS;
    *stream =
        s->cl.clCreateCommandQueue(s->context, s->place.device, CL_QUEUE_PROFILING_ENABLE, &error);
    return opencl_check(d, error, "clCreateCommandQueue");
}

static void stream_free(spry_device *d, engine_stream stream)
{
    opencl_state *s = d->state;
    s->cl.clReleaseCommandQueue(stream);
}

static spry_status stream_finish(spry_device *d, engine_stream stream)
{
    opencl_state *s = d->state;
    const int32_t error = s->cl.clFinish(stream);
    /* What NVIDIA's driver returns when a kernel has failed; nothing is allocated any more. */
    return opencl_check(d, error == CL_OUT_OF_RESOURCES ? CL_EXEC_STATUS_ERROR : error, "clFinish");
}

static spry_status stream_wait(spry_device *d, engine_stream stream, engine_stream other)
{
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    cl_event event = NULL;
    SPRY_GO(d->ctx, opencl_check(d, s->cl.clEnqueueMarkerWithWaitList(other, 0, NULL, &event),
                                 "clEnqueueMarkerWithWaitList"));
    SPRY_GO(d->ctx, opencl_check(d, s->cl.clFlush(other), "clFlush"));
    SPRY_GO(d->ctx, opencl_check(d, s->cl.clEnqueueBarrierWithWaitList(stream, 1, &event, NULL),
                                 "clEnqueueBarrierWithWaitList"));
done:
    if (event)
        s->cl.clReleaseEvent(event);
    return status;
}

static spry_status event_new(spry_device *d, engine_event *e)
{
    (void)d;
    *e = NULL; /* each recording makes one */
    return SPRY_STATUS_OK;
}

static void event_free(spry_device *d, engine_event e)
{
    opencl_state *s = d->state;
    if (e)
        s->cl.clReleaseEvent(e);
}

static spry_status event_record(spry_device *d, engine_event *e, engine_stream stream)
{
    opencl_state *s = d->state;
    event_free(d, *e);
    *e = NULL;
    cl_event event = NULL;
    const spry_status status =
        opencl_check(d, s->cl.clEnqueueMarkerWithWaitList(stream, 0, NULL, &event),
                     "clEnqueueMarkerWithWaitList");
    *e = event;
    return status;
}

static spry_status event_time(spry_device *d, cl_event event, uint64_t *nanoseconds)
{
    opencl_state *s = d->state;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, opencl_check(d, s->cl.clWaitForEvents(1, &event), "clWaitForEvents"));
    SPRY_GO(d->ctx,
            opencl_check(d,
                         s->cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
                                                       sizeof *nanoseconds, nanoseconds, NULL),
                         "clGetEventProfilingInfo"));
done:
    return status;
}

static spry_status event_seconds(spry_device *d, engine_event from, engine_event to,
                                 double *seconds)
{
    spry_status status = SPRY_STATUS_OK;
    uint64_t begin = 0, end = 0;
    if (!from || !to)
        return SPRY_FAIL(d->ctx, SPRY_STATUS_BAD_USAGE, "an event was not recorded");
    SPRY_GO(d->ctx, event_time(d, from, &begin));
    SPRY_GO(d->ctx, event_time(d, to, &end));
    *seconds = (double)(int64_t)(end - begin) * 1e-9;
done:
    return status;
}

const engine_class engine_opencl = {
    .name = "opencl",
    .count = count,
    .open = open_device,
    .close = close_device,
    .describe = describe,
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
    .compile = opencl_compile,
    .load = opencl_load,
    .unload = opencl_unload,
    .kernel = opencl_kernel,
    .kernel_free = opencl_kernel_free,
    .launch = opencl_launch,
    .whole_groups = opencl_whole_groups,
    .event_new = event_new,
    .event_free = event_free,
    .event_record = event_record,
    .event_seconds = event_seconds,
};
