/* The result of a solve, for people and as JSON. */
#include "findings.h"
#include "solve.h"

#include <math.h>
#include <string.h>

enum { FINDINGS_SHOWN = 3 };

/* Over all systems: iterations from least to most, the largest residuals. */
typedef struct totals {
    int converged;
    int64_t least, most, sum;
    double residual, initial, tolerance;
} totals;

/* A NaN is larger than any number. */
static double larger(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

static totals add_up(const solve_job *job)
{
    totals t = {.least = job->results[0].iterations};
    for (int k = 0; k < job->count; k++) {
        const spry_result *r = &job->results[k];
        t.converged += r->converged;
        t.least = r->iterations < t.least ? r->iterations : t.least;
        t.most = r->iterations > t.most ? r->iterations : t.most;
        t.sum += r->iterations;
        t.residual = larger(t.residual, r->true_residual);
        t.initial = larger(t.initial, r->initial_residual);
        t.tolerance = larger(t.tolerance, r->tolerance);
    }
    return t;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; text && *text; text += *text == '\n') {
        text += strcspn(text, "\n");
        count++;
    }
    return count;
}

/* How it ended. A converged solve has a detail when it did so in another sense than that of the
 * residual: "to the least-squares solution: ...". */
static void report_end(const solve_job *job, const totals *t, FILE *out)
{
    const spry_result *r = job->results;
    if (job->count > 1) {
        fprintf(out, "%s: %s of %s right-hand sides, after %s%s%s iterations\n",
                t->converged == job->count ? "converged" : "not converged",
                text_count(t->converged), text_count(job->count), text_count(t->least),
                t->most > t->least ? " to " : "", t->most > t->least ? text_count(t->most) : "");
        return;
    }
    const bool accepted = r->reason == SPRY_REASON_ACCEPTED;
    const int tried = count_lines(r->tried);
    fprintf(out, "%s after %s iteration%s",
            r->converged ? "converged"
            : accepted   ? "accepted"
                         : "not converged",
            text_count(r->iterations), r->iterations == 1 ? "" : "s");
    if (tried > 0 && (r->converged || accepted))
        fprintf(out, " of attempt %d", tried + 1);
    else if (tried > 0)
        fprintf(out, " of the best of %d attempts", tried);
    const char *detail = cli_spell(r->detail);
    if (r->converged && *detail)
        fprintf(out, " %s\n", detail);
    else if (accepted && *detail)
        fprintf(out, ": %s\n", detail);
    else
        fprintf(out, ": %s%s%s\n", spry_reason_text(r->reason), *detail ? "; " : "", detail);
}

/* "cg, chosen: conjugate gradients": who decided, and the registry's line on it. */
static void report_choice(const solve_job *job, FILE *out, const char *option, const char *name,
                          spry_list list)
{
    const char *asked = cli_field(job->arguments, cli_solver_options, option);
    size_t length = strcspn(asked, ":");
    const char *inner = strstr(name, "inner="), *is = inner ? inner + 6 : name; /* on ranks */
    bool granted = length == strlen(is) && strncmp(asked, is, length) == 0;
    granted = granted || (inner && strncmp(asked, name, length) == 0 && name[length] == ':');
    const char *how = granted                      ? "as asked"
                      : strcmp(asked, "auto") == 0 ? "chosen"
                                                   : "not as asked"; /* a warning says why */
    spry_entry entry = SPRY_ENTRY_INIT;
    const bool known = spry_list_find(list, name, &entry);
    fprintf(out, "%-11s%s%s, %s%s%s\n", option, name, granted && !inner ? asked + length : "", how,
            known ? ": " : "", known ? entry.summary : "");
}

static void report_method(const solve_job *job, FILE *out)
{
    const char *file = cli_field(job->arguments, cli_solver_options, "method_file");
    if (job->split.size > 0)
        fprintf(out, "method     %s with inner=%s on each rank's own rows, as asked\n",
                job->results[0].method, job->results[0].precon);
    else if (!file || !*file)
        report_choice(job, out, "method", job->results[0].method, SPRY_LIST_METHODS);
    else
        fprintf(out, "method     %s, from %s%s\n", job->results[0].method, text_name(file),
                text_name(job->summary));
}

static bool has_errors(const solve_errors *e)
{
    return !isnan(e->bound) || !isnan(e->estimate);
}

static void report_times(const solve_job *job, const totals *t, FILE *out)
{
    const spry_result *r = job->results;
    fprintf(out, "time       %s reading, %s choosing, %s set-up, %s solving",
            text_seconds(job->read_seconds), text_seconds(r->choose_seconds),
            text_seconds(r->setup_seconds), text_seconds(job->solve_seconds));
    if (t->sum > 0 && job->count == 1)
        fprintf(out, " (%s per iteration)", text_seconds(job->solve_seconds / (double)t->sum));
    if (t->sum > 0 && job->count > 1)
        fprintf(out, " (%s per iteration of one)",
                text_seconds(job->solve_seconds / (double)t->sum));
    if (has_errors(job->errors))
        fprintf(out, ", %s error bound%s", text_seconds(job->error_seconds),
                job->count > 1 ? "s" : "");
    fprintf(out, "\nmemory     %s at most\n",
            text_bytes((double)job->results[job->count - 1].memory_bytes));
}

