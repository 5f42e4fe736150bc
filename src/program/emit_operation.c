/* An operation of a pass over rows, for the elements that a work-item has in registers. */
#include "program/emit_sweep.h"

/* Opens a statement for each element of each column. */
static void put_each(const sweep_text *t)
{
    PUT(t, "            %s" EACH, t->over, t->width);
}

/* Whether operation op is done for the column at hand. */
static void put_ok(const sweep_text *t, int op)
{
    PUT(t, t->columns ? "(ok%d >> j & 1)" : "ok%d", op);
}

void emit_place(const sweep_text *t, int op, int k, const vref *v, const char *j, const char *i)
{
    const plan *p = t->p;
    if (t->columns && emit_is_caller(p, v->var)) {
        PUT(t, "%s(%s)[%s]", v->var == p->var_of_name[NAME_X] ? "SP_X_OF" : "SP_B_OF", j, i);
        return;
    }
    PUT(t, "p%d[", v->var);
    if (t->columns)
        PUT(t, "%s * apart + ", j);
    if (p->vars[v->var].array)
        PUT(t, "i%d_%d * stride%d + ", op, k, p->vars[v->var].space);
    PUT(t, "%s]", i);
}

void emit_step(const sweep_text *t, int op, int k, const vref *v)
{
    if (t->p->vars[v->var].array)
        PUT(t, " + i%d_%d * stride%d", op, k, t->p->vars[v->var].space);
}

/* An operand's value in column j at element u, as an expression. */
static void put_value(const sweep_text *t, int op, int k, const vref *v)
{
    if (!t->p->vars[v->var].array) {
        PUT(t, "v%d%s", v->var, t->at);
        return;
    }
    emit_put(t, "(on[u] ");
    if (t->columns) {
        emit_put(t, "&& ");
        put_ok(t, op);
        emit_put(t, " ");
    }
    emit_put(t, "? ");
    emit_place(t, op, k, v, "j", "i[u]");
    emit_put(t, " : SP_ZERO)");
}

/* Registers of columns begin with zero: an operation may leave out some columns. */
void emit_loads(sweep_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int count = plan_ref_count(p, o);
    const bool keeps =
        t->columns ? !t->alone && emit_skip_bit(p, op) >= 0 : emit_is_conditional(t, op);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == NONE || v->all || p->vars[v->var].array || t->known[v->var] ||
            (o->kind == OP_APPLY && !write))
            continue;
        const bool reads = !p->vars[v->var].in_pieces && (!write || keeps);
        t->known[v->var] = 1;
        PUT(t, "        scalar v%d%s[%d];\n", v->var, t->columns ? "[SP_COLUMNS]" : "", t->width);
        if (!reads && !t->columns)
            continue;
        PUT(t, "        %s" EACH "v%d%s = ", t->over, t->width, v->var, t->at);
        if (reads) {
            emit_put(t, t->columns ? "on[u] && (takes >> j & 1) ? " : "on[u] ? ");
            emit_place(t, op, k, v, "j", "i[u]");
            emit_put(t, " : ");
        }
        emit_put(t, "SP_ZERO;\n");
    }
}

/* --- sums of terms -------------------------------------------------------------------------------
 */

/* Vector `which` of a slice. */
static void put_from(const sweep_text *t, int op, int k, const vref *v, const char *which)
{
    PUT(t, "SP_GLOBAL const scalar *const from = p%d + %s(i%d_%d + %s) * stride%d;\n", v->var,
        t->columns ? "j * apart + " : "", op, k, which, t->p->vars[v->var].space);
}

/* Vectors of all right-hand sides: each is read once, for the sums of all columns. */
static void put_all_term(const sweep_text *t, int op, int k, const term *s)
{
    PUT(t,
        "            SP_UNROLL_BY(4)\n            for (int m = 0; m < members; m++) {\n"
        "                SP_GLOBAL const scalar *const from = mem + at%d_%d[member[m]]",
        op, k);
    emit_step(t, op, k, &s->v);
    PUT(t,
        ";\n                scalar a[%d];\n"
        "                " EACH "a[u] = on[u] ? from[i[u]] : SP_ZERO;\n"
        "                " COLUMN "{\n"
        "                    SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
        "                    int fault = -1;\n"
        "                    const scalar f = ",
        t->width, t->width);
    if (emit_in_local(t->w, t->f, op, k))
        PUT(t, "k%d_%d[m * SP_COLUMNS + j];\n", op, k);
    else
        emit_entry(t, op, k, s, "member[m]");
    PUT(t,
        "                    (void)num;\n                    (void)fault;\n"
        "                    " EACH "t[j][u] = sp_fma(f, a[u], t[j][u]);\n"
        "                }\n            }\n",
        t->width);
}

