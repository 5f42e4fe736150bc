/*
 * Runs side by side: processes of the application, each with a folder for what it writes. A folder
 * also has `command`, its words, and, once it has ended, `exit`: a sweep that is started again
 * takes what it finds of the same words, from after its files were changed last.
 */
#include "sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Words of a run, in one array of texts. */
typedef struct words {
    char *list[SWEEP_PARAMETERS + 128];
    int count;
} words;
enum { WORDS_MOST = sizeof(((words *)NULL)->list) / sizeof(char *) - 1 };

static void add_word(words *w, const char *before, const char *text)
{
    if (w->count == WORDS_MOST)
        return;
    const size_t size = strlen(before) + strlen(text) + 1;
    w->list[w->count] = cli_alloc(size);
    snprintf(w->list[w->count++], size, "%s%s", before, text);
}

static void free_words(words *w)
{
    while (w->count > 0)
        free(w->list[--w->count]);
}

static void path_of(const sweep *s, int64_t run, const char *file, char path[SWEEP_PATH])
{
    snprintf(path, SWEEP_PATH, "%s/run-%04lld%s%s", s->folder, (long long)run + 1, *file ? "/" : "",
             file);
}

/* Parts of one option, "KEY VALUE, KEY VALUE"; those of the first of them at its place. */
static void add_parts(const sweep *s, int64_t run, int first, words *w)
{
    const sweep_grid *g = &s->grid;
    char text[SWEEP_WORDS] = "", before[CLI_NAME + 4];
    for (int i = 0; i < g->count; i++) {
        const size_t used = strlen(text);
        if (g->list[i].option != g->list[first].option)
            continue;
        if (i < first)
            return;
        snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "", g->list[i].key,
                 values_of(g, run, i));
    }
    snprintf(before, sizeof before, "--%s=", g->list[first].option->name);
    add_word(w, before, text);
}

static void add_parameter(const sweep *s, int64_t run, int i, words *w)
{
    const sweep_parameter *p = &s->grid.list[i];
    const char *value = values_of(&s->grid, run, i);
    char before[CLI_NAME + 4], path[SWEEP_PATH];
    snprintf(before, sizeof before, "--%s=", p->option->name);
    if (p->key) {
        add_parts(s, run, i, w);
    } else if (p->option->kind == 'p' && !p->option->reads) {
        path_of(s, run, value, path);
        add_word(w, before, path);
    } else {
        add_word(w, before, value);
    }
}

/* All words of a run. What is shared out comes first, so that parameters count. */
static void make_words(const sweep *s, int64_t run, words *w)
{
    char path[SWEEP_PATH], number[32];
    add_word(w, "", s->application.path);
    for (int k = 0; k < s->word_count; k++)
        add_word(w, "", s->words[k]);
    if (s->threads > 0) {
        snprintf(number, sizeof number, "%d", s->threads);
        add_word(w, "--threads=", number);
    }
    if (s->memory > 0) {
        snprintf(number, sizeof number, "%lld", (long long)s->memory);
        add_word(w, "--memory-limit=", number);
    }
    if (application_option(&s->application, "json")) {
        path_of(s, run, "run.json", path);
        add_word(w, "--json=", path);
    }
    for (int i = 0; i < s->grid.count; i++)
        add_parameter(s, run, i, w);
}

/* The words that decide what comes out: not those of what is shared out. */
static void put_command(const sweep *s, const words *w, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < w->count && used < size; i++)
        if ((s->threads == 0 || strncmp(w->list[i], "--threads=", 10) != 0) &&
            (s->memory == 0 || strncmp(w->list[i], "--memory-limit=", 15) != 0))
            used += (size_t)snprintf(text + used, size - used, "%s\n", w->list[i]);
}

static size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    const size_t got = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = '\0';
    return got;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    const bool good = file && fputs(text, file) >= 0;
    return file && fclose(file) == 0 && good;
}

