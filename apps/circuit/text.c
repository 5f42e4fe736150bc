/* Lines of a netlist: continuations, comments, included files; words and numbers. */
#include "circuit/circuit.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_DEPTH = 20, MOST_FILES = 1000, MOST_BYTES = 1 << 30, PATH_SIZE = 4096 };

void *grow(void *list, int64_t count, int64_t *room, size_t size)
{
    if (count < *room)
        return list;
    while (*room <= count)
        *room = *room > 0 ? 2 * *room : 16;
    void *larger = realloc(list, (size_t)*room * size);
    if (!larger)
        text_end(
            cli_fail(EXIT_RESOURCES, "no memory for %lld things of the netlist", (long long)*room));
    return larger;
}

double *zeros(int64_t count)
{
    return cli_alloc((size_t)count * sizeof(double));
}

/* What callers hold is given back by the system, without a search for leaks. */
void text_end(int exit_status)
{
    _exit(file_finish_stdout(exit_status));
}

void text_fault(const netlist_text *t, const text_line *l, const char *format, ...)
{
    char message[2 * WORD_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (l)
        text_end(
            cli_fail(EXIT_INPUT, "%s:%d: %s", text_name(t->files[l->file]), l->number, message));
    text_end(cli_fail(EXIT_INPUT, "%s", message));
}

char *text_copy(const char *from, size_t length)
{
    char *copy = cli_alloc(length + 1);
    return memcpy(copy, from, length);
}

/* All of a file, or as far as a byte 0. "-", which nothing includes, is the standard input. */
static char *read_file(netlist_text *t, const char *path, const text_line *from, size_t *size)
{
    const bool standard = !from && strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    char *bytes = NULL;
    int64_t count = 0, room = 0;
    if (!file)
        text_fault(t, from, "%s: %s", text_name(path), strerror(errno));
    for (;;) {
        bytes = grow(bytes, count + 65536, &room, 1);
        const size_t more = fread(bytes + count, 1, (size_t)(room - count - 1), file);
        const bool text = !memchr(bytes + count, '\0', more);
        count += (int64_t)more;
        if (count < room - 1 || !text || count > MOST_BYTES)
            break;
    }
    if (ferror(file))
        text_fault(t, from, "%s: %s", text_name(path), strerror(errno));
    if (count > MOST_BYTES)
        text_fault(t, from, "%s: more than %d bytes", text_name(path), MOST_BYTES);
    if (!standard)
        fclose(file);
    bytes[count] = '\0';
    *size = (size_t)count;
    return bytes;
}

/* Ends a text where its comment begins: $ or ; that follow a blank, or begin. */
static void cut_comment(char *from)
{
    for (char *p = from; *p; p++)
        if (*p == ';' || (*p == '$' && (p == from || isspace((unsigned char)p[-1])))) {
            *p = '\0';
            return;
        }
}

static void add_line(netlist_text *t, const char *from, int file, int number)
{
    *GROWN(t->lines, t->count, t->room) = (text_line){text_copy(from, strlen(from)), file, number};
}

/* Continues the last line. */
static void join_line(netlist_text *t, const char *more)
{
    text_line *l = &t->lines[t->count - 1];
    const size_t old = strlen(l->text), length = strlen(more);
    int64_t room = 1;
    l->text = grow(l->text, (int64_t)(old + length) + 2, &room, 1);
    l->text[old] = ' ';
    memcpy(l->text + old + 1, more, length + 1);
}

static void read_lines(netlist_text *t, const char *path, const text_line *from, int depth);

static bool begins(const char *at, const char *word)
{
    const size_t length = strlen(word);
    for (size_t k = 0; k < length; k++)
        if (tolower((unsigned char)at[k]) != word[k])
            return false;
    return at[length] == '\0' || isspace((unsigned char)at[length]);
}

/* A name beside the file that includes it, unless it begins with a slash. */
static void include(netlist_text *t, const char *at, int file, int number, int depth)
{
    char name[PATH_SIZE], path[PATH_SIZE];
    const text_line here = {NULL, file, number};
    at += strspn(at, " \t");
    const char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    size_t length = quote ? strcspn(at, quote == '"' ? "\"" : "'") : strcspn(at, " \t\r");
    if (length == 0 || length >= sizeof name)
        text_fault(t, &here, "expected .include FILE");
    memcpy(name, at, length);
    name[length] = '\0';
    const char *old = t->files[file], *slash = strrchr(old, '/');
    const int folder = slash && *name != '/' ? (int)(slash - old) + 1 : 0;
    if ((size_t)folder + length >= sizeof path || depth >= MOST_DEPTH ||
        t->file_count >= MOST_FILES)
        text_fault(t, &here, "%s: files include each other too deeply", text_name(name));
    memcpy(path, old, (size_t)folder);
    memcpy(path + folder, name, length + 1);
    read_lines(t, path, &here, depth + 1);
}

static void take_line(netlist_text *t, char *at, int file, int number, int depth, bool *joins)
{
    char *first = at + strspn(at, " \t");
    const text_line here = {NULL, file, number};
    if (*first == '*' || *first == '\0')
        return;
    cut_comment(first);
    if (*first == '+' && !*joins)
        text_fault(t, &here, "+ continues no line");
    if (*first == '+') {
        join_line(t, first + 1);
    } else if (begins(first, ".include") || begins(first, ".inc")) {
        include(t, first + strcspn(first, " \t"), file, number, depth);
        *joins = false;
    } else if (*first) {
        add_line(t, first, file, number);
        *joins = true;
    }
}

/* The first line of the first file is its title, and the first line of the text. */
static void read_lines(netlist_text *t, const char *path, const text_line *from, int depth)
{
    size_t size = 0;
    bool joins = false;
    char *const bytes = read_file(t, path, from, &size), *at = bytes;
    const int file = (int)t->file_count;
    *GROWN(t->files, t->file_count, t->file_room) = text_copy(path, strlen(path));
    for (int number = 1; at < bytes + size; number++) {
        const text_line here = {NULL, file, number};
        const size_t length = strcspn(at, "\n");
        if (at + length < bytes + size && at[length] == '\0')
            text_fault(t, &here, "a byte 0: this is no text");
        at[length] = '\0';
        if (length > 0 && at[length - 1] == '\r')
            at[length - 1] = '\0';
        if (depth == 0 && number == 1)
            add_line(t, at, file, number);
        else if (begins(at + strspn(at, " \t"), ".end"))
            break;
        else
            take_line(t, at, file, number, depth, &joins);
        at += length + 1;
    }
    free(bytes);
}

void text_read(netlist_text *t, const char *path)
{
    *t = (netlist_text){0};
    read_lines(t, path, NULL, 0);
    if (t->count == 0)
        text_fault(t, NULL, "%s: the netlist is empty", text_name(path));
}

void text_free(netlist_text *t)
{
    for (int64_t k = 0; k < t->count; k++)
        free(t->lines[k].text);
    for (int64_t k = 0; k < t->file_count; k++)
        free(t->files[k]);
    free(t->lines);
    free(t->files);
}

/* Length of what is in braces or quotes, or in parentheses that follow a word. */
static size_t enclosed(const char *at)
{
    if (*at == '\'' || *at == '"') {
        const char *end = strchr(at + 1, *at);
        return end ? (size_t)(end - at) + 1 : strlen(at);
    }
    const char open = *at, close = open == '{' ? '}' : ')';
    int depth = 0;
    for (size_t k = 0; at[k]; k++) {
        depth += at[k] == open;
        depth -= at[k] == close;
        if (depth == 0)
            return k + 1;
    }
    return strlen(at);
}

bool text_word_next(const char **at, bool whole, char word[WORD_SIZE])
{
    const char *const between = whole ? " \t\r," : " \t\r,()";
    const char *p = *at + strspn(*at, between);
    size_t length = 0;
    if (!*p)
        return false;
    if (*p == '=') {
        length = 1;
    } else if (*p == '{' || *p == '\'' || *p == '"') {
        length = enclosed(p);
    } else {
        length = strcspn(p, whole ? " \t\r,=({" : " \t\r,()={'\"");
        if (whole && p[length] == '(')
            length += enclosed(p + length);
        if (length == 0)
            length = 1;
    }
    *at = p + length;
    if (length >= WORD_SIZE)
        length = WORD_SIZE - 1;
    for (size_t k = 0; k < length; k++)
        word[k] = (char)tolower((unsigned char)p[k]);
    word[length] = '\0';
    return true;
}

bool text_number(const char *word, double *value)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"meg", 1e6}, {"mil", 25.4e-6}, {"t", 1e12}, {"g", 1e9},   {"k", 1e3},
                 {"m", 1e-3},  {"u", 1e-6},      {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}};
    char *after = NULL;
    /* strtod() also takes hexadecimal numbers, inf and nan */
    const char *digits = word + (*word == '+' || *word == '-');
    if (!isdigit((unsigned char)digits[*digits == '.']) || tolower((unsigned char)digits[1]) == 'x')
        return false;
    *value = strtod(word, &after);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (strncmp(after, units[k].name, strlen(units[k].name)) == 0) {
            *value *= units[k].factor;
            after += strlen(units[k].name);
            break;
        }
    while (isalpha((unsigned char)*after))
        after++; /* V, Hz, F */
    return *after == '\0' && isfinite(*value);
}
