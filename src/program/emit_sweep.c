/*
 * The sweep of a phase as a kernel. Elements go through all operations in registers: a vector that
 * lives in pieces on the host has no memory here either. Plain vectors are read before the first
 * operation and written after the last, a few elements of a work-item at a time, so that many reads
 * are under way; elements of arrays, which may be the same vector by different names, are read and
 * written where they stand.
 *
 * Where a phase has products, work-items go by the positions of the matrix's rows: the lanes of a
 * row add up its product, and the first of them does the rest. Rows of A^T and A^H have positions
 * of their own, so that a phase has products with one of these (see schedule.c).
 */
#include "program/resident.h"

enum { LOCAL_SUMS_BYTES = 24 * 1024 };
/* Where much is asked for at once: work-items per unit that registers must last for. */
enum { ITEMS_AT_ONCE = 1024 };

typedef struct sweep_text {
    emit_job *w;
    const plan *p;
    const plan_op *ops; /* those of the sweep */
    int first, count;
    int space;  /* at hand */
    int turned; /* products are with A, A^T or A^H; NONE: there are none */
    int width;  /* elements per work-item has at a time */
    bool product;
    bool local_sums;                /* sums of slices fit into local memory */
    bool alone;                     /* a single update of x, by itself */
    unsigned char *known, *written; /* by variable: in registers, and to be stored */
} sweep_text;

static void put(const sweep_text *t, const char *text)
{
    base_text_put(t->w->out, "%s", text);
}
#define PUT(t, ...) base_text_put((t)->w->out, __VA_ARGS__)

void emit_each_vector(const plan *p, const plan_op *ops, int count, unsigned char *known,
                      void (*visit)(const void *text, int var), const void *text)
{
    memset(known, 0, (size_t)p->var_count);
    for (int i = 0; i < count; i++) {
        const int refs = plan_ref_count(p, &ops[i]);
        for (int k = 0; emit_in_sweep(p, &ops[i]) && k < refs; k++) {
            bool write;
            const vref *v = plan_ref(p, &ops[i], k, &write);
            if (v->var == NONE || v->all || known[v->var])
                continue;
            known[v->var] = 1;
            visit(text, v->var);
        }
    }
}

static bool ref_may_fault(const emitter *m, const vref *v)
{
    int64_t index;
    if (v->var == NONE || !m->p->vars[v->var].array)
        return false;
    return emit_is_slice(v) || !plan_fixed(m->p, v->first, &index) || index < 0 ||
           index >= m->p->vars[v->var].extent;
}

/* Whether an operation may be left out: an index may be wrong, or it was made early. */
static bool is_conditional(const sweep_text *t, int op)
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
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++) {
        const term *s = &t->p->terms[o->term + k];
        may = may || s->numbers != NONE || (s->factor != NONE && emit_may_fault(&m, s->factor));
    }
    return may;
}

/* Whether something has to be looked up before the loop: indices, factors, a seed. */
static bool has_prologue(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const int count = plan_ref_count(t->p, o);
    bool has = o->kind == OP_RANDOM || o->kind == OP_SHARE || is_conditional(t, op);
    for (int k = 0; k < count; k++) {
        bool write;
        const vref *v = plan_ref(t->p, o, k, &write);
        has = has || (v->var != NONE && t->p->vars[v->var].array);
    }
    for (int k = 0; o->kind == OP_COMBINE && k < o->terms; k++)
        has = has || t->p->terms[o->term + k].factor != NONE;
    return has;
}

/* --- before the loop: pointers, indices, factors ------------------------------------------------
 */

static void put_pointer(const void *text, int var)
{
    const sweep_text *t = text;
    const plan *p = t->p;
    const plan_var *v = &p->vars[var];
    if (var == p->var_of_name[NAME_X])
        PUT(t, "    SP_GLOBAL scalar *const p%d = SP_AT_X;\n", var);
    else if (var == p->var_of_name[NAME_B])
        PUT(t, "    SP_GLOBAL const scalar *const p%d = SP_AT_B;\n", var);
    else if (v->array)
        PUT(t, "    SP_GLOBAL scalar *const p%d = mem + st[ST_SLOTS + %d];\n", var, p->slots + var);
    else if (!v->in_pieces && v->number != NONE)
        PUT(t, "    SP_GLOBAL scalar *const p%d = mem + st[ST_SLOTS + %d];\n", var, v->number);
}

