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
#ifndef SPRY_SPREAD_H
#define SPRY_SPREAD_H

#include "base/team.h"
#include "operator/operator.h"

/* The messages with one other rank. */
typedef struct dist_neighbour {
    int rank;
    int64_t first, count; /* places among the ghosts, or in `sent` */
} dist_neighbour;

typedef struct distributed {
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

/* This rank's rows, with columns counted over all ranks; arrays of the caller's, which are copied.
 */
typedef struct dist_rows {
    spry_type type;
    int64_t rows, cols; /* rows here, and elements of x here */
    const int64_t *offsets, *columns;
    const void *values;
} dist_rows;

/*
 * Makes a matrix of all ranks' rows; with one rank an ordinary one. Collective: each rank calls it,
 * and all fail or none.
 */
spry_status dist_make(spry_context *ctx, const dist_rows *mine, spry_matrix **A);
/* The rows of a matrix that all ranks have whole (any format), from starts[rank] on; columns
 * likewise, by `col_starts` (NULL: as rows). Collective. */
spry_status dist_from_whole(const spry_matrix *whole, const int64_t *row_starts,
                            const int64_t *col_starts, spry_matrix **A);
/* A^T, or A^H, distributed by A's columns. Collective. */
spry_status dist_transpose(const spry_matrix *A, bool conjugate, spry_matrix **T);
/* Finds a fact that has to do with entries of all ranks, and notes it: alike on all of them. */
spry_status dist_find_out(spry_context *ctx, const spry_matrix *A, spry_fact fact);
void dist_free(spry_context *ctx, distributed *s);
/* Who needs what of whom: fills receive, send and sent, where columns and ghosts are known.
 * Collective. */
spry_status dist_find_neighbours(spry_context *ctx, distributed *s);
/* The messages with some neighbours, so many bytes for each of their elements, which lie one after
 * the other from `place` on. To be freed. */
spry_status dist_list_messages(spry_context *ctx, int count, const dist_neighbour *with,
                               int64_t size, void *place, team_message **list);
/* Whether products can be run by rows: on all ranks or on none. Every operator of a distributed
 * matrix asks, on processors or on devices, so that messages match. Collective. */
spry_status dist_agree_by_rows(spry_context *ctx, spry_status status, bool mine, bool *by_rows);
/* What an operator of A is, made of the own block's and of that of the edge rows (NULL: none). */
void dist_note_operator(spry_operator *op, const spry_matrix *A, const spry_operator *own,
                        const spry_operator *edge);
/* Which of the three products a transpose is: of real numbers two are the same. */
static inline spry_transpose dist_side(spry_type type, spry_transpose transpose)
{
    return transpose == SPRY_TRANSPOSE_CONJUGATE && !spry_type_is_complex(type) ? SPRY_TRANSPOSE_YES
                                                                                : transpose;
}
/* New values of this rank's rows, in the order of the entries it gave, and how many these are.
 * Collective. */
spry_status dist_set_values(spry_matrix *A, const void *values);
int64_t dist_entries(const spry_matrix *A);
/* matrix_check_changeable() for who changes the pattern: that of a distributed matrix stays. */
spry_status dist_check_editable(const spry_matrix *A);

/* Whether A is square, and distributed alike both ways. */
static inline bool matrix_is_square(const spry_matrix *A)
{
    return A->distributed ? A->distributed->square : A->a.rows == A->a.cols;
}
/* Names the first number that is not finite, on all ranks alike; without ranks, too. */
spry_status dist_check_values(const spry_matrix *A);

/* The status of an operation that has made v on a device: one that others may not have, where v is
 * a part of all ranks', is told with the next message (team_note()). */
static inline spry_status vector_note(const spry_vector *v, spry_status status)
{
    return v->part.is ? team_note(v->ctx, status) : status;
}

/* The part of an operator's rows or columns that is here. */
vector_part dist_rows_here(const spry_matrix *A);
vector_part dist_cols_here(const spry_matrix *A);

#endif
