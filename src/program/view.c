/*
 * The x of the moment of a method that makes x at its end: section finish is run ahead of time, and
 * then everything that it has changed is put back. And the vectors that a text keeps.
 */
#include "program/runner.h"

/* Whether the nodes from `first` on write a vector. */
static bool writes(const plan *p, int first, int var)
{
    for (int n = first; n != NONE; n = p->nodes[n].next) {
        const node *at = &p->nodes[n];
        if (at->kind != NODE_BLOCK && (writes(p, at->body, var) || writes(p, at->other, var)))
            return true;
        for (int i = at->first; at->kind == NODE_BLOCK && i < at->first + at->count; i++)
            if ((op_sweeps(&p->ops[i]) || p->ops[i].kind == OP_MOVE) && p->ops[i].out.var == var)
                return true;
    }
    return false;
}

/* Whether a variable has memory that no variable before it has which finish writes, too. */
static bool is_first(const plan *p, int var)
{
    const plan_var *v = &p->vars[var];
    for (int w = 0; w < var && !v->array && v->number != NONE; w++) {
        const plan_var *other = &p->vars[w];
        if (!other->array && !other->in_pieces && other->number == v->number &&
            w != p->var_of_name[NAME_X] && writes(p, p->section[SECTION_FINISH], w))
            return false;
    }
    return true;
}

/* Whether what is in the memory of a variable has to be kept. */
static bool is_kept(const plan *p, int var)
{
    const bool x = var == p->var_of_name[NAME_X];
    const plan_var *v = &p->vars[var];
    return !v->in_pieces && (x || v->array || v->number != NONE) &&
           writes(p, p->section[SECTION_FINISH], var) && (x || is_first(p, var));
}

static spry_status list_vectors(const runner *r, runner_view *v)
{
    const plan *p = r->p;
    int64_t count = 0;
    for (int var = 0; var < p->var_count; var++)
        count += is_kept(p, var) ? p->vars[var].extent : 0;
    const spry_status status = base_alloc(r->ctx, count, sizeof *v->vectors, &v->vectors);
    for (int var = 0; var < p->var_count && status == SPRY_STATUS_OK; var++)
        for (int64_t i = 0; i < p->vars[var].extent && is_kept(p, var); i++) {
            const int64_t bytes = r->n[p->vars[var].space] * r->size;
            v->vectors[v->count++] = (view_vector){var, i, v->bytes, bytes};
            v->bytes += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }
    return status;
}

bool runner_makes_x_last(const runner *r)
{
    return r->p->section[SECTION_FINISH] != NONE;
}

/* All that has to be put back. */
static spry_status keep_all(runner *r, rhs *l, runner_view *v)
{
    spry_context *ctx = r->ctx;
    const plan *p = r->p;
    const size_t size = (size_t)p->scalar_count * sizeof *v->scalars;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, list_vectors(r, v));
    SPRY_GO(ctx, base_alloc(ctx, p->scalar_count, sizeof *v->scalars, &v->scalars));
    memcpy(v->scalars, l->scalars.values, size);
    SPRY_GO(ctx, r->class->keep(r, l, v));
    v->begun = true;
done:
    return status;
}

spry_status runner_view_begin(runner *r, rhs *l, runner_view *v)
{
    spry_context *ctx = r->ctx;
    spry_status status = SPRY_STATUS_OK;
    *v = (runner_view){.block = r->block, .turns = r->turns, .counting = r->counting};
    SPRY_GO(ctx, r->class->settle(r, l));
    v->kept = *l;
    SPRY_GO(ctx, course_agree(r, keep_all(r, l, v)));
    SPRY_GO(ctx, course_finish(r, l));
done:
    return status;
}

spry_status runner_view_end(runner *r, rhs *l, runner_view *v)
{
    const plan *p = r->p;
    spry_status status = SPRY_STATUS_OK;
    if (v->begun) {
        *l = v->kept;
        memcpy(l->scalars.values, v->scalars, (size_t)p->scalar_count * sizeof *v->scalars);
        r->block = v->block;
        r->turns = v->turns;
        r->counting = v->counting;
        status = r->class->restore(r, l, v);
    }
    base_free(r->ctx, v->vectors);
    base_free(r->ctx, v->scalars);
    if (status != SPRY_STATUS_OK)
        r->status = status;
    return status;
}

spry_status runner_space(runner *r, int rhs_index, int var, int64_t index, spry_vector *v, bool put)
{
    rhs *l = &r->rhs[rhs_index];
    const view_vector at = {
        .var = var, .index = index, .bytes = r->n[r->p->vars[var].space] * r->size};
    spry_status status = SPRY_STATUS_OK;
    if (!r->used) { /* memory may hold anything so far */
        r->late = SPRY_STATUS_OK;
        SPRY_GO(r->ctx, r->class->clear(r, l));
        SPRY_GO(r->ctx, r->late); /* of a rank's device: a run would begin without it */
        r->used = true;
    }
    SPRY_GO(r->ctx, vector_fetch(v));
    SPRY_GO(r->ctx, r->class->transfer(r, l, &at, v, put));
done:
    return status;
}
