/*
 * A method of one's own, as text. Heights along a road are to be found from the differences of
 * neighbours, one equation fewer than unknowns: of all solutions Craig's method finds the one of
 * least norm, which is the one around 0.
 */
#include <math.h>
#include <spry/spry.h>
#include <stdio.h>

enum { N = 60 }; /* differences; N + 1 heights */

static const char craig[] = "method craig \"conjugate gradients on A A^H y = b, x = A^H y\"\n"
                            "start:\n"
                            "    r = b - A x;  residual |r|\n"
                            "    p = A^H r\n"
                            "    rho = (r, r);  pp = (p, p)\n"
                            "loop:\n"
                            "    breakdown if not positive(pp) \"the system has no solution\"\n"
                            "    alpha = rho / pp\n"
                            "    x = x + alpha p\n"
                            "    r = r - alpha A p;  residual |r|\n"
                            "    beta = (r, r) / rho\n"
                            "    rho = (r, r)\n"
                            "    p = A^H r + beta p\n"
                            "    pp = (p, p)\n";

/* Row i says x[i + 1] - x[i] = 1. */
static spry_status differences(spry_context *ctx, spry_matrix **A)
{
    int64_t offsets[N + 1];
    int32_t columns[2 * N];
    double values[2 * N];
    for (int i = 0; i < N; i++) {
        offsets[i] = 2 * i;
        columns[2 * i] = i;
        columns[2 * i + 1] = i + 1;
        values[2 * i] = -1;
        values[2 * i + 1] = 1;
    }
    offsets[N] = 2 * N;
    return spry_matrix_from_csr(ctx, SPRY_TYPE_D, N, N + 1, offsets, columns, values, SPRY_OWN_COPY,
                                A);
}

int main(void)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    char *explanation = NULL;
    /* |b| = sqrt(N) times the tolerance over the least singular value, which is about pi / (N + 1)
     */
    const double bound = 2e-6;
    double error = INFINITY;
    if (spry_context_new(NULL, &ctx) == SPRY_STATUS_OK && differences(ctx, &A) == SPRY_STATUS_OK &&
        spry_vector_ones(ctx, A, &b) == SPRY_STATUS_OK &&
        spry_vector_zeros(ctx, A, &x) == SPRY_STATUS_OK &&
        spry_solver_new(ctx, &solver) == SPRY_STATUS_OK &&
        spry_solver_set_method_text(solver, craig) == SPRY_STATUS_OK &&
        spry_solver_set_matrix(solver, A) == SPRY_STATUS_OK &&
        spry_solver_explain(solver, &explanation) == SPRY_STATUS_OK &&
        spry_solve(solver, b, x, &result) == SPRY_STATUS_OK) {
        const double *height = spry_vector_data_const(x);
        error = 0;
        for (int i = 0; i <= N; i++)
            error = fmax(error, fabs(height[i] - (i - N / 2.0)));
        printf("%s\n%s after %d iterations, largest error %.1e\n", explanation,
               spry_reason_name(result.reason), (int)result.iterations, error);
    }
    if (!(error <= bound))
        fprintf(stderr, "%s\n", spry_message(ctx));
    spry_free(ctx, explanation);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(x);
    spry_vector_free(b);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return error <= bound ? 0 : 1;
}
