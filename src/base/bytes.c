/* Bytes of memory in messages: how many, and how to get more. */
#include "base/bytes.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

const char *base_bytes(double bytes, char text[BASE_BYTES])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 999.5 && unit < 6; unit++)
        bytes /= 1000;
    snprintf(text, BASE_BYTES, "%.*f %s", unit > 0 && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
    return text;
}

/* What this process has, in pages, by /proc/self/statm: 0 its address space, 5 data and stacks. */
static bool find_pages(int field, int64_t *pages)
{
    char text[256];
    const char *at = text;
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    for (int k = 0; k < field && at; k++) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    return at && base_parse_int(at, at + strlen(at), pages);
}

int64_t base_limited_memory(const char **name)
{
    static const struct {
        int which, field;
        const char *name;
    } limits[] = {{RLIMIT_AS, 0, "ulimit -v"}, {RLIMIT_DATA, 5, "ulimit -d"}};
    int64_t least = INT64_MAX;
    *name = "";
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        struct rlimit limit;
        int64_t pages = 0;
        if (getrlimit(limits[k].which, &limit) != 0 || limit.rlim_cur >= INT64_MAX ||
            !find_pages(limits[k].field, &pages))
            continue;
        const int64_t left = (int64_t)limit.rlim_cur - pages * sysconf(_SC_PAGESIZE);
        if (left < least) {
            least = left > 0 ? left : 0;
            *name = limits[k].name;
        }
    }
    return least;
}

const char *base_allow(const spry_context *ctx, int64_t bytes, char text[BASE_ADVICE])
{
    const char *name;
    const int64_t more = bytes - ctx->memory_now;
    const bool short_of = base_limited_memory(&name) < more;
    if (short_of && (ctx->meminfo || ctx->options.memory_limit >= bytes))
        snprintf(text, BASE_ADVICE, "by a higher %s", name);
    else
        snprintf(text, BASE_ADVICE, "%s%smemory_limit=%" PRId64, short_of ? name : "",
                 short_of ? " and " : "", bytes);
    return text;
}
