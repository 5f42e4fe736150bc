/*
 * The course of a plan: sections, loops and branches, phases with their sweeps and scalar work,
 * exits. From one exit to the next all phases run in one parallel region, unless an operator can
 * only be called.
 */
#include "program/resident.h"

#include <math.h>
#include <omp.h>

static void run_nodes(runner *r, int first);

static bool any_active(const runner *r)
{
    for (int k = 0; k < r->lane_count; k++)
        if (r->active[k])
            return true;
    return false;
}

spry_status runner_fail_turns(const runner *r, int place)
{
    return program_fault(r->p->program, place,
                         "loops took more than %" PRId64
                         " turns without a residual or an estimate between",
                         r->most_turns);
}

report_kind runner_report_kind(const plan_op *o)
{
    static const report_kind kinds[] = {[0] = REPORT_RESIDUAL,
                                        [OP_ESTIMATE - OP_RESIDUAL] = REPORT_ESTIMATE,
                                        [OP_GRADIENT - OP_RESIDUAL] = REPORT_GRADIENT};
    return kinds[o->kind - OP_RESIDUAL];
}

/*
 * Counts a turn of a loop: false when the run is to be given up. A caller who asks to stop is heard
 * at the next residual or estimate; a loop that tells none for long is left at once, but finish is
 * always done to the end.
 */
static bool take_turn(runner *r, int place)
{
    const int64_t long_ago = 1024;
    if (r->status != SPRY_STATUS_OK)
        return false;
    if (--r->turns < 0)
        r->status = runner_fail_turns(r, place);
    else if (!r->finishing && r->turns < r->most_turns - long_ago &&
             spry_context_interrupted(r->ctx, false))
        r->status = SPRY_FAIL(r->ctx, SPRY_STATUS_INTERRUPTED, "%s: interrupted in a loop",
                              r->p->program->source);
    return r->status == SPRY_STATUS_OK;
}

/* Statements of scalars alone; `single`: without those that follow. */
static void run_statements(runner *r, lane *l, int first, bool single)
{
    const program *p = l->scalars.program;
    for (int i = first; i != NONE && l->scalars.fault == NONE;
         i = single ? NONE : p->stmts[i].next) {
        const stmt *s = &p->stmts[i];
        if (s->kind == STMT_SET) {
            const spry_scalar value = program_eval(&l->scalars, s->value);
            spry_scalar *to = program_scalar_at(&l->scalars, s->target);
            if (to)
                *to = value;
        } else if (s->kind == STMT_IF) {
            const bool holds = program_holds(&l->scalars, s->value);
            run_statements(r, l, holds ? s->body : s->other, false);
        } else {
            const int64_t from = program_eval_count(&l->scalars, s->from);
            const int64_t to = program_eval_count(&l->scalars, s->to), by = s->down ? -1 : 1;
            for (int64_t k = from; s->down ? k >= to : k <= to; k += by) {
                l->scalars.values[l->scalars.offset[s->name]] = (spry_scalar){(double)k, 0};
                run_statements(r, l, s->body, false);
                if (l->scalars.fault != NONE || !take_turn(r, s->place))
                    return;
            }
        }
    }
}

/* Does this thread's sweep with all the others. */
static void run_sweep(runner *r)
{
    if (r->threads == 1 || r->step_count == 0) {
        sweep_run(r, 1, 0);
        return;
    }
#pragma omp parallel num_threads(r->threads)
    sweep_run(r, omp_get_num_threads(), omp_get_thread_num());
}

spry_status runner_settle(runner *r, lane *l)
{
    if (r->resident)
        return resident_settle(r, l);
    const plan *p = r->p;
    const plan_op *exit = r->exit;
    const int lane_index = (int)(l - r->lanes), x = p->var_of_name[NAME_X];
    if (!exit || !r->block || r->status != SPRY_STATUS_OK)
        return r->status;
    for (int i = r->block->first; i < r->block->first + r->block->count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind != OP_COMBINE || o->out.var != x || o->order > exit->order ||
            o->phase <= exit->phase || l->skip[i])
            continue;
        bool only[MOST_LANES] = {false}, *all = r->active;
        only[lane_index] = true;
        r->active = only;
        sweep_bind(r, o, 1);
        if (l->fault != NONE && l->fault_order < exit->order)
            sweep_fail(r, l, l->fault);
        run_sweep(r);
        r->active = all;
        l->skip[i] = true;
    }
    return r->status;
}

