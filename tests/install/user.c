/* Uses the installed library as a stranger would: a system of its own arrays, solved and checked.
 */
#include <math.h>
#include <spry/spry.h>
#include <stdio.h>

enum { N = 100 };

int main(void)
{
    int64_t offsets[N + 1] = {0};
    int32_t columns[3 * N];
    double values[3 * N], b[N], x[N] = {0};
    for (int i = 0, k = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N)
                continue;
            columns[k] = j;
            values[k++] = j == i ? 2.5 : -1;
        }
        offsets[i + 1] = k;
        b[i] = i == 0 || i == N - 1 ? 1.5 : 0.5; /* A times ones */
    }

    spry_context *ctx = NULL;
    spry_matrix *A = NULL;
    spry_vector *vb = NULL, *vx = NULL;
    spry_result result = {0};
    int bad = 1;
    if (spry_context_new(NULL, &ctx) == SPRY_STATUS_OK &&
        spry_matrix_from_csr(ctx, SPRY_TYPE_D, N, N, offsets, columns, values, SPRY_OWN_BORROW,
                             &A) == SPRY_STATUS_OK &&
        spry_vector_new(ctx, SPRY_TYPE_D, N, b, SPRY_OWN_BORROW, &vb) == SPRY_STATUS_OK &&
        spry_vector_new(ctx, SPRY_TYPE_D, N, x, SPRY_OWN_BORROW, &vx) == SPRY_STATUS_OK &&
        spry_quick_solve(ctx, A, vb, vx, "tol=1e-12", &result) == SPRY_STATUS_OK) {
        bad = !result.converged;
        for (int i = 0; i < N; i++)
            /* |x - 1| <= |A^-1| |r|, with the smallest eigenvalue above 1/2 and |b| below 10 */
            bad |= !(fabs(x[i] - 1) <= 2e-11);
        printf("spry %s: %s after %d iterations\n", spry_version(), spry_reason_name(result.reason),
               (int)result.iterations);
    } else if (ctx) {
        fprintf(stderr, "%s\n", spry_message(ctx));
    }
    spry_result_clear(ctx, &result);
    spry_vector_free(vx);
    spry_vector_free(vb);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return bad;
}
