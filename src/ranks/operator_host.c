/* Distributed products on the host: messages of one or several x, and rows that are run by
 * themselves. See operator.c. */
#include "ranks/operator_side.h"

#include "matrix/entries.h"

static void post_clear(spry_context *ctx, dist_post *p)
{
    team_halo_free(ctx, p->messages);
    base_free(ctx, p->send);
    base_free(ctx, p->receive);
    *p = (dist_post){0};
}

void dist_host_close(dist_side *s)
{
    dist_host_side *mine = &s->host;
    for (int k = 0; k < DIST_MOST_TOGETHER; k++)
        post_clear(s->ctx, &mine->posts[k]);
    base_free(s->ctx, mine->compact);
    base_free(s->ctx, mine->sums);
}

/* --- messages ------------------------------------------------------------------------------------
 */

static int64_t size_of(const dist_side *s)
{
    return (int64_t)spry_type_size(s->type);
}

/* The compact vector of one of the x at hand, and the sums of its edge rows. */
static char *compact_at(const dist_side *s, int k)
{
    const distributed *p = s->links;
    return s->host.compact + k * (p->kept + p->ghosts + p->spare) * size_of(s);
}

static char *sums_at(const dist_side *s, int k)
{
    return s->host.sums + k * s->links->edges * size_of(s);
}

/* Memory for several x at once, and their messages: allocated apart, and taken when all ranks have
 * it.
 */
typedef struct room {
    char *compact, *sums; /* NULL: the present one is large enough */
    dist_post p;
} room;

static spry_status make_room(const dist_side *s, int count, room *r)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const size_t size = (size_t)size_of(s);
    spry_status status = SPRY_STATUS_OK;
    if (count > s->host.room) {
        SPRY_GO(ctx, base_calloc(ctx, count * (p->kept + p->ghosts + p->spare), size, &r->compact));
        SPRY_GO(ctx, base_alloc(ctx, count * p->edges, size, &r->sums));
    }
    SPRY_GO(ctx, base_alloc(ctx, count * p->sent_count, size, &r->p.send));
    if (count > 1)
        SPRY_GO(ctx, base_alloc(ctx, count * p->ghosts, size, &r->p.receive));
done:
    return status;
}

/* One x alone is received where it is used. */
static spry_status list_messages(const dist_side *s, int count, const room *r, team_message **send,
                                 team_message **receive)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const int64_t size = count * size_of(s);
    char *compact = r->compact ? r->compact : s->host.compact;
    char *place = count > 1 ? r->p.receive : compact + p->kept * size_of(s);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, dist_list_messages(ctx, p->sends, p->send, size, r->p.send, send));
    SPRY_GO(ctx, dist_list_messages(ctx, p->receives, p->receive, size, place, receive));
done:
    return status;
}

/* Where the compact vectors move, the messages of one x, which they receive, are made again when
 * they are next needed. */
static void take_room(dist_side *s, int count, room *r)
{
    spry_context *ctx = s->ctx;
    if (r->compact) {
        post_clear(ctx, &s->host.posts[0]);
        base_free(ctx, s->host.compact);
        base_free(ctx, s->host.sums);
        s->host.compact = r->compact;
        s->host.sums = r->sums;
        s->host.room = count;
    }
    s->host.posts[count - 1] = r->p;
    *r = (room){0};
}

/* Whatever fails, on whichever rank, all have the same messages open afterwards: who has them does
 * not ask the others. */
static spry_status open_post(dist_side *s, int count)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    team_message *send = NULL, *receive = NULL;
    room r = {0};
    if (s->host.posts[count - 1].messages)
        return SPRY_STATUS_OK;
    spry_status status = make_room(s, count, &r);
    if (status == SPRY_STATUS_OK)
        status = list_messages(s, count, &r, &send, &receive);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_halo_new(ctx, p->sends, send, p->receives, receive, &r.p.messages));
    take_room(s, count, &r);
done:
    post_clear(ctx, &r.p);
    base_free(ctx, r.compact);
    base_free(ctx, r.sums);
    base_free(ctx, send);
    base_free(ctx, receive);
    return status;
}

static void gather(size_t size, int64_t n, const int32_t *index, const void *from, void *to)
{
    switch (size) { /* moves of a known size */
    case 4:
        for (int64_t k = 0; k < n; k++)
            memcpy((char *)to + k * 4, (const char *)from + (int64_t)index[k] * 4, 4);
        break;
    case 8:
        for (int64_t k = 0; k < n; k++)
            memcpy((char *)to + k * 8, (const char *)from + (int64_t)index[k] * 8, 8);
        break;
    default:
        for (int64_t k = 0; k < n; k++)
            memcpy((char *)to + k * 16, (const char *)from + (int64_t)index[k] * 16, 16);
    }
}

/* Sends what others need of some x. */
static spry_status begin(dist_side *s, int count, const void *const *x)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const int64_t size = size_of(s);
    spry_status status = SPRY_STATUS_OK;
    s->host.count = 0; /* nothing is under way, where it fails */
    SPRY_GO(ctx, open_post(s, count));
    const dist_post *to = &s->host.posts[count - 1];
    for (int i = 0; i < p->sends; i++)
        for (int k = 0; k < count; k++)
            gather((size_t)size, p->send[i].count, p->sent + p->send[i].first, x[k],
                   to->send + (count * p->send[i].first + k * p->send[i].count) * size);
    SPRY_GO(ctx, team_halo_start(ctx, to->messages));
    ctx->team->counts.halo_messages += p->sends;
    ctx->team->counts.halo_bytes += count * p->sent_count * size;
    s->host.count = count;
    for (int k = 0; k < count; k++) {
        s->host.x[k] = x[k];
        gather((size_t)size, p->kept, p->kept_index, x[k], compact_at(s, k));
    }
