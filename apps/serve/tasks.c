/* Tasks: commands that run for a request whose connection sleeps meanwhile, and what they answer.
 */
#include "serve/serve.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MOST = 64 };

void server_wake(server *s)
{
    (void)!write(s->wake[1], "", 1); /* a full pipe wakes as well */
}

task *task_new(void)
{
    task *e = calloc(1, sizeof *e);
    for (int k = 0; e && k < TASK_COMMANDS; k++)
        e->out[k] = e->err[k] = e->children[k].door = -1;
    return e;
}

void task_stop(task *e)
{
    for (int k = 0; k < e->count; k++)
        if (e->children[k].pid > 0 && !e->children[k].ended) {
            (void)kill(e->children[k].pid, SIGKILL);
            while (!child_poll(&e->children[k]))
                (void)poll(NULL, 0, 1);
        }
}

void task_free(task *e)
{
    if (!e)
        return;
    task_stop(e);
    for (int k = 0; k < TASK_COMMANDS; k++) {
        command_free(&e->commands[k]);
        if (e->out[k] >= 0)
            close(e->out[k]);
        if (e->err[k] >= 0)
            close(e->err[k]);
    }
    free(e->text);
    free(e);
}

bool task_send(server *s, task *e, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&s->lock);
    const bool room = s->task_count < TASKS_MOST && !s->stopping;
    if (room) {
        task **end = &s->tasks;
        while (*end)
            end = &(*end)->next;
        *end = e;
        s->task_count++;
        e->connection = connection;
        if (connection)
            MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&s->lock);
    server_wake(s);
    return room;
}

bool task_good(const task *e, int at)
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

char *task_output(const task *e, int at, size_t *size)
{
    return read_all(e->out[at], size);
}

/* Without the program's name, on one line. */
char *task_complaint(const task *e, int at)
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

task *answer_task(const char *first, const char *second)
{
    task *e = task_new();
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
enum MHD_Result answer_by_task(server *s, request *q, task *e, struct MHD_Connection *connection)
{
    bool bad = !e;
    for (int k = 0; e && k < e->count; k++)
        bad = bad || e->commands[k].bad;
    if (!bad && task_send(s, e, connection)) {
        q->task = e;
        return MHD_YES;
    }
    task_free(e);
    return answer_fault(connection, bad ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_TOO_MANY_REQUESTS,
                        bad ? "no memory for this; try again" : "too much at once; try again");
}

enum MHD_Result answer_complaint(const task *e, int at, struct MHD_Connection *connection)
{
    char *why = task_complaint(e, at);
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
    if (!task_good(q->task, 0))
        return answer_complaint(q->task, 0, connection);
    char *text = task_output(q->task, 0, &size);
    return answer_text(connection, MHD_HTTP_OK, type, policy, text, size);
}
