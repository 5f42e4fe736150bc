/*
 * The course of a plan on a device. The host walks through the steps and launches phases; what it
 * must know to choose its way (counters, and which vector has which slot) it computes along. It
 * looks at the device at the ends of sections and batches of turns, tells the reports that have
 * come in, and where the device has stopped it takes over there: numbers and slots are then the
 * device's.
 */
#include "program/resident.h"

#include <math.h>

enum { BATCH_REPORTS = 256, BATCH_LAUNCHES = 4096, MOST_RECORDED = 2000 };
static const double batch_seconds = 2e-3;

static spry_status run_section(resident *s, program_section section, int64_t turns);

static control_word *reports_of(const resident *s)
{
    return s->mirror + s->rep_at;
}

/* --- launching ----------------------------------------------------------------------------------
 */

/* What a phase moves, by its plan. */
static int64_t phase_bytes(resident *s, const phase *f)
{
    const plan *p = s->p;
    int64_t bytes = runner_vector_bytes(s->r, s->l, f);
    s->l->scalars.fault = NONE;
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (p->ops[i].kind == OP_DIAGONAL || p->ops[i].kind == OP_APPLY)
            bytes += s->r->operators[p->ops[i].op]->own_bytes;
    return bytes;
}

static spry_status note_launch(resident *s, const phase *f)
{
    if (s->launched == s->launched_room) {
        const int room = 2 * s->launched_room + 256;
        const spry_status status =
            base_grow(s->r->ctx, s->launched, room, sizeof *s->bytes, &s->bytes);
        if (status != SPRY_STATUS_OK)
            return status;
        s->launched_room = room;
    }
    const int64_t before = s->launched > 0 ? s->bytes[s->launched - 1] : 0;
    s->bytes[s->launched++] = before + phase_bytes(s, f);
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
static spry_status launch_tail(resident *s, int index, int from)
{
    const int groups = (int)s->groups[index];
    const device_arg more[] = {DEVICE_VALUE(groups), DEVICE_VALUE(from)};
    return resident_launch(s, "resume", index, NULL, 1, more, 2);
}

static spry_status launch_phase(resident *s, int index)
{
    spry_context *ctx = s->r->ctx;
    const phase *f = &s->p->phases[index];
    /* Without a sweep the kernel counts the phase. */
    const int64_t groups = has_sweep(s->p, f) ? s->groups[index] : 1;
    spry_status status = SPRY_STATUS_OK;
    int64_t settled = 0;
    SPRY_GO(ctx, note_launch(s, f));
    if (s->counting_only)
        goto follow_on;
    SPRY_GO(ctx, resident_calls(s, f));
    SPRY_GO(ctx, resident_launch(s, "phase", index, f, groups, NULL, 0));
    if (weave_has_tail(s->p, f) && !s->d->facts.has_tickets)
        SPRY_GO(ctx, launch_tail(s, index, 0));
    for (int i = f->first; s->skip != 0 && i < f->first + f->sweep_count; i++) {
        const int bit = weave_skip_bit(s->p, i);
        settled |= bit >= 0 ? (int64_t)1 << bit : 0;
    }
    if (settled & s->skip) { /* made early: what comes next is not */
        s->skip &= ~settled;
        const int64_t left = s->skip;
        const device_arg more[] = {DEVICE_VALUE(left)};
        SPRY_GO(ctx, resident_launch(s, "unskip", NONE, NULL, 1, more, 1));
    }
follow_on:
    for (int i = f->first + f->sweep_count; i < f->first + f->count; i++)
        resident_follow(s, &s->p->ops[i]);
done:
    return status;
}

/* --- walking ------------------------------------------------------------------------------------
 */

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
        s->loop_end[index] = program_eval_count(&s->l->scalars, loop->to);
    if (s->l->scalars.fault != NONE)
        sweep_fail(s->r, s->l, s->l->scalars.fault);
    if (loop->down ? k < s->loop_end[index] : k > s->loop_end[index])
        return false;
    *value = (spry_scalar){(double)k, 0};
    return true;
}

