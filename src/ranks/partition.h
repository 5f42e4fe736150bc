/*
 * Which rank has which rows. After a partition rows are numbered so that those of a rank follow one
 * another, rank after rank: rank r has the new numbers first[r]..first[r+1]-1. Nothing here knows
 * of messages.
 */
#ifndef SPRY_RANKS_PARTITION_H
#define SPRY_RANKS_PARTITION_H

#include "operator/operator.h"

/* What each rank is to have of the work, NULL for equal shares: numbers from 0 on, not all 0; they
 * need not add up to 1. The work of a row is 1 and its entries. */
spry_status partition_check_shares(spry_context *ctx, int ranks, const double *shares);
/* The work of ranks 0..rank-1 when `all` is distributed. */
double partition_target(double all, int ranks, const double *shares, int rank);

/* Places where contiguous rows may be cut: the limits of the parts that sums are made of, so that
 * ranks have whole parts. parts = 0: anywhere. */
typedef struct partition_limits {
    int parts; /* as in base_share() */
    int64_t grain;
} partition_limits;

/*
 * The cuts that lie in a piece of all rows: rows begin..begin+count-1, with the work of the piece's
 * rows before each (work[0] = 0, count + 1 numbers), `before` being the work of the rows before
 * the piece. Sets first[r] for 0 < r < ranks where that cut is in the piece, and leaves the others.
 */
typedef struct partition_piece {
    int64_t begin, count;
    const int64_t *offsets; /* count + 1: entries before each of the rows, from any start */
    double before, all;     /* work before the piece; of all rows */
} partition_piece;
void partition_cut_piece(const partition_piece *piece, int ranks, const double *shares,
                         int64_t *first);
/* What follows when all cuts are known: ends, limits, and cuts that do not fall. */
void partition_settle(int64_t rows, const partition_limits *limits, int ranks, int64_t *first);

/* The rank of each row of a square matrix, so that there is little to be sent: METIS k-way on the
 * pattern of A + A^T, each row weighing as much as its work. */
spry_status partition_graph(const spry_matrix *A, int ranks, const double *shares, int32_t *owner);
/* The ranks that have a share at all, which are listed, and what of the work they are to have: the
 * number of them. */
int partition_sharers(int ranks, const double *shares, int *ranked, double *share);
/* Numbers rows by rank, those of one rank in their old order: number[old] = new, first as above. */
void partition_number(int64_t rows, const int32_t *owner, int ranks, int64_t *first,
                      int64_t *number);
/* The rank that has a (new) number. */
int partition_owner(int ranks, const int64_t *first, int64_t number);

#endif
