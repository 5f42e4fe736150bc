/*
 * usage: bench_stencil [INTERVALS [TYPE]]
 * Products with -laplace on a cube, for orders 2 to 8: seconds, and the bytes that they have to
 * move (u once, y once, and y once more where stores fetch what they write to) over the bytes that
 * plain reading moves in that time, as measured in the same run. The matrix's product beside it.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 192;
    const char *type = argc > 2 ? argv[2] : "d";
    char text[64], options[32];
    spry_context *ctx = NULL;
    spry_grid *grid = NULL;
    spry_vector *x = NULL, *y = NULL;
    peer_need(ctx, spry_context_new(NULL, &ctx));
    snprintf(text, sizeof text, "%dx%dx%d", n, n, n);
    peer_need(ctx, spry_grid_new(ctx, text, &grid));
    for (int order = 2; order <= 8; order += 2) {
        spry_operator *A = NULL;
        spry_bandwidth bandwidth = SPRY_SIZED(spry_bandwidth);
        snprintf(options, sizeof options, "order=%d type=%s", order, type);
        peer_need(ctx, spry_operator_stencil(grid, "-laplace", options, 0, NULL, NULL, &A));
        peer_need(ctx, spry_field_new(grid, spry_operator_type(A), false, NULL, NULL, &x));
        peer_need(ctx, spry_field_new(grid, spry_operator_type(A), false, NULL, NULL, &y));
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){1, 0}));
        peer_need(ctx, spry_device_bandwidth(ctx, NULL, true, &bandwidth));
        const double seconds = product_seconds(ctx, A, x, y);
        const double bytes = 1.5 * (double)spry_operator_bytes(A);
        printf("order %d: %.4f s, %.1f GB/s of %.1f GB/s read: %.2f", order, seconds,
               bytes / seconds * 1e-9, bandwidth.read * 1e-9, bytes / seconds / bandwidth.read);
        if (order == 2 && n <= 256) {
            spry_matrix *M = NULL;
            spry_operator *B = NULL;
            peer_need(ctx, spry_operator_to_matrix(A, &M));
            peer_need(ctx, spry_operator_from_matrix(M, &B));
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
