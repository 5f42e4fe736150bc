/* Programs: made from texts or taken from the caches, their kernels, launching. */
#include "device/cache.h"
#include "device/engine.h"

#include <stdlib.h>

typedef struct program_kernel {
    void *handle;
    struct program_kernel *next;
    char name[];
} program_kernel;

struct device_program {
    spry_device *d;
    cache_key key;
    void *module;
    program_kernel *kernels;
    const char *text; /* of device_text(), and its options; NULL: another */
    char options[64];
    device_program *next;
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

/* --- building ------------------------------------------------------------------------------------
 */

/* Cuts what a compiler said down to its first complaint, which is what has to be mended. */
static void first_complaint(char *text)
{
    char *begin = strstr(text, "error");
    while (begin && begin > text && begin[-1] != '\n')
        begin--;
    if (begin)
        memmove(text, begin, strlen(begin) + 1);
    text[strcspn(text, "\n")] = '\0';
}

static spry_status compile(spry_device *d, const char *text, const char *options, void **binary,
                           size_t *size)
{
    enum { COMPLAINT_SIZE = 16384 };
    spry_status status;
    char *complaint = NULL;
    SPRY_GO(d->ctx, base_calloc(d->ctx, COMPLAINT_SIZE, 1, &complaint));
    const double begin = base_seconds();
    status = d->engine->compile(d, text, options, binary, size, complaint, COMPLAINT_SIZE);
    base_log(d->ctx, SPRY_LOG_DEBUG, "%s: %zu characters compiled in %.3f s", d->facts.name,
             strlen(text), base_seconds() - begin);
    d->cache->refused = status != SPRY_STATUS_OK && strstr(complaint, "error") != NULL;
    if (complaint[0])
        base_log(d->ctx, SPRY_LOG_DEBUG, "%s: compiler: %.800s", d->facts.name, complaint);
    if (status != SPRY_STATUS_OK && complaint[0]) {
        first_complaint(complaint);
        status = SPRY_FAIL(d->ctx, status,
                           "a program with options \"%.200s\" cannot be compiled: "
                           "%.500s",
                           options, complaint);
    }
    SPRY_GO(d->ctx, status);
    d->cache->compiled++;
done:
    base_free(d->ctx, complaint);
    return status;
}

/* From disk, or compiled and kept there. What is on disk but is not to the driver's liking is
 * compiled anew. */
static spry_status make_module(device_program *p, const char *text, const char *options)
{
    spry_status status;
    spry_device *d = p->d;
    void *binary = NULL;
    size_t size = 0;
    SPRY_GO(d->ctx, cache_read(d, p->key, &binary, &size));
    if (binary && d->engine->load(d, binary, size, &p->module) == SPRY_STATUS_OK) {
        d->cache->loaded++;
        goto done;
    }
    p->module = NULL;
    base_free(d->ctx, binary);
    binary = NULL;
    SPRY_GO(d->ctx, compile(d, text, options, &binary, &size));
    SPRY_GO(d->ctx, d->engine->load(d, binary, size, &p->module));
    SPRY_GO(d->ctx, cache_write(d, p->key, binary, size));
done:
    base_free(d->ctx, binary);
    return status;
}

/* All that decides what comes out, as one text. No line before the program's own has a line's end
 * in it, so that different programs have different texts. */
static spry_status describe(spry_device *d, const char *text, const char *options, cache_key *key)
{
    const char *debug = getenv("SPRY_DEVICE_DEBUG");
    const char *more = getenv("SPRY_OPENCL_OPTIONS");
    const device_facts *f = &d->facts;
    char *all = NULL;
    base_text t = {.ctx = d->ctx};
    base_text_put(&t, "spry %s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s", spry_version(), d->engine->name,
                  f->description, f->target, f->driver, debug ? debug : "", more ? more : "",
                  options, text);
    const spry_status status = base_text_take(&t, &all);
    if (status == SPRY_STATUS_OK)
        *key = cache_hash_of(all, strlen(all));
    base_free(d->ctx, all);
    return status;
}

static spry_status build_new(spry_device *d, const char *text, const char *options, cache_key key,
                             device_program **out)
{
    spry_status status;
    device_program *p = NULL;
    d->cache->refused = false;
    SPRY_GO(d->ctx, device_begin(d, WORK_COMPILE));
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *p, &p));
    p->d = d;
    p->key = key;
    SPRY_GO(d->ctx, device_end(d, make_module(p, text, options)));
    p->next = d->cache->programs;
    d->cache->programs = p;
    *out = p;
    p = NULL;
done:
    if (p)
        program_free(p);
    return status;
}

spry_status device_build(spry_device *d, const char *text, const char *options,
                         device_program **out)
{
    spry_status status;
    cache_key key;
    char *all = NULL;
    base_text t = {.ctx = d->ctx};
    *out = NULL;
    if (!d->cache)
        SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *d->cache, &d->cache));
    base_text_put(&t, "%s\n%s", device_text("dialect"), text);
    SPRY_GO(d->ctx, base_text_take(&t, &all));
    SPRY_GO(d->ctx, describe(d, all, options, &key));
    for (device_program *p = d->cache->programs; p && !*out; p = p->next) {
        if (memcmp(&p->key, &key, sizeof key) == 0)
            *out = p;
    }
    if (!*out)
        SPRY_GO(d->ctx, build_new(d, all, options, key, out));
