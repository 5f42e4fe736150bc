/* What a sweep looks up before its passes: pointers, indices, factors, seeds. */
#include "program/emit_sweep.h"

/* --- pointers ------------------------------------------------------------------------------------
 */

/* The control block has the places of the first column that takes part; x and b of columns are
 * wherever the caller has them. */
static void put_pointer(const sweep_text *t, int var)
{
    const plan *p = t->p;
    const plan_var *v = &p->vars[var];
    if (emit_is_caller(p, var)) {
        const bool x = var == p->var_of_name[NAME_X];
        if (!t->columns)
            PUT(t, "    SP_GLOBAL %sscalar *const p%d = SP_AT_%c;\n", x ? "" : "const ", var,
                x ? 'X' : 'B');
    } else if (v->array || (!v->in_pieces && v->number != NONE)) {
        PUT(t,
            t->columns
                ? "    SP_GLOBAL scalar *const p%d = mem + (own[ST_SLOTS + %d] - own[ST_BEFORE]);\n"
                : "    SP_GLOBAL scalar *const p%d = mem + st[ST_SLOTS + %d];\n",
            var, emit_word(p, var));
    }
}

static void put_pointers(sweep_text *t)
{
    const plan *p = t->p;
    emit_put(t, t->columns
                    ? "    const offset takes = st[ST_TAKES], first = sp_first_column(takes);\n"
                      "    SP_GLOBAL const offset *const own = st + first * SP_WORDS;\n"
                      "    SP_GLOBAL const number *const num = SP_NUMBERS_OF(first);\n"
                      "    const offset n0 = own[ST_N0], n1 = own[ST_N1], apart = own[ST_APART];\n"
                      "    const offset stride0 = own[ST_STRIDE0], stride1 = own[ST_STRIDE1];\n"
                      "    SP_COLUMN_VECTORS_HERE\n"
                    : "    const offset n0 = st[ST_N0], n1 = st[ST_N1], stride0 = st[ST_STRIDE0];\n"
                      "    const offset stride1 = st[ST_STRIDE1];\n");
    if (t->turned != NONE)
        PUT(t, "    const offset positions = %s[ST_POSITIONS + %d];\n", t->own, t->turned);
    memset(t->known, 0, (size_t)p->var_count);
    for (int i = 0; i < t->count; i++) {
        const int refs = plan_ref_count(p, &t->ops[i]);
        for (int k = 0; emit_in_sweep(p, &t->ops[i]) && k < refs; k++) {
            bool write;
            const vref *v = plan_ref(p, &t->ops[i], k, &write);
            if (v->var == NONE || v->all || t->known[v->var])
                continue;
            t->known[v->var] = 1;
            put_pointer(t, v->var);
        }
    }
}

/* --- indices -------------------------------------------------------------------------------------
 */

/* Operand k of operation op as an element of an array, or a slice: where it begins (i) and its
 * number (n). */
static void declare_index(const sweep_text *t, int op, int k, const vref *v)
{
    if (v->var != NONE && v->all)
        PUT(t, "    const offset n%d_%d = %d;\n", op, k, PROGRAM_COLUMNS);
    if (v->var == NONE || !t->p->vars[v->var].array)
        return;
    PUT(t, "    offset i%d_%d = 0;\n", op, k);
    if (emit_is_slice(v) && !v->all)
        PUT(t, "    offset n%d_%d = 0;\n", op, k);
}

static void put_index(const sweep_text *t, int op, int k, const vref *v)
{
    emitter m = emit_expressions(t->w);
    const plan *p = t->p;
    if (v->var == NONE || !p->vars[v->var].array)
        return;
    const int64_t extent = p->vars[v->var].extent;
    PUT(t, "        i%d_%d = ", op, k);
    if (!emit_is_slice(v) || v->all) {
        emit_index(&m, v->first, extent);
    } else {
        emit_count(&m, v->first);
        PUT(t, ";\n        n%d_%d = sp_slice(i%d_%d, ", op, k, op, k);
        emit_count(&m, v->last);
        PUT(t, ", %" PRId64 ", %d, &fault)", extent, p->program->exprs[v->first].place);
    }
    emit_put(t, ";\n");
}

