/* ELLR-T on devices: see formats/shared/columnwise.knl. T work-items share a row, and BS of them
 * are a group: what F. Vazquez et al. search to tune it. */
#include "formats/shared/device_columnwise_format.h"

const device_format device_format_ellr_t = {.name = "ellr-t",
                                            .open = device_columnwise_open,
                                            .make = device_make_ellr_t,
                                            .grid = "T=2|4|8|16 BS=128|256|512"};
