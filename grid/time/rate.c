/* The rate of change: A u + f, or what a function returns, or both, with the mass matrix or a
 * system solved. */
#include "grid/time/time.h"

/* right = right + f, the mean of two times of the source. */
static spry_status add_source(spry_stepper *s, double t, double other, spry_vector *right)
{
    const double times[2] = {t, other};
    const int count = t == other ? 1 : 2;
    spry_status status = SPRY_STATUS_OK;
    for (int i = 0; s->source && i < count && status == SPRY_STATUS_OK; i++) {
        status = s->source(s->source_data, times[i], s->force);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_axpy((spry_scalar){1.0 / count, 0}, s->force, right);
    }
    return status;
}

static spry_status apply(spry_stepper *s, const spry_vector *u, spry_vector *right)
{
    s->stats.evaluations++;
    return spry_operator_apply(s->A, u, right);
}

static spry_status call(spry_stepper *s, double t, const spry_vector *u, spry_vector *rate)
{
    s->stats.evaluations++;
    return s->rate(s->rate_data, t, u, rate);
}

static spry_status solve(spry_stepper *s, int place, double shift, spry_vector *rate)
{
    bool stopped = false;
    const spry_status status = stepper_solve(s, place, shift, s->right, rate, &stopped);
    s->stats.stopped = s->stats.stopped || stopped;
    return status;
}

spry_status stepper_implicit_rate(spry_stepper *s, int place, double shift, double t, double other,
                                  const spry_vector *u, spry_vector *rate)
{
    spry_status status = apply(s, u, s->right);
    if (status == SPRY_STATUS_OK)
        status = add_source(s, t, other, s->right);
    return status == SPRY_STATUS_OK ? solve(s, place, shift, rate) : status;
}

/* Without a mass matrix the sum of parts is the rate itself. */
spry_status stepper_rate(spry_stepper *s, int parts, double t, const spry_vector *u,
                         spry_vector *rate)
{
    spry_vector *sum = s->M ? s->right : rate;
    const bool product = s->A && (parts & PART_PRODUCT), calls = s->rate && (parts & PART_FUNCTION);
    spry_status status = product ? apply(s, u, sum) : SPRY_STATUS_OK;
    if (status == SPRY_STATUS_OK && (parts & PART_SOURCE))
        status = add_source(s, t, t, sum);
    if (status == SPRY_STATUS_OK && calls)
        status = call(s, t, u, product ? s->force : sum);
    if (status == SPRY_STATUS_OK && calls && product)
        status = spry_vector_axpy((spry_scalar){1, 0}, s->force, sum);
    return status == SPRY_STATUS_OK && s->M ? solve(s, SYSTEM_MASS, 0, rate) : status;
}
