/* spry bench: how fast products are in each format, as a fraction of what memory gives in the same
 * run. */
#include "bench.h"

#include "listing.h"
#include "page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_OPTIONS(item)                                                                        \
    item(                                                                                          \
        TEXT, format, "csr", 0, 0, "all",                                                          \
        "storage formats to measure, with their options: all, auto, or names with blanks between") \
    item(WORD, type, "auto", 0, 0, "auto s d c z", "type of the numbers")                          \
    item(TEXT, device, "auto", 0, 0, NULL,                                                         \
         "where to compute: cpu (auto), or a device, as `spry devices` names them")                \
    item(INT, repeat, "20", 1, 1e6, NULL, "products to time; the best counts")                     \
    item(INT, columns, "8", 1, 256, NULL, "columns of B, for spmm")                                \
    item(WORD, order, "row", 0, 0, "row column",                                                   \
         "whether rows or columns of B and C lie together")                                        \
    item(PATH, chart, NULL, 0, 0, NULL, "draw the figures, an SVG file")                           \
    CLI_JSON(item, "print the figures")                                                            \
    CLI_PROGRESS(item)                                                                             \
    CLI_REPORT(item)

typedef struct bench_options {
    BENCH_OPTIONS(SPRY_OPTION_FIELD)
} bench_options;

SPRY_OPTION_TABLE(rows, bench_options, BENCH_OPTIONS(SPRY_OPTION_ROW))

/* Larger than most caches, at home in a laptop's memory. */
static const char *const usual[] = {"poisson3d:size=128", "poisson3d:size=96,points=27",
                                    "elasticity:size=36", "random:size=1000000"};
enum { USUAL = sizeof usual / sizeof *usual };

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

/* Whether a name is "kind" or "kind:options" and not a file. */
static bool is_generator(const char *name)
{
    spry_entry kind = SPRY_ENTRY_INIT;
    return access(name, F_OK) != 0 && spry_list_find(SPRY_LIST_GENERATORS, name, &kind);
}

static spry_status get_matrix(spry_context *ctx, const char *name, int type, spry_matrix **A)
{
    char kind[CLI_NAME], options[512], type_text[16] = "";
    size_t length = strcspn(name, ":");
    if (type > 0)
        snprintf(type_text, sizeof type_text, "type=%s", spry_type_name((spry_type)(type - 1)));
    if (!is_generator(name))
        return spry_matrix_read(ctx, name, type_text, A);
    snprintf(kind, sizeof kind, "%.*s", (int)length, name);
    snprintf(options, sizeof options, "%s %s", type_text, name[length] ? name + length + 1 : "");
    return spry_generate(ctx, kind, options, A);
}

static void print_records(const bench_data *d, FILE *out)
{
    table *t = table_new("matrix|>rows|>entries|type|format|>columns|>seconds|>times csr|>GB/s|"
                         ">of read|>bytes/entry|>stored/entry|>convert s|>max error");
    for (int i = 0; i < d->count; i++) {
        const bench_record *r = &d->records[i];
        if (*r->skipped)
            continue;
        table_cell(t, "%s", text_name(r->matrix));
        table_cell(t, "%s", text_count(r->rows));
        table_cell(t, "%s", text_count(r->nnz));
        table_cell(t, "%s", spry_type_name(r->type));
        table_cell(t, "%s%s%s", r->format, *r->params ? ":" : "", r->params);
        table_cell(t, "%d", r->columns);
        table_cell(t, "%.3e", r->seconds);
        if (r->times_csr > 0)
            table_cell(t, "%.2f", r->times_csr);
        else
            table_cell(t, "%s", "");
        table_cell(t, "%.2f", r->gbps);
        table_cell(t, "%.2f", r->fraction_of_read);
        table_cell(t, "%.2f", r->bytes_per_nnz);
        table_cell(t, "%.2f", r->stored_over_nnz);
        table_cell(t, "%.3f", r->convert_seconds);
        table_cell(t, "%.1e", r->max_error);
    }
    table_print(t, out);
    for (int i = 0; i < d->count; i++)
        if (*d->records[i].skipped)
            fprintf(out, "%s, %s: %s\n", text_name(d->records[i].matrix), d->records[i].format,
                    d->records[i].skipped);
    fprintf(out, "ceilings: read %.2f GB/s", d->ceilings.read / 1e9);
    if (d->device)
        fprintf(out, ", on %s\n", spry_device_name(d->device));
    else
        fprintf(out, ", triad %.2f GB/s\n", d->ceilings.triad / 1e9);
}

