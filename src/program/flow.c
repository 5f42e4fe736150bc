/*
 * Lives of vectors, and what follows from them: copies are read through, work whose result nobody
 * needs is dropped, and a copy of a vector that nobody needs afterwards becomes an exchange of
 * places.
 */
#include "program/plan.h"

/* Sets of variables: a byte each. */
static bool join(unsigned char *set, const unsigned char *more, int count)
{
    bool grew = false;
    for (int v = 0; v < count; v++) {
        grew = grew || (more[v] && !set[v]);
        set[v] = set[v] || more[v];
    }
    return grew;
}

static void live_block(plan *p, const node *n, unsigned char *set)
{
    const size_t vars = (size_t)p->var_count;
    for (int i = n->first + n->count - 1; i >= n->first; i--) {
        const plan_op *o = &p->ops[i];
        memcpy(p->live + (size_t)i * vars, set, vars);
        if (o->kind == OP_NONE)
            continue;
        if (o->out.var != NONE && !p->vars[o->out.var].array) {
            /* What nobody needs needs nothing; x may still be asked for by an exit before. */
            if (op_sweeps(o) && !set[o->out.var] && o->out.var != p->var_of_name[NAME_X])
                continue;
            set[o->out.var] = 0;
        }
        for (int k = 0; k < o->accesses; k++) { /* of exits: what is needed after them */
            const access *a = &p->accesses[o->access + k];
            if (a->vector && !a->write)
                set[a->id] = 1;
        }
    }
}

/* The last node of a list, with the way back noted in `prev`. */
static int last_node(plan *p, int first)
{
    int last = NONE;
    for (int i = first; i != NONE; i = p->nodes[i].next) {
        p->nodes[i].prev = last;
        last = i;
    }
    return last;
}

/* Turns the set needed after a list of nodes into the one needed before it. */
static spry_status live_list(plan *p, int first, unsigned char *set)
{
    spry_context *ctx = p->ctx;
    const size_t vars = (size_t)p->var_count;
    unsigned char *other = NULL;
    spry_status status = SPRY_STATUS_OK;
    for (int i = last_node(p, first); i != NONE; i = p->nodes[i].prev) {
        const node n = p->nodes[i];
        if (n.kind == NODE_BLOCK) {
            live_block(p, &n, set);
            continue;
        }
        if (!other)
            SPRY_GO(ctx, base_alloc(ctx, p->var_count, 1, &other));
        memcpy(other, set, vars);
        if (n.kind == NODE_IF) {
            SPRY_GO(ctx, live_list(p, n.body, set));
            SPRY_GO(ctx, live_list(p, n.other, other));
            join(set, other, p->var_count);
        } else {
            do { /* another turn may follow, or none at all */
                memcpy(other, set, vars);
                SPRY_GO(ctx, live_list(p, n.body, other));
            } while (join(set, other, p->var_count));
        }
    }
done:
    base_free(ctx, other);
    return status;
}

spry_status plan_live(plan *p)
{
    spry_context *ctx = p->ctx;
    const size_t vars = (size_t)p->var_count;
    unsigned char *set = NULL, *turn = NULL;
    spry_status status = SPRY_STATUS_OK;
    base_free(ctx, p->live);
    base_free(ctx, p->exit_live);
    p->live = p->exit_live = NULL;
    SPRY_GO(ctx, base_calloc(ctx, (int64_t)p->op_count + 1, vars, &p->live));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &p->exit_live));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &set));
    SPRY_GO(ctx, base_calloc(ctx, p->var_count, 1, &turn));
    p->exit_live[p->var_of_name[NAME_X]] = 1;
    for (int k = 0; k < p->left_count; k++) {
        const access *a = &p->accesses[p->left + k];
        if (a->vector)
            p->exit_live[a->id] = 1;
    }
    /* After finish the method may start again, and finish again. */
    if (p->restarts)
        memcpy(set, p->exit_live, vars);
    set[p->var_of_name[NAME_X]] = 1;
    SPRY_GO(ctx, live_list(p, p->section[SECTION_FINISH], set));
    memcpy(set, p->exit_live, vars);
    do {
        memcpy(turn, set, vars);
        SPRY_GO(ctx, live_list(p, p->section[SECTION_LOOP], turn));
    } while (join(set, turn, p->var_count));
    SPRY_GO(ctx, live_list(p, p->section[SECTION_START], set));
done:
    base_free(ctx, set);
    base_free(ctx, turn);
    return status;
}

static bool writes_var(const plan_op *o, int var)
{
    return o->kind != OP_NONE && (o->out.var == var || (o->kind == OP_MOVE && o->in[0].var == var));
}

/* Whether an operation is u = v for plain vectors. */
bool plan_is_copy(const plan *p, const plan_op *o)
{
    if (o->kind != OP_COMBINE || o->terms != 1)
        return false;
    const term *t = &p->terms[o->term];
    return t->sign == 1 && t->factor == NONE && t->numbers == NONE && t->v.first == NONE &&
           o->out.first == NONE;
}

