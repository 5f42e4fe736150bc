/*
 * Inner products over ranks: all of a sweep in one message, with what else has to be known
 * everywhere before the next. Each rank gives its partial sums, and all of them add these in the
 * order of ranks. With repeat=strict each gives the sums of its chunks instead, which are then
 * added up as they are without ranks: chunks to parts, and parts as a tree. Where the next sweep
 * does not need them (overlap.c), it runs while the message is under way.
 */
#include "base/team.h"
#include "program/sweep.h"

typedef struct ranks_room {
    int64_t *chunks[2]; /* strict: of each rank, by space */
    int64_t most[2];    /* the largest of these */
    spry_scalar *mine, *all, parts[MOST_PARTS];
    /* The message at hand: its inner products, and room for the sums of one operation. */
    bound_op *dots;
    spry_scalar *reduced;
    int dot_count;
    int64_t length; /* of what a rank sends */
    enum { MESSAGE_WAITS, MESSAGE_UNDER_WAY, MESSAGE_HERE } message;
    team_request *request;
} ranks_room;

bool sweep_is_strict(const runner *r)
{
    return r->ranked && r->ctx->options.repeat == REPEAT_STRICT;
}

static int64_t chunks_of(int64_t n)
{
    return (n + CHUNK - 1) / CHUNK;
}

void sweep_close_ranks(runner *r)
{
    ranks_room *w = r->host->ranks;
    if (!w)
        return;
    base_free(r->ctx, w->chunks[0]);
    base_free(r->ctx, w->chunks[1]);
    base_free(r->ctx, w->mine);
    base_free(r->ctx, w->all);
    base_free(r->ctx, w->dots);
    base_free(r->ctx, w->reduced);
    base_free(r->ctx, w);
}

/* Who has how many chunks. Every rank's first begins where one does without ranks (distributed.c).
 */
static spry_status count_chunks(runner *r, ranks_room *w)
{
    spry_status status = SPRY_STATUS_OK;
    for (int space = 0; space < 2; space++) {
        const int64_t mine = chunks_of(r->n[space]);
        status = base_alloc(r->ctx, team_ranks(r->ctx), sizeof **w->chunks, &w->chunks[space]);
        SPRY_GO(r->ctx, team_agree(r->ctx, status));
        SPRY_GO(r->ctx, team_gather(r->ctx, &mine, sizeof mine, w->chunks[space]));
        for (int k = 0; k < team_ranks(r->ctx); k++)
            w->most[space] =
                w->chunks[space][k] > w->most[space] ? w->chunks[space][k] : w->most[space];
    }
done:
    return status;
}

/* The inner products that go in one message at most: of phases that join, and the next. */
static int64_t count_joined(const runner *r)
{
    const plan *p = r->p;
    int64_t most = 1, sum = 0;
    for (const phase *f = p->phases; f < p->phases + p->phase_count; f++) {
        sum = f->waits_before ? 0 : sum;
        for (int i = f->first; i < f->first + f->sweep_count; i++)
            if (p->ops[i].kind == OP_DOT)
                sum += host_most_vectors(p, &p->ops[i].in[0]);
        most = sum > most ? sum : most;
        sum = f->waits_after ? 0 : sum;
    }
    return most * r->rhs_room;
}

spry_status sweep_open_ranks(runner *r)
{
    spry_context *ctx = r->ctx;
    ranks_room *w = NULL;
    const int64_t slots = r->ranked ? count_joined(r) : 0;
    int64_t room = slots + 1;
    if (!r->ranked)
        return SPRY_STATUS_OK;
    spry_status status = base_calloc(ctx, 1, sizeof *w, &r->host->ranks);
    SPRY_GO(ctx, team_agree(ctx, status));
    w = r->host->ranks;
    if (sweep_is_strict(r)) {
        SPRY_GO(ctx, count_chunks(r, w));
        room = slots * (w->most[0] > w->most[1] ? w->most[0] : w->most[1]) + 1;
    }
    status = base_alloc(ctx, room, sizeof *w->mine, &w->mine);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, room * team_ranks(ctx), sizeof *w->all, &w->all);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, slots, sizeof *w->dots, &w->dots);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, slots, sizeof *w->reduced, &w->reduced);
    SPRY_GO(ctx, team_agree(ctx, status));
done:
    return status;
}

