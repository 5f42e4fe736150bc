/* Scalar expressions and statements become C of the kernel dialect; eval.c and host_run.c say what
 * they mean. */
#include "program/emit.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_FACTORS = 64 }; /* of a power that is multiplied out, as in eval.c */

/* A loop of scalars that is being written: its variable is a C variable in the body. */
typedef struct emit_loop {
    int name, depth;
    const struct emit_loop *outer;
} emit_loop;

static void put(const emitter *m, const char *text)
{
    base_text_put(m->out, "%s", text);
}

/* Whole numbers in decimal, others by mantissa and exponent in hexadecimal: exact, and without a
 * point that a locale could change. */
static void put_double(base_text *out, double value)
{
    const double exact = 9007199254740992.0; /* 2^53 */
    int exponent;
    if (isnan(value)) {
        base_text_put(out, "SP_NAN");
    } else if (isinf(value)) {
        base_text_put(out, value < 0 ? "(-SP_INF)" : "SP_INF");
    } else if (signbit(value)) {
        base_text_put(out, "(-");
        put_double(out, -value);
        base_text_put(out, ")");
    } else if (value == floor(value) && value < exact) {
        base_text_put(out, "%" PRId64 ".0", (int64_t)value);
    } else {
        uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), 53);
        for (exponent -= 53; mantissa % 2 == 0; exponent++)
            mantissa /= 2;
        base_text_put(out, "0x%" PRIx64 "p%d", mantissa, exponent);
    }
}

static void put_real(const emitter *m, double value)
{
    if (!m->real)
        put(m, "sp_make2d(");
    put_double(m->out, value);
    if (!m->real)
        put(m, ", 0.0)");
}

/* --- names ----------------------------------------------------------------------------------- */

static const expr *expr_at(const emitter *m, int e)
{
    return &m->p->program->exprs[e];
}

/* The C integer that a name is: the variable of a loop around, or a counter of the kernel's; false
 * where the name lives in memory. */
static bool find_counter(const emitter *m, int name, char text[32])
{
    const emit_loop *l = m->loops;
    while (l && l->name != name)
        l = l->outer;
    if (l)
        snprintf(text, 32, "sp_i%d", l->depth);
    else if (m->counter && m->counter[name] != NONE)
        snprintf(text, 32, "c%d", m->counter[name]);
    else
        return false;
    return true;
}

static void put_place(emitter *m, int e)
{
    const plan *p = m->p;
    const expr *x = expr_at(m, e);
    const int64_t *extent = p->extent[x->name];
    base_text_put(m->out, "%" PRId64, p->offset[x->name]);
    if (x->arg[0] != NONE) {
        put(m, " + ");
        emit_index(m, x->arg[0], extent[0]);
        if (extent[1] != 1)
            base_text_put(m->out, " * %" PRId64, extent[1]);
    }
    if (x->arg[1] != NONE) {
        put(m, " + ");
        emit_index(m, x->arg[1], extent[1]);
    }
}

/* The element of num that a scalar EXPR_NAME means: an lvalue, for code that knows of no fault. */
static void put_element(emitter *m, int e)
{
    put(m, "num[");
    put_place(m, e);
    put(m, "]");
}

static void put_name(emitter *m, int e)
{
    const plan *p = m->p;
    const int name = expr_at(m, e)->name;
    char counter[32];
    if (p->program->names[name].kind == NAME_OPTION)
        put_real(m, p->options[p->offset[name]].re);
    else if (find_counter(m, name, counter))
        base_text_put(m->out, m->real ? "(double)%s" : "sp_make2d((double)%s, 0.0)", counter);
    else
        put_element(m, e);
}

/* --- expressions -------------------------------------------------------------------------------
 */

/* How a word is called in the text "numbers": sp_n_add gives a number, sp_h_less an int. */
static void put_word(const emitter *m, const char *prefix, program_word word)
{
#define WORD_NAME(name, text, arguments) #name,
    static const char *const names[] = {PROGRAM_WORDS(WORD_NAME)};
#undef WORD_NAME
    char name[32];
    size_t i = 0;
    for (; names[word][i]; i++)
        name[i] = (char)tolower((unsigned char)names[word][i]);
    name[i] = '\0';
    base_text_put(m->out, "%s%s", prefix, name);
}

/* Which of two faults is the first follows from the order of arguments, which C leaves open; the
 * compilers of devices all go from left to right, as eval.c does. */
