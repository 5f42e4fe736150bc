/* Dense blocks on devices: see kernels/formats/bsr.knl. */
#include "matrix/formats/bsr.h"

#include "device/formats.h"
#include "device/formats/lanes.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d, (void)columns;
    form->text = "formats/bsr";
    form->positions = L->rows;
    form->lanes = device_lanes(L->array[BSR_COLUMNS].count, L->array[BSR_OFFSETS].count - 1);
    snprintf(form->defines, sizeof form->defines, "R=%d C=%d", (int)L->number[BSR_R],
             (int)L->number[BSR_C]);
    return SPRY_OK;
}

const device_format device_format_bsr = {.name = "bsr", .open = open};
