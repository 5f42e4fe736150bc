/*
 * The end of a phase as text: what its inner products are stored to, scalar work, exits. One
 * work-item does it.
 */
#include "program/resident.h"

#define PUT(w, ...) base_text_put((w)->out, __VA_ARGS__)

static void put_note(const emit_job *w, const plan_op *o)
{
    PUT(w,
        "        if (fault != -1) {\n            sp_note(st, fault, %d);\n"
        "            fault = -1;\n        }\n",
        o->order);
}

/* Whether the operands' indices are right is looked at as before the sweep. */
static void put_check(const emit_job *w, const vref *v)
{
    emitter m = emit_expressions(w);
    const plan *p = w->p;
    if (v->var == NONE || !p->vars[v->var].array)
        return;
    if (!emit_is_slice(v)) {
        PUT(w, "        (void)");
        emit_index(&m, v->first, p->vars[v->var].extent);
        PUT(w, ";\n");
        return;
    }
    PUT(w, "        count = sp_slice(");
    emit_count(&m, v->first);
    PUT(w, ", ");
    emit_count(&m, v->last);
    PUT(w, ", %" PRId64 ", %d, &fault);\n", p->vars[v->var].extent,
        p->program->exprs[v->first].place);
}

/* The elements of a slice of scalars get their sums. */
static void put_slice_store(const emit_job *w, const plan_op *o, int64_t slot)
{
    emitter m = emit_expressions(w);
    const plan *p = w->p;
    const expr *target = &p->program->exprs[o->target];
    const int64_t rows = p->extent[target->name][0], cols = p->extent[target->name][1];
    PUT(w, "        const offset row = ");
    emit_count(&m, target->arg[0]);
    if (target->kind == EXPR_SLICE) {
        PUT(w, ", last = ");
        emit_count(&m, target->arg[1]);
    } else {
        PUT(w, ", last = row");
    }
    PUT(w, ", column = ");
    if (target->arg[2] == NONE)
        PUT(w, "0");
    else
        emit_index(&m, target->arg[2], cols);
    PUT(w,
        ";\n        if (fault == -1 && (count != (last < row ? 0 : last - row + 1) ||\n"
        "                            (count > 0 && (row < 0 || row + count > %" PRId64 "))))\n"
        "            fault = %d;\n"
        "        for (offset k = 0; fault == -1 && k < count; k++)\n"
        "            num[%" PRId64 " + (row + k) * %" PRId64 " + column] = tot[%" PRId64 " + k];\n",
        rows, target->place, p->offset[target->name], cols, slot);
}

static void put_dots(const emit_job *w, const phase *f)
{
    const plan *p = w->p;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        emitter m = emit_expressions(w);
        char value[64];
        if (o->kind != OP_DOT)
            continue;
        PUT(w, "    {\n        offset count = 1;\n");
        put_check(w, &o->in[0]);
        put_check(w, &o->in[1]);
        snprintf(value, sizeof value, "tot[%" PRId64 "]", emit_slot(p, f, i));
        if (emit_is_slice(&o->in[0]) || p->program->exprs[o->target].kind != EXPR_NAME) {
            put_slice_store(w, o, emit_slot(p, f, i));
        } else {
            PUT(w, "        (void)count;\n");
            emit_store(&m, o->target, value);
        }
        put_note(w, o);
        PUT(w, "    }\n");
    }
}

/* --- exits --------------------------------------------------------------------------------------
 */

static bool in_start(const plan *p, int first, int op)
{
    for (int n = first; n != NONE; n = p->nodes[n].next) {
        const node *at = &p->nodes[n];
        if (at->kind == NODE_BLOCK ? op >= at->first && op < at->first + at->count
                                   : in_start(p, at->body, op) || in_start(p, at->other, op))
            return true;
    }
    return false;
}

static void put_report(const emit_job *w, int op)
{
    const plan_op *o = &w->p->ops[op];
    emitter m = emit_expressions(w);
    PUT(w, "        const double value = SP_RE(");
    emit_number(&m, o->expr);
    PUT(w, ");\n");
    put_note(w, o);
    PUT(w,
        "        else if (sp_report(st, list, %d, value, %d, %d))\n            SP_STOP(%d, %d);\n",
        op, o->kind - OP_RESIDUAL, !in_start(w->p, w->p->section[SECTION_START], op), STOP_REPORT,
        op);
}

