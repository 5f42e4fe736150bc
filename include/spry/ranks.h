/* Ranks: processes that solve one system together. MPI's are made by spry/mpi.h. */
#ifndef SPRY_RANKS_H
#define SPRY_RANKS_H

#include <spry/context.h>
#include <spry/matrix.h>

SPRY_BEGIN

/** The processes that solve together, and how they talk: libspry_mpi makes one of a communicator.
 */
typedef struct spry_team spry_team;

/**
 * Makes a context that belongs to one of several ranks. Calls with its objects that
 * docs/clusters.md names as collective are made by all ranks, in the same order.
 *
 * @param team     how the ranks talk; taken, also after a failure: it goes with the context
 * @param options  as of spry_context_new(), alike on all ranks
 * @param ctx      out: the context, as of spry_context_new()
 * @return the same on all ranks
 */
SPRY_API spry_status spry_context_new_ranked(spry_team *team, const char *options,
                                             spry_context **ctx);
/**
 * One status for all ranks: SPRY_STATUS_OK where all say so, else that of the first that does not,
 * with its message. Collective. For what a program does by itself on each rank, so that all go on
 * or none; calls of the library that are collective do this on their own.
 */
SPRY_API spry_status spry_context_agree(spry_context *ctx, spry_status status);
/** Which rank this is, from 0; 0 without ranks. */
SPRY_API int spry_context_rank(const spry_context *ctx);
/** How many ranks there are; 1 without. */
SPRY_API int spry_context_ranks(const spry_context *ctx);

/**
 * Makes a matrix that is spread over the ranks of a context, from the rows that each of them has:
 * those of rank 0 come first, then those of rank 1, and so on. Collective; with one rank the matrix
 * is one as any other. Vectors for it are as long as the rows (columns) here: spry_vector_ones()
 * and spry_vector_zeros() make them, and norms and inner products of these are those of all ranks.
 *
 * @param rows     rows of this rank; 0 is allowed
 * @param cols     elements of x that this rank has; -1: as many as rows
 * @param offsets  rows + 1 places in columns and values, from 0
 * @param columns  of the entries, counted over all ranks from 0
 * @param values   of the type; the arrays are copied
 * @param A        out: the matrix; NULL after a failure
 * @return the same on all ranks: what is wrong with one rank's rows is everybody's failure
 */
SPRY_API spry_status spry_matrix_new_ranked(spry_context *ctx, spry_type type, int64_t rows,
                                            int64_t cols, const int64_t *offsets,
                                            const int64_t *columns, const void *values,
                                            spry_matrix **A);

/** The same from a matrix that every rank has whole: each keeps some rows, about as many entries as
 * the others. Collective. */
SPRY_API spry_status spry_matrix_spread(const spry_matrix *whole, spry_matrix **A);
/** The elements of all ranks, one after the other, on every one of them. Collective. */
SPRY_API spry_status spry_vector_collect(const spry_vector *mine, spry_vector **all);

/** What all ranks have of a matrix, and where this rank's share of it is. */
typedef struct spry_ranked {
    size_t size;                  /**< SPRY_RANKED_INIT */
    int64_t first_row, first_col; /**< of this rank, counted over all of them */
    int64_t rows, cols, nnz;      /**< of all ranks */
    int64_t received, sent;       /**< elements of x in a product, from other ranks and to them */
    int64_t neighbours;           /**< ranks that elements come from */
} spry_ranked;
#define SPRY_RANKED_INIT SPRY_SIZED(spry_ranked)

/** Tells where this rank's rows stand in a matrix; also of one that is not spread. */
SPRY_API spry_status spry_matrix_ranked(const spry_matrix *A, spry_ranked *found);

/** What one of the ranks did in a solve. */
typedef struct spry_rank_report {
    size_t size;             /**< SPRY_RANK_REPORT_INIT */
    int64_t rows, nnz;       /**< it has */
    int64_t received;        /**< elements of others that it needs for a product */
    int64_t neighbours;      /**< ranks that these come from */
    int64_t messages, bytes; /**< it has sent to neighbours */
    int64_t gathers;         /**< sums over all ranks */
    double setup_seconds;    /**< for set-up */
    double solve_seconds;    /**< for the solve */
    double message_seconds;  /**< it waited for neighbours in the solve */
    double gather_seconds;   /**< it waited for sums */
    int64_t memory_bytes;    /**< at most so far */
    int64_t threads;         /**< in use */
} spry_rank_report;
#define SPRY_RANK_REPORT_INIT SPRY_SIZED(spry_rank_report)

SPRY_END

#endif
