/* One step of a Runge-Kutta method, the estimate of its error, and what follows a step that counts.
 */
#include "grid/time/time.h"

#include <float.h>

static bool is_like(const spry_vector *v, const spry_vector *u)
{
    return v && v->type == u->type && v->n == u->n && v->device == u->device &&
           v->part.is == u->part.is && v->part.first == u->part.first;
}

static spry_status want(const spry_vector *u, spry_vector **v)
{
    if (is_like(*v, u))
        return SPRY_STATUS_OK;
    spry_vector_free(*v);
    *v = NULL;
    return spry_vector_like(u, u->n, v);
}

spry_status stepper_prepare(spry_stepper *s, const spry_vector *u)
{
    const time_table *table = stepper_table(s);
    const bool solves = table->gamma != 0 || s->M;
    spry_status status = SPRY_STATUS_OK;
    s->knows_first = false;
    for (int i = 0; i < table->stages; i++) {
        SPRY_GO(s->ctx, want(u, &s->k[i]));
        if (solves)
            SPRY_GO(s->ctx, spry_vector_fill(s->k[i], (spry_scalar){0, 0}));
        if (stepper_is_split(s)) {
            SPRY_GO(s->ctx, want(u, &s->x[i]));
            SPRY_GO(s->ctx, spry_vector_fill(s->x[i], (spry_scalar){0, 0}));
        }
    }
    if (table->stages > 1)
        SPRY_GO(s->ctx, want(u, &s->sum));
    if (solves)
        SPRY_GO(s->ctx, want(u, &s->right));
    if (s->source || (s->A && s->rate))
        SPRY_GO(s->ctx, want(u, &s->force));
    if (stepper_adapts(s))
        SPRY_GO(s->ctx, want(u, &s->before));
done:
    return status;
}

/* to = to + dt sum_j a_j k_j */
static spry_status add_rates(spry_vector *const *k, const double *a, int count, double dt,
                             spry_vector *to)
{
    spry_status status = SPRY_STATUS_OK;
    for (int j = 0; j < count && status == SPRY_STATUS_OK; j++)
        if (a[j] != 0)
            status = spry_vector_axpy((spry_scalar){dt * a[j], 0}, k[j], to);
    return status;
}

/* u + dt sum_j a_j k_j of the stages before; u itself where there is nothing to add. */
static spry_status stage_place(spry_stepper *s, int i, double dt, const spry_vector *u,
                               const spry_vector **at)
{
    const time_table *table = stepper_table(s);
    spry_status status = SPRY_STATUS_OK;
    *at = i == 0 ? u : s->sum;
    if (i == 0)
        return status;
    SPRY_GO(s->ctx, spry_vector_copy(u, s->sum));
    SPRY_GO(s->ctx, add_rates(s->k, table->a[i], i, dt, s->sum));
    if (stepper_is_split(s))
        SPRY_GO(s->ctx, add_rates(s->x, table->partner[i], i, dt, s->sum));
done:
    return status;
}

/* The rate of a stage; beside one that is taken implicitly that of F, at the u that it leads to. */
static spry_status take_stage(spry_stepper *s, int i, int place, double t, double dt,
                              const spry_vector *u)
{
    const time_table *table = stepper_table(s);
    const double own = table->a[i][i], at_t = t + table->c[i] * dt;
    const bool split = stepper_is_split(s);
    const spry_vector *at;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, stage_place(s, i, dt, u, &at));
    if (own == 0)
        SPRY_GO(s->ctx,
                stepper_rate(s, split ? PART_PRODUCT | PART_SOURCE : PART_ALL, at_t, at, s->k[i]));
    else
        SPRY_GO(s->ctx, stepper_implicit_rate(s, place, own * dt, table->mean ? t : at_t,
                                              table->mean ? t + dt : at_t, at, s->k[i]));
    if (!split || s->stats.stopped)
        return status;
    if (own != 0) /* only the first stage of pairs is explicit, and `at` is then the stage's own */
        SPRY_GO(s->ctx, spry_vector_axpy((spry_scalar){own * dt, 0}, s->k[i], s->sum));
    SPRY_GO(s->ctx, stepper_rate(s, PART_FUNCTION, at_t, at, s->x[i]));
done:
    return status;
}

spry_status stepper_step(spry_stepper *s, int place, double t, double dt, spry_vector *u)
{
    const time_table *table = stepper_table(s);
    spry_status status = SPRY_STATUS_OK;
    for (int i = s->knows_first ? 1 : 0; i < table->stages && !s->stats.stopped; i++)
        SPRY_GO(s->ctx, take_stage(s, i, place, t, dt, u));
    if (s->stats.stopped)
        return status;
    s->knows_first = table->a[0][0] == 0 && table->c[0] == 0;
    SPRY_GO(s->ctx, add_rates(s->k, table->b, table->stages, dt, u));
    if (stepper_is_split(s))
        SPRY_GO(s->ctx, add_rates(s->x, table->b, table->stages, dt, u));
done:
    return status;
}

spry_status stepper_error(spry_stepper *s, double dt, double *error)
{
    const time_table *table = stepper_table(s);
    double weights[TIME_STAGES];
    spry_status status = spry_vector_fill(s->sum, (spry_scalar){0, 0});
    for (int i = 0; i < table->stages; i++)
        weights[i] = table->b[i] - table->lower[i];
    if (status == SPRY_STATUS_OK)
        status = add_rates(s->k, weights, table->stages, dt, s->sum);
    if (status == SPRY_STATUS_OK && stepper_is_split(s))
        status = add_rates(s->x, weights, table->stages, dt, s->sum);
    return status == SPRY_STATUS_OK ? spry_vector_norm(s->sum, error) : status;
}

/* --- after a step --------------------------------------------------------------------------------
 */

/* Whether the next step knows its first stage. */
static void next(spry_stepper *s)
{
    const time_table *table = stepper_table(s);
    s->knows_first = !stepper_is_split(s) && time_table_is_fsal(table);
    if (!s->knows_first)
        return;
    spry_vector *last = s->k[table->stages - 1];
    s->k[table->stages - 1] = s->k[0];
    s->k[0] = last;
}

static spry_status check_finite(const spry_stepper *s, const spry_vector *u)
{
    double norm = 0;
    const spry_status status = spry_vector_norm(u, &norm);
    if (status != SPRY_STATUS_OK || isfinite(norm))
        return status;
    return SPRY_FAIL(
        s->ctx, SPRY_STATUS_BAD_INPUT, "u is no longer finite at step %" PRId64 ", t = %g%s",
        s->stats.steps, s->stats.t,
        stepper_table(s)->gamma == 0 ? ": most likely steps are too long to be stable" : "");
}

static bool is_asked_to_stop(spry_stepper *s, const spry_vector *u)
{
    if (s->watch && !s->watch(s->watch_data, s->stats.steps, s->stats.t, u))
        return true;
    return atomic_load(&s->ctx->interrupted);
}

spry_status stepper_accept(spry_stepper *s, double t, double dt, bool look, const spry_vector *u)
{
    next(s);
    s->stats.steps++;
    s->stats.t = t;
    s->stats.last_dt = dt;
    const spry_status status = look ? check_finite(s, u) : SPRY_STATUS_OK;
    s->stats.stopped = is_asked_to_stop(s, u);
    return status;
}

double stepper_rounding(double t, double end)
{
    return 4 * DBL_EPSILON * fmax(fabs(t), fabs(end));
}
