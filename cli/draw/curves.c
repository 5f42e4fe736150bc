/* How residuals fall, a curve for each run: the method's own at every iteration, the true one where
 * it was computed, and where and how a run restarted or ended. */
#include "draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    LEFT = 74,
    RIGHT = 24,
    TOP = 62,
    WIDE = 640,
    HIGH = 380,
    BELOW = 62,
    LINE = 20,
    POINTS = 700
};

/* Below this a logarithm means nothing, and an exact 0 has none. */
static const double least_shown = 1e-300;

static bool is_shown(double residual)
{
    return isfinite(residual) && residual >= 0;
}

static double shown(double residual)
{
    return residual > least_shown ? residual : least_shown;
}

void curve_add(curve *c, curve_mark mark)
{
    if (c->mark_count < CURVE_MARKS && is_shown(mark.truth))
        c->marks[c->mark_count++] = mark;
}

void curve_take_warning(curve *c, const char *line)
{
    curve_mark mark = {.restart = true};
    if (sscanf(line,
               "at iteration %" SCNd64 " the recurrence had drifted from the true residual: "
               "restarted from the best x, with %lf",
               &mark.iteration, &mark.truth) == 2)
        curve_add(c, mark);
}

static void widen(double value, double *low, double *high)
{
    if (is_shown(value) && value > 0) {
        *low = fmin(*low, shown(value));
        *high = fmax(*high, shown(value));
    }
}

static void find_limits(const curve *curves, int count, double *low, double *high, int64_t *most)
{
    *low = INFINITY;
    *high = 0;
    *most = 1;
    for (int k = 0; k < count; k++) {
        const curve *c = &curves[k];
        *most = c->count - 1 > *most ? c->count - 1 : *most;
        for (int64_t i = 0; i < c->count; i++)
            widen(c->history[i], low, high);
        widen(c->first, low, high);
        widen(c->truth, low, high);
        widen(c->tolerance, low, high);
        for (int i = 0; i < c->mark_count; i++)
            widen(c->marks[i].truth, low, high);
    }
    if (!(*low <= *high)) {
        *low = 1e-1;
        *high = 1;
    }
}

static void put_point(const picture *p, const axis *x, const axis *y, int64_t iteration,
                      double value, bool *pen)
{
    fprintf(p->out, "%s%.1f %.1f", *pen ? "L" : "M", axis_place(x, (double)iteration),
            fmin(fmax(axis_place(y, shown(value)), y->at + y->length), y->at));
    *pen = true;
}

/* Of a history that is longer than there are points the least and the largest of each stretch, in
 * their order, so that no jump is lost. Where there is no number the line is cut. */
static void put_history(const picture *p, const axis *x, const axis *y, const curve *c,
                        const char *class)
{
    const int64_t stretch = c->count / POINTS + 1;
    bool pen = false;
    fprintf(p->out, "<path class=\"line %s\" d=\"", class);
    for (int64_t from = 0; from < c->count; from += stretch) {
        int64_t low = -1, high = -1;
        for (int64_t i = from; i < from + stretch && i < c->count; i++) {
            if (!is_shown(c->history[i]))
                continue;
            low = low < 0 || c->history[i] < c->history[low] ? i : low;
            high = high < 0 || c->history[i] > c->history[high] ? i : high;
        }
        if (low < 0) {
            pen = false;
            continue;
        }
        const int64_t first = low < high ? low : high, second = low < high ? high : low;
        put_point(p, x, y, first, c->history[first], &pen);
        if (second > first)
            put_point(p, x, y, second, c->history[second], &pen);
    }
    fputs("\"/>\n", p->out);
}

static void put_mark(const picture *p, const axis *x, const axis *y, int64_t iteration,
                     double value, char kind, int colour, const char *title)
{
    char class[16];
    snprintf(class, sizeof class, "mark s%d", colour);
    if (is_shown(value))
        draw_mark(p, axis_place(x, (double)iteration),
                  fmin(fmax(axis_place(y, shown(value)), y->at + y->length), y->at), kind, class,
                  title);
}

