/*
 * Which neighbours count: those whose entry is large relative to both diagonals,
 * |a_ij|^2 > theta^2 |a_ii a_jj| (P. Vanek, J. Mandel, M. Brezina, Algebraic multigrid by smoothed
 * aggregation for second and fourth order elliptic problems, Computing 56 (1996), 179-196), with
 * Frobenius norms where nodes have several unknowns.
 */
#include "precon/amg/amg.h"

enum { NODES = 2048 }; /* a thread takes at a time */

void amg_graph_clear(spry_context *ctx, amg_graph *g)
{
    base_free(ctx, g->lengths);
    base_free(ctx, g->columns);
    base_free(ctx, g->inverse);
    *g = (amg_graph){0};
}

spry_status amg_graph_make(const spry_matrix *A, int block, double theta, amg_graph *g)
{
    spry_context *ctx = A->ctx;
    const precon_kernels *kernels = precon_kernels_for(ctx, A->a.type);
    const int64_t nodes = A->a.rows / block, parts = (nodes + NODES - 1) / NODES;
    const int threads = host_threads(ctx, A->a.nnz);
    double *sizes = NULL, largest = 0;
    spry_status status = SPRY_STATUS_OK;
    *g = (amg_graph){.nodes = nodes, .block = block, .offsets = A->a.offsets};
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *sizes, &sizes));
    SPRY_GO(ctx, base_alloc(ctx, nodes, sizeof *g->lengths, &g->lengths));
    SPRY_GO(ctx, base_alloc(ctx, A->a.nnz, sizeof *g->columns, &g->columns));
    SPRY_GO(ctx, base_alloc(ctx, A->a.rows, spry_type_size(A->a.type), &g->inverse));
    const amg_strong_job job = {.A = {A->a.offsets, A->a.col_index, A->a.values},
                                .block = block,
                                .theta = theta,
                                .sizes = sizes,
                                .lengths = g->lengths,
                                .columns = g->columns,
                                .inverse = g->inverse};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t end = (part + 1) * NODES < nodes ? (part + 1) * NODES : nodes;
        kernels->amg_sizes(&job.A, block, part * NODES, end, sizes);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) reduction(max : largest)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t end = (part + 1) * NODES < nodes ? (part + 1) * NODES : nodes;
        const double bound = kernels->amg_strong(&job, part * NODES, end);
        largest = bound > largest ? bound : largest;
    }
    g->largest = largest;
done:
    base_free(ctx, sizes);
    if (status != SPRY_STATUS_OK)
        amg_graph_clear(ctx, g);
    return status;
}
