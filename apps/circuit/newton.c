/*
 * Newton's method for a q(x) + f(x) = b + history, and the operating point: plainly, then with
 * conductances to ground that go away, with sources that come up, and by going to rest in pseudo
 * time.
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITERATIONS = 100, MOST_TRANSIENT = 30, MOST_STAGES = 400, MOST_TURNS = 50 };

/* right = b + history - f - a q */
static bool residual(equations *s, double a, const double *history)
{
    bool finite = true;
    for (int64_t k = 1; k <= s->rows; k++) {
        s->right[k] = s->b[k] - s->f[k];
        if (a != 0)
            s->right[k] += (history ? history[k] : 0) - a * s->q[k];
        finite = finite && isfinite(s->right[k]);
    }
    return finite;
}

/* x += change; whether it is small. */
static bool take_change(const equations *s, double *x)
{
    const tolerances *tol = &s->c->tol;
    bool small = true;
    for (int64_t k = 1; k <= s->rows; k++) {
        const double next = x[k] + s->change[k], size = fmax(fabs(next), fabs(x[k]));
        const double least = s->c->unknowns[k].current ? tol->current : tol->voltage;
        small = small && fabs(s->change[k]) <= tol->relative * size + least;
        x[k] = next;
    }
    return small;
}

bool newton_step(equations *s, double a, const double *history, double *x)
{
    const int most = s->transient ? MOST_TRANSIENT : MOST_ITERATIONS;
    for (int k = 0; k < most; k++) {
        equations_evaluate(s, x);
        s->starts = false;
        const bool limited = s->limited;
        if (!residual(s, a, history) || !equations_solve(s, a))
            return false;
        const bool small = take_change(s, x);
        if (s->linear || (small && !limited && k > 0))
            return true;
    }
    return false;
}

/* --- the operating point ---------------------------------------------------------------------- */

/* A way from an easier problem (part 0) to the circuit (part 1). */
typedef struct homotopy {
    void (*set)(equations *s, double part);
    double first;
} homotopy;

static void set_shunt(equations *s, double part)
{
    s->shunt = part < 1 ? pow(10, -2 - 12 * part) : 0;
}

static void set_sources(equations *s, double part)
{
    s->scale = part;
}

/* Parts that grow where Newton's method converges, and shrink where it does not. */
static bool follow(equations *s, const homotopy *h, double *x)
{
    const size_t bytes = (size_t)(s->rows + 1) * sizeof *x;
    double *last = zeros(s->rows + 1), part = 0, step = h->first;
    bool begun = false, converged = false;
    memset(x, 0, bytes);
    for (int k = 0; k < MOST_STAGES && s->exit_status == EXIT_DONE; k++) {
        const double next = begun ? fmin(1, part + step) : 0;
        h->set(s, next);
        equations_sources(s, 0);
        s->starts = !begun;
        const bool good = newton_step(s, 0, NULL, x);
        converged = good && next == 1;
        if (converged)
            break;
        if (good) {
            part = next;
            begun = true;
            step *= k > 0 ? 1.5 : 1;
            memcpy(last, x, bytes);
        } else {
            memcpy(x, last, bytes);
            step /= 4;
            if (!begun || step < 1e-7)
                break;
        }
    }
    h->set(s, 1);
    free(last);
    return converged;
}

/* Backward Euler with a capacitor of 1 F at every node, whose steps grow until nothing moves. */
static bool settle(equations *s, double *x)
{
    const size_t bytes = (size_t)(s->rows + 1) * sizeof *x;
    double *last = zeros(s->rows + 1), h = 1e-3;
    memset(x, 0, bytes);
    s->anchor = last;
    for (int k = 0; k < 3 * MOST_STAGES && s->exit_status == EXIT_DONE && h > 1e-15 && h < 1e15;
         k++) {
        s->shunt = 1 / h;
        equations_sources(s, 0);
        s->starts = k == 0;
        const bool good = newton_step(s, 0, NULL, x);
        memcpy(good ? last : x, good ? x : last, bytes);
        h *= good ? 3 : 0.125;
    }
    s->shunt = 0;
    s->anchor = NULL;
    equations_sources(s, 0);
    free(last);
    return s->exit_status == EXIT_DONE && newton_step(s, 0, NULL, x);
}

/* --- circuits that have no operating point ---------------------------------------------------- */

static int root_of(int *parent, int k)
{
    while (parent[k] != k)
        k = parent[k] = parent[parent[k]];
    return k;
}

