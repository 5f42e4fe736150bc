/*
 * Expressions of .param, .measure and B sources: precedence climbing gives a tree, whose value
 * comes with its derivatives by the unknowns that it refers to (forward differentiation).
 */
#include "circuit/circuit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 100, MOST_NODES = 2000, NAME = 64 };

/* Functions of v, with their slopes. */
#define FUNCTIONS(item)                                    \
    item(ABS, "abs", fabs(v), v < 0 ? -1 : 1)              \
    item(SQRT, "sqrt", sqrt(v), v > 0 ? 0.5 / sqrt(v) : 0) \
    item(EXP, "exp", exp(v), exp(v))                       \
    item(LOG, "log", log(v), 1 / v)                        \
    item(LN, "ln", log(v), 1 / v)                          \
    item(LOG10, "log10", log10(v), 1 / (v * log(10)))      \
    item(SIN, "sin", sin(v), cos(v))                       \
    item(COS, "cos", cos(v), -sin(v))                      \
    item(TAN, "tan", tan(v), 1 + tan(v) * tan(v))          \
    item(ASIN, "asin", asin(v), 1 / sqrt(1 - v * v))       \
    item(ACOS, "acos", acos(v), -1 / sqrt(1 - v * v))      \
    item(ATAN, "atan", atan(v), 1 / (1 + v * v))           \
    item(SINH, "sinh", sinh(v), cosh(v))                   \
    item(COSH, "cosh", cosh(v), sinh(v))                   \
    item(TANH, "tanh", tanh(v), 1 - tanh(v) * tanh(v))     \
    item(SIGN, "sgn", (v > 0) - (v < 0), 0)                \
    item(STEP, "u", v > 0, 0)                              \
    item(RAMP, "uramp", v > 0 ? v : 0, v > 0)              \
    item(FLOOR, "floor", floor(v), 0)                      \
    item(CEIL, "ceil", ceil(v), 0)

/* Operators and functions of v and w, with their slopes by both: a precedence, 0 for functions.
 * Those whose signs others begin with come first. */
#define PAIRS(item)                                                                     \
    item(OR, "||", 2, v != 0 || w != 0, 0, 0)                                           \
    item(AND, "&&", 3, v != 0 && w != 0, 0, 0)                                          \
    item(EQUAL, "==", 4, v == w, 0, 0)                                                  \
    item(UNEQUAL, "!=", 4, v != w, 0, 0)                                                \
    item(LESS_EQUAL, "<=", 5, v <= w, 0, 0)                                             \
    item(MORE_EQUAL, ">=", 5, v >= w, 0, 0)                                             \
    item(LESS, "<", 5, v < w, 0, 0)                                                     \
    item(MORE, ">", 5, v > w, 0, 0)                                                     \
    item(ADD, "+", 6, v + w, 1, 1)                                                      \
    item(SUBTRACT, "-", 6, v - w, 1, -1)                                                \
    item(POWER2, "**", 9, pow(v, w), power_slope(v, w), v > 0 ? pow(v, w) * log(v) : 0) \
    item(POWER, "^", 9, pow(v, w), power_slope(v, w), v > 0 ? pow(v, w) * log(v) : 0)   \
    item(MULTIPLY, "*", 7, v *w, w, v)                                                  \
    item(DIVIDE, "/", 7, v / w, 1 / w, -v / (w * w))                                    \
    item(MIN, "min", 0, fmin(v, w), v <= w, v > w)                                      \
    item(MAX, "max", 0, fmax(v, w), v >= w, v < w)                                      \
    item(ATAN2, "atan2", 0, atan2(v, w), w / (v * v + w * w), -v / (v * v + w * w))

#define FUNCTION_OP(op, name, value, slope) OP_##op,
#define PAIR_OP(op, name, precedence, value, dv, dw) OP_##op,
enum {
    FUNCTIONS(FUNCTION_OP) OP_FUNCTIONS,
    PAIRS(PAIR_OP) OP_PAIRS,
    OP_ABS_POWER,
    OP_SIGNED_POWER,
    OP_LIMIT,
    OP_CHOICE,
    OP_NUMBER,
    OP_TIME,
    OP_UNKNOWN,
    OP_MINUS,
    OP_NOT
};

