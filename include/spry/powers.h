/*
 * Matrix powers: [p_1(A) x, ..., p_k(A) x] with A read from memory, or from a file, less often than
 * once for each of them. docs/powers.md is the manual.
 */
#ifndef SPRY_POWERS_H
#define SPRY_POWERS_H

#include <spry/operator.h>
#include <spry/options.h>
#include <spry/vector.h>

SPRY_BEGIN

/** A schedule for powers of a matrix; used by one thread at a time. */
typedef struct spry_powers spry_powers;

/* The most powers of one application. */
enum { SPRY_POWERS_MOST = 16 };

/** What one application costs. */
typedef struct spry_powers_info {
    size_t size;       /**< SPRY_POWERS_INFO_INIT */
    char schedule[16]; /**< "skewed", "parts", or "plain": products one after the other */
    char cut[16];      /**< how rows are cut: "rows", "rcm", "metis" */
    int steps;         /**< k */
    int depth;         /**< steps per reading of A */
    int64_t parts; /**< parts of the rows, computed independently; skewed: one for each thread */
    int64_t ghost_rows[SPRY_POWERS_MOST];    /**< rows computed more than once, by step */
    int64_t ghost_entries[SPRY_POWERS_MOST]; /**< entries of these rows, likewise */
    int64_t part_bytes;                      /**< fast memory of a part, or of a thread's window */
    int64_t memory;                          /**< bytes kept in addition to A itself */
    int64_t plain_bytes; /**< the least that k products move through memory, or read from a file */
    int64_t bytes;       /**< the least that this moves */
    double gain;         /**< forecast speed relative to k products; 1: plain */
    int64_t read_bytes;  /**< of files: bytes read so far */
    double read_seconds; /**< of these reads, in parallel with products or not */
    double wait_seconds; /**< of these, without other work */
} spry_powers_info;
#define SPRY_POWERS_INFO_INIT SPRY_SIZED(spry_powers_info)

/**
 * Prepares powers of a square matrix. If reading A once for several steps does not pay (fast memory
 * is too small, or parts overlap too much), products are computed one by one;
 * spry_powers_forecast() reports the choice. Results have the bits of products with
 * spry_operator_from_matrix() in each case.
 *
 * For a matrix that is distributed over ranks, each rank has a part with the rows around it, and
 * vectors are sent once for several steps; this call and applications are then collective, and
 * ghosts are those of this rank.
 *
 * @param A        any format, general CSR is used in place; it must stay alive. Changes of its
 *                 values or pattern are detected
 * @param options  of spry_options_of("powers"): "k=8 basis=chebyshev low=0.1 high=8"; NULL: k = 8,
 *                 powers themselves
 * @param powers   out
 */
SPRY_API spry_status spry_powers_new(const spry_matrix *A, const char *options,
                                     spry_powers **powers);
/**
 * The same for a matrix that stays in its native file (.spry), which may be larger than memory:
 * rows are read in their order, once for as many steps as `memory` allows, and only the vectors are
 * in memory as a whole. This call checks all indices once, but no values. The file must not change:
 * a change is detected and reported, and the file is not used.
 *
 * @param ctx      of the vectors
 * @param path     the file; general CSR, square
 * @param options  as of spry_powers_new(), with `memory` and `keep` as they are for files
 * @param powers   out; spry_powers_operator() makes an operator of it that solvers take
 */
SPRY_API spry_status spry_powers_open(spry_context *ctx, const char *path, const char *options,
                                      spry_powers **powers);
/**
 * The same for an operator without a matrix: steps of a stencil (spry/grid/grid.h) follow each
 * other through planes or lines in the cache if a measurement shows that this pays; all others are
 * products. Parts and reorderings are for matrices alone. Collective if the operator is.
 *
 * A step is alpha A v_j + gamma v_(j-1) of one spry_operator_multiply(), then beta v_j; or, where
 * there is no v_(j-1), alpha A v_j + beta v_j. Bits do not depend on the choice.
 *
 * @param A        square; it must stay alive
 * @param options  as of spry_powers_new(), without `device`: vectors are where the operator is.
 *                 "results=last" computes p_k(A) x alone, as steps in time do: an application then
 *                 has two vectors, and the first receives it
 * @param powers   out
 */
SPRY_API spry_status spry_powers_from_operator(const spry_operator *A, const char *options,
                                               spry_powers **powers);
/** Frees it; NULL is allowed. */
SPRY_API void spry_powers_free(spry_powers *powers);

/**
 * The shifts of Newton's basis, v_(j+1) = (A - shift_j) v_j, in the order of their use; Leja's
 * order keeps the basis well conditioned. For real types, shifts that are not real come in pairs, a
 * number followed by its conjugate, and two real steps compute a pair: the first is (A - re) v_j.
 *
 * @param count   k of them; a pair may be cut by the end
 */
SPRY_API spry_status spry_powers_set_shifts(spry_powers *powers, int count,
                                            const spry_scalar *shifts);
/**
 * Computes p_1(A) x, ..., p_k(A) x.
 *
 * @param x  where the option `device` says, of the matrix's type
 * @param v  k vectors like x, no two of them the same and none of them x; with results=last two
 */
SPRY_API spry_status spry_powers_apply(spry_powers *powers, const spry_vector *x,
                                       spry_vector *const *v);
/** Reports the schedule of an application and its cost. */
SPRY_API spry_status spry_powers_forecast(const spry_powers *powers, spry_powers_info *info);
/**
 * The matrix as an operator, for methods that use powers; they choose the basis. `powers` must stay
 * alive.
 */
SPRY_API spry_status spry_powers_operator(spry_powers *powers, spry_operator **op);

SPRY_END

#endif
