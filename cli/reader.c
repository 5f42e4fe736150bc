/*
 * JSON (RFC 8259) taken apart without recursion: values lie in one list in the order of the text,
 * and those that are still open on a short stack. Strings are undone where they stand in a copy of
 * the text, which they only make shorter.
 */
#include "reader.h"

#include <math.h>
#include <private/marks.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, NUMBER = 64, VALUES_MOST = 1 << 27 };

typedef struct parser {
    reader *r;
    const char *source; /* as it was given */
    char *p, *end;
    int depth;
    int32_t open[DEPTH], last[DEPTH]; /* what is open, and the last within it; 0: none yet */
} parser;

static bool fail(parser *s, const char *fault)
{
    if (!s->r->fault) {
        s->r->fault = fault;
        s->r->line = 1;
        for (const char *q = s->source; q < s->source + (s->p - s->r->bytes); q++)
            s->r->line += *q == '\n';
    }
    return false;
}

static void skip_blanks(parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
        s->p++;
}

static int32_t add(parser *s, char kind, const char *key)
{
    reader *r = s->r;
    if (r->count == r->room) {
        const int32_t room = r->room ? 2 * r->room : 64;
        reader_value *values =
            room > VALUES_MOST ? NULL : realloc(r->values, (size_t)room * sizeof *values);
        if (!values) {
            fail(s, "no memory for so much");
            return -1;
        }
        r->values = values;
        r->room = room;
    }
    const int32_t at = r->count++;
    r->values[at] = (reader_value){.kind = kind, .text = "", .key = key, .number = NAN};
    if (s->depth > 0) {
        int32_t *last = &s->last[s->depth - 1];
        if (*last)
            r->values[*last].next = at;
        else
            r->values[s->open[s->depth - 1]].first = at;
        *last = at;
    }
    return at;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool take_hex(parser *s, unsigned *code)
{
    *code = 0;
    for (int k = 0; k < 4; k++, s->p++) {
        const int digit = s->p < s->end ? hex_digit(*s->p) : -1;
        if (digit < 0)
            return fail(s, "\\u needs four hexadecimal digits");
        *code = 16 * *code + (unsigned)digit;
    }
    return true;
}

/* A character by its number as UTF-8; halves of pairs that stand alone, and 0, become U+FFFD. */
static char *put_utf8(char *to, unsigned code)
{
    if (code == 0 || (code >= 0xD800 && code < 0xE000))
        code = 0xFFFD;
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

static bool take_escape(parser *s, char **to)
{
    static const char marks[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char c = s->p < s->end ? *s->p++ : 0;
    const char *at = c ? strchr(marks, c) : NULL;
    unsigned code, low;
    if (at) {
        *(*to)++ = means[at - marks];
        return true;
    }
    if (c != 'u')
        return fail(s, "an unknown escape in a string");
    if (!take_hex(s, &code))
        return false;
    if (code >= 0xD800 && code < 0xDC00 && s->end - s->p >= 6 && s->p[0] == '\\' &&
        s->p[1] == 'u') {
        s->p += 2;
        if (!take_hex(s, &low))
            return false;
        code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                             : 0xFFFD;
    }
    *to = put_utf8(*to, code);
    return true;
}

/* At its quote; what it stands for, where it stands. */
static bool take_string(parser *s, const char **text)
{
    char *to = ++s->p;
    *text = to;
    for (;;) {
        if (s->p == s->end)
            return fail(s, "a string does not end");
        const char c = *s->p++;
        if (c == '"') {
            *to = '\0'; /* at the quote or before it */
            return true;
        }
        if ((unsigned char)c < ' ')
            return fail(s, "a control character in a string");
        if (c != '\\')
            *to++ = c;
        else if (!take_escape(s, &to))
            return false;
    }
}

/* -?int frac? exp? */
static bool is_number(const char *p)
{
    p += *p == '-';
    if (*p == '0')
        p++;
    else if (*p >= '1' && *p <= '9')
        p += strspn(p, "0123456789");
    else
        return false;
    if (*p == '.') {
        const size_t digits = strspn(++p, "0123456789");
        if (digits == 0)
            return false;
        p += digits;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        const size_t digits = strspn(p, "0123456789");
        if (digits == 0)
            return false;
        p += digits;
    }
    return !*p;
}

static bool take_number(parser *s, const char *key)
{
    char text[NUMBER];
    size_t length = 0;
    while (s->p < s->end && *s->p && strchr("+-.eE0123456789", *s->p)) {
        if (length == NUMBER - 1)
            return fail(s, "a number with too many digits");
        text[length++] = *s->p++;
    }
    text[length] = '\0';
    if (!is_number(text))
        return fail(s, "a value was expected");
    const int32_t at = add(s, '0', key);
    if (at < 0)
        return false;
    s->r->values[at].number = strtod(text, NULL);
    return true;
}

static bool take_word(parser *s, const char *word, const char *key)
{
    const size_t length = strlen(word);
    if ((size_t)(s->end - s->p) < length || memcmp(s->p, word, length) != 0)
        return fail(s, "a value was expected");
    s->p += length;
    return add(s, *word, key) >= 0;
}

static bool take_value(parser *s, const char *key)
{
    skip_blanks(s);
    const char c = s->p < s->end ? *s->p : 0;
    if (c == '{' || c == '[') {
        if (s->depth == DEPTH)
            return fail(s, "too many lists within each other");
        const int32_t at = add(s, c, key);
        if (at < 0)
            return false;
        s->p++;
        s->open[s->depth] = at;
        s->last[s->depth++] = 0;
        return true;
    }
    if (c == '"') {
        const char *text;
        if (!take_string(s, &text))
            return false;
        const int32_t at = add(s, c, key);
        if (at >= 0)
            s->r->values[at].text = text;
        return at >= 0;
    }
    return c == 't'   ? take_word(s, "true", key)
           : c == 'f' ? take_word(s, "false", key)
           : c == 'n' ? take_word(s, "null", key)
                      : take_number(s, key);
}

/* The next value of what is open, or its end. */
static bool take_next(parser *s)
{
    const bool object = s->r->values[s->open[s->depth - 1]].kind == '{';
    const char *key = NULL;
    skip_blanks(s);
    if (s->p < s->end && *s->p == (object ? '}' : ']')) {
        s->p++;
        s->depth--;
        return true;
    }
    if (s->last[s->depth - 1]) {
        if (s->p == s->end || *s->p != ',')
            return fail(s, "a comma or a closing bracket was expected");
        s->p++;
        skip_blanks(s);
    }
    if (object) {
        if (s->p == s->end || *s->p != '"')
            return fail(s, "a name in quotes was expected");
        if (!take_string(s, &key))
            return false;
        skip_blanks(s);
        if (s->p == s->end || *s->p != ':')
            return fail(s, "a colon was expected");
        s->p++;
    }
    return take_value(s, key);
}

bool reader_parse(reader *r, const char *text, size_t size)
{
    *r = (reader){.bytes = malloc(size + 1)};
    if (!r->bytes) {
        r->fault = "no memory for the text";
        return false;
    }
    if (size > 0)
        memcpy(r->bytes, text, size);
    r->bytes[size] = '\0';
    parser s = {.r = r, .source = text, .p = r->bytes, .end = r->bytes + size};
    size_t zero;
    const char *binary = text_is_binary(text, size, &zero);
    s.p += binary ? zero : text_mark(text, size);
    bool good = binary ? fail(&s, binary) : take_value(&s, NULL);
    while (good && s.depth > 0)
        good = take_next(&s);
    skip_blanks(&s);
    return good && (s.p == s.end || fail(&s, "the text goes on behind its end"));
}

void reader_free(reader *r)
{
    free(r->values);
    free(r->bytes);
    *r = (reader){0};
}

const reader_value *reader_first(const reader *r, const reader_value *v)
{
    return v && v->first ? &r->values[v->first] : NULL;
}

const reader_value *reader_next(const reader *r, const reader_value *v)
{
    return v && v->next ? &r->values[v->next] : NULL;
}

const reader_value *reader_member(const reader *r, const reader_value *v, const char *key)
{
    for (v = v && v->kind == '{' ? reader_first(r, v) : NULL; v; v = reader_next(r, v))
        if (strcmp(v->key, key) == 0)
            return v;
    return NULL;
}

const char *reader_text(const reader *r, const reader_value *v, const char *key)
{
    const reader_value *member = reader_member(r, v, key);
    return member ? member->text : "";
}

double reader_number(const reader *r, const reader_value *v, const char *key)
{
    const reader_value *member = reader_member(r, v, key);
    return member ? member->number : NAN;
}
