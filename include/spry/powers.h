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

/** How powers of a matrix are made; used by one thread at a time. */
typedef struct spry_powers spry_powers;

/* The most powers of one application. */
enum { SPRY_POWERS_MOST = 16 };

/** What one application costs. */
typedef struct spry_powers_info {
    size_t size;       /**< SPRY_POWERS_INFO_INIT */
    char schedule[16]; /**< "skewed", "parts", or "plain": products one after the other */
    char cut[16];      /**< how rows are cut: "rows", "rcm", "metis" */
    int steps;         /**< k */
    int depth;         /**< steps that are made together: A is read once for so many */
    int64_t parts;     /**< of rows that are worked on by themselves; skewed: one for each thread */
    int64_t ghost_rows[16];    /**< computed more than once in each step, of all */
    int64_t ghost_entries[16]; /**< of these rows, as often */
    int64_t part_bytes;        /**< fast memory that a part, or the window of a thread, takes */
    int64_t memory;            /**< bytes that are kept, beside A itself */
    int64_t plain_bytes; /**< the least that k products move through memory, or read from a file */
    int64_t bytes;       /**< the least that this moves */
    double gain; /**< times as fast as k products, by these bytes and by the work; 1: plain */
    int64_t read_bytes;  /**< of files: read so far in all */
    double read_seconds; /**< that this took, beside the work or not */
    double wait_seconds; /**< of these, while nothing else could be done */
} spry_powers_info;
#define SPRY_POWERS_INFO_INIT SPRY_SIZED(spry_powers_info)

/**
 * Prepares powers of a square matrix. Where reading A once for several steps gains nothing, for
 * want of fast memory or because parts need too much of each other, products are made one by one;
 * what was chosen spry_powers_forecast() tells. Results have the bits of products with
 * spry_operator_from_matrix() in each case.
 *
 * Of a matrix that is distributed over ranks each rank has a part with the rows around it, and
 * vectors are sent once for several steps; then this, and applications, are collective, and ghosts
 * are those of this rank.
 *
 * @param A        any format, general CSR is used in place; it must stay alive. When its values or
 *                 its pattern change, that is seen
 * @param options  of spry_options_of("powers"): "k=8 basis=chebyshev low=0.1 high=8"; NULL: k = 8,
 *                 powers themselves
 * @param powers   out
 */
SPRY_API spry_status spry_powers_new(const spry_matrix *A, const char *options,
                                     spry_powers **powers);
/**
 * The same of a matrix that stays in its native file (.spry), however much larger than memory that
 * is: rows are read in their order, once for as many steps as `memory` is enough for, and the
 * vectors alone are in memory whole. All indices are looked at once here, values are not. The file
 * must stay as it is: what has changed is found out and told, never used.
 *
 * @param ctx      that vectors are of
 * @param path     the file; general CSR, square
 * @param options  as of spry_powers_new(), with `memory` and `keep` as they are for files
 * @param powers   out; spry_powers_operator() makes an operator of it that solvers take
 */
SPRY_API spry_status spry_powers_open(spry_context *ctx, const char *path, const char *options,
                                      spry_powers **powers);
/**
 * The same of an operator that is no matrix: steps of a stencil (spry/grid/grid.h) go close behind
 * each other through planes or lines that are in the cache, where that is measured to pay; all
 * others are made by products. Parts and other orders are for matrices alone. Collective where the
 * operator is.
 *
 * A step is alpha A v_j + gamma v_(j-1) of one spry_operator_multiply(), then beta v_j; or, where
 * there is no v_(j-1), alpha A v_j + beta v_j. Bits are the same whatever is chosen.
 *
 * @param A        square; it must stay alive
 * @param options  as of spry_powers_new(), without `device`: vectors are where the operator is.
 *                 "results=last" makes p_k(A) x alone, as steps in time do: vectors of an
 *                 application are two then, the first of which gets it
 * @param powers   out
 */
SPRY_API spry_status spry_powers_from_operator(const spry_operator *A, const char *options,
                                               spry_powers **powers);
/** Frees it; NULL is allowed. */
SPRY_API void spry_powers_free(spry_powers *powers);

/**
 * The shifts of Newton's basis, v_(j+1) = (A - shift_j) v_j, in the order they are to be taken;
 * Leja's keeps the basis well conditioned. For real types those that are not real come in pairs,
 * a number and its conjugate behind it, which two real steps make together: the first is
 * (A - re) v_j.
 *
 * @param count   k of them; a pair may be cut by the end
 */
SPRY_API spry_status spry_powers_set_shifts(spry_powers *powers, int count,
                                            const spry_scalar *shifts);
/**
 * Makes p_1(A) x, ..., p_k(A) x.
 *
 * @param x  where the option `device` says, of the matrix's type
 * @param v  k vectors like x, no two of them the same and none of them x; with results=last two
 */
SPRY_API spry_status spry_powers_apply(spry_powers *powers, const spry_vector *x,
                                       spry_vector *const *v);
/** Tells what an application costs, and how it is made. */
SPRY_API spry_status spry_powers_forecast(const spry_powers *powers, spry_powers_info *info);
/**
 * The matrix as an operator whose methods have powers made this way, with any basis of theirs.
 * `powers` must stay alive.
 */
SPRY_API spry_status spry_powers_operator(spry_powers *powers, spry_operator **op);

SPRY_END

#endif
