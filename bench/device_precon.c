/*
 * Time to solution on a device with preconditioners that are set up on it:
 *
 *     bench_device_precon DEVICE MATRIX SPEC...     bench_device_precon cuda poisson3d:size=256 amg
 *
 * After that, the time of one application by itself, what it reads and writes of the device's
 * bandwidth, and of triangular factors the sets of rows that must follow each other twice: levels
 * of A's own pattern, which has those of ilu and ic without fill.
 *
 * The matrix is in the host's memory and the device is open. Set-up is all from that point to the
 * first iteration: A goes to the device, the preconditioner is set up, the method chosen. Every
 * system is solved twice, and the second time counts: programs are compiled then.
 */
#include "peers/device_spry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3, ROUNDS = 3, APPLICATIONS = 50 };

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

/* Seconds of one application on the device, and the bytes that it reads and writes; 0: it is not
 * set up on the device. */
static double apply(spry_context *ctx, const char *name, const spry_matrix *A, const char *spec,
                    int64_t *bytes)
{
    spry_device *d = NULL;
    spry_operator *M = NULL;
    spry_vector *r = NULL, *z = NULL;
    double best = 0;
    peer_check(ctx, spry_device_open(ctx, name, &d));
    peer_check(ctx, spry_precon_new(A, d, spec, &M));
    peer_check(ctx, spry_vector_on(d, spry_operator_type(M), spry_operator_rows(M), NULL, &r));
    peer_check(ctx, spry_vector_on(d, spry_operator_type(M), spry_operator_rows(M), NULL, &z));
    peer_check(ctx, spry_vector_fill(r, (spry_scalar){1, 0}));
    for (int round = 0; round < ROUNDS && spry_operator_device(M); round++) {
        double seconds = 0;
        peer_check(ctx, spry_device_mark(d));
        for (int k = 0; k < APPLICATIONS; k++)
            peer_check(ctx, spry_operator_multiply(M, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, r,
                                                   (spry_scalar){0, 0}, z));
        peer_check(ctx, spry_device_elapsed(d, &seconds));
        seconds /= APPLICATIONS;
        if (round == 0 || seconds < best)
            best = seconds;
    }
    *bytes = spry_operator_bytes(M);
    spry_operator_free(M);
    spry_vector_free(r);
    spry_vector_free(z);
    return best;
}

/* A row's level is one more than those of all neighbours with smaller numbers. */
static int64_t levels(const spry_matrix *A)
{
    const peer_arrays a = peer_arrays_of(A);
    int64_t most = 0;
    int64_t *level = calloc((size_t)a.rows + 1, sizeof *level);
    for (int64_t i = 0; level && i < a.rows; i++) {
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++) {
            const int64_t j = a.col_index[e];
            if (j < i && level[j] >= level[i])
                level[i] = level[j] + 1;
        }
        for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; e++) {
            const int64_t j = a.col_index[e];
            if (j > i && level[j] <= level[i])
                level[j] = level[i] + 1;
        }
        most = level[i] + 1 > most ? level[i] + 1 : most;
    }
    free(level);
    return most;
}

static void show_application(spry_context *ctx, const char *device, const spry_matrix *A,
                             const char *spec, double bandwidth)
{
    int64_t bytes = 0;
    const double seconds = apply(ctx, device, A, spec, &bytes);
    if (seconds <= 0)
        return;
    printf("%32s one application: %.1f us", "", 1e6 * seconds);
    if (bandwidth > 0)
        printf(", %.1f %% of the bandwidth", 100 * (double)bytes / seconds / bandwidth);
    if (strncmp(spec, "ilu", 3) == 0 || strncmp(spec, "ic", 2) == 0) {
        const int64_t count = levels(A);
        printf(", %lld levels twice, %.3f us a level", (long long)count,
               1e6 * seconds / 2 / (double)count);
    }
    printf("\n");
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
    const double bandwidth = device_spry_bandwidth(ctx, argv[1]);
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
        show_application(ctx, argv[1], A, argv[k], bandwidth);
        fflush(stdout);
    }
    spry_matrix_free(A);
    spry_context_free(ctx);
    return 0;
}
