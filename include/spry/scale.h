/* Scalings of rows and columns: diag(left) A diag(right). */
#ifndef SPRY_SCALE_H
#define SPRY_SCALE_H

#include <spry/matrix.h>
#include <spry/options.h>

SPRY_BEGIN

/**
 * A = diag(left) A diag(right), in place: entry i, j becomes left_i a_ij right_j. (To keep A,
 * change a copy: spry_matrix_convert() to A's own format makes one.)
 *
 * A matrix of a symmetric kind stays one when left and right are the same (conjugates for hermitian
 * ones), else it becomes general.
 *
 * @param A      changed
 * @param left   of A's type, as long as A has rows, on the host or a device; NULL for ones
 * @param right  the same, as long as A has columns
 */
SPRY_API spry_status spry_matrix_scale(spry_matrix *A, const spry_vector *left,
                                       const spry_vector *right);

/**
 * Factors that bring the entries of a matrix near 1. With B = diag(left) A diag(right), A x = b
 * is solved as B y = left .* b, x = right .* y; see spry_vector_multiply().
 *
 * Factors are powers of two, so that scaling makes no rounding errors unless a number leaves the
 * range of normal numbers; exact=no drops this. They are positive and finite, and 1 for rows and
 * columns without nonzero entries; values that are not finite are ignored.
 *
 * @param kind   one of SPRY_LIST_SCALINGS, with options after a colon ("row:norm=two,exact=no"):
 *
 *               symmetric: left = right = 1 / sqrt(|a_ii|), or by max_j |a_ij| where a_ii is 0
 *
 *               row: left_i = 1 / max_j |a_ij| (norm=two: one over the 2-norm), right = 1
 *
 *               column: the same for columns, left = 1
 *
 *               equilibrate: the largest entries of rows and columns become 1, or between 1/2 and 2
 *               with powers of two; left = right where |A| is symmetric (D. Ruiz, A scaling
 *               algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034)
 *
 *               match: the entries with the largest product, one in each row and column, become 1,
 *               all others at most 1 (2 with powers of two); left = right where A is symmetric or
 *               hermitian; see spry_matrix_match()
 *
 * @param left   out: of A's type, as long as A has rows
 * @param right  out: of A's type, as long as A has columns
 */
SPRY_API spry_status spry_scaling(const spry_matrix *A, const char *kind, spry_vector **left,
                                  spry_vector **right);

SPRY_END

#endif