static void put_arguments(emitter *m, const expr *x)
{
    put(m, "(");
    for (int k = 0; k < 3 && x->arg[k] != NONE; k++) {
        put(m, k > 0 ? ", " : "");
        emit_number(m, x->arg[k]);
    }
    put(m, ")");
}

/* Words whose value is 1 or 0. */
static bool is_truth(const expr *x)
{
    return x->kind == EXPR_CALL && ((x->word >= WORD_LESS && x->word <= WORD_NOT) ||
                                    x->word == WORD_POSITIVE || x->word == WORD_FINITE);
}

static void put_choice(emitter *m, const expr *x)
{
    put(m, "(");
    emit_holds(m, x->arg[0]);
    put(m, " ? ");
    emit_number(m, x->arg[1]);
    put(m, " : ");
    emit_number(m, x->arg[2]);
    put(m, ")");
}

/* a^b; where b is known and whole its factors are written out by the compiler. */
static void put_power(emitter *m, const expr *x)
{
    int64_t factors;
    const bool known = plan_fixed(m->p, x->arg[1], &factors) && llabs(factors) <= MOST_FACTORS;
    put(m, known ? "sp_whole_power(" : "sp_n_power(");
    emit_number(m, x->arg[0]);
    put(m, ", ");
    if (known)
        base_text_put(m->out, "%d", (int)factors);
    else
        emit_number(m, x->arg[1]);
    put(m, ")");
}

void emit_number(emitter *m, int e)
{
    const expr *x = expr_at(m, e);
    if (x->kind == EXPR_NUMBER) {
        put_real(m, x->value);
    } else if (x->kind == EXPR_NAME && x->shape == SHAPE_SCALAR) {
        put_name(m, e);
    } else if (x->kind != EXPR_CALL) {
        put_real(m, NAN);
    } else if (is_truth(x)) {
        put(m, "sp_truth(");
        emit_holds(m, e);
        put(m, ")");
    } else if (x->word == WORD_WHERE) {
        put_choice(m, x);
    } else if (x->word == WORD_POWER) {
        put_power(m, x);
    } else {
        put_word(m, "sp_n_", x->word);
        put_arguments(m, x);
    }
}

void emit_holds(emitter *m, int e)
{
    const expr *x = expr_at(m, e);
    if (!is_truth(x)) {
        put(m, "sp_holds(");
        emit_number(m, e);
        put(m, ")");
    } else if (x->word == WORD_AND || x->word == WORD_OR) {
        put(m, "(");
        emit_holds(m, x->arg[0]);
        put(m, x->word == WORD_AND ? " && " : " || ");
        emit_holds(m, x->arg[1]);
        put(m, ")");
    } else if (x->word == WORD_NOT) {
        put(m, "!");
        emit_holds(m, x->arg[0]);
    } else {
        put_word(m, "sp_h_", x->word);
        put_arguments(m, x);
    }
}

/* Whether an expression is whole by its making: C integers, whole constants, sums of those. */
static bool is_whole(const emitter *m, int e)
{
    const expr *x = expr_at(m, e);
    int64_t value;
    char counter[32];
    if (x->kind == EXPR_NAME && find_counter(m, x->name, counter))
        return true;
    if (x->kind == EXPR_CALL && (x->word == WORD_ADD || x->word == WORD_SUBTRACT))
        return is_whole(m, x->arg[0]) && is_whole(m, x->arg[1]);
    return plan_fixed(m->p, e, &value);
}

static void put_whole(emitter *m, int e)
{
    const expr *x = expr_at(m, e);
    int64_t value;
    char counter[32];
    if (plan_fixed(m->p, e, &value)) {
        base_text_put(m->out, "(offset)%" PRId64, value);
    } else if (x->kind == EXPR_NAME) {
        put(m, find_counter(m, x->name, counter) ? counter : "0");
    } else {
        put(m, "(");
        put_whole(m, x->arg[0]);
        put(m, x->word == WORD_ADD ? " + " : " - ");
        put_whole(m, x->arg[1]);
        put(m, ")");
    }
}

/* --- ranges --- */

/* Whole numbers that a value lies among. */
typedef struct emit_range {
    int64_t low, high;
} emit_range;

static bool find_range(const emitter *m, int e, int depth, emit_range *r);

static void widen(emit_range *r, emit_range by)
{
    r->low = by.low < r->low ? by.low : r->low;
    r->high = by.high > r->high ? by.high : r->high;
}

