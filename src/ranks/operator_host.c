/*
 * The product with a matrix that is distributed over ranks: what others need of x is sent, the rows
 * of the own block are multiplied meanwhile, and when what others have sent is there, the edge
 * rows, which need it, are made anew as a whole (distributed.h). So every row is summed up in the
 * order of its entries, as without ranks.
 *
 * Products with A^T and A^H are those with the rows of these, which are made and distributed at the
 * first one.
 */
#include "ranks/operator_host.h"

#include "host/host.h"

enum { MOST_TOGETHER = 64 }; /* x whose elements travel in one message */

/* Room for the messages of so many x at once. */
typedef struct post {
    team_halo *messages;
    char *send, *receive; /* by neighbour, and then by x */
} post;

/* A, A^T or A^H, by rows. */
typedef struct side {
    spry_context *ctx;
    spry_type type;
    const distributed *links;
    spry_matrix *kept; /* freed with it */
    spry_operator *own, *edge;
    operator_rows own_rows, edge_rows;
    bool by_rows; /* on all ranks */
    int room;     /* of x in what follows */
    char *compact, *sums;
    post posts[MOST_TOGETHER]; /* by the number of x, less 1 */
    int count;                 /* of x in the messages at hand */
    const void *x[MOST_TOGETHER];
} side;

typedef struct dist_state {
    dist_source source;
    side *sides[3]; /* by transpose */
} dist_state;

static void post_clear(spry_context *ctx, post *p)
{
    team_halo_free(ctx, p->messages);
    base_free(ctx, p->send);
    base_free(ctx, p->receive);
    *p = (post){0};
}

static void side_free(spry_context *ctx, side *s)
{
    if (!s)
        return;
    for (int k = 0; k < MOST_TOGETHER; k++)
        post_clear(ctx, &s->posts[k]);
    spry_operator_free(s->own);
    spry_operator_free(s->edge);
    base_free(ctx, s->compact);
    base_free(ctx, s->sums);
    spry_matrix_free(s->kept);
    base_free(ctx, s);
}

/* --- messages ------------------------------------------------------------------------------------
 */

static int64_t size_of(const side *s)
{
    return (int64_t)spry_type_size(s->type);
}

/* The compact vector of one of the x at hand, and the sums of its edge rows. */
static char *compact_at(const side *s, int k)
{
    const distributed *p = s->links;
    return s->compact + k * (p->kept + p->ghosts + p->spare) * size_of(s);
}

static char *sums_at(const side *s, int k)
{
    return s->sums + k * s->links->edges * size_of(s);
}

/* Memory for so many x at once, and their messages: made aside, and taken when all ranks have it.
 */
typedef struct room {
    char *compact, *sums; /* NULL: what is there is large enough */
    post p;
} room;

static spry_status make_room(const side *s, int count, room *r)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const size_t size = (size_t)size_of(s);
    spry_status status = SPRY_STATUS_OK;
    if (count > s->room) {
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
static spry_status list_messages(const side *s, int count, const room *r, team_message **send,
                                 team_message **receive)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const int64_t size = count * size_of(s);
    char *compact = r->compact ? r->compact : s->compact;
    char *place = count > 1 ? r->p.receive : compact + p->kept * size_of(s);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, dist_list_messages(ctx, p->sends, p->send, size, r->p.send, send));
    SPRY_GO(ctx, dist_list_messages(ctx, p->receives, p->receive, size, place, receive));
done:
    return status;
}

/* Where the compact vectors move, the messages of one x, which they receive, are made anew when
 * they are next needed. */
static void take_room(side *s, int count, room *r)
{
    spry_context *ctx = s->ctx;
    if (r->compact) {
        post_clear(ctx, &s->posts[0]);
        base_free(ctx, s->compact);
        base_free(ctx, s->sums);
        s->compact = r->compact;
        s->sums = r->sums;
        s->room = count;
    }
    s->posts[count - 1] = r->p;
    *r = (room){0};
}

/* Whatever fails, on whichever rank, all have the same messages open afterwards: who has them does
 * not ask the others. */