/* Systems that share the reading of A share its bytes. */
static void report_bandwidth(const solve_job *job, const totals *t, FILE *out)
{
    const double seconds = job->solve_seconds;
    double bytes = 0, fraction = 0;
    for (int k = 0; k < job->count; k++) {
        const spry_result *r = &job->results[k];
        bytes += (double)r->bytes_per_iteration * (double)r->iterations;
        if (seconds > 0)
            fraction += r->bandwidth_fraction * r->solve_seconds / seconds;
    }
    if (t->sum == 0 || bytes == 0)
        return;
    fprintf(out, "traffic    %s per iteration%s", text_bytes(bytes / (double)t->sum),
            job->count > 1 ? " of one" : "");
    if (strcmp(job->results[0].precon, "inner") == 0) {
        fputs(", not counting the inner solver\n", out);
        return;
    }
    if (seconds > 0)
        fprintf(out, ", %s/s", text_bytes(bytes / seconds));
    if (job->cache_bytes > 0)
        fprintf(out, "; A fits in the cache of %s", text_bytes((double)job->cache_bytes));
    else if (fraction > 0)
        fprintf(out, ", %.2f of the memory's read bandwidth", fraction);
    fputc('\n', out);
}

static void report_systems(const solve_job *job, FILE *out)
{
    table *t = table_new(">b|end|>iterations|>residual|detail");
    for (int k = 0; k < job->count; k++) {
        const spry_result *r = &job->results[k];
        table_cell(t, "%d", k + 1);
        table_cell(t, "%s", spry_reason_name(r->reason));
        table_cell(t, "%s", text_count(r->iterations));
        table_cell(t, "%.2e", r->true_residual);
        table_cell(t, "%s", cli_spell(r->detail));
    }
    table_print(t, out);
}

static void report_tried(const char *tried, FILE *out)
{
    for (const char *p = tried ? cli_spell(tried) : ""; *p; p += *p == '\n') {
        const int length = (int)strcspn(p, "\n");
        fprintf(out, "tried      %.*s\n", length, p);
        p += length;
    }
}

/* The worst of all, where factors report errors; one that is not proven is an estimate for all. */
static void report_errors(const solve_job *job, FILE *out)
{
    double backward = 0, off = 0;
    bool lost = false, proven = true;
    for (int k = 0; k < job->count; k++) {
        const spry_result *r = &job->results[k];
        const solve_errors *e = &job->errors[k];
        if (!has_errors(e))
            return;
        lost = lost || (!r->converged && strstr(r->detail, "range of the type"));
        proven = proven && !isnan(e->bound);
        backward = fmax(backward, e->backward);
        off = fmax(off, isnan(e->bound) ? e->estimate : e->bound);
    }
    fprintf(out, "errors     x solves a system that is off by %.1e in each entry; ", backward);
    if (lost)
        fprintf(out, "the solution is out of the range of the type, so that x is not near it\n");
    else if (!(off < 1))
        fprintf(out, "A is so ill-conditioned that x may have no correct digit\n");
    else if (proven)
        fprintf(out, "x is off by %.1e at most\n", off);
    else
        fprintf(out, "x is off by about %.1e, as estimated\n", off);
}

/* The worst of all, where the method knows each in the energy norm. */
static void report_energy(const solve_job *job, FILE *out)
{
    double off = 0;
    for (int k = 0; k < job->count; k++) {
        if (job->results[k].energy_error == 0)
            return;
        off = fmax(off, job->results[k].energy_error);
    }
    fprintf(out, "errors     x is off by about %.1e in the energy norm, as estimated\n", off);
}

static void report_unique(const spry_result *r, FILE *out)
{
    if (r->nullity > 0 && r->reason != SPRY_REASON_SINGULAR)
        fprintf(out,
                "unique     no: A has rank %s of %s, as its factors show, and x is one of many\n",
                text_count(r->cols - r->nullity), text_count(r->cols));
}

static void report_place(const solve_job *job, FILE *out)
{
    const spry_result *r = job->results;
    fprintf(out, "ran on     %s, format %s", r->device, r->format);
    if (strcmp(r->device, "cpu") == 0)
        fprintf(out, ", %d thread%s, %s kernels", spry_context_threads(job->ctx),
                spry_context_threads(job->ctx) == 1 ? "" : "s", spry_context_isa(job->ctx));
    fputc('\n', out);
}

