/*
 * Products with several columns on a device, C = A B, compared with as many products with one
 * column and cusparseSpMM in the same run:
 *
 *     bench_device_spmm [--device cuda:0] [--formats csr+sell+auto] [--types d]
 * [--widths 1+2+4+8+16+32]
 *                       [--rounds n] [matrix ...]
 *
 * All arrays are in the device's memory. Contenders take turns. GB/s counts A
 * as CSR with 32-bit indices once for every 8 columns, B and C once, for all
 * alike: it compares with the bandwidth and shows how much a format saves.
 */
#include "peers/cuda_peers.h"
#include "peers/device_spry.h"
#include "peers/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32, MOST_SPRY = 8 };

typedef struct options {
    const char *device, *formats, *types, *widths;
    int rounds;
} options;

typedef struct stage {
    const options *o;
    spry_context *ctx;
    spry_device *device;
    cuda_peers peers;
    char text[128];
    spry_matrix *A;
    spry_operator *ops[MOST_SPRY];
    char names[MOST_SPRY][64];
    int count;
    cuda_matrix theirs;
    void *B, *C;
    double bandwidth;
} stage;

/* spry's part in a turn. */
typedef struct part {
    stage *s;
    const spry_operator *op;
    int width;
    bool by_rows;
} part;

/* --- the work
 * ----------------------------------------------------------------------------------*/

static void multiply(void *data)
{
    const part *p = data;
    const stage *s = p->s;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_dense B = {.rows = spry_matrix_cols(s->A),
                    .cols = p->width,
                    .by_rows = p->by_rows,
                    .data = s->B,
                    .device = s->device};
    spry_dense C = {.rows = spry_matrix_rows(s->A),
                    .cols = p->width,
                    .by_rows = p->by_rows,
                    .data = s->C,
                    .device = s->device};
    B.ld = p->by_rows ? p->width : B.rows;
    C.ld = p->by_rows ? p->width : C.rows;
    peer_need(s->ctx, spry_operator_multiply_dense(p->op, SPRY_TRANSPOSE_NO, one, &B, zero, &C));
}

static void finish(void *data)
{
    const part *p = data;
    peer_need(p->s->ctx, device_spry_finish(p->s->device));
}

static void multiply_theirs(void *data)
{
    cuda_spmm(data);
}

static void finish_theirs(void *data)
{
    const cuda_matrix *A = data;
    cuda_peers_finish(A->peers);
}

/* --- a width
 * -----------------------------------------------------------------------------------*/

static double bytes_of(const stage *s, int width)
{
    const double size = (double)spry_type_size(spry_matrix_type(s->A));
    const double rows = (double)spry_matrix_rows(s->A), cols = (double)spry_matrix_cols(s->A);
    const double matrix = (double)spry_matrix_nnz(s->A) * (size + 4) + 4 * (rows + 1);
    const int tiles = (width + 7) / 8;
    return matrix * tiles + (rows + cols) * size * width;
}

static void print_row(const stage *s, const char *who, bool by_rows, int width, double one,
                      double time, double theirs)
{
    const double speed = bytes_of(s, width) / time;
    printf("%-36s %-28s %-8s %5d %10.2f", s->text, who, by_rows ? "rows" : "columns", width,
           time * 1e6);
    if (one > 0)
        printf(" %9.2f", width * one / time);
    else
        printf(" %9s", "");
    printf(" %10.2f %8.1f %8.3f\n", theirs / time, speed / 1e9, speed / s->bandwidth);
    fflush(stdout);
}

/* Each of spry's with one column and with `width`, and the libraries. */
static void run_width(stage *s, int width, bool by_rows)
{
    turn turns[2 * MOST_SPRY + 1];
    part parts[2 * MOST_SPRY];
    const int last = 2 * s->count;
    cuda_spmm_choose(&s->theirs, width, by_rows, s->B, s->C);
    for (int k = 0; k < last; k++) {
        parts[k] = (part){s, s->ops[k / 2], k % 2 ? width : 1, by_rows};
        turns[k] = (turn){.work = multiply, .finish = finish, .data = &parts[k]};
    }
    turns[last] = (turn){.work = multiply_theirs, .finish = finish_theirs, .data = &s->theirs};
    turns_take(turns, last + 1, s->o->rounds, 0.01);
    const double theirs = turns[last].times.median;
    for (int k = 0; k < s->count; k++)
        print_row(s, s->names[k], by_rows, width, turns[2 * k].times.median,
                  turns[2 * k + 1].times.median, theirs);
    char name[64];
    snprintf(name, sizeof name, "cuSPARSE %s", s->theirs.dense.name);
    print_row(s, name, by_rows, width, 0, theirs, theirs);
}