static void end_lane(runner *r, lane *l)
{
    l->done = true;
    r->active[l - r->lanes] = false;
}

/* The solve of a lane ends at an exit: x is brought up to date. */
static void finish_lane(runner *r, lane *l)
{
    const int lane_index = (int)(l - r->lanes);
    bool only[MOST_LANES] = {false}, *all = r->active;
    const node *block = r->block;
    const plan_op *exit = r->exit;
    const bool counting = r->counting;
    const int next = r->next;
    r->turns = r->most_turns;
    r->finishing = true;
    l->fault = NONE; /* that was of an operation the text does not come to */
    runner_settle(r, l);
    only[lane_index] = true;
    r->active = only;
    r->counting = false;
    run_nodes(r, r->p->section[SECTION_FINISH]);
    r->active = all;
    r->counting = counting;
    r->finishing = false;
    r->block = block;
    r->exit = exit;
    r->next = next; /* other lanes go on from here */
    end_lane(r, l);
}

void runner_message(const lane *l, const stmt *s, char *text, size_t size)
{
    const program *p = l->scalars.program;
    const char *from = p->text + s->message, *end = from + s->message_size;
    size_t used = 0;
    while (from < end && used + 1 < size) {
        const char *close = *from == '{' ? memchr(from, '}', (size_t)(end - from)) : NULL;
        char name[32];
        if (close && close - from - 1 < (ptrdiff_t)sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(close - from - 1), from + 1);
            const int index = program_find_name(p, name);
            if (index != NONE && p->names[index].kind == NAME_SCALAR) {
                const spry_scalar v = l->scalars.values[l->scalars.offset[index]];
                used += (size_t)(v.im != 0 && !l->scalars.real
                                     ? snprintf(text + used, size - used, "%.3g%+.3gi", v.re, v.im)
                                     : snprintf(text + used, size - used, "%.3g", v.re));
                used = used < size ? used : size - 1;
                from = close + 1;
                continue;
            }
        }
        text[used++] = *from++;
    }
    text[used < size ? used : size - 1] = '\0';
}

bool runner_is_finite(lane *l, int e)
{
    if (e == NONE)
        return true;
    const expr *source = &l->scalars.program->exprs[e];
    if (source->kind == EXPR_NAME && !value_finite(program_eval(&l->scalars, e)))
        return false;
    return runner_is_finite(l, source->arg[0]) && runner_is_finite(l, source->arg[1]) &&
           runner_is_finite(l, source->arg[2]);
}

static void break_down(runner *r, lane *l, const char *text, bool finite)
{
    l->breakdown(l->data, text, finite);
    finish_lane(r, l);
}

static void restart_lane(runner *r, lane *l)
{
    if (l->reports == l->reports_at_restart) {
        break_down(r, l, "a restart was needed twice without progress between", true);
        return;
    }
    l->reports_at_restart = l->reports;
    finish_lane(r, l);
    l->restart = true;
}

static void run_exit(runner *r, lane *l, const plan_op *o)
{
    if (l->fault != NONE && l->fault_order < o->order) {
        sweep_fail(r, l, l->fault);
        return;
    }
    const spry_scalar value = program_eval(&l->scalars, o->expr);
    if (sweep_check(l, o))
        return;
    r->exit = o;
    if (o->kind == OP_BREAKDOWN || o->kind == OP_RESTART) {
        char text[160];
        if (!program_holds(&l->scalars, o->expr))
            return;
        if (o->kind == OP_RESTART) {
            restart_lane(r, l);
            return;
        }
        runner_message(l, &r->p->program->stmts[o->stmt], text, sizeof text);
        break_down(r, l, text, runner_is_finite(l, o->expr));
        return;
    }
    bool go_on = true;
    r->turns = r->most_turns;
    l->reports += r->counting && o->kind != OP_GRADIENT;
    const spry_status status =
        l->report(l->data, runner_report_kind(o), r->counting, value.re, &go_on);
    if (status != SPRY_STATUS_OK)
        r->status = status;
    if (!go_on && r->status == SPRY_STATUS_OK)
        finish_lane(r, l);
}

