/* The doctor's findings as people and programs see them; for `spry doctor` and after a solve that
 * failed. */
#ifndef SPRY_CLI_FINDINGS_H
#define SPRY_CLI_FINDINGS_H

#include "output.h"

/* The names of files for the commands in findings, with what was specified for reading them, as
 * options of spry_diagnose(). */
void findings_names(const cli_arguments *a, char *text, size_t size);
/* Adds an option whose value may have anything in it: in double quotes, which are doubled within.
 */
void findings_put(char *text, size_t size, const char *name, const char *value);
/* The first `most` of them, and how many more there are. */
void findings_print(FILE *out, const spry_diagnosis *d, int64_t most);
/* Whether its next command was tried and helps, or is no solve; others may help. */
bool findings_sure(const spry_finding *f);
void findings_json(json *j, const char *key, const spry_diagnosis *d);

#endif
