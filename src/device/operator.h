/* Operators that live on devices. */
#ifndef SPRY_DEVICE_OPERATOR_H
#define SPRY_DEVICE_OPERATOR_H

#include "device/layout.h"

/*
 * The product with A, which must stay alive, stored on the device in the format that `spec` names.
 * Transposed products use A^T in the same format, made at the first one, or in CSR where the format
 * does not hold it or devices do not have it.
 */
spry_status device_operator(spry_device *d, const spry_matrix *A, const char *spec,
                            spry_operator **op);
/* Bytes an operator takes on its device; 0 on the host. */
int64_t device_operator_bytes(const spry_operator *op);

#endif
