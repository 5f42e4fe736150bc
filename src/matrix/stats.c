/* Statistics of a matrix: brings it into the form the passes want and runs them. */
#include "matrix/stats.h"

/* A as CSR without duplicates, still one triangle when A is: A itself or a new matrix in *owned. */
static spry_status tidy(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned)
{
    spry_status status = SPRY_STATUS_OK;
    *owned = NULL;
    *csr = A;
    if (A->a.format == SPRY_FORMAT_CSR && matrix_is_sorted(A->ctx, A, true))
        return SPRY_STATUS_OK;
    SPRY_GO(A->ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, owned));
    SPRY_GO(A->ctx, spry_matrix_sum_duplicates(*owned));
    *csr = *owned;
done:
    return matrix_drop_failed(status, owned);
}

spry_status spry_matrix_stats(const spry_matrix *A, spry_stats *stats)
{
    SPRY_NEED(CTX_OF(A), A, stats);
    matrix_follow(A);
    static const base_sized sized = BASE_SIZED(spry_stats, norm_frobenius);
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *tidied = NULL, *full = NULL;
    const spry_matrix *csr = NULL, *general = NULL;
    matrix_arrays transpose = {0};
    spry_stats found = {.rows = A->a.rows, .cols = A->a.cols, .stored = A->a.nnz};
    SPRY_GO(ctx, base_blank(ctx, stats, &sized));
    SPRY_GO(ctx, tidy(A, &csr, &tidied));
    SPRY_GO(ctx, matrix_as_csr(csr, &general, &full));
    found.duplicates = A->a.nnz - csr->a.nnz;
    found.nnz = general->a.nnz;
    SPRY_GO(ctx, matrix_transpose_arrays(ctx, &general->a, &transpose));
    SPRY_GO(ctx, stats_rows(ctx, &general->a, &found));
    SPRY_GO(ctx, stats_sums(ctx, &general->a, &found));
    stats_columns(ctx, &transpose, &found);
    stats_symmetry(ctx, &general->a, &transpose, &found);
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_SYMMETRIC, &found.symmetric));
    SPRY_GO(ctx, matrix_find_out(ctx, A, SPRY_FACT_HERMITIAN, &found.hermitian));
    stats_blocks(ctx, &general->a, &found);
    base_give(stats, &found, &sized);
done:
    matrix_free_arrays(ctx, &transpose);
    spry_matrix_free(full);
    spry_matrix_free(tidied);
    return status;
}