typedef struct node {
    int op, a, b, c;
    double value;
} node;

struct expression {
    node *nodes;
    int64_t count, room;
    int unknowns[EXPRESSION_UNKNOWNS], unknown_count, root;
};

#define FUNCTION_ROW(op, name, value, slope) {name, OP_##op, 1, 0},
#define PAIR_ROW(op, name, precedence, value, dv, dw) {name, OP_##op, 2, precedence},
static const struct {
    const char *name;
    int op, arguments, precedence; /* precedence: 0 of functions */
} words[] = {FUNCTIONS(FUNCTION_ROW) PAIRS(PAIR_ROW){"pow", OP_ABS_POWER, 2, 0},
             {"pwr", OP_SIGNED_POWER, 2, 0},
             {"limit", OP_LIMIT, 3, 0},
             {"?", OP_CHOICE, 3, 1}};
enum { WORDS = sizeof words / sizeof *words };

typedef struct parser {
    expression *e;
    const expression_names *names;
    const char *at;
    char *message;
    int depth;
    bool failed;
} parser;

static int fail(parser *p, const char *what, const char *name)
{
    if (!p->failed)
        snprintf(p->message, 256, "%s%.100s", what, name);
    p->failed = true;
    return 0;
}

static int add(parser *p, int op, int a, int b, int c)
{
    expression *e = p->e;
    if (e->count >= MOST_NODES)
        return fail(p, "the expression has too many numbers, names and operators", "");
    e->nodes = grow(e->nodes, e->count, &e->room, sizeof *e->nodes);
    e->nodes[e->count] = (node){op, a, b, c, 0};
    return (int)e->count++;
}

static int add_number(parser *p, double value)
{
    const int k = add(p, OP_NUMBER, 0, 0, 0);
    if (!p->failed)
        p->e->nodes[k].value = value;
    return k;
}

