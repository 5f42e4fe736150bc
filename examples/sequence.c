/*
 * A sequence of systems with one pattern, as time steps and Newton's method have them: the matrix
 * is given new values for every step, and the solver and its preconditioner take them. -u'' + c u =
 * 1 with c that grows from step to step, so that u falls to 1/c away from the ends.
 */
#include <math.h>
#include <spry/spry.h>
#include <stdio.h>

enum { N = 1000, STEPS = 5 };

/* The diagonal is every third entry: the first row has two, the others three. */
static void set_diagonal(double *values, double c)
{
    for (int i = 0; i < N; i++)
        values[3 * i] = 2 + c;
}

/* -1, 2 + c, -1 in each row. */
static spry_status make_matrix(spry_context *ctx, double *values, spry_matrix **A)
{
    static int64_t offsets[N + 1];
    static int32_t columns[3 * N];
    int k = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) {
                columns[k] = j;
                values[k++] = -1;
            }
        offsets[i + 1] = k;
    }
    set_diagonal(values, 1);
    return spry_matrix_from_csr(ctx, SPRY_TYPE_D, N, N, offsets, columns, values, SPRY_OWN_BORROW,
                                A);
}

int main(void)
{
    static double values[3 * N], x[N];
    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_solver *solver = NULL;
    spry_vector *b = NULL, *u = NULL;
    spry_result result = SPRY_RESULT_INIT;
    int bad = 0;
    spry_status status = spry_context_new(NULL, &ctx);
    if (status || make_matrix(ctx, values, &A) || spry_solver_new(ctx, &solver) ||
        spry_solver_set(solver, "method=cg precon=ic tol=1e-10") ||
        spry_solver_set_matrix(solver, A) || spry_vector_ones(ctx, A, &b) ||
        spry_vector_new(ctx, SPRY_TYPE_D, N, x, SPRY_OWN_BORROW, &u)) {
        status = SPRY_STATUS_BAD_USAGE;
        goto done;
    }
    for (int step = 1; step <= STEPS; step++) {
        set_diagonal(values, step);
        status = spry_matrix_set_values(A, values, SPRY_OWN_BORROW); /* at the same places */
        if (status == SPRY_STATUS_OK)
            status = spry_solve(solver, b, u, &result);
        if (status != SPRY_STATUS_OK)
            break;
        printf("c = %d: %d iterations, u = %.6f in the middle\n", step, (int)result.iterations,
               x[N / 2]);
        bad |= !result.converged || fabs(x[N / 2] - 1.0 / step) > 1e-8;
        spry_result_clear(ctx, &result);
    }
done:
    if (status != SPRY_STATUS_OK && ctx)
        fprintf(stderr, "%s\n", spry_message(ctx));
    spry_result_clear(ctx, &result);
    spry_vector_free(u);
    spry_vector_free(b);
    spry_solver_free(solver);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return bad || status != SPRY_STATUS_OK;
}
