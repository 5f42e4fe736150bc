/* The figures of spry bench as a chart of bars: a group a matrix, a bar a format. */
#include "bench.h"

#include <string.h>

enum { LEFT = 300, BAR = 14, GAP = 4, GROUP = 34, WIDTH = 900, TOP = 60, RIGHT = 110 };

/* Texts come from names of files: what SVG would read as markup is written as it wants it. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
}

/* Billions of entries times columns per second: what counts in the end, whatever the bytes. */
static double speed(const bench_record *r)
{
    return r->seconds > 0 ? (double)r->nnz * r->columns / r->seconds / 1e9 : 0;
}

static int chart_height(const bench_data *d)
{
    int height = TOP + 40;
    for (int i = 0; i < d->count; i++)
        height +=
            (*d->records[i].skipped ? 0 : BAR + GAP) +
            (i == 0 || strcmp(d->records[i].matrix, d->records[i - 1].matrix) != 0 ? GROUP : 0);
    return height;
}

static void put_bar(FILE *out, const bench_record *r, double most, int y)
{
    const double length = (WIDTH - LEFT - RIGHT) * speed(r) / most;
    const bool csr = strcmp(r->format, "csr") == 0 && !*r->params;
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 6, y + BAR - 3);
    put_text(out, r->format);
    if (*r->params) {
        fputc(':', out);
        put_text(out, r->params);
    }
    fprintf(out, "</text>\n<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
            LEFT, y, length, BAR, csr ? "#888888" : "#3b76af");
    fprintf(out, "<text x=\"%.1f\" y=\"%d\">%.3g", LEFT + length + 4, y + BAR - 3, speed(r));
    if (r->times_csr > 0 && !csr)
        fprintf(out, " (%.2f x csr)", r->times_csr);
    fputs("</text>\n", out);
}

void bench_chart(FILE *out, const void *data)
{
    const bench_data *d = data;
    double most = 1e-9;
    for (int i = 0; i < d->count; i++)
        most = speed(&d->records[i]) > most ? speed(&d->records[i]) : most;
    const int height = chart_height(d);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"10\" y=\"24\" font-size=\"15\">Products with sparse matrices: billions of "
            "entries per second</text>\n"
            "<text x=\"10\" y=\"42\">read bandwidth in the same run: %.1f GB/s</text>\n",
            WIDTH, height, d->ceilings.read / 1e9);
    int y = TOP;
    for (int i = 0; i < d->count; i++) {
        const bench_record *r = &d->records[i];
        if (i == 0 || strcmp(r->matrix, d->records[i - 1].matrix) != 0) {
            fprintf(out, "<text x=\"10\" y=\"%d\" font-size=\"13\" font-weight=\"bold\">",
                    y + GROUP - 14);
            put_text(out, r->matrix);
            fprintf(out, ", %s entries, type %s", text_count(r->nnz), spry_type_name(r->type));
            if (r->columns > 1)
                fprintf(out, ", %d columns", r->columns);
            fputs("</text>\n", out);
            y += GROUP;
        }
        if (!*r->skipped) {
            put_bar(out, r, most, y);
            y += BAR + GAP;
        }
    }
    fputs("</svg>\n", out);
}
