/*
 * V[a..b] = powers(A, B): the vectors V[a..b] follow from V[a - 1] by steps of a basis, the rows of
 * B, that is
 *
 *     for i = a .. b:
 *         V[i] = B[i - a, 0] (A V[i - 1]) + B[i - a, 1] V[i - 1] + B[i - a, 2] V[max(i - 2, a - 1)]
 *     end
 *
 * with a variable of the parser's own, and with any operators in the place of A.
 */
#include "program/parse.h"

enum { MOST_OPERATORS = 8 };

/* Parts of the loop: expressions of its variable and of where the run begins. */
typedef struct powers {
    parser *ps;
    int place, variable, first, vectors, steps;
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

static int vector_at(const powers *w, int index)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_VECTOR, w->place);
    e.name = w->vectors;
    e.arg[0] = index;
    return parser_add(w->ps, e);
}

/* B[i - a, column] */
static int step(const powers *w, int column)
{
    expr e = parser_blank(EXPR_NAME, SHAPE_SCALAR, w->place);
    e.name = w->steps;
    e.arg[0] = call(w, WORD_SUBTRACT, w->variable, w->first);
    e.arg[1] = number(w, column);
    return parser_add(w->ps, e);
}

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

static int value(const powers *w, const program_operator *list, int count)
{
    parser *ps = w->ps;
    const int before = vector_at(w, call(w, WORD_SUBTRACT, w->variable, number(w, 1)));
    const int other =
        vector_at(w, call(w, WORD_MAX, call(w, WORD_SUBTRACT, w->variable, number(w, 2)),
                          call(w, WORD_SUBTRACT, w->first, number(w, 1))));
    int product = before;
    for (int k = count - 1; k >= 0; k--) {
        expr e = parser_blank(EXPR_APPLY, SHAPE_VECTOR, w->place);
        e.op = list[k];
        e.arg[0] = product;
        product = parser_add(ps, e);
    }
    product = parser_join(ps, WORD_MULTIPLY, step(w, 0), product);
    const int with = parser_join(ps, WORD_MULTIPLY, step(w, 1), before);
    const int last = parser_join(ps, WORD_MULTIPLY, step(w, 2), other);
    return parser_join(ps, WORD_ADD, parser_join(ps, WORD_ADD, product, with), last);
}

int parser_powers(parser *ps, int target)
{
    const token word = ps->now;
    program_operator list[MOST_OPERATORS];
    stmt loop = parser_blank_stmt(STMT_FOR, word.begin);
    stmt body = parser_blank_stmt(STMT_SET, word.begin);
    if (ps->p->exprs[target].arg[0] == NONE) /* [p] */
        return parser_fail(ps, word.begin, "powers() makes a run of an array of vectors");
    parser_advance(ps);
    parser_expect(ps, '(', "(");
    const int count = operators(ps, list);
    parser_expect(ps, ',', ", and the steps");
    const token steps = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "the name of an array"))
        return NONE;
    const int array = parser_array(ps, steps);
    parser_expect(ps, ')', ")");
    const int counter = variable(ps, word);
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    const expr run = ps->p->exprs[target];
    const powers w = {.ps = ps,
                      .place = word.begin,
                      .variable = counter,
                      .first = run.arg[0],
                      .vectors = run.name,
                      .steps = ps->p->exprs[array].name};
    body.target = vector_at(&w, counter);
    body.value = value(&w, list, count);
    loop.name = ps->power;
    loop.from = run.arg[0];
    loop.to = run.arg[1];
    loop.body = parser_add_stmt(ps, &body);
    return parser_add_stmt(ps, &loop);
}