static void put_pointers(sweep_text *t)
{
    put(t, "    const offset n0 = st[ST_N0], n1 = st[ST_N1], stride0 = st[ST_STRIDE0];\n"
           "    const offset stride1 = st[ST_STRIDE1];\n");
    if (t->turned != NONE)
        PUT(t, "    const offset positions = st[ST_POSITIONS + %d];\n", t->turned);
    emit_each_vector(t->p, t->ops, t->count, t->known, put_pointer, t);
}

/* Operand k of operation op as an element of an array, or a slice: where it begins and its
 * number. */
void emit_declare_index(const emit_job *w, int op, int k, const vref *v)
{
    if (v->var != NONE && v->all)
        base_text_put(w->out, "    const offset n%d_%d = %d;\n", op, k, PROGRAM_COLUMNS);
    if (v->var == NONE || !w->p->vars[v->var].array)
        return;
    base_text_put(w->out, "    offset i%d_%d = 0;\n", op, k);
    if (emit_is_slice(v) && !v->all)
        base_text_put(w->out, "    offset n%d_%d = 0;\n", op, k);
}

void emit_put_index(const emit_job *w, int op, int k, const vref *v)
{
    emitter m = emit_expressions(w);
    const plan *p = w->p;
    if (v->var == NONE || !p->vars[v->var].array)
        return;
    const int64_t extent = p->vars[v->var].extent;
    base_text_put(w->out, "        i%d_%d = ", op, k);
    if (!emit_is_slice(v) || v->all) {
        emit_index(&m, v->first, extent);
    } else {
        emit_count(&m, v->first);
        base_text_put(w->out, ";\n        n%d_%d = sp_slice(i%d_%d, ", op, k, op, k);
        emit_count(&m, v->last);
        base_text_put(w->out, ", %" PRId64 ", %d, &fault)", extent,
                      p->program->exprs[v->first].place);
    }
    base_text_put(w->out, ";\n");
}

/* Of slices the place of the first number. */
void emit_put_numbers(const emit_job *w, int op, int k, const term *s)
{
    emitter m = emit_expressions(w);
    const plan *p = w->p;
    const expr *slice = &p->program->exprs[s->numbers];
    const int64_t rows = p->extent[slice->name][0], cols = p->extent[slice->name][1];
    base_text_put(w->out, "        {\n            const offset first = ");
    emit_count(&m, slice->arg[0]);
    base_text_put(w->out, ", last = ");
    emit_count(&m, slice->arg[1]);
    base_text_put(w->out, ", column = ");
    if (slice->arg[2] == NONE)
        base_text_put(w->out, "0");
    else
        emit_index(&m, slice->arg[2], cols);
    base_text_put(w->out,
                  ";\n            sp_alike(n%d_%d, first, last, %" PRId64 ", %d, &fault);\n"
                  "            q%d_%d = %" PRId64 " + first * %" PRId64 " + column;\n        }\n",
                  op, k, rows, slice->place, op, k, p->offset[slice->name], cols);
}

/* Factor of a term; of slices the place of the first number. */
static void put_factor(const sweep_text *t, int op, int k, const term *s)
{
    emitter m = emit_expressions(t->w);
    if (s->factor != NONE) {
        PUT(t, "        g%d_%d = ", op, k);
        if (s->sign < 0)
            put(t, "sp_n_negate(");
        emit_number(&m, s->factor);
        put(t, s->sign < 0 ? ");\n" : ";\n");
    }
    if (s->numbers != NONE)
        emit_put_numbers(t->w, op, k, s);
}

