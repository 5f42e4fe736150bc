/* Storage formats: what there is, and the options of each. */
#include "formats.h"

#include <string.h>

enum { NAME_WIDTH = 10 };

/* "C=8 sigma=1 values=own": options with their defaults. */
static void put_defaults(char *text, size_t size, const char *name)
{
    const spry_option_list list = spry_format_options(name);
    text[0] = '\0';
    for (int i = 0; i < list.count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s=%s", i ? " " : "", list.options[i].name,
                 list.options[i].initial);
    }
}

/* CSR is there, used in place, whether it also has a layout with options or not. */
static bool has_csr(void)
{
    const char *name, *summary;
    for (int i = 0; spry_format_describe(i, &name, &summary); i++)
        if (strcmp(name, "csr") == 0)
            return true;
    return false;
}

static void list_one(FILE *out, const char *name, const char *summary)
{
    char options[256], text[512];
    put_defaults(options, sizeof options, name);
    snprintf(text, sizeof text, "%s%s%s%s", summary, *options ? " (" : "", options,
             *options ? ")" : "");
    fprintf(out, "%-*s", NAME_WIDTH, name);
    text_wrap(out, NAME_WIDTH, NAME_WIDTH, text);
}

void formats_list(FILE *out)
{
    const char *name, *summary;
    list_one(out, "auto", "what the tuner chooses: spry help tune");
    if (!has_csr())
        list_one(out, "csr", "rows one after the other, used in place");
    for (int i = 0; spry_format_describe(i, &name, &summary); i++)
        list_one(out, name, summary);
    fputs(
        "\n`spry explain FORMAT` tells the options, `spry solve A --format FORMAT:NAME=VALUE,...` "
        "uses it,\n`spry tune A` compares them.\n",
        out);
}

static void show_option(FILE *out, const spry_option *option)
{
    char bounds[256], form[CLI_NAME], value[2 * CLI_NAME], text[1024];
    snprintf(value, sizeof value, "%s=%s", option->name, cli_option_value(option, form));
    int column = fprintf(out, "  %-26s", value);
    cli_option_bounds(option, bounds);
    snprintf(text, sizeof text, "%s (%s)", option->help, bounds);
    text_wrap(out, column, column, text);
}

bool formats_show(FILE *out, const char *spec)
{
    const char *name, *summary;
    const size_t length = strcspn(spec, ":");
    for (int i = 0; spry_format_describe(i, &name, &summary); i++) {
        if (strlen(name) != length || strncmp(name, spec, length) != 0)
            continue;
        const spry_option_list list = spry_format_options(name);
        fprintf(out, "%s: %s\n", name, summary);
        if (list.count > 0)
            fputs("\noptions, after a colon\n", out);
        for (int k = 0; k < list.count; k++)
            show_option(out, &list.options[k]);
        fprintf(out, "\n`spry solve A --format %s` uses it; docs/formats/ has a picture.\n", name);
        return true;
    }
    return false;
}

void formats_json(json *j)
{
    const char *name, *summary;
    json_open(j, "formats", '[');
    for (int i = 0; spry_format_describe(i, &name, &summary); i++) {
        const spry_option_list list = spry_format_options(name);
        json_open(j, NULL, '{');
        json_text(j, "name", name);
        json_text(j, "summary", summary);
        json_open(j, "options", '[');
        for (int k = 0; k < list.count; k++)
            json_text(j, NULL, list.options[k].name);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

void formats_words(char words[CLI_WORDS])
{
    const char *name, *summary;
    cli_add_word(words, "formats");
    for (int i = 0; spry_format_describe(i, &name, &summary); i++)
        cli_add_word(words, name);
}