static bool reads_var(const plan *p, const plan_op *o, int var)
{
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
        if (p->terms[o->term + k].v.var == var)
            return true;
    return o->kind != OP_NONE && (o->in[0].var == var || o->in[1].var == var);
}

/* Whether an operation reads a vector of all tracks. */
static bool reads_all(const plan *p, const plan_op *o, int var)
{
    const int count = plan_ref_count(p, o);
    for (int k = 0; o->kind != OP_NONE && k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == var && v->all)
            return true;
    }
    return false;
}

static void replace_reads(plan *p, plan_op *o, int from, int to)
{
    for (int k = 0; k < 2; k++)
        if (o->in[k].var == from)
            o->in[k].var = to;
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
        if (p->terms[o->term + k].v.var == from)
            p->terms[o->term + k].v.var = to;
}

/* Whether a vector is needed after operation j. Within the block the list may have changed since
 * lives were found. */
static bool needed_after(const plan *p, const node *n, int j, int var)
{
    const int last = n->first + n->count - 1;
    for (int k = j + 1; k <= last; k++) {
        const plan_op *o = &p->ops[k];
        if (reads_var(p, o, var) || (op_exits(o) && p->exit_live[var]))
            return true;
        if (writes_var(o, var))
            return false;
    }
    return p->live[(size_t)last * (size_t)p->var_count + (size_t)var];
}

/*
 * After u = v reads of u become reads of v while both stay as they are, and the copy stands where
 * that ends, unless the solve can end before. A statement that changes v goes on reading u if u is
 * needed afterwards: then v is not, and the copy will be an exchange.
 */
void plan_read_through(plan *p, const node *n, int i)
{
    plan_op copy = p->ops[i];
    const int u = copy.out.var, v = p->terms[copy.term].v.var;
    const bool callers = v == p->var_of_name[NAME_X] || v == p->var_of_name[NAME_B];
    int to = i;
    bool fixed = false;
    for (int j = i + 1; j < n->first + n->count; j++) {
        plan_op *o = &p->ops[j];
        if (callers && reads_all(p, o, u)) /* which have to be the runner's own */
            break;
        const bool ends = writes_var(o, u) || writes_var(o, v);
        const bool clash = o->kind == OP_APPLY && o->out.var == v; /* cannot read what it writes */
        if (!clash && !(writes_var(o, v) && needed_after(p, n, j, u)))
            replace_reads(p, o, u, v);
        if (ends)
            break;
        fixed = fixed || (op_exits(o) && p->exit_live[u]);
        if (!fixed)
            to = j;
    }
    memmove(&p->ops[i], &p->ops[i + 1], (size_t)(to - i) * sizeof *p->ops);
    copy.seen = true;
    p->ops[to] = copy;
}

/* Names of scalars that something reads. */
static void mark_expr(const plan *p, int e, bool *read)
{
    if (e == NONE)
        return;
    const expr *source = &p->program->exprs[e];
    if (source->kind == EXPR_NAME || source->kind == EXPR_SLICE)
        read[source->name] = true;
    for (int k = 0; k < 3; k++)
        mark_expr(p, source->arg[k], read);
}

static void mark_nodes(const plan *p, bool *read)
{
    for (int i = 0; i < p->node_count; i++) {
        mark_expr(p, p->nodes[i].from, read);
        mark_expr(p, p->nodes[i].to, read);
        mark_expr(p, p->nodes[i].expr, read);
    }
    for (int i = 0; i < p->op_count; i++)
        for (int k = 0; p->ops[i].kind != OP_NONE && k < p->ops[i].accesses; k++) {
            const access *a = &p->accesses[p->ops[i].access + k];
            if (!a->vector && !a->write)
                read[a->id] = true;
        }
}

static bool is_needed(const plan *p, int i, const bool *read)
{
    const plan_op *o = &p->ops[i];
    if (o->kind == OP_DOT || o->kind == OP_SCALAR || o->kind == OP_SMALL)
        return read[p->program->exprs[o->target].name];
    if (!op_sweeps(o) || p->vars[o->out.var].array)
        return true;
    return p->live[(size_t)i * (size_t)p->var_count + (size_t)o->out.var];
}

/* Removes what nobody needs, until nothing more is found. */
static spry_status drop_dead(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    bool *read = NULL, changed = true;
    SPRY_GO(ctx, base_alloc(ctx, p->program->name_count, sizeof *read, &read));
    while (changed) {
        changed = false;
        SPRY_GO(ctx, plan_collect(p));
        SPRY_GO(ctx, plan_live(p));
        memset(read, 0, (size_t)p->program->name_count * sizeof *read);
        mark_nodes(p, read);
        for (int i = 0; i < p->op_count; i++)
            if (p->ops[i].kind != OP_NONE && !is_needed(p, i, read)) {
                p->ops[i].kind = OP_NONE;
                changed = true;
            }
    }
done:
    base_free(ctx, read);
    return status;
}

