/* Vectors and statements in long double with bounds; bounded_number.c has the numbers. */
#include "support/bounded.h"

#include "support/bounded_number.h"
#include "support/oracle.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_MADE = 256 };

/* Each part of each element is within err of what a run in the type can have. */
typedef struct vector {
    int64_t n; /* -1: as long as needed */
    long double *re, *im;
    long double err;
} vector;

typedef struct bounded {
    const program *p;
    const bounded_input *input;
    int64_t longer;
    bounded_context numbers;
    bool left;
    int64_t *offset;
    int64_t (*extent)[2];
    number *values;
    vector **vectors;
    vector made[MOST_MADE]; /* by the statement at hand */
    int made_count;
    spry_scalar *shown;
} bounded;

static vector vector_of(bounded *g, int e);
static number number_of(bounded *g, int e);

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static vector new_vector(const bounded *g)
{
    const size_t n = (size_t)g->longer + 1;
    return (vector){-1, must(calloc(n, sizeof(long double))), must(calloc(n, sizeof(long double))),
                    0};
}

static vector *make(bounded *g)
{
    if (g->made_count == MOST_MADE)
        abort();
    g->made[g->made_count] = new_vector(g);
    return &g->made[g->made_count++];
}

static void forget(bounded *g)
{
    while (g->made_count > 0) {
        vector *v = &g->made[--g->made_count];
        free(v->re);
        free(v->im);
    }
}

static int64_t length(const bounded *g, const vector *v)
{
    return v->n < 0 ? g->longer : v->n;
}

/* The largest modulus, also of what a run in the type can have. */
static long double largest(bounded *g, const vector *v)
{
    long double most = v->err;
    for (int64_t i = 0; i < length(g, v); i++)
        most = fmaxl(most, hypotl(v->re[i], v->im[i]) + v->err);
    g->numbers.unsure = g->numbers.unsure || !(most < g->numbers.huge);
    return most;
}

static int64_t index_of(bounded *g, int e, int64_t extent)
{
    const number a = number_of(g, e);
    if (a.err != 0 || a.re < 0 || a.re >= extent)
        abort(); /* programs of the tests stay inside */
    return (int64_t)a.re;
}

static number *scalar_at(bounded *g, int e)
{
    const expr *x = &g->p->exprs[e];
    const int64_t *extent = g->extent[x->name];
    const int64_t i = x->arg[0] == NONE ? 0 : index_of(g, x->arg[0], extent[0]);
    const int64_t j = x->arg[1] == NONE ? 0 : index_of(g, x->arg[1], extent[1]);
    return &g->values[g->offset[x->name] + i * extent[1] + j];
}

static vector *element(bounded *g, int e)
{
    const expr *x = &g->p->exprs[e];
    return &g->vectors[x->name]
                      [x->arg[0] == NONE ? 0 : index_of(g, x->arg[0], g->extent[x->name][0])];
}

static int64_t run_of(bounded *g, const expr *x, int64_t *first)
{
    *first = (int64_t)number_of(g, x->arg[0]).re;
    const int64_t last = (int64_t)number_of(g, x->arg[1]).re;
    if (last >= *first && (*first < 0 || last >= g->extent[x->name][0]))
        abort();
    return last < *first ? 0 : last - *first + 1;
}

static number *of_run(bounded *g, const expr *x, int64_t k)
{
    const int64_t cols = g->extent[x->name][1];
    return &g->values[g->offset[x->name] + k * cols +
                      (x->arg[2] == NONE ? 0 : index_of(g, x->arg[2], cols))];
}

/*
 * out = out + a v. A complex product is rounded by at most 3 u, its factor by u before, the sum and
 * what is stored by u each; sums of k terms are added in k steps, which the caller counts in.
 */
