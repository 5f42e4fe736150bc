/*
 * Operators that are made of operations on vectors: their class has `apply`, which answers
 * z = op(M) r where the operator lives, and these two as multiply and multiply_vectors.
 */
#ifndef SPRY_HOST_APPLY_H
#define SPRY_HOST_APPLY_H

#include "operator/operator.h"

/* Products with arrays of the host, of operators that have multiply_vectors. */
spry_status operator_apply_arrays(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const void *x, spry_scalar beta, void *y);
/* Products of operators that have `apply`: with factors, and with vectors of other places, by way
 * of copies. */
spry_status operator_apply_vectors(const spry_operator *op, spry_transpose transpose,
                                   spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                   spry_vector *y);
/* Random numbers, the same wherever the vector is: those of the host's kernel `random`. */
spry_status vector_random(spry_vector *v, uint64_t seed);

/* The product with blocks of the host that were found to fit, column by column; of columns.c. */
spry_status host_multiply_singly(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                 const spry_dense *C);
/* Whether what lies between the first and the last number of each block has something in common;
 * of columns.c. */
bool host_dense_overlap(const spry_dense *B, const spry_dense *C, int64_t size);

#endif
