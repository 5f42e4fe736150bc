/*
 * V[a..b] = powers(A, B): the vectors V[a..b] follow from V[a - 1] by steps of a basis, the rows of
 * B, that is
 *
 *     for t = 0 .. b - a:
 *         V[a + t] = B[t, 0] (A V[a + t - 1]) + B[t, 1] V[a + t - 1] + B[t, 2] V[a + max(t - 2,
 * -1)] end
 *
 * with a variable of the parser's own, and with any operators in the place of A. powers(M A, B, Q)
 * also keeps the products, Q[i] = A V[i] for i = a - 1 .. b:
 *
 *     for t = 0 .. b - a + 1:
 *         Q[a + t - 1] = A V[a + t - 1]
 *         if t <= b - a:
 *             V[a + t] = B[t, 0] (M Q[a + t - 1]) + ...
 *         end
 *     end
 *
 * The loop remembers what it was written as (EXPR_POWERS): where the operator makes several steps
 * together, lower.c takes that instead.
 */
#include "program/parse.h"

#include <math.h>

enum { MOST_OPERATORS = 8 };

/* Parts of the loop: expressions of its variable and of where the run begins and ends. */
typedef struct powers {
    parser *ps;
    int place, variable, start, last, vectors, steps, products; /* start: a - 1; last: b - a */
    program_operator list[MOST_OPERATORS];
    int count; /* of operators */
} powers;

static int number(const powers *w, double value)
{
    expr e = parser_blank(EXPR_NUMBER, SHAPE_SCALAR, w->place);
    e.value = value;
    return parser_add(w->ps, e);
}

static int call(const powers *w, program_word word, int a, int b)
{
    return parser_call(w->ps, w->place, word, SHAPE_SCALAR, (int[3]){a, b, NONE});
}

static int add(const powers *w, int a, int b)
{
    return call(w, WORD_ADD, a, b);
}

static int vector_at(const powers *w, int name, int index)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_VECTOR, w->place);
    e.name = name;
    e.arg[0] = index;
    return parser_add(w->ps, e);
}

/* B[t, column] */
static int step(const powers *w, int column)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_SCALAR, w->place);
    e.name = w->steps;
    e.arg[0] = w->variable;
    e.arg[1] = number(w, column);
    return parser_add(w->ps, e);
}

/* --- b - a, without what is in both: `new + s - 1` and `new + 1` are s - 2 apart, which follows
 * from options
 */

enum { MOST_SUMMANDS = 8 };
typedef struct summands {
    int e[MOST_SUMMANDS], count;
    bool minus[MOST_SUMMANDS];
} summands;

static bool collect(const program *p, int e, bool minus, summands *s)
{
    const expr *x = &p->exprs[e];
    const bool sum = x->kind == EXPR_CALL && (x->word == WORD_ADD || x->word == WORD_SUBTRACT);
    if (sum)
        return collect(p, x->arg[0], minus, s) &&
               collect(p, x->arg[1], minus != (x->word == WORD_SUBTRACT), s);
    if (s->count == MOST_SUMMANDS)
        return false;
    s->e[s->count] = e;
    s->minus[s->count++] = minus;
    return true;
}

static bool is_plain_name(const program *p, int e)
{
    return p->exprs[e].kind == EXPR_NAME && p->exprs[e].arg[0] == NONE;
}

static void cancel(const program *p, summands *s)
{
    for (int i = 0; i < s->count; i++)
        for (int j = i + 1; j < s->count; j++)
            if (s->minus[i] != s->minus[j] && is_plain_name(p, s->e[i]) &&
                is_plain_name(p, s->e[j]) && p->exprs[s->e[i]].name == p->exprs[s->e[j]].name) {
                for (int k = j; k + 1 < s->count; k++) {
                    s->e[k] = s->e[k + 1];
                    s->minus[k] = s->minus[k + 1];
                }
                s->e[i] = s->e[s->count - 2];
                s->minus[i] = s->minus[s->count - 2];
                s->count -= 2;
                i = -1;
                break;
            }
}

