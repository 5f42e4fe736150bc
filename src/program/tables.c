/* The tables of a plan: room, variables, scalars, operations and what these touch. */
#include "program/plan.h"

spry_status plan_room(plan *p, int count, int *room, size_t size, void *array)
{
    if (count < *room)
        return SPRY_STATUS_OK;
    const int wanted = *room < 64 ? 64 : *room * 2;
    const spry_status status = base_grow(p->ctx, count, wanted, size, array);
    if (status == SPRY_STATUS_OK)
        *room = wanted;
    return status;
}

spry_status plan_new_var(plan *p, int *var)
{
    const spry_status status = plan_room(p, p->var_count, &p->var_room, sizeof *p->vars, &p->vars);
    if (status != SPRY_STATUS_OK)
        return status;
    *var = p->var_count++;
    p->vars[*var] = (plan_var){.name = NONE, .extent = 1, .number = NONE};
    return SPRY_STATUS_OK;
}

spry_status plan_place_scalar(plan *p, int name, int64_t rows, int64_t cols)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (name >= p->offset_room) {
        const int room = 2 * (name + 32);
        const int keep = p->offset_room;
        SPRY_GO(ctx, base_grow(ctx, keep, room, sizeof *p->offset, &p->offset));
        SPRY_GO(ctx, base_grow(ctx, keep, room, sizeof *p->extent, &p->extent));
        p->offset_room = room;
    }
    p->offset[name] = p->scalar_count;
    p->extent[name][0] = rows;
    p->extent[name][1] = cols;
    if (rows > INT64_MAX / 16 / (cols > 0 ? cols : 1) - p->scalar_count)
        return SPRY_FAIL(ctx, SPRY_STATUS_NO_MEMORY,
                         "%s: %s[%" PRId64 ", %" PRId64 "] is too large", p->program->source,
                         p->program->names[name].text, rows, cols);
    p->scalar_count += rows * cols;
done:
    return status;
}

spry_status plan_new_scalar(plan *p, const char *prefix, int *expr_index)
{
    program *g = p->program;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, plan_room(p, g->name_count, &g->name_room, sizeof *g->names, &g->names));
    const int name = g->name_count++;
    program_name *made = &g->names[name];
    *made = (program_name){.kind = NAME_SCALAR, .extent = {NONE, NONE}};
    snprintf(made->text, sizeof made->text, "%s%d", prefix, name - p->names + 1);
    SPRY_GO(ctx, plan_place_scalar(p, name, 1, 1));
    const expr e = {
        .kind = EXPR_NAME, .shape = SHAPE_SCALAR, .name = name, .arg = {NONE, NONE, NONE}};
    SPRY_GO(ctx, program_add_expr(g, &e, expr_index));
done:
    return status;
}

scalars plan_option_values(const plan *p)
{
    return (scalars){.program = p->program,
                     .offset = p->offset,
                     .extent = (const int64_t(*)[2])p->extent,
                     .values = p->options,
                     .real = true,
                     .fault = NONE};
}

static bool is_fixed(const plan *p, int e)
{
    if (e == NONE)
        return true;
    const expr *source = &p->program->exprs[e];
    if (source->kind == EXPR_NAME)
        return p->program->names[source->name].kind == NAME_OPTION;
    if (source->kind != EXPR_NUMBER &&
        (source->kind != EXPR_CALL || source->shape != SHAPE_SCALAR || source->word == WORD_EPS))
        return false;
    return is_fixed(p, source->arg[0]) && is_fixed(p, source->arg[1]) &&
           is_fixed(p, source->arg[2]);
}

bool plan_fixed(const plan *p, int e, int64_t *value)
{
    if (!is_fixed(p, e))
        return false;
    scalars s = plan_option_values(p);
    *value = e == NONE ? 0 : program_eval_count(&s, e);
    return s.fault == NONE; /* else it is no whole number */
}

static bool same_expr(const program *p, int a, int b)
{
    if (a == b || a == NONE || b == NONE)
        return a == b;
    const expr *x = &p->exprs[a], *y = &p->exprs[b];
    return x->kind == y->kind && x->name == y->name && x->word == y->word &&
           !(x->value < y->value) && !(x->value > y->value) && same_expr(p, x->arg[0], y->arg[0]) &&
           same_expr(p, x->arg[1], y->arg[1]) && same_expr(p, x->arg[2], y->arg[2]);
}

bool plan_same_ref(const plan *p, const vref *a, const vref *b)
{
    if (a->var != b->var || a->low != b->low || a->high != b->high)
        return false;
    int64_t known;
    const bool fixed = plan_fixed(p, a->first, &known) && plan_fixed(p, a->last, &known) &&
                       plan_fixed(p, b->first, &known) && plan_fixed(p, b->last, &known);
    return fixed ||
           (same_expr(p->program, a->first, b->first) && same_expr(p->program, a->last, b->last));
}

int plan_ref_count(const plan *p, const plan_op *o)
{
    (void)p;
    return 3 + (o->kind == OP_COMBINE ? o->terms : 0);
}

const vref *plan_ref(const plan *p, const plan_op *o, int k, bool *write)
{
    const int terms = o->kind == OP_COMBINE ? o->terms : 0;
    *write = k == terms + 2;
    return k < terms ? &p->terms[o->term + k].v : k < terms + 2 ? &o->in[k - terms] : &o->out;
}

/* Puts an operation before another of the same block. */
spry_status plan_insert(plan *p, int block, int at, const plan_op *o)
{
    const spry_status status = plan_room(p, p->op_count, &p->op_room, sizeof *p->ops, &p->ops);
    if (status != SPRY_STATUS_OK)
        return status;
    memmove(&p->ops[at + 1], &p->ops[at], (size_t)(p->op_count - at) * sizeof *p->ops);
    p->ops[at] = *o;
    p->op_count++;
    p->nodes[block].count++;
    for (int b = 0; b < p->node_count; b++)
        if (p->nodes[b].kind == NODE_BLOCK && b != block && p->nodes[b].first >= at)
            p->nodes[b].first++;
    return SPRY_STATUS_OK;
}
