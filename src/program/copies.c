/* Copies u = v of plain vectors: reads of u become reads of v where they can. */
#include "program/plan.h"

static bool writes_var(const plan_op *o, int var)
{
    return o->kind != OP_NONE && (o->out.var == var || (o->kind == OP_MOVE && o->in[0].var == var));
}

/* Whether an operation is u = v for plain vectors. */
bool plan_is_copy(const plan *p, const plan_op *o)
{
    if (o->kind != OP_COMBINE || o->terms != 1)
        return false;
    const term *t = &p->terms[o->term];
    return t->sign == 1 && t->factor == NONE && t->numbers == NONE && t->v.first == NONE &&
           o->out.first == NONE;
}

static bool reads_var(const plan *p, const plan_op *o, int var)
{
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
        if (p->terms[o->term + k].v.var == var)
            return true;
    return o->kind != OP_NONE && (o->in[0].var == var || o->in[1].var == var);
}

/* Whether an operation reads a vector of all right-hand sides. */
static bool reads_all(const plan *p, const plan_op *o, int var)
{
    const int count = plan_ref_count(p, o);
    for (int k = 0; o->kind != OP_NONE && k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == var && v->all)
            return true;
    }
    return false;
}

static void replace_reads(plan *p, plan_op *o, int from, int to)
{
    for (int k = 0; k < 2; k++)
        if (o->in[k].var == from)
            o->in[k].var = to;
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
        if (p->terms[o->term + k].v.var == from)
            p->terms[o->term + k].v.var = to;
}

/* Whether a vector is needed after operation j. Within the block the list may have changed since
 * lives were found. */
static bool needed_after(const plan *p, const node *n, int j, int var)
{
    const int last = n->first + n->count - 1;
    for (int k = j + 1; k <= last; k++) {
        const plan_op *o = &p->ops[k];
        if (reads_var(p, o, var) || (op_exits(o) && p->exit_live[var]))
            return true;
        if (writes_var(o, var))
            return false;
    }
    return p->live[(size_t)last * (size_t)p->var_count + (size_t)var];
}

/*
 * After u = v reads of u become reads of v while both stay as they are, and the copy stands where
 * that ends, unless the solve can end before. A statement that changes v goes on reading u if u is
 * needed afterwards: then v is not, and the copy will be an exchange.
 */
void plan_read_through(plan *p, const node *n, int i)
{
    plan_op copy = p->ops[i];
    const int u = copy.out.var, v = p->terms[copy.term].v.var;
    const bool callers = v == p->var_of_name[NAME_X] || v == p->var_of_name[NAME_B];
    int to = i;
    bool fixed = false;
    for (int j = i + 1; j < n->first + n->count; j++) {
        plan_op *o = &p->ops[j];
        if (callers && reads_all(p, o, u)) /* which have to be the runner's own */
            break;
        const bool ends = writes_var(o, u) || writes_var(o, v);
        const bool clash = o->kind == OP_APPLY && o->out.var == v; /* cannot read what it writes */
        if (!clash && !(writes_var(o, v) && needed_after(p, n, j, u)))
            replace_reads(p, o, u, v);
        if (ends)
            break;
        fixed = fixed || (op_exits(o) && p->exit_live[u]);
        if (!fixed)
            to = j;
    }
    memmove(&p->ops[i], &p->ops[i + 1], (size_t)(to - i) * sizeof *p->ops);
    copy.seen = true;
    p->ops[to] = copy;
}
