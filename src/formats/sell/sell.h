/*
 * SELL-C-sigma (Kreutzer, Hager, Wellein, Fehske, Bishop, "A unified sparse matrix data format",
 * SIAM J. Sci. Comput. 36, 2014): rows sorted by length in windows of sigma, slices of C of them,
 * each as wide as its longest row and stored column by column.
 *
 *     entry k of lane l of slice s is at offset[s] + k C + l
 *
 * Fill has the value 0 and repeats the last column of its row. Rows without entries in slices with
 * some repeat another row's columns; such slices are marked, and their empty rows' sums set to 0.
 */
#ifndef SPRY_FORMAT_SELL_H
#define SPRY_FORMAT_SELL_H

#include <stdint.h>

/* Arrays of all sliced formats: values; columns (sell: int32); offsets of slices; the row of each
 * lane, -1 past the end, when rows are sorted; the length of each lane's row; and, when there are
 * any, 1 for each slice that is mixed (see above). */
enum { SELL_VALUES, SELL_COLUMNS, SELL_OFFSETS, SELL_ROWS, SELL_LENGTHS, SELL_MIXED, SELL_ARRAYS };
/* Numbers: rows of a slice, rows of a window (1: not sorted), slices, slices of a unit. */
enum { SELL_C, SELL_SIGMA, SELL_SLICES, SELL_PER_UNIT };

/* The largest C. */
enum { SELL_MOST_C = 1024 };

#endif
