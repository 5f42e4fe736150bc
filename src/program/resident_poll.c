/*
 * Looking at a device: its reports are passed on in order, and where it has stopped the host
 * judges, settles x, and ends the solve or lets it go on. Numbers and slots are then the
 * device's.
 */
#include "program/resident.h"

#include <math.h>

static control_word *reports_of(const resident *s)
{
    return s->block.mirror + s->block.rep_at;
}

static bool in_loop(const resident *s, int op)
{
    return s->course.leg_of[op] >= s->course.section[SECTION_LOOP] &&
           s->course.leg_of[op] < s->course.section[SECTION_FINISH];
}

/* Limits up to which the device need not ask. */
static void set_limits(resident *s, bool judged)
{
    control_word *rep = reports_of(s);
    run_limits limits = {.low = INFINITY, .high = -INFINITY, .gradient = INFINITY, .reports = 1};
    if (!judged)
        limits = (run_limits){.low = -INFINITY,
                              .high = INFINITY,
                              .look = -INFINITY,
                              .gradient = -INFINITY,
                              .reports = INT64_MAX / 2};
    else if (s->l->limits)
        s->l->limits(s->l->data, &limits);
    rep[REP_LOW].real = limits.low;
    rep[REP_HIGH].real = limits.high;
    rep[REP_LOOK].real = limits.look;
    rep[REP_GRADIENT_LOW].real = limits.gradient;
    rep[REP_GRADIENT].real = INFINITY;
    s->block.mirror[ST_LEFT].whole = limits.reports;
    s->block.mirror[ST_WAIT].whole = limits.look_after;
}

spry_status resident_let_go(resident *s, bool judged)
{
    s->block.mirror[ST_STOP].whole = STOP_NOT;
    s->block.mirror[ST_REPORTS].whole = s->block.mirror[ST_PHASES].whole = 0;
    s->block.mirror[ST_TICKET].whole = s->block.mirror[ST_BARRIER].whole = 0;
    s->block.mirror[ST_SKIP].whole = s->course.skip;
    set_limits(s, judged);
    s->batch.launched = 0;
    s->batch.played = s->batch.ended = s->course.exits = 0;
    return resident_send(s);
}

/* Bytes of the phases that were done: those launched by themselves, then those of recorded turns.
 */
static void count_bytes(const resident *s)
{
    const int64_t phases = s->block.mirror[ST_PHASES].whole;
    const int64_t single = phases < s->batch.launched ? phases : s->batch.launched;
    if (single > 0)
        s->r->bytes += s->batch.bytes[single - 1];
    if (phases > single && s->batch.played > 0) {
        const int64_t whole = (phases - single) / s->batch.turn_phases;
        const int64_t rest = (phases - single) % s->batch.turn_phases;
        s->r->bytes += whole * s->batch.turn_bytes[s->batch.turn_phases - 1] +
                       (rest > 0 ? s->batch.turn_bytes[rest - 1] : 0);
    }
}

/* Whether an operation is one that reports: a compiler at fault must not lead us astray. */
static bool reports(const plan *p, double op)
{
    return op >= 0 && op < p->op_count && p->ops[(int)op].kind >= OP_RESIDUAL &&
           p->ops[(int)op].kind <= OP_ENERGY;
}

/* Passes on what the device has reported; false when the right-hand side is to end. */
static bool pass_reports(resident *s)
{
    runner *r = s->r;
    const control_word *rep = reports_of(s) + REP_FIRST;
    bool go_on = true;
    for (int64_t k = 0;
         k < s->block.mirror[ST_REPORTS].whole && go_on && r->status == SPRY_STATUS_OK; k++) {
        if (!reports(s->p, rep[2 * k].real)) {
            r->status = SPRY_FAIL(r->ctx, SPRY_STATUS_DEVICE,
                                  "%s reports what is not in the method: its compiler makes other "
                                  "programs of ours; for PoCL set SPRY_OPENCL_OPTIONS="
                                  "-cl-opt-disable",
                                  spry_device_name(s->d));
            return false;
        }
        const int op = (int)rep[2 * k].real;
        const double value = rep[2 * k + 1].real;
        if (s->p->ops[op].kind <= OP_ESTIMATE) {
            s->known.last_value = value;
            if (s->known.values++ == 0)
                s->known.first_value = value;
        }
        go_on = course_report(r, s->l, &s->p->ops[op], in_loop(s, op), value);
    }
    return go_on;
}

static const node *block_of(const plan *p, int op)
{
    for (int n = 0; n < p->node_count; n++)
        if (p->nodes[n].kind == NODE_BLOCK && op >= p->nodes[n].first &&
            op < p->nodes[n].first + p->nodes[n].count)
            return &p->nodes[n];
    return NULL;
}

/* Updates of x that were made early and that the device has not come to yet: the host may have
 * went past them. */
static void take_skips(resident *s)
{
    const plan *p = s->p;
    const node *block = s->r->block;
    const int phase_now = p->ops[s->block.mirror[ST_OP].whole].phase;
    s->course.skip = s->block.mirror[ST_SKIP].whole;
    for (int i = block->first; s->course.skip != 0 && i < block->first + block->count; i++) {
        const int bit = emit_skip_bit(p, i);
        if (bit >= 0 && p->ops[i].phase <= phase_now)
            s->course.skip &= ~((int64_t)1 << bit);
    }
}

