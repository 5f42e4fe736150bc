/* Merge-path CSR on devices: a group per unit; see kernels/formats/merge.knl. */
#include "matrix/formats/merge.h"

#include "device/formats.h"

/*
 * Entries that a group keeps in local memory, at most MOST; less where that has no room. Units as
 * small as that are done by few work-items with many entries each, which suits matrices that are
 * read in order; larger ones by many with few each, which suits those whose columns are all over
 * the place.
 */
static int choose_tile(const spry_device *d, const layout *L, int columns, int group)
{
    enum { MOST = 2048 };
    const int64_t items = L->number[MERGE_ITEMS], size = (int64_t)spry_type_size(L->type);
    int64_t tile = columns > 1 || L->type == SPRY_TYPE_Z ? MOST / 2 : MOST;
    while (tile > group &&
           (tile / 2 >= items || tile * (size * 17 / 16 + (columns > 1 ? 4 : 0)) + group * size >
                                     d->facts.local_bytes * 3 / 4))
        tile /= 2;
    return (int)tile;
}

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    enum { SMALL = 1024, FEW = 128, MANY = 512 };
    form->text = "formats/merge";
    form->by_units = true;
    form->positions = L->units;
    form->group = columns > 1 || L->number[MERGE_ITEMS] <= SMALL ? FEW : MANY;
    form->group = d->facts.most_group < form->group ? d->facts.most_group : form->group;
    snprintf(form->defines, sizeof form->defines, "TILE=%d",
             choose_tile(d, L, columns, form->group));
    return SPRY_STATUS_OK;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    for (int i = 0; i <= MERGE_ENDS; i++)
        array[i] = L->array[i];
    array[MERGE_ENDS + 1] = (layout_array){.name = "carry_at",
                                           .count = L->units + 1,
                                           .size = sizeof *L->carry_at,
                                           .data = L->carry_at};
    return SPRY_STATUS_OK;
}

const device_format device_format_merge = {.name = "merge",
                                           .open = open,
                                           .grid = "items=1024|2048",
                                           .defaults = "items=2048",
                                           .arrays = arrays};
