/* The watch: starts tasks and jobs that wait, follows those that run, wakes connections that wait
 * for them. */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_AT_ONCE = 4, DOORS = 128 };
static const double task_seconds = 120, patience = 5, beat = 15;

/* --- tasks -----------------------------------------------------------------------------------*/

static void begin_task(const server *s, task *e)
{
    const child_limits limits = {.memory = s->limits.memory,
                                 .seconds = 2 * (int64_t)task_seconds,
                                 .file_bytes = 1 << 28,
                                 .nice = s->limits.nice};
    const int text = e->text ? child_memory(e->text, strlen(e->text)) : -1;
    e->begun = true;
    e->since = cli_clock();
    for (int k = 0; k < e->count; k++) {
        e->out[k] = child_memory(NULL, 0);
        e->err[k] = child_memory(NULL, 0);
        const child_files files = {.out = e->out[k], .err = e->err[k], .text = text, .mark = -1};
        if (e->out[k] >= 0 && e->err[k] >= 0 && (!e->text || text >= 0))
            (void)child_start(s, &e->commands[k], &limits, &files, &e->children[k]);
    }
    if (text >= 0)
        close(text);
}

static bool task_is_done(server *s, task *e)
{
    bool done = true;
    if (cli_clock() - e->since > task_seconds || s->stopping)
        task_stop(e);
    for (int k = 0; k < e->count; k++)
        done = child_poll(&e->children[k]) && done;
    return done;
}

/* A file that was sent goes to the disk, which may take its time. */
static void end_upload(server *s, task *e)
{
    pthread_mutex_unlock(&s->lock);
    upload_end(s, e->upload);
    pthread_mutex_lock(&s->lock);
}

static void follow_tasks(server *s)
{
    int running = 0;
    for (task **at = &s->tasks; *at;) {
        task *e = *at;
        if (!e->begun && !s->stopping && (e->at > cli_clock() || running >= TASKS_AT_ONCE)) {
            at = &e->next;
            continue;
        }
        if (!e->begun && !s->stopping && e->upload)
            end_upload(s, e); /* others are only added behind meanwhile */
        if (!e->begun && !s->stopping)
            begin_task(s, e);
        if (!task_is_done(s, e)) {
            running++;
            at = &e->next;
            continue;
        }
        *at = e->next;
        s->task_count--;
        e->done = true;
        MHD_resume_connection(e->connection);
    }
}

/* --- jobs --------------------------------------------------------------------------------------*/

/* Files may have gone, or become links, since the job was made. */
static bool files_are_there(const server *s, job *j)
{
    const char *const names[] = {j->spec.file, j->spec.rhs};
    for (int k = 0; k < 2; k++) {
        const int fd = *names[k] ? folder_file(s, names[k]) : -1;
        if (*names[k] && fd < 0) {
            snprintf(j->message, sizeof j->message, "%s is no longer in the folder", names[k]);
            return false;
        }
        if (fd >= 0)
            close(fd);
    }
    return true;
}

static int open_own(const job *j, const char *file)
{
    return open(job_path(j, file), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                0600);
}

static bool start_process(server *s, job *j)
{
    char folder[PATH_MOST], result[64];
    command c = {0};
    snprintf(folder, sizeof folder, "%s/%lld/", JOBS_FOLDER, (long long)j->id);
    snprintf(result, sizeof result, "job-%lld.json", (long long)j->id);
    spec_command(&j->spec, &(spec_place){folder, result, true}, &c);
    if (s->o->memory > 0)
        command_add(&c, "--memory-limit=%lld", (long long)s->o->memory);
    const int log = open_own(j, "log"), mark = open_own(j, "pid");
    const child_files files = {.out = log, .err = log, .text = -1, .mark = mark};
    /* the process has the lock as long as it has the file */
    const bool good = log >= 0 && mark >= 0 && flock(log, LOCK_EX | LOCK_NB) == 0 &&
                      child_start(s, &c, &s->limits, &files, &j->process);
    if (!good)
        snprintf(j->message, sizeof j->message, "could not be started: %s", strerror(errno));
    if (log >= 0)
        close(log);
    if (mark >= 0)
        close(mark);
    command_free(&c);
    return good;
}