static void put_part(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    emitter m = emit_expressions(t->w);
    put(t, "        {\n            const double which = SP_RE(");
    emit_number(&m, o->expr);
    put(t, "), parts = SP_RE(");
    emit_number(&m, o->parts);
    PUT(t,
        ");\n            from%d = sp_share(which, parts, st[ST_ALL%d]);\n"
        "            to%d = sp_share(which + 1, parts, st[ST_ALL%d]);\n        }\n",
        op, t->space, op, t->space);
}

static void put_prologue(const sweep_text *t, int op)
{
    const plan *p = t->p;
    const plan_op *o = &p->ops[op];
    const int terms = o->kind == OP_COMBINE ? o->terms : 0;
    const int count = plan_ref_count(p, o), bit = t->alone ? -1 : emit_skip_bit(p, op);
    if (!has_prologue(t, op))
        return;
    PUT(t, "    int ok%d = 1;\n", op);
    for (int k = 0; k < count; k++) {
        bool write;
        emit_declare_index(t->w, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < terms; k++) {
        const term *s = &p->terms[o->term + k];
        if (s->factor != NONE)
            PUT(t, "    number g%d_%d;\n", op, k);
        if (s->numbers != NONE)
            PUT(t, "    offset q%d_%d = 0;\n", op, k);
    }
    if (o->kind == OP_RANDOM)
        PUT(t, "    sp_u64 seed%d = 0;\n", op);
    if (o->kind == OP_SHARE)
        PUT(t, "    offset from%d = 0, to%d = 0;\n", op, op);
    put(t, "    {\n        int fault = -1;\n");
    for (int k = 0; k < count; k++) {
        bool write;
        emit_put_index(t->w, op, k, plan_ref(p, o, k, &write));
    }
    for (int k = 0; k < terms; k++)
        put_factor(t, op, k, &p->terms[o->term + k]);
    if (o->kind == OP_RANDOM) {
        emitter m = emit_expressions(t->w);
        PUT(t, "        seed%d = sp_seed(SP_RE(", op);
        emit_number(&m, o->expr);
        put(t, "));\n");
    }
    if (o->kind == OP_SHARE)
        put_part(t, op);
    PUT(t,
        "        ok%d = fault == -1;\n        if (fault != -1 && SP_LEADER)\n"
        "            sp_note(st, fault, %d);\n",
        op, o->order);
    if (bit >= 0)
        PUT(t, "        ok%d = ok%d && !(st[ST_SKIP] >> %d & 1);\n", op, op, bit);
    put(t, "    }\n");
    for (int k = 0; k < terms; k++)
        if (p->terms[o->term + k].factor != NONE)
            PUT(t, "    const scalar f%d_%d = sp_scalar(g%d_%d);\n", op, k, op, k);
}

/* --- in the loop ---------------------------------------------------------------------------------
 */

/* An operand's value at element u, as an expression. */
static void put_value(const sweep_text *t, int op, int k, const vref *v)
{
    const plan_var *var = &t->p->vars[v->var];
    if (var->array)
        PUT(t, "(on[u] ? p%d[i%d_%d * stride%d + i[u]] : SP_ZERO)", v->var, op, k, var->space);
    else
        PUT(t, "v%d[u]", v->var);
}

#define EACH "SP_UNROLL for (int u = 0; u < %d; u++) "

/* Vector `which` of a slice. */
static void put_from(const sweep_text *t, int op, int k, const vref *v, const char *which)
{
    PUT(t, "SP_GLOBAL const scalar *const from = ");
    const int space = t->p->vars[v->var].space;
    PUT(t, "p%d + (i%d_%d + %s) * stride%d;\n", v->var, op, k, which, space);
}

static void put_term(const sweep_text *t, int op, int k, const term *s)
{
    if (s->numbers != NONE) {
        const int64_t cols = t->p->extent[t->p->program->exprs[s->numbers].name][1];
        PUT(t,
            "            SP_UNROLL_BY(4)\n            for (offset s = 0; s < n%d_%d; s++) {\n"
            "                const scalar f = sp_scalar(",
            op, k);
        if (s->factor != NONE)
            PUT(t, "sp_n_multiply(g%d_%d, num[q%d_%d + s * %" PRId64 "])", op, k, op, k, cols);
        else if (s->sign < 0)
            PUT(t, "sp_n_negate(num[q%d_%d + s * %" PRId64 "])", op, k, cols);
        else
            PUT(t, "num[q%d_%d + s * %" PRId64 "]", op, k, cols);
        put(t, ");\n                ");
        put_from(t, op, k, &s->v, "s");
        PUT(t,
            "                " EACH "if (on[u])\n"
            "                    t[u] = sp_fma(f, from[i[u]], t[u]);\n            }\n",
            t->width);
        return;
    }
    PUT(t, "            " EACH "t[u] = ", t->width);
    if (s->factor != NONE) {
        PUT(t, "sp_fma(f%d_%d, ", op, k);
        put_value(t, op, k, &s->v);
        put(t, ", t[u]);\n");
        return;
    }
    PUT(t, "%s(t[u], ", s->sign < 0 ? "sp_sub" : "sp_add");
    put_value(t, op, k, &s->v);
    put(t, ");\n");
}

/* The first term sets the sum where that needs no addition to zero. */
static bool put_first_term(const sweep_text *t, int op, const plan_op *o)
{
    const term *s = o->terms > 0 ? &t->p->terms[o->term] : NULL;
    if (!s || s->numbers != NONE || (s->factor == NONE && s->sign < 0)) {
        PUT(t, "            " EACH "t[u] = SP_ZERO;\n", t->width);
        return false;
    }
    PUT(t, "            " EACH "t[u] = ", t->width);
    if (s->factor != NONE)
        PUT(t, "sp_mul(f%d_0, ", op);
    put_value(t, op, 0, &s->v);
    put(t, s->factor != NONE ? ");\n" : ";\n");
    return true;
}

/* The result t[] of an operation becomes the vector's. */
static void put_result(sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const plan_var *var = &t->p->vars[o->out.var];
    const int k = plan_ref_count(t->p, o) - 1;
    if (var->array) {
        PUT(t,
            "            " EACH "if (on[u] && ok%d)\n"
            "                p%d[i%d_%d * stride%d + i[u]] = t[u];\n",
            t->width, op, o->out.var, op, k, var->space);
        return;
    }
    PUT(t, "            " EACH, t->width);
    if (is_conditional(t, op))
        PUT(t, "if (ok%d) ", op);
    PUT(t, "v%d[u] = t[u];\n", o->out.var);
    t->written[o->out.var] = !var->in_pieces;
}

static void put_elements(const sweep_text *t, int op, const char *function)
{
    const plan_op *o = &t->p->ops[op];
    PUT(t, "            " EACH "t[u] = %s(", t->width, function);
    put_value(t, op, 0, &o->in[0]);
    put(t, ", ");
    put_value(t, op, 1, &o->in[1]);
    put(t, ");\n");
}

static void put_dot(const sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    const char *left = o->conjugate ? "SP_NUMBER_CONJ" : "";
    if (!emit_is_slice(&o->in[0])) {
        PUT(t, "            " EACH "if (on[u])\n                a%d = sp_number_fma(%s(sp_number(",
            t->width, op, left);
        put_value(t, op, 0, &o->in[0]);
        put(t, ")), sp_number(");
        put_value(t, op, 1, &o->in[1]);
        PUT(t, "), a%d);\n", op);
        return;
    }
    /* Four vectors at a time: their reads, and then the sums over lanes, overlap. */
    PUT(t,
        "            {\n            const offset SLOT = SLOT%d;\n"
        "            for (offset s = 0; s < n%d_0; s += 4) {\n"
        "                number a[4];\n"
        "                SP_UNROLL for (int k = 0; k < 4; k++) {\n"
        "                    const offset which = s + k < n%d_0 ? s + k : n%d_0 - 1;\n"
        "                    ",
        op, op, op, op);
    put_from(t, op, 0, &o->in[0], "which");
    PUT(t,
        "                    a[k] = SP_NUMBER_ZERO;\n"
        "                    " EACH "if (on[u])\n"
        "                        a[k] = sp_number_fma(%s(sp_number(from[i[u]])), sp_number(",
        t->width, left);
    put_value(t, op, 1, &o->in[1]);
    PUT(t,
        "), a[k]);\n                }\n"
        "                %s, n%d_0 - s, SLOT + s, %s);\n            }\n            }\n",
        t->local_sums ? "sp_keep_sums(a" : "sp_keep_parts(a", op,
        t->local_sums ? "room, sums" : "sum_room, part");
}

static void put_operation(sweep_text *t, int op)
{
    const plan_op *o = &t->p->ops[op];
    if (o->kind == OP_DOT) {
        put_dot(t, op);
        return;
    }
    PUT(t, "        {\n            scalar t[%d];\n", t->width);
    switch (o->kind) {
    case OP_COMBINE: {
        const bool begun = put_first_term(t, op, o);
        for (int k = begun; k < o->terms; k++)
            put_term(t, op, k, &t->p->terms[o->term + k]);
        break;
    }
    case OP_TIMES:
        put_elements(t, op, "sp_mul");
        break;
    case OP_OVER:
        put_elements(t, op, "sp_over");
        break;
    case OP_DIAGONAL:
        PUT(t, "            " EACH "t[u] = sp_mul(on[u] ? d%d[i[u]] : SP_ZERO, ", t->width,
            (int)o->transpose);
        put_value(t, op, 0, &o->in[0]);
        put(t, ");\n");
        break;
    case OP_SHARE:
        PUT(t,
            "            " EACH
            "t[u] = st[ST_FIRST%d] + i[u] >= from%d && st[ST_FIRST%d] + i[u] < to%d ? "
            "SP_ONE : SP_ZERO;\n",
            t->width, t->space, op, t->space, op);
        break;
    case OP_RANDOM:
        PUT(t, "            " EACH "t[u] = sp_random(seed%d, st[ST_FIRST%d] + i[u]);\n", t->width,
            op, t->space);
        break;
    default: /* OP_APPLY: the row's sum */
        PUT(t, "            t[0] = s%d[0];\n", op);
        break;
    }
    put_result(t, op);
    put(t, "        }\n");
}

/* Registers of the space's plain vectors; those that are read before they are written are loaded.
 */
static void put_loads(sweep_text *t)
{
    const plan *p = t->p;
    memset(t->known, 0, (size_t)p->var_count);
    memset(t->written, 0, (size_t)p->var_count);
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        const int count = plan_ref_count(p, o);
        for (int k = 0; emit_in_sweep(p, o) && emit_space(p, o) == t->space && k < count; k++) {
            bool write;
            const vref *v = plan_ref(p, o, k, &write);
            if (v->var == NONE || p->vars[v->var].array || t->known[v->var] ||
                (o->kind == OP_APPLY && !write))
                continue;
            t->known[v->var] = 1;
            PUT(t, "        scalar v%d[%d];\n", v->var, t->width);
            if (p->vars[v->var].in_pieces)
                continue;
            if (!write || is_conditional(t, t->first + i))
                PUT(t, "        " EACH "v%d[u] = on[u] ? p%d[i[u]] : SP_ZERO;\n", t->width, v->var,
                    v->var);
        }
    }
}

