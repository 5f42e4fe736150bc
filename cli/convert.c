/* spry convert: a matrix or vector from one file format to another. */
#include "output.h"

#include <math.h>
#include <string.h>

#define CONVERT_OPTIONS(item)                                                                      \
    item(WORD, as, "auto", 0, 0, "auto matrix vector",                                             \
         "what the file holds; auto takes one row or one column for a vector")                     \
    item(TEXT, scale, "none", 0, 0, NULL,                                                          \
         "multiply rows and columns by powers of two: symmetric (1 / sqrt of the diagonal), row, " \
         "column, equilibrate, match (entries of the largest product become 1); options after a "  \
         "colon, as in row:norm=two,exact=no")                                                     \
    item(BOOL, match, "no", 0, 0, NULL,                                                            \
         "bring large entries to the diagonal by another ordering of the rows, before --reorder")  \
    item(WORD, reorder, "none", 0, 0, "none rcm amd nd length colour btf hubs",                    \
         "order of rows and columns: reverse Cuthill-McKee, minimum degree, nested dissection, "   \
         "rows with many entries first, by colours, block triangular form, columns with many "     \
         "entries first")                                                                          \
    item(PATH, left_out, NULL, 0, 0, NULL, "file for the factors of the rows, in the old order")   \
    item(PATH, right_out, NULL, 0, 0, NULL,                                                        \
         "file for the factors of the columns, in the old order")                                  \
    item(PATH, perm_out, NULL, 0, 0, NULL,                                                         \
         "file for the order: for each new row (with --match: column) the old one, from 0")        \
    item(PATH, row_perm_out, NULL, 0, 0, NULL,                                                     \
         "file for the order of the rows by --match and --reorder together")                       \
    CLI_PROGRESS(item)                                                                             \
    item(BOOL, quiet, "no", 0, 0, NULL, "print nothing but errors")

typedef struct convert_options {
    CONVERT_OPTIONS(SPRY_OPTION_FIELD)
} convert_options;

SPRY_OPTION_TABLE(rows, convert_options, CONVERT_OPTIONS(SPRY_OPTION_ROW))
enum { AS_AUTO, AS_MATRIX, AS_VECTOR };

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static void report(const cli_arguments *a, const char *what, progress *line)
{
    const convert_options *o = a->fields[0];
    progress_clear(line);
    if (!o->quiet && !file_is_stdout(a->operands[1]))
        printf("%s: %s, written in %s\n", text_name(a->operands[1]), what,
               text_seconds(cli_clock() - line->start));
}

static spry_status convert_vector(spry_context *ctx, const cli_arguments *a, progress *line)
{
    spry_vector *v = NULL;
    char what[128];
    spry_status status = spry_vector_read(ctx, a->operands[0], NULL, &v);
    if (status == SPRY_STATUS_OK) {
        progress_note(line, PHASE_FINISH, "writing");
        if (!file_is_stdout(a->operands[1]))
            signals_watch(ctx);
        status = file_write_vector(v, 1, a->operands[1]);
        signals_unwatch();
    }
    if (status == SPRY_STATUS_OK) {
        snprintf(what, sizeof what, "vector of %s numbers, %s", text_count(spry_vector_size(v)),
                 text_type(spry_vector_type(v)));
        report(a, what, line);
    }
    spry_vector_free(v);
    return status;
}

static bool orders(const convert_options *o)
{
    return o->match || o->reorder;
}

static bool scales(const convert_options *o)
{
    return strcmp(o->scale, "none") != 0;
}

/* The numbers as a vector file, if a name is given. */
static spry_status write_factors(const spry_vector *v, const char *path)
{
    return path ? file_write_vector(v, 1, path) : SPRY_STATUS_OK;
}

static spry_status scale(const convert_options *o, spry_matrix *A)
{
    spry_vector *left = NULL, *right = NULL;
    spry_status status = spry_scaling(A, o->scale, &left, &right);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_scale(A, left, right);
    if (status == SPRY_STATUS_OK)
        status = write_factors(left, o->left_out);
    if (status == SPRY_STATUS_OK)
        status = write_factors(right, o->right_out);
    spry_vector_free(left);
    spry_vector_free(right);
    return status;
}

