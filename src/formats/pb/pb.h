/*
 * Propagation blocking (V. Kiriansky, Y. Zhang, S. Amarasinghe, "Optimizing indirect memory
 * references with milk", PACT 2016; S. Beamer, K. Asanovic, D. Patterson, "Reducing PageRank
 * communication via propagation blocking", IPDPS 2017): y = A x in two passes whose only random
 * accesses are to cache or local memory. Columns are cut into chunks, whose part of x fits into it;
 * rows into bins, whose entries fit. Bins are merge's units (merge.h), so that long rows are cut.
 *
 * The first pass goes through chunks: values and columns are stored by chunk, within a chunk by
 * bin, and the products are written where the values are. The second goes through bins: it fetches
 * a bin's products chunk by chunk, in pieces that lie side by side, each to its slot, its place in
 * the order of rows, and adds up the rows.
 *
 *     chunk c    entries heads[c] .. heads[c + 1] - 1, columns from c width on
 *     bin u      rows and entries by starts and ends, as merge's units; pieces first[u] ..
 *                first[u + 1] - 1
 *     piece p    values from runs[p] on are those of slots places[p], ... of the bin: slots[first
 *                entry of the bin + places[p] + i] for the i-th; it ends where the next one begins
 */
#ifndef SPRY_FORMAT_PB_H
#define SPRY_FORMAT_PB_H

#include "formats/shared/layout.h"

/* Arrays: columns, slots, ends and places are uint16_t, starts and heads int64_t, first and runs
 * int32_t (runs without a sign). */
enum {
    PB_VALUES,
    PB_COLUMNS,
    PB_SLOTS,
    PB_HEADS,
    PB_STARTS,
    PB_ENDS,
    PB_FIRST,
    PB_RUNS,
    PB_PLACES
};
/* Numbers: items of a bin, columns of a chunk, chunks. */
enum { PB_ITEMS, PB_WIDTH, PB_CHUNKS };

/* Kilobytes of local memory at most, and entries of a piece: long enough to be read side by side,
 * short enough to be distributed evenly. */
enum { PB_MOST_ROOM = 200, PB_PIECE = 64 };

typedef struct pb_shape {
    int64_t items, width, chunks, units;
} pb_shape;

/* How a matrix is cut with `room` kilobytes; or a failure where that is of no use. */
spry_status pb_find_shape(spry_context *ctx, const matrix_arrays *A, int64_t room, pb_shape *s);
/* Numbers, units and parameters of a layout. */
void pb_describe(layout *L, const pb_shape *s, int64_t room);

#endif
