/* PCSR on devices: see kernels/formats/segments.knl. A piece is a group of `pad` entries. */
#include "matrix/formats/pcsr.h"

#include "device/formats/segments.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    const int64_t pad = L->number[PCSR_PAD];
    const device_segments s = {.count = L->stored / pad,
                               .pieces =
                                   (int)(L->number[PCSR_BLOCK] * L->number[PCSR_BLOCKS] / pad),
                               .piece = (int)pad,
                               .TH = 1,
                               .THW = 1};
    (void)d;
    return device_segments_open(L, columns, &s, form);
}

static spry_status arrays(const layout *L, layout_array *array)
{
    static const int read[] = {PCSR_VALUES, PCSR_COLUMNS, PCSR_FIRSTS, PCSR_ENDS};
    enum { COUNT = sizeof read / sizeof *read };
    for (int i = 0; i < COUNT; i++)
        array[i] = L->array[read[i]];
    array[COUNT] = device_segments_carries(L);
    return SPRY_STATUS_OK;
}

const device_format device_format_pcsr = {.name = "pcsr", .open = open, .arrays = arrays};
