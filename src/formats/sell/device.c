/* SELL on devices: a work-item per row; see sell.knl. */
#include "formats/sell/sell.h"

#include "formats/shared/device_make.h"
#include "formats/shared/device_sliced.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d;
    form->text = "formats/sell";
    device_open_slices(L, columns > 1 ? 3 : spry_type_is_complex(L->type) ? 4 : 6, form);
    return SPRY_STATUS_OK;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    int count = 0;
    array[count++] = L->array[SELL_VALUES];
    array[count++] = L->array[SELL_COLUMNS];
    device_add_slices(L, array + count);
    return SPRY_STATUS_OK;
}

static spry_status make(device_maker *m)
{
    make_slices s = {0};
    device_memory *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->d->ctx, make_slices_cut(m, &s));
    if (m->elsewhere)
        goto done;
    SPRY_GO(m->d->ctx, make_slices_fill(m, &s, &columns));
    make_adopt(m, SELL_COLUMNS, "columns", s.stored, sizeof(int32_t), columns);
    columns = NULL;
    make_slices_add(m, &s);
done:
    device_free(columns);
    make_slices_free(&s);
    return status;
}

const device_format device_format_sell = {.name = "sell",
                                          .open = open,
                                          .grid = "C=32 sigma=1|256|4096",
                                          .defaults = "C=32",
                                          .arrays = arrays,
                                          .make = make};
