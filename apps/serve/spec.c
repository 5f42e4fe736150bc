/* What a job is asked to do, and the command that does it. */
#include "serve/spec.h"

#include "cli/output.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define SPEC_KIND_NAME(name) #name,
const char *const spec_kind_names[KIND_COUNT] = {SPEC_KINDS(SPEC_KIND_NAME)};

/* UTF-8 in which nothing is a control character; lines may be. */
static bool is_plain(const char *text, bool lines)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const int length = text_utf8_length(p);
        if (length == 0 || (text_is_control(p) && !(lines && strchr("\n\r\t", *p))))
            return false;
        p += length;
    }
    return true;
}

bool name_is_good(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < NAME_SIZE &&
           is_plain(name, false);
}

/* --- from JSON ---------------------------------------------------------------------------------*/

typedef struct reading {
    const reader *r;
    const reader_value *from;
    char *fault;
} reading;

SPRY_PRINTF(2, 3) static bool refuse(const reading *in, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(in->fault, FAULT_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

/* A member that says something; NULL where it is missing or null. */
static const reader_value *find(const reading *in, const char *key)
{
    const reader_value *v = reader_member(in->r, in->from, key);
    return v && v->kind != 'n' ? v : NULL;
}

static bool take_word(const reading *in, const char *key, char *word, size_t size)
{
    const reader_value *v = find(in, key);
    word[0] = '\0';
    if (!v)
        return true;
    if (v->kind != '"')
        return refuse(in, "\"%s\" has to be a text", key);
    if (strlen(v->text) >= size || !is_plain(v->text, false))
        return refuse(in, "\"%s\" is too long or has characters that are no text", key);
    snprintf(word, size, "%s", v->text);
    return true;
}

static bool take_name(const reading *in, const char *key, char name[NAME_SIZE])
{
    if (!take_word(in, key, name, NAME_SIZE))
        return false;
    return !*name || name_is_good(name) ||
           refuse(in,
                  "\"%s\" has to be the name of a file in the folder, without / and not "
                  "beginning with a dot",
                  key);
}

static bool take_number(const reading *in, const char *key, double low, double high, double *number)
{
    const reader_value *v = find(in, key);
    *number = NAN;
    if (!v)
        return true;
    if (v->kind != '0' || !(v->number >= low && v->number <= high))
        return refuse(in, "\"%s\" has to be a number from %g to %g", key, low, high);
    *number = v->number;
    return true;
}

static bool take_kind(const reading *in, int *kind)
{
    const char *name = reader_text(in->r, in->from, "kind");
    for (*kind = 0; *kind < KIND_COUNT; ++*kind)
        if (strcmp(name, spec_kind_names[*kind]) == 0)
            return true;
    return refuse(in, "\"kind\" has to be solve, doctor, plan, tune or report");
}

static bool take_text(const reading *in, char **text)
{
    const reader_value *v = find(in, "text");
    if (!v || (v->kind == '"' && !*v->text))
        return true;
    if (v->kind != '"' || strlen(v->text) > TEXT_MOST || !is_plain(v->text, true))
        return refuse(in, "\"text\" has to be a method's text of at most %d bytes", TEXT_MOST);
    *text = strdup(v->text);
    return *text || refuse(in, "no memory for the method's text");
}

static bool take_method(const reading *in, spec *s)
{
    return take_word(in, "method", s->method, WORD_SIZE) &&
           take_word(in, "precon", s->precon, WORD_SIZE) && take_text(in, &s->text);
}

bool spec_read_method(spec *s, const reader *r, const reader_value *from, char fault[FAULT_SIZE])
{
    const reading in = {r, from, fault};
    *s = (spec){.tol = NAN, .max_iter = NAN};
    if (!take_method(&in, s))
        return false;
    return s->text || (*s->method && *s->method != '-') ||
           refuse(&in, "\"method\" has to name a method, or \"text\" to be one");
}

bool spec_read(spec *s, const reader *r, const reader_value *from, char fault[FAULT_SIZE])
{
    const reading in = {r, from, fault};
    *s = (spec){.tol = NAN, .max_iter = NAN};
    if (!from || from->kind != '{')
        return refuse(&in, "a job is an object: {\"kind\": \"solve\", \"file\": \"A.mtx\"}");
    const reader_value *report = find(&in, "report");
    s->report = report && report->kind == 't';
    if (!take_kind(&in, &s->kind) || !take_name(&in, "file", s->file) ||
        !take_name(&in, "rhs", s->rhs) || !take_method(&in, s) ||
        !take_word(&in, "device", s->device, WORD_SIZE) ||
        !take_number(&in, "tol", 0, 1, &s->tol) ||
        !take_number(&in, "max_iter", 0, 1e15, &s->max_iter))
        return false;
    if (!*s->file)
        return refuse(&in, "\"file\" has to name the file of the matrix");
    if (s->text && s->kind != KIND_solve && s->kind != KIND_plan)
        return refuse(&in, "\"text\" goes with a job that solves, or plans to");
    return isnan(s->max_iter) || s->max_iter == floor(s->max_iter) ||
           refuse(&in, "\"max_iter\" has to be a whole number");
}

void spec_free(spec *s)
{
    free(s->text);
    s->text = NULL;
}

/* --- to words ----------------------------------------------------------------------------------*/

void command_add(command *c, const char *format, ...)
{
    char *word = NULL;
    size_t size = 0;
    va_list arguments;
    FILE *out = c->count < COMMAND_MOST ? open_memstream(&word, &size) : NULL;
    if (!out) {
        c->bad = true;
        return;
    }
    va_start(arguments, format);
    const bool bad = vfprintf(out, format, arguments) < 0;
    va_end(arguments);
    if (fclose(out) != 0 || bad) {
        free(word);
        c->bad = true;
        return;
    }
    c->words[c->count++] = word;
}

void command_add_file(command *c, const char *name)
{
    command_add(c, "%s%s", *name == '-' ? "./" : "", name);
}

void command_free(command *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->words[i]);
    *c = (command){0};
}

void command_print(const command *c, FILE *out)
{
    for (int i = 0; i < c->count; i++) {
        fputs(i ? " " : "", out);
        text_word(out, c->words[i]);
    }
}

/* The fewest digits that read back as the same number. */
static void add_real(command *c, const char *option, double value)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    if (!isnan(value))
        command_add(c, "--%s=%s", option, text);
}

