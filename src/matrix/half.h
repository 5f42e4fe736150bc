/*
 * Half of a matrix that is its own mirror image: whether there is one, and how its rows are cut
 * into parts that threads can work on side by side.
 *
 * The product with row i of the lower half adds to y_i and to all y_j, j < i, that the row has
 * entries for. A part of rows keeps a window for what it adds above its first row, as long as the
 * farthest of its entries reaches. Windows cost memory traffic; their sizes decide how many parts
 * there are.
 */
#ifndef SPRY_HALF_H
#define SPRY_HALF_H

#include "matrix/matrix.h"

typedef struct half_cut {
    spry_symmetry symmetry; /* symmetric where it is that and something else too */
    bool exact;             /* mirror images have the right bits, signs of zeros included */
    int64_t lower;          /* entries below the diagonal */
    int64_t reach;          /* the largest i - j */
    int64_t parts;
    int64_t *rows;  /* parts + 1: first rows */
    int64_t *above; /* parts: first row of the window, rows[p] where it is empty */
} half_cut;

/* Looks at A, general CSR with columns that rise, and cuts it into `parts`, or into as many as are
 * good where that is 0; `bytes` are those that an entry takes. Fails with SPRY_STATUS_UNSUPPORTED
 * where A has no mirror image of its own. To be cleared. */
spry_status half_find(spry_context *ctx, const matrix_arrays *A, int64_t parts, int64_t bytes,
                      half_cut *half);
void half_clear(spry_context *ctx, half_cut *half);

/* Entries of row i left of the diagonal: they come first. */
int64_t half_lower(const matrix_arrays *A, int64_t i);

#endif
