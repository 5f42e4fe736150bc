/* Orders for the rows and columns of a matrix. A permutation says for each new place which old one
 * comes there, perm[new] = old, as spry_matrix_permute() takes it. */
#ifndef SPRY_REORDER_H
#define SPRY_REORDER_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * Finds an order for the rows (and columns, where A is square) of a matrix. It depends on the
 * places of entries alone, those of A and A^T together; the same A gives the same order.
 *
 * @param order  one of SPRY_LIST_ORDERS; none: as it is;
 *               rcm: reverse Cuthill-McKee, a narrow band;
 *               amd: approximate minimum degree, little fill in a factorization;
 *               nd: nested dissection, little fill and independent parts (with METIS);
 *               length: rows with many entries first;
 *               colour: rows that do not depend on each other together
 * @param perm   out: as long as A has rows; to be freed by spry_free()
 * @return SPRY_STATUS_BAD_USAGE for an unknown order, and for one but none and length when A is not
 * square; SPRY_STATUS_UNSUPPORTED when the library that an order needs was not there at the build
 */
SPRY_API spry_status spry_reorder(const spry_matrix *A, const char *order, int32_t **perm);

/** y_i = x[perm[i]]: a right-hand side in the new order. x and y are of one type and length, on the
 * host or on one device, and not the same. */
SPRY_API spry_status spry_vector_permute(const spry_vector *x, const int32_t *perm, spry_vector *y);
/** y[perm[i]] = x_i: a solution back in the old order. */
SPRY_API spry_status spry_vector_unpermute(const spry_vector *x, const int32_t *perm,
                                           spry_vector *y);

SPRY_END

#endif
