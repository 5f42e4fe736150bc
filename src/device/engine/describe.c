/* What devices there are, for `spry devices` and to choose from. */
#include "device/engine/engine.h"
#include "host/host.h"

/* The cause that an engine noted, without the context keeping it: nothing has failed. */
static void describe_device(spry_context *ctx, const engine_class *engine, int index,
                            spry_device_info *info)
{
    spry_device d = {.ctx = ctx, .engine = engine};
    const base_kept before = base_try(ctx);
    const spry_status status = engine->describe(&d, index);
    info->usable = status == SPRY_STATUS_OK;
    if (!info->usable)
        snprintf(info->why, sizeof info->why, "%.255s", ctx->message);
    base_forgive(ctx, &before);
    snprintf(info->name, sizeof info->name, "%s:%d", engine->name, index);
    snprintf(info->description, sizeof info->description, "%s", d.facts.description);
    snprintf(info->driver, sizeof info->driver, "%s", d.facts.driver);
    info->units = d.facts.units;
    info->memory_bytes = d.facts.memory_bytes;
    info->cache_bytes = d.facts.cache_bytes;
}

static bool describe(spry_context *ctx, int index, spry_device_info *info)
{
    if (index == 0) {
        host_describe(ctx, info);
        return true;
    }
    const engine_class *engine = NULL;
    for (int i = 0, first = 1; index > 0 && (engine = device_engine(i)); i++) {
        const int count = engine->count(ctx, info->why, sizeof info->why);
        const int entries = count > 0 ? count : 1;
        snprintf(info->kind, sizeof info->kind, "%s", engine->name);
        snprintf(info->name, sizeof info->name, "%s", engine->name);
        if (index < first + entries) {
            if (count > 0)
                describe_device(ctx, engine, index - first, info);
            return true;
        }
        first += entries;
    }
    return false;
}

bool spry_device_describe(spry_context *ctx, int index, spry_device_info *info)
{
    static const base_sized sized = BASE_SIZED(spry_device_info, why);
    spry_device_info found = {0};
    if (!ctx || !info || base_blank(ctx, info, &sized) != SPRY_STATUS_OK)
        return false;
    device_drivers_hold(true);
    const bool exists = describe(ctx, index, &found);
    device_drivers_hold(false);
    if (!exists)
        return false;
    base_give(info, &found, &sized);
    return true;
}
