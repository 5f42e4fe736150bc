/* The stepper: the object, and the course of a run. */
#include "grid/time/time.h"

#include "grid/options.h"

#include <float.h>

SPRY_OPTION_TABLE(rows, stepper_options, STEPPER_OPTIONS(SPRY_OPTION_ROW))
static const spry_option_list list = SPRY_OPTION_LIST(rows);

spry_option_list stepper_option_list(void)
{
    return list;
}

/* --- the object ----------------------------------------------------------------------------------
 */

static void drop_vectors(spry_stepper *s)
{
    for (int i = 0; i < TIME_STAGES; i++) {
        spry_vector_free(s->k[i]);
        spry_vector_free(s->x[i]);
        s->k[i] = s->x[i] = NULL;
    }
    spry_vector_free(s->sum);
    spry_vector_free(s->right);
    spry_vector_free(s->force);
    spry_vector_free(s->before);
    s->sum = s->right = s->force = s->before = NULL;
}

static void drop_systems(spry_stepper *s)
{
    for (int i = 0; i < SYSTEMS; i++)
        time_system_clear(&s->systems[i]);
}

spry_status spry_stepper_new(spry_context *ctx, const char *options, spry_stepper **stepper)
{
    SPRY_NEED(ctx, ctx, stepper);
    stepper_options chosen;
    *stepper = NULL;
    spry_status status = options_take(ctx, list, &chosen, options);
    if (status == SPRY_STATUS_OK)
        status = base_object_new(ctx, sizeof **stepper, stepper);
    if (status != SPRY_STATUS_OK)
        return status;
    (*stepper)->ctx = ctx;
    (*stepper)->options = chosen;
    return SPRY_STATUS_OK;
}

void spry_stepper_free(spry_stepper *s)
{
    if (!s)
        return;
    drop_vectors(s);
    drop_systems(s);
    base_object_free(s->ctx, s);
}

/* Takes options that were changed; solvers go where theirs are others. */
static void take_options(spry_stepper *s, const stepper_options *changed)
{
    if (strcmp(changed->solver, s->options.solver) != 0)
        drop_systems(s);
    s->options = *changed;
}

spry_status spry_stepper_set(spry_stepper *stepper, const char *options)
{
    SPRY_NEED(CTX_OF(stepper), stepper);
    stepper_options changed = stepper->options;
    const spry_status status = spry_options_parse(stepper->ctx, list, &changed, options);
    if (status == SPRY_STATUS_OK)
        take_options(stepper, &changed);
    return status;
}

spry_status spry_stepper_set_real(spry_stepper *stepper, const char *name, double value)
{
    SPRY_NEED(CTX_OF(stepper), stepper, name);
    stepper_options changed = stepper->options;
    const spry_status status = options_set_real(stepper->ctx, list, &changed, name, value);
    if (status == SPRY_STATUS_OK)
        take_options(stepper, &changed);
    return status;
}

spry_status spry_stepper_set_table(spry_stepper *stepper, int stages, const double *a,
                                   const double *b, const double *c)
{
    SPRY_NEED(CTX_OF(stepper), stepper);
    time_table table = {0};
    if (stages != 0) {
        SPRY_NEED(stepper->ctx, a, b);
        const spry_status status = time_table_read(stepper->ctx, stages, a, b, c, &table);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    stepper->own = table;
    return SPRY_STATUS_OK;
}

/* Forgets all that was made for the problem before. */
static void forget_problem(spry_stepper *s)
{
    drop_systems(s);
    s->knows_lambda = false;
    s->rate = NULL;
    s->A = s->M = NULL;
    s->source = NULL;
}

spry_status spry_stepper_set_function(spry_stepper *stepper, spry_rate_fn rate, void *data)
{
    SPRY_NEED(CTX_OF(stepper), stepper);
    if (!rate)
        return SPRY_FAIL(stepper->ctx, SPRY_STATUS_BAD_USAGE,
                         "spry_stepper_set_function: rate is NULL");
    forget_problem(stepper);
    stepper->rate = rate;
    stepper->rate_data = data;
    return SPRY_STATUS_OK;
}

spry_status spry_stepper_set_operator(spry_stepper *stepper, const spry_operator *A,
                                      const spry_operator *M, spry_source_fn source, void *data)
{
    SPRY_NEED(CTX_OF_ANY(stepper, A), stepper, A);
    spry_context *ctx = stepper->ctx;
    if (A->ctx != ctx || (M && M->ctx != ctx))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the stepper and its operators are of different contexts");
    if (!A->square || (M && (M->rows != A->rows || !M->square || M->type != A->type)))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "M u' = A u + f: A is %" PRId64 " x %" PRId64 ", type %s, M %" PRId64
                         " x %" PRId64 ", type %s; expected both square and alike",
                         A->rows, A->cols, spry_type_name(A->type), M ? M->rows : A->rows,
                         M ? M->cols : A->rows, spry_type_name(M ? M->type : A->type));
    forget_problem(stepper);
    stepper->A = A;
    stepper->M = M;
    stepper->source = source;
    stepper->source_data = data;
    return SPRY_STATUS_OK;
}

