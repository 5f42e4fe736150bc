/* Solves on ranks that do not wait for each other: splittings of A by the rows of ranks. */
#ifndef SPRY_SPLIT_H
#define SPRY_SPLIT_H

#include <spry/options.h>
#include <spry/ranks.h>
#include <spry/result.h>
#include <spry/vector.h>

SPRY_BEGIN

/** How a solve by splitting went on this rank. */
typedef struct spry_split_stats {
    size_t size;           /**< SPRY_SPLIT_STATS_INIT */
    int64_t iterations;    /**< of this rank */
    int64_t received;      /**< times that newer elements of a neighbour were taken */
    double mean_age;       /**< iterations of this rank that a neighbour's elements were used for */
    int64_t most_age;      /**< the most of them */
    double idle_seconds;   /**< spent waiting */
    double seconds;        /**< of all */
    bool was_asynchronous; /**< when it ended */
    int64_t checks;        /**< of the residual of all ranks, with elements of the moment */
    int64_t switches;      /**< from synchronous to asynchronous, and back */
} spry_split_stats;
#define SPRY_SPLIT_STATS_INIT SPRY_SIZED(spry_split_stats)

/**
 * Solves A x = b by splitting A at the limits of ranks: each rank improves its elements of x with
 * its own rows, while those of the others stay as it last heard of them. Synchronously all exchange
 * elements after each iteration, which is block Jacobi; asynchronously each goes on with what it
 * has. That converges where the spectral radius of |M^-1 N| is below 1, as for M-matrices (Chazan
 * and Miranker, 1969; Frommer and Szyld, 2000). Collective.
 *
 * The end is agreed upon: when every rank has said twice in turn that its own residual is small,
 * all stop, exchange elements and compute |b - A x|; where that is above the tolerance they go on.
 *
 * @param options  of spry_options_of("split"): inner=jacobi, ilu, ... (a preconditioner of the own
 *                 block, applied once), or inner=solve with `solver` (options of a spry_solver for
 *                 the own block); mode=async, sync or auto, which begins synchronously and goes on
 *                 without waiting where waiting took a quarter of the time
 * @param stats    out: of this rank; NULL: not wanted
 * @return the same on all ranks
 */
SPRY_API spry_status spry_solve_split(const spry_matrix *A, const spry_vector *b, spry_vector *x,
                                      const char *options, spry_result *result,
                                      spry_split_stats *stats);
/**
 * The same with a lower bound for each element of x: x >= lower, A x >= b, and in each row one of
 * them an equality; each rank relaxes its own rows and keeps to their bounds. Converges for
 * M-matrices, also without waiting (M. Chau et al., 2011). Collective.
 *
 * Residuals are max |min(A x - b, x - lower)| over max |b| of all ranks, or by themselves where b
 * is 0.
 *
 * @param lower    bounds of this rank's elements, as long as b
 * @param x        in: the first guess; out: at or above its bounds
 * @param options  of spry_options_of("split"): inner=jacobi takes the rows all at once (the
 * projected method of Richardson), inner=gs (here the default) one after the other, in the order
 * they have; there are no others
 */
SPRY_API spry_status spry_solve_split_above(const spry_matrix *A, const spry_vector *b,
                                            const spry_vector *lower, spry_vector *x,
                                            const char *options, spry_result *result,
                                            spry_split_stats *stats);

SPRY_END

#endif
