/* A matrix that an operator has stored for a device. */
#ifndef SPRY_DEVICE_STORED_H
#define SPRY_DEVICE_STORED_H

#include "device/linalg/matrix.h"
#include "device/linalg/streamed.h"
#include "formats/shared/device_layout.h"

/* In the device's memory, or copied to it for each product; neither: not set up yet. */
typedef struct device_stored {
    device_layout *whole;
    device_streamed *streamed;
} device_stored;

/* A in the format that `spec` names: whole, where it fits. on_device: A as sorted general CSR in
 * the device's memory, which is read; NULL: A is copied to it. */
spry_status device_stored_make(spry_device *d, const spry_matrix *A, device_matrix *on_device,
                               const char *spec, device_stored *to);
void device_stored_free(device_stored *s);
/* What the host knows of it. */
const layout *device_stored_host(const device_stored *s);

#endif
