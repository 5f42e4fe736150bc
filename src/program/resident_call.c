/* Operators that can only be called, between the phases of a plan on a device. */
#include "program/resident.h"
#include "program/sweep.h"

#include "device/linalg/vector.h"

/* Where a vector is, in bytes of *memory. */
static int64_t find_vector(const resident *s, const vref *v, int64_t index,
                           const device_memory **memory)
{
    const plan *p = s->p;
    const plan_var *var = &p->vars[v->var];
    *memory = s->memory.vectors;
    if (v->var == p->var_of_name[NAME_X] || v->var == p->var_of_name[NAME_B]) {
        *memory = v->var == p->var_of_name[NAME_X] ? s->l->x : s->l->b;
        return 0;
    }
    if (var->array)
        return (s->block.mirror[ST_SLOTS + p->slots + v->var].whole +
                index * s->memory.stride[var->space]) *
               s->r->size;
    return s->memory.slots[var->number] * s->r->size;
}

/* Bytes of the longer vectors. */
static int64_t longest(const resident *s)
{
    return (s->memory.stride[0] > s->memory.stride[1] ? s->memory.stride[0] : s->memory.stride[1]) *
           s->r->size;
}

/* An operator of the host is given copies of its vectors. */
static spry_status call_host(resident *s, const plan_op *o, int64_t in_bytes, int64_t out_bytes)
{
    spry_context *ctx = s->r->ctx;
    const spry_operator *called = s->r->operators[o->op];
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_status status = SPRY_STATUS_OK;
    const int64_t most = longest(s);
    if (!s->memory.host_in)
        SPRY_GO(ctx, base_alloc(ctx, most, 1, &s->memory.host_in));
    if (!s->memory.host_out)
        SPRY_GO(ctx, base_alloc(ctx, most, 1, &s->memory.host_out));
    const spry_status got = device_get(s->memory.call_in, 0, s->memory.host_in, in_bytes);
    s->course.called = true;
    if (got == SPRY_STATUS_OK || s->joined) /* other ranks may wait for what it sends */
        status = called->class->multiply(called, o->transpose, one, s->memory.host_in, zero,
                                         s->memory.host_out);
    SPRY_GO(ctx, got);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, device_put(s->memory.call_out, 0, s->memory.host_out, out_bytes));
done:
    return status;
}

/* What is called of its operands, and where they are. */
typedef struct operands {
    const device_memory *from, *to;
    int64_t from_at, to_at, in_bytes, out_bytes;
    bool aside; /* what is made is held back: it comes to its place unless the device has stopped */
} operands;

/* Brings what was made aside to its place, unless the device has stopped. */
static spry_status accept(resident *s, const operands *v)
{
    const int64_t at = v->to_at / s->r->size, n = v->out_bytes / s->r->size;
    const int64_t enough = (n + s->code.group - 1) / s->code.group,
                  most = (int64_t)s->d->facts.units * 8;
    const device_arg more[] = {device_arg_memory(s->memory.call_out), DEVICE_VALUE(at),
                               DEVICE_VALUE(n)};
    return resident_launch(s, "accept", NONE, NULL, enough < most ? enough : most, more, 3);
}

/* An operator of the device works on the vectors themselves where memory has addresses; what is
 * held back it makes aside. */
static spry_status call_in_place(resident *s, const plan_op *o, const operands *v)
{
    spry_context *ctx = s->r->ctx;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    device_memory *in = NULL, *out = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx,
            device_borrow(s->d, (char *)device_address(v->from) + v->from_at, v->in_bytes, &in));
    if (v->aside) {
        if (!s->memory.call_out)
            SPRY_GO(ctx, device_alloc(s->d, longest(s), &s->memory.call_out));
        s->course.called = true;
        SPRY_GO(ctx, device_multiply(s->r->operators[o->op], o->transpose, one, in, zero,
                                     s->memory.call_out));
        SPRY_GO(ctx, accept(s, v));
        goto done;
    }
    SPRY_GO(ctx, device_borrow(s->d, (char *)device_address(v->to) + v->to_at, v->out_bytes, &out));
    s->course.called = true;
    SPRY_GO(ctx, device_multiply(s->r->operators[o->op], o->transpose, one, in, zero, out));
done:
    device_free(in);
    device_free(out);
    return status;
}

