/* A plan's phases on the host: loops and branches, sweeps and scalar work, exits. */
#include "program/sweep.h"

static void run_nodes(runner *r, int first);

/* Where right-hand sides see each other, one that has ended goes on for the others. */
static bool any_active(const runner *r)
{
    for (int k = 0; k < r->rhs_count; k++)
        if (r->host->active[k] && !r->rhs[k].done)
            return true;
    return false;
}

/* Statements of scalars alone; `single`: without those that follow. */
static void run_statements(runner *r, rhs *l, int first, bool single)
{
    const program *p = l->scalars.program;
    for (int i = first; i != NONE && l->scalars.fault == NONE;
         i = single ? NONE : p->stmts[i].next) {
        const stmt *s = &p->stmts[i];
        if (s->kind == STMT_SET) {
            const spry_scalar value = program_eval(&l->scalars, s->value);
            spry_scalar *to = program_scalar_at(&l->scalars, s->target);
            if (to)
                *to = value;
        } else if (s->kind == STMT_IF) {
            const bool holds = program_holds(&l->scalars, s->value);
            run_statements(r, l, holds ? s->body : s->other, false);
        } else {
            const int64_t from = program_eval_count(&l->scalars, s->from);
            const int64_t to = program_eval_count(&l->scalars, s->to), by = s->down ? -1 : 1;
            for (int64_t k = from; s->down ? k >= to : k <= to; k += by) {
                l->scalars.values[l->scalars.offset[s->name]] = (spry_scalar){(double)k, 0};
                run_statements(r, l, s->body, false);
                if (l->scalars.fault != NONE || !course_take_turn(r, s->place))
                    return;
            }
        }
    }
}

spry_status host_side_settle(runner *r, rhs *l)
{
    const plan *p = r->p;
    const plan_op *exit = r->host->exit;
    bool *skip = host_rhs_of(r, l)->skip;
    const int rhs_index = (int)(l - r->rhs), x = p->var_of_name[NAME_X];
    if (!exit || !r->block || r->status != SPRY_STATUS_OK)
        return r->status;
    for (int i = r->block->first; i < r->block->first + r->block->count; i++) {
        const plan_op *o = &p->ops[i];
        if (o->kind != OP_COMBINE || o->out.var != x || o->order > exit->order ||
            o->phase <= exit->phase || skip[i])
            continue;
        bool only[MOST_RHS] = {false}, *all = r->host->active;
        only[rhs_index] = true;
        r->host->active = only;
        sweep_bind(r, o, 1);
        if (l->fault != NONE && l->fault_order < exit->order)
            course_fail_index(r, l, l->fault);
        r->host->place->run(r, NULL, o);
        r->host->active = all;
        skip[i] = true;
    }
    return r->status;
}

/* The others go on from where they are. */
spry_status host_side_finish(runner *r, rhs *l)
{
    bool only[MOST_RHS] = {false}, *all = r->host->active;
    const node *block = r->block;
    const plan_op *exit = r->host->exit;
    const int next = r->host->next;
    host_side_settle(r, l);
    only[l - r->rhs] = true;
    r->host->active = only;
    run_nodes(r, r->p->section[SECTION_FINISH]);
    r->host->active = all;
    r->block = block;
    r->host->exit = exit;
    r->host->next = next;
    return r->status;
}

/* What a view of x keeps: which vector has which memory, and what is in it. */
typedef struct host_view {
    char **slots, *copy;
} host_view;

static void view_free(spry_context *ctx, host_view *h)
{
    if (h) {
        base_free(ctx, h->slots);
        base_free(ctx, h->copy);
        base_free(ctx, h);
    }
}

static char *view_memory(runner *r, rhs *l, const view_vector *v)
{
    return sweep_vector(r, l, &(vref){.var = v->var, .first = NONE, .last = NONE}, v->index);
}

