/*
 * Colours for the rows of a matrix so that rows of one colour do not depend on each other: the
 * first colour that no neighbour has, row by row (first fit; M. T. Jones, P. E. Plassmann, Scalable
 * iterative solution of sparse linear systems, Parallel Comput. 20 (1994), use it for the same
 * end). At most one more than the largest number of neighbours; 2 for a 7-point grid.
 */
#include "matrix/matrix.h"

/* Notes which colours the earlier rows named in row i's entries have. */
static void note_neighbours(const matrix_arrays *a, int64_t i, const int32_t *colour, int64_t *seen)
{
    for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
        const int32_t j = a->col_index[k];
        if (j < i)
            seen[colour[j]] = i;
    }
}

spry_status matrix_colour(const spry_matrix *A, int32_t *colour, int64_t *count)
{
    spry_context *ctx = A->ctx;
    const int64_t n = A->a.rows;
    spry_matrix *transposed = NULL;
    int64_t *seen = NULL; /* the last row that has a neighbour of the colour */
    spry_status status = SPRY_STATUS_OK;
    *count = 0;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *seen, &seen));
    SPRY_GO(ctx, spry_matrix_transpose(A, false, &transposed));
    for (int64_t i = 0; i < n; i++) {
        int32_t least = 0;
        note_neighbours(&A->a, i, colour, seen);
        note_neighbours(&transposed->a, i, colour, seen);
        while (least < *count && seen[least] == i)
            least++;
        if (least == *count)
            seen[(*count)++] = -1;
        colour[i] = least;
    }
done:
    base_free(ctx, seen);
    spry_matrix_free(transposed);
    return status;
}
