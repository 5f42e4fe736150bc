/* Ranks: processes that solve one system together. MPI's are made by spry/mpi.h. */
#ifndef SPRY_RANKS_H
#define SPRY_RANKS_H

#include <spry/context.h>

SPRY_BEGIN

/** The processes that solve together, and how they talk: libspry_mpi makes one of a communicator.
 */
typedef struct spry_team spry_team;

/**
 * Makes a context that belongs to one of several ranks. Calls with its objects that
 * docs/clusters.md names as collective are made by all ranks, in the same order.
 *
 * @param team     how the ranks talk; taken, also after a failure: it goes with the context
 * @param options  as of spry_context_new(), alike on all ranks
 * @param ctx      out: the context, as of spry_context_new()
 * @return the same on all ranks
 */
SPRY_API spry_status spry_context_new_ranked(spry_team *team, const char *options,
                                             spry_context **ctx);
/** Which rank this is, from 0; 0 without ranks. */
SPRY_API int spry_context_rank(const spry_context *ctx);
/** How many ranks there are; 1 without. */
SPRY_API int spry_context_ranks(const spry_context *ctx);

SPRY_END

#endif
