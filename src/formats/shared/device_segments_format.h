/* Unit formats whose rows are segments of a sequence of pieces (segments.knl): what
 * pcsr and axt share (src/formats/shared/device_segments.c). */
#ifndef SPRY_DEVICE_SEGMENTS_H
#define SPRY_DEVICE_SEGMENTS_H

#include "formats/shared/device_formats.h"

/* In which order the entries of pieces are. */
typedef enum segments_order { SEGMENTS_ALONG, SEGMENTS_DOWN, SEGMENTS_ENTRIES_DOWN } segments_order;

typedef struct device_segments {
    int64_t count; /* pieces of all units */
    int pieces;    /* of a unit */
    int piece;     /* entries of one */
    segments_order order;
    int TH, THW; /* lines and columns of a tile; 1 where there are none */
    bool leads;  /* what is carried is the unit's first segment, not its last */
    bool kept;   /* numbers of x follow each THW values */
} device_segments;

spry_status device_segments_open(const layout *L, int columns, const device_segments *s,
                                 device_form *form);
/* The places of carries as an array. */
layout_array device_segments_carries(const layout *L);

#endif
