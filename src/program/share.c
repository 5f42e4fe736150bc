/*
 * What a block makes twice is made once: equal inner products, and products of one operator with
 * one vector. Its vectors must be the same, and unchanged between the two.
 */
#include "program/plan.h"

static bool touches(const plan *p, const plan_op *o, bool vector, int id)
{
    for (int k = 0; k < o->accesses; k++) {
        const access *a = &p->accesses[o->access + k];
        if (a->write && a->vector == vector && a->id == id)
            return true;
    }
    return false;
}

bool plan_changes(const plan *p, const plan_op *o, int e)
{
    if (e == NONE || o->kind == OP_NONE)
        return false;
    const expr *source = &p->program->exprs[e];
    if ((source->kind == EXPR_NAME || source->kind == EXPR_SLICE) &&
        touches(p, o, false, source->name))
        return true;
    return plan_changes(p, o, source->arg[0]) || plan_changes(p, o, source->arg[1]) ||
           plan_changes(p, o, source->arg[2]);
}

/* Whether an operation changes a vector, or which one its index means. */
static bool changes_vector(const plan *p, const plan_op *o, const vref *v)
{
    return o->kind != OP_NONE && (touches(p, o, true, v->var) || plan_changes(p, o, v->first) ||
                                  plan_changes(p, o, v->last));
}

/* --- inner products -----------------------------------------------------------------------------
 */

/* Whether inner products with vectors of all right-hand sides go to a column, which can be copied.
 */
static bool is_column(const plan *p, int target)
{
    const int64_t *extent = p->extent[p->program->exprs[target].name];
    return extent[0] == PROGRAM_COLUMNS && extent[1] == 1;
}

/* Takes the inner product j from an equal one before it. */
static void share_dot(plan *p, const node *n, int j)
{
    plan_op *b = &p->ops[j];
    const bool all = b->in[0].all;
    if (all ? !is_column(p, b->target) : p->program->exprs[b->target].kind != EXPR_NAME)
        return;
    for (int i = j - 1; i >= n->first; i--) {
        const plan_op *a = &p->ops[i];
        if (a->kind == OP_DOT && plan_same_ref(p, &a->in[0], &b->in[0]) &&
            plan_same_ref(p, &a->in[1], &b->in[1]) && a->conjugate == b->conjugate &&
            a->in[0].all == all &&
            (all ? is_column(p, a->target) : p->program->exprs[a->target].kind == EXPR_NAME)) {
            for (int k = i + 1; k < j; k++)
                if (plan_changes(p, &p->ops[k], a->target))
                    return;
            b->kind = all ? OP_SMALL : OP_SCALAR;
            b->expr = a->target;
            b->in[0].var = b->in[1].var = NONE;
            return;
        }
        if (changes_vector(p, a, &b->in[0]) || changes_vector(p, a, &b->in[1]))
            return;
    }
}

void plan_share_dots(plan *p)
{
    for (int b = 0; b < p->node_count; b++)
        for (int i = 0; p->nodes[b].kind == NODE_BLOCK && i < p->nodes[b].count; i++)
            if (p->ops[p->nodes[b].first + i].kind == OP_DOT)
                share_dot(p, &p->nodes[b], p->nodes[b].first + i);
}

/* --- operators ----------------------------------------------------------------------------------
 */

/* L and R are M where they are anything. */
static bool same_operator(const plan_op *a, const plan_op *b)
{
    return a->kind == b->kind && a->transpose == b->transpose && a->steps == b->steps &&
           (a->op == OPERATOR_A) == (b->op == OPERATOR_A);
}

/* An operation before j, in its block, that applies the same operator to the same vector; NONE:
 * there is none. */
static int find_equal(const plan *p, const node *n, int j)
{
    const plan_op *b = &p->ops[j];
    for (int i = j - 1; i >= n->first; i--) {
        const plan_op *a = &p->ops[i];
        if (changes_vector(p, a, &b->in[0])) /* also where a works in place */
            return NONE;
        if (same_operator(a, b) && plan_same_ref(p, &a->in[0], &b->in[0]))
            return i;
    }
    return NONE;
}

