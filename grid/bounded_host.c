/* Steps with bounds on the host: multigrid's own passes (wave.c, transfer.c), which keep to
 * the bounds of their levels. */
#include "grid/bounded.h"

static spry_status open(spry_bounded *s)
{
    gmg *m = &s->m;
    const size_t size = spry_type_size(m->type);
    spry_status status = SPRY_STATUS_OK;
    m->bounds = bound_kernels_for(s->ctx, m->type);
    for (int k = 0; k < m->count; k++) {
        gmg_level *l = &m->level[k];
        if (k > 0 || l->shared != GMG_WHOLE)
            SPRY_GO(s->ctx, base_calloc(s->ctx, l->count, size, &l->lower));
    }
    if (s->o.method == BOUNDED_RICHARDSON)
        SPRY_GO(s->ctx, base_calloc(s->ctx, m->level[0].count, size, &s->other));
done:
    return status;
}

static void close(spry_bounded *s)
{
    base_free(s->ctx, s->upper);
    base_free(s->ctx, s->other);
}

static void drop_upper(spry_bounded *s)
{
    for (int k = 0; k < s->m.count; k++) {
        base_free(s->ctx, s->m.level[k].mirror);
        s->m.level[k].mirror = NULL;
    }
    base_free(s->ctx, s->upper);
    s->upper = NULL;
}

/* Upper bounds are kept as lower ones of -x; those of the first level, where it is whole, are this
 * array itself. */
static spry_status set_upper(spry_bounded *s, const spry_vector *upper)
{
    const size_t size = spry_type_size(s->m.type);
    spry_status status = SPRY_STATUS_OK;
    if (upper && !s->upper) {
        SPRY_GO(s->ctx, base_calloc(s->ctx, s->rows, size, &s->upper));
        for (int k = 0; k < s->m.count; k++)
            if (k > 0 || s->m.level[k].shared != GMG_WHOLE)
                SPRY_GO(s->ctx,
                        base_calloc(s->ctx, s->m.level[k].count, size, &s->m.level[k].mirror));
    }
    for (int64_t i = 0; upper && i < s->rows; i++) {
        if (s->m.type == SPRY_TYPE_D)
            ((double *)s->upper)[i] = -((const double *)upper->data)[i];
        else
            ((float *)s->upper)[i] = -((const float *)upper->data)[i];
    }
done:
    if (status != SPRY_STATUS_OK || !upper)
        drop_upper(s);
    return status;
}

/* --- passes over the lines of the first level ----------------------------------------------------
 */

enum { MOST_SHARES = 1024 };
typedef struct pass {
    const spry_bounded *s;
    double worst[MOST_SHARES];
    int64_t contacts[MOST_SHARES];
} pass;

static void run_pass(const spry_bounded *s, pass *p, void (*share)(void *, int, int))
{
    const int threads = host_threads(s->ctx, s->m.level[0].count);
    base_share_out(s->ctx, threads < MOST_SHARES ? threads : MOST_SHARES, share, p);
}

/* A share of the lines of this rank's rows. */
static range own_lines(const gmg_level *l, int share, int shares)
{
    return base_share(box_length(&l->rows, 1) * box_length(&l->rows, 2), shares, share, 1);
}

/* A line of these as it is counted in the level's box. */
static int64_t line_in_box(const gmg_level *l, int64_t line)
{
    const int64_t n = l->s->shape.axis[0].unknowns;
    int64_t at[GRID_AXES];
    box_split(&l->rows, line * n, at);
    return box_place(&l->box, at) / n;
}

/* A line of b - A x, in a tile of the share. */
static char *rest_of(const spry_bounded *s, int64_t line, int share)
{
    const gmg_level *l = &s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(s->m.type), n = l->s->shape.axis[0].unknowns;
    char *tile = (char *)l->tiles + 2 * share * (n + 2) * size;
    const host_line at = stencil_line(l->s, &l->s->plain, false, size, line, l->x);
    l->s->kernels->stencil(&l->s->plain.host, &at, 0, n, (spry_scalar){-1, 0}, (spry_scalar){1, 0},
                           (const char *)l->b + line * n * size, tile);
    return tile;
}

static void project_share(void *argument, int share, int shares)
{
    const pass *p = argument;
    const gmg_level *l = &p->s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(p->s->m.type);
    const range part = base_share(l->count, shares, share, VECTOR_CHUNK);
    p->s->m.bounds->project(part.end - part.begin, (const char *)l->lower + part.begin * size,
                            gmg_mirror(l, part.begin * size), (char *)l->x + part.begin * size);
}

