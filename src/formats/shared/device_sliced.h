/* What sell and sell16 have in common on devices. */
#ifndef SPRY_DEVICE_SLICED_H
#define SPRY_DEVICE_SLICED_H

#include "formats/shared/device_formats.h"

/* Positions and constants of a form; `ahead` entries of a row are on their way at a time. */
void device_open_slices(const layout *L, int ahead, device_form *form);
/* Adds the arrays besides values and columns: offsets, and rows, lengths and mixed where the layout
 * has them. */
void device_add_slices(const layout *L, layout_array *array);

#endif
