/*
 * Plans on the device of a rank, and those of right-hand sides that see each other. The course is
 * the host's (host_run.c): scalar work and exits are done on the host, with the same numbers on all
 * ranks, whether these work on devices or on processors, and with the numbers of all right-hand
 * sides. The device has the vectors and does the sweeps: before each it is given the numbers and
 * the places of vectors, and after it the reductions over its groups come back, to be joined with
 * those of the other ranks in one message (sweep_ranks.c). Right-hand sides that see each other
 * have one launch for all of them (emit_sweep.c), and one transfer of numbers before it and of
 * reductions after it.
 */
#include "program/resident.h"
#include "program/sweep.h"

#include "ranks/operator.h"

static resident *side_of(const runner *r, const rhs *l)
{
    return r->host->residents[l - r->rhs];
}

/* Sweeps that the device is given before the host waits for it: those without reductions need no
 * answer. */
enum { MOST_AHEAD = 8 };

static int64_t sent_words(const resident *s)
{
    return s->memory.columns > 0 ? s->block.words
                                 : s->block.rep_at + REP_FIRST; /* all but the reports */
}

static spry_status open_rhs(runner *r, int index)
{
    resident **s = &r->host->residents[index];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, resident_make(r, true, index, s));
    const int64_t together = resident_together(*s);
    if (!(*s)->memory.borrows)
        SPRY_GO(r->ctx, base_alloc(r->ctx, MOST_AHEAD * together * sent_words(*s),
                                   sizeof *(*s)->block.copies, &(*s)->block.copies));
    SPRY_GO(r->ctx, resident_open_calls(*s));
done:
    return status;
}

static void close_rhs(runner *r, int index)
{
    if (r->host->residents)
        resident_free(r, r->host->residents[index]);
}

/* Nothing of the mirror is on its way any more. */
static spry_status wait_sent(resident *s)
{
    if (s->memory.borrows)
        s = s->r->host->residents[0];
    const spry_status status =
        s->block.sent > 0 ? device_stream_finish(s->d->stream) : SPRY_STATUS_OK;
    s->block.sent = 0;
    return status;
}

/* Where plain vectors are. */
static void fill_slots(resident *s)
{
    for (int k = 0; k < s->p->slots; k++)
        s->block.mirror[ST_SLOTS + k].whole = s->memory.slots[k];
}

/* Numbers, places of vectors, and updates of x that were made early. */
static void fill_mirror(resident *s, int64_t skip)
{
    s->block.mirror[ST_SKIP].whole = skip;
    s->block.mirror[ST_MEMBERS].whole = 0;
    for (int k = 0; k < s->r->host->member_count; k++)
        s->block.mirror[ST_MEMBERS].whole |= (int64_t)1 << s->r->host->members[k];
    s->block.mirror[ST_STOP].whole = STOP_NOT;
    s->block.mirror[ST_TICKET].whole = 0;
    fill_slots(s);
    resident_give(s);
}

/* The same to the device. */
static spry_status send(resident *s, int64_t skip)
{
    spry_context *ctx = s->r->ctx;
    const int64_t words = sent_words(s);
    control_word *copy;
    spry_status status = SPRY_STATUS_OK;
    if (s->block.sent == MOST_AHEAD)
        SPRY_GO(ctx, wait_sent(s));
    fill_mirror(s, skip);
    copy = s->block.copies + s->block.sent++ * words;
    memcpy(copy, s->block.mirror, (size_t)words * sizeof *copy);
    SPRY_GO(ctx,
            device_put_on(s->d->stream, s->memory.control, 0, copy, words * (int64_t)sizeof *copy));
done:
    return status;
}

/* Updates of x in a phase that are not among the right-hand side's bound operations: they were made
 * early. */
static int64_t skipped(const runner *r, int rhs_index, const phase *f)
{
    int64_t skip = 0;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const int bit = emit_skip_bit(r->p, i);
        skip |= bit >= 0 ? (int64_t)1 << bit : 0;
    }
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *b = &r->host->bound[i];
        const int bit = b->rhs == rhs_index ? emit_skip_bit(r->p, (int)(b->o - r->p->ops)) : -1;
        skip &= bit >= 0 ? ~((int64_t)1 << bit) : -1;
    }
    return skip;
}

