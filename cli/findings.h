/* The doctor's findings as people and programs see them; for `spry doctor` and after a solve that
 * failed. */
#ifndef SPRY_CLI_FINDINGS_H
#define SPRY_CLI_FINDINGS_H

#include "output.h"

/* A name as a shell takes it back, for the commands in findings. */
void findings_quote(const char *name, char text[SPRY_OPTION_TEXT_SIZE]);
/* Options of spry_diagnose(): the seconds, if not negative, the names of files, and `more`. */
void findings_options(const char *matrix, const char *rhs, double seconds, const char *more,
                      char *text, size_t size);
/* The first `most` of them, and how many there are beside. */
void findings_print(FILE *out, const spry_diagnosis *d, int64_t most);
void findings_json(json *j, const char *key, const spry_diagnosis *d);

#endif