static void put_condition(const emit_job *w, int op)
{
    const plan_op *o = &w->p->ops[op];
    emitter m = emit_expressions(w);
    PUT(w, "        const int holds = ");
    emit_holds(&m, o->expr);
    PUT(w, ";\n");
    put_note(w, o);
    PUT(w, "        else if (holds)\n            SP_STOP(%d, %d);\n",
        o->kind == OP_RESTART ? STOP_RESTART : STOP_BREAKDOWN, op);
}

static void put_scalar_op(const emit_job *w, int op)
{
    const plan *p = w->p;
    const plan_op *o = &p->ops[op];
    emitter m = emit_expressions(w);
    if (op_exits(o))
        PUT(w,
            "        if (st[ST_FAULT] != -1 && st[ST_FAULT_ORDER] < %d)\n"
            "            SP_STOP(%d, %d);\n",
            o->order, STOP_FAULT, op);
    switch (o->kind) {
    case OP_SCALAR:
    case OP_SCALARS:
        emit_scalar_op(&m, o);
        put_note(w, o);
        emit_counter(w, op);
        break;
    case OP_MOVE:
        PUT(w,
            "        const offset kept = st[ST_SLOTS + %d];\n"
            "        st[ST_SLOTS + %d] = st[ST_SLOTS + %d];\n"
            "        st[ST_SLOTS + %d] = kept;\n",
            p->vars[o->out.var].number, p->vars[o->out.var].number, p->vars[o->in[0].var].number,
            p->vars[o->in[0].var].number);
        break;
    case OP_BREAKDOWN:
    case OP_RESTART:
        put_condition(w, op);
        break;
    default:
        put_report(w, op);
        break;
    }
}

/* A loop variable that is set as a number, where its loop was unrolled, is a counter elsewhere. */
void emit_counter(const emit_job *w, int op)
{
    const plan *p = w->p;
    const plan_op *o = &p->ops[op];
    const int name = o->kind == OP_SCALAR ? p->program->exprs[o->target].name : NONE;
    if (name != NONE && w->counter[name] != NONE)
        PUT(w, "        c%d = (offset)SP_RE(num[%" PRId64 "]);\n", w->counter[name],
            p->offset[name]);
}

void emit_tail(emit_job *w, int phase_index)
{
    const plan *p = w->p;
    const phase *f = &p->phases[phase_index];
    if (w->joined) {
        const int slots = (int)emit_slots(p, f);
        if (slots > 0 && !w->tickets && w->columns == 0)
            PUT(w,
                "\nSP_KERNEL sums_%d(SP_COMMON SP_COUNTERS, const int groups)\n{\n    "
                "SP_TAIL_ROOM;\n"
                "    sp_total(%d, groups, 0, 0, part, tail_room, tail_pieces, SP_TOTALS_AT(%d, "
                "groups));\n}\n",
                phase_index, slots, slots);
        return;
    }
    if (!emit_has_tail(p, f))
        return;
    PUT(w,
        "\nSP_APART void tail_%d(SP_COMMON SP_COUNTERS, SP_NUMBERS number *num,\n"
        "    SP_TOTALS const number *tot, const int from, SP_GLOBAL double *list)\n{\n    int "
        "fault = -1;\n"
        "    if (from == 0) {\n",
        phase_index);
    put_dots(w, f);
    PUT(w, "    }\n");
    for (int i = f->first + f->sweep_count; i < f->first + f->count; i++) {
        PUT(w, "    if (from <= %d) {\n", i - f->first - f->sweep_count + 1);
        put_scalar_op(w, i);
        PUT(w, "    }\n");
    }
    PUT(w, "}\n");
    PUT(w,
        "\nSP_KERNEL resume_%d(SP_COMMON SP_COUNTERS, const int groups, const int from)\n{\n"
        "    SP_TAIL_ROOM;\n    if (st[ST_STOP] != 0)\n        return;\n"
        "    SP_END(tail_%d, from == 0 ? %d : 0, groups, from, 0, 0);\n}\n",
        phase_index, phase_index, (int)emit_slots(p, f));
}
