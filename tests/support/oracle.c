/* Programs statement by statement. See the header. */
#include "support/oracle.h"

#include <float.h>
#include <stdlib.h>

enum { MOST_TERMS = 512, MOST_SPARES = 64 };

/* Memory for the longer of the two spaces. n is -1 where the length is not known: zeros and random
 * numbers. */
typedef struct vector {
    char *data;
    int64_t n;
} vector;

/* An inner product or norm inside a scalar expression: it is replaced by a name made for it. */
typedef struct product {
    expr source; /* as it was */
    int name;    /* NONE: the expression is not one */
} product;

typedef struct oracle {
    spry_context *ctx;
    program *p;
    const oracle_input *input;
    const host_kernels *kernels;
    size_t size;
    int64_t longer;
    bool left;         /* side = left */
    product *products; /* by expression */
    int product_count;
    scalars s;
    int64_t *offset;
    int64_t (*extent)[2];
    vector **vectors; /* by name and element */
    vector spare[MOST_SPARES];
    int spares; /* in use */
    spry_status status;
} oracle;

/* A linear combination being collected. */
typedef struct sum {
    int count;
    int64_t n;
    spry_scalar factor[MOST_TERMS];
    const void *data[MOST_TERMS];
} sum;

static vector vector_of(oracle *o, int e);
static spry_scalar scalar_of(oracle *o, int e);

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static vector *spare(oracle *o)
{
    if (o->spares == MOST_SPARES)
        abort();
    vector *v = &o->spare[o->spares++];
    if (!v->data)
        v->data = must(calloc((size_t)o->longer + 1, o->size));
    return v;
}

/* A name, or one element of an array. */
static vector *element(oracle *o, int e)
{
    const expr *x = &o->p->exprs[e];
    int64_t index = 0;
    if (x->arg[0] != NONE)
        index = program_eval_index(&o->s, x->arg[0], o->extent[x->name][0]);
    return &o->vectors[x->name][index];
}

/* First element of a run and how many there are; none after a fault. */
static int64_t run_of(oracle *o, const expr *x, int64_t *first)
{
    *first = program_eval_count(&o->s, x->arg[0]);
    const int64_t last = program_eval_count(&o->s, x->arg[1]);
    if (last < *first)
        return 0;
    if (*first < 0 || last >= o->extent[x->name][0])
        o->s.fault = x->place;
    return o->s.fault == NONE ? last - *first + 1 : 0;
}

/* Scalar `k` of a run of scalars. */
static spry_scalar *number_of(oracle *o, const expr *x, int64_t k)
{
    const int64_t cols = o->extent[x->name][1];
    const int64_t column = x->arg[2] == NONE ? 0 : program_eval_index(&o->s, x->arg[2], cols);
    return &o->s.values[o->offset[x->name] + k * cols + column];
}

static const spry_operator *operator_of(const oracle *o, program_operator op)
{
    const bool nothing = op == OPERATOR_L ? !o->left : op == OPERATOR_R && o->left;
    return op == OPERATOR_A ? o->input->A : nothing ? NULL : o->input->M;
}

static int64_t length(const oracle *o, const vector *v)
{
    return v->n < 0 ? o->longer : v->n;
}

/* One chunk after the other, as in a sweep: the last element of a chunk may be rounded differently
 * from others. */
static vector elementwise(oracle *o, program_word word, vector u, vector v)
{
    vector *out = spare(o);
    out->n = u.n < 0 ? v.n : u.n;
    const int64_t all = length(o, out);
    for (int64_t i = 0; i < all; i += CHUNK) {
        const int64_t n = all - i < CHUNK ? all - i : CHUNK;
        const size_t skip = (size_t)i * o->size;
        if (word == WORD_TIMES)
            o->kernels->multiply(n, u.data + skip, v.data + skip, out->data + skip);
        else
            o->kernels->divide(n, u.data + skip, v.data + skip, out->data + skip);
    }
    return *out;
}