static void add_scaled(bounded *g, vector *out, number a, const vector *v)
{
    const long double size = number_size(a), most = largest(g, v);
    out->n = out->n < 0 ? v->n : out->n;
    for (int64_t i = 0; i < length(g, v); i++) {
        out->re[i] += a.re * v->re[i] - a.im * v->im[i];
        out->im[i] += a.re * v->im[i] + a.im * v->re[i];
    }
    out->err += size * v->err + a.err * most + 6 * g->numbers.unit * size * most + g->numbers.tiny;
}

/* One more addition and rounding of a whole vector. */
static void add_rounding(bounded *g, vector *out)
{
    out->err += 2 * g->numbers.unit * largest(g, out);
}

static const bounded_operator *operator_of(const bounded *g, program_operator op)
{
    const bool nothing = op == OPERATOR_L ? !g->left : op == OPERATOR_R && g->left;
    return op == OPERATOR_A ? g->input->A : nothing ? NULL : g->input->M;
}

static vector apply(bounded *g, const expr *x, const bounded_operator *op)
{
    const vector in = vector_of(g, x->arg[0]);
    const bool plain = x->transpose == SPRY_TRANSPOSE_NO;
    const long double most = largest(g, &in);
    vector *out = make(g);
    out->n = plain ? op->rows : op->cols;
    for (int64_t i = 0; i < out->n; i++) {
        long double sum = 0;
        int64_t count = 0;
        for (int64_t j = 0; j < (plain ? op->cols : op->rows); j++) {
            const spry_scalar a = op->entries[plain ? i * op->cols + j : j * op->cols + i];
            const long double im = x->transpose == SPRY_TRANSPOSE_CONJUGATE ? -a.im : a.im;
            out->re[i] += a.re * in.re[j] - im * in.im[j];
            out->im[i] += a.re * in.im[j] + im * in.re[j];
            sum += hypotl(a.re, a.im);
            count += a.re != 0 || a.im != 0;
        }
        /* count products of 3 u, count additions, and the entries' own errors */
        const long double rounding = 2 * (long double)(count + 4) * g->numbers.unit + op->error;
        out->err = fmaxl(out->err,
                         sum * (in.err + rounding * most) + (long double)count * g->numbers.tiny);
    }
    return *out;
}

static vector elementwise(bounded *g, program_word word, vector u, vector v)
{
    vector *out = make(g);
    const long double most_u = largest(g, &u), most_v = largest(g, &v);
    long double least = INFINITY;
    out->n = u.n < 0 ? v.n : u.n;
    for (int64_t i = 0; i < length(g, out); i++) {
        const number a = {u.re[i], u.im[i], 0}, b = {v.re[i], v.im[i], 0};
        const number c =
            number_call(&g->numbers, word == WORD_TIMES ? WORD_MULTIPLY : WORD_DIVIDE, a, b);
        out->re[i] = c.re;
        out->im[i] = c.im;
        least = fminl(least, number_size(b));
    }
    const long double unit = 8 * g->numbers.unit;
    if (word == WORD_TIMES)
        out->err = most_u * v.err + most_v * u.err + unit * most_u * most_v;
    else if (least > v.err)
        out->err = (u.err + most_u * v.err / (least - v.err) + unit * most_u) / (least - v.err);
    else
        out->err = INFINITY;
    out->err += g->numbers.tiny;
    return *out;
}

static number inner_product(bounded *g, vector u, vector v, bool conjugate)
{
    number sum = {0, 0, 0};
    const int64_t n = length(g, u.n < 0 ? &v : &u);
    const long double most = largest(g, &u) * (long double)n, most_v = largest(g, &v);
    for (int64_t i = 0; i < n; i++) {
        const long double im = conjugate ? -u.im[i] : u.im[i];
        sum.re += u.re[i] * v.re[i] - im * v.im[i];
        sum.im += u.re[i] * v.im[i] + im * v.re[i];
    }
    /* n products of 3 u and n additions */
    sum.err = most * v.err + (long double)n * most_v * u.err +
              2 * (long double)(n + 4) * g->numbers.unit * most * most_v +
              (long double)n * g->numbers.tiny;
    return sum;
}

