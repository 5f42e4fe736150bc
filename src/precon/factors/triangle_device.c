/* Triangles in a device's memory, and their launches. */
#include "precon/factors/triangle_device.h"

enum { TEAMS = 4, CONJUGATE = 1, SCALE = 2, SCATTER = 4, UPPER = 8 };

/* The arrays of one triangle, whose names they have. */
typedef struct arrays {
    device_memory *offsets, *columns, *values, *f, *w;
} arrays;

typedef struct triangle_device {
    device_memory *rows, *chunks, *ticket, *in;
    arrays t[2];
    triangle_plan plan;
    device_program *shared, *alone; /* NULL: not needed */
    int teams;
} triangle_device;

void triangle_device_free(spry_context *ctx, triangle_device *on_device)
{
    if (!on_device)
        return;
    device_memory *const own[] = {on_device->rows, on_device->chunks, on_device->ticket,
                                  on_device->in};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        device_free(own[k]);
    for (int t = 0; t < 2; t++) {
        const arrays *a = &on_device->t[t];
        device_memory *const all[] = {a->offsets, a->columns, a->values, a->f, a->w};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            device_free(all[k]);
    }
    triangle_plan_clear(ctx, &on_device->plan);
    base_free(ctx, on_device);
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

/* Teams take turns only where barriers of their own are not needed within a row, and as many as
 * have registers for what is on its way. */
static int teams_of(const spry_device *d, spry_type type)
{
    const bool warps = d->facts.has_tickets && !d->facts.processor;
    const int teams = type == SPRY_TYPE_Z ? TEAMS / 2 : TEAMS;
    return warps && d->facts.most_group >= teams * TRIANGLE_TEAM ? teams : 1;
}

/* Places in local memory: more than three chunks. */
static int recent_of(const spry_device *d, spry_type type)
{
    const int room = d->facts.local_bytes >= 40 << 10 ? 32 << 10 : 16 << 10;
    return room / (int)spry_type_size(type);
}

static spry_status build(spry_device *d, spry_type type, int lanes, int teams, bool alone,
                         device_program **p)
{
    char options[224];
    snprintf(options, sizeof options,
             "-DSP_TYPE=%d -DSP_GROUP=%d -DTEAM=%d -DTEAMS=%d -DLANES=%d -DRECENT=%d "
             "-DCONJUGATE=%d -DSCALE=%d -DSCATTER=%d -DUPPER=%d",
             (int)type, teams * TRIANGLE_TEAM, TRIANGLE_TEAM, teams, lanes, recent_of(d, type),
             CONJUGATE, SCALE, SCATTER, UPPER);
    return device_build_text(d, alone ? "triangle triangle_alone" : "triangle triangle_shared",
                             options, p);
}

static spry_status put_columns(const triangle_chain *c, const triangle *t, arrays *a)
{
    spry_device *d = c->device;
    const int64_t nnz = t->offsets[c->sets->n];
    int32_t *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(d->ctx, base_alloc(d->ctx, nnz, sizeof *columns, &columns));
    triangle_plan_columns(d->ctx, &c->on_device->plan, t, recent_of(d, c->type), columns);
    SPRY_GO(d->ctx, put(d, columns, nnz * 4, &a->columns));
done:
    base_free(d->ctx, columns);
    return status;
}

static spry_status put_pattern(spry_context *ctx, const triangle_chain *c)
{
    spry_device *d = c->device;
    triangle_device *on_device = c->on_device;
    triangle_plan *plan = &on_device->plan;
    const int64_t n = c->sets->n, size = (int64_t)spry_type_size(c->type);
    const int32_t none = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, triangle_plan_make(c, plan));
    on_device->teams = c->wish.teams > 0 ? c->wish.teams : teams_of(d, c->type);
    SPRY_GO(ctx, put(d, c->sets->rows, n * 4, &on_device->rows));
    SPRY_GO(ctx, put(d, plan->first, (plan->chunks + (int64_t)1) * 4, &on_device->chunks));
    SPRY_GO(ctx, put(d, &none, 4, &on_device->ticket));
    SPRY_GO(ctx, device_alloc(d, n * size, &on_device->in));
    for (int k = 0; k < c->count; k++) {
        const triangle *t = &c->t[k];
        arrays *a = &on_device->t[k];
        SPRY_GO(ctx, put(d, t->offsets, (n + 1) * 8, &a->offsets));
        SPRY_GO(ctx, put_columns(c, t, a));
        SPRY_GO(ctx, device_alloc(d, n * size, &a->w));
    }
    if (plan->has[TRIANGLE_SHARED] || plan->has[TRIANGLE_SET])
        SPRY_GO(ctx, build(d, c->type, plan->lanes, 1, false, &on_device->shared));
    if (plan->has[TRIANGLE_ALONE])
        SPRY_GO(ctx, build(d, c->type, plan->lanes, on_device->teams, true, &on_device->alone));
done:
    return status;
}