done:
    base_free(d->ctx, all);
    return status;
}

/* What was asked for before is found by its name: no text is put together and hashed again. */
spry_status device_build_text(spry_device *d, const char *name, const char *options,
                              device_program **out)
{
    const char *text = device_text(name);
    for (device_program *p = d->cache ? d->cache->programs : NULL; p; p = p->next) {
        if (p->text == text && strcmp(p->options, options) == 0) {
            *out = p;
            return SPRY_STATUS_OK;
        }
    }
    const spry_status status = device_build(d, text, options, out);
    if (status == SPRY_STATUS_OK && strlen(options) < sizeof(*out)->options) {
        (*out)->text = text;
        snprintf((*out)->options, sizeof(*out)->options, "%s", options);
    }
    return status;
}

/* --- launching -----------------------------------------------------------------------------------
 */

static spry_status find_kernel(device_program *p, const char *name, void **handle)
{
    spry_device *d = p->d;
    spry_status status;
    program_kernel *k;
    for (k = p->kernels; k; k = k->next) {
        if (strcmp(k->name, name) == 0) {
            *handle = k->handle;
            return SPRY_STATUS_OK;
        }
    }
    const size_t length = strlen(name);
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *k + length + 1, &k));
    memcpy(k->name, name, length + 1);
    SPRY_GO(d->ctx, device_end(d, d->engine->kernel(d, p->module, name, &k->handle)));
    k->next = p->kernels;
    p->kernels = k;
    *handle = k->handle;
    k = NULL;
done:
    base_free(d->ctx, k);
    return status;
}

/* Whether the device can run such a range; no groups at all are fine. */
static spry_status check_range(spry_device *d, const char *name, const device_range *over)
{
    int64_t groups = 1, group = 1;
    bool fits = true;
    for (int i = 0; i < 3 && fits; i++) {
        fits = over->groups[i] >= 0 && over->groups[i] <= INT32_MAX && over->group[i] >= 1;
        groups *= fits ? over->groups[i] : 0;
        group *= over->group[i];
        fits = fits && groups <= INT32_MAX && group <= d->facts.most_group;
    }
    if (fits)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                     "kernel %s: %" PRId64 " x %" PRId64 " x %" PRId64
                     " groups of %d x %d x %d work-items; %s takes up to %d of %d",
                     name, over->groups[0], over->groups[1], over->groups[2], over->group[0],
                     over->group[1], over->group[2], d->facts.name, INT32_MAX, d->facts.most_group);
}

static spry_status launch(device_program *p, const char *name, device_stream *s,
                          const device_range *over, const device_arg *args, int count, bool whole)
{
    spry_device *d = p->d;
    spry_status status;
    void *kernel = NULL;
    SPRY_GO(d->ctx, device_begin(d, WORK_LAUNCH));
    SPRY_GO(d->ctx, find_kernel(p, name, &kernel));
    SPRY_GO(d->ctx, check_range(d, name, over));
    const int64_t groups = over->groups[0] * over->groups[1] * over->groups[2];
    if (groups == 0)
        goto done;
    const int64_t most = whole ? d->engine->whole_groups(d, kernel, over->group[0]) : groups;
    if (groups > most) {
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                           "kernel %s: %" PRId64 " groups of %d work-items are to run at once; %s "
                           "can run %" PRId64,
                           name, groups, over->group[0], d->facts.name, most);
        goto done;
    }
    status = d->engine->launch(d, (s ? s : d->stream)->handle, kernel, over, args, count, whole);
    SPRY_CAUSE(d->ctx, status, "kernel %s", name);
    SPRY_GO(d->ctx, device_end(d, status));
done:
    return status;
}

static device_range line(int64_t groups, int group)
{
    return (device_range){{groups, 1, 1}, {group, 1, 1}};
}

spry_status device_launch(device_program *p, const char *name, device_stream *s, int64_t groups,
                          int group, const device_arg *args, int count)
{
    const device_range over = line(groups, group);
    return launch(p, name, s, &over, args, count, false);
}

spry_status device_launch_range(device_program *p, const char *name, const device_range *over,
                                const device_arg *args, int count)
{
    return launch(p, name, NULL, over, args, count, false);
}

spry_status device_launch_whole(device_program *p, const char *name, int64_t groups, int group,
                                const device_arg *args, int count)
{
    if (!p->d->facts.has_cooperation)
        return SPRY_FAIL(p->d->ctx, SPRY_STATUS_UNSUPPORTED,
                         "kernel %s: %s cannot run all groups of a launch at once", name,
                         p->d->facts.name);
    const device_range over = line(groups, group);
    return launch(p, name, NULL, &over, args, count, true);
}

int64_t device_whole_groups(device_program *p, const char *name, int group)
{
    void *kernel = NULL;
    if (!p->d->facts.has_cooperation || find_kernel(p, name, &kernel) != SPRY_STATUS_OK)
        return 0;
    return p->d->engine->whole_groups(p->d, kernel, group);
}
