/* What operations read and write: the ground of every later pass. */
#include "program/plan.h"

static spry_status add(plan *p, const access *a)
{
    const spry_status status =
        plan_room(p, p->access_count, &p->access_room, sizeof *p->accesses, &p->accesses);
    if (status == SPRY_STATUS_OK)
        p->accesses[p->access_count++] = *a;
    return status;
}

/* The places of a scalar name that an element or slice means; the whole name where unknown. */
static access scalar_places(const plan *p, const expr *e, bool write)
{
    const int64_t rows = p->extent[e->name][0], cols = p->extent[e->name][1];
    access a = {.vector = false, .write = write, .id = e->name, .low = 0, .high = rows * cols - 1};
    a.sure = write && a.low == a.high;
    const bool slice = e->kind == EXPR_SLICE;
    const int column = slice ? e->arg[2] : e->arg[1];
    int64_t i, last, j = 0;
    if (e->arg[0] == NONE || (column != NONE && !plan_fixed(p, column, &j)))
        return a;
    if (cols > 1 && j >= 0 && j < cols && e->shape != SHAPE_MATRIX) { /* of this column alone */
        a.apart = cols;
        a.low = j;
        a.high = (rows - 1) * cols + j;
    }
    if (!plan_fixed(p, e->arg[0], &i))
        return a;
    last = i;
    if (slice && !plan_fixed(p, e->arg[1], &last))
        return a;
    a.low = i * cols + j;
    a.high = e->shape == SHAPE_MATRIX ? rows * cols - 1 : last * cols + j;
    a.sure = write && (cols == 1 || a.low == a.high || e->shape == SHAPE_MATRIX);
    return a;
}

/* Scalars that an expression reads. */
static spry_status read_scalars(plan *p, int index)
{
    if (index == NONE)
        return SPRY_STATUS_OK;
    const expr e = p->program->exprs[index];
    const name_kind kind =
        e.kind == EXPR_NAME || e.kind == EXPR_SLICE ? p->program->names[e.name].kind : NAME_OPTION;
    spry_status status = SPRY_STATUS_OK;
    if (kind == NAME_SCALAR || kind == NAME_SCALARS) {
        const access a = scalar_places(p, &e, false);
        status = add(p, &a);
    }
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = read_scalars(p, e.arg[k]);
    return status;
}

static spry_status write_scalar(plan *p, int target)
{
    const expr e = p->program->exprs[target];
    const access a = scalar_places(p, &e, true);
    spry_status status = add(p, &a);
    for (int k = 0; k < 3 && status == SPRY_STATUS_OK; k++)
        status = read_scalars(p, e.arg[k]);
    return status;
}

static spry_status touch_vector(plan *p, const vref *v, bool write)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    if (v->var == NONE)
        return SPRY_STATUS_OK;
    const access a = {.vector = true,
                      .write = write,
                      .sure = write && v->low == v->high,
                      .all = v->all,
                      .id = v->var,
                      .low = v->low,
                      .high = v->high};
    SPRY_GO(ctx, add(p, &a));
    SPRY_GO(ctx, read_scalars(p, v->first));
    if (v->last != v->first)
        SPRY_GO(ctx, read_scalars(p, v->last));
done:
    return status;
}

static spry_status touch_name(plan *p, int name, bool write)
{
    const access a = {.vector = false,
                      .write = write,
                      .id = name,
                      .low = 0,
                      .high = p->extent[name][0] * p->extent[name][1] - 1};
    return add(p, &a);
}

