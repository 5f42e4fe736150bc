/* Partitions of the graph of a matrix. */
#include "ranks/partition.h"

#include "matrix/algebra/graph.h"
#include "matrix/entries.h"

/* No library wants empty parts. */
int partition_sharers(int ranks, const double *shares, int *ranked, double *share)
{
    double sum = 0;
    int count = 0;
    for (int r = 0; r < ranks; r++)
        if (!shares || shares[r] > 0) {
            ranked[count] = r;
            share[count++] = shares ? shares[r] : 1;
            sum += shares ? shares[r] : 1;
        }
    for (int k = 0; k < count; k++)
        share[k] /= sum;
    return count;
}

static spry_status weigh(const spry_matrix *csr, int64_t **weight)
{
    const int64_t *offsets = csr->a.offsets;
    const spry_status status = base_alloc(csr->ctx, csr->a.rows, sizeof **weight, weight);
    for (int64_t i = 0; status == SPRY_STATUS_OK && i < csr->a.rows; i++)
        (*weight)[i] = 1 + offsets[i + 1] - offsets[i];
    return status;
}

spry_status partition_graph(const spry_matrix *A, int ranks, const double *shares, int32_t *owner)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    int64_t *weight = NULL;
    double *share = NULL;
    int *ranked = NULL;
    graph g = {0};
    spry_status status = SPRY_STATUS_OK;
    if (A->a.rows != A->a.cols)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "a partition by the graph is for square matrices, this one is %" PRId64
                         " x %" PRId64,
                         A->a.rows, A->a.cols);
    SPRY_GO(ctx, partition_check_shares(ctx, ranks, shares));
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    SPRY_GO(ctx, weigh(csr, &weight));
    SPRY_GO(ctx, base_alloc(ctx, ranks, sizeof *ranked, &ranked));
    SPRY_GO(ctx, base_alloc(ctx, ranks, sizeof *share, &share));
    SPRY_GO(ctx, graph_make(csr, &g));
    const int count = partition_sharers(ranks, shares, ranked, share);
    SPRY_GO(ctx, graph_partition_weighted(ctx, &g, weight, count, shares ? share : NULL, owner));
    for (int64_t i = 0; i < A->a.rows; i++)
        owner[i] = ranked[owner[i]];
done:
    graph_clear(ctx, &g);
    base_free(ctx, ranked);
    base_free(ctx, share);
    base_free(ctx, weight);
    spry_matrix_free(owned);
    return status;
}
