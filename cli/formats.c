/* Storage formats: what there is, and the options of each. */
#include "formats.h"

#include "listing.h"

#include <string.h>

enum { NAME_WIDTH = 10 };

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
    listing_line(out, NAME_WIDTH, name, summary, spry_format_options(name), NULL);
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

bool formats_show(FILE *out, const char *spec)
{
    const char *name, *summary;
    for (int i = 0; spry_format_describe(i, &name, &summary); i++) {
        if (!listing_is(spec, name))
            continue;
        listing_show(out, name, summary, spry_format_options(name));
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
        json_open(j, NULL, '{');
        listing_json(j, name, summary, spry_format_options(name));
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
