/*
 * SELL-C-sigma (see sell.h) with columns of 16 bits. The columns of the C entries side by side, a
 * group, are mostly near each other, and next to each other in stencils. A group has a word of 32
 * bits, and as much in the stream `halves` as it needs:
 *
 *     word           base of group      column of lane l            numbers of 16 bits
 *     -1             any                low[l] + 2^16 high[l]       2 C: low, then high
 *     below 2^30     the word           base + low[l]               C: low
 *     2^30 or more   word - 2^30        base + l                    none
 *
 * so that any matrix can be stored, and nothing is lost. Groups of a slice are of the last kind all
 * or none: so a product checks once per slice, not once per group. The position of each slice in
 * the stream is kept for those that start at it; a loop over all slices does not need it.
 */
#ifndef SPRY_FORMAT_SELL16_H
#define SPRY_FORMAT_SELL16_H

#include "formats/sell/sell.h"

#include <stdint.h>

/* Arrays besides those of sell: the stream in the place of columns, words of groups (group g of the
 * matrix has places g C .. g C + C - 1), and what of the stream comes before each slice. */
enum { SELL16_HALVES = SELL_COLUMNS, SELL16_WORDS = SELL_ARRAYS, SELL16_STARTS };

enum { SELL16_WIDE = -1, SELL16_RUN = 1 << 30 };

/* Numbers that a group has in the stream. */
static inline int64_t sell16_halves(int32_t word, int64_t C)
{
    return word < 0 ? 2 * C : word < SELL16_RUN ? C : 0;
}

#endif
