/*
 * Who may come in. Other programs of this machine and pages of other sites can reach the port, so
 * that everything is refused but requests of a browser that has shown the secret, and that knows by
 * which name it came here: a name that an attacker has pointed to this machine is none of ours.
 */
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_LEAST = 22, SLOWED_MOST = 8 };

static bool make_secret(char text[SECRET_SIZE])
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (int k = 0; k < SECRET_BYTES; k++)
        snprintf(text + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

bool guard_renew(guard *g)
{
    return make_secret(g->token);
}

static int read_key(guard *g, const char *path)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return cli_fail(EXIT_INPUT, "--key %s: %s", path, strerror(error));
    }
    const ssize_t got = read(fd, g->key, sizeof g->key - 1);
    close(fd);
    g->key[got > 0 ? got : 0] = '\0';
    g->key[strcspn(g->key, "\r\n")] = '\0';
    if (about.st_mode & (S_IRWXG | S_IRWXO))
        return cli_fail(EXIT_INPUT, "--key %s: others may read it: chmod 600 %s", path, path);
    if (strlen(g->key) < KEY_LEAST || g->key[strspn(g->key, letters)])
        return cli_fail(EXIT_INPUT,
                        "--key %s: its first line has to have %d letters and digits or more: "
                        "openssl rand -hex 16 >%s makes one",
                        path, KEY_LEAST, path);
    return EXIT_DONE;
}

int guard_open(server *s, const serve_options *o)
{
    guard *g = &s->guard;
    if (o->key && read_key(g, o->key) != EXIT_DONE)
        return EXIT_INPUT;
    if (!make_secret(g->token) || !make_secret(g->session))
        return cli_fail(EXIT_RESOURCES, "this system gives no random numbers: %s", strerror(errno));
    return EXIT_DONE;
}

void guard_announce(const server *s)
{
    if (*s->guard.key)
        printf("http://%s/\n", s->address);
    else
        printf("http://%s/?token=%s\n", s->address, s->guard.token);
    fflush(stdout);
}

/* As long for a wrong one as for the right one. */
static bool same_secret(const char *given, const char *secret)
{
    const size_t length = strlen(secret);
    unsigned char differs = strlen(given) != length;
    for (size_t k = 0, at = 0; k < length; k++) {
        differs |= (unsigned char)(given[at] ^ secret[k]);
        at += given[at] != '\0';
    }
    return length > 0 && !differs;
}

bool guard_secret_is(const server *s, const char *given)
{
    return same_secret(given, *s->guard.key ? s->guard.key : s->guard.token);
}

bool guard_knows(const server *s, struct MHD_Connection *connection)
{
    const char *given = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, s->guard.cookie);
    return given && same_secret(given, s->guard.session);
}

double guard_slow(server *s)
{
    guard *g = &s->guard;
    const double now = cli_clock();
    if (g->slowed >= SLOWED_MOST)
        return -1;
    if (now - g->last_failure > 60)
        g->failures = 0;
    g->last_failure = now;
    g->failures++;
    g->slowed++;
    return fmin(0.1 * pow(2, fmin(g->failures - 1, 10)), 5);
}

/* --- heads of requests -------------------------------------------------------------------------*/

typedef struct heads {
    const char *name, *value;
    int count;
} heads;

static enum MHD_Result count_head(void *data, enum MHD_ValueKind kind, const char *key,
                                  const char *value)
{
    heads *h = data;
    (void)kind;
    if (strcasecmp(key, h->name) == 0) {
        h->value = value ? value : "";
        h->count++;
    }
    return MHD_YES;
}

static heads find_heads(struct MHD_Connection *connection, const char *name)
{
    heads found = {.name = name};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, count_head, &found);
    return found;
}

static bool is_ours(const server *s, const char *host)
{
    for (int k = 0; k < s->guard.host_count; k++)
        if (strcasecmp(host, s->guard.hosts[k]) == 0)
            return true;
    return false;
}

static bool is_own_origin(const server *s, const char *origin)
{
    static const char scheme[] = "http://";
    return strncasecmp(origin, scheme, sizeof scheme - 1) == 0 &&
           is_ours(s, origin + sizeof scheme - 1);
}

/* A name with spaces is passed over by some, and taken for one without by others. */
static enum MHD_Result look_for_spaces(void *data, enum MHD_ValueKind kind, const char *key,
                                       const char *value)
{
    bool *found = data;
    (void)kind;
    (void)value;
    *found = *found || key[strcspn(key, " \t")];
    return MHD_YES;
}

/* Where a request ends has one meaning: who passes requests on must not see another in it. The
 * library takes the first of two lengths, and none beside chunks. */
static bool has_one_end(struct MHD_Connection *connection)
{
    enum { DIGITS_MOST = 18 };
    const heads length = find_heads(connection, "Content-Length"),
                coding = find_heads(connection, "Transfer-Encoding");
    const size_t digits = length.count ? strspn(length.value, "0123456789") : 0;
    bool spaces = false;
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_for_spaces, &spaces);
    if (spaces || length.count + coding.count > 1)
        return false;
    if (coding.count > 0)
        return strcasecmp(coding.value, "chunked") == 0;
    return length.count == 0 || (digits > 0 && digits <= DIGITS_MOST && !length.value[digits]);
}

unsigned guard_head(const server *s, struct MHD_Connection *connection, const char *method,
                    const char **why)
{
    const heads host = find_heads(connection, "Host"), origin = find_heads(connection, "Origin"),
                site = find_heads(connection, "Sec-Fetch-Site"),
                own = find_heads(connection, "X-Spry");
    const bool reads = strcmp(method, "GET") == 0;
    if (host.count != 1 || !is_ours(s, host.value)) {
        *why = "this server does not go by that name; open the address that spry serve printed";
        return MHD_HTTP_MISDIRECTED_REQUEST;
    }
    if (!has_one_end(connection)) {
        *why = "a request has one Content-Length, a number, or Transfer-Encoding: chunked, and "
               "heads without spaces in their names";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (!reads && strcmp(method, "POST") != 0 && strcmp(method, "DELETE") != 0) {
        *why = "GET, POST and DELETE are what there is";
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (origin.count > 1 || (origin.count == 1 && !is_own_origin(s, origin.value)) ||
        (site.count > 0 && strcmp(site.value, "cross-site") == 0 && !reads)) {
        *why = "requests of other sites are refused";
        return MHD_HTTP_FORBIDDEN;
    }
    if (!reads && origin.count == 0 && (own.count != 1 || strcmp(own.value, "1") != 0)) {
        *why = "a request that changes something needs the header X-Spry: 1";
        return MHD_HTTP_FORBIDDEN;
    }
    return 0;
}