/* Of a scalar that loops and statements with known ranges set, and that is 0 before. */
static bool find_name_range(const emitter *m, int name, int depth, emit_range *r)
{
    const program *g = m->p->program;
    bool known = false;
    *r = (emit_range){0, 0};
    for (int i = 0; i < g->stmt_count; i++) {
        const stmt *s = &g->stmts[i];
        const bool loop = s->kind == STMT_FOR && s->name == name;
        const bool set = s->kind == STMT_SET && g->exprs[s->target].kind == EXPR_NAME &&
                         g->exprs[s->target].name == name;
        emit_range from, to;
        if (!loop && !set)
            continue;
        if (!find_range(m, set ? s->value : s->from, depth, &from) ||
            !find_range(m, set ? s->value : s->to, depth, &to))
            return false;
        widen(r,
              set || !s->down ? (emit_range){from.low, to.high} : (emit_range){to.low, from.high});
        known = true;
    }
    return known;
}

/* False where none is known. What depends on itself goes beyond the depth. */
static bool find_range(const emitter *m, int e, int depth, emit_range *r)
{
    enum { DEEPEST = 6 };
    const int64_t most = (int64_t)1 << 40;
    const expr *x = expr_at(m, e);
    const bool is_name = x->kind == EXPR_NAME && x->shape == SHAPE_SCALAR && x->arg[0] == NONE &&
                         m->p->program->names[x->name].kind == NAME_SCALAR;
    const bool is_sum = x->kind == EXPR_CALL && (x->word == WORD_ADD || x->word == WORD_SUBTRACT);
    bool known = true;
    emit_range a, b;
    if (plan_fixed(m->p, e, &r->low)) {
        r->high = r->low;
    } else if (is_name) {
        known = depth < DEEPEST && find_name_range(m, x->name, depth + 1, r);
    } else {
        known =
            is_sum && find_range(m, x->arg[0], depth, &a) && find_range(m, x->arg[1], depth, &b);
        if (known)
            *r = x->word == WORD_ADD ? (emit_range){a.low + b.low, a.high + b.high}
                                     : (emit_range){a.low - b.high, a.high - b.low};
    }
    return known && r->low > -most && r->high < most;
}

/* Whether an index cannot be outside its array. */
static bool is_inside(const emitter *m, int e, int64_t extent)
{
    emit_range r;
    return find_range(m, e, 0, &r) && r.low >= 0 && r.high < extent;
}

/* A value that is known to be whole and not too large, as an integer. */
static void put_sure(emitter *m, int e)
{
    if (is_whole(m, e)) {
        put_whole(m, e);
        return;
    }
    put(m, "(offset)SP_RE(");
    emit_number(m, e);
    put(m, ")");
}

/* The beginning of a call: the function for whole numbers, or that for doubles, and the value. */
static void put_index(emitter *m, const char *function, int e)
{
    if (is_whole(m, e)) {
        base_text_put(m->out, "%s_whole(", function);
        put_whole(m, e);
    } else {
        base_text_put(m->out, "%s(", function);
        emit_number(m, e);
        put(m, m->real ? "" : ".x");
    }
}

void emit_index(emitter *m, int e, int64_t extent)
{
    int64_t value;
    if (plan_fixed(m->p, e, &value) && value >= 0 && value < extent) {
        base_text_put(m->out, "%" PRId64, value);
        return;
    }
    if (is_inside(m, e, extent)) {
        put_sure(m, e);
        return;
    }
    put_index(m, "sp_index", e);
    base_text_put(m->out, ", %" PRId64 ", %d, &fault)", extent, expr_at(m, e)->place);
}

void emit_count(emitter *m, int e)
{
    int64_t value;
    if (plan_fixed(m->p, e, &value)) {
        base_text_put(m->out, "(offset)%" PRId64, value);
        return;
    }
    emit_range r;
    if (find_range(m, e, 0, &r)) {
        put_sure(m, e);
        return;
    }
    put_index(m, "sp_count", e);
    base_text_put(m->out, ", %d, &fault)", expr_at(m, e)->place);
}

bool emit_may_fault(const emitter *m, int e)
{
    if (e == NONE)
        return false;
    const expr *x = expr_at(m, e);
    for (int k = 0; k < 3; k++) {
        if (emit_may_fault(m, x->arg[k]))
            return true;
        if (x->kind == EXPR_NAME && x->arg[k] != NONE &&
            !is_inside(m, x->arg[k], m->p->extent[x->name][k]))
            return true;
    }
    return false;
}

