/*
 * Messages of ranks that do not wait. Elements go to a neighbour when it has answered to the last
 * ones, so that at most one message is under way each way, and a slow rank hears of the newest
 * alone. Rank 0 asks whether all residuals are small, twice in turn; then all stop, or as soon as
 * one has to.
 */
#include "krylov/split.h"

typedef enum kind { ELEMENTS, ANSWER, STATE, ASK, FREEZE } kind;
typedef struct note {
    int32_t kind, flag;
    int64_t round;
} note;

static spry_status post(split *p, int to, const void *data, int64_t bytes)
{
    p->posted[to]++;
    return team_post(p->ctx, to, data, bytes);
}

static spry_status post_note(split *p, int to, kind what, int flag)
{
    const note n = {(int32_t)what, flag, p->round};
    return post(p, to, &n, sizeof n);
}

/* What a rank says of itself. One that has done all its iterations waits for the others; one that
 * was asked to stop, or has failed, does not. */
static int word_of(const split *p)
{
    const bool over = p->end != SPRY_REASON_COUNT;
    if (over && p->end != SPRY_REASON_ITERATIONS)
        return SPLIT_STOPS;
    return p->small || over ? SPLIT_RESTS : SPLIT_WORKS;
}

spry_status split_talk_ready(split *p)
{
    const distributed *s = p->s;
    spry_context *ctx = p->ctx;
    team_message *send = NULL, *receive = NULL;
    spry_status status = SPRY_STATUS_OK;
    const int64_t size = (int64_t)p->element;
    if (!s)
        return status;
    status = dist_list_messages(ctx, s->sends, s->send, size, p->out, &send);
    if (status == SPRY_STATUS_OK)
        status = dist_list_messages(ctx, s->receives, s->receive, size, p->ghosts, &receive);
    status = team_agree(ctx, status);
    if (status == SPRY_STATUS_OK)
        status = team_halo_new(ctx, s->sends, send, s->receives, receive, &p->halo);
    base_free(ctx, send);
    base_free(ctx, receive);
    return status;
}

spry_status split_talk_open(split *p)
{
    const distributed *s = p->s;
    spry_context *ctx = p->ctx;
    const int ranks = team_ranks(ctx), neighbours = s ? s->sends + s->receives : 0;
    int64_t most = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; s && k < s->receives; k++)
        most = s->receive[k].count > most ? s->receive[k].count : most;
    for (int k = 0; s && k < s->sends; k++)
        most = s->send[k].count > most ? s->send[k].count : most;
    p->letter_room = (int64_t)sizeof(note) + most * (int64_t)p->element;
    SPRY_GO(ctx, base_calloc(ctx, p->letter_room, 1, &p->letter));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->posted, &p->posted));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->taken, &p->taken));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->bytes, &p->bytes));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->due, &p->due));
    SPRY_GO(ctx, base_calloc(ctx, neighbours + 1, sizeof *p->age, &p->age));
    SPRY_GO(ctx, base_calloc(ctx, neighbours + 1, sizeof *p->waits, &p->waits));
    SPRY_GO(ctx, base_calloc(ctx, neighbours + 1, sizeof *p->changed, &p->changed));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->agrees, &p->agrees));
    SPRY_GO(ctx, base_calloc(ctx, ranks, sizeof *p->answered, &p->answered));
done:
    return status;
}

void split_talk_close(split *p)
{
    void *const all[] = {p->letter,  p->posted, p->taken,    p->age,   p->waits,
                         p->changed, p->agrees, p->answered, p->bytes, p->due};
    if (p->halo)
        team_halo_free(p->ctx, p->halo);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        base_free(p->ctx, all[i]);
}

static int neighbour_of(const dist_neighbour *all, int count, int rank)
{
    int k = 0;
    while (k < count && all[k].rank != rank)
        k++;
    return k < count ? k : -1;
}

static spry_status take_elements(split *p, int from)
{
    const int k = neighbour_of(p->s->receive, p->s->receives, from);
    if (k < 0)
        return SPRY_STATUS_OK;
    const dist_neighbour *n = &p->s->receive[k];
    memcpy(p->ghosts + (size_t)n->first * p->element, p->letter + sizeof(note),
           (size_t)n->count * p->element);
    p->fresh = true;
    p->stats.received++;
    p->age[k] = 0;
    return p->settling ? SPRY_STATUS_OK : post_note(p, from, ANSWER, 0);
}

