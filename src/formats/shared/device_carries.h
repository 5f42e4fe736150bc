/* What units of a layout carry to other rows, in a device's memory; see formats/shared/layout.h. */
#ifndef SPRY_DEVICE_CARRIES_H
#define SPRY_DEVICE_CARRIES_H

#include "formats/shared/device_formats.h"

/* What units carry: for each row that gets something, the places of its carries in order. */
typedef struct device_carries {
    bool any; /* units may carry something */
    int rows;
    device_memory *row, *start, *place;
    int64_t count; /* places of all units */
    device_memory *sums;
    int sums_columns; /* columns that sums has room for */
} device_carries;

/* Nothing where L's units carry nothing. */
spry_status device_carries_copy(spry_device *d, const layout *L, device_carries *c);
/* Room for the sums of `columns` columns. */
spry_status device_carries_room(spry_device *d, spry_type type, device_carries *c, int columns);
void device_carries_free(device_carries *c);

/* An array of the host's in new memory of the device. */
spry_status device_copy_over(spry_device *d, const void *from, int64_t bytes, device_memory **m);

#endif