static bool has_bound(const runner *r, int rhs_index)
{
    for (int i = 0; i < r->host->bound_count; i++)
        if (r->host->bound[i].rhs == rhs_index)
            return true;
    return false;
}

static spry_status launch(resident *s, const phase *f, int64_t skip)
{
    spry_context *ctx = s->r->ctx;
    const int index = (int)(f - s->p->phases), groups = (int)s->code.groups[index];
    const device_arg more[] = {DEVICE_VALUE(groups)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, send(s, skip));
    SPRY_GO(ctx, resident_launch(s, "phase", index, f, groups, NULL, 0));
    if (emit_slots(s->p, f) > 0 && !s->d->facts.has_tickets)
        SPRY_GO(ctx, resident_launch(s, "sums", index, NULL, 1, more, 1));
done:
    return status;
}

static spry_status launch_alone(resident *s, const plan_op *o)
{
    spry_context *ctx = s->r->ctx;
    const int op = (int)(o - s->p->ops);
    const phase alone = {.first = op, .sweep_count = 1, .count = 1};
    const int64_t groups = s->code.groups[s->r->block->phase + o->phase];
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, send(s, 0));
    SPRY_GO(ctx, resident_launch(s, "settle", op, &alone, groups, NULL, 0));
done:
    return status;
}

/* The device's reductions of a phase's slots become those of the bound operations of a right-hand
 * side.
 */
static void take_sums(runner *r, int rhs_index, const phase *f, const double *sums)
{
    const int width = spry_type_is_complex(r->type) ? 2 : 1;
    for (int i = 0; i < r->host->bound_count; i++) {
        const bound_op *b = &r->host->bound[i];
        if (b->rhs != rhs_index || b->o->kind != OP_DOT)
            continue;
        const int64_t first = emit_slot(r->p, f, (int)(b->o - r->p->ops));
        for (int k = 0; k < b->count; k++) {
            const int64_t slot = first + (b->o->in[0].all ? r->host->members[k] : k);
            const double *at = sums + slot * width;
            r->host->sums[b->slot + k] = (spry_scalar){at[0], width == 2 ? at[1] : 0};
        }
    }
}

static spry_status fetch_sums(runner *r, const phase *f)
{
    spry_context *ctx = r->ctx;
    const int64_t slots = emit_slots(r->p, f), index = f - r->p->phases;
    const int64_t bytes = slots * emit_number_size(r->type);
    device_piece pieces[MOST_RHS];
    int which[MOST_RHS], count = 0;
    char *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (slots == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, r->rhs_count * bytes, 1, &room));
    for (int k = 0; k < r->rhs_count; k++) {
        const resident *s = r->host->residents[k];
        if (!has_bound(r, k))
            continue;
        pieces[count] = (device_piece){s->memory.partials, s->code.groups[index] * bytes,
                                       room + count * bytes, bytes};
        which[count++] = k;
    }
    if (count > 0)
        SPRY_GO(ctx, device_get_pieces(r->host->residents[0]->d, pieces, count));
    for (int k = 0; k < count; k++) {
        r->host->residents[which[k]]->block.sent = 0;
        take_sums(r, which[k], f, (const double *)(const void *)(room + k * bytes));
    }
done:
    base_free(ctx, room);
    return status;
}

/* --- right-hand sides that see each other
 * ------------------------------------------------------------------
 */

/* What all right-hand sides have to the device, at once; `takes`: who takes part. */
static spry_status send_columns(runner *r, const phase *f, int64_t takes)
{
    resident *own = r->host->residents[0];
    const int64_t words = sent_words(own);
    control_word *copy;
    spry_status status = SPRY_STATUS_OK;
    if (own->block.sent == MOST_AHEAD)
        SPRY_GO(r->ctx, wait_sent(own));
    copy = own->block.copies + own->block.sent++ * own->memory.columns * words;
    for (int k = 0; k < r->rhs_count; k++) {
        resident *s = r->host->residents[k];
        s->l = &r->rhs[k];
        fill_mirror(s, f ? skipped(r, k, f) : 0);
        s->block.mirror[ST_TAKES].whole = takes;
        memcpy(copy + k * words, s->block.mirror, (size_t)words * sizeof *copy);
    }
    SPRY_GO(r->ctx, device_put_on(own->d->stream, own->memory.control, 0, copy,
                                  r->rhs_count * words * (int64_t)sizeof *copy));
done:
    return status;
}

