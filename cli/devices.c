/* spry devices: where work can run, and how fast its memory is. */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES_OPTIONS(item)                                                                    \
    CLI_JSON(item, "print the list")                                                             \
    item(BOOL, measure, "yes", 0, 0, NULL, "measure the memory's bandwidth")                     \
    item(BOOL, again, "no", 0, 0, NULL,                                                          \
         "measure again what is remembered of devices from an earlier run")                      \
    item(BOOL, prepare, "no", 0, 0, NULL,                                                        \
         "compile what solves are likely to need and keep it on disk, for CUDA's devices or "    \
         "the one of --device, in the place of the list")                                        \
    item(TEXT, device, "auto", 0, 0, NULL,                                                       \
         "that --prepare is for: cuda:1, opencl; auto: all of CUDA's")                           \
    item(TEXT, types, "d", 0, 0, NULL, "of matrices, that --prepare is for, as [d,s]")           \
    item(TEXT, methods, "", 0, 0, NULL,                                                          \
         "that --prepare is for, as [cg,gmres]; none: those that are taken where none is asked " \
         "for")

typedef struct devices_options {
    DEVICES_OPTIONS(SPRY_OPTION_FIELD)
} devices_options;

SPRY_OPTION_TABLE(rows, devices_options, DEVICES_OPTIONS(SPRY_OPTION_ROW))

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

enum { DEVICES_MOST = 64 };

/* What is shown. */
typedef struct devices_data {
    int count;
    double triad; /* of the host; 0: not measured */
    struct devices_entry {
        spry_device_info info;
        double read; /* 0: not measured */
    } entry[DEVICES_MOST];
} devices_data;

/* Describes all devices and measures them; one that fails to be measured cannot be used. */
static spry_status gather(spry_context *ctx, const devices_options *o, devices_data *data)
{
    spry_bandwidth host = SPRY_BANDWIDTH_INIT;
    const spry_status status =
        o->measure ? spry_device_bandwidth(ctx, NULL, false, &host) : SPRY_STATUS_OK;
    data->triad = host.triad;
    for (int i = 0; status == SPRY_STATUS_OK && i < DEVICES_MOST; i++) {
        struct devices_entry *e = &data->entry[i];
        if (!spry_device_describe(ctx, i, &e->info))
            break;
        data->count++;
        spry_bandwidth found = host;
        if (i > 0 && o->measure && e->info.usable &&
            spry_device_bandwidth(ctx, e->info.name, o->again, &found) != SPRY_STATUS_OK) {
            e->info.usable = false;
            snprintf(e->info.why, sizeof e->info.why, "%.255s", spry_message(ctx));
        }
        e->read = found.read;
    }
    return status;
}

static void cell_rate(table *t, double rate)
{
    table_cell(t, "%s%s", rate > 0 ? text_bytes(rate) : "-", rate > 0 ? "/s" : "");
}

static void print_devices(const devices_data *data)
{
    table *t = table_new("device|processor|>cores|>threads|kernels|>memory|>cache|>read|>triad");
    for (int i = 0; i < data->count; i++) {
        const spry_device_info d = data->entry[i].info;
        if (!d.usable)
            continue;
        table_cell(t, "%s", d.name);
        table_cell(t, "%s", d.description);
        table_cell(t, "%d", d.units);
        if (i == 0) {
            table_cell(t, "%d", d.threads);
            table_cell(t, "%s of: %s", d.isa, d.isa_list);
        } else {
            table_cell(t, "-");
            table_cell(t, "%s", d.driver);
        }
        table_cell(t, "%s", d.memory_bytes ? text_bytes((double)d.memory_bytes) : "?");
        table_cell(t, "%s", d.cache_bytes ? text_bytes((double)d.cache_bytes) : "?");
        cell_rate(t, data->entry[i].read);
        cell_rate(t, i == 0 ? data->triad : 0);
    }
    table_print(t, stdout);
    for (int i = 0; i < data->count; i++) {
        const spry_device_info *d = &data->entry[i].info;
        char line[512];
        snprintf(line, sizeof line, "%s cannot be used: %s", d->name, d->why);
        if (!d->usable)
            text_wrap(stdout, 0, 4, line);
    }
}

