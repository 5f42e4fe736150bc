/*
 * Geometric multigrid (U. Trottenberg, C. Oosterlee, A. Schueller, Multigrid, Academic Press,
 * 2001). The levels have the same terms with differences of order 2 on grids with half as many
 * intervals along some axes (halve.c); the first one has order 2, too, where the operator is of a
 * higher order: then it is a preconditioner for defect correction. The last one is solved by
 * factors.
 *
 * Gauss-Seidel goes through the points of one colour, then of the other (red: the sum of the
 * indices is even). With stencils of neighbours along the axes alone points of one colour do not
 * need each other, and bits do not depend on threads. After coming up the colours take turns the
 * other way, so that a V-cycle with as many sweeps before as after is symmetric where the operator
 * is. lines.c has Gauss-Seidel by lines.
 */
#include "grid/gmg.h"

#include "device/engine/device.h"

#include "host/apply.h"

/* --- cycles --------------------------------------------------------------------------------------
 */

static spry_status solve_coarsest(const gmg *m)
{
    spry_vector b, x;
    if (m->sweeps_last)
        return m->steps->smooth(m, m->count - 1, (int)m->options.last, false, GMG_ZERO);
    m->steps->last_system(m, &b, &x);
    return gmg_noted(m, spry_operator_apply(m->coarsest, &b, &x));
}

static spry_status cycle(const gmg *m, int level, int kind, gmg_start start)
{
    spry_status status = SPRY_STATUS_OK;
    if (level == m->count - 1)
        return solve_coarsest(m);
    SPRY_GO(m->ctx, m->steps->smooth(m, level, (int)m->options.pre, false, start));
    SPRY_GO(m->ctx, m->steps->down(m, level, false));
    SPRY_GO(m->ctx, cycle(m, level + 1, kind, GMG_ZERO));
    if (kind != GMG_V && level + 2 < m->count)
        SPRY_GO(m->ctx, cycle(m, level + 1, kind == GMG_F ? GMG_V : kind, GMG_GIVEN));
    SPRY_GO(m->ctx,
            m->steps->smooth(m, level, (int)m->options.post, m->options.symmetric, GMG_FROM_BELOW));
done:
    return status;
}

/* From the coarsest level up, each begun with what the one below has found. */
static spry_status full_cycle(const gmg *m)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k + 1 < m->count; k++)
        SPRY_GO(m->ctx, m->steps->down(m, k, true));
    SPRY_GO(m->ctx, cycle(m, m->count - 1, GMG_V, GMG_ZERO));
    for (int k = m->count - 2; k >= 0; k--) {
        gmg_start start = GMG_GIVEN;
        SPRY_GO(m->ctx, m->steps->guess(m, k, &start));
        SPRY_GO(m->ctx, cycle(m, k, GMG_V, start));
    }
done:
    return status;
}

static spry_status gmg_apply(const spry_operator *op, spry_transpose transpose,
                             const spry_vector *r, spry_vector *z)
{
    gmg *m = op->state;
    (void)transpose;
    spry_status status = m->steps->begin(m, r, z);
    if (status == SPRY_STATUS_OK)
        status =
            m->options.cycle == GMG_FULL ? full_cycle(m) : cycle(m, 0, m->options.cycle, GMG_ZERO);
    const spry_status ended = m->steps->end(m, z);
    return status != SPRY_STATUS_OK ? status : ended;
}

void gmg_level_clear(gmg *m, int k)
{
    gmg_level *l = &m->level[k];
    if (k > 0 || l->shared != GMG_WHOLE) {
        base_free(m->ctx, l->x);
        base_free(m->ctx, l->b);
        base_free(m->ctx, l->lower);
    }
    grid_halo_clear(&l->halo);
    base_free(m->ctx, l->r);
    base_free(m->ctx, l->p);
    base_free(m->ctx, l->tiles);
    spry_vector_free(l->diagonal);
    base_free(m->ctx, l->weights[0]);
    base_free(m->ctx, l->weights[1]);
    gmg_lines_clear(m, l);
    if (k > 0 || m->owns_first)
        spry_operator_free(l->A);
    *l = (gmg_level){0};
}

