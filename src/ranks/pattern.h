/* The partition by the graph: one rank gets the whole pattern, or none does. */
#ifndef SPRY_RANKS_PATTERN_H
#define SPRY_RANKS_PATTERN_H

#include "ranks/redistribute.h"

/* New numbers for all rows: `numbers` are the old ones of the rows given; rank r gets those of rows
 * blocks[r]..blocks[r+1]-1. Collective. */
spry_status ranks_number_by_graph(spry_context *ctx, const ranks_given *given,
                                  const int64_t *numbers, const ranks_wish *wish,
                                  const int64_t *blocks, int64_t *first, int64_t *block);
/* The same by the team's own library, with each rank's rows of the graph where it has a block. In:
 * `block` has the entries of each of its rows. */
spry_status ranks_number_together(spry_context *ctx, const ranks_given *given,
                                  const int64_t *numbers, const ranks_wish *wish,
                                  const int64_t *blocks, int64_t *first, int64_t *block);

#endif
