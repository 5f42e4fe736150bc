/* What the page asks for: jobs, and what they have made. */
#include "serve/serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOBS_SHOWN = 1000, COMPARED = 16, LOG_SHOWN = 1 << 20 };

static enum MHD_Result get_jobs(server *s, struct MHD_Connection *connection)
{
    draft d;
    if (!draft_begin(&d))
        return MHD_NO;
    json_open(&d.j, NULL, '{');
    json_open(&d.j, "jobs", '[');
    pthread_mutex_lock(&s->lock);
    for (int i = s->job_count, shown = 0; i-- > 0 && shown < JOBS_SHOWN;)
        if (!s->jobs[i]->gone && ++shown)
            job_json(&d.j, NULL, s->jobs[i]);
    pthread_mutex_unlock(&s->lock);
    json_close(&d.j, ']');
    json_close(&d.j, '}');
    return draft_send(&d, connection, MHD_HTTP_OK);
}

/* Whether the files exist, before a job waits for an hour to find out. */
static const char *missing_file(const server *s, const spec *asked)
{
    const char *const names[] = {asked->file, asked->rhs};
    for (int k = 0; k < 2; k++) {
        const int fd = *names[k] ? folder_file(s, names[k]) : -1;
        if (*names[k] && fd < 0)
            return names[k];
        if (fd >= 0)
            close(fd);
    }
    return NULL;
}

static enum MHD_Result add_job(server *s, spec *asked, struct MHD_Connection *connection)
{
    draft d;
    char id[24] = "";
    const char *missing = missing_file(s, asked);
    if (missing)
        return answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is no file %s in the folder",
                            missing);
    if (!draft_begin(&d))
        return MHD_NO;
    pthread_mutex_lock(&s->lock);
    const bool room = jobs_count(s, STATE_queued) < s->o->waiting;
    const job *j = room ? jobs_add(s, asked) : NULL;
    if (j) {
        snprintf(id, sizeof id, "%lld", (long long)j->id);
        json_open(&d.j, NULL, '{');
        json_text(&d.j, "id", id);
        json_text(&d.j, "command", j->command);
        json_close(&d.j, '}');
    }
    pthread_mutex_unlock(&s->lock);
    server_wake(s);
    if (*id)
        return draft_send(&d, connection, MHD_HTTP_CREATED);
    fclose(d.j.out);
    free(d.text);
    return room ? answer_fault(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "there is no room for one more job: forget some")
                : answer_fault(connection, MHD_HTTP_TOO_MANY_REQUESTS,
                               "%lld jobs wait already; cancel some, or wait",
                               (long long)s->o->waiting);
}

static enum MHD_Result post_job(server *s, const request *q, struct MHD_Connection *connection)
{
    spec asked;
    enum MHD_Result result = MHD_NO;
    if (!answer_take_spec(q, &asked, connection, spec_read, &result))
        return result;
    result = add_job(s, &asked, connection);
    spec_free(&asked);
    return result;
}

static enum MHD_Result get_job(const job *j, struct MHD_Connection *connection)
{
    draft d;
    if (!draft_begin(&d))
        return MHD_NO;
    job_json_all(&d.j, j);
    return draft_send(&d, connection, MHD_HTTP_OK);
}

static enum MHD_Result delete_job(server *s, job *j, struct MHD_Connection *connection)
{
    const bool over = job_is_over(j), forget = *answer_parameter(connection, "forget") == '1';
    draft d;
    if (over && !forget)
        return answer_fault(connection, MHD_HTTP_CONFLICT,
                            "this job has ended; forget=1 removes it and its files");
    if (!draft_begin(&d))
        return MHD_NO;
    if (over)
        j->gone = true;
    else
        job_cancel(j);
    streams_wake(s, j);
    job_json(&d.j, NULL, j);
    server_wake(s);
    return draft_send(&d, connection, MHD_HTTP_OK);
}

/* A file that the job has made. */
static enum MHD_Result get_job_file(const job *j, const char *file, const char *type, int policy,
                                    struct MHD_Connection *connection)
{
    struct stat about;
    char name[96];
    const int fd = open(job_path(j, file), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (fd >= 0)
            close(fd);
        return answer_fault(connection, MHD_HTTP_NOT_FOUND, "this job has made no such file");
    }
    struct MHD_Response *response = MHD_create_response_from_fd64((uint64_t)about.st_size, fd);
    if (!response) {
        close(fd);
        return MHD_NO;
    }
    snprintf(name, sizeof name, "attachment; filename=\"job-%lld-%s\"", (long long)j->id, file);
    if (policy != POLICY_REPORT)
        (void)MHD_add_response_header(response, "Content-Disposition", name);
    return answer(connection, MHD_HTTP_OK, type, policy, response);
}