/* A statement of scalars alone; `single`: without those that follow it. */
static spry_status touch_statements(plan *p, int first, bool single)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int i = first; i != NONE; i = single ? NONE : p->program->stmts[i].next) {
        const stmt s = p->program->stmts[i];
        if (s.kind == STMT_SET)
            SPRY_GO(ctx, touch_name(p, p->program->exprs[s.target].name, true));
        if (s.kind == STMT_SET) /* the indices of its target */
            for (int k = 0; k < 3; k++)
                SPRY_GO(ctx, read_scalars(p, p->program->exprs[s.target].arg[k]));
        if (s.kind == STMT_FOR) {
            SPRY_GO(ctx, touch_name(p, s.name, true));
            SPRY_GO(ctx, touch_name(p, s.name, false));
            SPRY_GO(ctx, read_scalars(p, s.from));
            SPRY_GO(ctx, read_scalars(p, s.to));
        } else {
            SPRY_GO(ctx, read_scalars(p, s.value));
        }
        SPRY_GO(ctx, touch_statements(p, s.body, false));
        SPRY_GO(ctx, touch_statements(p, s.other, false));
    }
done:
    return status;
}

/* The {names} in a message. */
static spry_status read_message(plan *p, const stmt *s)
{
    const char *text = p->program->text + s->message;
    for (int i = 0; i < s->message_size; i++) {
        char name[32];
        int length = 0;
        if (text[i] != '{')
            continue;
        while (i + 1 + length < s->message_size && text[i + 1 + length] != '}' && length < 31) {
            name[length] = text[i + 1 + length];
            length++;
        }
        name[length] = '\0';
        const int index = program_find_name(p->program, name);
        if (index != NONE && p->program->names[index].kind == NAME_SCALAR) {
            const spry_status status = touch_name(p, index, false);
            if (status != SPRY_STATUS_OK)
                return status;
        }
    }
    return SPRY_STATUS_OK;
}

static spry_status collect_op(plan *p, int index)
{
    spry_context *ctx = p->ctx;
    const plan_op o = p->ops[index];
    spry_status status = SPRY_STATUS_OK;
    p->ops[index].access = p->access_count;
    for (int k = 0; k < 2; k++)
        SPRY_GO(ctx, touch_vector(p, &o.in[k], false));
    for (int k = 0; k < o.terms && o.kind == OP_COMBINE; k++) {
        const term t = p->terms[o.term + k];
        SPRY_GO(ctx, touch_vector(p, &t.v, false));
        SPRY_GO(ctx, read_scalars(p, t.factor));
        SPRY_GO(ctx, read_scalars(p, t.numbers));
    }
    SPRY_GO(ctx, read_scalars(p, o.expr));
    SPRY_GO(ctx, read_scalars(p, o.parts));
    if (plan_makes_powers(&o)) {
        SPRY_GO(ctx, read_scalars(p, o.steps));
        SPRY_GO(ctx, touch_vector(p, &o.also, true));
    }
    if (o.kind == OP_SCALARS)
        SPRY_GO(ctx, touch_statements(p, o.stmt, true));
    if (o.kind == OP_BREAKDOWN)
        SPRY_GO(ctx, read_message(p, &p->program->stmts[o.stmt]));
    SPRY_GO(ctx, touch_vector(p, &o.out, true));
    if (o.kind == OP_MOVE) { /* nothing reads what it leaves behind */
        SPRY_GO(ctx, touch_vector(p, &o.in[0], true));
        p->accesses[p->access_count - 1].sure = false;
    }
    if (o.target != NONE)
        SPRY_GO(ctx, write_scalar(p, o.target));
    p->ops[index].accesses = p->access_count - p->ops[index].access;
done:
    return status;
}

/* What is written for sure on the way to a place, and the one before it of the same name. */
typedef struct made {
    access what;
    int before;
} made;

/* What a section sees of the time before it: it reads it and has not written it before. */
typedef struct exposing {
    plan *p;
    made *made;
    int made_count;
    int *last; /* the last made, by variable and then by name */
} exposing;

static int *last_made(const exposing *x, const access *a)
{
    return &x->last[a->vector ? a->id : x->p->var_count + a->id];
}

static bool is_made(const exposing *x, const access *a)
{
    for (int i = *last_made(x, a); i != NONE; i = x->made[i].before)
        if (x->made[i].what.low <= a->low && a->high <= x->made[i].what.high)
            return true;
    return false;
}

