/*
 * Time to solution on a device with preconditioners that are made there:
 *
 *     bench_device_precon DEVICE MATRIX SPEC...     bench_device_precon cuda poisson3d:size=256 amg
 *
 * The matrix is in the host's memory and the device is open. Set-up is all from there to the first
 * iteration: A goes to the device, the preconditioner is made, the method chosen. Every system is
 * solved twice, and the second time counts: programs are compiled then.
 */
#include "peers/peer.h"

#include <stdio.h>

enum { TURNS = 3 };

static void solve(spry_context *ctx, const char *device, const spry_matrix *A, const char *spec,
                  spry_result *result)
{
    char options[512];
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *x = NULL;
    snprintf(options, sizeof options, "tol=1e-8 format=sell device=%s precon=%s", device, spec);
    peer_check(ctx, spry_vector_ones(ctx, A, &b));
    peer_check(ctx, spry_vector_zeros(ctx, A, &x));
    peer_check(ctx, spry_solver_new(ctx, &solver));
    peer_check(ctx, spry_solver_set(solver, options));
    peer_check(ctx, spry_solver_set_matrix(solver, A));
    peer_check(ctx, spry_solve(solver, b, x, result));
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
}

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    if (argc < 4) {
        fprintf(stderr, "usage: %s DEVICE MATRIX SPEC...\n", argv[0]);
        return 2;
    }
    if (spry_context_new(NULL, &ctx) != SPRY_STATUS_OK)
        return 1;
    spry_matrix *A = peer_matrix(ctx, argv[2]);
    printf("%-32s %-28s %-10s %9s %9s %9s %6s %10s\n", "matrix", "precon", "method", "set-up s",
           "solve s", "both", "iter.", "residual");
    for (int k = 3; k < argc; k++) {
        spry_result best = {0};
        for (int turn = 0; turn < TURNS; turn++) {
            spry_result result = {0};
            solve(ctx, argv[1], A, argv[k], &result);
            if (turn == 1 || (turn > 1 && result.setup_seconds + result.solve_seconds <
                                              best.setup_seconds + best.solve_seconds))
                best = result;
            spry_result_clear(ctx, &result);
        }
        printf("%-32s %-28s %-10s %9.3f %9.3f %9.3f %6lld %10.2e%s\n", argv[2], argv[k],
               best.method, best.setup_seconds, best.solve_seconds,
               best.setup_seconds + best.solve_seconds, (long long)best.iterations,
               best.true_residual, best.converged ? "" : "  not converged");
        fflush(stdout);
    }
    spry_matrix_free(A);
    spry_context_free(ctx);
    return 0;
}
