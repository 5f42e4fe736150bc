/*
 * Matrices that do not fit into a device's memory: they stay with the host, cut into blocks of
 * rows, and every product copies all blocks to it one after the other, while the one before is
 * multiplied. Copies take most of the time: a product is tens of times slower than in memory.
 */
#ifndef SPRY_DEVICE_STREAMED_H
#define SPRY_DEVICE_STREAMED_H

#include "formats/shared/device_layout.h"
#include "host/powers.h"

typedef struct device_streamed device_streamed;

/*
 * Bytes that each block of A, general CSR with sorted rows, may have on d in the format that `spec`
 * names; 0: A fits as a whole. *whole: so it may also where the result is not 0, which only trying
 * shows.
 */
int64_t device_streamed_needed(spry_device *d, const spry_matrix *A, const char *spec, bool *whole);
/* Blocks of about `block_bytes` bytes, in csr where the format does not do for them. A is not
 * needed any more afterwards. */
spry_status device_streamed_new(spry_device *d, const spry_matrix *A, const char *spec,
                                int64_t block_bytes, device_streamed **out);
void device_streamed_free(device_streamed *S);
/* All products with one pass through the matrix. The first pass warns, and reports what it cost. */
spry_status device_streamed_multiply(device_streamed *S, const device_product *products, int count);
/*
 * Several steps of a basis with one pass through the matrix, where its window (host/skew.h) fits
 * into the device's memory; else with as many passes as it takes. Vectors are on the device. *made
 * stays false where two steps do not go together.
 */
spry_status device_streamed_powers(device_streamed *S, int count, const power_step *steps,
                                   const spry_vector *x, spry_vector *const *v, bool *made);
/* Steps that one pass would be for, of `count`; 1: they do not go together. */
int device_streamed_depth(const device_streamed *S, int count);
/* The layout of the first block: format and kind are those of all. */
const layout *device_streamed_host(const device_streamed *S);
void device_streamed_describe(const device_streamed *S, spry_storage *storage);

#endif
