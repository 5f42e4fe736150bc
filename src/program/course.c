/*
 * The course of a method, as far as it does not depend on where phases run: starts and restarts,
 * reports and what they lead to, faults, turns of loops, bytes.
 */
#include "program/runner.h"

#include "base/background.h"
#include "base/team.h"

void course_note(runner *r, spry_status status)
{
    spry_status *to = r->ranked ? &r->late : &r->status;
    if (status != SPRY_STATUS_OK && *to == SPRY_STATUS_OK)
        *to = status;
}

spry_status course_agree(const runner *r, spry_status status)
{
    return r->ranked ? team_agree(r->ctx, status) : status;
}

bool runner_interrupted(const runner *r)
{
    return r->ranked ? r->stopped : spry_context_interrupted(r->ctx, false);
}

/* --- faults -------------------------------------------------------------------------------------
 */

bool course_check(rhs *l, const plan_op *o)
{
    if (l->scalars.fault == NONE)
        return false;
    if (l->fault == NONE || o->order < l->fault_order) {
        l->fault = l->scalars.fault;
        l->fault_order = o->order;
    }
    l->scalars.fault = NONE;
    return true;
}

void course_fail_index(runner *r, rhs *l, int place)
{
    if (r->status == SPRY_STATUS_OK)
        r->status = program_fault(r->p->program, place,
                                  "an index is outside its array, or no whole number, or "
                                  "runs of different lengths meet");
    l->fault = l->scalars.fault = NONE;
}

spry_status course_fail_turns(const runner *r, int place)
{
    return program_fault(r->p->program, place,
                         "loops took more than %" PRId64
                         " turns without a residual or an estimate between",
                         r->most_turns);
}

spry_status course_fail_silent(const runner *r)
{
    return SPRY_FAIL(r->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s: a turn of the loop reported no residual and no estimate",
                     r->p->program->source);
}

/*
 * A request to stop takes effect at the next residual or estimate; a loop that reports none for
 * long is left at once, but finish is always done to the end.
 */
bool course_take_turn(runner *r, int place)
{
    const int64_t long_ago = 1024;
    if (r->status != SPRY_STATUS_OK)
        return false;
    if (--r->turns < 0)
        r->status = course_fail_turns(r, place);
    else if (!r->finishing && r->turns < r->most_turns - long_ago && runner_interrupted(r))
        r->status = SPRY_FAIL(r->ctx, SPRY_STATUS_INTERRUPTED, "%s: interrupted in a loop",
                              r->p->program->source);
    return r->status == SPRY_STATUS_OK;
}

/* --- exits --------------------------------------------------------------------------------------
 */

bool course_report(runner *r, rhs *l, const plan_op *o, bool loop, double value)
{
    const report_kind kind = (report_kind)(o->kind - OP_RESIDUAL);
    bool go_on = true;
    r->turns = r->most_turns;
    l->reports += loop && kind <= REPORT_ESTIMATE;
    const spry_status status = l->report(l->data, kind, loop, value, &go_on);
    if (r->ranked)
        course_note(r, status);
    else if (status != SPRY_STATUS_OK)
        r->status = status;
    return go_on;
}

/* A breakdown's message, with {name} replaced by the value. */
static void write_message(const rhs *l, const stmt *s, char *text, size_t size)
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
                const bool real = v.im == 0 || l->scalars.real;
                used +=
                    (size_t)(!value_finite(v)
                                 ? snprintf(text + used, size - used, "(not a finite number)")
                             : real ? snprintf(text + used, size - used, "%.3g", v.re)
                                    : snprintf(text + used, size - used, "%.3g%+.3gi", v.re, v.im));
                used = used < size ? used : size - 1;
                from = close + 1;
                continue;
            }
        }
        text[used++] = *from++;
    }
    text[used < size ? used : size - 1] = '\0';
}

/* Whether all numbers that an expression is made of are finite, but for those it asks about that.
 */
static bool is_finite(rhs *l, int e)
{
    if (e == NONE)
        return true;
    const expr *source = &l->scalars.program->exprs[e];
    if (source->kind == EXPR_CALL && source->word == WORD_FINITE)
        return true;
    if (source->kind == EXPR_NAME && !value_finite(program_eval(&l->scalars, e)))
        return false;
    return is_finite(l, source->arg[0]) && is_finite(l, source->arg[1]) &&
           is_finite(l, source->arg[2]);
}

