/* The x of the moment on a device: what finish changes there and in the host's picture of it. */
#include "device/linalg/vector.h"
#include "program/resident.h"

typedef struct resident_view {
    device_memory *copy;
    control_word *mirror;
    int64_t *slots, *loop_end;
    int64_t skip;
    int pc;
    bool look_first;
} resident_view;

static void view_free(spry_context *ctx, resident_view *w)
{
    if (!w)
        return;
    device_free(w->copy);
    base_free(ctx, w->mirror);
    base_free(ctx, w->slots);
    base_free(ctx, w->loop_end);
    base_free(ctx, w);
}

/* The memory of a vector, and where in it, in bytes. */
device_memory *resident_view_memory(const resident *s, const track *l, const view_vector *v,
                                    int64_t *at)
{
    const plan *p = s->p;
    const plan_var *var = &p->vars[v->var];
    *at = 0;
    if (v->var == p->var_of_name[NAME_X])
        return l->x;
    const int64_t base = s->mirror[ST_SLOTS + (var->array ? p->slots + v->var : var->number)].whole;
    *at = (base + v->index * s->stride[var->space]) * s->r->size;
    return s->memory;
}

spry_status resident_keep(runner *r, track *l, runner_view *v)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    resident_view *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *w, &w));
    SPRY_GO(ctx, base_alloc(ctx, s->words, sizeof *w->mirror, &w->mirror));
    SPRY_GO(ctx, base_alloc(ctx, s->p->slots, sizeof *w->slots, &w->slots));
    SPRY_GO(ctx, base_alloc(ctx, s->p->node_count, sizeof *w->loop_end, &w->loop_end));
    SPRY_GO(ctx, device_alloc(s->d, v->bytes, &w->copy));
    for (int64_t k = 0; k < v->count; k++) {
        int64_t at;
        const device_memory *from = resident_view_memory(s, l, &v->vectors[k], &at);
        SPRY_GO(ctx, device_copy(from, at, w->copy, v->vectors[k].at, v->vectors[k].bytes));
    }
    memcpy(w->mirror, s->mirror, (size_t)s->words * sizeof *w->mirror);
    memcpy(w->slots, s->slots, (size_t)s->p->slots * sizeof *w->slots);
    memcpy(w->loop_end, s->loop_end, (size_t)s->p->node_count * sizeof *w->loop_end);
    w->skip = s->skip;
    w->pc = s->pc;
    w->look_first = s->look_first;
    v->place = w;
    w = NULL;
done:
    view_free(ctx, w);
    return status;
}

spry_status resident_restore(runner *r, track *l, runner_view *v)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    resident_view *w = v->place;
    spry_status status = device_stream_finish(s->d->stream); /* the mirror may be on its way */
    memcpy(s->mirror, w->mirror, (size_t)s->words * sizeof *w->mirror);
    memcpy(s->slots, w->slots, (size_t)s->p->slots * sizeof *w->slots);
    memcpy(s->loop_end, w->loop_end, (size_t)s->p->node_count * sizeof *w->loop_end);
    s->skip = w->skip;
    s->pc = w->pc;
    s->look_first = w->look_first;
    for (int64_t k = 0; k < v->count && status == SPRY_STATUS_OK; k++) {
        int64_t at;
        device_memory *to = resident_view_memory(s, l, &v->vectors[k], &at);
        status = device_copy(w->copy, v->vectors[k].at, to, at, v->vectors[k].bytes);
    }
    view_free(ctx, w);
    return status;
}

spry_status resident_transfer(runner *r, track *l, const view_vector *at, spry_vector *v, bool put)
{
    return resident_transfer_of(r->resident, l, at, v, put);
}

spry_status resident_transfer_of(resident *s, track *l, const view_vector *at, spry_vector *v,
                                 bool put)
{
    int64_t begin;
    device_memory *own = resident_view_memory(s, l, at, &begin);
    if (!v->device)
        return put ? device_put(own, begin, v->data, at->bytes)
                   : device_get(own, begin, v->data, at->bytes);
    if (v->device != s->d)
        return SPRY_FAIL(s->r->ctx, SPRY_STATUS_BAD_USAGE, "the vector is on %s, the solve on %s",
                         place_name(v->device), place_name(s->d));
    device_memory *other = device_vector_memory(v);
    return put ? device_copy(other, 0, own, begin, at->bytes)
               : device_copy(own, begin, other, 0, at->bytes);
}
