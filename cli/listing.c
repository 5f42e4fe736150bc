/* Names with summaries and options. */
#include "listing.h"

#include <string.h>

/* "C=8 sigma=1 values=own" */
static void put_defaults(char *text, size_t size, spry_option_list list, const char *common)
{
    text[0] = '\0';
    for (int i = 0; i < list.count; i++) {
        const size_t used = strlen(text);
        const spry_option *option = &list.options[i];
        if (option->initial && *option->initial && !(common && strcmp(option->name, common) == 0))
            snprintf(text + used, size - used, "%s%s=%s", used ? " " : "", option->name,
                     option->initial);
    }
}

void listing_line(FILE *out, int width, const char *name, const char *summary,
                  spry_option_list list, const char *common)
{
    char options[1024], text[1536];
    put_defaults(options, sizeof options, list, common);
    snprintf(text, sizeof text, "%s%s%s%s", summary, *options ? " (" : "", options,
             *options ? ")" : "");
    fprintf(out, "%-*s", width, name);
    text_wrap(out, width, width, text);
}

static void show_option(FILE *out, const spry_option *option)
{
    enum { COLUMN = 28 };
    char bounds[256], form[CLI_NAME], value[2 * CLI_NAME], text[1024];
    snprintf(value, sizeof value, "%s=%s", option->name, cli_option_value(option, form));
    if (strlen(value) + 3 > COLUMN) /* too long to stand beside */
        fprintf(out, "  %s\n%*s", value, COLUMN, "");
    else
        fprintf(out, "  %-*s", COLUMN - 2, value);
    cli_option_bounds(option, bounds);
    snprintf(text, sizeof text, *bounds ? "%s (%s)" : "%s", option->help, bounds);
    text_wrap(out, COLUMN, COLUMN, text);
}

void listing_show(FILE *out, const char *name, const char *summary, spry_option_list list)
{
    fprintf(out, "%s: %s\n", name, summary);
    if (list.count > 0)
        fputs("\noptions, after a colon\n", out);
    for (int i = 0; i < list.count; i++)
        show_option(out, &list.options[i]);
}

void listing_json(json *j, const char *name, const char *summary, spry_option_list list)
{
    json_text(j, "name", name);
    json_text(j, "summary", summary);
    json_open(j, "options", '[');
    for (int i = 0; i < list.count; i++)
        json_text(j, NULL, list.options[i].name);
    json_close(j, ']');
}

bool listing_is(const char *spec, const char *name)
{
    const size_t length = strcspn(spec, ":");
    return strlen(name) == length && strncmp(name, spec, length) == 0;
}
