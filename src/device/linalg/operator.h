/* Operators that live on devices. */
#ifndef SPRY_DEVICE_OPERATOR_H
#define SPRY_DEVICE_OPERATOR_H

#include "device/linalg/matrix.h"
#include "formats/shared/device_layout.h"

enum { DEVICE_MOST_PRODUCTS = 16 };

/*
 * The product with A, which must stay alive, stored on the device in the format that `spec` names.
 * Transposed products use A^T in the same format, made at the first one, or in CSR where the format
 * does not hold it or devices do not have it.
 */
spry_status device_operator(spry_device *d, const spry_matrix *A, const char *spec,
                            spry_operator **op);
/* The same where the device has A as sorted general CSR already, which is read while it is made. */
spry_status device_operator_from(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                                 const char *spec, spry_operator **op);
/*
 * The product with a matrix that is in a device's memory, in csr or sell
 * (device_layout_from_matrix; NULL: the better). A^T is made on the device when it is needed. Where
 * A is not kept it is none afterwards, also after a failure: csr takes its arrays instead of
 * copying them.
 */
spry_status device_matrix_operator(device_matrix *A, bool keep, const char *spec,
                                   spry_operator **op);
/* The matrix of an operator that lives on a device, as a copy on the device: by the device alone
 * from csr and sell, otherwise by way of the host. */
spry_status device_matrix_of(const spry_operator *op, device_matrix *out);
/* Steps of a basis of so `count` that are made with one copy of the matrix to the device; 1: it is
 * on the device, or they are made one by one. */
int device_powers_depth(const spry_operator *op, int count);
/* Whether A fits as csr: matrices that do not are streamed. */
bool device_has_room(spry_device *d, const spry_matrix *A);
/* A copy on the device of an operator of the host's that has a diagonal (operator_diagonal). `make`
 * makes that operator from a matrix with new values; NULL: it takes none. */
spry_status device_diagonal_operator(spry_device *d, const spry_operator *of,
                                     spry_status (*make)(const spry_matrix *A, spry_operator **of),
                                     spry_operator **op);
/* Gives that copy the numbers that the operator has now. */
spry_status device_diagonal_refill(const spry_operator *op, const spry_operator *of);

/* What operators of devices have in common. */
spry_status device_multiply_vectors(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const spry_vector *x, spry_scalar beta,
                                    spry_vector *y);
/* A member of the class of matrices on devices. */
spry_status device_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                  spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                  const spry_dense *C);

#endif