/* Slices of arrays, which each column has of its own. */
static void put_slice_term(const sweep_text *t, int op, int k, const term *s)
{
    if (t->columns)
        PUT(t,
            "            " COLUMN "{\n            SP_GLOBAL const number *const num = "
            "SP_NUMBERS_OF(j);\n"
            "            for (offset s = 0; (ok%d >> j & 1) && s < n%d_%d; s++) {\n",
            op, op, k);
    else
        PUT(t, "            SP_UNROLL_BY(4)\n            for (offset s = 0; s < n%d_%d; s++) {\n",
            op, k);
    emit_put(t, "                const scalar f = sp_scalar(");
    emit_slice_number(t, op, k, s, "s");
    emit_put(t, ");\n                ");
    put_from(t, op, k, &s->v, "s");
    PUT(t,
        "                " EACH "if (on[u])\n"
        "                    t%s = sp_fma(f, from[i[u]], t%s);\n            }\n%s",
        t->width, t->at, t->at, t->columns ? "            }\n" : "");
}

static void put_plain_term(const sweep_text *t, int op, int k, const term *s, bool begun)
{
    put_each(t);
    PUT(t, "t%s = ", t->at);
    if (s->factor != NONE) {
        PUT(t, begun ? "sp_fma(" : "sp_mul(");
        PUT(t, t->columns ? "sp_scalar(g%d_%d[j]), " : "f%d_%d, ", op, k);
    } else if (begun) {
        PUT(t, "%s(t%s, ", s->sign < 0 ? "sp_sub" : "sp_add", t->at);
    }
    put_value(t, op, k, &s->v);
    if (s->factor != NONE && begun)
        PUT(t, ", t%s", t->at);
    emit_put(t, s->factor != NONE || begun ? ");\n" : ";\n");
}

static void put_terms(const sweep_text *t, int op, const plan_op *o)
{
    const term *terms = &t->p->terms[o->term];
    /* The first term sets the sum where that needs no addition to zero. */
    const bool sets =
        o->terms > 0 && terms->numbers == NONE && (terms->factor != NONE || terms->sign > 0);
    if (!sets) {
        put_each(t);
        PUT(t, "t%s = SP_ZERO;\n", t->at);
    }
    for (int k = 0; k < o->terms; k++)
        if (terms[k].v.all)
            put_all_term(t, op, k, &terms[k]);
        else if (terms[k].numbers != NONE)
            put_slice_term(t, op, k, &terms[k]);
        else
            put_plain_term(t, op, k, &terms[k], k > 0 || !sets);
}

/* --- inner products ------------------------------------------------------------------------------
 */

/* Adds the products of elements to `sum`; `left`: of what, or that of the operand. */
static void put_products(const sweep_text *t, int op, const char *left, const char *sum)
{
    const plan_op *o = &t->p->ops[op];
    PUT(t, "%s = sp_number_fma(%s(sp_number(", sum, o->conjugate ? "SP_NUMBER_CONJ" : "");
    if (left)
        emit_put(t, left);
    else
        put_value(t, op, 0, &o->in[0]);
    emit_put(t, ")), sp_number(");
    put_value(t, op, 1, &o->in[1]);
    PUT(t, "), %s);\n", sum);
}

/* Four vectors at a time: their reads, and then the sums over lanes, overlap. */
static void put_slice_dot(const sweep_text *t, int op)
{
    PUT(t,
        "            {\n            const offset SLOT = SLOT%d;\n"
        "            for (offset s = 0; s < n%d_0; s += 4) {\n"
        "                number a[4];\n"
        "                SP_UNROLL for (int k = 0; k < 4; k++) {\n"
        "                    const offset which = s + k < n%d_0 ? s + k : n%d_0 - 1;\n"
        "                    ",
        op, op, op, op);
    put_from(t, op, 0, &t->p->ops[op].in[0], "which");
    PUT(t,
        "                    a[k] = SP_NUMBER_ZERO;\n"
        "                    " EACH "if (on[u])\n                        ",
        t->width);
    put_products(t, op, "from[i[u]]", "a[k]");
    PUT(t,
        "                }\n                %s, n%d_0 - s, SLOT + s, %s);\n            }\n"
        "            }\n",
        t->local_sums ? "sp_keep_sums(a" : "sp_keep_parts(a", op,
        t->local_sums ? "room, sums" : "sum_room, part");
}

