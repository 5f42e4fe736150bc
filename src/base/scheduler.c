/* What the system's scheduler knows of a thread. */
#define _GNU_SOURCE
#include "base/background.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int base_thread_id(void)
{
#ifdef SYS_gettid
    return (int)syscall(SYS_gettid);
#else
    return 0;
#endif
}

double base_thread_waited(int id)
{
    char path[64], text[96];
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
    const int file = id > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return INFINITY;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    char *at = text, *end = NULL;
    (void)strtoull(at, &end, 10); /* nanoseconds on a core */
    if (end == at)
        return INFINITY;
    at = end;
    const unsigned long long waited = strtoull(at, &end, 10);
    return end == at ? INFINITY : (double)waited * 1e-9;
}
