/*
 * Statements become blocks of operations, loops and branches. Short loops are unrolled, so that
 * their array elements are known vectors; loops and branches of scalars alone become one operation.
 */
#include "program/lower.h"

#include "host/powers.h"
#include "program/dense.h"

enum {
    UNROLL = 400,      /* operations a loop may become */
    MOST_UNROLL = 2048 /* operations after which no loop is unrolled */
};

static spry_status lower_statements(lowering *l, int first);

/* All of an array with one index. */
static bool is_whole_array(const lowering *l, const expr *slice)
{
    const int64_t *extent = l->p->extent[slice->name];
    int64_t first, last;
    return plan_fixed(l->p, slice->arg[0], &first) && plan_fixed(l->p, slice->arg[1], &last) &&
           first == 0 && last == extent[0] - 1 && extent[1] == 1;
}

/* A run that has a number for each right-hand side: an array of as many, all of it. */
static spry_status check_columns(const lowering *l, int e)
{
    const expr *slice = lower_at(l, e);
    if (is_whole_array(l, slice) && l->p->extent[slice->name][0] == PROGRAM_COLUMNS)
        return SPRY_STATUS_OK;
    return program_fault(l->program, slice->place,
                         "a small matrix is a whole array declared as name[columns]");
}

static int64_t extent_of(const lowering *l, int e, int which)
{
    return l->p->extent[lower_at(l, e)->name][which];
}

/* Functions of larger matrices: sizes that fit each other, and are not beyond reason. */
static spry_status check_sizes(const lowering *l, const expr *f, int target)
{
    const int64_t rows = extent_of(l, f->arg[0], 0), cols = extent_of(l, f->arg[0], 1);
    const int64_t each = l->program->block ? PROGRAM_COLUMNS : 1;
    if (f->small == SMALL_EIG)
        return rows == cols && rows <= DENSE_MOST_EIG && extent_of(l, target, 0) == rows &&
                       extent_of(l, target, 1) <= rows
                   ? SPRY_STATUS_OK
                   : program_fault(l->program, f->place,
                                   "eig takes a square matrix of at most %d rows, and gives one of "
                                   "as many rows, with no more columns",
                                   DENSE_MOST_EIG);
    if (f->small == SMALL_NEWTON || f->small == SMALL_CHEBYSHEV)
        return extent_of(l, f->arg[1], 0) <= PROGRAM_STEPS && extent_of(l, f->arg[1], 1) == 3 &&
                       extent_of(l, target, 0) == extent_of(l, f->arg[1], 0) &&
                       extent_of(l, target, 1) == 3
                   ? SPRY_STATUS_OK
                   : program_fault(l->program, f->place,
                                   "the steps of a basis, and of a better one, are an array of at "
                                   "most %d rows, of 3 numbers",
                                   PROGRAM_STEPS);
    const expr *y = lower_at(l, target), *c = lower_at(l, f->arg[1]);
    if (rows % each != 0 || extent_of(l, f->arg[1], 0) % each != 0 ||
        extent_of(l, f->arg[1], 0) > rows || extent_of(l, target, 0) != cols * each + 1 ||
        !is_whole_array(l, y) || !is_whole_array(l, c))
        return program_fault(l->program, f->place,
                             "least takes a matrix H and an array of at most as many numbers as it "
                             "has rows, and gives an array with one more than it has columns%s",
                             each > 1 ? "; rows, and columns of the result, are for all right-hand "
                                        "sides each: so many times columns"
                                      : "");
    return rows <= DENSE_MOST_LEAST / (cols * each)
               ? SPRY_STATUS_OK
               : program_fault(l->program, f->place,
                               "least is asked for a matrix of more than %d numbers",
                               DENSE_MOST_LEAST);
}

static spry_status check_small(const lowering *l, const expr *f, int target)
{
    spry_status status = SPRY_STATUS_OK;
    if (f->small > SMALL_ADJOINT)
        return check_sizes(l, f, target);
    SPRY_GO(l->p->ctx, check_columns(l, target));
    for (int k = 0; k < 3 && f->arg[k] != NONE; k++)
        SPRY_GO(l->p->ctx, check_columns(l, f->arg[k]));
done:
    return status;
}