static spry_status open_post(side *s, int count)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    team_message *send = NULL, *receive = NULL;
    room r = {0};
    if (s->posts[count - 1].messages)
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
static spry_status begin(side *s, int count, const void *const *x)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    const int64_t size = size_of(s);
    spry_status status = SPRY_STATUS_OK;
    s->count = 0; /* nothing is under way, where it fails */
    SPRY_GO(ctx, open_post(s, count));
    const post *to = &s->posts[count - 1];
    for (int i = 0; i < p->sends; i++)
        for (int k = 0; k < count; k++)
            gather((size_t)size, p->send[i].count, p->sent + p->send[i].first, x[k],
                   to->send + (count * p->send[i].first + k * p->send[i].count) * size);
    SPRY_GO(ctx, team_halo_start(ctx, to->messages));
    ctx->team->counts.halo_messages += p->sends;
    ctx->team->counts.halo_bytes += count * p->sent_count * size;
    s->count = count;
    for (int k = 0; k < count; k++) {
        s->x[k] = x[k];
        gather((size_t)size, p->kept, p->kept_index, x[k], compact_at(s, k));
    }
done:
    return status;
}

/* What others have sent is in its place. */
static spry_status finish(side *s)
{
    spry_context *ctx = s->ctx;
    const distributed *p = s->links;
    if (s->count == 0)
        return SPRY_STATUS_OK; /* they could not be begun, which was told */
    const post *from = &s->posts[s->count - 1];
    const int64_t size = size_of(s);
    const spry_status status = team_halo_finish(ctx, from->messages);
    for (int i = 0; s->count > 1 && i < p->receives; i++)
        for (int k = 0; k < s->count; k++)
            memcpy(compact_at(s, k) + (p->kept + p->receive[i].first) * size,
                   from->receive +
                       (s->count * p->receive[i].first + k * p->receive[i].count) * size,
                   (size_t)(p->receive[i].count * size));
    return status;
}

/* The same for rows that are run by themselves. */
static spry_status finish_for_rows(side *s)
{
    const void *compact[MOST_TOGETHER];
    const spry_status status = finish(s);
    if (status != SPRY_STATUS_OK || s->count == 0 || !s->edge_rows.begin)
        return status;
    for (int k = 0; k < s->count; k++)
        compact[k] = compact_at(s, k);
    return s->edge_rows.begin(&s->edge_rows, s->count, compact);
}

/* --- by rows -------------------------------------------------------------------------------------
 */

/* Edge rows before an own row. */
static int64_t edges_before(const distributed *p, int64_t row)
{
    int64_t low = 0, high = p->edges;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (p->edge_rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void scatter(size_t size, const distributed *p, range edges, int64_t first, const char *sums,
                    char *y)
{
    for (int64_t e = edges.begin; e < edges.end; e++)
        memcpy(y + (size_t)(p->edge_rows[e] - first) * size, sums + (size_t)e * size, size);
}

static void run_rows(const operator_rows *rows, int64_t first, int64_t end, const void *x, void *y)
{
    const side *s = rows->state;
    const distributed *p = s->links;
    const range edges = {edges_before(p, first), edges_before(p, end)};
    int k = 0;
    s->own_rows.run(&s->own_rows, first, end, x, y);
    if (edges.begin == edges.end)
        return;
    while (k < s->count - 1 && s->x[k] != x)
        k++;
    char *sums = sums_at(s, k);
    s->edge_rows.run(&s->edge_rows, edges.begin, edges.end, compact_at(s, k),
                     sums + edges.begin * size_of(s));
    scatter((size_t)size_of(s), p, edges, first, sums, y);
}

static int64_t work_before(const operator_rows *rows, int64_t row)
{
    const side *s = rows->state;
    return s->own_rows.work(&s->own_rows, row);
}

static bool waits(const operator_rows *rows, int64_t first, int64_t end)
{
    const side *s = rows->state;
    return edges_before(s->links, first) < edges_before(s->links, end);
}

/* The messages at hand are no part of the operator's value. */
static side *messages_of(const operator_rows *rows)
{
    return (side *)(uintptr_t)rows->state;
}

static spry_status begin_rows(const operator_rows *rows, int count, const void *const *x)
{
    return begin(messages_of(rows), count, x);
}

static spry_status finish_rows(const operator_rows *rows)
{
    return finish_for_rows(messages_of(rows));
}

/* --- the operator --------------------------------------------------------------------------------
 */

/* Whether rows can be run by themselves, on all ranks. */
static spry_status find_rows(side *s)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    spry_context *ctx = s->ctx;
    spry_status status = operator_open_rows(s->own, SPRY_TRANSPOSE_NO, &s->own_rows);
    if (status == SPRY_STATUS_OK)
        status = operator_open_rows(s->edge, SPRY_TRANSPOSE_NO, &s->edge_rows);
    return dist_agree_by_rows(ctx, status, s->own_rows.run && s->edge_rows.run, &s->by_rows);
}

/* Takes the parts, also when it fails; `made` is the status that they were made with. */
static spry_status side_new(spry_context *ctx, spry_type type, spry_status made, dist_parts *parts,
                            side **out)
{
    side *s = NULL;
    spry_status status = made == SPRY_STATUS_OK ? base_calloc(ctx, 1, sizeof *s, &s) : made;
    *out = NULL;
    if (s) {
        *s = (side){.ctx = ctx,
                    .type = type,
                    .links = parts->links,
                    .own = parts->own,
                    .edge = parts->edge,
                    .kept = parts->kept};
        *parts = (dist_parts){0};
    }
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, find_rows(s));
    SPRY_GO(ctx, open_post(s, 1));
    *out = s;
    s = NULL;
done:
    spry_operator_free(parts->own);
    spry_operator_free(parts->edge);
    spry_matrix_free(parts->kept);
    side_free(ctx, s);
    return status;
}

