/* Layouts in a device's memory made of matrices, and back: device_make.h has what they are made
 * with. */
#ifndef SPRY_DEVICE_CONVERT_H
#define SPRY_DEVICE_CONVERT_H

#include "device/linalg/matrix.h"
#include "formats/shared/device_layout.h"

/*
 * A, general CSR with sorted rows, in the format that `spec` names, made on the device: from
 * `on_device`, A's own arrays in its memory, or, NULL, from a copy that is made for that. *made is
 * false, and nothing done, where that has to be made on the host, as when there is no room for
 * both; with `on_device` that is a failure unless the host makes it of every matrix: the host would
 * take as long as hundreds of products. The host has no arrays of it: who wants A back asks A.
 */
spry_status device_layout_from_csr(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                                   const char *spec, bool *made, device_layout **D);
/*
 * The same of a matrix on the device, in csr or sell, values as they are and rows not sorted, so
 * that it goes back; others are SPRY_STATUS_UNSUPPORTED. NULL: sell, or csr where that would have
 * much fill. Where A is not kept, its arrays are the
 * layout's or freed, and A is none afterwards, also after a failure.
 */
spry_status device_layout_from_matrix(device_matrix *A, bool keep, const char *spec,
                                      device_layout **D);
/* Back; out is none, and that no failure, where the layout's arrays do not determine A: they do in
 * csr, and in sell without sorting, with values as they are. */
spry_status device_layout_to_matrix(const device_layout *D, device_matrix *out);
bool device_layout_goes_back(const device_layout *D);

#endif
