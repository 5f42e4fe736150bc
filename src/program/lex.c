/* The tokens of a method's text: names, numbers, texts, signs, and the ends of statements. */
#include "program/parse.h"

#include <math.h>
#include <stdarg.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

bool parser_stop(parser *ps, spry_status status)
{
    if (status == SPRY_STATUS_OK || ps->status != SPRY_STATUS_OK)
        return ps->status != SPRY_STATUS_OK;
    ps->status = status;
    ps->now = (token){.kind = TOKEN_END, .begin = ps->size};
    return true;
}

int parser_fail(parser *ps, int place, const char *format, ...)
{
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    char what[MESSAGE_SIZE / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    parser_stop(ps, program_fault(ps->p, place, "%s", what));
    return NONE;
}

bool parser_enter(parser *ps)
{
    if (++ps->depth > MOST_DEPTH)
        parser_fail(ps, ps->now.begin, "there are more than %d levels of nesting", MOST_DEPTH);
    return ps->status == SPRY_STATUS_OK;
}

parser_word parser_text(const parser *ps, token t)
{
    parser_word word;
    const size_t most = sizeof word.text - 1;
    const size_t size = (size_t)t.size < most ? (size_t)t.size : most;
    memcpy(word.text, ps->p->text + t.begin, size);
    memset(word.text + size, 0, sizeof word.text - size);
    return word;
}

int parser_unexpected(parser *ps, const char *needed)
{
    const token t = ps->now;
    const bool semicolon = ps->p->text[t.begin] == ';';
    const char *found = t.kind == TOKEN_END                  ? "the end of the text"
                        : t.kind == TOKEN_LINE && !semicolon ? "the end of the line"
                        : t.kind == TOKEN_TEXT               ? "a text in quotes"
                                                             : NULL;
    return parser_fail(ps, t.begin, "%s is needed here, not %s", needed,
                       found ? found : parser_text(ps, t).text);
}

bool parser_take_word(parser *ps, const char *word)
{
    const bool found = parser_at_word(ps, word);
    if (found)
        parser_advance(ps);
    return found;
}

bool parser_take(parser *ps, int kind)
{
    const bool found = ps->now.kind == kind;
    if (found)
        parser_advance(ps);
    return found;
}

bool parser_expect(parser *ps, int kind, const char *what)
{
    if (!parser_take(ps, kind))
        parser_unexpected(ps, what);
    return ps->status == SPRY_STATUS_OK;
}

bool parser_expect_word(parser *ps, const char *word)
{
    if (!parser_take_word(ps, word))
        parser_unexpected(ps, word);
    return ps->status == SPRY_STATUS_OK;
}

/* Whether a line that ends after the token at hand goes on in the next. */
static bool goes_on(const parser *ps)
{
    switch (ps->now.kind) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
    case '<':
    case '>':
    case '=':
    case ',':
    case TOKEN_DOTS:
    case TOKEN_TIMES:
    case TOKEN_OVER:
    case TOKEN_AT_MOST:
    case TOKEN_AT_LEAST:
    case TOKEN_EQUAL:
    case TOKEN_UNEQUAL:
        return true;
    default:
        return ps->open > 0 || parser_at_word(ps, "and") || parser_at_word(ps, "or") ||
               parser_at_word(ps, "not");
    }
}

