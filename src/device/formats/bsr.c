/* Dense blocks on devices: see kernels/formats/bsr.knl. */
#include "matrix/formats/bsr.h"

#include "device/formats.h"
#include "device/formats/lanes.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const int64_t block_rows = L->array[BSR_OFFSETS].count - 1, r = L->number[BSR_R];
    int step = 1;
    (void)d, (void)columns;
    while (step < r)
        step *= 2;
    if (block_rows * step > INT32_MAX) /* seldom, and no more than a loss of time */
        step = (int)r;
    form->text = "formats/bsr";
    form->positions = block_rows * step;
    form->lanes = device_lanes(L->array[BSR_COLUMNS].count, block_rows);
    snprintf(form->defines, sizeof form->defines, "R=%d C=%d STEP=%d", (int)r,
             (int)L->number[BSR_C], step);
    form->number[0] = (device_number){"last", L->rows};
    return SPRY_STATUS_OK;
}

const device_format device_format_bsr = {.name = "bsr", .open = open};
