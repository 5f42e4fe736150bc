/* ELLPACK and its kin on devices: what their files share (src/formats/shared/device_columnwise.c).
 */
#ifndef SPRY_DEVICE_COLUMNWISE_H
#define SPRY_DEVICE_COLUMNWISE_H

#include "formats/shared/device_formats.h"

spry_status device_columnwise_open(const spry_device *d, const layout *L, int columns,
                                   device_form *form);
/* Made on the device (src/formats/shared/device_build_columnwise.c). */
spry_status device_make_ell(device_maker *m);
spry_status device_make_ellr(device_maker *m);
spry_status device_make_ellr_t(device_maker *m);
spry_status device_make_hyb(device_maker *m);
spry_status device_make_jds(device_maker *m); /* src/formats/jds/device_build.c */

#endif
