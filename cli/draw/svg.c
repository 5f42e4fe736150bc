/* The elements of SVG that pictures are made of. */
#include "draw.h"

#include <stdarg.h>
#include <string.h>

/* Texts and colours have a contrast of at least 4.5 on both grounds. */
const char draw_style[] =
    ".pic{--ground:#ffffff;--ink:#1a1d21;--soft:#5b6470;--grid:#dde1e6;--panel:#f3f4f6;"
    "--c0:#1f6fb2;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#946000;--c5:#be185d;"
    "font-family:system-ui,'DejaVu Sans',sans-serif;font-size:13px}\n"
    "@media (prefers-color-scheme:dark){.pic{--ground:#14171a;--ink:#e8eaed;--soft:#a3acb8;"
    "--grid:#343a41;--panel:#22272d;--c0:#6cb2f0;--c1:#fb923c;--c2:#4ade80;--c3:#c084fc;"
    "--c4:#facc15;--c5:#f472b6}.pic image,.pic .scale{filter:invert(1) hue-rotate(180deg)}}\n"
    "@media print{.pic{--ground:#ffffff;--ink:#1a1d21;--soft:#5b6470;--grid:#dde1e6;"
    "--panel:#f3f4f6;--c0:#1f6fb2;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#946000;"
    "--c5:#be185d}.pic image,.pic .scale{filter:none}}\n"
    ".pic text{fill:var(--ink)}.pic .soft{fill:var(--soft)}.pic .head{font-size:16px;"
    "font-weight:600}.pic .group{font-weight:600}.pic .code{font-family:ui-monospace,Menlo,"
    "Consolas,'DejaVu Sans Mono',monospace}\n"
    ".pic .ground{fill:var(--ground)}.pic .panel{fill:var(--panel)}.pic .frame{fill:none;"
    "stroke:var(--soft)}.pic .grid{stroke:var(--grid)}.pic .goal{stroke:var(--soft);"
    "stroke-dasharray:2 4}.pic .cycle{stroke:var(--soft)}.pic image{image-rendering:pixelated}\n"
    ".pic .line{fill:none;stroke-width:1.8;stroke-linejoin:round}.pic .roof{stroke-width:2.2}"
    ".pic .triad{stroke-width:1.4;stroke-dasharray:6 4}\n"
    ".pic .f0{fill:var(--c0)}.pic .f1{fill:var(--c1)}.pic .f2{fill:var(--c2)}"
    ".pic .f3{fill:var(--c3)}.pic .f4{fill:var(--c4)}.pic .f5{fill:var(--c5)}"
    ".pic .fs{fill:var(--soft)}\n"
    ".pic .s0{stroke:var(--c0)}.pic .s1{stroke:var(--c1);stroke-dasharray:9 3}"
    ".pic .s2{stroke:var(--c2);stroke-dasharray:3 3}.pic .s3{stroke:var(--c3);"
    "stroke-dasharray:12 3 3 3}.pic .s4{stroke:var(--c4);stroke-dasharray:6 2 2 2 2 2}"
    ".pic .s5{stroke:var(--c5);stroke-dasharray:16 5}.pic .mark{stroke-width:2;fill:none;"
    "stroke-dasharray:none}\n";

void draw_escaped(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const int length = text_utf8_length(p);
        /* XML has no control characters, and two that are none at the end of the first plane. */
        const bool none = length == 0 || text_is_hidden(p) ||
                          (length == 3 && p[0] == 0xEF && p[1] == 0xBF && p[2] >= 0xBE);
        if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '>')
            fputs("&gt;", out);
        else if (*p == '&')
            fputs("&amp;", out);
        else if (*p == '"')
            fputs("&quot;", out);
        else if (*p == '\n' || *p == '\t')
            fputc(*p, out);
        else if (none)
            fputs("\xEF\xBF\xBD", out);
        else
            fwrite(p, 1, (size_t)length, out);
        p += length ? length : 1;
    }
}

const char *draw_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

void draw_begin(picture *p, const char *title, const char *description)
{
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pic\" viewBox=\"0 0 %.0f %.0f\" "
            "width=\"%.0f\" height=\"%.0f\" role=\"img\">\n<title>",
            p->width, p->height, p->width, p->height);
    draw_escaped(p->out, title);
    fputs("</title>\n<desc>", p->out);
    draw_escaped(p->out, description);
    fputs("</desc>\n", p->out);
    if (p->alone)
        fprintf(p->out, "<style>\n%s</style>\n", draw_style);
    draw_rect(p, 0, 0, p->width, p->height, "ground", NULL);
}

void draw_end(const picture *p)
{
    fputs("</svg>\n", p->out);
}

void draw_text(const picture *p, double x, double y, const char *class, const char *anchor,
               const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class,
            anchor);
    draw_escaped(p->out, text);
    fputs("</text>\n", p->out);
}

void draw_line(const picture *p, double x1, double y1, double x2, double y2, const char *class)
{
    fprintf(p->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1,
            y1, x2, y2, class);
}

/* The end of an element, with the text that the pointer shows. */
static void put_title(FILE *out, const char *element, const char *title)
{
    if (!title) {
        fputs("/>\n", out);
        return;
    }
    fputs("><title>", out);
    draw_escaped(out, title);
    fprintf(out, "</title></%s>\n", element);
}

void draw_rect(const picture *p, double x, double y, double width, double height, const char *class,
               const char *title)
{
    fprintf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"", x, y,
            width, height, class);
    put_title(p->out, "rect", title);
}

void draw_mark(const picture *p, double x, double y, char kind, const char *class,
               const char *title)
{
    const double r = 5;
    if (kind == 'o' || kind == '.') {
        fprintf(p->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"", x, y,
                kind == 'o' ? r : r - 1, class);
        put_title(p->out, "circle", title);
        return;
    }
    fprintf(p->out, "<path d=\"M%.1f %.1f", x - r, y - r);
    if (kind == 'x')
        fprintf(p->out, "l%.1f %.1fm0 %.1fl%.1f %.1f", 2 * r, 2 * r, -2 * r, -2 * r, 2 * r);
    else if (kind == 'v')
        fprintf(p->out, "h%.1fl%.1f %.1fz", 2 * r, -r, 1.6 * r);
    else
        fprintf(p->out, "h%.1fv%.1fh%.1fz", 2 * r, 2 * r, -2 * r);
    fprintf(p->out, "\" class=\"%s\"", class);
    put_title(p->out, "path", title);
}

void draw_base64(FILE *out, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;
    for (size_t i = 0; i < size; i += 3) {
        const size_t have = size - i < 3 ? size - i : 3;
        const unsigned group = (unsigned)b[i] << 16 | (have > 1 ? (unsigned)b[i + 1] << 8 : 0) |
                               (have > 2 ? b[i + 2] : 0);
        for (size_t k = 0; k < 4; k++)
            fputc(k <= have ? digits[group >> (18 - 6 * k) & 63] : '=', out);
    }
}
