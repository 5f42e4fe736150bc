/*
 * Steps in time: backward Euler after corners, then the trapezoidal rule or Gear's method of order
 * 2, with local errors kept small, corners of sources hit, and switches turned where they turn.
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- states ----------------------------------------------------------------------------------- */

enum { ARRAYS = 8 };

void state_make(state *z, int64_t size)
{
    *z = (state){.q = zeros(ARRAYS * size)};
    double **const all[ARRAYS] = {&z->q,       &z->rate,    &z->q_before, &z->x,
                                  &z->history, &z->past[0], &z->past[1],  &z->past[2]};
    z->memory = z->q;
    for (int k = 0; k < ARRAYS; k++)
        *all[k] = z->memory + k * size;
}

void state_corner(state *z)
{
    z->points = 1;
}

void state_begin(run *r, state *z, bool initial)
{
    equations *s = &r->s;
    const size_t bytes = (size_t)(s->rows + 1) * sizeof *z->q;
    s->time = z->t;
    equations_evaluate(s, z->past[0]);
    memcpy(z->q, s->q, bytes);
    for (int64_t k = 0; initial && k < r->c->count; k++) {
        const element *e = &r->c->elements[k];
        if (e->kind != 'c' || !e->has_ic)
            continue;
        const double lack = e->ic - (z->past[0][e->node[0]] - z->past[0][e->node[1]]);
        z->q[e->node[0]] += e->value * lack;
        z->q[e->node[1]] -= e->value * lack;
    }
    memset(z->rate, 0, bytes);
    z->at[0] = z->t;
    state_corner(z);
}

/* dq/dt = a q - history */
static double method_of(const run *r, const state *z, double h, int order, double *history)
{
    const double w = h / z->before;
    for (int64_t k = 1; k <= r->s.rows; k++)
        if (order == 1)
            history[k] = z->q[k] / h;
        else if (r->c->tol.gear)
            history[k] = ((1 + w) * z->q[k] - w * w / (1 + w) * z->q_before[k]) / h;
        else
            history[k] = 2 / h * z->q[k] + z->rate[k];
    return order == 1 ? 1 / h : r->c->tol.gear ? (1 + 2 * w) / ((1 + w) * h) : 2 / h;
}

/* The polynomial through the last points, at most three. */
static void predict(state *z, double t, int64_t size)
{
    const int count = z->points < 3 ? z->points : 3;
    double weight[3] = {1, 0, 0};
    for (int i = 0; i < count; i++) {
        weight[i] = 1;
        for (int j = 0; j < count; j++)
            if (j != i)
                weight[i] *= (t - z->at[j]) / (z->at[i] - z->at[j]);
    }
    for (int64_t k = 0; k < size; k++) {
        z->x[k] = weight[0] * z->past[0][k];
        for (int i = 1; i < count; i++)
            z->x[k] += weight[i] * z->past[i][k];
    }
}

bool state_step(run *r, state *z, double h, int order)
{
    equations *s = &r->s;
    const double a = method_of(r, z, h, order, z->history);
    s->steps++;
    predict(z, z->t + h, s->rows + 1);
    equations_sources(s, z->t + h);
    return newton_step(s, a, z->history, z->x);
}

void state_accept(run *r, state *z, double h, int order)
{
    equations *s = &r->s;
    double *const oldest = z->past[2], *const charges = z->q_before;
    const double a = method_of(r, z, h, order, z->history);
    equations_evaluate(s, z->x);
    for (int64_t k = 1; k <= s->rows; k++)
        z->rate[k] = a * s->q[k] - z->history[k];
    z->q_before = z->q;
    z->q = charges;
    memcpy(z->q, s->q, (size_t)(s->rows + 1) * sizeof *z->q);
    z->past[2] = z->past[1];
    z->past[1] = z->past[0];
    z->past[0] = z->x;
    z->x = oldest;
    z->at[2] = z->at[1];
    z->at[1] = z->at[0];
    z->t = z->at[0] = z->t + h;
    z->before = h;
    z->points++;
}

bool state_initial(run *r, bool uic, double *x)
{
    equations *s = &r->s;
    const circuit *c = r->c;
    memset(x, 0, (size_t)(s->rows + 1) * sizeof *x);
    s->waves = true;
    if (uic) {
        for (int64_t k = 0; k < c->count; k++) {
            const element *e = &c->elements[k];
            if (e->has_ic && e->kind == 'l')
                x[e->branch] = e->ic;
            else if (e->has_ic && e->node[1] == 0)
                x[e->node[0]] = e->ic;
        }
        for (int64_t k = 0; k < c->start_count; k++)
            x[c->starts[k].unknown] = c->starts[k].value;
        s->starts = true;
        equations_evaluate(s, x);
        s->starts = false;
    } else {
        s->pinned = c->start_count > 0;
        const bool found = newton_operate(s, x);
        s->pinned = false;
        if (!found)
            return false;
    }
    x[0] = 0;
    s->transient = true;
    s->kept = NAN;
    return true;
}

