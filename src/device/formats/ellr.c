/* ELLPACK-R on devices: see kernels/formats/columnwise.knl. */
#include "device/formats/columnwise.h"

const device_format device_format_ellr = {.name = "ellr",
                                          .open = device_columnwise_open,
                                          .make = device_make_ellr,
                                          .foresee = device_make_columnwise_foresee};
