/*
 * The sweep of a phase as a kernel for texts whose tracks see each other: one launch, and one pass
 * over the rows, for the columns of all tracks. A work-item takes a row, or a few, and has the
 * elements of all columns there in registers: a vector of all tracks, [p], is read once for the
 * sums of all columns, whose factors are in local memory. Inner products with such vectors are
 * matrices of SP_COLUMNS x SP_COLUMNS sums, of the rows of each tile when all else of them is done
 * (emit_gram.c).
 *
 * Vectors of a column are `apart` elements from those of the column before, x and b wherever the
 * caller has them. `takes` has the bits of the columns that take part in the launch; they have
 * their vectors in the same places. Those of [p] may be of columns that do not, and in other
 * places. Indices are counters, and so the same for all of them.
 */
#include "program/emit_columns.h"

static void put(const columns_text *t, const char *text)
{
    base_text_put(t->w->out, "%s", text);
}

#define COLUMN "SP_UNROLL for (int j = 0; j < SP_COLUMNS; j++) "
/* The same around sums over work-items. */
#define COLUMN_SUMS "SP_UNROLL_SUMS for (int j = 0; j < SP_COLUMNS; j++) "
#define EACH "SP_UNROLL for (int u = 0; u < %d; u++) "

/* Whether an operation belongs to the pass over rows of the space at hand. */
static bool in_pass(const columns_text *t, const plan_op *o)
{
    return emit_in_sweep(t->p, o) && !plan_is_gram(o) && emit_space(t->p, o) == t->space;
}

/* --- before the passes ---------------------------------------------------------------------------
 */

/* The table has the places of the first column that takes part. */
static void put_pointer(const void *text, int var)
{
    const columns_text *t = text;
    const plan *p = t->p;
    const plan_var *v = &p->vars[var];
    if (var == p->var_of_name[NAME_X] || var == p->var_of_name[NAME_B])
        return;
    if (v->array || (!v->in_pieces && v->number != NONE))
        PUT(t, "    SP_GLOBAL scalar *const p%d = mem + (own[ST_SLOTS + %d] - own[ST_BEFORE]);\n",
            var, emit_word(p, var));
}

static void put_pointers(columns_text *t)
{
    put(t, "    const offset takes = st[ST_TAKES], first = sp_first_column(takes);\n"
           "    SP_GLOBAL const offset *const own = st + first * SP_WORDS;\n"
           "    SP_GLOBAL const number *const num = SP_NUMBERS_OF(first);\n"
           "    const offset n0 = own[ST_N0], n1 = own[ST_N1], apart = own[ST_APART];\n"
           "    const offset stride0 = own[ST_STRIDE0], stride1 = own[ST_STRIDE1];\n"
           "    SP_COLUMN_VECTORS_HERE\n");
    if (t->turned != NONE)
        PUT(t, "    const offset positions = own[ST_POSITIONS + %d];\n", t->turned);
    emit_each_vector(t->p, t->ops, t->count, t->known, put_pointer, t);
}

static int term_count(const plan_op *o)
{
    return o->kind == OP_COMBINE ? o->terms : 0;
}

/* Local memory of an operation: what differs from column to column. */
static void declare_shared(const columns_text *t, int op)
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

/* The factor of a term in the column whose numbers are `num`. */
static void put_factor(const columns_text *t, const term *s)
{
    emitter m = emit_expressions(t->w);
    if (s->sign < 0)
        put(t, "sp_n_negate(");
    emit_number(&m, s->factor);
    put(t, s->sign < 0 ? ")" : "");
}

/* Number `which` of those that a slice of vectors is multiplied by. */
static void put_number(const columns_text *t, int op, int k, const term *s, const char *which)
{
    const int64_t cols = t->p->extent[t->p->program->exprs[s->numbers].name][1];
    const char *const before = s->factor != NONE ? "sp_n_multiply("
                               : s->sign < 0     ? "sp_n_negate("
                                                 : "";
    put(t, before);
    if (s->factor != NONE && s->v.all)
        put_factor(t, s);
    else if (s->factor != NONE)
        PUT(t, "g%d_%d[j]", op, k);
    PUT(t, "%snum[q%d_%d + %s * %" PRId64 "]%s", s->factor != NONE ? ", " : "", op, k, which, cols,
        before[0] ? ")" : "");
}

/* Which columns an operation is done for: none where an index is wrong, which the host finds by
 * itself; and not those whose x was updated early. */