/* Of columns the sums are added up tile by tile. */
static void put_slice_dot_columns(const sweep_text *t, int op)
{
    PUT(t,
        "        for (int j = 0; j < SP_COLUMNS; j++)\n"
        "            for (offset s = 0; s < n%d_0; s++) {\n"
        "                number a = SP_NUMBER_ZERO;\n                ",
        op);
    put_from(t, op, 0, &t->p->ops[op].in[0], "s");
    PUT(t,
        "                " EACH "if (on[u] && (ok%d >> j & 1))\n"
        "                    ",
        t->width, op);
    put_products(t, op, "from[i[u]]", "a");
    PUT(t,
        "                sp_keep_part(sp_group_sum(a, sum_room), j * %" PRId64 " + %" PRId64
        " + s, part);\n            }\n",
        t->slots, emit_slot(t->p, t->f, op));
}

static void put_dot(const sweep_text *t, int op)
{
    char sum[32];
    if (emit_is_slice(&t->p->ops[op].in[0])) {
        (t->columns ? put_slice_dot_columns : put_slice_dot)(t, op);
        return;
    }
    snprintf(sum, sizeof sum, "a%d%s", op, t->of);
    put_each(t);
    emit_put(t, "if (on[u])\n                ");
    put_products(t, op, NULL, sum);
}

/* --- operations ----------------------------------------------------------------------------------
 */

static void put_elements(const sweep_text *t, int op, const char *function)
{
    const plan_op *o = &t->p->ops[op];
    put_each(t);
    PUT(t, "t%s = %s(", t->at, function);
    put_value(t, op, 0, &o->in[0]);
    emit_put(t, ", ");
    put_value(t, op, 1, &o->in[1]);
    emit_put(t, ");\n");
}

/* An element of the diagonal is read once for all columns. */
static void put_diagonal(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    PUT(t,
        "            " EACH "{\n                const scalar d = on[u] ? d%d[i[u]] : SP_ZERO;\n"
        "                %st%s = sp_mul(d, ",
        t->width, (int)o->transpose, t->over, t->at);
    put_value(t, op, 0, &o->in[0]);
    emit_put(t, ");\n            }\n");
}

static void put_share(const sweep_text *t, int op)
{
    put_each(t);
    PUT(t,
        "t%s = %s[ST_FIRST%d] + i[u] >= from%d%s && %s[ST_FIRST%d] + i[u] < to%d%s ? "
        "SP_ONE : SP_ZERO;\n",
        t->at, t->own, t->space, op, t->of, t->own, t->space, op, t->of);
}

/* The result of an operation becomes the vector's; of columns at once in memory, too: inner
 * products of all of them read it in memory. */
static void put_result(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const plan_var *var = &t->p->vars[o->out.var];
    if (!var->array) {
        put_each(t);
        if (t->columns || emit_is_conditional(t, op)) {
            emit_put(t, t->columns ? "if " : "if (");
            put_ok(t, op);
            emit_put(t, t->columns ? " " : ") ");
        }
        PUT(t, "v%d%s = t%s;\n", o->out.var, t->at, t->at);
        t->written[o->out.var] = !var->in_pieces && !t->columns;
    }
    if (var->array || (t->columns && !var->in_pieces)) {
        put_each(t);
        emit_put(t, "if (on[u] && ");
        put_ok(t, op);
        emit_put(t, ")\n                ");
        emit_place(t, op, plan_ref_count(t->p, o) - 1, &o->out, "j", "i[u]");
        PUT(t, " = t%s;\n", t->at);
    }
}

void emit_operation(sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    if (o->kind == OP_DOT) {
        put_dot(t, op);
        return;
    }
    PUT(t, "        {\n            scalar t%s[%d];\n", t->columns ? "[SP_COLUMNS]" : "", t->width);
    switch (o->kind) {
    case OP_COMBINE:
        put_terms(t, op, o);
        break;
    case OP_TIMES:
        put_elements(t, op, "sp_mul");
        break;
    case OP_OVER:
        put_elements(t, op, "sp_over");
        break;
    case OP_DIAGONAL:
        put_diagonal(t, op);
        break;
    case OP_SHARE:
        put_share(t, op);
        break;
    case OP_RANDOM:
        put_each(t);
        PUT(t, "t%s = sp_random(seed%d%s, %s[ST_FIRST%d] + i[u]);\n", t->at, op, t->of, t->own,
            t->space);
        break;
    default: /* OP_APPLY: the rows' sums */
        PUT(t, "            %st%s[0] = s%d%s;\n", t->over, t->of, op, t->columns ? "[j]" : "[0]");
        break;
    }
    put_result(t, op);
    emit_put(t, "        }\n");
}
