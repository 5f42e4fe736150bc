/* spry doctor: what is wrong with a system, why, and what to do next. */
#include "findings.h"
#include "page.h"
#include "system.h"

#include <math.h>

#define DOCTOR_OWN(item)                 \
    CLI_JSON(item, "print the findings") \
    CLI_PROGRESS(item)                   \
    CLI_REPORT(item)

typedef struct own_fields {
    DOCTOR_OWN(SPRY_OPTION_FIELD)
} own_fields;

SPRY_OPTION_TABLE(rows, own_fields, DOCTOR_OWN(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct doctor_job {
    spry_context *ctx;
    const cli_arguments *arguments;
    spry_matrix *A;
    spry_vector *b;
    spry_diagnosis found;
    progress line;
} doctor_job;

static spry_status diagnose(doctor_job *job)
{
    const cli_arguments *a = job->arguments;
    char options[CLI_WORDS];
    findings_names(a, options, sizeof options);
    progress_note(&job->line, PHASE_CHECK, "asking the doctor");
    signals_watch(job->ctx);
    const spry_status status = spry_diagnose(job->A, job->b, options, NULL, &job->found);
    signals_unwatch();
    progress_clear(&job->line);
    return status;
}

static void print(const doctor_job *job, FILE *out)
{
    const spry_diagnosis *d = &job->found;
    fprintf(out, "%s: %s x %s, %s entries, %s\n", text_name(job->arguments->operands[0]),
            text_count(spry_matrix_rows(job->A)), text_count(spry_matrix_cols(job->A)),
            text_count(spry_matrix_nnz(job->A)), text_type(spry_matrix_type(job->A)));
    findings_print(out, d, d->count);
    if (d->errors + d->warnings > 0)
        fprintf(out, "%s error%s, %s warning%s", text_count(d->errors), d->errors == 1 ? "" : "s",
                text_count(d->warnings), d->warnings == 1 ? "" : "s");
    else
        fputs("nothing wrong was found", out);
    if (d->condition > 0)
        fprintf(out, "; condition at least %.2g, rows and columns scaled", d->condition);
    fprintf(out, "; %s\n", text_seconds(d->seconds));
}

static void write_json(FILE *out, const void *data)
{
    const doctor_job *job = data;
    const spry_diagnosis *d = &job->found;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "file", job->arguments->operands[0]);
    json_text(&j, "type", spry_type_name(spry_matrix_type(job->A)));
    json_int(&j, "rows", spry_matrix_rows(job->A));
    json_int(&j, "cols", spry_matrix_cols(job->A));
    json_int(&j, "nnz", spry_matrix_nnz(job->A));
    json_int(&j, "errors", d->errors);
    json_int(&j, "warnings", d->warnings);
    if (d->condition > 0)
        json_real(&j, "condition", d->condition);
    else
        json_text(&j, "condition", NULL); /* not known */
    json_bool(&j, "complete", d->complete);
    json_real(&j, "seconds", d->seconds);
    findings_json(&j, "findings", d);
    json_close(&j, '}');
}

static int write_report(const doctor_job *job, const char *path)
{
    const page p = {.ctx = job->ctx,
                    .arguments = job->arguments,
                    .name = job->arguments->operands[0],
                    .A = job->A,
                    .examined = true,
                    .found = &job->found};
    return page_write(&p, path);
}

static int report(doctor_job *job)
{
    const own_fields *o = job->arguments->fields[0];
    if (!o->json || !file_is_stdout(o->json))
        print(job, stdout);
    int exit_status = o->json ? file_write_text(job->ctx, o->json, write_json, job) : EXIT_DONE;
    if (exit_status == EXIT_DONE && o->report)
        exit_status = write_report(job, o->report);
    return exit_status == EXIT_DONE && job->found.errors > 0 ? EXIT_UNCONVERGED : exit_status;
}

static int check_output(const doctor_job *job)
{
    const cli_arguments *a = job->arguments;
    const own_fields *o = a->fields[0];
    for (int k = 0; k < a->count; k++)
        if (file_is_same(o->json, a->operands[k]))
            return cli_fail(EXIT_INPUT, "%s: the JSON would replace a part of the system", o->json);
    const int exit_status = file_check_text(job->ctx, o->json);
    return exit_status == EXIT_DONE ? page_check(job->ctx, a, o->report, o->json) : exit_status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    doctor_job job = {.ctx = ctx, .arguments = a, .found = SPRY_DIAGNOSIS_INIT};
    int exit_status = check_output(&job);
    if (exit_status != EXIT_DONE)
        return exit_status;
    const own_fields *o = a->fields[0];
    progress_start_as(&job.line, o->progress, false, 0);
    progress_note(&job.line, PHASE_READ, "reading the system");
    spry_status status = system_read(ctx, a, &job.A, &job.b);
    progress_clear(&job.line);
    if (status == SPRY_STATUS_OK)
        status = diagnose(&job);
    if (status == SPRY_STATUS_OK || (status == SPRY_STATUS_INTERRUPTED && job.found.findings))
        exit_status = report(&job);
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    progress_finish(&job.line, 0, NAN);
    spry_diagnosis_clear(ctx, &job.found);
    spry_vector_free(job.b);
    spry_matrix_free(job.A);
    return exit_status;
}

const cli_command command_doctor = {
    .name = "doctor",
    .summary = "find what is wrong with a system, why, and what to try next",
    .synopsis = "A [B]",
    .description =
        "Makes the checks of an expert: NaN, empty rows and columns, indices off by one, "
        "duplicates, structural and numerical singularity with the rows and columns concerned, "
        "condition, scaling, symmetry, definiteness, null space, parts that are not joined, and, "
        "with B, whether the right-hand side is in the range. Each finding has its cause and the "
        "next command; docs/doctor.md has a section for each. With --method and --precon it "
        "reports whether these suit the matrix.\n"
        "Exit status: 0 where no finding is an error, 1 where one is, 2 bad usage or input, 3 out "
        "of memory or disk space.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Doctor", cli_diagnose_options, "matrix rhs"},
                                  {"Reading", cli_read_options, "duplicates nonfinite expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry doctor A.mtx", "Looks at A alone."},
            {"spry doctor A.mtx b.mtx", "Also at whether b suits a singular A."},
            {"spry doctor A.mtx --method cg --precon ilu", "Whether these are made for A."},
            {"spry doctor A.mtx --seconds 60 --json", "With more time, for a program."},
            {"spry doctor A.mtx --report A.html", "Also as a page with pictures of A."},
            {0}},
    .least = 1,
    .most = 2,
    .run = run,
};
