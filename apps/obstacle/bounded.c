/* Steps by the library's solver with bounds, where its operator is: in one process, or on ranks,
 * each with a slab of planes across z, so that the order of all unknowns is the grid's. */
#include "obstacle/obstacle.h"

typedef struct parts {
    spry_grid *cut; /* for ranks; NULL: there is one */
    const spry_grid *grid;
    spry_device *device; /* NULL: the host */
    spry_operator *A;
    spry_vector *f, *g, *lower, *u;
    spry_vector *upper;   /* on the host; NULL: there are none */
    spry_vector *on_host; /* on the host: f at first, the last u in the end */
    spry_bounded *solver;
} parts;

static spry_status make_grid(obstacle_run *r, parts *p)
{
    char text[96];
    spry_status status = SPRY_STATUS_OK;
    if (spry_context_ranks(r->ctx) > 1) {
        snprintf(text, sizeof text, "%lldx%lldx%lld ranks=1x1x%d", (long long)r->o->size,
                 (long long)r->o->size, (long long)r->o->size, spry_context_ranks(r->ctx));
        status = spry_grid_new(r->ctx, text, &p->cut);
    }
    p->grid = p->cut ? p->cut : r->grid;
    return status;
}

/* A field at all unknowns of this rank. */
static spry_status fill(const obstacle_run *r, const parts *p, int which, spry_vector *v)
{
    const bool wide = spry_vector_type(v) == SPRY_TYPE_D;
    void *data = spry_vector_data(v);
    const int64_t n = r->n, lines = spry_vector_size(v) / n;
    spry_grid_info info = SPRY_GRID_INFO_INIT;
    const spry_status status = spry_grid_describe(p->grid, &info);
    for (int64_t line = 0; status == SPRY_STATUS_OK && line < lines; line++)
        for (int64_t i = 0; i < n; i++) {
            const int64_t at[] = {i, line % n, info.begin[2] + line / n};
            const double value = obstacle_value(r, which, at);
            if (wide)
                ((double *)data)[line * n + i] = value;
            else
                ((float *)data)[line * n + i] = (float)value;
        }
    return spry_context_agree(r->ctx, status);
}

/* One that is given to a vector where the operator is; others are 0 there. */
static spry_status give(const obstacle_run *r, const parts *p, int which, spry_vector *to)
{
    if (!r->field[which])
        return SPRY_STATUS_OK;
    const spry_status status = fill(r, p, which, p->on_host);
    return status == SPRY_STATUS_OK ? spry_vector_copy(p->on_host, to) : status;
}

static spry_status give_upper(const obstacle_run *r, parts *p)
{
    if (!r->field[OBSTACLE_UPPER])
        return SPRY_STATUS_OK;
    spry_status status = spry_field_new(p->grid, obstacle_type(r->o), false, NULL, NULL, &p->upper);
    if (status == SPRY_STATUS_OK)
        status = fill(r, p, OBSTACLE_UPPER, p->upper);
    return status == SPRY_STATUS_OK ? spry_bounded_set_upper(p->solver, p->upper) : status;
}

static void at_faces(void *data, int axis, const double *place, spry_scalar *value)
{
    const obstacle_run *r = data;
    (void)axis;
    *value = (spry_scalar){obstacle_face(r, place), 0};
}

static spry_status make_operator(const obstacle_run *r, parts *p)
{
    char text[256], options[96];
    snprintf(text, sizeof text, "%.17g*laplace %+.17g*dx %+.17g*dy %+.17g*dz %+.17g", -r->eta,
             r->wind[0], r->wind[1], r->wind[2], r->shift);
    snprintf(options, sizeof options, "order=2 type=%s device=%.60s",
             spry_type_name(obstacle_type(r->o)), r->o->device);
    return spry_operator_stencil(p->grid, text, options, 0, NULL, NULL, &p->A);
}

/* A vector where the operator is. */
static spry_status make_vector(const obstacle_run *r, const parts *p, spry_vector **v)
{
    const spry_type type = obstacle_type(r->o);
    return p->device ? spry_vector_on(p->device, type, spry_vector_size(p->on_host), NULL, v)
                     : spry_field_new(p->grid, type, false, NULL, NULL, v);
}

