/* Ctrl-C: once asks the solve to stop, so that its best x is written; twice ends the program. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { WATCHED = sizeof watched / sizeof *watched };

/* What the handler may touch: set before it is installed, cleared after it is gone. */
static _Atomic(spry_context *) running;
static atomic_bool asked;

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
    for (int i = 0; i < WATCHED; i++) /* one at a time in a thread */
        sigaddset(&action.sa_mask, watched[i]);
    sigaction(number, &action, NULL);
}

static void set_actions(void (*handler)(int))
{
    for (int i = 0; i < WATCHED; i++)
        set_action(watched[i], handler);
}

/* The first asks to stop. The second ends the program as if nobody had listened: two threads may be
 * in here at once, so the flag decides which is which, and the signal raised is delivered when this
 * handler returns. */
static void stop(int number)
{
    if (atomic_exchange(&asked, true)) {
        set_actions(SIG_DFL);
        raise(number);
        return;
    }
    spry_context *ctx = atomic_load(&running);
    if (ctx)
        spry_context_interrupt(ctx);
}

void signals_watch(spry_context *ctx)
{
    atomic_store(&running, ctx);
    atomic_store(&asked, false);
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
