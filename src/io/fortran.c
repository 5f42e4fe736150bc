/*
 * Fortran formats and the fields they describe (Fortran 2018, section 13). Only what describes a
 * list of numbers is understood: I F E D G with repeat counts, ES and EN, nX, kP, groups.
 */
#include "io/fortran.h"

#include "io/io.h"

enum { NESTING = 4, NUMBER_LIMIT = 100000 };

typedef struct parser {
    const char *p, *end;
    fortran_format *format;
    int column, scale;
    const char *why;
} parser;

static bool refuse(parser *s, const char *why)
{
    if (s->why == NULL)
        s->why = why;
    return false;
}

/* The next character that is not blank, in upper case; 0 at the end. */
static char peek(parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
        s->p++;
    if (s->p == s->end)
        return 0;
    return *s->p >= 'a' && *s->p <= 'z' ? (char)(*s->p - 'a' + 'A') : *s->p;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* An unsigned number, or `otherwise` when there is none; saturates, so that it fails a bound later.
 */
static int number(parser *s, int otherwise)
{
    if (!digit(peek(s)))
        return otherwise;
    int value = 0;
    for (; s->p < s->end && digit(*s->p); s->p++)
        if (value < NUMBER_LIMIT)
            value = 10 * value + (*s->p - '0');
    return value;
}

static bool advance(parser *s, int columns)
{
    if (columns > FORTRAN_COLUMNS - s->column)
        return refuse(s, "it describes a line of more than 8192 columns");
    s->column += columns;
    return true;
}

/* w, w.d or w.dEe after the letter of a number, repeated. */
static bool add_fields(parser *s, char letter, int repeat)
{
    char next = peek(s);
    if (letter == 'E' && (next == 'S' || next == 'N'))
        s->p++;
    const int width = number(s, 0);
    int decimals = 0;
    if (peek(s) == '.') {
        s->p++;
        decimals = number(s, 0);
    }
    if (letter != 'I' && peek(s) == 'E') {
        s->p++; /* after w.d it gives the digits of the exponent */
        if (number(s, 0) == 0)
            return refuse(s, "an exponent's width is missing after E");
    }
    if (width == 0)
        return refuse(s, "a field has no width");
    if (letter != 'I')
        s->format->integer = false;
    for (int i = 0; i < repeat; i++) {
        if (s->format->fields == FORTRAN_FIELDS)
            return refuse(s, "it describes more than 256 numbers per line");
        s->format->field[s->format->fields++] =
            (fortran_field){.column = s->column,
                            .width = width,
                            .decimals = letter == 'I' ? 0 : decimals,
                            .scale = letter == 'I' ? 0 : s->scale};
        if (!advance(s, width))
            return false;
    }
    return true;
}

static bool parse_group(parser *s, int depth);

/* A group from its opening parenthesis on, repeated. Each round moves on, so that rounds are
 * bounded. */
static bool repeat_group(parser *s, int repeat, int depth)
{
    /* At the end of the list Fortran starts again at the last group, not at the beginning. */
    if (s->format->fields > 0 && depth == 1)
        return refuse(s, "it has fields before a group");
    const char *begin = s->p;
    for (int i = 0; i < repeat; i++) {
        const int column = s->column;
        s->p = begin;
        if (!parse_group(s, depth))
            return false;
        if (s->column == column)
            return refuse(s, "it has an empty group");
    }
    return true;
}

static bool parse_item(parser *s, int depth)
{
    const bool negative = peek(s) == '-';
    if (negative || peek(s) == '+')
        s->p++;
    const int count = number(s, 1);
    const char letter = peek(s);
    if (letter == 'P') {
        s->p++;
        s->scale = negative ? -count : count;
        return count <= 100 || refuse(s, "a scale factor is out of bounds");
    }
    if (negative || count == 0)
        return refuse(s, "a repeat count is not positive");
    switch (letter) {
    case 'X':
        s->p++;
        return advance(s, count);
    case '(':
        return repeat_group(s, count, depth);
    case 'I':
    case 'F':
    case 'E':
    case 'D':
    case 'G':
        s->p++;
        return add_fields(s, letter, count);
    case 0:
        return refuse(s, "its closing parenthesis is missing");
    default:
        return refuse(s, "it has a descriptor other than I F E D G X P");
    }
}

static bool parse_group(parser *s, int depth)
{
    if (depth == NESTING)
        return refuse(s, "its groups are nested too deep");
    s->p++;
    for (;;) {
        const char next = peek(s);
        if (next == ',' || next == ')')
            s->p++;
        if (next == ')')
            return true;
        if (next != ',' && !parse_item(s, depth + 1))
            return false;
    }
}

const char *io_fortran_parse(const char *p, const char *end, fortran_format *format,
                             const char **why)
{
    parser s = {.p = p, .end = end, .format = format};
    format->fields = 0;
    format->integer = true;
    bool ok = peek(&s) == '(' ? parse_group(&s, 0) : refuse(&s, "it does not open with (");
    if (ok && format->fields == 0)
        ok = refuse(&s, "it describes no number");
    *why = s.why;
    return ok ? s.p : NULL;
}

static void trim(const char **p, const char **end)
{
    while (*p < *end && **p == ' ')
        ++*p;
    while (*p < *end && (*end)[-1] == ' ')
        --*end;
}

bool io_fortran_int(const char *p, const char *end, int64_t *value)
{
    trim(&p, &end);
    return p < end && base_parse_int(p, end, value) == end;
}

static bool exponent_letter(char c)
{
    return c == 'E' || c == 'e' || c == 'D' || c == 'd' || c == 'Q' || c == 'q';
}

/* An exponent from its letter or sign on; blanks may follow the letter. False when it is none. */
static bool exponent(const char *p, const char *end, int *value)
{
    if (exponent_letter(*p))
        for (p++; p < end && *p == ' ';)
            p++;
    else if (*p != '-' && *p != '+')
        return false;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return false;
    int n = 0;
    for (; p < end && digit(*p); p++)
        if (n < NUMBER_LIMIT)
            n = 10 * n + (*p - '0');
    *value = negative ? -n : n;
    return p == end;
}

/*
 * Rewrites the field as mantissa e exponent, with the exponent Fortran means: its letter may be
 * missing (1.5-103), the point may be implied by the format, a scale factor may be in force.
 */
bool io_fortran_real(const fortran_field *field, const char *p, const char *end, double *value)
{
    char text[128];
    trim(&p, &end);
    if (p == end || end - p > 100)
        return false;
    const char *at = p;
    if (*at == '-' || *at == '+')
        at++;
    if (at < end && (*at == 'N' || *at == 'n' || *at == 'I' || *at == 'i'))
        return base_parse_double(p, end, value) == end;
    bool point = false;
    for (; at < end && (digit(*at) || *at == '.'); at++)
        point = point || *at == '.';
    const bool lettered = at < end && exponent_letter(*at);
    if (point && (lettered || (at == end && field->scale == 0)) &&
        base_parse_double(p, end, value) == end)
        return true; /* the common case: a plain number */
    const size_t mantissa = (size_t)(at - p);
    int power = 0;
    if (at < end) {
        if (!exponent(at, end, &power))
            return false;
    } else {
        power = -field->scale;
    }
    if (!point)
        power -= field->decimals;
    memcpy(text, p, mantissa);
    const int tail = snprintf(text + mantissa, sizeof text - mantissa, "e%d", power);
    const char *stop = text + mantissa + tail;
    return base_parse_double(text, stop, value) == stop;
}
