/* What the page asks for: files, pictures, lists, methods, jobs. */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOBS_SHOWN = 1000, COMPARED = 16, LOG_SHOWN = 1 << 20 };
static const char json_type[] = "application/json";

/* --- texts that are being made -----------------------------------------------------------------*/

typedef struct draft {
    char *text;
    size_t size;
    json j;
} draft;

static bool draft_begin(draft *d)
{
    *d = (draft){0};
    d->j.out = open_memstream(&d->text, &d->size);
    return d->j.out != NULL;
}

static enum MHD_Result draft_send(draft *d, struct MHD_Connection *connection, unsigned status)
{
    if (fclose(d->j.out) != 0) {
        free(d->text);
        return MHD_NO;
    }
    return answer_text(connection, status, json_type, POLICY_PAGE, d->text, d->size);
}

/* --- errands -----------------------------------------------------------------------------------*/

/* Has a command run for the request; its end calls the same answer once more. */
static enum MHD_Result run_errand(server *s, request *q, errand *e,
                                  struct MHD_Connection *connection)
{
    bool bad = !e;
    for (int k = 0; e && k < e->count; k++)
        bad = bad || e->commands[k].bad;
    if (!bad && errand_send(s, e, connection)) {
        q->errand = e;
        return MHD_YES;
    }
    errand_free(e);
    return answer_fault(connection, bad ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_TOO_MANY_REQUESTS,
                        bad ? "no memory for this; try again" : "too much at once; try again");
}

static enum MHD_Result answer_complaint(const errand *e, int at, struct MHD_Connection *connection)
{
    char *why = errand_complaint(e, at);
    const enum MHD_Result result = answer_fault(connection, MHD_HTTP_UNPROCESSABLE_CONTENT, "%s",
                                                why ? why : "it could not be done");
    free(why);
    return result;
}

/* What a command has printed, as it is. */
static enum MHD_Result answer_output(const request *q, const char *type, int policy,
                                     struct MHD_Connection *connection)
{
    size_t size;
    if (!errand_good(q->errand, 0))
        return answer_complaint(q->errand, 0, connection);
    char *text = errand_output(q->errand, 0, &size);
    return answer_text(connection, MHD_HTTP_OK, type, policy, text, size);
}

static errand *new_errand(const char *first, const char *second)
{
    errand *e = errand_new();
    if (e) {
        e->count = 1;
        command_add(&e->commands[0], "spry");
        command_add(&e->commands[0], "%s", first);
        if (second)
            command_add(&e->commands[0], "%s", second);
    }
    return e;
}

/* --- files -------------------------------------------------------------------------------------*/

static enum MHD_Result get_files(const server *s, struct MHD_Connection *connection)
{
    draft d;
    if (!draft_begin(&d))
        return MHD_NO;
    folder_list(s, &d.j);
    return draft_send(&d, connection, MHD_HTTP_OK);
}

