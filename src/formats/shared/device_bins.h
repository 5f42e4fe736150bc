/*
 * Sliced COO in the order of rows on devices (formats/scoo/scoo.h): products by propagation
 * blocking, in two kernels. See bins.knl.
 */
#ifndef SPRY_DEVICE_FORMAT_BINS_H
#define SPRY_DEVICE_FORMAT_BINS_H

#include "formats/shared/device_formats.h"

/* Entries of a slice that a group works on at once. */
enum { DEVICE_BINS_GROUP = 256, DEVICE_BINS_CHUNK = 4 * DEVICE_BINS_GROUP };

/* Most rows of a slice: their sums must fit in local memory next to a chunk. */
int64_t device_bins_height(const spry_device *d, const layout *L);
/* What device_format.open and .arrays are to do for such a layout; height: rows of a slice at most.
 */
spry_status device_bins_open(const spry_device *d, const layout *L, int columns, int64_t height,
                             device_form *form);
spry_status device_bins_arrays(const layout *L, layout_array *array);

/* Sliced COO of all kinds made on the device (src/formats/scoo/device_build.c). */
spry_status device_make_scoo(device_maker *m);

#endif
