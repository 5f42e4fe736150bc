/*
 * SpMV on a device in every format, compared with cuSPARSE in the same run:
 *
 *     bench_device_spmv [--device cuda:0] [--formats csr+sell+...] [--types d]
 * [--rounds n] [--values own|arbitrary] [matrix ...]
 *
 * Contenders take turns; all arrays are in the device's memory. cuSPARSE is the
 * fastest of its ways for the matrix (CSR by three algorithms, sliced ELL,
 * block CSR). GB/s and its share of the read bandwidth count CSR with 32-bit
 * indices, x and y once, for all alike: a format that stores less can be
 * beyond 1. "store s": from the host's CSR to the first product on the device, with what has to be
 * compiled. --values arbitrary multiplies rows and columns by numbers that differ: constant
 * coefficients let formats leave out or shorten values, arbitrary ones do not.
 */
#include "peers/cuda_peers.h"
#include "peers/device_spry.h"
#include "peers/turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 48 };

typedef struct options {
    const char *device, *formats, *types, *values;
    int rounds;
} options;

/* One of spry's formats. */
typedef struct entry {
    spry_context *ctx;
    spry_device *device;
    char name[64];
    spry_operator *op;
    spry_vector *x, *y; /* the stage's */
    double stored;
} entry;

typedef struct stage {
    const options *o;
    spry_context *ctx;
    spry_device *device;
    cuda_peers peers;
    bool has_peers;
    char text[128];
    spry_matrix *A;
    spry_vector *x, *y;
    entry entries[MOST];
    int count;
    cuda_matrix theirs;
    double bandwidth;
    double logs[2]; /* sums of logarithms: how much faster auto and the best are
                       than cuSPARSE */
    int matrices;
} stage;

/* --- the work
 * ----------------------------------------------------------------------------------*/

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

static void multiply_theirs(void *data)
{
    stage *s = data;
    cuda_spmv(&s->theirs, 1, spry_vector_data_const(s->x), 0, spry_vector_data(s->y));
}

static void finish_theirs(void *data)
{
    stage *s = data;
    cuda_peers_finish(&s->peers);
}

/* --- the table
 * ---------------------------------------------------------------------------------*/

static double bytes_of(const stage *s)
{
    const double size = (double)spry_type_size(spry_matrix_type(s->A));
    const double rows = (double)spry_matrix_rows(s->A), cols = (double)spry_matrix_cols(s->A);
    return (double)spry_matrix_nnz(s->A) * (size + 4) + 4 * (rows + 1) + (rows + cols) * size;
}

static void print_row(const stage *s, const turn *t, double theirs, double stored)
{
    const double speed = bytes_of(s) / t->times.median;
    printf("%-36s %-36s %10.2f %10.2f %8.1f %8.3f", s->text, t->name, t->times.median * 1e6,
           t->times.best * 1e6, speed / 1e9, speed / s->bandwidth);
    if (theirs > 0)
        printf(" %10.2f", theirs / t->times.median);
    if (stored > 0)
        printf(" %9.3f", stored);
    printf("\n");
}

static void run_turns(stage *s)
{
    static turn turns[MOST + 1];
    const int all = s->count + s->has_peers;
    for (int k = 0; k < s->count; k++) {
        turns[k] = (turn){.work = multiply, .finish = finish, .data = &s->entries[k]};
        snprintf(turns[k].name, sizeof turns[k].name, "spry %.58s", s->entries[k].name);
    }
    if (s->has_peers) {
        cuda_spmv_choose(&s->theirs, spry_vector_data_const(s->x), spry_vector_data(s->y));
        turns[s->count] = (turn){.work = multiply_theirs, .finish = finish_theirs, .data = s};
        snprintf(turns[s->count].name, sizeof turns->name, "cuSPARSE %s",
                 s->theirs.ways[s->theirs.best].name);
    }
    turns_take(turns, all, s->o->rounds, 0.01);
    const double theirs = s->has_peers ? turns[s->count].times.median : 0;
    double best = 1e30, tuned = 0;
    for (int k = 0; k < all; k++) {
        const double time = turns[k].times.median;
        print_row(s, &turns[k], theirs, k < s->count ? s->entries[k].stored : 0);
        best = k < s->count && time < best ? time : best;
        tuned = strncmp(turns[k].name, "spry auto", 9) == 0 ? time : tuned;
    }
    for (int w = 0; s->has_peers && w < s->theirs.way_count; w++)
        printf("#   cuSPARSE %-16s %10.2f us\n", s->theirs.ways[w].name,
               s->theirs.ways[w].seconds * 1e6);
    fflush(stdout);
    if (theirs > 0 && s->count > 0) {
        s->logs[0] += log(theirs / (tuned > 0 ? tuned : best));
        s->logs[1] += log(theirs / best);
        s->matrices++;
    }
}

/* --- a matrix
 * ----------------------------------------------------------------------------------*/

static void open_entry(stage *s, const char *format)
{
    entry *e = &s->entries[s->count];
    spry_storage storage = SPRY_STORAGE_INIT;
    *e = (entry){.ctx = s->ctx, .device = s->device, .x = s->x, .y = s->y};
    const double begin = peer_seconds();
    if (device_spry_operator(s->ctx, s->o->device, s->A, format, &e->op) != SPRY_STATUS_OK ||
        spry_operator_apply(e->op, e->x, e->y) != SPRY_STATUS_OK) {
        printf("%-36s spry %-31s %.120s\n", s->text, format, spry_message(s->ctx));
        spry_operator_free(e->op);
        return;
    }
    e->stored = peer_seconds() - begin;
    peer_need(s->ctx, spry_operator_storage(e->op, &storage));
    snprintf(e->name, sizeof e->name, "%s%.16s%s%.32s", strcmp(format, "auto") == 0 ? "auto: " : "",
             storage.format, storage.options[0] ? ":" : "", storage.options);
    s->count++;
}

