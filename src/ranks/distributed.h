/* Making distributed matrices, and what their operators share; matrix/distribution.h says what they
 * are. */
#ifndef SPRY_DISTRIBUTED_H
#define SPRY_DISTRIBUTED_H

#include "matrix/distribution.h"
#include "operator/operator.h"

void dist_free(spry_context *ctx, distributed *s);
spry_status dist_find_out(spry_context *ctx, const spry_matrix *A, spry_fact fact);
spry_status dist_set_values(spry_matrix *A, const void *values);
/* This rank's rows, with columns counted over all ranks; arrays of the caller's, which are copied.
 */
typedef struct dist_rows {
    spry_type type;
    int64_t rows, cols; /* rows of this rank, and its elements of x */
    const int64_t *offsets, *columns;
    const void *values;
} dist_rows;

/*
 * Makes a matrix of all ranks' rows; with one rank an ordinary one. Collective: each rank calls it,
 * and all fail or none.
 */
spry_status dist_make(spry_context *ctx, const dist_rows *mine, spry_matrix **A);
/* The same of a class. */
spry_status dist_make_as(spry_context *ctx, const dist_class *class, const dist_rows *mine,
                         spry_matrix **A);
/* The rows of a matrix that all ranks have whole (any format), from starts[rank] on; columns
 * likewise, by `col_starts` (NULL: as rows). Collective. */
spry_status dist_from_whole(const spry_matrix *whole, const int64_t *row_starts,
                            const int64_t *col_starts, spry_matrix **A);
/* A^T, or A^H, distributed by A's columns. Collective. */
spry_status dist_transpose(const spry_matrix *A, bool conjugate, spry_matrix **T);
/* Who needs what of whom: fills receive, send and sent, where columns and ghosts are known.
 * Collective. */
spry_status dist_find_neighbours(spry_context *ctx, distributed *s);
/* The messages with some neighbours, `size` bytes for each of their elements, which lie one after
 * the other from `place` on. To be freed. */
spry_status dist_list_messages(spry_context *ctx, int count, const dist_neighbour *with,
                               int64_t size, void *place, team_message **list);
/* Names the first number that is not finite, on all ranks alike; without ranks, too. */
spry_status dist_check_values(const spry_matrix *A);

#endif