enum MHD_Result answer_upload_begin(server *s, request *q, struct MHD_Connection *connection)
{
    const char *name = answer_parameter(connection, "name");
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    struct stat about;
    if (!name_is_good(name))
        return answer_fault(connection, MHD_HTTP_BAD_REQUEST,
                            "a file's name has no /, does not begin with a dot, and is UTF-8 of "
                            "less than %d bytes",
                            NAME_SIZE);
    q->up.replace = strcmp(answer_parameter(connection, "replace"), "1") == 0;
    if (!q->up.replace && fstatat(s->folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0)
        return answer_fault(connection, MHD_HTTP_CONFLICT,
                            "%s is there already; replace=1 replaces it", name);
    if (length && strtoll(length, NULL, 10) > s->o->upload_bytes)
        return answer_fault(connection, MHD_HTTP_CONTENT_TOO_LARGE,
                            "files of up to %lld bytes are taken; spry serve --upload-bytes N "
                            "allows more",
                            (long long)s->o->upload_bytes);
    snprintf(q->up.name, sizeof q->up.name, "%s", name);
    upload_begin(s, &q->up);
    return MHD_YES;
}

static enum MHD_Result post_file(server *s, request *q, struct MHD_Connection *connection)
{
    upload *u = &q->up;
    if (!q->errand && u->fault == 0) {
        errand *e = errand_new();
        if (e)
            e->upload = u;
        return run_errand(s, q, e, connection);
    }
    if (u->fault == MHD_HTTP_CONTENT_TOO_LARGE)
        return answer_fault(connection, u->fault, "files of up to %lld bytes are taken",
                            (long long)s->o->upload_bytes);
    if (u->fault == MHD_HTTP_CONFLICT)
        return answer_fault(connection, u->fault, "%s is there already; replace=1 replaces it",
                            u->name);
    if (u->fault)
        return answer_fault(connection, u->fault, "%s could not be kept: the disk may be full",
                            u->name);
    draft d;
    if (!draft_begin(&d))
        return MHD_NO;
    json_open(&d.j, NULL, '{');
    json_text(&d.j, "name", u->name);
    json_int(&d.j, "bytes", u->bytes);
    json_close(&d.j, '}');
    return draft_send(&d, connection, MHD_HTTP_CREATED);
}

/* The file that a request names; NULL after it was refused. */
static const char *named_file(const server *s, struct MHD_Connection *connection,
                              enum MHD_Result *refused)
{
    const char *name = answer_parameter(connection, "file");
    const int fd = folder_file(s, name);
    if (fd >= 0) {
        close(fd);
        return name;
    }
    *refused = answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is no such file in the folder");
    return NULL;
}

static enum MHD_Result get_spy(server *s, request *q, struct MHD_Connection *connection)
{
    enum MHD_Result refused = MHD_NO;
    if (q->errand)
        return answer_output(q, "image/svg+xml", POLICY_PICTURE, connection);
    const char *name = named_file(s, connection, &refused);
    const long size = strtol(answer_parameter(connection, "size"), NULL, 10);
    errand *e = name ? new_errand("plot", "spy") : NULL;
    if (!name)
        return refused;
    if (e) {
        command_add_file(&e->commands[0], name);
        command_add(&e->commands[0], "--size=%ld", size < 16 ? 512 : size > 4096 ? 4096 : size);
    }
    return run_errand(s, q, e, connection);
}

static enum MHD_Result get_info(server *s, request *q, struct MHD_Connection *connection)
{
    enum MHD_Result refused = MHD_NO;
    if (q->errand)
        return answer_output(q, json_type, POLICY_PAGE, connection);
    const char *name = named_file(s, connection, &refused);
    errand *e = name ? new_errand("info", NULL) : NULL;
    if (!name)
        return refused;
    if (e) {
        command_add_file(&e->commands[0], name);
        command_add(&e->commands[0], "--json");
    }
    return run_errand(s, q, e, connection);
}

/* --- lists and methods -------------------------------------------------------------------------*/

/* Methods and the like, then what else there is; the first text ends with its bracket. */
static bool make_lists(server *s, const errand *e)
{
    size_t size = 0, device_size = 0, all_size = 0;
    char *lists = errand_good(e, 0) ? errand_output(e, 0, &size) : NULL, *all = NULL;
    char *devices = errand_good(e, 1) ? errand_output(e, 1, &device_size) : NULL;
    char *end = lists ? strrchr(lists, '}') : NULL;
    FILE *out = end ? open_memstream(&all, &all_size) : NULL;
    if (out) {
        pthread_mutex_lock(&s->lock);
        const bool can_plan = s->can_plan;
        pthread_mutex_unlock(&s->lock);
        *end = '\0';
        fprintf(out, "%s,\n\"devices\": %s,\n\"kinds\": [", lists, devices ? devices : "[]");
        for (int k = 0, count = 0; k < KIND_COUNT; k++)
            if (k != KIND_plan || can_plan)
                fprintf(out, "%s\"%s\"", count++ ? ", " : "", spec_kind_names[k]);
        fprintf(out, "],\n\"upload_bytes\": %lld,\n\"version\": \"%s\"}\n",
                (long long)s->o->upload_bytes, spry_version());
        if (fclose(out) != 0) {
            free(all);
            all = NULL;
        }
    }
    free(lists);
    free(devices);
    free(s->lists);
    s->lists = all;
    s->lists_size = all_size;
    return all != NULL;
}

/* Asked for once: they do not change while the program runs. */
static enum MHD_Result get_lists(server *s, request *q, struct MHD_Connection *connection)
{
    if (!s->lists && !q->errand) {
        errand *e = new_errand("explain", "--json");
        if (e) {
            e->count = 2;
            command_add(&e->commands[1], "spry");
            command_add(&e->commands[1], "devices");
            command_add(&e->commands[1], "--json");
            command_add(&e->commands[1], "--no-measure");
        }
        return run_errand(s, q, e, connection);
    }
    if (!s->lists && !make_lists(s, q->errand))
        return answer_complaint(q->errand, 0, connection);
    return answer(connection, MHD_HTTP_OK, json_type, POLICY_PAGE,
                  MHD_create_response_from_buffer(s->lists_size, s->lists, MHD_RESPMEM_MUST_COPY));
}

/* Takes a body of JSON apart by one of spec.h's functions; false after the request was refused. */
static bool take_spec(const request *q, spec *asked, struct MHD_Connection *connection,
                      bool (*take)(spec *s, const reader *r, const reader_value *from,
                                   char fault[FAULT_SIZE]),
                      enum MHD_Result *refused)
{
    reader r;
    char fault[FAULT_SIZE];
    *asked = (spec){0};
    bool good = reader_parse(&r, q->body ? q->body : "", q->size);
    if (!good)
        snprintf(fault, sizeof fault, "no JSON, in line %zu: %s", r.line, r.fault);
    else
        good = take(asked, &r, r.values, fault);
    reader_free(&r);
    if (!good) {
        spec_free(asked);
        *refused = answer_fault(connection, MHD_HTTP_BAD_REQUEST, "%s", fault);
    }
    return good;
}

#define TEXT_NAME "3"
#define TEXT_PATH "/dev/fd/" TEXT_NAME /* where a process finds the method's text */

static void explain_error(draft *d, const errand *e)
{
    char *why = errand_complaint(e, 0), *text = why;
    int line = 0, column = 0, used = 0;
    /* the file's name without its folder, line, column */
    if (why && sscanf(why, TEXT_NAME ":%d:%d: %n", &line, &column, &used) == 2 && used > 0)
        text = why + used;
    json_text(&d->j, "error", text ? text : "no memory");
    json_int(&d->j, "line", line);
    json_int(&d->j, "column", column);
    free(why);
}

/* Of a method by its name: where a person begins to change it. */
static void put_notation(draft *d, const request *q)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    reader r;
    if (!q->errand->text && reader_parse(&r, q->body, q->size) &&
        spry_list_find(SPRY_LIST_METHODS, reader_text(&r, r.values, "method"), &entry))
        json_text(&d->j, "text", entry.text);
    if (!q->errand->text)
        reader_free(&r);
}

