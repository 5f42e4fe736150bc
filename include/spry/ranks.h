/* Ranks: processes that solve one system together. spry/mpi.h makes them from MPI. */
#ifndef SPRY_RANKS_H
#define SPRY_RANKS_H

#include <spry/context.h>
#include <spry/matrix.h>

SPRY_BEGIN

/** The processes that solve together, and their transport: libspry_mpi makes one from a
 * communicator.
 */
typedef struct spry_team spry_team;

/**
 * Makes a context that belongs to one of several ranks. Calls with its objects that
 * docs/clusters.md names as collective are made by all ranks, in the same order.
 *
 * @param team     the ranks and their transport; taken, also after a failure: it goes with the
 *                 context
 * @param options  as of spry_context_new(), alike on all ranks
 * @param ctx      out: the context, as of spry_context_new()
 * @return the same on all ranks
 */
SPRY_API spry_status spry_context_new_ranked(spry_team *team, const char *options,
                                             spry_context **ctx);
/**
 * One status for all ranks: SPRY_STATUS_OK if all ranks pass that, else that of the first rank that
 * does not, with its message. Collective. Use it after work that each rank does by itself, so that
 * all go on or none; collective calls of the library do this on their own.
 */
SPRY_API spry_status spry_context_agree(spry_context *ctx, spry_status status);
/** Which rank this is, from 0; 0 without ranks. */
SPRY_API int spry_context_rank(const spry_context *ctx);
/** How many ranks there are; 1 without. */
SPRY_API int spry_context_ranks(const spry_context *ctx);
/**
 * Sets each rank's share of the work of matrices that spry_matrix_read_ranked() and
 * spry_matrix_new_distributed() distribute from here on. Collective.
 *
 * @param shares  "equal" (the default); numbers, "14,1,1", of rank 0, 1, ..., the last for all
 *                further ones; or "auto": measured with products of a generated matrix, on all
 *                ranks at once and on the devices they will use. Ranks that share a device then
 *                have equal shares, and ranks on processors none if they would gain less than 10%.
 *                Without devices auto is equal.
 * @param device  where ranks will work, as the solver's option; NULL: "auto"
 */
SPRY_API spry_status spry_context_set_shares(spry_context *ctx, const char *shares,
                                             const char *device);
/**
 * Checks the shares: all ranks at once run some products with their own blocks of a matrix. If the
 * slowest takes more than 10% longer than the mean, a block does not fit into its device's memory,
 * or ranks on processors slow the others down, it sets new shares, with which you distribute the
 * matrix again; once is enough. Collective.
 *
 * @param A        distributed over ranks; for any other, and for equal shares of ranks that are all
 *                 on processors, nothing changes
 * @param device   where ranks work, as the solver's option; NULL: "auto"
 * @param changed  out: whether the shares differ from those that A was distributed with
 */
SPRY_API spry_status spry_context_correct_shares(const spry_matrix *A, const char *device,
                                                 bool *changed);

/**
 * Makes a matrix that is distributed over the ranks of a context, from the rows that each rank has:
 * first those of rank 0, then those of rank 1, and so on. Collective; with one rank it is an
 * ordinary matrix. Vectors for it are as long as this rank's rows (columns): spry_vector_ones() and
 * spry_vector_zeros() make them, and their norms and inner products are those of all ranks.
 *
 * @param rows     rows of this rank; 0 is allowed
 * @param cols     elements of x that this rank has; -1: the number of rows
 * @param offsets  rows + 1 places in columns and values, from 0
 * @param columns  of the entries, counted over all ranks from 0
 * @param values   of the type; the arrays are copied
 * @param A        out: the matrix; NULL after a failure
 * @return the same on all ranks: a fault in one rank's rows fails on all
 */
SPRY_API spry_status spry_matrix_new_ranked(spry_context *ctx, spry_type type, int64_t rows,
                                            int64_t cols, const int64_t *offsets,
                                            const int64_t *columns, const void *values,
                                            spry_matrix **A);

/** The same from a matrix that every rank has as a whole: each keeps rows with about the same
 * number of entries. Collective. */
SPRY_API spry_status spry_matrix_distribute(const spry_matrix *whole, spry_matrix **A);
/** The elements of all ranks, in the order of ranks, on every rank. Collective. */
SPRY_API spry_status spry_vector_collect(const spry_vector *mine, spry_vector **all);

/**
 * Makes a matrix from rows that ranks give in any way, and distributes them by work, or so that
 * messages are small, as the context's option `partition` says. Collective.
 *
 * @param all_rows  rows and columns of all ranks together, alike on all of them
 * @param rows      number of rows that this rank gives; one rank may give all, others none
 * @param numbers   of these rows, from 0, in any order; NULL: they follow those of the ranks before
 * @param offsets   rows + 1 places in columns and values, from 0
 * @param columns   of the entries, from 0
 * @param values    of the type; the arrays are copied
 * @param A         out: the matrix; a rank's rows are not those that it gave
 * @return the same on all ranks; SPRY_STATUS_BAD_INPUT where a row is given twice, or by no rank
 */
SPRY_API spry_status spry_matrix_new_distributed(spry_context *ctx, spry_type type,
                                                 int64_t all_rows, int64_t all_cols, int64_t rows,
                                                 const int64_t *numbers, const int64_t *offsets,
                                                 const int64_t *columns, const void *values,
                                                 spry_matrix **A);
/** A vector for such a matrix, from a number of A's type for each row that this rank gave, in the
 * same order. Collective. */
SPRY_API spry_status spry_vector_new_distributed(const spry_matrix *A, const void *values,
                                                 spry_vector **v);
/** The reverse: the elements of a vector of A's rows, to the ranks that gave the rows. Collective.
 */
SPRY_API spry_status spry_vector_get_distributed(const spry_matrix *A, const spry_vector *v,
                                                 void *values);

/**
 * Reads a matrix, every rank its part of the file (.mtx and .spry; the first rank reads others),
 * and distributes the rows as spry_matrix_new_distributed() does. Collective. With one rank it is
 * spry_matrix_read().
 */
SPRY_API spry_status spry_matrix_read_ranked(spry_context *ctx, const char *path,
                                             const char *options, spry_matrix **A);
/** Reads a vector of one column for A's rows, every rank its part of the file. Collective. */
SPRY_API spry_status spry_vector_read_ranked(const spry_matrix *A, const char *path,
                                             const char *options, spry_vector **v);
/** Writes a vector of A's rows in the order of the file A was read from, or of the numbers it was
 * given with; to .mtx every rank writes its lines. The file is complete or absent. Collective. */
SPRY_API spry_status spry_vector_write_ranked(const spry_matrix *A, const spry_vector *v,
                                              const char *path);

/** A matrix over all ranks, and this rank's part of it. */
typedef struct spry_ranked {
    size_t size;                  /**< SPRY_RANKED_INIT */
    int64_t first_row, first_col; /**< of this rank, counted over all of them */
    int64_t rows, cols, nnz;      /**< of all ranks */
    int64_t received, sent;       /**< elements of x per product, from other ranks and to them */
    int64_t neighbours;           /**< ranks that elements come from */
} spry_ranked;
#define SPRY_RANKED_INIT SPRY_SIZED(spry_ranked)

/** Describes this rank's part of a matrix; also of one that is not distributed. */
SPRY_API spry_status spry_matrix_ranked(const spry_matrix *A, spry_ranked *found);

SPRY_END

#endif
