/*
 * Which vectors are as long as b and which as x, which need memory at all, and which can share it.
 * A vector that is made and used up within one phase lives in pieces, in the first cache. Others
 * share memory when one's life is over before the other's begins.
 */
#include "program/plan.h"

static int find(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void unite(int *parent, int a, int b)
{
    parent[find(parent, a)] = find(parent, b);
}

static void unite_op(const plan *p, const plan_op *o, int *parent, int rows, int cols)
{
    const vref *first = NULL;
    const int count = plan_ref_count(p, o);
    if (o->kind == OP_APPLY || o->kind == OP_DIAGONAL) { /* M belongs to the columns of A */
        const bool is_A = o->op == OPERATOR_A, plain = o->transpose == SPRY_TRANSPOSE_NO;
        unite(parent, o->in[0].var, is_A && !plain ? rows : cols);
        unite(parent, o->out.var, is_A && plain ? rows : cols);
        if (plan_makes_powers(o) && o->also.var != NONE)
            unite(parent, o->also.var, rows);
        return;
    }
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == NONE)
            continue;
        if (first)
            unite(parent, first->var, v->var);
        first = v;
    }
}

spry_status plan_find_spaces(plan *p)
{
    spry_context *ctx = p->ctx;
    const int rows = p->var_count, cols = rows + 1;
    int *parent = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, cols + 1, sizeof *parent, &parent));
    for (int i = 0; i <= cols; i++)
        parent[i] = i;
    unite(parent, p->var_of_name[NAME_X], cols);
    unite(parent, p->var_of_name[NAME_B], rows);
    for (int i = 0; i < p->op_count; i++)
        unite_op(p, &p->ops[i], parent, rows, cols);
    p->square_only = find(parent, rows) == find(parent, cols);
    for (int v = 0; v < p->var_count; v++)
        p->vars[v].space = !p->setup.square && find(parent, v) == find(parent, cols);
done:
    base_free(ctx, parent);
    return status;
}

typedef struct storing {
    plan *p;
    int vars;
    unsigned char *clash; /* vars x vars: cannot share memory */
    int *only;            /* the one phase a vector is seen in; NONE: not seen, -2: several */
    unsigned char *whole; /* needs memory for another reason */
    unsigned char *taken; /* numbers that the variable at hand cannot have */
} storing;

enum { SEVERAL = -2 };

static void note_clash(storing *s, int a, int b)
{
    s->clash[(size_t)a * (size_t)s->vars + (size_t)b] = 1;
    s->clash[(size_t)b * (size_t)s->vars + (size_t)a] = 1;
}

static bool clashes(const storing *s, int a, int b)
{
    return s->clash[(size_t)a * (size_t)s->vars + (size_t)b];
}

/* Whether it is done, on a device, when all else of a phase is done to some rows, which are taken
 * from memory. */
static bool is_late(const plan *p, const plan_op *o)
{
    return p->setup.apart && plan_is_gram(o);
}

/* Where vectors are seen; phases are numbered through the whole plan. */
static void see(storing *s, const node *block, const plan_op *o)
{
    const plan *p = s->p;
    const int now = block->phase + o->phase, count = plan_ref_count(p, o);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == NONE)
            continue;
        if (o->kind == OP_APPLY && write)
            s->p->vars[v->var].wide = true;
        s->whole[v->var] = s->whole[v->var] || v->all || is_late(p, o);
        if (o->kind == OP_MOVE || o->kind == OP_APPLY)
            s->whole[v->var] = s->whole[v->var] || o->kind == OP_MOVE || !write || plan_calls(p, o);
        /* Read before it is made: it comes from elsewhere. */
        if (s->only[v->var] == NONE && !write)
            s->whole[v->var] = 1;
        s->only[v->var] = s->only[v->var] == NONE || s->only[v->var] == now ? now : SEVERAL;
    }
}

static void see_lives(storing *s, int index)
{
    const plan *p = s->p;
    const plan_op *o = &p->ops[index];
    const unsigned char *live = p->live + (size_t)index * (size_t)s->vars;
    if (o->out.var == NONE)
        return;
    for (int v = 0; v < s->vars; v++)
        if (live[v] && v != o->out.var)
            note_clash(s, v, o->out.var);
}

