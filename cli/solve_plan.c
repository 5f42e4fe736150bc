/* The plan of a solve: what it will do and take, reported before the work. */
#include "solve.h"

#include <math.h>
#include <string.h>

/* Bytes by part, as ranks exchange them. */
enum {
    A_PART,
    FORMAT,
    VECTORS,
    PRECON,
    WORK,
    MEMORY,
    DEVICE,
    DEVICE_A,
    DEVICE_VECTORS,
    DEVICE_PRECON,
    DEVICE_OTHER,
    PARTS
};

static int64_t *part_of(spry_plan *p, int k)
{
    int64_t *const all[PARTS] = {[A_PART] = &p->matrix_bytes,
                                 [FORMAT] = &p->format_bytes,
                                 [VECTORS] = &p->vector_bytes,
                                 [PRECON] = &p->precon_bytes,
                                 [WORK] = &p->work_bytes,
                                 [MEMORY] = &p->memory_bytes,
                                 [DEVICE] = &p->device_bytes,
                                 [DEVICE_A] = &p->device_matrix_bytes,
                                 [DEVICE_VECTORS] = &p->device_vector_bytes,
                                 [DEVICE_PRECON] = &p->device_precon_bytes,
                                 [DEVICE_OTHER] = &p->device_other_bytes};
    return all[k];
}

static int64_t part_on(const solve_job *job, int rank, int k)
{
    const double *all = spry_vector_data(job->parts);
    return (int64_t)all[rank * PARTS + k];
}

/* What all ranks have of a part. */
static int64_t sum_of(const solve_job *job, int k)
{
    int64_t sum = 0;
    for (int r = 0; r < spry_context_ranks(job->ctx); r++)
        sum += part_on(job, r, k);
    return sum;
}

/* On ranks each knows its own bytes: they are exchanged, and the plan has the most of each part. */
static spry_status share_parts(solve_job *job)
{
    double mine[PARTS];
    spry_vector *on_host = NULL;
    for (int k = 0; k < PARTS; k++)
        mine[k] = (double)*part_of(&job->plan, k);
    spry_status status = spry_context_agree(
        job->ctx, spry_vector_new(job->ctx, SPRY_TYPE_D, PARTS, mine, SPRY_OWN_COPY, &on_host));
    if (status == SPRY_STATUS_OK)
        status = spry_vector_collect(on_host, &job->parts);
    for (int r = 0; status == SPRY_STATUS_OK && r < spry_context_ranks(job->ctx); r++)
        for (int k = 0; k < PARTS; k++)
            if (part_on(job, r, k) > *part_of(&job->plan, k))
                *part_of(&job->plan, k) = part_on(job, r, k);
    spry_vector_free(on_host);
    return status;
}

