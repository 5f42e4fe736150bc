/* A plan in words: what runs together, what it moves, what an iteration costs. */
#include "program/explain.h"

#include <limits.h>
#include <stdarg.h>

/* A text being written. */
typedef struct explanation {
    const plan *p;
    base_text *text;
    int depth, sweep;
} explanation;

#define put(e, ...) base_text_put((e)->text, __VA_ARGS__)

static void print_var(const plan *p, int var, char *text, size_t size)
{
    int made = 0;
    if (p->vars[var].name != NONE) {
        snprintf(text, size, "%s", p->program->names[p->vars[var].name].text);
        return;
    }
    for (int v = 0; v <= var; v++)
        made += p->vars[v].name == NONE;
    snprintf(text, size, "t%d", made);
}

static void print_ref(const plan *p, const vref *v, char *text, size_t size)
{
    char first[64], last[64];
    print_var(p, v->var, text, size);
    if (v->all) {
        vref one = *v;
        char name[160];
        one.all = false;
        print_ref(p, &one, name, sizeof name);
        snprintf(text, size, "[%s]", name);
        return;
    }
    if (v->first == NONE)
        return;
    const size_t used = strlen(text);
    program_print_expr(p->program, v->first, first, sizeof first);
    program_print_expr(p->program, v->last, last, sizeof last);
    if (v->first == v->last)
        snprintf(text + used, size - used, "[%s]", first);
    else
        snprintf(text + used, size - used, "[%s..%s]", first, last);
}

static void add_text(char *text, size_t size, const char *format, ...) SPRY_PRINTF(3, 4);