static void skip_blanks(parser *ps)
{
    const char *text = ps->p->text;
    const bool lines = goes_on(ps);
    bool comment = false;
    for (; ps->at < ps->size; ps->at++) {
        const char c = text[ps->at];
        if (c == '\n' && !lines)
            return;
        comment = (comment || c == '#') && c != '\n';
        if (!comment && c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return;
    }
}

static int digits_end(const char *text, int at)
{
    while (is_digit(text[at]))
        at++;
    return at;
}

/* A point belongs to a number only when a digit follows it, so that 0..k is a slice. */
static void lex_number(parser *ps)
{
    const char *text = ps->p->text;
    int end = digits_end(text, ps->now.begin);
    if (text[end] == '.' && is_digit(text[end + 1]))
        end = digits_end(text, end + 1);
    if (text[end] == 'e' || text[end] == 'E') {
        const int sign = text[end + 1] == '-' || text[end + 1] == '+';
        if (is_digit(text[end + 1 + sign]))
            end = digits_end(text, end + 1 + sign);
    }
    ps->now.kind = TOKEN_NUMBER;
    ps->now.size = end - ps->now.begin;
    base_parse_double(text + ps->now.begin, text + end, &ps->now.value);
    if (!isfinite(ps->now.value))
        parser_fail(ps, ps->now.begin, "the number is too large");
}

static void lex_name(parser *ps)
{
    int end = ps->now.begin;
    while (is_name(ps->p->text[end]))
        end++;
    ps->now.kind = TOKEN_NAME;
    ps->now.size = end - ps->now.begin;
    if (end - ps->now.begin >= (int)sizeof(parser_word))
        parser_fail(ps, ps->now.begin, "the name %s... is longer than %zu characters",
                    parser_text(ps, ps->now).text, sizeof(parser_word) - 1);
}

void parser_widen_name(parser *ps)
{
    int end = ps->now.begin;
    while (is_name(ps->p->text[end]) || ps->p->text[end] == '-')
        end++;
    ps->now.size = end - ps->now.begin;
    ps->at = end;
    if (end - ps->now.begin >= (int)sizeof(parser_word))
        parser_fail(ps, ps->now.begin, "the name %s... is longer than %zu characters",
                    parser_text(ps, ps->now).text, sizeof(parser_word) - 1);
}

static void lex_text(parser *ps)
{
    const char *text = ps->p->text;
    int end = ps->now.begin + 1;
    while ((unsigned char)text[end] >= ' ' && text[end] != '"' && text[end] != 127)
        end++;
    ps->now.kind = TOKEN_TEXT;
    ps->now.size = end + 1 - ps->now.begin;
    if (end >= ps->size || text[end] == '\n' || text[end] == '\r')
        parser_fail(ps, ps->now.begin, "the text has no closing quote in its line");
    else if (text[end] != '"')
        parser_fail(ps, end, "byte %d cannot stand in a text", (unsigned char)text[end]);
}

static void lex_sign(parser *ps)
{
    static const struct {
        char text[3];
        int kind;
    } pairs[] = {{"..", TOKEN_DOTS},    {".*", TOKEN_TIMES},    {"./", TOKEN_OVER},
                 {"<=", TOKEN_AT_MOST}, {">=", TOKEN_AT_LEAST}, {"==", TOKEN_EQUAL},
                 {"!=", TOKEN_UNEQUAL}};
    const char *text = ps->p->text + ps->now.begin;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (text[0] == pairs[i].text[0] && text[1] == pairs[i].text[1]) {
            ps->now.kind = pairs[i].kind;
            ps->now.size = 2;
            return;
        }
    }
    ps->now.kind = text[0] == ';' || text[0] == '\n' ? TOKEN_LINE : text[0];
    ps->now.size = 1;
    if (text[0] == '\0' || !strchr("()[]|,:;=+-*/^<>\n", text[0])) {
        if (text[0] > ' ' && text[0] < 127)
            parser_fail(ps, ps->now.begin, "%c has no meaning here", text[0]);
        else
            parser_fail(ps, ps->now.begin, "byte %d has no meaning here", (unsigned char)text[0]);
    }
}

void parser_advance(parser *ps)
{
    if (ps->status != SPRY_STATUS_OK)
        return;
    skip_blanks(ps);
    ps->now = (token){.kind = TOKEN_END, .begin = ps->at};
    if (ps->at >= ps->size)
        return;
    const char *text = ps->p->text + ps->at;
    if (is_digit(text[0]) || (text[0] == '.' && is_digit(text[1])))
        lex_number(ps);
    else if (is_letter(text[0]))
        lex_name(ps);
    else if (text[0] == '"')
        lex_text(ps);
    else
        lex_sign(ps);
    ps->at = ps->now.begin + ps->now.size;
}
