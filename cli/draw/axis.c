/* Axes: limits and ticks that people like, and where a number is. */
#include "draw.h"

#include <math.h>

/* A step of 1, 2 or 5 times a power of ten, for about seven ticks. */
static double linear_step(double from, double to)
{
    const double rough = (to - from) / 7, power = pow(10, floor(log10(rough)));
    const double over = rough / power;
    return power * (over <= 1 ? 1 : over <= 2 ? 2 : over <= 5 ? 5 : 10);
}

axis axis_new(double low, double high, bool log, double at, double length)
{
    axis a = {low, high, log, at, length};
    if (log) {
        a.from = floor(log10(low));
        a.to = ceil(log10(high));
        a.to = a.to > a.from ? a.to : a.from + 1;
    } else {
        a.to = high > low ? high : low + 1;
        const double step = linear_step(a.from, a.to);
        a.from = step * floor(a.from / step);
        a.to = step * ceil(a.to / step);
    }
    return a;
}

double axis_place(const axis *a, double value)
{
    const double v = a->log ? log10(value) : value;
    return a->at + a->length * (v - a->from) / (a->to - a->from);
}

/* Of a logarithmic axis every power of ten, or every second, third, ... */
static int find_ticks(const axis *a, double ticks[AXIS_TICKS])
{
    const double span = a->to - a->from;
    const double step = a->log ? fmax(1, ceil(span / 9)) : linear_step(a->from, a->to);
    int count = 0;
    for (; count < AXIS_TICKS && count * step <= span * (1 + 1e-9); count++) {
        const double v = a->from + count * step;
        ticks[count] = a->log ? pow(10, v) : v;
    }
    return count;
}

static void put_number(const axis *a, double value, char text[32])
{
    if (a->log && (value >= 1e5 || value < 1e-2))
        snprintf(text, 32, "1e%.0f", round(log10(value)));
    else if (value >= 1000 && value < 1e9)
        snprintf(text, 32, "%s", text_count((int64_t)(value + 0.5)));
    else
        snprintf(text, 32, "%.3g", value);
}

void axis_draw(const picture *p, const axis *x, const axis *y, const char *x_name,
               const char *y_name)
{
    const double left = x->at, right = x->at + x->length, bottom = y->at, top = y->at + y->length;
    double ticks[AXIS_TICKS];
    char text[32];
    for (int k = 0, count = find_ticks(x, ticks); k < count; k++) {
        const double at = axis_place(x, ticks[k]);
        put_number(x, ticks[k], text);
        draw_line(p, at, top, at, bottom, "grid");
        draw_text(p, at, bottom + 18, "soft xtick", "middle", "%s", text);
    }
    for (int k = 0, count = find_ticks(y, ticks); k < count; k++) {
        const double at = axis_place(y, ticks[k]);
        put_number(y, ticks[k], text);
        draw_line(p, left, at, right, at, "grid");
        draw_text(p, left - 8, at + 4, "soft ytick", "end", "%s", text);
    }
    draw_rect(p, left, top, right - left, bottom - top, "frame", NULL);
    draw_text(p, (left + right) / 2, bottom + 38, "soft", "middle", "%s", x_name);
    draw_text(p, left, top - 9, "soft", "start", "%s", y_name);
}
