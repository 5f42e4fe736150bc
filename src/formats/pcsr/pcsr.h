/*
 * PCSR (M. M. Dehnavi, D. M. Fernandez, D. Giannacopoulos, "Finite-element sparse matrix vector
 * multiplication on graphic processing units", IEEE Trans. Magn. 46, 2010): rows are padded to
 * multiples of `pad` entries, and all entries are cut into blocks of `block`, regardless of rows.
 * Products of a block are summed in groups of `pad` side by side, which needs no rows; then each
 * row adds up its groups. The split vector holds the rows of the blocks.
 *
 * In this code several blocks in sequence are a unit: rows that are split between blocks go on
 * within it, those split between units are carried. Unit u has `blocks` blocks, the last one what
 * remains; it sets rows firsts[u] .. firsts[u + 1] - 1, and carries what it has of the next one.
 * Fill repeats the column before it, which no entry does.
 */
#ifndef SPRY_FORMAT_PCSR_H
#define SPRY_FORMAT_PCSR_H

#include "formats/shared/layout.h"

/* Arrays: values, columns (int32_t), firsts (int64_t), the end of each row (uint16_t: groups,
 * counted from the first of the unit that sets it). */
enum { PCSR_VALUES, PCSR_COLUMNS, PCSR_FIRSTS, PCSR_ENDS };
/* Numbers: options, and blocks of a unit. */
enum { PCSR_BLOCK, PCSR_PAD, PCSR_BLOCKS };
/* Places of a unit, about, and the largest block. */
enum { PCSR_UNIT = 4096, PCSR_MOST = 1024 };

/* Numbers, places, units and parameters of a layout whose padded rows have `places`
 * places. */
spry_status pcsr_describe(layout *L, const void *options, int64_t places);

#endif