static void add_text(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    const size_t used = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

static void print_terms(const plan *p, const plan_op *o, char *text, size_t size)
{
    char v[96], factor[256];
    if (o->terms == 0)
        add_text(text, size, "0");
    for (int k = 0; k < o->terms; k++) {
        const term *t = &p->terms[o->term + k];
        add_text(text, size, "%s", t->sign < 0 ? (k ? " - " : "-") : k ? " + " : "");
        if (t->factor != NONE) {
            const expr *f = &p->program->exprs[t->factor];
            const bool sum =
                f->kind == EXPR_CALL && (f->word == WORD_ADD || f->word == WORD_SUBTRACT);
            program_print_expr(p->program, t->factor, factor, sizeof factor);
            add_text(text, size, sum ? "(%s) " : "%s ", factor);
        }
        print_ref(p, &t->v, v, sizeof v);
        add_text(text, size, "%s", v);
        if (t->numbers != NONE) {
            program_print_expr(p->program, t->numbers, factor, sizeof factor);
            add_text(text, size, " %s", factor);
        }
    }
}

static void print_operator(const plan_op *o, char *text, size_t size)
{
    static const char *const marks[] = {"", "^T", "^H"};
    add_text(text, size, "%c%s", "AMLR"[o->op], marks[o->transpose]);
}

/* The operations of a sweep. */
static void print_sweep_op(const plan *p, const plan_op *o, char *text, size_t size)
{
    char a[96] = "", b[96] = "", target[128];
    if (o->in[0].var != NONE)
        print_ref(p, &o->in[0], a, sizeof a);
    if (o->in[1].var != NONE)
        print_ref(p, &o->in[1], b, sizeof b);
    if (o->kind == OP_DOT) {
        program_print_expr(p->program, o->target, target, sizeof target);
        snprintf(text, size, o->conjugate ? "%s = (%s, %s)" : "%s = %s^T %s", target, a, b);
        return;
    }
    print_ref(p, &o->out, text, size);
    add_text(text, size, " = ");
    if (o->kind == OP_COMBINE)
        print_terms(p, o, text, size);
    else if (o->kind == OP_RANDOM)
        add_text(text, size, "random");
    else if (o->kind == OP_SHARE)
        add_text(text, size, "share");
    else if (o->kind == OP_TIMES || o->kind == OP_OVER)
        add_text(text, size, "%s %s %s", a, o->kind == OP_TIMES ? ".*" : "./", b);
    else if (plan_makes_powers(o)) {
        program_print_expr(p->program, o->steps, target, sizeof target);
        add_text(text, size, "powers(A, %s) of %s", target, a);
    } else {
        print_operator(o, text, size);
        add_text(text, size, " %s", a);
    }
}

/* sqrt(real(s1)) reads better as sqrt(s1): the square of a norm is real. */
static void tidy_norms(char *text)
{
    for (char *at = strstr(text, "sqrt(real("); at; at = strstr(at + 1, "sqrt(real(")) {
        char *close = strchr(at, ')');
        memmove(at + 5, at + 10, (size_t)(close - at - 10));
        memmove(close - 5, close + 1, strlen(close + 1) + 1);
    }
}

static void print_scalar_op(const plan *p, const plan_op *o, char *text, size_t size)
{
    static const char *const words[] = {[0] = "residual",
                                        [OP_ESTIMATE - OP_RESIDUAL] = "estimate",
                                        [OP_GRADIENT - OP_RESIDUAL] = "gradient",
                                        [OP_ENERGY - OP_RESIDUAL] = "energy",
                                        [OP_BREAKDOWN - OP_RESIDUAL] = "breakdown if",
                                        [OP_RESTART - OP_RESIDUAL] = "restart if"};
    char value[256] = "", target[128] = "";
    if (o->expr != NONE)
        program_print_expr(p->program, o->expr, value, sizeof value);
    if (o->target != NONE)
        program_print_expr(p->program, o->target, target, sizeof target);
    if (o->kind == OP_SCALAR || o->kind == OP_SMALL)
        snprintf(text, size, "%s = %s", target, value);
    else if (o->kind == OP_SCALARS)
        snprintf(text, size, "scalars");
    else if (o->kind == OP_MOVE) {
        print_var(p, o->out.var, target, sizeof target);
        print_var(p, o->in[0].var, value, sizeof value);
        snprintf(text, size, "%s takes the place of %s", value, target);
    } else {
        const bool accepts = o->kind == OP_BREAKDOWN && p->program->stmts[o->stmt].accepts;
        snprintf(text, size, "%s %s", accepts ? "accept if" : words[o->kind - OP_RESIDUAL], value);
    }
    tidy_norms(text);
}

static void put_traffic(explanation *e, const phase *f)
{
    const plan *p = e->p;
    char name[96];
    put(e, "%*s          reads", e->depth, "");
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind == OP_APPLY || o->kind == OP_DIAGONAL) {
            name[0] = '\0';
            print_operator(o, name, sizeof name);
            put(e, " %s", name);
        }
    }
    for (int way = 0; way < 2; way++) {
        bool any = false;
        for (int i = f->traffic; i < f->traffic + f->traffic_count; i++) {
            const traffic *t = &p->traffics[i];
            if (way == 0 ? !t->read : !t->written)
                continue;
            vref v = t->v;
            v.all = false; /* all right-hand sides move what one does */
            print_ref(p, &v, name, sizeof name);
            put(e, "%s %s", way == 1 && !any ? "; writes" : "", name);
            any = true;
        }
    }
    put(e, "\n");
}

static void put_phase(explanation *e, const phase *f)
{
    const plan *p = e->p;
    char text[512];
    const char *between = "";
    if (f->sweep_count > 0) {
        put(e, "%*ssweep %-2d  ", e->depth, "", ++e->sweep);
        for (int i = f->first; i < f->first + f->sweep_count; i++) {
            print_sweep_op(p, &p->ops[i], text, sizeof text);
            put(e, "%s%s", between, text);
            between = ";  ";
        }
        put(e, "\n");
        put_traffic(e, f);
    }
    between = "";
    for (int i = f->first + f->sweep_count; i < f->first + f->count; i++) {
        print_scalar_op(p, &p->ops[i], text, sizeof text);
        if (!*between)
            put(e, "%*s  then    ", e->depth, "");
        put(e, "%s%s", between, text);
        between = ";  ";
    }
    if (*between)
        put(e, "\n");
}

