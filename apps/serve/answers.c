/* What the page asks for: files, pictures, lists, methods. */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char json_type[] = "application/json";

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
    if (!q->task && u->fault == 0) {
        task *e = task_new();
        if (e)
            e->upload = u;
        return answer_by_task(s, q, e, connection);
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
    if (q->task)
        return answer_output(q, "image/svg+xml", POLICY_PICTURE, connection);
    const char *name = named_file(s, connection, &refused);
    const long size = strtol(answer_parameter(connection, "size"), NULL, 10);
    task *e = name ? answer_task("plot", "spy") : NULL;
    if (!name)
        return refused;
    if (e) {
        command_add_file(&e->commands[0], name);
        command_add(&e->commands[0], "--size=%ld", size < 16 ? 512 : size > 4096 ? 4096 : size);
    }
    return answer_by_task(s, q, e, connection);
}

static enum MHD_Result get_info(server *s, request *q, struct MHD_Connection *connection)
{
    enum MHD_Result refused = MHD_NO;
    if (q->task)
        return answer_output(q, json_type, POLICY_PAGE, connection);
    const char *name = named_file(s, connection, &refused);
    task *e = name ? answer_task("info", NULL) : NULL;
    if (!name)
        return refused;
    if (e) {
        command_add_file(&e->commands[0], name);
        command_add(&e->commands[0], "--json");
    }
    return answer_by_task(s, q, e, connection);
}

/* --- lists and methods -------------------------------------------------------------------------*/

/* Methods and the like, then what else there is; the first text ends with its bracket. */
static bool make_lists(server *s, const task *e)
{
    size_t size = 0, device_size = 0, all_size = 0;
    char *lists = task_good(e, 0) ? task_output(e, 0, &size) : NULL, *all = NULL;
    char *devices = task_good(e, 1) ? task_output(e, 1, &device_size) : NULL;
    char *end = lists ? strrchr(lists, '}') : NULL;
    FILE *out = end ? open_memstream(&all, &all_size) : NULL;
    if (out) {
        *end = '\0';
        fprintf(out, "%s,\n\"devices\": %s,\n\"kinds\": [", lists, devices ? devices : "[]");
        for (int k = 0; k < KIND_COUNT; k++)
            fprintf(out, "%s\"%s\"", k ? ", " : "", spec_kind_names[k]);
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
    if (!s->lists && !q->task) {
        task *e = answer_task("explain", "--json");
        if (e) {
            e->count = 2;
            command_add(&e->commands[1], "spry");
            command_add(&e->commands[1], "devices");
            command_add(&e->commands[1], "--json");
            command_add(&e->commands[1], "--no-measure");
        }
        return answer_by_task(s, q, e, connection);
    }
    if (!s->lists && !make_lists(s, q->task))
        return answer_complaint(q->task, 0, connection);
    return answer(connection, MHD_HTTP_OK, json_type, POLICY_PAGE,
                  MHD_create_response_from_buffer(s->lists_size, s->lists, MHD_RESPMEM_MUST_COPY));
}

#define TEXT_NAME "3"
#define TEXT_PATH "/dev/fd/" TEXT_NAME /* where a process finds the method's text */

static void explain_error(draft *d, const task *e)
{
    char *why = task_complaint(e, 0), *text = why;
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
    if (!q->task->text && reader_parse(&r, q->body, q->size) &&
        spry_list_find(SPRY_LIST_METHODS, reader_text(&r, r.values, "method"), &entry))
        json_text(&d->j, "text", entry.text);
    if (!q->task->text)
        reader_free(&r);
}

static enum MHD_Result answer_explained(const request *q, struct MHD_Connection *connection)
{
    draft d;
    size_t size;
    if (!draft_begin(&d))
        return MHD_NO;
    json_open(&d.j, NULL, '{');
    if (task_good(q->task, 0)) {
        char *sweeps = task_output(q->task, 0, &size);
        char *svg = task_good(q->task, 1) ? task_output(q->task, 1, &size) : NULL;
        json_text(&d.j, "sweeps", sweeps);
        json_text(&d.j, "svg", svg);
        put_notation(&d, q);
        free(sweeps);
        free(svg);
    } else {
        explain_error(&d, q->task);
    }
    json_close(&d.j, '}');
    return draft_send(&d, connection, MHD_HTTP_OK);
}

/* The method as it runs, and a picture of that. */
static task *explain_task(spec *asked)
{
    task *e = answer_task("explain", NULL);
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
    if (q->task)
        return answer_explained(q, connection);
    if (!answer_take_spec(q, &asked, connection, spec_read_method, &result))
        return result;
    result = answer_by_task(s, q, explain_task(&asked), connection);
    spec_free(&asked);
    return result;
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
    return answer_jobs(s, q, connection, method, path);
}