static void gmg_destroy(spry_operator *op)
{
    gmg *m = op->state;
    if (!m)
        return;
    if (m->steps->free)
        m->steps->free(m);
    for (int k = 0; k < m->count; k++)
        gmg_level_clear(m, k);
    spry_operator_free(m->coarsest);
    if (op->device)
        op->device->users--;
    base_free(m->ctx, m);
}

static const operator_class gmg_class = {.name = "gmg",
                                         .multiply = operator_apply_arrays,
                                         .multiply_vectors = operator_apply_vectors,
                                         .destroy = gmg_destroy,
                                         .apply = gmg_apply};

/* --- set-up --------------------------------------------------------------------------------------
 */

/* One status for all ranks that make it together. */
static spry_status agree(const gmg *m, spry_status status)
{
    return m->ranked ? team_agree(m->ctx, status) : status;
}

/* Adds the level of an operator; `cut` is its shape as ranks have it. */
static spry_status add_level(gmg *m, spry_operator *A, const grid_shape *cut)
{
    gmg_level *l = &m->level[m->count++];
    const size_t size = spry_type_size(m->type);
    spry_status status = SPRY_STATUS_OK;
    l->A = A;
    SPRY_GO(m->ctx, gmg_place_level(m, l, cut));
    m->redblack = m->redblack && gmg_two_colours(l->s);
    if (m->place) /* which has vectors of its own */
        return status;
    if (m->count > 1 || l->shared != GMG_WHOLE) {
        SPRY_GO(m->ctx, base_calloc(m->ctx, l->count, size, &l->x));
        SPRY_GO(m->ctx, base_calloc(m->ctx, l->count, size, &l->b));
    }
    const int64_t lines = 2 * (l->s->shape.axis[0].unknowns + 2);
    SPRY_GO(m->ctx, base_calloc(m->ctx, lines * spry_context_threads(m->ctx), size, &l->tiles));
done:
    return status;
}

/* The inverse of a level's diagonal, in an array of its box. */
static spry_status invert_diagonal(gmg *m, int k)
{
    gmg_level *l = &m->level[k];
    spry_vector *d = NULL;
    spry_status status = SPRY_STATUS_OK;
    status = base_calloc(m->ctx, l->count, spry_type_size(m->type), &l->r);
    if (status == SPRY_STATUS_OK)
        status = vector_new_at(m->ctx, NULL, m->type, l->count, &l->diagonal);
    SPRY_GO(m->ctx, agree(m, status));
    SPRY_GO(m->ctx, stencil_diagonal(l->A, &d));
    for (int64_t i = 0; i < d->n; i++) {
        const spry_scalar v = value_get(m->type, d->data, i);
        const double square = v.re * v.re + v.im * v.im;
        if (square == 0) {
            status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_INPUT,
                               "precon gmg: the diagonal of level %d is 0 in row %" PRId64, k, i);
            goto done;
        }
        int64_t at[GRID_AXES];
        box_split(&l->rows, i, at);
        value_set(m->type, l->diagonal->data, box_place(&l->box, at),
                  (spry_scalar){v.re / square, -v.im / square});
    }
done:
    spry_vector_free(d);
    return status;
}

/* Inverse diagonals and room for residuals, for Jacobi's and Chebyshev's sweeps. */
static spry_status add_diagonals(gmg *m)
{
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k + 1 < m->count && m->redblack && !m->place; k++)
        SPRY_GO(m->ctx, agree(m, gmg_check_diagonal(m, k)));
    for (int k = 0; k < gmg_swept(m) && !m->redblack; k++)
        if (!m->place || k == m->count - 1) /* where weights of the last are found on the host */
            SPRY_GO(m->ctx, agree(m, invert_diagonal(m, k)));
