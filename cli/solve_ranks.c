/* A solve on ranks: each keeps its rows of what all have read, and the first one reports. */
#include "solve.h"

#include <string.h>
#include <sys/stat.h>

static bool on_ranks(const solve_job *job)
{
    return spry_context_ranks(job->ctx) > 1;
}

/* This rank's elements of each of some columns, in the place of all. */
static spry_status keep_part(const solve_job *job, int64_t first, int64_t n, int64_t all,
                             spry_vector **v)
{
    const spry_type type = spry_vector_type(*v);
    const size_t size = spry_type_size(type);
    spry_vector *part = NULL;
    const spry_status status =
        spry_vector_new(job->ctx, type, n * job->count, NULL, SPRY_OWN_COPY, &part);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int k = 0; k < job->count && n > 0; k++)
        memcpy((char *)spry_vector_data(part) + (size_t)(k * n) * size,
               (const char *)spry_vector_data(*v) + (size_t)(k * all + first) * size,
               (size_t)n * size);
    spry_vector_free(*v);
    *v = part;
    return SPRY_STATUS_OK;
}

/* A vector of A's rows, in A's type. */
static spry_status read_part(const solve_job *job, const char *path, spry_vector **v)
{
    char options[16];
    snprintf(options, sizeof options, "type=%s", spry_type_name(spry_matrix_type(job->A)));
    return spry_vector_read_ranked(job->A, path, options, v);
}

/* b and the first guess; where one of them is no vector for A (several columns, complex numbers,
 * too few) all ranks read all, and find out. */
static spry_status read_vectors(solve_job *job, bool *whole)
{
    const solve_options *o = job->options;
    spry_status status = SPRY_STATUS_OK;
    if (job->arguments->count > 1)
        status = read_part(job, job->arguments->operands[1], &job->b);
    if (status == SPRY_STATUS_OK && o->guess)
        status = read_part(job, o->guess, &job->x);
    *whole = status == SPRY_STATUS_BAD_INPUT;
    if (status != SPRY_STATUS_OK)
        return *whole ? SPRY_STATUS_OK : status;
    if (!job->b)
        status = spry_vector_ones(job->ctx, job->A, &job->b);
    if (status == SPRY_STATUS_OK && !job->x)
        status = spry_vector_zeros(job->ctx, job->A, &job->x);
    return spry_context_agree(job->ctx, status);
}

enum { SMALL_FILE = 16 << 20 };

/* A, by the shares that were asked for; those that were measured are looked at once more with A
 * itself, and it is distributed again where they do not suit. */
static spry_status read_shares(solve_job *job)
{
    const char *device = cli_field(job->arguments, cli_solver_options, "device");
    const char *path = job->arguments->operands[0], *shares = job->options->shares;
    bool changed = false;
    struct stat file;
    /* A small one is measured with itself, which takes less than to make another. */
    const bool small = stat(path, &file) == 0 && file.st_size < SMALL_FILE;
    const bool by_itself =
        strcmp(shares, "auto") == 0 &&
        spry_context_agree(job->ctx, small ? SPRY_STATUS_OK : SPRY_STATUS_UNSUPPORTED) ==
            SPRY_STATUS_OK; /* small to all */
    spry_status status = spry_context_set_shares(job->ctx, by_itself ? "equal" : shares, device);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_read_ranked(job->ctx, path, NULL, &job->A);
    if (status == SPRY_STATUS_OK && strcmp(shares, "auto") == 0)
        status = spry_context_correct_shares(job->A, device, &changed);
    if (status == SPRY_STATUS_OK && changed) {
        spry_matrix_free(job->A);
        job->A = NULL;
        status = spry_matrix_read_ranked(job->ctx, path, NULL, &job->A);
    }
    return status;
}

