/* A roofline (S. Williams, A. Waterman, D. Patterson, Comm. ACM 52 (2009), 65-76): operations per
 * second over operations per byte. The roof is what memory allows; products with sparse matrices do
 * so little with each byte that the processor's own peak is far above, and it is not measured. */
#include "draw.h"

#include <math.h>

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

static void put_legend(const picture *p, const roof *r, double y)
{
    draw_line(p, LEFT, y, LEFT + 34, y, "line roof s0");
    draw_text(p, LEFT + 44, y + 4, "legend", "start", "%s reads %.1f GB/s", r->place,
              r->read / 1e9);
    if (r->triad > 0) {
        draw_line(p, LEFT + 300, y, LEFT + 334, y, "line triad s3");
        draw_text(p, LEFT + 344, y + 4, "legend", "start", "triad %.1f GB/s", r->triad / 1e9);
    }
    for (int k = 0; k < r->count; k++) {
        const roof_point *q = &r->points[k];
        y += LINE;
        draw_text(p, LEFT + 18, y + 4, "code", "end", "%d", k + 1);
        draw_text(p, LEFT + 44, y + 4, "legend", "start",
                  "%s: %.3g Gflop/s, %.2f of what reading allows", q->label, q->speed / 1e9,
                  q->speed / (q->intensity * r->read));
    }
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
    p->height = TOP + HIGH + BELOW + LINE * (r->count + 1);
    draw_begin(p, "Roofline",
               "Operations per second over operations per byte, both on logarithmic scales; the "
               "line is what the memory's bandwidth allows, points were measured.");
    draw_text(p, 16, 28, "head", "start", "Roofline of %s", r->place);
    axis_draw(p, &x, &y, "operations per byte", "Gflop/s");
    put_roof(p, &x, &y, r->read / 1e9, "line roof s0");
    if (r->triad > 0)
        put_roof(p, &x, &y, r->triad / 1e9, "line triad s3");
    for (int k = 0; k < r->count; k++) {
        const roof_point *q = &r->points[k];
        const double at_x = axis_place(&x, q->intensity), at_y = axis_place(&y, q->speed / 1e9);
        draw_mark(p, at_x, at_y, '.', "f1 point", q->label);
        draw_text(p, at_x + 7, at_y + 4, "code", "start", "%d", k + 1);
    }
    put_legend(p, r, TOP + HIGH + BELOW);
    draw_end(p);
}
