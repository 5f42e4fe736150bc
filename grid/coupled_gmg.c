/*
 * Geometric multigrid of several unknowns per point (U. Trottenberg, C. Oosterlee, A. Schueller,
 * Multigrid, Academic Press, 2001, chapter 8). Levels have the same blocks of differences of order
 * 2 on grids with half as many intervals along all axes; grids and transfers, unknown by unknown,
 * are those of the first block's gmg. Sweeps are Jacobi's, with the unknowns of a point together:
 * x += w_k D^-1 (b - A x), D the m x m blocks of each point. The weights are 1 over Chebyshev's
 * zeros on the upper part of the spectrum of D^-1 A, in the opposite order after coming up: where A
 * and D are symmetric, so is a cycle.
 */
#include "grid/coupled.h"
#include "grid/relax.h"

#include "host/apply.h"

#include <complex.h>
#include <math.h>

static const double LEAST_PART = 0.25; /* of the spectrum: what sweeps are to damp */

typedef struct coupled_level {
    spry_operator *A; /* owned but for a first one of the caller's */
    void *x, *b, *r;  /* all unknowns; x and b of the first level are the caller's */
    void *inverse;    /* of D: m x m arrays */
    double lambda;    /* the largest eigenvalue of D^-1 A */
} coupled_level;

typedef struct coupled_gmg {
    spry_context *ctx;
    spry_type type;
    int m;
    bool owns_first;
    gmg *grids; /* of the first block: its levels and transfers alone */
    coupled_level level[GMG_LEVELS];
    spry_operator *coarsest;
} coupled_gmg;

static int64_t count_of(const coupled_gmg *g, int k)
{
    return g->grids->level[k].count;
}

static void *part(const coupled_gmg *g, int k, void *array, int i)
{
    return (char *)array + i * count_of(g, k) * (int64_t)spry_type_size(g->type);
}

/* --- cycles --------------------------------------------------------------------------------------
 */

typedef struct sweep_job {
    const coupled_gmg *g;
    int level;
    spry_scalar weight;
    bool begins; /* x is 0, whatever it holds */
    const char *r;
    char *x;
} sweep_job;

/* x += w D^-1 r */
static void sweep_share(void *argument, int share, int shares)
{
    const sweep_job *j = argument;
    const coupled_gmg *g = j->g;
    const int m = g->m;
    const host_kernels *kernels = host_kernels_for(g->ctx, g->type);
    const int64_t size = (int64_t)spry_type_size(g->type), n = count_of(g, j->level);
    const char *inverse = g->level[j->level].inverse;
    const range mine = base_share(n, shares, share, VECTOR_CHUNK);
    const host_step step = {.alpha = j->weight.re, .gamma = 1}, begins = {.alpha = j->weight.re};
    for (int64_t at = mine.begin; at < mine.end; at += VECTOR_CHUNK) {
        const int64_t length = mine.end - at < VECTOR_CHUNK ? mine.end - at : VECTOR_CHUNK;
        for (int i = 0; i < m; i++)
            for (int k = 0; k < m; k++) {
                char *x = j->x + (i * n + at) * size;
                kernels->step(length, j->begins && k == 0 ? &begins : &step,
                              j->r + (k * n + at) * size, inverse + ((i * m + k) * n + at) * size,
                              NULL, x, x);
            }
    }
}

static void sweep(const coupled_gmg *g, int k, double w, bool begins, const void *r, void *x)
{
    sweep_job job = {g, k, {w, 0}, begins, r, x};
    base_share_out(g->ctx, host_threads(g->ctx, count_of(g, k)), sweep_share, &job);
}

/* r = b - A x */
static spry_status residual(const coupled_gmg *g, int k)
{
    const coupled_level *l = &g->level[k];
    memcpy(l->r, l->b, (size_t)(g->m * count_of(g, k)) * spry_type_size(g->type));
    return l->A->class->multiply(l->A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, l->x,
                                 (spry_scalar){1, 0}, l->r);
}

/* Sweep k of some, counted from the outermost one of a cycle. */
static double weight_of(const coupled_gmg *g, int level, int sweeps, int k)
{
    const double omega = g->grids->options.omega, lambda = g->level[level].lambda;
    const double zero = cos(acos(-1) * (2 * k + 1) / (2.0 * sweeps));
    const double middle = (1 + LEAST_PART) / 2, half = (1 - LEAST_PART) / 2;
    return omega > 0 ? omega : 1 / (lambda * (middle + half * zero));
}

