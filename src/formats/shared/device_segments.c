/* Unit formats whose rows are segments: see device_segments_format.h. */
#include "formats/shared/device_segments_format.h"

/* Pieces whose sums are in local memory at a time: enough to give each work-item several, few
 * enough for several groups to share a multiprocessor. Whole tiles where entries go down their
 * columns: then all work-items read side by side. */
static int chunk_of(const layout *L, int columns, const device_segments *s, int group)
{
    enum { BYTES = 16384, MOST = 2048 };
    const int tile = s->order == SEGMENTS_ENTRIES_DOWN ? s->TH * s->THW : 1;
    int chunk = BYTES / (columns * (int)spry_type_size(L->type));
    chunk = chunk < MOST ? chunk : MOST;
    chunk = chunk > group ? chunk : group;
    return chunk >= group + tile ? chunk / tile * tile : chunk;
}

spry_status device_segments_open(const layout *L, int columns, const device_segments *s,
                                 device_form *form)
{
    enum { GROUP = 256 };
    form->text = "formats/segments";
    form->by_units = true;
    form->positions = L->units;
    form->group = GROUP;
    form->number[0] = (device_number){"count", s->count};
    snprintf(form->defines, sizeof form->defines,
             "PIECE=%d PIECES=%d ORDER=%d TH=%d THW=%d LEADS=%d KEPT=%d CHUNK=%d", s->piece,
             s->pieces, (int)s->order, s->TH, s->THW, s->leads, s->kept,
             chunk_of(L, columns, s, GROUP));
    return SPRY_STATUS_OK;
}

layout_array device_segments_carries(const layout *L)
{
    return (layout_array){
        .name = "carry_at", .count = L->units + 1, .size = sizeof(int64_t), .data = L->carry_at};
}
