/* Things that have a name, a summary and options, as `spry explain` lists and shows them. */
#ifndef SPRY_CLI_LISTING_H
#define SPRY_CLI_LISTING_H

#include "output.h"

/* A line: the name, the summary, options with their defaults; those without a default, and those
 * named `common`, are left out. */
void listing_line(FILE *out, int width, const spry_entry *entry, const char *common);
/* Name and summary, and a line or more for each option. */
void listing_show(FILE *out, const spry_entry *entry);
/* What is known of an entry, its options with all that is known of them, as members of the object
 * that is open. */
void listing_json(json *j, const spry_entry *entry);
/* A list of the library as a member with its name. */
void listing_json_all(json *j, spry_list list);
/* The names of a list that are not among the words. */
void listing_words(spry_list list, char words[CLI_WORDS]);

#endif