static bool is_kept(const plan *p, int i, int j)
{
    for (int k = i + 1; k < j; k++)
        if (changes_vector(p, &p->ops[k], &p->ops[i].out))
            return false;
    return true;
}

/* Whether a vector has memory because a product reads it whole. */
static bool is_whole(const plan *p, const node *n, const vref *v)
{
    for (int k = n->first; k < n->first + n->count; k++)
        if (p->ops[k].kind == OP_APPLY && plan_same_ref(p, &p->ops[k].in[0], v))
            return true;
    return false;
}

static void become_copy(plan *p, plan_op *o, const vref *from, int at)
{
    p->terms[at] = (term){.sign = 1, .factor = NONE, .numbers = NONE, .v = *from};
    o->kind = OP_COMBINE;
    o->in[0].var = NONE;
    o->term = at;
    o->terms = 1;
    o->seen = false;
}

static spry_status new_term(plan *p, int *at)
{
    const spry_status status =
        plan_room(p, p->term_count, &p->term_room, sizeof *p->terms, &p->terms);
    if (status == SPRY_STATUS_OK)
        *at = p->term_count++;
    return status;
}

/* The result of operation i in a vector of its own, which stays, and copied to where it was. */
static spry_status set_aside(plan *p, int block, int i)
{
    spry_context *ctx = p->ctx;
    plan_op copy = p->ops[i];
    int var, at;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, plan_new_var(p, &var));
    SPRY_GO(ctx, new_term(p, &at));
    p->vars[var].space = p->vars[copy.out.var].space;
    p->ops[i].out = (vref){var, NONE, NONE, 0, 0, false};
    become_copy(p, &copy, &p->ops[i].out, at);
    SPRY_GO(ctx, plan_insert(p, block, i + 1, &copy));
    SPRY_GO(ctx, plan_collect(p));
    SPRY_GO(ctx, plan_live(p)); /* there is a variable more */
done:
    return status;
}

/* Makes product j a copy of an equal one before it; *shared: there was one. A diagonal is applied
 * again unless the other result is in memory anyway. */
static spry_status share_product(plan *p, int block, int j, bool *shared)
{
    spry_context *ctx = p->ctx;
    int at, i = find_equal(p, &p->nodes[block], j);
    const bool kept = i != NONE && is_kept(p, i, j);
    spry_status status = SPRY_STATUS_OK;
    *shared = false;
    if (i == NONE || (p->ops[j].kind == OP_DIAGONAL &&
                      (!kept || !is_whole(p, &p->nodes[block], &p->ops[i].out))))
        return SPRY_STATUS_OK;
    if (!kept) {
        SPRY_GO(ctx, set_aside(p, block, i));
        j++;
    }
    SPRY_GO(ctx, new_term(p, &at));
    const vref from = p->ops[i].out;
    *shared = true;
    if (plan_same_ref(p, &from, &p->ops[j].out))
        p->ops[j].kind = OP_NONE;
    else
        become_copy(p, &p->ops[j], &from, at);
done:
    return status;
}

spry_status plan_share_products(plan *p)
{
    for (int b = 0; b < p->node_count; b++)
        for (int i = p->nodes[b].first;
             p->nodes[b].kind == NODE_BLOCK && i < p->nodes[b].first + p->nodes[b].count;) {
            const op_kind kind = p->ops[i].kind;
            bool shared = false;
            spry_status status = SPRY_STATUS_OK;
            if ((kind == OP_APPLY && !plan_makes_powers(&p->ops[i])) || kind == OP_DIAGONAL)
                status = share_product(p, b, i, &shared);
            if (status != SPRY_STATUS_OK)
                return status;
            if (plan_is_copy(p, &p->ops[i]) && !p->ops[i].seen)
                plan_read_through(p, &p->nodes[b], i);
            else
                i++;
        }
    return plan_collect(p);
}