/* Numbers between 1 and 2, no two alike. */
static spry_vector *factors_apart(const stage *s, int64_t n)
{
    const spry_type type = spry_matrix_type(s->A);
    spry_vector *doubles = NULL, *v = NULL;
    peer_need(s->ctx, spry_vector_new(s->ctx, SPRY_TYPE_D, n, NULL, SPRY_OWN_COPY, &doubles));
    peer_need(s->ctx, spry_vector_new(s->ctx, type, n, NULL, SPRY_OWN_COPY, &v));
    double *numbers = spry_vector_data(doubles);
    for (int64_t i = 0; i < n; i++) {
        const double place = (double)(i + 1) * 0.6180339887498949;
        numbers[i] = 1 + place - floor(place);
    }
    peer_need(s->ctx, spry_vector_copy(doubles, v));
    spry_vector_free(doubles);
    return v;
}

static void make_values_arbitrary(stage *s)
{
    spry_vector *left = factors_apart(s, spry_matrix_rows(s->A));
    spry_vector *right = factors_apart(s, spry_matrix_cols(s->A));
    peer_need(s->ctx, spry_matrix_scale(s->A, left, right));
    spry_vector_free(left);
    spry_vector_free(right);
}

static void run_matrix(stage *s, const char *matrix, char type)
{
    char names[512], *save = NULL;
    snprintf(s->text, sizeof s->text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    spry_matrix *A = peer_matrix(s->ctx, s->text);
    peer_need(s->ctx, spry_matrix_expand(A, &s->A));
    spry_matrix_free(A);
    if (strcmp(s->o->values, "arbitrary") == 0)
        make_values_arbitrary(s);
    const peer_arrays a = peer_arrays_of(s->A);
    peer_need(s->ctx, spry_vector_on(s->device, a.type, a.cols, NULL, &s->x));
    peer_need(s->ctx, spry_vector_on(s->device, a.type, a.rows, NULL, &s->y));
    peer_need(s->ctx, spry_vector_fill(s->x, (spry_scalar){1, 0}));
    peer_need(s->ctx, device_spry_finish(s->device));
    const bool had_peers = s->has_peers;
    s->has_peers = had_peers && cuda_matrix_open(&s->peers, &a, &s->theirs);
    snprintf(names, sizeof names, "%s", s->o->formats);
    for (char *name = strtok_r(names, "+", &save); name && s->count < MOST;
         name = strtok_r(NULL, "+", &save))
        open_entry(s, name);
    if (s->count > 0 || s->has_peers)
        run_turns(s);
    for (; s->count > 0; s->count--)
        spry_operator_free(s->entries[s->count - 1].op);
    if (s->has_peers)
        cuda_matrix_close(&s->theirs);
    s->has_peers = had_peers;
    spry_vector_free(s->x);
    spry_vector_free(s->y);
    spry_matrix_free(s->A);
}

static void run(stage *s, char **matrices, int count)
{
    peer_need(s->ctx, spry_context_new(NULL, &s->ctx));
    s->has_peers = strncmp(s->o->device, "cuda", 4) == 0 && cuda_peers_open(&s->peers);
    peer_need(s->ctx, spry_device_open(s->ctx, s->o->device, &s->device));
    s->bandwidth = device_spry_bandwidth(s->ctx, s->o->device);
    const double blas = s->has_peers ? cuda_read_bandwidth(&s->peers) : 0;
    printf("%s; read bandwidth %.1f GB/s by spry, %.1f by cuBLAS's asum; the "
           "larger counts\n",
           s->has_peers ? s->peers.device : s->o->device, s->bandwidth / 1e9, blas / 1e9);
    s->bandwidth = blas > s->bandwidth ? blas : s->bandwidth;
    printf("%-36s %-36s %10s %10s %8s %8s %10s %9s\n", "matrix", "who", "us", "(best)", "GB/s",
           "of read", "x cuSPARSE", "store s");
    for (int m = 0; m < count; m++)
        for (const char *type = s->o->types; *type; type++)
            run_matrix(s, matrices[m], *type);
    if (s->matrices > 0)
        printf("geometric means over %d matrices, times as fast as cuSPARSE: auto "
               "%.3f, the best "
               "format of each %.3f\n",
               s->matrices, exp(s->logs[0] / s->matrices), exp(s->logs[1] / s->matrices));
    spry_context_free(s->ctx);
    cuda_peers_close(&s->peers);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=256,points=7", "poisson3d:size=160,points=27",
                            "elasticity:size=80",          "random:size=4000000",
                            "rmat:size=4000000",           "tridiagonal:size=20000000"};
    static stage s;
    options o = {"cuda:0",
                 "csr+csr16+merge+sell+sell16+ell+ellr+ellr-t+hyb+dia+crf+bsr+"
                 "pcsr+scoo+pb+axc+axt+auto",
                 "d", "own", 7};
    const peer_option list[] = {
        {.name = "device", .text = &o.device},  {.name = "formats", .text = &o.formats},
        {.name = "types", .text = &o.types},    {.name = "values", .text = &o.values},
        {.name = "rounds", .whole = &o.rounds}, {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    s.o = &o;
    run(&s, names.all, names.count);
    return 0;
}
