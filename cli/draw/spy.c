/* Where the entries of a matrix are: cells as pixels, rows from the top, and what colours mean. */
#include "draw.h"

#include <math.h>

enum { SIDE = 560, LEFT = 74, TOP = 74, RIGHT = 30, BELOW = 92, LEGEND = 200 };

/* The first and the last row or column, at the ends of a side. */
static void put_ends(const picture *p, const density *d, double width, double height)
{
    draw_text(p, LEFT, TOP - 8, "soft", "start", "0");
    draw_text(p, LEFT + width / 2, TOP - 8, "soft", "middle", "columns");
    draw_text(p, LEFT + width, TOP - 8, "soft", "end", "%s",
              text_count(d->cols > 0 ? d->cols - 1 : 0));
    draw_text(p, LEFT - 8, TOP + 12, "soft", "end", "0");
    draw_text(p, LEFT - 8, TOP + height / 2, "soft", "end", "rows");
    draw_text(p, LEFT - 8, TOP + height, "soft", "end", "%s",
              text_count(d->rows > 0 ? d->rows - 1 : 0));
}

static void put_legend(const picture *p, const density *d, double y)
{
    enum { STEPS = 20 };
    const int64_t rows = (int64_t)1 << d->row_shift, cols = (int64_t)1 << d->col_shift;
    const bool single = rows * cols == 1;
    if (d->most == 0) {
        draw_text(p, LEFT, y + 12, "soft", "start", "there are no entries");
        return;
    }
    if (d->most > 1)
        for (int k = 0; k < STEPS; k++) {
            unsigned char c[3];
            density_colour(d, (uint32_t)pow(d->most, (double)k / (STEPS - 1)), c);
            fprintf(p->out,
                    "<rect class=\"scale\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\" "
                    "fill=\"#%02x%02x%02x\" stroke=\"none\"/>\n",
                    LEFT + (double)LEGEND * k / STEPS, y, (double)LEGEND / STEPS + 0.5, c[0], c[1],
                    c[2]);
        }
    draw_text(p, LEFT, y + 32, "soft", "start",
              single ? "a pixel is a place of the matrix"
                     : "a pixel is %s x %s places; colours: 1 to %s entries in it",
              text_count(rows), text_count(cols), text_count(d->most));
}

static void put_level(const picture *p, const spy_level *level, const char *class,
                      const char *visibility)
{
    fprintf(p->out,
            "<image class=\"%s\" visibility=\"%s\" x=\"0\" y=\"0\" width=\"%.0f\" "
            "height=\"%.0f\" preserveAspectRatio=\"none\" href=\"data:image/png;base64,",
            class, visibility, level->wide, level->high);
    draw_base64(p->out, level->png, level->size);
    fputs("\"/>\n", p->out);
}

void draw_spy(picture *p, const density *d, const char *name, const spy_level levels[SPY_LEVELS])
{
    const double longer = d->rows > d->cols ? (double)d->rows : (double)d->cols, least = 60;
    const double width = longer > 0 ? fmax(SIDE * (double)d->cols / longer, least) : least;
    const double height = longer > 0 ? fmax(SIDE * (double)d->rows / longer, least) : least;
    char title[512], text[512];
    snprintf(title, sizeof title, "Where the entries of %.300s are", name);
    snprintf(text, sizeof text,
             "A picture of %s rows and %s columns, the first row on top; it is dark where many of "
             "the %s entries are.",
             text_count(d->rows), text_count(d->cols), text_count(d->nnz));
    p->width = fmax(LEFT + width + RIGHT, LEFT + SIDE + RIGHT);
    p->height = TOP + height + BELOW;
    draw_begin(p, title, text);
    draw_fitted(p, 16, 28, "head", "start", p->width - 32, "%s", name);
    draw_text(p, 16, 46, "soft", "start", "%s x %s, %s entries", text_count(d->rows),
              text_count(d->cols), text_count(d->nnz));
    put_ends(p, d, width, height);
    /* An own system of coordinates, in rows and columns, which a page can zoom into. Cells at the
     * ends may reach beyond the matrix. */
    fprintf(p->out,
            "<svg class=\"spy\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" "
            "viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\">\n",
            LEFT, TOP, width, height, fmax((double)d->cols, 1), fmax((double)d->rows, 1));
    put_level(p, &levels[0], "coarse", "visible");
    if (levels[1].png)
        put_level(p, &levels[1], "fine", "hidden");
    fputs("</svg>\n", p->out);
    draw_rect(p, LEFT, TOP, width, height, "frame", NULL);
    put_legend(p, d, TOP + height + 16);
    draw_end(p);
}