/* Joins two nodes; false where they were joined before. */
static bool join(int *parent, int a, int b)
{
    const int l = root_of(parent, a), r = root_of(parent, b);
    parent[l] = r;
    return l != r;
}

static bool fixes_voltage(const element *e)
{
    return e->branch != 0 && strchr("vlehb", e->kind);
}

static void join_paths(const element *e, int *parent)
{
    if (strchr("rvlehdqmsw", e->kind) || (e->kind == 'b' && e->branch != 0))
        join(parent, e->node[0], e->kind == 'm' ? e->node[2] : e->node[1]);
    if (e->kind == 'q')
        join(parent, e->node[1], e->node[2]);
    if (e->kind == 'm')
        join(parent, e->node[2], e->node[3]);
    if (e->kind == 'd' || e->kind == 'q' || e->kind == 'm')
        for (int k = 0; k < (e->kind == 'd' ? 1 : e->kind == 'm' ? 2 : 3); k++)
            join(parent, e->inner[k], e->node[e->kind == 'm' ? 2 * k : k]);
    if (e->kind == 't') {
        join(parent, e->node[0], e->node[2]);
        join(parent, e->node[1], e->node[3]);
    }
}

/* Voltages of .ic that are not free: the equations of their nodes are given up for them. */
static void check_starts(equations *s)
{
    circuit *c = s->c;
    int *parent = cli_alloc((size_t)c->size * sizeof *parent);
    for (int64_t k = 0; k < c->size; k++)
        parent[k] = (int)k;
    for (int64_t k = 0; k < c->count; k++)
        if (fixes_voltage(&c->elements[k]))
            join(parent, c->elements[k].node[0], c->elements[k].node[1]);
    for (int64_t k = 0; k < c->start_count; k++)
        if (!join(parent, c->starts[k].unknown, 0))
            text_fault(&c->text, &c->text.lines[c->starts[k].line],
                       "v(%s) is given already, by voltage sources, inductors or another .ic",
                       c->unknowns[c->starts[k].unknown].name);
    free(parent);
}

/* Nodes from which no direct current finds its way, loops of voltages: named with their lines. */
static void check_shape(equations *s)
{
    circuit *c = s->c;
    int *parent = cli_alloc((size_t)c->size * sizeof *parent);
    for (int64_t k = 0; k < c->size; k++)
        parent[k] = (int)k;
    for (int64_t k = 0; k < c->count; k++) {
        const element *e = &c->elements[k];
        if (fixes_voltage(e) && !join(parent, e->node[0], e->node[1]))
            text_fault(&c->text, &c->text.lines[e->line],
                       "%s closes a loop of voltage sources and inductors", e->name);
    }
    for (int64_t k = 0; k < c->count; k++)
        join_paths(&c->elements[k], parent);
    for (int64_t k = 0; k < c->count; k++) {
        const element *e = &c->elements[k];
        const int count = strchr("eg", e->kind)    ? 4
                          : e->kind == 'q'         ? 3
                          : strchr("mst", e->kind) ? 4
                                                   : 2;
        for (int i = 0; i < count && e->kind != 'k'; i++)
            if (root_of(parent, e->node[i]) != root_of(parent, 0))
                text_fault(&c->text, &c->text.lines[e->line],
                           "node %s of %s has no path for direct current to ground",
                           c->unknowns[e->node[i]].name, e->name);
    }
    free(parent);
    if (s->pinned)
        check_starts(s);
}

static bool operate(equations *s, double *x)
{
    static const homotopy ways[] = {{set_shunt, 0.1}, {set_sources, 0.01}};
    equations_sources(s, 0);
    s->starts = true;
    bool converged = newton_step(s, 0, NULL, x);
    for (int k = 0; k < 2 && !converged && !s->linear && s->exit_status == EXIT_DONE; k++)
        converged = follow(s, &ways[k], x);
    return converged || (!s->linear && s->exit_status == EXIT_DONE && settle(s, x));
}

bool newton_operate(equations *s, double *x)
{
    static const char *const newton =
        "Newton's method failed, with gmin and source stepping as well, and in pseudo time";
    bool converged = false, turned = true;
    char text[2 * WORD_SIZE];
    check_shape(s);
    s->transient = false;
    s->kept = NAN;
    for (int k = 0; k < MOST_TURNS && turned; k++) {
        converged = operate(s, x);
        turned = converged && switches_take(s, x, true);
    }
    if (converged && !turned)
        return true;
    equations_failed(
        s, "no operating point was found: %s",
        turned ? "switches turn each other for ever"
               : equations_reason(s, s->linear ? "the matrix is singular" : newton, text));
    return false;
}