/* Joins what two branches make. */
static void note_made(exposing *x, access a)
{
    int *last = last_made(x, &a);
    if (is_made(x, &a))
        return;
    for (int i = *last; i != NONE; i = x->made[i].before) {
        const access *m = &x->made[i].what;
        if (m->low > a.high + 1 || a.low > m->high + 1)
            continue;
        a.low = m->low < a.low ? m->low : a.low;
        a.high = m->high > a.high ? m->high : a.high;
    }
    x->made[x->made_count] = (made){a, *last};
    *last = x->made_count++;
}

/* Forgets what was made after the first `count`. */
static void unmake(exposing *x, int count)
{
    while (x->made_count > count) {
        const made *m = &x->made[--x->made_count];
        *last_made(x, &m->what) = m->before;
    }
}

/* Of the accesses from `first` on only those that see earlier values stay. */
static void keep_exposed(exposing *x, int first)
{
    plan *p = x->p;
    int kept = first;
    for (int i = first; i < p->access_count; i++)
        if (!is_made(x, &p->accesses[i]))
            p->accesses[kept++] = p->accesses[i];
    p->access_count = kept;
}

static spry_status expose_op(exposing *x, const plan_op *o)
{
    plan *p = x->p;
    const int first = p->access_count;
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < o->accesses && status == SPRY_STATUS_OK; k++) {
        const access a = p->accesses[o->access + k];
        if (!a.write)
            status = add(p, &a);
    }
    keep_exposed(x, first);
    for (int k = 0; k < o->accesses; k++)
        if (p->accesses[o->access + k].sure)
            note_made(x, p->accesses[o->access + k]);
    return status;
}

static bool is_variable(const plan *p, int e, int name)
{
    const expr *index = e == NONE ? NULL : &p->program->exprs[e];
    return index && index->kind == EXPR_NAME && index->name == name;
}

/* After a loop that runs for sure: for k = 0 .. m - 1: V[k] = ... has made V[0..m - 1]. */
static void note_loop(exposing *x, const node *loop)
{
    const plan *p = x->p;
    int64_t from, to;
    if (!plan_fixed(p, loop->from, &from) || !plan_fixed(p, loop->to, &to) ||
        (loop->down ? from < to : from > to))
        return;
    access a = {.low = from < to ? from : to, .high = from < to ? to : from};
    for (int b = loop->body; b != NONE; b = p->nodes[b].next)
        for (int i = 0; p->nodes[b].kind == NODE_BLOCK && i < p->nodes[b].count; i++) {
            const plan_op *o = &p->ops[p->nodes[b].first + i];
            const expr *target =
                o->kind == OP_NONE || o->target == NONE ? NULL : &p->program->exprs[o->target];
            a.vector = o->kind != OP_NONE && is_variable(p, o->out.first, loop->name);
            a.id = a.vector ? o->out.var : target ? target->name : NONE;
            if (a.vector || (target && target->kind == EXPR_NAME && target->arg[1] == NONE &&
                             is_variable(p, target->arg[0], loop->name)))
                note_made(x, a);
        }
}

static spry_status expose_nodes(exposing *x, int section)
{
    plan *p = x->p;
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int i = section; i != NONE; i = p->nodes[i].next) {
        const node n = p->nodes[i];
        const int first = p->access_count;
        for (int k = n.first; n.kind == NODE_BLOCK && k < n.first + n.count; k++)
            if (p->ops[k].kind != OP_NONE)
                SPRY_GO(ctx, expose_op(x, &p->ops[k]));
        if (n.kind == NODE_BLOCK)
            continue;
        SPRY_GO(ctx, read_scalars(p, n.from));
        SPRY_GO(ctx, read_scalars(p, n.to));
        SPRY_GO(ctx, read_scalars(p, n.expr));
        keep_exposed(x, first);
        const int before = x->made_count; /* what is made inside may not be made at all */
        if (n.kind == NODE_FOR)
            note_made(x, (access){.id = n.name});
        SPRY_GO(ctx, expose_nodes(x, n.body));
        unmake(x, before);
        SPRY_GO(ctx, expose_nodes(x, n.other));
        unmake(x, before);
        if (n.kind == NODE_FOR)
            note_loop(x, &n);
    }
