/* The shortest way to a solution: generate (or read) a matrix, solve, look at the result. */
#include <spry/spry.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result result = {0};
    spry_status status = spry_context_new(NULL, &ctx);
    if (status == SPRY_OK)
        status = argc > 1 ? spry_matrix_read(ctx, argv[1], &A)
                          : spry_generate(ctx, "poisson3d", "size=20", &A);
    if (status == SPRY_OK)
        status = spry_vector_ones(ctx, A, &b);
    if (status == SPRY_OK)
        status = spry_vector_zeros(ctx, A, &x);
    if (status == SPRY_OK)
        status = spry_quick_solve(ctx, A, b, x, "tol=1e-8", &result);
    if (status == SPRY_OK)
        printf("%s after %lld iterations, true residual %.2e\n", spry_reason_name(result.reason),
               (long long)result.iterations, result.true_residual);
    else
        fprintf(stderr, "%s\n", spry_message(ctx));
    int exit_status = status == SPRY_OK && result.converged ? 0 : 1;
    spry_result_clear(ctx, &result);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return exit_status;
}
