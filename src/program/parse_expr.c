/*
 * Expressions by recursive descent. From loose to tight: or; and; not; comparisons; sums; products
 * (written by a blank, too); then what takes the one factor that follows: operators, u^T, runs.
 */
#include "program/parse.h"

static int factor(parser *ps);

/* ^T or ^H; the token at hand is what follows ^. */
static spry_transpose transposition(parser *ps)
{
    if (parser_take_word(ps, "T"))
        return SPRY_TRANSPOSE_YES;
    if (!parser_take_word(ps, "H"))
        parser_unexpected(ps, "T or H");
    return SPRY_TRANSPOSE_CONJUGATE;
}

static int apply(parser *ps, program_operator op)
{
    expr e = parser_blank(EXPR_APPLY, SHAPE_VECTOR, ps->now.begin);
    e.op = op;
    ps->p->uses_precon = ps->p->uses_precon || op != OPERATOR_A;
    parser_advance(ps);
    if (parser_take(ps, '^')) {
        e.transpose = transposition(ps);
        ps->p->uses_transpose = true;
    }
    e.arg[0] = factor(ps);
    return parser_need(ps, e.arg[0], SHAPE_VECTOR) ? parser_add(ps, e) : NONE;
}

/* A factor that may have a minus, as after * and ^. */
static int signed_factor(parser *ps)
{
    const int place = ps->now.begin;
    if (!parser_take(ps, '-'))
        return factor(ps);
    const int e = factor(ps);
    return parser_negate(ps, place, e);
}

/* What ^ makes of e: a power, or the inner product of u^T v. */
static int raised(parser *ps, int e)
{
    const shape s = parser_shape(ps, e);
    parser_advance(ps);
    if (s == SHAPE_SCALAR || s == SHAPE_SCALARS) {
        const int exponent = signed_factor(ps);
        return parser_join(ps, WORD_POWER, e, exponent);
    }
    const bool conjugate = transposition(ps) == SPRY_TRANSPOSE_CONJUGATE;
    const int right = factor(ps);
    return ps->status == SPRY_STATUS_OK ? parser_dot(ps, ps->p->exprs[e].place, e, right, conjugate)
                                        : NONE;
}

/* An operand with what belongs to it: its power, the run of scalars after a run of vectors. */
static int operand(parser *ps)
{
    const int e = parser_operand(ps);
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    if (ps->now.kind == '^')
        return raised(ps, e);
    if (parser_shape(ps, e) == SHAPE_VECTORS &&
        (ps->now.kind == '*' || ps->now.kind == TOKEN_NAME)) {
        parser_take(ps, '*');
        const int numbers = parser_operand(ps);
        return parser_combine(ps, e, numbers);
    }
    return e;
}

static int factor(parser *ps)
{
    static const char *const operators[] = {"A", "M", "L", "R"};
    int op = 0;
    if (!parser_enter(ps))
        return NONE;
    while (op < OPERATOR_COUNT && !parser_at_word(ps, operators[op]))
        op++;
    const int e = op < OPERATOR_COUNT ? apply(ps, (program_operator)op) : operand(ps);
    ps->depth--;
    return e;
}

/* Whether a factor follows without a sign between. */
static bool follows(const parser *ps)
{
    return ps->now.kind == '(' || (ps->now.kind == '|' && !ps->in_bars) ||
           (ps->now.kind == TOKEN_NAME && !parser_at_keyword(ps));
}

static int term(parser *ps)
{
    int e = factor(ps);
    for (;;) {
        const int kind = ps->now.kind;
        const program_word word = kind == '/'           ? WORD_DIVIDE
                                  : kind == TOKEN_TIMES ? WORD_TIMES
                                  : kind == TOKEN_OVER  ? WORD_OVER
                                                        : WORD_MULTIPLY;
        const bool sign = word != WORD_MULTIPLY || kind == '*';
        if (kind == TOKEN_NUMBER)
            return parser_fail(ps, ps->now.begin, "a sign is missing before the number");
        if (!sign && !follows(ps))
            return e;
        if (sign)
            parser_advance(ps);
        const int right = sign ? signed_factor(ps) : factor(ps);
        e = parser_join(ps, word, e, right);
    }
}

static int sum(parser *ps)
{
    const int place = ps->now.begin;
    const bool minus = parser_take(ps, '-');
    int e = term(ps);
    if (minus)
        e = parser_negate(ps, place, e);
    while (ps->now.kind == '+' || ps->now.kind == '-') {
        const program_word word = ps->now.kind == '+' ? WORD_ADD : WORD_SUBTRACT;
        parser_advance(ps);
        const int right = term(ps);
        e = parser_join(ps, word, e, right);
    }
    return e;
}

/* The word at hand as one of an option's. */
static int option_word(parser *ps, const program_name *option)
{
    const parser_word word = parser_text(ps, ps->now);
    const int index = ps->now.kind == TOKEN_NAME ? base_find_word(option->words, word.text) : -1;
    if (index < 0) {
        char needed[sizeof option->words + 16];
        snprintf(needed, sizeof needed, "one of %s", option->words);
        return parser_unexpected(ps, needed);
    }
    expr e = parser_blank(EXPR_NUMBER, SHAPE_SCALAR, ps->now.begin);
    e.value = index;
    parser_advance(ps);
    return parser_add(ps, e);
}

static int comparison(parser *ps)
{
    static const int signs[] = {'<',         TOKEN_AT_MOST, '>', TOKEN_AT_LEAST,
                                TOKEN_EQUAL, TOKEN_UNEQUAL};
    enum { COUNT = sizeof signs / sizeof signs[0] };
    const int e = sum(ps);
    int i = 0;
    while (i < COUNT && ps->now.kind != signs[i])
        i++;
    if (i == COUNT)
        return e;
    parser_advance(ps);
    const expr *left = e != NONE ? &ps->p->exprs[e] : NULL;
    const program_name *name = left && left->kind == EXPR_NAME ? &ps->p->names[left->name] : NULL;
    const int right = name && name->words[0] ? option_word(ps, name) : sum(ps);
    return parser_join(ps, (program_word)(WORD_LESS + i), e, right);
}

static int negation(parser *ps)
{
    const int place = ps->now.begin;
    if (!parser_take_word(ps, "not"))
        return comparison(ps);
    if (!parser_enter(ps))
        return NONE;
    const int e = negation(ps);
    ps->depth--;
    if (!parser_need(ps, e, SHAPE_SCALAR))
        return NONE;
    return parser_call(ps, place, WORD_NOT, SHAPE_SCALAR, (int[3]){e, NONE, NONE});
}

static int conjunction(parser *ps)
{
    int e = negation(ps);
    while (parser_take_word(ps, "and")) {
        const int right = negation(ps);
        e = parser_join(ps, WORD_AND, e, right);
    }
    return e;
}

int parser_expr(parser *ps)
{
    if (!parser_enter(ps))
        return NONE;
    int e = conjunction(ps);
    while (parser_take_word(ps, "or")) {
        const int right = conjunction(ps);
        e = parser_join(ps, WORD_OR, e, right);
    }
    ps->depth--;
    return ps->status == SPRY_STATUS_OK ? e : NONE;
}

int parser_scalar(parser *ps)
{
    const int e = parser_expr(ps);
    return parser_need(ps, e, SHAPE_SCALAR) ? e : NONE;
}
