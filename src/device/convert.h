/*
 * Conversions in a device's memory, where the host would be the bottleneck: CSR to SELL without
 * sorting, array by array and bit by bit what layout_build() makes of the same matrix.
 */
#ifndef SPRY_DEVICE_CONVERT_H
#define SPRY_DEVICE_CONVERT_H

#include "device/layout.h"
#include "device/matrix.h"

/* SELL's arrays there: see matrix/formats/sell.h. */
typedef struct device_sell {
    int64_t slices, stored;
    bool any_mixed;
    device_memory *values, *columns, *offsets, *lengths, *mixed;
} device_sell;

/* *out is all zeros after a failure. */
spry_status device_csr_to_sell(spry_device *d, const device_matrix *A, int C, device_sell *out);
void device_sell_free(device_sell *s);

/* Back: A has its sizes, room for offsets, and is none after a failure. Fill is told from entries
 * by its columns, which do not rise; lengths and mixed are looked at where any_mixed. */
spry_status device_sell_to_csr(spry_device *d, const device_sell *s, int C, device_matrix *A);

/*
 * A in the format that `spec` names, made on the device from A's arrays as they are, general CSR
 * with sorted rows. *made is false, and nothing done, where that has to be made on the host, as
 * when there is no room for both. The host has no arrays of it then: who wants A back asks A.
 */
spry_status device_layout_from_csr(spry_device *d, const spry_matrix *A, const char *spec,
                                   bool *made, device_layout **D);
/*
 * The same of a matrix that is there, in csr or sell, values as they are and rows not sorted;
 * others are SPRY_STATUS_UNSUPPORTED. NULL: sell, or csr where that would have much fill. Where A
 * is not kept, its arrays are the layout's or freed, and A is none afterwards, also after a
 * failure.
 */
spry_status device_layout_from_matrix(device_matrix *A, bool keep, const char *spec,
                                      device_layout **D);
/* Back; out is none, and that no failure, where the layout's arrays are not such ones. */
spry_status device_layout_to_matrix(const device_layout *D, device_matrix *out);

#endif
