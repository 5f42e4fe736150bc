/* spry info: what a matrix looks like, and what to try with it. */
#include "output.h"

#include <string.h>

#define INFO_OPTIONS(item) CLI_JSON(item, "print the statistics")

typedef struct info_options {
    INFO_OPTIONS(SPRY_OPTION_FIELD)
} info_options;

SPRY_OPTION_TABLE(rows, info_options, INFO_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct info_data {
    const char *file;
    spry_type type;
    spry_stats s;
    char name[256]; /* as a command has it */
    char advice[1024];
} info_data;

/* What A is, as far as it decides about methods. */
static const char *describe(const info_data *d)
{
    const spry_stats *s = &d->s;
    const bool complex = spry_type_is_complex(d->type);
    if (s->rows != s->cols)
        return "not square";
    if (!s->hermitian)
        return s->symmetric ? "complex symmetric" : complex ? "not hermitian" : "not symmetric";
    if (s->positive_diagonal < s->rows)
        return complex ? "hermitian, but not positive definite, as its diagonal is not positive"
                       : "symmetric, but not positive definite, as its diagonal is not positive";
    if (s->dominant_rows == s->rows)
        return complex ? "hermitian with positive diagonal and diagonally dominant, so positive "
                         "semidefinite"
                       : "symmetric with positive diagonal and diagonally dominant, so positive "
                         "semidefinite";
    return complex ? "hermitian with positive diagonal" : "symmetric with positive diagonal";
}

/* What `spry solve` begins with: its plan. Where the solver refuses, it says why. */
static spry_status ask_solver(spry_context *ctx, const spry_matrix *A, spry_plan *found)
{
    spry_solver *solver = NULL;
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, "memory=yes");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_plan(solver, 1, found);
    spry_solver_free(solver);
    return status;
}

/* The first of these that applies decides what to say. */
static spry_status advise(spry_context *ctx, const spry_matrix *A, info_data *d)
{
    const spry_stats *s = &d->s;
    char *out = d->advice;
    const size_t size = sizeof d->advice;
    spry_plan found = SPRY_PLAN_INIT;
    if (s->nonfinite) {
        snprintf(out, size, "NaN or infinite entries: no method can use them");
        return SPRY_STATUS_OK;
    }
    if (s->rows == s->cols && (s->empty_rows || s->empty_cols)) {
        snprintf(out, size,
                 "singular, as rows or columns are empty: spry doctor %s names them, spry solve %s "
                 "gives "
                 "the x with the least residual",
                 d->name, d->name);
        return SPRY_STATUS_OK;
    }
    if (s->rows == 0 || s->cols == 0) {
        snprintf(out, size, "there is nothing to solve");
        return SPRY_STATUS_OK;
    }
    const spry_status status = ask_solver(ctx, A, &found);
    if (status == SPRY_STATUS_NO_MEMORY || status == SPRY_STATUS_INTERRUPTED)
        return status;
    if (status == SPRY_STATUS_OK)
        snprintf(out, size, "%s: spry solve %s --method %s --precon %.*s%s, as auto does",
                 describe(d), d->name, found.method, (int)strcspn(found.precon, ":"), found.precon,
                 s->rows == s->cols ? "" : " finds an x with the least residual");
    else
        snprintf(out, size, "%s: spry solve %s would fail: %s", describe(d), d->name,
                 spry_message(ctx));
    spry_plan_clear(ctx, &found);
    return SPRY_STATUS_OK;
}

static void print_histogram(const spry_stats *s, FILE *out)
{
    enum { BAR = 40 };
    static const char bar[] = "########################################";
    int64_t most = 1;
    for (int i = 0; i < SPRY_STATS_BINS; i++)
        most = s->row_histogram[i] > most ? s->row_histogram[i] : most;
    for (int i = 0; i < SPRY_STATS_BINS; i++) {
        if (!s->row_histogram[i])
            continue;
        int64_t low = i ? (int64_t)1 << (i - 1) : 0, high = i ? 2 * low - 1 : 0;
        char range[64];
        snprintf(range, sizeof range, low == high ? "%s" : "%s-%s", text_count(low),
                 text_count(high));
        int length = (int)(BAR * (double)s->row_histogram[i] / (double)most);
        fprintf(out, "  %15s %.*s %s\n", range, length ? length : 1, bar,
                text_count(s->row_histogram[i]));
    }
}

static void print_symmetry(const info_data *d, FILE *out)
{
    const spry_stats *s = &d->s;
    const char *word = s->symmetric && s->hermitian ? "symmetric"
                       : s->symmetric               ? "symmetric, not hermitian"
                       : s->hermitian               ? "hermitian"
                       : s->skew                    ? "skew-symmetric"
                                                    : "not symmetric";
    fprintf(out, "symmetry   %s", word);
    if (s->rows == s->cols && !s->symmetric)
        fprintf(out,
                "; %.1f%% of the entries off the diagonal have a mirror image, %.1f%% an equal "
                "one",
                100 * s->pattern_symmetry, 100 * s->value_symmetry);
    fputc('\n', out);
}

static void print_diagonal(const spry_stats *s, FILE *out)
{
    int64_t n = s->rows < s->cols ? s->rows : s->cols;
    fprintf(out, "diagonal   ");
    if (!s->missing_diagonal && !s->zero_diagonal)
        fputs("whole", out);
    else
        fprintf(out, "%s missing, %s zero", text_count(s->missing_diagonal),
                text_count(s->zero_diagonal));
    fprintf(out, ", positive in %s of %s rows\n", text_count(s->positive_diagonal), text_count(n));
    fprintf(out, "dominance  %s rows, %s strictly\n", text_count(s->dominant_rows),
            text_count(s->strictly_dominant_rows));
}