static void put_stores(const sweep_text *t)
{
    for (int v = 0; v < t->p->var_count; v++)
        if (t->written[v])
            PUT(t, "        " EACH "if (on[u]) p%d[i[u]] = v%d[u];\n", t->width, v, v);
}

/* Rows that ask for all they need at once are not waited for before the vectors are asked for;
 * others need the registers. */
static bool asks_at_once(const sweep_text *t)
{
    return t->turned != NONE && t->w->rows[t->turned].at_once && t->w->group <= ITEMS_AT_ONCE;
}

/* Which row is at hand, by the positions that all products of the phase have. */
static void put_position(const sweep_text *t)
{
    put(t, "        const offset at = tile * (SP_GROUP / lanes) + SP_LOCAL_ID / lanes;\n"
           "        const int lane = SP_LOCAL_ID % lanes;\n"
           "        offset i[1] = {-1};\n");
    PUT(t, "        if (at < positions)\n            i[0] = %srow_at(%s, (int)at);\n",
        emit_prefix(t->turned), t->w->rows[t->turned].pass_text);
    put(t, "        int on[1];\n        on[0] = i[0] >= 0 && lane == 0;\n");
}

/* The rows' sums of the products. */
static void put_products(const sweep_text *t)
{
    const plan *p = t->p;
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        const int op = t->first + i;
        if (o->kind != OP_APPLY || plan_calls(p, o) || emit_space(p, o) != t->space)
            continue;
        PUT(t, "        scalar s%d[1];\n        s%d[0] = SP_ZERO;\n        if (i[0] >= 0)\n", op,
            op);
        PUT(t, "            %srow(%s, p%d", emit_prefix(t->turned), t->w->rows[t->turned].pass_text,
            o->in[0].var);
        if (p->vars[o->in[0].var].array)
            PUT(t, " + i%d_0 * stride%d", op, p->vars[o->in[0].var].space);
        PUT(t, ", 1, (int)at, lane, s%d);\n", op);
        PUT(t, "        s%d[0] = sp_lanes_sum(s%d[0], lanes, SP_LANES_PASS(lane_room));\n", op, op);
    }
}