static void put_conditions(const columns_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int count = plan_ref_count(p, o), bit = t->alone ? -1 : emit_skip_bit(p, op);
    emitter m = emit_expressions(t->w);
    for (int k = 0; k < count; k++) {
        bool write;
        emit_declare_index(t->w, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < term_count(o); k++)
        if (p->terms[o->term + k].numbers != NONE)
            PUT(t, "    offset q%d_%d = 0;\n", op, k);
    PUT(t, "    offset ok%d = takes;\n    {\n        int fault = -1;\n", op);
    for (int k = 0; k < count; k++) {
        bool write;
        emit_put_index(t->w, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &p->terms[o->term + k];
        if (s->factor != NONE && emit_may_fault(&m, s->factor)) {
            put(t, "        (void)");
            put_factor(t, s);
            put(t, ";\n");
        }
        if (s->numbers != NONE)
            emit_put_numbers(t->w, op, k, s);
    }
    PUT(t, "        if (fault != -1)\n            ok%d = 0;\n    }\n", op);
    if (bit >= 0)
        PUT(t,
            "    for (int j = 0; j < SP_COLUMNS; j++)\n"
            "        if (st[j * SP_WORDS + ST_SKIP] >> %d & 1)\n"
            "            ok%d &= ~((offset)1 << j);\n",
            bit, op);
}

/* What is a number for each column, by as many work-items: they are SP_COLUMNS at least. */
static void put_column_numbers(const columns_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    emitter m = emit_expressions(t->w);
    for (int k = 0; k < term_count(o); k++) {
        const term *s = &p->terms[o->term + k];
        if (s->v.all)
            PUT(t, "        at%d_%d[j] = st[j * SP_WORDS + ST_SLOTS + %d];\n", op, k,
                emit_word(p, s->v.var));
        if (s->factor == NONE || s->v.all)
            continue;
        PUT(t, "        g%d_%d[j] = ", op, k);
        put_factor(t, s);
        put(t, ";\n");
    }
    if (o->kind == OP_RANDOM) {
        PUT(t, "        seed%d[j] = sp_seed(SP_RE(", op);
        emit_number(&m, o->expr);
        put(t, "));\n");
    }
    if (o->kind != OP_SHARE)
        return;
    put(t, "        {\n            const double which = SP_RE(");
    emit_number(&m, o->expr);
    put(t, "), parts = SP_RE(");
    emit_number(&m, o->parts);
    PUT(t,
        ");\n            from%d[j] = sp_share(which, parts, own[ST_ALL%d]);\n"
        "            to%d[j] = sp_share(which + 1, parts, own[ST_ALL%d]);\n        }\n",
        op, emit_space(p, o), op, emit_space(p, o));
}

/* What column j multiplies a member's vector by. */
static void put_entry(const columns_text *t, int op, int k, const term *s, const char *member)
{
    PUT(t, "ok%d >> j & 1 ? sp_scalar(", op);
    put_number(t, op, k, s, member);
    put(t, ") : SP_ZERO;\n");
}

/* The factors of a vector of all tracks: those of its members one after the other, a row each. */
static void put_factors(const columns_text *t, int op, int k, const term *s)
{
    if (!s->v.all || !emit_in_local(t->w, t->f, op, k))
        return;
    PUT(t,
        "    for (int at = SP_LOCAL_ID; at < members * SP_COLUMNS; at += SP_GROUP) {\n"
        "        const int j = at %% SP_COLUMNS;\n        int fault = -1;\n"
        "        SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
        "        k%d_%d[at] = ",
        op, k);
    put_entry(t, op, k, s, "member[at / SP_COLUMNS]");
    put(t, "        (void)fault;\n    }\n");
}

static void put_prologue(const columns_text *t)
{
    const plan *p = t->p;
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(p, &t->ops[i]))
            put_conditions(t, t->first + i);
    put(t, "    const int members = sp_members(st[ST_MEMBERS], member);\n"
           "    if (SP_LOCAL_ID < SP_COLUMNS) {\n        const int j = SP_LOCAL_ID;\n"
           "        SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
           "        int fault = -1;\n        (void)num;\n        (void)fault;\n");
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(p, &t->ops[i]))
            put_column_numbers(t, t->first + i);
    put(t, "    }\n");
    for (int i = 0; i < t->count; i++)
        for (int k = 0; emit_in_sweep(p, &t->ops[i]) && k < term_count(&t->ops[i]); k++)
            put_factors(t, t->first + i, k, &p->terms[t->ops[i].term + k]);
    put(t, "    SP_BARRIER();\n");
}

