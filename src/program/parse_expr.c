/*
 * Expressions by recursive descent. From loose to tight: or; and; not; comparisons; sums; products
 * (written by a blank, too); then what binds to the one factor that follows: operators and u^T.
 */
#include "program/parse.h"

static int factor(parser *ps);

shape parser_shape(const parser *ps, int e)
{
    return e == NONE ? SHAPE_SCALAR : ps->p->exprs[e].shape;
}

/* A new expression without arguments. */
static expr blank(expr_kind kind, shape s, int place)
{
    return (expr){
        .kind = kind, .shape = s, .place = place, .name = NONE, .arg = {NONE, NONE, NONE}};
}

static int add(parser *ps, expr e)
{
    int index = NONE, depth = 0;
    if (ps->status != SPRY_OK)
        return NONE;
    for (int i = 0; i < 3; i++)
        if (e.arg[i] != NONE && ps->depths[e.arg[i]] >= depth)
            depth = ps->depths[e.arg[i]] + 1;
    if (depth > MOST_DEPTH)
        return parser_fail(ps, e.place, "the expression has more than %d parts in each other",
                           MOST_DEPTH);
    if (ps->p->expr_count == MOST_EXPRS)
        return parser_fail(ps, e.place, "there are more than %d expressions", MOST_EXPRS);
    ps->status = program_add_expr(ps->p, &e, &index);
    if (ps->status == SPRY_OK)
        ps->depths[index] = (uint8_t)depth;
    return index;
}

static bool enter(parser *ps)
{
    if (++ps->depth > MOST_DEPTH)
        parser_fail(ps, ps->now.begin, "there is more than %d levels of nesting", MOST_DEPTH);
    return ps->status == SPRY_OK;
}

bool parser_need(parser *ps, int e, shape needed)
{
    static const char *const shapes[] = {"a scalar", "a vector", "a run of scalars",
                                         "a run of vectors"};
    if (ps->status != SPRY_OK)
        return false;
    const shape found = parser_shape(ps, e);
    if (found == needed)
        return true;
    char text[64];
    program_print_expr(ps->p, e, text, sizeof text);
    parser_fail(ps, ps->p->exprs[e].place, "%s is %s, %s is needed here", text, shapes[found],
                shapes[needed]);
    return false;
}

static int call(parser *ps, int place, program_word word, shape s, const int arg[3])
{
    expr e = blank(EXPR_CALL, s, place);
    e.word = word;
    memcpy(e.arg, arg, sizeof e.arg);
    return add(ps, e);
}

/* a and b joined by a sign: checks and makes the shape. */
static int join(parser *ps, program_word word, int a, int b)
{
    if (ps->status != SPRY_OK)
        return NONE;
    const int place = ps->p->exprs[a].place;
    const shape left = parser_shape(ps, a), right = parser_shape(ps, b);
    shape out = SHAPE_SCALAR;
    switch (word) {
    case WORD_ADD:
    case WORD_SUBTRACT:
        out = left == SHAPE_VECTOR || right == SHAPE_VECTOR ? SHAPE_VECTOR : SHAPE_SCALAR;
        if (!parser_need(ps, a, out) || !parser_need(ps, b, out))
            return NONE;
        break;
    case WORD_MULTIPLY:
        if (left == SHAPE_VECTOR && right == SHAPE_VECTOR)
            return parser_fail(ps, ps->p->exprs[b].place,
                               "two vectors: u .* v multiplies their elements, (u, v) is the inner "
                               "product");
        out = left == SHAPE_VECTOR || right == SHAPE_VECTOR ? SHAPE_VECTOR : SHAPE_SCALAR;
        if (!parser_need(ps, a, left == SHAPE_VECTOR ? SHAPE_VECTOR : SHAPE_SCALAR) ||
            !parser_need(ps, b, right == SHAPE_VECTOR ? SHAPE_VECTOR : SHAPE_SCALAR))
            return NONE;
        if (left == SHAPE_VECTOR)
            return call(ps, place, word, out, (int[3]){b, a, NONE});
        break;
    case WORD_DIVIDE:
        out = left == SHAPE_VECTOR ? SHAPE_VECTOR : SHAPE_SCALAR;
        if (!parser_need(ps, a, out) || !parser_need(ps, b, SHAPE_SCALAR))
            return NONE;
        break;
    case WORD_TIMES:
    case WORD_OVER:
        out = SHAPE_VECTOR;
        if (!parser_need(ps, a, out) || !parser_need(ps, b, out))
            return NONE;
        break;
    default:
        if (!parser_need(ps, a, out) || !parser_need(ps, b, out))
            return NONE;
    }
    return call(ps, place, word, out, (int[3]){a, b, NONE});
}

