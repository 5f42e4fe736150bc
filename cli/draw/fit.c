/* Texts that have to fit: how wide they are, and what is left of those that are wider. */
#include "draw.h"

#include <stdarg.h>
#include <string.h>

enum { TEXT = 1024 };
static const char ellipsis[] = "\xE2\x80\xA6";

/* Of a character, in ems; of letters the mean of DejaVu Sans, which is wider than most. */
static double ems(const unsigned char *p, int length)
{
    if (length > 2) /* many of these are as wide as they are high */
        return 1;
    if (*p < 0x80 && strchr("mwMW@%", *p))
        return 0.94;
    if (*p < 0x80 && strchr("+=<>~", *p))
        return 0.84;
    if (*p < 0x80 && strchr(" ijlIfrt.,:;|!'()[]/-", *p))
        return 0.37;
    return *p >= 'A' && *p <= 'Z' ? 0.72 : 0.62;
}

/* The font's size, more where it is bold. */
static double size_of(const char *class)
{
    return strstr(class, "head") ? 1.1 * 16 : strstr(class, "group") ? 1.1 * 13 : 13;
}

/* One that is not valid counts as one character. */
static int step(const char *text)
{
    const int length = text_utf8_length((const unsigned char *)text);
    return length > 0 ? length : 1;
}

/* Of the character at p. */
static double letter_width(const char *p, const char *class)
{
    return size_of(class) * (strstr(class, "code") ? 0.61 : ems((const unsigned char *)p, step(p)));
}

double draw_width(const char *text, const char *class)
{
    double sum = 0;
    for (const char *p = text; *p; p += step(p))
        sum += letter_width(p, class);
    return sum;
}

/* Takes the middle out: names differ at both ends. */
static void shorten(char *text, double width, const char *class)
{
    const double room = width - size_of(class);
    double begin = 0, end = draw_width(text, class);
    char rest[TEXT], *head = text, *tail;
    for (; *head && begin + letter_width(head, class) <= 0.6 * room; head += step(head))
        begin += letter_width(head, class);
    end -= begin;
    for (tail = head; *tail && end > room - begin; tail += step(tail))
        end -= letter_width(tail, class);
    snprintf(rest, sizeof rest, "%s%s", ellipsis, tail);
    snprintf(head, (size_t)(text + TEXT - head), "%s", rest);
}

void draw_fitted(const picture *p, double x, double y, const char *class, const char *anchor,
                 double width, const char *format, ...)
{
    char text[TEXT], whole[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(whole, sizeof whole, format, arguments);
    va_end(arguments);
    memcpy(text, whole, sizeof text);
    const bool fits = draw_width(text, class) <= width;
    if (!fits)
        shorten(text, width, class);
    fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class,
            anchor);
    draw_escaped(p->out, text);
    if (!fits) {
        fputs("<title>", p->out);
        draw_escaped(p->out, whole);
        fputs("</title>", p->out);
    }
    fputs("</text>\n", p->out);
}
