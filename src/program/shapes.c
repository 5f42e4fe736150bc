/* Makes expressions: each must get arguments of the shapes it takes, and has one itself. */
#include "program/parse.h"

shape parser_shape(const parser *ps, int e)
{
    return e == NONE ? SHAPE_SCALAR : ps->p->exprs[e].shape;
}

expr parser_blank(expr_kind kind, shape s, int place)
{
    return (expr){
        .kind = kind, .shape = s, .place = place, .name = NONE, .arg = {NONE, NONE, NONE}};
}

int parser_add(parser *ps, expr e)
{
    int index = NONE, depth = 0;
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    for (int i = 0; i < 3; i++)
        if (e.arg[i] != NONE && ps->depths[e.arg[i]] >= depth)
            depth = ps->depths[e.arg[i]] + 1;
    if (depth > MOST_DEPTH)
        return parser_fail(ps, e.place, "the expression is too long: give parts of it names");
    if (ps->p->expr_count == MOST_EXPRS)
        return parser_fail(ps, e.place, "there are more than %d expressions", MOST_EXPRS);
    if (!parser_stop(ps, program_add_expr(ps->p, &e, &index)))
        ps->depths[index] = (uint8_t)depth;
    return index;
}

bool parser_need(parser *ps, int e, shape needed)
{
    static const char *const shapes[] = {"a scalar", "a vector", "a run of scalars",
                                         "a run of vectors", "a matrix"};
    if (ps->status != SPRY_STATUS_OK)
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

int parser_call(parser *ps, int place, program_word word, shape s, const int arg[3])
{
    expr e = parser_blank(EXPR_CALL, s, place);
    e.word = word;
    memcpy(e.arg, arg, sizeof e.arg);
    return parser_add(ps, e);
}

int parser_join(parser *ps, program_word word, int a, int b)
{
    if (ps->status != SPRY_STATUS_OK)
        return NONE;
    const bool u = parser_shape(ps, a) == SHAPE_VECTOR, v = parser_shape(ps, b) == SHAPE_VECTOR;
    const shape either = u || v ? SHAPE_VECTOR : SHAPE_SCALAR;
    shape left = SHAPE_SCALAR, right = SHAPE_SCALAR, out = SHAPE_SCALAR;
    switch (word) {
    case WORD_ADD:
    case WORD_SUBTRACT:
        left = right = out = either;
        break;
    case WORD_MULTIPLY:
        if (u && v)
            return parser_fail(ps, ps->p->exprs[b].place,
                               "two vectors have no product: u .* v multiplies their elements, "
                               "(u, v) is the inner product");
        left = u ? SHAPE_VECTOR : SHAPE_SCALAR;
        right = v ? SHAPE_VECTOR : SHAPE_SCALAR;
        out = either;
        break;
    case WORD_DIVIDE:
        left = out = u ? SHAPE_VECTOR : SHAPE_SCALAR;
        break;
    case WORD_TIMES:
    case WORD_OVER:
        left = right = out = SHAPE_VECTOR;
        break;
    default:
        break;
    }
    if (!parser_need(ps, a, left) || !parser_need(ps, b, right))
        return NONE;
    const bool turned = word == WORD_MULTIPLY && u; /* the scalar comes first */
    return parser_call(ps, ps->p->exprs[a].place, word, out,
                       turned ? (int[3]){b, a, NONE} : (int[3]){a, b, NONE});
}

int parser_negate(parser *ps, int place, int e)
{
    if (parser_shape(ps, e) != SHAPE_VECTOR && !parser_need(ps, e, SHAPE_SCALAR))
        return NONE;
    return parser_call(ps, place, WORD_NEGATE, parser_shape(ps, e), (int[3]){e, NONE, NONE});
}

/* (a, b) of slices of scalars, in methods with `block`. */
static int dot_of_scalars(parser *ps, int place, int left, int right)
{
    if (!parser_need(ps, right, SHAPE_SCALARS))
        return NONE;
    for (int k = 0; k < 2; k++)
        if (ps->p->exprs[k ? right : left].kind != EXPR_SLICE)
            return parser_fail(ps, place, "arrays of numbers are needed here");
    expr e = parser_blank(EXPR_DOT, SHAPE_SCALAR, place);
    e.conjugate = true;
    e.arg[0] = left;
    e.arg[1] = right;
    return parser_add(ps, e);
}

int parser_dot(parser *ps, int place, int left, int right, bool conjugate)
{
    const bool several = parser_shape(ps, left) == SHAPE_VECTORS;
    if (ps->p->block && parser_shape(ps, left) == SHAPE_SCALARS)
        return dot_of_scalars(ps, place, left, right);
    if (!parser_need(ps, left, several ? SHAPE_VECTORS : SHAPE_VECTOR) ||
        !parser_need(ps, right, SHAPE_VECTOR))
        return NONE;
    expr e = parser_blank(EXPR_DOT, several ? SHAPE_SCALARS : SHAPE_SCALAR, place);
    e.conjugate = conjugate;
    e.arg[0] = left;
    e.arg[1] = right;
    return parser_add(ps, e);
}

int parser_norm(parser *ps, int place, int inner)
{
    if (parser_shape(ps, inner) != SHAPE_VECTOR) {
        const bool scalar = parser_need(ps, inner, SHAPE_SCALAR);
        const int arg[3] = {inner, NONE, NONE};
        return scalar ? parser_call(ps, place, WORD_ABS, SHAPE_SCALAR, arg) : NONE;
    }
    expr e = parser_blank(EXPR_NORM, SHAPE_SCALAR, place);
    e.arg[0] = inner;
    return parser_add(ps, e);
}

int parser_combine(parser *ps, int vectors, int numbers)
{
    if (!parser_need(ps, vectors, SHAPE_VECTORS) || !parser_need(ps, numbers, SHAPE_SCALARS))
        return NONE;
    if (ps->p->exprs[numbers].kind != EXPR_SLICE)
        return parser_fail(ps, ps->p->exprs[numbers].place,
                           "several inner products can only be assigned to a run of scalars");
    expr e = parser_blank(EXPR_COMBINE, SHAPE_VECTOR, ps->p->exprs[vectors].place);
    e.arg[0] = vectors;
    e.arg[1] = numbers;
    return parser_add(ps, e);
}