/* --- a matrix
 * ----------------------------------------------------------------------------------*/

static void open_spry(stage *s)
{
    char names[256];
    snprintf(names, sizeof names, "%s", s->o->formats);
    for (char *name = strtok(names, "+"); name && s->count < MOST_SPRY; name = strtok(NULL, "+")) {
        spry_storage storage = SPRY_STORAGE_INIT;
        spry_operator **op = &s->ops[s->count];
        if (device_spry_operator(s->ctx, s->o->device, s->A, name, op) != SPRY_STATUS_OK) {
            printf("%-36s spry %-23s %s\n", s->text, name, spry_message(s->ctx));
            continue;
        }
        peer_need(s->ctx, spry_operator_storage(*op, &storage));
        snprintf(s->names[s->count++], sizeof *s->names, "spry %s%.20s%s%.16s",
                 strcmp(name, "auto") == 0 ? "auto: " : "", storage.format,
                 storage.options[0] ? " " : "", storage.options);
    }
}

static void run_matrix(stage *s, const char *matrix, char type)
{
    snprintf(s->text, sizeof s->text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    spry_matrix *A = peer_matrix(s->ctx, s->text);
    peer_need(s->ctx, spry_matrix_expand(A, &s->A));
    spry_matrix_free(A);
    const peer_arrays a = peer_arrays_of(s->A);
    const size_t size = spry_type_size(a.type);
    if (!cuda_matrix_open(&s->peers, &a, &s->theirs))
        peer_refuse("cuSPARSE does not take this matrix");
    s->B = cuda_room((size_t)a.cols * MOST * size);
    s->C = cuda_room((size_t)a.rows * MOST * size);
    open_spry(s);
    for (int by_rows = 1; by_rows >= 0; by_rows--)
        for (const char *at = s->o->widths; *at; at += strcspn(at, "+"), at += *at == '+') {
            const long width = strtol(at, NULL, 10);
            if (width >= 1 && width <= MOST)
                run_width(s, (int)width, by_rows != 0);
        }
    for (; s->count > 0; s->count--)
        spry_operator_free(s->ops[s->count - 1]);
    cuda_matrix_close(&s->theirs);
    CUDA_MUST(cudaFree(s->B));
    CUDA_MUST(cudaFree(s->C));
    spry_matrix_free(s->A);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=256,points=7", "poisson3d:size=160,points=27",
                            "elasticity:size=80"};
    static stage s;
    options o = {"cuda:0", "csr+sell+auto", "d", "1+2+4+8+16+32", 5};
    const peer_option list[] = {
        {.name = "device", .text = &o.device},  {.name = "formats", .text = &o.formats},
        {.name = "types", .text = &o.types},    {.name = "widths", .text = &o.widths},
        {.name = "rounds", .whole = &o.rounds}, {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    s.o = &o;
    peer_need(s.ctx, spry_context_new(NULL, &s.ctx));
    if (!cuda_peers_open(&s.peers))
        peer_refuse("bench_device_spmm: there is no CUDA device");
    peer_need(s.ctx, spry_device_open(s.ctx, o.device, &s.device));
    s.bandwidth = cuda_read_bandwidth(&s.peers);
    const double own = device_spry_bandwidth(s.ctx, o.device);
    s.bandwidth = own > s.bandwidth ? own : s.bandwidth;
    printf("%s; read bandwidth %.1f GB/s\n", s.peers.device, s.bandwidth / 1e9);
    printf("%-36s %-28s %-8s %5s %10s %9s %10s %8s %8s\n", "matrix", "who", "layout", "width", "us",
           "x single", "x cuSPARSE", "GB/s", "of read");
    for (int m = 0; m < names.count; m++)
        for (const char *type = o.types; *type; type++)
            run_matrix(&s, names.all[m], *type);
    spry_context_free(s.ctx);
    cuda_peers_close(&s.peers);
    return 0;
}