done:
    return status;
}

static spry_status open_exposing(exposing *x, plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    const int names = p->var_count + p->program->name_count;
    *x = (exposing){.p = p};
    SPRY_GO(ctx, base_alloc(ctx, 2 * (int64_t)p->access_count + p->node_count, sizeof *x->made,
                            &x->made));
    SPRY_GO(ctx, base_alloc(ctx, names, sizeof *x->last, &x->last));
    for (int k = 0; k < names; k++)
        x->last[k] = NONE;
done:
    return status;
}

static void close_exposing(const exposing *x)
{
    base_free(x->p->ctx, x->made);
    base_free(x->p->ctx, x->last);
}

/* Notes what start, with the loop that follows it, and finish see of the time before them. */
static spry_status find_left(plan *p)
{
    spry_context *ctx = p->ctx;
    exposing x;
    spry_status status = SPRY_STATUS_OK;
    p->restarts = false;
    for (int i = 0; i < p->op_count; i++)
        p->restarts = p->restarts || p->ops[i].kind == OP_RESTART;
    p->left = p->access_count;
    SPRY_GO(ctx, open_exposing(&x, p));
    if (p->restarts) {
        SPRY_GO(ctx, expose_nodes(&x, p->section[SECTION_START]));
        SPRY_GO(ctx, expose_nodes(&x, p->section[SECTION_LOOP]));
    }
    p->left_by_start = p->access_count - p->left;
    unmake(&x, 0);
    SPRY_GO(ctx, expose_nodes(&x, p->section[SECTION_FINISH]));
    p->left_count = p->access_count - p->left;
done:
    close_exposing(&x);
    return status;
}

/* Exits read what finish sees: a run sees no more than start and loop do. */
spry_status plan_find_seen(plan *p)
{
    spry_context *ctx = p->ctx;
    exposing x;
    const int first = p->access_count;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, open_exposing(&x, p));
    SPRY_GO(ctx, expose_nodes(&x, p->section[SECTION_START]));
    SPRY_GO(ctx, expose_nodes(&x, p->section[SECTION_LOOP]));
    for (int v = 0; v < p->var_count; v++)
        p->vars[v].seen_before = false;
    for (int k = first; k < p->access_count; k++)
        if (p->accesses[k].vector)
            p->vars[p->accesses[k].id].seen_before = true;
    p->access_count = first;
done:
    close_exposing(&x);
    return status;
}

/* Exits read x and what finish works with; a restart also what the method sees when it starts
 * again. */
static spry_status collect_exit(plan *p, plan_op *o)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    const int before = p->access_count;
    const vref x = {p->var_of_name[NAME_X], NONE, NONE, 0, 0, false};
    /* The operation's own accesses must be next to each other: copy them. */
    const int own = o->access, count = o->accesses;
    for (int k = 0; k < count; k++) {
        const access a = p->accesses[own + k];
        SPRY_GO(ctx, add(p, &a));
    }
    SPRY_GO(ctx, touch_vector(p, &x, false));
    for (int k = o->kind == OP_RESTART ? 0 : p->left_by_start; k < p->left_count; k++) {
        const access a = p->accesses[p->left + k];
        SPRY_GO(ctx, add(p, &a));
    }
    o->access = before;
    o->accesses = p->access_count - before;
done:
    return status;
}

spry_status plan_collect(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    p->access_count = 0;
    for (int i = 0; i < p->op_count; i++)
        if (p->ops[i].kind != OP_NONE)
            SPRY_GO(ctx, collect_op(p, i));
    SPRY_GO(ctx, find_left(p));
    for (int i = 0; i < p->op_count; i++)
        if (op_exits(&p->ops[i]))
            SPRY_GO(ctx, collect_exit(p, &p->ops[i]));
done:
    return status;
}
