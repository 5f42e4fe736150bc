/* Errands: commands that run for a request whose connection sleeps meanwhile, and what they answer.
 */
#include "serve/serve.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERRANDS_MOST = 64 };

void server_wake(server *s)
{
    (void)!write(s->wake[1], "", 1); /* a full pipe wakes as well */
}

errand *errand_new(void)
{
    errand *e = calloc(1, sizeof *e);
    for (int k = 0; e && k < ERRAND_COMMANDS; k++)
        e->out[k] = e->err[k] = e->children[k].door = -1;
    return e;
}

void errand_stop(errand *e)
{
    for (int k = 0; k < e->count; k++)
        if (e->children[k].pid > 0 && !e->children[k].ended) {
            (void)kill(e->children[k].pid, SIGKILL);
            while (!child_look(&e->children[k]))
                (void)poll(NULL, 0, 1);
        }
}

void errand_free(errand *e)
{
    if (!e)
        return;
    errand_stop(e);
    for (int k = 0; k < ERRAND_COMMANDS; k++) {
        command_free(&e->commands[k]);
        if (e->out[k] >= 0)
            close(e->out[k]);
        if (e->err[k] >= 0)
            close(e->err[k]);
    }
    free(e->text);
    free(e);
}

bool errand_send(server *s, errand *e, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&s->lock);
    const bool room = s->errand_count < ERRANDS_MOST && !s->stopping;
    if (room) {
        errand **end = &s->errands;
        while (*end)
            end = &(*end)->next;
        *end = e;
        s->errand_count++;
        e->connection = connection;
        if (connection)
            MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&s->lock);
    server_wake(s);
    return room;
}

bool errand_good(const errand *e, int at)
{
    const child *c = &e->children[at];
    return c->pid > 0 && c->ended && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

static char *read_all(int fd, size_t *size)
{
    struct stat about;
    char *text = fd >= 0 && fstat(fd, &about) == 0 ? malloc((size_t)about.st_size + 1) : NULL;
    ssize_t got = 1;
    for (*size = 0; text && got > 0 && *size < (size_t)about.st_size;) {
        got = pread(fd, text + *size, (size_t)about.st_size - *size, (off_t)*size);
        *size += got > 0 ? (size_t)got : 0;
    }
    if (text)
        text[*size] = '\0';
    return text;
}

char *errand_output(const errand *e, int at, size_t *size)
{
    return read_all(e->out[at], size);
}

/* Without the program's name, on one line. */
char *errand_complaint(const errand *e, int at)
{
    size_t size;
    char *text = read_all(e->err[at], &size);
    if (!text)
        return NULL;
    const size_t skip = strncmp(text, "spry: ", 6) == 0 ? 6 : 0;
    memmove(text, text + skip, size + 1 - skip);
    for (char *end = text + strlen(text); end > text && end[-1] == '\n';)
        *--end = '\0';
    if (*text)
        return text;
    free(text);
    return strdup("it took too long, or was ended");
}

errand *answer_errand(const char *first, const char *second)
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

/* Has a command run for the request; its end calls the same answer once more. */
enum MHD_Result answer_by_errand(server *s, request *q, errand *e,
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

enum MHD_Result answer_complaint(const errand *e, int at, struct MHD_Connection *connection)
{
    char *why = errand_complaint(e, at);
    const enum MHD_Result result = answer_fault(connection, MHD_HTTP_UNPROCESSABLE_CONTENT, "%s",
                                                why ? why : "it could not be done");
    free(why);
    return result;
}

/* What a command has printed, as it is. */
enum MHD_Result answer_output(const request *q, const char *type, int policy,
                              struct MHD_Connection *connection)
{
    size_t size;
    if (!errand_good(q->errand, 0))
        return answer_complaint(q->errand, 0, connection);
    char *text = errand_output(q->errand, 0, &size);
    return answer_text(connection, MHD_HTTP_OK, type, policy, text, size);
}
