/* How many work-items share a row. */
#ifndef SPRY_DEVICE_LANES_FORMAT_H
#define SPRY_DEVICE_LANES_FORMAT_H

#include <stdint.h>

/* Lanes of a row for formats whose lanes take entries in turn: a power of two, so many that each
 * has about three of them. */
static inline int device_lanes(int64_t entries, int64_t rows)
{
    enum { MOST = 32, EACH = 4 };
    int lanes = 1;
    while (lanes < MOST && entries > EACH * lanes * rows)
        lanes *= 2;
    return lanes;
}

#endif
