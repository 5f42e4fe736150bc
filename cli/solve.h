/* What solving hands to its report. */
#ifndef SPRY_CLI_SOLVE_H
#define SPRY_CLI_SOLVE_H

#include "page.h"

/* json_prints: of --json, which differs between `solve` and `plan`. */
#define SOLVE_OPTIONS_OF(item, json_prints)                                                       \
    item(PATH, output, NULL, 0, 0, NULL, "file for x")                                            \
    item(PATH, guess, NULL, 0, 0, NULL, "file with a first guess of x; zeros otherwise")          \
    item(PATH, resume, NULL, 0, 0, NULL,                                                          \
         "file of a checkpoint (.mtx) to continue from; one of another system is refused")        \
    item(PATH, near_null, NULL, 0, 0, NULL,                                                       \
         "file with vectors, one per column, that A makes nearly 0, for multigrid: rigid body "   \
         "modes of elasticity")                                                                   \
    item(PATH, checkpoint, NULL, 0, 0, NULL,                                                      \
         "save x to FILE during the solve and at its end; --resume continues from a .mtx")        \
    item(REAL, checkpoint_every, "60", 0.01, 1e9, NULL, "seconds between two checkpoints")        \
    CLI_JSON(item, json_prints)                                                                   \
    CLI_REPORT(item)                                                                              \
    item(BOOL, plan, "no", 0, 0, NULL,                                                            \
         "print the plan before the work, as `spry plan` does; what does not fit "                \
         "is not begun")                                                                          \
    item(TEXT, format, "auto", 0, 0, NULL,                                                        \
         "storage format of A, with its options after a colon: sell:C=8,sigma=256; auto lets "    \
         "the tuner choose, see `spry help tune`")                                                \
    item(BOOL, memory, "yes", 0, 0, NULL,                                                         \
         "remember in the tuner's folder what solved a matrix where something else did not, "     \
         "and begin with it")                                                                     \
    item(INT, out_of_core, "0", 0, 9e18, NULL,                                                    \
         "A stays in its file (.spry), which is read again for every product: this many bytes, "  \
         "512M or 4G, are for the rows that are in memory; 0: A is read into memory")             \
    item(BOOL, mpi, "no", 0, 0, NULL,                                                             \
         "solve on the ranks of MPI; automatic under mpirun with several ranks")                  \
    item(TEXT, shares, "auto", 0, 0, NULL,                                                        \
         "what each rank has of the work: equal, numbers (14,1,1), or auto, measured where "      \
         "some work on devices")                                                                  \
    item(TEXT, split, "", 0, 0, NULL,                                                             \
         "solve by splitting A at the boundaries of ranks, which go on without waiting for each " \
         "other: mode=async,inner=ilu (docs/clusters.md)")                                        \
    CLI_PROGRESS(item)                                                                            \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but errors and what --json asks for")
#define SOLVE_OPTIONS(item) SOLVE_OPTIONS_OF(item, "print the result record")

typedef struct solve_options {
    SOLVE_OPTIONS(SPRY_OPTION_FIELD)
} solve_options;

/* As spry_solver_errors() returns them, as far as they are asked for; else NaN. The estimate is
 * made where factors were, and there is no bound. */
typedef struct solve_errors {
    double backward, bound, estimate;
} solve_errors;
#define SOLVE_NO_ERRORS ((solve_errors){NAN, NAN, NAN})

typedef struct solve_job {
    spry_context *ctx;
    const cli_arguments *arguments;
    const solve_options *options;
    spry_solver *solver;
    spry_matrix *A;
    spry_powers
        *file; /* --out-of-core: A stays in the file, `in_file` is its product, and A is NULL */
    spry_operator *in_file;
    spry_split_stats split; /* of --split, on this rank */
    spry_vector *b, *x;     /* all columns, one after the other */
    int count;              /* of systems: columns of b */
    bool redistributed;     /* ranks have read their parts of the system */
    int64_t resumed;        /* iterations before the checkpoint that was gone on from */
    bool x_written;         /* to the file that -o names */
    progress line;
    bool planned, plan_only;
    spry_plan plan;
    spry_vector *parts;       /* of the plan on ranks: bytes of each */
    char warnings[CLI_WORDS]; /* of reading, one per line */
    double last_checkpoint;   /* when, in seconds */
    int64_t cache_bytes;      /* that hold all of A; 0: A is larger, or the cache is unknown */
    double read_seconds, solve_seconds, error_seconds; /* the last of error bounds */
    char summary[256];                                 /* description of a method from a file */
    spry_result *results; /* one per system; NULL until there are any */
    solve_errors *errors; /* likewise */
    bool refused;         /* the set-up failed; results have the reason */
    bool doubtful;        /* because of the system, so that the doctor is asked */
    bool unread;          /* a stop was asked for before there was a system */
    spry_diagnosis found; /* the doctor's findings after a solve that failed */
    int found_in;         /* the system they are about: the first that failed */
} solve_job;

/* The course of `solve` and of `plan`, which ends with the plan. */
int solve_run(spry_context *ctx, const cli_arguments *arguments, bool plan_only);
/* plan.c: makes job->plan of what was read; prints it; as an object, and that alone (for
 * file_write_text). */
int solve_plan(solve_job *job);
void solve_plan_print(const solve_job *job, FILE *out);
void solve_plan_json(json *j, const char *key, const solve_job *job);
void solve_plan_write(FILE *out, const void *job);
/* solve_report.c: what A is, in the record and in the plan. */
void solve_json_system(json *j, const char *device, spry_type type, int64_t rows, int64_t cols,
                       int64_t nnz);
/* On ranks (solve_ranks.c), without them nothing: each keeps its rows of the system that all have
 * read; x as a whole, on all of them; the record of what each has done. */
int solve_distributed(solve_job *job);
/* Reads by parts instead, each rank its own, and sets job->redistributed; nothing where that does
 * not go.
 */
int solve_read_parts(solve_job *job);
/* solve_checkpoint.c: writes one (collective on ranks); whether it is time; reads that of --resume.
 */
spry_status solve_put_checkpoint(const solve_job *job, const spry_vector *x, int64_t iterations);
bool solve_checkpoint_due(const solve_job *job, int64_t iteration);
spry_status solve_resume(solve_job *job);
int solve_collect(solve_job *job);
void solve_report_ranks(const solve_job *job, FILE *out);
void solve_json_ranks(json *j, const solve_job *job);
/* Reads A, b and the guess; b is ones and x zeros where no file is given. An exit status. */
int solve_read(solve_job *job);
/* What A is, wherever that is. */
int64_t solve_rows(const solve_job *job);
int64_t solve_cols(const solve_job *job);
spry_type solve_type(const solve_job *job);
/* --out-of-core (solve_file.c): what it does not go with; opens the file; its entries; frees;
 * reports what was read. */
int solve_file_check(const solve_job *job);
spry_status solve_file_open(solve_job *job);
int64_t solve_file_entries(const solve_job *job);
void solve_file_free(solve_job *job);
void solve_file_report(const solve_job *job, FILE *out);
/* After a solve that did not converge: has the doctor look at the first system that did not. */
void solve_diagnose(solve_job *job);
void solve_report(const solve_job *job, FILE *out);
void solve_findings(const solve_job *job, FILE *out);
void solve_json(FILE *out, const void *job); /* for file_write_text */
/* solve_page.c: the page of --report; an exit status. */
int solve_page(const solve_job *job);

#endif
