/* spry solve: reads A and b, solves, writes x, says what was done and how well it went. */
#include "solve.h"

#include <string.h>

#define OPTION_OWNER solve_options
static const spry_option rows[] = {SOLVE_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

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
    const char *const outputs[] = {o->output, o->checkpoint, o->json};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < job->arguments->count; k++)
            if (file_is_same(outputs[i], job->arguments->operands[k]))
                return cli_fail(EXIT_INPUT, "%s: would be replaced, and is part of the system",
                                outputs[i]);
    for (int i = 0; i < 2; i++)
        if (file_is_same(o->json, outputs[i]))
            return cli_fail(EXIT_INPUT, "%s: x and the JSON cannot both go there", o->json);
    int exit_status = file_check_output(job->ctx, o->output, true);
    if (exit_status == EXIT_DONE && o->checkpoint)
        exit_status = file_check_output(job->ctx, o->checkpoint, true);
    return exit_status == EXIT_DONE ? file_check_text(job->ctx, o->json) : exit_status;
}

/* The type that holds numbers of both: the bits of a spry_type say double and complex. */
static spry_type join(spry_type a, const spry_vector *v)
{
    return v ? (spry_type)((int)a | (int)spry_vector_type(v)) : a;
}

static spry_status retype_vector(spry_context *ctx, spry_type type, spry_vector **v)
{
    if (spry_vector_type(*v) == type)
        return SPRY_OK;
    spry_vector *converted = NULL;
    spry_status status =
        spry_vector_new(ctx, type, spry_vector_size(*v), NULL, SPRY_COPY, &converted);
    if (status == SPRY_OK)
        status = spry_vector_copy(*v, converted);
    if (status != SPRY_OK) {
        spry_vector_free(converted);
        return status;
    }
    spry_vector_free(*v);
    *v = converted;
    return SPRY_OK;
}

/* Brings A, b and x to one type: a complex b makes a real A complex. */
static spry_status unify_types(solve_job *job)
{
    spry_context *ctx = job->ctx;
    spry_type type = join(join(spry_matrix_type(job->A), job->b), job->x);
    spry_status status = SPRY_OK;
    if (spry_matrix_type(job->A) != type) {
        spry_matrix *converted = NULL;
        status = spry_matrix_cast(job->A, type, &converted);
        if (status == SPRY_OK) {
            spry_matrix_free(job->A);
            job->A = converted;
        }
    }
    if (status == SPRY_OK && job->b)
        status = retype_vector(ctx, type, &job->b);
    if (status == SPRY_OK && job->x)
        status = retype_vector(ctx, type, &job->x);
    return status;
}

static spry_status read_vector(solve_job *job, const char *path, int64_t size, const char *side,
                               spry_vector **v, int *exit_status)
{
    spry_status status =
        spry_vector_read_file(job->ctx, path, cli_text(job->arguments, spry_read_options), v);
    if (status == SPRY_OK && spry_vector_size(*v) != size)
        *exit_status = cli_fail(EXIT_INPUT, "%s has %s numbers, but %s has %s %s", path,
                                text_count(spry_vector_size(*v)), job->arguments->operands[0],
                                text_count(size), side);
    return status;
}

/* Reads A, b and the guess; b is ones and x zeros where no file is given. */
static int read_system(solve_job *job)
{
    const cli_arguments *a = job->arguments;
    int exit_status = EXIT_DONE;
    double begin = cli_clock();
    spry_status status =
        spry_matrix_read_with(job->ctx, a->operands[0], cli_text(a, spry_read_options), &job->A);
    if (status == SPRY_OK && a->count > 1)
        status = read_vector(job, a->operands[1], spry_matrix_rows(job->A), "rows", &job->b,
                             &exit_status);
    if (status == SPRY_OK && exit_status == EXIT_DONE && job->options->guess)
        status = read_vector(job, job->options->guess, spry_matrix_cols(job->A), "columns", &job->x,
                             &exit_status);
    job->result.read_seconds = cli_clock() - begin;
    if (status == SPRY_OK && exit_status == EXIT_DONE)
        status = unify_types(job);
    if (status == SPRY_OK && !job->b)
        status = spry_vector_ones(job->ctx, job->A, &job->b);
    if (status == SPRY_OK && !job->x)
        status = spry_vector_zeros(job->ctx, job->A, &job->x);
    return status == SPRY_OK ? exit_status : cli_failed(job->ctx, status);
}

/*
 * Measures the memory's bandwidth, which the result is compared with, where A comes from memory in
 * each iteration. Without it the solve is as good, so that a failure only leaves the figure out.
 */
static void measure_bandwidth(solve_job *job)
{
    spry_device_info device;
    spry_bandwidth bandwidth;
    int64_t entry = (int64_t)(sizeof(int32_t) + spry_type_size(spry_matrix_type(job->A)));
    int64_t bytes = spry_matrix_nnz(job->A) * entry + spry_matrix_rows(job->A) * 8;
    bool known = spry_device_describe(job->ctx, 0, &device) && device.cache_bytes > 0;
    if (known && bytes <= device.cache_bytes)
        job->cache_bytes = device.cache_bytes;
    else if (spry_device_bandwidth(job->ctx, &bandwidth) != SPRY_OK)
        cli_log(NULL, SPRY_LOG_WARNING, "the memory's bandwidth could not be measured");
}

