/* Partitions of the graph of a matrix, and how good partitions are. */
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

/* What a walk over the rows, rank by rank, counts. `seen` notes the last rank that a column was
 * wanted by, `met` the last rank that received from a rank; both plus 1. */
typedef struct walk {
    const matrix_arrays *a;
    const int32_t *owner;
    int32_t *seen, *met;
    int64_t work, halo;
    int neighbours;
} walk;

static void walk_row(walk *w, int64_t i, partition_quality *q)
{
    const matrix_arrays *a = w->a;
    const int32_t me = w->owner[i];
    w->work += 1 + a->offsets[i + 1] - a->offsets[i];
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int32_t column = a->col_index[k], other = w->owner[column];
        if (other == me)
            continue;
        q->cut++;
        if (w->seen[column] == me + 1)
            continue;
        w->seen[column] = me + 1;
        w->halo++;
        w->neighbours += w->met[other] != me + 1;
        w->met[other] = me + 1;
    }
}

static void measure(walk *w, int ranks, const double *shares, const int64_t *first,
                    const int32_t *rows, partition_quality *q)
{
    const double all = (double)(w->a->nnz + w->a->rows);
    for (int r = 0; r < ranks; r++) {
        w->work = w->halo = 0;
        w->neighbours = 0;
        for (int64_t i = first[r]; i < first[r + 1]; i++)
            walk_row(w, rows[i], q);
        q->halo += w->halo;
        q->most_halo = w->halo > q->most_halo ? w->halo : q->most_halo;
        q->neighbours = w->neighbours > q->neighbours ? w->neighbours : q->neighbours;
        const double due =
            partition_target(all, ranks, shares, r + 1) - partition_target(all, ranks, shares, r);
        if (w->work > 0) /* a rank that is to have nothing, and has, is no balance at all */
            q->imbalance = fmax(q->imbalance, due > 0 ? (double)w->work / due : INFINITY);
    }
}

spry_status partition_measure(const spry_matrix *A, int ranks, const double *shares,
                              const int32_t *owner, partition_quality *quality)
{
    spry_context *ctx = A->ctx;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    int32_t *rows = NULL;
    int64_t *first = NULL, *number = NULL;
    walk w = {.owner = owner};
    spry_status status = SPRY_STATUS_OK;
    *quality = (partition_quality){0};
    SPRY_GO(ctx, matrix_as_sorted_csr(A, &csr, &owned));
    w.a = &csr->a;
    SPRY_GO(ctx, base_calloc(ctx, A->a.cols, sizeof *w.seen, &w.seen));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *w.met, &w.met));
    SPRY_GO(ctx, base_alloc(ctx, ranks + 1, sizeof *first, &first));
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof *number, &number));
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof *rows, &rows));
    partition_number(A->a.rows, owner, ranks, first, number);
    for (int64_t i = 0; i < A->a.rows; i++)
        rows[number[i]] = (int32_t)i;
    measure(&w, ranks, shares, first, rows, quality);
done:
    base_free(ctx, w.seen);
    base_free(ctx, w.met);
    base_free(ctx, first);
    base_free(ctx, number);
    base_free(ctx, rows);
    spry_matrix_free(owned);
    return status;
}
