/* Things that have a name, a summary and options, as `spry explain` lists and shows them. */
#ifndef SPRY_CLI_LISTING_H
#define SPRY_CLI_LISTING_H

#include "output.h"

/* A line: the name, the summary, options with their defaults; those without a default, and those
 * named `common`, are left out. */
void listing_line(FILE *out, int width, const char *name, const char *summary,
                  spry_option_list list, const char *common);
/* Name and summary, and a line or more for each option. */
void listing_show(FILE *out, const char *name, const char *summary, spry_option_list list);
/* The same as members of the object that is open. */
void listing_json(json *j, const char *name, const char *summary, spry_option_list list);
/* Whether a spec, "NAME" or "NAME:OPTION=VALUE", is of that name. */
bool listing_is(const char *spec, const char *name);

#endif