/* Expressions that the next step needs the value of. */
static bool needs_look(const resident *s, const course_step *leg)
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

/*
 * Walks until the section ends or the host has to look first: because the next step depends on
 * numbers, or because an exit is behind it and operators that cannot be held back are ahead.
 * `fresh` says that it has just looked. *end: the section ended.
 */
static spry_status walk(resident *s, bool fresh, bool *end)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    *end = false;
    if (s->look_first) {
        s->look_first = false;
        return SPRY_STATUS_OK;
    }
    for (; status == SPRY_STATUS_OK && s->r->status == SPRY_STATUS_OK; fresh = false) {
        const course_step *leg = &s->steps[s->pc];
        const node *at = &s->p->nodes[leg->node];
        if (leg->kind == DO_END) {
            *end = true;
            return SPRY_STATUS_OK;
        }
        if (!fresh && (needs_look(s, leg) || s->launched > BATCH_LAUNCHES))
            return SPRY_STATUS_OK;
        s->pc++;
        switch (leg->kind) {
        case DO_PHASE:
            SPRY_GO(ctx, launch_phase(s, leg->phase));
            if (s->calls && is_exit_phase(s, &s->p->phases[leg->phase]))
                return SPRY_STATUS_OK;
            break;
        case DO_FOR:
            if (!next_turn(s, at, leg->node, true))
                s->pc = leg->to;
            break;
        case DO_NEXT:
            if (--s->r->turns < 0)
                SPRY_GO(ctx, runner_fail_turns(s->r, s->p->program->exprs[at->from].place));
            if (s->r->turns % 1024 == 0 && !s->r->finishing && spry_context_interrupted(ctx, false))
                SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "%s: interrupted in a loop",
                                       s->p->program->source));
            if (next_turn(s, at, leg->node, false))
                s->pc = leg->to;
            break;
        case DO_IF:
            if (!program_holds(&s->l->scalars, at->expr))
                s->pc = leg->to;
            if (s->l->scalars.fault != NONE)
                sweep_fail(s->r, s->l, s->l->scalars.fault);
            break;
        default:
            s->pc = leg->to;
            break;
        }
    }
done:
    return status != SPRY_STATUS_OK ? status : s->r->status;
}

/* --- looking ------------------------------------------------------------------------------------
 */

/* Limits up to which the device need not ask. */
static void set_limits(resident *s, bool judged)
{
    control_word *rep = reports_of(s);
    run_limits limits = {.low = INFINITY, .high = -INFINITY, .gradient = INFINITY, .reports = 1};
    if (!judged)
        limits = (run_limits){-INFINITY, INFINITY, -INFINITY, INT64_MAX / 2};
    else if (s->r->counting && s->l->limits)
        s->l->limits(s->l->data, &limits);
    rep[REP_LOW].real = limits.low;
    rep[REP_HIGH].real = limits.high;
    rep[REP_GRADIENT_LOW].real = limits.gradient;
    rep[REP_GRADIENT].real = INFINITY;
    s->mirror[ST_LEFT].whole = limits.reports;
}

/* Lets the device go on from where the host's mirror says. */
static spry_status let_go(resident *s, bool judged)
{
    s->mirror[ST_STOP].whole = STOP_NOT;
    s->mirror[ST_REPORTS].whole = s->mirror[ST_PHASES].whole = 0;
    s->mirror[ST_TICKET].whole = s->mirror[ST_BARRIER].whole = 0;
    s->mirror[ST_SKIP].whole = s->skip;
    set_limits(s, judged);
    s->launched = 0;
    return resident_send(s);
}