static bool accept(parser *p, const char *word)
{
    p->at += strspn(p->at, " \t");
    const size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static int parse(parser *p, int least);

static int add_unknown(parser *p, int unknown)
{
    expression *e = p->e;
    int k = 0;
    if (unknown == 0)
        return add_number(p, 0);
    while (k < e->unknown_count && e->unknowns[k] != unknown)
        k++;
    if (k == EXPRESSION_UNKNOWNS)
        return fail(p, "the expression has too many voltages and currents", "");
    if (k == e->unknown_count)
        e->unknowns[e->unknown_count++] = unknown;
    return add(p, OP_UNKNOWN, k, 0, 0);
}

/* v(a), v(a,b), i(a) */
static int parse_reference(parser *p, char kind)
{
    char name[2][NAME] = {"", ""};
    int unknowns[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        p->at += strspn(p->at, " \t");
        const size_t length = strcspn(p->at, " \t,()");
        snprintf(name[k], NAME, "%.*s", (int)(length < NAME ? length : NAME - 1), p->at);
        p->at += length;
        if (k == 1 || !accept(p, ","))
            break;
    }
    if (!accept(p, ")") || !*name[0])
        return fail(p, "expected V(NODE), V(NODE,NODE) or I(BRANCH)", "");
    if (!p->names->reference)
        return fail(p, "voltages and currents have no place here", "");
    if (!p->names->reference(p->names->data, kind, name[0], name[1], unknowns))
        return fail(p, kind == 'v' ? "no such node: " : "no such branch with a current: ",
                    name[kind == 'v' && *name[1]]);
    const int a = add_unknown(p, unknowns[0]);
    return unknowns[1] ? add(p, OP_SUBTRACT, a, add_unknown(p, unknowns[1]), 0) : a;
}

static int parse_call(parser *p, const char *name)
{
    int argument[3] = {0, 0, 0};
    if (strcmp(name, "v") == 0 || strcmp(name, "i") == 0)
        return parse_reference(p, *name);
    for (int k = 0; k < WORDS; k++) {
        if (strcmp(words[k].name, name) != 0)
            continue;
        for (int a = 0; a < words[k].arguments; a++) {
            if (a > 0 && !accept(p, ","))
                return fail(p, "an argument is missing: ", name);
            argument[a] = parse(p, 0);
        }
        return accept(p, ")") ? add(p, words[k].op, argument[0], argument[1], argument[2])
                              : fail(p, "expected ) after the arguments of ", name);
    }
    return fail(p, "unknown function ", name);
}

static int parse_name(parser *p)
{
    char name[NAME];
    double value = 0;
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    if (length == 0 || length >= NAME)
        return fail(p, *p->at ? "expected a number or a name at " : "the expression ends too early",
                    p->at);
    snprintf(name, sizeof name, "%.*s", (int)length, p->at);
    p->at += length;
    if (accept(p, "("))
        return parse_call(p, name);
    if (p->names->value && p->names->value(p->names->data, name, &value))
        return add_number(p, value);
    if (strcmp(name, "pi") == 0)
        return add_number(p, 3.14159265358979323846);
    if (strcmp(name, "time") == 0 && p->names->reference)
        return add(p, OP_TIME, 0, 0, 0);
    return fail(p, "unknown name ", name);
}

static int parse_operand(parser *p)
{
    char number[NAME];
    double value;
    if (accept(p, "-"))
        return add(p, OP_MINUS, parse(p, 8), 0, 0);
    if (accept(p, "+"))
        return parse(p, 8);
    if (accept(p, "!"))
        return add(p, OP_NOT, parse(p, 8), 0, 0);
    if (accept(p, "(")) {
        const int inner = parse(p, 0);
        return accept(p, ")") ? inner : fail(p, "a ) is missing", "");
    }
    if (!isdigit((unsigned char)*p->at) && *p->at != '.')
        return parse_name(p);
    size_t length = strspn(p->at, "0123456789.");
    if (tolower((unsigned char)p->at[length]) == 'e') {
        const size_t sign = p->at[length + 1] == '-' || p->at[length + 1] == '+';
        if (isdigit((unsigned char)p->at[length + 1 + sign]))
            length += 1 + sign + strspn(p->at + length + 1 + sign, "0123456789");
    }
    while (isalpha((unsigned char)p->at[length]))
        length++;
    snprintf(number, sizeof number, "%.*s", (int)(length < NAME ? length : NAME - 1), p->at);
    p->at += length;
    return text_number(number, &value) ? add_number(p, value) : fail(p, "no number: ", number);
}

/* An operator of at least this precedence; longer ones first. */
static int parse_operator(parser *p, int least, int *precedence)
{
    p->at += strspn(p->at, " \t");
    for (int k = 0; k < WORDS; k++)
        if (words[k].precedence > 0 && strncmp(p->at, words[k].name, strlen(words[k].name)) == 0) {
            if (words[k].precedence < least)
                return -1;
            p->at += strlen(words[k].name);
            *precedence = words[k].precedence;
            return words[k].op;
        }
    return -1;
}

static int parse(parser *p, int least)
{
    int op, precedence = 0;
    if (p->failed || ++p->depth > MOST_DEPTH)
        return fail(p, "the expression is too deep", "");
    p->at += strspn(p->at, " \t");
    int left = parse_operand(p);
    while (!p->failed && (op = parse_operator(p, least, &precedence)) >= 0) {
        /* powers and choices bind to the right */
        const int right = parse(p, precedence + (precedence != 9 && op != OP_CHOICE));
        if (op != OP_CHOICE)
            left = add(p, op, left, right, 0);
        else if (accept(p, ":"))
            left = add(p, op, left, right, parse(p, precedence));
        else
            fail(p, "a : is missing after ?", "");
    }
    p->depth--;
    return left;
}

expression *expression_new(const char *text, const expression_names *names, char message[256])
{
    expression *e = cli_alloc(sizeof *e);
    *e = (expression){0};
    parser p = {.e = e, .names = names, .at = text, .message = message};
    e->root = parse(&p, 0);
    p.at += strspn(p.at, " \t\r");
    if (!p.failed && *p.at)
        fail(&p, "cannot read on at ", p.at);
    if (p.failed) {
        expression_free(e);
        return NULL;
    }
    return e;
}

void expression_free(expression *e)
{
    if (e)
        free(e->nodes);
    free(e);
}

int expression_unknowns(const expression *e, const int **unknowns)
{
    *unknowns = e->unknowns;
    return e->unknown_count;
}

/* --- values ----------------------------------------------------------------------------------- */

typedef struct dual {
    double v, d[EXPRESSION_UNKNOWNS];
} dual;

/* A value, and slopes from those of two arguments by the partial derivatives. */
static dual chain(const expression *e, double v, const dual *a, double da, const dual *b, double db)
{
    dual r = {.v = v};
    for (int k = 0; k < e->unknown_count; k++)
        r.d[k] = (a->d[k] != 0 ? da * a->d[k] : 0) + (b->d[k] != 0 ? db * b->d[k] : 0);
    return r;
}

static double power_slope(double v, double w)
{
    return w != 0 ? w * pow(v, w - 1) : 0;
}

#define FUNCTION_CASE(op, name, value, slope) \
    case OP_##op:                             \
        return chain(e, value, a, slope, a, 0);
static dual one_argument(const expression *e, int op, const dual *a)
{
    const double v = a->v;
    switch (op) {
        FUNCTIONS(FUNCTION_CASE)
    default:
        return op == OP_MINUS ? chain(e, -v, a, -1, a, 0) : chain(e, v == 0, a, 0, a, 0);
    }
}

#define PAIR_CASE(op, name, precedence, value, dv, dw) \
    case OP_##op:                                      \
        return chain(e, value, a, dv, b, dw);
static dual two_arguments(const expression *e, int op, const dual *a, const dual *b)
{
    const double v = a->v, w = b->v;
    switch (op) {
        PAIRS(PAIR_CASE)
    default:
        return *a;
    }
}

static dual evaluate(const expression *e, int k, const double *x, double t)
{
    const node *n = &e->nodes[k];
    if (n->op == OP_NUMBER || n->op == OP_TIME)
        return (dual){.v = n->op == OP_TIME ? t : n->value};
    if (n->op == OP_UNKNOWN) {
        dual r = {.v = x[e->unknowns[n->a]]};
        r.d[n->a] = 1;
        return r;
    }
    dual a = evaluate(e, n->a, x, t);
    if (n->op == OP_CHOICE)
        return evaluate(e, a.v != 0 ? n->b : n->c, x, t);
    if (n->op < OP_FUNCTIONS || n->op == OP_MINUS || n->op == OP_NOT)
        return one_argument(e, n->op, &a);
    const dual b = evaluate(e, n->b, x, t);
    if (n->op == OP_LIMIT) { /* of a, between b and c */
        const dual c = evaluate(e, n->c, x, t);
        return a.v < fmin(b.v, c.v)   ? (b.v < c.v ? b : c)
               : a.v > fmax(b.v, c.v) ? (b.v > c.v ? b : c)
                                      : a;
    }
    if (n->op == OP_ABS_POWER || n->op == OP_SIGNED_POWER) {
        const double sign = a.v < 0 ? -1 : 1;
        a = one_argument(e, OP_ABS, &a);
        const dual r = two_arguments(e, OP_POWER, &a, &b);
        return n->op == OP_ABS_POWER ? r : chain(e, sign * r.v, &r, sign, &r, 0);
    }
    return two_arguments(e, n->op, &a, &b);
}

double expression_value(const expression *e, const double *x, double t, double *slopes)
{
    const dual r = evaluate(e, e->root, x, t);
    if (slopes)
        memcpy(slopes, r.d, (size_t)e->unknown_count * sizeof *slopes);
    return r.v;
}