static spry_status lower_set(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    const expr target = *lower_at(l, s->target);
    const expr value = *lower_at(l, s->value);
    spry_status status = SPRY_STATUS_OK;
    if (target.shape == SHAPE_VECTOR) {
        vref v;
        SPRY_GO(ctx, lower_ref(l, s->target, &v));
        return lower_vector(l, s->value, &v);
    }
    int to;
    SPRY_GO(ctx, lower_substitute(l, s->target, &to));
    if (value.kind == EXPR_DOT && lower_at(l, value.arg[0])->shape != SHAPE_SCALARS)
        return lower_dot(l, s->value, to);
    plan_op o = lower_new_op(value.kind == EXPR_SMALL ? OP_SMALL : OP_SCALAR, s->place);
    o.target = to;
    if (o.kind == OP_SMALL) {
        SPRY_GO(ctx, check_small(l, &value, to));
        o.expr = s->value;
    } else {
        SPRY_GO(ctx, lower_scalar(l, s->value, &o.expr));
    }
    SPRY_GO(ctx, lower_emit(l, &o));
done:
    return status;
}

static spry_status lower_exit(lowering *l, int index, op_kind kind)
{
    const stmt s = l->program->stmts[index];
    plan_op o = lower_new_op(kind, s.place);
    o.stmt = index;
    spry_status status = lower_scalar(l, s.value, &o.expr);
    return status == SPRY_STATUS_OK ? lower_emit(l, &o) : status;
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
    return weight <= UNROLL ? weight : UNROLL + 1; /* no product of such can overflow */
}

