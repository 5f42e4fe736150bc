/*
 * A matrix that is never stored: the second difference on a line as a function, solved with a
 * monitor that shows the residual. -u'' = 1 on (0, 1), u = 0 at both ends, has the solution u = s
 * (1 - s) / 2, which the second difference reproduces exactly.
 */
#include <math.h>
#include <spry/spry.h>
#include <stdio.h>

enum { N = 199 };

static spry_status second_difference(void *data, spry_transpose op, const void *x, void *y)
{
    const double *in = x;
    double *out = y, h = *(const double *)data;
    (void)op; /* symmetric: the transpose is the same */
    for (int i = 0; i < N; i++)
        out[i] = (2 * in[i] - (i > 0 ? in[i - 1] : 0) - (i < N - 1 ? in[i + 1] : 0)) / (h * h);
    return SPRY_STATUS_OK;
}

static bool show(void *data, int64_t iteration, double residual, const spry_vector *x)
{
    (void)data;
    (void)x;
    if (iteration % 50 == 0)
        printf("%4d  %.2e\n", (int)iteration, residual);
    return true; /* go on */
}

int main(void)
{
    double h = 1.0 / (N + 1), u[N] = {0}, ones[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1;

    spry_context *ctx = NULL;
    spry_operator *A = NULL;
    spry_vector *b = NULL, *x = NULL;
    spry_solver *solver = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double error = INFINITY;
    if (spry_context_new(NULL, &ctx) == SPRY_STATUS_OK &&
        spry_operator_from_function(ctx, SPRY_TYPE_D, N, N, true, second_difference, &h, &A) ==
            SPRY_STATUS_OK &&
        spry_vector_new(ctx, SPRY_TYPE_D, N, ones, SPRY_OWN_BORROW, &b) == SPRY_STATUS_OK &&
        spry_vector_new(ctx, SPRY_TYPE_D, N, u, SPRY_OWN_BORROW, &x) == SPRY_STATUS_OK &&
        spry_solver_new(ctx, &solver) == SPRY_STATUS_OK &&
        spry_solver_set(solver, "tol=1e-12 method=cg") == SPRY_STATUS_OK &&
        spry_solver_set_operator(solver, A) == SPRY_STATUS_OK) {
        spry_solver_set_monitor(solver, show, NULL);
        if (spry_solve(solver, b, x, &result) == SPRY_STATUS_OK) {
            error = 0;
            for (int i = 0; i < N; i++) {
                double s = (i + 1) * h;
                error = fmax(error, fabs(u[i] - s * (1 - s) / 2));
            }
            printf("%s after %d iterations, largest error %.1e\n", spry_reason_name(result.reason),
                   (int)result.iterations, error);
        }
    }
    if (!(error <= 1e-10))
        fprintf(stderr, "%s\n", spry_message(ctx));
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_operator_free(A);
    spry_context_free(ctx);
    return error <= 1e-10 ? 0 : 1;
}
