/*
 * Chebyshev's polynomials as smoother: k sweeps are the polynomial of degree k in D^-1 A that is
 * least on the upper part of its eigenvalues, lambda / (2 d) .. lambda in d dimensions, where the
 * errors are that the next level does not see (M. Adams, M. Brezina, J. Hu, R. Tuminaro, Parallel
 * multigrid smoothing, J. Comput. Phys. 188 (2003), 593-610). It has no order of points, so that it
 * is symmetric where A is, and needs no colours; lambda comes from a few products.
 *
 *     r = b - A x;  p = rho rho' p + (2 rho / delta) D^-1 r;  x = x + p;  rho' = rho
 */
#include "grid/gmg.h"

typedef struct step_job {
    const gmg *m;
    const gmg_level *l;
    const void *r;
    host_step step;
    bool zero;
} step_job;

/* p = alpha D^-1 r + delta p, and x += p */
static void step_share(void *argument, int share, int shares)
{
    const step_job *j = argument;
    const gmg_level *l = j->l;
    const int64_t size = (int64_t)spry_type_size(j->m->type);
    const range part = base_share(l->count, shares, share, VECTOR_CHUNK);
    const int64_t n = part.end - part.begin, at = part.begin * size;
    char *p = (char *)l->p + at, *x = (char *)l->x + at;
    l->s->kernels->step(n, &j->step, (const char *)j->r + at, (char *)l->diagonal->data + at, NULL,
                        NULL, p);
    if (j->zero)
        memcpy(x, p, (size_t)(n * size));
    else
        l->s->kernels->axpy(n, (spry_scalar){1, 0}, p, x);
}

spry_status gmg_chebyshev(const gmg *m, int level, int sweeps, bool zero)
{
    const gmg_level *l = &m->level[level];
    const spry_scalar one = {1, 0}, minus = {-1, 0};
    const double low = l->lambda / (2 * l->s->shape.dimensions);
    const double theta = (l->lambda + low) / 2, delta = (l->lambda - low) / 2;
    double rho = delta / theta, before = 0;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < sweeps && status == SPRY_STATUS_OK; k++, zero = false) {
        step_job job = {.m = m, .l = l, .r = zero ? l->b : l->r, .zero = zero};
        job.step.alpha = k == 0 ? 1 / theta : 2 * rho / delta;
        job.step.delta = rho * before;
        if (!zero)
            status = gmg_bring_x(l, l->x);
        if (!zero && status == SPRY_STATUS_OK)
            status = stencil_run(l->A, SPRY_TRANSPOSE_NO, minus, l->x, one, l->b, l->r);
        if (status == SPRY_STATUS_OK)
            base_share_out(m->ctx, host_threads(m->ctx, l->count), step_share, &job);
        before = rho;
        rho = 1 / (2 * theta / delta - rho);
    }
    return status;
}

/* The largest number of an array of a level, of all ranks. */
static spry_status largest_of_all(const gmg_level *l, const void *v, double *most)
{
    double least;
    *most = l->s->kernels->largest(l->count, v);
    return l->shared == GMG_CUT ? team_bounds(l->A->ctx, *most, &least, most) : SPRY_STATUS_OK;
}

/* The largest eigenvalue of D^-1 A, from below by powers of it times noise, and a tenth more. */
spry_status gmg_chebyshev_make(gmg *m, int level)
{
    enum { STEPS = 12 };
    gmg_level *l = &m->level[level];
    const int64_t n = l->count;
    const host_kernels *kernels = l->s->kernels;
    const grid_box whole = grid_whole(&l->s->shape, false);
    spry_status status = base_calloc(m->ctx, n, spry_type_size(m->type), &l->p);
    SPRY_GO(m->ctx, grid_agree(m->ctx, &l->s->shape, status));
    for (int64_t i = 0; i < box_count(&l->rows); i++) {
        int64_t at[GRID_AXES];
        box_split(&l->rows, i, at);
        const uint64_t number = (uint64_t)box_place(&whole, at);
        value_set(m->type, l->p, box_place(&l->box, at),
                  (spry_scalar){base_uniform(number, 7) - 0.5, 0});
    }
    for (int k = 0; k < STEPS; k++) {
        double size;
        SPRY_GO(m->ctx, gmg_bring_x(l, l->p));
        SPRY_GO(m->ctx, largest_of_all(l, l->p, &size));
        SPRY_GO(m->ctx, stencil_run(l->A, SPRY_TRANSPOSE_NO, (spry_scalar){1 / size, 0}, l->p,
                                    (spry_scalar){0, 0}, l->r, l->r));
        kernels->multiply(n, l->r, l->diagonal->data, l->p);
        SPRY_GO(m->ctx, largest_of_all(l, l->p, &size));
        l->lambda = 1.1 * size;
    }
    if (!(l->lambda > 0) || !isfinite(l->lambda))
        status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                           "precon gmg: level %d has no largest eigenvalue for smoother=chebyshev",
                           level);
done:
    return status;
}