done:
    return status;
}

static spry_status add_coarsest(gmg *m)
{
    enum { MOST_DENSE = 1500 }; /* an inverse that is written out for a device */
    const gmg_level *l = &m->level[m->count - 1];
    spry_matrix *A = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (l->A->rows > m->options.coarsest)
        base_log(m->ctx, SPRY_LOG_WARNING,
                 "precon gmg: the grid can be halved %d times only, which leaves %" PRId64
                 " unknowns to factors; intervals that are powers of two times a small number "
                 "coarsen further",
                 m->count - 1, l->A->rows);
    SPRY_GO(m->ctx, spry_operator_to_matrix(l->A, &A));
    if (gmg_pin(A))
        base_log(m->ctx, SPRY_LOG_INFO,
                 "precon gmg: no value is known, so that solutions differ by a constant; "
                 "nullspace=constant makes the solver take that out of b and x");
    const char *kind = m->place && l->A->rows <= MOST_DENSE ? "direct:kind=dense" : "direct";
    SPRY_GO(m->ctx, spry_precon_new(A, m->place, kind, &m->coarsest));
    m->coarsest->kept = m->coarsest->kept ? m->coarsest->kept : A;
    A = m->coarsest->kept == A ? NULL : A;
done:
    spry_matrix_free(A);
    return status;
}

/* The operator of the next level, or of the first one on the same grid: cut as ranks have it, or
 * joined. */
static spry_status make_operator(const gmg *m, const spry_operator *fine, const grid_shape *shape,
                                 spry_operator **op)
{
    const gmg_level *last = m->count > 0 ? &m->level[m->count - 1] : NULL;
    int64_t layers = m->options.interpolation == GMG_CUBIC ? 3 : 2;
    for (int a = 0; last && a < GRID_AXES; a++) /* as many as corrections of that one take */
        layers = 2 * last->reach[a] > layers ? 2 * last->reach[a] : layers;
    const bool joins = grid_is_cut(shape) && gmg_joins(m, shape);
    spry_operator *cut = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->ctx, stencil_coarser(fine, shape, 2, m->type, joins ? 0 : (int)layers, op));
    if (joins) {
        cut = *op;
        *op = NULL;
        SPRY_GO(m->ctx, gmg_join(cut, op));
    }
done:
    spry_operator_free(cut);
    status = agree(m, status); /* which ranks that have a level whole have not yet */
    if (status != SPRY_STATUS_OK) {
        spry_operator_free(*op);
        *op = NULL;
    }
    return status;
}

/* The last level is had whole, also where it is a large one that cannot be halved. */
static spry_status join_last(gmg *m)
{
    const gmg_level *l = &m->level[m->count - 1];
    const grid_shape shape = l->s->shape;
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (l->shared != GMG_CUT || m->sweeps_last)
        return status;
    SPRY_GO(m->ctx, agree(m, gmg_join(l->A, &op)));
    gmg_level_clear(m, --m->count);
    SPRY_GO(m->ctx, agree(m, add_level(m, op, &shape)));
done:
    return status;
}

spry_status gmg_add_first(gmg *m, const spry_operator *A)
{
    const stencil *s = stencil_of(A);
    spry_operator *op = NULL;
    spry_status status = SPRY_STATUS_OK;
    const bool shifted = m->options.shift != 0;
    if (s->order > 2 || m->type != A->type || m->ranked || shifted) {
        SPRY_GO(m->ctx, make_operator(m, A, &s->shape, &op));
        m->owns_first = true;
    }
    if (shifted) {
        status = agree(m, stencil_damp(op, m->options.shift));
        if (status != SPRY_STATUS_OK)
            spry_operator_free(op);
        SPRY_GO(m->ctx, status);
    }
    SPRY_GO(m->ctx, agree(m, add_level(m, op ? op : (spry_operator *)(uintptr_t)A, &s->shape)));
    if (s->shape.axis[0].ranks > 1)
        base_log(m->ctx, SPRY_LOG_WARNING,
                 "multigrid: the grid is cut along x, so that every rank has all of it by itself; "
                 "cut other axes, as in ranks=1x2x2");
done:
    return status;
}