static void count_bytes(resident *s, int64_t turns)
{
    const int64_t phases = s->mirror[ST_PHASES].whole;
    if (!s->r->counting || s->launched == 0)
        return;
    if (turns > 0) { /* of a recording */
        const int64_t whole = phases / s->launched, rest = phases % s->launched;
        s->r->bytes +=
            whole * s->turn_bytes[s->launched - 1] + (rest > 0 ? s->turn_bytes[rest - 1] : 0);
    } else if (phases > 0) {
        s->r->bytes += s->bytes[(phases < s->launched ? phases : s->launched) - 1];
    }
}

/* Tells what the device has reported; false when the lane is to end. */
static bool tell_reports(resident *s)
{
    runner *r = s->r;
    const control_word *rep = reports_of(s) + REP_FIRST;
    bool go_on = true;
    for (int64_t k = 0; k < s->mirror[ST_REPORTS].whole && go_on && r->status == SPRY_STATUS_OK;
         k++) {
        const plan_op *o = &s->p->ops[(int)rep[2 * k].real];
        r->turns = r->most_turns;
        s->l->reports += r->counting && o->kind != OP_GRADIENT;
        const spry_status status = s->l->report(s->l->data, runner_report_kind(o), r->counting,
                                                rep[2 * k + 1].real, &go_on);
        if (status != SPRY_STATUS_OK)
            r->status = status;
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
 * walked past them. */
static void take_skips(resident *s)
{
    const plan *p = s->p;
    const node *block = s->r->block;
    const int phase_now = p->ops[s->mirror[ST_OP].whole].phase;
    s->skip = s->mirror[ST_SKIP].whole;
    for (int i = block->first; s->skip != 0 && i < block->first + block->count; i++) {
        const int bit = weave_skip_bit(p, i);
        if (bit >= 0 && p->ops[i].phase <= phase_now)
            s->skip &= ~((int64_t)1 << bit);
    }
}

spry_status resident_settle(runner *r, lane *l)
{
    resident *s = r->resident;
    const plan *p = s->p;
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    (void)l;
    /* Where the device has not stopped, turns are complete, and so is x. */
    if (!r->block || r->status != SPRY_STATUS_OK || s->mirror[ST_STOP].whole == STOP_NOT)
        return r->status;
    const plan_op *exit = &p->ops[s->mirror[ST_OP].whole];
    for (int i = r->block->first; i < r->block->first + r->block->count; i++) {
        const plan_op *o = &p->ops[i];
        const int bit = weave_skip_bit(p, i);
        if (bit < 0 || o->order > exit->order || o->phase <= exit->phase ||
            (s->skip >> bit & 1) != 0)
            continue;
        const phase alone = {.first = i, .sweep_count = 1, .count = 1};
        SPRY_GO(ctx, resident_launch(s, "settle", i, &alone, s->groups[r->block->phase + o->phase],
                                     NULL, 0));
        s->skip |= (int64_t)1 << bit;
    }
done:
    return status;
}

/* The solve of the lane ends: x is brought up to date. */
static spry_status finish(resident *s)
{
    spry_context *ctx = s->r->ctx;
    runner *r = s->r;
    const bool counting = r->counting;
    spry_status status = SPRY_STATUS_OK;
    r->finishing = true;
    s->l->fault = NONE;
    SPRY_GO(ctx, resident_settle(r, s->l));
    s->skip = 0;
    s->mirror[ST_FAULT].whole = NONE;
    r->counting = false;
    r->turns = r->most_turns;
    SPRY_GO(ctx, run_section(s, SECTION_FINISH, 1));
done:
    r->counting = counting;
    r->finishing = false;
    s->l->done = true;
    return status;
}

static spry_status fail_fault(resident *s)
{
    const int64_t fault = s->mirror[ST_FAULT].whole;
    if (fault <= EMIT_TURNS)
        return runner_fail_turns(s->r, (int)(EMIT_TURNS - fault));
    sweep_fail(s->r, s->l, (int)fault);
    return s->r->status;
}

/* A condition to stop holds, or a report was not the end: *go_on. */
static spry_status judge_stop(resident *s, bool going_on, bool *go_on)
{
    const int op = (int)s->mirror[ST_OP].whole;
    const plan_op *o = &s->p->ops[op];
    lane *l = s->l;
    char text[160];
    *go_on = false;
    if (!going_on && s->mirror[ST_STOP].whole != STOP_FAULT) /* the caller asked for the end */
        return finish(s);
    switch ((stop_kind)s->mirror[ST_STOP].whole) {
    case STOP_REPORT:
        *go_on = true;
        return SPRY_STATUS_OK;
    case STOP_BREAKDOWN:
        runner_message(l, &s->p->program->stmts[o->stmt], text, sizeof text);
        l->breakdown(l->data, text, runner_is_finite(l, o->expr));
        return finish(s);
    case STOP_RESTART:
        if (l->reports == l->reports_at_restart) {
            l->breakdown(l->data, "a restart was needed twice without progress between", true);
            return finish(s);
        }
        l->reports_at_restart = l->reports;
        l->restart = true;
        return finish(s);
    default:
        return fail_fault(s);
    }
}

/* The steps from which the device goes on after the operation that stopped it. */
static spry_status resume(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const int op = (int)s->mirror[ST_OP].whole;
    spry_status status = SPRY_STATUS_OK;
    s->pc = s->step_of[op];
    const course_step *leg = &s->steps[s->pc++];
    const phase *f = &s->p->phases[leg->phase];
    const int from = op - f->first - f->sweep_count + 2;
    /* Ends of the loops around, as they were when the device came here. */
    for (int k = 0; k < s->pc; k++)
        if (s->steps[k].kind == DO_FOR && s->steps[k].to >= s->pc)
            s->loop_end[s->steps[k].node] =
                program_eval_count(&s->l->scalars, s->p->nodes[s->steps[k].node].to);
    s->l->scalars.fault = NONE;
    SPRY_GO(ctx, let_go(s, true));
    if (op + 1 < f->first + f->count)
        SPRY_GO(ctx, launch_tail(s, leg->phase, from));
    for (int i = op + 1; i < f->first + f->count; i++) {
        resident_follow(s, &s->p->ops[i]);
        /* What is called next is not held back by a stop: it is looked for first. */
        s->look_first = s->look_first || (s->calls && op_exits(&s->p->ops[i]));
    }
done:
    return status;
}

/*
 * Waits for the device and judges what it tells. *again: it goes on from where it had stopped, and
 * the host with it.
 */
static spry_status look(resident *s, int64_t turns, bool *again)
{
    spry_context *ctx = s->r->ctx;
    runner *r = s->r;
    spry_status status = SPRY_STATUS_OK;
    bool go_on = true;
    *again = false;
    SPRY_GO(ctx, resident_fetch(s));
    const bool stopped = s->mirror[ST_STOP].whole != STOP_NOT;
    resident_take(s, stopped);
    count_bytes(s, turns);
    r->block = stopped ? block_of(s->p, (int)s->mirror[ST_OP].whole) : NULL;
    if (stopped)
        take_skips(s);
    go_on = tell_reports(s);
    SPRY_GO(ctx, r->status);
    if (!stopped && s->mirror[ST_FAULT].whole != NONE)
        SPRY_GO(ctx, fail_fault(s));
    if (!stopped && !go_on)
        SPRY_GO(ctx, finish(s));
    if (!stopped)
        goto done;
    SPRY_GO(ctx, judge_stop(s, go_on, &go_on));
    if (go_on) {
        SPRY_GO(ctx, resume(s));
        *again = true;
    }
done:
    return status;
}

/* Goes on from where the host is to the end of a section, or of so many turns of the loop, with all
 * stops on the way. */
static spry_status go_on_from(resident *s, program_section section, int64_t turns)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool end = false, again = false, fresh = true;
    while (!s->l->done || section == SECTION_FINISH) {
        SPRY_GO(ctx, walk(s, fresh, &end));
        if (end && !again && --turns > 0) { /* after a stop only this turn is left */
            s->pc = s->section[section];
            fresh = false;
            continue;
        }
        const int pc = s->pc;
        fresh = true;
        if (section == SECTION_FINISH) { /* nothing is judged here */
            SPRY_GO(ctx, resident_fetch(s));
            resident_take(s, s->mirror[ST_STOP].whole != STOP_NOT);
            if (s->mirror[ST_FAULT].whole != NONE)
                SPRY_GO(ctx, fail_fault(s));
        } else {
            bool stopped;
            SPRY_GO(ctx, look(s, 0, &stopped));
            again = again || stopped;
            if (stopped)
                continue;
            if (s->l->done)
                break;
        }
        s->pc = pc;
        if (end)
            break;
        SPRY_GO(ctx, let_go(s, section != SECTION_FINISH));
    }
done:
    return status;
}

static spry_status run_section(resident *s, program_section section, int64_t turns)
{
    s->pc = s->section[section];
    const spry_status status = let_go(s, section != SECTION_FINISH);
    return status == SPRY_STATUS_OK ? go_on_from(s, section, turns) : status;
}

/* --- turns --------------------------------------------------------------------------------------
 */

/* After the first turn: the loop as one kernel where it is small, or else recorded, to be played
 * again and again. */
static spry_status speed_up(resident *s)
{
    spry_context *ctx = s->r->ctx;
    bool end = false;
    spry_status status = SPRY_STATUS_OK;
    s->pc = s->section[SECTION_LOOP];
    s->launched = 0;
    s->counting_only = true;
    status = walk(s, true, &end);
    s->counting_only = false;
    SPRY_GO(ctx, status);
    resident_take(s, false);
    if (!end || s->launched == 0 || s->launched > MOST_RECORDED || !s->d->facts.has_graphs) {
        s->turns_alike = false;
        return SPRY_STATUS_OK;
    }
    s->turn_phases = s->launched;
    base_free(ctx, s->turn_bytes);
    s->turn_bytes = NULL;
    SPRY_GO(ctx, base_alloc(ctx, s->launched, sizeof *s->turn_bytes, &s->turn_bytes));
    memcpy(s->turn_bytes, s->bytes, (size_t)s->launched * sizeof *s->turn_bytes);
    if (!s->whole_tried && resident_build_whole(s, s->bytes[s->launched - 1]) != SPRY_STATUS_OK) {
        if (s->d->lost)
            return SPRY_STATUS_DEVICE_LOST;
        base_log(ctx, SPRY_LOG_INFO, "the loop is no kernel of its own: %s", spry_message(ctx));
        s->whole = NULL;
    }
    if (s->whole)
        return SPRY_STATUS_OK;
    s->pc = s->section[SECTION_LOOP];
    s->launched = 0;
    end = false;
    status = device_record_begin(s->d);
    if (status == SPRY_STATUS_OK) {
        status = walk(s, true, &end);
        const spry_status ended = device_record_end(s->d, &s->graph);
        if (status == SPRY_STATUS_OK)
            status = ended;
    }
    resident_take(s, false);
    if (s->d->lost)
        return SPRY_STATUS_DEVICE_LOST;
    if (status != SPRY_STATUS_OK || !end) { /* it goes without */
        device_graph_free(s->graph);
        s->graph = NULL;
        s->turns_alike = false;
        base_log(ctx, SPRY_LOG_INFO, "the loop is launched phase by phase: %s", spry_message(ctx));
        return SPRY_STATUS_OK;
    }
done:
    return status;
}

/* Turns of the loop by the recording, or in one kernel; what is left of the last after a stop goes
 * step by step. */
static spry_status play(resident *s, int64_t turns)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool again = false;
    SPRY_GO(ctx, let_go(s, true));
    s->launched = (int)s->turn_phases;
    if (s->whole)
        SPRY_GO(ctx, resident_launch_whole(s, turns));
    for (int64_t k = 0; !s->whole && k < turns; k++)
        SPRY_GO(ctx, device_play(s->graph));
    SPRY_GO(ctx, look(s, turns, &again));
    if (again)
        SPRY_GO(ctx, go_on_from(s, SECTION_LOOP, 1));
done:
    return status;
}

