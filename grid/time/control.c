/*
 * Steps as long as the error allows. K. Gustafsson, Control-theoretic techniques for stepsize
 * selection in explicit Runge-Kutta methods, ACM Trans. Math. Softw. 17 (1991) 533-554; E. Hairer,
 * G. Wanner, Solving Ordinary Differential Equations II (1996), IV.2: with e the estimate relative
 * to the tolerance, and q the order of the pair, the next step is
 *
 *     0.9 dt e^(-0.7 / q) before^(0.4 / q)
 *
 * where `before` is that of the step before. Every new length costs implicit methods a set-up, so
 * they keep theirs where it would grow by less than a fifth.
 */
#include "grid/time/time.h"

#include <float.h>

static const double LEAST_FACTOR = 0.2, MOST_FACTOR = 5, SAFETY = 0.9;

typedef struct control {
    double dt;     /* to take next */
    double before; /* error of the last step that was taken, relative to the tolerance */
    double norm;   /* of u */
    bool rejected; /* the try before */
} control;

/* What is allowed of a norm over u. */
static double allowed(const spry_stepper *s, const spry_vector *u, double norm)
{
    return s->options.tol * norm + s->options.atol * sqrt((double)vector_all(u));
}

/* The step over which u would change by about the error that is allowed, were the method of order
 * q - 1: with too long a one the first try is rejected. */
static spry_status first_length(spry_stepper *s, double t, double span, const spry_vector *u,
                                control *c)
{
    const int q = stepper_table(s)->order;
    double rate = 0;
    c->dt = s->options.dt;
    if (c->dt > 0)
        return SPRY_STATUS_OK;
    const int parts = stepper_is_split(s) ? PART_PRODUCT | PART_SOURCE : PART_ALL;
    spry_status status = stepper_rate(s, parts, t, u, s->k[0]);
    s->knows_first = true;
    if (status == SPRY_STATUS_OK && stepper_is_split(s))
        status = stepper_rate(s, PART_FUNCTION, t, u, s->x[0]);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_copy(s->k[0], s->sum);
    if (status == SPRY_STATUS_OK && stepper_is_split(s))
        status = spry_vector_axpy((spry_scalar){1, 0}, s->x[0], s->sum);
    if (status == SPRY_STATUS_OK)
        status = spry_vector_norm(s->sum, &rate);
    const double size = allowed(s, u, c->norm) / fmax(s->options.tol, DBL_EPSILON);
    const double part = pow(fmax(s->options.tol, DBL_EPSILON), 1.0 / q);
    c->dt = size > 0 && rate > 0 && isfinite(rate) ? part * size / rate : part * span;
    c->dt = fmin(c->dt, span);
    return status;
}

/* The length of this try: one that would leave less than a step takes half of what is left. */
static double length_of(double dt, double left, double rounding)
{
    return dt >= left - rounding ? left : dt > left / 2 ? left / 2 : dt;
}

/* Sets the next length by the error of a step of h, relative to the tolerance. */
static void control_length(const spry_stepper *s, control *c, double h, double error, bool good)
{
    const time_table *table = stepper_table(s);
    const double q = table->order;
    double factor;
    if (good) {
        const double now = fmax(error, 1e-10); /* an error of 0 is as good as this one */
        factor = SAFETY * pow(now, -0.7 / q) * pow(c->before, 0.4 / q);
        c->before = now;
        if (c->rejected)
            factor = fmin(factor, 1);
        if (table->gamma != 0 && factor >= 1 && factor < 1.2)
            factor = 1;
    } else
        factor = isfinite(error) ? SAFETY * pow(error, -1 / q) : 0;
    factor = fmin(fmax(factor, LEAST_FACTOR), MOST_FACTOR);
    c->rejected = !good;
    /* a step that was shortened for the end does not shorten the ones after it */
    c->dt = good && h < c->dt ? fmax(c->dt, factor * h) : factor * h;
}

/* A step of h; u is as before where its error is too large. */
static spry_status try_step(spry_stepper *s, control *c, double t, double h, spry_vector *u,
                            double *error)
{
    double norm = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, spry_vector_copy(u, s->before));
    SPRY_GO(s->ctx, stepper_step(s, h == c->dt ? SYSTEM_STEP : SYSTEM_LAST, t, h, u));
    if (s->stats.stopped)
        return status;
    SPRY_GO(s->ctx, stepper_error(s, h, error));
    SPRY_GO(s->ctx, spry_vector_norm(u, &norm));
    if (*error > 0 || !isfinite(norm))
        *error = isfinite(norm) ? *error / allowed(s, u, fmax(norm, c->norm)) : INFINITY;
    if (*error <= 1)
        c->norm = norm;
    else {
        *error = isnan(*error) ? INFINITY : *error;
        SPRY_GO(s->ctx, spry_vector_copy(s->before, u));
    }
done:
    return status;
}

spry_status stepper_adapt(spry_stepper *s, double t, double end, spry_vector *u)
{
    const double rounding = stepper_rounding(t, end);
    control c = {.before = 1};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(s->ctx, spry_vector_norm(u, &c.norm));
    if (end > t)
        SPRY_GO(s->ctx, first_length(s, t, end - t, u, &c));
    while (t < end && !s->stats.stopped) {
        const double left = end - t, h = length_of(c.dt, left, rounding);
        double error = 0;
        if ((h <= rounding && h < left) || (c.dt <= rounding && c.rejected))
            return SPRY_FAIL(s->ctx, SPRY_STATUS_BAD_INPUT,
                             "t = %g: the error of a step of %.2e is larger than tol and atol "
                             "allow, and shorter ones cannot be told apart in t: u is no longer "
                             "smooth, or not finite",
                             t, h);
        SPRY_GO(s->ctx, try_step(s, &c, t, h, u, &error));
        if (s->stats.stopped)
            break;
        control_length(s, &c, h, error, error <= 1);
        s->stats.dt = c.dt;
        if (error <= 1) {
            t = h == left ? end : t + h;
            SPRY_GO(s->ctx, stepper_accept(s, t, h, false, u));
        } else {
            s->stats.rejected++;
            s->stats.stopped = atomic_load(&s->ctx->interrupted);
        }
    }
done:
    return status;
}
