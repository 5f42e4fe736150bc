/* Diagonals on devices: see kernels/formats/dia.knl. */
#include "matrix/formats/dia.h"

#include "device/formats.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d, (void)columns;
    form->text = "formats/dia";
    form->positions = L->rows;
    form->number[0] = (device_number){"cols", L->cols};
    snprintf(form->defines, sizeof form->defines, "BLOCK=%d STRIP=%d", (int)L->number[DIA_BLOCK],
             (int)L->number[DIA_STRIP]);
    return SPRY_STATUS_OK;
}

const device_format device_format_dia = {.name = "dia", .open = open};