static void add_terms(bounded *g, vector *out, int e, number factor)
{
    const expr x = g->p->exprs[e];
    const program_word word = x.kind == EXPR_CALL ? x.word : WORD_COUNT;
    if (x.kind == EXPR_NUMBER)
        return;
    if (x.kind == EXPR_COMBINE) {
        int64_t first, at;
        const int64_t count = run_of(g, &g->p->exprs[x.arg[0]], &first);
        run_of(g, &g->p->exprs[x.arg[1]], &at);
        for (int64_t k = 0; k < count; k++) {
            const number a = *of_run(g, &g->p->exprs[x.arg[1]], at + k);
            add_scaled(g, out, number_call(&g->numbers, WORD_MULTIPLY, factor, a),
                       &g->vectors[g->p->exprs[x.arg[0]].name][first + k]);
            add_rounding(g, out);
        }
    } else if (x.kind == EXPR_APPLY && !operator_of(g, x.op)) {
        add_terms(g, out, x.arg[0], factor);
    } else if (word == WORD_ADD || word == WORD_SUBTRACT) {
        add_terms(g, out, x.arg[0], factor);
        if (word == WORD_SUBTRACT)
            factor.re = -factor.re, factor.im = -factor.im;
        add_terms(g, out, x.arg[1], factor);
    } else if (word == WORD_NEGATE) {
        factor.re = -factor.re, factor.im = -factor.im;
        add_terms(g, out, x.arg[0], factor);
    } else if (word == WORD_MULTIPLY || word == WORD_DIVIDE) {
        const int scalar = word == WORD_DIVIDE;
        const number by = number_of(g, x.arg[scalar]);
        add_terms(g, out, x.arg[!scalar], number_call(&g->numbers, word, factor, by));
    } else {
        const vector v = vector_of(g, e);
        add_scaled(g, out, factor, &v);
        add_rounding(g, out);
    }
}

/* The same numbers as the library's random(): they are no arithmetic of a method. */
static vector random_vector(bounded *g, int seed)
{
    vector *out = make(g);
    spry_scalar *wide = must(calloc((size_t)g->longer + 1, sizeof *wide));
    const uint64_t which = (uint64_t)(int64_t)number_of(g, seed).re;
    g->numbers.random(g->longer, which, 0, wide);
    for (int64_t i = 0; i < g->longer; i++) {
        const spry_scalar v = value_get(g->input->type, wide, i);
        out->re[i] = v.re;
        out->im[i] = v.im;
    }
    free(wide);
    return *out;
}

static vector share_vector(bounded *g, const expr *x)
{
    vector *out = make(g);
    const double which = (double)number_of(g, x->arg[0]).re;
    const double parts = (double)number_of(g, x->arg[1]).re;
    for (int64_t i = program_share_begin(which, parts, g->longer);
         i < program_share_begin(which + 1, parts, g->longer); i++)
        out->re[i] = 1;
    return *out;
}

static vector vector_of(bounded *g, int e)
{
    const expr x = g->p->exprs[e];
    if (x.kind == EXPR_NAME)
        return *element(g, e);
    if (x.kind == EXPR_APPLY && operator_of(g, x.op))
        return apply(g, &x, operator_of(g, x.op));
    if (x.kind == EXPR_RANDOM)
        return random_vector(g, x.arg[0]);
    if (x.kind == EXPR_SHARE)
        return share_vector(g, &x);
    if (x.kind == EXPR_CALL && (x.word == WORD_TIMES || x.word == WORD_OVER)) {
        const vector u = vector_of(g, x.arg[0]);
        return elementwise(g, x.word, u, vector_of(g, x.arg[1]));
    }
    vector *out = make(g);
    add_terms(g, out, e, (number){1, 0, 0});
    return *out;
}

