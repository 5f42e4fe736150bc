/* CSR on devices: as many lanes per row as leave each of them a few entries. */
#include "matrix/formats/csr.h"

#include "device/format_lanes.h"
#include "device/formats.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { GROUP = 128 };
    form->text = "formats/csr";
    form->positions = L->rows;
    form->group = d->facts.most_group < GROUP ? d->facts.most_group : GROUP;
    const int ahead = device_choose_lanes(L, columns, form);
    snprintf(form->defines, sizeof form->defines, "GROUP_ROWS=%d AHEAD=%d", CSR_GROUP, ahead);
    return SPRY_STATUS_OK;
}

const device_format device_format_csr = {.name = "csr", .open = open};
