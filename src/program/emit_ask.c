/* What a phase has: asked by the files that write its kernels and by those that run them. */
#include "program/resident.h"

/* Sums that an operation makes at most. */
static int64_t sums_of(const plan *p, const plan_op *o)
{
    if (o->kind != OP_DOT)
        return 0;
    return o->in[0].all               ? PROGRAM_COLUMNS
           : emit_is_slice(&o->in[0]) ? p->vars[o->in[0].var].extent
                                      : 1;
}

int64_t emit_slots(const plan *p, const phase *f)
{
    int64_t slots = 0;
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        slots += sums_of(p, &p->ops[i]);
    return slots;
}

int64_t emit_slot(const plan *p, const phase *f, int op)
{
    int64_t slot = 0;
    for (int i = f->first; i < op; i++)
        slot += sums_of(p, &p->ops[i]);
    return slot;
}

bool emit_in_local(const emit_job *w, const phase *f, int op, int k)
{
    enum { MOST_BYTES = 24 * 1024 };
    const plan *p = w->p;
    const int64_t bytes = PROGRAM_COLUMNS * w->columns * (int64_t)spry_type_size(w->type);
    int64_t used = 0;
    for (int i = f->first; i <= op; i++) {
        const plan_op *o = &p->ops[i];
        const int terms = o->kind != OP_COMBINE ? 0 : i < op ? o->terms : k + 1;
        for (int j = 0; j < terms; j++)
            used += p->terms[o->term + j].v.all ? bytes : 0;
    }
    return used <= MOST_BYTES;
}

bool emit_has_tail(const plan *p, const phase *f)
{
    return f->count > f->sweep_count || emit_slots(p, f) > 0;
}

int emit_skip_bit(const plan *p, int op)
{
    int bit = 0;
    for (int n = 0; n < p->node_count; n++) {
        const node *block = &p->nodes[n];
        if (block->kind != NODE_BLOCK)
            continue;
        for (int i = block->first; i < block->first + block->count; i++) {
            const plan_op *o = &p->ops[i];
            bool late = p->program->block; /* a right-hand side that has ended has its x */
            if (o->kind != OP_COMBINE || o->out.var != p->var_of_name[NAME_X])
                continue;
            for (int k = block->first; k < block->first + block->count; k++)
                late = late || (op_exits(&p->ops[k]) && p->ops[k].order >= o->order &&
                                p->ops[k].phase < o->phase);
            if (i == op)
                return late && bit < 62 ? bit : -1;
            bit += late;
        }
    }
    return -1;
}

bool emit_has_product(const plan *p, const phase *f, int turned)
{
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (p->ops[i].kind == OP_APPLY && !plan_calls(p, &p->ops[i]) &&
            (int)p->ops[i].transpose == turned)
            return true;
    return false;
}

int emit_turned(const plan *p, const phase *f)
{
    for (int turned = 0; turned < 3; turned++)
        if (emit_has_product(p, f, turned))
            return turned;
    return NONE;
}

const char *emit_prefix(int turned)
{
    static const char *const prefixes[] = {[SPRY_TRANSPOSE_NO] = "A_",
                                           [SPRY_TRANSPOSE_YES] = "AT_",
                                           [SPRY_TRANSPOSE_CONJUGATE] = "AH_"};
    return prefixes[turned];
}

int emit_width(const emit_job *w, const phase *f)
{
    if (emit_turned(w->p, f) != NONE)
        return 1;
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (emit_in_sweep(w->p, &w->p->ops[i]) && plan_has_slice(w->p, &w->p->ops[i]))
            return w->slice_width;
    return w->width;
}

void emit_arguments(const emit_job *w, const phase *given)
{
    const phase all = {.sweep_count = w->p->op_count};
    const phase *f = given ? given : &all;
    bool diagonal[3] = {false};
    base_text_put(w->out, "SP_COMMON");
    for (int k = 0; given && k < w->counters; k++)
        base_text_put(w->out, ", const offset c%d", k);
    for (int turned = 0; turned < 3; turned++)
        if (emit_has_product(w->p, f, turned))
            base_text_put(w->out, ", %s", w->rows[turned].args_text);
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &w->p->ops[i];
        if (o->kind == OP_DIAGONAL && !diagonal[o->transpose])
            base_text_put(w->out, ", SP_GLOBAL const scalar *d%d", (int)o->transpose);
        diagonal[o->transpose] = diagonal[o->transpose] || o->kind == OP_DIAGONAL;
    }
}

emitter emit_expressions(const emit_job *w)
{
    return (emitter){
        .p = w->p, .real = !spry_type_is_complex(w->type), .out = w->out, .counter = w->counter};
}
