/* Contiguous cuts of rows that no rank knows all of. */
#include "ranks/redistribute.h"

spry_status ranks_blocks(spry_context *ctx, int64_t rows, int64_t **blocks)
{
    const int ranks = team_ranks(ctx);
    const spry_status status = base_alloc(ctx, ranks + 1, sizeof **blocks, blocks);
    for (int r = 0; status == SPRY_STATUS_OK && r <= ranks; r++)
        (*blocks)[r] = r < ranks ? base_share(rows, ranks, r, 1).begin : rows;
    return status;
}

/* The work before this rank's rows, and of all. */
static spry_status add_work(spry_context *ctx, int64_t own, int64_t *all_ranks,
                            partition_piece *piece)
{
    const spry_status status = team_gather(ctx, &own, sizeof own, all_ranks);
    for (int r = 0; status == SPRY_STATUS_OK && r < team_ranks(ctx); r++) {
        piece->before += r < team_rank(ctx) ? (double)all_ranks[r] : 0;
        piece->all += (double)all_ranks[r];
    }
    return status;
}

/* Every cut was found by one rank, and has -1 on the others; those behind all work by none. */
static spry_status join_cuts(spry_context *ctx, int64_t rows, int64_t *room, int64_t *first)
{
    const int ranks = team_ranks(ctx);
    const spry_status status = team_gather(ctx, first, (ranks + 1) * (int64_t)sizeof *first, room);
    for (int k = 1; status == SPRY_STATUS_OK && k < ranks; k++) {
        for (int r = 0; r < ranks; r++) {
            const int64_t found = room[(int64_t)r * (ranks + 1) + k];
            first[k] = found > first[k] ? found : first[k];
        }
        first[k] = first[k] < 0 ? rows : first[k];
    }
    return status;
}

spry_status ranks_cut(spry_context *ctx, const int64_t *blocks, const int64_t *entries,
                      const ranks_wish *wish, int64_t *first)
{
    const int ranks = team_ranks(ctx), me = team_rank(ctx);
    partition_piece piece = {.begin = blocks[me], .count = blocks[me + 1] - blocks[me]};
    int64_t *offsets = NULL, *room = NULL;
    spry_status status = base_alloc(ctx, piece.count + 1, sizeof *offsets, &offsets);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, (int64_t)ranks * (ranks + 1), sizeof *room, &room);
    if (status == SPRY_STATUS_OK)
        status = partition_check_shares(ctx, ranks, wish->shares);
    SPRY_GO(ctx, team_agree(ctx, status));
    offsets[0] = 0;
    for (int64_t i = 0; i < piece.count; i++)
        offsets[i + 1] = offsets[i] + entries[i];
    piece.offsets = offsets;
    SPRY_GO(ctx, add_work(ctx, piece.count + offsets[piece.count], room, &piece));
    for (int r = 0; r <= ranks; r++)
        first[r] = -1;
    partition_cut_piece(&piece, ranks, wish->shares, first);
    SPRY_GO(ctx, join_cuts(ctx, blocks[ranks], room, first));
    partition_settle(blocks[ranks], wish->limits, ranks, first);
done:
    base_free(ctx, offsets);
    base_free(ctx, room);
    return status;
}
