#define _GNU_SOURCE /* of a thread's processors */
#include "direct/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What a library takes of the address space before its own data: its code, and OpenBLAS's buffer,
 * which is up to 256 MB. */
enum { ROOM = 320 << 20 };

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* Where there is no room OpenBLAS tries again for ever, so it is looked for first. */
static bool has_room(void)
{
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, ROOM) == 0;
}

/*
 * OpenBLAS makes a thread for each processor that the loading thread may use, and keeps them awake
 * on cores that ours want. Seeing one processor it makes none. (Its variables of the environment
 * are not a library's to set.) A process that has OpenBLAS already keeps it as it is.
 */
static void *open_alone(const char *file)
{
#ifdef __linux__
    cpu_set_t all, one;
    const bool known = sched_getaffinity(0, sizeof all, &all) == 0;
    CPU_ZERO(&one);
    for (size_t i = 0; known && i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    const bool alone = known && sched_setaffinity(0, sizeof one, &one) == 0;
#endif
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
#ifdef __linux__
    if (alone)
        (void)sched_setaffinity(0, sizeof all, &all);
#endif
    return library;
}

/* Tries the files; false with a reason. */
static bool load(factor_library *l, char *why, size_t size)
{
    const char *own = getenv(l->variable), *only[2] = {own, NULL};
    snprintf(why, size, "%s is empty", l->variable);
    for (const char *const *file = own ? only : l->files; *file && **file; file++) {
        void *library = open_alone(*file);
        const char *reason = library ? NULL : dlerror();
        const char *missing =
            library ? base_find_symbols(library, l->symbols, l->count, l->table) : NULL;
        if (library && !missing)
            return true;
        if (missing)
            snprintf(why, size, "%s has no %s", *file, missing);
        else
            snprintf(why, size, "%s", reason ? reason : *file);
    }
    return false;
}

spry_status factor_library_load(spry_context *ctx, factor_library *l)
{
    char why[256];
    spry_status status = SPRY_STATUS_OK;
    if (!has_room()) {
        base_log(ctx, SPRY_LOG_INFO,
                 "%s is not used: less than %d MB of the address space are left", l->name,
                 ROOM >> 20);
        return SPRY_STATUS_NO_MEMORY;
    }
    pthread_mutex_lock(&loading);
    if (!l->loaded) {
        l->loaded = true;
        l->is_present = load(l, why, sizeof why);
        if (!l->is_present)
            base_log(ctx, SPRY_LOG_INFO, "%s is not used: %s", l->name, why);
    }
    if (!l->is_present)
        status = SPRY_STATUS_UNSUPPORTED;
    pthread_mutex_unlock(&loading);
    return status;
}
