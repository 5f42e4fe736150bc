/* spry doctor: what is wrong with a system, why, and what to do next. */
#include "findings.h"

#include <string.h>

#define DOCTOR_OWN(item) CLI_JSON(item, "print the findings")

typedef struct own_fields {
    DOCTOR_OWN(SPRY_OPTION_FIELD)
} own_fields;

#define OPTION_OWNER own_fields
static const spry_option rows[] = {DOCTOR_OWN(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

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
} doctor_job;

/* A and b of one type; a b of another is brought to A's. */
static spry_status unify(doctor_job *job)
{
    const spry_type type =
        (spry_type)((int)spry_matrix_type(job->A) | (int)spry_vector_type(job->b));
    spry_status status = SPRY_STATUS_OK;
    if (type != spry_matrix_type(job->A)) {
        spry_matrix *cast = NULL;
        status = spry_matrix_cast(job->A, type, &cast);
        if (status != SPRY_STATUS_OK)
            return status;
        spry_matrix_free(job->A);
        job->A = cast;
    }
    if (type != spry_vector_type(job->b)) {
        spry_vector *cast = NULL;
        status =
            spry_vector_new(job->ctx, type, spry_vector_size(job->b), NULL, SPRY_OWN_TAKE, &cast);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_copy(job->b, cast);
        spry_vector_free(job->b);
        job->b = cast;
    }
    return status;
}

/* Of several right-hand sides the first is looked at. */
static spry_status read_b(doctor_job *job)
{
    const char *path = job->arguments->operands[1];
    spry_vector *all = NULL;
    int64_t cols = 1;
    spry_status status = spry_columns_read(job->ctx, path, "nonfinite=keep", &all, &cols);
    if (status != SPRY_STATUS_OK || cols == 1) {
        job->b = all;
        return status;
    }
    char text[CLI_WORDS];
    snprintf(text, sizeof text, "%s has %s columns: the doctor looks at the first", path,
             text_count(cols));
    cli_log(NULL, SPRY_LOG_WARNING, text);
    const int64_t n = spry_vector_size(all) / cols;
    status = spry_vector_new(job->ctx, spry_vector_type(all), n, NULL, SPRY_OWN_COPY, &job->b);
    if (status == SPRY_STATUS_OK)
        memcpy(spry_vector_data(job->b), spry_vector_data(all),
               (size_t)n * spry_type_size(spry_vector_type(all)));
    spry_vector_free(all);
    return status;
}

/* Faults that the doctor tells of are let in. */
static spry_status read_system(doctor_job *job)
{
    const cli_arguments *a = job->arguments;
    spry_status status =
        spry_matrix_read_with(job->ctx, a->operands[0], "duplicates=keep nonfinite=keep", &job->A);
    if (status == SPRY_STATUS_OK && a->count > 1)
        status = read_b(job);
    return status == SPRY_STATUS_OK && job->b ? unify(job) : status;
}

static spry_status diagnose(doctor_job *job)
{
    const cli_arguments *a = job->arguments;
    char options[CLI_WORDS];
    findings_names(a, options, sizeof options);
    signals_watch(job->ctx);
    const spry_status status = spry_diagnose(job->A, job->b, options, NULL, &job->found);
    signals_unwatch();
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

static int report(doctor_job *job)
{
    const char *path = ((const own_fields *)job->arguments->fields[0])->json;
    if (!path || !file_is_stdout(path))
        print(job, stdout);
    const int exit_status = path ? file_write_text(job->ctx, path, write_json, job) : EXIT_DONE;
    return exit_status == EXIT_DONE && job->found.errors > 0 ? EXIT_UNCONVERGED : exit_status;
}

static int check_output(const doctor_job *job)
{
    const cli_arguments *a = job->arguments;
    const char *path = ((const own_fields *)a->fields[0])->json;
    for (int k = 0; k < a->count; k++)
        if (file_is_same(path, a->operands[k]))
            return cli_fail(EXIT_INPUT, "%s: the JSON would replace a part of the system", path);
    return file_check_text(job->ctx, path);
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    doctor_job job = {.ctx = ctx, .arguments = a, .found = SPRY_DIAGNOSIS_INIT};
    int exit_status = check_output(&job);
    if (exit_status != EXIT_DONE)
        return exit_status;
    spry_status status = read_system(&job);
    if (status == SPRY_STATUS_OK)
        status = diagnose(&job);
    if (status == SPRY_STATUS_OK || (status == SPRY_STATUS_INTERRUPTED && job.found.findings))
        exit_status = report(&job);
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
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
        "next command; docs/doctor.md has a section for each. With --method and --precon it says "
        "whether these suit the matrix.\n"
        "Exit status: 0 where no finding is an error, 1 where one is, 2 bad usage or input, 3 out "
        "of memory or disk space.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Doctor", spry_diagnose_options, "matrix rhs"},
                                  {"Reading", spry_read_options, "duplicates nonfinite expand"},
                                  {"Machine", spry_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry doctor A.mtx", "Looks at A alone."},
            {"spry doctor A.mtx b.mtx", "Also at whether b suits a singular A."},
            {"spry doctor A.mtx --method cg --precon ilu", "Whether these are made for A."},
            {"spry doctor A.mtx --seconds 60 --json", "With more time, for a program."},
            {0}},
    .least = 1,
    .most = 2,
    .run = run,
};
