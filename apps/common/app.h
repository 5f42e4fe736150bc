/*
 * What applications share besides the mechanism of commands (cli/cli.h): a configuration file with
 * units, a look at the memory, solvers, charts, frames of a film, checkpoints. An application is
 * one cli_command; its main() is here.
 */
#ifndef SPRY_APP_H
#define SPRY_APP_H

#include "cli/cli.h"

#include "cli/output.h"
#include <spry/grid.h>

/* Given by each application. */
extern const cli_command app_command;

/* The unit that an option's number is kept in: "m", "s", "m/s", ... "file": the option names a file
 * that is read, which a configuration may name as well, from its own folder. */
typedef struct app_unit {
    const char *option, *unit;
} app_unit;

/* Where a configuration sets its options, for faults that are found once all are read. */
enum { APP_OPTIONS = 128, APP_FILES = 4, APP_PATH = 1024 };
typedef struct app_config {
    const char *path; /* NULL: there is none */
    spry_option_list list;
    struct {
        int line, column; /* 0: the configuration does not set it */
        int value;        /* column of what counts; 0: the command line overrides it */
    } at[APP_OPTIONS];
    char file[APP_FILES][APP_PATH]; /* names that options point to */
    int files;
} app_config;

/*
 * Reads a configuration: lines `name = value`, names being options of the command's own list, with
 * units behind numbers (`period = 2.02 s`, `length = 50 cm`); # begins a comment. What was given on
 * the command line stays; files that are written are named there alone. A fault is reported with
 * line and column.
 *
 * path: NULL does nothing; units: until a NULL option; config: out
 */
int app_configure(spry_context *ctx, const char *path, const cli_arguments *arguments,
                  const app_unit *units, app_config *config);
/* Reports what is wrong with an option, or (NULL) with the configuration as a whole: EXIT_INPUT. */
SPRY_PRINTF(3, 4)
int app_fault(const app_config *config, const char *option, const char *format, ...);

/* The number of an option that is set in the configuration; -1: it is not. */
int app_find(const app_config *config, const char *option);
/* Where the value of an option is, for faults within it: file, line and column; left as they are
 * where the configuration does not set it. */
void app_place(const app_config *config, const char *option, const char **path, int *line,
               int *column);

/*
 * Memory that is missing, or not allowed, is reported before it is asked for, with what needs it
 * ("--size 1024") and what to do ("a smaller --size"): systems give it, and end whoever uses it.
 *
 * device: "cpu", "cuda", "opencl:1"; one that is not known passes
 */
int app_check_memory(spry_context *ctx, const char *device, double bytes, const char *what,
                     const char *advice);

/* A solver of A, by the options of that name; where one is refused it is handed out as well. */
spry_status app_solver(spry_context *ctx, const char *method, const char *precon,
                       const char *device, const spry_matrix *A, spry_solver **solver);

/* Lines over one another as SVG, each of `count` points; those that are not finite are gaps. */
typedef struct app_chart_text {
    const char *title, *x, *y;
    const char (*labels)[64];
    bool log_x, log; /* axes; log: of y */
} app_chart_text;
void app_chart(FILE *out, const app_chart_text *text, const double *xs, const double *ys,
               int64_t count, int lines);

/*
 * A plane of a field of unknowns between 0 and `length` along each axis, as SVG with axes and a
 * scale from the least to the largest number of the field.
 */
typedef struct app_field {
    const char *title, *x, *y; /* of the picture and its axes */
    const char *plane;         /* "across=z at=0.5": options of spry_field_write() */
    double length;
    int64_t intervals;
    double view[4]; /* what is shown: from and to along x and y */
} app_field;
spry_status app_field_draw(spry_context *ctx, const spry_grid *grid, const spry_vector *v,
                           const app_field *field, const char *path);
/* Reads FROM:TO,FROM:TO; "" is the whole plane. An exit status. */
int app_field_view(const char *text, double length, double view[4]);
bool app_field_is_svg(const char *path); /* NULL: no */

/* A film: writes field number n as PREFIX-0001.png and so on; NULL writes nothing. */
spry_status app_frame(const spry_grid *grid, const spry_vector *field, const char *prefix,
                      int64_t number, const char *options);

/*
 * Checkpoints: the step, the time and some vectors, written aside and renamed. `what` names the
 * problem ("heat 64x64"): a file of another one is refused, and so is a damaged one.
 */
spry_status app_checkpoint_write(spry_context *ctx, const char *path, const char *what,
                                 int64_t step, double t, int count, const spry_vector *const *v);
spry_status app_checkpoint_read(spry_context *ctx, const char *path, const char *what,
                                int64_t *step, double *t, int count, spry_vector *const *v);

#endif
