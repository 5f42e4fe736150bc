/*
 * Absorbing strips for waves. The grid is cut into strips: the blocks of ranks, each of them
 * perhaps in parts. A strip has some points of those next to it (its overlap), and behind these a
 * layer that is perfectly matched, in which k goes on as it is at the end of the overlap; real
 * faces stay as they are. So a wave that leaves a strip does not come back, as it would not in the
 * whole grid. With R_p the points of strip p with its overlap, Q_p those without, and A_p the
 * operator of the strip with its layers,
 *
 *   sweeps=0   M = sum_p Q_p^T A_p^-1 R_p
 *
 * the restricted additive Schwarz method with absorbing conditions (A. Toselli, Overlapping methods
 * with perfectly matched layers for the solution of the Helmholtz equation, Domain Decomposition
 * Methods 11 (1999), 551-558; A. St-Cyr, M. Gander, S. Thomas, Optimized multiplicative, additive,
 * and restricted additive Schwarz preconditioning, SIAM J. Sci. Comput. 29 (2007), 2402-2425). A
 * wave gets one strip further in an iteration. With sweeps strips are solved one after another
 * along an axis, forth and back, each for what is left of r by then, so that it gets to the end in
 * one (C. Stolk, A rapidly converging domain decomposition method for the Helmholtz equation, J.
 * Comput. Phys. 241 (2013), 240-252).
 */
#include "precon/kinds/strips.h"
#include "grid/blocks.h"
#include "grid/helmholtz.h"
#include "host/apply.h"

/* Boxes of unknowns: what is kept of its solution, the same with the overlap, and all. */
typedef struct strip {
    grid_box own, wide, all;
    spry_operator *M;
} strip;

typedef struct strips {
    spry_context *ctx;
    const spry_operator *A;
    strips_options options;
    grid_shape shape;
    bool cut;              /* into blocks of ranks */
    int axis;              /* along which strips follow each other */
    int64_t layer;         /* intervals */
    int64_t stage, stages; /* of this rank's first strip, and of all, in sweeps */
    grid_box own, wide;    /* of this rank */
    grid_halo halo;        /* brings what `wide` has of others */
    int64_t count;
    strip *list;
    char *r;     /* of `wide` */
    char *b, *x; /* of the largest strip */
    char *left;  /* b - A z, in sweeps */
} strips;

static int ranks_along(const strips *m, int a)
{
    return m->shape.axis[a].ranks > 1 ? m->shape.axis[a].ranks : 1;
}

static bool is_periodic(const strips *m, int a)
{
    return m->shape.axis[a].intervals > 0 && m->shape.axis[a].face[0] == GRID_PERIODIC;
}

/* Whether what lies beyond an end of a box is more of the grid. */
static bool is_inside(const strips *m, const grid_box *box, int a, int side)
{
    if (is_periodic(m, a))
        return ranks_along(m, a) > 1;
    return side == 0 ? box->begin[a] > 0 : box->end[a] < m->shape.axis[a].unknowns;
}

/* --- solving -------------------------------------------------------------------------------------
 */

/* z += what a strip makes of r */
static spry_status solve_strip(const strips *m, const strip *p, char *z)
{
    const host_kernels *kernels = stencil_of(m->A)->kernels;
    const spry_type type = m->A->type;
    const int64_t n = box_count(&p->all), size = (int64_t)spry_type_size(type);
    const spry_vector b = vector_over(m->ctx, type, n, m->b);
    spry_vector x = vector_over(m->ctx, type, n, m->x);
    memset(m->b, 0, (size_t)(n * size));
    box_copy(type, &p->wide, &m->wide, m->r, &p->all, m->b);
    const spry_status status = spry_operator_apply(p->M, &b, &x);
    if (status != SPRY_STATUS_OK)
        return status;
    for (int64_t k = p->own.begin[2]; k < p->own.end[2]; k++)
        for (int64_t j = p->own.begin[1]; j < p->own.end[1]; j++) {
            const int64_t at[GRID_AXES] = {p->own.begin[0], j, k};
            kernels->axpy(box_length(&p->own, 0), (spry_scalar){1, 0},
                          m->x + box_place(&p->all, at) * size, z + box_place(&m->own, at) * size);
        }
    return status;
}