/* Of a slice of numbers the place of the first (q). */
static void put_numbers(const sweep_text *t, int op, int k, const term *s)
{
    emitter m = emit_expressions(t->w);
    const plan *p = t->p;
    const expr *slice = &p->program->exprs[s->numbers];
    const int64_t rows = p->extent[slice->name][0], cols = p->extent[slice->name][1];
    emit_put(t, "        {\n            const offset first = ");
    emit_count(&m, slice->arg[0]);
    emit_put(t, ", last = ");
    emit_count(&m, slice->arg[1]);
    emit_put(t, ", column = ");
    if (slice->arg[2] == NONE)
        emit_put(t, "0");
    else
        emit_index(&m, slice->arg[2], cols);
    PUT(t,
        ";\n            sp_alike(n%d_%d, first, last, %" PRId64 ", %d, &fault);\n"
        "            q%d_%d = %" PRId64 " + first * %" PRId64 " + column;\n        }\n",
        op, k, rows, slice->place, op, k, p->offset[slice->name], cols);
}

/* --- factors, seeds, shares ----------------------------------------------------------------------
 */

static int term_count(const plan_op *o)
{
    return o->kind == OP_COMBINE ? o->terms : 0;
}

/* The factor of a term in the column whose numbers are `num`. */
static void put_factor(const sweep_text *t, const term *s)
{
    emitter m = emit_expressions(t->w);
    if (s->sign < 0)
        emit_put(t, "sp_n_negate(");
    emit_number(&m, s->factor);
    emit_put(t, s->sign < 0 ? ")" : "");
}

static void set_factor(const sweep_text *t, int op, int k, const term *s)
{
    PUT(t, "        g%d_%d%s = ", op, k, t->of);
    put_factor(t, s);
    emit_put(t, ";\n");
}

void emit_slice_number(const sweep_text *t, int op, int k, const term *s, const char *which)
{
    const int64_t cols = t->p->extent[t->p->program->exprs[s->numbers].name][1];
    const char *const before = s->factor != NONE ? "sp_n_multiply("
                               : s->sign < 0     ? "sp_n_negate("
                                                 : "";
    emit_put(t, before);
    if (s->factor != NONE && s->v.all)
        put_factor(t, s);
    else if (s->factor != NONE)
        PUT(t, "g%d_%d%s", op, k, t->of);
    PUT(t, "%snum[q%d_%d + %s * %" PRId64 "]%s", s->factor != NONE ? ", " : "", op, k, which, cols,
        before[0] ? ")" : "");
}

void emit_entry(const sweep_text *t, int op, int k, const term *s, const char *member)
{
    PUT(t, "ok%d >> j & 1 ? sp_scalar(", op);
    emit_slice_number(t, op, k, s, member);
    emit_put(t, ") : SP_ZERO;\n");
}

/* The seed of random numbers, the rows of a share. */
static void put_seed_and_share(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const int space = emit_space(t->p, o);
    emitter m = emit_expressions(t->w);
    if (o->kind == OP_RANDOM) {
        PUT(t, "        seed%d%s = sp_seed(SP_RE(", op, t->of);
        emit_number(&m, o->expr);
        emit_put(t, "));\n");
    }
    if (o->kind != OP_SHARE)
        return;
    emit_put(t, "        {\n            const double which = SP_RE(");
    emit_number(&m, o->expr);
    emit_put(t, "), parts = SP_RE(");
    emit_number(&m, o->parts);
    PUT(t,
        ");\n            from%d%s = sp_share(which, parts, %s[ST_ALL%d]);\n"
        "            to%d%s = sp_share(which + 1, parts, %s[ST_ALL%d]);\n        }\n",
        op, t->of, t->own, space, op, t->of, t->own, space);
}

/* --- one operation -------------------------------------------------------------------------------
 */

