/* spry's side of the benchmarks on devices: the one place that knows how an operator gets to a
 * device. */
#ifndef BENCH_DEVICE_SPRY_H
#define BENCH_DEVICE_SPRY_H

#include "peer.h"

/* The product with A on a device, "cuda:0" or "cpu", in a format with its options, or "auto". */
spry_status device_spry_operator(spry_context *ctx, const char *device, const spry_matrix *A,
                                 const char *format, spry_operator **op);
/* Waits until all that the device was asked for is done; NULL is the host. */
spry_status device_spry_finish(spry_device *device);
/* The median time of some work and of what is left of it on the device, after one that does not
 * count; 15 rounds at most. */
double device_spry_median(spry_context *ctx, spry_device *device, int rounds,
                          void (*work)(void *data), void *data);
/* Bytes per second that the device reads, as spry measures it now; 0 where it cannot. */
double device_spry_bandwidth(spry_context *ctx, const char *device);

#endif