/* What all ranks read whole, one after the other, is no stream. */
static int check_streams(const solve_job *job)
{
    const char *const files[] = {job->arguments->operands[0],
                                 job->arguments->count > 1 ? job->arguments->operands[1] : NULL,
                                 job->options->guess, job->options->near_null};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k] && strcmp(files[k], "-") == 0)
            return cli_fail(EXIT_INPUT,
                            "-: on ranks the standard input can be a square matrix or one "
                            "right-hand side of its type; write others to a file first");
    return EXIT_DONE;
}

int solve_read_parts(solve_job *job)
{
    const double begin = cli_clock();
    spry_ranked place = SPRY_RANKED_INIT;
    bool whole = false;
    if (!on_ranks(job) || job->options->near_null)
        return on_ranks(job) ? check_streams(job) : EXIT_DONE;
    spry_status status = read_shares(job);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_ranked(job->A, &place);
    if (status == SPRY_STATUS_OK && place.rows != place.cols)
        whole = true;
    else if (status == SPRY_STATUS_OK)
        status = read_vectors(job, &whole);
    job->read_seconds = cli_clock() - begin;
    if (status != SPRY_STATUS_OK)
        return cli_failed(job->ctx, status);
    job->redistributed = !whole;
    job->count = 1;
    if (whole && check_streams(job) != EXIT_DONE)
        return EXIT_INPUT;
    if (whole) {
        spry_vector_free(job->b);
        spry_vector_free(job->x);
        spry_matrix_free(job->A);
        job->b = job->x = NULL;
        job->A = NULL;
    }
    return EXIT_DONE;
}

int solve_distributed(solve_job *job)
{
    spry_matrix *A = NULL;
    spry_ranked place = SPRY_RANKED_INIT;
    if (!on_ranks(job) || job->redistributed)
        return EXIT_DONE;
    spry_status status = spry_matrix_distribute(job->A, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_ranked(A, &place);
    if (status == SPRY_STATUS_OK) {
        spry_matrix_free(job->A);
        job->A = A;
        status = keep_part(job, place.first_row, spry_matrix_rows(A), place.rows, &job->b);
    }
    if (status == SPRY_STATUS_OK)
        status = keep_part(job, place.first_col, spry_matrix_cols(A), place.cols, &job->x);
    return ranks_agree(job->ctx,
                       status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status));
}

int solve_collect(solve_job *job)
{
    const spry_type type = spry_vector_type(job->x);
    const size_t size = spry_type_size(type);
    const int64_t n = spry_vector_size(job->x) / (job->count > 0 ? job->count : 1);
    spry_vector *whole = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (!on_ranks(job) || job->redistributed)
        return EXIT_DONE;
    for (int k = 0; k < job->count && status == SPRY_STATUS_OK; k++) {
        spry_vector *mine = NULL, *all = NULL;
        status = spry_vector_new(job->ctx, type, n,
                                 (char *)spry_vector_data(job->x) + (size_t)(k * n) * size,
                                 SPRY_OWN_BORROW, &mine);
        status = spry_context_agree(job->ctx, status);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_collect(mine, &all);
        if (status == SPRY_STATUS_OK && !whole)
            status = spry_vector_new(job->ctx, type, spry_vector_size(all) * job->count, NULL,
                                     SPRY_OWN_COPY, &whole);
        status = spry_context_agree(job->ctx, status);
        if (status == SPRY_STATUS_OK)
            memcpy((char *)spry_vector_data(whole) + (size_t)(k * spry_vector_size(all)) * size,
                   spry_vector_data(all), (size_t)spry_vector_size(all) * size);
        spry_vector_free(mine);
        spry_vector_free(all);
    }
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(whole);
        return cli_failed(job->ctx, status);
    }
    spry_vector_free(job->x);
    job->x = whole;
    return EXIT_DONE;
}

/* How much more the busiest has than its share. */
static double imbalance(const solve_job *job)
{
    const int ranks = spry_context_ranks(job->ctx);
    double most = 0, sum = 0;
    for (int r = 0; r < ranks; r++) {
        spry_rank_report p = SPRY_RANK_REPORT_INIT;
        if (spry_solver_rank(job->solver, r, &p) != SPRY_STATUS_OK)
            return 0;
        const double part = p.share > 0 ? (double)p.nnz / (p.share * ranks) : 0;
        most = part > most ? part : most;
        sum += (double)p.nnz;
    }
    return sum > 0 ? most * ranks / sum - 1 : 0;
}