spry_status spry_stepper_add_function(spry_stepper *stepper, spry_rate_fn rate, void *data)
{
    SPRY_NEED(CTX_OF(stepper), stepper);
    if (!stepper->A)
        return SPRY_FAIL(stepper->ctx, SPRY_STATUS_BAD_USAGE,
                         "the stepper has no operator to add F to: spry_stepper_set_operator() "
                         "gives it one");
    stepper->rate = rate;
    stepper->rate_data = data;
    return SPRY_STATUS_OK;
}

void spry_stepper_set_watch(spry_stepper *stepper, spry_step_fn watch, void *data)
{
    if (!stepper)
        return;
    stepper->watch = watch;
    stepper->watch_data = data;
}

/* --- what a run works with -----------------------------------------------------------------------
 */

static spry_status check_problem(const spry_stepper *s, const spry_vector *u)
{
    const time_table *table = stepper_table(s);
    if (!s->rate && !s->A)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "the stepper has no problem: spry_stepper_set_function() or "
                         "spry_stepper_set_operator() gives it one");
    if (u->ctx != s->ctx)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "the stepper and u are of different contexts");
    if (s->A && (u->n != s->A->rows || u->type != s->A->type))
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "u has %" PRId64 " elements of type %s, the operator %" PRId64
                         " rows of type %s",
                         u->n, spry_type_name(u->type), s->A->rows, spry_type_name(s->A->type));
    if (!s->A && table->gamma != 0)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "method %s is implicit: it takes problems of spry_stepper_set_operator(), "
                         "not functions",
                         table->name);
    if (stepper_is_split(s) && table->order == 0)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "method %s has no explicit part for F beside the operator; ark3 and ark4 "
                         "have",
                         table->name);
    if (stepper_adapts(s) && table->order == 0)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "method %s has no estimate of its error for tol and atol; bs3, dp5, ark3 "
                         "and ark4 have",
                         table->name);
    return SPRY_STATUS_OK;
}

/* --- a run ---------------------------------------------------------------------------------------
 */

static spry_status check_times(const spry_stepper *s, double t, double end)
{
    if (!isfinite(t) || !isfinite(end) || end < t)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "a run from %g to %g, expected finite times and an end after the "
                         "beginning",
                         t, end);
    return SPRY_STATUS_OK;
}

/* The length of steps: the caller's, or what is stable. Explicit steps of linear problems are
 * looked at. */
static spry_status choose_dt(spry_stepper *s, double span, const spry_vector *u)
{
    const time_table *table = stepper_table(s);
    const bool looks = s->A && table->gamma == 0 && (s->options.check || s->options.dt == 0);
    s->stats.dt = s->options.dt;
    if (stepper_adapts(s))
        return SPRY_STATUS_OK;
    if (!looks && s->options.dt == 0)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_USAGE,
                         "dt is not given; %s has no largest step to take in its place",
                         s->rate ? "a function" : table->name);
    if (!looks || span == 0)
        return SPRY_STATUS_OK;
    const spry_status status = stepper_find_lambda(s, u);
    if (status != SPRY_STATUS_OK)
        return status;
    const spry_scalar lambda = s->lambda;
    s->stats.limit = time_table_limit(table, lambda, s->options.dt == 0 ? INFINITY : span);
    if (s->options.dt == 0) {
        s->stats.dt = fmin(0.9 * s->stats.limit, span);
        return s->stats.dt > 0 ? SPRY_STATUS_OK
                               : SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                                           "no step of %s is stable: the operator has an "
                                           "eigenvalue near %.3g%+.3gi; rk4, or an implicit method",
                                           table->name, lambda.re, lambda.im);
    }
    const double dt = fmin(s->options.dt, span);
    if (s->options.check && time_table_growth(table, lambda, dt, span) >= TIME_GROWTH)
        return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                         "steps of %g are not stable with %s: the largest stable one is about "
                         "%.3g (the operator has an eigenvalue near %.3g%+.3gi). Take smaller "
                         "steps or an implicit method; check=no takes them all the same",
                         dt, table->name, s->stats.limit, lambda.re, lambda.im);
    return SPRY_STATUS_OK;
}

