/*
 * Merge-path CSR (D. Merrill, M. Garland, "Merge-based parallel sparse matrix-vector
 * multiplication", SC 2016): entries and ends of rows are things to consume, in the order in which
 * they come, and every unit consumes equally many of both together. So a unit takes the same time
 * whatever the lengths of rows: a row of millions of entries is cut, millions of empty rows are
 * distributed.
 *
 * Unit u goes from row starts[2 u] and entry starts[2 u + 1] to those of the next: it sets the rows
 * before the next one's, and carries what it has of that.
 */
#ifndef SPRY_FORMAT_MERGE_H
#define SPRY_FORMAT_MERGE_H

#include "formats/shared/layout.h"

/* Arrays: values, columns (int32_t), starts (int64_t, two a unit), the end of each row (uint16_t,
 * counted from the first entry of the unit that sets it). */
enum { MERGE_VALUES, MERGE_COLUMNS, MERGE_STARTS, MERGE_ENDS };
/* Numbers. */
enum { MERGE_ITEMS };

/* Units of `items` items: their number, their arrays at `starts` and `ends`, and what
 * they carry. For other formats that are cut so, too. */
int64_t merge_units(const matrix_arrays *A, int64_t items);
int64_t merge_entries_before(const matrix_arrays *A, int64_t items, int64_t unit);
spry_status merge_cut(layout *L, const matrix_arrays *A, int64_t items, int starts, int ends);
/* Work before a unit. */
int64_t merge_work(const layout *L, int64_t items, int64_t unit);

#endif