spry_status triangle_device_place(spry_context *ctx, triangle_chain *c)
{
    const int64_t n = c->sets->n, size = (int64_t)spry_type_size(c->type);
    spry_status status = SPRY_STATUS_OK;
    if (!c->on_device) {
        SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *c->on_device, &c->on_device));
        SPRY_GO(ctx, put_pattern(ctx, c));
    }
    for (int k = 0; k < c->count; k++) {
        arrays *a = &c->on_device->t[k];
        SPRY_GO(ctx, put(c->device, c->t[k].values, c->t[k].offsets[n] * size, &a->values));
        SPRY_GO(ctx, put(c->device, c->f[k], n * size, &a->f));
    }
done:
    if (status != SPRY_STATUS_OK) {
        triangle_device_free(ctx, c->on_device);
        c->on_device = NULL;
    }
    return status;
}

static device_arg memory_or_null(const device_memory *m)
{
    return m ? device_arg_memory(m) : (device_arg){NULL, NULL, 0};
}

/* r by places; what rows will wait for is marked as not ready. */
static spry_status begin(const triangle_chain *c, const spry_vector *r)
{
    const triangle_device *on_device = c->on_device;
    const bool wait = on_device->plan.has[TRIANGLE_SHARED];
    const int64_t n = c->sets->n;
    const int group = TRIANGLE_TEAM * (on_device->shared ? 1 : on_device->teams);
    const device_arg args[] = {DEVICE_VALUE(n),
                               device_arg_memory(r->memory),
                               device_arg_memory(on_device->rows),
                               device_arg_memory(on_device->in),
                               memory_or_null(wait ? on_device->t[0].w : NULL),
                               memory_or_null(wait ? on_device->t[1].w : NULL)};
    return device_launch(on_device->shared ? on_device->shared : on_device->alone, "triangle_begin",
                         NULL, (n + group - 1) / group, group, args, 6);
}

/* What a pass reads and writes. */
typedef struct pass {
    const device_memory *in, *out, *out_rows;
    int ways;
} pass;

static spry_status run(const triangle_chain *c, const arrays *a, const pass *p)
{
    static const char *const names[] = {[TRIANGLE_ALONE] = "triangle_alone",
                                        [TRIANGLE_SHARED] = "triangle_shared",
                                        [TRIANGLE_SET] = "triangle_set"};
    const triangle_device *on_device = c->on_device;
    const triangle_plan *plan = &on_device->plan;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t t = 0; t < plan->stretches; t++) {
        const triangle_stretch *s = &plan->stretch[p->ways & UPPER ? plan->stretches - 1 - t : t];
        const bool alone = s->way == TRIANGLE_ALONE;
        device_arg args[13];
        int count = 0;
        if (s->way == TRIANGLE_SHARED)
            args[count++] = device_arg_memory(on_device->ticket);
        args[count++] = DEVICE_VALUE(s->begin);
        args[count++] = DEVICE_VALUE(s->count);
        args[count++] = device_arg_memory(on_device->chunks);
        args[count++] = device_arg_memory(a->offsets);
        args[count++] = device_arg_memory(a->columns);
        args[count++] = device_arg_memory(a->values);
        args[count++] = memory_or_null(a->f);
        args[count++] = device_arg_memory(p->in);
        args[count++] = device_arg_memory(a->w);
        args[count++] = memory_or_null(p->out);
        args[count++] = memory_or_null(p->out_rows);
        args[count++] = DEVICE_VALUE(p->ways);
        SPRY_GO(c->device->ctx,
                device_launch(alone ? on_device->alone : on_device->shared, names[s->way], NULL,
                              s->groups, TRIANGLE_TEAM * (alone ? on_device->teams : 1), args,
                              count));
    }
done:
    return status;
}

spry_status triangle_device_apply(const triangle_chain *c, bool conjugate, const spry_vector *r,
                                  spry_vector *z)
{
    const triangle_device *on_device = c->on_device;
    spry_status status = SPRY_STATUS_OK;
    if (c->sets->n == 0)
        return SPRY_STATUS_OK;
    SPRY_GO(c->device->ctx, begin(c, r));
    for (int k = 0; k < c->count; k++) {
        const bool last = k == c->count - 1;
        const arrays *a = &on_device->t[k];
        const pass p = {.in = k == 0 ? on_device->in : on_device->t[k - 1].w,
                        .out = last ? z->memory : NULL,
                        .out_rows = last ? on_device->rows : NULL,
                        .ways = (conjugate ? CONJUGATE : 0) | (a->f ? SCALE : 0) |
                                (last ? SCATTER : 0) | (c->t[k].upper ? UPPER : 0)};
        SPRY_GO(c->device->ctx, run(c, a, &p));
    }
done:
    return status;
}