/* The sum, its numbers as one. */
static int sum_of(const powers *w, const summands *s)
{
    const program *p = w->ps->p;
    double constant = 0;
    int sum = NONE;
    for (int k = 0; k < s->count; k++) {
        if (p->exprs[s->e[k]].kind == EXPR_NUMBER)
            constant += (s->minus[k] ? -1 : 1) * p->exprs[s->e[k]].value;
        else if (sum == NONE && !s->minus[k])
            sum = s->e[k];
        else
            sum = call(w, s->minus[k] ? WORD_SUBTRACT : WORD_ADD, sum == NONE ? number(w, 0) : sum,
                       s->e[k]);
    }
    if (sum == NONE)
        return number(w, constant);
    return constant == 0
               ? sum
               : call(w, constant < 0 ? WORD_SUBTRACT : WORD_ADD, sum, number(w, fabs(constant)));
}

static int difference(const powers *w, int b, int a)
{
    summands s = {.count = 0};
    const program *p = w->ps->p;
    if (!collect(p, b, false, &s) || !collect(p, a, true, &s))
        return call(w, WORD_SUBTRACT, b, a);
    cancel(p, &s);
    return sum_of(w, &s);
}

/* --- the loop ------------------------------------------------------------------------------------
 */

static int operators(parser *ps, program_operator *list)
{
    static const char *const words[] = {"A", "M", "L", "R"};
    int count = 0;
    for (bool more = true; more && count < MOST_OPERATORS;) {
        more = false;
        for (int k = 0; k < OPERATOR_COUNT && !more; k++)
            if (parser_take_word(ps, words[k])) {
                list[count++] = (program_operator)k;
                ps->p->uses_precon = ps->p->uses_precon || k != OPERATOR_A;
                more = true;
            }
    }
    if (count == 0)
        parser_unexpected(ps, "an operator");
    return count;
}

/* The variable, as an expression. */
static int variable(parser *ps, token word)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_SCALAR, word.begin);
    if (ps->power == NONE)
        ps->power = parser_add_name(ps, word, NAME_SCALAR);
    if (ps->power != NONE)
        ps->assigned[ps->power] = true;
    e.name = ps->power;
    return parser_add(ps, e);
}

/* Operators from..count-1 of the list applied to a vector. */
static int apply(const powers *w, int from, int count, int v)
{
    for (int k = count - 1; k >= from; k--) {
        expr e = parser_blank(EXPR_APPLY, SHAPE_VECTOR, w->place);
        e.op = w->list[k];
        e.arg[0] = v;
        v = parser_add(w->ps, e);
    }
    return v;
}

/* a - 1 + t */
static int before(const powers *w)
{
    return add(w, w->start, w->variable);
}

/* V[a + t] = ... */
static int step_statement(const powers *w)
{
    parser *ps = w->ps;
    stmt s = parser_blank_stmt(STMT_SET, w->place);
    const int last = vector_at(w, w->vectors, before(w));
    const int back =
        call(w, WORD_MAX, call(w, WORD_SUBTRACT, w->variable, number(w, 1)), number(w, 0));
    const int other = vector_at(w, w->vectors, add(w, w->start, back));
    const int product = w->products == NONE
                            ? apply(w, 0, w->count, last)
                            : apply(w, 0, w->count - 1, vector_at(w, w->products, before(w)));
    const int sum = parser_join(ps, WORD_ADD, parser_join(ps, WORD_MULTIPLY, step(w, 0), product),
                                parser_join(ps, WORD_MULTIPLY, step(w, 1), last));
    s.target = vector_at(w, w->vectors, add(w, before(w), number(w, 1)));
    s.value = parser_join(ps, WORD_ADD, sum, parser_join(ps, WORD_MULTIPLY, step(w, 2), other));
    return parser_add_stmt(ps, &s);
}

