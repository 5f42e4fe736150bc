/*
 * usage: bench_stencil [INTERVALS [TYPE [DEVICE]]]
 * Products with -laplace on a cube, for orders 2 to 8: seconds, and the bytes that they have to
 * move (u once, y once, and on the host y once more, as stores fetch what they write to) over the
 * bytes that plain reading moves in that time, as measured in the same run. The matrix's product
 * is run with it. On a device (cuda, opencl:1) by its own clock, and one conjugate gradient step,
 * whose sweeps have the rows in them.
 */
#include "peers/peer.h"

#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The best of many, each of ten products, by the device's clock. */
static double device_seconds(spry_context *ctx, spry_device *d, const spry_operator *A,
                             const spry_vector *x, spry_vector *y)
{
    enum { MANY = 10 };
    double best = 1e30, seconds;
    for (int k = 0; k < 20; k++) {
        peer_need(ctx, spry_device_mark(d));
        for (int i = 0; i < MANY; i++)
            peer_need(ctx, spry_operator_apply(A, x, y));
        peer_need(ctx, spry_device_elapsed(d, &seconds));
        best = seconds / MANY < best ? seconds / MANY : best;
    }
    return best;
}

/* Seconds of an iteration of cg, and what share of the bandwidth its bytes are. */
static void print_iterations(spry_context *ctx, const spry_operator *A, const spry_vector *b,
                             spry_vector *x)
{
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, "method=cg precon=none tol=1e-30 max-iter=50 stall=0"));
    peer_need(ctx, spry_solver_set_operator(solver, A));
    for (int k = 0; k < 2; k++) { /* programs are compiled for the first */
        spry_result_clear(ctx, &result);
        result = (spry_result)SPRY_RESULT_INIT;
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        peer_need(ctx, spry_solve(solver, b, x, &result));
    }
    printf("; cg %.4f s per iteration, %.2f of its bytes'",
           result.solve_seconds / (double)result.iterations, result.bandwidth_fraction);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
}

/* The best of many products. */
static double product_seconds(spry_context *ctx, const spry_operator *A, const spry_vector *x,
                              spry_vector *y)
{
    double best = 1e30;
    for (int k = 0; k < 60; k++) {
        const double begin = peer_seconds();
        peer_need(ctx, spry_operator_apply(A, x, y));
        const double seconds = peer_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void make_vectors(spry_context *ctx, spry_device *d, const spry_operator *A, spry_vector **x,
                         spry_vector **y)
{
    const spry_type type = spry_operator_type(A);
    const int64_t rows = spry_operator_rows(A);
    if (d) {
        peer_need(ctx, spry_vector_on(d, type, rows, NULL, x));
        peer_need(ctx, spry_vector_on(d, type, rows, NULL, y));
        return;
    }
    peer_need(ctx, spry_vector_new(ctx, type, rows, NULL, SPRY_OWN_COPY, x));
    peer_need(ctx, spry_vector_new(ctx, type, rows, NULL, SPRY_OWN_COPY, y));
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 192;
    const char *type = argc > 2 ? argv[2] : "d", *place = argc > 3 ? argv[3] : "cpu";
    char text[64], options[96];
    spry_device *d = NULL;
    spry_context *ctx = NULL;
    spry_grid *grid = NULL;
    spry_vector *x = NULL, *y = NULL;
    peer_need(ctx, spry_context_new(NULL, &ctx));
    if (strcmp(place, "cpu") != 0)
        peer_need(ctx, spry_device_open(ctx, place, &d));
    snprintf(text, sizeof text, "%dx%dx%d", n, n, n);
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    for (int order = 2; order <= 8; order += 2) {
        spry_operator *A = NULL;
        spry_bandwidth bandwidth = SPRY_SIZED(spry_bandwidth);
        snprintf(options, sizeof options, "order=%d type=%s device=%s", order, type, place);
        peer_need(ctx, spry_operator_stencil(grid, "-laplace", options, 0, NULL, NULL, &A));
        make_vectors(ctx, d, A, &x, &y);
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
        peer_need(ctx, spry_device_bandwidth(ctx, d ? place : NULL, true, &bandwidth));
        const double seconds = d ? device_seconds(ctx, d, A, x, y) : product_seconds(ctx, A, x, y);
        const double bytes = (d ? 1 : 1.5) * (double)spry_operator_bytes(A);
        printf("order %d: %.6f s, %.1f GB/s of %.1f GB/s read: %.2f", order, seconds,
               bytes / seconds * 1e-9, bandwidth.read * 1e-9, bytes / seconds / bandwidth.read);
        if (d)
            print_iterations(ctx, A, x, y);
        else if (order == 2 && n <= 256) {
            spry_matrix *M = NULL;
            spry_operator *B = NULL;
            peer_need(ctx, spry_operator_to_matrix(A, &M));
            peer_need(ctx, spry_operator_from_matrix(M, NULL, NULL, &B));
            printf("; csr %.4f s", product_seconds(ctx, B, x, y));
            spry_operator_free(B);
            spry_matrix_free(M);
        }
        printf("\n");
        spry_operator_free(A);
        spry_vector_free(x);
        spry_vector_free(y);
    }
    spry_grid_free(grid);
    spry_context_free(ctx);
    return 0;
}
