/* ELLPACK and its kin on devices: see columnwise.knl. */
#include "formats/shared/device_columnwise_format.h"

#include "formats/shared/columnwise.h"
#include "formats/shared/device_lanes_format.h"

/* Lanes of hyb's rows read columns that are far apart: few, and only for rows that one work-item
 * would be at for long. */
static int rest_lanes(const layout *L)
{
    enum { ENTRIES = 32, MOST = 8 };
    const int lanes = device_lanes(L->number[COLUMNWISE_BEYOND] / ENTRIES, 1);
    return lanes < MOST ? lanes : MOST;
}

spry_status device_columnwise_open(const spry_device *d, const layout *L, int columns,
                                   device_form *form)
{
    const bool rest = L->array[COLUMNWISE_REST].name, sorted = L->array[COLUMNWISE_ROWS].name;
    const bool ends = sorted || !L->array[COLUMNWISE_LENGTHS].aside;
    (void)columns;
    if (L->number[COLUMNWISE_BS] > d->facts.most_group)
        return SPRY_FAIL(L->ctx, SPRY_STATUS_UNSUPPORTED,
                         "format ellr-t: BS=%d, but groups of %s have at most %d work-items",
                         (int)L->number[COLUMNWISE_BS], d->facts.name, d->facts.most_group);
    form->text = "formats/columnwise";
    form->positions = L->rows;
    form->lanes = rest ? rest_lanes(L) : (int)L->number[COLUMNWISE_T];
    form->group = (int)L->number[COLUMNWISE_BS];
    form->number[0] = (device_number){"step", L->number[COLUMNWISE_STRIDE]};
    form->number[1] = (device_number){"width", L->number[COLUMNWISE_WIDTH]};
    snprintf(form->defines, sizeof form->defines, "UNIT=%d%s%s%s", COLUMNWISE_UNIT,
             ends ? " LENGTHS=1" : "", sorted ? " SORTED=1" : "", rest ? " REST=1" : "");
    return SPRY_STATUS_OK;
}
