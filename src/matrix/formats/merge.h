/*
 * Merge-path CSR (D. Merrill, M. Garland, "Merge-based parallel sparse matrix-vector
 * multiplication", SC 2016): entries and ends of rows are things to consume, in the order in which
 * they come, and every unit consumes equally many of both together. So a unit takes the same time
 * whatever the lengths of rows: a row of millions of entries is cut, millions of empty rows are
 * dealt out.
 *
 * Unit u goes from row starts[2 u] and entry starts[2 u + 1] to those of the next: it sets the rows
 * before the next one's, and carries what it has of that.
 */
#ifndef SPRY_FORMAT_MERGE_H
#define SPRY_FORMAT_MERGE_H

/* Arrays: values, columns (int32_t), starts (int64_t, two a unit), the end of each row (uint16_t,
 * counted from the first entry of the unit that sets it). */
enum { MERGE_VALUES, MERGE_COLUMNS, MERGE_STARTS, MERGE_ENDS };
/* Numbers. */
enum { MERGE_ITEMS };

#endif
