/* spry plan: what a solve will do and take, told before the work; also of solve --plan. */
#include "solve.h"

#include <math.h>
#include <string.h>

int solve_plan(solve_job *job)
{
    progress_note(&job->line, PHASE_CHECK, "planning");
    spry_status status = spry_solver_set_matrix(job->solver, job->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_plan(job->solver, job->count, &job->plan);
    progress_clear(&job->line);
    job->planned = status == SPRY_STATUS_OK;
    return job->planned ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* --- for people ----------------------------------------------------------------------------------
 */

static void print_lines(const char *head, const char *lines, FILE *out)
{
    for (const char *p = lines ? cli_spell(lines) : ""; *p; p += *p == '\n') {
        const int length = (int)strcspn(p, "\n");
        fprintf(out, "%-10s %.*s\n", head, length, p);
        p += length;
        head = "";
    }
}

static void print_part(const char *name, int64_t bytes, FILE *out)
{
    if (bytes > 0)
        fprintf(out, ", %s %s", text_bytes((double)bytes), name);
}

static void print_memory(const spry_plan *p, FILE *out)
{
    fprintf(out, "memory     %s at most%s", text_bytes((double)p->memory_bytes),
            p->memory_known ? "" : ", and what the preconditioner takes, which is not known");
    if (p->memory_limit > 0)
        fprintf(out, " of %s that are allowed", text_bytes((double)p->memory_limit));
    fprintf(out, "\nof it      %s A", text_bytes((double)p->matrix_bytes));
    print_part("its storage format", p->format_bytes, out);
    print_part("vectors", p->vector_bytes, out);
    print_part("preconditioner", p->precon_bytes, out);
    print_part("while that is made", p->work_bytes, out);
    fputc('\n', out);
    if (p->device_bytes > 0)
        fprintf(out, "on device  %s\n", text_bytes((double)p->device_bytes));
}

static void print_seconds(const solve_job *job, FILE *out)
{
    const spry_plan *p = &job->plan;
    fprintf(out, "iterations %s", text_count(p->iterations));
    if (p->most_iterations > p->least_iterations)
        fprintf(out, " as a guess, from %s to %s", text_count(p->least_iterations),
                text_count(p->most_iterations));
    fprintf(out, "\ntime       %s to read, as measured, ", text_seconds(job->read_seconds));
    if (isnan(p->setup_seconds))
        fputs("the rest is not known\n", out);
    else
        fprintf(out, "then about %s to set up and %s to solve, from %s to %s in all\n",
                text_seconds(p->setup_seconds), text_seconds(p->solve_seconds),
                text_seconds(p->least_seconds), text_seconds(p->most_seconds));
}

void solve_plan_print(const solve_job *job, FILE *out)
{
    const spry_plan *p = &job->plan;
    fprintf(out, "plan       %s: %s x %s, %s entries, %s\n", text_name(job->arguments->operands[0]),
            text_count(p->rows), text_count(p->cols), text_count(p->nnz), text_type(p->type));
    fprintf(out, "method     %s\nprecon     %s\n", p->method, p->precon);
    fprintf(out, "on         %s, format %s, rows and columns %s%s\n", p->device, p->format,
            strcmp(p->order, "as given") == 0 ? "" : "in the order ", p->order);
    print_memory(p, out);
    print_seconds(job, out);
    print_lines("refused", p->refused, out);
    print_lines("else", p->next, out);
    fprintf(out, "planned in %s, which the solve goes on from\n", text_seconds(p->plan_seconds));
}

/* --- for programs --------------------------------------------------------------------------------
 */

void solve_plan_json(json *j, const char *key, const solve_job *job)
{
    const spry_plan *p = &job->plan;
    json_open(j, key, '{');
    json_text(j, "file", job->arguments->operands[0]);
    json_text(j, "method", p->method);
    json_text(j, "precon", p->precon);
    json_text(j, "format", p->format);
    json_text(j, "order", p->order);
    json_text(j, "device", p->device);
    json_text(j, "type", spry_type_name(p->type));
    json_int(j, "rows", p->rows);
    json_int(j, "cols", p->cols);
    json_int(j, "nnz", p->nnz);
    json_int(j, "systems", job->count);
    json_int(j, "matrix_bytes", p->matrix_bytes);
    json_int(j, "format_bytes", p->format_bytes);
    json_int(j, "vector_bytes", p->vector_bytes);
    json_int(j, "precon_bytes", p->precon_bytes);
    json_int(j, "work_bytes", p->work_bytes);
    json_int(j, "memory_bytes", p->memory_bytes);
    json_int(j, "device_bytes", p->device_bytes);
    json_int(j, "memory_limit", p->memory_limit);
    json_bool(j, "memory_known", p->memory_known);
    json_real(j, "read_seconds", job->read_seconds);
    json_real(j, "setup_seconds", p->setup_seconds);
    json_real(j, "solve_seconds", p->solve_seconds);
    json_real(j, "least_seconds", p->least_seconds);
    json_real(j, "most_seconds", p->most_seconds);
    json_int(j, "iterations", p->iterations);
    json_int(j, "least_iterations", p->least_iterations);
    json_int(j, "most_iterations", p->most_iterations);
    json_real(j, "plan_seconds", p->plan_seconds);
    json_open(j, "refused", '[');
    json_lines(j, p->refused);
    json_close(j, ']');
    json_open(j, "next", '[');
    json_lines(j, p->next);
    json_close(j, ']');
    json_close(j, '}');
}

static void write_json(FILE *out, const void *data)
{
    json j = {.out = out};
    solve_plan_json(&j, NULL, data);
}

/* --- the command ---------------------------------------------------------------------------------
 */

static int check_output(const solve_job *job)
{
    const solve_options *o = job->options;
    for (int k = 0; k < job->arguments->count; k++)
        if (file_is_same(o->json, job->arguments->operands[k]))
            return cli_fail(EXIT_INPUT, "%s: the JSON would replace a part of the system", o->json);
    return file_check_text(job->ctx, o->json);
}

static int plan(solve_job *job)
{
    const solve_options *o = job->options;
    int exit_status = check_output(job);
    if (exit_status == EXIT_DONE)
        exit_status = solve_make_solver(job);
    if (exit_status != EXIT_DONE)
        return exit_status;
    signals_watch(job->ctx);
    progress_start_as(&job->line, o->progress, false, 0);
    progress_note(&job->line, PHASE_READ, "reading the system");
    exit_status = solve_read(job);
    if (exit_status == EXIT_DONE)
        exit_status = solve_plan(job);
    progress_clear(&job->line);
    signals_unwatch();
    if (exit_status == EXIT_DONE && !(o->json && file_is_stdout(o->json)))
        solve_plan_print(job, stdout);
    if (exit_status == EXIT_DONE && o->json)
        exit_status = file_write_text(job->ctx, o->json, write_json, job);
    progress_finish(&job->line, 0, NAN);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    solve_job job = {.ctx = ctx,
                     .arguments = arguments,
                     .options = arguments->fields[0],
                     .plan = SPRY_PLAN_INIT};
    const int exit_status = plan(&job);
    spry_plan_clear(ctx, &job.plan);
    spry_solver_free(job.solver);
    spry_vector_free(job.x);
    spry_vector_free(job.b);
    spry_matrix_free(job.A);
    return exit_status;
}

const cli_command command_plan = {
    .name = "plan",
    .summary = "say what solve would do, and what memory and time that takes",
    .synopsis = "A [B]",
    .description =
        "Reads the system and decides as `spry solve` with the same options does: device, order, "
        "storage format, method, preconditioner, and what comes next where these fail. Then it "
        "forecasts the memory by parts and the seconds of set-up and iterations, with a range: "
        "sparse factors from their analysis, which is made, iterations from a dozen products or "
        "from rules of thumb (docs/plan.md). What cannot fit is refused, "
        "with what to do about it.\n"
        "Exit status: 0 it fits, 2 bad usage or input, 3 nothing that would be tried is forecast "
        "to "
        "fit into the memory that is allowed.",
    .groups =
        (const cli_group[]){
            {"Options", solve_own_options,
             "output guess resume checkpoint checkpoint_every report plan out_of_core "
             "mpi shares split quiet"},
            {"Solver", spry_solver_options, "format memory"},
            {"Reading", spry_read_options, "expand"},
            {"Machine", spry_context_options, NULL},
            {0}},
    .examples =
        (const cli_example[]){
            {"spry plan A.mtx", "What `spry solve A.mtx` would do, and what it takes."},
            {"spry plan A.mtx --precon direct --memory-limit 8G",
             "Whether factors fit into 8 GB: exit status 3 where they do not."},
            {"spry plan A.mtx b.mtx --json", "For a program."},
            {"spry solve A.mtx --plan", "The plan, and then the solve, which goes on from it."},
            {0}},
    .least = 1,
    .most = 2,
    .run = run,
};
