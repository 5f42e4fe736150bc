/*
 * Expressions by recursive descent. From loose to tight: or; and; not; comparisons; sums; products
 * (written by a blank, too); then what takes the one factor that follows: operators, u^T, runs.
 */
#include "program/parse.h"

/* --- operands: numbers, names and elements, functions, parentheses, bars
 * --------------------------
 */

static int number(parser *ps)
{
    expr e = parser_blank(EXPR_NUMBER, SHAPE_SCALAR, ps->now.begin);
    e.value = ps->now.value;
    parser_advance(ps);
    return parser_add(ps, e);
}

/* Parentheses, brackets and bars: lines go on in them. Hands back what close_group() needs. */
static bool open_group(parser *ps, bool bars)
{
    const bool before = ps->in_bars;
    ps->open++;
    ps->in_bars = bars;
    parser_advance(ps);
    return before;
}

static void close_group(parser *ps, int kind, bool before)
{
    const char what[2] = {(char)kind, '\0'};
    ps->open--;
    ps->in_bars = before;
    parser_expect(ps, kind, what);
}

/* (e) or (u, v) */
static int parenthesis(parser *ps)
{
    const int place = ps->now.begin;
    const bool before = open_group(ps, false);
    int e = parser_expr(ps);
    if (parser_take(ps, ',')) {
        const int right = parser_expr(ps);
        e = parser_dot(ps, place, e, right, true);
    }
    close_group(ps, ')', before);
    return e;
}

/* |v| or |s| */
static int bars(parser *ps)
{
    const int place = ps->now.begin;
    const bool before = open_group(ps, true);
    const int inner = parser_expr(ps);
    close_group(ps, '|', before);
    return parser_norm(ps, place, inner);
}

/* [i], [i, j], [a..b] or [a..b, j] into an element's expression. */
static void indices(parser *ps, const program_name *n, expr *e)
{
    const bool before = open_group(ps, false), two = n->extent[1] != NONE;
    int used = 0;
    e->arg[used++] = parser_scalar(ps);
    if (parser_take(ps, TOKEN_DOTS)) {
        e->kind = EXPR_SLICE;
        e->shape = e->shape == SHAPE_VECTOR ? SHAPE_VECTORS : SHAPE_SCALARS;
        e->arg[used++] = parser_scalar(ps);
    }
    if (two && parser_expect(ps, ',', ", and a second index"))
        e->arg[used] = parser_scalar(ps);
    if (ps->now.kind == ',')
        parser_fail(ps, ps->now.begin, "%s has %s", n->text, two ? "two indices" : "one index");
    if (ps->now.kind == TOKEN_DOTS)
        parser_fail(ps, ps->now.begin, "only the first index can be a run");
    close_group(ps, ']', before);
}

static int whole_number(parser *ps, int place, double value)
{
    expr e = parser_blank(EXPR_NUMBER, SHAPE_SCALAR, place);
    e.value = value;
    return parser_add(ps, e);
}

/* An array of numbers without an index: all of it. */
static int whole_array(parser *ps, token t, int name)
{
    const bool two = ps->p->names[name].extent[1] != NONE;
    expr e = parser_blank(EXPR_SLICE, two ? SHAPE_MATRIX : SHAPE_SCALARS, t.begin);
    const int extent = ps->p->names[name].extent[0];
    const expr size = ps->p->exprs[extent];
    e.name = name;
    e.arg[0] = whole_number(ps, t.begin, 0);
    if (size.kind == EXPR_NUMBER) {
        e.arg[1] = whole_number(ps, t.begin, size.value - 1);
    } else {
        const int arg[3] = {extent, whole_number(ps, t.begin, 1), NONE};
        e.arg[1] = parser_call(ps, t.begin, WORD_SUBTRACT, SHAPE_SCALAR, arg);
    }
    return parser_add(ps, e);
}

/* Whether an array without an index can stand here: where functions take and give such. */
static bool is_whole(const parser *ps)
{
    return ps->p->block || ps->in_small || ps->now.kind == '=';
}

