/* Programs: made from texts or taken from the caches, their kernels, launching. */
#include "device/engine/engine.h"
#include "device/engine/precompile.h"
#include "device/engine/program_list.h"

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
    char names[64]; /* of device_text(), and the options; "": it was built from another text */
    char options[160];
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

static uint64_t stamp_of(spry_device *d);

void device_programs_close(spry_device *d)
{
    precompile_close(d);
    if (d->cache)
        program_list_write(d, stamp_of(d));
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

/* A program that is being made. */
typedef struct making {
    char *text; /* whole; NULL: not made */
    cache_key key;
    device_program *p;
    compiled made;
    bool precompiled; /* it was precompiled */
} making;

/* Texts are long, and printf() looks at every character of them twice. */
static void append(base_text *t, const char *more)
{
    const size_t length = strlen(more), wanted = t->used + length + 1;
    if (t->status == SPRY_STATUS_OK && wanted > t->room) {
        t->status = base_grow(t->ctx, (int64_t)t->used, (int64_t)(2 * wanted), 1, &t->text);
        t->room = 2 * wanted;
    }
    if (t->status == SPRY_STATUS_OK) {
        memcpy(t->text + t->used, more, length + 1);
        t->used += length;
    }
}

/* All that decides what comes out, as one text. No line before the program's own has a line's end
 * in it, so that different programs have different texts. */
static spry_status describe(spry_device *d, const char *text, const char *options, cache_key *key)
{
    const char *debug = getenv("SPRY_DEVICE_DEBUG");
    const device_facts *f = &d->facts;
    char *all = NULL;
    base_text t = {.ctx = d->ctx};
    int length = (int)strlen(options);
    while (length > 0 && options[length - 1] == ' ')
        length--;
    base_text_put(&t, "spry %s\n%s\n%s\n%s\n%s\n%s\n%s\n%.*s\n", spry_version(), d->engine->name,
                  f->description, f->target, f->driver, debug ? debug : "", device_more_options(d),
                  length, options);
    append(&t, text);
    const spry_status status = base_text_take(&t, &all);
    if (status == SPRY_STATUS_OK)
        *key = cache_hash_of(all, strlen(all));
    base_free(d->ctx, all);
    return status;
}

/* The whole of a text, with its key. */
static spry_status complete(spry_device *d, const char *text, const char *options, char **whole,
                            cache_key *key)
{
    base_text t = {.ctx = d->ctx};
    spry_status status = SPRY_STATUS_OK;
    append(&t, device_text("dialect"));
    append(&t, "\n");
    append(&t, text);
    SPRY_GO(d->ctx, base_text_take(&t, whole));
    SPRY_GO(d->ctx, describe(d, *whole, options, key));
done:
    return status;
}

static device_program *find_program(const spry_device *d, cache_key key)
{
    for (device_program *p = d->cache->programs; p; p = p->next)
        if (memcmp(&p->key, &key, sizeof key) == 0)
            return p;
    return NULL;
}

/* The name of a text's first kernel, for the log. */
static const char *kernel_of(const char *text)
{
    static const char word[] = "SP_KERNEL ";
    const char *at = strstr(text, word);
    return at ? at + strlen(word) : "";
}

static size_t kernel_length(const char *text)
{
    return strcspn(kernel_of(text), "( \n");
}

/* What is known from before, in memory or on disk. What is on disk but is refused by the driver
 * is compiled again. */
static spry_status look_up(spry_device *d, const device_text_job *job, making *m)
{
    void *binary = NULL;
    size_t size = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, complete(d, job->text, job->options, &m->text, &m->key));
    if (find_program(d, m->key))
        goto done;
    SPRY_GO(d->ctx, device_begin(d, WORK_COMPILE));
    SPRY_GO(d->ctx, base_calloc(d->ctx, 1, sizeof *m->p, &m->p));
    m->p->d = d;
    m->p->key = m->key;
    m->precompiled = precompile_take(d, m->key, &m->made);
    d->cache->precompiled += m->precompiled;
    if (m->precompiled)
        goto done;
    SPRY_GO(d->ctx, device_end(d, cache_read(d, m->key, &binary, &size)));
    if (binary && d->engine->load(d, binary, size, &m->p->module) == SPRY_STATUS_OK)
        d->cache->loaded++;
    else
        m->p->module = NULL;
done:
    base_free(d->ctx, binary);
    return status;
}

