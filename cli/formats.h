/* Storage formats, as `spry explain` shows them. */
#ifndef SPRY_CLI_FORMATS_H
#define SPRY_CLI_FORMATS_H

#include "output.h"

void formats_list(FILE *out);
/* One with its options; false when there is none of the name, which may have options behind it. */
bool formats_show(FILE *out, const char *name);
void formats_words(char words[CLI_WORDS]);

#endif
