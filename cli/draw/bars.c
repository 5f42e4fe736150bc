/* Bars from left to right: a label, its bar in one or two parts, and the number in words. */
#include "draw.h"

#include <math.h>
#include <string.h>

enum { LEFT = 210, BAR = 16, GAP = 6, GROUP = 32, WIDTH = 760, TOP = 66, RIGHT = 170, LEGEND = 26 };

static bool begins_group(const bars *b, int k)
{
    return *b->bar[k].group && (k == 0 || strcmp(b->bar[k].group, b->bar[k - 1].group) != 0);
}

/* The least a bar that stands for something is drawn with: one that is there can be seen. */
static double part_length(double value, double most)
{
    const double least = 1.5;
    return value > 0 ? fmax((WIDTH - LEFT - RIGHT) * value / most, least) : 0;
}

static void put_bar(const picture *p, const bar *b, double most, double y)
{
    const double first = part_length(b->length, most), second = part_length(b->second, most);
    char class[8], title[256];
    snprintf(class, sizeof class, b->colour < 0 ? "fs" : "f%d", b->colour % DRAW_COLOURS);
    snprintf(title, sizeof title, "%s: %s", b->label, b->text);
    draw_text(p, LEFT - 8, y + BAR - 3, "label", "end", "%.29s", b->label);
    if (first > 0)
        draw_rect(p, LEFT, y, first, BAR, class, title);
    if (second > 0)
        draw_rect(p, LEFT + first, y, second, BAR, "f1", title);
    draw_text(p, LEFT + first + second + 6, y + BAR - 3, "number", "start", "%s", b->text);
}

static void put_legend(const picture *p, const bars *b, double y)
{
    draw_rect(p, LEFT, y, 12, 12, "f0", NULL);
    draw_text(p, LEFT + 18, y + 11, "soft", "start", "%s", b->first);
    draw_rect(p, LEFT + 110, y, 12, 12, "f1", NULL);
    draw_text(p, LEFT + 128, y + 11, "soft", "start", "%s", b->second);
}

void draw_bars(picture *p, const bars *b)
{
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
    draw_text(p, 16, 28, "head", "start", "%.90s", b->title);
    if (b->note)
        draw_text(p, 16, 47, "soft", "start", "%s", b->note);
    for (int k = 0; k < b->count; k++) {
        if (begins_group(b, k)) {
            draw_text(p, 16, y + GROUP - 12, "group", "start", "%s", b->bar[k].group);
            y += GROUP;
        }
        put_bar(p, &b->bar[k], most > 0 ? most : 1, y);
        y += BAR + GAP;
    }
    if (b->count == 0)
        draw_text(p, LEFT, y + BAR, "soft", "start", "there is nothing to show");
    if (two)
        put_legend(p, b, y + 4);
    draw_end(p);
}
