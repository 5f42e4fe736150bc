/*
 * Matrices that are distributed over ranks. Each has some rows, one after the other in the order of
 * ranks, and of every vector the elements of its rows (or columns). A rank's rows are stored in two
 * ways: `own`, the square block of its own columns, is an ordinary matrix that everything local is
 * made from; `edge` has the rows that need elements of other ranks, whole and in their entries'
 * order, so that their sums are made as without ranks.
 *
 * Columns of `edge` are places in a compact vector: the own elements that these rows need, then the
 * ghosts, elements of other ranks, in the order of ranks: as they are received.
 */
#ifndef SPRY_DISTRIBUTION_H
#define SPRY_DISTRIBUTION_H

#include "base/team.h"
#include "matrix/matrix.h"

#include <spry/operator.h>

struct distributed;

/* The messages with one other rank. */
typedef struct dist_neighbour {
    int rank;
    int64_t first, count; /* places among the ghosts, or in `sent` */
} dist_neighbour;

/* What a matrix has done by the ranks that share it; src/ranks fills it in. All but `free` are
 * collective. */
typedef struct dist_class {
    void (*free)(spry_context *ctx, struct distributed *s);
    /* Finds a fact that depends on entries of all ranks, and notes it: alike on all of them. */
    spry_status (*find_out)(spry_context *ctx, const spry_matrix *A, spry_fact fact);
    /* Names the first value that is not finite, on all ranks alike. */
    spry_status (*check_values)(const spry_matrix *A);
    /* New values of this rank's rows, in the order of the entries it gave. */
    spry_status (*set_values)(spry_matrix *A, const void *values);
    /* The product, from that with the own block, which is taken, also when it fails, and its
     * status. */
    spry_status (*make_operator)(const spry_matrix *A, spry_status made, spry_operator *own,
                                 spry_operator **op);
} dist_class;

typedef struct distributed {
    const dist_class *class;
    int64_t *row_starts, *col_starts; /* first row and column of each rank, and the end */
    int64_t nnz;                      /* of all ranks */
    bool square;                      /* every rank has the same rows and columns */
    spry_matrix *own, *edge;
    int64_t edges;
    int32_t *edge_rows; /* own rows of `edge`, rising */
    int64_t kept;
    int32_t *kept_index; /* own columns that begin the compact vector */
    int64_t ghosts;
    int64_t *ghost_cols; /* columns over all ranks, rising */
    int64_t spare;       /* elements behind them, for the edge rows' own use */
    int64_t sent_count;
    int32_t *sent; /* own columns that others need, by neighbour */
    int receives, sends;
    dist_neighbour *receive, *send;
} distributed;

/* Whether A is square, and distributed alike both ways. */
static inline bool matrix_is_square(const spry_matrix *A)
{
    return A->distributed ? A->distributed->square : A->a.rows == A->a.cols;
}
/* The rows or columns of a matrix that this rank owns, by the starts of all ranks. */
static inline vector_part dist_part(const spry_matrix *A, const int64_t *starts)
{
    return (vector_part){true, starts[team_rank(A->ctx)], starts[team_ranks(A->ctx)]};
}
static inline vector_part dist_own_rows(const spry_matrix *A)
{
    return A->distributed ? dist_part(A, A->distributed->row_starts) : (vector_part){0};
}
static inline vector_part dist_own_cols(const spry_matrix *A)
{
    return A->distributed ? dist_part(A, A->distributed->col_starts) : (vector_part){0};
}
/* Entries of the rows that this rank owns. */
int64_t dist_entries(const spry_matrix *A);
/* matrix_check_changeable() for who changes the pattern: that of a distributed matrix stays. */
spry_status dist_check_editable(const spry_matrix *A);

/* The status of an operation that has computed v on a device. Where v is part of a distributed
 * vector, other ranks may have another status: it travels with the next message (team_note()). */
static inline spry_status vector_note(const spry_vector *v, spry_status status)
{
    return v->part.is ? team_note(v->ctx, status) : status;
}

#endif