/* Whether a file was changed after a moment: the program, what operands and values name. */
static bool is_newer(const char *path, const struct timespec *when)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    return about.st_mtim.tv_sec > when->tv_sec ||
           (about.st_mtim.tv_sec == when->tv_sec && about.st_mtim.tv_nsec > when->tv_nsec);
}

/* Whether a run of an earlier sweep can be taken: of the same words, ended well, and not older than
 * what it read. */
static bool is_kept(sweep *s, int64_t run, const words *w)
{
    char path[SWEEP_PATH], text[SWEEP_WORDS * 4], command[SWEEP_WORDS * 4];
    struct stat about;
    sweep_run *r = &s->runs[run];
    path_of(s, run, "command", path);
    read_text(path, text, sizeof text);
    put_command(s, w, command, sizeof command);
    path_of(s, run, "exit", path);
    if (strcmp(text, command) != 0 || stat(path, &about) != 0)
        return false;
    read_text(path, text, sizeof text);
    if (sscanf(text, "%d %lf", &r->exit_status, &r->seconds) != 2 || r->exit_status != EXIT_DONE)
        return false;
    for (int i = 0; i < w->count; i++) {
        const char *value = i > s->word_count ? strchr(w->list[i], '=') : NULL;
        const char *named = value ? value + 1 : w->list[i];
        const size_t length = strlen(s->folder);
        const bool own = strncmp(named, s->folder, length) == 0 && named[length] == '/';
        if (!own && is_newer(named, &about.st_mtim))
            return false;
    }
    path_of(s, run, "run.json", path);
    numbers_take(s, run, path);
    return true;
}

/* Between fork and exec. Of a group of its own: the terminal's Ctrl-C is the sweep's, which hands
 * it on; and it ends with the sweep, however that ends. */
static _Noreturn void become(const sweep *s, const words *w, const char *out, const char *err,
                             pid_t parent)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < 32; number++)
        (void)sigaction(number, &plain, NULL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0);
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    const int in = open("/dev/null", O_RDONLY);
    const int to = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int complaints = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (getppid() == parent && in >= 0 && to >= 0 && complaints >= 0 &&
        dup2(in, STDIN_FILENO) >= 0 && dup2(to, STDOUT_FILENO) >= 0 &&
        dup2(complaints, STDERR_FILENO) >= 0)
        (void)execv(s->application.path, w->list);
    _exit(EXIT_RESOURCES);
}

static int cannot(const char *path)
{
    return cli_fail(EXIT_RESOURCES, "%s: %s", text_name(path), strerror(errno));
}

static int start(sweep *s, int64_t run, const words *w)
{
    char path[SWEEP_PATH], out[SWEEP_PATH], err[SWEEP_PATH], command[SWEEP_WORDS * 4];
    static const char *const old[] = {"exit", "run.json"};
    sweep_run *r = &s->runs[run];
    path_of(s, run, "", path);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return cannot(path);
    for (int k = 0; k < 2; k++) {
        path_of(s, run, old[k], path);
        if (unlink(path) != 0 && errno != ENOENT)
            return cannot(path);
    }
    path_of(s, run, "command", path);
    put_command(s, w, command, sizeof command);
    if (!write_text(path, command))
        return cannot(path);
    path_of(s, run, "out", out);
    path_of(s, run, "err", err);
    r->begun = cli_clock();
    const pid_t parent = getpid();
    r->pid = fork();
    if (r->pid == 0)
        become(s, w, out, err, parent);
    if (r->pid < 0)
        return cannot("a process");
    (void)setpgid(r->pid, r->pid); /* whichever of both comes first */
    r->state = RUN_GOES;
    s->going++;
    return EXIT_DONE;
}