static spry_status smooth(const coupled_gmg *g, int k, int sweeps, bool back, bool zero)
{
    const coupled_level *l = &g->level[k];
    spry_status status = SPRY_STATUS_OK;
    if (zero && sweeps == 0)
        memset(l->x, 0, (size_t)(g->m * count_of(g, k)) * spry_type_size(g->type));
    for (int s = 0; s < sweeps && status == SPRY_STATUS_OK; s++) {
        const bool begins = zero && s == 0;
        const double w = weight_of(g, k, sweeps, back ? sweeps - 1 - s : s);
        status = begins ? SPRY_STATUS_OK : residual(g, k);
        if (status == SPRY_STATUS_OK)
            sweep(g, k, w, begins, begins ? l->b : l->r, l->x);
    }
    return status;
}

/* The transfers of the first block's levels, one unknown after the other. */
static void transfer(const coupled_gmg *g, int k, bool down)
{
    gmg_level *fine = &g->grids->level[k], *coarse = fine + 1;
    const coupled_level *from = &g->level[k], *to = from + 1;
    void *kept[] = {fine->x, fine->b, coarse->x, coarse->b};
    for (int i = 0; i < g->m; i++) {
        if (down) {
            fine->b = part(g, k, from->r, i);
            coarse->b = part(g, k + 1, to->b, i);
            gmg_down(g->grids, k, true);
        } else {
            fine->x = part(g, k, from->x, i);
            coarse->x = part(g, k + 1, to->x, i);
            gmg_up(g->grids, k);
        }
    }
    fine->x = kept[0];
    fine->b = kept[1];
    coarse->x = kept[2];
    coarse->b = kept[3];
}

static spry_status cycle(const coupled_gmg *g, int k, int kind, bool zero)
{
    const coupled_level *l = &g->level[k];
    const gmg *grids = g->grids;
    spry_status status = SPRY_STATUS_OK;
    if (k == grids->count - 1) {
        spry_vector b = vector_over(g->ctx, g->type, l->A->rows, l->b);
        spry_vector x = vector_over(g->ctx, g->type, l->A->rows, l->x);
        return spry_operator_apply(g->coarsest, &b, &x);
    }
    SPRY_GO(g->ctx, smooth(g, k, (int)grids->options.pre, false, zero));
    SPRY_GO(g->ctx, residual(g, k));
    transfer(g, k, true);
    SPRY_GO(g->ctx, cycle(g, k + 1, kind, true));
    if (kind != GMG_V && k + 2 < grids->count)
        SPRY_GO(g->ctx, cycle(g, k + 1, kind == GMG_F ? GMG_V : kind, false));
    transfer(g, k, false);
    SPRY_GO(g->ctx, smooth(g, k, (int)grids->options.post, true, false));
done:
    return status;
}

static spry_status apply(const spry_operator *op, spry_transpose transpose, const spry_vector *r,
                         spry_vector *z)
{
    coupled_gmg *g = op->state;
    (void)transpose;
    g->level[0].b = r->data;
    g->level[0].x = z->data;
    const spry_status status = cycle(g, 0, (int)g->grids->options.cycle, true);
    g->level[0].b = g->level[0].x = NULL;
    return status;
}

static void destroy(spry_operator *op)
{
    coupled_gmg *g = op->state;
    if (!g)
        return;
    for (int k = 0; g->grids && k < g->grids->count; k++) {
        coupled_level *l = &g->level[k];
        if (k > 0 || g->owns_first)
            spry_operator_free(l->A);
        base_free(g->ctx, l->x);
        base_free(g->ctx, l->b);
        base_free(g->ctx, l->r);
        base_free(g->ctx, l->inverse);
    }
    for (int k = 0; g->grids && k < g->grids->count; k++)
        gmg_level_clear(g->grids, k);
    spry_operator_free(g->coarsest);
    base_free(g->ctx, g->grids);
    base_free(g->ctx, g);
}

static const operator_class coupled_gmg_class = {.name = "gmg",
                                                 .multiply = operator_apply_arrays,
                                                 .multiply_vectors = operator_apply_vectors,
                                                 .destroy = destroy,
                                                 .apply = apply};

/* --- set-up --------------------------------------------------------------------------------------
 */

/* In place, by Gauss and Jordan with pivots of rows; whether it is regular. */
static bool invert(int m, double complex a[COUPLED_MOST][2 * COUPLED_MOST])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            a[i][m + j] = i == j;
    for (int p = 0; p < m; p++) {
        int best = p;
        for (int i = p + 1; i < m; i++)
            best = cabs(a[i][p]) > cabs(a[best][p]) ? i : best;
        if (!(cabs(a[best][p]) > 0) || !isfinite(cabs(a[best][p])))
            return false;
        for (int j = 0; j < 2 * m; j++) {
            const double complex kept = a[p][j];
            a[p][j] = a[best][j];
            a[best][j] = kept;
        }
        const double complex pivot = a[p][p];
        for (int j = 0; j < 2 * m; j++)
            a[p][j] /= pivot;
        for (int i = 0; i < m; i++) {
            const double complex factor = a[i][p];
            for (int j = 0; i != p && factor != 0 && j < 2 * m; j++)
                a[i][j] -= factor * a[p][j];
        }
    }
    return true;
}