/* --- in a pass -----------------------------------------------------------------------------------
 */

void emit_place(const columns_text *t, int op, int k, const vref *v, const char *j, const char *i)
{
    const plan *p = t->p;
    if (v->var == p->var_of_name[NAME_X] || v->var == p->var_of_name[NAME_B])
        PUT(t, "%s(%s)[%s]", v->var == p->var_of_name[NAME_X] ? "SP_X_OF" : "SP_B_OF", j, i);
    else if (p->vars[v->var].array)
        PUT(t, "p%d[%s * apart + i%d_%d * stride%d + %s]", v->var, j, op, k, p->vars[v->var].space,
            i);
    else
        PUT(t, "p%d[%s * apart + %s]", v->var, j, i);
}

/* An operand's value in column j at element u, as an expression. */
static void put_value(const columns_text *t, int op, int k, const vref *v)
{
    if (!t->p->vars[v->var].array) {
        PUT(t, "v%d[j][u]", v->var);
        return;
    }
    PUT(t, "(on[u] && (ok%d >> j & 1) ? ", op);
    emit_place(t, op, k, v, "j", "i[u]");
    put(t, " : SP_ZERO)");
}

/* Plain vectors that an operation reads are in registers from then on, and x that it may leave as
 * it is. */
static void put_loads(columns_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int count = plan_ref_count(p, o);
    const bool skips = !t->alone && emit_skip_bit(p, op) >= 0;
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(p, o, k, &write);
        if (v->var == NONE || v->all || p->vars[v->var].array || t->known[v->var] ||
            (o->kind == OP_APPLY && !write))
            continue;
        t->known[v->var] = 1;
        PUT(t, "        scalar v%d[SP_COLUMNS][%d];\n        " COLUMN EACH "v%d[j][u] = ", v->var,
            t->width, t->width, v->var);
        if ((write && !skips) || p->vars[v->var].in_pieces) {
            put(t, "SP_ZERO;\n");
            continue;
        }
        put(t, "on[u] && (takes >> j & 1) ? ");
        emit_place(t, op, k, v, "j", "i[u]");
        put(t, " : SP_ZERO;\n");
    }
}

void emit_step(const columns_text *t, int op, int k, const vref *v)
{
    if (t->p->vars[v->var].array)
        PUT(t, " + i%d_%d * stride%d", op, k, t->p->vars[v->var].space);
}

/* Vectors of all tracks: each is read once, for the sums of all columns. */
static void put_all_term(const columns_text *t, int op, int k, const term *s)
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
        put_entry(t, op, k, s, "member[m]");
    PUT(t,
        "                    (void)num;\n                    (void)fault;\n"
        "                    " EACH "t[j][u] = sp_fma(f, a[u], t[j][u]);\n"
        "                }\n            }\n",
        t->width);
}

/* Slices of arrays, which each column has of its own. */
static void put_slice_term(const columns_text *t, int op, int k, const term *s)
{
    PUT(t,
        "            " COLUMN "{\n"
        "                SP_GLOBAL const number *const num = SP_NUMBERS_OF(j);\n"
        "                for (offset s = 0; (ok%d >> j & 1) && s < n%d_%d; s++) {\n"
        "                    const scalar f = sp_scalar(",
        op, op, k);
    put_number(t, op, k, s, "s");
    PUT(t,
        ");\n                    SP_GLOBAL const scalar *const from = p%d + j * apart + (i%d_%d + "
        "s) * stride%d;\n"
        "                    " EACH "if (on[u])\n"
        "                        t[j][u] = sp_fma(f, from[i[u]], t[j][u]);\n"
        "                }\n            }\n",
        s->v.var, op, k, t->p->vars[s->v.var].space, t->width);
}

static void put_plain_term(const columns_text *t, int op, int k, const term *s, bool begun)
{
    PUT(t, "            " COLUMN EACH "t[j][u] = ", t->width);
    if (s->factor != NONE) {
        PUT(t, begun ? "sp_fma(sp_scalar(g%d_%d[j]), " : "sp_mul(sp_scalar(g%d_%d[j]), ", op, k);
        put_value(t, op, k, &s->v);
        put(t, begun ? ", t[j][u]);\n" : ");\n");
        return;
    }
    if (begun)
        put(t, s->sign < 0 ? "sp_sub(t[j][u], " : "sp_add(t[j][u], ");
    put_value(t, op, k, &s->v);
    put(t, begun ? ");\n" : ";\n");
}

