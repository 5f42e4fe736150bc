/*
 * The matrix of a coarse grid: A of a fine grid between interpolation P and its transpose. For -u''
 * on a line and linear interpolation, P^T A P is half the matrix that the coarse grid has by
 * itself.
 */
#include <spry/spry.h>
#include <stdio.h>

/* Linear interpolation from n to 2 n + 1 points: (1/2, 1, 1/2) around every second fine point. */
static spry_status interpolation(spry_context *ctx, int64_t n, spry_matrix **P)
{
    enum { EACH = 3 };
    int64_t *offsets = spry_alloc(ctx, (size_t)(n + 1) * sizeof(int64_t));
    int32_t *rows = spry_alloc(ctx, (size_t)(EACH * n) * sizeof(int32_t));
    double *values = spry_alloc(ctx, (size_t)(EACH * n) * sizeof(double));
    const spry_arrays a = {.size = sizeof a,
                           .type = SPRY_TYPE_D,
                           .format = SPRY_FORMAT_CSC,
                           .rows = 2 * n + 1,
                           .cols = n,
                           .nnz = EACH * n,
                           .offsets = offsets,
                           .row_index = rows,
                           .values = values};
    spry_status status = SPRY_STATUS_NO_MEMORY;
    if (offsets && rows && values) {
        for (int64_t k = 0; k < a.nnz; k++) {
            rows[k] = (int32_t)(2 * (k / EACH) + k % EACH);
            values[k] = k % EACH == 1 ? 1 : 0.5;
        }
        for (int64_t j = 0; j <= n; j++)
            offsets[j] = EACH * j;
        status = spry_matrix_new(ctx, &a, SPRY_OWN_TAKE, P);
    }
    if (status != SPRY_STATUS_OK) {
        spry_free(ctx, offsets);
        spry_free(ctx, rows);
        spry_free(ctx, values);
    }
    return status;
}

int main(void)
{
    spry_context *ctx = NULL;
    spry_matrix *A = NULL, *P = NULL, *coarse = NULL, *expected = NULL, *difference = NULL;
    const spry_scalar one = {1, 0}, minus_half = {-0.5, 0};
    spry_stats stats = {.norm_inf = 1};
    if (spry_context_new(NULL, &ctx) ||
        spry_generate(ctx, "tridiagonal", "size=200001", &A) ||                      /* -1 2 -1 */
        interpolation(ctx, 100000, &P) || spry_matrix_triple(NULL, A, P, &coarse) || /* P^T A P */
        spry_generate(ctx, "tridiagonal", "size=100000", &expected) ||
        spry_matrix_add(one, coarse, minus_half, expected, &difference) ||
        spry_matrix_stats(difference, &stats))
        fprintf(stderr, "%s\n", spry_message(ctx));
    else
        printf("P^T A P: %lld rows, %lld entries, differs by %g\n",
               (long long)spry_matrix_rows(coarse), (long long)spry_matrix_nnz(coarse),
               stats.norm_inf);
    spry_matrix_free(difference);
    spry_matrix_free(expected);
    spry_matrix_free(coarse);
    spry_matrix_free(P);
    spry_matrix_free(A);
    spry_context_free(ctx);
    return stats.norm_inf == 0 ? 0 : 1;
}