static spry_status keep(runner *r, rhs *l, runner_view *v)
{
    spry_context *ctx = r->ctx;
    const size_t size = (size_t)r->p->slots * sizeof(char *);
    host_view *h = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *h, &h));
    SPRY_GO(ctx, base_alloc(ctx, r->p->slots, sizeof *h->slots, &h->slots));
    SPRY_GO(ctx, base_alloc(ctx, v->bytes, 1, &h->copy));
    memcpy(h->slots, host_rhs_of(r, l)->slots, size);
    for (int64_t k = 0; k < v->count; k++)
        memcpy(h->copy + v->vectors[k].at, view_memory(r, l, &v->vectors[k]),
               (size_t)v->vectors[k].bytes);
    v->place = h;
    h = NULL;
done:
    view_free(ctx, h);
    return status;
}

static spry_status restore(runner *r, rhs *l, runner_view *v)
{
    host_view *h = v->place;
    memcpy(host_rhs_of(r, l)->slots, h->slots, (size_t)r->p->slots * sizeof(char *));
    for (int64_t k = 0; k < v->count; k++)
        memcpy(view_memory(r, l, &v->vectors[k]), h->copy + v->vectors[k].at,
               (size_t)v->vectors[k].bytes);
    view_free(r->ctx, h);
    return SPRY_STATUS_OK;
}

static spry_status transfer(runner *r, rhs *l, const view_vector *at, spry_vector *v, bool put)
{
    spry_vector own = vector_over(r->ctx, r->type, v->n, view_memory(r, l, at));
    return put ? spry_vector_copy(v, &own) : spry_vector_copy(&own, v);
}

static void finish_rhs(runner *r, rhs *l)
{
    course_finish(r, l); /* which leaves a failure in r->status */
    r->host->active[l - r->rhs] = sweep_couples(r);
}

static void run_exit(runner *r, rhs *l, const plan_op *o)
{
    if (l->fault != NONE && l->fault_order < o->order) {
        course_fail_index(r, l, l->fault);
        return;
    }
    const spry_scalar value = program_eval(&l->scalars, o->expr);
    if (course_check(l, o))
        return;
    r->host->exit = o;
    if (o->kind == OP_BREAKDOWN || o->kind == OP_RESTART) {
        if (!program_holds(&l->scalars, o->expr))
            return;
        course_break(l, o);
        finish_rhs(r, l);
    } else if (!course_report(r, l, o, r->counting, value.re) && r->status == SPRY_STATUS_OK) {
        finish_rhs(r, l);
    }
}

static void run_scalar(runner *r, rhs *l, const plan_op *o)
{
    if (o->kind == OP_SCALAR) {
        const spry_scalar value = program_eval(&l->scalars, o->expr);
        spry_scalar *to = program_scalar_at(&l->scalars, o->target);
        if (to)
            *to = value;
    } else if (o->kind == OP_SCALARS) {
        run_statements(r, l, o->stmt, true);
    } else if (o->kind == OP_MOVE) {
        const plan_var *to = &r->p->vars[o->out.var], *from = &r->p->vars[o->in[0].var];
        r->host->place->swap(r, l, to->number, from->number);
    } else {
        run_exit(r, l, o);
    }
    course_check(l, o);
}

/* What needs numbers only, from r->host->next on. */
static void scalar_time(runner *r, const phase *f)
{
    for (; r->host->next < f->first + f->count; r->host->next++) {
        const plan_op *o = &r->p->ops[r->host->next];
        if (o->kind == OP_SMALL)
            sweep_small(r, o);
        for (int k = 0; o->kind != OP_SMALL && k < r->rhs_count && r->status == SPRY_STATUS_OK; k++)
            if (r->host->active[k] && !(r->rhs[k].done && op_exits(o)))
                run_scalar(r, &r->rhs[k], o);
    }
}

/* Right-hand sides that are called for together. */
enum { TOGETHER = 8 };

/* One call for all right-hand sides where the operator takes them together, else one after the
 * other. */