/* Copies of vectors that end there; x and b belong to the caller and stay in place. */
static void find_moves(plan *p)
{
    const int x = p->var_of_name[NAME_X], b = p->var_of_name[NAME_B];
    for (int i = 0; i < p->op_count; i++) {
        plan_op *o = &p->ops[i];
        if (!plan_is_copy(p, o))
            continue;
        const int u = o->out.var, v = p->terms[o->term].v.var;
        if (u == v) {
            o->kind = OP_NONE;
        } else if (u != x && v != x && v != b && u != b &&
                   !p->live[(size_t)i * (size_t)p->var_count + (size_t)v]) {
            o->kind = OP_MOVE;
            o->in[0] = p->terms[o->term].v;
            o->terms = 0;
        }
    }
}

/* Puts an operation before another of the same block. */
spry_status plan_insert(plan *p, int block, int at, const plan_op *o)
{
    const spry_status status = plan_room(p, p->op_count, &p->op_room, sizeof *p->ops, &p->ops);
    if (status != SPRY_STATUS_OK)
        return status;
    memmove(&p->ops[at + 1], &p->ops[at], (size_t)(p->op_count - at) * sizeof *p->ops);
    p->ops[at] = *o;
    p->op_count++;
    p->nodes[block].count++;
    for (int b = 0; b < p->node_count; b++)
        if (p->nodes[b].kind == NODE_BLOCK && b != block && p->nodes[b].first >= at)
            p->nodes[b].first++;
    return SPRY_STATUS_OK;
}

/* Whether an expression reads a scalar that a later operation of the block changes. */
static bool changes_later(const plan *p, const node *n, int i, int e)
{
    for (int j = i + 1; j < n->first + n->count; j++)
        if (plan_changes(p, &p->ops[j], e))
            return true;
    return false;
}

/*
 * A factor that is made of scalars which change later gets a name of its own, so that its vectors
 * need not be finished before the scalars change: eta in x = x + c eta w; eta = -s eta.
 */
static spry_status free_factors(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    for (int b = 0; b < p->node_count; b++) {
        for (int i = p->nodes[b].first;
             p->nodes[b].kind == NODE_BLOCK && i < p->nodes[b].first + p->nodes[b].count; i++) {
            for (int k = 0; p->ops[i].kind == OP_COMBINE && k < p->ops[i].terms; k++) {
                const int t = p->ops[i].term + k;
                if (!changes_later(p, &p->nodes[b], i, p->terms[t].factor))
                    continue;
                plan_op o = {.kind = OP_SCALAR,
                             .place = p->ops[i].place,
                             .out = {.var = NONE},
                             .in = {{.var = NONE}, {.var = NONE}},
                             .expr = p->terms[t].factor,
                             .parts = NONE,
                             .stmt = NONE};
                SPRY_GO(ctx, plan_new_scalar(p, "s", &o.target));
                SPRY_GO(ctx, plan_insert(p, b, i, &o));
                p->terms[t].factor = o.target;
                i++;
            }
        }
    }
done:
    return status;
}

/* Whether a function takes the array for the hermitian matrix that it is then. */
static bool is_hermitian(const plan *p, int name)
{
    for (int i = 0; i < p->op_count; i++) {
        const expr *e = p->ops[i].kind == OP_SMALL ? &p->program->exprs[p->ops[i].expr] : NULL;
        if (e && e->kind == EXPR_SMALL && e->small <= SMALL_ORTH &&
            p->program->exprs[e->arg[0]].name == name)
            return true;
    }
    return false;
}

/* Half of such inner products says all: those of a block with itself, and those for solve and its
 * like. */
static void find_hermitian(plan *p)
{
    for (int i = 0; i < p->op_count; i++) {
        plan_op *o = &p->ops[i];
        o->hermitian = plan_is_gram(o) && o->conjugate &&
                       (plan_same_ref(p, &o->in[0], &o->in[1]) ||
                        is_hermitian(p, p->program->exprs[o->target].name));
    }
}

static void renumber(plan *p)
{
    for (int i = 0; i < p->op_count; i++)
        p->ops[i].order = i;
}

spry_status plan_simplify(plan *p)
{
    spry_context *ctx = p->ctx;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, drop_dead(p));
    for (int b = 0; b < p->node_count; b++) {
        const node n = p->nodes[b];
        for (int i = n.first; n.kind == NODE_BLOCK && i < n.first + n.count;) {
            if (plan_is_copy(p, &p->ops[i]) && !p->ops[i].seen)
                plan_read_through(p, &n, i);
            else
                i++;
        }
    }
    SPRY_GO(ctx, drop_dead(p));
    SPRY_GO(ctx, plan_share_products(p));
    SPRY_GO(ctx, drop_dead(p));
    plan_share_dots(p);
    SPRY_GO(ctx, drop_dead(p));
    find_moves(p);
    SPRY_GO(ctx, plan_collect(p));
    SPRY_GO(ctx, free_factors(p));
    renumber(p);
    SPRY_GO(ctx, plan_collect(p));
    find_hermitian(p);
    SPRY_GO(ctx, plan_live(p));
done:
    return status;
}
