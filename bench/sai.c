/*
 * Set-up of sparse approximate inverses on the host and on a device:
 *   bench_sai MATRIX DEVICE SPEC...        bench_sai poisson3d:size=64 cuda sai sai:tau=0.8
 * DEVICE is "none" where there is none. Prints a line for each preconditioner: seconds with one
 * thread and with all, seconds on the device, where A is already and M stays, and how many times as
 * fast that is as one thread. The fastest of ROUNDS counts; the first one on the device,
 * which may have to compile kernels, does not.
 */
#include "peers/peer.h"

#include <private/programs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

/* Seconds that it takes to make one and to be ready for a product. */
static double once(spry_context *ctx, const spry_matrix *A, const spry_operator *on_device,
                   const char *spec)
{
    spry_device *device = on_device ? spry_operator_device(on_device) : NULL;
    spry_operator *M = NULL;
    double waited = 0;
    const double begin = peer_seconds();
    peer_check(ctx, on_device ? spry_precon_for_operator(on_device, A, spec, &M)
                              : spry_precon_new(A, NULL, spec, &M));
    if (device) { /* a mark is passed when all before it is done */
        peer_check(ctx, spry_device_mark(device));
        peer_check(ctx, spry_device_mark(device));
        peer_check(ctx, spry_device_elapsed(device, &waited));
    }
    const double seconds = peer_seconds() - begin;
    spry_operator_free(M);
    return seconds;
}

static double best(spry_context *ctx, const spry_matrix *A, const spry_operator *on_device,
                   const char *spec)
{
    double least = on_device ? (once(ctx, A, on_device, spec), 1e30) : 1e30;
    for (int k = 0; k < ROUNDS; k++) {
        const double seconds = once(ctx, A, on_device, spec);
        least = seconds < least ? seconds : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    static const char *const threads[] = {"threads=1", ""};
    if (argc < 4) {
        fprintf(stderr, "usage: %s MATRIX DEVICE SPEC...\n", argv[0]);
        return 2;
    }
    printf("%-32s %10s %10s %10s %8s\n", argv[1], "1 thread", "all", argv[2], "times");
    for (int k = 3; k < argc; k++) {
        double seconds[3] = {0, 0, 0};
        for (int t = 0; t < 2; t++) {
            spry_context *ctx = NULL;
            spry_device *device = NULL;
            if (spry_context_new(threads[t], &ctx) != SPRY_STATUS_OK)
                return 3;
            spry_matrix *A = peer_matrix(ctx, argv[1]);
            seconds[t] = best(ctx, A, NULL, argv[k]);
            if (t == 1 && strcmp(argv[2], "none") != 0) {
                spry_operator *on_device = NULL;
                peer_check(ctx, spry_device_open(ctx, argv[2], &device));
                peer_check(ctx, spry_operator_from_matrix(A, device, "csr", &on_device));
                seconds[2] = best(ctx, A, on_device, argv[k]);
                spry_operator_free(on_device);
            }
            spry_matrix_free(A);
            spry_context_free(ctx);
        }
        printf("%-32s %10.5f %10.5f", argv[k], seconds[0], seconds[1]);
        if (seconds[2] > 0)
            printf(" %10.5f %8.1f", seconds[2], seconds[0] / seconds[2]);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