static void measure_share(void *argument, int share, int shares)
{
    pass *p = argument;
    const gmg_level *l = &p->s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(p->s->m.type), n = l->s->shape.axis[0].unknowns;
    const range lines = own_lines(l, share, shares);
    for (int64_t k = lines.begin; k < lines.end; k++) {
        const int64_t line = line_in_box(l, k);
        const double v = p->s->m.bounds->complement(
            n, (const char *)l->lower + line * n * size, gmg_mirror(l, line * n * size),
            (const char *)l->x + line * n * size, rest_of(p->s, line, share), &p->contacts[share]);
        p->worst[share] = bounded_larger(p->worst[share], v);
    }
}

static void richardson_share(void *argument, int share, int shares)
{
    const pass *p = argument;
    const gmg_level *l = &p->s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(p->s->m.type), n = l->s->shape.axis[0].unknowns;
    const range lines = own_lines(l, share, shares);
    for (int64_t k = lines.begin; k < lines.end; k++) {
        const int64_t line = line_in_box(l, k);
        p->s->m.bounds->advance(n, p->s->gamma, (const char *)l->lower + line * n * size,
                                gmg_mirror(l, line * n * size),
                                (const char *)l->x + line * n * size, rest_of(p->s, line, share),
                                (char *)p->s->other + line * n * size);
    }
}

/* --- steps ---------------------------------------------------------------------------------------
 */

static spry_status begin(spry_bounded *s, const spry_vector *b, const spry_vector *lower,
                         spry_vector *x)
{
    gmg_level *first = &s->m.level[0];
    pass p = {.s = s};
    spry_status status = SPRY_STATUS_OK;
    if (first->shared == GMG_WHOLE) {
        first->b = b->data;
        first->lower = lower->data;
        first->x = x->data;
        first->mirror = s->upper;
    } else {
        SPRY_GO(s->ctx, gmg_take(&s->m, b->data, first->b));
        SPRY_GO(s->ctx, gmg_take(&s->m, lower->data, first->lower));
        SPRY_GO(s->ctx, gmg_take(&s->m, x->data, first->x));
        if (s->upper)
            SPRY_GO(s->ctx, gmg_take(&s->m, s->upper, first->mirror));
    }
    run_pass(s, &p, project_share);
done:
    return status;
}

static spry_status end(spry_bounded *s, spry_vector *x)
{
    gmg_level *first = &s->m.level[0];
    if (first->shared != GMG_WHOLE) {
        gmg_give_x(&s->m, x->data);
        return SPRY_STATUS_OK;
    }
    if (first->x != x->data) { /* an odd number of Richardson's iterations */
        memcpy(x->data, first->x, (size_t)x->n * spry_type_size(x->type));
        s->other = first->x;
    }
    first->b = first->lower = first->mirror = first->x = NULL;
    return SPRY_STATUS_OK;
}

static spry_status smooth(spry_bounded *s, int level, int sweeps, gmg_start start)
{
    const gmg_level *next = &s->m.level[level + 1];
    const bool up = start == GMG_FROM_BELOW;
    const spry_status status = up ? gmg_bring_x(next, next->x) : SPRY_STATUS_OK;
    return status == SPRY_STATUS_OK ? gmg_wave(&s->m, level, sweeps, up, start) : status;
}

static spry_status down(spry_bounded *s, int level)
{
    const gmg_level *l = &s->m.level[level], *next = l + 1;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, gmg_bring_x(l, l->x));
    gmg_down(&s->m, level, false);
    gmg_bounds_down(&s->m, level);
    SPRY_GO(s->ctx, gmg_bring_given(next, next->b));
    SPRY_GO(s->ctx, gmg_bring_given(next, next->lower));
    if (next->mirror)
        SPRY_GO(s->ctx, gmg_bring_given(next, next->mirror));
done:
    return status;
}

static spry_status richardson(spry_bounded *s)
{
    gmg_level *first = &s->m.level[0];
    pass p = {.s = s};
    void *x = s->other;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, gmg_bring_x(first, first->x));
    run_pass(s, &p, richardson_share);
    s->other = first->x;
    first->x = x;
done:
    return status;
}

static spry_status measure(spry_bounded *s, double *residual, int64_t *contacts)
{
    const gmg_level *first = &s->m.level[0];
    pass p = {.s = s};
    spry_status status = SPRY_STATUS_OK;
    *residual = 0;
    *contacts = 0;
    SPRY_GO(s->ctx, gmg_bring_x(first, first->x));
    run_pass(s, &p, measure_share);
    for (int k = 0; k < MOST_SHARES; k++) {
        *residual = bounded_larger(*residual, p.worst[k]);
        *contacts += p.contacts[k];
    }
done:
    return status;
}

const bounded_place bounded_on_host = {.open = open,
                                       .close = close,
                                       .begin = begin,
                                       .end = end,
                                       .smooth = smooth,
                                       .down = down,
                                       .richardson = richardson,
                                       .set_upper = set_upper,
                                       .measure = measure};
