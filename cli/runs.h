/* Runs as curves: from the results of solves, or from files of `spry solve --json`. */
#ifndef SPRY_CLI_RUNS_H
#define SPRY_CLI_RUNS_H

#include "draw/draw.h"
#include "reader.h"

/* Reads a file of JSON, "-" being the standard input; an exit status, after a message. */
int runs_load(const char *path, reader *r);

typedef struct runs {
    curve *curves;
    double **histories; /* of those that were read */
    int count, room;
} runs;

/* Adds what a file has: a record, or a list of them for several right-hand sides. An exit status.
 */
int runs_read(runs *all, const char *path);
/* Adds a result, which must stay; what else is known of it can be put into its curve. */
curve *runs_add(runs *all, const spry_result *result, const char *label);
void runs_free(runs *all);

#endif
