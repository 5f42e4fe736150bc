/* The context that lives from the first call to the end, and requests to stop. */
#include "gate.h"

#include <signal.h>

static spry_context *context;
/* How many calls listen to requests to stop: a function of the caller's may call us again. */
static int listening;

/* The outcome of a solve is in its result; without an output for it, a warning reports it. */
static void log_line(void *data, spry_log_level level, const char *text)
{
    (void)data;
    if (level == SPRY_LOG_WARNING && listening == 0)
        mexPrintf("spry: %s\n", text);
}

/* Also called by `clear all` and at the end of the program. */
void context_close(void)
{
    kept_free_all();
    spry_context_free(context);
    context = NULL;
}

/* What lives is left as it is until the new one is made. */
static bool open(const char *options)
{
    spry_context *made = NULL;
    const spry_status status = spry_context_new(options, &made);
    if (!gate_check_of(status, made)) {
        spry_context_free(made);
        return false;
    }
    static bool registered;
    if (!registered)
        mexAtExit(context_close);
    registered = true;
    spry_context_set_log(made, log_line, NULL);
    context_close();
    context = made;
    return true;
}

spry_context *gate_context(void)
{
    return context || open(NULL) ? context : NULL;
}

/* spry_mex('open', OPTIONS): starts again, with these options of the context. */
bool command_open(gate_call *call)
{
    if (!gate_count(call, 0, 1))
        return false;
    char *options = call->in_count ? gate_text(call->in[0], "the options of the context") : NULL;
    if (call->in_count && !options)
        return false;
    if (listening > 0)
        return gate_fail("badUsage", "a call of the context runs");
    if (!open(options))
        return false;
    call->out[0] = mxCreateDoubleScalar(spry_context_threads(context));
    return true;
}

/* MATLAB notes Ctrl-C without a signal; these are its own, where they can be found. */
#if defined(__GNUC__)
extern bool utIsInterruptPending(void) __attribute__((weak));
bool gate_can_ask(void)
{
    return utIsInterruptPending != NULL;
}

bool gate_stop_asked(void)
{
    return gate_can_ask() && utIsInterruptPending();
}
#else
bool gate_can_ask(void)
{
    return false;
}

bool gate_stop_asked(void)
{
    return false;
}
#endif

static volatile sig_atomic_t signalled;

#if defined(_WIN32)
void gate_listen(void)
{
    if (listening++ == 0)
        spry_context_interrupted(context, true);
}

bool gate_listen_end(void)
{
    listening--;
    return false;
}
#else
static struct sigaction before;

/* The interpreter's own handler would have it end the call by an exception, through the library's
 * functions: the library comes back by itself, and then the signal is given to the interpreter. */
static void on_signal(int number)
{
    (void)number;
    signalled = 1;
    spry_context_interrupt(context);
}

void gate_listen(void)
{
    if (listening++ > 0)
        return;
    signalled = 0;
    spry_context_interrupted(context, true);
    struct sigaction ours = {.sa_flags = SA_RESTART};
    ours.sa_handler = on_signal;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGINT, &ours, &before);
}

bool gate_listen_end(void)
{
    if (--listening > 0)
        return signalled != 0;
    sigaction(SIGINT, &before, NULL);
    spry_context_interrupted(context, true);
    if (!signalled)
        return false;
    raise(SIGINT);
    return true;
}
#endif
