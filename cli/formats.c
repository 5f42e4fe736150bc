/* Storage formats: what there is, and the options of each. */
#include "formats.h"

#include "listing.h"

enum { NAME_WIDTH = 10 };

void formats_list(FILE *out)
{
    spry_entry entry = {.name = "auto", .summary = "what the tuner chooses: spry help tune"};
    listing_line(out, NAME_WIDTH, &entry, NULL);
    entry.summary = "rows one after the other, used in place";
    entry.name = "csr"; /* whether there is also a layout with options, or not */
    if (!spry_list_find(SPRY_LIST_FORMATS, "csr", &(spry_entry){0}))
        listing_line(out, NAME_WIDTH, &entry, NULL);
    for (int i = 0; spry_list_at(SPRY_LIST_FORMATS, i, &entry); i++)
        listing_line(out, NAME_WIDTH, &entry, NULL);
    fputs(
        "\n`spry explain FORMAT` lists the options, `spry solve A --format FORMAT:NAME=VALUE,...` "
        "uses it,\n`spry tune A` compares them.\n",
        out);
}

bool formats_show(FILE *out, const char *spec)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    if (!spry_list_find(SPRY_LIST_FORMATS, spec, &entry))
        return false;
    listing_show(out, &entry);
    fprintf(out, "\n`spry solve A --format %s` uses it; docs/formats/ has a picture.\n",
            entry.name);
    return true;
}

void formats_words(char words[CLI_WORDS])
{
    cli_add_word(words, "formats");
    listing_words(SPRY_LIST_FORMATS, words);
}
