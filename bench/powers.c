/*
 * usage: bench_powers [-k K] [-n TURNS] [-d DEVICE] [-o OPTIONS] KIND [GENERATOR OPTIONS]
 *        bench_powers [-k K] [-n TURNS] [-o OPTIONS] FILE.spry
 *        bench_powers [-k K] [-n TURNS] [-o OPTIONS] -g GRID TEXT [STENCIL OPTIONS]
 * Powers A x, ..., A^k x compared with k products: of a generated matrix in memory, of one that
 * stays in its file, of one that a device (cuda, opencl:1) is too small for:
 * SPRY_DEVICE_MEMORY=BYTES makes it so; shares are of the device's bandwidth then; or of an
 * operator of differences on a grid, "-laplace". With -c 1 seconds are those of the processor, for
 * machines that have other work to do. Both take turns; printed are the median of the ratios, and
 * of the seconds, with the forecast, and the share that the bytes which have to be moved have in
 * those that plain reading moves in that time. A line for each k of 2, 4, 8, 16, or for K alone.
 *
 * Compare the source's table 6.1 (a GPU's memory before the host's, a quarter of A in it):
 * 2d-9pt 4.98 (k = 34), cant 5.7 (k = 14), pwtk 4.92 (k = 15), all matrices 2.85 to 5.7.
 */
#include "peers/peer.h"

#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = SPRY_POWERS_MOST, TURNS = 64 };

