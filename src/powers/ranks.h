/*
 * Powers of a matrix that is distributed over ranks: each has the rows around its own that several
 * steps need, and elements of others come once for all of these, by one message from each rank.
 * Ghost rows are computed by several ranks. Calls are collective.
 */
#ifndef SPRY_POWERS_RANKS_H
#define SPRY_POWERS_RANKS_H

#include "powers/parts.h"
#include "ranks/reach.h"

typedef struct powers_ranks {
    int depth;                /* steps between messages; 1: products, one by one */
    int64_t own, others, low; /* rows of this rank; of other ranks; of those, before its own */
    ranks_halo halo;          /* brings elements of others */
    part_set parts;           /* one part; its rows are numbered as in `local` */
    char *received;           /* elements of others */
    char *local;              /* others before, own, others behind: in the order of all ranks */
} powers_ranks;

/* For at most k steps, `depth` at a time (0: as many as do not triple a rank's work). */
spry_status powers_ranks_make(const spry_matrix *A, int k, int depth, powers_ranks *r);
void powers_ranks_clear(spry_context *ctx, powers_ranks *r);
/* `count` steps, at most the depth, with this rank's elements of all vectors. */
spry_status powers_ranks_run(spry_context *ctx, const powers_ranks *r, int count,
                             const power_step *steps, const void *before, const void *x,
                             void *const *v);

#endif