/* and, or and where look at what decides alone. */
static number number_of(bounded *g, int e)
{
    const expr x = g->p->exprs[e];
    number a[2] = {{0, 0, 0}, {0, 0, 0}};
    if (x.kind == EXPR_NUMBER)
        return (number){x.value, 0, 0};
    if (x.kind == EXPR_NAME)
        return *scalar_at(g, e);
    if (x.kind == EXPR_DOT || x.kind == EXPR_NORM) {
        const vector u = vector_of(g, x.arg[0]);
        const bool norm = x.kind == EXPR_NORM;
        const number d =
            inner_product(g, u, norm ? u : vector_of(g, x.arg[1]), norm || x.conjugate);
        return norm ? number_call(&g->numbers, WORD_SQRT, d, d) : d;
    }
    for (int k = 0; k < 2 && x.arg[k] != NONE; k++) {
        a[k] = number_of(g, x.arg[k]);
        if (k > 0 || (x.word != WORD_WHERE && x.word != WORD_AND && x.word != WORD_OR))
            continue;
        const bool holds = number_holds(&g->numbers, a[0]);
        if (x.word == WORD_WHERE)
            return number_of(g, x.arg[holds ? 1 : 2]);
        if (holds == (x.word == WORD_OR))
            return (number){holds, 0, 0};
    }
    return number_call(&g->numbers, x.word, a[0], a[1]);
}

static void assign(void *data, const stmt *s)
{
    bounded *g = data;
    const expr target = g->p->exprs[s->target], value = g->p->exprs[s->value];
    if (target.shape == SHAPE_VECTOR) {
        const vector from = vector_of(g, s->value);
        vector *to = element(g, s->target);
        const size_t bytes = (size_t)g->longer * sizeof *to->re;
        memmove(to->re, from.re, bytes);
        memmove(to->im, from.im, bytes);
        to->err = from.err;
        to->n = from.n;
    } else if (value.kind == EXPR_SMALL) {
        g->numbers.unsure = true; /* eigenvalues have no bound here */
    } else if (target.shape == SHAPE_SCALARS) {
        int64_t first, at;
        const int64_t count = run_of(g, &g->p->exprs[value.arg[0]], &first);
        const vector right = vector_of(g, value.arg[1]);
        run_of(g, &target, &at);
        for (int64_t k = 0; k < count; k++)
            *of_run(g, &target, at + k) = inner_product(
                g, g->vectors[g->p->exprs[value.arg[0]].name][first + k], right, value.conjugate);
    } else {
        const number n = number_of(g, s->value);
        *scalar_at(g, s->target) = n;
    }
    forget(g);
}

static double report_value(void *data, int e)
{
    bounded *g = data;
    const number n = number_of(g, e);
    forget(g);
    g->numbers.reported = n.err;
    return (double)n.re;
}

static bool decide(void *data, int e)
{
    bounded *g = data;
    const bool holds = number_holds(&g->numbers, number_of(g, e));
    forget(g);
    return holds;
}

static int64_t count_of(void *data, int e)
{
    return (int64_t)number_of(data, e).re;
}

static void set_counter(void *data, int name, int64_t value)
{
    bounded *g = data;
    g->values[g->offset[name]] = (number){(long double)value, 0, 0};
}

static spry_status status_of(void *data)
{
    return ((bounded *)data)->numbers.unsure ? SPRY_STATUS_UNSUPPORTED : SPRY_STATUS_OK;
}

static void show_x(bounded *g)
{
    const vector *x = &g->vectors[NAME_X][0];
    for (int64_t i = 0; i < g->input->A->cols; i++)
        g->shown[i] = (spry_scalar){(double)x->re[i], (double)x->im[i]};
}

static spry_status hear(void *data, report_kind kind, bool loop, double value, bool *go_on)
{
    bounded *g = data;
    (void)kind, (void)loop;
    show_x(g);
    *go_on = g->input->report(g->input->data, value, (double)g->numbers.reported, g->shown,
                              (double)g->vectors[NAME_X][0].err);
    return SPRY_STATUS_OK;
}