static void start_job(server *s, job *j)
{
    j->started = job_time();
    j->dirty = true;
    j->ours = true;
    if (files_are_there(s, j) && start_process(s, j)) {
        j->state = STATE_running;
    } else {
        j->state = STATE_failed;
        j->ended = j->started;
    }
    streams_wake(s, j);
}

static void follow_job(server *s, job *j)
{
    if (j->asked && cli_clock() > j->asked_at + patience)
        job_signal(j, SIGKILL);
    const bool over = j->ours ? child_poll(&j->process) : !job_lives(j);
    if (over)
        job_judge(j, j->ours);
    if (job_is_over(j) || job_poll_log(j))
        streams_wake(s, j);
}

static void follow_jobs(server *s)
{
    int running = 0;
    for (int i = 0; i < s->job_count; i++) {
        if (s->jobs[i]->state == STATE_running)
            follow_job(s, s->jobs[i]);
        running += s->jobs[i]->state == STATE_running;
    }
    for (int i = 0; i < s->job_count && running < s->o->jobs && !s->stopping; i++)
        if (s->jobs[i]->state == STATE_queued && !s->jobs[i]->dirty) {
            start_job(s, s->jobs[i]);
            running += s->jobs[i]->state == STATE_running;
        }
}

/* --- the round ---------------------------------------------------------------------------------*/

static int gather_doors(const server *s, struct pollfd doors[DOORS], bool *blind)
{
    int count = 0;
    *blind = false;
    doors[count++] = (struct pollfd){.fd = s->wake[0], .events = POLLIN};
    for (int i = 0; i < s->job_count && count < DOORS; i++)
        if (s->jobs[i]->process.door >= 0)
            doors[count++] = (struct pollfd){.fd = s->jobs[i]->process.door, .events = POLLIN};
    for (const task *e = s->tasks; e; e = e->next)
        for (int k = 0; k < e->count; k++) {
            const child *one = &e->children[k];
            if (one->door >= 0 && count < DOORS)
                doors[count++] = (struct pollfd){.fd = one->door, .events = POLLIN};
            *blind = *blind || (one->pid > 0 && !one->ended && one->door < 0);
        }
    return count;
}

/* Until something happens, or it is time to look. */
static void rest(server *s)
{
    struct pollfd doors[DOORS];
    char bytes[64];
    bool blind;
    const int count = gather_doors(s, doors, &blind);
    const bool busy = jobs_count(s, STATE_running) > 0;
    const int milliseconds = blind ? 10 : s->tasks ? 50 : busy ? 100 : 500;
    pthread_mutex_unlock(&s->lock);
    (void)poll(doors, (nfds_t)count, milliseconds);
    if (doors[0].revents)
        (void)!read(s->wake[0], bytes, sizeof bytes);
    pthread_mutex_lock(&s->lock);
}

/* Jobs end with the server that was asked to; what waits goes on with the next. */
static void end_jobs(server *s)
{
    for (int i = 0; i < s->job_count; i++) {
        job *j = s->jobs[i];
        if (j->state != STATE_running)
            continue;
        if (!j->asked)
            snprintf(j->message, sizeof j->message, "the server was stopped");
        job_cancel(j);
    }
    while (jobs_count(s, STATE_running) > 0) {
        follow_jobs(s);
        rest(s);
    }
}

int watch_run(server *s)
{
    double last_beat = cli_clock();
    pthread_mutex_lock(&s->lock);
    while (!signals_pending()) {
        jobs_sweep(s);
        jobs_save(s);
        follow_tasks(s);
        follow_jobs(s);
        if (cli_clock() - last_beat > beat) {
            last_beat = cli_clock();
            streams_wake(s, NULL);
        }
        rest(s);
    }
    s->stopping = true;
    follow_tasks(s);
    end_jobs(s);
    jobs_save(s);
    streams_wake(s, NULL);
    pthread_mutex_unlock(&s->lock);
    return EXIT_DONE;
}
