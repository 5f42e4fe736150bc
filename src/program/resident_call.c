/* Operators that can only be called, between the phases of a plan on a device. */
#include "program/resident.h"

/* Where a vector is, in bytes of *memory. */
static int64_t find_vector(const resident *s, const vref *v, int64_t index,
                           const device_memory **memory)
{
    const plan *p = s->p;
    const plan_var *var = &p->vars[v->var];
    *memory = s->memory;
    if (v->var == p->var_of_name[NAME_X] || v->var == p->var_of_name[NAME_B]) {
        *memory = v->var == p->var_of_name[NAME_X] ? s->l->x : s->l->b;
        return 0;
    }
    if (var->array)
        return (s->mirror[ST_SLOTS + p->slots + v->var].whole + index * s->stride[var->space]) *
               s->r->size;
    return s->slots[var->number] * s->r->size;
}

/* Bytes of the longer vectors. */
static int64_t longest(const resident *s)
{
    return (s->stride[0] > s->stride[1] ? s->stride[0] : s->stride[1]) * s->r->size;
}

/* An operator of the host is given copies of its vectors. */
static spry_status call_host(resident *s, const plan_op *o, int64_t in_bytes, int64_t out_bytes)
{
    spry_context *ctx = s->r->ctx;
    const spry_operator *called = s->r->operators[o->op];
    const spry_scalar one = {1, 0}, zero = {0, 0};
    spry_status status = SPRY_STATUS_OK;
    const int64_t most = longest(s);
    if (!s->host_in)
        SPRY_GO(ctx, base_alloc(ctx, most, 1, &s->host_in));
    if (!s->host_out)
        SPRY_GO(ctx, base_alloc(ctx, most, 1, &s->host_out));
    const spry_status got = device_get(s->call_in, 0, s->host_in, in_bytes);
    s->called = true;
    if (got == SPRY_STATUS_OK || s->joined) /* other ranks may wait for what it sends */
        status = called->class->multiply(called, o->transpose, one, s->host_in, zero, s->host_out);
    SPRY_GO(ctx, got);
    SPRY_GO(ctx, status);
    SPRY_GO(ctx, device_put(s->call_out, 0, s->host_out, out_bytes));
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
    const int64_t enough = (n + s->group - 1) / s->group, most = (int64_t)s->d->facts.units * 8;
    const device_arg more[] = {device_arg_memory(s->call_out), DEVICE_VALUE(at), DEVICE_VALUE(n)};
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
        if (!s->call_out)
            SPRY_GO(ctx, device_alloc(s->d, longest(s), &s->call_out));
        s->called = true;
        SPRY_GO(ctx,
                device_multiply(s->r->operators[o->op], o->transpose, one, in, zero, s->call_out));
        SPRY_GO(ctx, accept(s, v));
        goto done;
    }
    SPRY_GO(ctx, device_borrow(s->d, (char *)device_address(v->to) + v->to_at, v->out_bytes, &out));
    s->called = true;
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
        if (!op || device_of(op) == s->d || s->host_in)
            continue;
        SPRY_GO(ctx, base_calloc(ctx, most, 1, &s->host_in));
        SPRY_GO(ctx, base_calloc(ctx, most, 1, &s->host_out));
    }
    SPRY_GO(ctx, device_alloc(s->d, most, &s->call_in));
    SPRY_GO(ctx, device_alloc(s->d, most, &s->call_out));
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
    if (!s->call_in)
        SPRY_GO(ctx, device_alloc(s->d, most, &s->call_in));
    if (!s->call_out)
        SPRY_GO(ctx, device_alloc(s->d, most, &s->call_out));
    SPRY_GO(ctx, device_copy(v->from, v->from_at, s->call_in, 0, v->in_bytes));
    s->called = device_of(called) == s->d;
    if (s->called)
        SPRY_GO(ctx, device_multiply(called, o->transpose, one, s->call_in, zero, s->call_out));
    else
        SPRY_GO(ctx, call_host(s, o, v->in_bytes, v->out_bytes));
    if (v->aside)
        SPRY_GO(ctx, accept(s, v));
    else
        SPRY_GO(ctx, device_copy(s->call_out, 0, v->to == s->memory ? s->memory : s->l->x, v->to_at,
                                 v->out_bytes));
done:
    return status;
}

spry_status resident_call(resident *s, const plan_op *o, int64_t from_index, int64_t to_index)
{
    operands v = {.in_bytes = s->r->n[s->p->vars[o->in[0].var].space] * s->r->size,
                  .out_bytes = s->r->n[s->p->vars[o->out.var].space] * s->r->size,
                  .aside = s->held && !s->loose[o - s->p->ops]};
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