static vector add_up(oracle *o, const sum *s)
{
    vector *out = spare(o);
    out->n = s->n;
    const int64_t all = length(o, out);
    for (int64_t i = 0; i < all; i += CHUNK) {
        const void *moved[MOST_TERMS];
        const int64_t n = all - i < CHUNK ? all - i : CHUNK;
        for (int k = 0; k < s->count; k++)
            moved[k] = (const char *)s->data[k] + (size_t)i * o->size;
        o->kernels->combine(n, s->count, s->factor, moved, out->data + (size_t)i * o->size);
    }
    return *out;
}

static vector apply(oracle *o, const expr *x, const spry_operator *op)
{
    const spry_scalar one = {1, 0}, zero = {0, 0};
    const vector in = vector_of(o, x->arg[0]);
    vector *out = spare(o);
    out->n = x->transpose == SPRY_TRANSPOSE_NO ? op->rows : op->cols;
    const spry_status status = op->class->multiply(op, x->transpose, one, in.data, zero, out->data);
    if (o->status == SPRY_STATUS_OK)
        o->status = status;
    return *out;
}

static vector random_vector(oracle *o, int seed)
{
    vector *out = spare(o);
    out->n = -1;
    const uint64_t number = (uint64_t)(int64_t)scalar_of(o, seed).re;
    for (int64_t i = 0; i < o->longer; i += CHUNK)
        o->kernels->random(o->longer - i < CHUNK ? o->longer - i : CHUNK, number, i,
                           out->data + (size_t)i * o->size);
    return *out;
}

static vector share_vector(oracle *o, const expr *x)
{
    vector *out = spare(o);
    out->n = -1;
    const double which = scalar_of(o, x->arg[0]).re, parts = scalar_of(o, x->arg[1]).re;
    const int64_t from = program_share_begin(which, parts, o->longer);
    const int64_t to = program_share_begin(which + 1, parts, o->longer);
    o->kernels->fill(o->longer, (spry_scalar){0, 0}, out->data);
    if (from < to)
        o->kernels->fill(to - from, (spry_scalar){1, 0}, out->data + (size_t)from * o->size);
    return *out;
}

static void add_vector(sum *s, spry_scalar factor, const vector *v)
{
    if (s->count == MOST_TERMS)
        abort();
    s->factor[s->count] = factor;
    s->data[s->count++] = v->data;
    s->n = s->n < 0 ? v->n : s->n;
}

/* factor times or over s; a missing factor is 1 and multiplies nothing. */
static spry_scalar scaled(oracle *o, const spry_scalar *factor, program_word word, int e)
{
    const spry_scalar s = scalar_of(o, e), one = {1, 0};
    if (word == WORD_MULTIPLY)
        return !factor     ? s
               : o->s.real ? (spry_scalar){factor->re * s.re, 0}
                           : scalar_multiply(*factor, s);
    factor = factor ? factor : &one;
    return o->s.real ? (spry_scalar){factor->re / s.re, 0} : scalar_divide(*factor, s);
}

/* A run of vectors times a run of numbers. */
static void add_run(oracle *o, sum *s, const expr *x, spry_scalar factor)
{
    const expr vectors = o->p->exprs[x->arg[0]], numbers = o->p->exprs[x->arg[1]];
    int64_t first, number;
    const int64_t count = run_of(o, &vectors, &first);
    if (run_of(o, &numbers, &number) != count && o->s.fault == NONE)
        o->s.fault = x->place;
    for (int64_t k = 0; k < count && o->s.fault == NONE; k++)
        add_vector(s, scalar_multiply(factor, *number_of(o, &numbers, number + k)),
                   &o->vectors[vectors.name][first + k]);
}

