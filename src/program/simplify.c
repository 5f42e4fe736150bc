/*
 * What follows from the lives of vectors: copies are read through, work whose result is unused is
 * dropped, and a copy of a vector that is unused afterwards becomes an exchange of places.
 */
#include "program/plan.h"

/* Names of scalars that something reads. */
static void mark_expr(const plan *p, int e, bool *read)
{
    if (e == NONE)
        return;
    const expr *source = &p->program->exprs[e];
    if (source->kind == EXPR_NAME || source->kind == EXPR_SLICE)
        read[source->name] = true;
    for (int k = 0; k < 3; k++)
        mark_expr(p, source->arg[k], read);
}

static void mark_nodes(const plan *p, bool *read)
{
    for (int i = 0; i < p->node_count; i++) {
        mark_expr(p, p->nodes[i].from, read);
        mark_expr(p, p->nodes[i].to, read);
        mark_expr(p, p->nodes[i].expr, read);
    }
    for (int i = 0; i < p->op_count; i++)
        for (int k = 0; p->ops[i].kind != OP_NONE && k < p->ops[i].accesses; k++) {
            const access *a = &p->accesses[p->ops[i].access + k];
            if (!a->vector && !a->write)
                read[a->id] = true;
        }
}

static bool is_needed(const plan *p, int i, const bool *read)
{
    const plan_op *o = &p->ops[i];
    if (o->kind == OP_DOT || o->kind == OP_SCALAR || o->kind == OP_SMALL)
        return read[p->program->exprs[o->target].name];
    if (!op_sweeps(o) || p->vars[o->out.var].array)
        return true;
    return p->live[(size_t)i * (size_t)p->var_count + (size_t)o->out.var];
}

/* Removes unused results until no more are found. */
static spry_status drop_dead(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool *read = NULL, changed = true;
    SPRY_GO(ctx, base_alloc(ctx, p->program->name_count, sizeof *read, &read));
    while (changed) {
        changed = false;
        SPRY_GO(ctx, plan_collect(p));
        SPRY_GO(ctx, plan_live(p));
        memset(read, 0, (size_t)p->program->name_count * sizeof *read);
        mark_nodes(p, read);
        for (int i = 0; i < p->op_count; i++)
            if (p->ops[i].kind != OP_NONE && !is_needed(p, i, read)) {
                p->ops[i].kind = OP_NONE;
                changed = true;
            }
    }
done:
    base_free(ctx, read);
    return status;
}

/* Copies of vectors whose lives end at the copy; x and b belong to the caller and stay in place. */
static void find_moves(plan *p)
{
    const int x = p->var_of_name[NAME_X], b = p->var_of_name[NAME_B];
    for (int i = 0; i < p->op_count; i++) {
        plan_op *o = &p->ops[i];
        if (!plan_is_copy(p, o))
            continue;
        const int u = o->out.var, v = p->terms[o->term].v.var;
        if (u == v) {
            o->kind = OP_NONE;
        } else if (u != x && v != x && v != b && u != b &&
                   !p->live[(size_t)i * (size_t)p->var_count + (size_t)v]) {
            o->kind = OP_MOVE;
            o->in[0] = p->terms[o->term].v;
            o->terms = 0;
        }
    }
}

/* Whether an expression reads a scalar that a later operation of the block changes. */
static bool changes_later(const plan *p, const node *n, int i, int e)
{
    for (int j = i + 1; j < n->first + n->count; j++)
        if (plan_changes(p, &p->ops[j], e))
            return true;
    return false;
}

/*
 * A factor that is made of scalars which change later gets a name of its own, so that its vectors
 * need not be finished before the scalars change: eta in x = x + c eta w; eta = -s eta.
 */
static spry_status free_factors(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int b = 0; b < p->node_count; b++) {
        for (int i = p->nodes[b].first;
             p->nodes[b].kind == NODE_BLOCK && i < p->nodes[b].first + p->nodes[b].count; i++) {
            for (int k = 0; p->ops[i].kind == OP_COMBINE && k < p->ops[i].terms; k++) {
                const int t = p->ops[i].term + k;
                if (!changes_later(p, &p->nodes[b], i, p->terms[t].factor))
                    continue;
                plan_op o = {.kind = OP_SCALAR,
                             .place = p->ops[i].place,
                             .out = {.var = NONE},
                             .in = {{.var = NONE}, {.var = NONE}},
                             .expr = p->terms[t].factor,
                             .parts = NONE,
                             .stmt = NONE};
                SPRY_GO(ctx, plan_new_scalar(p, "s", &o.target));
                SPRY_GO(ctx, plan_insert(p, b, i, &o));
                p->terms[t].factor = o.target;
                i++;
            }
        }
    }
done:
    return status;
}

/* Whether a function takes the array for the hermitian matrix that it is then. */
static bool is_hermitian(const plan *p, int name)
{
    for (int i = 0; i < p->op_count; i++) {
        const expr *e = p->ops[i].kind == OP_SMALL ? &p->program->exprs[p->ops[i].expr] : NULL;
        if (e && e->kind == EXPR_SMALL && e->small <= SMALL_ORTH &&
            p->program->exprs[e->arg[0]].name == name)
            return true;
    }
    return false;
}

/* Half of such inner products says all: those of a block with itself, and those for solve and its
 * like. */
static void find_hermitian(plan *p)
{
    for (int i = 0; i < p->op_count; i++) {
        plan_op *o = &p->ops[i];
        o->hermitian = plan_is_gram(o) && o->conjugate &&
                       (plan_same_ref(p, &o->in[0], &o->in[1]) ||
                        is_hermitian(p, p->program->exprs[o->target].name));
    }
}

static void renumber(plan *p)
{
    for (int i = 0; i < p->op_count; i++)
        p->ops[i].order = i;
}

spry_status plan_simplify(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, drop_dead(p));
    for (int b = 0; b < p->node_count; b++) {
        const node n = p->nodes[b];
        for (int i = n.first; n.kind == NODE_BLOCK && i < n.first + n.count;) {
            if (plan_is_copy(p, &p->ops[i]) && !p->ops[i].seen)
                plan_read_through(p, &n, i);
            else
                i++;
        }
    }
    SPRY_GO(ctx, drop_dead(p));
    SPRY_GO(ctx, plan_share_products(p));
    SPRY_GO(ctx, drop_dead(p));
    plan_share_dots(p);
    SPRY_GO(ctx, drop_dead(p));
    find_moves(p);
    SPRY_GO(ctx, plan_collect(p));
    SPRY_GO(ctx, free_factors(p));
    renumber(p);
    SPRY_GO(ctx, plan_collect(p));
    find_hermitian(p);
    SPRY_GO(ctx, plan_live(p));
done:
    return status;
}
