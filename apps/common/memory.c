/* A look at the memory before it is asked for. */
#include "common/app.h"

#include <string.h>

/* Whether a name that was asked for ("cuda") is a device's ("cuda:0"). */
static bool is_named(const spry_device_info *info, const char *name)
{
    return info->usable && (strcmp(info->name, name) == 0 || strcmp(info->kind, name) == 0);
}

int app_check_memory(spry_context *ctx, const char *device, double bytes, const char *what,
                     const char *advice)
{
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    bool found = false;
    for (int i = 0; !found && spry_device_describe(ctx, i, &info); i++)
        found = is_named(&info, device);
    if (!found)
        return EXIT_DONE;
    const bool host = strcmp(info.kind, "cpu") == 0;
    const int64_t limit = host ? spry_context_memory_limit(ctx) : info.memory_bytes;
    if (limit == 0 || bytes <= (double)limit)
        return EXIT_DONE;
    return cli_fail(EXIT_RESOURCES, "%s needs about %s, %s %s; take %s", what, text_bytes(bytes),
                    host ? "memory is limited to" : "the device has", text_bytes((double)limit),
                    advice);
}
