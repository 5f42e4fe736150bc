/* ELLPACK-R on devices: see formats/shared/columnwise.knl. */
#include "formats/shared/device_columnwise_format.h"

const device_format device_format_ellr = {
    .name = "ellr", .open = device_columnwise_open, .make = device_make_ellr};
