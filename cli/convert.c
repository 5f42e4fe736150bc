/* spry convert: a matrix or vector from one file format to another. */
#include "output.h"

#include <string.h>

#define CONVERT_OPTIONS(item)                                                  \
    item(WORD, as, "auto", 0, 0, "auto matrix vector",                         \
         "what the file holds; auto takes one row or one column for a vector") \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but errors")

typedef struct convert_options {
    CONVERT_OPTIONS(SPRY_OPTION_FIELD)
} convert_options;

#define OPTION_OWNER convert_options
static const spry_option rows[] = {CONVERT_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER
enum { AS_AUTO, AS_MATRIX, AS_VECTOR };

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static void tell(const cli_arguments *a, const char *what, double seconds)
{
    const convert_options *o = a->fields[0];
    if (!o->quiet && !file_is_stdout(a->operands[1]))
        printf("%s: %s, written in %s\n", a->operands[1], what, text_seconds(seconds));
}

static spry_status convert_vector(spry_context *ctx, const cli_arguments *a, double begin)
{
    spry_vector *v = NULL;
    char what[128];
    spry_status status =
        spry_vector_read_file(ctx, a->operands[0], cli_text(a, spry_read_options), &v);
    if (status == SPRY_OK) {
        if (!file_is_stdout(a->operands[1]))
            signals_watch(ctx);
        status = file_write_vector(v, 1, a->operands[1]);
        signals_unwatch();
    }
    if (status == SPRY_OK) {
        snprintf(what, sizeof what, "vector of %s numbers, %s", text_count(spry_vector_size(v)),
                 text_type(spry_vector_type(v)));
        tell(a, what, cli_clock() - begin);
    }
    spry_vector_free(v);
    return status;
}

/* Reads as a matrix; *vector says that it should have been the other way. */
static spry_status convert_matrix(spry_context *ctx, const cli_arguments *a, double begin,
                                  bool *vector)
{
    spry_matrix *A = NULL;
    char what[128];
    spry_status status =
        spry_matrix_read_with(ctx, a->operands[0], cli_text(a, spry_read_options), &A);
    if (status == SPRY_OK)
        *vector = *vector && (spry_matrix_rows(A) == 1 || spry_matrix_cols(A) == 1);
    if (status == SPRY_OK && !*vector) {
        if (!file_is_stdout(a->operands[1]))
            signals_watch(ctx);
        status = file_write_matrix(A, a->operands[1]);
        signals_unwatch();
        snprintf(what, sizeof what, "%s x %s, %s entries, %s", text_count(spry_matrix_rows(A)),
                 text_count(spry_matrix_cols(A)), text_count(spry_matrix_nnz(A)),
                 text_type(spry_matrix_type(A)));
        if (status == SPRY_OK)
            tell(a, what, cli_clock() - begin);
    }
    spry_matrix_free(A);
    return status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const convert_options *o = a->fields[0];
    int exit_status = file_check_output(ctx, a->operands[1], o->as == AS_VECTOR);
    if (exit_status != EXIT_DONE)
        return exit_status;
    double begin = cli_clock();
    bool from_stdin = strcmp(a->operands[0], "-") == 0; /* cannot be read twice */
    bool vector = o->as == AS_AUTO && !from_stdin;
    spry_status status = SPRY_OK;
    if (o->as != AS_VECTOR)
        status = convert_matrix(ctx, a, begin, &vector);
    if (status == SPRY_OK && (vector || o->as == AS_VECTOR))
        status = convert_vector(ctx, a, begin);
    return status == SPRY_OK ? EXIT_DONE : cli_failed(ctx, status);
}

const cli_command command_convert = {
    .name = "convert",
    .summary = "change the format of a matrix or vector file",
    .synopsis = "IN OUT",
    .description =
        "What IN is shows in its first bytes, what OUT becomes in its ending: .mtx and .mtx.gz "
        "(Matrix Market), .rb (Rutherford-Boeing; Harwell-Boeing is read, too), .npz (SciPy "
        "sparse), .npy (NumPy, dense), .spry (binary, loads without parsing). A - is the "
        "standard input or, as Matrix Market, the standard output.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Reading", spry_read_options, NULL},
                                  {"Machine", spry_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry convert A.mtx A.spry", "To the binary format, which loads at once."},
            {"spry convert A.rb A.npz", "For scipy.sparse.load_npz."},
            {"spry convert b.mtx b.npy --type s", "A vector, in single precision."},
            {"spry convert sym.mtx half.mtx --no-expand",
             "Keeps the stored triangle of a symmetric file instead of writing both."},
            {0}},
    .least = 2,
    .most = 2,
    .run = run,
};
