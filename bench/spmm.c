/*
 * Products with several columns, C = A B, of every width, format and layout, compared with as many
 * products with one column in the same run and other libraries on the same arrays:
 *
 *     bench_spmm [--formats csr+sell:C=8+...] [--threads n] [--repeat n] [--type t] [matrix ...]
 *
 * GB/s counts the arrays of A once for every tile of columns, B and C once.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stage {
    spry_context *ctx;
    char text[256];
    spry_matrix *A;
    spry_operator *op;
    const peer *peer; /* NULL: spry */
    void *state;
    spry_dense B, C;
    int threads, repeat;
    double read;
} stage;

static void multiply_dense(void *data)
{
    const stage *s = data;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    if (s->peer)
        s->peer->multiply_dense(s->state, &s->B, &s->C);
    else
        peer_need(s->ctx,
                  spry_operator_multiply_dense(s->op, SPRY_TRANSPOSE_NO, one, &s->B, zero, &s->C));
}

/* One column: B and C are by columns of width 1 then. */
static void multiply_one(void *data)
{
    const stage *s = data;
    if (s->peer)
        s->peer->multiply(s->state, s->B.data, s->C.data);
    else
        multiply_dense(data);
}

static void set_width(stage *s, int width, bool by_rows)
{
    s->B.cols = s->C.cols = width;
    s->B.by_rows = s->C.by_rows = by_rows;
    s->B.ld = by_rows ? width : s->B.rows;
    s->C.ld = by_rows ? width : s->C.rows;
}

/* Arrays of A for every 8 real or 4 complex columns, B and C once. */
static double bytes_of(const stage *s, int width)
{
    const spry_type type = spry_matrix_type(s->A);
    const int tile = spry_type_is_complex(type) ? 4 : 8;
    const double vectors = (double)(s->B.rows + s->C.rows) * (double)spry_type_size(type);
    const double own = (double)spry_operator_bytes(s->op) - vectors;
    return own * ((width + tile - 1) / tile) + vectors * width;
}

static void run_widths(stage *s, const char *who)
{
    static const int widths[] = {1, 2, 4, 8, 16, 32};
    set_width(s, 1, false);
    for (int by_rows = 1; by_rows >= 0; by_rows--)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
            set_width(s, 1, false);
            const double one = peer_time(multiply_one, s, s->repeat).best;
            set_width(s, widths[w], by_rows != 0);
            const peer_times t = peer_time(multiply_dense, s, s->repeat);
            const double speed = bytes_of(s, widths[w]) / t.best;
            printf("%-36s %-16s %-8s %5d %11.6f %8.2f %7.2f %8.2f\n", s->text, who,
                   by_rows ? "rows" : "columns", widths[w], t.best, widths[w] * one / t.best,
                   speed / 1e9, speed / s->read);
            fflush(stdout);
        }
}

static void run_peer(stage *s, const char *name, const peer *other)
{
    if (!other) {
        printf("%-36s %-16s skipped: not found when this was built\n", s->text, name);
        return;
    }
    const peer_arrays a = peer_arrays_of(s->A);
    int32_t *offsets = malloc((size_t)(a.rows + 1) * sizeof *offsets);
    if (!offsets || a.nnz > INT32_MAX) {
        free(offsets);
        return;
    }
    for (int64_t i = 0; i <= a.rows; i++)
        offsets[i] = (int32_t)a.offsets[i];
    s->state = other->prepare(&a, offsets, s->threads);
    if (s->state) {
        s->peer = other;
        run_widths(s, name);
        other->destroy(s->state);
        s->peer = NULL;
    }
    free(offsets);
}

static void run_formats(stage *s, const char *formats)
{
    char names[512];
    snprintf(names, sizeof names, "%s", formats);
    for (char *name = strtok(names, "+"); name; name = strtok(NULL, "+")) {
        if (strcmp(name, "csr") == 0)
            peer_need(s->ctx, spry_operator_from_matrix(s->A, NULL, NULL, &s->op));
        else if (spry_operator_from_matrix(s->A, NULL, name, &s->op) != SPRY_STATUS_OK) {
            printf("%-36s %-16s refused: %s\n", s->text, name, spry_message(s->ctx));
            continue;
        }
        run_widths(s, name);
        spry_operator_free(s->op);
        s->op = NULL;
    }
}

static void run_matrix(stage *s, const char *matrix, char type, const char *formats)
{
    enum { MOST = 32 };
    char threads[32];
    spry_bandwidth bandwidth = SPRY_BANDWIDTH_INIT;
    snprintf(threads, sizeof threads, "threads=%d", s->threads);
    peer_need(NULL, spry_context_new(threads, &s->ctx));
    snprintf(s->text, sizeof s->text, "%s%stype=%c", matrix, strchr(matrix, ':') ? "," : ":", type);
    s->A = peer_matrix(s->ctx, s->text);
    const size_t size = spry_type_size(spry_matrix_type(s->A));
    s->B = (spry_dense){.rows = spry_matrix_cols(s->A)};
    s->C = (spry_dense){.rows = spry_matrix_rows(s->A)};
    s->B.data = spry_alloc(s->ctx, (size_t)s->B.rows * MOST * size);
    s->C.data = spry_alloc(s->ctx, (size_t)s->C.rows * MOST * size);
    if (!s->B.data || !s->C.data)
        peer_need(s->ctx, SPRY_STATUS_NO_MEMORY);
    memset(s->B.data, 0, (size_t)s->B.rows * MOST * size);
    memset(s->C.data, 0, (size_t)s->C.rows * MOST * size);
    peer_need(s->ctx, spry_device_bandwidth(s->ctx, NULL, true, &bandwidth));
    s->read = bandwidth.read;
    run_formats(s, formats);
    peer_need(s->ctx, spry_operator_from_matrix(s->A, NULL, NULL, &s->op)); /* for the bytes */
#ifdef HAVE_EIGEN
    run_peer(s, "eigen", &peer_eigen);
#else
    run_peer(s, "eigen", NULL);
#endif
#ifdef HAVE_MKL
    run_peer(s, "mkl", &peer_mkl);
#else
    run_peer(s, "mkl", NULL);
#endif
    spry_operator_free(s->op);
    spry_free(s->ctx, s->B.data);
    spry_free(s->ctx, s->C.data);
    spry_matrix_free(s->A);
    spry_context_free(s->ctx);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"poisson3d:size=128,points=7", "poisson3d:size=128,points=27",
                            "elasticity:size=56", "random:size=1000000"};
    const char *formats = "csr+sell", *types = "d";
    int threads = 2, repeat = 10;
    const peer_option list[] = {
        {.name = "formats", .text = &formats},
        {.name = "type", .text = &types},
        {.name = "threads", .whole = &threads},
        {.name = "repeat", .whole = &repeat},
        {.name = NULL},
    };
    const peer_words names =
        peer_arguments(argc, argv, list, usual, (int)(sizeof usual / sizeof *usual));
    printf("%-36s %-16s %-8s %5s %11s %8s %7s %8s\n", "matrix", "who", "layout", "width", "best s",
           "x single", "GB/s", "of read");
    for (int m = 0; m < names.count; m++) {
        stage s = {.threads = threads, .repeat = repeat};
        run_matrix(&s, names.all[m], *types, formats);
    }
    return 0;
}