/* What is this rank's of r, and around it what others have. */
static spry_status take(const strips *m, const void *r)
{
    box_copy(m->A->type, &m->own, &m->own, r, &m->wide, m->r);
    return m->cut ? grid_halo_exchange(&m->halo, m->r) : SPRY_STATUS_OK;
}

/* One strip of each rank at most, those of a stage. */
static spry_status solve_stage(const strips *m, int64_t stage, const void *r, bool first, char *z)
{
    const int64_t k = stage - m->stage;
    const size_t bytes = (size_t)box_count(&m->own) * spry_type_size(m->A->type);
    spry_status status = SPRY_STATUS_OK;
    if (!first) {
        memcpy(m->left, r, bytes);
        SPRY_GO(m->ctx, m->A->class->multiply(m->A, SPRY_TRANSPOSE_NO, (spry_scalar){-1, 0}, z,
                                              (spry_scalar){1, 0}, m->left));
    }
    SPRY_GO(m->ctx, take(m, first ? r : m->left));
    if (k >= 0 && k < m->count)
        status = solve_strip(m, &m->list[k], z);
    status = m->cut ? team_note(m->ctx, status) : status; /* others go on, and hear of it */
done:
    return status;
}

static spry_status sweep(const strips *m, const void *r, char *z)
{
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < m->options.sweeps; k++) {
        for (int64_t stage = k > 0; stage < m->stages; stage++)
            SPRY_GO(m->ctx, solve_stage(m, stage, r, k + stage == 0, z));
        for (int64_t stage = m->stages - 2; stage >= 0; stage--)
            SPRY_GO(m->ctx, solve_stage(m, stage, r, false, z));
    }
done:
    return status;
}

static spry_status strips_apply(const spry_operator *op, spry_transpose transpose,
                                const spry_vector *r, spry_vector *z)
{
    const strips *m = op->state;
    (void)transpose;
    memset(z->data, 0, (size_t)z->n * spry_type_size(z->type));
    if (m->options.sweeps > 0)
        return sweep(m, r->data, z->data);
    spry_status status = take(m, r->data);
    for (int64_t k = 0; k < m->count && status == SPRY_STATUS_OK; k++)
        status = solve_strip(m, &m->list[k], z->data);
    return m->cut ? team_note(m->ctx, status) : status;
}

static void strips_destroy(spry_operator *op)
{
    strips *m = op->state;
    if (!m)
        return;
    for (int64_t k = 0; m->list && k < m->count; k++)
        spry_operator_free(m->list[k].M);
    grid_halo_clear(&m->halo);
    base_free(m->ctx, m->list);
    base_free(m->ctx, m->r);
    base_free(m->ctx, m->b);
    base_free(m->ctx, m->x);
    base_free(m->ctx, m->left);
    base_free(m->ctx, m);
}

static const operator_class strips_class = {.name = "strips",
                                            .multiply = operator_apply_arrays,
                                            .multiply_vectors = operator_apply_vectors,
                                            .destroy = strips_destroy,
                                            .apply = strips_apply};

/* --- one strip -----------------------------------------------------------------------------------
 */

/* The fields of the operator around this rank's block, as far as strips reach. */
typedef struct strip_fields {
    grid_box points;
    int count;
    void *data[WAVE_FIELDS];
} strip_fields;

/* Where a strip's grid lies: the point of the whole grid that is its first, and those between which
 * fields are the whole grid's. */
typedef struct strip_place {
    spry_grid grid;
    int64_t first[GRID_AXES], low[GRID_AXES], high[GRID_AXES];
} strip_place;