/* How many turns to let go at once. */
static int64_t choose_turns(resident *s)
{
    run_limits limits = {.reports = 1};
    if (s->l->limits)
        s->l->limits(s->l->data, &limits);
    const int64_t reports = s->turn_reports > 0 ? s->turn_reports : 1;
    int64_t turns = s->turn_seconds > 0 ? (int64_t)(batch_seconds / s->turn_seconds) : 1;
    if (turns > BATCH_REPORTS / reports)
        turns = BATCH_REPORTS / reports;
    if (turns > (limits.reports + reports - 1) / reports)
        turns = (limits.reports + reports - 1) / reports;
    return turns < 1 ? 1 : turns;
}

static spry_status run_loop(resident *s)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    while (!s->l->done) {
        const int64_t before = s->l->reports, turns = choose_turns(s);
        const double begin = base_seconds();
        if ((s->graph || s->whole) && turns > 1) {
            SPRY_GO(ctx, play(s, turns));
        } else {
            SPRY_GO(ctx, run_section(s, SECTION_LOOP, turns));
        }
        s->r->turns = s->r->most_turns;
        const int64_t told = s->l->reports - before;
        if (told == 0 && !s->l->done)
            return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                             "%s: a turn of the loop told no residual and no estimate",
                             s->p->program->source);
        if (s->l->done)
            break;
        s->turn_reports = told / turns > 1 ? told / turns : 1;
        s->turn_seconds = (base_seconds() - begin) / (double)turns;
        if (!s->graph && !s->whole && s->turns_alike)
            SPRY_GO(ctx, speed_up(s));
    }
