/* spry tune: which storage format suits a matrix, and the table the choice was made from. */
#include "tune.h"

#include "page.h"

#include <math.h>
#include <string.h>

#define TUNE_COMMAND_OPTIONS(item)                                                        \
    CLI_JSON(item, "print the table")                                                     \
    CLI_PROGRESS(item)                                                                    \
    CLI_REPORT(item)                                                                      \
    item(TEXT, device, "auto", 0, 0, NULL,                                                \
         "where products will be: cpu (auto), or a device, as `spry devices` names them") \
    item(BOOL, forget, "no", 0, 0, NULL,                                                  \
         "drop what is remembered of A, or of all matrices without A, instead")           \
    item(BOOL, all, "no", 0, 0, NULL, "show every format with every option that was looked at")

typedef struct tune_command_options {
    TUNE_COMMAND_OPTIONS(SPRY_OPTION_FIELD)
} tune_command_options;

SPRY_OPTION_TABLE(rows, tune_command_options, TUNE_COMMAND_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

typedef struct tune_data {
    const char *file;
    const char *device; /* "cpu", "cuda:0" */
    bool all;
    int64_t rows, cols, nnz;
    spry_type type;
    spry_tune_report report;
} tune_data;

static void time_cell(table *t, double seconds)
{
    table_cell(t, "%s", seconds > 0 ? text_seconds(seconds) : "-");
}

static void print_table(const tune_data *d, FILE *out)
{
    const spry_tune_report *r = &d->report;
    char head[256];
    snprintf(head, sizeof head,
             "format|>bytes/entry|>forecast|>measured|>times csr|>conversion|>%s products|verdict",
             text_count(r->products));
    table *t = table_new(head);
    for (int64_t i = 0; i < r->count; i++) {
        const spry_tune_row *row = spry_tune_row_at(r, i);
        if (!d->all && !tune_is_shown(r, i))
            continue;
        table_cell(t, "%s", row->format);
        if (row->bytes > 0 && d->nnz > 0)
            table_cell(t, "%.2f", (double)row->bytes / (double)d->nnz);
        else
            table_cell(t, "-");
        time_cell(t, row->model_seconds);
        time_cell(t, row->seconds);
        if (row->seconds > 0)
            table_cell(t, "%.2f", spry_tune_row_at(r, 0)->seconds / row->seconds);
        else
            table_cell(t, "-");
        time_cell(t, row->conversion_seconds);
        time_cell(t, row->total_seconds);
        table_cell(t, "%.60s", tune_verdict(r, row)); /* JSON has all of it */
    }
    table_print(t, out);
}

static const spry_tune_row *chosen_row(const spry_tune_report *r)
{
    for (int64_t i = 0; i < r->count; i++)
        if (strcmp(spry_tune_row_at(r, i)->format, r->format) == 0)
            return spry_tune_row_at(r, i);
    return NULL;
}

static void print_choice(const tune_data *d, FILE *out)
{
    const spry_tune_report *r = &d->report;
    const spry_tune_row *row = chosen_row(r);
    fprintf(out, "choice     %s", r->format);
    if (r->untried)
        fprintf(out, ", not timed: A %s, or products are few; --always times all the same",
                strcmp(d->device, "cpu") == 0 ? "fits the second-level cache" : "is small");
    else if (row && row != r->rows && row->seconds > 0)
        fprintf(out, ": %.2f times as fast as csr, %s in all instead of %s",
                spry_tune_row_at(r, 0)->seconds / row->seconds, text_seconds(row->total_seconds),
                text_seconds(spry_tune_row_at(r, 0)->total_seconds));
    else if (row)
        fputs(", as nothing else is 3% faster, its conversion counted", out);
    fputc('\n', out);
    if (r->remembered)
        fprintf(out, "as found in %s by an earlier run, which took %s; --again measures again\n",
                text_name(r->place), text_seconds(r->seconds));
    else if (!r->untried)
        fprintf(out, "decided in %s, %s%s\n", text_seconds(r->seconds),
                *r->place ? "remembered in " : "not remembered", text_name(r->place));
}

static void print_report(const tune_data *d, FILE *out)
{
    fprintf(out, "%s: %s x %s, %s entries, %s", text_name(d->file), text_count(d->rows),
            text_count(d->cols), text_count(d->nnz), text_type(d->type));
    if (strcmp(d->device, "cpu") != 0)
        fprintf(out, ", on %s", d->device);
    fputc('\n', out);
    if (d->report.count > 0)
        print_table(d, out);
    print_choice(d, out);
}

/* Numbers that are not known are null. */
static void json_known(json *j, const char *key, double value)
{
    if (value > 0)
        json_real(j, key, value);
    else
        json_text(j, key, NULL);
}

static void write_json(FILE *out, const void *data)
{
    const tune_data *d = data;
    const spry_tune_report *r = &d->report;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_text(&j, "file", d->file);
    json_text(&j, "device", d->device);
    json_text(&j, "type", spry_type_name(d->type));
    json_int(&j, "rows", d->rows);
    json_int(&j, "cols", d->cols);
    json_int(&j, "nnz", d->nnz);
    json_text(&j, "format", r->format);
    json_bool(&j, "remembered", r->remembered);
    json_bool(&j, "timed", !r->untried);
    json_int(&j, "products", r->products);
    json_real(&j, "seconds", r->seconds);
    json_text(&j, "place", *r->place ? r->place : NULL);
    json_open(&j, "candidates", '[');
    for (int64_t i = 0; i < r->count; i++) {
        const spry_tune_row *row = spry_tune_row_at(r, i);
        json_open(&j, NULL, '{');
        json_text(&j, "format", row->format);
        json_int(&j, "bytes", row->bytes);
        json_known(&j, "model_seconds", row->model_seconds);
        json_known(&j, "seconds", row->seconds);
        json_known(&j, "conversion_seconds", row->conversion_seconds);
        json_known(&j, "total_seconds", row->total_seconds);
        json_text(&j, "note", tune_verdict(r, row));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static int forget(spry_context *ctx, const spry_matrix *A)
{
    int64_t count = 0;
    const spry_status status = spry_tune_forget(ctx, A, &count);
    if (status != SPRY_STATUS_OK)
        return cli_failed(ctx, status);
    printf("%s file%s dropped\n", text_count(count), count == 1 ? "" : "s");
    return EXIT_DONE;
}

static int tune(spry_context *ctx, const cli_arguments *a, const spry_matrix *A, progress *line)
{
    const tune_command_options *o = a->fields[0];
    spry_device *device = NULL;
    spry_status status = cli_open_device(ctx, o->device, &device);
    tune_data data = {.file = a->operands[0],
                      .device = device ? spry_device_name(device) : "cpu",
                      .all = o->all,
                      .rows = spry_matrix_rows(A),
                      .cols = spry_matrix_cols(A),
                      .nnz = spry_matrix_nnz(A),
                      .type = spry_matrix_type(A)};
    progress_note(line, PHASE_TUNE, "comparing storage formats");
    signals_watch(ctx);
    if (status == SPRY_STATUS_OK)
        status = spry_tune(A, device, NULL, &data.report);
    signals_unwatch();
    progress_clear(line);
    int exit_status = EXIT_DONE;
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    else if (spry_context_interrupted(ctx, true))
        exit_status = cli_fail(EXIT_STOPPED, "stopped before the choice was made");
    if (exit_status == EXIT_DONE && (!o->json || !file_is_stdout(o->json)))
        print_report(&data, stdout);
    if (exit_status == EXIT_DONE && o->json)
        exit_status = file_write_text(ctx, o->json, write_json, &data);
    if (exit_status == EXIT_DONE && o->report)
        exit_status = page_write(&(page){.ctx = ctx,
                                         .arguments = a,
                                         .name = data.file,
                                         .A = A,
                                         .tuned = data.report.count > 0 ? &data.report : NULL,
                                         .place = data.device},
                                 o->report);
    spry_tune_report_clear(ctx, &data.report);
    return exit_status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const tune_command_options *o = a->fields[0];
    spry_matrix *A = NULL;
    int exit_status = file_check_text(ctx, o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    if (a->count == 0)
        return o->forget ? forget(ctx, NULL)
                         : cli_fail(EXIT_INPUT, "tune needs A; `spry help tune` shows examples");
    if (o->json && file_is_same(o->json, a->operands[0]))
        return cli_fail(EXIT_INPUT, "%s: the JSON would replace the matrix", o->json);
    exit_status = page_check(ctx, a, o->report, o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    progress line;
    progress_start_as(&line, o->progress, false, 0);
    progress_note(&line, PHASE_READ, "reading the matrix");
    const spry_status status = spry_matrix_read(ctx, a->operands[0], NULL, &A);
    progress_clear(&line);
    exit_status = status != SPRY_STATUS_OK ? cli_failed(ctx, status)
                  : o->forget              ? forget(ctx, A)
                                           : tune(ctx, a, A, &line);
    progress_finish(&line, 0, NAN);
    spry_matrix_free(A);
    return exit_status;
}

const cli_command command_tune = {
    .name = "tune",
    .summary = "find the storage format that suits a matrix, and show what was compared",
    .synopsis = "[A]",
    .description =
        "What a product reads is forecast for every format with the options worth trying, a model "
        "orders them by time, and the best few are built and timed against CSR. The choice is the "
        "one with the least time for its conversion and --products together; CSR, which needs "
        "none, is left only for what is at least 3% faster. Shorter values are taken only where "
        "they are exactly A's own.\n"
        "The choice is kept in $SPRY_CACHE, else $XDG_CACHE_HOME/spry, else ~/.cache/spry, for "
        "this matrix, processor, number of threads and version: `spry solve` finds it there. An "
        "empty SPRY_CACHE keeps nothing. `spry explain formats` lists the formats.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Tuner", cli_tune_options, NULL},
                                  {"Reading", cli_read_options, "expand"},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry tune A.mtx", "The table and the choice for 1,000 products."},
            {"spry tune A.mtx --products 100000 --budget 200 --again",
             "For a long run, with more time for the comparison."},
            {"spry tune A.mtx --device cuda --products 100000", "For products on a GPU."},
            {"spry tune A.mtx --json table.json", "The table, and all of it in a file."},
            {"spry tune A.mtx --report A.html", "Also as a page with pictures."},
            {"spry tune --forget", "Drops all that is remembered."},
            {0}},
    .most = 1,
    .run = run,
};
