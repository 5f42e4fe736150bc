/* What of the machine this process may use: memory and threads. */
#include "base/base.h"

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LIMIT_BYTES = 32, LEAST_MOST_THREADS = 64 };

/* Reads a small file of the kernel's as text; empty when it does not exist. */
static void read_text(const char *path, char *text, size_t size)
{
    ssize_t got = -1;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        got = read(file, text, size - 1);
        close(file);
    }
    text[got > 0 ? got : 0] = '\0';
}

/* The least number in files `name` of the group's folder and those above, up to the mount itself:
 * each limits what lies below, and a container may see only the upper ones. */
static int64_t least_limit(const char *mount, const char *group, const char *name)
{
    char folder[2 * PATH_BYTES], path[2 * PATH_BYTES + LIMIT_BYTES], text[LIMIT_BYTES];
    int64_t least = INT64_MAX, limit;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (char *slash; strlen(folder) >= strlen(mount); *slash = '\0') {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        read_text(path, text, sizeof text);
        /* No limit is "max", or a number near the largest there is. */
        if (base_parse_int(text, text + strlen(text), &limit) && limit > 0 && limit < least)
            least = limit;
        slash = strrchr(folder, '/');
        if (!slash)
            break;
    }
    return least;
}

int64_t base_group_memory(const char *list, const char *mount)
{
    char lines[PATH_BYTES], v1_mount[PATH_BYTES];
    int64_t least = INT64_MAX;
    read_text(list, lines, sizeof lines);
    snprintf(v1_mount, sizeof v1_mount, "%s/memory", mount);
    /* Lines are number:controllers:group; version 2 of the interface names no controllers. */
    for (char *line = lines, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        int64_t limit = INT64_MAX;
        if (strcmp(controllers, ":") == 0)
            limit = least_limit(mount, group, "memory.max");
        else if (strstr(controllers, "memory"))
            limit = least_limit(v1_mount, group, "memory.limit_in_bytes");
        least = limit < least ? limit : least;
    }
    return least;
}

int64_t base_machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    const int64_t whole = pages > 0 && size > 0 ? (int64_t)pages * size : INT64_MAX;
    const int64_t group = base_group_memory("/proc/self/cgroup", "/sys/fs/cgroup");
    const int64_t least = group < whole ? group : whole;
    return least < INT64_MAX ? least : 0;
}

int64_t base_free_memory(const char *path)
{
    static const char name[] = "MemAvailable:";
    char text[PATH_BYTES];
    int64_t kilobytes = 0;
    read_text(path, text, sizeof text);
    const char *line = strstr(text, name);
    if (line)
        line += sizeof name - 1;
    if (!line || !base_parse_int(line + strspn(line, " "), line + strlen(line), &kilobytes))
        return 0;
    return kilobytes > 0 && kilobytes < INT64_MAX / 1024 ? kilobytes * 1024 : 0;
}

int base_most_threads(void)
{
    const int processors = omp_get_num_procs();
    return 4 * processors > LEAST_MOST_THREADS ? 4 * processors : LEAST_MOST_THREADS;
}
