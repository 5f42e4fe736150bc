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
    double *times,
        **waves; /* waves: of each line and end, by its number in the order of elements */
    int64_t count, room, lines;
    double corners[MOST_CORNERS]; /* that rise */
    int corner_count;
};

static int64_t number_of(const equations *s, const element *e)
{
    int64_t number = 0;
    for (const element *p = s->c->elements; p < e; p++)
        number += p->kind == 't';
    return number;
}

double line_wave(const equations *s, const element *e, int end, double t)
{
    const struct history *h = s->history;
    if (!h || h->count == 0)
        return 0;
    const double *w = h->waves[2 * number_of(s, e) + end];
    int64_t low = 0, high = h->count - 1;
    if (t <= h->times[0])
        return w[0];
    if (t >= h->times[high])
        return w[high];
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (h->times[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return w[low] + (w[high] - w[low]) * (t - h->times[low]) / (h->times[high] - h->times[low]);
}

void lines_keep(equations *s, const double *x, double t, bool first)
{
    const circuit *c = s->c;
    if (first) {
        lines_free(s);
        int64_t lines = 0;
        for (int64_t k = 0; k < c->count; k++)
            lines += c->elements[k].kind == 't';
        if (lines == 0)
            return;
        s->history = cli_alloc(sizeof *s->history);
        memset(s->history, 0, sizeof *s->history);
        s->history->lines = lines;
        s->history->waves = cli_alloc((size_t)(2 * lines) * sizeof *s->history->waves);
        memset(s->history->waves, 0, (size_t)(2 * lines) * sizeof *s->history->waves);
    }
    struct history *h = s->history;
    if (!h)
        return;
    int64_t line = 0, room = h->room;
    h->times = grow(h->times, h->count, &h->room, sizeof *h->times);
    for (int64_t k = 0; k < c->count; k++) {
        const element *e = &c->elements[k];
        if (e->kind != 't')
            continue;
        for (int end = 0; end < 2; end++) {
            double **w = &h->waves[2 * line + end];
            int64_t same = room;
            *w = grow(*w, h->count, &same, sizeof **w);
            const int *n = e->node + 2 * end;
            (*w)[h->count] = x[n[0]] - x[n[1]] + e->value * x[end == 0 ? e->branch : e->other];
        }
        line++;
    }
    h->times[h->count++] = t;
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
    struct history *h = s->history;
    if (!h)
        return;
    for (int64_t k = 0; k < 2 * h->lines; k++)
        free(h->waves[k]);
    free(h->waves);
    free(h->times);
    free(h);
    s->history = NULL;
}
