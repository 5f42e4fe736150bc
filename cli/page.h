/* A report: one page of HTML with all that a command has found out, and all pictures within. */
#ifndef SPRY_CLI_PAGE_H
#define SPRY_CLI_PAGE_H

#include "bench.h"
#include "runs.h"

#define CLI_REPORT(item)                 \
    item(PATH, report, NULL, 0, 0, NULL, \
         "write a page with all of it and pictures, an HTML file that needs no other files")

enum { PAGE_RUNS = 6 }; /* that are shown: as many as there are colours */

/* A solve. */
typedef struct page_run {
    const spry_result *result;
    char label[160];
    int64_t cycle;                     /* as a curve has it */
    curve_mark looks[CURVE_MARKS / 2]; /* likewise: at the true residual on the way */
    int look_count;
    char *explained; /* the method, by spry_solver_explain(), fused and not; NULL: none. To be
                        given back to spry_free() */
    char *apart;
} page_run;

/* What a command has; NULL and 0 where it has none. */
typedef struct page {
    spry_context *ctx;
    const cli_arguments *arguments;
    const char *name; /* of A */
    const spry_matrix *A;
    bool examined; /* the doctor was asked */
    const spry_diagnosis *found;
    const char *unsolved; /* why there is no solve, where one was asked for */
    const spry_tune_report *tuned;
    const char *place; /* "cpu", "cuda:0": where formats were measured */
    const bench_data *bench;
    const page_run *runs;
    int run_count, runs_in_all;
    bool peak; /* the memory that results report is that of their solves alone */
} page;

/* What a run's label and explanations are, from the solver that has made it; cleared before. */
void page_run_fill(spry_context *ctx, page_run *run, spry_solver *solver,
                   const spry_result *result);
void page_run_clear(spry_context *ctx, page_run *run);
/* Whether a page can be written, asked before the work: neither over what the command reads nor
 * where its other output goes, which may be NULL. An exit status. */
int page_check(spry_context *ctx, const cli_arguments *a, const char *path, const char *other);
/* Gathers what is missing (pictures of A, the memory's bandwidth) and writes. An exit status. */
int page_write(const page *p, const char *path);

/* page_parts.c: what the page has apart from what the command gave, and the parts of its body. */
typedef struct page_facts {
    const page *page;
    spry_stats stats;
    density cells; /* of the coarser of two pictures: the finer is for zooming */
    spy_level levels[SPY_LEVELS];
    magnitudes *values;
    spry_device_info device;
    spry_bandwidth bandwidth;
    runs runs;
} page_facts;

void page_system(FILE *out, const page_facts *f);
void page_findings(FILE *out, const page_facts *f);
void page_machine(FILE *out, const page_facts *f);
void page_formats(FILE *out, const page_facts *f);
void page_convergence(FILE *out, const page_facts *f);
void page_costs(FILE *out, const page_facts *f);
void page_methods(FILE *out, const page_facts *f);
void page_commands(FILE *out, const page_facts *f);

#endif
