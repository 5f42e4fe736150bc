/* Vectors to their owners and back, by a route of rows. */
#include "ranks/move.h"

#include "ranks/partition.h"

void ranks_move_clear(spry_context *ctx, ranks_move *move)
{
    route_clear(ctx, &move->way);
    base_free(ctx, move->place);
    *move = (ranks_move){0};
}

static spry_status find_ranks(spry_context *ctx, int64_t given, const int64_t *numbers,
                              const int64_t *first, int32_t **to)
{
    const int ranks = team_ranks(ctx);
    spry_status status = base_alloc(ctx, given, sizeof **to, to);
    for (int64_t k = 0; status == SPRY_STATUS_OK && k < given; k++) {
        if (numbers[k] < 0 || numbers[k] >= first[ranks])
            status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "row %" PRId64 " is outside 0..%" PRId64,
                               numbers[k], first[ranks] - 1);
        else
            (*to)[k] = partition_owner(ranks, first, numbers[k]);
    }
    return status;
}

/* Every row once: as many as there are, and none twice. `seen` is cleared. */
static spry_status check_places(spry_context *ctx, const ranks_move *move, bool *seen)
{
    for (int64_t k = 0; k < move->way.receives; k++) {
        if (seen[move->place[k]])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "row %" PRId64 " is given twice",
                             move->begin + move->place[k]);
        seen[move->place[k]] = true;
    }
    for (int64_t i = 0; i < move->own; i++)
        if (!seen[i])
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "row %" PRId64 " is given by no rank",
                             move->begin + i);
    return SPRY_STATUS_OK;
}

spry_status ranks_move_make(spry_context *ctx, int64_t given, const int64_t *numbers,
                            const int64_t *first, ranks_move *move)
{
    const int me = team_rank(ctx);
    int32_t *to = NULL;
    bool *seen = NULL;
    spry_status status = SPRY_STATUS_OK;
    *move = (ranks_move){.begin = first[me], .own = first[me + 1] - first[me]};
    SPRY_GO(ctx, team_agree(ctx, find_ranks(ctx, given, numbers, first, &to)));
    SPRY_GO(ctx, route_make(ctx, given, to, &move->way));
    status = base_alloc(ctx, move->way.receives, sizeof *move->place, &move->place);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, move->own, sizeof *seen, &seen);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, route_send(ctx, &move->way, sizeof *numbers, numbers, move->place));
    for (int64_t k = 0; k < move->way.receives; k++)
        move->place[k] -= move->begin;
    SPRY_GO(ctx, team_agree(ctx, check_places(ctx, move, seen)));
done:
    base_free(ctx, to);
    base_free(ctx, seen);
    if (status != SPRY_STATUS_OK)
        ranks_move_clear(ctx, move);
    return status;
}

spry_status ranks_move_in(spry_context *ctx, const ranks_move *move, size_t size, const void *given,
                          void *own)
{
    char *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, move->own, size, &room)));
    SPRY_GO(ctx, route_send(ctx, &move->way, size, given, room));
    items_scatter(move->own, move->place, size, room, own);
done:
    base_free(ctx, room);
    return status;
}

spry_status ranks_move_back(spry_context *ctx, const ranks_move *move, size_t size, const void *own,
                            void *given)
{
    char *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, move->own, size, &room)));
    items_gather(move->own, move->place, size, own, room);
    SPRY_GO(ctx, route_return(ctx, &move->way, size, room, given));
done:
    base_free(ctx, room);
    return status;
}