int parser_element(parser *ps, token t, int name)
{
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    const program_name *n = &ps->p->names[name];
    const bool vectors = n->kind == NAME_VECTOR || n->kind == NAME_VECTORS;
    const bool array = n->kind == NAME_SCALARS || n->kind == NAME_VECTORS;
    expr e = parser_blank(EXPR_NAME, vectors ? SHAPE_VECTOR : SHAPE_SCALAR, t.begin);
    e.name = name;
    if (n->kind == NAME_SCALARS && ps->now.kind != '[' && is_whole(ps))
        return whole_array(ps, t, name);
    if (array != (ps->now.kind == '['))
        return parser_fail(ps, t.begin, "%s is %s", n->text,
                           array ? "an array: an index is needed" : "not an array");
    if (array)
        indices(ps, n, &e);
    return parser_add(ps, e);
}

static int variable(parser *ps)
{
    const token t = ps->now;
    const int name = program_find_name(ps->p, parser_text(ps, t).text);
    if (name == NONE)
        return parser_unknown(ps, t);
    const program_name *n = &ps->p->names[name];
    if (!ps->assigned[name])
        return parser_fail(ps, t.begin,
                           "%s has no value yet: nothing is assigned to it before this", n->text);
    parser_advance(ps);
    if (n->words[0] && ps->now.kind != TOKEN_EQUAL && ps->now.kind != TOKEN_UNEQUAL)
        return parser_fail(ps, t.begin, "%s is a word (%s): compare it by == or !=", n->text,
                           n->words);
    return parser_element(ps, t, name);
}

static int function(parser *ps, program_word word, int arguments)
{
    const int place = ps->now.begin;
    int arg[3] = {NONE, NONE, NONE};
    parser_advance(ps);
    if (arguments > 0) {
        if (ps->now.kind != '(')
            return parser_unexpected(ps, "(");
        const bool before = open_group(ps, false);
        for (int i = 0; i < arguments; i++) {
            if (i > 0)
                parser_expect(ps, ',', ", and another argument");
            arg[i] = parser_scalar(ps);
        }
        close_group(ps, ')', before);
    }
    return parser_call(ps, place, word, SHAPE_SCALAR, arg);
}

static int random_vector(parser *ps)
{
    expr e = parser_blank(EXPR_RANDOM, SHAPE_VECTOR, ps->now.begin);
    parser_advance(ps);
    if (ps->now.kind != '(')
        return parser_unexpected(ps, "(");
    const bool before = open_group(ps, false);
    e.arg[0] = parser_scalar(ps);
    close_group(ps, ')', before);
    return parser_add(ps, e);
}

/* [p] or [V[k]]: the vectors of that name of all right-hand sides. */
static int of_all(parser *ps)
{
    const int place = ps->now.begin;
    expr e = parser_blank(EXPR_SLICE, SHAPE_VECTORS, place);
    if (!ps->p->block)
        return parser_fail(
            ps, place,
            "[ ] stands for the vectors of all right-hand sides, in methods with the "
            "line block");
    const bool before = open_group(ps, false);
    const token t = ps->now;
    if (!parser_expect(ps, TOKEN_NAME, "the name of a vector"))
        return NONE;
    e.name = program_find_name(ps->p, parser_text(ps, t).text);
    if (e.name == NONE)
        return parser_unknown(ps, t);
    const program_name *n = &ps->p->names[e.name];
    if ((n->kind != NAME_VECTOR && n->kind != NAME_VECTORS) || e.name == NAME_X ||
        e.name == NAME_B || !ps->assigned[e.name])
        return parser_fail(ps, t.begin, "%s is no vector of the method's own that has a value here",
                           n->text);
    e.all = true;
    if (n->kind == NAME_VECTORS) {
        if (ps->now.kind != '[')
            return parser_fail(ps, t.begin, "%s is an array: an index is needed", n->text);
        const bool outer = open_group(ps, false);
        e.arg[0] = parser_scalar(ps);
        close_group(ps, ']', outer);
    }
    close_group(ps, ']', before);
    return parser_add(ps, e);
}

/* share(k, n) */
static int share_vector(parser *ps)
{
    expr e = parser_blank(EXPR_SHARE, SHAPE_VECTOR, ps->now.begin);
    parser_advance(ps);
    const bool before = open_group(ps, false);
    e.arg[0] = parser_scalar(ps);
    parser_expect(ps, ',', ", and the number of shares");
    e.arg[1] = parser_scalar(ps);
    close_group(ps, ')', before);
    return parser_add(ps, e);
}

