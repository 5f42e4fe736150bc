/* Numbers and sentences for people. */
#include "output.h"

#include <math.h>
#include <string.h>

enum { TEXTS = 8, TEXT_SIZE = 48 };

/* Texts in turn, so that several can stand in one printf. */
static char *next_text(void)
{
    static char texts[TEXTS][TEXT_SIZE];
    static int turn;
    turn = (turn + 1) % TEXTS;
    return texts[turn];
}

const char *text_count(int64_t n)
{
    char digits[24], *out = next_text();
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n), used = 0;
    for (int i = 0; i < length; i++) {
        out[used++] = digits[i];
        if ((length - i) % 3 == 1 && length - i > 1 && digits[i] != '-')
            out[used++] = ',';
    }
    out[used] = '\0';
    return out;
}

const char *text_bytes(double bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 6) {
        bytes /= 1000;
        unit++;
    }
    char *out = next_text();
    snprintf(out, TEXT_SIZE, "%.*f %s", unit && bytes < 99.95 ? 1 : 0, bytes, units[unit]);
    return out;
}

const char *text_seconds(double seconds)
{
    char *out = next_text();
    if (seconds < 0.9995e-3)
        snprintf(out, TEXT_SIZE, "%.3g us", seconds * 1e6);
    else if (seconds < 0.9995)
        snprintf(out, TEXT_SIZE, "%.3g ms", seconds * 1e3);
    else if (seconds < 119.95)
        snprintf(out, TEXT_SIZE, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
    else /* rounded before it is split, so that there are no 60 seconds */
        snprintf(out, TEXT_SIZE, "%.0f min %.0f s", floor(round(seconds) / 60),
                 fmod(round(seconds), 60));
    return out;
}

const char *text_type(spry_type type)
{
    static const char *const texts[] = {"real single", "real double", "complex single",
                                        "complex double"};
    return texts[type & 3];
}

void text_wrap(FILE *out, int column, int indent, const char *text)
{
    bool first = true;
    for (const char *p = text; *p;) {
        int length = (int)strcspn(p, " \n");
        if (!first && column + 1 + length > TEXT_COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", length, p);
        column += length + !first;
        first = false;
        p += length;
        if (*p == '\n') {
            fprintf(out, "\n%*s", p[1] ? indent : 0, "");
            column = indent;
            first = true;
        }
        p += *p != '\0';
    }
    fputc('\n', out);
}
