/* A stack that is large enough. Kernels keep tiles of tens of kilobytes on it, drivers' compilers
 * far more, and `ulimit -s 64` leaves main() and every thread that is made with 64 kB. */
#define _GNU_SOURCE /* the threads' default */
#include "cli.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

enum { ENOUGH = 4 << 20, GIVEN = 8 << 20 };

typedef struct call {
    int (*body)(int argc, char **argv);
    int argc;
    char **argv;
    int exit_status;
} call;

static void *run(void *data)
{
    call *c = data;
    c->exit_status = c->body(c->argc, c->argv);
    return NULL;
}

/* A thread's stack is not limited by what the main one's is, and OpenMP's threads take the default.
 */
int stack_run(int (*body)(int argc, char **argv), int argc, char **argv)
{
    struct rlimit limit;
    pthread_attr_t attributes;
    pthread_t thread;
    call c = {body, argc, argv, EXIT_RESOURCES};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= ENOUGH ||
        pthread_attr_init(&attributes) != 0)
        return body(argc, argv);
    int error = pthread_attr_setstacksize(&attributes, GIVEN);
#ifdef __GLIBC__
    if (error == 0)
        error = pthread_setattr_default_np(&attributes);
#endif
    if (error == 0)
        error = pthread_create(&thread, &attributes, run, &c);
    if (error == 0)
        pthread_join(thread, NULL);
    else
        cli_fail(EXIT_RESOURCES, "no thread with a stack of %d MB: %s", GIVEN >> 20,
                 strerror(error));
    pthread_attr_destroy(&attributes);
    return c.exit_status;
}
