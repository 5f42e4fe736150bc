/* The system that `spry solve` is given: files, sizes, one type for all of it. */
#include "solve.h"
#include "system.h"

/* The type that holds numbers of both: the bits of a spry_type say double and complex. */
static spry_type join(spry_type a, const spry_vector *v)
{
    return v ? (spry_type)((int)a | (int)spry_vector_type(v)) : a;
}

static spry_status retype_vector(spry_context *ctx, spry_type type, spry_vector **v)
{
    if (spry_vector_type(*v) == type)
        return SPRY_STATUS_OK;
    spry_vector *converted = NULL;
    spry_status status =
        spry_vector_new(ctx, type, spry_vector_size(*v), NULL, SPRY_OWN_COPY, &converted);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(*v, converted);
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(converted);
        return status;
    }
    spry_vector_free(*v);
    *v = converted;
    return SPRY_STATUS_OK;
}

/* Brings A, b and x to one type: a complex b makes a real A complex. */
static spry_status unify_types(solve_job *job)
{
    spry_context *ctx = job->ctx;
    spry_type type = join(join(solve_type(job), job->b), job->x);
    spry_status status = SPRY_STATUS_OK;
    if (job->in_file)
        type = solve_type(job); /* which stays; what does not fit is reported */
    else if (spry_matrix_type(job->A) != type) {
        spry_matrix *converted = NULL;
        status = spry_matrix_cast(job->A, type, &converted);
        if (status == SPRY_STATUS_OK) {
            spry_matrix_free(job->A);
            job->A = converted;
        }
    }
    if (status == SPRY_STATUS_OK && job->b)
        status = retype_vector(ctx, type, &job->b);
    if (status == SPRY_STATUS_OK && job->x)
        status = retype_vector(ctx, type, &job->x);
    return status;
}

/* An array with as many rows as A has rows or columns. */
static spry_status read_columns(solve_job *job, const char *path, int64_t size, const char *side,
                                spry_vector **v, int64_t *cols, int *exit_status)
{
    spry_status status = spry_columns_read(job->ctx, path, NULL, v, cols);
    if (status == SPRY_STATUS_OK && spry_vector_size(*v) != size * *cols)
        *exit_status =
            cli_fail(EXIT_INPUT, "%s has %s numbers%s, but %s has %s %s", path,
                     text_count(spry_vector_size(*v) / *cols), *cols > 1 ? " per column" : "",
                     job->arguments->operands[0], text_count(size), side);
    return status;
}

static spry_status read_b(solve_job *job, int *exit_status)
{
    int64_t cols = 1;
    spry_status status = SPRY_STATUS_OK;
    if (job->arguments->count > 1)
        status = read_columns(job, job->arguments->operands[1], solve_rows(job), "rows", &job->b,
                              &cols, exit_status);
    job->count = (int)cols;
    if (status == SPRY_STATUS_OK && *exit_status == EXIT_DONE && cols > 1 &&
        (job->options->checkpoint || job->options->resume))
        *exit_status = cli_fail(EXIT_INPUT, "--%s is for one right-hand side; %s has %s",
                                job->options->checkpoint ? "checkpoint" : "resume",
                                job->arguments->operands[1], text_count(cols));
    return status;
}

static spry_status read_guess(solve_job *job, int *exit_status)
{
    const char *path = job->options->guess;
    int64_t cols;
    if (!path || *exit_status != EXIT_DONE)
        return SPRY_STATUS_OK;
    spry_status status =
        read_columns(job, path, solve_cols(job), "columns", &job->x, &cols, exit_status);
    if (status == SPRY_STATUS_OK && *exit_status == EXIT_DONE && cols != job->count)
        *exit_status = cli_fail(EXIT_INPUT, "%s has %s columns, but there are %d right-hand sides",
                                path, text_count(cols), job->count);
    return status;
}

/* Gives A the vectors of --near-null; after A has the type it will be solved with. */
static spry_status read_near_null(solve_job *job, int *exit_status)
{
    enum { MOST = 16 };
    const char *path = job->options->near_null;
    spry_vector *all = NULL, *parts[MOST] = {NULL};
    const int64_t n = spry_matrix_cols(job->A);
    int64_t cols = 0;
    if (!path)
        return SPRY_STATUS_OK;
    spry_status status = read_columns(job, path, n, "columns", &all, &cols, exit_status);
    if (status == SPRY_STATUS_OK && *exit_status == EXIT_DONE && cols > MOST)
        *exit_status = cli_fail(EXIT_INPUT,
                                "%s has %s columns, but %d near-null vectors are the "
                                "most that can be used",
                                path, text_count(cols), MOST);
    if (*exit_status != EXIT_DONE)
        cols = 0;
    for (int64_t c = 0; status == SPRY_STATUS_OK && c < cols; c++) {
        const size_t size = spry_type_size(spry_vector_type(all));
        status = spry_vector_new(job->ctx, spry_vector_type(all), n,
                                 (char *)spry_vector_data(all) + (size_t)(c * n) * size,
                                 SPRY_OWN_BORROW, &parts[c]);
    }
    if (status == SPRY_STATUS_OK && cols > 0)
        status = spry_matrix_set_near_null(job->A, (int)cols, (const spry_vector *const *)parts);
    for (int c = 0; c < MOST; c++)
        spry_vector_free(parts[c]);
    spry_vector_free(all);
    return status;
}

int solve_read(solve_job *job)
{
    const cli_arguments *a = job->arguments;
    int exit_status = EXIT_DONE;
    double begin = cli_clock();
    spry_status status = job->options->out_of_core > 0
                             ? solve_file_open(job)
                             : spry_matrix_read(job->ctx, a->operands[0], NULL, &job->A);
    if (status == SPRY_STATUS_OK && job->A)
        status = system_check_order(job->ctx, a, job->A);
    if (status == SPRY_STATUS_OK)
        status = read_b(job, &exit_status);
    if (status == SPRY_STATUS_OK)
        status = read_guess(job, &exit_status);
    job->read_seconds = cli_clock() - begin;
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (status == SPRY_STATUS_OK)
        status = unify_types(job);
    if (status == SPRY_STATUS_OK)
        status = read_near_null(job, &exit_status);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (status == SPRY_STATUS_OK && !job->b) {
        status = spry_vector_new(job->ctx, solve_type(job), solve_rows(job), NULL, SPRY_OWN_COPY,
                                 &job->b);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_fill(job->b, (spry_scalar){1, 0});
    }
    if (status == SPRY_STATUS_OK && !job->x)
        status = spry_vector_new(job->ctx, solve_type(job), solve_cols(job) * job->count, NULL,
                                 SPRY_OWN_COPY, &job->x);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}