typedef struct bench {
    spry_context *ctx;
    spry_matrix *A; /* NULL: the file, or the grid's operator */
    spry_operator *stencil;
    const char *path; /* of the file */
    bool processor;   /* seconds are its own */
    const char *options, *place;
    spry_device *device; /* NULL: the host */
    int turns;
    double read; /* bytes per second */
} bench;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int n, double *numbers)
{
    qsort(numbers, (size_t)n, sizeof *numbers, compare);
    return n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

static spry_powers *make(const bench *b, int k, const char *more)
{
    char options[512];
    spry_powers *p = NULL;
    snprintf(options, sizeof options, "k=%d device=%s %s %s", k, b->place, b->options, more);
    peer_need(b->ctx, b->stencil ? spry_powers_from_operator(b->stencil, options, &p)
                      : b->A     ? spry_powers_new(b->A, options, &p)
                                 : spry_powers_open(b->ctx, b->path, options, &p));
    return p;
}

static double now(const bench *b)
{
    return b->processor ? (double)clock() / CLOCKS_PER_SEC : peer_seconds();
}

static double seconds_of(const bench *b, spry_powers *p, const spry_vector *x, spry_vector **v)
{
    double seconds = 0;
    const double begin = now(b);
    if (b->device)
        peer_need(b->ctx, spry_device_mark(b->device));
    peer_need(b->ctx, spry_powers_apply(p, x, v));
    if (b->device)
        peer_need(b->ctx, spry_device_elapsed(b->device, &seconds)); /* which waits */
    return now(b) - begin;
}

static void line(const bench *b, int k)
{
    spry_powers_info info = SPRY_POWERS_INFO_INIT, after = SPRY_POWERS_INFO_INIT;
    spry_vector *x = NULL, *v[MOST] = {NULL};
    double plain_seconds[TURNS], seconds[TURNS], ratio[TURNS];
    const double begin = peer_seconds();
    spry_powers *p = make(b, k, "");
    const double made = peer_seconds() - begin;
    /* On a device both would take memory at once: products are what depth=1 makes. */
    spry_powers *plain = make(b, k, "schedule=plain cut=rows");
    int64_t n = b->A ? spry_matrix_rows(b->A) : 0;
    spry_type type = b->A ? spry_matrix_type(b->A) : SPRY_TYPE_D;
    if (!b->A) {
        spry_operator *op = NULL;
        peer_need(b->ctx, spry_powers_operator(p, &op));
        n = spry_operator_rows(op);
        type = spry_operator_type(op);
        spry_operator_free(op);
    }
    peer_need(b->ctx, b->device ? spry_vector_on(b->device, type, n, NULL, &x)
                                : spry_vector_new(b->ctx, type, n, NULL, SPRY_OWN_COPY, &x));
    peer_need(b->ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
    for (int j = 0; j < k; j++)
        peer_need(b->ctx, spry_vector_like(x, n, &v[j]));
    peer_need(b->ctx, spry_powers_apply(p, x, v)); /* pages are mapped then */
    peer_need(b->ctx, spry_powers_forecast(p, &info));
    for (int t = 0; t < b->turns; t++) {
        plain_seconds[t] = seconds_of(b, plain, x, v);
        seconds[t] = seconds_of(b, p, x, v);
        ratio[t] = plain_seconds[t] / seconds[t];
    }
    peer_need(b->ctx, spry_powers_forecast(p, &after));
    const double best = median(b->turns, seconds);
    printf("%3d %-8s %-5s %5d %7lld %6.2f %9.4f %9.4f %6.2f %6.2f %8.3f", k, info.schedule,
           info.cut, info.depth, (long long)info.parts, info.gain, median(b->turns, plain_seconds),
           best, median(b->turns, ratio), (double)info.bytes / best / b->read, made);
    if (b->path)
        printf("  %.0f MB/s read", (double)(after.read_bytes - info.read_bytes) /
                                       (after.read_seconds - info.read_seconds) * 1e-6);
    printf("\n");
    spry_powers_free(p);
    spry_powers_free(plain);
    spry_vector_free(x);
    for (int j = 0; j < k; j++)
        spry_vector_free(v[j]);
}

static spry_operator *stencil(spry_context *ctx, const char *text, const char *what,
                              const char *options)
{
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    peer_need(ctx, spry_operator_stencil(grid, what, options, 0, NULL, NULL, &A));
    spry_grid_free(grid);
    return A;
}

int main(int argc, char **argv)
{
    bench b = {.options = "", .place = "cpu", .turns = 5};
    spry_bandwidth bandwidth = SPRY_SIZED(spry_bandwidth);
    const char *grid = NULL;
    int only = 0, at = 1;
    for (; at + 1 < argc && argv[at][0] == '-' && strlen(argv[at]) == 2; at += 2) {
        if (argv[at][1] == 'k')
            only = atoi(argv[at + 1]);
        else if (argv[at][1] == 'n')
            b.turns = atoi(argv[at + 1]);
        else if (argv[at][1] == 'd')
            b.place = argv[at + 1];
        else if (argv[at][1] == 'g')
            grid = argv[at + 1];
        else if (argv[at][1] == 'c')
            b.processor = atoi(argv[at + 1]) != 0;
        else
            b.options = argv[at + 1];
    }
    b.turns = b.turns < 1 ? 1 : b.turns > TURNS ? TURNS : b.turns;
    const char *what = at < argc ? argv[at] : "poisson2d";
    const size_t length = strlen(what);
    peer_need(NULL, spry_context_new(NULL, &b.ctx));
    if (strcmp(b.place, "cpu") != 0)
        peer_need(b.ctx, spry_device_open(b.ctx, b.place, &b.device));
    peer_need(b.ctx, spry_device_bandwidth(b.ctx, b.device ? b.place : NULL, true, &bandwidth));
    b.read = bandwidth.read;
    if (grid)
        b.stencil = stencil(b.ctx, grid, at < argc ? what : "-laplace",
                            at + 1 < argc ? argv[at + 1] : NULL);
    else if (length > 5 && strcmp(what + length - 5, ".spry") == 0)
        b.path = what;
    else
        peer_need(b.ctx, spry_generate(b.ctx, what,
                                       at + 1 < argc ? argv[at + 1] : "size=4000 points=9", &b.A));
    printf("%s: reading %.1f GB/s\n", what, b.read * 1e-9);
    printf("  k schedule cut   depth   parts   gain   plain s  powers s  ratio  share   made s\n");
    for (int k = 2; k <= MOST; k *= 2)
        if (only == 0 || k == 2)
            line(&b, only ? only : k);
    spry_operator_free(b.stencil);
    spry_matrix_free(b.A);
    spry_context_free(b.ctx);
    return 0;
}
