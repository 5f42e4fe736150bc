/* spry plot: one picture, as a file of its own. */
#include "bench.h"
#include "runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLOT_OPTIONS(item)                                                                       \
    item(PATH, output, NULL, 0, 0, NULL,                                                         \
         "file for the picture: .svg, or .png for spy; else SVG on the standard output, unless " \
         "that is a terminal")                                                                   \
    item(INT, size, "512", 16, 4096, NULL, "of spy: cells along a side at most")                 \
    item(TEXT, precon, "jacobi", 0, 0, NULL, "of sweeps: the preconditioner that runs with it")  \
    item(PATH, method_file, NULL, 0, 0, NULL,                                                    \
         "of sweeps: file with a method of yours, in the place of METHOD")

typedef struct plot_options {
    PLOT_OPTIONS(SPRY_OPTION_FIELD)
} plot_options;

SPRY_OPTION_TABLE(rows, plot_options, PLOT_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct plot_kind plot_kind;

/* What a picture is drawn from, and how it is gathered. */
typedef struct plot_job {
    spry_context *ctx;
    const plot_options *options;
    const plot_kind *kind;
    const char *const *files; /* what follows the kind */
    int count;
    spry_matrix *A;
    density cells;
    spy_level levels[SPY_LEVELS]; /* the first alone */
    magnitudes *values;
    spry_stats stats;
    runs runs;
    bench_data bench;
    char *apart, *fused;
} plot_job;

struct plot_kind {
    const char *name, *takes, *what;
    int least, most; /* operands after the name */
    int (*gather)(plot_job *job);
    void (*draw)(picture *p, const plot_job *job);
};

static int done(const plot_job *job, spry_status status)
{
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(job->ctx, status);
}

/* Faults show in a picture: they are let in. */
static spry_status read_matrix(plot_job *job)
{
    return spry_matrix_read(job->ctx, job->files[0], "duplicates=keep nonfinite=keep", &job->A);
}

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

/* --- spy ---------------------------------------------------------------------------------------*/

static int gather_spy(plot_job *job)
{
    enum { PIXELS = 512 };
    spry_status status = read_matrix(job);
    if (status == SPRY_STATUS_OK)
        status = density_count(job->ctx, job->A, (int)job->options->size, &job->cells);
    const int longer = job->cells.width > job->cells.height ? job->cells.width : job->cells.height;
    const char *to = job->options->output;
    const bool alone = !file_is_stdout(to) && ends_with(to, ".png");
    /* a picture of few cells is enlarged where no viewer will */
    const int scale = alone && longer > 0 && longer < PIXELS ? PIXELS / longer : 1;
    if (status == SPRY_STATUS_OK)
        status = density_level(job->ctx, &job->cells, scale, &job->levels[0]);
    return done(job, status);
}

static void draw_the_spy(picture *p, const plot_job *job)
{
    draw_spy(p, &job->cells, draw_name(job->files[0]), job->levels);
}

/* --- rows, values ------------------------------------------------------------------------------*/

static int gather_rows(plot_job *job)
{
    job->stats = (spry_stats)SPRY_STATS_INIT;
    spry_status status = read_matrix(job);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_stats(job->A, &job->stats);
    return done(job, status);
}

static void draw_the_rows(picture *p, const plot_job *job)
{
    draw_rows(p, &job->stats, draw_name(job->files[0]));
}

static int gather_values(plot_job *job)
{
    spry_status status = read_matrix(job);
    job->values = cli_alloc(sizeof *job->values);
    if (status == SPRY_STATUS_OK)
        status = magnitudes_count(job->ctx, job->A, job->values);
    return done(job, status);
}

static void draw_the_values(picture *p, const plot_job *job)
{
    draw_magnitudes(p, job->values, draw_name(job->files[0]));
}

/* --- convergence, formats, roofline --------------------------------------------------------------
 */

static int gather_runs(plot_job *job)
{
    int exit_status = EXIT_DONE;
    for (int k = 0; k < job->count && exit_status == EXIT_DONE; k++)
        exit_status = runs_read(&job->runs, job->files[k]);
    return exit_status;
}

static void draw_the_runs(picture *p, const plot_job *job)
{
    draw_curves(p, job->runs.curves, job->runs.count);
}

/* Without a file the roof alone, measured now. */
static int gather_bench(plot_job *job)
{
    if (job->count > 0)
        return bench_read(job->files[0], &job->bench);
    job->bench.ceilings = (spry_bandwidth)SPRY_BANDWIDTH_INIT;
    return done(job, spry_device_bandwidth(job->ctx, NULL, false, &job->bench.ceilings));
}

static void draw_the_formats(picture *p, const plot_job *job)
{
    bench_draw(p, &job->bench);
}

static void draw_the_roof(picture *p, const plot_job *job)
{
    bench_draw_roof(p, &job->bench);
}

/* --- sweeps ------------------------------------------------------------------------------------*/

static int gather_sweeps(plot_job *job)
{
    const char *file = job->options->method_file;
    spry_solver *solver = NULL;
    if ((job->count > 0) == (file != NULL))
        return cli_fail(EXIT_INPUT, "plot sweeps takes METHOD or --method-file FILE");
    spry_status status = spry_solver_new(job->ctx, &solver);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, file ? "method_file" : "method",
                                      file ? file : job->files[0]);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set_text(solver, "precon", job->options->precon);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_explain(solver, &job->fused);
    if (status == SPRY_STATUS_OK)
        status = spry_solver_set(solver, "fuse=no");
    if (status == SPRY_STATUS_OK)
        status = spry_solver_explain(solver, &job->apart);
    spry_solver_free(solver);
    return done(job, status);
}

