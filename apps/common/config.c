/* Configuration files: options by lines, numbers with units. */
#include "common/app.h"

#include <ctype.h>
#include <errno.h>
#include <private/marks.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024 };

/* Units, each with the one that options are kept in. */
static const struct {
    const char *name, *base;
    double factor;
} units[] = {
    {"m", "m", 1},
    {"km", "m", 1e3},
    {"cm", "m", 1e-2},
    {"mm", "m", 1e-3},
    {"um", "m", 1e-6},
    {"nm", "m", 1e-9},
    {"s", "s", 1},
    {"ms", "s", 1e-3},
    {"us", "s", 1e-6},
    {"ns", "s", 1e-9},
    {"min", "s", 60},
    {"h", "s", 3600},
    {"Hz", "Hz", 1},
    {"m/s", "m/s", 1},
    {"km/h", "m/s", 1 / 3.6},
    {"kn", "m/s", 1852.0 / 3600},
    {"m/s^2", "m/s^2", 1},
    {"m^2/s", "m^2/s", 1},
    {"mm^2/s", "m^2/s", 1e-6},
    {"kg/m^3", "kg/m^3", 1},
    {"rad", "rad", 1},
    {"deg", "rad", 0.017453292519943295},
    {"V", "V", 1},
    {"mV", "V", 1e-3},
    {"eV", "eV", 1},
    {"K", "K", 1},
    {"cm^-3", "cm^-3", 1},
    {"m^-3", "cm^-3", 1e-6},
};
enum { UNITS = sizeof units / sizeof *units };

/* Where the reader is. */
typedef struct config {
    spry_context *ctx;
    const char *path;
    int line;
    const cli_arguments *arguments;
    const app_unit *kept;
    app_config *set;
} config;

static int fault(const config *c, const char *text, const char *at, const char *what)
{
    return cli_fail(EXIT_INPUT, "%s:%d:%d: %s", c->path, c->line, (int)(at - text) + 1, what);
}

static bool was_given(const config *c, const spry_option *option)
{
    for (int i = 0; i < c->arguments->given_count; i++)
        if (c->arguments->given[i].option == option)
            return true;
    return false;
}

/* Notes where an option is set, and its value; one that is set twice is a fault. */
static int note(const config *c, const char *text, const char *at, const char *value,
                const spry_option *option)
{
    char message[CLI_NAME + 64];
    for (int i = 0; i < c->set->list.count && i < APP_OPTIONS; i++) {
        if (spry_options_at(c->set->list, i) != option)
            continue;
        if (c->set->at[i].line > 0) {
            snprintf(message, sizeof message, "%s is set twice, in line %d first", option->name,
                     c->set->at[i].line);
            return fault(c, text, at, message);
        }
        c->set->at[i].line = c->line;
        c->set->at[i].column = (int)(at - text) + 1;
        c->set->at[i].value = was_given(c, option) ? 0 : (int)(value - text) + 1;
    }
    return EXIT_DONE;
}

static const char *unit_of(const config *c, const char *option)
{
    for (const app_unit *u = c->kept; u && u->option; u++)
        if (strcmp(u->option, option) == 0)
            return u->unit;
    return NULL;
}

/* The factor of a unit in the place of another one; 0, and a message, where it is none. */
static double convert(const char *name, const char *base, char *message, size_t size)
{
    char words[CLI_WORDS] = "";
    for (int i = 0; base && i < UNITS; i++) {
        if (strcmp(units[i].base, base) != 0)
            continue;
        if (strcmp(units[i].name, name) == 0)
            return units[i].factor;
        cli_add_word(words, units[i].name);
    }
    if (base)
        snprintf(message, size, "%s is no unit of this option; there are: %s", name, words);
    else
        snprintf(message, size, "this option has no unit, \"%s\" is too much", name);
    return 0;
}

/* A number and its unit. */
static int set_number(const config *c, const char *text, char *value, const spry_option *option,
                      spry_option_list list)
{
    char message[2 * CLI_WORDS], number[64], *after = NULL;
    double found = strtod(value, &after);
    if (after == value)
        return fault(c, text, value, "expected a number");
    char *unit = after + strspn(after, " \t");
    if (*unit) {
        const double factor = convert(unit, unit_of(c, option->name), message, sizeof message);
        if (factor == 0)
            return fault(c, text, unit, message);
        found *= factor;
    }
    snprintf(number, sizeof number, "%.17g", found);
    if (spry_options_set(c->ctx, list, c->arguments->fields[0], option->name, number) !=
        SPRY_STATUS_OK) {
        const char *base = *unit ? NULL : unit_of(c, option->name);
        snprintf(message, sizeof message, "%s%s", spry_message(c->ctx),
                 base ? "; is a unit missing behind the number?" : "");
        return fault(c, text, value, message);
    }
    return EXIT_DONE;
}

