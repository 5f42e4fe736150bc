/* Elements that are brought again and again: messages between the same places. */
#include "ranks/fetch.h"

#include "matrix/entries.h"
#include "ranks/partition.h"

#include <stdlib.h>

void ranks_halo_clear(ranks_halo *h)
{
    if (!h->ctx)
        return;
    team_halo_free(h->ctx, h->forth);
    team_halo_free(h->ctx, h->back);
    base_free(h->ctx, h->sent);
    base_free(h->ctx, h->to);
    base_free(h->ctx, h->from);
    base_free(h->ctx, h->send);
    base_free(h->ctx, h->receive);
    *h = (ranks_halo){0};
}

/* The ranks that have any elements. */
static int list_neighbours(int ranks, const int64_t *each, dist_neighbour *list)
{
    int count = 0;
    int64_t at = 0;
    for (int r = 0; r < ranks; r++) {
        if (each[r] > 0)
            list[count++] = (dist_neighbour){r, at, each[r]};
        at += each[r];
    }
    return count;
}

static spry_status open_messages(ranks_halo *h, const route *way)
{
    spry_context *ctx = h->ctx;
    const int ranks = team_ranks(ctx);
    const int64_t size = (int64_t)spry_type_size(h->type);
    team_message *out = NULL, *in = NULL;
    /* Those who were asked send. */
    h->sends = list_neighbours(ranks, way->receive_each, h->to);
    h->receives = list_neighbours(ranks, way->send_each, h->from);
    spry_status status = dist_list_messages(ctx, h->sends, h->to, size, h->send, &out);
    if (status == SPRY_STATUS_OK)
        status = dist_list_messages(ctx, h->receives, h->from, size, h->receive, &in);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_halo_new(ctx, h->sends, out, h->receives, in, &h->forth));
    SPRY_GO(ctx, team_halo_new(ctx, h->receives, in, h->sends, out, &h->back));
done:
    base_free(ctx, out);
    base_free(ctx, in);
    return status;
}

static spry_status allocate(ranks_halo *h, const route *way)
{
    const size_t size = spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    const int ranks = team_ranks(h->ctx);
    h->sent_count = way->receives;
    SPRY_GO(h->ctx, base_alloc(h->ctx, ranks, sizeof *h->to, &h->to));
    SPRY_GO(h->ctx, base_alloc(h->ctx, ranks, sizeof *h->from, &h->from));
    SPRY_GO(h->ctx, base_alloc(h->ctx, way->receives, sizeof *h->sent, &h->sent));
    SPRY_GO(h->ctx, base_alloc(h->ctx, way->receives, size, &h->send));
    SPRY_GO(h->ctx, base_alloc(h->ctx, h->count, size, &h->receive));
done:
    return status;
}

spry_status ranks_halo_make(spry_context *ctx, spry_type type, const int64_t *first, int64_t count,
                            const int64_t *numbers, ranks_halo *h)
{
    const int ranks = team_ranks(ctx);
    int32_t *to = NULL;
    int64_t *asked = NULL;
    route way = {0};
    spry_status status = SPRY_STATUS_OK;
    *h = (ranks_halo){.ctx = ctx, .type = type, .count = count};
    SPRY_GO(ctx, team_agree(ctx, base_alloc(ctx, count, sizeof *to, &to)));
    for (int64_t k = 0; k < count; k++)
        to[k] = partition_owner(ranks, first, numbers[k]);
    SPRY_GO(ctx, route_make(ctx, count, to, &way));
    status = base_alloc(ctx, way.receives, sizeof *asked, &asked);
    if (status == SPRY_STATUS_OK)
        status = allocate(h, &way);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, route_send(ctx, &way, sizeof *numbers, numbers, asked));
    for (int64_t k = 0; k < way.receives; k++)
        h->sent[k] = (int32_t)(asked[k] - first[team_rank(ctx)]);
    SPRY_GO(ctx, open_messages(h, &way));
done:
    base_free(ctx, to);
    base_free(ctx, asked);
    route_clear(ctx, &way);
    if (status != SPRY_STATUS_OK)
        ranks_halo_clear(h);
    return status;
}

/* Messages that solves report. */
static void note_sent(const ranks_halo *h, int messages, int64_t elements)
{
    if (!h->ctx->team)
        return;
    h->ctx->team->counts.halo_messages += messages;
    h->ctx->team->counts.halo_bytes += elements * (int64_t)spry_type_size(h->type);
}

spry_status ranks_halo_exchange(const ranks_halo *h, const void *mine, void *others)
{
    const size_t size = spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < h->sent_count; k++)
        element_move(size, h->send, k, mine, h->sent[k]);
    SPRY_GO(h->ctx, team_halo_start(h->ctx, h->forth));
    note_sent(h, h->sends, h->sent_count);
    SPRY_GO(h->ctx, team_halo_finish(h->ctx, h->forth));
    if (h->count > 0)
        memcpy(others, h->receive, (size_t)h->count * size);
done:
    return status;
}

spry_status ranks_halo_add(const ranks_halo *h, const void *others, void *mine)
{
    const size_t size = spry_type_size(h->type);
    spry_status status = SPRY_STATUS_OK;
    if (h->count > 0)
        memcpy(h->receive, others, (size_t)h->count * size);
    SPRY_GO(h->ctx, team_halo_start(h->ctx, h->back));
    note_sent(h, h->receives, h->count);
    SPRY_GO(h->ctx, team_halo_finish(h->ctx, h->back));
    for (int64_t k = 0; k < h->sent_count; k++) {
        const spry_scalar a = value_load(h->type, mine, h->sent[k]),
                          b = value_load(h->type, h->send, k);
        value_set(h->type, mine, h->sent[k], (spry_scalar){a.re + b.re, a.im + b.im});
    }
done:
    return status;
}

/* --- lists ---------------------------------------------------------------------------------------
 */

int64_t ranks_find(const int64_t *list, int64_t count, int64_t number)
{
    const int64_t at = matrix_first_from(list, count, number);
    return at < count && list[at] == number ? at : -1;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

spry_status ranks_list_outside(spry_context *ctx, const ranks_rows *rows, int64_t begin,
                               int64_t end, int64_t *count, int64_t **list)
{
    int64_t *all = NULL, n = *count, kept = 0;
    for (int64_t k = 0; k < rows->offsets[rows->rows]; k++)
        n += rows->columns[k] < begin || rows->columns[k] >= end;
    const spry_status status = base_alloc(ctx, n, sizeof *all, &all);
    if (status != SPRY_STATUS_OK)
        return status;
    n = *count;
    if (n > 0)
        memcpy(all, *list, (size_t)n * sizeof *all);
    for (int64_t k = 0; k < rows->offsets[rows->rows]; k++)
        if (rows->columns[k] < begin || rows->columns[k] >= end)
            all[n++] = rows->columns[k];
    qsort(all, (size_t)n, sizeof *all, by_number);
    for (int64_t k = 0; k < n; k++)
        if (kept == 0 || all[kept - 1] != all[k])
            all[kept++] = all[k];
    base_free(ctx, *list);
    *list = all;
    *count = kept;
    return SPRY_STATUS_OK;
}