void course_break(rhs *l, const plan_op *o)
{
    char text[160];
    if (o->kind == OP_BREAKDOWN) {
        write_message(l, &l->scalars.program->stmts[o->stmt], text, sizeof text);
        if (l->accept && l->scalars.program->stmts[o->stmt].accepts && is_finite(l, o->expr))
            l->accept(l->data, text);
        else
            l->breakdown(l->data, text, is_finite(l, o->expr));
    } else if (l->reports == l->reports_at_restart) {
        l->breakdown(l->data, "a restart was needed twice without progress between", true);
    } else {
        l->reports_at_restart = l->reports;
        l->restart = true;
    }
}

spry_status course_finish(runner *r, rhs *l)
{
    const bool counting = r->counting;
    r->turns = r->most_turns;
    r->finishing = true;
    r->counting = false;
    l->fault = NONE; /* that was of an operation the text does not come to */
    const spry_status status = r->class->finish(r, l);
    r->counting = counting;
    r->finishing = false;
    l->done = true;
    return status;
}

/* --- bytes --------------------------------------------------------------------------------------
 */

int64_t course_vector_bytes(const runner *r, rhs *l, const phase *f)
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

int64_t course_operator_bytes(const runner *r, const phase *f, int rhs_count)
{
    const plan *p = r->p;
    int64_t bytes = 0;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        const int shared = (rhs_count + 7) / 8; /* readings by rows */
        if (plan_makes_powers(o))
            bytes += r->operators[o->op]->own_bytes * rhs_count *
                     ((o->count + p->setup.powers - 1) / p->setup.powers);
        else if (o->kind == OP_DIAGONAL || o->kind == OP_APPLY)
            bytes += r->operators[o->op]->own_bytes * (plan_calls(p, o) ? rhs_count : shared);
    }
    return bytes;
}

/* --- the run ------------------------------------------------------------------------------------
 */

static void zero_scalars(rhs *l, int64_t from, int64_t to)
{
    memset(l->scalars.values + from, 0, (size_t)(to - from) * sizeof *l->scalars.values);
}

/* A run begins with zeros but for the options and what the text keeps, whatever the one before has
 * left. Names have places in their order. */
static spry_status clear_rhs(runner *r, rhs *l)
{
    const plan *p = r->p;
    int64_t at = p->option_count;
    for (int name = 0; name < p->names; name++)
        if (p->program->names[name].kept && p->program->names[name].kind == NAME_SCALARS) {
            zero_scalars(l, at, p->offset[name]);
            at = p->offset[name] + p->extent[name][0] * p->extent[name][1];
        }
    zero_scalars(l, at, p->scalar_count);
    l->reports = 0;
    l->reports_at_restart = -1;
    l->fault = l->scalars.fault = NONE;
    l->restart = false;
    return r->class->clear(r, l);
}

/* Right-hand sides first..first+count-1 with their restarts: one that restarts waits for the
 * others. */
static spry_status run_some(runner *r, int first, int count)
{
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool again = false;
    for (int k = first; k < first + count; k++) {
        again = again || !r->rhs[k].done;
        if (!r->rhs[k].done)
            SPRY_GO(ctx, clear_rhs(r, &r->rhs[k]));
    }
    while (again) {
        again = false;
        r->counting = false;
        SPRY_GO(ctx, r->class->run(r, first, count));
        SPRY_GO(ctx, r->status);
        for (int k = first; k < first + count; k++) {
            rhs *l = &r->rhs[k];
            again = again || l->restart;
            l->done = l->done && !l->restart;
            l->restart = false;
        }
    }
done:
    r->counting = false;
    return status;
}

spry_status runner_run(runner *r)
{
    const int together = r->class->together;
    r->status = r->late = SPRY_STATUS_OK;
    r->stopped = false;
    r->turns = r->most_turns;
    const bool outer = base_iterate(true);
    for (int k = 0; k < r->rhs_count && r->status == SPRY_STATUS_OK; k += together) {
        const int count = r->rhs_count - k < together ? r->rhs_count - k : together;
        const spry_status status = run_some(r, k, count);
        if (status != SPRY_STATUS_OK)
            r->status = status;
    }
    base_iterate(outer);
    r->used = true;
    if (r->status == SPRY_STATUS_OK) /* no reduction came after it */
        r->status = r->late;
    return r->status;
}

spry_status runner_settle(runner *r, rhs *l)
{
    return r->class->settle(r, l);
}

int64_t runner_bytes(const runner *r)
{
    return r->bytes;
}
