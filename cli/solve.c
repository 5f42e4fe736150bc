/* spry solve: reads A and b, solves, writes x, reports what was done and how well it went. */
#include "solve.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

SPRY_OPTION_TABLE(rows, solve_options, SOLVE_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

/* What cannot end well is refused before the work. */
static int check_outputs(const solve_job *job)
{
    const solve_options *o = job->options;
    if (o->output && file_is_stdout(o->output) && o->json && file_is_stdout(o->json))
        return cli_fail(EXIT_INPUT, "x and the JSON cannot both go to the standard output");
    if (o->guess && o->resume)
        return cli_fail(EXIT_INPUT, "--guess and --resume both say where to begin; take one");
    const char *const outputs[] = {o->output, o->checkpoint, o->json};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < job->arguments->count; k++)
            if (file_is_same(outputs[i], job->arguments->operands[k]))
                return cli_fail(EXIT_INPUT, "%s: would be replaced, and is part of the system",
                                outputs[i]);
    if (o->report && spry_context_ranks(job->ctx) > 1)
        return cli_fail(EXIT_INPUT, "--report needs all of A in one process: solve without ranks");
    if (o->plan && o->split[0])
        return cli_fail(EXIT_INPUT, "--plan and --split cannot be combined");
    for (int i = 0; i < 3; i++)
        if (page_check(job->ctx, job->arguments, o->report, outputs[i]) != EXIT_DONE)
            return EXIT_INPUT;
    for (int i = 0; i < 2; i++)
        if (file_is_same(o->json, outputs[i]))
            return cli_fail(EXIT_INPUT, "%s: x and the JSON have the same name", o->json);
    int exit_status = file_check_output(job->ctx, o->output, true);
    if (exit_status == EXIT_DONE && o->checkpoint)
        exit_status = file_check_output(job->ctx, o->checkpoint, true);
    return exit_status == EXIT_DONE ? file_check_text(job->ctx, o->json) : exit_status;
}

/*
 * A method from a file, or with options, is looked at before the system is read: its faults should
 * not come minutes later. The first line of the explanation is "name: what it is".
 */
static spry_status check_method(solve_job *job)
{
    const char *file = cli_field(job->arguments, cli_solver_options, "method_file");
    const char *method = cli_field(job->arguments, cli_solver_options, "method");
    char *text = NULL;
    if (!*file && !strchr(method, ':'))
        return SPRY_STATUS_OK;
    spry_status status = spry_solver_explain(job->solver, &text);
    const char *summary = text ? strstr(text, ": ") : NULL;
    if (summary)
        snprintf(job->summary, sizeof job->summary, "%.*s", (int)strcspn(summary, "\n"), summary);
    spry_free(job->ctx, text);
    return status;
}

