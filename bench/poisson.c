/*
 * usage: bench_poisson [INTERVALS [DEVICE [OPTIONS...]]]
 * Poisson's equation on a cube to 1e-8, set-up included: geometric multigrid by itself and within
 * conjugate gradients, and amg on the matrix; seconds, those of the processor (all threads
 * together), iterations, and the most memory at a time in vectors. With a device (cpu, cuda,
 * opencl:1) all of it is on the device, vectors too, and the second solve, whose programs are
 * compiled, is printed as well: its seconds, and those that the bytes of as many V-cycles take at
 * the read bandwidth measured in the same run. bench_poisson_hypre is hypre's multigrid for
 * comparison.
 */
#include "peers/peer.h"

#include <spry/grid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void one(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1 + place[0] * place[1] - place[2], 0};
}

/* Bytes of a V-cycle with a red-black sweep before and behind, as a device makes it, and of the
 * step around it, in vectors: the first sweep 2 (b, x), residual and restriction 2, interpolation
 * 2, two colours 6, all 8/7 times for coarser levels; then r = b - A x and x += z, 6. */
static double cycle_bytes(int64_t n)
{
    return 8.0 * (double)n * (8.0 / 7 * (2 + 2 + 2 + 6) + 6);
}

static void print_again(spry_context *ctx, const char *place, spry_solver *solver,
                        const spry_vector *b, spry_vector *x)
{
    spry_result result = SPRY_RESULT_INIT;
    spry_bandwidth bandwidth = SPRY_SIZED(spry_bandwidth);
    peer_need(ctx, spry_device_bandwidth(ctx, strcmp(place, "cpu") == 0 ? NULL : place, true,
                                         &bandwidth));
    for (int k = 0; k < 2; k++) {
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        const double begin = peer_seconds();
        spry_result_clear(ctx, &result);
        result = (spry_result)SPRY_RESULT_INIT;
        peer_need(ctx, spry_solve(solver, b, x, &result));
        const double bytes = cycle_bytes(spry_vector_size(b)) * (double)result.iterations;
        if (k > 0)
            printf(
                "    again: %.4f s, %.5f s per iteration; V-cycles' bytes at %.0f GB/s: %.4f s\n",
                peer_seconds() - begin, (peer_seconds() - begin) / (double)result.iterations,
                bandwidth.read * 1e-9, bytes / bandwidth.read);
    }
    spry_result_clear(ctx, &result);
}

static void solve(const char *grid_text, const char *place, const char *options, bool as_matrix)
{
    const bool on_device = strcmp(place, "cpu") != 0;
    char stencil[96];
    spry_device *d = NULL;
    spry_vector *field = NULL;
    spry_context *ctx = NULL;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_matrix *M = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    int64_t most = 0;
    peer_need(ctx, spry_context_new(NULL, &ctx));
    peer_need(ctx, spry_grid_new(ctx, grid_text, &grid));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, one, NULL, &field));
    if (on_device) {
        peer_need(ctx, spry_device_open(ctx, place, &d));
        peer_need(ctx, spry_vector_on(d, SPRY_TYPE_D, spry_vector_size(field), NULL, &b));
        peer_need(ctx, spry_vector_on(d, SPRY_TYPE_D, spry_vector_size(field), NULL, &x));
        peer_need(ctx, spry_vector_copy(field, b));
        peer_need(ctx, spry_vector_fill(x, (spry_scalar){0, 0}));
        spry_vector_free(field);
    } else {
        b = field;
        peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    }
    snprintf(stencil, sizeof stencil, "device=%s", place);
    const double begin = peer_seconds();
    clock_t before = clock();
    peer_need(ctx, spry_operator_stencil(grid, "-laplace", as_matrix ? NULL : stencil, 0, NULL,
                                         NULL, &A));
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, options));
    double made = 0;
    if (as_matrix) {
        const double first = peer_seconds();
        peer_need(ctx, spry_operator_to_matrix(A, &M));
        made = peer_seconds() - first;
        before = clock();
        peer_need(ctx, spry_solver_set_matrix(solver, M));
    } else {
        peer_need(ctx, spry_solver_set_operator(solver, A));
    }
    peer_need(ctx, spry_solve(solver, b, x, &result));
    const double seconds = peer_seconds() - begin - made;
    const double spent = (double)(clock() - before) / CLOCKS_PER_SEC;
    spry_context_memory(ctx, NULL, &most);
    printf("%-50s %8.3f s (set-up %.3f), %.3f of the processor, %3d iterations, "
           "residual %.1e, %.1f vectors\n",
           options, seconds, result.setup_seconds, spent, (int)result.iterations,
           result.true_residual, (double)most / 8 / (double)spry_vector_size(b));
    if (on_device)
        print_again(ctx, place, solver, b, x);
    fflush(stdout);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_matrix_free(M);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_grid_free(grid);
    spry_context_free(ctx);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 192;
    char grid[64];
    snprintf(grid, sizeof grid, "%dx%dx%d", n, n, n);
    const char *place = argc > 2 ? argv[2] : "cpu";
    if (argc > 3) {
        for (int k = 3; k < argc; k++)
            solve(grid, place, argv[k], false);
        return 0;
    }
    solve(grid, place, "method=richardson precon=gmg:symmetric=no tol=1e-8", false);
    solve(grid, place, "method=richardson precon=gmg:cycle=full,symmetric=no tol=1e-8", false);
    solve(grid, place, "method=cg precon=gmg tol=1e-8", false);
    if (n <= 256)
        solve(grid, place, "method=cg precon=amg tol=1e-8", true);
    return 0;
}