spry_status gmg_add_coarser(gmg *m, const gmg_freedom *free, bool *halved)
{
    gmg_level *fine = &m->level[m->count - 1];
    spry_operator *op = NULL;
    grid_shape shape;
    unsigned lines;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->ctx, agree(m, gmg_halve(fine->A, free, &lines, &shape, halved)));
    if (!*halved)
        return status;
    fine->lines = lines;
    SPRY_GO(m->ctx, grid_complete(m->ctx, &shape));
    SPRY_GO(m->ctx, make_operator(m, fine->A, &shape, &op));
    SPRY_GO(m->ctx, agree(m, add_level(m, op, &shape)));
done:
    return status;
}

static gmg_freedom freedom_of(const gmg *m)
{
    const gmg_options *o = &m->options;
    gmg_freedom free = {.fully = o->coarsening == GMG_FULLY, .line = (int)o->line - 1};
    if (o->smoother == GMG_LINE)
        free.lines = GMG_LINES;
    else if (o->smoother == GMG_AUTO && !free.fully && !m->place)
        free.lines = GMG_SOME_LINES;
    return free;
}

/* Whether the last level is one that may be solved for as it is. */
static bool is_done(const gmg *m)
{
    return m->most == 0 || m->sweeps_last || m->level[m->count - 1].s->shape.unknowns <= m->most;
}

static spry_status make_levels(gmg *m, const spry_operator *A)
{
    const gmg_freedom free = freedom_of(m);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(m->ctx, gmg_add_first(m, A));
    for (bool more = true; more && m->count < GMG_LEVELS;) {
        if (m->level[m->count - 1].s->shape.unknowns <= m->options.coarsest)
            break;
        if (m->options.smoother == GMG_FITTED)
            SPRY_GO(m->ctx, gmg_resolves_waves(m, m->count - 1, &more));
        if (more)
            SPRY_GO(m->ctx, gmg_add_coarser(m, &free, &more));
    }
    m->sweeps_last = m->options.smoother == GMG_FITTED &&
                     m->level[m->count - 1].s->shape.unknowns > m->options.coarsest;
    if (!is_done(m))
        return status;
    SPRY_GO(m->ctx, join_last(m));
    if (m->options.smoother == GMG_REDBLACK && !m->redblack) {
        status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                           "precon gmg: smoother=redblack needs neighbours along the axes alone; "
                           "take jacobi");
        goto done;
    }
    if (m->options.smoother == GMG_LINE && m->count > 1 && !m->level[0].lines) {
        status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                           "precon gmg: smoother=line needs lines whose points have neighbours "
                           "next to them alone, and other neighbours along the axes alone%s; take "
                           "another line= or jacobi",
                           m->ranked ? ", along axes that are not cut for ranks" : "");
        goto done;
    }
    SPRY_GO(m->ctx, add_diagonals(m));
    for (int k = 0; k < gmg_swept(m) && m->options.smoother == GMG_FITTED; k++)
        SPRY_GO(m->ctx, agree(m, gmg_fit(m, k)));
    for (int k = 0; k + 1 < m->count; k++)
        if (m->level[k].lines)
            SPRY_GO(m->ctx, agree(m, gmg_lines_make(m, k)));
    for (int k = 0; k + 1 < m->count && m->options.smoother == GMG_CHEBYSHEV; k++)
        SPRY_GO(m->ctx, agree(m, gmg_chebyshev_make(m, k)));
    if (m->steps->make)
        SPRY_GO(m->ctx, m->steps->make(m));
    if (!m->sweeps_last)
        SPRY_GO(m->ctx, agree(m, add_coarsest(m)));
done:
    return status;
}

