/* Vectors in a device's memory. */
#ifndef SPRY_DEVICE_VECTOR_H
#define SPRY_DEVICE_VECTOR_H

#include "device/engine/device.h"
#include "operator/operator.h"

extern const vector_class device_vectors;
/* Fails where the device cannot compute with a type. */
spry_status device_check_type(const spry_device *d, spry_type type);

/* A vector's memory; NULL: it is on the host. */
device_memory *device_vector_memory(const spry_vector *v);

/* A vector over memory of a device; the memory must stay alive, and the vector is not freed. */
spry_vector device_vector_over(spry_device *d, spry_type type, int64_t n, const device_memory *m);

/* z = a d .* x + b z for n elements, or conj(d) in d's place; b = 0 does not read z. */
spry_status device_multiply_elements(spry_device *dev, spry_type type, int64_t n, spry_scalar a,
                                     const device_memory *d, bool conjugate, const device_memory *x,
                                     spry_scalar b, device_memory *z);

/* y[i] = x[places[i]], or y[places[i]] = x[i] where it is `back`, for n numbers of 32 bits in the
 * device's memory. */
spry_status device_pick(spry_device *d, spry_type type, int64_t n, const device_memory *places,
                        bool back, const device_memory *x, device_memory *y);

/* Element (i, c) of a block is at at + i row + c col. */
typedef struct device_block {
    const device_memory *memory;
    int64_t at, row, col;
} device_block;
spry_status device_copy_block(spry_device *d, spry_type type, int64_t n, int columns,
                              device_block from, device_block to);

#endif
