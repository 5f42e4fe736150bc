/*
 * The time to store a matrix on a device in a format, and of one product on it, by engine:
 *
 *     bench_device_engines [--devices cuda:0+opencl:0] [--formats csr+sell]
 * [--types d] [--rounds n] [matrix ...]
 *
 * "store s" is the time from CSR arrays on the host to an operator ready on the
 * device, the second time, when nothing is compiled; "convert" what that is
 * beyond the first format's, in products of the format. Products of all devices
 * and formats take turns. "x first": how many times as long as on the first
 * device.
 */
#include "peers/device_spry.h"
#include "peers/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

typedef struct entry {
    spry_context *ctx;
    spry_device *device;
    char where[32], format[64];
    spry_operator *op;
    spry_vector *x, *y;
    double stored; /* seconds */
} entry;

static void multiply(void *data)
{
    const entry *e = data;
    peer_need(e->ctx, spry_operator_apply(e->op, e->x, e->y));
}

static void finish(void *data)
{
    const entry *e = data;
    peer_need(e->ctx, device_spry_finish(e->device));
}

/* Makes the operator twice, of which the second counts; false where it cannot
 * be made. */
static bool open_entry(entry *e, const spry_matrix *A)
{
    for (int k = 0; k < 2; k++) {
        spry_operator_free(e->op);
        e->op = NULL;
        const double begin = peer_seconds();
        if (device_spry_operator(e->ctx, e->where, A, e->format, &e->op) != SPRY_STATUS_OK)
            return false;
        peer_need(e->ctx, device_spry_finish(e->device));
        e->stored = peer_seconds() - begin;
    }
    const spry_type type = spry_matrix_type(A);
    peer_need(e->ctx, spry_vector_on(e->device, type, spry_matrix_cols(A), NULL, &e->x));
    peer_need(e->ctx, spry_vector_on(e->device, type, spry_matrix_rows(A), NULL, &e->y));
    peer_need(e->ctx, spry_vector_fill(e->x, (spry_scalar){1, 0}));
    return true;
}

static int open_all(spry_context *ctx, const char *text, const spry_matrix *A, const char *devices,
                    const char *formats, entry *entries)
{
    char names[256], *save = NULL;
    int count = 0;
    snprintf(names, sizeof names, "%s", devices);
    for (char *name = strtok_r(names, "+", &save); name; name = strtok_r(NULL, "+", &save)) {
        spry_device *device = NULL;
        if (spry_device_open(ctx, name, &device) != SPRY_STATUS_OK) {
            printf("%-36s %-10s %s\n", text, name, spry_message(ctx));
            continue;
        }
        char specs[256], *place = NULL;
        snprintf(specs, sizeof specs, "%s", formats);
        for (char *spec = strtok_r(specs, "+", &place); spec && count < MOST;
             spec = strtok_r(NULL, "+", &place)) {
            entry *e = &entries[count];
            *e = (entry){.ctx = ctx, .device = device};
            snprintf(e->where, sizeof e->where, "%s", name);
            snprintf(e->format, sizeof e->format, "%s", spec);
            if (open_entry(e, A))
                count++;
            else
                printf("%-36s %-10s %-16s %s\n", text, name, spec, spry_message(ctx));
        }
    }
    return count;
}

/* The same format on the first device; the first format on the same device. */
static const entry *find(const entry *entries, const entry *e, bool same_format)
{
    const entry *found = entries;
    while (strcmp(same_format ? found->format : found->where, same_format ? e->format : e->where) !=
           0)
        found++;
    return found;
}

static void run_matrix(spry_context *ctx, const char *matrix, char type, const char *devices,
                       const char *formats, int rounds)
{
    static entry entries[MOST];
    turn turns[MOST];
    char text[128];
    snprintf(text, sizeof text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    spry_matrix *A = peer_matrix(ctx, text);
    const int count = open_all(ctx, text, A, devices, formats, entries);
    for (int k = 0; k < count; k++)
        turns[k] = (turn){.work = multiply, .finish = finish, .data = &entries[k]};
    turns_take(turns, count, rounds, 0.02);
    for (int k = 0; k < count; k++) {
        const entry *e = &entries[k];
        const double time = turns[k].times.median, base = find(entries, e, false)->stored;
        const double bytes = (double)spry_operator_bytes(e->op);
        printf("%-36s %-10s %-16s %9.4f %9.1f %10.2f %8.1f %8.3f\n", text, e->where, e->format,
               e->stored, (e->stored - base) / time, time * 1e6, bytes / time / 1e9,
               time / turns[find(entries, e, true) - entries].times.median);
    }
    fflush(stdout);
    for (int k = 0; k < count; k++) {
        spry_vector_free(entries[k].x);
        spry_vector_free(entries[k].y);
        spry_operator_free(entries[k].op);
    }
    spry_matrix_free(A);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=256,points=7", "poisson3d:size=160,points=27"};
    const char *devices = "cuda:0+opencl:0", *formats = "csr+sell", *types = "d";
    int rounds = 7;
    const peer_option list[] = {
        {.name = "devices", .text = &devices},
        {.name = "formats", .text = &formats},
        {.name = "types", .text = &types},
        {.name = "rounds", .whole = &rounds},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    spry_context *ctx = NULL;
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    printf("%-36s %-10s %-16s %9s %9s %10s %8s %8s\n", "matrix", "device", "format", "store s",
           "convert", "us", "GB/s", "x first");
    for (int m = 0; m < names.count; m++)
        for (const char *type = types; *type; type++)
            run_matrix(ctx, names.all[m], *type, devices, formats, rounds);
    spry_context_free(ctx);
    return 0;
}