static void put_loop(sweep_text *t)
{
    const plan *p = t->p;
    bool any = false, slices = false;
    t->product = false;
    for (int i = 0; i < t->count; i++) {
        const plan_op *o = &t->ops[i];
        if (!emit_in_sweep(p, o) || emit_space(p, o) != t->space)
            continue;
        any = true;
        t->product = t->product || o->kind == OP_APPLY;
        slices = slices || plan_has_slice(p, o);
    }
    if (!any)
        return;
    t->width = t->product ? 1 : slices ? t->w->slice_width : t->w->width;
    if (t->product) {
        PUT(t,
            "    enum { lanes = %d };\n"
            "    const offset tiles = (positions + SP_GROUP / lanes - 1) / (SP_GROUP / lanes);\n"
            "    const offset run = sp_run(tiles);\n"
            "    for (offset tile = SP_GROUP_ID * run; tile < tiles;\n"
            "         tile += (tile + 1) & (run - 1) ? 1 : 1 + (SP_GROUPS - 1) * run) {\n",
            t->w->rows[t->turned].lanes);
        put_position(t);
    } else {
        PUT(t,
            "    for (offset tile = SP_GROUP_ID; tile * (SP_GROUP * %d) < n%d;\n"
            "         tile += SP_GROUPS) {\n"
            "        offset i[%d];\n        int on[%d];\n"
            "        " EACH "{\n"
            "            i[u] = tile * (SP_GROUP * %d) + u * SP_GROUP + SP_LOCAL_ID;\n"
            "            on[u] = i[u] < n%d;\n        }\n",
            t->width, t->space, t->width, t->width, t->width, t->width, t->space);
    }
    const bool before = t->product && asks_at_once(t);
    if (before)
        put_loads(t);
    if (t->product)
        put_products(t);
    if (!before)
        put_loads(t);
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(p, &t->ops[i]) && emit_space(p, &t->ops[i]) == t->space)
            put_operation(t, t->first + i);
    put_stores(t);
    put(t, "    }\n");
}