/* The order of the rows alone that --match asks for; NULL without. */
static spry_status match(spry_context *ctx, const convert_options *o, spry_matrix **A,
                         int32_t **matched)
{
    spry_matrix *B = NULL;
    if (!o->match)
        return SPRY_STATUS_OK;
    spry_status status = spry_matrix_match(*A, matched, NULL);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_permute(*A, *matched, NULL, &B);
    if (status != SPRY_STATUS_OK) {
        spry_free(ctx, *matched);
        *matched = NULL;
        return status;
    }
    spry_matrix_free(*A);
    *A = B;
    return SPRY_STATUS_OK;
}

/* For each new row the old one, by both. */
static spry_status write_rows(spry_context *ctx, const int32_t *match, const int32_t *perm,
                              int64_t n, const char *path)
{
    spry_vector *v = NULL;
    if (!path)
        return SPRY_STATUS_OK;
    spry_status status = spry_vector_new(ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &v);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < n; i++)
        ((double *)spry_vector_data(v))[i] = match ? match[perm[i]] : perm[i];
    if (status == SPRY_STATUS_OK)
        status = file_write_vector(v, 1, path);
    spry_vector_free(v);
    return status;
}

/* Rows and columns alike, as long as there are as many; rows by --match before. */
static spry_status reorder(spry_context *ctx, const convert_options *o, spry_matrix **A)
{
    spry_entry order = SPRY_ENTRY_INIT;
    int32_t *perm = NULL, *matched = NULL;
    spry_matrix *B = NULL;
    spry_list_at(SPRY_LIST_ORDERINGS, o->reorder, &order);
    spry_status status = match(ctx, o, A, &matched);
    const int64_t n = spry_matrix_rows(*A);
    const bool square = n == spry_matrix_cols(*A);
    if (status == SPRY_STATUS_OK)
        status = spry_reorder(*A, order.name, &perm);
    if (status == SPRY_STATUS_OK && o->reorder)
        status = spry_matrix_permute(*A, perm, square ? perm : NULL, &B);
    if (status == SPRY_STATUS_OK)
        status = write_rows(ctx, NULL, perm, n, o->perm_out);
    if (status == SPRY_STATUS_OK)
        status = write_rows(ctx, matched, perm, n, o->row_perm_out);
    spry_free(ctx, matched);
    spry_free(ctx, perm);
    if (status == SPRY_STATUS_OK && B) {
        spry_matrix_free(*A);
        *A = B;
        B = NULL;
    }
    spry_matrix_free(B);
    return status;
}

static bool both_go_there(const char *a, const char *b)
{
    return file_is_same(a, b) || (file_is_stdout(a) && file_is_stdout(b));
}

/* Files that have something to hold and a place to go, each its own. */
static int check_extras(spry_context *ctx, const cli_arguments *a)
{
    const convert_options *o = a->fields[0];
    const char *paths[] = {o->left_out, o->right_out, o->perm_out, o->row_perm_out, a->operands[1]};
    enum { EXTRAS = sizeof paths / sizeof *paths - 1 };
    if ((o->left_out || o->right_out) && !scales(o))
        return cli_fail(EXIT_INPUT, "--left-out and --right-out are for --scale");
    if (o->perm_out && !o->reorder)
        return cli_fail(EXIT_INPUT, "--perm-out is for --reorder");
    if (o->row_perm_out && !orders(o))
        return cli_fail(EXIT_INPUT, "--row-perm-out is for --match and --reorder");
    if (o->as == AS_VECTOR && (scales(o) || orders(o)))
        return cli_fail(EXIT_INPUT,
                        "--scale, --match and --reorder are for matrices, not for --as vector");
    for (int i = 0; i < EXTRAS; i++) {
        for (int k = i + 1; paths[i] && k <= EXTRAS; k++)
            if (paths[k] && both_go_there(paths[i], paths[k]))
                return cli_fail(EXIT_INPUT, "%s: two outputs have the same name", paths[i]);
        const int exit_status = paths[i] ? file_check_output(ctx, paths[i], true) : EXIT_DONE;
        if (exit_status != EXIT_DONE)
            return exit_status;
    }
    return EXIT_DONE;
}

/* How b becomes the right-hand side of the scaled system, and its solution x. */
static void report_scaling(const cli_arguments *a)
{
    const convert_options *o = a->fields[0];
    const char *right = orders(o) ? "P Q L b" : "L b";
    const char *back = o->reorder ? "R P^T y" : "R y";
    if (o->quiet || file_is_stdout(a->operands[1]))
        return;
    printf("A x = b becomes B y = %s, then x = %s; L (%s) and R (%s) multiply element by element\n",
           right, back, o->left_out ? text_name(o->left_out) : "--left-out",
           o->right_out ? text_name(o->right_out) : "--right-out");
}

