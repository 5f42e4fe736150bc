/* Sparse approximate inverses made in a device's memory (device/kernels/sai.knl). */
#ifndef SPRY_PRECON_LOCAL_DEVICE_H
#define SPRY_PRECON_LOCAL_DEVICE_H

#include "device/linalg/matrix.h"
#include "precon/inverse/local.h"

/* The pattern from a matrix on the device, without values. *made is false, and nothing done, where
 * rows have to be shortened, which the host does. */
spry_status local_device_pattern(const device_matrix *A, const local_pattern *how, bool *made,
                                 device_matrix *P);
/* A pattern of the host's. */
spry_status local_device_put_pattern(spry_device *d, const spry_matrix *P, device_matrix *out);
/* The values of X over a pattern: see problems.h; shift is for factors. */
spry_status local_device_values(const device_matrix *B, const device_matrix *P, local_kind kind,
                                double shift, device_memory **x, local_outcome *outcome);
/* X as a matrix: a copy of the pattern with values x, which it takes. */
spry_status local_device_matrix(const device_matrix *P, spry_type type, device_memory *x,
                                device_matrix *X);

#endif