/* --- the kernels ---------------------------------------------------------------------------------
 */

int emit_width(const emit_job *w, const phase *f)
{
    if (emit_turned(w->p, f) != NONE)
        return 1;
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (emit_in_sweep(w->p, &w->p->ops[i]) && plan_has_slice(w->p, &w->p->ops[i]))
            return w->slice_width;
    return w->width;
}

void emit_arguments(const emit_job *w, const phase *given)
{
    const phase all = {.sweep_count = w->p->op_count};
    const phase *f = given ? given : &all;
    bool diagonal[3] = {false};
    base_text_put(w->out, "SP_COMMON");
    for (int k = 0; given && k < w->counters; k++)
        base_text_put(w->out, ", const offset c%d", k);
    for (int turned = 0; turned < 3; turned++)
        if (emit_has_product(w->p, f, turned))
            base_text_put(w->out, ", %s", w->rows[turned].args_text);
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        const plan_op *o = &w->p->ops[i];
        if (o->kind == OP_DIAGONAL && !diagonal[o->transpose])
            base_text_put(w->out, ", SP_GLOBAL const scalar *d%d", (int)o->transpose);
        diagonal[o->transpose] = diagonal[o->transpose] || o->kind == OP_DIAGONAL;
    }
}

/* Names for the first sums of slices, and what is added up in registers. */
static void put_sums(const sweep_text *t, const phase *f)
{
    const plan *p = t->p;
    const int64_t slots = emit_slots(p, f);
    if (slots == 0)
        return;
    put(t, "    SP_WARP_ROOM(room);\n");
    if (t->local_sums)
        PUT(t, "    SP_SHARED number sums[%" PRId64 " * SP_WARPS];\n", slots);
    else
        put(t, "    SP_SUM_ROOM(sum_room);\n");
}

