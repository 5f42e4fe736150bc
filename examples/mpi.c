/*
 * A solve on the ranks of MPI: each makes its own rows of a system, here those of the second
 * difference on a line, and has its own elements of b and x.
 *
 *     cc mpi.c -lspry_mpi -lspry -lmpi -lm && mpirun -n 4 ./a.out
 */
#include <math.h>
#include <spry/mpi.h>
#include <spry/spry.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 10000 };

/* Rows first..end-1, with columns counted over all ranks. */
static spry_status make_rows(spry_context *ctx, int64_t first, int64_t end, spry_matrix **A)
{
    const int64_t rows = end - first;
    int64_t *offsets = malloc((size_t)(rows + 1) * sizeof *offsets), n = 0;
    int64_t *columns = malloc((size_t)(3 * rows) * sizeof *columns);
    double *values = malloc((size_t)(3 * rows) * sizeof *values);
    for (int64_t i = first; i < end; i++) {
        offsets[i - first] = n;
        for (int64_t j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) {
                columns[n] = j;
                values[n++] = j == i ? 2.001 : -1;
            }
    }
    offsets[rows] = n;
    const spry_status status =
        spry_matrix_new_ranked(ctx, SPRY_TYPE_D, rows, -1, offsets, columns, values, A);
    free(offsets);
    free(columns);
    free(values);
    return status;
}

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    MPI_Init(&argc, &argv);
    spry_status status = spry_mpi_context_new(MPI_COMM_WORLD, NULL, &ctx);
    const int rank = spry_context_rank(ctx), ranks = spry_context_ranks(ctx);
    if (status == SPRY_STATUS_OK)
        status = make_rows(ctx, (int64_t)N * rank / ranks, (int64_t)N * (rank + 1) / ranks, &A);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_ones(ctx, A, &b);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_STATUS_OK)
        status = spry_quick_solve(ctx, A, b, x, "method=cg precon=ilu tol=1e-10", &result);
    const int converged = status == SPRY_STATUS_OK && result.converged;
    if (rank == 0 && status == SPRY_STATUS_OK) /* the result is the same on all */
        printf("%d ranks, %s with %s: %lld iterations, residual %.1e\n", ranks, result.method,
               result.precon, (long long)result.iterations, result.true_residual);
    else if (rank == 0)
        fprintf(stderr, "%s\n", spry_message(ctx));
    spry_result_clear(ctx, &result);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_matrix_free(A);
    spry_context_free(ctx); /* before MPI ends */
    MPI_Finalize();
    return converged ? 0 : 1;
}