static bool is_to_load(const making *m)
{
    return m->p && !m->p->module;
}

static bool is_to_compile(const making *m)
{
    return is_to_load(m) && !m->precompiled;
}

/* By all threads where the engine's compiler can; each has a context of its own. */
static spry_status compile_all(spry_device *d, const device_text_job *jobs, making *all, int count)
{
    const int threads = d->engine->open_compiler ? spry_context_threads(d->ctx) : 1;
    spry_status status = SPRY_STATUS_OK;
    int wanted = 0;
    for (int k = 0; k < count; k++)
        wanted += is_to_compile(&all[k]);
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        if (is_to_compile(&all[k]))
            status = compiled_open(&all[k].made, wanted == 1 || threads == 1 ? d->ctx : NULL);
    if (status != SPRY_STATUS_OK)
        return SPRY_FAIL(d->ctx, status, "no memory to compile in");
    if (wanted > 0) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads < wanted ? threads : wanted)
        for (int k = 0; k < count; k++)
            if (is_to_compile(&all[k]))
                compiled_make(&all[k].made, d, all[k].text, jobs[k].options);
    }
    return SPRY_STATUS_OK;
}

/* What the compiler has made of a program, and its complaint. */
static spry_status take_compiled(spry_device *d, const device_text_job *job, making *m)
{
    compiled *c = &m->made;
    spry_status status = c->status;
    d->cache->refused = status != SPRY_STATUS_OK && strstr(c->complaint, "error") != NULL;
    base_log(d->ctx, SPRY_LOG_DEBUG, "%s: %.*s, %s%s: %zu characters compiled in %.3f s",
             d->facts.name, (int)kernel_length(job->text), kernel_of(job->text), job->options,
             m->precompiled ? ", precompiled" : "", strlen(m->text), c->seconds);
    if (c->complaint[0])
        base_log(d->ctx, SPRY_LOG_DEBUG, "%s: compiler: %.800s", d->facts.name, c->complaint);
    if (status != SPRY_STATUS_OK && c->own != d->ctx)
        snprintf(d->ctx->message, sizeof d->ctx->message, "%s", spry_message(c->own));
    if (status != SPRY_STATUS_OK && c->complaint[0]) {
        first_complaint(c->complaint);
        status = SPRY_FAIL(d->ctx, status,
                           "a program with options \"%.200s\" cannot be compiled: "
                           "%.500s",
                           job->options, c->complaint);
    }
    SPRY_GO(d->ctx, status);
    d->cache->compiled++;
    SPRY_GO(d->ctx, d->engine->load(d, c->binary, c->size, &m->p->module));
    program_list_note(d, job->names, job->text, job->options);
    SPRY_GO(d->ctx, cache_write(d, m->key, c->binary, c->size));
done:
    return device_end(d, status);
}

/* Programs that were made before one failed are kept. */
static void keep_program(spry_device *d, making *m)
{
    if (m->p && m->p->module && !find_program(d, m->key)) {
        m->p->next = d->cache->programs;
        d->cache->programs = m->p;
    } else if (m->p) {
        program_free(m->p);
    }
    compiled_free(&m->made, d);
    base_free(d->ctx, m->text);
}

static spry_status open_cache(spry_device *d)
{
    return d->cache ? SPRY_STATUS_OK : base_calloc(d->ctx, 1, sizeof *d->cache, &d->cache);
}

spry_status device_build_all(spry_device *d, device_text_job *jobs, int count)
{
    making *all = NULL;
    const double begin = base_seconds();
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++)
        jobs[k].program = NULL;
    SPRY_GO(d->ctx, open_cache(d));
    d->cache->refused = false;
    SPRY_GO(d->ctx, base_calloc(d->ctx, count, sizeof *all, &all));
    for (int k = 0; k < count; k++)
        SPRY_GO(d->ctx, look_up(d, &jobs[k], &all[k]));
    SPRY_GO(d->ctx, compile_all(d, jobs, all, count));
    for (int k = 0; k < count; k++)
        if (is_to_load(&all[k]))
            SPRY_GO(d->ctx, take_compiled(d, &jobs[k], &all[k]));
done:
    for (int k = 0; all && k < count; k++) {
        keep_program(d, &all[k]);
        if (status == SPRY_STATUS_OK)
            jobs[k].program = find_program(d, all[k].key);
    }
    base_free(d->ctx, all);
    d->building += base_seconds() - begin;
    return status;
}

