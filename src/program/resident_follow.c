/*
 * What the host knows of a solve on a device: numbers as the device last had them, and counters and
 * slots computed along, from which it chooses its way through loops and branches.
 */
#include "program/resident.h"

spry_scalar *resident_value(resident *s, int name)
{
    return &s->l->scalars.values[s->p->offset[name]];
}

/* Numbers and slots as the device has them; `stopped`: loop variables, too. */
void resident_take(resident *s, bool stopped)
{
    const plan *p = s->p;
    const bool complex = spry_type_is_complex(s->r->type);
    const control_word *num = s->block.mirror + s->block.num_at;
    spry_scalar kept[MOST_COUNTERS] = {{0, 0}};
    for (int k = 0; k < s->code.counters; k++)
        kept[k] = *resident_value(s, s->code.counter_names[k]);
    for (int64_t k = 0; k < p->scalar_count; k++)
        s->l->scalars.values[k] = complex ? (spry_scalar){num[2 * k].real, num[2 * k + 1].real}
                                          : (spry_scalar){num[k].real, 0};
    for (int k = 0; !stopped && k < s->code.counters; k++)
        *resident_value(s, s->code.counter_names[k]) = kept[k];
    for (int k = 0; k < p->slots; k++)
        s->memory.slots[k] = s->block.mirror[ST_SLOTS + k].whole;
}

void resident_give(resident *s)
{
    const bool complex = spry_type_is_complex(s->r->type);
    control_word *num = s->block.mirror + s->block.num_at;
    for (int64_t k = 0; k < s->p->scalar_count; k++) {
        const spry_scalar value = s->l->scalars.values[k];
        num[complex ? 2 * k : k].real = value.re;
        if (complex)
            num[2 * k + 1].real = value.im;
    }
}

/* Whether the host can compute an expression along: of options, counters and loop variables. */
bool resident_knows(const resident *s, int e)
{
    if (e == NONE)
        return true;
    const expr *x = &s->p->program->exprs[e];
    if (x->kind == EXPR_NAME) {
        const program_name *name = &s->p->program->names[x->name];
        if (name->kind != NAME_OPTION && !name->counter && s->code.counter[x->name] == NONE)
            return false;
    }
    return resident_knows(s, x->arg[0]) && resident_knows(s, x->arg[1]) &&
           resident_knows(s, x->arg[2]);
}

/* Statements that set counters, computed along; faults are the device's to find. */
static void follow_statements(resident *s, int first, bool single)
{
    const program *g = s->p->program;
    scalars *values = &s->l->scalars;
    for (int i = first; i != NONE && values->fault == NONE; i = single ? NONE : g->stmts[i].next) {
        const stmt *at = &g->stmts[i];
        if (at->kind == STMT_SET) {
            const expr *target = &g->exprs[at->target];
            if (target->kind != EXPR_NAME || !g->names[target->name].counter)
                continue;
            const spry_scalar value = program_eval(values, at->value);
            spry_scalar *to = program_scalar_at(values, at->target);
            if (to)
                *to = value;
        } else if (at->kind == STMT_IF && resident_knows(s, at->value)) {
            follow_statements(s, program_holds(values, at->value) ? at->body : at->other, false);
        }
    }
    values->fault = NONE;
}

void resident_follow(resident *s, const plan_op *o)
{
    const program *g = s->p->program;
    scalars *values = &s->l->scalars;
    if (o->kind == OP_SCALAR) {
        const expr *target = &g->exprs[o->target];
        if (!g->names[target->name].counter)
            return;
        const spry_scalar value = program_eval(values, o->expr);
        spry_scalar *to = program_scalar_at(values, o->target);
        if (to)
            *to = value;
        values->fault = NONE;
    } else if (o->kind == OP_SCALARS) {
        follow_statements(s, o->stmt, true);
    } else if (o->kind == OP_MOVE) {
        const int to = s->p->vars[o->out.var].number, from = s->p->vars[o->in[0].var].number;
        const int64_t kept = s->memory.slots[to];
        s->memory.slots[to] = s->memory.slots[from];
        s->memory.slots[from] = kept;
    }
}