/* --- statements ----------------------------------------------------------------------------------
 */

/* The value is that of an expression, or a text; it comes before the place, as in host_run.c. */
static void put_set(emitter *m, int target, int value, const char *text)
{
    const bool careful = text || emit_may_fault(m, target) || emit_may_fault(m, value);
    if (careful) {
        put(m, "{ const number sp_new = ");
    } else {
        put_element(m, target);
        put(m, " = ");
    }
    if (text)
        put(m, text);
    else
        emit_number(m, value);
    if (careful) {
        put(m, "; const offset sp_at = ");
        put_place(m, target);
        base_text_put(m->out, "; if (fault == %d) num[sp_at] = sp_new; }\n", EMIT_NO_FAULT);
    } else {
        put(m, ";\n");
    }
}

void emit_store(emitter *m, int target, const char *value)
{
    put_set(m, target, NONE, value);
}

static void put_statements(emitter *m, int first, bool single);

/* Not unrolled: compilers can take minutes over nested loops with many known turns. */
static void put_for(emitter *m, const stmt *s)
{
    const int depth = m->loops ? m->loops->depth + 1 : 0;
    const emit_loop loop = {s->name, depth, m->loops};
    base_text_put(m->out, "{ const offset sp_from%d = ", depth);
    emit_count(m, s->from);
    base_text_put(m->out, "; const offset sp_to%d = ", depth);
    emit_count(m, s->to);
    base_text_put(m->out,
                  ";\nSP_UNROLL_BY(1)\nfor (offset sp_i%d = sp_from%d; fault == %d && sp_i%d %s "
                  "sp_to%d; sp_i%d%s) {\n",
                  depth, depth, EMIT_NO_FAULT, depth, s->down ? ">=" : "<=", depth, depth,
                  s->down ? "--" : "++");
    base_text_put(m->out,
                  m->real ? "num[%" PRId64 "] = (double)sp_i%d;\n"
                          : "num[%" PRId64 "] = sp_make2d((double)sp_i%d, 0.0);\n",
                  m->p->offset[s->name], depth);
    m->loops = &loop;
    put_statements(m, s->body, false);
    m->loops = loop.outer;
    base_text_put(m->out, "if (++sp_turns > %d && fault == %d) fault = %d;\n} }\n",
                  m->most_turns > 0 ? m->most_turns : EMIT_MOST_TURNS, EMIT_NO_FAULT,
                  EMIT_TURNS - s->place);
}

static void put_if(emitter *m, const stmt *s)
{
    put(m, "if (");
    emit_holds(m, s->value);
    base_text_put(m->out, emit_may_fault(m, s->value) ? " && fault == %d) {\n" : ") {\n",
                  EMIT_NO_FAULT);
    put_statements(m, s->body, false);
    if (s->other != NONE) {
        base_text_put(m->out,
                      emit_may_fault(m, s->value) ? "} else if (fault == %d) {\n" : "} else {\n",
                      EMIT_NO_FAULT);
        put_statements(m, s->other, false);
    }
    put(m, "}\n");
}

/* Whether something in it can go wrong, so that what follows must look. */
static bool statement_may_fault(const emitter *m, const stmt *s)
{
    return s->kind != STMT_SET || emit_may_fault(m, s->target) || emit_may_fault(m, s->value);
}

/* Inside a loop of C's, which ends when there is a fault; `single`: without those that follow. */
static void put_statements(emitter *m, int first, bool single)
{
    const program *g = m->p->program;
    for (int i = first; i != NONE; i = single ? NONE : g->stmts[i].next) {
        const stmt *s = &g->stmts[i];
        if (s->kind == STMT_SET)
            put_set(m, s->target, s->value, NULL);
        else if (s->kind == STMT_FOR)
            put_for(m, s);
        else
            put_if(m, s);
        if (!single && s->next != NONE && statement_may_fault(m, s))
            base_text_put(m->out, "if (fault != %d) break;\n", EMIT_NO_FAULT);
    }
}

void emit_scalar_op(emitter *m, const plan_op *o)
{
    if (o->kind == OP_SCALAR) {
        put_set(m, o->target, o->expr, NULL);
    } else {
        put(m, "do { int sp_turns = 0;\n");
        put_statements(m, o->stmt, true);
        put(m, "} while (0);\n");
    }
}
