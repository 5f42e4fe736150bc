/* Numbers and sentences for people. */
#include "output.h"

#include <math.h>
#include <string.h>

enum { TEXTS = 8, TEXT_SIZE = 48, NAMES = 4, NAME_SIZE = 4096, ESCAPE = 4, BYTES_MOST = 4 };

/* Texts in turn, so that several can stand in one printf. */
static char *next_text(void)
{
    static _Thread_local char texts[TEXTS][TEXT_SIZE];
    static _Thread_local int turn;
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

int text_utf8_length(const unsigned char *p)
{
    int length = p[0] < 0x80                   ? 1
                 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
                 : (p[0] & 0xF0) == 0xE0       ? 3
                 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4
                                               : 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool outside = (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF4 && p[1] > 0x8F);
    return length > 2 && (overlong || outside) ? 0 : length;
}

bool text_is_control(const unsigned char *p)
{
    return *p < 0x20 || *p == 0x7F || (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0);
}

uint32_t text_code(const unsigned char *p, int length)
{
    uint32_t code = length > 1 ? *p & (0x7FU >> length) : *p;
    for (int i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3FU);
    return code;
}

bool text_is_hidden(const unsigned char *p)
{
    static const uint32_t ranges[][2] = {
        {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    const uint32_t code = text_code(p, text_utf8_length(p));
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (code >= ranges[k][0] && code <= ranges[k][1])
            return true;
    return text_is_control(p);
}

/* Copies a character, or \x1b for each of its bytes where a terminal would act on it, nobody would
 * see it, or it is none; moves on. Gives the bytes written, at most BYTES_MOST ESCAPE. */
static size_t copy_character(const unsigned char **p, bool lines, char *out)
{
    const int length = text_utf8_length(*p);
    const size_t bytes = length > 0 ? (size_t)length : 1;
    const bool kept = lines && (**p == '\n' || **p == '\t');
    size_t used = 0;
    if (length > 0 && (kept || !text_is_hidden(*p))) {
        memcpy(out, *p, bytes);
        used = bytes;
    } else {
        for (size_t i = 0; i < bytes; i++, used += ESCAPE)
            snprintf(out + used, ESCAPE + 1, "\\x%02x", (*p)[i]);
    }
    *p += bytes;
    return used;
}

const char *text_name(const char *name)
{
    static _Thread_local char names[NAMES][NAME_SIZE];
    static _Thread_local int turn;
    turn = (turn + 1) % NAMES;
    char *out = names[turn];
    size_t used = 0;
    for (const unsigned char *p = (const unsigned char *)name;
         *p && used < NAME_SIZE - BYTES_MOST * ESCAPE;)
        used += copy_character(&p, false, out + used);
    out[used] = '\0';
    return out;
}

static void put_part(FILE *out, const char *text, size_t length)
{
    char character[BYTES_MOST * ESCAPE + 1];
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    while (p < end) {
        const size_t used = copy_character(&p, true, character);
        fwrite(character, 1, used, out);
    }
}

void text_put(FILE *out, const char *text)
{
    put_part(out, text, strlen(text));
}

void text_word(FILE *out, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_./:=,+@%";
    enum { BARE, QUOTED, ESCAPED };
    int in = BARE;
    if (*word && strspn(word, safe) == strlen(word)) {
        fputs(word, out);
        return;
    }
    if (!*word)
        fputs("''", out);
    for (const unsigned char *p = (const unsigned char *)word; *p;) {
        const int length = text_utf8_length(p), bytes = length > 0 ? length : 1;
        const int wanted = *p == '\'' ? BARE : length > 0 && !text_is_hidden(p) ? QUOTED : ESCAPED;
        if (wanted != in)
            fprintf(out, "%s%s", in == BARE ? "" : "'",
                    wanted == BARE     ? ""
                    : wanted == QUOTED ? "'"
                                       : "$'");
        in = wanted;
        if (wanted == BARE)
            fputs("\\'", out);
        else if (wanted == QUOTED)
            fwrite(p, 1, (size_t)bytes, out);
        for (int i = 0; wanted == ESCAPED && i < bytes; i++)
            fprintf(out, "\\%03o", p[i]);
        p += bytes;
    }
    if (in != BARE)
        fputc('\'', out);
}

void text_file(const char *name, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    bool whole = false;
    if (out) {
        text_word(out, name);
        whole = ftell(out) < (long)size;
        whole = fclose(out) == 0 && whole;
    }
    if (!whole)
        snprintf(text, size, "FILE");
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
        fputs(first ? "" : " ", out);
        put_part(out, p, (size_t)length);
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
