/* Copies of plans, and their end. */
#include "base/base.h"
#include "program/plan.h"

enum { ARRAYS = 13 };

/* The places of a plan's arrays. */
static void find_arrays(plan *p, void *at[ARRAYS])
{
    void *const all[ARRAYS] = {&p->ops,     &p->terms,    &p->nodes,       &p->vars,   &p->accesses,
                               &p->phases,  &p->traffics, &p->var_of_name, &p->offset, &p->extent,
                               &p->options, &p->live,     &p->exit_live};
    memcpy(at, all, sizeof all);
}

spry_status plan_copy(spry_context *ctx, plan *p, plan **out)
{
    plan *copy = NULL;
    void *from[ARRAYS], *to[ARRAYS], *block = NULL;
    spry_status status = SPRY_STATUS_OK;
    *out = NULL;
    SPRY_GO(ctx, base_copy(ctx, p, &copy));
    copy->ctx = ctx;
    copy->program = NULL;
    find_arrays(p, from);
    find_arrays(copy, to);
    for (int k = 0; k < ARRAYS; k++)
        memcpy(to[k], &block, sizeof block);
    for (int k = 0; k < ARRAYS; k++) {
        memcpy(&block, from[k], sizeof block);
        SPRY_GO(ctx, base_copy(ctx, block, to[k]));
    }
    SPRY_GO(ctx, program_copy(ctx, p->program, &copy->program));
    *out = copy;
    copy = NULL;
done:
    plan_free(copy);
    return status;
}

void plan_free(plan *p)
{
    void *at[ARRAYS], *block;
    if (!p)
        return;
    spry_context *ctx = p->ctx;
    find_arrays(p, at);
    for (int k = 0; k < ARRAYS; k++) {
        memcpy(&block, at[k], sizeof block);
        base_free(ctx, block);
    }
    program_free(p->program);
    base_free(ctx, p);
}
