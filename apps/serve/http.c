/* HTTP: the socket, requests and their bodies. */
#include "serve/serve.h"

#include "serve_files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 128, HEAD_MOST = 32 << 10, IDLE_SECONDS = 30, BACKLOG = 64, HTTP_PORT = 80 };

static enum MHD_Result answer_constant(struct MHD_Connection *connection, unsigned status,
                                       const char *type, int policy, const char *text, size_t size)
{
    /* the library asks for a pointer to what it does not change */
    return answer(connection, status, type, policy,
                  MHD_create_response_from_buffer(size, (void *)text, MHD_RESPMEM_PERSISTENT));
}

/* --- requests ----------------------------------------------------------------------------------*/

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".svg", "image/svg+xml"}};
    const char *ending = strrchr(name, '.');
    for (size_t k = 0; ending && k < sizeof types / sizeof *types; k++)
        if (strcmp(ending, types[k][0]) == 0)
            return types[k][1];
    return "text/plain; charset=utf-8";
}

static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *path)
{
    const char *name = strcmp(path, "/") == 0 ? "index.html" : path + (*path == '/');
    for (size_t k = 0; k < sizeof serve_files / sizeof *serve_files; k++)
        if (strcmp(name, serve_files[k].name) == 0)
            return answer_constant(connection, MHD_HTTP_OK, type_of(name), POLICY_PAGE,
                                   serve_files[k].text, serve_files[k].size);
    return answer_fault(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
}

static bool is_upload(const char *method, const char *path)
{
    return strcmp(method, "POST") == 0 && strcmp(path, "/api/files") == 0;
}

/* What everybody may ask for: to be let in, and how the page looks that asks for the secret. */
static bool needs_no_cookie(struct MHD_Connection *connection, const char *method, const char *path)
{
    if (strcmp(method, "GET") != 0)
        return strcmp(method, "POST") == 0 && strcmp(path, "/login") == 0;
    return strcmp(path, "/page.css") == 0 || strcmp(path, "/icon.svg") == 0 ||
           (strcmp(path, "/") == 0 && *answer_parameter(connection, "token"));
}

/* After the head of a request: those not allowed in are refused before a body is read. */
static enum MHD_Result look_at_head(server *s, request *q, struct MHD_Connection *connection,
                                    const char *method, const char *path)
{
    const char *why = "";
    const unsigned refused = guard_head(s, connection, method, &why);
    if (refused)
        return answer_fault(connection, refused, "%s", why);
    if (!needs_no_cookie(connection, method, path) && !guard_knows(s, connection)) {
        const bool guessed =
            MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, s->guard.cookie) != NULL;
        q->stranger = guessed;
        /* bodies are not waited for */
        return guessed && strcmp(method, "GET") == 0 ? MHD_YES
                                                     : door_refuse(s, q, connection, path);
    }
    return is_upload(method, path) ? answer_upload_begin(s, q, connection) : MHD_YES;
}

static void take_body(const server *s, request *q, const char *bytes, size_t size)
{
    if (q->up.fd >= 0 || q->up.fault) {
        upload_take(s, &q->up, bytes, size);
        return;
    }
    q->too_large = q->too_large || q->size + size > BODY_MOST;
    char *more = q->too_large ? NULL : realloc(q->body, q->size + size + 1);
    if (!more) {
        q->lost = true;
        return;
    }
    memcpy(more + q->size, bytes, size);
    q->body = more;
    q->size += size;
    more[q->size] = '\0';
}