/* The inverse of the blocks of all points, from the diagonals d of the operators. */
static spry_status invert_points(const coupled_gmg *g, int level, spry_vector *const *d, void *to)
{
    const int m = g->m;
    const int64_t n = count_of(g, level);
    for (int64_t p = 0; p < n; p++) {
        double complex a[COUPLED_MOST][2 * COUPLED_MOST];
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                const spry_scalar v =
                    d[i * m + j] ? value_get(g->type, d[i * m + j]->data, p) : (spry_scalar){0, 0};
                a[i][j] = v.re + v.im * I;
            }
        if (!invert(m, a))
            return SPRY_FAIL(g->ctx, SPRY_STATUS_BAD_INPUT,
                             "precon gmg: the block of point %" PRId64 " of level %d is singular",
                             p, level);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                value_set(g->type, to, (i * m + j) * n + p,
                          (spry_scalar){creal(a[i][m + j]), cimag(a[i][m + j])});
    }
    return SPRY_STATUS_OK;
}

static spry_status make_inverse(const coupled_gmg *g, int k)
{
    coupled_level *l = (coupled_level *)&g->level[k];
    const coupled *c = l->A->state;
    const int m = g->m;
    spry_vector *d[COUPLED_MOST * COUPLED_MOST] = {NULL};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(g->ctx,
            base_alloc(g->ctx, m * m * count_of(g, k), spry_type_size(g->type), &l->inverse));
    for (int i = 0; i < m * m; i++)
        if (c->block[i])
            SPRY_GO(g->ctx, stencil_diagonal(c->block[i], &d[i]));
    SPRY_GO(g->ctx, invert_points(g, k, d, l->inverse));
done:
    for (int i = 0; i < m * m; i++)
        spry_vector_free(d[i]);
    return status;
}

/* The largest eigenvalue of D^-1 A, by products; a tenth more, since they come from below. */
static spry_status find_lambda(coupled_gmg *g, int k)
{
    enum { PRODUCTS = 15 };
    coupled_level *l = &g->level[k];
    const int64_t n = l->A->rows;
    spry_vector *x = NULL;
    double norm = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(g->ctx, vector_new_at(g->ctx, NULL, g->type, n, &x));
    host_kernels_for(g->ctx, g->type)->random(n, 1, 0, x->data);
    for (int i = 0; i <= PRODUCTS; i++) {
        SPRY_GO(g->ctx, spry_vector_norm(x, &norm));
        if (!(norm > 0) || !isfinite(norm)) {
            status = SPRY_FAIL(g->ctx, SPRY_STATUS_BAD_INPUT,
                               "precon gmg: products with level %d are %s", k,
                               norm == 0 ? "0" : "not finite");
            goto done;
        }
        l->lambda = 1.1 * norm;
        SPRY_GO(g->ctx, spry_vector_scale((spry_scalar){1 / norm, 0}, x));
        SPRY_GO(g->ctx, l->A->class->multiply(l->A, SPRY_TRANSPOSE_NO, (spry_scalar){1, 0}, x->data,
                                              (spry_scalar){0, 0}, l->r));
        sweep(g, k, 1, true, l->r, x->data);
    }
done:
    spry_vector_free(x);
    return status;
}

/* The blocks of a level on the grid of the first block's, of order 2. */
static spry_status make_operator(const coupled_gmg *g, const spry_operator *fine, int k,
                                 spry_operator **op)
{
    const coupled *from = fine->state;
    const grid_shape *shape = &g->grids->level[k].s->shape;
    coupled c = {.m = g->m, .n = count_of(g, k), .owns = true};
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < g->m * g->m && status == SPRY_STATUS_OK; i++) {
        spry_operator *made = NULL;
        if (from->block[i])
            status = stencil_coarser(from->block[i], shape, 2, g->type, 0, &made);
        c.block[i] = made;
    }
    if (status == SPRY_STATUS_OK)
        return coupled_make(g->ctx, fine->class, &c, op);
    coupled_free_blocks(&c);
    return status;
}

