/*
 * Lines without losses: the waves v + Z i that their ends have sent, over time, and the corners
 * that are on their way.
 */
#include "circuit/circuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CORNERS = 10000 };

struct history {
    double *rows; /* of each step the time, then the waves of each line and end */
    int64_t count, room, width;
    double corners[MOST_CORNERS]; /* that rise */
    int corner_count;
};

double line_wave(const equations *s, const element *e, int end, double t)
{
    const struct history *h = s->history;
    if (!h || h->count == 0)
        return 0;
    const int64_t k = (int64_t)e->state[0] + end; /* its place in a row */
    int64_t low = 0, high = h->count - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (h->rows[middle * h->width] <= t)
            low = middle;
        else
            high = middle;
    }
    const double *a = h->rows + low * h->width, *b = h->rows + high * h->width;
    return t <= *a ? a[k] : t >= *b ? b[k] : a[k] + (b[k] - a[k]) * (t - *a) / (*b - *a);
}

void lines_keep(equations *s, const double *x, double t, bool first)
{
    const circuit *c = s->c;
    if (first) {
        int64_t width = 1;
        for (int64_t k = 0; k < c->count; k++)
            if (c->elements[k].kind == 't') {
                c->elements[k].state[0] = (double)width;
                width += 2;
            }
        lines_free(s);
        if (width == 1)
            return;
        s->history = cli_alloc(sizeof *s->history);
        s->history->width = width;
    }
    struct history *h = s->history;
    if (!h)
        return;
    h->rows = grow(h->rows, h->count, &h->room, (size_t)h->width * sizeof *h->rows);
    double *to = h->rows + h->count++ * h->width;
    *to++ = t;
    for (int64_t k = 0; k < c->count; k++) {
        const element *e = &c->elements[k];
        const int *n = e->node;
        if (e->kind != 't')
            continue;
        *to++ = x[n[0]] - x[n[1]] + e->value * x[e->branch];
        *to++ = x[n[2]] - x[n[3]] + e->value * x[e->other];
    }
}

double lines_delay(const equations *s)
{
    double least = INFINITY;
    for (int64_t k = 0; s->history && k < s->c->count; k++)
        if (s->c->elements[k].kind == 't')
            least = fmin(least, s->c->elements[k].second);
    return least;
}

double lines_corner(const equations *s, double t)
{
    for (int k = 0; s->history && k < s->history->corner_count; k++)
        if (s->history->corners[k] > t * (1 + 1e-12))
            return s->history->corners[k];
    return INFINITY;
}

/* A corner now is one at the other ends of lines after their delays. */
void lines_note(equations *s, double t)
{
    struct history *h = s->history;
    if (!h)
        return;
    int gone = 0;
    while (gone < h->corner_count && h->corners[gone] <= t)
        gone++;
    h->corner_count -= gone;
    memmove(h->corners, h->corners + gone, (size_t)h->corner_count * sizeof *h->corners);
    for (int64_t e = 0; e < s->c->count; e++) {
        if (s->c->elements[e].kind != 't' || h->corner_count == MOST_CORNERS)
            continue;
        const double at = t + s->c->elements[e].second;
        int k = h->corner_count;
        while (k > 0 && h->corners[k - 1] > at)
            k--;
        if (k > 0 && at - h->corners[k - 1] < 1e-9 * s->c->elements[e].second)
            continue;
        memmove(h->corners + k + 1, h->corners + k, (size_t)(h->corner_count - k) * sizeof(double));
        h->corners[k] = at;
        h->corner_count++;
    }
}

void lines_free(equations *s)
{
    if (s->history)
        free(s->history->rows);
    free(s->history);
    s->history = NULL;
}
