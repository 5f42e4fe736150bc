/*
 * The end of a phase as text: what its inner products are stored to, scalar work, exits. One
 * work-item does it. And the program as a whole.
 */
#include "program/resident.h"

enum { LOCAL_NUMBERS_BYTES = 16 * 1024, LOCAL_TOTALS_BYTES = 2 * 1024 };

#define PUT(w, ...) base_text_put((w)->out, __VA_ARGS__)

emitter emit_expressions(const emit_job *w)
{
    return (emitter){
        .p = w->p, .real = !spry_type_is_complex(w->type), .out = w->out, .counter = w->counter};
}

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
        op, o->kind == OP_GRADIENT, !in_start(w->p, w->p->section[SECTION_START], op), STOP_REPORT,
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

/* --- the program --------------------------------------------------------------------------------
 */

/* What kernels for the columns of all tracks have: x and b of each come one by one where memory has
 * no addresses. */
static void put_columns(const emit_job *w)
{
    static const char *const kinds[] = {"SP_GLOBAL scalar *x", "SP_GLOBAL const scalar *b"};
    PUT(w, "#define SP_COLUMNS %d\n#define SP_WORDS ((offset)%" PRId64 ")\n", w->columns, w->words);
    PUT(w, "#define SP_COLUMN_VECTORS ");
    for (int k = 0; k < 2 * w->columns; k++)
        PUT(w, "%s%s%d", k > 0 ? ", " : "", kinds[k % 2], k / 2);
    for (int kind = 0; kind < 2; kind++) {
        PUT(w, "\n#define SP_ALL_%c {", "XB"[kind]);
        for (int k = 0; k < w->columns; k++)
            PUT(w, "%s%c%d", k > 0 ? ", " : "", "xb"[kind], k);
        PUT(w, "}");
    }
    PUT(w, "\n");
}

static void put_defines(const emit_job *w)
{
#define WORD_DEFINE(name) PUT(w, "#define ST_%s %d\n", #name, ST_##name);
    RESIDENT_WORDS(WORD_DEFINE)
#undef WORD_DEFINE
    const int64_t size = spry_type_is_complex(w->type) ? 16 : 8;
    PUT(w, "#define ST_SLOTS %d\n#define ST_NUM %" PRId64 "\n#define ST_REP %" PRId64 "\n",
        ST_SLOTS, w->num_at, w->rep_at);
    PUT(w, "#define REP_LOW %d\n#define REP_HIGH %d\n#define REP_LOOK %d\n", REP_LOW, REP_HIGH,
        REP_LOOK);
    PUT(w, "#define REP_GRADIENT_LOW %d\n", REP_GRADIENT_LOW);
    PUT(w, "#define REP_GRADIENT %d\n#define REP_FIRST %d\n#define MOST_REPORTS %d\n", REP_GRADIENT,
        REP_FIRST, MOST_REPORTS);
    PUT(w, "#define SCALARS %" PRId64 "\n", w->p->scalar_count + 1);
    if ((w->p->scalar_count + 1) * size <= LOCAL_NUMBERS_BYTES && !w->joined)
        PUT(w, "#define SP_LOCAL_NUMBERS 1\n");
    int64_t slots = 1;
    for (int f = 0; f < w->p->phase_count; f++)
        slots =
            emit_slots(w->p, &w->p->phases[f]) > slots ? emit_slots(w->p, &w->p->phases[f]) : slots;
    if (slots * size <= LOCAL_TOTALS_BYTES && !w->joined)
        PUT(w, "#define SP_LOCAL_TOTALS %d\n", (int)slots);
    if (w->tickets)
        PUT(w, "#define SP_TICKETS 1\n");
    if (w->columns > 0)
        put_columns(w);
    PUT(w, "#define SP_COUNTERS");
    for (int k = 0; k < w->counters; k++)
        PUT(w, ", offset c%d", k);
    PUT(w, "\n#define SP_COUNTERS_PASS");
    for (int k = 0; k < w->counters; k++)
        PUT(w, ", c%d", k);
    PUT(w, "\n");
}

/* A stop keeps the loop variables for the host, which may be ahead. */
static void put_stop(const emit_job *w)
{
    const plan *p = w->p;
    PUT(w, "#define SP_STOP(kind, op) do { st[ST_STOP] = kind; st[ST_OP] = op;");
    for (int name = 0; name < p->program->name_count; name++) {
        if (w->counter[name] == NONE)
            continue;
        PUT(w, " num[%" PRId64 "] = ", p->offset[name]);
        PUT(w, spry_type_is_complex(w->type) ? "sp_make2d((double)c%d, 0.0);" : "(double)c%d;",
            w->counter[name]);
    }
    PUT(w, " return; } while (0)\n");
    PUT(w, "#define SP_TAIL_ROOM SP_SHARED int sp_flag; SP_WARP_ROOM(tail_room); SP_TAIL_TOTALS "
           "SP_TAIL_NUMBERS; "
           "(void)sp_flag\n");
}

void emit_common(emit_job *w)
{
    put_defines(w);
    PUT(w, "%s\n%s\n%s\n", device_text("numbers"), device_text("random"), device_text("resident"));
    put_stop(w);
    for (int turned = 0; turned < 3; turned++)
        if (w->rows[turned].text)
            PUT(w, "%s\n", w->rows[turned].text);
}

spry_status emit_program(emit_job *w)
{
    const plan *p = w->p;
    emit_common(w);
    for (int f = w->part; f < p->phase_count; f += w->parts) {
        emit_tail(w, f);
        emit_phase(w, f);
    }
    for (int i = w->part; i < p->op_count; i += w->parts)
        if (emit_skip_bit(p, i) >= 0)
            emit_settle(w, i);
    if (w->part > 0)
        return w->out->status;
    PUT(w, "\nSP_KERNEL unskip(SP_COMMON SP_COUNTERS, const offset left)\n{\n    if (SP_LEADER && "
           "st[ST_STOP] == 0)\n"
           "        st[ST_SKIP] = left;\n}\n");
    PUT(w,
        "\nSP_KERNEL accept(SP_COMMON SP_COUNTERS, SP_GLOBAL const scalar *made, const offset at, "
        "const offset n)\n{\n    if (st[ST_STOP] != 0)\n        return;\n"
        "    for (offset i = SP_GLOBAL_ID; i < n; i += (offset)SP_GROUPS * SP_GROUP)\n"
        "        mem[at + i] = made[i];\n}\n");
    return w->out->status;
}