static void ignore(void *data, const char *text, bool finite)
{
    (void)data, (void)text, (void)finite;
}

static void open_names(bounded *g)
{
    const program *p = g->p;
    const size_t count = (size_t)p->name_count;
    int64_t used = p->name_count; /* options first, each at its number */
    g->offset = must(calloc(count, sizeof *g->offset));
    g->extent = must(calloc(count, sizeof *g->extent));
    g->vectors = must(calloc(count, sizeof *g->vectors));
    g->values = must(calloc(count, sizeof *g->values));
    for (int k = 0; k < p->name_count; k++) {
        g->offset[k] = k;
        g->extent[k][0] = g->extent[k][1] = 1;
        if (p->names[k].kind == NAME_OPTION)
            g->values[k].re = p->names[k].value;
    }
    for (int k = 0; k < p->name_count; k++) {
        const name_kind kind = p->names[k].kind;
        for (int d = 0; d < 2; d++)
            if (p->names[k].extent[d] != NONE)
                g->extent[k][d] = (int64_t)number_of(g, p->names[k].extent[d]).re;
        if (kind == NAME_SCALARS) {
            g->offset[k] = used;
            used += g->extent[k][0] * g->extent[k][1];
        } else if (kind == NAME_VECTOR || kind == NAME_VECTORS) {
            g->vectors[k] = must(calloc((size_t)g->extent[k][0] + 1, sizeof **g->vectors));
            for (int64_t i = 0; i < g->extent[k][0]; i++)
                g->vectors[k][i] = new_vector(g);
        }
    }
    g->values = must(realloc(g->values, (size_t)used * sizeof *g->values));
    for (int64_t k = p->name_count; k < used; k++)
        g->values[k] = (number){0, 0, 0};
    const int side = program_find_name(p, "side");
    g->left =
        side != NONE && base_find_word(p->names[side].words, "left") == (int)p->names[side].value;
}

static void fill(const bounded *g, int name, int64_t n, const spry_scalar *from)
{
    vector *v = &g->vectors[name][0];
    v->n = n;
    for (int64_t i = 0; i < n; i++) {
        v->re[i] = from[i].re;
        v->im[i] = from[i].im;
    }
}

static void close_names(bounded *g)
{
    forget(g);
    for (int k = 0; k < g->p->name_count; k++) {
        for (int64_t i = 0; g->vectors[k] && i < g->extent[k][0]; i++) {
            free(g->vectors[k][i].re);
            free(g->vectors[k][i].im);
        }
        free(g->vectors[k]);
    }
    free(g->vectors);
    free(g->offset);
    free(g->extent);
    free(g->values);
}

spry_status bounded_run(spry_context *ctx, const char *text, const bounded_input *input,
                        spry_scalar *x, double *x_error)
{
    static const oracle_arithmetic does = {assign,   report_value, decide,
                                           count_of, set_counter,  status_of};
    const int64_t rows = input->A->rows, cols = input->A->cols;
    const rhs listener = {.report = hear, .breakdown = ignore};
    program *p = NULL;
    spry_status status = program_parse(ctx, "bounded", text, strlen(text), &p);
    if (status != SPRY_STATUS_OK)
        return status;
    bounded g = {.p = p, .input = input, .longer = rows > cols ? rows : cols, .shown = x};
    number_open(&g.numbers, ctx, input->type);
    open_names(&g);
    fill(&g, NAME_X, cols, input->x);
    fill(&g, NAME_B, rows, input->b);
    rhs l = listener;
    l.data = &g;
    status = oracle_follow(p, &does, &g, &l);
    show_x(&g);
    *x_error = (double)g.vectors[NAME_X][0].err;
    close_names(&g);
    program_free(p);
    return status;
}