/* What devices do not do, and lines across cuts. */
static spry_status check_place(const spry_operator *A, const gmg_options *o)
{
    const char *said = o->smoother == GMG_CHEBYSHEV    ? "smoother=chebyshev"
                       : o->smoother == GMG_LINE       ? "smoother=line"
                       : o->interpolation == GMG_CUBIC ? "interpolation=cubic"
                                                       : NULL;
    const grid_axis *axis = stencil_of(A)->shape.axis;
    if (o->smoother == GMG_LINE && o->line > 0 && axis[o->line - 1].ranks > 1 &&
        axis[0].ranks <= 1) /* else every rank has all of it */
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon gmg: line=%c, and the grid is cut along %c for ranks; cut other "
                         "axes, as in ranks=1x4x1, or take lines along another one",
                         "xyz"[o->line - 1], "xyz"[o->line - 1]);
    if (!A->device || !said)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                     "precon gmg on a device has no %s; leave it out, or have the operator on the "
                     "host",
                     said);
}

/* What is for complex numbers alone. */
static spry_status check_waves(const spry_operator *A, const gmg_options *o)
{
    const bool fitted = o->smoother == GMG_FITTED || (o->smoother == GMG_AUTO && o->shift != 0);
    if ((o->shift != 0 || fitted) && !spry_type_is_complex(A->type))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon gmg: %s is for complex operators, and this one is of type %s; "
                         "make it with type=%s",
                         o->shift != 0 ? "shift" : "smoother=fitted", spry_type_name(A->type),
                         A->type == SPRY_TYPE_S ? "c" : "z");
    if (fitted && o->omega > 0)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon gmg: smoother=fitted finds its weights by itself; leave omega=%g "
                         "out, or take smoother=jacobi",
                         o->omega);
    return SPRY_STATUS_OK;
}

spry_status gmg_make_of_terms(const precon_job *job, spry_type type, int64_t most,
                              spry_operator **M)
{
    const spry_operator *A = job->op;
    const void *options = job->options;
    spry_context *ctx = A->ctx;
    spry_operator *op = NULL;
    gmg *m = NULL;
    const bool ranked = grid_is_cut(&stencil_of(A)->shape);
    spry_status status = SPRY_STATUS_OK;
    *M = NULL;
    SPRY_GO(ctx, check_place(A, options));
    SPRY_GO(ctx, check_waves(A, options));
    status = operator_new(ctx, &gmg_class, type, A->rows, A->cols, &op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *m, &m);
    SPRY_GO(ctx, ranked ? team_agree(ctx, status) : status);
    op->state = m;
    op->rows_part = op->cols_part = A->rows_part;
    m->ranked = ranked;
    m->ctx = ctx;
    m->type = type;
    m->place = op->device = A->device;
    m->steps = A->device ? &gmg_device_steps : &gmg_host_steps;
    if (op->device)
        op->device->users++;
    m->options = *(const gmg_options *)options;
    if (m->options.smoother == GMG_AUTO && m->options.shift != 0)
        m->options.smoother = GMG_FITTED;
    m->redblack = m->options.smoother == GMG_AUTO || m->options.smoother == GMG_REDBLACK ||
                  m->options.smoother == GMG_LINE;
    m->most = most;
    SPRY_GO(ctx, make_levels(m, A));
    if (!is_done(m)) {
        ; /* *M stays NULL */
    } else if (type == A->type) {
        *M = op;
        op = NULL;
    } else {
        spry_operator *inside = op;
        op = NULL; /* taken, also when that fails */
        status = precon_lower(A->type, inside, M);
        SPRY_GO(ctx, ranked ? team_agree(ctx, status) : status);
    }
    if (*M)
        (*M)->rows_part = (*M)->cols_part = A->rows_part;
done:
    if (status != SPRY_STATUS_OK) {
        spry_operator_free(*M);
        *M = NULL;
    }
    spry_operator_free(op);
    return status;
}