/* Q[a - 1 + t] = A V[a - 1 + t], and the step unless it was the last */
static int product_statement(const powers *w)
{
    parser *ps = w->ps;
    stmt s = parser_blank_stmt(STMT_SET, w->place), guard = parser_blank_stmt(STMT_IF, w->place);
    s.target = vector_at(w, w->products, before(w));
    s.value = apply(w, w->count - 1, w->count, vector_at(w, w->vectors, before(w)));
    guard.value = call(w, WORD_AT_MOST, w->variable, w->last);
    guard.body = step_statement(w);
    s.next = parser_add_stmt(ps, &guard);
    return parser_add_stmt(ps, &s);
}

/* What the loop was written as: arg[0], operators and the first vector; arg[1], the steps; arg[2],
 * the run of the products. */
static int source(const powers *w, int array)
{
    expr e = parser_blank(EXPR_POWERS, SHAPE_VECTORS, w->place);
    e.arg[0] = apply(w, 0, w->count, vector_at(w, w->vectors, w->start));
    e.arg[1] = array;
    if (w->products != NONE) {
        expr run = parser_blank(EXPR_SLICE, SHAPE_VECTORS, w->place);
        run.name = w->products;
        run.arg[0] = w->start;
        run.arg[1] = add(w, w->start, add(w, w->last, number(w, 1)));
        e.arg[2] = parser_add(w->ps, run);
    }
    return parser_add(w->ps, e);
}

/* B of powers(A, B), an array without an index */
static int step_array(parser *ps, token t)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_SCALARS, t.begin);
    e.name = program_find_name(ps->p, parser_text(ps, t).text);
    if (e.name == NONE || ps->p->names[e.name].kind != NAME_SCALARS ||
        ps->p->names[e.name].extent[1] == NONE)
        return parser_fail(ps, t.begin, "%s is no array of scalars with two indices",
                           parser_text(ps, t).text);
    return parser_add(ps, e);
}

/* Q of powers(A, B, Q), an array of vectors without an index */
static int products(parser *ps)
{
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "the name of an array"))
        return NONE;
    const int name = program_find_name(ps->p, parser_text(ps, t).text);
    if (name == NONE || ps->p->names[name].kind != NAME_VECTORS)
        return parser_fail(ps, t.begin, "%s is no array of vectors", parser_text(ps, t).text);
    ps->assigned[name] = true;
    return name;
}

int parser_powers(parser *ps, int target)
{
    const token word = ps->now;
    const expr run = ps->p->exprs[target];
    powers w = {.ps = ps, .place = word.begin, .vectors = run.name, .products = NONE};
    stmt loop = parser_blank_stmt(STMT_FOR, word.begin);
    if (run.arg[0] == NONE || run.all) /* [p] */
        return parser_fail(ps, word.begin, "powers() makes a run of an array of vectors");
    parser_advance(ps);
    parser_expect(ps, '(', "(");
    w.count = operators(ps, w.list);
    parser_expect(ps, ',', ", and the steps");
    const token steps = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "the name of an array"))
        return NONE;
    const int array = step_array(ps, steps);
    if (parser_take(ps, ',')) {
        w.products = products(ps);
        if (ps->status == SPRY_STATUS_OK && w.list[w.count - 1] != OPERATOR_A)
            parser_fail(ps, word.begin, "products that are kept are those with A: it comes last");
        if (ps->status == SPRY_STATUS_OK && w.products == w.vectors)
            parser_fail(ps, word.begin, "products need an array of their own");
    }
    parser_expect(ps, ')', ")");
    w.variable = variable(ps, word);
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    w.steps = ps->p->exprs[array].name;
    w.last = difference(&w, run.arg[1], run.arg[0]);
    w.start = difference(&w, run.arg[0], number(&w, 1));
    loop.name = ps->power;
    loop.from = number(&w, 0);
    loop.to = w.products == NONE ? w.last : add(&w, w.last, number(&w, 1));
    loop.target = target;
    loop.value = source(&w, array);
    loop.body = w.products == NONE ? step_statement(&w) : product_statement(&w);
    return parser_add_stmt(ps, &loop);
}
