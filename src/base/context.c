/* The context's life and its small questions. */
#include "base/base.h"
#include "base/bytes.h"
#include "base/team.h"

#include <omp.h>
#include <unistd.h>

SPRY_OPTION_TABLE(rows, context_options, CONTEXT_OPTIONS(SPRY_OPTION_ROW))

spry_option_list context_option_list(void)
{
    return (spry_option_list)SPRY_OPTION_LIST(rows);
}

const char *spry_version(void)
{
    return SPRY_VERSION_TEXT;
}

int spry_version_number(void)
{
    return SPRY_VERSION;
}

const char *spry_type_name(spry_type type)
{
    static const char *const names[] = {"s", "d", "c", "z"};
    return names[type & 3];
}

size_t spry_type_size(spry_type type)
{
    static const size_t sizes[] = {4, 8, 8, 16};
    return sizes[type & 3];
}

bool spry_type_is_complex(spry_type type)
{
    return type == SPRY_TYPE_C || type == SPRY_TYPE_Z;
}

spry_status base_check_type(spry_context *ctx, spry_type type)
{
    if (type < SPRY_TYPE_S || type > SPRY_TYPE_Z)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "type is %d, expected s, d, c or z",
                         (int)type);
    return SPRY_STATUS_OK;
}

/* Picks the ISA level the options ask for. */
static spry_status choose_isa(spry_context *ctx)
{
    char names[128] = "auto";
    ctx->isa = 0;
    const bool any = strcmp(ctx->options.isa, "auto") == 0;
    bool found = false;
    for (int i = 0; i < isa_count(); i++) {
        if (!isa_usable(i))
            continue;
        base_add_word(names, sizeof names, isa_name(i));
        if (any || strcmp(ctx->options.isa, isa_name(i)) == 0) {
            ctx->isa = i;
            found = true;
        }
    }
    if (any && !found)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "this library was built for processors with %s, which this one lacks: "
                         "build it with -DSPRY_ISA=all",
                         isa_name(0));
    return found ? SPRY_STATUS_OK : base_unknown_word(ctx, "isa", ctx->options.isa, names);
}

static spry_status choose_threads(spry_context *ctx)
{
    const int most = base_most_threads(), initial = omp_get_max_threads();
    if (ctx->options.threads > most)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "threads=%" PRId64 " is outside 0..%d, the most for %d cores",
                         ctx->options.threads, most, omp_get_num_procs());
    if (ctx->options.threads == 0) {
        /* Ranks that were given cores of their own see these alone; others share all of them. */
        const int nearby = ctx->team ? ctx->team->on_machine : 1;
        const bool shared = nearby > 1 && omp_get_num_procs() == sysconf(_SC_NPROCESSORS_ONLN);
        const int mine = shared ? initial / nearby : initial;
        ctx->options.threads = mine > most ? most : mine < 1 ? 1 : mine;
    }
    return SPRY_STATUS_OK;
}

/* What the options leave to the machine, and what it does not have. */
static spry_status settle(spry_context *ctx)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, choose_threads(ctx));
    /* A limit by default: a small file may promise billions of rows, and systems that lend more
     * memory than they have end the process rather than refuse. What others use counts, too. */
    ctx->meminfo = ctx->options.memory_limit == 0 ? "/proc/meminfo" : NULL;
    if (ctx->options.memory_limit == 0) {
        const char *name;
        const int64_t most = base_machine_memory() / 5 * 4, left = base_limited_memory(&name);
        ctx->options.memory_limit = left > 0 && (left < most || most == 0) ? left : most;
    }
    SPRY_GO(ctx, choose_isa(ctx));
    if (ctx->team && ctx->options.delays[0])
        SPRY_GO(ctx, team_delay(ctx, ctx->options.delays));
done:
    return status;
}

/* The context's own, which hold at once. */
static spry_status set_own(spry_context *ctx, const void *fields)
{
    const context_options before = ctx->options;
    const int isa = ctx->isa;
    spry_status status = SPRY_STATUS_OK;
    if (atomic_load(&ctx->users) > 1 || ctx->memory_now > 0 || ctx->devices)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the options of a context are set before it has objects or memory");
    if (fields)
        memcpy(&ctx->options, fields, spry_options_size(context_option_list()));
    else
        SPRY_GO(ctx, spry_options_default(ctx, context_option_list(), &ctx->options));
    SPRY_GO(ctx, settle(ctx));
done:
    if (status != SPRY_STATUS_OK) {
        ctx->options = before;
        ctx->isa = isa;
    }
    return status;
}