static void clear_sums(const sweep_text *t, const phase *f)
{
    const plan *p = t->p;
    const int64_t slots = emit_slots(p, f);
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (p->ops[i].kind == OP_DOT && !emit_is_slice(&p->ops[i].in[0]))
            PUT(t, "    number a%d = SP_NUMBER_ZERO;\n", i);
        else if (p->ops[i].kind == OP_DOT)
            PUT(t, "    const offset SLOT%d = %" PRId64 ";\n", i, emit_slot(p, f, i));
    if (slots == 0)
        return;
    if (t->local_sums)
        PUT(t,
            "    for (int k = SP_LOCAL_ID; k < %" PRId64 " * SP_WARPS; k += SP_GROUP)\n"
            "        sums[k] = SP_NUMBER_ZERO;\n    SP_BARRIER();\n",
            slots);
    else
        PUT(t,
            "    for (int k = SP_LOCAL_ID; k < %" PRId64 "; k += SP_GROUP)\n"
            "        part[(offset)k * SP_GROUPS + SP_GROUP_ID] = SP_NUMBER_ZERO;\n"
            "    SP_BARRIER_GLOBAL();\n",
            slots);
}

static void collect_sums(const sweep_text *t, const phase *f)
{
    const plan *p = t->p;
    for (int i = f->first; i < f->first + f->sweep_count; i++) {
        if (p->ops[i].kind != OP_DOT || emit_is_slice(&p->ops[i].in[0]))
            continue;
        const int slot = (int)emit_slot(p, f, i);
        if (t->local_sums)
            PUT(t, "    sp_put_sum(a%d, %d, room, sums);\n", i, slot);
        else
            PUT(t, "    sp_keep_part(sp_group_sum(a%d, sum_room), %d, part);\n", i, slot);
    }
    if (emit_slots(p, f) > 0 && t->local_sums)
        PUT(t, "    sp_put_part(%d, sums, part);\n", (int)emit_slots(p, f));
}

static spry_status open_text(sweep_text *t, emit_job *w, const phase *f)
{
    const plan *p = w->p;
    const int64_t warps = w->group / 32, size = spry_type_is_complex(w->type) ? 16 : 8;
    spry_status status = SPRY_STATUS_OK;
    *t = (sweep_text){.w = w,
                      .p = p,
                      .ops = &p->ops[f->first],
                      .first = f->first,
                      .count = f->sweep_count,
                      .turned = emit_turned(p, f),
                      .local_sums = emit_slots(p, f) * warps * size <= LOCAL_SUMS_BYTES};
    SPRY_GO(p->ctx, base_calloc(p->ctx, p->var_count + 1, 1, &t->known));
    SPRY_GO(p->ctx, base_calloc(p->ctx, p->var_count + 1, 1, &t->written));
done:
    return status;
}

static void put_body(sweep_text *t)
{
    put_pointers(t);
    for (int i = 0; i < t->count; i++)
        if (emit_in_sweep(t->p, &t->ops[i]))
            put_prologue(t, t->first + i);
    for (t->space = 0; t->space < 2; t->space++)
        put_loop(t);
}