/* Adds sign factor e. Sums are taken apart down to their vectors. */
static void add_terms(oracle *o, sum *s, int e, double sign, const spry_scalar *factor)
{
    const expr x = o->p->exprs[e];
    const program_word word = x.kind == EXPR_CALL ? x.word : WORD_COUNT;
    spry_scalar signed_factor = {sign, 0};
    if (factor)
        signed_factor = scalar_multiply(signed_factor, *factor);
    if (x.kind == EXPR_NUMBER)
        return;
    if (x.kind == EXPR_COMBINE) {
        add_run(o, s, &x, signed_factor);
    } else if (x.kind == EXPR_APPLY && !operator_of(o, x.op)) {
        add_terms(o, s, x.arg[0], sign, factor);
    } else if (word == WORD_ADD || word == WORD_SUBTRACT) {
        add_terms(o, s, x.arg[0], sign, factor);
        add_terms(o, s, x.arg[1], word == WORD_SUBTRACT ? -sign : sign, factor);
    } else if (word == WORD_NEGATE) {
        add_terms(o, s, x.arg[0], -sign, factor);
    } else if (word == WORD_MULTIPLY || word == WORD_DIVIDE) {
        const int scalar = word == WORD_DIVIDE;
        const spry_scalar by = scaled(o, factor, word, x.arg[scalar]);
        add_terms(o, s, x.arg[!scalar], sign, &by);
    } else {
        const vector v = vector_of(o, e);
        add_vector(s, signed_factor, &v);
    }
}

static vector vector_of(oracle *o, int e)
{
    const expr x = o->p->exprs[e];
    sum s = {.count = 0, .n = -1};
    if (x.kind == EXPR_NAME)
        return *element(o, e);
    if (x.kind == EXPR_APPLY && operator_of(o, x.op))
        return apply(o, &x, operator_of(o, x.op));
    if (x.kind == EXPR_RANDOM)
        return random_vector(o, x.arg[0]);
    if (x.kind == EXPR_SHARE)
        return share_vector(o, &x);
    if (x.kind == EXPR_CALL && (x.word == WORD_TIMES || x.word == WORD_OVER)) {
        const vector u = vector_of(o, x.arg[0]);
        return elementwise(o, x.word, u, vector_of(o, x.arg[1]));
    }
    add_terms(o, &s, e, 1, NULL);
    return add_up(o, &s);
}

/* Chunks in order within a part, parts as a tree: src/program/sweep.c says why. */
static spry_scalar inner_product(const oracle *o, vector u, vector v, bool conjugate)
{
    const int64_t n = length(o, u.n < 0 ? &v : &u);
    const int64_t chunks = (n + CHUNK - 1) / CHUNK;
    const int parts = chunks < 1 ? 1 : chunks < MOST_PARTS ? (int)chunks : MOST_PARTS;
    spry_scalar sums[MOST_PARTS] = {{0, 0}};
    for (int part = 0; part < parts; part++) {
        const range rows = base_share(n, parts, part, CHUNK);
        for (int64_t i = rows.begin; i < rows.end; i += CHUNK) {
            const size_t skip = (size_t)i * o->size;
            const int64_t size = rows.end - i < CHUNK ? rows.end - i : CHUNK;
            const spry_scalar d = conjugate
                                      ? o->kernels->dot(size, u.data + skip, v.data + skip)
                                      : o->kernels->dot_plain(size, u.data + skip, v.data + skip);
            sums[part].re += d.re;
            sums[part].im += d.im;
        }
    }
    for (int width = 1; width < parts; width *= 2)
        for (int k = 0; k + width < parts; k += 2 * width) {
            sums[k].re += sums[k + width].re;
            sums[k].im += sums[k + width].im;
        }
    return sums[0];
}

/* Takes the inner products in a scalar expression. */
static void take_products(oracle *o, int e)
{
    if (e == NONE)
        return;
    if (e < o->product_count && o->products[e].name != NONE) {
        const product *d = &o->products[e];
        const vector u = vector_of(o, d->source.arg[0]);
        const bool norm = d->source.kind == EXPR_NORM;
        const vector v = norm ? u : vector_of(o, d->source.arg[1]);
        o->s.values[o->offset[d->name]] = inner_product(o, u, v, norm || d->source.conjugate);
        return;
    }
    for (int k = 0; k < 3; k++)
        take_products(o, o->p->exprs[e].arg[k]);
}

static spry_scalar scalar_of(oracle *o, int e)
{
    take_products(o, e);
    return program_eval(&o->s, e);
}