static void draw_the_sweeps(picture *p, const plot_job *job)
{
    char name[512];
    const char *given = job->count > 0 ? job->files[0] : job->fused; /* "name: what it is" */
    const int length = (int)(job->count > 0 ? strlen(given) : strcspn(given, ":\n"));
    snprintf(name, sizeof name, "%.*s, precon %s", length, given, job->options->precon);
    draw_sweeps(p, name, job->apart, job->fused);
}

/* --- all of them -------------------------------------------------------------------------------*/

static const plot_kind kinds[] = {
    {"spy", "A", "where the entries of a matrix are", 1, 1, gather_spy, draw_the_spy},
    {"rows", "A", "how many entries its rows have", 1, 1, gather_rows, draw_the_rows},
    {"values", "A", "how large its entries are", 1, 1, gather_values, draw_the_values},
    {"convergence", "RUN.json...", "how residuals fell", 1, 1000, gather_runs, draw_the_runs},
    {"formats", "BENCH.json", "speeds of products", 1, 1, gather_bench, draw_the_formats},
    {"roofline", "[BENCH.json]", "speeds relative to what memory allows", 0, 1, gather_bench,
     draw_the_roof},
    {"sweeps", "METHOD", "passes over memory of a method", 0, 1, gather_sweeps, draw_the_sweeps},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void kind_names(char words[CLI_WORDS])
{
    for (int k = 0; k < KINDS; k++)
        cli_add_word(words, kinds[k].name);
}

static const plot_kind *find_kind(const char *name)
{
    char words[CLI_WORDS] = "", nearest[CLI_NAME];
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return &kinds[k];
    kind_names(words);
    if (spry_nearest(name, words, nearest, sizeof nearest))
        cli_fail(EXIT_INPUT, "plot has no %s; did you mean %s?", name, nearest);
    else
        cli_fail(EXIT_INPUT, "plot has no %s; there are: %s", name, words);
    return NULL;
}

/* What cannot be written is reported before the work. */
static int check_output(const plot_job *job)
{
    const char *to = job->options->output;
    if (!to && isatty(STDOUT_FILENO))
        return cli_fail(EXIT_INPUT, "a picture is nothing for a terminal: -o FILE.svg writes it to "
                                    "a file, -o - prints its text all the same");
    if (!to || file_is_stdout(to))
        return EXIT_DONE;
    if (ends_with(to, ".png") && job->kind->gather != gather_spy)
        return cli_fail(EXIT_INPUT, "%s: %s is drawn as .svg; only spy is written as .png, too", to,
                        job->kind->name);
    if (!ends_with(to, ".png") && !ends_with(to, ".svg"))
        return cli_fail(EXIT_INPUT, "%s: pictures are written as .svg, spy also as .png", to);
    for (int k = 0; k < job->count; k++)
        if (file_is_same(to, job->files[k]))
            return cli_fail(EXIT_INPUT, "%s: the picture would replace what it is drawn from", to);
    return file_check_text(job->ctx, to);
}

static void write_svg(FILE *out, const void *data)
{
    const plot_job *job = data;
    job->kind->draw(&(picture){.out = out, .alone = true}, job);
}

static int write_picture(const plot_job *job)
{
    const char *to = job->options->output;
    if (!file_is_stdout(to) && ends_with(to, ".png"))
        return done(job, spry_text_write(job->ctx, job->levels[0].png, job->levels[0].size, to));
    return file_write_text(job->ctx, to, write_svg, job);
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const plot_kind *kind = find_kind(a->operands[0]);
    plot_job job = {.ctx = ctx,
                    .options = a->fields[0],
                    .kind = kind,
                    .files = a->operands + 1,
                    .count = a->count - 1};
    if (!kind)
        return EXIT_INPUT;
    if (job.count < kind->least || job.count > kind->most)
        return cli_fail(EXIT_INPUT, "plot %s takes %s: `spry help plot` shows examples", kind->name,
                        kind->takes);
    int exit_status = check_output(&job);
    if (exit_status == EXIT_DONE)
        exit_status = kind->gather(&job);
    if (exit_status == EXIT_DONE)
        exit_status = write_picture(&job);
    spry_free(ctx, job.levels[0].png);
    spry_free(ctx, job.apart);
    spry_free(ctx, job.fused);
    density_free(&job.cells);
    runs_free(&job.runs);
    free(job.bench.records);
    free(job.values);
    spry_matrix_free(job.A);
    return exit_status;
}

const cli_command command_plot = {
    .name = "plot",
    .summary = "draw one picture: a matrix, how residuals fell, speeds, a method's sweeps",
    .synopsis = "spy|rows|values|convergence|formats|roofline|sweeps [FILE...]",
    .description =
        "spy A shows where entries are, by their density at any size; rows A how many entries "
        "rows have; values A how large entries are, those that are NaN among them. convergence "
        "RUN.json... lays the residuals of several runs over each other, from what `spry solve "
        "--json FILE.json` has left. formats BENCH.json and roofline BENCH.json show what `spry "
        "bench --json FILE.json` has measured; roofline alone measures the memory. sweeps METHOD "
        "shows a method's loop as it is written, and as it runs.\n"
        "Pictures are SVG with light and dark colours, as the reader's system asks for; `spry "
        "report` makes a page of all of them.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Reading", cli_read_options, "duplicates nonfinite expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry plot spy A.mtx -o spy.png", "Where the entries of A are."},
            {"spry plot convergence cg.json gmres.json -o c.svg",
             "Two runs over each other, from files of `spry solve --json`."},
            {"spry plot values A.mtx -o values.svg", "How large the entries are."},
            {"spry plot roofline bench.json -o roof.svg", "Speeds of products below what memory "
                                                          "allows."},
            {"spry plot sweeps cg -o cg.svg", "The passes over memory of conjugate gradients."},
            {0}},
    .least = 1,
    .most = 1001,
    .choices = kind_names,
    .run = run,
};
