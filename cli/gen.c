/* spry gen: generated test matrices. */
#include "listing.h"

#include <math.h>
#include <string.h>

#define GEN_OPTIONS(item)                                                                          \
    item(PATH, output, NULL, 0, 0, NULL, "file for the matrix; Matrix Market to stdout otherwise") \
    item(PATH, rhs, NULL, 0, 0, NULL, "file for b = A * ones, so that the solution is known")      \
    CLI_PROGRESS(item)                                                                             \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but errors")

typedef struct own_fields {
    GEN_OPTIONS(SPRY_OPTION_FIELD)
} own_fields;

SPRY_OPTION_TABLE(rows, own_fields, GEN_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static void kind_names(char words[CLI_WORDS])
{
    listing_words(SPRY_LIST_GENERATORS, words);
}

static int list_kinds(void)
{
    spry_entry kind = SPRY_ENTRY_INIT;
    for (int i = 0; spry_list_at(SPRY_LIST_GENERATORS, i, &kind); i++) {
        int column = printf("%-22s", kind.name);
        text_wrap(stdout, column, column, kind.summary);
    }
    puts("\n`spry gen KIND --size N -o FILE` makes one; `spry help gen` shows the options.");
    return EXIT_DONE;
}

/* Copies of a matrix from a file along the diagonal. */
static spry_status make_tiled(spry_context *ctx, const cli_arguments *a, const char *path,
                              spry_matrix **A)
{
    const int *type = cli_field(a, cli_generate_options, "type");
    const int64_t *size = cli_field(a, cli_generate_options, "size");
    char options[32] = "";
    spry_matrix *base = NULL;
    if (type && *type > 0) /* the words are auto s d c z */
        snprintf(options, sizeof options, "type=%s", spry_type_name((spry_type)(*type - 1)));
    spry_status status = spry_matrix_read(ctx, path, options, &base);
    if (status == SPRY_STATUS_OK)
        status = spry_generate_tiled(base, size && *size ? *size : 2 * spry_matrix_rows(base), A);
    spry_matrix_free(base);
    return status;
}

static spry_status write_rhs(spry_context *ctx, const spry_matrix *A, const char *path)
{
    spry_operator *op = NULL;
    spry_vector *ones = NULL, *b = NULL;
    spry_status status = spry_operator_from_matrix(A, NULL, NULL, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &ones);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_fill(ones, (spry_scalar){1, 0});
    if (status == SPRY_STATUS_OK)
        status =
            spry_vector_new(ctx, spry_matrix_type(A), spry_matrix_rows(A), NULL, SPRY_OWN_COPY, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_apply(op, ones, b);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_write(b, path);
    spry_operator_free(op);
    spry_vector_free(ones);
    spry_vector_free(b);
    return status;
}

static void report(const own_fields *o, const char *kind, const spry_matrix *A, double made,
                   double written)
{
    if (o->quiet || file_is_stdout(o->output))
        return;
    printf("%s: %s, %s x %s, %s entries, %s; made in %s, written in %s\n", text_name(o->output),
           kind, text_count(spry_matrix_rows(A)), text_count(spry_matrix_cols(A)),
           text_count(spry_matrix_nnz(A)), text_type(spry_matrix_type(A)), text_seconds(made),
           text_seconds(written));
    if (o->rhs)
        printf("%s: A * ones\n", text_name(o->rhs));
}

/* What tiled does not read would be a misunderstanding, as for the kinds that the library checks.
 */
static int check_tiled_options(const cli_arguments *a)
{
    spry_entry tiled = SPRY_ENTRY_INIT;
    spry_list_find(SPRY_LIST_GENERATORS, "tiled", &tiled);
    for (const cli_given *one = NULL; (one = cli_next_given(a, cli_generate_options, one));)
        if (!spry_options_find(tiled.options, one->option->name))
            return cli_fail(EXIT_INPUT,
                            "tiled: %s is not an option of this kind; its options are: size type "
                            "base",
                            one->option->name);
    return EXIT_DONE;
}

/* tiled is the kind that needs a file, and --base the option that only it takes. */
static int check_base(const cli_arguments *a, const char *kind, const char *base)
{
    bool tiled = strcmp(kind, "tiled") == 0;
    if (tiled && !base)
        return cli_fail(EXIT_INPUT, "gen tiled needs --base FILE, the matrix to copy");
    if (!tiled && base)
        return cli_fail(EXIT_INPUT, "--base is for gen tiled, not for %s", kind);
    return tiled ? check_tiled_options(a) : EXIT_DONE;
}

/* What cannot end well is refused before the work. */
static int check_outputs(spry_context *ctx, const own_fields *o, const char *base)
{
    if (o->rhs && file_is_stdout(o->rhs) && file_is_stdout(o->output))
        return cli_fail(EXIT_INPUT, "the matrix and b cannot both go to the standard output");
    if (o->rhs && file_is_same(o->rhs, o->output))
        return cli_fail(EXIT_INPUT, "%s: the matrix and b have the same name", o->rhs);
    if (base && (file_is_same(base, o->output) || file_is_same(base, o->rhs)))
        return cli_fail(EXIT_INPUT, "%s: would be replaced, and is the matrix to copy", base);
    int exit_status = file_check_output(ctx, o->output, false);
    if (exit_status == EXIT_DONE && o->rhs)
        exit_status = file_check_output(ctx, o->rhs, true);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    if (a->count == 0)
        return list_kinds();
    const own_fields *o = a->fields[0];
    const char *kind = a->operands[0];
    const char *const *base = cli_field(a, cli_generate_options, "base");
    const char *base_path = base ? *base : NULL;
    int exit_status = check_base(a, kind, base_path);
    if (exit_status == EXIT_DONE)
        exit_status = check_outputs(ctx, o, base_path);
    if (exit_status != EXIT_DONE)
        return exit_status;

    spry_matrix *A = NULL;
    progress line;
    double begin = cli_clock();
    progress_start_as(&line, o->progress, o->quiet || file_is_stdout(o->output), 0);
    progress_note(&line, PHASE_SETUP, "making the matrix");
    spry_status status =
        base_path ? make_tiled(ctx, a, base_path, &A) : spry_generate(ctx, kind, NULL, &A);
    double made = cli_clock();
    progress_note(&line, PHASE_FINISH, "writing the matrix");
    if (!file_is_stdout(o->output)) /* from here on there is something to clear away */
        signals_watch(ctx);
    if (status == SPRY_STATUS_OK)
        status = file_write_matrix(A, o->output);
    double written = cli_clock();
    if (status == SPRY_STATUS_OK && o->rhs)
        status = write_rhs(ctx, A, o->rhs);
    signals_unwatch();
    progress_finish(&line, 0, NAN);
    if (status == SPRY_STATUS_OK)
        report(o, kind, A, made - begin, written - made);
    spry_matrix_free(A);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
}

const cli_command command_gen = {
    .name = "gen",
    .summary = "make a matrix: Poisson, elasticity, random, ...",
    .synopsis = "[KIND]",
    .description = "Without a kind: lists them. The size is the points per side of a grid, or the "
                   "rows. The same options give the same matrix on every machine.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Matrix", cli_generate_options, NULL},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry gen", "Lists the kinds."},
            {"spry gen poisson3d --size 64 -o p.mtx", "A cube of 64 x 64 x 64 unknowns."},
            {"spry gen poisson3d --size 64 --points 27 --type s -o p.spry",
             "With 27 entries per row in single precision, as a binary file."},
            {"spry gen elasticity --size 20 -o k.mtx.gz --rhs b.mtx",
             "Three unknowns per node, compressed, with a b whose solution is all ones."},
            {"spry gen tiled --base A.mtx --size 1M -o big.spry",
             "Copies of a matrix of yours until there are a million rows."},
            {0}},
    .most = 1,
    .choices = kind_names,
    .run = run,
};
