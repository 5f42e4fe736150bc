/*
 * Server-sent events of a job. A stream reads the job's log by itself, and the place in it is the
 * number of an event: one that comes again goes on behind the last that it had, and nothing is kept
 * for it.
 */
#include "serve/serve.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 32 << 10, SHOWN_MOST = 4000, BLOCK = 16 << 10 };

struct stream {
    stream *next;
    server *s;
    struct MHD_Connection *connection;
    int64_t job;
    int log; /* -1: not open yet */
    int64_t at;
    int state; /* that was sent last; -1: none */
    bool asleep, nudged, ended;
    char *text; /* to be sent: from `sent` to `size` */
    size_t size, sent;
};

static bool is_progress(const char *line)
{
    reader r;
    const bool good = *line == '{' && reader_parse(&r, line, strlen(line)) &&
                      r.values[0].kind == '{' && reader_member(&r, r.values, "phase");
    if (*line == '{')
        reader_free(&r);
    return good;
}

/* Lines of the log, of a long one a choice: SHOWN_MOST of them, and all of its end. */
static void put_lines(stream *t, FILE *out)
{
    char chunk[CHUNK + 1];
    struct stat about;
    if (fstat(t->log, &about) != 0)
        return;
    const int64_t step = (about.st_size - t->at) / SHOWN_MOST;
    const ssize_t got = pread(t->log, chunk, CHUNK, t->at);
    chunk[got > 0 ? got : 0] = '\0';
    char *p = chunk, *end;
    while ((end = strchr(p, '\n'))) {
        *end = '\0';
        t->at += end + 1 - p;
        if (is_progress(p)) {
            fprintf(out, "id: %lld\nevent: progress\ndata: %s\n\n", (long long)t->at, p);
            if (step > LINE_MOST) {
                t->at += step; /* into a line, whose rest is no progress */
                return;
            }
        }
        p = end + 1;
    }
    if (p == chunk && got > 0) /* no line, or one that has a 0 in it, is passed over */
        t->at += strlen(chunk) < (size_t)got ? (int64_t)strlen(chunk) + 1 : got == CHUNK ? got : 0;
}

/* JSON over several lines is several lines of data. */
static void put_job(FILE *out, const char *event, const job *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    json all = {.out = memory};
    job_json(&all, NULL, j);
    if (fclose(memory) == 0) {
        fprintf(out, "event: %s\n", event);
        for (char *line = text; *line;) {
            const size_t length = strcspn(line, "\n");
            fprintf(out, "data: %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
        fputc('\n', out);
    }
    free(text);
}

/* What there is to send. */
static void fill(stream *t)
{
    const job *j = jobs_find(t->s, t->job);
    free(t->text);
    t->text = NULL;
    t->size = t->sent = 0;
    FILE *out = t->ended || !j ? NULL : open_memstream(&t->text, &t->size);
    if (!out) {
        t->ended = true;
        return;
    }
    if (t->state != j->state && !(t->state >= 0 && job_is_over(j))) {
        put_job(out, "state", j);
        t->state = j->state;
    }
    if (t->log < 0)
        t->log = open(job_path(j, "log"), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const int64_t before = t->at;
    if (t->log >= 0)
        put_lines(t, out);
    if (job_is_over(j) && t->at == before) { /* all was sent */
        if (t->state != j->state)
            put_job(out, "state", j);
        put_job(out, "end", j);
        t->ended = true;
    }
    if (fflush(out) == 0 && t->size == 0 && t->nudged)
        fputs(":\n\n", out); /* nothing new, but someone may have gone */
    t->nudged = false;
    if (fclose(out) != 0)
        t->ended = true;
}

static ssize_t read_stream(void *data, uint64_t position, char *buffer, size_t most)
{
    stream *t = data;
    ssize_t count = 0;
    (void)position;
    pthread_mutex_lock(&t->s->lock);
    for (int64_t before = -1; t->sent == t->size && !t->ended && before != t->at;) {
        before = t->at; /* a part without progress is passed over */
        fill(t);
    }
    if (t->sent < t->size) {
        count = (ssize_t)(t->size - t->sent < most ? t->size - t->sent : most);
        memcpy(buffer, t->text + t->sent, (size_t)count);
        t->sent += (size_t)count;
    } else if (t->ended || t->s->stopping) {
        count = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        t->asleep = true;
        MHD_suspend_connection(t->connection);
    }
    pthread_mutex_unlock(&t->s->lock);
    return count;
}

static void free_stream(void *data)
{
    stream *t = data;
    pthread_mutex_lock(&t->s->lock);
    stream **at = &t->s->streams;
    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    pthread_mutex_unlock(&t->s->lock);
    if (t->log >= 0)
        close(t->log);
    free(t->text);
    free(t);
}

void streams_wake(server *s, const job *j)
{
    for (stream *t = s->streams; t; t = t->next) {
        if (!t->asleep || (j && t->job != j->id))
            continue;
        t->asleep = false;
        t->nudged = !j;
        MHD_resume_connection(t->connection);
    }
}

enum MHD_Result answer_events(server *s, const job *j, struct MHD_Connection *connection)
{
    const char *last = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    stream *t = calloc(1, sizeof *t);
    if (!t)
        return MHD_NO;
    const int64_t from = last ? strtoll(last, NULL, 10) : 0;
    *t = (stream){.s = s,
                  .connection = connection,
                  .job = j->id,
                  .log = -1,
                  .at = from > 0 && from <= j->log_size ? from : 0,
                  .state = -1};
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_stream, t, free_stream);
    if (!response) {
        free(t);
        return MHD_NO;
    }
    t->next = s->streams;
    s->streams = t;
    return answer(connection, MHD_HTTP_OK, "text/event-stream", POLICY_PAGE, response);
}
