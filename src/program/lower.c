/*
 * Statements become primitive operations. Linear combinations are flattened into one operation,
 * operators that do nothing vanish, inner products inside scalar expressions are taken out, and
 * short loops are unrolled so that their array elements are known vectors.
 */
#include "program/plan.h"

enum {
    UNROLL = 400, /* operations a loop may become */
    MOST_TERMS = 64
};

/* A linear combination being collected. */
typedef struct sum {
    term terms[MOST_TERMS];
    int count;
} sum;

typedef struct lowering {
    plan *p;
    program *program;
    int first, last; /* nodes of the list being made; NONE: none so far */
    bool open;       /* the last is a block that takes operations */
    bool *unrolled;  /* by name: a loop variable with a known value */
    int64_t *value;
    int unrolling; /* depth */
} lowering;

static spry_status lower_statements(lowering *l, int first);
static spry_status lower_scalar(lowering *l, int e, int *out);
static const expr *at(const lowering *l, int e)
{
    return &l->program->exprs[e];
}

static spry_status add_expr(lowering *l, expr_kind kind, program_word word, int a, int b, int place,
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
static spry_status substitute(lowering *l, int e, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_OK;
    *out = e;
    if (e == NONE || l->unrolling == 0)
        return SPRY_OK;
    expr copy = *at(l, e);
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
        SPRY_GO(ctx, substitute(l, copy.arg[k], &arg));
        changed = changed || arg != copy.arg[k];
        copy.arg[k] = arg;
    }
    if (changed)
        SPRY_GO(ctx, program_add_expr(l->program, &copy, out));
done:
    return status;
}

static spry_status append_node(lowering *l, const node *n)
{
    plan *p = l->p;
    spry_status status = plan_room(p, p->node_count, &p->node_room, sizeof *p->nodes, &p->nodes);
    if (status != SPRY_OK)
        return status;
    p->nodes[p->node_count] = *n;
    if (l->last == NONE)
        l->first = p->node_count;
    else
        p->nodes[l->last].next = p->node_count;
    l->last = p->node_count++;
    l->open = n->kind == NODE_BLOCK;
    return SPRY_OK;
}

static node new_node(node_kind kind)
{
    return (node){.kind = kind,
                  .name = NONE,
                  .from = NONE,
                  .to = NONE,
                  .expr = NONE,
                  .body = NONE,
                  .other = NONE,
                  .next = NONE};
}

static const vref no_vector = {NONE, NONE, NONE, 0, 0};

static spry_status emit(lowering *l, const plan_op *o)
{
    plan *p = l->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_OK;
    if (!l->open) {
        node block = new_node(NODE_BLOCK);
        block.first = p->op_count;
        SPRY_GO(ctx, append_node(l, &block));
    }
    SPRY_GO(ctx, plan_room(p, p->op_count, &p->op_room, sizeof *p->ops, &p->ops));
    p->ops[p->op_count] = *o;
    p->ops[p->op_count].order = p->op_count;
    p->op_count++;
    p->nodes[l->last].count++;
done:
    return status;
}

static plan_op new_op(op_kind kind, int place)
{
    return (plan_op){.kind = kind,
                     .place = place,
                     .out = no_vector,
                     .in = {no_vector, no_vector},
                     .target = NONE,
                     .expr = NONE,
                     .stmt = NONE};
}

/* The operand an EXPR_NAME or EXPR_SLICE of vectors means. */
static spry_status make_ref(lowering *l, int e, vref *v)
{
    const expr source = *at(l, e);
    const int var = l->p->var_of_name[source.name];
    const int64_t extent = l->p->vars[var].extent;
    *v = (vref){var, NONE, NONE, 0, extent - 1};
    if (source.arg[0] == NONE)
        return SPRY_OK;
    spry_status status = substitute(l, source.arg[0], &v->first);
    v->last = v->first; /* one element: both ends are the same expression */
    if (status == SPRY_OK && source.kind == EXPR_SLICE)
        status = substitute(l, source.arg[1], &v->last);
    if (status != SPRY_OK)
        return status;
    int64_t low, high;
    if (plan_fixed(l->p, v->first, &low) && plan_fixed(l->p, v->last, &high)) {
        if (high >= low && (low < 0 || high >= extent)) {
            int line, column;
            program_locate(l->program, source.place, &line, &column);
            return SPRY_FAIL(l->p->ctx, SPRY_BAD_INPUT,
                             "%s:%d:%d: %s[%" PRId64 "..%" PRId64 "] is outside 0..%" PRId64,
                             l->program->source, line, column, l->program->names[source.name].text,
                             low, high, extent - 1);
        }
        v->low = low;
        v->high = high;
    }
    return SPRY_OK;
}

static bool use_nothing(const lowering *l, program_operator which)
{
    return l->p->setup.use[which] == USE_NOTHING;
}