/* Short lines where the method begins its next cycle by itself, unless they would be a hedge. */
static void put_cycles(const picture *p, const axis *x, const axis *y, const curve *c)
{
    enum { CYCLES = 60 };
    if (c->cycle < 1 || c->count / c->cycle > CYCLES)
        return;
    for (int64_t i = c->cycle; i < c->count; i += c->cycle)
        if (is_shown(c->history[i])) {
            const double at = axis_place(y, shown(c->history[i]));
            draw_line(p, axis_place(x, (double)i), at - 7, axis_place(x, (double)i), at + 7,
                      "cycle");
        }
}

static void put_curve(const picture *p, const axis *x, const axis *y, const curve *c, int colour)
{
    char class[8], text[320];
    const int64_t last = c->count - 1;
    double free_from = axis_place(x, 0) + 12;
    snprintf(class, sizeof class, "s%d", colour);
    put_history(p, x, y, c, class);
    put_cycles(p, x, y, c);
    put_mark(p, x, y, 0, c->first, 'o', colour, "the true residual of the first guess");
    for (int k = 0; k < c->mark_count; k++) {
        const curve_mark *m = &c->marks[k];
        const double at = axis_place(x, (double)m->iteration);
        if (!m->restart && at < free_from)
            continue; /* marks on top of each other show nothing */
        free_from = at + 12;
        snprintf(text, sizeof text, "iteration %s: %s %.2e", text_count(m->iteration),
                 m->restart ? "restarted from the true residual," : "the true residual is",
                 m->truth);
        put_mark(p, x, y, m->iteration, m->truth, m->restart ? 'v' : 'o', colour, text);
    }
    snprintf(text, sizeof text, "%s; the true residual is %.2e", c->end, c->truth);
    const double end = is_shown(c->truth) ? c->truth : c->count > 0 ? c->history[last] : NAN;
    put_mark(p, x, y, last > 0 ? last : 0, end, c->converged ? 'o' : 'x', colour, text);
}

/* One that all runs have; NaN: none. */
static double common_tolerance(const curve *curves, int count)
{
    for (int k = 1; k < count; k++)
        if (!(curves[k].tolerance == curves[0].tolerance))
            return NAN;
    return count > 0 && curves[0].tolerance > 0 ? curves[0].tolerance : NAN;
}

static void put_legend(const picture *p, const curve *curves, int count, double y)
{
    for (int k = 0; k < count; k++, y += LINE) {
        char class[16];
        snprintf(class, sizeof class, "line s%d", k % DRAW_COLOURS);
        draw_line(p, LEFT, y, LEFT + 34, y, class);
        draw_fitted(p, LEFT + 44, y + 4, "legend", "start", WIDE + RIGHT / 2.0 - 44, "%s: %s",
                    curves[k].label, curves[k].end);
    }
    draw_text(p, LEFT, y + 6, "soft", "start",
              "line: the method's own residual; ring: the true one; triangle: restarted from it;");
    draw_text(p, LEFT, y + 6 + LINE, "soft", "start",
              "cross: the end of a run that has not converged; short line: the next cycle begins");
}

void draw_curves(picture *p, const curve *curves, int count)
{
    double low, high;
    int64_t most;
    find_limits(curves, count, &low, &high, &most);
    const axis x = axis_new(0, (double)most, false, LEFT, WIDE);
    const axis y = axis_new(low, high, true, TOP + HIGH, -HIGH);
    const double goal = common_tolerance(curves, count);
    char text[512];
    p->width = LEFT + WIDE + RIGHT;
    p->height = TOP + HIGH + BELOW + LINE * (count + 2);
    snprintf(
        text, sizeof text,
        "Residuals on a logarithmic scale over iterations, %d run%s. The first: %.150s, %.200s",
        count, count == 1 ? "" : "s", count > 0 ? curves[0].label : "",
        count > 0 ? curves[0].end : "");
    draw_begin(p, "Convergence", text);
    draw_text(p, 16, 28, "head", "start", "Convergence");
    axis_draw(p, &x, &y, "iteration", "|b - A x| / |b|");
    if (is_shown(goal)) {
        const double at = axis_place(&y, shown(goal));
        draw_line(p, LEFT, at, LEFT + WIDE, at, "goal");
        draw_text(p, LEFT + 6, at < TOP + HIGH - 20 ? at + 15 : at - 6, "soft", "start",
                  "asked for %g", goal);
    }
    for (int k = 0; k < count; k++)
        put_curve(p, &x, &y, &curves[k], k % DRAW_COLOURS);
    put_legend(p, curves, count, TOP + HIGH + BELOW);
    draw_end(p);
}
