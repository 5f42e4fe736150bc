/* The nodes and operations of a plan, as lowering adds them. */
#include "program/lower.h"

enum {
    MOST_BLOCK = 512, /* operations that are fused together at most */
    MOST_OPS = 4096
};

spry_status lower_append_node(lowering *l, const node *n)
{
    plan *p = l->p;
    spry_status status = plan_room(p, p->node_count, &p->node_room, sizeof *p->nodes, &p->nodes);
    if (status != SPRY_STATUS_OK)
        return status;
    p->nodes[p->node_count] = *n;
    if (l->last == NONE)
        l->first = p->node_count;
    else
        p->nodes[l->last].next = p->node_count;
    l->last = p->node_count++;
    l->open = n->kind == NODE_BLOCK;
    return SPRY_STATUS_OK;
}

node lower_new_node(node_kind kind)
{
    return (node){.kind = kind,
                  .name = NONE,
                  .from = NONE,
                  .to = NONE,
                  .expr = NONE,
                  .body = NONE,
                  .other = NONE,
                  .next = NONE};
}

spry_status lower_emit(lowering *l, const plan_op *o)
{
    plan *p = l->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (p->op_count == MOST_OPS)
        return program_fault(l->program, o->place, "the method has more than %d operations",
                             MOST_OPS);
    if (!l->open || p->nodes[l->last].count == MOST_BLOCK) {
        node block = lower_new_node(NODE_BLOCK);
        block.first = p->op_count;
        SPRY_GO(ctx, lower_append_node(l, &block));
    }
    SPRY_GO(ctx, plan_room(p, p->op_count, &p->op_room, sizeof *p->ops, &p->ops));
    p->ops[p->op_count] = *o;
    p->ops[p->op_count].order = p->op_count;
    p->op_count++;
    p->nodes[l->last].count++;
done:
    return status;
}

plan_op lower_new_op(op_kind kind, int place)
{
    const vref none = {NONE, NONE, NONE, 0, 0, false};
    return (plan_op){.kind = kind,
                     .place = place,
                     .out = none,
                     .in = {none, none},
                     .target = NONE,
                     .expr = NONE,
                     .parts = NONE,
                     .stmt = NONE,
                     .steps = NONE,
                     .also = none};
}
