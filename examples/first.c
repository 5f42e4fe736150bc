/* The shortest way to a solution: read (or generate) a matrix, solve, look at the result. */
#include <spry/spry.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_result res = SPRY_RESULT_INIT;
    if (spry_context_new(NULL, &ctx) ||
        (argc > 1 ? spry_matrix_read(ctx, argv[1], NULL, &A)
                  : spry_generate(ctx, "poisson3d", "size=20", &A)) ||
        spry_vector_ones(ctx, A, &b) || spry_vector_zeros(ctx, A, &x) ||
        spry_quick_solve(ctx, A, b, x, "tol=1e-8", &res))
        fprintf(stderr, "%s\n", spry_message(ctx));
    else
        printf("%s after %d iterations, true residual %.1e\n", spry_reason_name(res.reason),
               (int)res.iterations, res.true_residual);
    int exit_status = res.converged ? 0 : 1;
    spry_result_clear(ctx, &res);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return exit_status;
}
