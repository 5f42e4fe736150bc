/*
 * Orders of rows found on a device from the places of entries on it (src/matrix/algebra has the
 * host's). They follow from the matrix alone: nothing hangs on which work-item comes first.
 */
#ifndef SPRY_DEVICE_ORDER_H
#define SPRY_DEVICE_ORDER_H

#include "device/linalg/matrix.h"

/*
 * The order "rcm" or "hubs" of a square matrix of general CSR whose columns rise strictly in each
 * row: *from, to be freed by base_free(), says which row comes to each place. `symmetric`: every
 * entry has a mirror image. *from stays NULL where rcm would take searches over more than `most`
 * levels.
 */
spry_status device_order(spry_device *d, const matrix_arrays *csr, const char *order,
                         bool symmetric, int64_t most, int32_t **from);

#endif
