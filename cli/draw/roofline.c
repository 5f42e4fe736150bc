/* A roofline (S. Williams, A. Waterman, D. Patterson, Comm. ACM 52 (2009), 65-76): operations per
 * second over operations per byte. The roof is what memory allows; products with sparse matrices do
 * so little with each byte that the processor's own peak is far above, and it is not measured. */
#include "draw.h"

#include <math.h>
#include <stdlib.h>

enum { LEFT = 74, RIGHT = 24, TOP = 62, WIDE = 640, HIGH = 360, BELOW = 62, LINE = 20 };

static void put_roof(const picture *p, const axis *x, const axis *y, double bandwidth,
                     const char *class)
{
    const double left = pow(10, x->from), right = pow(10, x->to);
    const double floor_speed = pow(10, y->from), top_speed = pow(10, y->to);
    const double from = fmax(left, floor_speed / bandwidth),
                 to = fmin(right, top_speed / bandwidth);
    if (from < to)
        draw_line(p, axis_place(x, from), axis_place(y, from * bandwidth), axis_place(x, to),
                  axis_place(y, to * bandwidth), class);
}

/* Figures in columns, so that names of any length follow them. */
static void put_legend(const picture *p, const roof *r, double y)
{
    enum { SPEED = 104, SHARE = 184, NAME = 204 };
    draw_line(p, LEFT, y, LEFT + 34, y, "line roof s0");
    draw_fitted(p, LEFT + 44, y + 4, "legend", "start", 244, "%s reads %.1f GB/s", r->place,
                r->read / 1e9);
    if (r->triad > 0) {
        draw_line(p, LEFT + 300, y, LEFT + 334, y, "line triad s3");
        draw_text(p, LEFT + 344, y + 4, "legend", "start", "triad %.1f GB/s", r->triad / 1e9);
    }
    y += LINE + 4;
    if (r->count > 0) {
        draw_text(p, LEFT + SPEED, y + 4, "soft", "end", "Gflop/s");
        draw_text(p, LEFT + SHARE, y + 4, "soft", "end", "of reading");
    }
    for (int k = 0; k < r->count; k++) {
        const roof_point *q = &r->points[k];
        y += LINE;
        draw_text(p, LEFT + 18, y + 4, "code", "end", "%d", k + 1);
        draw_text(p, LEFT + SPEED, y + 4, "figure", "end", "%.3g", q->speed / 1e9);
        draw_text(p, LEFT + SHARE, y + 4, "figure", "end", "%.2f",
                  q->speed / (q->intensity * r->read));
        draw_fitted(p, LEFT + NAME, y + 4, "legend", "start", WIDE - NAME + RIGHT / 2.0, "%s",
                    q->label);
    }
}

typedef struct box {
    double left, top, right, bottom;
} box;

static bool overlap(const box *a, const box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* A number next to its point: on the first side where nothing is yet, within the frame. */
static box find_label(const box *taken, int count, double x, double y, double width)
{
    enum { AWAY = 7, UP = 9, DOWN = 4 };
    const double half = width / 2;
    const box sides[] = {
        {x + AWAY, y - UP / 2.0, x + AWAY + width, y + UP / 2.0},
        {x - AWAY - width, y - UP / 2.0, x - AWAY, y + UP / 2.0},
        {x - half, y - AWAY - UP, x + half, y - AWAY},
        {x - half, y + AWAY, x + half, y + AWAY + UP},
        {x + DOWN, y - AWAY - UP, x + DOWN + width, y - AWAY},
        {x - DOWN - width, y + AWAY, x - DOWN, y + AWAY + UP},
    };
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        bool is_free = sides[k].left > LEFT && sides[k].right < LEFT + WIDE && sides[k].top > TOP &&
                       sides[k].bottom < TOP + HIGH;
        for (int i = 0; i < count && is_free; i++)
            is_free = !overlap(&sides[k], &taken[i]);
        if (is_free)
            return sides[k];
    }
    return sides[0];
}

static void put_points(const picture *p, const roof *r, const axis *x, const axis *y)
{
    enum { RADIUS = 4 };
    box *taken = cli_alloc((2 * (size_t)r->count + 1) * sizeof *taken);
    for (int k = 0; k < r->count; k++) {
        const double at_x = axis_place(x, r->points[k].intensity),
                     at_y = axis_place(y, r->points[k].speed / 1e9);
        taken[k] = (box){at_x - RADIUS, at_y - RADIUS, at_x + RADIUS, at_y + RADIUS};
        draw_mark(p, at_x, at_y, '.', "f1 point", r->points[k].label);
    }
    for (int k = 0; k < r->count; k++) {
        char number[16];
        snprintf(number, sizeof number, "%d", k + 1);
        const box *point = &taken[k];
        const box label = find_label(taken, r->count + k, (point->left + point->right) / 2,
                                     (point->top + point->bottom) / 2, draw_width(number, "code"));
        taken[r->count + k] = label;
        draw_text(p, label.left, label.bottom, "code", "start", "%s", number);
    }
    free(taken);
}

void draw_roof(picture *p, const roof *r)
{
    double x_low = 0.05, x_high = 0.5, y_low = INFINITY, y_high = 0;
    for (int k = 0; k < r->count; k++) {
        x_low = fmin(x_low, r->points[k].intensity);
        x_high = fmax(x_high, r->points[k].intensity);
        y_low = fmin(y_low, r->points[k].speed);
        y_high = fmax(y_high, r->points[k].speed);
    }
    const axis x = axis_new(x_low, x_high, true, LEFT, WIDE);
    const axis y = axis_new(fmin(y_low, pow(10, x.from) * r->read) / 1e9,
                            fmax(y_high, pow(10, x.to) * r->read) / 1e9, true, TOP + HIGH, -HIGH);
    p->width = LEFT + WIDE + RIGHT;
    p->height = TOP + HIGH + BELOW + LINE * (r->count + 1) + (r->count > 0 ? LINE + 4 : 0);
    draw_begin(p, "Roofline",
               "Operations per second over operations per byte, both on logarithmic scales; the "
               "line is what the memory's bandwidth allows, points were measured.");
    draw_fitted(p, 16, 28, "head", "start", p->width - 32, "Roofline of %s", r->place);
    axis_draw(p, &x, &y, "operations per byte", "Gflop/s");
    put_roof(p, &x, &y, r->read / 1e9, "line roof s0");
    if (r->triad > 0)
        put_roof(p, &x, &y, r->triad / 1e9, "line triad s3");
    put_points(p, r, &x, &y);
    put_legend(p, r, TOP + HIGH + BELOW);
    draw_end(p);
}