/* The rows of A^T or A^H, made at the first use. */
static spry_status find_side(const spry_operator *op, spry_transpose transpose, side **out)
{
    dist_state *state = op->state;
    const spry_transpose kind = dist_side(op->type, transpose);
    spry_status status = SPRY_STATUS_OK;
    if (!state->sides[kind]) {
        dist_parts parts = {0};
        const spry_status made = state->source.open(state->source.state, kind, &parts);
        SPRY_GO(op->ctx, side_new(op->ctx, op->type, made, &parts, &state->sides[kind]));
    }
    *out = state->sides[kind];
done:
    return status;
}

/* y = alpha op(A) x + beta y; edge rows' old y are kept for that. */
static spry_status dist_multiply(const spry_operator *op, spry_transpose transpose,
                                 spry_scalar alpha, const void *x, spry_scalar beta, void *y)
{
    spry_context *ctx = op->ctx;
    side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_side(op, transpose, &s));
    const distributed *p = s->links;
    const size_t size = (size_t)size_of(s);
    SPRY_GO(ctx, begin(s, 1, &x));
    if (beta.re != 0 || beta.im != 0)
        gather(size, p->edges, p->edge_rows, y, s->sums);
    const spry_status own = s->own->class->multiply(s->own, SPRY_TRANSPOSE_NO, alpha, x, beta, y);
    SPRY_GO(ctx, finish(s));
    SPRY_GO(ctx, own);
    SPRY_GO(ctx,
            s->edge->class->multiply(s->edge, SPRY_TRANSPOSE_NO, alpha, s->compact, beta, s->sums));
    scatter(size, p, (range){0, p->edges}, 0, s->sums, y);
done:
    return status;
}

static spry_status dist_open_rows(const spry_operator *op, spry_transpose transpose,
                                  operator_rows *rows)
{
    side *s = NULL;
    const spry_status status = find_side(op, transpose, &s);
    if (status == SPRY_STATUS_OK && s->by_rows)
        *rows = (operator_rows){.state = s,
                                .run = run_rows,
                                .work = work_before,
                                .begin = begin_rows,
                                .waits = waits,
                                .finish = finish_rows};
    return status;
}

static spry_status dist_storage(const spry_operator *op, spry_storage *storage)
{
    const dist_state *state = op->state;
    const spry_operator *own = state->sides[SPRY_TRANSPOSE_NO]->own;
    return own->class->stored.storage(own, storage);
}

