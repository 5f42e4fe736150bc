/* The x of the moment on a device: what finish changes on the device and in the host's mirror. */
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
static device_memory *memory_of(const resident *s, const rhs *l, const view_vector *v, int64_t *at)
{
    const plan *p = s->p;
    const plan_var *var = &p->vars[v->var];
    *at = 0;
    if (v->var == p->var_of_name[NAME_X])
        return l->x;
    const int64_t base =
        s->block.mirror[ST_SLOTS + (var->array ? p->slots + v->var : var->number)].whole;
    *at = (base + v->index * s->memory.stride[var->space]) * s->r->size;
    return s->memory.vectors;
}

spry_status resident_copy_view(const resident *s, const rhs *l, const runner_view *v,
                               device_memory *copy, bool back)
{
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < v->count && status == SPRY_STATUS_OK; k++) {
        const view_vector *at = &v->vectors[k];
        int64_t place;
        device_memory *memory = memory_of(s, l, at, &place);
        status = back ? device_copy(copy, at->at, memory, place, at->bytes)
                      : device_copy(memory, place, copy, at->at, at->bytes);
    }
    return status;
}

spry_status resident_keep(runner *r, rhs *l, runner_view *v)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    resident_view *w = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *w, &w));
    SPRY_GO(ctx, base_alloc(ctx, s->block.words, sizeof *w->mirror, &w->mirror));
    SPRY_GO(ctx, base_alloc(ctx, s->p->slots, sizeof *w->slots, &w->slots));
    SPRY_GO(ctx, base_alloc(ctx, s->p->node_count, sizeof *w->loop_end, &w->loop_end));
    SPRY_GO(ctx, device_alloc(s->d, v->bytes, &w->copy));
    SPRY_GO(ctx, resident_copy_view(s, l, v, w->copy, false));
    memcpy(w->mirror, s->block.mirror, (size_t)s->block.words * sizeof *w->mirror);
    memcpy(w->slots, s->memory.slots, (size_t)s->p->slots * sizeof *w->slots);
    memcpy(w->loop_end, s->course.loop_end, (size_t)s->p->node_count * sizeof *w->loop_end);
    w->skip = s->course.skip;
    w->pc = s->course.pc;
    w->look_first = s->course.look_first;
    v->place = w;
    w = NULL;
done:
    view_free(ctx, w);
    return status;
}

spry_status resident_restore(runner *r, rhs *l, runner_view *v)
{
    resident *s = r->resident;
    spry_context *ctx = r->ctx;
    resident_view *w = v->place;
    spry_status status = device_stream_finish(s->d->stream); /* the mirror may be on its way */
    memcpy(s->block.mirror, w->mirror, (size_t)s->block.words * sizeof *w->mirror);
    memcpy(s->memory.slots, w->slots, (size_t)s->p->slots * sizeof *w->slots);
    memcpy(s->course.loop_end, w->loop_end, (size_t)s->p->node_count * sizeof *w->loop_end);
    s->course.skip = w->skip;
    s->course.pc = w->pc;
    s->course.look_first = w->look_first;
    if (status == SPRY_STATUS_OK)
        status = resident_copy_view(s, l, v, w->copy, true);
    view_free(ctx, w);
    return status;
}

spry_status resident_transfer(runner *r, rhs *l, const view_vector *at, spry_vector *v, bool put)
{
    return resident_transfer_of(r->resident, l, at, v, put);
}

spry_status resident_transfer_of(resident *s, rhs *l, const view_vector *at, spry_vector *v,
                                 bool put)
{
    int64_t begin;
    device_memory *own = memory_of(s, l, at, &begin);
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
