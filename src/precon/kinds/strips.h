/* The options of precon strips, which grid makes. */
#ifndef SPRY_PRECON_STRIPS_H
#define SPRY_PRECON_STRIPS_H

#include "precon/precon.h"

#define STRIPS_OPTIONS(item)                                                                     \
    PRECON_COMMON(item)                                                                          \
    item(INT, parts, "1", 1, 1e6, NULL,                                                          \
         "strips that the grid is cut into, or each rank's block of it")                         \
    item(WORD, axis, "auto", 0, 0, "auto x y z",                                                 \
         "along which strips follow each other; auto: the one that is cut for most ranks, else " \
         "the longest one")                                                                      \
    item(INT, overlap, "2", 1, 1e6, NULL, "points that a strip has of those next to it")         \
    item(INT, layer, "0", 0, 1e6, NULL,                                                          \
         "intervals of the absorbing layer behind the overlap; 0: those of a wavelength")        \
    item(INT, sweeps, "0", 0, 64, NULL,                                                          \
         "times that strips are solved one after another, forth and back along the axis, each "  \
         "with what those before have left; 0: all of them at once")                             \
    item(TEXT, sub, "direct", 0, 0, NULL, "what solves a strip: any preconditioner of the host")

typedef struct strips_options {
    STRIPS_OPTIONS(SPRY_OPTION_FIELD)
} strips_options;

#endif
