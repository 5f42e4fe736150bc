/* The rate of change: A u + f, or what a function returns, with the mass matrix or a system solved.
 */
#include "grid/time/time.h"

/* right = A u + f, where f is the mean of two times of the source. */
static spry_status linear_rate(spry_stepper *s, double t, double other, const spry_vector *u,
                               spry_vector *right)
{
    const double times[2] = {t, other};
    const int count = t == other ? 1 : 2;
    spry_status status = spry_operator_apply(s->A, u, right);
    s->stats.evaluations++;
    for (int i = 0; s->source && i < count && status == SPRY_STATUS_OK; i++) {
        status = s->source(s->source_data, times[i], s->force);
        if (status == SPRY_STATUS_OK)
            status = spry_vector_axpy((spry_scalar){1.0 / count, 0}, s->force, right);
    }
    return status;
}

/* right where no system is to be solved is the rate itself. */
spry_status stepper_implicit_rate(spry_stepper *s, int place, double shift, double t, double other,
                                  const spry_vector *u, spry_vector *rate)
{
    if (shift == 0 && !s->M)
        return linear_rate(s, t, other, u, rate);
    bool stopped = false;
    spry_status status = linear_rate(s, t, other, u, s->right);
    if (status == SPRY_STATUS_OK)
        status = stepper_solve(s, place, shift, s->right, rate, &stopped);
    s->stats.stopped = s->stats.stopped || stopped;
    return status;
}

spry_status stepper_rate(spry_stepper *s, double t, const spry_vector *u, spry_vector *rate)
{
    if (s->A)
        return stepper_implicit_rate(s, SYSTEM_MASS, 0, t, t, u, rate);
    s->stats.evaluations++;
    return s->rate(s->rate_data, t, u, rate);
}