/* Launches a phase, or an operation alone, for the columns of the right-hand sides that take part.
 */
static spry_status launch_columns(runner *r, const phase *f, const plan_op *alone, int64_t takes)
{
    resident *own = r->host->residents[0];
    const int number = alone ? (int)(alone - r->p->ops) : (int)(f - r->p->phases);
    const phase one = {.first = number, .sweep_count = 1, .count = 1};
    const int groups = (int)own->code.groups[alone ? r->block->phase + alone->phase : number];
    const int64_t slots = alone ? 0 : emit_slots(r->p, f) * own->memory.columns;
    const int64_t warps = own->code.group / 32;
    const device_arg more[] = {DEVICE_VALUE(groups)};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(r->ctx, send_columns(r, f, takes));
    for (int k = r->rhs_count - 1; k >= 0; k--)
        own->l = takes >> k & 1 ? &r->rhs[k] : own->l; /* for the counters, alike in all */
    SPRY_GO(r->ctx, resident_launch(own, alone ? "settle" : "phase", number, alone ? &one : f,
                                    groups, NULL, 0));
    if (slots > 0)
        SPRY_GO(r->ctx,
                resident_launch(own, "sums", number, NULL, (slots + warps - 1) / warps, more, 1));
done:
    return status;
}

static spry_status fetch_columns(runner *r, const phase *f, int64_t takes)
{
    spry_context *ctx = r->ctx;
    resident *own = r->host->residents[0];
    const int width = spry_type_is_complex(r->type) ? 2 : 1;
    const int64_t slots = emit_slots(r->p, f), count = slots * own->memory.columns * width;
    const int64_t bytes = count * (int64_t)sizeof(double);
    double *room = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (slots == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, count, sizeof *room, &room));
    const device_piece piece = {own->memory.partials, own->code.groups[f - r->p->phases] * bytes,
                                room, bytes};
    SPRY_GO(ctx, device_get_pieces(own->d, &piece, 1));
    own->block.sent = 0;
    for (int k = 0; k < r->rhs_count; k++)
        if (takes >> k & 1)
            take_sums(r, k, f, room + k * slots * width);
done:
    base_free(ctx, room);
    return status;
}

/* One launch for all right-hand sides; for those apart that have their vectors in other places, as
 * they went another way through the text. */
static spry_status run_columns(runner *r, const phase *f, const plan_op *alone)
{
    int64_t left = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < r->rhs_count; k++)
        left |= (int64_t)(r->host->active[k] && has_bound(r, k)) << k;
    for (int first = 0; first < r->rhs_count && status == SPRY_STATUS_OK; first++) {
        int64_t takes = 0;
        for (int k = first; (left >> first & 1) && k < r->rhs_count; k++) {
            const resident *a = r->host->residents[first], *b = r->host->residents[k];
            bool alike = left >> k & 1;
            for (int slot = 0; alike && slot < r->p->slots; slot++)
                alike = a->memory.slots[slot] - a->memory.before ==
                        b->memory.slots[slot] - b->memory.before;
            takes |= (int64_t)alike << k;
        }
        left &= ~takes;
        if (takes != 0)
            status = launch_columns(r, f, alone, takes);
        if (takes != 0 && status == SPRY_STATUS_OK && !alone)
            status = fetch_columns(r, f, takes);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------
 */

static void run_sweep(runner *r, const phase *f, const plan_op *alone)
{
    spry_status status = SPRY_STATUS_OK;
    if (sweep_couples(r)) {
        course_note(r, run_columns(r, f, alone));
        return;
    }
    for (int k = 0; k < r->rhs_count && status == SPRY_STATUS_OK; k++) {
        resident *s = r->host->residents[k];
        if (!r->host->active[k] || !has_bound(r, k))
            continue;
        s->l = &r->rhs[k];
        status = alone ? launch_alone(s, alone) : launch(s, f, skipped(r, k, f));
    }
    if (status == SPRY_STATUS_OK && !alone)
        status = fetch_sums(r, f);
    course_note(r, status);
}

/* The messages of an operator that was not called, as what it is called with could not be brought
 * to it: other ranks wait for them. */
static void send_for_failed_call(resident *s, const plan_op *o)
{
    const spry_operator *op = s->r->operators[o->op];
    const spry_scalar one = {1, 0}, zero = {0, 0};
    if (device_is_distributed(op))
        (void)device_dist_skip(op, o->transpose);
    else if (device_of(op) != s->d)
        (void)op->class->multiply(op, o->transpose, one, s->memory.host_in, zero,
                                  s->memory.host_out);
    else if (op->rows_part.is) /* it may send on its own: with whatever the memory holds */
        (void)device_multiply(op, o->transpose, one, s->memory.call_in, zero, s->memory.call_out);
}

/* What fails on the device of one rank is reported with the next reduction. */
static spry_status call(runner *r, const plan_op *o, int count, const sweep_call *calls)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++) {
        resident *s = side_of(r, calls[k].l);
        s->l = calls[k].l;
        s->course.called = false;
        const spry_status called = resident_call(s, o, calls[k].from, calls[k].to);
        if (called != SPRY_STATUS_OK && !s->course.called)
            send_for_failed_call(s, o);
        status = status == SPRY_STATUS_OK ? called : status;
    }
    return status;
}

