/* CSR on devices: as many lanes a row as its mean length suggests. */
#include "matrix/formats/csr.h"

#include "device/formats.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { MOST_LANES = 32, PER_LANE = 2 };
    (void)d;
    (void)columns;
    form->text = "formats/csr";
    form->positions = L->rows;
    form->lanes = 1;
    while (form->lanes < MOST_LANES && L->nnz > PER_LANE * form->lanes * L->rows)
        form->lanes *= 2;
    snprintf(form->defines, sizeof form->defines, "GROUP_ROWS=%d", CSR_GROUP);
    return SPRY_OK;
}

const device_format device_format_csr = {.name = "csr", .open = open};