static void run_scalar(runner *r, lane *l, const plan_op *o)
{
    if (o->kind == OP_SCALAR) {
        const spry_scalar value = program_eval(&l->scalars, o->expr);
        spry_scalar *to = program_scalar_at(&l->scalars, o->target);
        if (to)
            *to = value;
    } else if (o->kind == OP_SCALARS) {
        run_statements(r, l, o->stmt, true);
    } else if (o->kind == OP_MOVE) {
        const plan_var *to = &r->p->vars[o->out.var], *from = &r->p->vars[o->in[0].var];
        char *kept = l->slots[to->number];
        l->slots[to->number] = l->slots[from->number];
        l->slots[from->number] = kept;
    } else {
        run_exit(r, l, o);
    }
    sweep_check(l, o);
}

static bool is_report(const plan_op *o)
{
    return o->kind == OP_RESIDUAL || o->kind == OP_ESTIMATE || o->kind == OP_GRADIENT;
}

/* Whether a condition that ends the solve holds for a lane. */
static bool fires(const runner *r, const plan_op *o)
{
    for (int k = 0; k < r->lane_count; k++)
        if (r->active[k] && program_holds(&r->lanes[k].scalars, o->expr))
            return true;
    return false;
}

/* What needs numbers only, from r->next on. Inside a parallel region exits that hold are left to be
 * done outside. */
static void scalar_time(runner *r, const phase *f, bool inside)
{
    for (; r->next < f->first + f->count; r->next++) {
        const plan_op *o = &r->p->ops[r->next];
        r->leave = inside && op_exits(o) && (is_report(o) || fires(r, o));
        if (r->leave)
            return;
        for (int k = 0; k < r->lane_count && r->status == SPRY_STATUS_OK; k++)
            if (r->active[k])
                run_scalar(r, &r->lanes[k], o);
    }
}

static bool has_call(const plan *p, const phase *f)
{
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (plan_calls(p, &p->ops[i]))
            return true;
    return false;
}

/* Operators that can only be called, one lane after the other. */
static void run_calls(runner *r, const phase *f)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &r->p->ops[i];
        if (!plan_calls(r->p, o))
            continue;
        const spry_operator *called = r->operators[o->op];
        for (int k = 0; k < r->lane_count && r->status == SPRY_STATUS_OK; k++) {
            lane *l = &r->lanes[k];
            if (!r->active[k])
                continue;
            const int64_t from = o->in[0].first == NONE
                                     ? 0
                                     : program_eval_index(&l->scalars, o->in[0].first,
                                                          r->p->vars[o->in[0].var].extent);
            const int64_t to =
                o->out.first == NONE
                    ? 0
                    : program_eval_index(&l->scalars, o->out.first, r->p->vars[o->out.var].extent);
            if (!sweep_check(l, o))
                r->status = called->class->multiply(called, o->transpose, one,
                                                    sweep_vector(r, l, &o->in[0], from), zero,
                                                    sweep_vector(r, l, &o->out, to));
        }
    }
}

int64_t runner_vector_bytes(const runner *r, lane *l, const phase *f)
{
    const plan *p = r->p;
    int64_t bytes = 0;
    for (int i = f->traffic; i < f->traffic + f->traffic_count; i++) {
        const traffic *t = &p->traffics[i];
        int64_t count = 1;
        if (t->v.first != t->v.last)
            count = program_eval_count(&l->scalars, t->v.last) -
                    program_eval_count(&l->scalars, t->v.first) + 1;
        if (count > 0)
            bytes += count * (t->read + t->written) * r->size * r->n[p->vars[t->v.var].space];
    }
    return bytes;
}

