/* Orderings of the rows and columns of a matrix. A permutation gives the old place for each new
 * one, perm[new] = old, as spry_matrix_permute() takes it. */
#ifndef SPRY_REORDER_H
#define SPRY_REORDER_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Finds an ordering of the rows (and columns, if A is square) of a matrix. It depends on the
 * pattern alone, that of A and A^T together (for hubs, A's own; for btf, A's own entries that are
 * not 0); the same A gives the same ordering.
 *
 * @param order  one of SPRY_LIST_ORDERINGS; none: as it is;
 *               rcm: reverse Cuthill-McKee, a narrow band;
 *               amd: approximate minimum degree, little fill in a factorization;
 *               nd: nested dissection, little fill and independent parts (with METIS);
 *               length: rows with many entries first;
 *               colour: rows that do not depend on each other together;
 *               btf: block triangular form: strong components, no entries below the blocks. Rows
 *               keep their diagonal entries; spry_matrix_match() first gives the finest blocks;
 *               hubs: columns with many entries first, those with at most the mean in their old
 *               order
 * @param perm   out: as long as A has rows; to be freed by spry_free()
 * @return SPRY_STATUS_BAD_USAGE for an unknown order, and for one but none and length when A is not
 * square; SPRY_STATUS_UNSUPPORTED when the build did not have the library that an ordering needs
 */
SPRY_API spry_status spry_reorder(const spry_matrix *A, const char *order, int32_t **perm);

/**
 * An ordering of the rows alone that brings large entries to the diagonal: the largest possible
 * product of their moduli (I. S. Duff, J. Koster, SIAM J. Matrix Anal. Appl. 22 (2001), 973-996).
 * spry_matrix_permute() takes it with NULL for the columns; spry_scaling() with "match" gives the
 * factors that make these entries 1 and others at most 1. Entries that are 0 or not finite count
 * for none.
 *
 * @param A     square
 * @param perm  out: as long as A has rows; perm[j] is the row for place j; to be freed by
 *              spry_free()
 * @param rank  out: the number of diagonal entries then, the structural rank: a matrix with a rank
 *              below its number of rows is singular; may be NULL
 * @return SPRY_STATUS_BAD_USAGE when A is not square; SPRY_STATUS_INTERRUPTED
 */
SPRY_API spry_status spry_matrix_match(const spry_matrix *A, int32_t **perm, int64_t *rank);

/** y_i = x[perm[i]]: a right-hand side in the new ordering; or, with inverse, y[perm[i]] = x_i: a
 * solution back in the old one. x and y have one type and length, are on the host or on one device,
 * and are not the same. */
SPRY_API spry_status spry_vector_permute(const spry_vector *x, const int32_t *perm, bool inverse,
                                         spry_vector *y);

SPRY_END

#endif
