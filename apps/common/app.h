/*
 * What applications share beside the mechanism of commands (cli/cli.h): a configuration file with
 * units, frames of a film, checkpoints. An application is one cli_command; its main() is here.
 */
#ifndef SPRY_APP_H
#define SPRY_APP_H

#include "cli/cli.h"
#include "cli/output.h"

/* Given by each application. */
extern const cli_command app_command;

/* The unit that an option's number is kept in: "m", "s", "m/s", ... */
typedef struct app_unit {
    const char *option, *unit;
} app_unit;

/*
 * Reads a configuration: lines `name = value`, names being options of the command's own list, with
 * units behind numbers (`period = 2.02 s`, `length = 50 cm`); # begins a comment. What was said on
 * the command line stays. A fault is told with line and column.
 *
 * path: NULL does nothing; units: until a NULL option
 */
int app_configure(spry_context *ctx, const char *path, const cli_arguments *arguments,
                  const app_unit *units);

/* A film: writes field number n as PREFIX-0001.png and so on; NULL writes nothing. */
spry_status app_frame(const spry_grid *grid, const spry_vector *field, const char *prefix,
                      int64_t number, const char *options);

/*
 * Checkpoints: the step, the time and some vectors, written aside and renamed. `what` tells the
 * problem ("heat 64x64"): a file of another one is refused, and so is a damaged one.
 */
spry_status app_checkpoint_write(spry_context *ctx, const char *path, const char *what,
                                 int64_t step, double t, int count, const spry_vector *const *v);
spry_status app_checkpoint_read(spry_context *ctx, const char *path, const char *what,
                                int64_t *step, double *t, int count, spry_vector *const *v);

#endif
