/* Walking through the course of a plan on a device: launches, and counters computed along. */
#include "program/resident.h"

enum { BATCH_LAUNCHES = 4096 };

static spry_status note_launch(resident *s, const phase *f)
{
    if (s->batch.launched == s->batch.room) {
        const int room = 2 * s->batch.room + 256;
        const spry_status status =
            base_grow(s->r->ctx, s->batch.launched, room, sizeof *s->batch.bytes, &s->batch.bytes);
        if (status != SPRY_STATUS_OK)
            return status;
        s->batch.room = room;
    }
    const int64_t before = s->batch.launched > 0 ? s->batch.bytes[s->batch.launched - 1] : 0;
    s->batch.bytes[s->batch.launched] = before;
    if (s->r->counting)
        s->batch.bytes[s->batch.launched] +=
            course_vector_bytes(s->r, s->l, f) + course_operator_bytes(s->r, f, 1);
    s->l->scalars.fault = NONE;
    s->batch.launched++;
    return SPRY_STATUS_OK;
}

static bool has_sweep(const plan *p, const phase *f)
{
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (op_sweeps(&p->ops[i]) && !plan_calls(p, &p->ops[i]))
            return true;
    return false;
}

/* The scalar work of a phase from its operation `from` on (0: with its inner products). */
spry_status resident_launch_tail(resident *s, int index, int from)
{
    const int groups = (int)s->code.groups[index];
    const device_arg more[] = {DEVICE_VALUE(groups), DEVICE_VALUE(from)};
    return resident_launch(s, "resume", index, NULL, 1, more, 2);
}

static spry_status launch_phase(resident *s, int index)
{
    spry_context *ctx = s->r->ctx;
    const phase *f = &s->p->phases[index];
    /* Without a sweep the kernel counts the phase. */
    const int64_t groups = has_sweep(s->p, f) ? s->code.groups[index] : 1;
    spry_status status = SPRY_STATUS_OK;
    int64_t settled = 0;
    SPRY_GO(ctx, note_launch(s, f));
    if (s->course.counting_only)
        goto follow_on;
    SPRY_GO(ctx, resident_calls(s, f));
    SPRY_GO(ctx, resident_launch(s, "phase", index, f, groups, NULL, 0));
    if (emit_has_tail(s->p, f) && !s->d->facts.has_tickets)
        SPRY_GO(ctx, resident_launch_tail(s, index, 0));
    for (int i = f->first; s->course.skip != 0 && i < f->first + f->sweep_count; i++) {
        const int bit = emit_skip_bit(s->p, i);
        settled |= bit >= 0 ? (int64_t)1 << bit : 0;
    }
    if (settled & s->course.skip) { /* made early: the next phase is not */
        s->course.skip &= ~settled;
        const int64_t left = s->course.skip;
        const device_arg more[] = {DEVICE_VALUE(left)};
        SPRY_GO(ctx, resident_launch(s, "unskip", NONE, NULL, 1, more, 1));
    }
follow_on:
    for (int i = f->first + f->sweep_count; i < f->first + f->count; i++) {
        const op_kind kind = s->p->ops[i].kind;
        s->known.counted += kind == OP_RESIDUAL || kind == OP_ESTIMATE;
        resident_follow(s, &s->p->ops[i]);
    }
done:
    return status;
}

static bool is_exit_phase(const resident *s, const phase *f)
{
    for (int i = f->first + f->sweep_count; i < f->first + f->count; i++)
        if (op_exits(&s->p->ops[i]))
            return true;
    return false;
}

/* A loop's counter goes on; whether there is another turn. */
static bool next_turn(resident *s, const node *loop, int index, bool first)
{
    spry_scalar *value = resident_value(s, loop->name);
    const int64_t by = loop->down ? -1 : 1;
    const int64_t k =
        first ? program_eval_count(&s->l->scalars, loop->from) : (int64_t)value->re + by;
    if (first)
        s->course.loop_end[index] = program_eval_count(&s->l->scalars, loop->to);
    if (s->l->scalars.fault != NONE)
        course_fail_index(s->r, s->l, s->l->scalars.fault);
    if (loop->down ? k < s->course.loop_end[index] : k > s->course.loop_end[index])
        return false;
    *value = (spry_scalar){(double)k, 0};
    return true;
}

/* Expressions that the next leg needs the value of. */
static bool needs_look(const resident *s, const course_leg *leg)
{
    const node *at = &s->p->nodes[leg->node];
    if (leg->kind == DO_FOR)
        return !resident_knows(s, at->from) || !resident_knows(s, at->to);
    if (leg->kind == DO_IF)
        return !resident_knows(s, at->expr);
    if (leg->kind != DO_PHASE)
        return false;
    const phase *f = &s->p->phases[leg->phase];
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &s->p->ops[i];
        if (plan_calls(s->p, o) &&
            !(resident_knows(s, o->in[0].first) && resident_knows(s, o->out.first)))
            return true;
    }
    return false;
}

spry_status resident_advance(resident *s, bool fresh, bool *end)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    *end = false;
    if (s->course.look_first) {
        s->course.look_first = false;
        return SPRY_STATUS_OK;
    }
    for (; status == SPRY_STATUS_OK && s->r->status == SPRY_STATUS_OK; fresh = false) {
        const course_leg *leg = &s->course.legs[s->course.pc];
        const node *at = &s->p->nodes[leg->node];
        if (leg->kind == DO_END) {
            *end = true;
            return SPRY_STATUS_OK;
        }
        if (!fresh && (needs_look(s, leg) || s->batch.launched > BATCH_LAUNCHES))
            return SPRY_STATUS_OK;
        s->course.pc++;
        switch (leg->kind) {
        case DO_PHASE:
            SPRY_GO(ctx, launch_phase(s, leg->phase));
            if (s->course.calls && !s->course.counting_only && !s->d->recording &&
                is_exit_phase(s, &s->p->phases[leg->phase]) && ++s->course.exits >= s->course.ahead)
                return SPRY_STATUS_OK;
            break;
        case DO_FOR:
            if (!next_turn(s, at, leg->node, true))
                s->course.pc = leg->to;
            break;
        case DO_NEXT:
            if (!course_take_turn(s->r, s->p->program->exprs[at->from].place))
                return s->r->status;
            if (next_turn(s, at, leg->node, false))
                s->course.pc = leg->to;
            break;
        case DO_IF:
            if (!program_holds(&s->l->scalars, at->expr))
                s->course.pc = leg->to;
            if (s->l->scalars.fault != NONE)
                course_fail_index(s->r, s->l, s->l->scalars.fault);
            break;
        default:
            s->course.pc = leg->to;
            break;
        }
    }
done:
    return status != SPRY_STATUS_OK ? status : s->r->status;
}
