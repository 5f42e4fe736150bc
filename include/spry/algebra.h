/* Sums and products of sparse matrices. Matrices may be in any format and of any symmetric kind;
 * results are general CSR, sorted and without duplicates. The bits of a result do not depend on the
 * number of threads. */
#ifndef SPRY_ALGEBRA_H
#define SPRY_ALGEBRA_H

#include <spry/matrix.h>

SPRY_BEGIN

/**
 * C = A B.
 *
 * C has an entry for every i, j where some k has both A[i, k] and B[k, j] stored: a sum that
 * cancels to 0 keeps its entry. Sums run over rising k, in the arithmetic of the type. In addition
 * to C the work takes memory for the longest row of C, once per thread.
 *
 * @return SPRY_STATUS_BAD_USAGE when types, contexts or sizes do not match
 */
SPRY_API spry_status spry_matrix_multiply(const spry_matrix *A, const spry_matrix *B,
                                          spry_matrix **C);
/** C = alpha A + beta B, with the entries of both, also where a factor or a sum is 0. Factors of
 * real matrices must be real. */
SPRY_API spry_status spry_matrix_add(spry_scalar alpha, const spry_matrix *A, spry_scalar beta,
                                     const spry_matrix *B, spry_matrix **C);
/** C = A^T A, or A^H A when conjugate: one triangle is computed and mirrored, so that C is
 * symmetric (hermitian) to the last bit. */
SPRY_API spry_status spry_matrix_gram(const spry_matrix *A, bool conjugate, spry_matrix **C);
/**
 * C = R A P, the Galerkin product of coarse levels.
 *
 * The cheaper of the two products is taken first, R (A P) when they cost the same. C of a symmetric
 * A is symmetric up to rounding.
 *
 * @param R  NULL for P^H (P^T of real matrices)
 */
SPRY_API spry_status spry_matrix_triple(const spry_matrix *R, const spry_matrix *A,
                                        const spry_matrix *P, spry_matrix **C);

SPRY_END

#endif
