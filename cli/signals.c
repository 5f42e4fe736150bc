/* Ctrl-C: once asks the solve to stop, so that its best x is written; twice ends the program. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { WATCHED = sizeof watched / sizeof *watched };

/* What a handler may touch: set before it is installed, cleared after it is gone. */
static _Atomic(spry_context *) running;

static void set_handlers(void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < WATCHED; i++)
        sigaction(watched[i], &action, NULL);
}

/* The next signal, of any of them, meets the default action: the program ends. */
static void stop(int number)
{
    (void)number;
    spry_context *ctx = atomic_load(&running);
    if (ctx)
        spry_context_interrupt(ctx);
    set_handlers(SIG_DFL);
}

void signals_watch(spry_context *ctx)
{
    atomic_store(&running, ctx);
    set_handlers(stop);
}

void signals_unwatch(void)
{
    set_handlers(SIG_DFL);
    atomic_store(&running, NULL);
}

void signals_ignore_pipe(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}
