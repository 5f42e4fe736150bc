/*
 * The contents of statements, as operations. Linear combinations are flattened into one operation,
 * operators that do nothing vanish, and inner products inside scalar expressions are taken out.
 */
#include "program/lower.h"

enum { MOST_TERMS = 64 };

/* A linear combination being collected. */
typedef struct sum {
    term terms[MOST_TERMS];
    int count;
} sum;

const expr *lower_at(const lowering *l, int e)
{
    return &l->program->exprs[e];
}

spry_status lower_add_expr(lowering *l, expr_kind kind, program_word word, int a, int b, int place,
                           int *out)
{
    const expr e = {.kind = kind,
                    .shape = SHAPE_SCALAR,
                    .place = place,
                    .name = NONE,
                    .word = word,
                    .arg = {a, b, NONE}};
    return program_add_expr(l->program, &e, out);
}

/* A copy with the variables of unrolled loops replaced by their values; e itself where there are
 * none. */
spry_status lower_substitute(lowering *l, int e, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_STATUS_OK;
    *out = e;
    if (e == NONE || l->unrolling == 0)
        return SPRY_STATUS_OK;
    expr copy = *lower_at(l, e);
    if (copy.kind == EXPR_NAME && copy.name < l->p->names && l->unrolled[copy.name]) {
        copy = (expr){.kind = EXPR_NUMBER,
                      .shape = SHAPE_SCALAR,
                      .place = copy.place,
                      .value = (double)l->value[copy.name],
                      .name = NONE,
                      .arg = {NONE, NONE, NONE}};
        return program_add_expr(l->program, &copy, out);
    }
    bool changed = false;
    for (int k = 0; k < 3; k++) {
        int arg;
        SPRY_GO(ctx, lower_substitute(l, copy.arg[k], &arg));
        changed = changed || arg != copy.arg[k];
        copy.arg[k] = arg;
    }
    if (changed)
        SPRY_GO(ctx, program_add_expr(l->program, &copy, out));
done:
    return status;
}

static const vref no_vector = {NONE, NONE, NONE, 0, 0, false};

/* The operand an EXPR_NAME or EXPR_SLICE of vectors means. */
spry_status lower_ref(lowering *l, int e, vref *v)
{
    const expr source = *lower_at(l, e);
    const int var = l->p->var_of_name[source.name];
    const int64_t extent = l->p->vars[var].extent;
    *v = (vref){var, NONE, NONE, 0, extent - 1, source.all};
    if (source.arg[0] == NONE)
        return SPRY_STATUS_OK;
    spry_status status = lower_substitute(l, source.arg[0], &v->first);
    v->last = v->first; /* one element: both ends are the same expression */
    if (status == SPRY_STATUS_OK && source.kind == EXPR_SLICE && !source.all)
        status = lower_substitute(l, source.arg[1], &v->last);
    if (status != SPRY_STATUS_OK)
        return status;
    int64_t low, high;
    if (plan_fixed(l->p, v->first, &low) && plan_fixed(l->p, v->last, &high)) {
        if (high >= low && (low < 0 || high >= extent)) {
            int line, column;
            program_locate(l->program, source.place, &line, &column);
            return SPRY_FAIL(l->p->ctx, SPRY_STATUS_BAD_INPUT,
                             "%s:%d:%d: %s[%" PRId64 "..%" PRId64 "] is outside 0..%" PRId64,
                             l->program->source, line, column, l->program->names[source.name].text,
                             low, high, extent - 1);
        }
        v->low = low;
        v->high = high;
    }
    return SPRY_STATUS_OK;
}

static bool use_nothing(const lowering *l, program_operator which)
{
    return l->p->setup.use[which] == USE_NOTHING;
}

/* The vector an expression is, as an operand: a name as it is, anything else in a new variable. */
static spry_status operand(lowering *l, int e, vref *v);

static spry_status new_vector(lowering *l, vref *v)
{
    *v = no_vector;
    return plan_new_var(l->p, &v->var);
}

