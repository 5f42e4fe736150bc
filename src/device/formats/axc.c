/* AXC on devices: see kernels/formats/axc.knl. */
#include "matrix/formats/axc.h"

#include "device/formats.h"
#include "device/formats/lanes.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d, (void)columns;
    form->text = "formats/axc";
    form->positions = L->rows;
    form->lanes = device_lanes(L->stored, L->rows);
    snprintf(form->defines, sizeof form->defines, "HBRS=%d KEPT=%d", (int)L->number[AXC_HBRS],
             (int)L->number[AXC_KEPT]);
    return SPRY_STATUS_OK;
}

const device_format device_format_axc = {.name = "axc", .open = open};
