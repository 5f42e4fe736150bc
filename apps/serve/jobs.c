/*
 * Jobs. Each has a folder: its record job.json, written whole; log, what its process prints, which
 * is locked as long as that lives, so that a server that comes later finds out; pid, written by the
 * process; and what it makes: job-17.json, x.mtx, report.html.
 */
#include "serve/serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MOST = 10000, RECORD_MOST = 1 << 20 };

bool job_is_over(const job *j)
{
    return j->state != STATE_queued && j->state != STATE_running;
}

/* --- what a process prints ---------------------------------------------------------------------*/

bool job_poll_log(job *j)
{
    struct stat about;
    char tail[2 * LINE_MOST + 1];
    if (j->log < 0)
        j->log = open(job_path(j, "log"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (j->log < 0 || fstat(j->log, &about) != 0 || about.st_size == j->log_size)
        return false;
    j->log_size = about.st_size;
    const off_t from = about.st_size > 2 * LINE_MOST ? about.st_size - 2 * LINE_MOST : 0;
    const ssize_t got = pread(j->log, tail, sizeof tail - 1, from);
    tail[got > 0 ? got : 0] = '\0';
    for (char *p = tail, *end; (end = strchr(p, '\n')); p = end + 1) {
        *end = '\0';
        if (*p == '{' && end - p < LINE_MOST)
            memcpy(j->progress, p, (size_t)(end - p) + 1);
    }
    return true;
}

static void close_log(job *j)
{
    if (j->log >= 0)
        close(j->log);
    j->log = -1;
}

/* The last line that is no progress, without "spry: ". */
static void take_message(job *j)
{
    char tail[4096 + 1];
    const off_t from = j->log_size > 4096 ? j->log_size - 4096 : 0;
    const ssize_t got = j->log >= 0 ? pread(j->log, tail, sizeof tail - 1, from) : 0;
    tail[got > 0 ? got : 0] = '\0';
    for (char *p = tail; *p;) {
        const size_t length = strcspn(p, "\n");
        if (*p != '{' && length > 0) {
            const size_t skip = strncmp(p, "spry: ", 6) == 0 ? 6 : 0;
            snprintf(j->message, sizeof j->message, "%.*s", (int)(length - skip), p + skip);
        }
        p += length + (p[length] == '\n');
    }
}

/* Whether its processor time was used up, which nobody but the system ends. Limits are kept by the
 * clock's ticks, so what was used in all is near them only. */
static bool took_its_time(const job *j, bool status_known)
{
    const child *p = &j->process;
    const bool stopped =
        j->state == STATE_failed || (j->summary && strstr(j->summary, "\"interrupted\""));
    return status_known && stopped && !j->asked && p->most > 0 && p->used >= 0.8 * p->most;
}

void job_judge(job *j, bool status_known)
{
    char name[64];
    const int status = j->process.status;
    job_result_name(j, name);
    const bool answered = job_has_file(j, j->spec.kind == KIND_report ? "report.html" : name);
    job_poll_log(j);
    job_take_result(j);
    j->ended = job_time();
    j->dirty = true;
    /* that something will not fit is the answer of a plan */
    const int most = j->spec.kind == KIND_plan ? EXIT_RESOURCES : EXIT_UNCONVERGED;
    const bool failed = status_known && (!WIFEXITED(status) || WEXITSTATUS(status) > most);
    j->state = j->asked ? STATE_cancelled : answered && !failed ? STATE_done : STATE_failed;
    if (j->state == STATE_failed)
        take_message(j);
    close_log(j);
    if (took_its_time(j, status_known)) {
        snprintf(j->message, sizeof j->message,
                 "stopped: it took the processor time that a job may have; "
                 "spry serve --seconds N allows more");
    } else if (j->state != STATE_failed) {
        return;
    } else if (status_known && WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        snprintf(j->message, sizeof j->message,
                 number == SIGKILL ? "ended by signal 9: most likely the memory did not suffice"
                                   : "ended by signal %d",
                 number);
    } else if (!*j->message) {
        snprintf(j->message, sizeof j->message,
                 status_known ? "ended without a result"
                              : "ended without a result, while no server was there");
    }
}

/* To the process and what it has started. Of one that another server has begun, the number is good
 * as long as it lives. */
void job_signal(const job *j, int number)
{
    if (j->process.pid > 0 && (j->ours ? !j->process.ended : job_lives(j)) &&
        kill(-j->process.pid, number) != 0)
        (void)kill(j->process.pid, number);
}

void job_cancel(job *j)
{
    if (j->state == STATE_queued) {
        j->state = STATE_cancelled;
        j->ended = job_time();
        j->dirty = true;
    } else if (j->state == STATE_running && !j->asked) {
        j->asked = true;
        j->asked_at = cli_clock();
        job_signal(j, SIGTERM);
    }
}

/* Texts are made with the lock and written without it: the disk may take its time. Only the thread
 * that is here removes jobs. */
static void save_one(server *s, job *j)
{
    size_t size = 0;
    char *text = job_record(j, &size);
    const char *method = job_is_over(j) ? NULL : j->spec.text; /* stays as it is */
    j->dirty = false;
    pthread_mutex_unlock(&s->lock);
    spry_status status = text ? SPRY_STATUS_OK : SPRY_STATUS_NO_MEMORY;
    if (text && method)
        status = spry_text_write(s->ctx, method, strlen(method), job_path(j, "method.krylov"));
    if (status == SPRY_STATUS_OK)
        status = spry_text_write(s->ctx, text, size, job_path(j, "job.json"));
    if (status != SPRY_STATUS_OK)
        cli_failed(s->ctx, status);
    free(text);
    pthread_mutex_lock(&s->lock);
}

void jobs_save(server *s)
{
    for (int i = 0; i < s->job_count; i++)
        if (s->jobs[i]->dirty && !s->jobs[i]->gone)
            save_one(s, s->jobs[i]);
}

/* --- the list ----------------------------------------------------------------------------------*/

job *jobs_find(const server *s, int64_t id)
{
    for (int i = 0; i < s->job_count; i++)
        if (s->jobs[i]->id == id && !s->jobs[i]->gone)
            return s->jobs[i];
    return NULL;
}

int jobs_count(const server *s, int state)
{
    int count = 0;
    for (int i = 0; i < s->job_count; i++)
        count += s->jobs[i]->state == state;
    return count;
}

static void job_free(job *j)
{
    if (!j)
        return;
    close_log(j);
    if (j->process.door >= 0)
        close(j->process.door);
    spec_free(&j->spec);
    free(j->command);
    free(j->summary);
    free(j);
}

void jobs_free(server *s)
{
    for (int i = 0; i < s->job_count; i++)
        job_free(s->jobs[i]);
    free(s->jobs);
    s->jobs = NULL;
    s->job_count = s->job_room = 0;
}

static char *typed_command(const spec *asked)
{
    command c = {0};
    char *text = NULL;
    size_t size = 0;
    spec_command(asked, &(spec_place){.folder = "", .result = ""}, &c);
    FILE *out = c.bad ? NULL : open_memstream(&text, &size);
    if (out) {
        command_print(&c, out);
        if (fclose(out) != 0) {
            free(text);
            text = NULL;
        }
    }
    command_free(&c);
    return text;
}

/* With room in the list and a folder; takes the spec over where it succeeds. */
static job *add(server *s, int64_t id, spec *asked)
{
    char path[PATH_MOST];
    if (s->job_count == s->job_room) {
        const int room = s->job_room ? 2 * s->job_room : 64;
        job **more = realloc(s->jobs, (size_t)room * sizeof *more);
        if (!more)
            return NULL;
        s->jobs = more;
        s->job_room = room;
    }
    job *j = calloc(1, sizeof *j);
    char *typed = typed_command(asked);
    snprintf(path, sizeof path, "%s/%lld", JOBS_FOLDER, (long long)id);
    if (!j || !typed || (mkdir(path, 0700) != 0 && errno != EEXIST)) {
        free(j);
        free(typed);
        return NULL;
    }
    j->id = id;
    j->spec = *asked;
    asked->text = NULL;
    j->command = typed;
    j->log = j->process.door = -1;
    s->jobs[s->job_count++] = j;
    if (id > s->last_id)
        s->last_id = id;
    return j;
}

job *jobs_add(server *s, spec *asked)
{
    job *j = s->job_count < JOBS_MOST ? add(s, s->last_id + 1, asked) : NULL;
    if (j) {
        j->created = job_time();
        j->dirty = true;
    }
    return j;
}

static void remove_files(const job *j)
{
    static const char *const files[] = {"job.json", "log",           "pid",
                                        "x.mtx",    "method.krylov", "report.html"};
    char name[64];
    job_result_name(j, name);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        (void)unlink(job_path(j, files[k]));
    (void)unlink(job_path(j, name));
    (void)rmdir(job_path(j, ""));
}

void jobs_sweep(server *s)
{
    int kept = 0;
    for (int i = 0; i < s->job_count; i++) {
        job *j = s->jobs[i];
        if (j->gone) {
            remove_files(j);
            job_free(j);
        } else {
            s->jobs[kept++] = j;
        }
    }
    s->job_count = kept;
}

/* --- after an earlier run ----------------------------------------------------------------------*/

/* Whether its process lives: it holds the lock on the log. */
bool job_lives(const job *j)
{
    const int fd = open(job_path(j, "log"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool alive = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return alive;
}

/* When something was last written to a file; 0: there is none. */
static double time_written(const job *j, const char *file)
{
    struct stat about;
    return lstat(job_path(j, file), &about) == 0 ? (double)about.st_mtim.tv_sec : 0;
}

static void adopt(job *j)
{
    size_t size;
    char *pid = job_read(j, "pid", 32, &size);
    j->process.pid = pid ? (pid_t)strtol(pid, NULL, 10) : 0;
    j->state = STATE_running;
    free(pid);
}

static int find_state(const char *name)
{
    for (int k = 0; k < STATE_COUNT; k++)
        if (strcmp(name, job_states[k]) == 0)
            return k;
    return STATE_failed;
}

static double time_of(const reader *r, const char *key)
{
    const double found = reader_number(r, r->values, key);
    return isfinite(found) ? found : 0;
}

static void take_record(job *j, const reader *r)
{
    j->state = find_state(reader_text(r, r->values, "state"));
    j->created = time_of(r, "created");
    j->started = time_of(r, "started");
    j->ended = time_of(r, "ended");
    snprintf(j->message, sizeof j->message, "%s", reader_text(r, r->values, "message"));
    j->summary = job_summarise(r, reader_member(r, r->values, "summary"));
    if (job_is_over(j)) {
        job_poll_log(j);
        close_log(j);
        return;
    }
    if (j->started == 0) /* the server may have ended before it could note that */
        j->started = time_written(j, "pid");
    if (job_lives(j)) {
        adopt(j);
    } else if (job_has_file(j, "log")) { /* it was begun, and has ended since */
        job_judge(j, false);
        j->ended = time_written(j, "log");
    }
}

static void load_one(server *s, int64_t id)
{
    const job place = {.id = id};
    size_t size = 0;
    reader r;
    spec asked = {0};
    char fault[FAULT_SIZE] = "it cannot be read";
    char *text = job_read(&place, "job.json", RECORD_MOST, &size);
    const bool parsed = text && reader_parse(&r, text, size);
    job *j = parsed && spec_read(&asked, &r, r.values, fault) ? add(s, id, &asked) : NULL;
    if (j)
        take_record(j, &r);
    else
        cli_fail(EXIT_INPUT, "%s: this record is passed over: %s", job_path(&place, "job.json"),
                 fault);
    if (text)
        reader_free(&r);
    spec_free(&asked);
    free(text);
}

static int by_number(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

void jobs_load(server *s)
{
    int64_t *ids = cli_alloc(JOBS_MOST * sizeof *ids);
    int count = 0;
    DIR *listing = opendir(JOBS_FOLDER);
    const struct dirent *entry;
    while (listing && count < JOBS_MOST && (entry = readdir(listing))) {
        const size_t length = strlen(entry->d_name);
        if (length > 0 && length < 18 && strspn(entry->d_name, "0123456789") == length)
            ids[count++] = strtoll(entry->d_name, NULL, 10);
    }
    if (listing)
        closedir(listing);
    qsort(ids, (size_t)count, sizeof *ids, by_number);
    for (int i = 0; i < count; i++) {
        if (ids[i] > s->last_id) /* also where there is no record yet */
            s->last_id = ids[i];
        load_one(s, ids[i]);
    }
    free(ids);
}