/* What all right-hand sides read must not be written by any of them; nor is, on devices, what is
 * multiplied with it when all else of the phase is done. */
static void see_all(storing *s, const phase *f, const plan_op *a)
{
    const plan *p = s->p;
    const int count = plan_ref_count(p, a);
    const bool late = is_late(p, a);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, a, k, &write);
        if (v->var == NONE || !(v->all || late))
            continue;
        for (int j = f->first; j < f->first + f->sweep_count; j++)
            if (p->ops[j].out.var != NONE && p->ops[j].out.var != v->var)
                note_clash(s, v->var, p->ops[j].out.var);
    }
}

/* A product reads all of its operand while others of the phase write, and writes before they read.
 */
static void see_phase(storing *s, const phase *f)
{
    const plan *p = s->p;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *a = &p->ops[i];
        see_all(s, f, a);
        if (a->kind != OP_APPLY)
            continue;
        for (int j = f->first; j < f->first + f->sweep_count; j++) {
            const plan_op *o = &p->ops[j];
            const int count = plan_ref_count(p, o);
            if (o->out.var != NONE && o->out.var != a->in[0].var)
                note_clash(s, a->in[0].var, o->out.var);
            for (int k = 0; k < count - 1; k++) {
                bool write;
                const vref *v = plan_ref(p, o, k, &write);
                if (v->var != NONE && v->var != a->out.var)
                    note_clash(s, v->var, a->out.var);
            }
        }
    }
}

/* Gives variables of one kind numbers so that those that clash differ. */
static int assign(storing *s, bool pieces)
{
    plan *p = s->p;
    int most = 0;
    for (int v = 0; v < s->vars; v++) {
        plan_var *var = &p->vars[v];
        const bool in_pieces = s->only[v] >= 0 && !s->whole[v];
        if (var->array || v == p->var_of_name[NAME_X] || v == p->var_of_name[NAME_B] ||
            s->only[v] == NONE || in_pieces != pieces)
            continue;
        memset(s->taken, 0, (size_t)s->vars);
        for (int w = 0; w < v; w++) {
            const plan_var *other = &p->vars[w];
            if (other->number == NONE || other->in_pieces != pieces)
                continue;
            if (pieces ? s->only[w] == s->only[v] : clashes(s, v, w) || other->space != var->space)
                s->taken[other->number] = 1;
        }
        int number = 0;
        while (s->taken[number])
            number++;
        var->number = number;
        var->in_pieces = pieces;
        most = number + 1 > most ? number + 1 : most;
    }
    return most;
}

spry_status plan_store(plan *p)
{
    spry_context *ctx = p->ctx;
    storing s = {.p = p, .vars = p->var_count};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, plan_collect(p));
    SPRY_GO(ctx, plan_find_seen(p));
    SPRY_GO(ctx, plan_live(p));
    SPRY_GO(ctx, base_calloc(ctx, (int64_t)s.vars * s.vars, 1, &s.clash));
    SPRY_GO(ctx, base_calloc(ctx, s.vars, 1, &s.whole));
    SPRY_GO(ctx, base_alloc(ctx, s.vars, 1, &s.taken));
    SPRY_GO(ctx, base_alloc(ctx, s.vars, sizeof *s.only, &s.only));
    for (int v = 0; v < s.vars; v++) {
        s.only[v] = NONE;
        p->vars[v].number = NONE;
    }
    for (int b = 0; b < p->node_count; b++) {
        const node *block = &p->nodes[b];
        if (block->kind != NODE_BLOCK)
            continue;
        for (int i = block->first; i < block->first + block->count; i++) {
            see(&s, block, &p->ops[i]);
            see_lives(&s, i);
        }
        for (int f = 0; f < block->phases; f++)
            see_phase(&s, &p->phases[block->phase + f]);
    }
    p->locals = assign(&s, true);
    p->slots = assign(&s, false);
done:
    base_free(ctx, s.clash);
    base_free(ctx, s.whole);
    base_free(ctx, s.taken);
    base_free(ctx, s.only);
    return status;
}
