/* Operations are bound: names become memory, factors numbers, before each sweep. */
#include "program/sweep.h"

#include <math.h>

char *sweep_vector(runner *r, rhs *l, const vref *v, int64_t index)
{
    const plan *p = r->p;
    const plan_var *var = &p->vars[v->var];
    if (r->host->residents) /* which knows by itself */
        return NULL;
    if (var->array)
        return host_rhs_of(r, l)->arrays[v->var][index];
    if (v->var == p->var_of_name[NAME_X])
        return l->x;
    if (v->var == p->var_of_name[NAME_B])
        return (char *)(uintptr_t)l->b; /* nothing writes b */
    return host_rhs_of(r, l)->slots[var->number];
}

/* Which vector of an array is meant, by indices that are those of all right-hand sides. */
static int64_t find_index(runner *r, rhs *l, const vref *v)
{
    const plan_var *var = &r->p->vars[v->var];
    return var->array ? program_eval_index(&l->scalars, v->first, var->extent) : 0;
}

static operand find(runner *r, rhs *l, const vref *v)
{
    if (v->var == NONE)
        return (operand){NULL, NONE, false};
    const plan_var *var = &r->p->vars[v->var];
    if (var->in_pieces)
        return (operand){NULL, var->number, var->wide};
    const int64_t index = find_index(r, l, v);
    if (l->scalars.fault != NONE)
        return (operand){NULL, NONE, false};
    return (operand){sweep_vector(r, l, v, index), NONE, false};
}

/* First element and number of elements of a slice, which must lie in its array. */
static int64_t find_slice(runner *r, rhs *l, const vref *v, int64_t *count)
{
    const int64_t extent = r->p->vars[v->var].extent;
    const int64_t first = program_eval_count(&l->scalars, v->first);
    const int64_t last = program_eval_count(&l->scalars, v->last);
    *count = last - first + 1;
    if (*count <= 0) {
        *count = 0;
        return 0;
    }
    if (first < 0 || last >= extent) {
        l->scalars.fault = r->p->program->exprs[v->first].place;
        *count = 0;
        return 0;
    }
    return first;
}

static operand *add_operand(runner *r, operand o, spry_scalar factor)
{
    r->host->operands[r->host->operand_count] = o;
    r->host->factors[r->host->operand_count] = factor;
    return &r->host->operands[r->host->operand_count++];
}

/* Where the numbers of a slice of scalars begin, and how far they are apart; NULL after a fault. */
static spry_scalar *find_numbers(runner *r, rhs *l, int e, int64_t count, int64_t *apart)
{
    const expr *slice = &r->p->program->exprs[e];
    const int64_t rows = l->scalars.extent[slice->name][0],
                  cols = l->scalars.extent[slice->name][1];
    const int64_t first = program_eval_count(&l->scalars, slice->arg[0]);
    const int64_t last = program_eval_count(&l->scalars, slice->arg[1]);
    const int64_t column =
        slice->arg[2] == NONE ? 0 : program_eval_index(&l->scalars, slice->arg[2], cols);
    *apart = cols;
    if (count == 0 && last < first)
        return NULL;
    if (l->scalars.fault == NONE && (last - first + 1 != count || first < 0 || last >= rows))
        l->scalars.fault = slice->place;
    if (l->scalars.fault != NONE)
        return NULL;
    return &l->scalars.values[l->scalars.offset[slice->name] + first * cols + column];
}

/* The vectors of all right-hand sides of the run, each with its number. */
static void bind_all(runner *r, rhs *l, const term *t, spry_scalar factor)
{
    int64_t apart;
    const int64_t index = find_index(r, l, &t->v);
    const spry_scalar *numbers = find_numbers(r, l, t->numbers, PROGRAM_COLUMNS, &apart);
    for (int i = 0; numbers && i < r->host->member_count; i++) {
        const int member = r->host->members[i];
        add_operand(r, (operand){sweep_vector(r, &r->rhs[member], &t->v, index), NONE, false},
                    scalar_multiply(factor, numbers[member * apart]));
    }
}