static void put_terms(const columns_text *t, int op, const plan_op *o)
{
    const term *terms = &t->p->terms[o->term];
    /* The first term sets the sum where that needs no addition to zero. */
    const bool sets =
        o->terms > 0 && terms->numbers == NONE && (terms->factor != NONE || terms->sign > 0);
    if (!sets)
        PUT(t, "            " COLUMN EACH "t[j][u] = SP_ZERO;\n", t->width);
    for (int k = 0; k < o->terms; k++)
        if (terms[k].v.all)
            put_all_term(t, op, k, &terms[k]);
        else if (terms[k].numbers != NONE)
            put_slice_term(t, op, k, &terms[k]);
        else
            put_plain_term(t, op, k, &terms[k], k > 0 || !sets);
}

/* The result t[][] of an operation becomes the vector's, at once in memory, too. */
static void put_result(const columns_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const plan_var *var = &t->p->vars[o->out.var];
    const int k = plan_ref_count(t->p, o) - 1;
    if (!var->array)
        PUT(t, "            " COLUMN EACH "if (ok%d >> j & 1) v%d[j][u] = t[j][u];\n", t->width, op,
            o->out.var);
    if (var->in_pieces)
        return;
    PUT(t, "            " COLUMN EACH "if (on[u] && (ok%d >> j & 1)) ", t->width, op);
    emit_place(t, op, k, &o->out, "j", "i[u]");
    put(t, " = t[j][u];\n");
}

/* Inner products of a column with its own vectors; those of slices are added up tile by tile. */
static void put_dot(const columns_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const char *left = o->conjugate ? "SP_NUMBER_CONJ" : "";
    const bool slice = emit_is_slice(&o->in[0]);
    const int64_t slot = emit_slot(t->p, t->f, op);
    if (slice)
        PUT(t,
            "        for (int j = 0; j < SP_COLUMNS; j++)\n"
            "            for (offset s = 0; s < n%d_0; s++) {\n"
            "                number a = SP_NUMBER_ZERO;\n"
            "                SP_GLOBAL const scalar *const from = p%d + j * apart + (i%d_0 + s) * "
            "stride%d;\n                " EACH "if (on[u] && (ok%d >> j & 1))\n"
            "                    a = sp_number_fma(%s(sp_number(from[i[u]])), sp_number(",
            op, o->in[0].var, op, t->p->vars[o->in[0].var].space, t->width, op, left);
    else
        PUT(t,
            "        " COLUMN EACH "if (on[u])\n            a%d[j] = sp_number_fma(%s(sp_number(",
            t->width, op, left);
    if (!slice) {
        put_value(t, op, 0, &o->in[0]);
        put(t, ")), sp_number(");
    }
    put_value(t, op, 1, &o->in[1]);
    if (slice)
        PUT(t,
            "), a);\n                sp_keep_part(sp_group_sum(a, sum_room), j * %" PRId64
            " + %" PRId64 " + s, part);\n            }\n",
            t->slots, slot);
    else
        PUT(t, "), a%d[j]);\n", op);
}

static void put_elements(const columns_text *t, int op, const char *function)
{
    const plan_op *o = &t->p->ops[op];
    PUT(t, "            " COLUMN EACH "t[j][u] = %s(", t->width, function);
    put_value(t, op, 0, &o->in[0]);
    put(t, ", ");
    put_value(t, op, 1, &o->in[1]);
    put(t, ");\n");
}

static void put_operation(columns_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    put_loads(t, op);
    if (o->kind == OP_DOT) {
        put_dot(t, op);
        return;
    }
    PUT(t, "        {\n            scalar t[SP_COLUMNS][%d];\n", t->width);
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
        PUT(t,
            "            " EACH "{\n                const scalar d = on[u] ? d%d[i[u]] : SP_ZERO;\n"
            "                " COLUMN "t[j][u] = sp_mul(d, ",
            t->width, (int)o->transpose);
        put_value(t, op, 0, &o->in[0]);
        put(t, ");\n            }\n");
        break;
    case OP_SHARE:
        PUT(t,
            "            " COLUMN EACH
            "t[j][u] = own[ST_FIRST%d] + i[u] >= from%d[j] && own[ST_FIRST%d] + i[u] < to%d[j] ? "
            "SP_ONE : SP_ZERO;\n",
            t->width, t->space, op, t->space, op);
        break;
    case OP_RANDOM:
        PUT(t,
            "            " COLUMN EACH "t[j][u] = sp_random(seed%d[j], own[ST_FIRST%d] + i[u]);\n",
            t->width, op, t->space);
        break;
    default: /* OP_APPLY: the rows' sums */
        PUT(t, "            " COLUMN "t[j][0] = s%d[j];\n", op);
        break;
    }
    put_result(t, op);
    put(t, "        }\n");
}

