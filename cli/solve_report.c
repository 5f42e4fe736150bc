/* The result of a solve, for people and as JSON. */
#include "solve.h"

#include <string.h>

/* "cg, chosen: conjugate gradients": who decided, and the registry's line on it. */
static void report_choice(const solve_job *job, FILE *out, const char *option, const char *name,
                          bool (*describe)(int, const char **, const char **))
{
    const char *asked = cli_field(job->arguments, spry_solver_options, option);
    bool automatic = !asked || strcmp(asked, "auto") == 0;
    const char *word, *summary = NULL;
    for (int i = 0; describe(i, &word, &summary) && strcmp(word, name) != 0; i++)
        summary = NULL;
    fprintf(out, "%-11s%s, %s%s%s\n", option, name, automatic ? "chosen" : "as asked",
            summary ? ": " : "", summary ? summary : "");
}

static void report_bandwidth(const solve_job *job, FILE *out)
{
    const spry_result *r = &job->result;
    double bytes = (double)r->bytes_per_iteration;
    fprintf(out, "traffic    %s an iteration", text_bytes(bytes));
    if (r->iterations > 0 && r->solve_seconds > 0)
        fprintf(out, ", %s/s", text_bytes(bytes * (double)r->iterations / r->solve_seconds));
    if (job->cache_bytes > 0)
        fprintf(out, "; A fits in the cache of %s", text_bytes((double)job->cache_bytes));
    else if (r->bandwidth_fraction > 0)
        fprintf(out, ", %.2f of the memory's read bandwidth", r->bandwidth_fraction);
    fputc('\n', out);
}

void solve_report(const solve_job *job, FILE *out)
{
    const spry_result *r = &job->result;
    const cli_arguments *a = job->arguments;
    const double *tol = cli_field(a, spry_solver_options, "tol");
    fprintf(out, "%s after %s iteration%s: %s", r->converged ? "converged" : "not converged",
            text_count(r->iterations), r->iterations == 1 ? "" : "s", spry_reason_text(r->reason));
    fprintf(out, "%s%s\n", *r->detail ? "; " : "", r->detail);
    fprintf(out, "A          %s: %s x %s, %s entries, %s\n", a->operands[0], text_count(r->rows),
            text_count(r->cols), text_count(r->nnz), text_type(r->type));
    fprintf(out, "b          %s\n", a->count > 1 ? a->operands[1] : "ones, as none was given");
    report_choice(job, out, "method", r->method, spry_method_describe);
    report_choice(job, out, "precon", r->precon, spry_precon_describe);
    fprintf(out, "ran on     %s, format %s, %d thread%s, %s kernels\n", r->device, r->format,
            spry_context_threads(job->ctx), spry_context_threads(job->ctx) == 1 ? "" : "s",
            spry_context_isa(job->ctx));
    fprintf(out, "residual   %.2e, the true |b - A x| / |b|; asked for %g, at first %.2e\n",
            r->true_residual, tol ? *tol : 0, r->initial_residual);
    fprintf(out, "time       %s reading, %s set-up, %s solving", text_seconds(r->read_seconds),
            text_seconds(r->setup_seconds), text_seconds(r->solve_seconds));
    if (r->iterations > 0)
        fprintf(out, " (%s an iteration)", text_seconds(r->solve_seconds / (double)r->iterations));
    fprintf(out, "\nmemory     %s at most\n", text_bytes((double)r->memory_bytes));
    report_bandwidth(job, out);
    if (job->x_written)
        fprintf(out, "x          %s\n", job->options->output);
}

static void json_warnings(json *j, const char *warnings)
{
    char line[512];
    json_open(j, "warnings", '[');
    for (const char *p = warnings ? warnings : ""; *p; p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, p);
        json_text(j, NULL, line);
        p += length;
    }
    json_close(j, ']');
}

void solve_json(FILE *out, const void *result)
{
    const spry_result *r = result;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_bool(&j, "converged", r->converged);
    json_text(&j, "reason", spry_reason_name(r->reason));
    json_int(&j, "iterations", r->iterations);
    json_real(&j, "residual", r->residual);
    json_real(&j, "true_residual", r->true_residual);
    json_real(&j, "initial_residual", r->initial_residual);
    json_text(&j, "method", r->method);
    json_text(&j, "precon", r->precon);
    json_text(&j, "format", r->format);
    json_text(&j, "device", r->device);
    json_text(&j, "type", spry_type_name(r->type));
    json_int(&j, "rows", r->rows);
    json_int(&j, "cols", r->cols);
    json_int(&j, "nnz", r->nnz);
    json_real(&j, "read_seconds", r->read_seconds);
    json_real(&j, "setup_seconds", r->setup_seconds);
    json_real(&j, "solve_seconds", r->solve_seconds);
    json_int(&j, "memory_bytes", r->memory_bytes);
    json_int(&j, "bytes_per_iteration", r->bytes_per_iteration);
    if (r->bandwidth_fraction > 0)
        json_real(&j, "bandwidth_fraction", r->bandwidth_fraction);
    else
        json_text(&j, "bandwidth_fraction", NULL); /* not measured */
    json_open(&j, "history", '[');
    for (int64_t i = 0; i < r->history_size; i++)
        json_real(&j, NULL, r->history[i]);
    json_close(&j, ']');
    json_warnings(&j, r->warnings);
    json_close(&j, '}');
}
