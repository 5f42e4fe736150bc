/* Ctrl-C: once asks the solve to stop, so that its best x is written; twice ends the program. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { WATCHED = sizeof watched / sizeof *watched };

/* What the handler may touch: set before it is installed, cleared after it is gone. */
static _Atomic(spry_context *) running;

/* Leaves alone what the parent had ignored, as nohup and a shell's & do. */
static void set_action(int number, void (*handler)(int))
{
    struct sigaction action, old;
    if (sigaction(number, NULL, &old) != 0 || old.sa_handler == SIG_IGN)
        return;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < WATCHED;
         i++) /* one at a time, so that a second finds the first's work done */
        sigaddset(&action.sa_mask, watched[i]);
    sigaction(number, &action, NULL);
}

static void set_actions(void (*handler)(int))
{
    for (int i = 0; i < WATCHED; i++)
        set_action(watched[i], handler);
}

/* The next signal, of any of them, meets the default action: the program ends. */
static void stop(int number)
{
    (void)number;
    spry_context *ctx = atomic_load(&running);
    if (ctx)
        spry_context_interrupt(ctx);
    set_actions(SIG_DFL);
}

void signals_watch(spry_context *ctx)
{
    atomic_store(&running, ctx);
    set_actions(stop);
}

void signals_unwatch(void)
{
    set_actions(SIG_DFL);
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