/* The rows' sums of the products, as many columns at a time as the rows' text makes; the last of
 * them may be made twice. The columns of x are apart by nothing that is known: one at a time. */
static void put_products(const columns_text *t)
{
    const plan *p = t->p;
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        const device_rows *rows = &t->w->rows[t->turned];
        const int op = t->first + i, C = t->w->columns;
        if (o->kind != OP_APPLY || !in_pass(t, o))
            continue;
        const bool x =
            o->in[0].var == p->var_of_name[NAME_X] || o->in[0].var == p->var_of_name[NAME_B];
        const int together = x ? 1 : rows->columns;
        PUT(t,
            "        scalar s%d[SP_COLUMNS];\n        SP_UNROLL_SUMS for (int c = 0; c < %d; c++) "
            "{\n",
            op, (C + together - 1) / together);
        PUT(t,
            "            const int j = c * %d < %d ? c * %d : %d;\n            scalar r[%d];\n"
            "            SP_UNROLL for (int k = 0; k < %d; k++)\n                r[k] = SP_ZERO;\n"
            "            if (i[0] >= 0 && (!%d || (ok%d >> j & 1)))\n                %srow(%s, &",
            together, C - together, together, C - together, rows->columns, rows->columns, x, op,
            emit_prefix(t->turned), rows->pass_text);
        emit_place(t, op, 0, &o->in[0], "j", "0");
        PUT(t,
            ", %s, (int)at, lane, r);\n"
            "            SP_UNROLL_SUMS for (int k = 0; k < %d; k++)\n"
            "                s%d[j + k] = sp_lanes_sum(r[k], lanes, SP_LANES_PASS(lane_room));\n"
            "        }\n",
            x ? "0" : "apart", together, op);
    }
}

/* --- passes --------------------------------------------------------------------------------------
 */

static void put_pass(columns_text *t)
{
    bool any = false, product = false;
    for (int i = 0; i < t->count; i++) {
        any = any || in_pass(t, &t->ops[i]);
        product = product || (in_pass(t, &t->ops[i]) && t->ops[i].kind == OP_APPLY);
    }
    if (!any && !emit_has_gram(t))
        return;
    t->width = product ? 1 : t->w->width;
    memset(t->known, 0, (size_t)t->p->var_count);
    if (product)
        PUT(t,
            "    enum { lanes = %d };\n"
            "    const offset tiles = (positions + SP_GROUP / lanes - 1) / (SP_GROUP / lanes);\n"
            "    const offset run = sp_run(tiles);\n"
            "    for (offset tile = SP_GROUP_ID * run; tile < tiles;\n"
            "         tile += (tile + 1) & (run - 1) ? 1 : 1 + (SP_GROUPS - 1) * run) {\n"
            "        const offset at = tile * (SP_GROUP / lanes) + SP_LOCAL_ID / lanes;\n"
            "        const int lane = SP_LOCAL_ID %% lanes;\n"
            "        offset i[1] = {-1};\n        int on[1];\n"
            "        if (at < positions)\n            i[0] = %srow_at(%s, (int)at);\n"
            "        on[0] = i[0] >= 0 && lane == 0;\n",
            t->w->rows[t->turned].lanes, emit_prefix(t->turned), t->w->rows[t->turned].pass_text);
    else
        PUT(t,
            "    for (offset tile = SP_GROUP_ID; tile * (SP_GROUP * %d) < n%d;\n"
            "         tile += SP_GROUPS) {\n",
            t->width, t->space);
    if (any && !product)
        PUT(t,
            "        offset i[%d];\n        int on[%d];\n        " EACH "{\n"
            "            i[u] = tile * (SP_GROUP * %d) + u * SP_GROUP + SP_LOCAL_ID;\n"
            "            on[u] = i[u] < n%d;\n        }\n",
            t->width, t->width, t->width, t->width, t->space);
    if (product)
        put_products(t);
    for (int i = 0; i < t->count; i++)
        if (in_pass(t, &t->ops[i]))
            put_operation(t, t->first + i);
    emit_grams(t, product);
    put(t, "    }\n");
}

/* --- the kernel ----------------------------------------------------------------------------------
 */