/* What it printed last, without the lines for programs. */
static enum MHD_Result get_log(const job *j, struct MHD_Connection *connection)
{
    struct stat about;
    const int fd = open(job_path(j, "log"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool opened = fd >= 0 && fstat(fd, &about) == 0;
    const off_t from = opened && about.st_size > LOG_SHOWN ? about.st_size - LOG_SHOWN : 0;
    char *text = malloc(LOG_SHOWN + 1), *to = text;
    const ssize_t got = text && opened ? pread(fd, text, LOG_SHOWN, from) : 0;
    if (fd >= 0)
        close(fd);
    if (!text)
        return MHD_NO;
    text[got > 0 ? got : 0] = '\0';
    for (const char *p = text; *p;) {
        const size_t length = strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n');
        if (*p != '{') {
            memmove(to, p, length);
            to += length;
        }
        p += length;
    }
    return answer_text(connection, MHD_HTTP_OK, "text/plain; charset=utf-8", POLICY_PICTURE, text,
                       (size_t)(to - text));
}

/* "17" or "17/what"; the lock is held. */
static enum MHD_Result answer_job(server *s, struct MHD_Connection *connection, const char *method,
                                  const char *path)
{
    const size_t digits = strspn(path, "0123456789");
    const char *what = path[digits] == '/' ? path + digits + 1 : "";
    const bool good = digits > 0 && digits < 18 && (path[digits] == '/' || !path[digits]);
    job *j = good ? jobs_find(s, strtoll(path, NULL, 10)) : NULL;
    const bool gets = strcmp(method, "GET") == 0;
    if (!j)
        return answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is no such job");
    if (!path[digits] && strcmp(method, "DELETE") == 0)
        return delete_job(s, j, connection);
    if (!path[digits] && gets)
        return get_job(j, connection);
    if (gets && strcmp(what, "events") == 0)
        return answer_events(s, j, connection);
    if (gets && strcmp(what, "x") == 0)
        return get_job_file(j, "x.mtx", "application/octet-stream", POLICY_PICTURE, connection);
    if (gets && strcmp(what, "report") == 0)
        return get_job_file(j, "report.html", "text/html; charset=utf-8", POLICY_REPORT,
                            connection);
    if (gets && strcmp(what, "log") == 0)
        return get_log(j, connection);
    return answer_fault(connection, MHD_HTTP_NOT_FOUND, "a job has events, x, report and log");
}

/* The result of a solve, by the number of its job; the lock is held. */
static bool add_result(const server *s, const char *digits, char **end, command *c)
{
    char name[64];
    const job *j = jobs_find(s, strtoll(digits, end, 10));
    snprintf(name, sizeof name, "job-%lld.json", j ? (long long)j->id : 0);
    if (!j || j->spec.kind != KIND_solve || access(job_path(j, name), R_OK) != 0)
        return false;
    command_add(c, "%s", job_path(j, name));
    return true;
}

/* ids=1,2: records of solves over each other. */
static enum MHD_Result get_compare(server *s, request *q, struct MHD_Connection *connection)
{
    if (q->task)
        return answer_output(q, "image/svg+xml", POLICY_PICTURE, connection);
    task *e = answer_task("plot", "convergence");
    char *p = (char *)answer_parameter(connection, "ids");
    bool good = e != NULL;
    pthread_mutex_lock(&s->lock);
    for (int count = 0; good && (count == 0 || *p); count++) {
        p += count > 0; /* a comma */
        good = count < COMPARED && *p >= '0' && *p <= '9' &&
               add_result(s, p, &p, &e->commands[0]) && (!*p || *p == ',');
    }
    pthread_mutex_unlock(&s->lock);
    if (good || !e)
        return answer_by_task(s, q, e, connection);
    task_free(e);
    return answer_fault(connection, MHD_HTTP_BAD_REQUEST,
                        "ids=1,2 names up to %d solves that have ended with a result", COMPARED);
}

/* --- by path -----------------------------------------------------------------------------------*/

enum MHD_Result answer_jobs(server *s, request *q, struct MHD_Connection *connection,
                            const char *method, const char *path)
{
    const bool gets = strcmp(method, "GET") == 0, posts = strcmp(method, "POST") == 0;
    if (strcmp(path, "compare") == 0 && gets)
        return get_compare(s, q, connection);
    if (strcmp(path, "jobs") == 0 && gets)
        return get_jobs(s, connection);
    if (strcmp(path, "jobs") == 0 && posts)
        return post_job(s, q, connection);
    if (strncmp(path, "jobs/", 5) != 0)
        return answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
    pthread_mutex_lock(&s->lock);
    const enum MHD_Result result = answer_job(s, connection, method, path + 5);
    pthread_mutex_unlock(&s->lock);
    return result;
}