/* The name of a file that is read: from the configuration's folder on. */
static int set_file(const config *c, const char *text, const char *first, const char *value,
                    const spry_option *option)
{
    const char *unit = unit_of(c, option->name), *slash = strrchr(c->path, '/');
    if (!unit || strcmp(unit, "file") != 0)
        return fault(c, text, first, "files that are written are named on the command line alone");
    char *path = c->set->file[c->set->files % APP_FILES];
    const int folder = slash && *value != '/' ? (int)(slash - c->path) + 1 : 0;
    if (c->set->files++ == APP_FILES ||
        snprintf(path, APP_PATH, "%.*s%s", folder, c->path, value) >= APP_PATH)
        return fault(c, text, value, "the name is too long, or there are too many");
    if (spry_options_set(c->ctx, c->set->list, c->arguments->fields[0], option->name, path) !=
        SPRY_STATUS_OK)
        return fault(c, text, value, spry_message(c->ctx));
    return EXIT_DONE;
}

/* Ends a text where blanks at its end begin. */
static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
}

/* name = value */
static int read_line(const config *c, char *text)
{
    const spry_option_list list = c->set->list;
    char message[2 * CLI_WORDS], name[CLI_NAME], words[CLI_WORDS] = "", nearest[CLI_NAME];
    text[strcspn(text, "#\n")] = '\0';
    trim(text);
    char *first = text + strspn(text, " \t"), *equals = strchr(first, '=');
    if (!*first)
        return EXIT_DONE;
    if (!equals)
        return fault(c, text, first + strlen(first), "expected NAME = VALUE");
    snprintf(name, sizeof name, "%.*s", (int)(equals - first), first);
    trim(name);
    char *value = equals + 1 + strspn(equals + 1, " \t");
    const spry_option *option = spry_options_find(list, name);
    for (int i = 0; !option && i < list.count; i++)
        cli_add_word(words, spry_options_at(list, i)->name);
    if (!option) {
        const bool near = spry_nearest(name, words, nearest, sizeof nearest);
        snprintf(message, sizeof message, "unknown name %s; %s %s", name,
                 near ? "did you mean" : "there are:", near ? nearest : words);
        return fault(c, text, first, message);
    }
    if (note(c, text, first, value, option) != EXIT_DONE)
        return EXIT_INPUT;
    if (!*value)
        return fault(c, text, value, "a value is missing");
    if (was_given(c, option))
        return EXIT_DONE;
    if (option->kind == SPRY_OPTION_PATH)
        return set_file(c, text, first, value, option);
    if (option->kind == SPRY_OPTION_REAL || option->kind == SPRY_OPTION_INT)
        return set_number(c, text, value, option, list);
    if (spry_options_set(c->ctx, list, c->arguments->fields[0], option->name, value) !=
        SPRY_STATUS_OK)
        return fault(c, text, value, spry_message(c->ctx));
    return EXIT_DONE;
}

/* The next line, of at most LINE_SIZE - 1 bytes; 0 at the end. */
static size_t next_line(FILE *file, char text[LINE_SIZE])
{
    size_t size = 0;
    int c;
    while (size < LINE_SIZE - 1 && (c = getc(file)) != EOF) {
        text[size++] = (char)c;
        if (c == '\n')
            break;
    }
    text[size] = '\0';
    return size;
}

static int take_line(config *c, char *text, size_t size)
{
    size_t zero;
    const char *binary = text_is_binary(text, size, &zero);
    const size_t mark = c->line++ == 0 ? text_mark(text, size) : 0;
    if (binary)
        return fault(c, text, text + zero, binary);
    if (size == LINE_SIZE - 1)
        return fault(c, text, text, "the line is too long");
    return read_line(c, text + mark);
}

int app_configure(spry_context *ctx, const char *path, const cli_arguments *arguments,
                  const app_unit *kept, app_config *set)
{
    char text[LINE_SIZE];
    config c = {ctx, path, 0, arguments, kept, set};
    *set = (app_config){.path = path, .list = arguments->command->groups[0].list()};
    int exit_status = EXIT_DONE;
    if (!path)
        return EXIT_DONE;
    FILE *file = fopen(path, "r");
    if (!file)
        return cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    for (size_t size = 1; exit_status == EXIT_DONE && size > 0;) {
        size = next_line(file, text);
        if (size > 0)
            exit_status = take_line(&c, text, size);
    }
    if (exit_status == EXIT_DONE && ferror(file))
        exit_status = cli_fail(EXIT_INPUT, "%s: %s", path, strerror(errno));
    fclose(file);
    return exit_status;
}

int app_find(const app_config *c, const char *option)
{
    for (int i = 0; option && i < c->list.count && i < APP_OPTIONS; i++)
        if (c->at[i].line > 0 && strcmp(spry_options_at(c->list, i)->name, option) == 0)
            return i;
    return -1;
}

void app_place(const app_config *c, const char *option, const char **path, int *line, int *column)
{
    const int i = c ? app_find(c, option) : -1;
    if (i < 0 || c->at[i].value == 0)
        return;
    *path = c->path;
    *line = c->at[i].line;
    *column = c->at[i].value;
}

int app_fault(const app_config *c, const char *option, const char *format, ...)
{
    char message[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const int i = app_find(c, option);
    if (i >= 0)
        return cli_fail(EXIT_INPUT, "%s:%d:%d: %s", c->path, c->at[i].line, c->at[i].column,
                        message);
    return c->path ? cli_fail(EXIT_INPUT, "%s: %s", c->path, message)
                   : cli_fail(EXIT_INPUT, "%s", message);
}