/* The axis of a strip's grid: beyond an overlap there is a layer. */
static void place_axis(const strips *m, const strip *p, int a, strip_place *at)
{
    const grid_axis *whole = &m->shape.axis[a];
    grid_axis *axis = &at->grid.shape.axis[a];
    const bool inside[] = {is_inside(m, &p->wide, a, 0), is_inside(m, &p->wide, a, 1)};
    int64_t last = whole->points - 1;
    at->first[a] = at->low[a] = 0;
    at->high[a] = last;
    axis->ranks = 0;
    axis->layer[0] = inside[0] ? m->layer : 0;
    axis->layer[1] = inside[1] ? m->layer : 0;
    if (inside[0]) {
        at->low[a] = p->wide.begin[a] + whole->first;
        at->first[a] = at->low[a] - m->layer;
        axis->low = whole->low + whole->spacing * (double)at->first[a];
    }
    if (inside[1]) {
        at->high[a] = p->wide.end[a] - 1 + whole->first;
        last = at->high[a] + m->layer;
        axis->high = whole->low + whole->spacing * (double)last;
    }
    for (int side = 0; side < 2; side++)
        if (inside[side])
            axis->face[side] = GRID_DIRICHLET;
    if (inside[0] || inside[1])
        axis->intervals = last - at->first[a];
}

/* field *= that of the whole grid, number `from`, or (-1) a constant */
static void multiply_field(const strips *m, const strip_place *at, const strip_fields *f, int from,
                           spry_vector *field)
{
    const grid_box box = grid_whole(&at->grid.shape, true);
    const spry_scalar constant = stencil_of(m->A)->waves->m;
    for (int64_t i = 0; i < field->n; i++) {
        int64_t point[GRID_AXES];
        box_split(&box, i, point);
        for (int a = 0; a < GRID_AXES; a++) {
            point[a] += at->first[a];
            point[a] = point[a] < at->low[a] ? at->low[a] : point[a];
            point[a] = point[a] > at->high[a] ? at->high[a] : point[a];
        }
        const spry_scalar v = value_get(field->type, field->data, i);
        const spry_scalar by =
            from < 0 ? constant
                     : value_get(field->type, f->data[from], box_place(&f->points, point));
        value_set(field->type, field->data, i,
                  (spry_scalar){v.re * by.re - v.im * by.im, v.re * by.im + v.im * by.re});
    }
}

/* As layers before faces have it: what leaves 1e-4 of the longest wave, there and back. */
static double strength_of(const strips *m, double power)
{
    const double k = stencil_of(m->A)->waves->least;
    double width = INFINITY;
    for (int a = 0; a < m->shape.dimensions; a++)
        width = fmin(width, (double)m->layer * m->shape.axis[a].spacing);
    return k > 0 ? log(1e4) * (power + 1) / (2 * k * width) : 0;
}

static spry_status make_operator(const strips *m, const strip_place *at, const strip_fields *f,
                                 spry_operator **A)
{
    const int dimensions = m->shape.dimensions;
    const double power = 2;
    spry_vector *field[WAVE_FIELDS] = {NULL};
    char options[96], shown[32];
    spry_status status = SPRY_STATUS_OK;
    spry_number_print(strength_of(m, power), shown);
    for (int k = 0; k < WAVE_FIELDS; k++) {
        if (k >= dimensions && k != WAVE_M)
            continue;
        snprintf(options, sizeof options, "kind=pml axis=%s strength=%s power=%g",
                 k == 0   ? "x"
                 : k == 1 ? "y"
                 : k == 2 ? "z"
                          : "all",
                 shown, power);
        SPRY_GO(m->ctx, spry_field_absorb(&at->grid, m->A->type, options, &field[k]));
        if (k == WAVE_M)
            multiply_field(m, at, f, f->count > 0 ? 0 : -1, field[k]);
        else if (f->count > 1)
            multiply_field(m, at, f, 1 + k, field[k]);
    }
    SPRY_GO(m->ctx, waves_like(m->A, &at->grid, field, A));
done:
    for (int k = 0; k < WAVE_FIELDS; k++)
        spry_vector_free(field[k]);
    return status;
}