static void write_checkpoint(solve_job *job, const spry_vector *x)
{
    spry_status status = spry_vector_write(x, job->options->checkpoint);
    if (status != SPRY_OK && status != SPRY_INTERRUPTED) { /* the last one follows a stop */
        progress_clear(&job->line);
        cli_log(NULL, SPRY_LOG_WARNING, spry_message(job->ctx));
    }
    job->last_checkpoint = cli_clock();
}

/* The solver's monitor. */
static bool watch(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    solve_job *job = data;
    progress_step(&job->line, iteration, residual);
    if (job->options->checkpoint &&
        cli_clock() - job->last_checkpoint >= job->options->checkpoint_every)
        write_checkpoint(job, x);
    return true;
}

static void log_during_solve(void *data, spry_log_level level, const char *text)
{
    solve_job *job = data;
    progress_clear(&job->line);
    cli_log(NULL, level, text);
}

/* Runs the solver; signals stop it from here on until x is written. */
static int iterate(solve_job *job)
{
    spry_solver *solver = NULL;
    double read_seconds = job->result.read_seconds;
    spry_status status = spry_solver_new(job->ctx, &solver);
    if (status == SPRY_OK)
        status = spry_solver_set(solver, cli_text(job->arguments, spry_solver_options));
    if (status == SPRY_OK)
        status = spry_solver_set_matrix(solver, job->A);
    if (status == SPRY_OK) {
        spry_solver_set_monitor(solver, watch, job);
        job->last_checkpoint = cli_clock();
        signals_watch(job->ctx);
        status = spry_solve(solver, job->b, job->x, &job->result);
    }
    progress_clear(&job->line);
    spry_solver_free(solver);
    job->result.read_seconds = read_seconds;
    return status == SPRY_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* A stop that was asked for was for the iteration: what it came to is written. */
static int write_x(solve_job *job)
{
    spry_context_interrupted(job->ctx, true);
    if (job->options->checkpoint)
        write_checkpoint(job, job->x);
    if (!job->options->output)
        return EXIT_DONE;
    spry_status status = file_write_vector(job->x, job->options->output);
    job->x_written = status == SPRY_OK;
    return status == SPRY_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* The record goes out also when x could not be written. */
static int report(const solve_job *job)
{
    const solve_options *o = job->options;
    bool x_on_stdout = o->output && file_is_stdout(o->output);
    bool json_on_stdout = o->json && file_is_stdout(o->json);
    if (!o->quiet && !json_on_stdout)
        solve_report(job, x_on_stdout ? stderr : stdout);
    return o->json ? file_write_text(job->ctx, o->json, solve_json, &job->result) : EXIT_DONE;
}

static int solve(solve_job *job)
{
    const double *tol = cli_field(job->arguments, spry_solver_options, "tol");
    int exit_status = check_outputs(job);
    if (exit_status != EXIT_DONE)
        return exit_status;
    progress_start(&job->line, job->options->quiet, tol ? *tol : 0);
    progress_note(&job->line, "reading the system");
    exit_status = read_system(job);
    if (exit_status == EXIT_DONE) {
        progress_note(&job->line, "measuring the memory, setting up");
        measure_bandwidth(job);
        exit_status = iterate(job);
    }
    progress_clear(&job->line);
    if (exit_status != EXIT_DONE)
        return exit_status;
    exit_status = write_x(job);
    int reported = report(job);
    if (exit_status == EXIT_DONE)
        exit_status = reported;
    return exit_status == EXIT_DONE && !job->result.converged ? EXIT_UNCONVERGED : exit_status;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    solve_job job = {.ctx = ctx, .arguments = arguments, .options = arguments->fields[0]};
    spry_context_set_log(ctx, log_during_solve, &job);
    int exit_status = solve(&job);
    signals_unwatch();
    spry_result_clear(ctx, &job.result);
    spry_vector_free(job.x);
    spry_vector_free(job.b);
    spry_matrix_free(job.A);
    spry_context_set_log(ctx, cli_log, NULL);
    return exit_status;
}

const cli_command command_solve = {
    .name = "solve",
    .summary = "solve A x = b",
    .synopsis = "A [B]",
    .description =
        "Reads the matrix A and the right-hand side b (files of any format that `spry help "
        "convert` names; - is the standard input), solves, and tells what was chosen and how good "
        "x is: the true residual, computed from the x that is written. Without B the right-hand "
        "side is all ones.\n"
        "Ctrl-C stops the iteration and still writes the best x so far to -o; a second Ctrl-C ends "
        "at once. Files are written aside and renamed, so that one with the name is always whole.\n"
        "Exit status: 0 converged, 1 not converged (the best x is still written), 2 bad usage or "
        "input, 3 out of memory or disk space.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Solver", spry_solver_options, NULL},
                                  {"Reading", spry_read_options, "expand"},
                                  {"Machine", spry_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry solve A.mtx b.mtx -o x.mtx", "Solves A x = b and writes x."},
            {"spry solve A.mtx --tol 1e-10 --max-iter 500",
             "To ten digits with b = ones, giving up after 500 iterations."},
            {"spry solve A.mtx.gz b.npy --method cg --precon jacobi --threads 4",
             "With everything said; files may be packed and of different formats."},
            {"spry solve A.mtx --checkpoint x.spry --checkpoint-every 600",
             "Keeps x in a file every ten minutes; --guess x.spry goes on from there."},
            {"spry solve A.mtx --json result.json", "Leaves the result for a program to read."},
            {0}},
    .least = 1,
    .most = 2,
    .run = run,
};