int solve_plan(solve_job *job)
{
    progress_note(&job->line, PHASE_CHECK, "planning");
    spry_status status = spry_solver_set_matrix(job->solver, job->A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_plan(job->solver, job->count, &job->plan);
    if (status == SPRY_STATUS_OK && spry_context_ranks(job->ctx) > 1)
        status = share_parts(job);
    progress_clear(&job->line);
    job->planned = status == SPRY_STATUS_OK;
    return job->planned ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* --- for people ----------------------------------------------------------------------------------
 */

/* A part of what is in use, as it is called in a line of them. */
typedef struct plan_part {
    int part;
    const char *name;
} plan_part;

static void print_lines(const char *head, const char *lines, FILE *out)
{
    for (const char *p = lines ? cli_spell(lines) : ""; *p; p += *p == '\n') {
        const int length = (int)strcspn(p, "\n");
        fprintf(out, "%-10s %.*s\n", head, length, p);
        p += length;
        head = "";
    }
}

/* What of a list of parts is given, in one line. */
static void print_parts(const solve_job *job, const plan_part *parts, int count, FILE *out)
{
    const char *between = "";
    spry_plan p = job->plan;
    p.vector_bytes -= p.device_vector_bytes; /* what is on the device has a line of its own */
    p.precon_bytes -= p.device_precon_bytes;
    for (int i = 0; i < count; i++) {
        const int64_t bytes = *part_of(&p, parts[i].part);
        if (bytes == 0)
            continue;
        fprintf(out, "%s%s %s", between, text_bytes((double)bytes), parts[i].name);
        if (job->parts)
            fprintf(out, " (%s on all)", text_bytes((double)sum_of(job, parts[i].part)));
        between = ", ";
    }
    fputc('\n', out);
}

static void print_device(const solve_job *job, FILE *out)
{
    static const plan_part parts[] = {{DEVICE_A, "A"},
                                      {DEVICE_VECTORS, "vectors"},
                                      {DEVICE_PRECON, "preconditioner"},
                                      {DEVICE_OTHER, "other"}};
    const spry_plan *p = &job->plan;
    if (p->device_bytes == 0)
        return;
    fprintf(out, "on device  %s at most", text_bytes((double)p->device_bytes));
    if (job->parts)
        fprintf(out, " on one rank, %s on all", text_bytes((double)sum_of(job, DEVICE)));
    fputs("\nof it      ", out);
    print_parts(job, parts, sizeof parts / sizeof *parts, out);
}

static void print_memory(const solve_job *job, FILE *out)
{
    static const plan_part parts[] = {{A_PART, "A"},
                                      {FORMAT, "its storage format"},
                                      {VECTORS, "vectors"},
                                      {PRECON, "preconditioner"},
                                      {WORK, "while that is made"}};
    const spry_plan *p = &job->plan;
    fprintf(out, "memory     %s at most", text_bytes((double)p->memory_bytes));
    if (job->parts)
        fprintf(out, " on one of %d ranks, %s on all", spry_context_ranks(job->ctx),
                text_bytes((double)sum_of(job, MEMORY)));
    if (!p->memory_known)
        fputs(", and what the preconditioner takes, which is not known", out);
    if (p->memory_limit > 0)
        fprintf(out, " of %s that are allowed", text_bytes((double)p->memory_limit));
    fputs("\nof it      ", out);
    print_parts(job, parts, sizeof parts / sizeof *parts, out);
    print_device(job, out);
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
            strcmp(p->ordering, "as given") == 0 ? "" : "with the ordering ", p->ordering);
    print_memory(job, out);
    print_seconds(job, out);
    print_lines("refused", p->refused, out);
    print_lines("else", p->next, out);
    fprintf(out, "planned in %s; the solve continues from this plan\n",
            text_seconds(p->plan_seconds));
}

/* --- for programs --------------------------------------------------------------------------------
 */

static const char *const part_names[PARTS] = {[A_PART] = "matrix_bytes",
                                              [FORMAT] = "format_bytes",
                                              [VECTORS] = "vector_bytes",
                                              [PRECON] = "precon_bytes",
                                              [WORK] = "work_bytes",
                                              [MEMORY] = "memory_bytes",
                                              [DEVICE] = "device_bytes",
                                              [DEVICE_A] = "device_matrix_bytes",
                                              [DEVICE_VECTORS] = "device_vector_bytes",
                                              [DEVICE_PRECON] = "device_precon_bytes",
                                              [DEVICE_OTHER] = "device_other_bytes"};

static void json_ranks(json *j, const solve_job *job)
{
    if (!job->parts)
        return;
    json_open(j, "ranks", '[');
    for (int r = 0; r < spry_context_ranks(job->ctx); r++) {
        json_open(j, NULL, '{');
        for (int k = 0; k < PARTS; k++)
            json_int(j, part_names[k], part_on(job, r, k));
        json_close(j, '}');
    }
    json_close(j, ']');
}

void solve_plan_json(json *j, const char *key, const solve_job *job)
{
    const spry_plan *p = &job->plan;
    spry_plan most = *p;
    json_open(j, key, '{');
    json_text(j, "file", job->arguments->operands[0]);
    json_text(j, "method", p->method);
    json_text(j, "precon", p->precon);
    json_text(j, "format", p->format);
    json_text(j, "ordering", p->ordering);
    solve_json_system(j, p->device, p->type, p->rows, p->cols, p->nnz);
    json_int(j, "systems", job->count);
    for (int k = 0; k < PARTS; k++)
        json_int(j, part_names[k], *part_of(&most, k));
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
    json_ranks(j, job);
    json_close(j, '}');
}

void solve_plan_write(FILE *out, const void *job)
{
    json j = {.out = out};
    solve_plan_json(&j, NULL, job);
}

/* --- the command ---------------------------------------------------------------------------------
 */

void solve_json_system(json *j, const char *device, spry_type type, int64_t rows, int64_t cols,
                       int64_t nnz)
{
    json_text(j, "device", device);
    json_text(j, "type", spry_type_name(type));
    json_int(j, "rows", rows);
    json_int(j, "cols", cols);
    json_int(j, "nnz", nnz);
}