/* Its boxes exist; makes what solves it. */
static spry_status make_strip(const strips *m, const strip_fields *f, strip *p)
{
    strip_place at = {.grid = {m->ctx, m->shape}};
    spry_operator *A = NULL;
    spry_matrix *matrix = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < GRID_AXES; a++)
        place_axis(m, p, a, &at);
    SPRY_GO(m->ctx, grid_complete(m->ctx, &at.grid.shape));
    SPRY_GO(m->ctx, make_operator(m, &at, f, &A));
    SPRY_GO(m->ctx, spry_operator_to_matrix(A, &matrix));
    SPRY_GO(m->ctx, spry_precon_new(matrix, NULL, m->options.sub, &p->M));
    if (!p->M) {
        status = SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                           "precon strips: sub=none solves no strip; take direct");
        goto done;
    }
    p->M->kept = p->M->kept ? p->M->kept : matrix;
    matrix = p->M->kept == matrix ? NULL : matrix;
done:
    spry_operator_free(A);
    spry_matrix_free(matrix);
    return status;
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static spry_status bring_fields(const strips *m, strip_fields *f)
{
    const stencil *s = stencil_of(m->A);
    const spry_type type = m->A->type;
    const grid_box own = grid_own(m->ctx, &m->shape, true);
    int64_t width[GRID_AXES];
    grid_halo halo = {0};
    spry_status status = SPRY_STATUS_OK;
    for (int a = 0; a < GRID_AXES; a++)
        width[a] = m->options.overlap + 1; /* and a face behind it */
    f->points = grid_wider(&m->shape, true, &own, width);
    if (m->cut && s->field_count > 0)
        SPRY_GO(m->ctx, grid_halo_make(m->ctx, type, &m->shape, true, &f->points, &halo));
    for (int k = 0; k < s->field_count; k++) {
        status = base_alloc(m->ctx, box_count(&f->points), spry_type_size(type), &f->data[k]);
        f->count++;
        SPRY_GO(m->ctx, grid_agree(m->ctx, &m->shape, status));
        box_copy(type, &own, &s->points, s->fields[k], &f->points, f->data[k]);
        if (m->cut)
            SPRY_GO(m->ctx, grid_halo_exchange(&halo, f->data[k]));
    }
done:
    grid_halo_clear(&halo);
    return status;
}

/* The boxes of part k of this rank's block. */
static void cut_strip(const strips *m, int64_t k, strip *p)
{
    const int64_t first = m->own.begin[m->axis], length = box_length(&m->own, m->axis);
    p->own = m->own;
    p->own.begin[m->axis] = first + length * k / m->options.parts;
    p->own.end[m->axis] = first + length * (k + 1) / m->options.parts;
    p->wide = p->own;
    for (int a = 0; a < GRID_AXES; a++) {
        p->wide.begin[a] -= is_inside(m, &p->own, a, 0) ? m->options.overlap : 0;
        p->wide.end[a] += is_inside(m, &p->own, a, 1) ? m->options.overlap : 0;
        if (is_periodic(m, a))
            continue;
        const int64_t unknowns = m->shape.axis[a].unknowns;
        p->wide.begin[a] = p->wide.begin[a] > 0 ? p->wide.begin[a] : 0;
        p->wide.end[a] = p->wide.end[a] < unknowns ? p->wide.end[a] : unknowns;
    }
    p->all = p->wide;
    for (int a = 0; a < GRID_AXES; a++) {
        p->all.begin[a] -= is_inside(m, &p->wide, a, 0) ? m->layer - 1 : 0;
        p->all.end[a] += is_inside(m, &p->wide, a, 1) ? m->layer - 1 : 0;
    }
}