static void write_json(FILE *out, const void *given)
{
    const devices_data *data = given;
    json j = {.out = out};
    json_open(&j, NULL, '[');
    for (int i = 0; i < data->count; i++) {
        const spry_device_info d = data->entry[i].info;
        const double read = data->entry[i].read;
        json_open(&j, NULL, '{');
        json_text(&j, "device", d.name);
        json_text(&j, "kind", d.kind);
        json_bool(&j, "usable", d.usable);
        if (!d.usable)
            json_text(&j, "why", d.why);
        json_text(&j, "description", d.description);
        if (i == 0) {
            json_int(&j, "cores", d.cores);
            json_int(&j, "threads", d.threads);
            json_text(&j, "isa", d.isa);
            json_text(&j, "isa_list", d.isa_list);
        } else {
            json_text(&j, "driver", d.driver);
        }
        json_int(&j, "units", d.units);
        json_int(&j, "memory_bytes", d.memory_bytes);
        json_int(&j, "cache_bytes", d.cache_bytes);
        if (read > 0)
            json_real(&j, "read_gbps", read / 1e9);
        if (i == 0 && data->triad > 0)
            json_real(&j, "triad_gbps", data->triad / 1e9);
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

/* --- preparing -----------------------------------------------------------------------------------
 */

static void show_progress(void *data, int done, int all)
{
    char line[96];
    snprintf(line, sizeof line, "%d of %d programs", done, all);
    progress_note(data, PHASE_SETUP, line);
}

static spry_status prepare(spry_context *ctx, const devices_options *o, const char *name)
{
    spry_device *device = NULL;
    progress shown;
    char methods[SPRY_OPTION_TEXT_SIZE];
    int made = 0;
    const double begin = cli_clock();
    snprintf(methods, sizeof methods, "%s", o->methods);
    for (char *c = methods; *c; c++)
        *c = *c == ',' ? ' ' : *c;
    progress_start(&shown, false, 0);
    spry_status status = spry_device_open(ctx, name, &device);
    if (status == SPRY_STATUS_OK)
        status = spry_device_prepare(device, o->types, *methods ? methods : NULL, show_progress,
                                     &shown, &made);
    progress_clear(&shown);
    if (status == SPRY_STATUS_OK)
        printf("%s: %d programs compiled in %s and kept\n", spry_device_name(device), made,
               text_seconds(cli_clock() - begin));
    return status;
}

/* The device that was named, or all of CUDA's. */
static int prepare_all(spry_context *ctx, const devices_options *o)
{
    spry_device_info info = SPRY_DEVICE_INFO_INIT;
    const bool named = strcmp(o->device, "auto") != 0;
    const char *name = named ? o->device : "cuda";
    spry_status status = SPRY_STATUS_OK;
    int count = 0;
    signals_watch(ctx);
    for (int i = 1; !named && status == SPRY_STATUS_OK && i < DEVICES_MOST &&
                    spry_device_describe(ctx, i, &info);
         i++)
        if (info.usable && strcmp(info.kind, name) == 0 && ++count > 0)
            status = prepare(ctx, o, info.name);
    if (count == 0) /* which also reports why there is none */
        status = prepare(ctx, o, name);
    signals_unwatch();
    return status == SPRY_STATUS_OK ? EXIT_DONE : cli_failed(ctx, status);
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const devices_options *o = a->fields[0];
    if (o->prepare)
        return prepare_all(ctx, o);
    int exit_status = file_check_text(ctx, o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    devices_data *data = cli_alloc(sizeof *data);
    const spry_status status = gather(ctx, o, data);
    if (status == SPRY_STATUS_OK && (!o->json || !file_is_stdout(o->json)))
        print_devices(data);
    if (status != SPRY_STATUS_OK)
        exit_status = cli_failed(ctx, status);
    else if (o->json)
        exit_status = file_write_text(ctx, o->json, write_json, data);
    free(data);
    return exit_status;
}

const cli_command command_devices = {
    .name = "devices",
    .summary = "list devices that spry can compute on, and how fast their memory is",
    .synopsis = "",
    .description = "Read is the sum of an array, triad is a = b + s c counted as three transfers; "
                   "both over arrays larger than the cache, on the host with as many threads as "
                   "a solve uses. What a device reads is measured once and remembered. Devices "
                   "that cannot be used follow with the reason.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Machine", cli_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){{"spry devices", "A table."},
                              {"spry devices --again", "After a change of driver or clock."},
                              {"spry devices --threads 1", "What one core gets."},
                              {"spry devices --prepare", "At installation: no first solve waits."},
                              {"spry devices --json --no-measure", "For programs, at once."},
                              {0}},
    .run = run,
};