static spry_status call(runner *r, const plan_op *o, int count, const sweep_call *calls)
{
    const spry_operator *called = r->operators[o->op];
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const void *in[TOGETHER];
    void *out[TOGETHER];
    spry_status status = SPRY_STATUS_OK;
    for (int k = 0; k < count; k++) {
        in[k] = sweep_vector(r, calls[k].l, &o->in[0], calls[k].from);
        out[k] = sweep_vector(r, calls[k].l, &o->out, calls[k].to);
    }
    if (count > 1 && called->class->apply_many && !called->device)
        return called->class->apply_many(called, o->transpose, count, in, out);
    for (int k = 0; k < count && status == SPRY_STATUS_OK; k++)
        status = called->class->multiply(called, o->transpose, one, in[k], zero, out[k]);
    return status;
}

static int64_t call_index(runner *r, rhs *l, const vref *v)
{
    return v->first == NONE ? 0
                            : program_eval_index(&l->scalars, v->first, r->p->vars[v->var].extent);
}

/* The first vector of a run, which is inside its array. */
static int64_t run_index(runner *r, rhs *l, const vref *v)
{
    const int64_t extent = r->p->vars[v->var].extent;
    program_eval_index(&l->scalars, v->last, extent);
    return program_eval_index(&l->scalars, v->first, extent);
}

/* The steps that the text's array has; there is no vector before the first. */
static void take_steps(const rhs *l, const plan_op *o, power_step *steps)
{
    const program_array B = program_array_at(&l->scalars, o->steps);
    const int steps_of_basis = o->count - (o->also.var != NONE);
    for (int j = 0; j < o->count; j++) {
        const spry_scalar *step = B.at + j * B.cols;
        steps[j] = (power_step){.alpha = {1, 0}};
        if (j < steps_of_basis)
            steps[j] = (power_step){.alpha = step[0], .beta = step[1], .gamma = step[2]};
    }
    steps[0].beta.re += steps[0].gamma.re;
    steps[0].beta.im += steps[0].gamma.im;
    steps[0].gamma = (spry_scalar){0, 0};
}

static void run_powers(runner *r, const plan_op *o)
{
    for (int k = 0; k < r->rhs_count && r->status == SPRY_STATUS_OK; k++) {
        sweep_powers call = {.l = &r->rhs[k]};
        if (!r->host->active[k])
            continue;
        call.from = call_index(r, call.l, &o->in[0]);
        call.to = run_index(r, call.l, &o->out);
        if (o->also.var != NONE)
            call.also = run_index(r, call.l, &o->also);
        if (course_check(call.l, o))
            continue;
        take_steps(call.l, o, call.steps);
        course_note(r, r->host->place->powers(r, o, &call));
    }
}

static spry_status powers(runner *r, const plan_op *o, sweep_powers *c)
{
    const spry_operator *A = r->powers;
    spry_vector made[MOST_POWERS], products[MOST_POWERS], *v[MOST_POWERS];
    spry_vector x =
        vector_over(r->ctx, r->type, r->n[0], sweep_vector(r, c->l, &o->in[0], c->from));
    x.part = A->cols_part;
    for (int j = 0; j < o->count; j++) {
        const bool keeps = o->also.var != NONE, last = keeps && j == o->count - 1;
        char *product = keeps ? sweep_vector(r, c->l, &o->also, c->also + j) : NULL;
        char *next = last ? product : sweep_vector(r, c->l, &o->out, c->to + j);
        made[j] = vector_over(r->ctx, r->type, r->n[0], next);
        made[j].part = A->rows_part;
        v[j] = &made[j];
        products[j] = vector_over(r->ctx, r->type, r->n[0], product);
        products[j].part = A->rows_part;
        c->steps[j].product = keeps && !last ? &products[j] : NULL;
    }
    return operator_powers(A, SPRY_TRANSPOSE_NO, o->count, c->steps, &x, v);
}