static spry_status dist_diagonal(const spry_operator *op, spry_vector **d)
{
    const dist_state *state = op->state;
    const spry_operator *own = state->sides[SPRY_TRANSPOSE_NO]->own;
    const spry_status status = own->class->stored.diagonal(own, d);
    if (status == SPRY_STATUS_OK)
        (*d)->part = op->rows_part;
    return status;
}

static void dist_destroy(spry_operator *op)
{
    dist_state *state = op->state;
    for (int k = 0; state && k < 3; k++)
        side_free(op->ctx, state->sides[k]);
    base_free(op->ctx, state);
}

/* New values: the own block in the format that it has. */
static spry_status dist_remake(const spry_operator *op, const spry_matrix *A, spry_operator **fresh)
{
    const dist_state *state = op->state;
    const spry_operator *old = state->sides[SPRY_TRANSPOSE_NO]->own;
    spry_operator *own = NULL;
    const spry_status made = old->class->stored.remake
                                 ? old->class->stored.remake(old, A->distributed->own, &own)
                                 : host_csr_operator(A->distributed->own, &own);
    return dist_operator(A, made, own, fresh);
}

static const operator_class distributed_class = {.name = "distributed",
                                                 .has_transpose = true,
                                                 .multiply = dist_multiply,
                                                 .destroy = dist_destroy,
                                                 .rows.open = dist_open_rows,
                                                 .stored.storage = dist_storage,
                                                 .stored.diagonal = dist_diagonal,
                                                 .stored.remake = dist_remake};

/* An operator without its sides. */
static spry_status operator_without_sides(spry_context *ctx, spry_type type, int64_t rows,
                                          int64_t cols, const dist_source *source,
                                          spry_operator **op)
{
    dist_state *state = NULL;
    spry_status status = operator_new(ctx, &distributed_class, type, rows, cols, op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *state, &state);
    if (state)
        state->source = *source;
    if (*op)
        (*op)->state = state;
    return status;
}

spry_status dist_operator_of(spry_context *ctx, spry_type type, int64_t rows,
                             const dist_source *source, spry_operator **out)
{
    spry_operator *op = NULL;
    side *s = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, team_agree(ctx, operator_without_sides(ctx, type, rows, rows, source, &op)));
    SPRY_GO(ctx, find_side(op, SPRY_TRANSPOSE_NO, &s));
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}

/* --- of matrices ---------------------------------------------------------------------------------
 */

/* The rows of a distributed matrix, with the product of its own block or the status of one that
 * failed.
 */
static spry_status parts_of(const spry_matrix *A, spry_status made, spry_operator *own,
                            dist_parts *parts)
{
    *parts = (dist_parts){.links = A->distributed, .own = own};
    return made == SPRY_STATUS_OK ? host_csr_operator(A->distributed->edge, &parts->edge) : made;
}

static spry_status open_transposed(const void *state, spry_transpose transpose, dist_parts *parts)
{
    const spry_matrix *A = state;
    spry_matrix *T = NULL;
    spry_operator *own = NULL;
    spry_status status = dist_transpose(A, transpose == SPRY_TRANSPOSE_CONJUGATE, &T);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_status made = host_csr_operator(T->distributed->own, &own);
    status = parts_of(T, made, own, parts);
    parts->kept = T;
    return status;
}

spry_status dist_operator(const spry_matrix *A, spry_status made, spry_operator *own,
                          spry_operator **out)
{
    spry_context *ctx = A->ctx;
    const dist_source source = {A, open_transposed};
    spry_operator *op = NULL;
    dist_parts parts;
    side *s = NULL;
    *out = NULL;
    spry_status status = operator_without_sides(ctx, A->a.type, A->a.rows, A->a.cols, &source, &op);
    made = parts_of(A, made != SPRY_STATUS_OK ? made : status, own, &parts);
    status = side_new(ctx, A->a.type, made, &parts, &s);
    if (op && op->state)
        ((dist_state *)op->state)->sides[SPRY_TRANSPOSE_NO] = s;
    SPRY_GO(ctx, status);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all have agreed that it is there */
    dist_note_operator(op, A, s->own, s->edge);
    *out = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
