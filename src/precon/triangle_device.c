/* Triangles in a device's memory: a launch for each large set, one for each run of small ones. */
#include "device/device.h"
#include "precon/triangle.h"

enum { GROUP = 256, CONJUGATE = 1, SCALE = 2, GATHER = 4, SCATTER = 8, UPPER = 16 };

/* The arrays of one triangle, whose names they have. */
typedef struct arrays {
    device_memory *offsets, *columns, *values, *f;
    device_program *program;
    int lanes;
} arrays;

typedef struct triangle_device {
    device_memory *rows, *first, *w;
    arrays t[2];
    int64_t stages;
    triangle_stage *stage;
} triangle_device;

void triangle_device_free(spry_context *ctx, triangle_device *there)
{
    if (!there)
        return;
    device_memory *const all[] = {there->rows,         there->first,        there->w,
                                  there->t[0].offsets, there->t[0].columns, there->t[0].values,
                                  there->t[0].f,       there->t[1].offsets, there->t[1].columns,
                                  there->t[1].values,  there->t[1].f};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        device_free(all[k]);
    base_free(ctx, there->stage);
    base_free(ctx, there);
}

/* Copies an array of the host's, to memory that is allocated the first time. */
static spry_status put(spry_device *d, const void *from, int64_t bytes, device_memory **to)
{
    spry_status status = SPRY_STATUS_OK;
    if (!from)
        return SPRY_STATUS_OK;
    if (!*to)
        SPRY_GO(d->ctx, device_alloc(d, bytes, to));
    SPRY_GO(d->ctx, device_put(*to, 0, from, bytes));
done:
    return status;
}

/* Work-items of a row: about a third of its entries, where they run in step. */
static int lanes_for(const spry_device *d, const triangle *t)
{
    const int64_t n = t->sets->n > 0 ? t->sets->n : 1, mean = t->offsets[t->sets->n] / n;
    int lanes = 1;
    while (d->facts.lanes > 1 && lanes < 32 && 3 * lanes < mean)
        lanes *= 2;
    return lanes;
}

static spry_status build(spry_device *d, spry_type type, arrays *a)
{
    char options[192];
    snprintf(options, sizeof options,
             "-DSP_TYPE=%d -DSP_GROUP=%d -DLANES=%d -DCONJUGATE=%d -DSCALE=%d -DGATHER=%d "
             "-DSCATTER=%d -DUPPER=%d",
             (int)type, GROUP, a->lanes, CONJUGATE, SCALE, GATHER, SCATTER, UPPER);
    return device_build(d, device_text("triangle"), options, &a->program);
}

/* A set that a group can do in a few turns is not worth a launch of its own. */
static spry_status make_stages(spry_context *ctx, const triangle_sets *s, triangle_device *there)
{
    enum { TURNS = 2 };
    const int lanes = there->t[0].lanes > there->t[1].lanes ? there->t[0].lanes : there->t[1].lanes;
    const spry_status status = base_alloc(ctx, s->count, sizeof *there->stage, &there->stage);
    if (status == SPRY_STATUS_OK)
        there->stages =
            triangle_cut_stages(s, TURNS * GROUP / (lanes > 0 ? lanes : 1), there->stage);
    return status;
}

static spry_status put_pattern(spry_context *ctx, triangle_chain *c)
{
    spry_device *d = c->device;
    triangle_device *there = c->there;
    const int64_t n = c->sets->n;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, put(d, c->sets->rows, n * 4, &there->rows));
    SPRY_GO(ctx, put(d, c->sets->first, (c->sets->count + 1) * 8, &there->first));
    SPRY_GO(ctx, device_alloc(d, n * (int64_t)spry_type_size(c->type), &there->w));
    for (int k = 0; k < c->count; k++) {
        const triangle *t = &c->t[k];
        arrays *a = &there->t[k];
        a->lanes = lanes_for(d, t);
        SPRY_GO(ctx, put(d, t->offsets, (n + 1) * 8, &a->offsets));
        SPRY_GO(ctx, put(d, t->columns, t->offsets[n] * 4, &a->columns));
        SPRY_GO(ctx, build(d, c->type, a));
    }
    SPRY_GO(ctx, make_stages(ctx, c->sets, there));