static enum MHD_Result answer_explained(const request *q, struct MHD_Connection *connection)
{
    draft d;
    size_t size;
    if (!draft_begin(&d))
        return MHD_NO;
    json_open(&d.j, NULL, '{');
    if (errand_good(q->errand, 0)) {
        char *sweeps = errand_output(q->errand, 0, &size);
        char *svg = errand_good(q->errand, 1) ? errand_output(q->errand, 1, &size) : NULL;
        json_text(&d.j, "sweeps", sweeps);
        json_text(&d.j, "svg", svg);
        put_notation(&d, q);
        free(sweeps);
        free(svg);
    } else {
        explain_error(&d, q->errand);
    }
    json_close(&d.j, '}');
    return draft_send(&d, connection, MHD_HTTP_OK);
}

/* The method as it runs, and a picture of that. */
static errand *explain_errand(spec *asked)
{
    errand *e = new_errand("explain", NULL);
    if (!e)
        return NULL;
    e->count = 2;
    command_add(&e->commands[1], "spry");
    command_add(&e->commands[1], "plot");
    command_add(&e->commands[1], "sweeps");
    if (asked->text) {
        e->text = asked->text;
        asked->text = NULL;
        command_add(&e->commands[0], "--method-file=%s", TEXT_PATH);
        command_add(&e->commands[1], "--method-file=%s", TEXT_PATH);
    } else {
        command_add(&e->commands[0], "--method=%s", asked->method);
        command_add(&e->commands[1], "%s", asked->method);
    }
    for (int k = 0; k < 2 && *asked->precon && strcmp(asked->precon, "auto") != 0; k++)
        command_add(&e->commands[k], "--precon=%s", asked->precon);
    return e;
}