static spry_status powers(runner *r, const plan_op *o, sweep_powers *c)
{
    resident *s = side_of(r, c->l);
    s->l = c->l;
    return resident_powers(s, o, c);
}

static void swap(runner *r, rhs *l, int one, int other)
{
    int64_t *slots = side_of(r, l)->memory.slots, kept = slots[one];
    slots[one] = slots[other];
    slots[other] = kept;
}

static const sweep_place sweep_device = {.open_rhs = open_rhs,
                                         .close_rhs = close_rhs,
                                         .run = run_sweep,
                                         .call = call,
                                         .powers = powers,
                                         .swap = swap};

/* --- the runner ----------------------------------------------------------------------------------
 */

static spry_status clear(runner *r, rhs *l)
{
    resident *s = side_of(r, l);
    course_note(r, wait_sent(s));
    course_note(r, resident_prepare(s, l));
    return SPRY_STATUS_OK;
}

/* What a view of x keeps: which vector has which memory, and what is in it. */
typedef struct ranks_view {
    device_memory *copy;
    int64_t *slots;
} ranks_view;

static void view_free(spry_context *ctx, ranks_view *w)
{
    if (!w)
        return;
    device_free(w->copy);
    base_free(ctx, w->slots);
    base_free(ctx, w);
}

static spry_status keep(runner *r, rhs *l, runner_view *v)
{
    resident *s = side_of(r, l);
    spry_context *ctx = r->ctx;
    ranks_view *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *w, &w));
    SPRY_GO(ctx, base_alloc(ctx, s->p->slots, sizeof *w->slots, &w->slots));
    SPRY_GO(ctx, device_alloc(s->d, v->bytes, &w->copy));
    SPRY_GO(ctx, wait_sent(s));
    fill_slots(s);
    SPRY_GO(ctx, resident_copy_view(s, l, v, w->copy, false));
    memcpy(w->slots, s->memory.slots, (size_t)s->p->slots * sizeof *w->slots);
    v->place = w;
    w = NULL;
done:
    view_free(ctx, w);
    return status;
}

static spry_status restore(runner *r, rhs *l, runner_view *v)
{
    resident *s = side_of(r, l);
    ranks_view *w = v->place;
    spry_status status = wait_sent(s);
    memcpy(s->memory.slots, w->slots, (size_t)s->p->slots * sizeof *w->slots);
    fill_slots(s);
    if (status == SPRY_STATUS_OK)
        status = resident_copy_view(s, l, v, w->copy, true);
    view_free(r->ctx, w);
    course_note(r, status);
    return SPRY_STATUS_OK;
}

static spry_status transfer(runner *r, rhs *l, const view_vector *at, spry_vector *v, bool put)
{
    return resident_transfer_of(side_of(r, l), l, at, v, put);
}

static bool fits(const runner *r)
{
    return !r->host->residents[0]->d->lost;
}

static spry_status open_device(runner *r)
{
    return host_side_open(r, &sweep_device);
}

const runner_class runner_device_ranks = {.together = MOST_RHS,
                                          .open = open_device,
                                          .close = host_side_close,
                                          .fits = fits,
                                          .clear = clear,
                                          .run = host_side_run,
                                          .settle = host_side_settle,
                                          .finish = host_side_finish,
                                          .keep = keep,
                                          .restore = restore,
                                          .transfer = transfer};