static void bind_term(runner *r, rhs *l, const term *t)
{
    spry_scalar factor = {t->sign, 0};
    if (t->factor != NONE)
        factor = scalar_multiply(factor, program_eval(&l->scalars, t->factor));
    if (t->v.all) {
        bind_all(r, l, t, factor);
        return;
    }
    if (t->numbers == NONE) {
        add_operand(r, find(r, l, &t->v), factor);
        return;
    }
    int64_t count, apart;
    const int64_t first = find_slice(r, l, &t->v, &count);
    const spry_scalar *numbers = find_numbers(r, l, t->numbers, count, &apart);
    for (int64_t i = 0; numbers && i < count; i++)
        add_operand(r, (operand){sweep_vector(r, l, &t->v, first + i), NONE, false},
                    scalar_multiply(factor, numbers[i * apart]));
}

/* The right-hand side's own terms come first: those of all right-hand sides are added for many at a
 * time. */
static void bind_terms(runner *r, rhs *l, bound_op *s)
{
    const plan_op *o = s->o;
    const term *terms = &r->p->terms[o->term];
    s->list = &r->host->operands[r->host->operand_count];
    s->factors = &r->host->factors[r->host->operand_count];
    const int begin = r->host->operand_count;
    for (int k = 0; k < o->terms; k++)
        if (!terms[k].v.all)
            bind_term(r, l, &terms[k]);
    s->own = r->host->operand_count - begin;
    for (int k = 0; k < o->terms; k++)
        if (terms[k].v.all)
            bind_term(r, l, &terms[k]);
    s->count = r->host->operand_count - begin;
}

static void bind_dot(runner *r, rhs *l, bound_op *s)
{
    const plan_op *o = s->o;
    const bool slice = o->in[0].first != o->in[0].last;
    const spry_scalar one = {1, 0};
    s->list = &r->host->operands[r->host->operand_count];
    s->slot = r->host->slot_count;
    if (o->in[0].all) {
        const int64_t index = find_index(r, l, &o->in[0]);
        for (int i = 0; i < r->host->member_count; i++) {
            rhs *member = &r->rhs[r->host->members[i]];
            add_operand(r, (operand){sweep_vector(r, member, &o->in[0], index), NONE, false}, one);
        }
        s->count = r->host->member_count;
    } else if (slice) {
        int64_t count;
        const int64_t first = find_slice(r, l, &o->in[0], &count);
        for (int64_t i = 0; i < count; i++)
            add_operand(r, (operand){sweep_vector(r, l, &o->in[0], first + i), NONE, false}, one);
        s->count = (int)count;
    } else {
        add_operand(r, find(r, l, &o->in[0]), one);
        s->count = 1;
    }
    r->host->slot_count += s->count;
}