static spry_status make(obstacle_run *r, parts *p)
{
    static const char *const names[] = {"multigrid", "multigrid", "redblack", "richardson"};
    char options[128];
    spry_status status = make_grid(r, p);
    if (status == SPRY_STATUS_OK)
        status = make_operator(r, p);
    if (status == SPRY_STATUS_OK) {
        p->device = spry_operator_device(p->A);
        snprintf(options, sizeof options, "method=%s tol=%.17g max-iter=%lld", names[r->method],
                 r->o->tol, (long long)r->o->max_iter);
        status = spry_bounded_new(p->A, options, &p->solver);
    }
    if (status == SPRY_STATUS_OK)
        status = spry_field_new(p->grid, obstacle_type(r->o), false, NULL, NULL, &p->on_host);
    if (status == SPRY_STATUS_OK)
        status = fill(r, p, OBSTACLE_FORCE, p->on_host);
    if (status == SPRY_STATUS_OK && (r->p->exact || r->faces)) /* else 0 is known */
        status = spry_stencil_rhs(p->A, p->on_host, at_faces, r, p->on_host);
    spry_vector **const vectors[] = {&p->f, &p->g, &p->lower, &p->u};
    for (int k = 0; k < 4 && status == SPRY_STATUS_OK; k++)
        status = make_vector(r, p, vectors[k]);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(p->on_host, p->f);
    if (status == SPRY_STATUS_OK)
        status = give(r, p, OBSTACLE_LOWER, p->lower);
    if (status == SPRY_STATUS_OK)
        status = give(r, p, OBSTACLE_START, p->u);
    if (status == SPRY_STATUS_OK)
        status = give_upper(r, p);
    return spry_context_agree(r->ctx, status);
}

static void unmake(parts *p)
{
    spry_bounded_free(p->solver);
    spry_vector_free(p->f);
    spry_vector_free(p->g);
    spry_vector_free(p->lower);
    spry_vector_free(p->u);
    spry_vector_free(p->upper);
    spry_vector_free(p->on_host);
    spry_operator_free(p->A);
    spry_grid_free(p->cut);
}

/* The last u, of all ranks. */
static spry_status bring(obstacle_run *r, parts *p)
{
    const spry_status status = spry_context_agree(r->ctx, spry_vector_copy(p->u, p->on_host));
    if (status == SPRY_STATUS_OK && p->cut)
        return spry_vector_collect(p->on_host, &r->u);
    r->u = p->on_host;
    p->on_host = NULL;
    return status;
}

static spry_status take_step(obstacle_run *r, parts *p)
{
    const double begin = cli_clock();
    spry_result result = SPRY_RESULT_INIT;
    spry_bounded_stats stats = SPRY_BOUNDED_STATS_INIT;
    spry_status status = spry_vector_copy(p->f, p->g);
    if (status == SPRY_STATUS_OK && r->dt > 0)
        status = spry_vector_axpy((spry_scalar){1 / r->dt, 0}, p->u, p->g);
    status = spry_context_agree(r->ctx, status);
    if (status == SPRY_STATUS_OK)
        status = spry_bounded_solve(p->solver, p->g, p->lower, p->u, &result, &stats);
    if (status == SPRY_STATUS_OK)
        obstacle_note(r, &(obstacle_step){.reason = result.reason,
                                          .converged = result.converged,
                                          .residual = result.residual,
                                          .tolerance = result.tolerance,
                                          .seconds = cli_clock() - begin,
                                          .iterations = result.iterations,
                                          .all = result.iterations,
                                          .contacts = stats.contacts});
    r->levels = stats.levels;
    return status;
}

spry_status obstacle_bounded(obstacle_run *r)
{
    parts p = {0};
    const double begin = cli_clock();
    spry_status status = make(r, &p);
    const double ready = cli_clock();
    while (status == SPRY_STATUS_OK && r->done < r->steps)
        status = take_step(r, &p);
    r->setup_seconds = ready - begin;
    r->seconds = cli_clock() - ready;
    if (status == SPRY_STATUS_OK)
        status = bring(r, &p);
    unmake(&p);
    return status;
}