static spry_status operand(lowering *l, int e, vref *v)
{
    const expr source = *lower_at(l, e);
    if (source.kind == EXPR_NAME || source.kind == EXPR_SLICE)
        return lower_ref(l, e, v);
    if (source.kind == EXPR_APPLY && use_nothing(l, source.op))
        return operand(l, source.arg[0], v);
    spry_status status = new_vector(l, v);
    return status == SPRY_STATUS_OK ? lower_vector(l, e, v) : status;
}

static spry_status emit_sum(lowering *l, const sum *s, const vref *target, int place)
{
    plan *p = l->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    plan_op o = lower_new_op(OP_COMBINE, place);
    o.out = *target;
    o.term = p->term_count;
    o.terms = s->count;
    for (int k = 0; k < s->count; k++) {
        SPRY_GO(ctx, plan_room(p, p->term_count, &p->term_room, sizeof *p->terms, &p->terms));
        p->terms[p->term_count++] = s->terms[k];
    }
    SPRY_GO(ctx, lower_emit(l, &o));
done:
    return status;
}

/* An operation that makes a vector of its own from whole operands: `made` says whether e is one. */
static spry_status lower_whole(lowering *l, int e, const vref *target, bool *made)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *lower_at(l, e);
    plan_op o = lower_new_op(OP_APPLY, source.place);
    spry_status status = SPRY_STATUS_OK;
    *made = true;
    if (source.kind == EXPR_APPLY && !use_nothing(l, source.op)) {
        const bool diagonal = l->p->setup.use[source.op] == USE_DIAGONAL;
        o.kind = diagonal ? OP_DIAGONAL : OP_APPLY;
        o.op = source.op;
        o.transpose = source.transpose;
        SPRY_GO(ctx, operand(l, source.arg[0], &o.in[0]));
    } else if (source.kind == EXPR_CALL &&
               (source.word == WORD_TIMES || source.word == WORD_OVER)) {
        o.kind = source.word == WORD_TIMES ? OP_TIMES : OP_OVER;
        SPRY_GO(ctx, operand(l, source.arg[0], &o.in[0]));
        SPRY_GO(ctx, operand(l, source.arg[1], &o.in[1]));
    } else if (source.kind == EXPR_RANDOM) {
        o.kind = OP_RANDOM;
        SPRY_GO(ctx, lower_scalar(l, source.arg[0], &o.expr));
    } else if (source.kind == EXPR_SHARE) {
        o.kind = OP_SHARE;
        SPRY_GO(ctx, lower_scalar(l, source.arg[0], &o.expr));
        SPRY_GO(ctx, lower_scalar(l, source.arg[1], &o.parts));
    } else {
        *made = false;
        return SPRY_STATUS_OK;
    }
    o.out = *target;
    /* A product cannot write what it reads. */
    const bool clash = o.kind == OP_APPLY && o.in[0].var == target->var;
    if (clash)
        SPRY_GO(ctx, new_vector(l, &o.out));
    SPRY_GO(ctx, lower_emit(l, &o));
    if (clash) {
        const sum copy = {.terms = {{1, NONE, NONE, o.out}}, .count = 1};
        SPRY_GO(ctx, emit_sum(l, &copy, target, source.place));
    }
done:
    return status;
}

static spry_status fail_at(const lowering *l, int place, const char *text)
{
    int line, column;
    program_locate(l->program, place, &line, &column);
    return SPRY_FAIL(l->p->ctx, SPRY_STATUS_BAD_INPUT, "%s:%d:%d: %s", l->program->source, line,
                     column, text);
}

static spry_status add_term(const lowering *l, sum *s, const term *t, int place)
{
    if (s->count == MOST_TERMS)
        return fail_at(l, place, "a sum of more than 64 vectors: use several statements");
    s->terms[s->count++] = *t;
    return SPRY_STATUS_OK;
}

