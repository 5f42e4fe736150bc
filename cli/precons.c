/* Preconditioners: what there is, and the options of each. */
#include "precons.h"

#include "listing.h"

#include <string.h>

enum { NAME_WIDTH = 14 };
static const char common[] = "precision"; /* which all of them have */

void precons_list(FILE *out)
{
    const char *name, *summary;
    for (int i = 0; spry_precon_describe(i, &name, &summary); i++)
        listing_line(out, NAME_WIDTH, name, summary, spry_precon_options(name), common);
}

bool precons_show(FILE *out, const char *spec)
{
    const char *name, *summary;
    for (int i = 0; spry_precon_describe(i, &name, &summary); i++) {
        if (!listing_is(spec, name))
            continue;
        listing_show(out, name, summary, spry_precon_options(name));
        fprintf(out,
                "\non devices: %s\n`spry solve A --precon %s` uses it; "
                "docs/preconditioners.md tells more.\n",
                spry_precon_on_devices(name) ? "yes" : "no, it stays on the host", name);
        return true;
    }
    return false;
}

void precons_json(json *j)
{
    const char *name, *summary;
    json_open(j, "precons", '[');
    for (int i = 0; spry_precon_describe(i, &name, &summary); i++) {
        json_open(j, NULL, '{');
        listing_json(j, name, summary, spry_precon_options(name));
        json_bool(j, "on_devices", spry_precon_on_devices(name));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void precons_words(char words[CLI_WORDS])
{
    const char *name, *summary;
    cli_add_word(words, "precon");
    for (int i = 0; spry_precon_describe(i, &name, &summary); i++)
        if (!cli_has_word(words, name))
            cli_add_word(words, name);
}
