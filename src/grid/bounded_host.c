/* Steps with lower bounds on the host: multigrid's own passes (wave.c, transfer.c), which keep to
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
        const int64_t lines = 2 * (l->s->shape.axis[0].unknowns + 2);
        SPRY_GO(s->ctx, base_calloc(s->ctx, lines * spry_context_threads(s->ctx), size, &l->tiles));
        if (k == 0)
            continue;
        SPRY_GO(s->ctx, base_calloc(s->ctx, l->A->rows, size, &l->x));
        SPRY_GO(s->ctx, base_calloc(s->ctx, l->A->rows, size, &l->b));
        SPRY_GO(s->ctx, base_calloc(s->ctx, l->A->rows, size, &l->lower));
    }
    if (s->o.method == BOUNDED_RICHARDSON)
        SPRY_GO(s->ctx, base_calloc(s->ctx, m->level[0].A->rows, size, &s->other));
done:
    return status;
}

static void close(spry_bounded *s)
{
    for (int k = 0; k < s->m.count; k++) {
        gmg_level *l = &s->m.level[k];
        base_free(s->ctx, l->tiles);
        if (k > 0) {
            base_free(s->ctx, l->x);
            base_free(s->ctx, l->b);
            base_free(s->ctx, l->lower);
        }
    }
    base_free(s->ctx, s->other);
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
    const int threads = host_threads(s->ctx, s->m.level[0].A->rows);
    base_share_out(s->ctx, threads < MOST_SHARES ? threads : MOST_SHARES, share, p);
}

static range own_lines(const gmg_level *l, int share, int shares)
{
    const grid_axis *a = l->s->shape.axis;
    return base_share(a[1].unknowns * a[2].unknowns, shares, share, 1);
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
    const range part = base_share(l->A->rows, shares, share, VECTOR_CHUNK);
    p->s->m.bounds->project(part.end - part.begin, (const char *)l->lower + part.begin * size,
                            (char *)l->x + part.begin * size);
}

static void measure_share(void *argument, int share, int shares)
{
    pass *p = argument;
    const gmg_level *l = &p->s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(p->s->m.type), n = l->s->shape.axis[0].unknowns;
    const range lines = own_lines(l, share, shares);
    for (int64_t line = lines.begin; line < lines.end; line++) {
        const double v = p->s->m.bounds->complement(
            n, (const char *)l->lower + line * n * size, (const char *)l->x + line * n * size,
            rest_of(p->s, line, share), &p->contacts[share]);
        p->worst[share] = bounded_larger(p->worst[share], v);
    }
}

static void richardson_share(void *argument, int share, int shares)
{
    const pass *p = argument;
    const gmg_level *l = &p->s->m.level[0];
    const int64_t size = (int64_t)spry_type_size(p->s->m.type), n = l->s->shape.axis[0].unknowns;
    const range lines = own_lines(l, share, shares);
    for (int64_t line = lines.begin; line < lines.end; line++)
        p->s->m.bounds->advance(n, p->s->gamma, (const char *)l->lower + line * n * size,
                                (const char *)l->x + line * n * size, rest_of(p->s, line, share),
                                (char *)p->s->other + line * n * size);
}

/* --- steps ---------------------------------------------------------------------------------------
 */

static spry_status begin(spry_bounded *s, const spry_vector *b, const spry_vector *lower,
                         spry_vector *x)
{
    gmg_level *first = &s->m.level[0];
    pass p = {.s = s};
    first->b = b->data;
    first->lower = lower->data;
    first->x = x->data;
    run_pass(s, &p, project_share);
    return SPRY_STATUS_OK;
}

static spry_status end(spry_bounded *s, spry_vector *x)
{
    gmg_level *first = &s->m.level[0];
    if (first->x != x->data) { /* an odd number of Richardson's iterations */
        memcpy(x->data, first->x, (size_t)x->n * spry_type_size(x->type));
        s->other = first->x;
    }
    first->b = first->lower = first->x = NULL;
    return SPRY_STATUS_OK;
}

static spry_status smooth(spry_bounded *s, int level, int sweeps, gmg_start start)
{
    return gmg_wave(&s->m, level, sweeps, start == GMG_FROM_BELOW, start);
}

static spry_status down(spry_bounded *s, int level)
{
    gmg_down(&s->m, level, false);
    gmg_bounds_down(&s->m, level);
    return SPRY_STATUS_OK;
}

static spry_status richardson(spry_bounded *s)
{
    pass p = {.s = s};
    void *x = s->other;
    run_pass(s, &p, richardson_share);
    s->other = s->m.level[0].x;
    s->m.level[0].x = x;
    return SPRY_STATUS_OK;
}

static spry_status measure(spry_bounded *s, double *residual, int64_t *contacts)
{
    pass p = {.s = s};
    run_pass(s, &p, measure_share);
    *residual = 0;
    *contacts = 0;
    for (int k = 0; k < MOST_SHARES; k++) {
        *residual = bounded_larger(*residual, p.worst[k]);
        *contacts += p.contacts[k];
    }
    return SPRY_STATUS_OK;
}

const bounded_place bounded_on_host = {.open = open,
                                       .close = close,
                                       .begin = begin,
                                       .end = end,
                                       .smooth = smooth,
                                       .down = down,
                                       .richardson = richardson,
                                       .measure = measure};
