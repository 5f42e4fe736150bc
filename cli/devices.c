/* spry devices: where work can run, and how fast memory is there. */
#include "output.h"

#define DEVICES_OPTIONS(item)        \
    CLI_JSON(item, "print the list") \
    item(BOOL, measure, "yes", 0, 0, NULL, "measure the memory's bandwidth")

typedef struct devices_options {
    DEVICES_OPTIONS(SPRY_OPTION_FIELD)
} devices_options;

#define OPTION_OWNER devices_options
static const spry_option rows[] = {DEVICES_OPTIONS(SPRY_OPTION_ROW)};
#undef OPTION_OWNER

static spry_option_list own_options(void)
{
    return CLI_LIST(rows);
}

static void print_devices(spry_context *ctx, const spry_bandwidth *bandwidth)
{
    spry_device_info d;
    table *t = table_new("device|processor|>cores|>threads|kernels|>memory|>cache|>read|>triad");
    for (int i = 0; spry_device_describe(ctx, i, &d); i++) {
        table_cell(t, "%s", d.name);
        table_cell(t, "%s", d.description);
        table_cell(t, "%d", d.cores);
        table_cell(t, "%d", d.threads);
        table_cell(t, "%s of: %s", d.isa, d.isa_list);
        table_cell(t, "%s", d.memory_bytes ? text_bytes((double)d.memory_bytes) : "?");
        table_cell(t, "%s", d.cache_bytes ? text_bytes((double)d.cache_bytes) : "?");
        table_cell(t, "%s%s", bandwidth ? text_bytes(bandwidth->read) : "-", bandwidth ? "/s" : "");
        table_cell(t, "%s%s", bandwidth ? text_bytes(bandwidth->triad) : "-",
                   bandwidth ? "/s" : "");
    }
    table_print(t, stdout);
}

typedef struct devices_data {
    spry_context *ctx;
    const spry_bandwidth *bandwidth; /* NULL: not measured */
} devices_data;

static void write_json(FILE *out, const void *data)
{
    spry_context *ctx = ((const devices_data *)data)->ctx;
    const spry_bandwidth *bandwidth = ((const devices_data *)data)->bandwidth;
    spry_device_info d;
    json j = {.out = out};
    json_open(&j, NULL, '[');
    for (int i = 0; spry_device_describe(ctx, i, &d); i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "device", d.name);
        json_text(&j, "description", d.description);
        json_int(&j, "cores", d.cores);
        json_int(&j, "threads", d.threads);
        json_text(&j, "isa", d.isa);
        json_text(&j, "isa_list", d.isa_list);
        json_int(&j, "memory_bytes", d.memory_bytes);
        json_int(&j, "cache_bytes", d.cache_bytes);
        if (bandwidth) {
            json_real(&j, "read_gbps", bandwidth->read / 1e9);
            json_real(&j, "triad_gbps", bandwidth->triad / 1e9);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

static int run(spry_context *ctx, const cli_arguments *a)
{
    const devices_options *o = a->fields[0];
    spry_bandwidth bandwidth;
    int exit_status = file_check_text(ctx, o->json);
    if (exit_status != EXIT_DONE)
        return exit_status;
    spry_status status = o->measure ? spry_device_bandwidth(ctx, &bandwidth) : SPRY_OK;
    if (status != SPRY_OK)
        return cli_failed(ctx, status);
    devices_data data = {ctx, o->measure ? &bandwidth : NULL};
    if (!o->json || !file_is_stdout(o->json))
        print_devices(ctx, data.bandwidth);
    return o->json ? file_write_text(ctx, o->json, write_json, &data) : EXIT_DONE;
}

const cli_command command_devices = {
    .name = "devices",
    .summary = "list where spry can compute, and how fast memory is there",
    .synopsis = "",
    .description = "Read is the sum of an array, triad is a = b + s c counted as three transfers; "
                   "both over arrays larger than the cache, with as many threads as a solve uses.",
    .groups = (const cli_group[]){{"Options", own_options, NULL},
                                  {"Machine", spry_context_options, NULL},
                                  {0}},
    .examples =
        (const cli_example[]){{"spry devices", "A table."},
                              {"spry devices --threads 1", "What one core gets."},
                              {"spry devices --json --no-measure", "For programs, at once."},
                              {0}},
    .run = run,
};