/* Operators that can only be called. */
static void run_calls(runner *r, const phase *f)
{
    const sweep_place *place = r->host->place;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &r->p->ops[i];
        sweep_call calls[TOGETHER];
        int count = 0;
        if (plan_makes_powers(o))
            run_powers(r, o);
        if (!plan_calls(r->p, o) || plan_makes_powers(o))
            continue;
        for (int k = 0; k < r->rhs_count && r->status == SPRY_STATUS_OK; k++) {
            rhs *l = &r->rhs[k];
            if (!r->host->active[k])
                continue;
            const int64_t from = call_index(r, l, &o->in[0]), to = call_index(r, l, &o->out);
            const void *known = sweep_known(r, l, o);
            if (course_check(l, o))
                continue;
            if (known) {
                memcpy(sweep_vector(r, l, &o->out, to), known,
                       (size_t)(r->operators[o->op]->rows * r->size));
                continue;
            }
            calls[count++] = (sweep_call){l, from, to};
            if (count == TOGETHER) {
                course_note(r, place->call(r, o, count, calls));
                count = 0;
            }
        }
        if (r->status == SPRY_STATUS_OK && count > 0)
            course_note(r, place->call(r, o, count, calls));
    }
}

static void swap(runner *r, rhs *l, int one, int other)
{
    char **slots = host_rhs_of(r, l)->slots, *kept = slots[one];
    slots[one] = slots[other];
    slots[other] = kept;
}

static const sweep_place sweep_host = {.open = host_side_open_operators,
                                       .open_rhs = host_side_open_rhs,
                                       .close_rhs = host_side_close_rhs,
                                       .run = sweep_run,
                                       .call = call,
                                       .powers = powers,
                                       .swap = swap};

/* What the phase moves, by its plan. */
static void count_bytes(runner *r, const phase *f)
{
    int rhs_count = 0;
    if (!r->counting)
        return;
    for (int k = 0; k < r->rhs_count; k++) {
        rhs_count += r->host->active[k];
        if (r->host->active[k])
            r->bytes += course_vector_bytes(r, &r->rhs[k], f);
    }
    r->bytes += course_operator_bytes(r, f, rhs_count);
}

/* A sweep, and the scalar work that its reductions allow. */
static void run_phase(runner *r, const phase *f)
{
    sweep_bind(r, &r->p->ops[f->first], f->sweep_count);
    count_bytes(r, f);
    r->host->next = f->first + f->sweep_count;
    r->host->place->run(r, f, NULL);
    /* What was known of the first x may not hold for the next. */
    for (int k = 0; k < r->rhs_count; k++)
        r->rhs[k].product = NULL;
    if (r->ranked)
        sweep_begin_reduction(r, f);
    else
        sweep_reduce(r);
    if (f->waits_after)
        sweep_end_reduction(r);
    scalar_time(r, f);
}

static void run_block(runner *r, const node *block)
{
    const phase *phases = &r->p->phases[block->phase];
    for (int f = 0; f < block->phases && r->status == SPRY_STATUS_OK && any_active(r); f++) {
        r->block = block;
        r->host->exit = NULL;
        if (phases[f].waits_before)
            sweep_end_reduction(r);
        if (r->status == SPRY_STATUS_OK)
            run_calls(r, &phases[f]);
        if (r->status == SPRY_STATUS_OK)
            run_phase(r, &phases[f]);
    }
    sweep_end_reduction(r); /* of a run that has failed */
    for (int k = 0; k < r->rhs_count; k++)
        if (r->host->active[k] && r->rhs[k].fault != NONE)
            course_fail_index(r, &r->rhs[k], r->rhs[k].fault);
}

static void set_counter(runner *r, int name, int64_t value)
{
    for (int k = 0; k < r->rhs_count; k++)
        if (r->host->active[k]) {
            scalars *s = &r->rhs[k].scalars;
            s->values[s->offset[name]] = (spry_scalar){(double)value, 0};
        }
}