static bool scalars_only(const program *p, int first)
{
    for (int i = first; i != NONE; i = p->stmts[i].next) {
        const stmt *s = &p->stmts[i];
        if (s->kind == STMT_SET ? lower_has_vectors(p, s->target) || lower_has_vectors(p, s->value)
                                : s->kind != STMT_FOR && s->kind != STMT_IF)
            return false;
        if (s->kind == STMT_IF && lower_has_vectors(p, s->value))
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
    return (s->kind == STMT_FOR || !lower_has_vectors(p, s->value)) && scalars_only(p, s->body) &&
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
    const int64_t by = s->down ? -1 : 1;
    spry_status status = SPRY_STATUS_OK;
    for (int64_t i = from; s->down ? i >= to : i <= to; i += by) {
        plan_op set = lower_new_op(OP_SCALAR, s->place);
        SPRY_GO(ctx, lower_add_expr(l, EXPR_NAME, WORD_COUNT, NONE, NONE, s->place, &set.target));
        l->program->exprs[set.target].name = s->name;
        SPRY_GO(ctx, lower_add_expr(l, EXPR_NUMBER, WORD_COUNT, NONE, NONE, s->place, &set.expr));
        l->program->exprs[set.expr].value = (double)i;
        SPRY_GO(ctx, lower_emit(l, &set));
        const bool before = l->unrolled[s->name];
        l->unrolled[s->name] = true;
        l->value[s->name] = i;
        l->unrolling++;
        status = lower_statements(l, s->body);
        l->unrolling--;
        l->unrolled[s->name] = before;
        if (status != SPRY_STATUS_OK)
            break;
    }
done:
    return status;
}

/* Whether operators that do something are A alone; and the vector it is applied to. */
static bool is_A_alone(const lowering *l, int e, int *vector)
{
    int count = 0;
    for (; lower_at(l, e)->kind == EXPR_APPLY; e = lower_at(l, e)->arg[0]) {
        const expr *x = lower_at(l, e);
        if (l->p->setup.use[x->op] == USE_NOTHING)
            continue;
        if (x->op != OPERATOR_A || ++count > 1)
            return false;
    }
    *vector = e;
    return count == 1;
}

/* V[a..b] = powers(A, B) where A makes several steps together: one operation, in place of the loop.
 */
static spry_status lower_powers(lowering *l, const stmt *s, bool *made)
{
    plan *p = l->p;
    spry_context *ctx = p->ctx;
    const expr source = *lower_at(l, s->value);
    spry_status status = SPRY_STATUS_OK;
    plan_op o = lower_new_op(OP_APPLY, s->place);
    int64_t last;
    int to, from;
    *made = false;
    SPRY_GO(ctx, lower_substitute(l, s->to, &to));
    if (!is_A_alone(l, source.arg[0], &from) || !plan_fixed(p, to, &last) || last < 1 ||
        last >= MOST_POWERS)
        return SPRY_STATUS_OK;
    const int64_t *steps = p->extent[lower_at(l, source.arg[1])->name];
    if (steps[0] < last + (source.arg[2] == NONE) || steps[1] < 3)
        return SPRY_STATUS_OK; /* the loop says where it ends */
    o.op = OPERATOR_A;
    o.steps = source.arg[1];
    o.count = (int)last + 1;
    SPRY_GO(ctx, lower_ref(l, from, &o.in[0]));
    SPRY_GO(ctx, lower_ref(l, s->target, &o.out));
    if (source.arg[2] != NONE)
        SPRY_GO(ctx, lower_ref(l, source.arg[2], &o.also));
    SPRY_GO(ctx, lower_emit(l, &o));
    p->powers = o.count > p->powers ? o.count : p->powers;
    *made = true;
done:
    return status;
}

static spry_status lower_for(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_STATUS_OK;
    int64_t from, to;
    node n = lower_new_node(NODE_FOR);
    bool made = false;
    n.name = s->name;
    n.down = s->down;
    if (s->value != NONE && l->p->setup.powers > 1)
        SPRY_GO(ctx, lower_powers(l, s, &made));
    if (made)
        return SPRY_STATUS_OK;
    SPRY_GO(ctx, lower_substitute(l, s->from, &n.from));
    SPRY_GO(ctx, lower_substitute(l, s->to, &n.to));
    if (plan_fixed(l->p, n.from, &from) && plan_fixed(l->p, n.to, &to)) {
        const int64_t trips = s->down ? from - to + 1 : to - from + 1;
        const bool room = l->p->op_count <= MOST_UNROLL;
        if (trips <= 1 || (room && trips <= UNROLL && trips * weigh(l, s->body) <= UNROLL))
            return unroll(l, s, from, to);
    }
    SPRY_GO(ctx, lower_list(l, s->body, &n.body));
    SPRY_GO(ctx, lower_append_node(l, &n));
done:
    return status;
}

static spry_status lower_if(lowering *l, const stmt *s)
{
    spry_context *ctx = l->p->ctx;
    spry_status status = SPRY_STATUS_OK;
    int64_t known;
    node n = lower_new_node(NODE_IF);
    SPRY_GO(ctx, lower_scalar(l, s->value, &n.expr));
    if (plan_fixed(l->p, n.expr, &known))
        return lower_statements(l, known ? s->body : s->other);
    SPRY_GO(ctx, lower_list(l, s->body, &n.body));
    SPRY_GO(ctx, lower_list(l, s->other, &n.other));
    SPRY_GO(ctx, lower_append_node(l, &n));
done:
    return status;
}

static spry_status lower_statement(lowering *l, int index)
{
    static const op_kind exits[] = {[STMT_RESIDUAL] = OP_RESIDUAL,   [STMT_ESTIMATE] = OP_ESTIMATE,
                                    [STMT_GRADIENT] = OP_GRADIENT,   [STMT_ENERGY] = OP_ENERGY,
                                    [STMT_BREAKDOWN] = OP_BREAKDOWN, [STMT_RESTART] = OP_RESTART};
    const stmt s = l->program->stmts[index];
    int64_t known;
    if (s.kind == STMT_SET)
        return lower_set(l, &s);
    if (s.kind != STMT_FOR && s.kind != STMT_IF)
        return lower_exit(l, index, exits[s.kind]);
    const bool decided = s.kind == STMT_IF && plan_fixed(l->p, s.value, &known);
    if (!decided && is_scalar(l, &s)) {
        plan_op o = lower_new_op(OP_SCALARS, s.place);
        o.stmt = index;
        return lower_emit(l, &o);
    }
    return s.kind == STMT_FOR ? lower_for(l, &s) : lower_if(l, &s);
}

static spry_status lower_statements(lowering *l, int first)
{
    for (int i = first; i != NONE; i = l->program->stmts[i].next) {
        const spry_status status = lower_statement(l, i);
        if (status != SPRY_STATUS_OK)
            return status;
    }
    return SPRY_STATUS_OK;
}

spry_status plan_lower(plan *p)
{
    spry_context *ctx = p->ctx;
    lowering l = {.p = p, .program = p->program, .first = NONE, .last = NONE};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, p->names, sizeof *l.unrolled, &l.unrolled));
    SPRY_GO(ctx, base_calloc(ctx, p->names, sizeof *l.value, &l.value));
    for (int k = 0; k < SECTION_COUNT; k++)
        SPRY_GO(ctx, lower_list(&l, p->program->section[k], &p->section[k]));
done:
    base_free(ctx, l.unrolled);
    base_free(ctx, l.value);
    return status;
}
