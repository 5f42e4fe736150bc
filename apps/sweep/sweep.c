/*
 * spry sweep: an application with all combinations of some values of its options, side by side,
 * and one table of what came out. docs/sweep.md describes it.
 */
#include "sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

SPRY_OPTION_TABLE(rows, sweep_options, SWEEP_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

/* Operands are the application's, up to parameters. */
static int take_operands(sweep *s, const cli_arguments *arguments)
{
    int exit_status = application_find(arguments->operands[0], &s->application);
    s->grid.runs = 1;
    s->words = cli_alloc((size_t)arguments->count * sizeof *s->words);
    for (int i = 1; exit_status == EXIT_DONE && i < arguments->count; i++) {
        const char *word = arguments->operands[i];
        if (values_is_parameter(word))
            exit_status = values_add(&s->grid, &s->application, word);
        else
            s->words[s->word_count++] = word;
    }
    if (exit_status == EXIT_DONE && s->grid.count == 0)
        exit_status = cli_fail(EXIT_INPUT, "there is no NAME=VALUES: nothing to sweep");
    return exit_status;
}

static bool is_swept(const sweep *s, const char *option)
{
    for (int i = 0; i < s->grid.count; i++)
        if (strcmp(s->grid.list[i].option->name, option) == 0)
            return true;
    return false;
}

/* Runs have the threads and the memory of the sweep in equal shares, unless they are swept. */
static int share_out(sweep *s)
{
    const int threads = spry_context_threads(s->ctx);
    const int64_t memory = spry_context_memory_limit(s->ctx);
    s->jobs = s->o->jobs > 0 ? (int)s->o->jobs : threads;
    s->jobs = s->jobs < s->grid.runs ? s->jobs : (int)s->grid.runs;
    s->threads = is_swept(s, "threads") ? 0 : threads > s->jobs ? threads / s->jobs : 1;
    s->memory = is_swept(s, "memory-limit") ? 0 : memory / s->jobs;
    s->runs = cli_alloc((size_t)s->grid.runs * sizeof *s->runs);
    memset(s->runs, 0, (size_t)s->grid.runs * sizeof *s->runs);
    const int length = s->o->output
                           ? snprintf(s->folder, sizeof s->folder, "%s", s->o->output)
                           : snprintf(s->folder, sizeof s->folder, "sweep-%s", s->application.name);
    if (length <= 0 || (size_t)length >= sizeof s->folder)
        return cli_fail(EXIT_INPUT, "the name of the folder is empty or too long");
    if (mkdir(s->folder, 0777) != 0 && errno != EEXIST)
        return cli_fail(EXIT_RESOURCES, "%s: %s", text_name(s->folder), strerror(errno));
    return EXIT_DONE;
}

/* What the table leaves out: why runs have failed, one line for those that say the same. */
static void print_failures(const sweep *s)
{
    enum { LINES = 10 };
    int lines = 0;
    for (int64_t run = 0; run < s->grid.runs; run++) {
        const char *message = s->runs[run].message;
        int64_t same = 0;
        bool first = *message && s->runs[run].state == RUN_ENDED;
        for (int64_t k = 0; first && k < s->grid.runs; k++) {
            const bool equal = strcmp(s->runs[k].message, message) == 0;
            first = !(equal && k < run);
            same += equal;
        }
        if (!first)
            continue;
        if (++lines > LINES) {
            printf("...\n");
            return;
        }
        printf("run %lld%s: ", (long long)run + 1,
               same > 1 ? (same == 2 ? " and one more" : " and others") : "");
        text_put(stdout, message);
        putchar('\n');
    }
}

/* The table, and the exit status: the largest of all runs. */
static int finish(sweep *s, int exit_status)
{
    int worst = EXIT_DONE;
    const int written = numbers_write(s);
    for (int64_t run = 0; run < s->grid.runs; run++)
        worst = s->runs[run].exit_status > worst ? s->runs[run].exit_status : worst;
    worst = worst > EXIT_RESOURCES ? EXIT_RESOURCES : worst;
    numbers_print(s);
    print_failures(s);
    printf("%s runs: %s ended, %s from before, %s failed; all numbers in %s/table.csv\n",
           text_count(s->grid.runs), text_count(s->done), text_count(s->kept),
           text_count(s->failed), text_name(s->folder));
    if (exit_status == EXIT_STOPPED)
        cli_fail(EXIT_STOPPED, "stopped; the same command goes on from here");
    return exit_status != EXIT_DONE ? exit_status : written != EXIT_DONE ? written : worst;
}

static int run(spry_context *ctx, const cli_arguments *arguments)
{
    sweep *s = cli_alloc(sizeof *s);
    *s = (sweep){.ctx = ctx, .o = arguments->fields[0]};
    int exit_status = take_operands(s, arguments);
    if (exit_status == EXIT_DONE)
        exit_status = share_out(s);
    if (exit_status == EXIT_DONE) {
        signals_watch(ctx);
        signals_target(NULL); /* the table is the answer */
        progress_start(&s->line, s->o->quiet, 1);
        exit_status = runs_go(s);
        progress_clear(&s->line);
        exit_status = finish(s, exit_status);
        signals_unwatch();
    }
    numbers_free(s);
    values_free(&s->grid);
    free(s->application.options);
    free(s->words);
    free(s);
    return exit_status;
}

const cli_command app_command = {
    .name = "sweep",
    .summary = "an application with many values of its options, side by side, in one table",
    .synopsis = "APPLICATION [ARGUMENTS] NAME=VALUES [NAME=VALUES ...]",
    .description =
        "Runs an application once for each combination of values of its options: NAME=A,B,C or, of "
        "numbers, NAME=FROM:STEP:TO; a value that has commas stands among bars, NAME=A|B. One "
        "value "
        "sets an option of all runs. NAME.KEY=VALUES sweeps a part of an option that is a list of "
        "names with values: bias.gate=0:0.1:0.5 of semi, param.r=1k,2k of circuit. What the "
        "application reads is found as ever; what runs write is in a folder of each.\n"
        "The table has the parameters, the exit status, the seconds and the numbers of the "
        "application's --json. A run that fails is a row. After Ctrl-C, or a kill, the same "
        "command "
        "goes on with runs that have not ended well. The exit status is the largest of all runs.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"All commands", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry sweep ocean wave.txt height=0.01:0.01:0.05", "Five runs of a configuration."},
            {"spry sweep heat poisson order=2,4,6 size=32,64,128 grids=1 --show error",
             "Nine runs; errors in the table."},
            {"spry sweep semi mosfet bias.gate=0:0.1:0.5 bias.drain=0.05,1 -o transfer",
             "Parts of one option."},
            {"spry sweep obstacle ball size=32:32:128 output=u.png --jobs 2",
             "A picture of each run, sweep-obstacle/run-0001/u.png."},
            {0}},
    .least = 2,
    .most = 64,
    .choices = apps_names,
    .run = run,
};
