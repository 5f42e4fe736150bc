/* Routes: a counting sort by rank, then one message to each. */
#include "ranks/route.h"

void route_clear(spry_context *ctx, route *r)
{
    base_free(ctx, r->send_each);
    base_free(ctx, r->receive_each);
    base_free(ctx, r->place);
    *r = (route){0};
}

static spry_status allocate(spry_context *ctx, int64_t count, route *r)
{
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *r->send_each, &r->send_each));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *r->receive_each, &r->receive_each));
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *r->place, &r->place));
done:
    return status;
}

/* Two numbers for each rank. */
static spry_status lengths(spry_context *ctx, int64_t **a, int64_t **b)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, team_ranks(ctx), sizeof **a, a));
    SPRY_GO(ctx, base_alloc(ctx, team_ranks(ctx), sizeof **b, b));
done:
    return status;
}

static void sort(int64_t count, const int32_t *to, int ranks, int64_t *next, route *r)
{
    for (int64_t k = 0; k < count; k++)
        r->send_each[to[k]]++;
    for (int k = 0; k < ranks; k++)
        next[k] = k > 0 ? next[k - 1] + r->send_each[k - 1] : 0;
    for (int64_t k = 0; k < count; k++)
        r->place[k] = next[to[k]]++;
}

spry_status route_make(spry_context *ctx, int64_t count, const int32_t *to, route *r)
{
    const int ranks = team_ranks(ctx);
    int64_t *bytes = NULL, *next = NULL;
    spry_status status = SPRY_STATUS_OK;
    *r = (route){.sends = count};
    status = allocate(ctx, count, r);
    if (status == SPRY_STATUS_OK)
        status = lengths(ctx, &bytes, &next);
    SPRY_GO(ctx, team_agree(ctx, status));
    sort(count, to, ranks, next, r);
    for (int k = 0; k < ranks; k++)
        bytes[k] = sizeof *r->send_each;
    SPRY_GO(ctx, team_swap(ctx, bytes, r->send_each, bytes, r->receive_each));
    for (int k = 0; k < ranks; k++)
        r->receives += r->receive_each[k];
done:
    base_free(ctx, bytes);
    base_free(ctx, next);
    if (status != SPRY_STATUS_OK)
        route_clear(ctx, r);
    return status;
}

/* Swaps packed items, as many from each rank to each as the lists have. */
static spry_status swap_items(spry_context *ctx, size_t size, const int64_t *send_each,
                              const void *send, const int64_t *receive_each, void *receive)
{
    int64_t *out = NULL, *in = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, lengths(ctx, &out, &in)));
    for (int k = 0; k < team_ranks(ctx); k++) {
        out[k] = send_each[k] * (int64_t)size;
        in[k] = receive_each[k] * (int64_t)size;
    }
    SPRY_GO(ctx, team_swap(ctx, out, send, in, receive));
done:
    base_free(ctx, out);
    base_free(ctx, in);
    return status;
}

spry_status route_send(spry_context *ctx, const route *r, size_t size, const void *items,
                       void *received)
{
    char *packed = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, r->sends, size, &packed)));
    items_scatter(r->sends, r->place, size, items, packed);
    SPRY_GO(ctx, swap_items(ctx, size, r->send_each, packed, r->receive_each, received));
done:
    base_free(ctx, packed);
    return status;
}

spry_status route_return(spry_context *ctx, const route *r, size_t size, const void *items,
                         void *returned)
{
    char *packed = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, r->sends, size, &packed)));
    SPRY_GO(ctx, swap_items(ctx, size, r->receive_each, items, r->send_each, packed));
    items_gather(r->sends, r->place, size, packed, returned);
done:
    base_free(ctx, packed);
    return status;
}
