/* Jagged diagonals on devices: see formats/shared/columnwise.knl. Lengths of lines, which the host
 * has aside, spare a look at where columns end for each entry. */
#include "formats/shared/device_columnwise_format.h"

#include "formats/shared/columnwise.h"

static spry_status arrays(const layout *L, layout_array *array)
{
    static const int read[] = {COLUMNWISE_VALUES, COLUMNWISE_COLUMNS, COLUMNWISE_LENGTHS,
                               COLUMNWISE_STARTS, COLUMNWISE_ROWS};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        array[i] = L->array[read[i]];
        array[i].aside = false;
    }
    return SPRY_STATUS_OK;
}

const device_format device_format_jds = {.name = "jds",
                                         .open = device_columnwise_open,
                                         .arrays = arrays,
                                         .grid = "pad=1|32",
                                         .make = device_make_jds};