/* --- corners ---------------------------------------------------------------------------------- */

double run_corner(const run *r, double t)
{
    double next = lines_corner(&r->s, t);
    for (int64_t k = 0; k < r->s.source_count; k++) {
        const element *e = &r->c->elements[r->s.sources[k]];
        if (e->wave)
            next = fmin(next, wave_corner(e->wave, t));
    }
    return next;
}

/* --- errors ----------------------------------------------------------------------------------- */

void run_note_sizes(run *r, const double *x)
{
    for (int64_t k = 1; k <= r->s.rows; k++) {
        double *top = &r->top[r->c->unknowns[k].current];
        r->most[k] = fmax(r->most[k], fabs(x[k]));
        *top = fmax(*top, fabs(x[k]));
    }
}

/* Unknowns with a rate in some equation, but for voltages that sources give. */
void run_find_smooth(run *r)
{
    const equations *s = &r->s;
    const circuit *c = r->c;
    memset(r->smooth, 0, (size_t)c->size * sizeof *r->smooth);
    for (int64_t k = 0; k < s->entries; k++)
        if (s->C[k] != 0)
            r->smooth[s->columns[k] + 1] = true;
    for (int64_t k = 0; k < c->count; k++)
        if (c->elements[k].kind == 'v' && c->elements[k].node[0] * c->elements[k].node[1] == 0)
            r->smooth[c->elements[k].node[0] + c->elements[k].node[1]] = false;
}

/* The local error over what is allowed, from how far the predictor was off. */
static double error_of(const run *r, const state *z, double h, int order)
{
    const tolerances *tol = &r->c->tol;
    const double h1 = z->at[0] - z->at[1], h2 = z->points > 2 ? z->at[1] - z->at[2] : 0;
    const double off = order == 1 ? h * (h + h1) / 2 : h * (h + h1) * (h + h1 + h2) / 6;
    const double own = order == 1  ? h * h / 2
                       : tol->gear ? h * h * (h + h1) * (h + h1) / (6 * (2 * h + h1))
                                   : h * h * h / 12;
    const double t = z->t + h;
    double worst = 0;
    for (int64_t k = 1; k <= r->s.rows; k++) {
        if (!r->smooth[k])
            continue;
        const bool current = r->c->unknowns[k].current;
        double predicted = z->past[0][k] + (z->past[0][k] - z->past[1][k]) * h / h1;
        if (order == 2) {
            const double slope1 = (z->past[0][k] - z->past[1][k]) / h1;
            const double slope2 = (z->past[1][k] - z->past[2][k]) / h2;
            predicted += (slope1 - slope2) / (h1 + h2) * h * (t - z->at[1]);
        }
        const double size = fmax(fmax(r->most[k], fabs(z->x[k])), 1e-3 * r->top[current]);
        const double allowed =
            tol->truncation * (tol->relative * size + (current ? tol->current : tol->voltage));
        worst = fmax(worst, own / (off + own) * fabs(z->x[k] - predicted) / allowed);
    }
    return worst;
}

/* --- a run ------------------------------------------------------------------------------------ */

typedef struct march {
    run *r;
    const analysis *a;
    state z;
    double h, least, fine; /* fine: how exactly switches turn */
    bool pending;          /* the first step after a corner waits for the second */
} march;

static void emit(march *m, int age)
{
    if (m->z.at[age] >= m->a->number[2] * (1 - 1e-12))
        results_add(&m->r->results, m->z.at[age], m->z.past[age], NULL);
    lines_keep(&m->r->s, m->z.past[age], m->z.at[age], false);
}

static void flush(march *m)
{
    if (m->pending)
        emit(m, 0);
    m->pending = false;
}

/* A corner, or a switch that turned. */
static void restart(march *m)
{
    flush(m);
    state_corner(&m->z);
    lines_note(&m->r->s, m->z.t);
    const double gap = fmin(run_corner(m->r, m->z.t), m->a->number[1]) - m->z.t;
    m->h = fmin(fmin(m->h, m->a->number[3] / 10), fmax(gap / 50, m->least));
}

