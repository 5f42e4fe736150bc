/* See device_sliced.h. */
#include "formats/shared/device_sliced.h"

#include "formats/sell/sell.h"

void device_open_slices(const layout *L, int ahead, device_form *form)
{
    form->positions = L->rows; /* lanes past the last row have none */
    form->lanes = 1;
    snprintf(form->defines, sizeof form->defines, "SLICE=%d AHEAD=%d%s%s", (int)L->number[SELL_C],
             ahead, L->array[SELL_ROWS].name ? " SORTED=1" : "",
             L->array[SELL_MIXED].name ? " MIXED=1" : "");
}

void device_add_slices(const layout *L, layout_array *array)
{
    *array++ = L->array[SELL_OFFSETS];
    if (L->array[SELL_ROWS].name)
        *array++ = L->array[SELL_ROWS];
    if (L->array[SELL_MIXED].name) {
        *array++ = L->array[SELL_MIXED];
        *array = L->array[SELL_LENGTHS];
        array->aside = false; /* the layout's own, and read by kernels */
    }
}