static void put_shared(const columns_text *t)
{
    bool gram = false;
    put(t, "    SP_SHARED int member[SP_COLUMNS];\n    SP_SUM_ROOM(sum_room);\n");
    for (int i = 0; i < t->count; i++) {
        if (emit_in_sweep(t->p, &t->ops[i]))
            declare_shared(t, t->first + i);
        gram = gram || plan_is_gram(&t->ops[i]);
    }
    if (gram)
        put(t, "    SP_SHARED number kept[SP_GROUP];\n");
    if (t->turned != NONE)
        put(t, "    SP_LANE_ROOM(lane_room);\n");
}

/* Sums of an inner product that a work-item has. */
static int sums_of(const columns_text *t, const plan_op *o)
{
    return plan_is_gram(o) ? emit_gram_sums(t) : t->w->columns;
}

/* Sums in registers begin with zero, and those of slices in memory. */
static void clear_sums(const columns_text *t)
{
    bool slices = false;
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        if (o->kind == OP_DOT && (plan_is_gram(o) || !emit_is_slice(&o->in[0])))
            PUT(t,
                "    number a%d[%d];\n    SP_UNROLL for (int k = 0; k < %d; k++)\n"
                "        a%d[k] = SP_NUMBER_ZERO;\n",
                t->first + i, sums_of(t, o), sums_of(t, o), t->first + i);
        slices = slices || (o->kind == OP_DOT && emit_is_slice(&o->in[0]) && !plan_is_gram(o));
    }
    if (slices)
        PUT(t,
            "    for (int k = SP_LOCAL_ID; k < %" PRId64 "; k += SP_GROUP)\n"
            "        part[(offset)k * SP_GROUPS + SP_GROUP_ID] = SP_NUMBER_ZERO;\n"
            "    SP_BARRIER_GLOBAL();\n",
            t->slots * t->w->columns);
}

static void collect_sums(const columns_text *t)
{
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        if (plan_is_gram(o))
            emit_collect_gram(t, t->first + i);
        else if (o->kind == OP_DOT && !emit_is_slice(&o->in[0]))
            PUT(t,
                "    " COLUMN_SUMS "{\n"
                "        const number sum = sp_group_sum(a%d[j], sum_room);\n"
                "        if (SP_LOCAL_ID == 0)\n"
                "            part[(offset)(j * %" PRId64 " + %" PRId64 ") * SP_GROUPS + "
                "SP_GROUP_ID] = sum;\n    }\n",
                t->first + i, t->slots, emit_slot(t->p, t->f, t->first + i));
    }
}

/* Groups that registers must last for: with 16 columns of doubles kernels need about as many as
 * leave room for two; tiles of complex inner products have more sums than that. */
static int at_once(const columns_text *t)
{
    enum { ITEMS = 512 };
    bool gram = false;
    for (int i = 0; i < t->count; i++)
        gram = gram || plan_is_gram(&t->ops[i]);
    return gram && spry_type_is_complex(t->w->type) ? 1 : ITEMS / t->w->group;
}

void emit_columns(emit_job *w, const phase *f, const char *name, int number, bool alone)
{
    const plan *p = w->p;
    columns_text t = {.w = w,
                      .p = p,
                      .f = f,
                      .ops = &p->ops[f->first],
                      .first = f->first,
                      .count = f->sweep_count,
                      .slots = emit_slots(p, f),
                      .turned = emit_turned(p, f),
                      .alone = alone};
    const spry_status status = base_calloc(p->ctx, p->var_count + 1, 1, &t.known);
    if (status != SPRY_STATUS_OK) {
        w->out->status = status;
        return;
    }
    if (at_once(&t) > 1)
        PUT(&t, "\nSP_KERNEL_OF(%d) %s_%d(", at_once(&t), name, number);
    else
        PUT(&t, "\nSP_KERNEL %s_%d(", name, number);
    emit_arguments(w, f);
    put(&t, ")\n{\n");
    put_shared(&t);
    put_pointers(&t);
    put_prologue(&t);
    clear_sums(&t);
    for (t.space = 0; t.space < 2; t.space++)
        put_pass(&t);
    collect_sums(&t);
    put(&t, "}\n");
    if (t.slots > 0)
        PUT(&t,
            "\nSP_KERNEL sums_%d(SP_COMMON SP_COUNTERS, const int groups)\n{\n"
            "    SP_WARP_ROOM(room);\n    sp_total_columns(%" PRId64 " * SP_COLUMNS, groups, part, "
            "room);\n}\n",
            number, t.slots);
    base_free(p->ctx, t.known);
}