/* An argument of a function: an array of the shape that it takes. */
static int small_argument(parser *ps, char shapes)
{
    const int e = parser_expr(ps);
    if (!parser_need(ps, e, shapes == 'm' ? SHAPE_MATRIX : SHAPE_SCALARS))
        return NONE;
    if (ps->p->exprs[e].kind != EXPR_SLICE)
        return parser_fail(ps, ps->p->exprs[e].place, "an array of numbers is needed here");
    return e;
}

/* solve(G, c) and its like */
static int small_function(parser *ps, program_small which, int arguments, const char *shapes)
{
    expr e =
        parser_blank(EXPR_SMALL, shapes[0] == 'm' ? SHAPE_MATRIX : SHAPE_SCALARS, ps->now.begin);
    e.small = which;
    ps->p->by_host = true;
    parser_advance(ps);
    if (ps->now.kind != '(')
        return parser_unexpected(ps, "(");
    const bool before = open_group(ps, false), outer = ps->in_small;
    ps->in_small = true;
    for (int i = 0; i < arguments; i++) {
        if (i > 0)
            parser_expect(ps, ',', ", and another argument");
        e.arg[i] = small_argument(ps, shapes[i + 1]);
    }
    ps->in_small = outer;
    close_group(ps, ')', before);
    return parser_add(ps, e);
}

/* Words of functions: in methods with `block` all of them, in others those that are not about
 * columns, unless the text has the name for something of its own. */
static bool at_function(const parser *ps, int which, const char *word)
{
    return parser_at_word(ps, word) &&
           (ps->p->block || (which > SMALL_ADJOINT && program_find_name(ps->p, word) == NONE));
}

/* A call of a later version, whose name may be that of a variable in older texts. */
static bool at_call(const parser *ps, const char *word)
{
    return parser_at_word(ps, word) && program_find_name(ps->p, word) == NONE &&
           ps->p->text[ps->now.begin + ps->now.size] == '(';
}

/* Words that methods with `block` have. */
static bool at_block_word(const parser *ps, const char *word)
{
    return ps->p->block && parser_at_word(ps, word);
}

static int named(parser *ps)
{
    static const struct {
        const char *text;
        int arguments;
        const char *shapes;
    } functions[] =
        {
#define FUNCTION(name, text, arguments) {text, arguments, NULL},
            PROGRAM_WORDS(FUNCTION)},
      small[] = {
#define SMALL_FUNCTION(name, text, arguments, shapes) {text, arguments, shapes},
          PROGRAM_SMALL(SMALL_FUNCTION)};
#undef FUNCTION
#undef SMALL_FUNCTION
    for (int i = WORD_SQRT; i < WORD_COUNT; i++)
        if (parser_at_word(ps, functions[i].text))
            return function(ps, (program_word)i, functions[i].arguments);
    if (parser_at_word(ps, "random"))
        return random_vector(ps);
    for (int i = 0; i < SMALL_COUNT; i++)
        if (at_function(ps, i, small[i].text))
            return small_function(ps, (program_small)i, small[i].arguments, small[i].shapes);
    if (at_block_word(ps, "columns")) {
        const int place = ps->now.begin;
        parser_advance(ps);
        return whole_number(ps, place, PROGRAM_COLUMNS);
    }
    if (at_call(ps, "share"))
        return share_vector(ps);
    return parser_at_keyword(ps) ? parser_unexpected(ps, "a name or a number") : variable(ps);
}

static int simple_operand(parser *ps)
{
    switch (ps->now.kind) {
    case TOKEN_NUMBER:
        return number(ps);
    case '(':
        return parenthesis(ps);
    case '|':
        return bars(ps);
    case '[':
        return of_all(ps);
    case TOKEN_NAME:
        return named(ps);
    default:
        return parser_unexpected(ps, "a name or a number");
    }
}

/* --- from tight to loose -------------------------------------------------------------------------
 */

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
    const int e = simple_operand(ps);
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    if (ps->now.kind == '^')
        return raised(ps, e);
    if (parser_shape(ps, e) == SHAPE_VECTORS &&
        (ps->now.kind == '*' || ps->now.kind == TOKEN_NAME)) {
        parser_take(ps, '*');
        const int numbers = simple_operand(ps);
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