done:
    return status;
}

/* What others have sent is in its place. */
static spry_status finish(dist_side *s)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    if (s->host.count == 0)
        return SPRY_STATUS_OK; /* they could not be begun, which was reported */
    const dist_post *from = &s->host.posts[s->host.count - 1];
    const int64_t size = size_of(s);
    const spry_status status = team_halo_finish(ctx, from->messages);
    for (int i = 0; s->host.count > 1 && i < p->receives; i++)
        for (int k = 0; k < s->host.count; k++)
            memcpy(compact_at(s, k) + (p->kept + p->receive[i].first) * size,
                   from->receive +
                       (s->host.count * p->receive[i].first + k * p->receive[i].count) * size,
                   (size_t)(p->receive[i].count * size));
    return status;
}

/* The same for rows that are run by themselves. */
static spry_status finish_for_rows(dist_side *s)
{
    const void *compact[DIST_MOST_TOGETHER];
    const spry_status status = finish(s);
    if (status != SPRY_STATUS_OK || s->host.count == 0 || !s->host.edge_rows.begin)
        return status;
    for (int k = 0; k < s->host.count; k++)
        compact[k] = compact_at(s, k);
    return s->host.edge_rows.begin(&s->host.edge_rows, s->host.count, compact);
}

/* --- by rows -------------------------------------------------------------------------------------
 */

/* Edge rows before an own row. */
static int64_t edges_before(const distributed *p, int64_t row)
{
    return matrix_first_index(p->edge_rows, 0, p->edges, row);
}

static void scatter(size_t size, const distributed *p, range edges, int64_t first, const char *sums,
                    char *y)
{
    for (int64_t e = edges.begin; e < edges.end; e++)
        memcpy(y + (size_t)(p->edge_rows[e] - first) * size, sums + (size_t)e * size, size);
}

static void run_rows(const operator_rows *rows, int64_t first, int64_t end, const void *x, void *y)
{
    const dist_side *s = rows->state;
    const distributed *p = s->links;
    const range edges = {edges_before(p, first), edges_before(p, end)};
    int k = 0;
    s->host.own_rows.run(&s->host.own_rows, first, end, x, y);
    if (edges.begin == edges.end)
        return;
    while (k < s->host.count - 1 && s->host.x[k] != x)
        k++;
    char *sums = sums_at(s, k);
    s->host.edge_rows.run(&s->host.edge_rows, edges.begin, edges.end, compact_at(s, k),
                          sums + edges.begin * size_of(s));
    scatter((size_t)size_of(s), p, edges, first, sums, y);
}

static int64_t work_before(const operator_rows *rows, int64_t row)
{
    const dist_side *s = rows->state;
    return s->host.own_rows.work(&s->host.own_rows, row);
}

static bool waits(const operator_rows *rows, int64_t first, int64_t end)
{
    const dist_side *s = rows->state;
    return edges_before(s->links, first) < edges_before(s->links, end);
}

/* The messages at hand are no part of the operator's value. */
static dist_side *messages_of(const operator_rows *rows)
{
    return (dist_side *)(uintptr_t)rows->state;
}

static spry_status begin_rows(const operator_rows *rows, int count, const void *const *x)
{
    return begin(messages_of(rows), count, x);
}

static spry_status finish_rows(const operator_rows *rows)
{
    return finish_for_rows(messages_of(rows));
}

/* --- the product ---------------------------------------------------------------------------------
 */

spry_status dist_host_open(dist_side *s)
{
    return open_post(s, 1);
}

spry_status dist_host_find_rows(dist_side *s, bool *found)
{
    dist_host_side *mine = &s->host;
    spry_status status = operator_open_rows(s->own, SPRY_TRANSPOSE_NO, &mine->own_rows);
    if (status == SPRY_STATUS_OK)
        status = operator_open_rows(s->edge, SPRY_TRANSPOSE_NO, &mine->edge_rows);
    *found = mine->own_rows.run && mine->edge_rows.run;
    return status;
}

void dist_host_rows(const dist_side *s, operator_rows *rows)
{
    *rows = (operator_rows){.state = s,
                            .run = run_rows,
                            .work = work_before,
                            .begin = begin_rows,
                            .waits = waits,
                            .finish = finish_rows};
}

/* Edge rows' old y are kept for beta. */
spry_status dist_host_multiply(dist_side *s, spry_scalar alpha, const void *x, spry_scalar beta,
                               void *y)
{
    spry_context *ctx = s->ctx;
    spry_status status = SPRY_STATUS_OK;
    const distributed *p = s->links;
    const size_t size = (size_t)size_of(s);
    SPRY_GO(ctx, begin(s, 1, &x));
    if (beta.re != 0 || beta.im != 0)
        gather(size, p->edges, p->edge_rows, y, s->host.sums);
    const spry_status own = s->own->class->multiply(s->own, SPRY_TRANSPOSE_NO, alpha, x, beta, y);
    SPRY_GO(ctx, finish(s));
    SPRY_GO(ctx, own);
    SPRY_GO(ctx, s->edge->class->multiply(s->edge, SPRY_TRANSPOSE_NO, alpha, s->host.compact, beta,
                                          s->host.sums));
    scatter(size, p, (range){0, p->edges}, 0, s->host.sums, y);
done:
    return status;
}
