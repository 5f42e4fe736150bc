/*
 * Inner products over ranks: all of a sweep in one message, with what else has to be known
 * everywhere before the next. Each rank gives its sums, and all of them add these in the order of
 * ranks. With repeat=strict each gives the sums of its chunks instead, which are then added up as
 * they are without ranks: chunks to parts, and parts as a tree.
 */
#include "base/team.h"
#include "program/sweep.h"

typedef struct ranks_room {
    int64_t *chunks[2]; /* strict: of each rank, by space */
    int64_t most[2];    /* the largest of these */
    spry_scalar *mine, *all, parts[MOST_PARTS];
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
    base_free(r->ctx, r->host->told);
    if (!w)
        return;
    base_free(r->ctx, w->chunks[0]);
    base_free(r->ctx, w->chunks[1]);
    base_free(r->ctx, w->mine);
    base_free(r->ctx, w->all);
    base_free(r->ctx, w);
}

/* Who has how many chunks. Every rank's first begins where one does without ranks (spread.c). */
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

spry_status sweep_open_ranks(runner *r, int64_t slots)
{
    spry_context *ctx = r->ctx;
    ranks_room *w = NULL;
    int64_t room = slots + 1;
    if (!r->ranked)
        return SPRY_STATUS_OK;
    spry_status status = base_calloc(ctx, 1, sizeof *w, &r->host->ranks);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, slots, sizeof *r->host->told, &r->host->told);
    SPRY_GO(ctx, team_agree(ctx, status));
    w = r->host->ranks;
    if (sweep_is_strict(r)) {
        SPRY_GO(ctx, count_chunks(r, w));
        room = slots * (w->most[0] > w->most[1] ? w->most[0] : w->most[1]) + 1;
    }
    status = base_alloc(ctx, room, sizeof *w->mine, &w->mine);
    if (status == SPRY_STATUS_OK)
        status = base_alloc(ctx, room * team_ranks(ctx), sizeof *w->all, &w->all);
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

/* What comes with the sums: whether a rank has failed, or was asked to stop. */
static void heed(runner *r, const spry_scalar *from, int64_t apart)
{
    bool failed = false;
    for (int k = 0; k < team_ranks(r->ctx); k++) {
        failed = failed || from[k * apart].re != 0;
        r->stopped = r->stopped || from[k * apart].im != 0;
    }
    if (failed)
        r->status = team_agree(r->ctx, r->late);
    if (r->stopped) /* so that what comes after the run hears of it, too */
        spry_context_interrupt(r->ctx);
}

void sweep_join_ranks(runner *r)
{
    ranks_room *w = r->host->ranks;
    int64_t count = 0, at = 0;
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *s = &r->host->bound[i];
        for (int k = 0; s->o->kind == OP_DOT && k < s->count; k++)
            count += put_slot(r, s, k, w->mine + count);
    }
    w->mine[count] = (spry_scalar){r->late, spry_context_interrupted(r->ctx, false) ? 1 : 0};
    const int64_t apart = count + 1;
    const spry_status status =
        team_gather(r->ctx, w->mine, apart * (int64_t)sizeof *w->mine, w->all);
    if (status != SPRY_STATUS_OK) {
        r->status = status;
        return;
    }
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *s = &r->host->bound[i];
        for (int k = 0; s->o->kind == OP_DOT && k < s->count; k++) {
            r->host->told[s->slot + k] = join_slot(r, s, w->all + at, apart);
            at += sweep_is_strict(r) ? w->most[s->space] : 1;
        }
    }
    heed(r, w->all + count, apart);
}
