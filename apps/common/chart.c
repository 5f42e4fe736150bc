/* Lines over one another as SVG. */
#include "common/app.h"

#include "cli/draw/draw.h"
#include <math.h>

enum { LEFT = 74, RIGHT = 24, TOP = 62, WIDE = 560, HIGH = 340, BELOW = 62, LINE = 20 };

static void put_line(picture *p, const axis *x, const axis *y, const double *xs, const double *ys,
                     int64_t count, int colour)
{
    bool pen = false;
    fprintf(p->out, "<path class=\"line s%d\" d=\"", colour);
    for (int64_t k = 0; k < count; k++) {
        if (!isfinite(xs[k]) || !isfinite(ys[k]) || (y->log && ys[k] <= 0)) {
            pen = false;
            continue;
        }
        fprintf(p->out, "%s%.1f %.1f", pen ? "L" : "M", axis_place(x, xs[k]), axis_place(y, ys[k]));
        pen = true;
    }
    fputs("\"/>\n", p->out);
}

void app_chart(FILE *out, const app_chart_text *text, const double *xs, const double *ys,
               int64_t count, int lines)
{
    double low = INFINITY, high = -INFINITY, left = INFINITY, right = -INFINITY;
    picture p = {.out = out, .alone = true, .width = LEFT + WIDE + RIGHT};
    for (int64_t k = 0; k < count * lines; k++) {
        if (!isfinite(xs[k]) || !isfinite(ys[k]) || (text->log && ys[k] <= 0))
            continue;
        low = fmin(low, ys[k]);
        high = fmax(high, ys[k]);
        left = fmin(left, xs[k]);
        right = fmax(right, xs[k]);
    }
    if (!(low <= high)) {
        low = left = text->log ? 0.1 : 0;
        high = right = 1;
    }
    const axis x = axis_new(left, right, text->log_x, LEFT, WIDE);
    const axis y = axis_new(low, high, text->log, TOP + HIGH, -HIGH);
    p.height = TOP + HIGH + BELOW + LINE * (lines + 1);
    draw_begin(&p, text->title, text->title);
    draw_text(&p, 16, 28, "head", "start", "%s", text->title);
    axis_draw(&p, &x, &y, text->x, text->y);
    for (int l = 0; l < lines; l++) {
        char class[16];
        const double at = TOP + HIGH + BELOW + LINE * l;
        snprintf(class, sizeof class, "line s%d", l % DRAW_COLOURS);
        put_line(&p, &x, &y, xs + l * count, ys + l * count, count, l % DRAW_COLOURS);
        draw_line(&p, LEFT, at, LEFT + 34, at, class);
        draw_text(&p, LEFT + 44, at + 4, "legend", "start", "%s", text->labels[l]);
    }
    draw_end(&p);
}
