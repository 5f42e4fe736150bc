/* Switches: where they turn, and that they do. */
#include "circuit/circuit.h"

#include <math.h>

static double control_of(const element *e, const double *x)
{
    return e->kind == 's' ? x[e->node[2]] - x[e->node[3]] : x[e->control];
}

static double threshold_of(const element *e)
{
    const double *n = e->model->number;
    return n[S_THRESHOLD] + (e->on ? -n[S_HYSTERESIS] : n[S_HYSTERESIS]);
}

static bool turns(const element *e, double control)
{
    return e->on ? control < threshold_of(e) : control > threshold_of(e);
}

double switches_part(const equations *s, const double *x)
{
    double part = 2;
    for (int64_t k = 0; k < s->other_count; k++) {
        const element *e = &s->c->elements[s->others[k]];
        if (e->kind != 's' && e->kind != 'w')
            continue;
        const double now = control_of(e, x);
        if (turns(e, now))
            part = fmin(part, fmax(0, (threshold_of(e) - e->state[0]) / (now - e->state[0])));
    }
    return part;
}

bool switches_take(equations *s, const double *x, bool turn)
{
    bool turned = false;
    for (int64_t k = 0; k < s->other_count; k++) {
        element *e = &s->c->elements[s->others[k]];
        if (e->kind != 's' && e->kind != 'w')
            continue;
        e->state[0] = control_of(e, x);
        if (turn && turns(e, e->state[0])) {
            e->on = !e->on;
            turned = true;
        }
    }
    s->turned = s->turned || turned;
    return turned;
}