static void add_word(command *c, const char *option, const char *value)
{
    if (*value)
        command_add(c, "--%s=%s", option, value);
}

/* The report compares methods, each with a preconditioner after a +. */
static void add_method(const spec *s, const spec_place *place, command *c)
{
    if (s->kind == KIND_tune)
        return;
    if (s->kind == KIND_report) {
        if (*s->method || *s->precon)
            command_add(c, "--methods=%s%s%s", *s->method ? s->method : "auto",
                        *s->precon ? "+" : "", s->precon);
        return;
    }
    if (s->text)
        command_add(c, "--method-file=%smethod.krylov", place->folder);
    else
        add_word(c, "method", s->method);
    add_word(c, "precon", s->precon);
}

static void add_outputs(const spec *s, const spec_place *place, command *c)
{
    if (s->kind == KIND_solve) {
        command_add(c, "-o");
        command_add(c, "%sx.mtx", place->folder);
    }
    if (s->kind == KIND_report) {
        command_add(c, "-o");
        command_add(c, "%sreport.html", place->folder);
    } else if (*place->result) {
        command_add(c, "--json");
        command_add(c, "%s%s", place->folder, place->result);
    }
    if (s->report && s->kind == KIND_solve)
        command_add(c, "--report=%sreport.html", place->folder);
    if (place->progress)
        command_add(c, "--progress=json");
}

void spec_command(const spec *s, const spec_place *place, command *c)
{
    const bool solves = s->kind == KIND_solve || s->kind == KIND_report || s->kind == KIND_plan;
    command_add(c, "spry");
    command_add(c, "%s", spec_kind_names[s->kind]);
    command_add_file(c, s->file);
    if (*s->rhs && s->kind != KIND_tune)
        command_add_file(c, s->rhs);
    add_method(s, place, c);
    if (solves) {
        add_real(c, "tol", s->tol);
        if (s->max_iter >= 0)
            command_add(c, "--max-iter=%.0f", s->max_iter);
    }
    if (s->kind != KIND_doctor)
        add_word(c, "device", s->device);
    add_outputs(s, place, c);
}