static int make_solver(solve_job *job)
{
    spry_status status = spry_solver_new(job->ctx, &job->solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(job->solver, "format", job->options->format);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(job->solver, "memory", job->options->memory ? "yes" : "no");
    if (status == SPRY_STATUS_OK)
        status = check_method(job);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* The device that was asked for; NULL: none was, or ranks have one each. */
static const char *named_device(const solve_job *job)
{
    const char *place = cli_field(job->arguments, cli_solver_options, "device");
    return place && strcmp(place, "auto") != 0 && strcmp(place, "cpu") != 0 && !strchr(place, ',')
               ? place
               : NULL;
}

/* A device's driver, which takes tenths of a second to start, starts while files are read. */
typedef struct driver_start {
    const char *device; /* NULL: none does */
    pthread_t thread;
    spry_context *ctx; /* of its own */
} driver_start;

static void *start_driver(void *data)
{
    driver_start *start = data;
    spry_device *device = NULL;
    (void)spry_device_open(start->ctx, start->device, &device); /* who needs it will hear */
    return NULL;
}

static void driver_begin(const solve_job *job, driver_start *start)
{
    sigset_t everything, before;
    *start = (driver_start){.device = named_device(job)};
    if (!start->device)
        return;
    sigfillset(&everything); /* signals are for who reads */
    pthread_sigmask(SIG_SETMASK, &everything, &before);
    if (spry_context_new("threads=1", &start->ctx) != SPRY_STATUS_OK ||
        pthread_create(&start->thread, NULL, start_driver, start) != 0)
        start->device = NULL;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void driver_wait(const driver_start *start)
{
    if (start->device)
        pthread_join(start->thread, NULL);
}

/* The device is the job's from here on; one that is not held in between would start again. Where
 * there is none, the solver fails. */
static void driver_take(const solve_job *job, driver_start *start)
{
    spry_device *device = NULL;
    if (start->device)
        (void)spry_device_open(job->ctx, start->device, &device);
    spry_context_free(start->ctx);
    start->ctx = NULL;
}

/*
 * Measures the memory's bandwidth, which the result is compared with, where A comes from memory in
 * each iteration. Without it the solve is as good, so that a failure only leaves the figure out.
 */
static void measure_bandwidth(solve_job *job)
{
    spry_device_info device = SPRY_DEVICE_INFO_INIT;
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    if (job->in_file || named_device(job)) /* the file, or the device, is what it waits for */
        return;
    int64_t entry = (int64_t)(sizeof(int32_t) + spry_type_size(spry_matrix_type(job->A)));
    if (spry_context_ranks(job->ctx) > 1) /* several would measure what they share */
        return;
    int64_t bytes = spry_matrix_nnz(job->A) * entry + spry_matrix_rows(job->A) * 8;
    bool known = spry_device_describe(job->ctx, 0, &device) && device.cache_bytes > 0;
    if (known && bytes <= device.cache_bytes)
        job->cache_bytes = device.cache_bytes;
    else if (spry_device_bandwidth(job->ctx, NULL, false, &bandwidth) != SPRY_STATUS_OK)
        cli_log(NULL, SPRY_LOG_WARNING, "the memory's bandwidth could not be measured");
}

/* A device's, where it is not known yet, is measured once x is computed: what that takes is
 * compiled in parallel with the solve. */
static void compare_bandwidth(const solve_job *job)
{
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    for (int k = 0; k < job->count; k++) {
        spry_result *r = &job->results[k];
        if (r->bandwidth_fraction > 0 || r->solve_seconds <= 0 || strcmp(r->device, "cpu") == 0 ||
            spry_device_bandwidth(job->ctx, r->device, false, &bandwidth) != SPRY_STATUS_OK)
            continue;
        r->bandwidth_fraction = (double)r->bytes_per_iteration * (double)r->iterations /
                                r->solve_seconds / bandwidth.read;
    }
}

/* One that fails while the solve goes on is logged; the next may succeed. */
static void write_checkpoint(solve_job *job, const spry_vector *x, int64_t iteration)
{
    spry_status status = solve_put_checkpoint(job, x, iteration);
    if (status != SPRY_STATUS_OK &&
        status != SPRY_STATUS_INTERRUPTED) { /* the last one follows a stop */
        cli_log(NULL, SPRY_LOG_WARNING, spry_message(job->ctx));
    }
    job->last_checkpoint = cli_clock();
}

static bool watch(void *data, int64_t iteration, double residual)
{
    solve_job *job = data;
    progress_names(&job->line, spry_solver_method(job->solver), spry_solver_precon(job->solver));
    progress_step(&job->line, iteration, residual);
    return true;
}

/* The solver's monitor, where x is to be seen. */
static bool keep(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    solve_job *job = data;
    (void)residual;
    if (solve_checkpoint_due(job, iteration))
        write_checkpoint(job, x, iteration);
    return true;
}

static void log_during_solve(void *data, spry_log_level level, const char *text)
{
    solve_job *job = data;
    const size_t used = strlen(job->warnings);
    if (level == SPRY_LOG_WARNING && !job->results) /* later ones are in those */
        snprintf(job->warnings + used, sizeof job->warnings - used, "%s%s", used ? "\n" : "", text);
    cli_log(NULL, level, text);
}

/* The columns as vectors that borrow their part of the array. */
static spry_status split(const solve_job *job, spry_vector *all, spry_vector **columns)
{
    const int64_t n = spry_vector_size(all) / job->count;
    const size_t bytes = (size_t)n * spry_type_size(spry_vector_type(all));
    char *data = spry_vector_data(all);
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < job->count && status == SPRY_STATUS_OK; k++)
        status = spry_vector_new(job->ctx, spry_vector_type(all), n, data + (size_t)k * bytes,
                                 SPRY_OWN_BORROW, &columns[k]);
    return status;
}

/* Whether the quality of x is reported. */
static bool is_reported(const solve_job *job)
{
    return !job->options->quiet || job->options->json;
}

/* Of the solver's options a splitting has the tolerance and the limit of iterations. */
static int check_split(const cli_arguments *arguments)
{
    const cli_given *given = NULL;
    char name[CLI_NAME];
    while ((given = cli_next_given(arguments, cli_solver_options, given)))
        if (strcmp(given->option->name, "tol") != 0 && strcmp(given->option->name, "max_iter") != 0)
            return cli_fail(EXIT_INPUT, "--split goes with --tol and --max-iter; leave --%s out",
                            cli_option_name(given->option, name));
    return EXIT_DONE;
}

/* By splitting, one system after the other. */
static spry_status solve_split(solve_job *job, spry_vector *const *b, spry_vector *const *x)
{
    const double *tol = cli_field(job->arguments, cli_solver_options, "tol");
    const int64_t *most = cli_field(job->arguments, cli_solver_options, "max_iter");
    char options[SPRY_OPTION_TEXT_SIZE + 2 * CLI_NAME];
    spry_status status = SPRY_STATUS_OK;
    job->split = (spry_split_stats)SPRY_SPLIT_STATS_INIT;
    snprintf(options, sizeof options, "tol=%.17g max-iter=%lld %s", *tol, (long long)*most,
             job->options->split);
    for (int k = 0; k < job->count && status == SPRY_STATUS_OK; k++)
        status = spry_solve_split(job->A, b[k], x[k], options, &job->results[k], &job->split);
    return status;
}

/* x is there also where they cannot be had: without factors those of dominant matrices are. */
static void find_errors(const solve_job *job, int k, const spry_vector *b, const spry_vector *x)
{
    const spry_result *r = &job->results[k];
    solve_errors *e = &job->errors[k];
    if (!is_reported(job) || job->options->split[0] || r->reason == SPRY_REASON_STOPPED ||
        r->reason == SPRY_REASON_SINGULAR)
        return;
    if (spry_solver_judge(job->solver, b, x, &e->backward, &e->bound, &e->estimate) !=
        SPRY_STATUS_OK)
        *e = SOLVE_NO_ERRORS;
}

static spry_status solve_columns(solve_job *job)
{
    const size_t count = (size_t)job->count;
    spry_vector **b = cli_alloc(count * sizeof *b), **x = cli_alloc(count * sizeof *x);
    job->results = cli_alloc(count * sizeof *job->results);
    job->errors = cli_alloc(count * sizeof *job->errors);
    for (size_t k = 0; k < count; k++)
        job->results[k] = (spry_result)SPRY_RESULT_INIT;
    spry_status status = split(job, job->b, b);
    if (status == SPRY_STATUS_OK)
        status = split(job, job->x, x);
    if (status == SPRY_STATUS_OK) {
        job->last_checkpoint = cli_clock();
        double begin = cli_clock();
        status = job->options->split[0]
                     ? solve_split(job, b, x)
                     : spry_solve_many(job->solver, job->count, (const spry_vector *const *)b, x,
                                       job->results);
        job->solve_seconds =
            cli_clock() - begin - job->results[0].choose_seconds - job->results[0].setup_seconds;
    }
    const double solved = cli_clock();
    for (int k = 0; k < job->count; k++) {
        job->errors[k] = SOLVE_NO_ERRORS;
        if (status == SPRY_STATUS_OK)
            find_errors(job, k, b[k], x[k]);
        job->results[k].read_seconds = job->read_seconds;
        job->results[k].choose_seconds += job->planned ? job->plan.plan_seconds : 0;
        if (job->in_file)
            job->results[k].nnz = solve_file_entries(job);
        spry_vector_free(b[k]);
        spry_vector_free(x[k]);
    }
    job->error_seconds = cli_clock() - solved;
    free(b);
    free(x);
    return status;
}

/* A system that no iteration was begun for, as what it needs cannot be made: the record says why.
 */
static void note_refusal(solve_job *job)
{
    job->refused = true;
    for (int k = 0; k < job->count; k++) {
        spry_result *r = &job->results[k];
        if (r->reason != SPRY_REASON_FAILED)
            continue;
        snprintf(r->detail, sizeof r->detail, "%.300s", spry_message(job->ctx));
        r->residual = r->true_residual = r->initial_residual = NAN;
        r->type = solve_type(job);
        r->rows = solve_rows(job);
        r->cols = solve_cols(job);
        r->nnz = job->in_file ? solve_file_entries(job) : spry_matrix_nnz(job->A);
    }
}

/* Ranks agree after every iteration that is watched, which takes a message: they are watched where
 * there is something to show. */
static bool is_watched(const solve_job *job)
{
    return spry_context_ranks(job->ctx) == 1 ||
           spry_context_agree(job->ctx, job->line.shown || job->line.json
                                            ? SPRY_STATUS_INTERRUPTED
                                            : SPRY_STATUS_OK) != SPRY_STATUS_OK;
}

static int iterate(solve_job *job)
{
    if (is_watched(job))
        spry_solver_set_watch(job->solver, watch, job);
    if (job->options->checkpoint)
        spry_solver_set_monitor(job->solver, keep, job);
    spry_status status = SPRY_STATUS_OK;
    if (job->in_file)
        status = spry_solver_set_operator(job->solver, job->in_file);
    else if (!job->planned)
        status = spry_solver_set_matrix(job->solver, job->A);
    if (status == SPRY_STATUS_OK)
        status = solve_columns(job);
    progress_clear(&job->line);
    job->doubtful = status == SPRY_STATUS_BAD_INPUT;
    if (status != SPRY_STATUS_OK && job->results)
        note_refusal(job);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* The record of a solve that was stopped while its system was read. */
static void note_unread(solve_job *job)
{
    job->unread = true;
    job->count = 1;
    job->results = cli_alloc(sizeof *job->results);
    job->errors = cli_alloc(sizeof *job->errors);
    *job->results = (spry_result)SPRY_RESULT_INIT;
    *job->errors = SOLVE_NO_ERRORS;
    job->results->reason = SPRY_REASON_STOPPED;
    job->results->residual = job->results->true_residual = job->results->initial_residual = NAN;
    job->results->read_seconds = job->read_seconds;
    snprintf(job->results->detail, sizeof job->results->detail, "while the system was %s",
             job->options->plan && job->A ? "looked at" : "read");
}

/* A stop that was asked for was for the iteration: what it came to is written. On ranks while each
 * has its part of x. */
static int write_last_checkpoint(solve_job *job)
{
    spry_context_interrupted(job->ctx, true);
    if (!job->options->checkpoint)
        return EXIT_DONE;
    const spry_status status = solve_put_checkpoint(job, job->x, job->results[0].iterations);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

static int write_x(solve_job *job)
{
    const solve_options *o = job->options;
    int exit_status = EXIT_DONE;
    if (o->output) {
        const spry_status status = job->redistributed
                                       ? spry_vector_write_ranked(job->A, job->x, o->output)
                                       : file_write_vector(job->x, job->count, o->output);
        job->x_written = status == SPRY_STATUS_OK;
        if (status != SPRY_STATUS_OK)
            exit_status = cli_failed(job->ctx, status);
    }
    return exit_status;
}

/* Where one of the two files cannot be written, the other still is. */
static int write_all(solve_job *job)
{
    const int kept = write_last_checkpoint(job), collected = solve_collect(job);
    if (collected != EXIT_DONE)
        return collected;
    const int written =
        ranks_agree(job->ctx, ranks_silent() && !job->redistributed ? EXIT_DONE : write_x(job));
    return kept == EXIT_DONE ? written : kept;
}

/* The record goes out also when x could not be written. */
static int report(const solve_job *job)
{
    const solve_options *o = job->options;
    bool x_on_stdout = o->output && file_is_stdout(o->output);
    bool json_on_stdout = o->json && file_is_stdout(o->json);
    if (ranks_silent())
        return EXIT_DONE;
    if (!o->quiet && !json_on_stdout)
        (job->refused ? solve_findings : solve_report)(job, x_on_stdout ? stderr : stdout);
    const int exit_status =
        o->json ? file_write_text(job->ctx, o->json, solve_json, job) : EXIT_DONE;
    return exit_status == EXIT_DONE && o->report ? solve_page(job) : exit_status;
}

/* The plan, and where that is all, for programs, too. */
static int report_plan(solve_job *job)
{
    const solve_options *o = job->options;
    const bool recorded = o->json && file_is_stdout(o->json);
    const bool taken = recorded || (o->output && file_is_stdout(o->output));
    const int exit_status = solve_plan(job);
    if (exit_status != EXIT_DONE || ranks_silent())
        return exit_status;
    if (!o->quiet && !(recorded && job->plan_only))
        solve_plan_print(job, taken ? stderr : stdout);
    if (job->plan_only)
        return o->json ? file_write_text(job->ctx, o->json, solve_plan_write, job) : EXIT_DONE;
    progress_note(&job->line, PHASE_SETUP, "setting up");
    return EXIT_DONE;
}

/* What cannot be done is refused before the system is read. */
static int begin(solve_job *job)
{
    const double *tol = cli_field(job->arguments, cli_solver_options, "tol");
    const int64_t *most = cli_field(job->arguments, cli_solver_options, "max_iter");
    int exit_status = check_outputs(job);
    if (exit_status == EXIT_DONE)
        exit_status = solve_file_check(job);
    if (exit_status == EXIT_DONE && job->options->split[0])
        exit_status = check_split(job->arguments);
    if (exit_status == EXIT_DONE)
        exit_status = make_solver(job);
    exit_status = ranks_agree(job->ctx, exit_status);
    if (exit_status != EXIT_DONE)
        return exit_status;
    signals_watch(job->ctx);
    progress_start_as(&job->line, job->options->progress, job->options->quiet || ranks_silent(),
                      tol ? *tol : 0);
    job->line.most = most ? *most : 0;
    return EXIT_DONE;
}

/* The system, with the first guess, where it is solved. */
static int read_all(solve_job *job)
{
    progress_note(&job->line, PHASE_READ, "reading the system");
    int exit_status = solve_read_parts(job);
    if (exit_status == EXIT_DONE && !job->redistributed)
        exit_status = ranks_agree(job->ctx, solve_read(job));
    if (exit_status == EXIT_DONE)
        exit_status = solve_distributed(job);
    if (exit_status == EXIT_DONE) {
        const spry_status resumed = solve_resume(job);
        exit_status = resumed == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, resumed);
    }
    return exit_status;
}

/* Reads the system; the plan, where it is asked for, and the solve. */
static int work(solve_job *job, driver_start *start)
{
    int exit_status = read_all(job);
    driver_wait(start);
    if (exit_status != EXIT_DONE)
        return exit_status;
    driver_take(job, start);
    if (!job->plan_only) {
        progress_note(&job->line, PHASE_SETUP, "measuring the memory, setting up");
        measure_bandwidth(job);
    }
    if (job->options->plan || job->plan_only)
        exit_status = report_plan(job);
    if (exit_status != EXIT_DONE || job->plan_only)
        return exit_status;
    exit_status = iterate(job);
    if (exit_status == EXIT_DONE && !job->refused && is_reported(job))
        compare_bandwidth(job);
    return exit_status;
}

/* Writes x and reports, of a solve that ended, was refused, or was stopped. */
static int conclude(solve_job *job, int exit_status)
{
    signals_target(NULL); /* the second still ends the program */
    if (!job->refused && !job->unread)
        exit_status = write_all(job);
    if (!signals_pending() && spry_context_ranks(job->ctx) == 1 && !job->in_file) {
        signals_target(job->ctx);
        solve_diagnose(job);
        signals_target(NULL);
    }
    const int reported = ranks_agree(job->ctx, report(job));
    if (exit_status == EXIT_DONE)
        exit_status = reported;
    for (int k = 0; k < job->count && exit_status == EXIT_DONE; k++)
        exit_status = job->results[k].converged || job->results[k].reason == SPRY_REASON_ACCEPTED
                          ? EXIT_DONE
                          : EXIT_UNCONVERGED;
    return exit_status;
}

static int solve(solve_job *job)
{
    driver_start start;
    int exit_status = begin(job);
    if (exit_status != EXIT_DONE)
        return exit_status;
    driver_begin(job, &start);
    exit_status = work(job, &start);
    spry_context_free(start.ctx);
    progress_clear(&job->line);
    if (job->plan_only)
        return ranks_agree(job->ctx, exit_status);
    if (exit_status == EXIT_STOPPED && !job->results) {
        note_unread(job);
        exit_status = EXIT_DONE;
    }
    return exit_status == EXIT_DONE || job->refused ? conclude(job, exit_status) : exit_status;
}

static void finish_progress(solve_job *job)
{
    const spry_result *r = job->results;
    if (r)
        progress_names(&job->line, r->method, r->precon);
    progress_finish(&job->line, r ? r->iterations : 0, r ? r->true_residual : NAN);
}

int solve_run(spry_context *ctx, const cli_arguments *arguments, bool plan_only)
{
    solve_job job = {.ctx = ctx,
                     .arguments = arguments,
                     .options = arguments->fields[0],
                     .plan_only = plan_only,
                     .found = SPRY_DIAGNOSIS_INIT,
                     .plan = SPRY_PLAN_INIT};
    spry_context_set_log(ctx, log_during_solve, &job);
    int exit_status = solve(&job);
    signals_unwatch();
    finish_progress(&job);
    for (int k = 0; job.results && k < job.count; k++)
        spry_result_clear(ctx, &job.results[k]);
    free(job.results);
    free(job.errors);
    spry_diagnosis_clear(ctx, &job.found);
    spry_plan_clear(ctx, &job.plan);
    spry_solver_free(job.solver);
    solve_file_free(&job);
    spry_vector_free(job.x);
    spry_vector_free(job.b);
    spry_matrix_free(job.A);
    spry_vector_free(job.parts);
    spry_context_set_log(ctx, cli_log, NULL);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    return solve_run(ctx, arguments, false);
}

const cli_command command_solve = {
    .name = "solve",
    .summary = "solve A x = b",
    .synopsis = "A [B]",
    .description =
        "Reads the matrix A and the right-hand side b (files of any format that `spry help "
        "convert` names; - is the standard input), solves, and reports what was chosen and how "
        "good x is: the true residual, computed from the x that is written. Without B the "
        "right-hand "
        "side is all ones; a dense array of several columns is as many systems, solved side by "
        "side. Where A is not square, or the system has no solution, lsmr, lsqr and cgls find the "
        "x with the least residual.\n"
        "With neither --method nor --precon it tries what suits A in turn, by forecasts: direct "
        "solves, multigrid, incomplete factors. An attempt that fails is followed by the next, "
        "which starts from the best x; lines `tried` report it. What then solved the matrix is "
        "remembered, unless --no-memory is given. --method or --precon narrow the choice, both "
        "pin it (docs/choosing.md). After a solve that did not converge the worst findings of "
        "`spry doctor` are printed, with the next command to try.\n"
        "`spry explain` lists the methods and preconditioners, `spry explain METHOD` and `spry "
        "explain precon NAME` show the options that can follow a colon.\n"
        "Ctrl-C stops it wherever it is, and still writes the best x so far to -o; a second Ctrl-C "
        "ends at once. Files are written under a temporary name and renamed, so they are complete "
        "or "
        "absent.\n"
        "Exit status: 0 converged, or accepted by a rule of the method, 1 not converged, or "
        "singular (the best x is still written), 2 "
        "bad usage or input, 3 out of memory or disk space.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Solver", cli_solver_options, "format memory report_start"},
                                  {"Reading", cli_read_options, "expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry solve A.mtx b.mtx -o x.mtx", "Solves A x = b and writes x."},
            {"mpirun -n 4 spry solve A.mtx --method cg --precon ilu",
             "On four ranks of MPI, each with some of the rows."},
            {"spry solve A.mtx --tol 1e-10 --max-iter 500",
             "To ten digits with b = ones, giving up after 500 iterations."},
            {"spry solve A.mtx --method direct",
             "By sparse factors with pivots and iterative refinement."},
            {"spry solve A.mtx.gz b.npy --method cg --precon jacobi --threads 4",
             "With everything specified; files may be compressed and of different formats."},
            {"spry solve A.mtx --method gmres:restart=50,side=left --precon ssor:omega=1.2",
             "Options of the method and of the preconditioner follow a colon."},
            {"spry solve A.mtx --precon 'schwarz:overlap=2,sub=[ilu:level=1]'",
             "A preconditioner within another, with options of its own in brackets."},
            {"spry solve A.mtx --method-file my.krylov",
             "A method of your own; docs/notation.md describes the language."},
            {"spry solve A.mtx --checkpoint x.spry --checkpoint-every 600",
             "Keeps x in a file every ten minutes; --guess x.spry continues from it."},
            {"spry solve A.mtx --report A.html",
             "Writes a page with pictures of A, the residual history and the cost."},
            {"spry solve A.mtx --json result.json", "Writes the result for a program to read."},
            {0}},
    .least = 1,
    .most = 2,
    .ranks = true,
    .run = run,
};
