/* spry report: looks at a system, asks the doctor, compares formats, solves, and makes a page of
 * it. */
#include "findings.h"
#include "page.h"
#include "system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_OPTIONS(item)                                                                      \
    item(PATH, output, "report.html", 0, 0, NULL, "file for the page")                            \
    item(TEXT, methods, "auto", 0, 0, NULL,                                                       \
         "methods to solve with, up to six with blanks between them, and a preconditioner after " \
         "a +: \"auto cg+jacobi gmres:restart=20+ilu\"")                                          \
    item(BOOL, solve, "yes", 0, 0, NULL, "solve, and show how residuals fell")                    \
    item(BOOL, tune, "yes", 0, 0, NULL, "compare storage formats by the clock")                   \
    CLI_PROGRESS(item)                                                                            \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but errors")

typedef struct report_options {
    REPORT_OPTIONS(SPRY_OPTION_FIELD)
} report_options;

SPRY_OPTION_TABLE(rows, report_options, REPORT_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct report_job {
    spry_context *ctx;
    const cli_arguments *arguments;
    const report_options *options;
    spry_matrix *A;
    spry_vector *b;
    double read_seconds;
    spry_diagnosis found;
    spry_tune_report tuned;
    bool was_tuned;
    spry_result results[PAGE_RUNS];
    page_run runs[PAGE_RUNS];
    int run_count;
    char unsolved[512];
    progress line;
} report_job;

static spry_status read_system(report_job *job)
{
    const double begin = cli_clock();
    spry_status status = system_read(job->ctx, job->arguments, &job->A, &job->b);
    if (status == SPRY_STATUS_OK && !job->b)
        status = spry_vector_new(job->ctx, spry_matrix_type(job->A), spry_matrix_rows(job->A), NULL,
                                 SPRY_OWN_COPY, &job->b);
    if (status == SPRY_STATUS_OK && job->arguments->count < 2)
        status = spry_vector_fill(job->b, (spry_scalar){1, 0});
    job->read_seconds = cli_clock() - begin;
    return status;
}

static spry_status diagnose(report_job *job)
{
    char options[4 * CLI_WORDS];
    findings_names(job->arguments, options, sizeof options);
    return spry_diagnose(job->A, job->arguments->count > 1 ? job->b : NULL, options, NULL,
                         &job->found);
}

static bool has_finding(const report_job *job, const char *code)
{
    const spry_finding *f;
    for (int64_t k = 0; (f = spry_finding_at(&job->found, k)); k++)
        if (strcmp(f->code, code) == 0)
            return true;
    return false;
}

/* Values that are not finite, or places that are given twice: A is only looked at. */
static bool is_spoilt(report_job *job)
{
    if (has_finding(job, "nonfinite"))
        snprintf(job->unsolved, sizeof job->unsolved, "there are numbers that are not finite");
    else if (has_finding(job, "duplicates"))
        snprintf(job->unsolved, sizeof job->unsolved, "entries are given twice");
    else if (spry_matrix_rows(job->A) == 0 || spry_matrix_cols(job->A) == 0)
        snprintf(job->unsolved, sizeof job->unsolved, "there is nothing to solve");
    return job->unsolved[0] != '\0';
}

/* Looks at the true residual on the way, so seldom that it costs a few products: after 1, 2, 3, 4,
 * 6, 8, 12, ... iterations. */
typedef struct watcher {
    const spry_vector *b;
    spry_operator *A;
    spry_vector *r;
    double norm; /* of b */
    int64_t last, next;
    double seconds; /* that it took */
    page_run *run;
} watcher;

static bool look(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    watcher *w = data;
    double norm = 0;
    (void)residual;
    if (iteration <= w->last) { /* something else is tried */
        w->run->look_count = 0;
        w->next = 1;
    }
    w->last = iteration;
    if (iteration < w->next)
        return true;
    const double begin = cli_clock();
    const int room = (int)(sizeof w->run->looks / sizeof *w->run->looks);
    while (w->next <= iteration) /* half as much again, and then a third */
        w->next += w->next < 3 ? 1 : (w->next & (w->next - 1)) == 0 ? w->next / 2 : w->next / 3;
    /* What cannot be computed is not shown; the solve goes on. */
    if (w->run->look_count < room && spry_vector_copy(w->b, w->r) == SPRY_STATUS_OK &&
        spry_operator_multiply(w->A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, x,
                               (spry_scalar){1, 0}, w->r) == SPRY_STATUS_OK &&
        spry_vector_norm(w->r, &norm) == SPRY_STATUS_OK && w->norm > 0)
        w->run->looks[w->run->look_count++] = (curve_mark){iteration, norm / w->norm, false};
    w->seconds += cli_clock() - begin;
    return true;
}

/* On the host alone: a device would wait for the look at every iteration. */
static bool may_look(const report_job *job)
{
    spry_device_info device = SPRY_DEVICE_INFO_INIT;
    const char *place = cli_field(job->arguments, cli_solver_options, "device");
    if (place && strcmp(place, "auto") != 0)
        return strcmp(place, "cpu") == 0;
    for (int k = 1; spry_device_describe(job->ctx, k, &device); k++)
        if (strcmp(device.kind, "cuda") == 0 && device.usable)
            return false;
    return !getenv("SPRY_DEVICE");
}

static spry_status watch(const report_job *job, spry_solver *solver, watcher *w)
{
    spry_status status = spry_operator_from_matrix(job->A, NULL, NULL, &w->A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(job->ctx, spry_vector_type(job->b), spry_vector_size(job->b), NULL,
                                 SPRY_OWN_COPY, &w->r);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_norm(job->b, &w->norm);
    if (status == SPRY_STATUS_OK)
        spry_solver_set_monitor(solver, look, w);
    return status;
}

/* One of the methods that were asked for: "gmres:restart=20+ilu". One that cannot be used is
 * reported in the page, and the others go on. */
static spry_status solve_one(report_job *job, const char *spec)
{
    const char *plus = strchr(spec, '+');
    char method[SPRY_OPTION_TEXT_SIZE];
    spry_solver *solver = NULL;
    spry_vector *x = NULL;
    spry_result *result = &job->results[job->run_count];
    page_run *run = &job->runs[job->run_count];
    watcher w = {.b = job->b, .next = 1, .run = run};
    *result = (spry_result)SPRY_RESULT_INIT;
    *run = (page_run){0};
    snprintf(method, sizeof method, "%.*s", (int)strcspn(spec, "+"), spec);
    spry_status status = spry_solver_new(job->ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, "memory=yes");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, "method", method);
    if (status == SPRY_STATUS_OK && plus)
        status = spry_solver_set_text(solver, "precon", plus + 1);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_new(job->ctx, spry_matrix_type(job->A), spry_matrix_cols(job->A), NULL,
                                 SPRY_OWN_COPY, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, job->A);
    if (status == SPRY_STATUS_OK && may_look(job))
        status = watch(job, solver, &w);
    if (status == SPRY_STATUS_OK)
        status = spry_solve(solver, job->b, x, result);
    if (status == SPRY_STATUS_OK) {
        result->read_seconds = job->read_seconds;
        result->solve_seconds -= fmin(w.seconds, result->solve_seconds);
        page_run_fill(job->ctx, run, solver, result);
        job->run_count++;
    } else {
        spry_result_clear(job->ctx, result);
        if (status != SPRY_STATUS_NO_MEMORY && status != SPRY_STATUS_INTERRUPTED) {
            snprintf(job->unsolved, sizeof job->unsolved, "%.100s: %.380s", spec,
                     spry_message(job->ctx));
            status = SPRY_STATUS_OK;
        }
    }
    spry_operator_free(w.A);
    spry_vector_free(w.r);
    spry_vector_free(x);
    spry_solver_free(solver);
    return status;
}

static spry_status solve_all(report_job *job)
{
    spry_status status = SPRY_STATUS_OK;
    char spec[SPRY_OPTION_TEXT_SIZE];
    const char *p = job->options->methods;
    for (p += strspn(p, " "); *p && status == SPRY_STATUS_OK && job->run_count < PAGE_RUNS;
         p += strspn(p, " ")) {
        snprintf(spec, sizeof spec, "%.*s", (int)strcspn(p, " "), p);
        p += strcspn(p, " ");
        progress_note(&job->line, PHASE_SETUP, "solving");
        status = solve_one(job, spec);
    }
    return status;
}

static spry_status gather(report_job *job)
{
    progress_note(&job->line, PHASE_READ, "reading the system");
    spry_status status = read_system(job);
    progress_note(&job->line, PHASE_CHECK, "asking the doctor");
    if (status == SPRY_STATUS_OK)
        status = diagnose(job);
    if (status != SPRY_STATUS_OK || is_spoilt(job))
        return status;
    progress_note(&job->line, PHASE_TUNE, "comparing storage formats");
    if (job->options->tune && spry_tune(job->A, NULL, "always=yes", &job->tuned) == SPRY_STATUS_OK)
        job->was_tuned = job->tuned.count > 0;
    return job->options->solve ? solve_all(job) : SPRY_STATUS_OK;
}

static int write_page(const report_job *job)
{
    const page p = {.ctx = job->ctx,
                    .arguments = job->arguments,
                    .name = job->arguments->operands[0],
                    .A = job->A,
                    .examined = true,
                    .found = &job->found,
                    .unsolved = job->unsolved[0] ? job->unsolved : NULL,
                    .tuned = job->was_tuned ? &job->tuned : NULL,
                    .runs = job->runs,
                    .run_count = job->run_count};
    const int exit_status = page_write(&p, job->options->output);
    if (exit_status == EXIT_DONE && !job->options->quiet && !file_is_stdout(job->options->output))
        printf("%s: %s x %s, %s entries, %s finding%s, %d solve%s\n",
               text_name(job->options->output), text_count(spry_matrix_rows(job->A)),
               text_count(spry_matrix_cols(job->A)), text_count(spry_matrix_nnz(job->A)),
               text_count(job->found.count), job->found.count == 1 ? "" : "s", job->run_count,
               job->run_count == 1 ? "" : "s");
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    report_job job = {.ctx = ctx,
                      .arguments = a,
                      .options = a->fields[0],
                      .found = SPRY_DIAGNOSIS_INIT,
                      .tuned = SPRY_TUNE_REPORT_INIT};
    int exit_status = page_check(ctx, a, job.options->output, NULL);
    if (exit_status != EXIT_DONE)
        return exit_status;
    signals_watch(ctx);
    progress_start_as(&job.line, job.options->progress, job.options->quiet, 0);
    const spry_status status = gather(&job);
    progress_clear(&job.line);
    signals_target(NULL); /* the second still ends the program */
    exit_status = status == SPRY_STATUS_OK ? write_page(&job) : cli_failed(ctx, status);
    signals_unwatch();
    progress_finish(&job.line, 0, NAN);
    for (int k = 0; k < job.run_count; k++) {
        page_run_clear(ctx, &job.runs[k]);
        spry_result_clear(ctx, &job.results[k]);
    }
    spry_tune_report_clear(ctx, &job.tuned);
    spry_diagnosis_clear(ctx, &job.found);
    spry_vector_free(job.b);
    spry_matrix_free(job.A);
    return exit_status;
}

const cli_command command_report = {
    .name = "report",
    .summary = "make a page of a system: pictures, findings, formats, how it is solved",
    .synopsis = "A [B]",
    .description =
        "Looks at A, asks the doctor, compares storage formats by the clock, measures the memory, "
        "solves, and writes one page of HTML with the pictures of `spry plot` within. It needs no "
        "network, reads on a phone and on paper, in light and dark, and stays below 1 MB; the "
        "picture of A can be zoomed into. --report FILE.html of solve, bench, tune and doctor "
        "makes the same of what these have found.\n"
        "Without B the right-hand side is all ones; of several the first is taken.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Solver", cli_solver_options,
                                   "method method_file precon report_start"},
                                  {"Reading", cli_read_options, "duplicates nonfinite expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry report A.mtx", "All about A, in report.html."},
            {"spry report A.mtx b.mtx -o A.html --tol 1e-10", "With a right-hand side, to ten "
                                                              "digits."},
            {"spry report A.mtx --methods \"cg+jacobi cg+ic gmres:restart=30+ilu\"",
             "Three ways to solve, their residuals over each other."},
            {"spry report A.mtx --no-solve --no-tune", "Pictures and findings alone."},
            {0}},
    .least = 1,
    .most = 2,
    .run = run,
};