/* The vector an expression is, as an operand: a name as it is, anything else in a new variable. */
static spry_status operand(lowering *l, int e, vref *v);

static spry_status lower_into(lowering *l, int e, const vref *target);

static spry_status new_vector(lowering *l, vref *v)
{
    *v = no_vector;
    return plan_new_var(l->p, &v->var);
}

static spry_status operand(lowering *l, int e, vref *v)
{
    const expr source = *at(l, e);
    if (source.kind == EXPR_NAME || source.kind == EXPR_SLICE)
        return make_ref(l, e, v);
    if (source.kind == EXPR_APPLY && use_nothing(l, source.op))
        return operand(l, source.arg[0], v);
    spry_status status = new_vector(l, v);
    return status == SPRY_OK ? lower_into(l, e, v) : status;
}

static spry_status emit_sum(lowering *l, const sum *s, const vref *target, int place)
{
    plan *p = l->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_OK;
    plan_op o = new_op(OP_COMBINE, place);
    o.out = *target;
    o.term = p->term_count;
    o.terms = s->count;
    for (int k = 0; k < s->count; k++) {
        SPRY_GO(ctx, plan_room(p, p->term_count, &p->term_room, sizeof *p->terms, &p->terms));
        p->terms[p->term_count++] = s->terms[k];
    }
    SPRY_GO(ctx, emit(l, &o));
done:
    return status;
}

/* An operation that makes a vector of its own from whole operands: `made` says whether e is one. */
static spry_status lower_whole(lowering *l, int e, const vref *target, bool *made)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *at(l, e);
    plan_op o = new_op(OP_APPLY, source.place);
    spry_status status = SPRY_OK;
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
    } else {
        *made = false;
        return SPRY_OK;
    }
    o.out = *target;
    /* A product cannot write what it reads. */
    const bool clash = o.kind == OP_APPLY && o.in[0].var == target->var;
    if (clash)
        SPRY_GO(ctx, new_vector(l, &o.out));
    SPRY_GO(ctx, emit(l, &o));
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
    return SPRY_FAIL(l->p->ctx, SPRY_BAD_INPUT, "%s:%d:%d: %s", l->program->source, line, column,
                     text);
}

static spry_status add_term(const lowering *l, sum *s, const term *t, int place)
{
    if (s->count == MOST_TERMS)
        return fail_at(l, place, "a sum of more than 64 vectors: use several statements");
    s->terms[s->count++] = *t;
    return SPRY_OK;
}

/* Multiplies a factor (NONE: 1) by an expression, or divides it. */
static spry_status scale_factor(lowering *l, int factor, program_word word, int by, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_OK;
    int scalar, place = at(l, by)->place;
    SPRY_GO(ctx, lower_scalar(l, by, &scalar));
    if (factor == NONE && word == WORD_MULTIPLY) {
        *out = scalar;
        return SPRY_OK;
    }
    if (factor == NONE) {
        SPRY_GO(ctx, add_expr(l, EXPR_NUMBER, WORD_COUNT, NONE, NONE, place, &factor));
        l->program->exprs[factor].value = 1;
    }
    SPRY_GO(ctx, add_expr(l, EXPR_CALL, word, factor, scalar, place, out));
done:
    return status;
}