/* The tail, by the last group. Sums of a slice that is shorter than its array are left out. */
static void put_end(const sweep_text *t, const phase *f, int phase_index)
{
    const plan *p = t->p;
    int slices = 0, slice = NONE;
    if (!emit_has_tail(p, f))
        return;
    if (t->w->joined) {
        const int slots = (int)emit_slots(p, f);
        if (slots > 0)
            PUT(t,
                "#ifdef SP_TICKETS\n    if (sp_last(st, &sp_flag))\n"
                "        sp_total(%d, SP_GROUPS, 0, 0, part, tail_room, tail_pieces, "
                "SP_TOTALS_AT(%d, SP_GROUPS));\n#endif\n",
                slots, slots);
        return;
    }
    for (int i = f->first; i < f->first + f->sweep_count; i++)
        if (p->ops[i].kind == OP_DOT && emit_is_slice(&p->ops[i].in[0])) {
            slices++;
            slice = i;
        }
    PUT(t,
        "#ifdef SP_TICKETS\n    if (sp_last(st, &sp_flag))\n        SP_END(tail_%d, %d, SP_GROUPS, "
        "0, ",
        phase_index, (int)emit_slots(p, f));
    if (slices == 1)
        PUT(t, "(int)(SLOT%d + n%d_0), %d", slice, slice, (int)(emit_slot(p, f, slice + 1)));
    else
        put(t, "0, 0");
    put(t, ");\n#endif\n");
}

void emit_phase(emit_job *w, int phase_index)
{
    const phase *f = &w->p->phases[phase_index];
    sweep_text t;
    if (w->columns > 0) {
        emit_columns(w, f, "phase", phase_index, false);
        return;
    }
    const spry_status status = open_text(&t, w, f);
    if (status != SPRY_STATUS_OK) {
        w->out->status = status;
    } else {
        if (asks_at_once(&t))
            PUT(&t, "\nSP_KERNEL_OF(%d) phase_%d(", ITEMS_AT_ONCE / w->group, phase_index);
        else
            PUT(&t, "\nSP_KERNEL phase_%d(", phase_index);
        emit_arguments(w, f);
        put(&t, ")\n{\n");
        put_sums(&t, f);
        if (t.turned != NONE)
            put(&t, "    SP_LANE_ROOM(lane_room);\n");
        if (emit_has_tail(w->p, f))
            put(&t, "#ifdef SP_TICKETS\n    SP_TAIL_ROOM;\n#endif\n");
        put(&t, "    SP_GLOBAL const number *const num = SP_NUM;\n"
                "    if (st[ST_STOP] != 0)\n        return;\n"
                "    if (SP_LEADER)\n        st[ST_PHASES]++;\n");
        clear_sums(&t, f);
        put_body(&t);
        collect_sums(&t, f);
        put_end(&t, f, phase_index);
        put(&t, "}\n");
    }
    base_free(w->p->ctx, t.known);
    base_free(w->p->ctx, t.written);
}

void emit_body(emit_job *w, int phase_index)
{
    const phase *f = &w->p->phases[phase_index];
    sweep_text t;
    const spry_status status = open_text(&t, w, f);
    if (status != SPRY_STATUS_OK) {
        w->out->status = status;
    } else {
        clear_sums(&t, f);
        put_body(&t);
        collect_sums(&t, f);
    }
    base_free(w->p->ctx, t.known);
    base_free(w->p->ctx, t.written);
}

void emit_settle(emit_job *w, int op)
{
    const phase alone = {.first = op, .sweep_count = 1, .count = 1};
    sweep_text t;
    if (w->columns > 0) {
        emit_columns(w, &alone, "settle", op, true);
        return;
    }
    const spry_status status = open_text(&t, w, &alone);
    t.alone = true;
    if (status != SPRY_STATUS_OK) {
        w->out->status = status;
    } else {
        PUT(&t, "\nSP_KERNEL settle_%d(", op);
        emit_arguments(w, &alone);
        put(&t, ")\n{\n    SP_GLOBAL const number *const num = SP_NUM;\n");
        put_body(&t);
        put(&t, "}\n");
    }
    base_free(w->p->ctx, t.known);
    base_free(w->p->ctx, t.written);
}
