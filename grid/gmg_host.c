/* The steps of geometric multigrid on the host: Jacobi's sweeps, and which sweeps a level has. */
#include "grid/gmg.h"

#include "host/apply.h"

/* --- smoothing -----------------------------------------------------------------------------------
 */

typedef struct smooth_job {
    const gmg *m;
    const gmg_level *l;
    bool begins;
    spry_scalar weight;
} smooth_job;

/* x += D^-1 r, or x = weight D^-1 b where x is 0 */
static void step_share(void *argument, int share, int shares)
{
    const smooth_job *j = argument;
    const gmg_level *l = j->l;
    const int64_t size = (int64_t)spry_type_size(j->m->type);
    const range part = base_share(l->count, shares, share, VECTOR_CHUNK);
    const host_step step = {.alpha = 1, .gamma = 1};
    for (int64_t k = part.begin; k < part.end; k += VECTOR_CHUNK) {
        const int64_t n = part.end - k < VECTOR_CHUNK ? part.end - k : VECTOR_CHUNK;
        const char *inverse = (const char *)l->diagonal->data + k * size;
        char *x = (char *)l->x + k * size;
        if (j->begins) {
            l->s->kernels->multiply(n, inverse, (const char *)l->b + k * size, x);
            l->s->kernels->scale(n, j->weight, x);
        } else {
            l->s->kernels->step(n, &step, (const char *)l->r + k * size, inverse, NULL, x, x);
        }
    }
}

static spry_status jacobi_sweep(const gmg *m, const gmg_level *l, bool zero, spry_scalar w)
{
    const spry_scalar minus = {-w.re, -w.im};
    smooth_job job = {.m = m, .l = l, .begins = zero, .weight = w};
    spry_status status = zero ? SPRY_STATUS_OK : gmg_bring_x(l, l->x);
    if (!zero && status == SPRY_STATUS_OK)
        status = stencil_run(l->A, SPRY_TRANSPOSE_NO, minus, l->x, w, l->b, l->r);
    if (status == SPRY_STATUS_OK)
        base_share_out(m->ctx, host_threads(m->ctx, l->count), step_share, &job);
    return status;
}

static spry_status smooth_level(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const gmg_level *l = &m->level[level];
    spry_status status = SPRY_STATUS_OK;
    if (l->lines)
        return gmg_lines(m, level, sweeps, back, start);
    if (m->redblack)
        return gmg_wave(m, level, sweeps, back, start);
    if (start == GMG_FROM_BELOW)
        gmg_up(m, level);
    if (sweeps == 0 && start == GMG_ZERO)
        memset(l->x, 0, (size_t)l->count * spry_type_size(m->type));
    if (m->options.smoother == GMG_CHEBYSHEV)
        return gmg_chebyshev(m, level, sweeps, start == GMG_ZERO);
    for (int k = 0; k < sweeps && status == SPRY_STATUS_OK; k++)
        status = jacobi_sweep(m, l, k == 0 && start == GMG_ZERO, gmg_weight(m, level, sweeps, k));
    return status;
}

/* --- steps ---------------------------------------------------------------------------------------
 */

static spry_status begin(gmg *m, const spry_vector *r, spry_vector *z)
{
    gmg_level *first = &m->level[0];
    if (first->shared != GMG_WHOLE)
        return gmg_take(m, r->data, first->b);
    first->b = r->data;
    first->x = z->data;
    return SPRY_STATUS_OK;
}

static spry_status end(gmg *m, spry_vector *z)
{
    if (m->level[0].shared != GMG_WHOLE)
        gmg_give_x(m, z->data);
    return SPRY_STATUS_OK;
}

static spry_status smooth(const gmg *m, int level, int sweeps, bool back, gmg_start start)
{
    const gmg_level *below = &m->level[level + 1];
    const spry_status status =
        start == GMG_FROM_BELOW ? gmg_bring_x(below, below->x) : SPRY_STATUS_OK;
    return status == SPRY_STATUS_OK ? smooth_level(m, level, sweeps, back, start) : status;
}

static spry_status down(const gmg *m, int level, bool plain)
{
    const gmg_level *l = &m->level[level];
    const spry_status status = plain ? SPRY_STATUS_OK : gmg_bring_x(l, l->x);
    if (status != SPRY_STATUS_OK)
        return status;
    gmg_down(m, level, plain);
    return gmg_bring_given(l + 1, (l + 1)->b);
}

static spry_status guess(const gmg *m, int level, gmg_start *start)
{
    const gmg_level *l = &m->level[level];
    if (m->options.interpolation != GMG_CUBIC) {
        memset(l->x, 0, (size_t)l->count * spry_type_size(m->type));
        *start = GMG_FROM_BELOW;
        return SPRY_STATUS_OK;
    }
    const spry_status status = gmg_bring_x(l + 1, (l + 1)->x);
    if (status == SPRY_STATUS_OK)
        gmg_guess(m, level);
    return status;
}

static void last_system(const gmg *m, spry_vector *b, spry_vector *x)
{
    const gmg_level *l = &m->level[m->count - 1];
    *b = vector_over(m->ctx, m->type, l->A->rows, l->b);
    *x = vector_over(m->ctx, m->type, l->A->rows, l->x);
}

const gmg_steps gmg_host_steps = {.begin = begin,
                                  .end = end,
                                  .smooth = smooth,
                                  .down = down,
                                  .guess = guess,
                                  .last_system = last_system};