/* What this rank has of a slot: one sum, or those of its chunks, which are its parts then. */
static int64_t put_slot(const runner *r, const bound_op *s, int k, spry_scalar *to)
{
    const ranks_room *w = r->host->ranks;
    const int64_t chunks = chunks_of(r->n[s->space]);
    spry_scalar *sums = &r->host->sums[s->slot + k];
    if (!sweep_is_strict(r)) {
        const spry_scalar none = {0, 0};
        *to = chunks == 0 ? none
                          : sweep_add_parts(sums, r->host->parts[s->space], r->host->slot_count);
        return 1;
    }
    for (int64_t i = 0; i < chunks; i++)
        to[i] = sums[i * r->host->slot_count];
    for (int64_t i = chunks; i < w->most[s->space]; i++)
        to[i] = (spry_scalar){0, 0};
    return w->most[s->space];
}

static void add(spry_scalar *to, spry_scalar value)
{
    to->re += value.re;
    to->im += value.im;
}

/* The sum of a slot over all ranks, whose numbers begin at `from` and are `apart`. */
static spry_scalar join_slot(const runner *r, const bound_op *s, const spry_scalar *from,
                             int64_t apart)
{
    ranks_room *w = r->host->ranks;
    const int64_t n = r->parts[s->space].all;
    const int ranks = team_ranks(r->ctx);
    spry_scalar sum = from[0];
    if (!sweep_is_strict(r)) {
        for (int k = 1; k < ranks; k++)
            add(&sum, from[k * apart]);
        return sum;
    }
    const int64_t chunks = chunks_of(n);
    const int count = chunks < 1 ? 1 : chunks < MOST_PARTS ? (int)chunks : MOST_PARTS;
    int64_t i = 0; /* the chunk among those of all ranks */
    memset(w->parts, 0, sizeof w->parts);
    for (int k = 0; k < ranks; k++)
        for (int64_t c = 0; c < w->chunks[s->space][k]; c++, i++)
            add(&w->parts[base_share_of(n, count, i * CHUNK, CHUNK)], from[k * apart + c]);
    return sweep_add_parts(w->parts, count, 1);
}

/* What comes with the reductions: whether a rank has failed, or was asked to stop. */
static void take_notes(runner *r, const spry_scalar *from, int64_t apart)
{
    bool failed = false;
    for (int k = 0; k < team_ranks(r->ctx); k++) {
        failed = failed || from[k * apart].re != 0;
        r->stopped = r->stopped || from[k * apart].im != 0;
    }
    if (failed)
        r->status = team_agree(r->ctx, r->late);
    if (r->stopped) /* so that it holds after the run, too */
        spry_context_interrupt(r->ctx);
}

/* Puts the partial sums of the sweep at hand into the message. */
static void put_parts(runner *r, ranks_room *w)
{
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *s = &r->host->bound[i];
        if (s->o->kind != OP_DOT)
            continue;
        w->dots[w->dot_count++] = *s;
        for (int k = 0; k < s->count; k++)
            w->length += put_slot(r, s, k, w->mine + w->length);
    }
}

void sweep_begin_reduction(runner *r, const phase *f)
{
    ranks_room *w = r->host->ranks;
    if (w->message == MESSAGE_UNDER_WAY) /* then the sweep at hand has none */
        return;
    put_parts(r, w);
    if (f->joins || w->length == 0)
        return;
    w->mine[w->length++] = (spry_scalar){r->late, spry_context_interrupted(r->ctx, false) ? 1 : 0};
    const int64_t bytes = w->length * (int64_t)sizeof *w->mine;
    r->status = f->waits_after ? team_gather(r->ctx, w->mine, bytes, w->all)
                               : team_gather_begin(r->ctx, w->mine, bytes, w->all, &w->request);
    if (r->status == SPRY_STATUS_OK)
        w->message = f->waits_after ? MESSAGE_HERE : MESSAGE_UNDER_WAY;
}

/* The reductions over all ranks, and what came with them. */
static void open_message(runner *r, ranks_room *w)
{
    int64_t at = 0;
    for (int i = 0; i < w->dot_count; i++) {
        const bound_op *s = &w->dots[i];
        for (int k = 0; k < s->count; k++) {
            w->reduced[k] = join_slot(r, s, w->all + at, w->length);
            at += sweep_is_strict(r) ? w->most[s->space] : 1;
        }
        sweep_store(r, s, w->reduced);
    }
    take_notes(r, w->all + at, w->length);
}

void sweep_end_reduction(runner *r)
{
    ranks_room *w = r->host->ranks;
    if (!w)
        return;
    if (w->message == MESSAGE_UNDER_WAY) {
        const spry_status status = team_gather_end(r->ctx, w->request);
        if (status == SPRY_STATUS_OK)
            w->message = MESSAGE_HERE;
        else
            r->status = status;
    }
    if (w->message == MESSAGE_HERE)
        open_message(r, w);
    w->message = MESSAGE_WAITS;
    w->dot_count = 0;
    w->length = 0;
}
