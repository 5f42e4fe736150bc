/* Bars from left to right: a label, its bar in one or two parts, and the number in words. */
#include "draw.h"

#include <math.h>
#include <string.h>

enum { EDGE = 16, SPACE = 8, BAR = 16, GAP = 6, GROUP = 32, WIDTH = 760, TOP = 66, LEGEND = 26 };

/* Where bars begin, and how long the longest is: labels and numbers take what they need. */
typedef struct columns {
    double left, length;
} columns;

static bool begins_group(const bars *b, int k)
{
    return *b->bar[k].group && (k == 0 || strcmp(b->bar[k].group, b->bar[k - 1].group) != 0);
}

/* The least a bar that stands for something is drawn with: one that is there can be seen. */
static double part_length(const columns *c, double value, double most)
{
    const double least = 1.5;
    return value > 0 ? fmax(c->length * value / most, least) : 0;
}

static columns find_columns(const bars *b)
{
    enum { LABEL_LEAST = 110, LABEL_MOST = 330 };
    double label = LABEL_LEAST, number = 0;
    for (int k = 0; k < b->count; k++) {
        label = fmax(label, draw_width(b->bar[k].label, "label"));
        number = fmax(number, ceil(draw_width(b->bar[k].text, "number")));
    }
    const double left = EDGE + ceil(fmin(label, LABEL_MOST)) + SPACE;
    return (columns){left, fmax(WIDTH - SPACE - number - SPACE - left, LABEL_LEAST)};
}

static void put_bar(const picture *p, const columns *c, const bar *b, double most, double y)
{
    const double first = part_length(c, b->length, most), second = part_length(c, b->second, most);
    const double end = c->left + first + second + SPACE;
    char class[8], title[256];
    snprintf(class, sizeof class, b->colour < 0 ? "fs" : "f%d", b->colour % DRAW_COLOURS);
    snprintf(title, sizeof title, "%s: %s", b->label, b->text);
    draw_fitted(p, c->left - SPACE, y + BAR - 3, "label", "end", c->left - SPACE - EDGE, "%s",
                b->label);
    if (first > 0)
        draw_rect(p, c->left, y, first, BAR, class, title);
    if (second > 0)
        draw_rect(p, c->left + first, y, second, BAR, "f1", title);
    draw_fitted(p, end, y + BAR - 3, "number", "start", WIDTH - end, "%s", b->text);
}

static void put_legend(const picture *p, const bars *b, double left, double y)
{
    const double second = left + 18 + draw_width(b->first, "soft") + 3 * SPACE;
    draw_rect(p, left, y, 12, 12, "f0", NULL);
    draw_text(p, left + 18, y + 11, "soft", "start", "%s", b->first);
    draw_rect(p, second, y, 12, 12, "f1", NULL);
    draw_text(p, second + 18, y + 11, "soft", "start", "%s", b->second);
}

void draw_bars(picture *p, const bars *b)
{
    const columns c = find_columns(b);
    double most = 0, y = TOP;
    bool two = false;
    p->width = WIDTH;
    p->height = TOP + 14;
    for (int k = 0; k < b->count; k++) {
        most = fmax(most, b->bar[k].length + b->bar[k].second);
        two = two || b->bar[k].second > 0;
        p->height += BAR + GAP + (begins_group(b, k) ? GROUP : 0);
    }
    two = two && b->first;
    p->height += (two ? LEGEND : 0) + (b->count == 0 ? LEGEND : 0);
    draw_begin(p, b->title, b->description);
    draw_fitted(p, EDGE, 28, "head", "start", WIDTH - 2 * EDGE, "%s", b->title);
    if (b->note)
        draw_fitted(p, EDGE, 47, "soft", "start", WIDTH - 2 * EDGE, "%s", b->note);
    for (int k = 0; k < b->count; k++) {
        if (begins_group(b, k)) {
            draw_fitted(p, EDGE, y + GROUP - 12, "group", "start", WIDTH - 2 * EDGE, "%s",
                        b->bar[k].group);
            y += GROUP;
        }
        put_bar(p, &c, &b->bar[k], most > 0 ? most : 1, y);
        y += BAR + GAP;
    }
    if (b->count == 0)
        draw_text(p, c.left, y + BAR, "soft", "start", "there is nothing to show");
    if (two)
        put_legend(p, b, c.left, y + 4);
    draw_end(p);
}