/* What the first rank has seen of a solve by splitting. */
static void report_split(const spry_split_stats *s, FILE *out)
{
    fprintf(out,
            "splitting  %s at the end, %s iterations on this rank with elements of others %.1f "
            "iterations old, %s at most; idle %.0f%% of the time, checked %s times, mode changed "
            "%s times\n",
            s->was_asynchronous ? "asynchronous" : "synchronous", text_count(s->iterations),
            s->mean_age, text_count(s->most_age),
            s->seconds > 0 ? 100 * s->idle_seconds / s->seconds : 0, text_count(s->checks),
            text_count(s->switches));
}

void solve_report_ranks(const solve_job *job, FILE *out)
{
    spry_rank_report p = SPRY_RANK_REPORT_INIT;
    if (job->split.size > 0) {
        report_split(&job->split, out);
        return;
    }
    if (!on_ranks(job) || spry_solver_rank(job->solver, 0, &p) != SPRY_STATUS_OK)
        return;
    fprintf(out, "ranks      %d, imbalance %.0f%% of entries\n", spry_context_ranks(job->ctx),
            100 * imbalance(job));
    table *t = table_new(
        ">rank|on|halos|>share|>rows|>entries|>halo|>neighbours|>messages|>sent|>waited|>for "
        "reductions|>solving");
    for (int r = 0; r < spry_context_ranks(job->ctx); r++) {
        if (spry_solver_rank(job->solver, r, &p) != SPRY_STATUS_OK)
            continue;
        table_cell(t, "%d", r);
        table_cell(t, "%s", p.device);
        table_cell(t, "%s", p.transport);
        table_cell(t, "%.3g%%", 100 * p.share);
        table_cell(t, "%s", text_count(p.rows));
        table_cell(t, "%s", text_count(p.nnz));
        table_cell(t, "%s", text_count(p.received));
        table_cell(t, "%s", text_count(p.neighbours));
        table_cell(t, "%s", text_count(p.messages));
        table_cell(t, "%s", text_bytes((double)p.bytes));
        table_cell(t, "%s", text_seconds(p.message_seconds));
        table_cell(t, "%s", text_seconds(p.reduction_seconds));
        table_cell(t, "%s", text_seconds(p.solve_seconds));
    }
    table_print(t, out);
}

void solve_json_ranks(json *j, const solve_job *job)
{
    spry_rank_report p = SPRY_RANK_REPORT_INIT;
    if (job->split.size > 0 || !on_ranks(job) ||
        spry_solver_rank(job->solver, 0, &p) != SPRY_STATUS_OK)
        return;
    json_real(j, "imbalance", imbalance(job));
    json_open(j, "ranks", '[');
    for (int r = 0; r < spry_context_ranks(job->ctx); r++) {
        if (spry_solver_rank(job->solver, r, &p) != SPRY_STATUS_OK)
            continue;
        json_open(j, NULL, '{');
        json_text(j, "device", p.device);
        json_text(j, "transport", p.transport);
        json_real(j, "share", p.share);
        json_int(j, "rows", p.rows);
        json_int(j, "nnz", p.nnz);
        json_int(j, "received", p.received);
        json_int(j, "neighbours", p.neighbours);
        json_int(j, "messages", p.messages);
        json_int(j, "bytes", p.bytes);
        json_int(j, "reductions", p.reductions);
        json_int(j, "threads", p.threads);
        json_int(j, "memory_bytes", p.memory_bytes);
        json_real(j, "setup_seconds", p.setup_seconds);
        json_real(j, "solve_seconds", p.solve_seconds);
        json_real(j, "message_seconds", p.message_seconds);
        json_real(j, "reduction_seconds", p.reduction_seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
}
