/* The course of a plan as legs, which the host goes through while a device works. */
#include "program/resident.h"

static spry_status add_leg(resident *s, course_leg leg, int *index)
{
    if (s->course.leg_count == s->course.leg_room) {
        const int room = 2 * s->course.leg_room + 64;
        const spry_status status = base_grow(s->r->ctx, s->course.leg_count, room,
                                             sizeof *s->course.legs, &s->course.legs);
        if (status != SPRY_STATUS_OK)
            return status;
        s->course.leg_room = room;
    }
    if (index)
        *index = s->course.leg_count;
    s->course.legs[s->course.leg_count++] = leg;
    return SPRY_STATUS_OK;
}

static spry_status add_nodes(resident *s, int first)
{
    spry_context *ctx = s->r->ctx;
    const plan *p = s->p;
    spry_status status = SPRY_STATUS_OK;
    for (int n = first; n != NONE; n = p->nodes[n].next) {
        const node *at = &p->nodes[n];
        int begin, otherwise;
        if (at->kind == NODE_BLOCK) {
            for (int f = at->phase; f < at->phase + at->phases; f++) {
                const phase *q = &p->phases[f];
                for (int i = q->first; i < q->first + q->count; i++)
                    s->course.leg_of[i] = s->course.leg_count;
                SPRY_GO(ctx, add_leg(s, (course_leg){DO_PHASE, n, f, NONE}, NULL));
            }
        } else if (at->kind == NODE_FOR) {
            SPRY_GO(ctx, add_leg(s, (course_leg){DO_FOR, n, NONE, NONE}, &begin));
            SPRY_GO(ctx, add_nodes(s, at->body));
            SPRY_GO(ctx, add_leg(s, (course_leg){DO_NEXT, n, NONE, begin + 1}, NULL));
            s->course.legs[begin].to = s->course.leg_count;
        } else {
            SPRY_GO(ctx, add_leg(s, (course_leg){DO_IF, n, NONE, NONE}, &begin));
            SPRY_GO(ctx, add_nodes(s, at->body));
            SPRY_GO(ctx, add_leg(s, (course_leg){DO_JUMP, n, NONE, NONE}, &otherwise));
            s->course.legs[begin].to = s->course.leg_count;
            SPRY_GO(ctx, add_nodes(s, at->other));
            s->course.legs[otherwise].to = s->course.leg_count;
        }
    }
done:
    return status;
}

/* Whether an expression is the same in every turn: made of options, numbers and loop variables. */
static bool is_alike(const resident *s, int e)
{
    if (e == NONE)
        return true;
    const expr *x = &s->p->program->exprs[e];
    if (x->kind == EXPR_NAME && s->p->program->names[x->name].kind != NAME_OPTION &&
        s->code.counter[x->name] == NONE)
        return false;
    if (x->kind != EXPR_NAME && x->kind != EXPR_NUMBER && x->kind != EXPR_CALL)
        return false;
    return is_alike(s, x->arg[0]) && is_alike(s, x->arg[1]) && is_alike(s, x->arg[2]);
}

static bool turns_are_alike(const resident *s)
{
    const plan *p = s->p;
    for (int k = s->course.section[SECTION_LOOP]; s->course.legs[k].kind != DO_END; k++) {
        const course_leg *leg = &s->course.legs[k];
        const node *at = &p->nodes[leg->node];
        if (leg->kind == DO_FOR && !(is_alike(s, at->from) && is_alike(s, at->to)))
            return false;
        if (leg->kind == DO_IF && !is_alike(s, at->expr))
            return false;
        /* A turn with loops, such as one up to a restart, may stop early in it, while what is
         * called goes on to its end. */
        if (s->course.calls && (!s->course.held || leg->kind == DO_FOR))
            return false;
    }
    return true;
}

/*
 * Whether the memory of a plain vector holds nothing that is needed where a solve may stop. Then
 * an operator may write it at once, even if the device has stopped: the solve writes it before it
 * reads it when it goes on. So in each block it is written before it is read, and no exit is
 * between the two. An update of x that a stop makes early counts as where it stands, behind the
 * exit.
 */
static bool is_loose(const plan *p, int number)
{
    for (int n = 0; n < p->node_count; n++) {
        const node *block = &p->nodes[n];
        bool made = false, left = false;
        if (block->kind != NODE_BLOCK)
            continue;
        for (int i = block->first; i < block->first + block->count; i++) {
            const plan_op *o = &p->ops[i];
            const int count = plan_ref_count(p, o);
            bool writes = false;
            for (int k = 0; k < count; k++) {
                bool write;
                const vref *v = plan_ref(p, o, k, &write);
                if (v->var == NONE || p->vars[v->var].array || p->vars[v->var].in_pieces ||
                    p->vars[v->var].number != number)
                    continue;
                if (o->kind == OP_MOVE || (!write && (!made || left)))
                    return false;
                writes = writes || write;
            }
            made = made || writes;
            left = (left && !writes) || (made && op_exits(o));
        }
    }
    return true;
}

static spry_status find_loose(resident *s)
{
    const plan *p = s->p;
    const spry_status status =
        base_calloc(s->r->ctx, p->op_count + 1, sizeof *s->course.loose, &s->course.loose);
    for (int i = 0; i < p->op_count && status == SPRY_STATUS_OK; i++) {
        const plan_op *o = &p->ops[i];
        if (!op_sweeps(o) || !plan_calls(p, o))
            continue;
        const plan_var *out = &p->vars[o->out.var];
        s->course.loose[i] = !out->array && !out->in_pieces && out->number != NONE &&
                             o->out.var != p->var_of_name[NAME_X] && is_loose(p, out->number);
    }
    return status;
}

spry_status resident_open_course(resident *s)
{
    spry_context *ctx = s->r->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, find_loose(s));
    SPRY_GO(ctx, base_calloc(ctx, s->p->op_count + 1, sizeof *s->course.leg_of, &s->course.leg_of));
    SPRY_GO(ctx, base_calloc(ctx, s->p->node_count + 1, sizeof *s->course.loop_end,
                             &s->course.loop_end));
    for (int k = 0; k < SECTION_COUNT; k++) {
        s->course.section[k] = s->course.leg_count;
        SPRY_GO(ctx, add_nodes(s, s->p->section[k]));
        SPRY_GO(ctx, add_leg(s, (course_leg){DO_END, 0, NONE, NONE}, NULL));
    }
    s->course.turns_alike = turns_are_alike(s);
done:
    return status;
}