static bool holds(oracle *o, int e)
{
    take_products(o, e);
    return program_holds(&o->s, e);
}

static void set(oracle *o, const stmt *s)
{
    const expr target = o->p->exprs[s->target], value = o->p->exprs[s->value];
    if (target.shape == SHAPE_VECTOR) {
        const vector from = vector_of(o, s->value);
        vector *to = element(o, s->target);
        to->n = from.n;
        memmove(to->data, from.data, (size_t)o->longer * o->size);
    } else if (value.kind == EXPR_SMALL) { /* B = newton(G, B) */
        const program_array G = program_array_at(&o->s, value.arg[0]);
        const program_array B = program_array_at(&o->s, s->target);
        program_basis(value.small, &G, &B, o->s.real);
    } else if (target.shape == SHAPE_SCALARS) {
        int64_t first, number;
        const int64_t count = run_of(o, &o->p->exprs[value.arg[0]], &first);
        const vector right = vector_of(o, value.arg[1]);
        if (run_of(o, &target, &number) != count && o->s.fault == NONE)
            o->s.fault = target.place;
        for (int64_t k = 0; k < count && o->s.fault == NONE; k++)
            *number_of(o, &target, number + k) = inner_product(
                o, o->vectors[o->p->exprs[value.arg[0]].name][first + k], right, value.conjugate);
    } else {
        const spry_scalar number = scalar_of(o, s->value);
        spry_scalar *to = program_scalar_at(&o->s, s->target);
        if (to)
            *to = number;
    }
}

static void assign(void *data, const stmt *s)
{
    oracle *o = data;
    o->spares = 0;
    set(o, s);
}

static double report_of(void *data, int e)
{
    oracle *o = data;
    o->spares = 0;
    return scalar_of(o, e).re;
}

static bool decide(void *data, int e)
{
    oracle *o = data;
    o->spares = 0;
    return holds(o, e);
}

static int64_t count_of(void *data, int e)
{
    return program_eval_count(&((oracle *)data)->s, e);
}

static void set_counter(void *data, int name, int64_t value)
{
    oracle *o = data;
    o->s.values[o->offset[name]] = (spry_scalar){(double)value, 0};
}

static spry_status status_of(void *data)
{
    const oracle *o = data;
    return o->status == SPRY_STATUS_OK && o->s.fault != NONE ? SPRY_STATUS_BAD_INPUT : o->status;
}

/* Inner products become names, norms roots of such. */
static void name_products(oracle *o)
{
    program *p = o->p;
    o->product_count = p->expr_count;
    o->products = must(calloc((size_t)p->expr_count, sizeof *o->products));
    int made = p->name_count;
    for (int e = 0; e < o->product_count; e++) {
        product *d = &o->products[e];
        *d = (product){p->exprs[e], NONE};
        if (d->source.shape != SHAPE_SCALAR ||
            (d->source.kind != EXPR_DOT && d->source.kind != EXPR_NORM))
            continue;
        d->name = made++;
        expr name = {.kind = EXPR_NAME,
                     .shape = SHAPE_SCALAR,
                     .place = d->source.place,
                     .name = d->name,
                     .arg = {NONE, NONE, NONE}};
        if (d->source.kind == EXPR_NORM) {
            expr call = {.kind = EXPR_CALL, .place = name.place, .arg = {NONE, NONE, NONE}};
            call.word = WORD_REAL;
            if (program_add_expr(p, &name, &call.arg[0]) != SPRY_STATUS_OK)
                abort();
            name = call;
            call.word = WORD_SQRT;
            if (program_add_expr(p, &name, &call.arg[0]) != SPRY_STATUS_OK)
                abort();
            name = call;
        }
        p->exprs[e] = name;
    }
    /* Names are only looked up by number: the new ones need places, not texts. */
    const int all = made;
    o->offset = must(calloc((size_t)all, sizeof *o->offset));
    o->extent = must(calloc((size_t)all, sizeof *o->extent));
    o->vectors = must(calloc((size_t)all, sizeof *o->vectors));
    for (int k = 0; k < all; k++)
        o->extent[k][0] = o->extent[k][1] = 1;
}