static void write_json(FILE *out, const void *data)
{
    const bench_data *d = data;
    json j = {.out = out};
    json_open(&j, NULL, '{');
    json_open(&j, "ceilings", '{');
    json_real(&j, "read_gbps", d->ceilings.read / 1e9);
    json_real(&j, "triad_gbps", d->device ? INFINITY : d->ceilings.triad / 1e9);
    json_close(&j, '}');
    json_open(&j, "results", '[');
    for (int i = 0; i < d->count; i++) {
        const bench_record *r = &d->records[i];
        json_open(&j, NULL, '{');
        json_text(&j, "matrix", r->matrix);
        json_text(&j, "format", r->format);
        json_text(&j, "params", r->params);
        json_text(&j, "device", r->device);
        json_text(&j, "type", spry_type_name(r->type));
        json_int(&j, "columns", r->columns);
        json_int(&j, "rows", r->rows);
        json_int(&j, "nnz", r->nnz);
        if (*r->skipped)
            json_text(&j, "skipped", r->skipped);
        json_real(&j, "seconds", r->seconds > 0 ? r->seconds : INFINITY);
        json_real(&j, "gbps", r->gbps);
        json_real(&j, "fraction_of_read", r->fraction_of_read);
        json_real(&j, "bytes_per_nnz", r->bytes_per_nnz);
        json_real(&j, "stored_over_nnz", r->stored_over_nnz);
        json_real(&j, "convert_seconds", r->convert_seconds);
        json_real(&j, "times_csr", r->times_csr > 0 ? r->times_csr : INFINITY);
        json_real(&j, "max_error", r->max_error);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void write_chart(FILE *out, const void *data)
{
    bench_draw(&(picture){.out = out, .alone = true}, data);
}

/* The formats asked for, as words; "all" is CSR and every other. */
static void list_formats(const char *asked, char words[CLI_WORDS])
{
    *words = 0;
    if (strcmp(asked, "all") != 0) {
        snprintf(words, CLI_WORDS, "%s", asked);
        return;
    }
    cli_add_word(words, "csr");
    listing_words(SPRY_LIST_FORMATS, words);
}

/* How many words there are. */
static int count_words(const char *words)
{
    int count = 0;
    for (const char *p = words + strspn(words, " "); *p; p += strspn(p, " ")) {
        p += strcspn(p, " ");
        count++;
    }
    return count;
}

/* Speeds relative to those of plain CSR, if that was measured. */
static void compare(bench_record *records, int count)
{
    double csr = 0;
    for (int i = 0; i < count; i++)
        if (strcmp(records[i].format, "csr") == 0 && !*records[i].params)
            csr = records[i].seconds;
    for (int i = 0; i < count && csr > 0; i++)
        records[i].times_csr = records[i].seconds > 0 ? csr / records[i].seconds : 0;
}

static spry_status measure(spry_context *ctx, const bench_options *o, int columns, const char *name,
                           bench_data *d)
{
    char words[CLI_WORDS], format[CLI_NAME];
    spry_matrix *A = NULL, *csr = NULL;
    const int first = d->count;
    list_formats(o->format, words);
    spry_status status = get_matrix(ctx, name, o->type, &A);
    if (status == SPRY_STATUS_OK && spry_matrix_symmetry(A) != SPRY_SYMMETRY_GENERAL)
        status = spry_matrix_expand(A, &csr);
    bench_job job = {csr ? csr : A, format, d->device, o->repeat, columns, o->order == 0};
    for (const char *p = words + strspn(words, " "); *p && status == SPRY_STATUS_OK;
         p += strspn(p, " ")) {
        bench_record *r = &d->records[d->count];
        snprintf(format, sizeof format, "%.*s", (int)strcspn(p, " "), p);
        p += strcspn(p, " ");
        status = bench_product(ctx, &job, r);
        if (status == SPRY_STATUS_OK) {
            snprintf(r->matrix, sizeof r->matrix, "%s", name);
            snprintf(r->device, sizeof r->device, "%s",
                     d->device ? spry_device_name(d->device) : "cpu");
            d->count++;
        }
    }
    compare(d->records + first, d->count - first);
    spry_matrix_free(A);
    spry_matrix_free(csr);
    return status;
}

/* Measures memory, and keeps the best of the run: other work on the machine only lowers it. */
static spry_status raise_ceilings(spry_context *ctx, const spry_device *device,
                                  spry_bandwidth *ceilings)
{
    spry_bandwidth now = SPRY_BANDWIDTH_INIT;
    const spry_status status =
        spry_device_bandwidth(ctx, device ? spry_device_name(device) : NULL, true, &now);
    if (status == SPRY_STATUS_OK) {
        ceilings->read = now.read > ceilings->read ? now.read : ceilings->read;
        ceilings->triad = now.triad > ceilings->triad ? now.triad : ceilings->triad;
    }
    return status;
}

/* Memory is measured along with every matrix that comes from it, and once at least. */
static spry_status measure_all(spry_context *ctx, const bench_options *o, int columns,
                               const char *const *names, int count, progress *line, bench_data *d)
{
    char text[256];
    spry_device_info device = {0};
    const char *place = d->device ? spry_device_name(d->device) : "cpu";
    for (int i = 0; spry_device_describe(ctx, i, &device); i++)
        if (strcmp(device.name, place) == 0)
            break;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < count && status == SPRY_STATUS_OK; i++) {
        const int first = d->count;
        snprintf(text, sizeof text, "measuring %s, %d of %d", text_name(names[i]), i + 1, count);
        progress_note(line, PHASE_TUNE, text);
        status = measure(ctx, o, columns, names[i], d);
        bool large = false;
        for (int k = first; k < d->count; k++)
            large |= d->records[k].bytes_per_nnz * (double)d->records[k].nnz >
                     (double)device.cache_bytes;
        if (status == SPRY_STATUS_OK && (large || i == count - 1))
            status = raise_ceilings(ctx, d->device, &d->ceilings);
    }
    for (int i = 0; i < d->count; i++)
        d->records[i].fraction_of_read = d->records[i].gbps * 1e9 / d->ceilings.read;
    return status;
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const bench_options *o = a->fields[0];
    const bool spmm = strcmp(a->operands[0], "spmm") == 0;
    char words[CLI_WORDS];
    if (!spmm && strcmp(a->operands[0], "spmv") != 0)
        return cli_fail(EXIT_INPUT, "bench has no %s; there are: spmv spmm", a->operands[0]);
    if (file_check_text(ctx, o->json) != EXIT_DONE || file_check_text(ctx, o->chart) != EXIT_DONE)
        return EXIT_INPUT;
    if (page_check(ctx, a, o->report, o->json) != EXIT_DONE)
        return EXIT_INPUT;
    list_formats(o->format, words);
    int given = a->count - 1, count = given ? given : USUAL;
    bench_data data = {
        .records = cli_alloc((size_t)count * (size_t)count_words(words) * sizeof *data.records)};
    progress line;
    progress_start_as(&line, o->progress, false, 0);
    spry_status status = cli_open_device(ctx, o->device, &data.device);
    if (status == SPRY_STATUS_OK)
        status = measure_all(ctx, o, spmm ? (int)o->columns : 0, given ? a->operands + 1 : usual,
                             count, &line, &data);
    progress_clear(&line);
    int exit_status = EXIT_DONE;
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    else if (!o->json || !file_is_stdout(o->json))
        print_records(&data, stdout);
    if (exit_status == EXIT_DONE && o->json)
        exit_status = file_write_text(ctx, o->json, write_json, &data);
    if (exit_status == EXIT_DONE && o->chart)
        exit_status = file_write_text(ctx, o->chart, write_chart, &data);
    if (exit_status == EXIT_DONE && o->report)
        exit_status =
            page_write(&(page){.ctx = ctx,
                               .arguments = a,
                               .bench = &data,
                               .place = data.device ? spry_device_name(data.device) : "cpu"},
                       o->report);
    progress_finish(&line, 0, NAN);
    free(data.records);
    return exit_status;
}

static void bench_names(char words[CLI_WORDS])
{
    cli_add_word(words, "spmv");
    cli_add_word(words, "spmm");
}

const cli_command command_bench = {
    .name = "bench",
    .summary = "measure products with matrices against the speed of memory",
    .synopsis = "spmv|spmm [MATRIX...]",
    .description =
        "A matrix is a file, or a generator with options after a colon. Without any, four are "
        "made. spmv is the product with a vector, spmm with several columns. Of read is the share "
        "of the read bandwidth that was measured in the same run, with "
        "the least traffic a product can do; it can exceed 1 where the matrix fits in the cache. "
        "On a "
        "device, vectors are on it and its own clock counts. "
        "Max error is the largest error of a row over |A| |x|.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){
            {"spry bench spmv", "Four usual matrices."},
            {"spry bench spmv A.mtx poisson3d:size=100,points=27", "A file and a generated one."},
            {"spry bench spmv --type s --threads 1 --repeat 50",
             "In single precision on one core."},
            {"spry bench spmv --format all A.mtx --chart A.svg",
             "Every storage format, and a chart."},
            {"spry bench spmv --format \"csr sell16:C=32 sym\" A.mtx", "Some, with options."},
            {"spry bench spmv --device cuda --format \"csr sell auto:products=100000\" A.mtx",
             "On a GPU, by its own clock; also the tuner's choice for a long run."},
            {"spry bench spmm --columns 16 --order column",
             "With 16 columns, one after the other."},
            {"spry bench spmv A.mtx --format all --report bench.html",
             "A page with the table, bars and a roofline."},
            {"spry bench spmv --json bench.json", "The table, and the figures in a file."},
            {0}},
    .least = 1,
    .most = 1000,
    .choices = bench_names,
    .run = run,
};