/* Has a program compiled that is neither in memory nor on disk. Whatever hinders that is reported
 * to who asks for the program. */
void device_precompile(spry_device *d, const char *text, const char *options)
{
    char *whole = NULL;
    cache_key key;
    if (!d->facts.has_compilers || d->lost)
        return;
    const base_kept before = base_try(d->ctx);
    if (open_cache(d) == SPRY_STATUS_OK &&
        complete(d, text, options, &whole, &key) == SPRY_STATUS_OK && !find_program(d, key) &&
        !cache_has(d, key)) {
        precompile_add(d, key, whole, options);
        whole = NULL;
    }
    base_free(d->ctx, whole);
    base_forgive(d->ctx, &before);
}

spry_status device_build(spry_device *d, const char *text, const char *options,
                         device_program **out)
{
    device_text_job job = {.text = text, .options = options};
    const spry_status status = device_build_all(d, &job, 1);
    *out = job.program;
    return status;
}

/* The texts of names with blanks between them. */
static spry_status join_texts(spry_context *ctx, const char *names, char **text)
{
    char name[64];
    base_text t = {.ctx = ctx};
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        append(&t, device_text(name) ? device_text(name) : "");
        append(&t, "\n");
        at += length;
    }
    return base_text_take(&t, text);
}

/* What decides, besides text and options, what programs are compiled to. */
static uint64_t stamp_of(spry_device *d)
{
    cache_key key = {{0, 0}};
    (void)describe(d, "", "", &key);
    return key.part[0];
}

static void precompile_listed(spry_device *d, const char *names, const char *text,
                              const char *options)
{
    char *joined = NULL;
    if (names && join_texts(d->ctx, names, &joined) == SPRY_STATUS_OK)
        device_precompile(d, joined, options);
    else if (!names)
        device_precompile(d, text, options);
    base_free(d->ctx, joined);
}

void device_prefetch(spry_device *d, const char *work, spry_type type)
{
    char mark[64];
    if (!d->facts.has_compilers || d->lost)
        return;
    const base_kept before = base_try(d->ctx);
    snprintf(mark, sizeof mark, " %.32s:%d;", work, (int)type);
    if (open_cache(d) == SPRY_STATUS_OK && !strstr(d->cache->prefetched, mark)) {
        const size_t used = strlen(d->cache->prefetched);
        if (used == 0)
            program_list_read(d, stamp_of(d), precompile_listed);
        snprintf(d->cache->prefetched + used, sizeof d->cache->prefetched - used, "%s", mark);
        program_list_first(d, work, type, precompile_listed);
    }
    base_forgive(d->ctx, &before); /* nothing failed for the caller */
}

bool device_is_cold(const spry_device *d)
{
    return d->cache && d->cache->queue;
}

/* What was asked for before is found by its name: no text is put together and hashed again. */
spry_status device_build_text(spry_device *d, const char *names, const char *options,
                              device_program **out)
{
    char *text = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (device_program *p = d->cache ? d->cache->programs : NULL; p; p = p->next) {
        if (strcmp(p->names, names) == 0 && strcmp(p->options, options) == 0) {
            *out = p;
            return SPRY_STATUS_OK;
        }
    }
    SPRY_GO(d->ctx, join_texts(d->ctx, names, &text));
    device_text_job job = {.text = text, .options = options, .names = names};
    SPRY_GO(d->ctx, device_build_all(d, &job, 1));
    *out = job.program;
    if (strlen(options) < sizeof(*out)->options && strlen(names) < sizeof(*out)->names) {
        snprintf((*out)->names, sizeof(*out)->names, "%s", names);
        snprintf((*out)->options, sizeof(*out)->options, "%s", options);
    }
done:
    base_free(d->ctx, text);
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
    if (over->local > d->facts.most_local) {
        status = SPRY_FAIL(d->ctx, SPRY_STATUS_UNSUPPORTED,
                           "kernel %s: %" PRId64 " bytes of local memory; %s has %" PRId64, name,
                           over->local, d->facts.name, d->facts.most_local);
        goto done;
    }
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
    return (device_range){{groups, 1, 1}, {group, 1, 1}, 0};
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

spry_status device_launch_local(device_program *p, const char *name, int64_t groups, int group,
                                int64_t local, const device_arg *args, int count)
{
    device_range over = line(groups, group);
    over.local = local;
    return launch(p, name, NULL, &over, args, count, false);
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
