/* HYB on devices: see kernels/formats/columnwise.knl. */
#include "device/formats/columnwise.h"

const device_format device_format_hyb = {.name = "hyb",
                                         .open = device_columnwise_open,
                                         .make = device_make_hyb,
                                         .foresee = device_make_hyb_foresee};
