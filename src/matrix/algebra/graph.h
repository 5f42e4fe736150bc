/* The graph of a square matrix: rows are neighbours where A or A^T has an entry. */
#ifndef SPRY_ALGEBRA_GRAPH_H
#define SPRY_ALGEBRA_GRAPH_H

#include "matrix/matrix.h"

typedef struct graph {
    int32_t n;
    int64_t *offsets;    /* n + 1 */
    int32_t *neighbours; /* rising, without the row itself */
} graph;

/* The graph of a square matrix of any format; cleared on failure. */
spry_status graph_make(const spry_matrix *A, graph *g);
void graph_clear(spry_context *ctx, graph *g);
static inline int32_t graph_degree(const graph *g, int32_t v)
{
    return (int32_t)(g->offsets[v + 1] - g->offsets[v]);
}
/* All rows by rising degree, those of one degree by number. */
spry_status graph_by_degree(spry_context *ctx, const graph *g, int32_t *rows);

/* Orderings; perm has room for n. */
spry_status graph_rcm(spry_context *ctx, const graph *g, int32_t *perm);
/* by METIS; SPRY_STATUS_UNSUPPORTED where the build has none */
spry_status graph_nd(spry_context *ctx, const graph *g, int32_t *perm);

/* The part, 0..parts-1, of every row, so that parts are about as large as each other and have few
 * edges between them: by METIS, or cut out of the ordering rcm where the build has none. */
spry_status graph_partition(spry_context *ctx, const graph *g, int32_t parts, int32_t *part);
/* The same with these weights of rows (NULL: all alike; at least 1 each) and with this share of the
 * weight for part k (NULL: equal; all above 0, their sum 1). */
spry_status graph_partition_weighted(spry_context *ctx, const graph *g, const int64_t *weight,
                                     int32_t parts, const double *share, int32_t *part);

#endif
