/* Ctrl-C: once asks the solve to stop, so that its best x is written, or the writing of a file, so
 * that nothing half is left; twice ends the program. And signals that are about files. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

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

void signals_tell(spry_context *ctx)
{
    atomic_store(&running, ctx);
}

bool signals_came(void)
{
    return atomic_load(&asked);
}

void signals_unwatch(void)
{
    set_actions(SIG_DFL);
    atomic_store(&running, NULL);
}

static atomic_flag told = ATOMIC_FLAG_INIT;

/* The pages of a mapped file that are no longer there. Other faults of the bus are the program's
 * own, and come again once nobody listens. */
static void file_shrank(int number, siginfo_t *about, void *context)
{
    static const char text[] = "spry: a file was cut short while it was being read\n";
    (void)context;
    if (about->si_code == BUS_ADRERR) {
        while (atomic_flag_test_and_set(&told)) /* by another thread, which ends them all */
            pause();
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(EXIT_INPUT);
    }
    signal(number, SIG_DFL);
}

void signals_prepare(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
    action.sa_sigaction = file_shrank;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, NULL);
}
