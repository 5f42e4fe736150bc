/* Preconditioners: what there is, and the options of each. */
#include "precons.h"

#include "listing.h"

enum { NAME_WIDTH = 14 };
static const char common[] = "precision"; /* which all of them have */

void precons_list(FILE *out)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(SPRY_LIST_PRECONS, i, &entry); i++)
        listing_line(out, NAME_WIDTH, &entry, common);
}

bool precons_show(FILE *out, const char *spec)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    if (!spry_list_find(SPRY_LIST_PRECONS, spec, &entry))
        return false;
    listing_show(out, &entry);
    fprintf(out,
            "\non devices: %s\n`spry solve A --precon %s` uses it; "
            "docs/preconditioners.md has more.\n",
            entry.on_devices ? "yes" : "no, it stays on the host", entry.name);
    return true;
}

void precons_words(char words[CLI_WORDS])
{
    cli_add_word(words, "precon");
    listing_words(SPRY_LIST_PRECONS, words);
}
