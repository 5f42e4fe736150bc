/*
 * SELL-C-sigma (see sell.h) with columns of 16 bits. The columns of the C entries side by side, a
 * group, are mostly near each other: a group has a base of 32 bits and each entry what its column
 * is beyond it. A group that spans more than 65,536 columns keeps the upper halves of its columns
 * too, so that any matrix can be stored, and nothing is lost.
 *
 *     group g = place / C:  column = base[g] + low[place]                         base[g] >= 0
 *                           column = low[place] + 2^16 high[~base[g] C + place % C]     otherwise
 */
#ifndef SPRY_FORMAT_SELL16_H
#define SPRY_FORMAT_SELL16_H

#include "matrix/formats/sell.h"

/* Arrays beside those of sell: low in the place of columns. high is there where a group has it. */
enum { SELL16_LOW = SELL_COLUMNS, SELL16_BASES = SELL_ARRAYS, SELL16_HIGH };

#endif
