/* The inverses of blocks along a matrix's diagonal. */
#ifndef SPRY_PRECON_BLOCKS_H
#define SPRY_PRECON_BLOCKS_H

#include "precon/kernels.h"
#include "precon/precon.h"

/* Blocks that a thread takes at a time, and what the places of values are multiples of. */
enum { BLOCKS_PART = 64, BLOCKS_ALIGNED = 16 };

typedef struct blocks {
    precon_blocks b;
    int64_t total;      /* bytes of values */
    bool adaptive;      /* each in the shortest precision that its condition allows */
    int64_t of_kind[3]; /* how many there are, by stored_kind */
} blocks;

/* Which rows they have, with room for what else there is but the values. After a failure, too,
 * *state is to be cleared. */
spry_status blocks_cut(const spry_matrix *A, int64_t block, bool adaptive, blocks *state);
void blocks_clear(spry_context *ctx, blocks *state);
/* All that depends on values. */
spry_status blocks_fill(const spry_matrix *A, blocks *state);

#endif