static enum MHD_Result answer_all(server *s, request *q, struct MHD_Connection *connection,
                                  const char *method, const char *path)
{
    if (q->slow) /* and has waited */
        return door_refuse(s, q, connection, path);
    if (q->stranger)
        return door_slow(s, q, connection, path);
    if (q->too_large)
        return answer_fault(connection, MHD_HTTP_CONTENT_TOO_LARGE, "that is more than %d bytes",
                            BODY_MOST);
    if (q->lost)
        return answer_fault(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory; try again");
    if (strcmp(path, "/login") == 0 && strcmp(method, "POST") == 0)
        return door_form(s, q, connection);
    if (strcmp(path, "/") == 0 && *answer_parameter(connection, "token"))
        return door_sign_in(s, q, connection, answer_parameter(connection, "token"));
    if (strncmp(path, "/api/", 5) == 0)
        return answer_api(s, q, connection, method, path + 5);
    if (strcmp(method, "GET") != 0)
        return answer_fault(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only to be read");
    return answer_page(connection, path);
}

static enum MHD_Result handle(void *data, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *bytes,
                              size_t *size, void **kept)
{
    server *s = data;
    request *q = *kept;
    (void)version;
    if (!q) {
        q = calloc(1, sizeof *q);
        if (!q)
            return MHD_NO;
        q->up.fd = -1;
        *kept = q;
        return look_at_head(s, q, connection, method, path);
    }
    if (*size > 0) {
        take_body(s, q, bytes, *size);
        *size = 0;
        return MHD_YES;
    }
    return answer_all(s, q, connection, method, path);
}

static void finish(void *data, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode code)
{
    server *s = data;
    request *q = *kept;
    (void)connection;
    (void)code;
    if (!q)
        return;
    if (q->slow) {
        pthread_mutex_lock(&s->lock);
        s->guard.slowed--;
        pthread_mutex_unlock(&s->lock);
    }
    upload_drop(&q->up);
    task_free(q->task);
    free(q->body);
    free(q);
    *kept = NULL;
}

/* --- the socket --------------------------------------------------------------------------------*/

typedef union place {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} place;

/* From a text of numbers; also whether only this machine reaches it. */
static bool read_address(const char *text, int port, place *to, bool *local)
{
    memset(to, 0, sizeof *to);
    if (strcmp(text, "localhost") == 0)
        text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &to->four.sin_addr) == 1) {
        to->four.sin_family = AF_INET;
        to->four.sin_port = htons((uint16_t)port);
        *local = ntohl(to->four.sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, text, &to->six.sin6_addr) == 1) {
        to->six.sin6_family = AF_INET6;
        to->six.sin6_port = htons((uint16_t)port);
        *local = IN6_IS_ADDR_LOOPBACK(&to->six.sin6_addr);
        return true;
    }
    return false;
}

/* As browsers write it: without the port that is HTTP's own. */
static void put_host(char text[NAME_SIZE + 16], const char *host, int port)
{
    const bool six = strchr(host, ':') != NULL;
    const int used = snprintf(text, NAME_SIZE + 16, six ? "[%s]" : "%s", host);
    if (port != HTTP_PORT)
        snprintf(text + used, (size_t)(NAME_SIZE + 16 - used), ":%d", port);
}

/* The names that a browser may know this server by. */
static void name_hosts(server *s, const serve_options *o, bool local)
{
    guard *g = &s->guard;
    const char *const names[] = {strcmp(o->listen, "localhost") == 0 ? "127.0.0.1" : o->listen,
                                 local ? "localhost" : "", o->host};
    for (int k = 0; k < 3; k++)
        if (*names[k])
            put_host(g->hosts[g->host_count++], names[k], s->port);
    put_host(s->address, *o->host ? o->host : names[0], s->port);
    snprintf(g->cookie, sizeof g->cookie, "spry-%d", s->port);
}

int http_listen(server *s, const serve_options *o)
{
    place at;
    socklen_t size = sizeof at;
    const int yes = 1;
    bool local = false;
    if (!read_address(o->listen, (int)o->port, &at, &local))
        return cli_fail(EXIT_INPUT,
                        "--listen %s: an address of numbers is needed, as 127.0.0.1 or ::1",
                        o->listen);
    s->exposed = !local;
    if (s->exposed && !o->key)
        return cli_fail(EXIT_INPUT,
                        "--listen %s: other machines reach this address, so that --key FILE is "
                        "needed, a secret of yours; connections are not encrypted, and who has the "
                        "key reads the folder and runs jobs: ssh -L %lld:127.0.0.1:%lld is safer",
                        o->listen, (long long)o->port, (long long)o->port);
    if (strlen(o->host) >= NAME_SIZE)
        return cli_fail(EXIT_INPUT, "--host: that name is too long");
    s->listener = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const socklen_t length = at.any.sa_family == AF_INET ? sizeof at.four : sizeof at.six;
    if (s->listener < 0 ||
        setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(s->listener, &at.any, length) != 0 || listen(s->listener, BACKLOG) != 0 ||
        getsockname(s->listener, &at.any, &size) != 0)
        return cli_fail(EXIT_INPUT, "%s port %lld: %s%s", o->listen, (long long)o->port,
                        strerror(errno),
                        errno == EADDRINUSE ? "; --port 0 takes one that is free" : "");
    s->port = ntohs(at.any.sa_family == AF_INET ? at.four.sin_port : at.six.sin6_port);
    name_hosts(s, o, local);
    return EXIT_DONE;
}

/* Complaints of the library are about clients, which hear of them. */
static void say_nothing(void *data, const char *format, va_list arguments)
{
    (void)data;
    (void)format;
    (void)arguments;
}

bool http_start(server *s)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        handle, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET,
        s->listener, MHD_OPTION_NOTIFY_COMPLETED, finish, s, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_MOST, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (!s->daemon)
        cli_fail(EXIT_RESOURCES, "the server could not be started: %s", strerror(errno));
    return s->daemon != NULL;
}

void http_stop(server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon); /* closes the socket, too */
    else if (s->listener >= 0)
        close(s->listener);
}