static bool ref_may_fault(const emitter *m, const vref *v)
{
    int64_t index;
    if (v->var == NONE || !m->p->vars[v->var].array)
        return false;
    return emit_is_slice(v) || !plan_fixed(m->p, v->first, &index) || index < 0 ||
           index >= m->p->vars[v->var].extent;
}

bool emit_is_conditional(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const emitter m = emit_expressions(t->w);
    const int count = plan_ref_count(t->p, o);
    bool may = (o->expr != NONE && emit_may_fault(&m, o->expr)) ||
               (o->parts != NONE && emit_may_fault(&m, o->parts));
    if (!t->alone && emit_skip_bit(t->p, op) >= 0)
        return true;
    for (int k = 0; k < count; k++) {
        bool write;
        may = may || ref_may_fault(&m, plan_ref(t->p, o, k, &write));
    }
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &t->p->terms[o->term + k];
        may = may || s->numbers != NONE || (s->factor != NONE && emit_may_fault(&m, s->factor));
    }
    return may;
}

/* Whether something has to be looked up before the passes. */
static bool has_prologue(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const int count = plan_ref_count(t->p, o);
    bool has =
        t->columns || o->kind == OP_RANDOM || o->kind == OP_SHARE || emit_is_conditional(t, op);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(t->p, o, k, &write);
        has = has || (v->var != NONE && t->p->vars[v->var].array);
    }
    for (int k = 0; k < term_count(o); k++)
        has = has || t->p->terms[o->term + k].factor != NONE;
    return has;
}

/* Names of what is looked up; of columns what differs is in local memory (emit_shared). */
static void declare(const sweep_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int count = plan_ref_count(p, o);
    PUT(t, t->columns ? "    offset ok%d = takes;\n" : "    int ok%d = 1;\n", op);
    for (int k = 0; k < count; k++) {
        bool write;
        declare_index(t, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &p->terms[o->term + k];
        if (s->factor != NONE && !t->columns)
            PUT(t, "    number g%d_%d;\n", op, k);
        if (s->numbers != NONE)
            PUT(t, "    offset q%d_%d = 0;\n", op, k);
    }
    if (o->kind == OP_RANDOM && !t->columns)
        PUT(t, "    sp_u64 seed%d = 0;\n", op);
    if (o->kind == OP_SHARE && !t->columns)
        PUT(t, "    offset from%d = 0, to%d = 0;\n", op, op);
}

/* Whether the operation is done, or for which columns: none where an index is wrong, which the host
 * finds by itself; and not for those whose x was updated early. */
static void put_conditions(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const int bit = t->alone ? -1 : emit_skip_bit(t->p, op);
    if (t->columns)
        PUT(t, "        if (fault != -1)\n            ok%d = 0;\n", op);
    else
        PUT(t,
            "        ok%d = fault == -1;\n        if (fault != -1 && SP_LEADER)\n"
            "            sp_note(st, fault, %d);\n",
            op, o->order);
    if (bit < 0)
        return;
    if (t->columns)
        PUT(t,
            "        for (int j = 0; j < SP_COLUMNS; j++)\n"
            "            if (st[j * SP_WORDS + ST_SKIP] >> %d & 1)\n"
            "                ok%d &= ~((offset)1 << j);\n",
            bit, op);
    else
        PUT(t, "        ok%d = ok%d && !(st[ST_SKIP] >> %d & 1);\n", op, op, bit);
}

static void put_operation(const sweep_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int count = plan_ref_count(p, o);
    const emitter m = emit_expressions(t->w);
    if (!has_prologue(t, op))
        return;
    declare(t, op);
    emit_put(t, "    {\n        int fault = -1;\n");
    for (int k = 0; k < count; k++) {
        bool write;
        put_index(t, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &p->terms[o->term + k];
        if (s->factor != NONE && !t->columns) {
            set_factor(t, op, k, s);
        } else if (s->factor != NONE && emit_may_fault(&m, s->factor)) {
            emit_put(t, "        (void)");
            put_factor(t, s);
            emit_put(t, ";\n");
        }
        if (s->numbers != NONE)
            put_numbers(t, op, k, s);
    }
    if (!t->columns)
        put_seed_and_share(t, op);
    put_conditions(t, op);
    emit_put(t, "    }\n");
    for (int k = 0; !t->columns && k < term_count(o); k++)
        if (p->terms[o->term + k].factor != NONE)
            PUT(t, "    const scalar f%d_%d = sp_scalar(g%d_%d);\n", op, k, op, k);
}

/* --- what differs from column to column ----------------------------------------------------------
 */

static void declare_shared(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &t->p->terms[o->term + k];
        if (s->v.all)
            PUT(t, "    SP_SHARED offset at%d_%d[SP_COLUMNS];\n", op, k);
        if (s->v.all && emit_in_local(t->w, t->f, op, k))
            PUT(t, "    SP_SHARED scalar k%d_%d[%d * SP_COLUMNS];\n", op, k, PROGRAM_COLUMNS);
        if (!s->v.all && s->factor != NONE)
            PUT(t, "    SP_SHARED number g%d_%d[SP_COLUMNS];\n", op, k);
    }
    if (o->kind == OP_RANDOM)
        PUT(t, "    SP_SHARED sp_u64 seed%d[SP_COLUMNS];\n", op);
    if (o->kind == OP_SHARE)
        PUT(t, "    SP_SHARED offset from%d[SP_COLUMNS];\n    SP_SHARED offset to%d[SP_COLUMNS];\n",
            op, op);
}

void emit_shared(const sweep_text *t)
{
    emit_put(t, "    SP_SHARED int member[SP_COLUMNS];\n");
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(t->p, &t->ops[i]))
            declare_shared(t, t->first + i);
}