static void put_nodes(explanation *e, int first)
{
    const plan *p = e->p;
    for (int i = first; i != NONE; i = p->nodes[i].next) {
        const node *n = &p->nodes[i];
        char from[128], to[128];
        if (n->kind == NODE_BLOCK) {
            for (int f = 0; f < n->phases; f++)
                put_phase(e, &p->phases[n->phase + f]);
            continue;
        }
        if (n->kind == NODE_FOR) {
            program_print_expr(p->program, n->from, from, sizeof from);
            program_print_expr(p->program, n->to, to, sizeof to);
            put(e, "%*sfor %s = %s %s %s:\n", e->depth, "", p->program->names[n->name].text, from,
                n->down ? "down to" : "..", to);
        } else {
            program_print_expr(p->program, n->expr, from, sizeof from);
            tidy_norms(from);
            put(e, "%*sif %s:\n", e->depth, "", from);
        }
        e->depth += 2;
        put_nodes(e, n->body);
        e->depth -= 2;
        if (n->other != NONE) {
            put(e, "%*selse:\n", e->depth, "");
            e->depth += 2;
            put_nodes(e, n->other);
            e->depth -= 2;
        }
    }
}

/* Counting turns of the loop: counters are run, data-dependent branches taken the first way. */
typedef struct counting {
    const plan *p;
    scalars s;
    plan_cost *cost;
    int *points;  /* by node: where inner products are gathered; NONE: not counted yet */
    int64_t left; /* operations to look at before it is enough */
} counting;

static void count_op(counting *c, const plan_op *o)
{
    const plan *p = c->p;
    if (o->kind == OP_APPLY || o->kind == OP_DIAGONAL)
        *(o->op == OPERATOR_A ? &c->cost->products : &c->cost->precons) +=
            plan_makes_powers(o) ? o->count : 1;
    c->cost->dots += o->kind == OP_DOT;
    if (o->kind == OP_RESIDUAL || o->kind == OP_ESTIMATE)
        c->cost->reports += p->estimates ? o->kind == OP_ESTIMATE : 1;
    if (o->kind == OP_SCALAR && p->program->names[p->program->exprs[o->target].name].counter) {
        const spry_scalar value = program_eval(&c->s, o->expr);
        spry_scalar *to = program_scalar_at(&c->s, o->target);
        if (to)
            *to = value;
    }
}

static void count_phase(counting *c, const phase *f)
{
    const plan *p = c->p;
    c->cost->sweeps += f->sweep_count > 0;
    for (int i = f->traffic; i < f->traffic + f->traffic_count; i++) {
        const traffic *t = &p->traffics[i];
        int64_t count = 1;
        if (t->v.first != t->v.last)
            count =
                program_eval_count(&c->s, t->v.last) - program_eval_count(&c->s, t->v.first) + 1;
        if (count > 0)
            c->cost->vectors[p->vars[t->v.var].space] += (double)(count * (t->read + t->written));
    }
    for (int i = f->first; i < f->first + f->count; i++)
        count_op(c, &p->ops[i]);
}

/* The phase of a block at whose end an inner product must be complete. */
static int needed_at(const plan *p, const node *block, const plan_op *dot)
{
    for (int i = block->first; i < block->first + block->count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->phase >= dot->phase && o != dot && (!op_sweeps(o) || o->phase > dot->phase) &&
            plan_needs_sum(p, dot, o))
            return op_sweeps(o) ? o->phase - 1 : o->phase;
    }
    return block->phases - 1;
}

/* The fewest points at which all inner products of a block can be gathered in time. */
static int count_points(const plan *p, const node *block)
{
    int points = 0, due = INT_MAX;
    for (int f = 0; f < block->phases; f++) {
        const phase *now = &p->phases[block->phase + f];
        for (int i = now->first; i < now->first + now->sweep_count; i++)
            if (p->ops[i].kind == OP_DOT) {
                const int at = needed_at(p, block, &p->ops[i]);
                due = at < due ? at : due;
            }
        if (due == f) {
            points++;
            due = INT_MAX;
        }
    }
    return points;
}

