/*
 * See program_list.h. A header with the version and the stamp, then records: a line with the kind
 * (names, text), the length in bytes and the options, then the bytes and a line's end.
 */
#include "device/engine/program_list.h"

#include "device/engine/cache.h"
#include "device/engine/engine.h"

#include <unistd.h>

enum { HEADER_SIZE = 128, OPTIONS_SIZE = 256 };

typedef struct record {
    const char *begin, *end; /* of all of it */
    const char *body;
    int64_t length; /* of the body */
    bool named;
    char options[OPTIONS_SIZE];
} record;

static bool list_path(spry_device *d, char *path, size_t size)
{
    char about[256];
    const int length = snprintf(about, sizeof about, "%s\n%s\n%s", d->engine->name,
                                d->facts.description, d->facts.target);
    if (length < 0 || (size_t)length >= sizeof about || !cache_folder(d, path, size))
        return false;
    const size_t used = strlen(path);
    snprintf(path + used, size - used, "/%016" PRIx64 ".list",
             cache_hash_of(about, (size_t)length).part[0]);
    return true;
}

static void write_header(uint64_t stamp, char header[HEADER_SIZE])
{
    snprintf(header, HEADER_SIZE, "spry programs 1 %s %016" PRIx64 "\n", spry_version(), stamp);
}

/* The record at `at`; false where there is no whole one. */
static bool next_record(const char *at, const char *end, record *r)
{
    long long length = 0;
    char kind[8] = "";
    int used = 0;
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line || line - at >= OPTIONS_SIZE ||
        sscanf(at, "%7[a-z] %lld %n", kind, &length, &used) != 2 || used == 0 || at + used > line)
        return false;
    *r = (record){.begin = at, .body = line + 1, .length = length};
    r->named = strcmp(kind, "names") == 0;
    if ((!r->named && strcmp(kind, "text") != 0) || length < 0 || length >= end - r->body ||
        r->body[length] != '\n' || memchr(r->body, '\0', (size_t)length))
        return false;
    memcpy(r->options, at + used, (size_t)(line - at - used));
    r->end = r->body + length + 1;
    return true;
}

/* The whole file, with a zero behind it; NULL: there is none. */
static char *read_file(spry_device *d, int64_t *size)
{
    char path[CACHE_PATH], *all = NULL;
    if (!list_path(d, path, sizeof path))
        return NULL;
    const int file = cache_open(d, path, 1, PROGRAM_LIST_BYTES, size);
    if (file < 0)
        return NULL;
    if (base_calloc(d->ctx, *size + 1, 1, &all) != SPRY_STATUS_OK) {
        close(file);
        return NULL;
    }
    if (base_file_fill(file, all, *size) == *size)
        return all;
    base_free(d->ctx, all);
    return NULL;
}

void program_list_note(spry_device *d, const char *names, const char *text, const char *options)
{
    base_text *t = &d->cache->noted;
    const char *body = names ? names : text;
    if (d->cache->noted_count >= PROGRAM_LIST_MOST || strlen(options) > OPTIONS_SIZE - 32 ||
        strchr(options, '\n'))
        return;
    t->ctx = d->ctx;
    base_text_put(t, "%s %zu %s\n%s\n", names ? "names" : "text", strlen(body), options, body);
    d->cache->noted_count++;
}

void program_list_read(spry_device *d, uint64_t stamp, program_list_use *use)
{
    char header[HEADER_SIZE], *body = NULL;
    int64_t size = 0;
    char *all = read_file(d, &size);
    const char *line = all ? strchr(all, '\n') : NULL;
    record r;
    write_header(stamp, header);
    if (!line || strncmp(all, header, strlen(header)) == 0) /* they are on disk */
        goto done;
    const bool same_version = strncmp(all, header, strlen(header) - 17) == 0;
    for (const char *at = line + 1, *end = all + size; next_record(at, end, &r); at = r.end) {
        if ((!r.named && !same_version) ||
            base_calloc(d->ctx, r.length + 1, 1, &body) != SPRY_STATUS_OK)
            continue;
        memcpy(body, r.body, (size_t)r.length);
        use(d, r.named ? body : NULL, body, r.options);
        base_free(d->ctx, body);
    }
done:
    base_free(d->ctx, all);
}

/* The type's number in the place of T. */
static void set_type(char *options, spry_type type)
{
    static const char word[] = "-DSP_TYPE=T";
    char *at = strstr(options, word);
    if (at)
        at[sizeof word - 2] = (char)('0' + type);
}

void program_list_first(spry_device *d, const char *work, spry_type type, program_list_use *use)
{
    char kind[32], names[64], options[160];
    for (const char *line = device_text("first"); *line; line += strcspn(line, "\n") + 1) {
        if (sscanf(line, "%31[^:\n]: %63[^:\n]: %159[^\n]", kind, names, options) != 3 ||
            strcmp(kind, work) != 0)
            continue;
        set_type(options, type);
        use(d, names, NULL, options);
    }
}

/* Whether a record is among those that were noted. */
static bool is_noted(const char *noted, const record *r)
{
    record other;
    const char *end = noted + strlen(noted);
    for (const char *at = noted; next_record(at, end, &other); at = other.end)
        if (other.end - other.begin == r->end - r->begin &&
            memcmp(other.begin, r->begin, (size_t)(r->end - r->begin)) == 0)
            return true;
    return false;
}

/* What is in the list already, behind what is new. */
static void add_old(spry_device *d, const char *noted, base_text *t)
{
    int64_t size = 0;
    int count = d->cache->noted_count;
    char *all = read_file(d, &size);
    const char *line = all ? strchr(all, '\n') : NULL;
    record r;
    for (const char *at = line ? line + 1 : NULL;
         at && next_record(at, all + size, &r) && count < PROGRAM_LIST_MOST &&
         t->used + (size_t)(r.end - r.begin) < PROGRAM_LIST_BYTES;
         at = r.end)
        if (!is_noted(noted, &r)) {
            base_text_put(t, "%.*s", (int)(r.end - r.begin), r.begin);
            count++;
        }
    base_free(d->ctx, all);
}

void program_list_write(spry_device *d, uint64_t stamp)
{
    char path[CACHE_PATH], header[HEADER_SIZE], *noted = NULL, *text = NULL;
    base_text t = {.ctx = d->ctx};
    if (d->cache->noted_count == 0 || base_text_take(&d->cache->noted, &noted) != SPRY_STATUS_OK ||
        !list_path(d, path, sizeof path))
        goto done;
    write_header(stamp, header);
    base_text_put(&t, "%s%s", header, noted);
    add_old(d, noted, &t);
    if (base_text_take(&t, &text) == SPRY_STATUS_OK && strlen(text) <= PROGRAM_LIST_BYTES)
        (void)base_file_replace(path, text, strlen(text));
done:
    base_free(d->ctx, text);
    base_free(d->ctx, noted);
}
