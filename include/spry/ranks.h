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
 * Says what each rank is to have of the work of matrices that are distributed from here on: by
 * spry_matrix_read_ranked() and spry_matrix_new_distributed(). Collective.
 *
 * @param shares  "equal" (as it is at first); numbers, "14,1,1", of rank 0, 1, ..., the last for
 *                all further ones; or "auto": measured with products of a generated matrix, which
 *                all ranks make at once where they are going to work. Ranks that share a device
 *                have the same then, and ranks on processors nothing where they would make it less
 *                than 10% faster. Where no rank is on a device auto is equal.
 * @param device  where ranks are going to work, as the solver's option; NULL: "auto"
 */
SPRY_API spry_status spry_context_set_shares(spry_context *ctx, const char *shares,
                                             const char *device);
/**
 * Looks whether shares suit: all ranks at once make some products with their own blocks of a
 * matrix. Where the slowest takes more than 10% longer than the mean, or a block does not fit into
 * its device's memory, or ranks on processors cost more than they do, shares are set anew, for a
 * matrix to be distributed again; once is enough. Collective.
 *
 * @param A        distributed over ranks; any other is well as it is, and so are equal shares of
 *                 ranks that are all on processors
 * @param device   where ranks work, as the solver's option; NULL: "auto"
 * @param changed  out: shares are others than A was distributed by
 */
SPRY_API spry_status spry_context_correct_shares(const spry_matrix *A, const char *device,
                                                 bool *changed);

/**
 * Makes a matrix that is distributed over the ranks of a context, from the rows that each of them
 * has: those of rank 0 come first, then those of rank 1, and so on. Collective; with one rank the
 * matrix is one as any other. Vectors for it are as long as the rows (columns) here:
 * spry_vector_ones() and spry_vector_zeros() make them, and norms and inner products of these are
 * those of all ranks.
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
SPRY_API spry_status spry_matrix_distribute(const spry_matrix *whole, spry_matrix **A);
/** The elements of all ranks, one after the other, on every one of them. Collective. */
SPRY_API spry_status spry_vector_collect(const spry_vector *mine, spry_vector **all);

/**
 * Makes a matrix of rows that ranks give in any way, and deals them out: by the work they are, or
 * so that little is to be sent, as the context's option `partition` says. Collective.
 *
 * @param all_rows  rows and columns of all ranks together, alike on all of them
 * @param rows      given by this rank; one rank may give all, others none
 * @param numbers   of these rows, from 0, in any order; NULL: they follow those of the ranks before
 * @param offsets   rows + 1 places in columns and values, from 0
 * @param columns   of the entries, from 0
 * @param values    of the type; the arrays are copied
 * @param A         out: the matrix; its rows are other ones than this rank has given
 * @return the same on all ranks; SPRY_STATUS_BAD_INPUT where a row is given twice, or by nobody
 */
SPRY_API spry_status spry_matrix_new_distributed(spry_context *ctx, spry_type type,
                                                 int64_t all_rows, int64_t all_cols, int64_t rows,
                                                 const int64_t *numbers, const int64_t *offsets,
                                                 const int64_t *columns, const void *values,
                                                 spry_matrix **A);
/** A vector for such a matrix, from a number of A's type for each row that this rank has given, in
 * the order it gave them. Collective. */
SPRY_API spry_status spry_vector_new_distributed(const spry_matrix *A, const void *values,
                                                 spry_vector **v);
/** The same back: the numbers of a vector of A's rows, to those who gave them. Collective. */
SPRY_API spry_status spry_vector_get_distributed(const spry_matrix *A, const spry_vector *v,
                                                 void *values);

/**
 * Reads a matrix, every rank its part of the file (of .mtx and .spry; the first rank reads others),
 * and deals the rows out as spry_matrix_new_distributed() does. Collective. With one rank it is
 * spry_matrix_read().
 */
SPRY_API spry_status spry_matrix_read_ranked(spry_context *ctx, const char *path,
                                             const char *options, spry_matrix **A);
/** Reads a vector of one column for A's rows, every rank its part of the file. Collective. */
SPRY_API spry_status spry_vector_read_ranked(const spry_matrix *A, const char *path,
                                             const char *options, spry_vector **v);
/** Writes a vector of A's rows in the order of the file A was read from, or of the numbers it was
 * given with; to .mtx every rank its lines. The name never stands for half a file. Collective. */
SPRY_API spry_status spry_vector_write_ranked(const spry_matrix *A, const spry_vector *v,
                                              const char *path);

/**
 * Writes a checkpoint of a solve: x, how many iterations it took, and what A, b and x are told by.
 * The file is a .mtx vector. Collective; without ranks, too.
 */
SPRY_API spry_status spry_checkpoint_write(const spry_matrix *A, const spry_vector *b,
                                           const spry_vector *x, int64_t iterations,
                                           const char *path);
/**
 * Reads one back, with any number of ranks.
 *
 * @param x           out: a vector to go on from
 * @param iterations  out: as many as were told
 * @return SPRY_STATUS_BAD_INPUT where it is of another system, or damaged
 */
SPRY_API spry_status spry_checkpoint_read(const spry_matrix *A, const spry_vector *b,
                                          const char *path, spry_vector **x, int64_t *iterations);

/** What all ranks have of a matrix, and where this rank's share of it is. */
typedef struct spry_ranked {
    size_t size;                  /**< SPRY_RANKED_INIT */
    int64_t first_row, first_col; /**< of this rank, counted over all of them */
    int64_t rows, cols, nnz;      /**< of all ranks */
    int64_t received, sent;       /**< elements of x in a product, from other ranks and to them */
    int64_t neighbours;           /**< ranks that elements come from */
} spry_ranked;
#define SPRY_RANKED_INIT SPRY_SIZED(spry_ranked)

/** Tells where this rank's rows stand in a matrix; also of one that is not distributed. */
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
    double share;            /**< of the work that it was to have: its part of 1 */
    char device[32];         /**< where it worked: "cpu", "cuda:0" */
    char transport[32];      /**< how halos came and went: "memory", "staged" through pinned memory
                                of the host, "direct" from the device's */
} spry_rank_report;
#define SPRY_RANK_REPORT_INIT SPRY_SIZED(spry_rank_report)

SPRY_END

#endif
