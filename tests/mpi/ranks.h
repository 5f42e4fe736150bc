/* What the tests on ranks share: a context on ranks and one without, and ways to distributed rows.
 */
#ifndef SPRY_TESTS_RANKS_H
#define SPRY_TESTS_RANKS_H

#include "ranks/distributed.h"
#include "support/support.h"

#include <spry/mpi.h>
#include <stdlib.h>

enum { RANKS_MOST = 16 };

/* Ways to distributed n rows, all of whose cuts are multiples of a grain. */
typedef enum ranks_way {
    RANKS_EVEN,
    RANKS_FIRST_EMPTY, /* and the others even */
    RANKS_ALL_ON_LAST,
    RANKS_FIRST_SMALL, /* one grain on the first, the rest on the last */
    RANKS_WAYS
} ranks_way;

static inline void ranks_starts(spry_context *ctx, ranks_way way, int64_t n, int64_t grain,
                                int64_t *starts)
{
    const int ranks = spry_context_ranks(ctx);
    starts[0] = 0;
    for (int r = 1; r <= ranks; r++) {
        int64_t at = n * r / ranks;
        if (way == RANKS_FIRST_EMPTY && ranks > 1)
            at = n * (r - 1) / (ranks - 1);
        else if (way == RANKS_ALL_ON_LAST)
            at = 0;
        else if (way == RANKS_FIRST_SMALL)
            at = grain < n ? grain : n;
        starts[r] = r == ranks ? n : at / grain * grain;
    }
}

static inline spry_context *ranks_context(const char *options)
{
    spry_context *ctx = NULL;
    const MPI_Comm world = MPI_COMM_WORLD;
    spry_team *t = spry_mpi_team_new(&world);
    assert_non_null(t);
    assert_ok(ctx, spry_context_new_ranked(t, options, &ctx));
    return ctx;
}

/* Status and message are the same everywhere. */
static inline void ranks_alike(spry_context *ctx, spry_status status)
{
    char all[RANKS_MOST][1024];
    int32_t mine = (int32_t)status, other[RANKS_MOST];
    assert_true(spry_context_ranks(ctx) <= RANKS_MOST);
    assert_ok(ctx, team_gather(ctx, &mine, sizeof mine, other));
    assert_ok(ctx, team_gather(ctx, ctx->message, sizeof all[0], all));
    for (int r = 0; r < spry_context_ranks(ctx); r++) {
        assert_int_equal(other[r], other[0]);
        if (status != SPRY_STATUS_OK)
            assert_string_equal(all[r], all[0]);
    }
}

/* All ranks end together, with a failure where one has. */
static inline int ranks_run(int failed)
{
    int all = 0;
    MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return all;
}

#endif