static void print_info(const info_data *d, FILE *out)
{
    const spry_stats *s = &d->s;
    fprintf(out, "%s: %s x %s, %s entries, %s\n", text_name(d->file), text_count(s->rows),
            text_count(s->cols), text_count(s->nnz), text_type(d->type));
    fprintf(out, "rows       %s to %s entries, %.4g on average, standard deviation %.3g\n",
            text_count(s->row_min), text_count(s->row_max), s->row_mean, s->row_deviation);
    print_histogram(s, out);
    fprintf(out, "empty      %s rows, %s columns\n", text_count(s->empty_rows),
            text_count(s->empty_cols));
    fprintf(out, "bandwidth  %s below the diagonal, %s above; %s diagonals, profile %s\n",
            text_count(s->lower_bandwidth), text_count(s->upper_bandwidth),
            text_count(s->diagonals), text_count(s->profile));
    print_symmetry(d, out);
    print_diagonal(s, out);
    if (s->block_size > 1)
        fprintf(out, "blocks     %d x %d, %.0f%% full\n", s->block_size, s->block_size,
                100 * s->block_fill);
    else
        fputs("blocks     none\n", out);
    fprintf(out, "values     %.4g to %.4g in magnitude; %s zeros stored, %s not finite\n",
            s->value_min, s->value_max, text_count(s->explicit_zeros), text_count(s->nonfinite));
    if (s->duplicates)
        fprintf(out, "twice      %s entries at a place that is taken\n", text_count(s->duplicates));
    fprintf(out, "norms      %.6g (1), %.6g (infinity), %.6g (Frobenius)\n", s->norm_one,
            s->norm_inf, s->norm_frobenius);
    fputs("advice     ", out);
    text_wrap(out, 11, 11, d->advice);
}

/* The fields of spry_stats that JSON has under their own names, and of which kind they are. */
#define STATS_FIELDS(item)            \
    item(int, rows)                   \
    item(int, cols)                   \
    item(int, nnz)                    \
    item(int, stored)                 \
    item(int, row_min)                \
    item(int, row_max)                \
    item(real, row_mean)              \
    item(real, row_deviation)         \
    item(int, empty_rows)             \
    item(int, empty_cols)             \
    item(int, lower_bandwidth)        \
    item(int, upper_bandwidth)        \
    item(int, profile)                \
    item(int, diagonals)              \
    item(int, missing_diagonal)       \
    item(int, zero_diagonal)          \
    item(int, explicit_zeros)         \
    item(int, duplicates)             \
    item(int, nonfinite)              \
    item(real, pattern_symmetry)      \
    item(real, value_symmetry)        \
    item(real, hermitian_symmetry)    \
    item(bool, symmetric)             \
    item(bool, hermitian)             \
    item(bool, skew)                  \
    item(int, dominant_rows)          \
    item(int, strictly_dominant_rows) \
    item(int, positive_diagonal)      \
    item(int, block_size)             \
    item(real, block_fill)            \
    item(real, value_min)             \
    item(real, value_max)             \
    item(real, norm_one)              \
    item(real, norm_inf)              \
    item(real, norm_frobenius)

static void write_json(FILE *out, const void *data)
{
    const info_data *d = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "file", d->file);
    json_text(&j, "type", spry_type_name(d->type));
#define WRITE_FIELD(kind, name) json_##kind(&j, #name, d->s.name);
    STATS_FIELDS(WRITE_FIELD)
    json_open(&j, "row_histogram", '[');
    for (int i = 0; i < SPRY_STATS_BINS; i++)
        json_int(&j, NULL, d->s.row_histogram[i]);
    json_close(&j, ']');
    json_text(&j, "advice", d->advice);
    json_close(&j, '}');
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const info_options *o = a->fields[0];
    info_data data = {.file = a->operands[0]};
    text_file(data.file, data.name, sizeof data.name);
    spry_matrix *A = NULL;
    int exit_status = file_check_text(ctx, o->json);
    if (exit_status == EXIT_DONE && o->json && file_is_same(o->json, data.file))
        exit_status = cli_fail(EXIT_INPUT, "%s: the JSON would replace the matrix", o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    spry_status status = spry_matrix_read(ctx, data.file, NULL, &A);
    if (status == SPRY_STATUS_OK) {
        data.type = spry_matrix_type(A);
        status = spry_matrix_stats(A, &data.s);
    }
    if (status == SPRY_STATUS_OK)
        status = advise(ctx, A, &data);
    spry_matrix_free(A);
    if (status != SPRY_STATUS_OK)
        return cli_failed(ctx, status);
    if (!o->json || !file_is_stdout(o->json))
        print_info(&data, stdout);
    return o->json ? file_write_text(ctx, o->json, write_json, &data) : EXIT_DONE;
}

const cli_command command_info = {
    .name = "info",
    .summary = "show what a matrix looks like and what to try with it",
    .synopsis = "A",
    .description = "Sizes, row lengths as a histogram, bandwidths, symmetry, diagonal, blocks, "
                   "values and norms, and advice on how to solve it. To inspect a faulty file, "
                   "read it with --duplicates sum, --nonfinite keep.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Reading", cli_read_options, NULL},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples = (const cli_example[]){{"spry info A.mtx", "Everything about A."},
                                      {"spry info A.mtx --json", "The same for a program."},
                                      {"spry info A.mtx --nonfinite keep",
                                       "Counts NaN and infinite entries instead of refusing."},
                                      {0}},
    .least = 1,
    .most = 1,
    .run = run,
};