void solve_report(const solve_job *job, FILE *out)
{
    const spry_result *r = job->results;
    const cli_arguments *a = job->arguments;
    double tol = 0;
    (void)spry_solver_get_real(job->solver, "tol", &tol); /* which it has */
    const totals t = add_up(job);
    report_end(job, &t, out);
    if (job->unread)
        return;
    fprintf(out, "A          %s: %s x %s, %s entries, %s\n", text_name(a->operands[0]),
            text_count(r->rows), text_count(r->cols), text_count(r->nnz), text_type(r->type));
    fprintf(out, "b          %s",
            a->count > 1 ? text_name(a->operands[1]) : "ones, as none was given");
    if (job->count > 1)
        fprintf(out, ": %s columns", text_count(job->count));
    fputc('\n', out);
    if (*r->method) { /* a set-up that was stopped came to none */
        report_method(job, out);
        if (job->split.size == 0)
            report_choice(job, out, "precon", r->precon, SPRY_LIST_PRECONS);
        report_tried(r->tried, out);
        report_place(job, out);
    }
    const bool inconsistent = r->converged && r->true_residual > r->tolerance && job->count == 1;
    const double *given = cli_field(a, cli_solver_options, "tol");
    fprintf(out, "residual   %.2e%s, the true |b - A x| / |b|%s; asked for %g%s, at first %.2e\n",
            t.residual, job->count > 1 ? " at most" : "",
            inconsistent ? ", about the least there is" : "", t.tolerance,
            t.tolerance > tol        ? " by --atol"
            : given && *given != tol ? " as A is in single precision"
                                     : "",
            t.initial);
    report_unique(r, out);
    report_errors(job, out);
    report_energy(job, out);
    report_times(job, &t, out);
    report_bandwidth(job, &t, out);
    solve_report_ranks(job, out);
    solve_file_report(job, out);
    if (job->x_written)
        fprintf(out, "x          %s\n", text_name(job->options->output));
    if (job->count > 1)
        report_systems(job, out);
    solve_findings(job, out);
}

void solve_findings(const solve_job *job, FILE *out)
{
    if (job->found.count > 0 && job->count > 1)
        fprintf(out, "findings   of b %d, the first that was not solved\n", job->found_in + 1);
    if (job->found.count > 0)
        findings_print(out, &job->found, FINDINGS_SHOWN);
}

/* `found` is NULL where the doctor was not asked about it: there is nothing to ask where it was
 * solved. */
static void json_result(json *j, const solve_job *job, int k, const spry_diagnosis *found)
{
    const spry_result *r = &job->results[k];
    json_open(j, NULL, '{');
    json_bool(j, "converged", r->converged);
    json_text(j, "reason", spry_reason_name(r->reason));
    json_text(j, "detail", cli_spell(r->detail));
    json_int(j, "iterations", r->iterations);
    json_real(j, "residual", r->residual);
    json_real(j, "true_residual", r->true_residual);
    json_real(j, "initial_residual", r->initial_residual);
    json_real(j, "tolerance", r->tolerance);
    json_text(j, "method", r->method);
    json_text(j, "precon", r->precon);
    json_text(j, "format", r->format);
    solve_json_system(j, r->device, r->type, r->rows, r->cols, r->nnz);
    json_real(j, "read_seconds", r->read_seconds);
    json_real(j, "choose_seconds", r->choose_seconds);
    json_real(j, "setup_seconds", r->setup_seconds);
    json_real(j, "solve_seconds", r->solve_seconds);
    json_int(j, "memory_bytes", r->memory_bytes);
    json_int(j, "bytes_per_iteration", r->bytes_per_iteration);
    if (r->bandwidth_fraction > 0)
        json_real(j, "bandwidth_fraction", r->bandwidth_fraction);
    else
        json_text(j, "bandwidth_fraction", NULL); /* not measured */
    json_open(j, "history", '[');
    for (int64_t i = 0; i < r->history_size; i++)
        json_real(j, NULL, r->history[i]);
    json_close(j, ']');
    json_open(j, "warnings", '[');
    json_lines(j, job->warnings);
    json_lines(j, r->warnings);
    json_close(j, ']');
    json_open(j, "tried", '[');
    json_lines(j, r->tried);
    json_close(j, ']');
    solve_json_ranks(j, job);
    if (job->planned)
        solve_plan_json(j, "plan", job);
    json_real(j, "backward_error", job->errors[k].backward);
    json_real(j, "error_bound", job->errors[k].bound);
    json_real(j, "error_estimate", job->errors[k].estimate);
    json_real(j, "energy_error", r->energy_error > 0 ? r->energy_error : NAN);
    json_real(j, "error_seconds", job->error_seconds);
    if (r->nullity > 0) {
        json_int(j, "rank", r->cols - r->nullity);
        json_bool(j, "unique", false);
    } else {
        json_text(j, "rank", NULL); /* not known */
        json_text(j, "unique", NULL);
    }
    if (found || r->converged || r->reason == SPRY_REASON_ACCEPTED)
        findings_json(j, "findings", found);
    else
        json_text(j, "findings", NULL);
    json_close(j, '}');
}

/* One record, or a list of them for several right-hand sides. */
void solve_json(FILE *out, const void *data)
{
    const solve_job *job = data;
    json j = {.out = out};
    if (job->count == 1) {
        json_result(&j, job, 0, &job->found);
        return;
    }
    json_open(&j, NULL, '{');
    json_open(&j, "systems", '[');
    for (int k = 0; k < job->count; k++)
        json_result(&j, job, k, k == job->found_in ? &job->found : NULL);
    json_close(&j, ']');
    json_close(&j, '}');
}
