/* spry explain: the methods there are and what they cost, and one of them in every detail. */
#include "formats.h"
#include "listing.h"
#include "precons.h"

#include <stdlib.h>
#include <string.h>

#define EXPLAIN_OPTIONS(item)                                                                  \
    item(BOOL, all, "no", 0, 0, NULL, "list all methods, not only the common ones")            \
    item(BOOL, references, "no", 0, 0, NULL, "list all methods, and where each was published") \
    CLI_JSON(item, "print all lists with all options: methods and what they cost, "            \
                   "preconditioners, formats, ...")

typedef struct explain_options {
    EXPLAIN_OPTIONS(SPRY_OPTION_FIELD)
} explain_options;

SPRY_OPTION_TABLE(rows, explain_options, EXPLAIN_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct method_row {
    spry_entry info;
    spry_cost cost;
} method_row;

typedef struct method_list {
    method_row *methods;
    int count;
} method_list;

/* Parses and fuses every method to count what it costs. */
static spry_status get_list(spry_context *ctx, method_list *list)
{
    spry_entry info = SPRY_ENTRY_INIT;
    spry_status status = SPRY_STATUS_OK;
    while (spry_list_at(SPRY_LIST_METHODS, list->count, &info))
        list->count++;
    list->methods = cli_alloc(((size_t)list->count + 1) * sizeof *list->methods);
    for (int i = 0; i < list->count && status == SPRY_STATUS_OK; i++) {
        method_row *m = &list->methods[i];
        m->info = (spry_entry)SPRY_ENTRY_INIT;
        spry_list_at(SPRY_LIST_METHODS, i, &m->info);
        status = spry_method_cost(ctx, m->info.name, &m->cost);
    }
    return status;
}

/* A line of figures and what the method is, a second one on what it is for. */
static void print_method(FILE *out, const method_row *m, bool references)
{
    char text[1024];
    int column = fprintf(out, "%-14s%8.3g%11.3g%6.3g%5d  ", m->info.name, m->cost.products,
                         m->cost.reductions, m->cost.vectors, m->cost.memory);
    snprintf(text, sizeof text, "%s\nfor %s%s%s", m->info.summary, m->info.purpose,
             references ? "\n" : "", references ? m->info.reference : "");
    text_wrap(out, column, column, text);
}

static void print_list(FILE *out, const method_list *list, bool all, bool references)
{
    int left = 0;
    fprintf(out, "%-14s%8s%11s%6s%5s  what it is and which matrices it is for\n", "method",
            "products", "reductions", "moved", "kept");
    for (int i = 0; i < list->count; i++)
        if (all || list->methods[i].info.common)
            print_method(out, &list->methods[i], references);
        else
            left++;
    if (left > 0)
        fprintf(out, "\n%d more: spry explain --all\n", left);
    fputs("\nproducts    with A or A^H per iteration, without a preconditioner\n"
          "reductions  per iteration, each of all inner products that are needed at one point\n"
          "moved       vectors that an iteration reads or writes besides A, fused\n"
          "kept        vectors in memory besides x and b\n\npreconditioner\n",
          out);
    precons_list(out);
    fputs("\n`spry explain METHOD [A]` shows one with its options, `spry solve A --method METHOD` "
          "uses it.\n",
          out);
}

static void write_json(FILE *out, const void *data)
{
    const method_list *list = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_open(&j, "methods", '[');
    for (int i = 0; i < list->count; i++) {
        const method_row *m = &list->methods[i];
        json_open(&j, NULL, '{');
        listing_json(&j, &m->info);
        json_real(&j, "products", m->cost.products);
        json_real(&j, "reductions", m->cost.reductions);
        json_real(&j, "vectors_moved", m->cost.vectors);
        json_int(&j, "vectors_kept", m->cost.memory);
        json_bool(&j, "transpose", m->cost.transpose);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    for (int k = SPRY_LIST_METHODS + 1; k < SPRY_LIST_COUNT; k++)
        listing_json_all(&j, (spry_list)k);
    json_close(&j, '}');
}

static int explain_all(spry_context *ctx, const explain_options *o)
{
    method_list list = {0};
    int exit_status = file_check_text(ctx, o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    spry_status status = get_list(ctx, &list);
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    else if (!o->json || !file_is_stdout(o->json))
        print_list(stdout, &list, o->all || o->references, o->references);
    if (exit_status == EXIT_DONE && o->json)
        exit_status = file_write_text(ctx, o->json, write_json, &list);
    free(list.methods);
    return exit_status;
}

/* A line of the schedule: too long a one is broken between statements and goes on below the first.
 */
static void print_schedule_line(FILE *out, const char *line, int length)
{
    const char *const between = ";  ", *const end = line + length;
    int blanks = (int)strspn(line, " "), column = 0, indent = 0;
    const char *gap = strstr(line + blanks, "  "); /* after "sweep 1", "then" */
    if (gap && gap < end)
        indent = (int)(gap - line) + (int)strspn(gap, " ");
    while (line < end) {
        const char *next = strstr(line, between);
        int part = next && next < end ? (int)(next - line) + 1 : (int)(end - line);
        bool breaks = column > indent && column + 2 + part > TEXT_COLUMNS;
        if (breaks)
            fprintf(out, "\n%*s", indent, "");
        column = (breaks ? indent : column ? column + 2 : 0) + part;
        fprintf(out, "%s%.*s", breaks || column == part ? "" : "  ", part, line);
        line += part;
        line += strspn(line, " ");
    }
    fputc('\n', out);
}

/* The notation stays as it was written. */
static void print_explanation(FILE *out, const char *text)
{
    static const char head[] = "the loop as it runs";
    bool schedule = false;
    while (*text) {
        int length = (int)strcspn(text, "\n");
        if (length > 0 && *text != ' ')
            schedule = strncmp(text, head, sizeof head - 1) == 0;
        if (schedule)
            print_schedule_line(out, text, length);
        else
            fprintf(out, "%.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
}

/* With a matrix the figures are for it, and for the memory it lies in. */
static spry_status use_matrix(spry_context *ctx, const char *path, spry_solver *solver,
                              spry_matrix **A)
{
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    spry_status status = spry_matrix_read(ctx, path, NULL, A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_matrix(solver, *A);
    if (status == SPRY_STATUS_OK)
        status = spry_device_bandwidth(ctx, NULL, false, &bandwidth);
    return status;
}

static int explain_one(spry_context *ctx, const char *method, const char *path)
{
    spry_solver *solver = NULL;
    spry_matrix *A = NULL;
    char *text = NULL;
    spry_status status = spry_solver_new(ctx, &solver);
    if (status == SPRY_STATUS_OK && method)
        status = spry_solver_set_text(solver, "method", method);
    if (status == SPRY_STATUS_OK && path)
        status = use_matrix(ctx, path, solver, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_explain(solver, &text);
    if (status == SPRY_STATUS_OK)
        print_explanation(stdout, text);
    int exit_status = status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
    spry_free(ctx, text);
    spry_solver_free(solver);
    spry_matrix_free(A);
    return exit_status;
}

/* Names of methods go before those of preconditioners. */
static bool is_method(const char *spec)
{
    spry_entry entry = SPRY_ENTRY_INIT;
    return spry_list_find(SPRY_LIST_METHODS, spec, &entry);
}

/* All of them, or one by its name. */
static int explain_precons(const char *name)
{
    char words[CLI_WORDS] = "", nearest[CLI_NAME];
    if (!name) {
        precons_list(stdout);
        fputs(
            "\nAll take precision=same|single|half. `spry explain precon NAME` lists the options, "
            "`spry solve A\n--precon NAME:OPTION=VALUE,...` uses one; options of one within "
            "another stand in brackets,\nschwarz:overlap=2,sub=[ilu:level=1].\n",
            stdout);
        return EXIT_DONE;
    }
    if (precons_show(stdout, name))
        return EXIT_DONE;
    precons_words(words);
    if (spry_nearest(name, words, nearest, sizeof nearest))
        return cli_fail(EXIT_INPUT, "there is no precon %s; did you mean %s?", name, nearest);
    return cli_fail(EXIT_INPUT, "there is no precon %s; `spry explain precon` lists them", name);
}

/* The first operand is the method, unless an option names it. */
static int run(spry_context *ctx, const cli_arguments *a)
{
    const explain_options *o = a->fields[0];
    const char *given = cli_field(a, cli_solver_options, "method");
    const char *file = cli_field(a, cli_solver_options, "method_file");
    bool named = (given && strcmp(given, "auto") != 0) || (file && *file);
    const char *method = !named && a->count > 0 ? a->operands[0] : NULL;
    const char *path = a->count > (method != NULL) ? a->operands[method != NULL] : NULL;
    if (!named && !method)
        return explain_all(ctx, o);
    if (o->json)
        return cli_fail(EXIT_INPUT, "--json gives the lists: spry explain --json");
    if (named && a->count > 1)
        return cli_fail(EXIT_INPUT, "explain: the method is given by an option; \"%s\" is too many",
                        a->operands[1]);
    if (method && strcmp(method, "precon") == 0)
        return explain_precons(path);
    if (method && strcmp(method, "formats") == 0) {
        formats_list(stdout);
        return EXIT_DONE;
    }
    if (method && !path &&
        (formats_show(stdout, method) || (!is_method(method) && precons_show(stdout, method))))
        return EXIT_DONE;
    return explain_one(ctx, method, path);
}

static void method_names(char words[CLI_WORDS])
{
    listing_words(SPRY_LIST_METHODS, words);
    precons_words(words);
    formats_words(words);
}

const cli_command command_explain = {
    .name = "explain",
    .summary = "list the methods, or show one: its notation, what runs together, what it moves",
    .synopsis = "[METHOD [A] | precon [NAME] | formats | FORMAT]",
    .description =
        "Without a method: lists the common ones with what an iteration costs, and the "
        "preconditioners; with --all all methods.\n"
        "With one: the method as it is written, its options, the passes over memory that the "
        "library makes of it, and the bytes of an iteration; with a matrix A also the figures for "
        "it, and the least time that the memory's bandwidth allows. `spry explain precon` lists "
        "the preconditioners alone, `spry explain precon NAME` the options of one, `spry explain "
        "formats` and `spry explain FORMAT` the same of storage formats.\n"
        "A method of your own is shown by --method-file; docs/notation.md describes the language.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Solver", cli_solver_options,
                                   "tol atol max_iter stall divergence keep report_start"},
                                  {"Reading", cli_read_options, "expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry explain --all", "All methods, a line each."},
            {"spry explain cg", "What conjugate gradients does in an iteration."},
            {"spry explain gmres:restart=50,side=left A.mtx --precon ssor",
             "With options of the method, on a matrix."},
            {"spry explain precon amg", "A preconditioner with its options."},
            {"spry explain formats", "The storage formats and their options."},
            {"spry explain cg --no-fuse", "Statement by statement, as others do it."},
            {"spry explain --method-file my.krylov", "A method of yours."},
            {0}},
    .most = 2,
    .choices = method_names,
    .run = run,
};
