/*
 * The tuner's files as text. A file is lines of a word and what belongs to it, the first with the
 * kind and version, the last with a checksum of all before it. Numbers are whole (times in
 * nanoseconds), so that no locale shows in them. Reading is strict: order, blanks and digits are as
 * they are written, or nothing is taken.
 */
#include "choose/tune.h"

#include <stdarg.h>

static const char entry_head[] = "spry-tune 1\n", machine_head[] = "spry-machine 1\n",
                  solved_head[] = "spry-solved 1\n";
static const double nano = 1e9, thousand = 1000;

/* --- writing --------------------------------------------------------------------------------- */

typedef struct writer {
    char *text;
    size_t used;
} writer;

SPRY_PRINTF(2, 3) static void put(writer *w, const char *format, ...)
{
    const size_t room = TUNE_FILE_SIZE - w->used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(w->text + w->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        w->used += (size_t)length < room ? (size_t)length : room - 1;
}

/* FNV-1a, G. Fowler, L. C. Noll, K.-P. Vo. */
static uint64_t checksum(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static size_t finish(writer *w)
{
    put(w, "check %016" PRIx64 "\n", checksum(w->text, w->used));
    return w->used;
}

static int64_t whole(double value, double unit)
{
    const double scaled = value * unit + 0.5;
    return scaled > 0 && scaled < 9e18 ? (int64_t)scaled : 0;
}

size_t tune_entry_write(const tune_entry *e, char text[TUNE_FILE_SIZE])
{
    writer w = {.text = NULL};
    w.text = text;
    put(&w, "%smatrix %016" PRIx64 "\nmachine %016" PRIx64 "\nclass %" PRId64 "\n", entry_head,
        e->matrix, e->machine, e->class);
    put(&w, "winner %s\nseconds %" PRId64 "\n", e->winner, whole(e->seconds, nano));
    for (int i = 0; i < e->count; i++) {
        const spry_tune_row *r = &e->rows[i];
        put(&w, "row %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", r->format, r->bytes,
            whole(r->model_seconds, nano), whole(r->seconds, nano),
            whole(r->conversion_seconds, nano));
    }
    return finish(&w);
}

size_t tune_machine_write(const tune_machine *m, char text[TUNE_FILE_SIZE])
{
    writer w = {.text = NULL};
    w.text = text;
    put(&w, "%smachine %016" PRIx64 "\n", machine_head, m->machine);
    for (int i = 0; i < m->count; i++) {
        const tune_factor *f = &m->factors[i];
        put(&w, "factor %s %" PRId64 " %" PRId64 " %" PRId64 "\n", f->format,
            whole(f->factor, thousand), whole(f->conversion, thousand), f->count);
    }
    return finish(&w);
}

size_t tune_solved_write(const tune_solved *s, char text[TUNE_FILE_SIZE])
{
    writer w = {.text = NULL};
    w.text = text;
    put(&w, "%smatrix %016" PRIx64 "\nmachine %016" PRIx64 "\n", solved_head, s->matrix,
        s->machine);
    put(&w, "precon %s\nmethod %s\niterations %" PRId64 "\nseconds %" PRId64 "\n", s->precon,
        s->method, s->iterations, whole(s->seconds, nano));
    for (int i = 0; i < s->count; i++)
        put(&w, "failed %s\n", s->failed[i]);
    return finish(&w);
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const char *at, *end;
    bool good;
} reader;

static bool take(reader *r, const char *text)
{
    const size_t length = strlen(text);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void need(reader *r, const char *text)
{
    r->good = r->good && take(r, text);
}

static uint64_t read_hash(reader *r)
{
    uint64_t hash = 0;
    for (int i = 0; i < 16 && r->good; i++) {
        const char c = r->at < r->end ? *r->at++ : '\0';
        const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
        r->good = digit || letter;
        hash = hash << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return r->good ? hash : 0;
}

/* A number from 0 on, as it is written. */
static int64_t read_number(reader *r)
{
    int64_t value = 0;
    const char *after = r->good ? base_parse_int(r->at, r->end, &value) : NULL;
    const bool digit = r->at < r->end && *r->at >= '0' && *r->at <= '9';
    r->good = after && digit && value >= 0 && (*r->at != '0' || after == r->at + 1);
    if (r->good)
        r->at = after;
    return r->good ? value : 0;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-_:=,./+[]", c));
}

static void read_name(reader *r, char *name, size_t size)
{
    size_t length = 0;
    while (r->good && r->at < r->end && is_name(*r->at)) {
        r->good = length + 1 < size;
        if (r->good)
            name[length++] = *r->at++;
    }
    name[r->good ? length : 0] = '\0';
    r->good = r->good && length > 0;
}

/* Whether the text ends in its own checksum; r is set to what comes before. */
static bool open_text(reader *r, const char *text, size_t size)
{
    enum { LAST = sizeof "check 0123456789abcdef\n" - 1 };
    if (size < LAST || size > TUNE_FILE_SIZE)
        return false;
    reader tail = {text + size - LAST, text + size, true};
    need(&tail, "check ");
    const uint64_t found = read_hash(&tail);
    need(&tail, "\n");
    *r = (reader){text, text + size - LAST, true};
    return tail.good && found == checksum(text, size - LAST);
}

bool tune_entry_read(const char *text, size_t size, tune_entry *e)
{
    reader r;
    *e = (tune_entry){0};
    if (!open_text(&r, text, size))
        return false;
    need(&r, entry_head);
    need(&r, "matrix ");
    e->matrix = read_hash(&r);
    need(&r, "\nmachine ");
    e->machine = read_hash(&r);
    need(&r, "\nclass ");
    e->class = read_number(&r);
    need(&r, "\nwinner ");
    read_name(&r, e->winner, sizeof e->winner);
    need(&r, "\nseconds ");
    e->seconds = (double)read_number(&r) / nano;
    need(&r, "\n");
    while (r.good && r.at < r.end && e->count < TUNE_ROWS) {
        spry_tune_row *row = &e->rows[e->count++];
        need(&r, "row ");
        read_name(&r, row->format, sizeof row->format);
        need(&r, " ");
        row->bytes = read_number(&r);
        need(&r, " ");
        row->model_seconds = (double)read_number(&r) / nano;
        need(&r, " ");
        row->seconds = (double)read_number(&r) / nano;
        need(&r, " ");
        row->conversion_seconds = (double)read_number(&r) / nano;
        need(&r, "\n");
    }
    return r.good && r.at == r.end;
}

bool tune_machine_read(const char *text, size_t size, tune_machine *m)
{
    reader r;
    *m = (tune_machine){0};
    if (!open_text(&r, text, size))
        return false;
    need(&r, machine_head);
    need(&r, "machine ");
    m->machine = read_hash(&r);
    need(&r, "\n");
    while (r.good && r.at < r.end && m->count < TUNE_FACTORS) {
        tune_factor *f = &m->factors[m->count++];
        need(&r, "factor ");
        read_name(&r, f->format, sizeof f->format);
        need(&r, " ");
        f->factor = (double)read_number(&r) / thousand;
        r.good = r.good && f->factor >= TUNE_LEAST_FACTOR && f->factor <= TUNE_MOST_FACTOR;
        need(&r, " ");
        f->conversion = (double)read_number(&r) / thousand;
        need(&r, " ");
        f->count = read_number(&r);
        need(&r, "\n");
    }
    return r.good && r.at == r.end;
}

bool tune_solved_read(const char *text, size_t size, tune_solved *s)
{
    reader r;
    *s = (tune_solved){0};
    if (!open_text(&r, text, size))
        return false;
    need(&r, solved_head);
    need(&r, "matrix ");
    s->matrix = read_hash(&r);
    need(&r, "\nmachine ");
    s->machine = read_hash(&r);
    need(&r, "\nprecon ");
    read_name(&r, s->precon, sizeof s->precon);
    need(&r, "\nmethod ");
    read_name(&r, s->method, sizeof s->method);
    need(&r, "\niterations ");
    s->iterations = read_number(&r);
    need(&r, "\nseconds ");
    s->seconds = (double)read_number(&r) / nano;
    need(&r, "\n");
    while (r.good && r.at < r.end && s->count < TUNE_FAILED) {
        need(&r, "failed ");
        read_name(&r, s->failed[s->count], sizeof s->failed[s->count]);
        need(&r, "\n");
        s->count += r.good;
    }
    return r.good && r.at == r.end;
}