static void count_block(counting *c, int index)
{
    const plan *p = c->p;
    const node *n = &p->nodes[index];
    for (int f = 0; f < n->phases; f++)
        count_phase(c, &p->phases[n->phase + f]);
    for (int i = n->first; !p->phases && i < n->first + n->count; i++)
        count_op(c, &p->ops[i]);
    if (c->points[index] == NONE)
        c->points[index] = count_points(p, n);
    c->cost->reductions += c->points[index];
    c->left -= n->count;
}

static void count_nodes(counting *c, int first)
{
    const plan *p = c->p;
    for (int i = first; i != NONE && c->left > 0; i = p->nodes[i].next) {
        const node *n = &p->nodes[i];
        if (n->kind == NODE_BLOCK)
            count_block(c, i);
        if (n->kind == NODE_IF)
            count_nodes(c, n->body != NONE ? n->body : n->other);
        if (n->kind != NODE_FOR)
            continue;
        const int64_t from = program_eval_count(&c->s, n->from);
        const int64_t to = program_eval_count(&c->s, n->to);
        for (int64_t k = from; c->left-- > 0 && (n->down ? k >= to : k <= to);
             k += n->down ? -1 : 1) {
            c->s.values[c->s.offset[n->name]] = (spry_scalar){(double)k, 0};
            count_nodes(c, n->body);
        }
    }
}

spry_status plan_count(const plan *p, plan_cost *cost)
{
    spry_context *ctx = p->ctx;
    const int turns_counted = p->phases ? 60 : 2; /* bases that grow with turns are full by then */
    const int64_t enough = 2000000;
    counting c = {.p = p, .cost = cost, .left = enough};
    spry_status status = SPRY_STATUS_OK;
    int turns = 0;
    *cost = (plan_cost){0};
    c.s = (scalars){.program = p->program,
                    .offset = p->offset,
                    .extent = (const int64_t(*)[2])p->extent,
                    .real = true,
                    .fault = NONE};
    SPRY_GO(ctx, base_calloc(ctx, p->scalar_count + 1, sizeof *c.s.values, &c.s.values));
    SPRY_GO(ctx, base_alloc(ctx, p->node_count, sizeof *c.points, &c.points));
    for (int i = 0; i < p->node_count; i++)
        c.points[i] = NONE;
    memcpy(c.s.values, p->options, (size_t)p->option_count * sizeof *p->options);
    count_nodes(&c, p->section[SECTION_START]); /* for its counters */
    *cost = (plan_cost){0};
    c.left = enough;
    for (; turns < turns_counted && c.left > 0; turns++)
        count_nodes(&c, p->section[SECTION_LOOP]);
    const double iterations = cost->reports > 0 ? cost->reports : turns;
    double *const figures[] = {&cost->sweeps,  &cost->reductions, &cost->dots,      &cost->products,
                               &cost->precons, &cost->vectors[0], &cost->vectors[1]};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        *figures[k] /= iterations;
    cost->reports /= turns;
done:
    base_free(ctx, c.s.values);
    base_free(ctx, c.points);
    return status;
}

bool plan_opens_slot(const plan *p, int var)
{
    const plan_var *v = &p->vars[var];
    if (v->array || v->number == NONE || v->in_pieces)
        return false;
    for (int w = 0; w < var; w++)
        if (!p->vars[w].array && !p->vars[w].in_pieces && p->vars[w].number == v->number)
            return false;
    return true;
}

void plan_count_vectors(const plan *p, int64_t count[2])
{
    count[0] = count[1] = 0;
    for (int v = 0; v < p->var_count; v++)
        count[p->vars[v].space] += p->vars[v].array ? p->vars[v].extent : plan_opens_slot(p, v);
}

int plan_whole_vectors(const plan *p)
{
    int64_t count[2];
    plan_count_vectors(p, count);
    return (int)(count[0] + count[1]);
}

void plan_explain(const plan *p, base_text *text)
{
    explanation e = {.p = p, .text = text, .depth = 2};
    put_nodes(&e, p->section[SECTION_LOOP]);
}