/* Multiplies a factor (NONE: 1) by an expression, or divides it. */
static spry_status scale_factor(lowering *l, int factor, program_word word, int by, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_STATUS_OK;
    int scalar, place = lower_at(l, by)->place;
    SPRY_GO(ctx, lower_scalar(l, by, &scalar));
    if (factor == NONE && word == WORD_MULTIPLY) {
        *out = scalar;
        return SPRY_STATUS_OK;
    }
    if (factor == NONE) {
        SPRY_GO(ctx, lower_add_expr(l, EXPR_NUMBER, WORD_COUNT, NONE, NONE, place, &factor));
        l->program->exprs[factor].value = 1;
    }
    SPRY_GO(ctx, lower_add_expr(l, EXPR_CALL, word, factor, scalar, place, out));
done:
    return status;
}

/* A run of vectors and the run of scalars they are multiplied by must be as long, as far as that is
 * known before the run. */
static spry_status check_lengths(lowering *l, const vref *v, int numbers)
{
    const expr slice = *lower_at(l, numbers);
    int64_t low = 0, high = 0, first, last;
    int line, column;
    if ((!v->all && (!plan_fixed(l->p, v->first, &low) || !plan_fixed(l->p, v->last, &high))) ||
        !plan_fixed(l->p, slice.arg[0], &first) || !plan_fixed(l->p, slice.arg[1], &last))
        return SPRY_STATUS_OK;
    const int64_t vectors = v->all ? PROGRAM_COLUMNS : high < low ? 0 : high - low + 1;
    const int64_t count = last < first ? 0 : last - first + 1;
    if (vectors == count)
        return SPRY_STATUS_OK;
    program_locate(l->program, slice.place, &line, &column);
    return SPRY_FAIL(l->p->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s:%d:%d: %s has %" PRId64 " elements here, %s has %" PRId64,
                     l->program->source, line, column, l->program->names[slice.name].text, count,
                     l->program->names[l->p->vars[v->var].name].text, vectors);
}

/* Adds sign * factor * e to a sum. */
static spry_status add_terms(lowering *l, sum *s, int e, double sign, int factor)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *lower_at(l, e);
    spry_status status = SPRY_STATUS_OK;
    term t = {.sign = sign, .factor = factor, .numbers = NONE};
    if (source.kind == EXPR_NUMBER) /* the zero vector */
        return SPRY_STATUS_OK;
    if (source.kind == EXPR_COMBINE) {
        SPRY_GO(ctx, lower_ref(l, source.arg[0], &t.v));
        SPRY_GO(ctx, lower_substitute(l, source.arg[1], &t.numbers));
        SPRY_GO(ctx, check_lengths(l, &t.v, t.numbers));
        return add_term(l, s, &t, source.place);
    }
    if (source.kind == EXPR_APPLY && use_nothing(l, source.op))
        return add_terms(l, s, source.arg[0], sign, factor);
    if (source.kind == EXPR_CALL) {
        const bool minus = source.word == WORD_SUBTRACT;
        int scaled;
        switch (source.word) {
        case WORD_ADD:
        case WORD_SUBTRACT:
            SPRY_GO(ctx, add_terms(l, s, source.arg[0], sign, factor));
            return add_terms(l, s, source.arg[1], minus ? -sign : sign, factor);
        case WORD_NEGATE:
            return add_terms(l, s, source.arg[0], -sign, factor);
        case WORD_MULTIPLY:
            SPRY_GO(ctx, scale_factor(l, factor, WORD_MULTIPLY, source.arg[0], &scaled));
            return add_terms(l, s, source.arg[1], sign, scaled);
        case WORD_DIVIDE:
            SPRY_GO(ctx, scale_factor(l, factor, WORD_DIVIDE, source.arg[1], &scaled));
            return add_terms(l, s, source.arg[0], sign, scaled);
        default:
            break;
        }
    }
    SPRY_GO(ctx, operand(l, e, &t.v));
    status = add_term(l, s, &t, source.place);
done:
    return status;
}

/* Emits target = sum. What all right-hand sides read none may write: the sum then has a vector of
 * its own. */
