/* What is shown and kept of a job: its files, its result in short, its record as JSON. */
#include "serve/serve.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOB_STATE_NAME(name) #name,
const char *const job_states[STATE_COUNT] = {JOB_STATES(JOB_STATE_NAME)};

const char *job_path(const job *j, const char *file)
{
    static _Thread_local char path[PATH_MOST];
    snprintf(path, sizeof path, "%s/%lld/%s", JOBS_FOLDER, (long long)j->id, file);
    return path;
}

void job_result_name(const job *j, char name[64])
{
    snprintf(name, 64, "job-%lld.json", (long long)j->id);
}

bool job_has_file(const job *j, const char *file)
{
    struct stat about;
    return lstat(job_path(j, file), &about) == 0 && S_ISREG(about.st_mode);
}

char *job_read(const job *j, const char *file, size_t most, size_t *size)
{
    struct stat about;
    const int fd = open(job_path(j, file), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        (uint64_t)about.st_size <= most && (text = malloc((size_t)about.st_size + 1))) {
        ssize_t got = 1;
        for (*size = 0; got > 0 && *size < (size_t)about.st_size;
             *size += (size_t)(got > 0 ? got : 0))
            got = read(fd, text + *size, (size_t)about.st_size - *size);
        text[*size] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* --- results -----------------------------------------------------------------------------------*/

/* What a list of jobs shows of a result, by the names that results and records have. */
char *job_summarise(const reader *r, const reader_value *from)
{
    static const char *const members[] = {
        "converged",     "reason",         "detail",        "iterations",    "residual",
        "true_residual", "tolerance",      "method",        "precon",        "format",
        "device",        "choose_seconds", "setup_seconds", "solve_seconds", "memory_bytes",
        "errors",        "warnings",       "condition",     "rank"};
    const reader_value *systems = reader_first(r, reader_member(r, from, "systems"));
    char *text = NULL;
    size_t size = 0;
    FILE *out = from && from->kind == '{' ? open_memstream(&text, &size) : NULL;
    json j = {.out = out};
    if (!out)
        return NULL;
    from = systems ? systems : from; /* of several right-hand sides the first */
    json_open(&j, NULL, '{');
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        const reader_value *v = reader_member(r, from, members[k]);
        if (v && v->kind == '"')
            json_text(&j, members[k], v->text);
        else if (v && v->kind == '0')
            json_real(&j, members[k], v->number);
        else if (v && (v->kind == 't' || v->kind == 'f'))
            json_bool(&j, members[k], v->kind == 't');
    }
    json_close(&j, '}');
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

void job_take_result(job *j)
{
    char name[64];
    size_t size;
    reader r;
    job_result_name(j, name);
    char *text = job_read(j, name, RESULT_MOST, &size);
    free(j->summary);
    j->summary = NULL;
    if (!text)
        return;
    if (reader_parse(&r, text, size))
        j->summary = job_summarise(&r, r.values);
    reader_free(&r);
    free(text);
}

/* --- records -----------------------------------------------------------------------------------*/

static void put_word(json *out, const char *key, const char *word)
{
    json_text(out, key, *word ? word : NULL);
}

static void put_raw(json *out, const char *key, const char *text)
{
    fprintf(out->out, ",\n%*s\"%s\": %s", 2 * out->depth, "", key, text);
}

static void put_spec(json *out, const spec *s)
{
    json_text(out, "kind", spec_kind_names[s->kind]);
    put_word(out, "file", s->file);
    put_word(out, "rhs", s->rhs);
    put_word(out, "method", s->method);
    put_word(out, "precon", s->precon);
    put_word(out, "device", s->device);
    json_real(out, "tol", s->tol);
    json_real(out, "max_iter", s->max_iter);
    json_bool(out, "report", s->report);
}

static void put_state(json *out, const job *j)
{
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)j->id);
    json_text(out, "id", id);
    json_text(out, "state", job_states[j->state]);
    put_spec(out, &j->spec);
    json_text(out, "command", j->command);
    json_real(out, "created", j->created);
    json_real(out, "started", j->started > 0 ? j->started : NAN);
    put_word(out, "message", j->message);
}

/* As it is kept. */
char *job_record(const job *j, size_t *size)
{
    char *text = NULL;
    FILE *memory = open_memstream(&text, size);
    json out = {.out = memory};
    if (!memory)
        return NULL;
    json_open(&out, NULL, '{');
    put_state(&out, j);
    json_real(&out, "ended", j->ended > 0 ? j->ended : NAN);
    json_text(&out, "text", j->spec.text);
    put_raw(&out, "summary", j->summary ? j->summary : "null");
    json_close(&out, '}');
    if (fclose(memory) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* A line of progress comes from a process: what is no object is not passed on. */
static bool is_object(const char *text)
{
    reader r;
    const bool good = reader_parse(&r, text, strlen(text)) && r.values[0].kind == '{';
    reader_free(&r);
    return good;
}

static void put_shown(json *out, const job *j)
{
    char name[64];
    job_result_name(j, name);
    put_state(out, j);
    json_real(out, "seconds",
              j->started > 0 ? (j->ended > 0 ? j->ended : job_time()) - j->started : NAN);
    json_open(out, "has", '{');
    json_bool(out, "x", job_has_file(j, "x.mtx"));
    json_bool(out, "report", job_has_file(j, "report.html"));
    json_bool(out, "result", job_has_file(j, name));
    json_close(out, '}');
    put_raw(out, "progress", *j->progress && is_object(j->progress) ? j->progress : "null");
    put_raw(out, "summary", j->summary ? j->summary : "null");
}

void job_json(json *out, const char *key, const job *j)
{
    json_open(out, key, '{');
    put_shown(out, j);
    json_bool(out, "text", j->spec.text != NULL);
    json_close(out, '}');
}

void job_json_all(json *out, const job *j)
{
    char name[64];
    size_t size;
    job_result_name(j, name);
    char *result = job_read(j, name, RESULT_MOST, &size);
    json_open(out, NULL, '{');
    put_shown(out, j);
    json_text(out, "text", j->spec.text);
    put_raw(out, "result", result && size > 0 ? result : "null");
    json_close(out, '}');
    free(result);
}

double job_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