static spry_status make_list(strips *m, const strip_fields *f)
{
    int64_t most = 0;
    spry_status status = SPRY_STATUS_OK;
    if (box_count(&m->own) == 0)
        return status;
    SPRY_GO(m->ctx, base_calloc(m->ctx, m->options.parts, sizeof *m->list, &m->list));
    m->count = m->options.parts;
    for (int64_t k = 0; k < m->count; k++) {
        strip *p = &m->list[k];
        SPRY_GO(m->ctx, base_go_on(m->ctx, "precon strips"));
        cut_strip(m, k, p);
        most = box_count(&p->all) > most ? box_count(&p->all) : most;
        SPRY_GO(m->ctx, make_strip(m, f, p));
    }
    const size_t size = spry_type_size(m->A->type);
    SPRY_GO(m->ctx, base_alloc(m->ctx, most, size, &m->b));
    SPRY_GO(m->ctx, base_alloc(m->ctx, most, size, &m->x));
done:
    return status;
}

/* The axis that is cut for most ranks, else the longest one that is not periodic; of equal ones the
 * slowest. */
static int choose_axis(const strips *m)
{
    int best = -1;
    if (m->options.axis > 0)
        return (int)m->options.axis - 1;
    for (int a = 0; a < m->shape.dimensions; a++) {
        const int ranks = ranks_along(m, a), others = best < 0 ? 0 : ranks_along(m, best);
        if (is_periodic(m, a) && ranks == 1)
            continue;
        if (ranks > others ||
            (ranks == others && m->shape.axis[a].unknowns >= m->shape.axis[best].unknowns))
            best = a;
    }
    return best < 0 ? 0 : best;
}

static spry_status check_axis(const strips *m)
{
    const grid_axis *axis = &m->shape.axis[m->axis];
    const int64_t ranks = ranks_along(m, m->axis);
    if (m->axis >= m->shape.dimensions)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon strips: axis=%c, and the grid has no such axis", "xyz"[m->axis]);
    for (int a = 0; a < m->shape.dimensions; a++)
        if (ranks_along(m, a) > 1 && m->options.overlap > m->shape.axis[a].unknowns)
            return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                             "precon strips: overlap=%" PRId64
                             " along %c, expected at most %" PRId64 ", the unknowns there",
                             m->options.overlap, "xyz"[a], m -> shape.axis[a].unknowns);
    if (m->options.parts * ranks == 1)
        return SPRY_STATUS_OK;
    if (is_periodic(m, m->axis) && ranks == 1)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon strips: a periodic axis is cut for ranks alone, not into parts; "
                         "take parts=1, or another axis");
    if (m->options.parts * ranks > axis->unknowns)
        return SPRY_FAIL(m->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon strips: %" PRId64 " strips along %c, which has %" PRId64
                         " unknowns; take fewer parts",
                         m->options.parts * ranks, "xyz"[m->axis], axis -> unknowns);
    return SPRY_STATUS_OK;
}

/* Where this rank's strips come in sweeps. */
static void find_stages(strips *m)
{
    int rank = m->cut ? team_rank(m->ctx) : 0;
    for (int a = 0; a < m->axis; a++)
        rank /= ranks_along(m, a);
    m->stage = rank % ranks_along(m, m->axis) * m->options.parts;
    m->stages = ranks_along(m, m->axis) * m->options.parts;
}

static int64_t choose_layer(const strips *m)
{
    const double k = stencil_of(m->A)->waves->least;
    double spacing = INFINITY, most = 1; /* a layer longer than the grid has nothing more to do */
    if (m->options.layer > 0)
        return m->options.layer;
    for (int a = 0; a < m->shape.dimensions; a++) {
        spacing = fmin(spacing, m->shape.axis[a].spacing);
        most = fmax(most, (double)m->shape.axis[a].unknowns);
    }
    return k > 0 ? (int64_t)ceil(fmin(4 * acos(0) / (k * spacing), most)) : 1;
}

