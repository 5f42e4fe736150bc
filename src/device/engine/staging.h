/*
 * Two streams other than the device's own, each with pinned memory of the host's for what it sends
 * and fetches: while one copies, the other's product runs or the host fills its memory. They are
 * made at their first use and stay with the device, as pinning takes longer than copying.
 */
#ifndef SPRY_DEVICE_STAGING_H
#define SPRY_DEVICE_STAGING_H

#include "device/engine/device.h"

enum { STAGING_SIDES = 2 };

typedef struct device_staging {
    device_stream *stream;
    void *in, *out;
    int64_t in_bytes, out_bytes;
} device_staging;

/* Both with at least these bytes; (*sides)[0] and [1]. What was asked for on them before is done
 * then, and later work on them waits for what is on the device's stream now. */
spry_status device_staging_open(spry_device *d, int64_t in_bytes, int64_t out_bytes,
                                device_staging **sides);
/* Waits for both, whatever failed before, and gives large memory back. */
void device_staging_finish(spry_device *d);
/* device_put() of all of an array: large ones by all threads through pinned memory, piece by piece,
 * while the piece before is on its way. */
spry_status device_put_large(device_memory *to, const void *from, int64_t bytes);
/* device_get() of all of an array in the same way. */
spry_status device_get_large(const device_memory *from, void *to, int64_t bytes);
/* For device_close(). */
void device_staging_close(spry_device *d);

#endif
