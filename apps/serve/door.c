/* The door: the page that asks for the key or the token, and what becomes of an answer. */
#include "serve/serve.h"

#include <stdlib.h>
#include <string.h>

/* Whether a person looks at the answer: programs ask below /api/, or say so. */
static bool is_page(struct MHD_Connection *connection, const char *path)
{
    return (strcmp(path, "/") == 0 || strcmp(path, "/login") == 0) &&
           !MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "X-Spry");
}

/* All texts are ours. */
static enum MHD_Result ask(const server *s, struct MHD_Connection *connection, unsigned status,
                           const char *fault)
{
    static const char head[] =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>spry: locked</title>\n"
        "<link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n"
        "<link rel=\"stylesheet\" href=\"/page.css\">\n</head>\n<body class=\"door\">\n"
        "<main class=\"card\">\n<h1><img src=\"/icon.svg\" alt=\"\" width=\"28\" "
        "height=\"28\">spry</h1>\n";
    const bool key = *s->guard.key;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return MHD_NO;
    fputs(head, out);
    if (*fault)
        fprintf(out, "<p class=\"wrong\" role=\"alert\" id=\"fault\">%s</p>\n", fault);
    fputs(
        key ? "<p>This page opens with a key: the first line of the file that <code>spry serve "
              "--key</code> was given. Ask whoever started the server.</p>\n"
            : "<p>Open the address that <code>spry serve</code> has printed last in its terminal, "
              "or give the token at its end. A token opens the page once.</p>\n",
        out);
    fprintf(out,
            "<form method=\"post\" action=\"/login\">\n<label class=\"field\"><span>%s</span>"
            "<input type=\"password\" name=\"token\" autocomplete=\"off\" autofocus "
            "required%s></label>\n<button class=\"primary\">Open</button>\n</form>\n"
            "</main>\n</body>\n</html>\n",
            key ? "Key" : "Token",
            *fault ? " aria-invalid=\"true\" aria-describedby=\"fault\"" : "");
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return answer_text(connection, status, "text/html; charset=utf-8", POLICY_LOGIN, text, size);
}

enum MHD_Result door_refuse(const server *s, const request *q, struct MHD_Connection *connection,
                            const char *path)
{
    const bool key = *s->guard.key;
    if (!is_page(connection, path))
        return answer_fault(connection, MHD_HTTP_UNAUTHORIZED,
                            key ? "not signed in: open the page and give the key"
                                : "not signed in: open the address that spry serve has printed");
    return ask(s, connection, MHD_HTTP_UNAUTHORIZED,
               q->stranger ? "This browser was let in by a server that has ended since."
               : !q->slow  ? ""
               : key       ? "That is not the key."
                           : "That token does not open the page, or no longer.");
}

/* A wrong guess sleeps before it hears so. */
enum MHD_Result door_slow(server *s, request *q, struct MHD_Connection *connection,
                          const char *path)
{
    pthread_mutex_lock(&s->lock);
    const double seconds = guard_slow(s);
    pthread_mutex_unlock(&s->lock);
    task *e = seconds < 0 ? NULL : task_new();
    if (e) {
        e->at = cli_clock() + seconds;
        q->task = e;
        q->slow = true;
        if (task_send(s, e, connection))
            return MHD_YES;
    }
    if (seconds >= 0) {
        pthread_mutex_lock(&s->lock);
        s->guard.slowed--;
        pthread_mutex_unlock(&s->lock);
    }
    q->slow = false;
    task_free(e);
    q->task = NULL;
    const char *const fault = "Too many wrong guesses at once: wait, and try again.";
    return is_page(connection, path)
               ? ask(s, connection, MHD_HTTP_TOO_MANY_REQUESTS, fault)
               : answer_fault(connection, MHD_HTTP_TOO_MANY_REQUESTS, "%s", fault);
}

static enum MHD_Result let_in(const server *s, struct MHD_Connection *connection)
{
    char cookie[160];
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", s->guard.cookie,
             s->guard.session);
    if (response && (MHD_add_response_header(response, "Set-Cookie", cookie) != MHD_YES ||
                     MHD_add_response_header(response, "Location", "/") != MHD_YES)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return answer(connection, MHD_HTTP_SEE_OTHER, "text/plain", POLICY_LOGIN, response);
}

enum MHD_Result door_sign_in(server *s, request *q, struct MHD_Connection *connection,
                             const char *given)
{
    if (guard_knows(s, connection)) /* an address that was opened once more */
        return let_in(s, connection);
    if (!guard_secret_is(s, given))
        return door_slow(s, q, connection, "/");
    if (!*s->guard.key && guard_renew(&s->guard))
        guard_announce(s); /* that one is used up */
    return let_in(s, connection);
}

enum MHD_Result door_form(server *s, request *q, struct MHD_Connection *connection)
{
    static const char field[] = "token=";
    const bool whole = q->body && strncmp(q->body, field, sizeof field - 1) == 0;
    return door_sign_in(s, q, connection, whole ? q->body + sizeof field - 1 : "");
}