static int number(parser *ps)
{
    expr e = blank(EXPR_NUMBER, SHAPE_SCALAR, ps->now.begin);
    e.value = ps->now.value;
    parser_advance(ps);
    return add(ps, e);
}

/* Parentheses, brackets and bars: lines go on in them. Hands back what close() needs. */
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
    if (ps->now.kind != kind)
        parser_unexpected(ps, what);
    ps->open--;
    ps->in_bars = before;
    parser_advance(ps);
}

static int dot(parser *ps, int place, int left, int right, bool conjugate)
{
    const shape s = parser_shape(ps, left) == SHAPE_VECTORS ? SHAPE_VECTORS : SHAPE_VECTOR;
    if (!parser_need(ps, left, s) || !parser_need(ps, right, SHAPE_VECTOR))
        return NONE;
    expr e = blank(EXPR_DOT, s == SHAPE_VECTORS ? SHAPE_SCALARS : SHAPE_SCALAR, place);
    e.conjugate = conjugate;
    e.arg[0] = left;
    e.arg[1] = right;
    return add(ps, e);
}

/* (e) or (u, v) */
static int parenthesis(parser *ps)
{
    const int place = ps->now.begin;
    const bool before = open_group(ps, false);
    int e = parser_expr(ps);
    if (parser_take(ps, ',')) {
        const int right = parser_expr(ps);
        e = dot(ps, place, e, right, true);
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
    if (parser_shape(ps, inner) != SHAPE_VECTOR)
        return parser_need(ps, inner, SHAPE_SCALAR)
                   ? call(ps, place, WORD_ABS, SHAPE_SCALAR, (int[3]){inner, NONE, NONE})
                   : NONE;
    expr e = blank(EXPR_NORM, SHAPE_SCALAR, place);
    e.arg[0] = inner;
    return add(ps, e);
}

int parser_element(parser *ps, token t, int name)
{
    if (ps->status != SPRY_OK)
        return NONE;
    const program_name n = ps->p->names[name];
    const bool vectors = n.kind == NAME_VECTOR || n.kind == NAME_VECTORS;
    expr e = blank(EXPR_NAME, vectors ? SHAPE_VECTOR : SHAPE_SCALAR, t.begin);
    e.name = name;
    if (n.extent[0] == NONE) {
        if (ps->now.kind == '[')
            return parser_fail(ps, ps->now.begin, "%s is not an array", n.text);
        return add(ps, e);
    }
    if (ps->now.kind != '[')
        return parser_fail(ps, t.begin, "%s is an array: %s is needed", n.text,
                           n.extent[1] == NONE ? "an index in brackets"
                                               : "two indices in brackets");
    const bool before = open_group(ps, false);
    int used = 0;
    e.arg[used++] = parser_scalar(ps);
    if (parser_take(ps, TOKEN_DOTS)) {
        e.kind = EXPR_SLICE;
        e.shape = vectors ? SHAPE_VECTORS : SHAPE_SCALARS;
        e.arg[used++] = parser_scalar(ps);
    }
    if (n.extent[1] != NONE && parser_expect(ps, ',', "a second index"))
        e.arg[used] = parser_scalar(ps);
    if (ps->now.kind == ',')
        return parser_fail(ps, ps->now.begin, "%s has %s", n.text,
                           n.extent[1] == NONE ? "one index" : "two indices");
    if (ps->now.kind == TOKEN_DOTS)
        return parser_fail(ps, ps->now.begin, "only the first index can be a run");
    close_group(ps, ']', before);
    return add(ps, e);
}

/* A run of vectors takes the run of scalars that follows. */
static int combined(parser *ps, int run)
{
    if (!parser_take(ps, '*') && ps->now.kind != TOKEN_NAME)
        return run;
    const int place = ps->status == SPRY_OK ? ps->p->exprs[run].place : 0;
    const int numbers = factor(ps);
    if (!parser_need(ps, numbers, SHAPE_SCALARS))
        return NONE;
    if (ps->p->exprs[numbers].kind != EXPR_SLICE)
        return parser_fail(ps, ps->p->exprs[numbers].place,
                           "several inner products can only be assigned to a run of scalars");
    expr e = blank(EXPR_COMBINE, SHAPE_VECTOR, place);
    e.arg[0] = run;
    e.arg[1] = numbers;
    return add(ps, e);
}

static int variable(parser *ps)
{
    const token t = ps->now;
    const parser_word word = parser_text(ps, t);
    const int name = program_find_name(ps->p, word.text);
    if (name == NONE)
        return parser_unknown(ps, t);
    const program_name *n = &ps->p->names[name];
    if (!ps->assigned[name])
        return parser_fail(
            ps, t.begin, "%s has no value here: nothing is assigned to it before this", word.text);
    parser_advance(ps);
    if (n->words[0] && ps->now.kind != TOKEN_EQUAL && ps->now.kind != TOKEN_UNEQUAL)
        return parser_fail(
            ps, t.begin, "%s is one of the words %s: compare it by == or !=", word.text, n->words);
    const int e = parser_element(ps, t, name);
    return parser_shape(ps, e) == SHAPE_VECTORS ? combined(ps, e) : e;
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
    return call(ps, place, word, SHAPE_SCALAR, arg);
}

static int random_vector(parser *ps)
{
    expr e = blank(EXPR_RANDOM, SHAPE_VECTOR, ps->now.begin);
    parser_advance(ps);
    if (ps->now.kind != '(')
        return parser_unexpected(ps, "(");
    const bool before = open_group(ps, false);
    e.arg[0] = parser_scalar(ps);
    close_group(ps, ')', before);
    return add(ps, e);
}

static int named(parser *ps)
{
    static const struct {
        const char *text;
        program_word word;
        int arguments;
    } functions[] = {
#define FUNCTION(name, text, arguments) {text, WORD_##name, arguments},
        PROGRAM_WORDS(FUNCTION)
#undef FUNCTION
    };
    for (int i = WORD_SQRT; i < WORD_COUNT; i++)
        if (parser_at_word(ps, functions[i].text))
            return function(ps, functions[i].word, functions[i].arguments);
    if (parser_at_word(ps, "random"))
        return random_vector(ps);
    if (parser_reserved(parser_text(ps, ps->now).text))
        return parser_unexpected(ps, "a name or a number");
    return variable(ps);
}

static int primary(parser *ps)
{
    switch (ps->now.kind) {
    case TOKEN_NUMBER:
        return number(ps);
    case '(':
        return parenthesis(ps);
    case '|':
        return bars(ps);
    case TOKEN_NAME:
        return named(ps);
    default:
        return parser_unexpected(ps, "a name or a number");
    }
}

/* ^T or ^H; the token at hand is what follows ^. */
static spry_transpose transposition(parser *ps)
{
    if (parser_take_word(ps, "T"))
        return SPRY_TRANSPOSE;
    if (!parser_take_word(ps, "H"))
        parser_unexpected(ps, "T or H");
    return SPRY_CONJUGATE;
}

static int apply(parser *ps, program_operator op)
{
    expr e = blank(EXPR_APPLY, SHAPE_VECTOR, ps->now.begin);
    e.op = op;
    parser_advance(ps);
    if (parser_take(ps, '^')) {
        e.transpose = transposition(ps);
        ps->p->uses_transpose = true;
    }
    e.arg[0] = factor(ps);
    return parser_need(ps, e.arg[0], SHAPE_VECTOR) ? add(ps, e) : NONE;
}

static int negated(parser *ps, int place, int e)
{
    if (parser_shape(ps, e) != SHAPE_VECTOR && !parser_need(ps, e, SHAPE_SCALAR))
        return NONE;
    return call(ps, place, WORD_NEGATE, parser_shape(ps, e), (int[3]){e, NONE, NONE});
}

/* A factor that may have a minus, as after * and ^. */
static int signed_factor(parser *ps)
{
    const int place = ps->now.begin;
    if (!parser_take(ps, '-'))
        return factor(ps);
    const int e = factor(ps);
    return negated(ps, place, e);
}

/* What ^ makes of e: a power, or the inner product of u^T v. */
static int raised(parser *ps, int e)
{
    const shape s = parser_shape(ps, e);
    parser_advance(ps);
    if (s == SHAPE_SCALAR || s == SHAPE_SCALARS) {
        const int exponent = signed_factor(ps);
        return join(ps, WORD_POWER, e, exponent);
    }
    const bool conjugate = transposition(ps) == SPRY_CONJUGATE;
    const int right = factor(ps);
    return ps->status == SPRY_OK ? dot(ps, ps->p->exprs[e].place, e, right, conjugate) : NONE;
}

static int factor(parser *ps)
{
    static const char *const operators[] = {"A", "M", "L", "R"};
    int e = NONE;
    if (!enter(ps))
        return NONE;
    for (int op = 0; op < OPERATOR_COUNT && e == NONE && ps->status == SPRY_OK; op++)
        if (parser_at_word(ps, operators[op]))
            e = apply(ps, (program_operator)op);
    if (e == NONE && ps->status == SPRY_OK) {
        e = primary(ps);
        if (ps->now.kind == '^')
            e = raised(ps, e);
    }
    ps->depth--;
    return e;
}

/* Whether a factor follows without a sign between. */
static bool follows(const parser *ps)
{
    static const char *const others[] = {"and", "or", "not", "down", "if", "else", "end"};
    if (ps->now.kind == TOKEN_NUMBER || ps->now.kind == '(')
        return true;
    if (ps->now.kind != TOKEN_NAME)
        return ps->now.kind == '|' && !ps->in_bars;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (parser_at_word(ps, others[i]))
            return false;
    return true;
}

static int term(parser *ps)
{
    int e = factor(ps);
    while (ps->status == SPRY_OK) {
        const int kind = ps->now.kind;
        if (kind == TOKEN_NUMBER)
            return parser_fail(ps, ps->now.begin, "a sign is missing before the number");
        const program_word word = kind == '/'           ? WORD_DIVIDE
                                  : kind == TOKEN_TIMES ? WORD_TIMES
                                  : kind == TOKEN_OVER  ? WORD_OVER
                                                        : WORD_MULTIPLY;
        if (word != WORD_MULTIPLY || kind == '*') {
            parser_advance(ps);
            const int right = signed_factor(ps);
            e = join(ps, word, e, right);
        } else if (follows(ps)) {
            const int right = factor(ps);
            e = join(ps, word, e, right);
        } else {
            return e;
        }
    }
    return NONE;
}

static int sum(parser *ps)
{
    const int place = ps->now.begin;
    const bool minus = parser_take(ps, '-');
    int e = term(ps);
    if (minus && ps->status == SPRY_OK)
        e = negated(ps, place, e);
    while (ps->status == SPRY_OK && (ps->now.kind == '+' || ps->now.kind == '-')) {
        const program_word word = ps->now.kind == '+' ? WORD_ADD : WORD_SUBTRACT;
        parser_advance(ps);
        const int right = term(ps);
        e = join(ps, word, e, right);
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
    expr e = blank(EXPR_NUMBER, SHAPE_SCALAR, ps->now.begin);
    e.value = index;
    parser_advance(ps);
    return add(ps, e);
}

static int comparison(parser *ps)
{
    static const struct {
        int kind;
        program_word word;
    } signs[] = {{'<', WORD_LESS},          {TOKEN_AT_MOST, WORD_AT_MOST},
                 {'>', WORD_MORE},          {TOKEN_AT_LEAST, WORD_AT_LEAST},
                 {TOKEN_EQUAL, WORD_EQUAL}, {TOKEN_UNEQUAL, WORD_UNEQUAL}};
    const int e = sum(ps);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0] && ps->status == SPRY_OK; i++) {
        if (ps->now.kind != signs[i].kind)
            continue;
        parser_advance(ps);
        const expr *left = ps->status == SPRY_OK ? &ps->p->exprs[e] : NULL;
        const bool words = left && left->kind == EXPR_NAME && ps->p->names[left->name].words[0];
        const int right = words ? option_word(ps, &ps->p->names[left->name]) : sum(ps);
        return join(ps, signs[i].word, e, right);
    }
    return e;
}

static int negation(parser *ps)
{
    const int place = ps->now.begin;
    if (!parser_take_word(ps, "not"))
        return comparison(ps);
    if (!enter(ps))
        return NONE;
    const int e = negation(ps);
    ps->depth--;
    return parser_need(ps, e, SHAPE_SCALAR)
               ? call(ps, place, WORD_NOT, SHAPE_SCALAR, (int[3]){e, NONE, NONE})
               : NONE;
}

static int conjunction(parser *ps)
{
    int e = negation(ps);
    while (parser_take_word(ps, "and")) {
        const int right = negation(ps);
        e = join(ps, WORD_AND, e, right);
    }
    return e;
}

int parser_expr(parser *ps)
{
    if (!enter(ps))
        return NONE;
    int e = conjunction(ps);
    while (parser_take_word(ps, "or")) {
        const int right = conjunction(ps);
        e = join(ps, WORD_OR, e, right);
    }
    ps->depth--;
    return ps->status == SPRY_OK ? e : NONE;
}

int parser_scalar(parser *ps)
{
    const int e = parser_expr(ps);
    return parser_need(ps, e, SHAPE_SCALAR) ? e : NONE;
}
