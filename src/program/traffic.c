/*
 * What the phases of a block move through memory. A vector is read by a phase that uses it before
 * it makes it, and written by one that makes it if a later phase or block needs it. The schedule
 * is judged by this count, and bytes per iteration come from it.
 */
#include "program/plan.h"

enum { UNKNOWN_SLICE = 8 }; /* vectors of a slice whose ends are not known, for comparing plans */

/* How many vectors an operand has, for comparing plans. */
static int64_t weight_of(const plan *p, const vref *v)
{
    int64_t known;
    if (v->first == NONE || v->first == v->last)
        return 1;
    const int64_t all = v->high - v->low + 1;
    if (plan_fixed(p, v->first, &known) && plan_fixed(p, v->last, &known))
        return all > 0 ? all : 0;
    return all < UNKNOWN_SLICE ? all : UNKNOWN_SLICE;
}

/* The items list: distinct vectors of the block. */
static spry_status find_items(traffic_count *t)
{
    plan *p = t->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    int refs = 0;
    for (int i = 0; i < t->ops; i++)
        refs += plan_ref_count(p, &p->ops[t->first + i]);
    SPRY_GO(ctx, base_alloc(ctx, refs + 1, sizeof *t->items, &t->items));
    SPRY_GO(ctx, base_alloc(ctx, refs + 1, sizeof *t->item_of, &t->item_of));
    SPRY_GO(ctx, base_alloc(ctx, t->ops + 1, sizeof *t->ref_of, &t->ref_of));
    refs = 0;
    for (int i = 0; i < t->ops; i++) {
        const plan_op *o = &p->ops[t->first + i];
        t->ref_of[i] = refs;
        const int count = plan_ref_count(p, o);
        for (int k = 0; k < count; k++, refs++) {
            bool write;
            const vref *v = plan_ref(p, o, k, &write);
            t->item_of[refs] = NONE;
            if (v->var == NONE || (!op_sweeps(o) && o->kind != OP_MOVE))
                continue;
            int which = 0;
            while (which < t->item_count && !plan_same_ref(p, &t->items[which].v, v))
                which++;
            if (which == t->item_count)
                t->items[t->item_count++] = (traffic_item){.v = *v, .weight = weight_of(p, v)};
            t->item_of[refs] = which;
        }
    }
done:
    return status;
}

spry_status traffic_open(plan *p, const node *block, traffic_count *t)
{
    *t = (traffic_count){.p = p, .first = block->first, .ops = block->count};
    const spry_status status = find_items(t);
    if (status != SPRY_STATUS_OK)
        traffic_close(t);
    return status;
}

void traffic_close(traffic_count *t)
{
    base_free(t->p->ctx, t->items);
    base_free(t->p->ctx, t->item_of);
    base_free(t->p->ctx, t->ref_of);
    *t = (traffic_count){0};
}

static void flush(traffic_count *t, traffic_item *moved, bool needed, traffic_visit visit,
                  void *data)
{
    const bool written = moved->written && needed;
    if (moved->phase == NONE || (!moved->read && !written))
        return;
    t->total += moved->weight * (moved->read + written);
    if (visit)
        visit(data, moved->phase, &moved->v, moved->read, written);
}

/* What takes another's place was needed, what stood there is not: neither goes through memory. */
static void run_move(traffic_count *t, int first_ref, traffic_visit visit, void *data)
{
    traffic_item *from = &t->items[t->item_of[first_ref]];
    traffic_item *to = &t->items[t->item_of[first_ref + 2]];
    flush(t, from, true, visit, data);
    flush(t, to, false, visit, data);
    from->phase = to->phase = NONE;
}

int64_t traffic_run(traffic_count *t, const int *sequence, const int *phases, traffic_visit visit,
                    void *data)
{
    plan *p = t->p;
    t->total = 0;
    for (int i = 0; i < t->item_count; i++)
        t->items[i].phase = NONE;
    for (int s = 0; s < t->ops; s++) {
        const int i = sequence[s];
        const plan_op *o = &p->ops[t->first + i];
        const int count = plan_ref_count(p, o);
        if (o->kind == OP_MOVE)
            run_move(t, t->ref_of[i], visit, data);
        for (int k = 0; op_sweeps(o) && k < count; k++) {
            const int index = t->item_of[t->ref_of[i] + k];
            if (index == NONE)
                continue;
            traffic_item *moved = &t->items[index];
            const bool write = k == count - 1;
            if (moved->phase != phases[i]) {
                flush(t, moved, !write || p->vars[moved->v.var].array, visit, data);
                moved->phase = phases[i];
                moved->read = !write;
                moved->written = false;
            }
            moved->written = moved->written || write;
        }
    }
    const unsigned char *after = p->live + (size_t)(t->first + t->ops - 1) * (size_t)p->var_count;
    for (int i = 0; i < t->item_count; i++) {
        const int var = t->items[i].v.var;
        flush(t, &t->items[i], p->vars[var].array || after[var], visit, data);
    }
    return t->total;
}
