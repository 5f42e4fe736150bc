/* Ctrl-C: once asks the solve to stop, so that its best x is written, or the writing of a file, so
 * that nothing half is left; twice ends the program. And signals that are about files. */
#include "cli.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { WATCHED = sizeof watched / sizeof *watched };

/* What the listener may touch: set before it is to stop anything, cleared after. */
static _Atomic(spry_context *) running;
static atomic_bool watching, asked, stopping, no_time;

/*
 * Signals are blocked in all threads and taken by one of their own, so that no handler runs in the
 * middle of something: METIS installs one that jumps back to where it was called, whichever thread
 * runs it. Handlers are there all the same, for whoever looks at who listens, and for systems that
 * give no thread.
 */

/* Those that the parent had not ignored, as nohup and a shell's & do. */
static void find_watched(sigset_t *set)
{
    struct sigaction old;
    sigemptyset(set);
    for (int i = 0; i < WATCHED; i++)
        if (sigaction(watched[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaddset(set, watched[i]);
}

static void set_actions(void (*handler)(int))
{
    struct sigaction action;
    sigset_t ours;
    find_watched(&ours);
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    action.sa_mask = ours; /* one at a time in a thread */
    for (int i = 0; i < WATCHED; i++)
        if (sigismember(&ours, watched[i]) == 1)
            sigaction(watched[i], &action, NULL);
}

/* The first asks to stop. The second ends the program as if no handler were set, and so does one
 * while nothing is watched. SIGXCPU comes each second until the system ends the program. */
static void stop(int number)
{
    const bool listens = atomic_load(&watching), again = listens && atomic_exchange(&asked, true);
    if (number == SIGXCPU)
        atomic_store(&no_time, true);
    if (again && number == SIGXCPU)
        return;
    if (!listens || again) {
        sigset_t one;
        set_actions(SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, number);
        raise(number);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
        return;
    }
    atomic_store(&stopping, true);
    spry_context *ctx = atomic_load(&running);
    if (ctx)
        spry_context_interrupt(ctx);
    atomic_store(&stopping, false);
}

static void *listen_to(void *set)
{
    int number;
    while (sigwait(set, &number) == 0)
        stop(number);
    return NULL;
}

/* Before there are other threads, which have the mask of who makes them. */
static void start_listener(void)
{
    static sigset_t ours;
    pthread_t thread;
    find_watched(&ours);
    if (pthread_sigmask(SIG_BLOCK, &ours, NULL) != 0)
        return;
    if (pthread_create(&thread, NULL, listen_to, &ours) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

void signals_watch(spry_context *ctx)
{
    atomic_store(&running, ctx);
    atomic_store(&asked, false);
    atomic_store(&no_time, false);
    atomic_store(&watching, true);
    set_actions(stop);
}

void signals_target(spry_context *ctx)
{
    spry_context *before = atomic_exchange(&running, ctx);
    while (atomic_load(&stopping))
        sched_yield();
    if (before && before != ctx)
        (void)spry_context_interrupted(before, true); /* what it was to stop is over */
}

bool signals_pending(void)
{
    return atomic_load(&asked);
}

void signals_unwatch(void)
{
    if (atomic_exchange(&no_time, false) && !ranks_silent())
        cli_log(NULL, SPRY_LOG_WARNING,
                "stopped: the processor time that this process may take is used up (ulimit -t)");
    set_actions(SIG_DFL);
    atomic_store(&watching, false);
    atomic_store(&running, NULL);
}

static atomic_flag reported = ATOMIC_FLAG_INIT;

/* The pages of a mapped file that no longer exist. Other faults of the bus are the program's
 * own, and come again once no handler is set. */
static void file_shrank(int number, siginfo_t *about, void *context)
{
    static const char text[] = "spry: a file was cut short while it was being read\n";
    (void)context;
    if (about->si_code == BUS_ADRERR) {
        while (atomic_flag_test_and_set(&reported)) /* by another thread, which ends them all */
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
    start_listener();
}