spry_status context_set_options(spry_context *ctx, spry_option_list list, const void *fields)
{
    int k = 0;
    if (list.options == rows)
        return set_own(ctx, fields);
    while (k < MOST_LISTS - 1 && ctx->given[k].list && ctx->given[k].list != list.options)
        k++;
    ctx->given[k].list = list.options;
    ctx->given[k].fields = fields;
    return SPRY_STATUS_OK;
}

spry_status context_new(struct spry_team *t, const spry_allocator *allocator, const char *options,
                        spry_context **out)
{
    static const base_sized sized = BASE_SIZED(spry_allocator, data);
    spry_allocator use = base_default_allocator();
    *out = NULL;
    if (allocator && allocator->allocate && allocator->release &&
        base_take(NULL, allocator, &use, &sized) != SPRY_STATUS_OK)
        return SPRY_STATUS_BAD_USAGE;
    spry_context *ctx = use.allocate(use.data, sizeof *ctx, ALIGNMENT);
    if (!ctx)
        return SPRY_STATUS_NO_MEMORY;
    memset(ctx, 0, sizeof *ctx);
    ctx->allocator = use;
    ctx->team = t;
    atomic_init(&ctx->interrupted, false);
    atomic_init(&ctx->users, 1);
    *out = ctx;

    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, options_take(ctx, context_option_list(), &ctx->options, options));
    SPRY_GO(ctx, settle(ctx));
done:
    return status;
}

spry_status spry_context_new_with(const spry_allocator *allocator, const char *options,
                                  spry_context **ctx)
{
    SPRY_NEED(NULL, ctx);
    return context_new(NULL, allocator, options, ctx);
}

spry_status spry_context_new(const char *options, spry_context **ctx)
{
    return spry_context_new_with(NULL, options, ctx);
}

/* One that held it no longer does; the last one ends it. */
static void leave(spry_context *ctx)
{
    if (atomic_fetch_sub(&ctx->users, 1) > 1)
        return;
    if (ctx->close_devices)
        ctx->close_devices(ctx);
    if (ctx->team) {
        base_free(ctx, ctx->team->shares);
        ctx->team->class->destroy(ctx->team);
    }
    const spry_allocator allocator = ctx->allocator;
    allocator.release(allocator.data, ctx, sizeof *ctx);
}

void spry_context_free(spry_context *ctx)
{
    if (!ctx)
        return;
    ctx->log = NULL; /* its receiver may be gone */
    leave(ctx);
}

spry_status base_object_new(spry_context *ctx, size_t size, void *pointer_to_pointer)
{
    const spry_status status = base_calloc(ctx, 1, size, pointer_to_pointer);
    if (status == SPRY_STATUS_OK)
        atomic_fetch_add(&ctx->users, 1);
    return status;
}

void base_object_free(spry_context *ctx, void *object)
{
    if (object) {
        base_free(ctx, object);
        leave(ctx);
    }
}

void spry_context_set_log(spry_context *ctx, spry_log_fn log, void *data)
{
    if (ctx) {
        ctx->log = log;
        ctx->log_data = data;
    }
}

int spry_context_threads(const spry_context *ctx)
{
    return ctx ? base_team(ctx, (int)ctx->options.threads) : 0;
}

const char *spry_context_isa(const spry_context *ctx)
{
    return ctx ? isa_name(ctx->isa) : "";
}

void spry_context_interrupt(spry_context *ctx)
{
    if (ctx)
        atomic_store(&ctx->interrupted, true);
}

bool spry_context_interrupted(spry_context *ctx, bool clear)
{
    if (!ctx)
        return false;
    return clear ? atomic_exchange(&ctx->interrupted, false) : atomic_load(&ctx->interrupted);
}

void base_stopped(spry_context *ctx)
{
    if (ctx->calls == 0)
        atomic_store(&ctx->interrupted, false);
}