/* The last line that a run complained with. */
static void take_message(const sweep *s, int64_t run)
{
    char path[SWEEP_PATH], text[SWEEP_WORDS];
    sweep_run *r = &s->runs[run];
    path_of(s, run, "err", path);
    read_text(path, text, sizeof text);
    char *line = text + strlen(text);
    while (line > text && line[-1] == '\n')
        *--line = '\0';
    while (line > text && line[-1] != '\n')
        line--;
    line += strncmp(line, "spry: ", 6) == 0 ? 6 : 0;
    snprintf(r->message, sizeof r->message, "%.*s", (int)sizeof r->message - 1, line);
    if (!*r->message)
        snprintf(r->message, sizeof r->message, "it ended without a message");
}

static void take_end(sweep *s, int64_t run, int status, bool stopped)
{
    char path[SWEEP_PATH], text[64];
    sweep_run *r = &s->runs[run];
    r->seconds = cli_clock() - r->begun;
    r->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    r->state = stopped && r->exit_status != EXIT_DONE ? RUN_STOPPED : RUN_ENDED;
    s->going--;
    s->done += r->state == RUN_ENDED;
    s->failed += r->state == RUN_ENDED && r->exit_status != EXIT_DONE;
    path_of(s, run, "run.json", path);
    numbers_take(s, run, path);
    if (r->exit_status != EXIT_DONE)
        take_message(s, run);
    path_of(s, run, "exit", path);
    snprintf(text, sizeof text, "%d %.3f\n", r->exit_status, r->seconds);
    if (r->state == RUN_ENDED)
        (void)write_text(path, text);
}

/* Takes all that have ended. */
static void poll_runs(sweep *s, int64_t begun, bool stopped)
{
    for (int64_t run = 0; run < begun; run++) {
        int status = 0;
        if (s->runs[run].state != RUN_GOES)
            continue;
        const pid_t found = waitpid(s->runs[run].pid, &status, WNOHANG);
        if (found == s->runs[run].pid || (found < 0 && errno == ECHILD))
            take_end(s, run, found < 0 ? EXIT_RESOURCES << 8 : status, stopped);
    }
}

static void signal_all(const sweep *s, int number)
{
    for (int64_t run = 0; run < s->grid.runs; run++)
        if (s->runs[run].state == RUN_GOES)
            (void)kill(s->runs[run].pid, number);
}

/* The next run that is not one of an earlier sweep, from `next` on; an exit status. */
static int start_next(sweep *s, int64_t *next)
{
    words w = {.count = 0};
    int exit_status = EXIT_DONE;
    const int64_t run = (*next)++;
    make_words(s, run, &w);
    if (is_kept(s, run, &w)) {
        s->runs[run].state = RUN_KEPT;
        s->kept++;
    } else {
        s->runs[run].seconds = 0;
        exit_status = start(s, run, &w);
    }
    free_words(&w);
    return exit_status;
}

static void show(sweep *s, double *written)
{
    char text[96];
    const int64_t done = s->done + s->kept;
    snprintf(text, sizeof text, "%s of %s runs, %s now, %s failed", text_count(done),
             text_count(s->grid.runs), text_count(s->going), text_count(s->failed));
    progress_part(&s->line, (double)done / (double)s->grid.runs, text);
    if (cli_clock() - *written < 1)
        return;
    (void)numbers_write(s); /* what a kill would leave */
    *written = cli_clock();
}

int runs_go(sweep *s)
{
    const struct timespec pause = {0, 5000000};
    double written = cli_clock();
    int64_t next = 0;
    bool stopped = false;
    int exit_status = EXIT_DONE;
    while (s->going > 0 || (next < s->grid.runs && !stopped && exit_status == EXIT_DONE)) {
        if (!stopped && (signals_pending() || exit_status != EXIT_DONE)) {
            stopped = true;
            signal_all(s, SIGINT);
        }
        while (!stopped && exit_status == EXIT_DONE && s->going < s->jobs && next < s->grid.runs &&
               !signals_pending())
            exit_status = start_next(s, &next);
        poll_runs(s, next, stopped);
        show(s, &written);
        if (s->going > 0)
            nanosleep(&pause, NULL);
    }
    return exit_status != EXIT_DONE ? exit_status : stopped ? EXIT_STOPPED : EXIT_DONE;
}
