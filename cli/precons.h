/* Preconditioners, as `spry explain` shows them. */
#ifndef SPRY_CLI_PRECONS_H
#define SPRY_CLI_PRECONS_H

#include "output.h"

void precons_list(FILE *out);
/* One with its options; false when there is none of the name, which may have options behind it. */
bool precons_show(FILE *out, const char *spec);
void precons_words(char words[CLI_WORDS]);

#endif