static spry_status emit_apart(lowering *l, const sum *s, const vref *target, int place)
{
    spry_context *ctx = l->p->ctx;
    sum copy = {.count = 1};
    bool clash = false;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < s->count; k++)
        clash = clash || (s->terms[k].v.all && s->terms[k].v.var == target->var);
    if (!clash)
        return emit_sum(l, s, target, place);
    copy.terms[0] = (term){1, NONE, NONE, no_vector};
    SPRY_GO(ctx, new_vector(l, &copy.terms[0].v));
    SPRY_GO(ctx, emit_sum(l, s, &copy.terms[0].v, place));
    SPRY_GO(ctx, emit_sum(l, &copy, target, place));
done:
    return status;
}

/* target = e */
spry_status lower_vector(lowering *l, int e, const vref *target)
{
    const expr source = *lower_at(l, e);
    bool made;
    sum s = {.count = 0};
    if (source.kind == EXPR_APPLY && use_nothing(l, source.op))
        return lower_vector(l, source.arg[0], target);
    spry_status status = lower_whole(l, e, target, &made);
    if (status != SPRY_STATUS_OK || made)
        return status;
    status = add_terms(l, &s, e, 1, NONE);
    return status == SPRY_STATUS_OK ? emit_apart(l, &s, target, source.place) : status;
}

/* Emits target = (u, v) for an inner product or the square of a norm. */
spry_status lower_dot(lowering *l, int e, int target)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *lower_at(l, e);
    plan_op o = lower_new_op(OP_DOT, source.place);
    spry_status status = SPRY_STATUS_OK;
    o.target = target;
    o.conjugate = source.kind == EXPR_NORM || source.conjugate;
    SPRY_GO(ctx, operand(l, source.arg[0], &o.in[0]));
    if (source.shape == SHAPE_SCALARS)
        SPRY_GO(ctx, check_lengths(l, &o.in[0], target));
    if (source.kind == EXPR_NORM)
        o.in[1] = o.in[0];
    else
        SPRY_GO(ctx, operand(l, source.arg[1], &o.in[1]));
    SPRY_GO(ctx, lower_emit(l, &o));
done:
    return status;
}

bool lower_has_vectors(const program *p, int e)
{
    if (e == NONE)
        return false;
    const expr *source = &p->exprs[e];
    return source->shape == SHAPE_VECTOR || source->shape == SHAPE_VECTORS ||
           /* of all right-hand sides, or nothing that a factor is made of: operations of their own
            */
           source->kind == EXPR_SMALL || source->kind == EXPR_DOT ||
           lower_has_vectors(p, source->arg[0]) || lower_has_vectors(p, source->arg[1]) ||
           lower_has_vectors(p, source->arg[2]);
}

/* A scalar expression with inner products and norms taken out into numbers of their own. */
spry_status lower_scalar(lowering *l, int e, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (!lower_has_vectors(l->program, e))
        return lower_substitute(l, e, out);
    expr copy = *lower_at(l, e);
    if (copy.kind == EXPR_DOT && lower_at(l, copy.arg[0])->shape == SHAPE_SCALARS) {
        plan_op o = lower_new_op(OP_SCALAR, copy.place);
        SPRY_GO(ctx, plan_new_scalar(l->p, "s", &o.target));
        SPRY_GO(ctx, lower_substitute(l, e, &o.expr));
        *out = o.target;
        return lower_emit(l, &o);
    }
    if (copy.kind == EXPR_DOT || copy.kind == EXPR_NORM) {
        int number;
        SPRY_GO(ctx, plan_new_scalar(l->p, "s", &number));
        SPRY_GO(ctx, lower_dot(l, e, number));
        if (copy.kind == EXPR_NORM) {
            SPRY_GO(ctx,
                    lower_add_expr(l, EXPR_CALL, WORD_REAL, number, NONE, copy.place, &number));
            SPRY_GO(ctx,
                    lower_add_expr(l, EXPR_CALL, WORD_SQRT, number, NONE, copy.place, &number));
        }
        *out = number;
        return SPRY_STATUS_OK;
    }
    for (int k = 0; k < 3; k++)
        if (copy.arg[k] != NONE)
            SPRY_GO(ctx, lower_scalar(l, copy.arg[k], &copy.arg[k]));
    SPRY_GO(ctx, program_add_expr(l->program, &copy, out));
done:
    return status;
}
