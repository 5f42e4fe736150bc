/* Complaints and the library's log, on the standard error; and the end of a program that cannot go
 * on. */
#include "cli.h"
#include "output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

int cli_fail(int exit_status, const char *format, ...)
{
    char text[4 * CLI_WORDS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (ranks_silent())
        return exit_status;
    progress_hide();
    fputs("spry: ", stderr);
    text_put(stderr, cli_spell(text));
    fputc('\n', stderr);
    progress_show();
    return exit_status;
}

int cli_failed(spry_context *ctx, spry_status status)
{
    const char *message = spry_message(ctx);
    cli_fail(EXIT_INPUT, "%s", *message ? message : spry_status_text(status));
    switch (status) {
    case SPRY_STATUS_NO_MEMORY:
    case SPRY_STATUS_DEVICE:
    case SPRY_STATUS_DEVICE_LOST:
        return EXIT_RESOURCES;
    case SPRY_STATUS_INTERRUPTED:
        return EXIT_STOPPED;
    default:
        return EXIT_INPUT;
    }
}

void cli_log(void *data, spry_log_level level, const char *text)
{
    static const char *const names[] = {"warning: ", "", "debug: "};
    (void)data;
    if (ranks_silent())
        return;
    progress_hide();
    fprintf(stderr, "spry: %s", names[level]);
    text_put(stderr, cli_spell(text));
    fputc('\n', stderr);
    progress_show();
}

static bool leaving; /* the program ends itself; else a library ends it */

void cli_leave(void)
{
    leaving = true;
}

void *cli_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory) {
        leaving = true;
        exit(cli_fail(EXIT_RESOURCES, "no memory for %zu bytes", bytes));
    }
    return memory;
}

/* OpenMP's run-times, and other libraries, end the program where they are refused a thread or
 * memory, with a message and an exit status that means something else here. */
static void ended_by_others(void)
{
    static const char text[] = "spry: ended by a library that could not go on\n";
    if (!leaving) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(EXIT_RESOURCES);
    }
}

void cli_watch_exit(void)
{
    (void)atexit(ended_by_others);
}
