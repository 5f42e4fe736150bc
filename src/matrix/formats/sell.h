/*
 * SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format",
 * SIAM J. Sci. Comput. 36, 2014): rows sorted by length in windows of sigma, slices of C of them,
 * each as wide as its longest row and stored column by column.
 *
 *     entry k of lane l of slice s is at offset[s] + k C + l
 */
#ifndef SPRY_FORMAT_SELL_H
#define SPRY_FORMAT_SELL_H

/* Arrays; SELL_ROWS (row of each lane, -1 past the end) is there when sigma > 1. */
enum { SELL_VALUES, SELL_COLUMNS, SELL_OFFSETS, SELL_ROWS, SELL_LENGTHS };
/* Numbers. */
enum { SELL_C, SELL_SIGMA };

#endif
