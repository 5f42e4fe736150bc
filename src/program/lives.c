/* Lives of vectors: after which operations the values of a variable are still needed. */
#include "program/plan.h"

/* Sets of variables: a byte each. */
static bool join(unsigned char *set, const unsigned char *more, int count)
{
    bool grew = false;
    for (int v = 0; v < count; v++) {
        grew = grew || (more[v] && !set[v]);
        set[v] = set[v] || more[v];
    }
    return grew;
}

static void live_block(plan *p, const node *n, unsigned char *set)
{
    const size_t vars = (size_t)p->var_count;
    for (int i = n->first + n->count - 1; i >= n->first; i--) {
        const plan_op *o = &p->ops[i];
        memcpy(p->live + (size_t)i * vars, set, vars);
        if (o->kind == OP_NONE)
            continue;
        if (o->out.var != NONE && !p->vars[o->out.var].array) {
            /* An unused result needs no operands; an exit before may still ask for x. */
            if (op_sweeps(o) && !set[o->out.var] && o->out.var != p->var_of_name[NAME_X])
                continue;
            set[o->out.var] = 0;
        }
        for (int k = 0; k < o->accesses; k++) { /* of exits: what is needed after them */
            const access *a = &p->accesses[o->access + k];
            if (a->vector && !a->write)
                set[a->id] = 1;
        }
    }
}

/* The last node of a list, with the way back noted in `prev`. */
static int last_node(plan *p, int first)
{
    int last = NONE;
    for (int i = first; i != NONE; i = p->nodes[i].next) {
        p->nodes[i].prev = last;
        last = i;
    }
    return last;
}

/* Turns the set needed after a list of nodes into the one needed before it. */
static spry_status live_list(plan *p, int first, unsigned char *set)
{
    spry_context *ctx = p->ctx;
    const size_t vars = (size_t)p->var_count;
    unsigned char *other = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int i = last_node(p, first); i != NONE; i = p->nodes[i].prev) {
        const node n = p->nodes[i];
        if (n.kind == NODE_BLOCK) {
            live_block(p, &n, set);
            continue;
        }
        if (!other)
            SPRY_GO(ctx, base_alloc(ctx, p->var_count, 1, &other));
        memcpy(other, set, vars);
        if (n.kind == NODE_IF) {
            SPRY_GO(ctx, live_list(p, n.body, set));
            SPRY_GO(ctx, live_list(p, n.other, other));
            join(set, other, p->var_count);
        } else {
            do { /* another turn may follow, or none at all */
                memcpy(other, set, vars);
                SPRY_GO(ctx, live_list(p, n.body, other));
            } while (join(set, other, p->var_count));
        }
    }
done:
    base_free(ctx, other);
    return status;
}

spry_status plan_live(plan *p)
{
    spry_context *ctx = p->ctx;
    const size_t vars = (size_t)p->var_count;
    unsigned char *set = NULL, *turn = NULL;
    spry_status status = SPRY_STATUS_OK;
    base_free(ctx, p->live);
    base_free(ctx, p->exit_live);
    p->live = p->exit_live = NULL;
    SPRY_GO(ctx, base_calloc(ctx, (int64_t)p->op_count + 1, vars, &p->live));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &p->exit_live));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &set));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &turn));
    p->exit_live[p->var_of_name[NAME_X]] = 1;
    for (int k = 0; k < p->left_count; k++) {
        const access *a = &p->accesses[p->left + k];
        if (a->vector)
            p->exit_live[a->id] = 1;
    }
    /* After finish the method may start again, and finish again. */
    if (p->restarts)
        memcpy(set, p->exit_live, vars);
    set[p->var_of_name[NAME_X]] = 1;
    SPRY_GO(ctx, live_list(p, p->section[SECTION_FINISH], set));
    memcpy(set, p->exit_live, vars);
    do {
        memcpy(turn, set, vars);
        SPRY_GO(ctx, live_list(p, p->section[SECTION_LOOP], turn));
    } while (join(set, turn, p->var_count));
    SPRY_GO(ctx, live_list(p, p->section[SECTION_START], set));
done:
    base_free(ctx, set);
    base_free(ctx, turn);
    return status;
}