/* Places of all numbers, values of options, memory of vectors. */
static void open_names(oracle *o)
{
    const program *p = o->p;
    int64_t used = 0;
    name_products(o);
    int all = p->name_count;
    for (int e = 0; e < o->product_count; e++)
        all = o->products[e].name >= all ? o->products[e].name + 1 : all;
    spry_scalar *options = must(calloc((size_t)all, sizeof *options));
    for (int k = 0; k < p->name_count; k++)
        options[k].re = p->names[k].kind == NAME_OPTION ? p->names[k].value : 0;
    for (int k = 0; k < all; k++)
        o->offset[k] = k; /* while only options have values */
    o->s = (scalars){.program = p,
                     .offset = o->offset,
                     .extent = (const int64_t(*)[2])o->extent,
                     .values = options,
                     .real = !spry_type_is_complex(o->input->A->type),
                     .eps = o->input->A->type == SPRY_TYPE_S || o->input->A->type == SPRY_TYPE_C
                                ? FLT_EPSILON
                                : DBL_EPSILON,
                     .fault = NONE};
    for (int k = 0; k < p->name_count; k++)
        for (int d = 0; d < 2; d++)
            if (p->names[k].extent[d] != NONE)
                o->extent[k][d] = program_eval_count(&o->s, p->names[k].extent[d]);
    for (int k = 0; k < all; k++) {
        const name_kind kind = k < p->name_count ? p->names[k].kind : NAME_SCALAR;
        o->offset[k] = used;
        if (kind != NAME_VECTOR && kind != NAME_VECTORS) {
            used += o->extent[k][0] * o->extent[k][1];
            continue;
        }
        o->vectors[k] = must(calloc((size_t)o->extent[k][0] + 1, sizeof **o->vectors));
        for (int64_t i = 0; i < o->extent[k][0]; i++)
            o->vectors[k][i] = (vector){must(calloc((size_t)o->longer + 1, o->size)), -1};
    }
    o->s.values = must(calloc((size_t)used + 1, sizeof *o->s.values));
    for (int k = 0; k < p->name_count; k++)
        if (p->names[k].kind == NAME_OPTION)
            o->s.values[o->offset[k]] = options[k];
    const int side = program_find_name(p, "side");
    o->left = side != NONE && base_find_word(p->names[side].words, "left") == (int)options[side].re;
    free(options);
}

static void close_names(oracle *o)
{
    for (int k = 0; k < o->p->name_count; k++) {
        for (int64_t i = 0; o->vectors[k] && i < o->extent[k][0]; i++)
            free(o->vectors[k][i].data);
        free(o->vectors[k]);
    }
    for (int k = 0; k < MOST_SPARES; k++)
        free(o->spare[k].data);
    free(o->vectors);
    free(o->offset);
    free(o->extent);
    free(o->products);
    free(o->s.values);
}

spry_status oracle_run(spry_context *ctx, const char *text, const oracle_input *input)
{
    oracle o = {.ctx = ctx, .input = input, .kernels = host_kernels_for(ctx, input->A->type)};
    const spry_operator *A = input->A;
    spry_status status = program_parse(ctx, "oracle", text, strlen(text), &o.p);
    if (status != SPRY_STATUS_OK)
        return status;
    o.size = spry_type_size(A->type);
    o.longer = A->rows > A->cols ? A->rows : A->cols;
    open_names(&o);
    /* x is the caller's, so that report() sees it. */
    char *own = o.vectors[NAME_X][0].data;
    o.vectors[NAME_X][0] = (vector){input->listener->x, A->cols};
    o.vectors[NAME_B][0].n = A->rows;
    memcpy(o.vectors[NAME_B][0].data, input->listener->b, (size_t)A->rows * o.size);
    static const oracle_arithmetic bits = {assign,   report_of,   decide,
                                           count_of, set_counter, status_of};
    status = oracle_follow(o.p, &bits, &o, input->listener);
    o.vectors[NAME_X][0].data = own;
    close_names(&o);
    program_free(o.p);
    return status;
}
