/* Making the graph of a matrix: rows of A and of A^T merged. */
#include "matrix/algebra/graph.h"

#include "matrix/algebra/algebra.h"
#include "matrix/entries.h"

void graph_clear(spry_context *ctx, graph *g)
{
    base_free(ctx, g->offsets);
    base_free(ctx, g->neighbours);
    *g = (graph){0};
}

/* The columns of row i of both, without i; counts only where `to` is NULL. Of a symmetric pattern
 * both are the same. */
static int64_t merge_row(const matrix_arrays *a, const matrix_arrays *t, int64_t i, int32_t *to)
{
    int64_t k = a->offsets[i], l = t->offsets[i], count = 0;
    const int64_t k_end = a->offsets[i + 1], l_end = a == t ? l : t->offsets[i + 1];
    while (k < k_end || l < l_end) {
        const int32_t p = k < k_end ? a->col_index[k] : INT32_MAX;
        const int32_t q = l < l_end ? t->col_index[l] : INT32_MAX;
        const int32_t column = p < q ? p : q;
        k += p <= q;
        l += q <= p;
        if (column == i)
            continue;
        if (to)
            to[count] = column;
        count++;
    }
    return count;
}

static spry_status merge(spry_context *ctx, const matrix_arrays *a, const matrix_arrays *t,
                         graph *g)
{
    const int parts = matrix_parts(ctx, a->nnz + a->rows);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, a->rows + 1, sizeof *g->offsets, &g->offsets));
    g->offsets[0] = 0;
#pragma omp parallel for num_threads(parts) schedule(dynamic, 4096)
    for (int64_t i = 0; i < a->rows; i++)
        g->offsets[i + 1] = merge_row(a, t, i, NULL);
    SPRY_GO(ctx, base_prefix_sum(ctx, g->offsets, a->rows));
    SPRY_GO(ctx, base_alloc(ctx, g->offsets[a->rows], sizeof *g->neighbours, &g->neighbours));
#pragma omp parallel for num_threads(parts) schedule(dynamic, 4096)
    for (int64_t i = 0; i < a->rows; i++)
        merge_row(a, t, i, g->neighbours + g->offsets[i]);
done:
    return status;
}

spry_status graph_make(const spry_matrix *A, graph *g)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL, *transposed = NULL;
    *g = (graph){.n = (int32_t)A->a.rows};
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    if (matrix_known(A, SPRY_FACT_PATTERN_SYMMETRIC) != SPRY_TRUTH_YES)
        SPRY_GO(ctx, spry_matrix_transpose(csr, false, &transposed));
    SPRY_GO(ctx, merge(ctx, &csr->a, transposed ? &transposed->a : &csr->a, g));
done:
    spry_matrix_free(transposed);
    spry_matrix_free(owned);
    if (status != SPRY_STATUS_OK)
        graph_clear(ctx, g);
    return status;
}

spry_status graph_by_degree(spry_context *ctx, const graph *g, int32_t *rows)
{
    int32_t largest = 0;
    int64_t *first = NULL;
    for (int32_t v = 0; v < g->n; v++)
        largest = graph_degree(g, v) > largest ? graph_degree(g, v) : largest;
    const spry_status status = base_calloc(ctx, (int64_t)largest + 2, sizeof *first, &first);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int32_t v = 0; v < g->n; v++)
        first[graph_degree(g, v) + 1]++;
    for (int32_t d = 0; d < largest; d++)
        first[d + 1] += first[d];
    for (int32_t v = 0; v < g->n; v++)
        rows[first[graph_degree(g, v)]++] = v;
    base_free(ctx, first);
    return SPRY_STATUS_OK;
}