/* Reads as a matrix; *vector reports that it should have been the other way. */
static spry_status convert_matrix(spry_context *ctx, const cli_arguments *a, progress *line,
                                  bool *vector)
{
    const convert_options *o = a->fields[0];
    spry_matrix *A = NULL;
    char what[128];
    spry_status status = spry_matrix_read(ctx, a->operands[0], NULL, &A);
    if (status == SPRY_STATUS_OK)
        *vector = *vector && (spry_matrix_rows(A) == 1 || spry_matrix_cols(A) == 1);
    progress_note(line, PHASE_SETUP, "scaling and ordering");
    if (status == SPRY_STATUS_OK && !*vector && scales(o))
        status = scale(o, A);
    if (status == SPRY_STATUS_OK && !*vector && orders(o))
        status = reorder(ctx, o, &A);
    if (status == SPRY_STATUS_OK && !*vector) {
        progress_note(line, PHASE_FINISH, "writing");
        if (!file_is_stdout(a->operands[1]))
            signals_watch(ctx);
        status = file_write_matrix(A, a->operands[1]);
        signals_unwatch();
        snprintf(what, sizeof what, "%s x %s, %s entries, %s", text_count(spry_matrix_rows(A)),
                 text_count(spry_matrix_cols(A)), text_count(spry_matrix_nnz(A)),
                 text_type(spry_matrix_type(A)));
        if (status == SPRY_STATUS_OK)
            report(a, what, line);
        if (status == SPRY_STATUS_OK && scales(o))
            report_scaling(a);
    }
    spry_matrix_free(A);
    return status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const convert_options *o = a->fields[0];
    int exit_status = file_check_output(ctx, a->operands[1], o->as == AS_VECTOR);
    if (exit_status == EXIT_DONE)
        exit_status = check_extras(ctx, a);
    if (exit_status != EXIT_DONE)
        return exit_status;
    progress line;
    progress_start_as(&line, o->progress, o->quiet || file_is_stdout(a->operands[1]), 0);
    progress_note(&line, PHASE_READ, "reading");
    bool from_stdin = strcmp(a->operands[0], "-") == 0; /* cannot be read twice */
    bool vector = o->as == AS_AUTO && !from_stdin && !scales(o) && !orders(o);
    spry_status status = SPRY_STATUS_OK;
    if (o->as != AS_VECTOR)
        status = convert_matrix(ctx, a, &line, &vector);
    if (status == SPRY_STATUS_OK && (vector || o->as == AS_VECTOR))
        status = convert_vector(ctx, a, &line);
    progress_finish(&line, 0, NAN);
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
}

const cli_command command_convert = {
    .name = "convert",
    .summary = "change the format of a matrix or vector file",
    .synopsis = "IN OUT",
    .description =
        "What IN is shows in its first bytes, what OUT becomes in its ending: .mtx and .mtx.gz "
        "(Matrix Market), .rb (Rutherford-Boeing; Harwell-Boeing is read, too), .npz (SciPy "
        "sparse), .npy (NumPy, dense), .mat (MATLAB, level 5), .v73.mat (MATLAB, level 7.3, "
        "which is HDF5), .spry (binary, loads without parsing). A - is the "
        "standard input or, as Matrix Market, the standard output.\n"
        "A matrix A can be scaled and permuted on the way, in this order: B = P Q (L "
        "A "
        "R) P^T with the rows in the order Q of --match. "
        "Then A x = b is B y = P Q L b with x = R P^T y; --row-perm-out writes P Q.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Reading", cli_read_options, NULL},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry convert A.mtx A.spry", "To the binary format, which loads at once."},
            {"spry convert A.rb A.npz", "For scipy.sparse.load_npz."},
            {"spry convert b.mtx b.npy --type s", "A vector, in single precision."},
            {"spry convert sym.mtx half.mtx --no-expand",
             "Keeps the stored triangle of a symmetric file instead of writing both."},
            {"spry convert A.mtx B.mtx --reorder rcm --scale symmetric --perm-out p.npy",
             "A narrow band and a diagonal near 1; p.npy is the permutation."},
            {"spry convert A.mtx B.mtx --scale match --match --reorder btf --row-perm-out q.npy",
             "Ones on the diagonal, nothing larger next to them, blocks along it."},
            {0}},
    .least = 2,
    .most = 2,
    .run = run,
};
