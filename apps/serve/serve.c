/* spry serve: the command. */
#include "serve/serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

SPRY_OPTION_TABLE(rows, serve_options, SERVE_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

/* Who has the lock may come to free what takes it once more. */
static bool make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t kind;
    const bool good = pthread_mutexattr_init(&kind) == 0 &&
                      pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) == 0 &&
                      pthread_mutex_init(lock, &kind) == 0;
    pthread_mutexattr_destroy(&kind);
    return good;
}

static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (int k = 0; k < 2; k++)
        if (fcntl(ends[k], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[k], F_SETFL, O_NONBLOCK) != 0)
            return false;
    return true;
}

/* The limit of the system stands behind the library's own, which says what it lacks. */
static child_limits limits_of(const serve_options *o)
{
    const int64_t slack = 1 << 29;
    const bool unlimited = o->memory == 0 || o->memory > INT64_MAX / 2;
    return (child_limits){.memory = unlimited ? 0 : o->memory + o->memory / 4 + slack,
                          .seconds = o->seconds,
                          .file_bytes = o->file_bytes,
                          .nice = (int)o->nice};
}

static void print_address(const server *s, const char *path)
{
    if (s->o->quiet)
        return;
    printf("spry serves %s; Ctrl-C ends it. Open in a browser:\n", text_name(path));
    if (s->exposed)
        printf("other machines reach this page: who has the key reads the folder, sends files and "
               "runs jobs, and nothing is encrypted on the way\n");
}

static int serve(server *s, const char *path)
{
    int exit_status = http_listen(s, s->o);
    if (exit_status == EXIT_DONE)
        exit_status = guard_open(s, s->o); /* its file is named from where we are now */
    if (exit_status == EXIT_DONE)
        exit_status = folder_open(s, path);
    if (exit_status != EXIT_DONE)
        return exit_status;
    jobs_load(s);
    signals_watch(NULL);
    if (http_start(s)) {
        print_address(s, path);
        guard_announce(s);
        exit_status = watch_run(s);
    } else {
        exit_status = EXIT_RESOURCES;
    }
    return exit_status;
}

/* The last part of the folder's path. */
static char *name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *last = whole ? strrchr(whole, '/') : NULL;
    char *name = strdup(last && last[1] ? last + 1 : path);
    free(whole);
    return name;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    const serve_options *o = arguments->fields[0];
    const char *path = arguments->count > 0 ? arguments->operands[0] : ".";
    server *s = cli_alloc(sizeof *s);
    char *name = name_of(path);
    *s = (server){.ctx = ctx,
                  .o = o,
                  .folder = -1,
                  .state = -1,
                  .held = -1,
                  .listener = -1,
                  .wake = {-1, -1},
                  .name = name ? name : "",
                  .limits = limits_of(o)};
    int exit_status = EXIT_RESOURCES;
    (void)setenv("SPRY_SERVE_JOB", "1", 1); /* messages of jobs name this command's options */
    if (!make_lock(&s->lock) || !make_pipe(s->wake))
        cli_fail(EXIT_RESOURCES, "no lock or pipe is to be had");
    else if (!child_find_program(s))
        exit_status = EXIT_INPUT;
    else
        exit_status = serve(s, path);
    http_stop(s);
    signals_unwatch();
    jobs_free(s);
    folder_close(s);
    for (int k = 0; k < 2; k++)
        if (s->wake[k] >= 0)
            close(s->wake[k]);
    free(s->lists);
    free(name);
    free(s);
    return exit_status;
}

const cli_command app_command = {
    .name = "serve",
    .summary = "a page in the browser for a folder of matrices",
    .synopsis = "[FOLDER]",
    .description =
        "Shows the matrices of FOLDER (this one by default) in a page: pictures, what the doctor "
        "finds, plans, formats, solves with their residuals as they fall, several over each other, "
        "methods of your own. Work is done by jobs, processes of their own that wait for their "
        "turn, "
        "can be stopped, and go on when the page is closed; they are remembered in "
        "FOLDER/.spry-serve.\n"
        "The page is for this machine alone (127.0.0.1), and for who has the address that is "
        "printed: its token is good once, and another is printed then. docs/serve.md has what is "
        "done for safety.\n"
        "Ctrl-C ends the server and the jobs that run; those that wait go on with the next server.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options,
                                   "threads isa memory_limit "
                                   "repeat delays partition"},
                                  {0}},
    .examples = (const cli_example[]){{"spry serve matrices", "A page for the folder matrices."},
                                      {"spry serve --port 0 --jobs 2",
                                       "For this folder, at a free port, two jobs at a time."},
                                      {"spry serve --memory 8000000000 --seconds 3600",
                                       "A job may take 8 GB and an hour of processor time."},
                                      {"spry serve --listen 192.168.1.5 --key key.txt",
                                       "For other machines; think first."},
                                      {0}},
    .most = 1,
    .run = run,
};