spry_status resident_open_calls(resident *s)
{
    spry_context *ctx = s->r->ctx;
    const int64_t most = longest(s);
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < OPERATOR_COUNT; k++) {
        const spry_operator *op = s->r->operators[k];
        if (!op || device_of(op) == s->d || s->memory.host_in)
            continue;
        SPRY_GO(ctx, base_calloc(ctx, most, 1, &s->memory.host_in));
        SPRY_GO(ctx, base_calloc(ctx, most, 1, &s->memory.host_out));
    }
    SPRY_GO(ctx, device_alloc(s->d, most, &s->memory.call_in));
    SPRY_GO(ctx, device_alloc(s->d, most, &s->memory.call_out));
done:
    return status;
}

static spry_status call_copies(resident *s, const plan_op *o, const operands *v)
{
    spry_context *ctx = s->r->ctx;
    const spry_operator *called = s->r->operators[o->op];
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const int64_t most = longest(s);
    spry_status status = SPRY_STATUS_OK;
    if (!s->memory.call_in)
        SPRY_GO(ctx, device_alloc(s->d, most, &s->memory.call_in));
    if (!s->memory.call_out)
        SPRY_GO(ctx, device_alloc(s->d, most, &s->memory.call_out));
    SPRY_GO(ctx, device_copy(v->from, v->from_at, s->memory.call_in, 0, v->in_bytes));
    s->course.called = device_of(called) == s->d;
    if (s->course.called)
        SPRY_GO(ctx, device_multiply(called, o->transpose, one, s->memory.call_in, zero,
                                     s->memory.call_out));
    else
        SPRY_GO(ctx, call_host(s, o, v->in_bytes, v->out_bytes));
    if (v->aside)
        SPRY_GO(ctx, accept(s, v));
    else
        SPRY_GO(ctx, device_copy(s->memory.call_out, 0,
                                 v->to == s->memory.vectors ? s->memory.vectors : s->l->x, v->to_at,
                                 v->out_bytes));
done:
    return status;
}

spry_status resident_call(resident *s, const plan_op *o, int64_t from_index, int64_t to_index)
{
    operands v = {.in_bytes = s->r->n[s->p->vars[o->in[0].var].space] * s->r->size,
                  .out_bytes = s->r->n[s->p->vars[o->out.var].space] * s->r->size,
                  .aside = s->course.held && !s->course.loose[o - s->p->ops]};
    v.from_at = find_vector(s, &o->in[0], from_index, &v.from);
    v.to_at = find_vector(s, &o->out, to_index, &v.to);
    const bool same = v.from == v.to && v.from_at == v.to_at && !v.aside;
    return s->d->facts.has_pointers && device_of(s->r->operators[o->op]) == s->d && !same
               ? call_in_place(s, o, &v)
               : call_copies(s, o, &v);
}

spry_status resident_calls(resident *s, const phase *f)
{
    const plan *p = s->p;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        int64_t from = 0, to = 0;
        if (!plan_calls(p, o))
            continue;
        if (o->in[0].first != NONE)
            from = program_eval_index(&s->l->scalars, o->in[0].first, p->vars[o->in[0].var].extent);
        if (o->out.first != NONE)
            to = program_eval_index(&s->l->scalars, o->out.first, p->vars[o->out.var].extent);
        if (course_check(s->l, o))
            continue;
        const spry_status status = resident_call(s, o, from, to);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}

/* A vector of an array for an operator: that itself where memory has addresses, else a copy, which
 * comes back. */
typedef struct lent {
    device_memory *memory;
    int64_t at;
    spry_vector v;
} lent;

static spry_status lend(const resident *s, const vref *of, int64_t index, bool copies, lent *l)
{
    spry_context *ctx = s->r->ctx;
    const device_memory *all;
    const int64_t n = s->r->n[0], bytes = n * s->r->size;
    spry_status status = SPRY_STATUS_OK;
    l->at = find_vector(s, of, index, &all);
    if (s->d->facts.has_pointers) {
        SPRY_GO(ctx, device_borrow(s->d, (char *)device_address(all) + l->at, bytes, &l->memory));
    } else {
        SPRY_GO(ctx, device_alloc(s->d, bytes, &l->memory));
        if (copies)
            SPRY_GO(ctx, device_copy(all, l->at, l->memory, 0, bytes));
    }
    l->v = device_vector_over(s->d, s->r->type, n, l->memory);
done:
    return status;
}

