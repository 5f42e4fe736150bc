/*
 * usage: mpirun -n RANKS bench_poisson_ranks [INTERVALS [OPTIONS...]]
 * What bench_poisson solves, on ranks: Poisson's equation on a cube to 1e-8 by geometric multigrid,
 * set-up included. Ranks have slabs of planes, as those of bench_poisson_hypre.
 */
#include "peer.h"

#include <spry/grid.h>
#include <spry/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void one(void *data, const double *place, spry_scalar *value)
{
    (void)data;
    *value = (spry_scalar){1 + place[0] * place[1] - place[2], 0};
}

static void solve(const char *grid_text, const char *options)
{
    spry_context *ctx = NULL;
    spry_grid *grid = NULL;
    spry_operator *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    peer_need(ctx, spry_mpi_context_new(MPI_COMM_WORLD, NULL, &ctx));
    peer_need(ctx, spry_grid_new(ctx, grid_text, &grid));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, one, NULL, &b));
    peer_need(ctx, spry_field_new(grid, SPRY_TYPE_D, false, NULL, NULL, &x));
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = peer_seconds();
    const clock_t before = clock();
    peer_need(ctx, spry_operator_stencil(grid, "-laplace", NULL, 0, NULL, NULL, &A));
    peer_need(ctx, spry_solver_new(ctx, &solver));
    peer_need(ctx, spry_solver_set(solver, options));
    peer_need(ctx, spry_solver_set_operator(solver, A));
    peer_need(ctx, spry_solve(solver, b, x, &result));
    const double seconds = peer_seconds() - begin;
    const double spent = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (spry_context_rank(ctx) == 0)
        printf("%-50s %d ranks %8.3f s (set-up %.3f), %.3f s of the processor per rank, %3d "
               "iterations, residual %.1e\n",
               options, spry_context_ranks(ctx), seconds, result.setup_seconds, spent,
               (int)result.iterations, result.true_residual);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(A);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_grid_free(grid);
    spry_context_free(ctx);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {
        "method=richardson precon=gmg:cycle=full,symmetric=no tol=1e-8",
        "method=cg precon=gmg tol=1e-8"};
    const int n = argc > 1 ? atoi(argv[1]) : 192;
    int ranks = 1;
    char grid[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(grid, sizeof grid, "%dx%dx%d ranks=1x1x%d", n, n, n, ranks);
    for (int k = 2; k < argc; k++)
        solve(grid, argv[k]);
    for (size_t k = 0; argc <= 2 && k < sizeof usual / sizeof *usual; k++)
        solve(grid, usual[k]);
    MPI_Finalize();
    return 0;
}