/* Adds sign * factor * e to a sum. */
static spry_status add_terms(lowering *l, sum *s, int e, double sign, int factor)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *at(l, e);
    spry_status status = SPRY_OK;
    term t = {.sign = sign, .factor = factor, .numbers = NONE};
    if (source.kind == EXPR_NUMBER) /* the zero vector */
        return SPRY_OK;
    if (source.kind == EXPR_COMBINE) {
        SPRY_GO(ctx, make_ref(l, source.arg[0], &t.v));
        SPRY_GO(ctx, substitute(l, source.arg[1], &t.numbers));
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

/* target = e */
static spry_status lower_into(lowering *l, int e, const vref *target)
{
    const expr source = *at(l, e);
    bool made;
    sum s = {.count = 0};
    if (source.kind == EXPR_APPLY && use_nothing(l, source.op))
        return lower_into(l, source.arg[0], target);
    spry_status status = lower_whole(l, e, target, &made);
    if (status != SPRY_OK || made)
        return status;
    status = add_terms(l, &s, e, 1, NONE);
    return status == SPRY_OK ? emit_sum(l, &s, target, source.place) : status;
}

/* Emits target = (u, v) for an inner product or the square of a norm. */
static spry_status emit_dot(lowering *l, int e, int target)
{
    spry_context *ctx = l->p->ctx;
    const expr source = *at(l, e);
    plan_op o = new_op(OP_DOT, source.place);
    spry_status status = SPRY_OK;
    o.target = target;
    o.conjugate = source.kind == EXPR_NORM || source.conjugate;
    SPRY_GO(ctx, operand(l, source.arg[0], &o.in[0]));
    if (source.kind == EXPR_NORM)
        o.in[1] = o.in[0];
    else
        SPRY_GO(ctx, operand(l, source.arg[1], &o.in[1]));
    SPRY_GO(ctx, emit(l, &o));
done:
    return status;
}

static bool has_vectors(const program *p, int e)
{
    if (e == NONE)
        return false;
    const expr *source = &p->exprs[e];
    return source->shape == SHAPE_VECTOR || source->shape == SHAPE_VECTORS ||
           has_vectors(p, source->arg[0]) || has_vectors(p, source->arg[1]) ||
           has_vectors(p, source->arg[2]);
}

/* A scalar expression with inner products and norms taken out into numbers of their own. */
static spry_status lower_scalar(lowering *l, int e, int *out)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_OK;
    if (!has_vectors(l->program, e))
        return substitute(l, e, out);
    expr copy = *at(l, e);
    if (copy.kind == EXPR_DOT || copy.kind == EXPR_NORM) {
        int number;
        SPRY_GO(ctx, plan_new_scalar(l->p, "s", &number));
        SPRY_GO(ctx, emit_dot(l, e, number));
        if (copy.kind == EXPR_NORM) {
            SPRY_GO(ctx, add_expr(l, EXPR_CALL, WORD_REAL, number, NONE, copy.place, &number));
            SPRY_GO(ctx, add_expr(l, EXPR_CALL, WORD_SQRT, number, NONE, copy.place, &number));
        }
        *out = number;
        return SPRY_OK;
    }
    for (int k = 0; k < 3; k++)
        if (copy.arg[k] != NONE)
            SPRY_GO(ctx, lower_scalar(l, copy.arg[k], &copy.arg[k]));
    SPRY_GO(ctx, program_add_expr(l->program, &copy, out));
done:
    return status;
}

static spry_status lower_set(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    const expr target = *at(l, s->target);
    const expr value = *at(l, s->value);
    spry_status status = SPRY_OK;
    if (target.shape == SHAPE_VECTOR) {
        vref v;
        SPRY_GO(ctx, make_ref(l, s->target, &v));
        return lower_into(l, s->value, &v);
    }
    int to;
    SPRY_GO(ctx, substitute(l, s->target, &to));
    if (value.kind == EXPR_DOT)
        return emit_dot(l, s->value, to);
    plan_op o = new_op(OP_SCALAR, s->place);
    o.target = to;
    SPRY_GO(ctx, lower_scalar(l, s->value, &o.expr));
    SPRY_GO(ctx, emit(l, &o));
done:
    return status;
}

static spry_status lower_exit(lowering *l, int index, op_kind kind)
{
    const stmt s = l->program->stmts[index];
    plan_op o = new_op(kind, s.place);
    o.stmt = index;
    spry_status status = lower_scalar(l, s.value, &o.expr);
    return status == SPRY_OK ? emit(l, &o) : status;
}

/* Operations a statement may become, roughly; loops with unknown ends count as many. */
static int64_t weigh(const lowering *l, int first)
{
    int64_t weight = 0;
    for (int i = first; i != NONE && weight <= UNROLL; i = l->program->stmts[i].next) {
        const stmt *s = &l->program->stmts[i];
        weight += 1;
        if (s->kind == STMT_IF)
            weight += weigh(l, s->body) + weigh(l, s->other);
        if (s->kind == STMT_FOR) {
            int64_t from, to, trips = 8;
            if (plan_fixed(l->p, s->from, &from) && plan_fixed(l->p, s->to, &to))
                trips = s->down ? from - to + 1 : to - from + 1;
            trips = trips > UNROLL ? UNROLL : trips;
            if (trips > 0)
                weight += trips * weigh(l, s->body);
        }
    }
    return weight;
}

static bool scalars_only(const program *p, int first)
{
    for (int i = first; i != NONE; i = p->stmts[i].next) {
        const stmt *s = &p->stmts[i];
        if (s->kind == STMT_SET ? has_vectors(p, s->target) || has_vectors(p, s->value)
                                : s->kind != STMT_FOR && s->kind != STMT_IF)
            return false;
        if (s->kind == STMT_IF && has_vectors(p, s->value))
            return false;
        if (s->kind != STMT_SET && (!scalars_only(p, s->body) || !scalars_only(p, s->other)))
            return false;
    }
    return true;
}

/* One loop or branch, without what follows it. */
static bool is_scalar(const lowering *l, const stmt *s)
{
    const program *p = l->program;
    return (s->kind == STMT_FOR || !has_vectors(p, s->value)) && scalars_only(p, s->body) &&
           scalars_only(p, s->other);
}