/* Levels for blocks of a higher order, all scaled alike so that defect correction converges. */
static spry_status relax(const spry_operator *A, spry_operator *first)
{
    const coupled *from = A->state, *to = first->state;
    double least = 1;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; i < from->m * from->m && status == SPRY_STATUS_OK; i++) {
        double omega = 1;
        if (from->block[i])
            status = stencil_relaxation(from->block[i], &omega);
        least = fmin(least, omega);
    }
    for (int i = 0; i < to->m * to->m && status == SPRY_STATUS_OK; i++)
        if (to->block[i])
            status = stencil_scale((spry_operator *)(uintptr_t)to->block[i],
                                   (spry_scalar){1 / least, 0});
    return status;
}

static bool is_second_order(const coupled *c)
{
    for (int i = 0; i < c->m * c->m; i++)
        if (c->block[i] && stencil_of(c->block[i])->order > 2)
            return false;
    return true;
}

/* What a level has beside its operator. */
static spry_status make_level(coupled_gmg *g, int k)
{
    coupled_level *l = &g->level[k];
    const int64_t n = g->m * count_of(g, k);
    const size_t size = spry_type_size(g->type);
    spry_status status = SPRY_STATUS_OK;
    if (k > 0) {
        SPRY_GO(g->ctx, base_calloc(g->ctx, n, size, &l->x));
        SPRY_GO(g->ctx, base_calloc(g->ctx, n, size, &l->b));
    }
    if (k == g->grids->count - 1)
        return status;
    SPRY_GO(g->ctx, base_calloc(g->ctx, n, size, &l->r));
    SPRY_GO(g->ctx, make_inverse(g, k));
    SPRY_GO(g->ctx, find_lambda(g, k));
done:
    return status;
}

static spry_status make_coarsest(coupled_gmg *g)
{
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(g->ctx, spry_operator_to_matrix(g->level[g->grids->count - 1].A, &A));
    SPRY_GO(g->ctx, spry_precon_new(A, NULL, "direct", &g->coarsest));
    g->coarsest->kept = g->coarsest->kept ? g->coarsest->kept : A;
    A = g->coarsest->kept == A ? NULL : A;
done:
    spry_matrix_free(A);
    return status;
}

static spry_status make_levels(coupled_gmg *g, const spry_operator *A)
{
    const gmg_freedom free = {.fully = true};
    const coupled *blocks = A->state;
    gmg *grids = g->grids;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(g->ctx, gmg_add_first(grids, blocks->block[0]));
    for (bool more = true; more && grids->count < GMG_LEVELS;) {
        if (g->m * grids->level[grids->count - 1].count <= grids->options.coarsest)
            break;
        SPRY_GO(g->ctx, gmg_add_coarser(grids, &free, &more));
    }
    g->owns_first = !is_second_order(blocks);
    for (int k = 0; k < grids->count; k++) {
        if (k > 0 || g->owns_first)
            SPRY_GO(g->ctx, make_operator(g, k > 0 ? g->level[k - 1].A : A, k, &g->level[k].A));
        else
            g->level[k].A = (spry_operator *)(uintptr_t)A;
        if (k == 0 && g->owns_first)
            SPRY_GO(g->ctx, relax(A, g->level[0].A));
        SPRY_GO(g->ctx, make_level(g, k));
    }
    SPRY_GO(g->ctx, make_coarsest(g));
done:
    return status;
}

static spry_status check_options(spry_context *ctx, const gmg_options *o)
{
    const char *said = o->smoother != GMG_AUTO && o->smoother != GMG_JACOBI ? "smoother but jacobi"
                       : o->shift != 0                                      ? "shift"
                       : o->cycle == GMG_FULL                               ? "cycle=full"
                       : o->line != 0                                       ? "line"
                       : o->coarsening != GMG_COARSENING_AUTO               ? "coarsening"
                       : o->levels == GMG_GALERKIN                          ? "levels=galerkin"
                       : ((const precon_common *)o)->precision != PRECON_SAME ? "precision"
                                                                              : NULL;
    return !said ? SPRY_STATUS_OK
                 : SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                             "precon gmg of several unknowns per point has no %s; leave it out",
                             said);
}

spry_status coupled_gmg_make(const precon_job *job, spry_operator **M)
{
    const spry_operator *A = job->op;
    const void *options = job->options;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    coupled_gmg *g = NULL;
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, check_options(ctx, options));
    SPRY_GO(ctx, operator_new(ctx, &coupled_gmg_class, A->type, A->rows, A->cols, &op));
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *g, &g));
    op->state = g;
    g->ctx = ctx;
    g->type = A->type;
    g->m = ((const coupled *)A->state)->m;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *g->grids, &g->grids));
    g->grids->ctx = ctx;
    g->grids->type = A->type;
    g->grids->steps = &gmg_host_steps;
    g->grids->options = *(const gmg_options *)options;
    SPRY_GO(ctx, make_levels(g, A));
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
