/*
 * The language of operators:
 *
 *     sum     = [+|-] product {(+|-) product}
 *     product = power {* power | / power}          what is divided by is a constant
 *     power   = atom [^ whole number]
 *     atom    = number | name | dx | dy | dz | laplace | flux | (sum)
 *     flux    = div(product*grad) | dx(product*dx) | dy(product*dy) | dz(product*dz)
 *
 * What is read is multiplied out at once: a value is a sum of terms. Texts are short and lists of a
 * fixed size, so that no text makes it recurse deeply or take much.
 */
#include "grid/grid.h"

#include <stdarg.h>

enum { DEPTH_MOST = 8, NAME_SIZE = 64, TEXT_MOST = 4096 };

typedef struct parser {
    spry_context *ctx;
    const char *text, *p, *end;
    int dimensions, names, depth;
    const coefficient_name *name;
    spry_status status;
} parser;

spry_status stencil_fault(spry_context *ctx, const char *text, int place, const char *format, ...)
{
    char message[MESSAGE_SIZE / 2];
    int line = 1, column = 1;
    va_list list;
    for (int i = 0; i < place; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "operator:%d:%d: %s", line, column, message);
}

/* The first fault counts. */
#define FAULT(ps, place, ...)                                                                   \
    do {                                                                                        \
        if ((ps)->status == SPRY_STATUS_OK)                                                     \
            (ps)->status =                                                                      \
                stencil_fault((ps)->ctx, (ps)->text, (int)((place) - (ps)->text), __VA_ARGS__); \
    } while (0)

/* The next character that is no blank; 0 at the end and after a fault. */
static char peek(parser *ps)
{
    while (ps->p < ps->end && (*ps->p == ' ' || *ps->p == '\t' || *ps->p == '\n'))
        ps->p++;
    return ps->p < ps->end && ps->status == SPRY_STATUS_OK ? *ps->p : '\0';
}

static bool take(parser *ps, char wanted)
{
    if (peek(ps) != wanted)
        return false;
    ps->p++;
    return true;
}