/* What the phase moves, by its plan. */
static void count_bytes(runner *r, const phase *f)
{
    const plan *p = r->p;
    int lanes = 0;
    if (!r->counting)
        return;
    for (int k = 0; k < r->lane_count; k++) {
        lanes += r->active[k];
        if (r->active[k])
            r->bytes += runner_vector_bytes(r, &r->lanes[k], f);
    }
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind == OP_DIAGONAL || (o->kind == OP_APPLY && p->setup.use[o->op] == USE_ROWS))
            r->bytes += r->operators[o->op]->own_bytes * ((lanes + 7) / 8);
        else if (o->kind == OP_APPLY)
            r->bytes += r->operators[o->op]->own_bytes * lanes;
    }
}

/* Looks up the next phase's sweep; the first thread's work. */
static void prepare(runner *r, const phase *f)
{
    sweep_bind(r, &r->p->ops[f->first], f->sweep_count);
    count_bytes(r, f);
    r->next = f->first + f->sweep_count;
}

/* The first thread's work between two sweeps; false when the region is to be left. */
static bool step_on(runner *r, const phase *phases, int f, int last)
{
    sweep_reduce(r);
    scalar_time(r, &phases[f], true);
    if (r->leave || f == last)
        return false;
    prepare(r, &phases[f + 1]);
    return true;
}

/*
 * Phases first..last in one parallel region, up to the first exit that holds. Gives the phase it
 * got to, whose scalar work is left to the caller from r->next on. No phase but the first has
 * calls.
 */
static int run_region(runner *r, const phase *phases, int first, int last)
{
    int at = first;
    bool on = true;
    prepare(r, &phases[first]);
    if (r->threads == 1) {
        for (; on; at += on) {
            sweep_run(r, 1, 0);
            on = step_on(r, phases, at, last);
        }
        return at;
    }
#pragma omp parallel num_threads(r->threads)
    for (bool mine = true; mine;) {
        sweep_run(r, omp_get_num_threads(), omp_get_thread_num());
#pragma omp barrier
#pragma omp master
        {
            on = step_on(r, phases, at, last);
            at += on;
        }
#pragma omp barrier
        mine = on;
    }
    return at;
}

static void run_block(runner *r, const node *block)
{
    const phase *phases = &r->p->phases[block->phase];
    for (int f = 0; f < block->phases && r->status == SPRY_STATUS_OK && any_active(r); f++) {
        int last = f;
        while (last + 1 < block->phases && !has_call(r->p, &phases[last + 1]))
            last++;
        r->block = block;
        r->exit = NULL;
        run_calls(r, &phases[f]);
        if (r->status != SPRY_STATUS_OK)
            return;
        f = run_region(r, phases, f, last);
        if (r->status == SPRY_STATUS_OK)
            scalar_time(r, &phases[f], false);
    }
    for (int k = 0; k < r->lane_count; k++)
        if (r->active[k] && r->lanes[k].fault != NONE)
            sweep_fail(r, &r->lanes[k], r->lanes[k].fault);
}

static void set_counter(runner *r, int name, int64_t value)
{
    for (int k = 0; k < r->lane_count; k++)
        if (r->active[k]) {
            scalars *s = &r->lanes[k].scalars;
            s->values[s->offset[name]] = (spry_scalar){(double)value, 0};
        }
}

/* Ends of loops do not depend on data: they are the same for all lanes. */
static void run_for(runner *r, const node *n)
{
    int one = 0;
    while (!r->active[one])
        one++;
    const int64_t from = program_eval_count(&r->lanes[one].scalars, n->from);
    const int64_t to = program_eval_count(&r->lanes[one].scalars, n->to), by = n->down ? -1 : 1;
    if (r->lanes[one].scalars.fault != NONE)
        sweep_fail(r, &r->lanes[one], r->lanes[one].scalars.fault);
    for (int64_t k = from; r->status == SPRY_STATUS_OK && (n->down ? k >= to : k <= to); k += by) {
        set_counter(r, n->name, k);
        run_nodes(r, n->body);
        if (!any_active(r) || !take_turn(r, r->p->program->exprs[n->from].place))
            return;
    }
}