spry_status resident_settle(runner *r, rhs *l)
{
    resident *s = r->resident;
    const plan *p = s->p;
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    (void)l;
    /* Where the device has not stopped, turns are complete, and so is x. */
    if (!r->block || r->status != SPRY_STATUS_OK || s->block.mirror[ST_STOP].whole == STOP_NOT)
        return r->status;
    const plan_op *exit = &p->ops[s->block.mirror[ST_OP].whole];
    for (int i = r->block->first; i < r->block->first + r->block->count; i++) {
        const plan_op *o = &p->ops[i];
        const int bit = emit_skip_bit(p, i);
        if (bit < 0 || o->order > exit->order || o->phase <= exit->phase ||
            (s->course.skip >> bit & 1) != 0)
            continue;
        const phase alone = {.first = i, .sweep_count = 1, .count = 1};
        SPRY_GO(ctx, resident_launch(s, "settle", i, &alone,
                                     s->code.groups[r->block->phase + o->phase], NULL, 0));
        s->course.skip |= (int64_t)1 << bit;
    }
done:
    return status;
}

static spry_status fail_fault(resident *s)
{
    const int64_t fault = s->block.mirror[ST_FAULT].whole;
    if (fault <= EMIT_TURNS)
        return course_fail_turns(s->r, (int)(EMIT_TURNS - fault));
    course_fail_index(s->r, s->l, (int)fault);
    return s->r->status;
}

/* Nothing is judged in section finish. */
spry_status resident_finish(runner *r, rhs *l)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool end = s->course.legs[s->course.section[SECTION_FINISH]].kind == DO_END;
    SPRY_GO(ctx, resident_settle(r, l));
    s->course.skip = 0;
    s->block.mirror[ST_FAULT].whole = NONE;
    s->course.pc = s->course.section[SECTION_FINISH];
    while (!end) {
        SPRY_GO(ctx, resident_let_go(s, false));
        SPRY_GO(ctx, resident_advance(s, true, &end));
        SPRY_GO(ctx, resident_fetch(s));
        resident_take(s, s->block.mirror[ST_STOP].whole != STOP_NOT);
        if (s->block.mirror[ST_FAULT].whole != NONE)
            SPRY_GO(ctx, fail_fault(s));
    }
done:
    return status;
}

/* Goes on from the operation that stopped the device. */
static spry_status resume(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const int op = (int)s->block.mirror[ST_OP].whole;
    spry_status status = SPRY_STATUS_OK;
    s->course.pc = s->course.leg_of[op];
    const course_leg *leg = &s->course.legs[s->course.pc++];
    const phase *f = &s->p->phases[leg->phase];
    const int from = op - f->first - f->sweep_count + 2;
    /* Ends of the loops around, as they were when the device came to this point. */
    for (int k = 0; k < s->course.pc; k++)
        if (s->course.legs[k].kind == DO_FOR && s->course.legs[k].to >= s->course.pc)
            s->course.loop_end[s->course.legs[k].node] =
                program_eval_count(&s->l->scalars, s->p->nodes[s->course.legs[k].node].to);
    s->l->scalars.fault = NONE;
    SPRY_GO(ctx, resident_let_go(s, true));
    if (op + 1 < f->first + f->count)
        SPRY_GO(ctx, resident_launch_tail(s, leg->phase, from));
    for (int i = op + 1; i < f->first + f->count; i++) {
        resident_follow(s, &s->p->ops[i]);
        /* What is called next may not be held back by a stop: it is looked for first. */
        s->course.look_first =
            s->course.look_first || (s->course.calls && !s->course.held && op_exits(&s->p->ops[i]));
    }
done:
    return status;
}

/* A stop: for a report, or because a condition holds. */
static spry_status judge_stop(resident *s, bool going_on)
{
    const plan_op *o = &s->p->ops[s->block.mirror[ST_OP].whole];
    const stop_kind stop = (stop_kind)s->block.mirror[ST_STOP].whole;
    if (stop == STOP_FAULT)
        return fail_fault(s);
    if (going_on && stop == STOP_REPORT)
        return resume(s);
    if (going_on)
        course_break(s->l, o);
    return course_finish(s->r, s->l);
}

/* Whether a turn has ended since the last look in which nothing was reported; `reports`: those
 * since then. */
static bool is_silent(resident *s, bool stopped, int64_t reports)
{
    const bool ended = !stopped && s->batch.ended > 0;
    const bool silent = ended && reports == 0 && !(s->batch.reported && s->batch.ended == 1);
    s->batch.reported = ended ? reports > 0 && s->course.pc != s->course.section[SECTION_LOOP]
                              : s->batch.reported || reports > 0;
    return silent;
}

spry_status resident_poll(resident *s)
{
    spry_context *ctx = s->r->ctx;
    runner *r = s->r;
    spry_status status = SPRY_STATUS_OK;
    const int64_t before = s->l->reports;
    SPRY_GO(ctx, resident_fetch(s));
    const bool stopped = s->block.mirror[ST_STOP].whole != STOP_NOT;
    const int op = (int)s->block.mirror[ST_OP].whole;
    s->known.stopped = stopped;
    s->known.looked_at = base_seconds();
    resident_take(s, stopped);
    count_bytes(s);
    r->block = stopped ? block_of(s->p, op) : NULL;
    if (stopped) {
        take_skips(s);
        r->counting = in_loop(s, op);
    }
    const bool go_on = pass_reports(s);
    const bool silent = is_silent(s, stopped, s->l->reports - before);
    SPRY_GO(ctx, r->status);
    if (stopped)
        return judge_stop(s, go_on);
    if (s->block.mirror[ST_FAULT].whole != NONE)
        return fail_fault(s);
    if (!go_on)
        return course_finish(r, s->l);
    if (silent)
        return course_fail_silent(r);
    SPRY_GO(ctx, resident_let_go(s, true));
done:
    return status;
}
