/* The product with rows that are distributed over ranks, of a rank that works on a device. */
#ifndef SPRY_DEVICE_SPREAD_H
#define SPRY_DEVICE_SPREAD_H

#include "device/engine/device.h"
#include "ranks/operator_host.h"

/* As dist_operator() (ranks/operator_host.h), with the own block's product on the device: ranks
 * on devices and ranks on processors make one operator together. Collective. */
spry_status device_dist_operator(spry_device *d, const spry_matrix *A, spry_status made,
                                 spry_operator *own, spry_operator **op);
/* The product of any such rows, as dist_operator_of(): parts are operators of the device, and
 * NULL where they have no rows. Collective. */
spry_status device_dist_operator_of(spry_device *d, spry_type type, int64_t rows,
                                    const dist_source *source, spry_operator **op);
/* y = alpha op(A) x + beta y; a failure here is told after the messages that others wait for. */
spry_status device_dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                 device_memory *y);
/* The messages of such a product alone, of a rank that cannot make its own part. */
spry_status device_dist_skip(const spry_operator *op, spry_transpose transpose);
/*
 * Finds out whether halos can be sent from and to devices' memory: where MPI says so on all ranks
 * that work on devices, a few bytes are sent and compared, by each to itself and then to the next.
 * Else, and with SPRY_TRANSPORT=staged, they go through pinned memory. For operators that are made
 * from now on. Collective; d is NULL on ranks that work on processors.
 */
spry_status device_dist_choose_transport(spry_context *ctx, spry_device *d);
bool device_is_distributed(const spry_operator *op);
/* The product with the own block alone. */
const spry_operator *device_dist_own(const spry_operator *op);

#endif