static enum MHD_Result post_explain(server *s, request *q, struct MHD_Connection *connection)
{
    spec asked;
    enum MHD_Result result = MHD_NO;
    if (q->errand)
        return answer_explained(q, connection);
    if (!take_spec(q, &asked, connection, spec_read_method, &result))
        return result;
    result = run_errand(s, q, explain_errand(&asked), connection);
    spec_free(&asked);
    return result;
}

/* --- jobs --------------------------------------------------------------------------------------*/

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

/* Whether the files are there, before a job waits for an hour to find out. */
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
    pthread_mutex_lock(&s->lock);
    const bool unknown = asked->kind == KIND_plan && s->probed && !s->can_plan;
    pthread_mutex_unlock(&s->lock);
    if (unknown)
        return answer_fault(connection, MHD_HTTP_NOT_IMPLEMENTED, "this spry has no command plan");
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
    watch_wake(s);
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
    if (!take_spec(q, &asked, connection, spec_read, &result))
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
    watch_wake(s);
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

/* What it said last, without the lines for programs. */
static enum MHD_Result get_log(const job *j, struct MHD_Connection *connection)
{
    struct stat about;
    const int fd = open(job_path(j, "log"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool there = fd >= 0 && fstat(fd, &about) == 0;
    const off_t from = there && about.st_size > LOG_SHOWN ? about.st_size - LOG_SHOWN : 0;
    char *text = malloc(LOG_SHOWN + 1), *to = text;
    const ssize_t got = text && there ? pread(fd, text, LOG_SHOWN, from) : 0;
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
    if (q->errand)
        return answer_output(q, "image/svg+xml", POLICY_PICTURE, connection);
    errand *e = new_errand("plot", "convergence");
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
        return run_errand(s, q, e, connection);
    errand_free(e);
    return answer_fault(connection, MHD_HTTP_BAD_REQUEST,
                        "ids=1,2 names up to %d solves that have ended with a result", COMPARED);
}

/* --- by path -----------------------------------------------------------------------------------*/

enum MHD_Result answer_api(server *s, request *q, struct MHD_Connection *connection,
                           const char *method, const char *path)
{
    const bool gets = strcmp(method, "GET") == 0, posts = strcmp(method, "POST") == 0;
    if (strcmp(path, "files") == 0 && gets)
        return get_files(s, connection);
    if (strcmp(path, "files") == 0 && posts)
        return post_file(s, q, connection);
    if (strcmp(path, "spy") == 0 && gets)
        return get_spy(s, q, connection);
    if (strcmp(path, "info") == 0 && gets)
        return get_info(s, q, connection);
    if (strcmp(path, "lists") == 0 && gets)
        return get_lists(s, q, connection);
    if (strcmp(path, "explain") == 0 && posts)
        return post_explain(s, q, connection);
    if (strcmp(path, "compare") == 0 && gets)
        return get_compare(s, q, connection);
    if (strcmp(path, "jobs") == 0 && gets)
        return get_jobs(s, connection);
    if (strcmp(path, "jobs") == 0 && posts)
        return post_job(s, q, connection);
    if (strncmp(path, "jobs/", 5) == 0) {
        pthread_mutex_lock(&s->lock);
        const enum MHD_Result result = answer_job(s, connection, method, path + 5);
        pthread_mutex_unlock(&s->lock);
        return result;
    }
    return answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
}
