/*
 * Expressions of .param, .measure and B sources: precedence climbing gives a tree, whose value
 * comes with its derivatives by the unknowns that it refers to (forward differentiation).
 */
#include "common/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 100, MOST_NODES = 2000, NAME = 64 };

enum {
    OP_NUMBER,
    OP_TIME,
    OP_UNKNOWN,
    OP_MINUS,
    OP_NOT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_POWER,
    OP_LESS,
    OP_MORE,
    OP_LESS_EQUAL,
    OP_MORE_EQUAL,
    OP_EQUAL,
    OP_UNEQUAL,
    OP_AND,
    OP_OR,
    OP_CHOICE,
    OP_ABS,
    OP_SQRT,
    OP_EXP,
    OP_LOG,
    OP_LOG10,
    OP_SIN,
    OP_COS,
    OP_TAN,
    OP_ASIN,
    OP_ACOS,
    OP_ATAN,
    OP_SINH,
    OP_COSH,
    OP_TANH,
    OP_SIGN,
    OP_STEP,
    OP_RAMP,
    OP_FLOOR,
    OP_CEIL,
    OP_MIN,
    OP_MAX,
    OP_SIGNED_POWER,
    OP_ABS_POWER,
    OP_ATAN2,
    OP_LIMIT
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

static const struct {
    const char *name;
    int op, arguments;
} functions[] = {{"abs", OP_ABS, 1},     {"sqrt", OP_SQRT, 1},     {"exp", OP_EXP, 1},
                 {"log", OP_LOG, 1},     {"ln", OP_LOG, 1},        {"log10", OP_LOG10, 1},
                 {"sin", OP_SIN, 1},     {"cos", OP_COS, 1},       {"tan", OP_TAN, 1},
                 {"asin", OP_ASIN, 1},   {"acos", OP_ACOS, 1},     {"atan", OP_ATAN, 1},
                 {"sinh", OP_SINH, 1},   {"cosh", OP_COSH, 1},     {"tanh", OP_TANH, 1},
                 {"sgn", OP_SIGN, 1},    {"u", OP_STEP, 1},        {"uramp", OP_RAMP, 1},
                 {"floor", OP_FLOOR, 1}, {"ceil", OP_CEIL, 1},     {"min", OP_MIN, 2},
                 {"max", OP_MAX, 2},     {"pow", OP_ABS_POWER, 2}, {"pwr", OP_SIGNED_POWER, 2},
                 {"atan2", OP_ATAN2, 2}, {"limit", OP_LIMIT, 3}};

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
    if (e->count == e->room) {
        const int64_t room = e->room > 0 ? 2 * e->room : 16;
        node *more = cli_alloc((size_t)room * sizeof *more);
        if (e->count > 0)
            memcpy(more, e->nodes, (size_t)e->count * sizeof *more);
        free(e->nodes);
        e->nodes = more;
        e->room = room;
    }
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
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (strcmp(functions[k].name, name) != 0)
            continue;
        for (int a = 0; a < functions[k].arguments; a++) {
            if (a > 0 && !accept(p, ","))
                return fail(p, "an argument is missing: ", name);
            argument[a] = parse(p, 0);
        }
        return accept(p, ")") ? add(p, functions[k].op, argument[0], argument[1], argument[2])
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
    const int variable = p->names->variable ? p->names->variable(p->names->data, name) : 0;
    return variable > 0 ? add_unknown(p, variable) : fail(p, "unknown name ", name);
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
    static const struct {
        const char *text;
        int op, precedence;
    } all[] = {{"||", OP_OR, 2},      {"&&", OP_AND, 3},        {"==", OP_EQUAL, 4},
               {"!=", OP_UNEQUAL, 4}, {"<=", OP_LESS_EQUAL, 5}, {">=", OP_MORE_EQUAL, 5},
               {"<", OP_LESS, 5},     {">", OP_MORE, 5},        {"+", OP_ADD, 6},
               {"-", OP_SUBTRACT, 6}, {"**", OP_POWER, 9},      {"*", OP_MULTIPLY, 7},
               {"/", OP_DIVIDE, 7},   {"^", OP_POWER, 9},       {"?", OP_CHOICE, 1}};
    p->at += strspn(p->at, " \t");
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strncmp(p->at, all[k].text, strlen(all[k].text)) == 0) {
            if (all[k].precedence < least)
                return -1;
            p->at += strlen(all[k].text);
            *precedence = all[k].precedence;
            return all[k].op;
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
        const int right = parse(p, precedence + (op != OP_POWER && op != OP_CHOICE));
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

/* --- values --------------------------------------------------------------------------------------
 */

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

static dual power(const expression *e, const dual *a, const dual *b)
{
    const double v = pow(a->v, b->v);
    const double da = b->v != 0 ? b->v * pow(a->v, b->v - 1) : 0;
    return chain(e, v, a, da, b, a->v > 0 ? v * log(a->v) : 0);
}

static dual one_argument(const expression *e, int op, const dual *a)
{
    const double v = a->v;
    switch (op) {
    case OP_MINUS:
        return chain(e, -v, a, -1, a, 0);
    case OP_NOT:
        return chain(e, v == 0, a, 0, a, 0);
    case OP_ABS:
        return chain(e, fabs(v), a, v < 0 ? -1 : 1, a, 0);
    case OP_SQRT:
        return chain(e, sqrt(v), a, v > 0 ? 0.5 / sqrt(v) : 0, a, 0);
    case OP_EXP:
        return chain(e, exp(v), a, exp(v), a, 0);
    case OP_LOG:
        return chain(e, log(v), a, 1 / v, a, 0);
    case OP_LOG10:
        return chain(e, log10(v), a, 1 / (v * log(10)), a, 0);
    case OP_SIN:
        return chain(e, sin(v), a, cos(v), a, 0);
    case OP_COS:
        return chain(e, cos(v), a, -sin(v), a, 0);
    case OP_TAN:
        return chain(e, tan(v), a, 1 + tan(v) * tan(v), a, 0);
    case OP_ASIN:
        return chain(e, asin(v), a, 1 / sqrt(1 - v * v), a, 0);
    case OP_ACOS:
        return chain(e, acos(v), a, -1 / sqrt(1 - v * v), a, 0);
    case OP_ATAN:
        return chain(e, atan(v), a, 1 / (1 + v * v), a, 0);
    case OP_SINH:
        return chain(e, sinh(v), a, cosh(v), a, 0);
    case OP_COSH:
        return chain(e, cosh(v), a, sinh(v), a, 0);
    case OP_TANH:
        return chain(e, tanh(v), a, 1 - tanh(v) * tanh(v), a, 0);
    case OP_SIGN:
        return chain(e, (v > 0) - (v < 0), a, 0, a, 0);
    case OP_STEP:
        return chain(e, v > 0, a, 0, a, 0);
    case OP_RAMP:
        return chain(e, v > 0 ? v : 0, a, v > 0, a, 0);
    case OP_FLOOR:
        return chain(e, floor(v), a, 0, a, 0);
    default:
        return chain(e, ceil(v), a, 0, a, 0);
    }
}

static dual two_arguments(const expression *e, int op, const dual *a, const dual *b)
{
    const double size = a->v * a->v + b->v * b->v;
    switch (op) {
    case OP_ADD:
        return chain(e, a->v + b->v, a, 1, b, 1);
    case OP_SUBTRACT:
        return chain(e, a->v - b->v, a, 1, b, -1);
    case OP_MULTIPLY:
        return chain(e, a->v * b->v, a, b->v, b, a->v);
    case OP_DIVIDE:
        return chain(e, a->v / b->v, a, 1 / b->v, b, -a->v / (b->v * b->v));
    case OP_POWER:
        return power(e, a, b);
    case OP_LESS:
        return chain(e, a->v < b->v, a, 0, b, 0);
    case OP_MORE:
        return chain(e, a->v > b->v, a, 0, b, 0);
    case OP_LESS_EQUAL:
        return chain(e, a->v <= b->v, a, 0, b, 0);
    case OP_MORE_EQUAL:
        return chain(e, a->v >= b->v, a, 0, b, 0);
    case OP_EQUAL:
        return chain(e, a->v == b->v, a, 0, b, 0);
    case OP_UNEQUAL:
        return chain(e, a->v != b->v, a, 0, b, 0);
    case OP_AND:
        return chain(e, a->v != 0 && b->v != 0, a, 0, b, 0);
    case OP_OR:
        return chain(e, a->v != 0 || b->v != 0, a, 0, b, 0);
    case OP_MIN:
        return chain(e, fmin(a->v, b->v), a, a->v <= b->v, b, a->v > b->v);
    case OP_MAX:
        return chain(e, fmax(a->v, b->v), a, a->v >= b->v, b, a->v < b->v);
    default:
        return chain(e, atan2(a->v, b->v), a, b->v / size, b, -a->v / size);
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
    const bool one = n->op <= OP_NOT || (n->op >= OP_ABS && n->op <= OP_CEIL);
    if (one)
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
        const dual r = power(e, &a, &b);
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