static spry_status check_operator(const spry_operator *A, const strips_options *o)
{
    if (!stencil_of(A)->waves)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon strips is for operators of spry_operator_helmholtz(), whose terms "
                         "it knows; of others of differences precon gmg");
    if (!spry_type_is_complex(A->type))
        return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                         "precon strips: layers that absorb are complex, and the operator is of "
                         "type %s; make it with type=%s",
                         spry_type_name(A->type), A->type == SPRY_TYPE_S ? "c" : "z");
    if (o->precision != PRECON_SAME)
        return SPRY_FAIL(A->ctx, SPRY_STATUS_UNSUPPORTED,
                         "precon strips has numbers of the operator's precision; "
                         "sub=[direct:precision=single] has factors of another");
    return SPRY_STATUS_OK;
}

static spry_status fill(strips *m)
{
    int64_t width[GRID_AXES];
    strip_fields fields = {.count = 0};
    spry_status status = SPRY_STATUS_OK;
    m->axis = choose_axis(m);
    m->layer = choose_layer(m);
    SPRY_GO(m->ctx, check_axis(m)); /* alike on all ranks */
    find_stages(m);
    for (int a = 0; a < GRID_AXES; a++)
        width[a] = m->options.overlap;
    m->own = grid_own(m->ctx, &m->shape, false);
    m->wide = grid_wider(&m->shape, false, &m->own, width);
    if (m->cut)
        SPRY_GO(m->ctx, grid_halo_make(m->ctx, m->A->type, &m->shape, false, &m->wide, &m->halo));
    SPRY_GO(m->ctx, bring_fields(m, &fields));
    status = base_alloc(m->ctx, box_count(&m->wide), spry_type_size(m->A->type), &m->r);
    if (status == SPRY_STATUS_OK && m->options.sweeps > 0)
        status = base_alloc(m->ctx, box_count(&m->own), spry_type_size(m->A->type), &m->left);
    if (status == SPRY_STATUS_OK)
        status = make_list(m, &fields);
    SPRY_GO(m->ctx, grid_agree(m->ctx, &m->shape, status));
done:
    for (int k = 0; k < fields.count; k++)
        base_free(m->ctx, fields.data[k]);
    return status;
}

spry_status strips_make(const precon_job *job, spry_operator **M)
{
    const spry_operator *A = job->op;
    const void *options = job->options;
    spry_context *ctx = A->ctx;
    const grid_shape *shape = &stencil_of(A)->shape;
    spry_operator *op = NULL;
    strips *m = NULL;
    *M = NULL;
    spry_status status = check_operator(A, options); /* alike on all ranks */
    if (status != SPRY_STATUS_OK)
        return status;
    status = operator_new(ctx, &strips_class, A->type, A->rows, A->cols, &op);
    if (status == SPRY_STATUS_OK)
        status = base_calloc(ctx, 1, sizeof *m, &m);
    if (status == SPRY_STATUS_OK) {
        op->state = m;
        *m = (strips){.ctx = ctx,
                      .A = A,
                      .options = *(const strips_options *)options,
                      .shape = *shape,
                      .cut = grid_is_cut(shape)};
    }
    SPRY_GO(ctx, grid_agree(ctx, shape, status));
    op->rows_part = op->cols_part = A->rows_part;
    SPRY_GO(ctx, fill(m));
    for (int64_t k = 0; k < m->count; k++) {
        op->own_bytes += m->list[k].M->own_bytes;
        op->varies = op->varies || m->list[k].M->varies;
        op->single = op->single || m->list[k].M->single;
    }
    if (m->cut) { /* what one rank's strips are makes all of them so */
        SPRY_GO(ctx, team_any(ctx, op->varies, &op->varies));
        SPRY_GO(ctx, team_any(ctx, op->single, &op->single));
    }
    op->bytes = op->own_bytes + 2 * op->rows * (int64_t)spry_type_size(op->type);
    *M = op;
    op = NULL;
done:
    spry_operator_free(op);
    return status;
}