/* Back to the corner: its first step was too long. */
static void roll_back(march *m)
{
    state *z = &m->z;
    double *const x = z->past[0], *const q = z->q;
    z->past[0] = z->past[1];
    z->past[1] = x;
    z->q = z->q_before;
    z->q_before = q;
    z->t = z->at[0] = z->at[1];
    state_corner(z);
    switches_take(&m->r->s, z->past[0], false);
    m->pending = false;
}

/* Accepts a step of length h, which may end at a corner, or with switches turned. */
static void take(march *m, double h, int order, bool corner)
{
    run *r = m->r;
    state_accept(r, &m->z, h, order);
    run_note_sizes(r, m->z.past[0]);
    const bool turned = switches_take(&r->s, m->z.past[0], true);
    if (m->pending)
        emit(m, 1);
    m->pending = m->z.points == 2 && !corner && !turned;
    if (!m->pending)
        emit(m, 0);
    if (corner || turned)
        restart(m);
}

/* The length of the next step, at most to the next corner; *corner: as far as that. */
static double choose(march *m, bool *corner)
{
    const double stop = m->a->number[1], t = m->z.t;
    const double left = fmin(run_corner(m->r, t), stop) - t;
    const double h = fmin(fmin(m->h, m->a->number[3]), lines_delay(&m->r->s));
    *corner = h >= left * (1 - 1e-9);
    return *corner ? left : h > left / 2 ? left / 2 : h;
}

/* One attempt; *stuck: steps are too small. */
static void attempt(march *m, bool *stuck)
{
    run *r = m->r;
    bool corner;
    const double h = choose(m, &corner);
    const int order = m->z.points >= 3 ? 2 : 1;
    r->s.rejected++; /* until it is accepted */
    if (!state_step(r, &m->z, h, order)) {
        m->h = h / 8;
        *stuck = m->h < m->least;
        return;
    }
    const double error = m->z.points >= 2 ? error_of(r, &m->z, h, order) : 0;
    const double factor = fmin(2, fmax(0.2, 0.9 * pow(error + 1e-30, -1.0 / (order + 1))));
    if (error > 1 && h > 8 * m->least) {
        m->h = h * fmin(factor, 0.9);
        if (m->z.points == 2 && m->pending) {
            m->h = fmin(m->h, m->z.before / 4);
            roll_back(m);
        }
        return;
    }
    const double part = switches_part(&r->s, m->z.x);
    if (part < 1 && (1 - part) * h > m->fine) {
        m->h = part * h + m->fine / 2;
        return;
    }
    r->s.rejected--;
    m->h = m->z.points >= 2 ? h * factor : h;
    equations_write(&r->s);
    take(m, h, order, corner);
}

static void march_on(march *m)
{
    run *r = m->r;
    char text[64], reason[2 * WORD_SIZE];
    const double stop = m->a->number[1];
    bool stuck = false;
    while (r->s.exit_status == EXIT_DONE && !stuck && m->z.t < stop * (1 - 1e-12)) {
        attempt(m, &stuck);
        snprintf(text, sizeof text, "t = %.4g s, %lld steps", m->z.t, (long long)r->s.steps);
        progress_part(&r->line, m->z.t / stop, text);
    }
    flush(m);
    progress_clear(&r->line);
    if (stuck)
        equations_failed(&r->s, "at %g s steps became too small: %s", m->z.t,
                         equations_reason(&r->s, "Newton's method fails", reason));
}

/* Voltages of .ic and IC= may not fit each other, or sources: a first short step finds those that
 * the charges give, and has no error that could be estimated. */
static void leap(march *m)
{
    double h = 1e-6 * m->a->number[3];
    while (h >= m->least && m->r->s.exit_status == EXIT_DONE && !state_step(m->r, &m->z, h, 1))
        h /= 8;
    if (h < m->least)
        equations_failed(&m->r->s, "the first step was not found");
    else if (m->r->s.exit_status == EXIT_DONE)
        take(m, h, 1, true);
}

void run_transient(run *r, const analysis *a)
{
    march m = {.r = r, .a = a};
    state_make(&m.z, r->c->size);
    m.least = 1e-14 * a->number[1];
    m.fine = 1e-4 * a->number[3];
    m.h = a->number[3] / 100;
    if (state_initial(r, a->uic, m.z.past[0])) {
        equations_sources(&r->s, 0);
        state_begin(r, &m.z, a->uic);
        run_find_smooth(r);
        switches_take(&r->s, m.z.past[0], a->uic);
        run_note_sizes(r, m.z.past[0]);
        lines_keep(&r->s, m.z.past[0], 0, true);
        emit(&m, 0);
        if (a->uic)
            leap(&m);
        restart(&m);
        march_on(&m);
    }
    free(m.z.memory);
}