/* What is a number for each column, by as many work-items: they are SP_COLUMNS at least. */
static void put_column_numbers(const sweep_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &p->terms[o->term + k];
        if (s->v.all)
            PUT(t, "        at%d_%d[j] = st[j * SP_WORDS + ST_SLOTS + %d];\n", op, k,
                emit_word(p, s->v.var));
        else if (s->factor != NONE)
            set_factor(t, op, k, s);
    }
    put_seed_and_share(t, op);
}

/* The factors of a vector of all right-hand sides: those of its members one after the other, a row
 * each. */
static void put_factors(const sweep_text *t, int op, int k, const term *s)
{
    if (!s->v.all || !emit_in_local(t->w, t->f, op, k))
        return;
    PUT(t,
        "    for (int at = SP_LOCAL_ID; at < members * SP_COLUMNS; at += SP_GROUP) {\n"
        "        const int j = at %% SP_COLUMNS;\n        int fault = -1;\n"
        "        SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
        "        k%d_%d[at] = ",
        op, k);
    emit_entry(t, op, k, s, "member[at / SP_COLUMNS]");
    emit_put(t, "        (void)fault;\n    }\n");
}

static void put_columns(const sweep_text *t)
{
    const plan *p = t->p;
    emit_put(t, "    const int members = sp_members(st[ST_MEMBERS], member);\n"
                "    if (SP_LOCAL_ID < SP_COLUMNS) {\n        const int j = SP_LOCAL_ID;\n"
                "        SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
                "        int fault = -1;\n        (void)num;\n        (void)fault;\n");
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(p, &t->ops[i]))
            put_column_numbers(t, t->first + i);
    emit_put(t, "    }\n");
    for (int i = 0; i < t->count; i++)
        for (int k = 0; emit_in_sweep(p, &t->ops[i]) && k < term_count(&t->ops[i]); k++)
            put_factors(t, t->first + i, k, &p->terms[t->ops[i].term + k]);
    emit_put(t, "    SP_BARRIER();\n");
}

void emit_prologue(sweep_text *t)
{
    put_pointers(t);
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(t->p, &t->ops[i]))
            put_operation(t, t->first + i);
    if (t->columns)
        put_columns(t);
}