done:
    return status;
}

spry_status triangle_device_place(spry_context *ctx, triangle_chain *c)
{
    const int64_t n = c->sets->n, size = (int64_t)spry_type_size(c->type);
    spry_status status = SPRY_STATUS_OK;
    if (!c->there) {
        SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *c->there, &c->there));
        SPRY_GO(ctx, put_pattern(ctx, c));
    }
    for (int k = 0; k < c->count; k++) {
        arrays *a = &c->there->t[k];
        SPRY_GO(ctx, put(c->device, c->t[k].values, c->t[k].offsets[n] * size, &a->values));
        SPRY_GO(ctx, put(c->device, c->f[k], n * size, &a->f));
    }
done:
    if (status != SPRY_STATUS_OK) {
        triangle_device_free(ctx, c->there);
        c->there = NULL;
    }
    return status;
}

static device_arg memory_or_null(const device_memory *m)
{
    return m ? device_arg_memory(m) : (device_arg){NULL, NULL, 0};
}

/* What a pass reads and writes. */
typedef struct pass {
    const device_memory *in, *in_rows, *out, *out_rows;
    int ways;
} pass;

static spry_status run(const triangle_chain *c, const arrays *a, const pass *p)
{
    const triangle_device *there = c->there;
    const int64_t each = GROUP / a->lanes;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t t = 0; t < there->stages; t++) {
        const triangle_stage *stage = &there->stage[p->ways & UPPER ? there->stages - 1 - t : t];
        const bool shared = stage->shared;
        const int64_t begin = shared ? c->sets->first[stage->begin] : stage->begin;
        const int64_t end = shared ? c->sets->first[stage->end] : stage->end;
        device_arg args[13];
        int count = 0;
        args[count++] = DEVICE_VALUE(begin);
        args[count++] = DEVICE_VALUE(end);
        if (!shared)
            args[count++] = device_arg_memory(there->first);
        args[count++] = device_arg_memory(a->offsets);
        args[count++] = device_arg_memory(a->columns);
        args[count++] = device_arg_memory(a->values);
        args[count++] = memory_or_null(a->f);
        args[count++] = device_arg_memory(p->in);
        args[count++] = memory_or_null(p->in_rows);
        args[count++] = device_arg_memory(there->w);
        args[count++] = memory_or_null(p->out);
        args[count++] = memory_or_null(p->out_rows);
        args[count++] = DEVICE_VALUE(p->ways);
        SPRY_GO(c->device->ctx,
                device_launch(a->program, shared ? "triangle_set" : "triangle_sets", NULL,
                              shared ? (end - begin + each - 1) / each : 1, GROUP, args, count));
    }
done:
    return status;
}

spry_status triangle_device_apply(const triangle_chain *c, bool conjugate, const spry_vector *r,
                                  spry_vector *z)
{
    const triangle_device *there = c->there;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < c->count && c->sets->n > 0; k++) {
        const bool last = k == c->count - 1;
        const arrays *a = &there->t[k];
        const pass p = {.in = k == 0 ? r->memory : there->w,
                        .in_rows = k == 0 ? there->rows : NULL,
                        .out = last ? z->memory : NULL,
                        .out_rows = last ? there->rows : NULL,
                        .ways = (conjugate ? CONJUGATE : 0) | (a->f ? SCALE : 0) |
                                (k == 0 ? GATHER : 0) | (last ? SCATTER : 0) |
                                (c->t[k].upper ? UPPER : 0)};
        SPRY_GO(c->device->ctx, run(c, a, &p));
    }
done:
    return status;
}