/* Ends of loops do not depend on data: they are the same for all right-hand sides. */
static void run_for(runner *r, const node *n)
{
    int one = 0;
    while (!r->host->active[one])
        one++;
    const int64_t from = program_eval_count(&r->rhs[one].scalars, n->from);
    const int64_t to = program_eval_count(&r->rhs[one].scalars, n->to), by = n->down ? -1 : 1;
    if (r->rhs[one].scalars.fault != NONE)
        course_fail_index(r, &r->rhs[one], r->rhs[one].scalars.fault);
    for (int64_t k = from; r->status == SPRY_STATUS_OK && (n->down ? k >= to : k <= to); k += by) {
        set_counter(r, n->name, k);
        run_nodes(r, n->body);
        if (!any_active(r) || !course_take_turn(r, r->p->program->exprs[n->from].place))
            return;
    }
}

/* Right-hand sides may go different ways: first those for which the condition holds, then the
 * others. */
static void run_if(runner *r, const node *n)
{
    bool holds[MOST_RHS] = {false}, *all = r->host->active;
    bool part[MOST_RHS] = {false};
    for (int k = 0; k < r->rhs_count; k++)
        holds[k] = all[k] && program_holds(&r->rhs[k].scalars, n->expr);
    for (int k = 0; k < r->rhs_count; k++)
        if (r->rhs[k].scalars.fault != NONE)
            course_fail_index(r, &r->rhs[k], r->rhs[k].scalars.fault);
    for (int way = 0; way < 2; way++) {
        for (int k = 0; k < r->rhs_count; k++)
            part[k] = all[k] && holds[k] == (way == 0);
        r->host->active = part;
        if (any_active(r))
            run_nodes(r, way == 0 ? n->body : n->other);
        r->host->active = all;
        for (int k = 0; k < r->rhs_count; k++)
            all[k] = all[k] && (sweep_couples(r) || !r->rhs[k].done);
    }
}

static void run_nodes(runner *r, int first)
{
    for (int i = first; i != NONE && r->status == SPRY_STATUS_OK && any_active(r);
         i = r->p->nodes[i].next) {
        const node *n = &r->p->nodes[i];
        if (n->kind == NODE_BLOCK)
            run_block(r, n);
        else if (n->kind == NODE_FOR)
            run_for(r, n);
        else
            run_if(r, n);
    }
}

static void report_turn(runner *r)
{
    if (r->turn)
        r->turn(r->turn_data);
}

static spry_status run_loop(runner *r)
{
    while (r->status == SPRY_STATUS_OK && any_active(r)) {
        int64_t before = 0, after = 0;
        report_turn(r);
        for (int k = 0; k < r->rhs_count; k++)
            before += r->rhs[k].reports;
        run_nodes(r, r->p->section[SECTION_LOOP]);
        for (int k = 0; k < r->rhs_count; k++)
            after += r->rhs[k].reports;
        if (after == before && any_active(r) && r->status == SPRY_STATUS_OK)
            r->status = course_fail_silent(r);
    }
    return r->status;
}

spry_status host_side_run(runner *r, int first, int count)
{
    memset(r->host->active, 0, (size_t)r->rhs_room * sizeof *r->host->active);
    r->host->member_count = 0;
    for (int k = first; k < first + count; k++) {
        r->host->active[k] = !r->rhs[k].done;
        if (r->host->active[k])
            r->host->members[r->host->member_count++] = k;
        memset(r->host->rhs[k].skip, 0, (size_t)r->p->op_count * sizeof(bool));
    }
    report_turn(r);
    run_nodes(r, r->p->section[SECTION_START]);
    r->counting = true;
    return run_loop(r);
}

static bool fits(const runner *r)
{
    return r->host->threads == host_side_threads(r);
}

static spry_status open_host(runner *r)
{
    return host_side_open(r, &sweep_host);
}

const runner_class runner_host = {.together = MOST_RHS,
                                  .open = open_host,
                                  .close = host_side_close,
                                  .fits = fits,
                                  .clear = host_side_clear,
                                  .run = host_side_run,
                                  .settle = host_side_settle,
                                  .finish = host_side_finish,
                                  .keep = keep,
                                  .restore = restore,
                                  .exchange = host_side_exchange,
                                  .transfer = transfer};