static void need(parser *ps, char wanted)
{
    if (!take(ps, wanted)) {
        if (ps->p < ps->end)
            FAULT(ps, ps->p, "expected %c, found %c", wanted, *ps->p);
        else
            FAULT(ps, ps->p, "expected %c, found the end", wanted);
    }
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* --- values --------------------------------------------------------------------------------------
 */

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void add_term(parser *ps, stencil_terms *sum, const stencil_term *term)
{
    if (sum->count == TERMS_MOST)
        FAULT(ps, ps->p, "multiplied out, there are more than %d terms", TERMS_MOST);
    else
        sum->list[sum->count++] = *term;
}

static void put_atom(parser *ps, stencil_term *term, term_atom atom)
{
    if (term->count == ATOMS_MOST)
        FAULT(ps, ps->p, "a term has more than %d factors", ATOMS_MOST);
    else
        term->atoms[term->count++] = atom;
}

static void set_constant(stencil_terms *value, spry_scalar c)
{
    value->count = 1;
    value->list[0] = (stencil_term){.factor = c};
}

/* value = value * other: every term with every other. */
static void multiply(parser *ps, stencil_terms *value, const stencil_terms *other)
{
    stencil_terms product = {0};
    for (int i = 0; i < value->count; i++)
        for (int k = 0; k < other->count && ps->status == SPRY_STATUS_OK; k++) {
            stencil_term term = value->list[i];
            term.factor = times(term.factor, other->list[k].factor);
            for (int a = 0; a < other->list[k].count; a++)
                put_atom(ps, &term, other->list[k].atoms[a]);
            add_term(ps, &product, &term);
        }
    *value = product;
}

static bool is_constant(const stencil_terms *value)
{
    return value->count == 1 && value->list[0].count == 0;
}

/* --- atoms ---------------------------------------------------------------------------------------
 */

static void parse_sum(parser *ps, stencil_terms *sum);
static void parse_power(parser *ps, stencil_terms *value);

static const char *take_name(parser *ps, char name[NAME_SIZE])
{
    const char *begin = ps->p;
    while (ps->p < ps->end && (is_letter(*ps->p) || is_digit(*ps->p)))
        ps->p++;
    const size_t length = (size_t)(ps->p - begin);
    if (length >= NAME_SIZE)
        FAULT(ps, begin, "the name is longer than %d characters", NAME_SIZE - 1);
    snprintf(name, NAME_SIZE, "%.*s", (int)length, begin);
    return begin;
}

static void put_laplace(parser *ps, int place, stencil_terms *value)
{
    value->count = 0;
    for (int a = 0; a < ps->dimensions; a++) {
        stencil_term term = {.factor = {1, 0}};
        put_atom(ps, &term, (term_atom){ATOM_DERIVATIVE, a, 2, -1, place});
        add_term(ps, value, &term);
    }
}

/* The coefficients of div(k*grad) or dx(k*dx), and the word that ends it. */
static void parse_inside(parser *ps, const char *begin, const char *last, stencil_terms *fields)
{
    char name[NAME_SIZE] = "";
    set_constant(fields, (spry_scalar){1, 0});
    need(ps, '(');
    for (;;) {
        const char *before = ps->p;
        if (is_letter(peek(ps))) {
            before = take_name(ps, name);
            if (strcmp(name, last) == 0)
                break;
            ps->p = before;
        }
        stencil_terms factor = {0};
        before = ps->p;
        parse_power(ps, &factor);
        for (int i = 0; i < factor.count; i++)
            for (int a = 0; a < factor.list[i].count; a++)
                if (factor.list[i].atoms[a].kind != ATOM_FIELD)
                    FAULT(ps, before, "between %s( and %s stand coefficients alone", begin, last);
        multiply(ps, fields, &factor);
        need(ps, '*');
        if (ps->status != SPRY_STATUS_OK)
            return;
    }
    need(ps, ')');
}

/* A flux along an axis, dx(k*dx), or along each one, div(k*grad): its beginning, its fields, and
 * its end. */
static void parse_flux(parser *ps, int place, int axis, stencil_terms *value)
{
    static const char *const words[] = {"dx", "dy", "dz"};
    const bool all = axis < 0;
    stencil_terms fields;
    parse_inside(ps, all ? "div" : words[axis], all ? "grad" : words[axis], &fields);
    value->count = 0;
    for (int a = all ? 0 : axis; a < (all ? ps->dimensions : axis + 1); a++)
        for (int i = 0; i < fields.count && ps->status == SPRY_STATUS_OK; i++) {
            const term_atom flux = {ATOM_FLUX, a, 1, -1, place};
            stencil_term term = {.factor = fields.list[i].factor};
            put_atom(ps, &term, flux);
            for (int k = 0; k < fields.list[i].count; k++)
                put_atom(ps, &term, fields.list[i].atoms[k]);
            put_atom(ps, &term, flux);
            add_term(ps, value, &term);
        }
}

static void put_coefficient(parser *ps, const char *begin, const char *name, stencil_terms *value)
{
    char words[256] = "dx dy dz laplace div", nearest[NAME_SIZE];
    for (int i = 0; i < ps->names; i++) {
        base_add_word(words, sizeof words, ps->name[i].name);
        if (strcmp(ps->name[i].name, name) != 0)
            continue;
        set_constant(value, ps->name[i].constant ? ps->name[i].value : (spry_scalar){1, 0});
        if (!ps->name[i].constant)
            put_atom(ps, &value->list[0],
                     (term_atom){ATOM_FIELD, 0, 1, i, (int)(begin - ps->text)});
        return;
    }
    if (spry_nearest(name, words, nearest, sizeof nearest))
        FAULT(ps, begin, "%s is no coefficient that was given; is %s meant?", name, nearest);
    else
        FAULT(ps, begin, "%s is no coefficient that was given", name);
}

static void parse_name(parser *ps, stencil_terms *value)
{
    char name[NAME_SIZE];
    const char *begin = take_name(ps, name);
    const int place = (int)(begin - ps->text);
    const bool derivative = name[0] == 'd' && name[1] >= 'x' && name[1] <= 'z' && name[2] == '\0';
    if (derivative && name[1] - 'x' >= ps->dimensions)
        FAULT(ps, begin, "%s: the grid has %d dimension%s", name, ps->dimensions,
              ps->dimensions > 1 ? "s" : "");
    else if (derivative && peek(ps) == '(')
        parse_flux(ps, place, name[1] - 'x', value);
    else if (derivative) {
        set_constant(value, (spry_scalar){1, 0});
        put_atom(ps, &value->list[0], (term_atom){ATOM_DERIVATIVE, name[1] - 'x', 1, -1, place});
    } else if (strcmp(name, "laplace") == 0)
        put_laplace(ps, place, value);
    else if (strcmp(name, "div") == 0)
        parse_flux(ps, place, -1, value);
    else if (strcmp(name, "grad") == 0)
        FAULT(ps, begin, "grad stands in div( *grad) alone");
    else
        put_coefficient(ps, begin, name, value);
}

static void parse_atom(parser *ps, stencil_terms *value)
{
    const char c = peek(ps);
    value->count = 0;
    if (c == '(') {
        if (++ps->depth > DEPTH_MOST)
            FAULT(ps, ps->p, "parentheses are more than %d deep", DEPTH_MOST);
        else {
            ps->p++;
            parse_sum(ps, value);
            need(ps, ')');
        }
        ps->depth--;
    } else if (is_letter(c)) {
        parse_name(ps, value);
    } else if (is_digit(c) || c == '.') {
        double number = 0;
        const char *after = base_parse_double(ps->p, ps->end, &number);
        if (!after || !isfinite(number))
            FAULT(ps, ps->p, "expected a number");
        else
            ps->p = after;
        set_constant(value, (spry_scalar){number, 0});
    } else if (ps->p < ps->end) {
        FAULT(ps, ps->p, "expected a number, a name, dx, dy, dz, laplace, div or (, found %c",
              *ps->p);
    } else {
        FAULT(ps, ps->p, "expected a number, a name, dx, dy, dz, laplace, div or (, found the end");
    }
}

static void parse_power(parser *ps, stencil_terms *value)
{
    const char *begin = ps->p;
    parse_atom(ps, value);
    if (!take(ps, '^'))
        return;
    int64_t power = 0;
    peek(ps);
    const char *after = base_parse_int(ps->p, ps->end, &power);
    const term_atom *atom = &value->list[0].atoms[0];
    /* a derivative by itself, not one in parentheses */
    const bool single = value->count == 1 && value->list[0].count == 1 &&
                        atom->kind == ATOM_DERIVATIVE && *(begin + strspn(begin, " \t\n")) == 'd';
    if (!after || power < 1 || power > (single ? POWER_MOST : ATOMS_MOST)) {
        FAULT(ps, ps->p, "expected a power of 1 to %d", single ? POWER_MOST : ATOMS_MOST);
        return;
    }
    ps->p = after;
    if (single) {
        value->list[0].atoms[0].power = (int)power;
        return;
    }
    const stencil_terms base = *value;
    for (int k = 1; k < power && ps->status == SPRY_STATUS_OK; k++)
        multiply(ps, value, &base);
}

static void divide(parser *ps, const char *place, stencil_terms *value, const stencil_terms *by)
{
    const spry_scalar d = by->list[0].factor;
    const double size = d.re * d.re + d.im * d.im;
    if (ps->status != SPRY_STATUS_OK)
        return;
    if (!is_constant(by) || size == 0) {
        FAULT(ps, place, "a term is divided by constants that are not 0 alone");
        return;
    }
    for (int i = 0; i < value->count; i++) /* by a real number with one rounding */
        value->list[i].factor =
            d.im == 0
                ? (spry_scalar){value->list[i].factor.re / d.re, value->list[i].factor.im / d.re}
                : times(value->list[i].factor, (spry_scalar){d.re / size, -d.im / size});
}

static void parse_product(parser *ps, stencil_terms *value)
{
    parse_power(ps, value);
    while (peek(ps) == '*' || peek(ps) == '/') {
        const bool over = *ps->p++ == '/';
        const char *place = ps->p;
        stencil_terms factor = {0};
        parse_power(ps, &factor);
        if (over)
            divide(ps, place, value, &factor);
        else
            multiply(ps, value, &factor);
    }
}

static void parse_sum(parser *ps, stencil_terms *sum)
{
    stencil_terms product;
    bool negative = take(ps, '-');
    if (!negative)
        take(ps, '+');
    sum->count = 0;
    do {
        parse_product(ps, &product);
        for (int i = 0; i < product.count && ps->status == SPRY_STATUS_OK; i++) {
            if (negative)
                product.list[i].factor = times(product.list[i].factor, (spry_scalar){-1, 0});
            add_term(ps, sum, &product.list[i]);
        }
        negative = peek(ps) == '-';
    } while (take(ps, '+') || take(ps, '-'));
}

spry_status stencil_parse(spry_context *ctx, const char *text, int dimensions, int names,
                          const coefficient_name *name, stencil_terms *terms)
{
    parser ps = {.ctx = ctx,
                 .text = text,
                 .p = text,
                 .end = text + strlen(text),
                 .dimensions = dimensions,
                 .names = names,
                 .name = name};
    if (ps.end - text > TEXT_MOST)
        return stencil_fault(ctx, text, TEXT_MOST, "the text is longer than %d characters",
                             TEXT_MOST);
    parse_sum(&ps, terms);
    if (peek(&ps))
        FAULT(&ps, ps.p, "expected +, -, * or the end, found %c", *ps.p);
    for (int i = 0; i < terms->count; i++)
        if (!value_finite(terms->list[i].factor))
            FAULT(&ps, text, "a factor is not a finite number");
    return ps.status;
}