static spry_status take_back(const resident *s, const lent *l)
{
    return s->d->facts.has_pointers
               ? SPRY_STATUS_OK
               : device_copy(l->memory, 0, s->memory.vectors, l->at, s->r->n[0] * s->r->size);
}

/* All vectors of the run at once. */
static spry_status powers_together(const resident *s, const plan_op *o, sweep_powers *c)
{
    spry_context *ctx = s->r->ctx;
    lent x = {0}, made[MOST_POWERS] = {{0}}, products[MOST_POWERS] = {{0}};
    spry_vector *v[MOST_POWERS];
    const bool keeps = o->also.var != NONE;
    const int count = o->count, steps = count - keeps;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, lend(s, &o->in[0], c->from, true, &x));
    for (int j = 0; j < count; j++) {
        if (j < steps)
            SPRY_GO(ctx, lend(s, &o->out, c->to + j, false, &made[j]));
        if (keeps)
            SPRY_GO(ctx, lend(s, &o->also, c->also + j, false, &products[j]));
        v[j] = j < steps ? &made[j].v : &products[j].v;
        c->steps[j].product = keeps && j < steps ? &products[j].v : NULL;
    }
    SPRY_GO(ctx, operator_powers(s->r->powers, SPRY_TRANSPOSE_NO, count, c->steps, &x.v, v));
    for (int j = 0; j < count; j++) {
        if (j < steps)
            SPRY_GO(ctx, take_back(s, &made[j]));
        if (keeps)
            SPRY_GO(ctx, take_back(s, &products[j]));
    }
done:
    device_free(x.memory);
    for (int j = 0; j < count; j++) {
        device_free(made[j].memory);
        device_free(products[j].memory);
    }
    return status;
}

/* A vector of an array to the room of calls, or back. */
static spry_status move(const resident *s, const vref *of, int64_t index, device_memory *room,
                        bool back)
{
    const device_memory *all;
    const int64_t at = find_vector(s, of, index, &all), bytes = s->r->n[0] * s->r->size;
    return back ? device_copy(room, 0, s->memory.vectors, at, bytes)
                : device_copy(all, at, room, 0, bytes);
}

/* Product by product, in the room that calls have. */
static spry_status powers_one_by_one(const resident *s, const plan_op *o, const sweep_powers *c)
{
    spry_context *ctx = s->r->ctx;
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_vector in = device_vector_over(s->d, s->r->type, s->r->n[0], s->memory.call_in);
    spry_vector out = device_vector_over(s->d, s->r->type, s->r->n[0], s->memory.call_out);
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < o->count; j++) {
        const power_step *step = &c->steps[j];
        const bool last = o->also.var != NONE && j == o->count - 1;
        const vref *from = j > 0 ? &o->out : &o->in[0];
        SPRY_GO(ctx, move(s, from, j > 0 ? c->to + j - 1 : c->from, s->memory.call_in, false));
        SPRY_GO(ctx, device_multiply(s->r->operators[o->op], SPRY_TRANSPOSE_NO, one,
                                     s->memory.call_in, zero, s->memory.call_out));
        if (o->also.var != NONE)
            SPRY_GO(ctx, move(s, &o->also, c->also + j, s->memory.call_out, true));
        if (last)
            break;
        SPRY_GO(ctx, out.class->blend(step->beta, &in, step->alpha, &out));
        if (j > 0 && (step->gamma.re != 0 || step->gamma.im != 0)) {
            from = j > 1 ? &o->out : &o->in[0];
            SPRY_GO(ctx, move(s, from, j > 1 ? c->to + j - 2 : c->from, s->memory.call_in, false));
            SPRY_GO(ctx, out.class->blend(step->gamma, &in, one, &out));
        }
        SPRY_GO(ctx, move(s, &o->out, c->to + j, s->memory.call_out, true));
    }
done:
    return status;
}

spry_status resident_powers(resident *s, const plan_op *o, sweep_powers *c)
{
    const base_kept before = base_try(s->r->ctx);
    const spry_status status = powers_together(s, o, c);
    if (status != SPRY_STATUS_NO_MEMORY)
        return status;
    base_forgive(s->r->ctx, &before); /* nothing failed for the caller */
    return powers_one_by_one(s, o, c);
}