static spry_status take_one(split *p, int from)
{
    note n;
    memcpy(&n, p->letter, sizeof n);
    p->taken[from]++;
    switch ((kind)n.kind) {
    case ELEMENTS:
        return take_elements(p, from);
    case ANSWER: {
        const int k = neighbour_of(p->s->send, p->s->sends, from);
        if (k >= 0)
            p->waits[k] = false;
        return SPRY_STATUS_OK;
    }
    case STATE:
        p->agrees[from] = n.flag != SPLIT_WORKS;
        p->stops = p->stops || n.flag == SPLIT_STOPS;
        p->answered[from] |= n.round == p->round;
        return SPRY_STATUS_OK;
    case ASK:
        p->round = n.round;
        p->said = word_of(p);
        return p->settling ? SPRY_STATUS_OK : post_note(p, 0, STATE, p->said);
    case FREEZE:
        p->frozen = true;
    }
    return SPRY_STATUS_OK;
}

/* One message, if there is one. */
static spry_status take_next(split *p, bool *any)
{
    int from = -1;
    int64_t bytes = 0;
    spry_status status = team_poll(p->ctx, &from, p->letter, p->letter_room, &bytes);
    *any = from >= 0;
    return status == SPRY_STATUS_OK && *any ? take_one(p, from) : status;
}

spry_status split_listen(split *p)
{
    bool any = true;
    spry_status status = SPRY_STATUS_OK;
    while (any && status == SPRY_STATUS_OK)
        status = take_next(p, &any);
    return status;
}

spry_status split_send(split *p)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; p->s && k < p->s->sends; k++) {
        if (p->waits[k] || !p->changed[k])
            continue;
        const int64_t bytes = p->s->send[k].count * (int64_t)p->element;
        const note n = {ELEMENTS, 0, 0};
        memcpy(p->letter, &n, sizeof n);
        memcpy(p->letter + sizeof n, split_pack(p, k), (size_t)bytes);
        SPRY_GO(p->ctx, post(p, p->s->send[k].rank, p->letter, (int64_t)sizeof n + bytes));
        p->waits[k] = true;
        p->changed[k] = false;
    }
done:
    return status;
}

static bool all_of(const bool *flags, int count)
{
    for (int r = 0; r < count; r++)
        if (!flags[r])
            return false;
    return true;
}

spry_status split_freeze(split *p)
{
    spry_status status = SPRY_STATUS_OK;
    p->frozen = true;
    for (int r = 1; r < team_ranks(p->ctx); r++)
        SPRY_GO(p->ctx, post_note(p, r, FREEZE, 0));
done:
    return status;
}

/* Rank 0, whose own words need no message. */
static spry_status lead(split *p)
{
    const int ranks = team_ranks(p->ctx);
    spry_status status = SPRY_STATUS_OK;
    p->agrees[0] = p->said != SPLIT_WORKS;
    p->answered[0] = true;
    if (p->stops || p->said == SPLIT_STOPS)
        return split_freeze(p);
    if (p->asking && !all_of(p->answered, ranks))
        return SPRY_STATUS_OK;
    const bool all = all_of(p->agrees, ranks);
    if (p->asking)
        p->agreed = all ? p->agreed + 1 : 0;
    p->asking = all && p->agreed < 2;
    if (p->agreed == 2) {
        SPRY_GO(p->ctx, split_freeze(p));
    } else if (p->asking) {
        p->round++;
        for (int r = 1; r < ranks; r++) {
            p->answered[r] = false;
            SPRY_GO(p->ctx, post_note(p, r, ASK, 0));
        }
    }
done:
    return status;
}

spry_status split_coordinate(split *p)
{
    const int now = word_of(p);
    if (team_rank(p->ctx) == 0) {
        p->said = now;
        return lead(p);
    }
    if (now == p->said)
        return SPRY_STATUS_OK;
    p->said = now;
    return post_note(p, 0, STATE, now);
}

spry_status split_settle(split *p)
{
    spry_context *ctx = p->ctx;
    const int ranks = team_ranks(ctx);
    spry_status status = SPRY_STATUS_OK;
    if (ranks > 1) {
        p->settling = true;
        for (int r = 0; r < ranks; r++)
            p->bytes[r] = sizeof *p->due;
        status = team_swap(ctx, p->bytes, p->posted, p->bytes, p->due);
    }
    for (int r = 0; ranks > 1 && r < ranks && status == SPRY_STATUS_OK;) {
        bool any;
        if (p->taken[r] >= p->due[r])
            r++;
        else
            status = take_next(p, &any);
    }
    for (int k = 0; p->s && k < p->s->sends; k++) {
        p->waits[k] = false;
        p->changed[k] = true;
    }
    for (int r = 0; r < ranks; r++)
        p->agrees[r] = false;
    p->settling = p->frozen = p->asking = p->stops = false;
    p->said = SPLIT_WORKS;
    p->agreed = 0;
    return status;
}
