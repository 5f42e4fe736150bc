/* What the parts of the application share: parameters and their values, runs, the numbers of each.
 */
#ifndef SPRY_SWEEP_H
#define SPRY_SWEEP_H

#include "common/app.h"

#include <sys/types.h>

enum { SWEEP_RUNS = 10000, SWEEP_PARAMETERS = 12, SWEEP_WORDS = 4096, SWEEP_PATH = 4096 };

#define SWEEP_OPTIONS(item)                                                                    \
    item(INT, jobs, "0", 0, 1024, NULL,                                                        \
         "runs side by side; 0: as many as there are threads (--threads), which they share")   \
    item(PATH, output, NULL, 0, 0, NULL,                                                       \
         "folder of the runs and of table.csv; without it: sweep-APPLICATION")                 \
    item(TEXT, show, "", 0, 0, NULL,                                                           \
         "NAME NAME ...: numbers of the table that is printed; without it: those that differ") \
    item(BOOL, quiet, "no", 0, 0, NULL, "show no progress")

typedef struct sweep_options {
    SWEEP_OPTIONS(SPRY_OPTION_FIELD)
} sweep_options;

/* --- application.c: the program that runs ------------------------------------------------------*/

/* An option of it; kind is the first letter of int, real, bool, word, text, path. */
typedef struct sweep_option {
    char name[CLI_NAME];
    char kind;
    bool reads; /* a path of a file that is read: others are written */
} sweep_option;

typedef struct sweep_application {
    char name[CLI_NAME], path[SWEEP_PATH];
    sweep_option *options;
    int count;
} sweep_application;

/* Finds the program and asks it for its options. An exit status. */
int application_find(const char *name, sweep_application *a);
const sweep_option *application_option(const sweep_application *a, const char *name);

/* --- values.c ----------------------------------------------------------------------------------*/

/* NAME=VALUES, or NAME.KEY=VALUES for a part of a text option: --NAME="KEY VALUE, KEY VALUE". */
typedef struct sweep_parameter {
    char name[2 * CLI_NAME];
    const char *key; /* within name; NULL: none */
    const sweep_option *option;
    char **values;
    int64_t count;
} sweep_parameter;

typedef struct sweep_grid {
    sweep_parameter list[SWEEP_PARAMETERS];
    int count;
    int64_t runs; /* of all combinations */
} sweep_grid;

/* Whether a word of the command line is a parameter. */
bool values_is_parameter(const char *word);
/* Adds one; an exit status. */
int values_add(sweep_grid *g, const sweep_application *a, const char *word);
void values_free(sweep_grid *g);
/* The value of a parameter in a run: the last of them changes fastest. */
const char *values_of(const sweep_grid *g, int64_t run, int parameter);

/* --- a run -------------------------------------------------------------------------------------*/

typedef enum sweep_state { RUN_WAITS, RUN_GOES, RUN_ENDED, RUN_KEPT, RUN_STOPPED } sweep_state;

typedef struct sweep_run {
    sweep_state state;
    pid_t pid;
    int exit_status;
    double begun, seconds;
    char **cells; /* texts of the numbers, by columns of the whole; NULL: none */
    int cell_count;
    char message[256]; /* of a failure */
} sweep_run;

typedef struct sweep {
    spry_context *ctx;
    const sweep_options *o;
    sweep_application application;
    sweep_grid grid;
    const char **words; /* operands of the application */
    int word_count;
    char folder[SWEEP_PATH / 4];
    int jobs;
    int64_t memory; /* bytes that each run may use; 0: not said */
    int threads;    /* of each run; 0: said by the parameters */
    sweep_run *runs;
    int64_t going, done, kept, failed;
    char (*columns)[2 * CLI_NAME + 8]; /* names of the numbers */
    int column_count;
    progress line;
} sweep;

/* runs.c: all of them; an exit status, EXIT_STOPPED after Ctrl-C. */
int runs_go(sweep *s);

/* numbers.c: takes the numbers that a run has left in its folder. */
void numbers_take(sweep *s, int64_t run, const char *path);
/* table.csv, of what there is; the table on the terminal. */
int numbers_write(const sweep *s);
void numbers_print(const sweep *s);
void numbers_free(sweep *s);

#endif
