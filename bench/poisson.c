/*
 * usage: bench_poisson [INTERVALS [PRECON...]]
 * Poisson's equation on a cube to 1e-8, set-up included: geometric multigrid by itself and within
 * conjugate gradients, and amg on the matrix; seconds, those of the processor (all threads
 * together), iterations, and the most memory at a time in vectors. bench_poisson_hypre is hypre's
 * multigrid beside it.
 */
#include "peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void one(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1 + place[0] * place[1] - place[2], 0};
}

static void solve(const char *grid_text, const char *options, bool as_matrix)
{
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
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, one, NULL, &b));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    const double begin = peer_seconds();
    clock_t before = clock();
    peer_need(ctx, spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &A));
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
    if (argc > 2) {
        for (int k = 2; k < argc; k++)
            solve(grid, argv[k], false);
        return 0;
    }
    solve(grid, "method=richardson precon=gmg:symmetric=no tol=1e-8", false);
    solve(grid, "method=richardson precon=gmg:cycle=full,symmetric=no tol=1e-8", false);
    solve(grid, "method=cg precon=gmg tol=1e-8", false);
    solve(grid, "method=cg precon=amg tol=1e-8", true);
    return 0;
}
