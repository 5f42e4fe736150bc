/* A matrix that ranks give in any way, distributed by a partition. */
#ifndef SPRY_RANKS_REDISTRIBUTE_H
#define SPRY_RANKS_REDISTRIBUTE_H

#include "ranks/move.h"
#include "ranks/partition.h"
#include "ranks/rows.h"

/* What a rank gives: rows with their numbers, in any order and any number of them (one rank may
 * give all), or those that follow the rows of the ranks before it (numbers NULL). */
typedef struct ranks_given {
    spry_type type;
    int64_t rows;               /* of this rank */
    int64_t all_rows, all_cols; /* alike on all ranks */
    const int64_t *numbers;
    const int64_t *offsets; /* rows + 1, from 0 */
    const int64_t *columns; /* in any order, from 0 */
    const void *values;
} ranks_given;

typedef enum ranks_kind {
    RANKS_AS_GIVEN, /* every rank keeps what it gives */
    RANKS_BY_WORK,  /* contiguous rows, cut by work */
    RANKS_BY_GRAPH, /* METIS; square matrices whose pattern one rank can hold */
    RANKS_TOGETHER  /* PT-Scotch; square matrices, of which no rank has the whole pattern */
} ranks_kind;

/* How it is to be distributed, alike on all ranks. */
typedef struct ranks_wish {
    ranks_kind kind;
    const double *shares;           /* of each rank; NULL: equal */
    const partition_limits *limits; /* for contiguous rows; NULL: cut anywhere */
} ranks_wish;

/* What comes of it. Rows (and columns, if the matrix is square) have new numbers where ranks keep
 * rows that were given with numbers, and after a partition by the graph. */
typedef struct redistributed_matrix {
    ranks_rows rows;
    int64_t *first;   /* ranks + 1: rank r has rows first[r]..first[r+1]-1 by new numbers */
    ranks_move move;  /* vectors from those who gave the rows, and back */
    int64_t *blocks;  /* ranks + 1: of the old numbers, rows in equal blocks */
    ranks_move known; /* vectors from those who gave the rows to the blocks, by old numbers */
} redistributed_matrix;

/* Collective. */
spry_status ranks_matrix(spry_context *ctx, const ranks_given *given, const ranks_wish *wish,
                         redistributed_matrix *redistributed);
void redistributed_matrix_clear(spry_context *ctx, redistributed_matrix *redistributed);

/* The cuts of rows of which rank r knows the entries of rows blocks[r]..blocks[r+1]-1, `entries`
 * numbers; `first` has room for ranks + 1. */
spry_status ranks_cut(spry_context *ctx, const int64_t *blocks, const int64_t *entries,
                      const ranks_wish *wish, int64_t *first);
/* Rows in equal blocks: ranks + 1 numbers, base_alloc()'s. */
spry_status ranks_blocks(spry_context *ctx, int64_t rows, int64_t **blocks);

#endif