/* Lanes may go different ways: first those for which the condition holds, then the others. */
static void run_if(runner *r, const node *n)
{
    bool holds[MOST_LANES] = {false}, *all = r->active;
    bool part[MOST_LANES] = {false};
    for (int k = 0; k < r->lane_count; k++)
        holds[k] = all[k] && program_holds(&r->lanes[k].scalars, n->expr);
    for (int k = 0; k < r->lane_count; k++)
        if (r->lanes[k].scalars.fault != NONE)
            sweep_fail(r, &r->lanes[k], r->lanes[k].scalars.fault);
    for (int way = 0; way < 2; way++) {
        for (int k = 0; k < r->lane_count; k++)
            part[k] = all[k] && holds[k] == (way == 0);
        r->active = part;
        if (any_active(r))
            run_nodes(r, way == 0 ? n->body : n->other);
        r->active = all;
        for (int k = 0; k < r->lane_count; k++)
            all[k] = all[k] && !r->lanes[k].done;
    }
}

static void run_nodes(runner *r, int first)
{
    for (int i = first; i != NONE && r->status == SPRY_STATUS_OK && any_active(r);
         i = r->p->nodes[i].next) {
        const node *n = &r->p->nodes[i];
        if (n->kind == NODE_BLOCK)
            run_block(r, n);
        else if (n->kind == NODE_FOR)
            run_for(r, n);
        else
            run_if(r, n);
    }
}

static spry_status run_loop(runner *r)
{
    while (r->status == SPRY_STATUS_OK && any_active(r)) {
        int64_t before = 0, after = 0;
        for (int k = 0; k < r->lane_count; k++)
            before += r->lanes[k].reports;
        run_nodes(r, r->p->section[SECTION_LOOP]);
        for (int k = 0; k < r->lane_count; k++)
            after += r->lanes[k].reports;
        if (after == before && any_active(r) && r->status == SPRY_STATUS_OK)
            r->status = SPRY_FAIL(r->ctx, SPRY_STATUS_BAD_INPUT,
                                  "%s: a turn of the loop told no residual and no estimate",
                                  r->p->program->source);
    }
    return r->status;
}

/* A run begins with zeros but for the options, whatever the one before has left. */
static void clear_lane(const runner *r, lane *l)
{
    const plan *p = r->p;
    memset(l->memory, 0, (size_t)l->memory_bytes);
    memset(l->scalars.values + p->option_count, 0,
           (size_t)(p->scalar_count - p->option_count) * sizeof *l->scalars.values);
    l->reports = 0;
    l->reports_at_restart = -1;
}

spry_status runner_run(runner *r)
{
    bool again = true;
    if (r->resident)
        return resident_run(r);
    r->status = SPRY_STATUS_OK;
    r->turns = r->most_turns;
    for (int k = 0; r->used && k < r->lane_count; k++)
        if (!r->lanes[k].done)
            clear_lane(r, &r->lanes[k]);
    r->used = true;
    while (again && r->status == SPRY_STATUS_OK) {
        for (int k = 0; k < r->lane_count; k++) {
            r->active[k] = !r->lanes[k].done;
            memset(r->lanes[k].skip, 0, (size_t)r->p->op_count * sizeof *r->lanes[k].skip);
        }
        run_nodes(r, r->p->section[SECTION_START]);
        r->counting = true;
        run_loop(r);
        r->counting = false;
        again = false;
        for (int k = 0; k < r->lane_count; k++) {
            again = again || r->lanes[k].restart;
            if (r->lanes[k].restart)
                r->lanes[k].done = r->lanes[k].restart = false;
        }
    }
    return r->status;
}

int64_t runner_bytes(const runner *r)
{
    return r->bytes;
}