done:
    return status;
}

/* A run begins with zeros but for the options. */
static spry_status clear(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const plan *p = s->p;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_clear(s->memory, 0, device_bytes(s->memory)));
    memset(s->l->scalars.values + p->option_count, 0,
           (size_t)(p->scalar_count - p->option_count) * sizeof *s->l->scalars.values);
    s->l->reports = 0;
    s->l->reports_at_restart = -1;
    s->l->fault = NONE;
    s->mirror[ST_FAULT].whole = NONE;
    for (int space = 0; space < 2; space++) {
        s->mirror[ST_STRIDE0 + space].whole = s->stride[space];
        s->mirror[ST_N0 + space].whole = s->r->n[space];
    }
    s->mirror[ST_POSITIONS].whole = s->rows.positions;
    for (int k = 0; k < p->slots; k++)
        s->slots[k] = s->mirror[ST_SLOTS + k].whole;
    resident_give(s);
done:
    return status;
}

static spry_status run_lane(resident *s)
{
    spry_context *ctx = s->r->ctx;
    runner *r = s->r;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, clear(s));
    do {
        s->l->done = s->l->restart = false;
        s->skip = 0;
        r->counting = false;
        SPRY_GO(ctx, run_section(s, SECTION_START, 1));
        r->counting = true;
        if (!s->l->done)
            SPRY_GO(ctx, run_loop(s));
        r->counting = false;
    } while (s->l->restart);
done:
    r->counting = false;
    return status;
}

spry_status resident_run(runner *r)
{
    resident *s = r->resident;
    r->status = SPRY_STATUS_OK;
    r->turns = r->most_turns;
    r->used = true;
    for (int k = 0; k < r->lane_count && r->status == SPRY_STATUS_OK; k++) {
        if (r->lanes[k].done)
            continue;
        if (s->l != &r->lanes[k]) { /* a recording knows its x and b */
            device_graph_free(s->graph);
            s->graph = NULL;
        }
        s->l = &r->lanes[k];
        const spry_status status = run_lane(s);
        if (status != SPRY_STATUS_OK)
            r->status = status;
    }
    return r->status;
}
