/* ELLPACK and its kin on devices: what their files share (src/device/columnwise.c). */
#ifndef SPRY_DEVICE_COLUMNWISE_H
#define SPRY_DEVICE_COLUMNWISE_H

#include "device/formats.h"

spry_status device_columnwise_open(const spry_device *d, const layout *L, int columns,
                                   device_form *form);

#endif
