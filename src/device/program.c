/* Programs: building them from texts, their kernels, launching. */
#include "device/engine.h"

typedef struct program_kernel {
    char name[64];
    void *handle;
    struct program_kernel *next;
} program_kernel;

struct device_program {
    spry_device *d;
    void *module;
    char *text, *options;
    program_kernel *kernels;
    device_program *next;
};

struct device_cache {
    device_program *programs;
};

static void program_free(device_program *p)
{
    spry_device *d = p->d;
    while (p->kernels) {
        program_kernel *k = p->kernels;
        p->kernels = k->next;
        d->engine->kernel_free(d, k->handle);
        base_free(d->ctx, k);
    }
    if (p->module)
        d->engine->unload(d, p->module);
    base_free(d->ctx, p->text);
    base_free(d->ctx, p->options);
    base_free(d->ctx, p);
}

void device_programs_close(spry_device *d)
{
    while (d->cache && d->cache->programs) {
        device_program *p = d->cache->programs;
        d->cache->programs = p->next;
        program_free(p);
    }
    base_free(d->ctx, d->cache);
    d->cache = NULL;
}

static spry_status compile(device_program *p)
{
    spry_device *d = p->d;
    spry_status status = SPRY_OK;
    char complaint[512] = "", *all = NULL;
    void *binary = NULL;
    size_t size = 0;
    base_text t = {.ctx = d->ctx};
    SPRY_GO(d->ctx, device_begin(d, WORK_COMPILE));
    base_text_put(&t, "%s\n%s", device_text("dialect"), p->text);
    SPRY_GO(d->ctx, base_text_take(&t, &all));
    status = d->engine->compile(d, all, p->options, &binary, &size, complaint, sizeof complaint);
    if (status != SPRY_OK && complaint[0])
        status = SPRY_FAIL(d->ctx, status, "a kernel cannot be compiled: %s", complaint);
    SPRY_GO(d->ctx, device_end(d, status));
    SPRY_GO(d->ctx, device_end(d, d->engine->load(d, binary, size, &p->module)));
done:
    base_free(d->ctx, binary);
    base_free(d->ctx, all);
    return status;
}

spry_status device_build(spry_device *d, const char *text, const char *options,
                         device_program **out)
{
    spry_status status = SPRY_OK;
    device_program *p = NULL;
    *out = NULL;
    if (!d->cache)
        SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *d->cache, &d->cache));
    for (p = d->cache->programs; p; p = p->next) {
        if (strcmp(p->text, text) == 0 && strcmp(p->options, options) == 0) {
            *out = p;
            return SPRY_OK;
        }
    }
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *p, &p));
    p->d = d;
    p->text = base_copy_text(d->ctx, text);
    p->options = base_copy_text(d->ctx, options);
    if (!p->text || !p->options) {
        status = SPRY_NO_MEMORY;
        goto done;
    }
    SPRY_GO(d->ctx, compile(p));
    p->next = d->cache->programs;
    d->cache->programs = p;
    *out = p;
    p = NULL;
done:
    if (p)
        program_free(p);
    return status;
}

static spry_status find_kernel(device_program *p, const char *name, void **handle)
{
    spry_device *d = p->d;
    spry_status status = SPRY_OK;
    program_kernel *k = NULL;
    for (k = p->kernels; k; k = k->next) {
        if (strcmp(k->name, name) == 0) {
            *handle = k->handle;
            return SPRY_OK;
        }
    }
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *k, &k));
    snprintf(k->name, sizeof k->name, "%s", name);
    SPRY_GO(d->ctx, device_end(d, d->engine->kernel(d, p->module, name, &k->handle)));
    k->next = p->kernels;
    p->kernels = k;
    *handle = k->handle;
    k = NULL;
done:
    base_free(d->ctx, k);
    return status;
}

static spry_status launch(device_program *p, const char *name, device_stream *s, int64_t groups,
                          int group, const device_arg *args, int count, bool whole)
{
    spry_device *d = p->d;
    spry_status status = SPRY_OK;
    void *kernel = NULL;
    SPRY_GO(d->ctx, device_begin(d, WORK_LAUNCH));
    SPRY_GO(d->ctx, find_kernel(p, name, &kernel));
    if (groups == 0)
        goto done;
    if (groups < 0 || groups > INT32_MAX) {
        status = SPRY_FAIL(d->ctx, SPRY_UNSUPPORTED, "%s: %" PRId64 " groups, at most %d", name,
                           groups, INT32_MAX);
        goto done;
    }
    status = d->engine->launch(d, (s ? s : d->stream)->handle, kernel, groups, group, args, count,
                               whole);
    SPRY_CAUSE(d->ctx, status, "kernel %s", name);
    SPRY_GO(d->ctx, device_end(d, status));
done:
    return status;
}

spry_status device_launch(device_program *p, const char *name, device_stream *s, int64_t groups,
                          int group, const device_arg *args, int count)
{
    return launch(p, name, s, groups, group, args, count, false);
}

spry_status device_launch_whole(device_program *p, const char *name, int64_t groups, int group,
                                const device_arg *args, int count)
{
    return launch(p, name, NULL, groups, group, args, count, true);
}

int64_t device_whole_groups(device_program *p, const char *name, int group)
{
    void *kernel = NULL;
    return find_kernel(p, name, &kernel) == SPRY_OK
               ? p->d->engine->whole_groups(p->d, kernel, group)
               : 0;
}