/* Steps until the end. One that is left over from rounding of the times is none. */
static int64_t count_steps(double t, double end, double dt)
{
    if (end == t)
        return 0;
    const double whole = ceil((end - t - stepper_rounding(t, end)) / dt * (1 - 8 * DBL_EPSILON));
    return whole < 1 ? 1 : whole < 9e18 ? (int64_t)whole : INT64_MAX;
}

static spry_status take_steps(spry_stepper *s, double t, double end, spry_vector *u)
{
    enum { LOOK_EVERY = 64 }; /* a look reads u once more */
    const double dt = s->stats.dt, rounding = stepper_rounding(t, end);
    const int64_t count = count_steps(t, end, dt);
    spry_status status = SPRY_STATUS_OK;
    for (int64_t k = 0; k < count && !s->stats.stopped; k++) {
        const double now = t + (double)k * dt, left = end - now;
        const bool last = k + 1 == count && fabs(left - dt) > rounding;
        const double length = last ? left : dt;
        SPRY_GO(s->ctx, stepper_step(s, last ? SYSTEM_LAST : SYSTEM_STEP, now, length, u));
        if (!s->stats.stopped)
            SPRY_GO(s->ctx, stepper_accept(s, k + 1 == count ? end : t + (double)(k + 1) * dt,
                                           length, (k + 1) % LOOK_EVERY == 0 || k + 1 == count, u));
    }
done:
    return status;
}

static const base_sized sized = BASE_SIZED(spry_step_stats, stopped);

spry_status spry_stepper_run(spry_stepper *stepper, double t, double end, spry_vector *u,
                             spry_step_stats *stats)
{
    SPRY_NEED(CTX_OF_ANY(stepper, u), stepper, u);
    spry_context *ctx = stepper->ctx;
    const double begun = base_seconds();
    spry_status status = stats ? base_blank(ctx, stats, &sized) : SPRY_STATUS_OK;
    if (status != SPRY_STATUS_OK)
        return status;
    stepper->stats = (spry_step_stats){.t = t};
    ctx->calls++; /* a request to stop is for the run, not for one of its solves */
    SPRY_GO(ctx, check_problem(stepper, u));
    SPRY_GO(ctx, check_times(stepper, t, end));
    SPRY_GO(ctx, vector_fetch(u));
    SPRY_GO(ctx, stepper_prepare(stepper, u));
    SPRY_GO(ctx, choose_dt(stepper, end - t, u));
    if (stepper_adapts(stepper))
        SPRY_GO(ctx, stepper_adapt(stepper, t, end, u));
    else
        SPRY_GO(ctx, take_steps(stepper, t, end, u));
done:
    ctx->calls--;
    if (stepper->stats.stopped)
        base_stopped(ctx);
    stepper->stats.seconds = base_seconds() - begun;
    if (stats)
        base_give(stats, &stepper->stats, &sized);
    return status;
}

spry_status spry_stepper_limit(spry_stepper *stepper, const spry_vector *u, double *limit)
{
    SPRY_NEED(CTX_OF_ANY(stepper, u), stepper, u, limit);
    spry_context *ctx = stepper->ctx;
    const time_table *table = stepper_table(stepper);
    spry_status status = SPRY_STATUS_OK;
    *limit = INFINITY;
    SPRY_GO(ctx, check_problem(stepper, u));
    if (!stepper->A)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE,
                         "the largest stable step is known of problems with an operator alone");
    SPRY_GO(ctx, stepper_prepare(stepper, u));
    SPRY_GO(ctx, stepper_find_lambda(stepper, u));
    *limit = time_table_limit(table, stepper->lambda, INFINITY);
done:
    return status;
}
