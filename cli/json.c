/* JSON. The program never leaves the C locale, so numbers have their point everywhere. */
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the first plane as two halves. */
static void put_escape(FILE *out, uint32_t code)
{
    if (code < 0x10000)
        fprintf(out, "\\u%04x", (unsigned)code);
    else
        fprintf(out, "\\u%04x\\u%04x", 0xD800U + (unsigned)(code >> 10) - 0x40U,
                0xDC00U + (unsigned)(code & 0x3FF));
}

static void quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int length = text_utf8_length(p);
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (length == 0)
            fputs("\\ufffd", out); /* names of files need not be UTF-8 */
        else if (text_is_hidden(p))
            put_escape(out, text_code(p, length));
        else
            fwrite(p, 1, (size_t)length, out);
        p += length ? length : 1;
    }
    fputc('"', out);
}

/* What precedes a value: a comma, the line's indent, the key. Numbers of a list share a line.
 */
static void begin(json *j, const char *key, bool number)
{
    bool inside = j->depth > 0, same_line = j->flat || (number && !key);
    if (inside && j->filled[j->depth])
        fputs(same_line ? ", " : ",", j->out);
    if (inside && !same_line)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    j->filled[j->depth] = true;
    j->one_line[j->depth] = same_line;
    if (key) {
        quote(j->out, key);
        fputs(": ", j->out);
    }
}

void json_open(json *j, const char *key, char bracket)
{
    begin(j, key, false);
    fputc(bracket, j->out);
    j->filled[++j->depth] = false;
}

void json_close(json *j, char bracket)
{
    bool lines = j->filled[j->depth] && !j->one_line[j->depth];
    j->depth--;
    if (lines)
        fprintf(j->out, "\n%*s", 2 * j->depth, "");
    fputc(bracket, j->out);
    if (j->depth == 0)
        fputc('\n', j->out);
}

void json_text(json *j, const char *key, const char *text)
{
    begin(j, key, false);
    if (text)
        quote(j->out, text);
    else
        fputs("null", j->out);
}

/* The fewest digits that read back as the same number. */
void json_real(json *j, const char *key, double value)
{
    char text[40] = "null";
    for (int digits = 6; isfinite(value) && digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    begin(j, key, true);
    fputs(text, j->out);
}

void json_int(json *j, const char *key, int64_t value)
{
    begin(j, key, true);
    fprintf(j->out, "%lld", (long long)value);
}

void json_bool(json *j, const char *key, bool value)
{
    begin(j, key, false);
    fputs(value ? "true" : "false", j->out);
}

void json_lines(json *j, const char *lines)
{
    char line[512];
    for (const char *p = lines ? lines : ""; *p; p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, p);
        json_text(j, NULL, cli_spell(line));
        p += length;
    }
}