/* Whole numbers are seeds as they are, any others by their bits. */
static uint64_t seed_of(double number)
{
    uint64_t bits;
    if (fabs(number) < 0x1p53)
        return (uint64_t)(int64_t)number;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static range part_of(const runner *r, rhs *l, const bound_op *s)
{
    const vector_part *part = &r->parts[s->space];
    const int64_t rows = part->is ? part->all : r->n[s->space];
    const double which = program_eval(&l->scalars, s->o->expr).re;
    const double parts = program_eval(&l->scalars, s->o->parts).re;
    return (range){program_share_begin(which, parts, rows),
                   program_share_begin(which + 1, parts, rows)};
}

const void *sweep_known(const runner *r, const rhs *l, const plan_op *o)
{
    return o->op == OPERATOR_A && o->transpose == SPRY_TRANSPOSE_NO &&
                   o->in[0].var == r->p->var_of_name[NAME_X]
               ? l->product
               : NULL;
}

static void bind_one(runner *r, int rhs_index, const plan_op *o)
{
    rhs *l = &r->rhs[rhs_index];
    const plan *p = r->p;
    const vref *place = o->kind == OP_DOT ? &o->in[1] : &o->out;
    bound_op *s = &r->host->bound[r->host->bound_count++];
    *s = (bound_op){.o = o,
                    .rhs = rhs_index,
                    .space = p->vars[place->var].space,
                    .coupled = plan_has_all(p, o)};
    s->out = find(r, l, &o->out);
    s->in[1] = find(r, l, &o->in[1]);
    if (o->kind == OP_COMBINE)
        bind_terms(r, l, s);
    else if (o->kind == OP_DOT)
        bind_dot(r, l, s);
    else
        s->in[0] = find(r, l, &o->in[0]);
    if (o->kind == OP_APPLY) {
        s->known = sweep_known(r, l, o);
        s->rows = s->known ? NULL : &r->host->rows[o->op][o->transpose];
        r->host->shares = r->host->cuts[o->op][o->transpose];
        r->host->share_space = s->space;
    }
    if (o->kind == OP_DIAGONAL)
        s->diagonal = r->host->diagonal[o->op][o->transpose];
    if (o->kind == OP_RANDOM)
        s->seed = seed_of(program_eval(&l->scalars, o->expr).re);
    if (o->kind == OP_SHARE)
        s->ones = part_of(r, l, s);
    if (course_check(l, o))
        r->host->bound_count--;
}

/* Products of one operation for several right-hand sides share a packed x: groups of as many as two
 * packs hold. */
static void bind_packs(runner *r)
{
    const int parts = 1 + spry_type_is_complex(r->type), most = HOST_MOST_PACKS * HOST_PACK / parts;
    char *room = r->host->packed;
    r->host->packs = false;
    for (int i = 0; i < r->host->bound_count && r->host->bound[i].o->kind == OP_APPLY;) {
        bound_op *s = &r->host->bound[i];
        s->together = 1;
        while (s->rows && s->together < most && i + s->together < r->host->bound_count &&
               s[s->together].o == s->o && s[s->together].rows)
            s->together++;
        if (s->together > 1 && s->rows->run_packed) {
            const int64_t n = r->n[r->p->vars[s->o->in[0].var].space];
            s->packs = s->together > most / 2 ? HOST_MOST_PACKS : 1;
            s->packed = room;
            room += n * s->packs * HOST_PACK * (r->size / parts);
            r->host->packs = true;
        }
        i += s->together;
    }
}

static void bind_active(runner *r, int rhs_index, const plan_op *o)
{
    bool *skip = &r->host->rhs[rhs_index].skip[o - r->p->ops];
    if (!r->host->active[rhs_index] || !op_sweeps(o) || plan_calls(r->p, o))
        return;
    if (r->rhs[rhs_index].done && o->out.var == r->p->var_of_name[NAME_X])
        return; /* its x is what it ended with */
    if (*skip)
        *skip = false;
    else
        bind_one(r, rhs_index, o);
}

/* Products first, all right-hand sides of one together; then right-hand side by right-hand
 * side, but where right-hand sides see each other operation by operation, so that what is of all of
 * them is done for all at once. */
void sweep_bind(runner *r, const plan_op *ops, int count)
{
    r->host->bound_count = r->host->slot_count = r->host->operand_count = 0;
    r->host->shares = NULL;
    for (int i = 0; i < count; i++)
        for (int k = 0; ops[i].kind == OP_APPLY && k < r->rhs_count; k++)
            bind_active(r, k, &ops[i]);
    for (int i = 0; sweep_couples(r) && i < count; i++)
        for (int k = 0; ops[i].kind != OP_APPLY && k < r->rhs_count; k++)
            bind_active(r, k, &ops[i]);
    for (int k = 0; !sweep_couples(r) && k < r->rhs_count; k++)
        for (int i = 0; i < count; i++)
            if (ops[i].kind != OP_APPLY)
                bind_active(r, k, &ops[i]);
    if (r->status != SPRY_STATUS_OK)
        r->host->bound_count = r->host->slot_count = 0;
    bind_packs(r);
}