/* Lowers a list of statements into a list of nodes of its own. */
static spry_status lower_list(lowering *l, int first, int *node_index)
{
    const lowering outer = *l;
    l->first = l->last = NONE;
    l->open = false;
    spry_status status = lower_statements(l, first);
    *node_index = l->first;
    l->first = outer.first;
    l->last = outer.last;
    l->open = outer.open;
    return status;
}

/* The body once for each value of the loop's variable, which keeps the last. */
static spry_status unroll(lowering *l, const stmt *s, int64_t from, int64_t to)
{
    spry_context *ctx = l->p->ctx;
    const int64_t step = s->down ? -1 : 1;
    spry_status status = SPRY_OK;
    for (int64_t i = from; s->down ? i >= to : i <= to; i += step) {
        plan_op set = new_op(OP_SCALAR, s->place);
        SPRY_GO(ctx, add_expr(l, EXPR_NAME, WORD_COUNT, NONE, NONE, s->place, &set.target));
        l->program->exprs[set.target].name = s->name;
        SPRY_GO(ctx, add_expr(l, EXPR_NUMBER, WORD_COUNT, NONE, NONE, s->place, &set.expr));
        l->program->exprs[set.expr].value = (double)i;
        SPRY_GO(ctx, emit(l, &set));
        const bool before = l->unrolled[s->name];
        l->unrolled[s->name] = true;
        l->value[s->name] = i;
        l->unrolling++;
        status = lower_statements(l, s->body);
        l->unrolling--;
        l->unrolled[s->name] = before;
        if (status != SPRY_OK)
            break;
    }
done:
    return status;
}

static spry_status lower_for(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_OK;
    int64_t from, to;
    node n = new_node(NODE_FOR);
    n.name = s->name;
    n.down = s->down;
    SPRY_GO(ctx, substitute(l, s->from, &n.from));
    SPRY_GO(ctx, substitute(l, s->to, &n.to));
    if (plan_fixed(l->p, n.from, &from) && plan_fixed(l->p, n.to, &to)) {
        const int64_t trips = s->down ? from - to + 1 : to - from + 1;
        if (trips <= UNROLL && (trips <= 1 || trips * weigh(l, s->body) <= UNROLL))
            return unroll(l, s, from, to);
    }
    SPRY_GO(ctx, lower_list(l, s->body, &n.body));
    SPRY_GO(ctx, append_node(l, &n));
done:
    return status;
}

static spry_status lower_if(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_OK;
    int64_t known;
    node n = new_node(NODE_IF);
    SPRY_GO(ctx, lower_scalar(l, s->value, &n.expr));
    if (plan_fixed(l->p, n.expr, &known))
        return lower_statements(l, known ? s->body : s->other);
    SPRY_GO(ctx, lower_list(l, s->body, &n.body));
    SPRY_GO(ctx, lower_list(l, s->other, &n.other));
    SPRY_GO(ctx, append_node(l, &n));
done:
    return status;
}

static spry_status lower_statement(lowering *l, int index)
{
    static const op_kind exits[] = {[STMT_RESIDUAL] = OP_RESIDUAL,
                                    [STMT_ESTIMATE] = OP_ESTIMATE,
                                    [STMT_GRADIENT] = OP_GRADIENT,
                                    [STMT_BREAKDOWN] = OP_BREAKDOWN,
                                    [STMT_RESTART] = OP_RESTART};
    const stmt s = l->program->stmts[index];
    int64_t known;
    if (s.kind == STMT_SET)
        return lower_set(l, &s);
    if (s.kind != STMT_FOR && s.kind != STMT_IF)
        return lower_exit(l, index, exits[s.kind]);
    const bool decided = s.kind == STMT_IF && plan_fixed(l->p, s.value, &known);
    if (!decided && is_scalar(l, &s)) {
        plan_op o = new_op(OP_SCALARS, s.place);
        o.stmt = index;
        return emit(l, &o);
    }
    return s.kind == STMT_FOR ? lower_for(l, &s) : lower_if(l, &s);
}

static spry_status lower_statements(lowering *l, int first)
{
    for (int i = first; i != NONE; i = l->program->stmts[i].next) {
        const spry_status status = lower_statement(l, i);
        if (status != SPRY_OK)
            return status;
    }
    return SPRY_OK;
}

spry_status plan_lower(plan *p)
{
    spry_context *ctx = p->ctx;
    lowering l = {.p = p, .program = p->program, .first = NONE, .last = NONE};
    spry_status status = SPRY_OK;
    SPRY_GO(ctx, base_calloc(ctx, p->names, sizeof *l.unrolled, &l.unrolled));
    SPRY_GO(ctx, base_calloc(ctx, p->names, sizeof *l.value, &l.value));
    for (int k = 0; k < SECTION_COUNT; k++)
        SPRY_GO(ctx, lower_list(&l, p->program->section[k], &p->section[k]));
done:
    base_free(ctx, l.unrolled);
    base_free(ctx, l.value);
    return status;
}
