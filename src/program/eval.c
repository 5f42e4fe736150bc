/*
 * The values of scalar expressions, in double precision. In real types imaginary parts are not
 * computed: an infinite number times a complex one would make NaN of nothing.
 */
#include "program/program.h"

#include <math.h>

enum { MOST_FACTORS = 64 }; /* of a power that is multiplied out */

static spry_scalar real_number(double re)
{
    return (spry_scalar){re, 0};
}

spry_scalar scalar_multiply(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* R. L. Smith, Algorithm 116, Comm. ACM 5 (1962), 435: no squares, so they do not overflow. */
spry_scalar scalar_divide(spry_scalar a, spry_scalar b)
{
    if (b.im == 0)
        return (spry_scalar){a.re / b.re, a.im / b.re};
    if (fabs(b.re) >= fabs(b.im)) {
        const double ratio = b.im / b.re, divisor = b.re + b.im * ratio;
        return (spry_scalar){(a.re + a.im * ratio) / divisor, (a.im - a.re * ratio) / divisor};
    }
    const double ratio = b.re / b.im, divisor = b.re * ratio + b.im;
    return (spry_scalar){(a.re * ratio + a.im) / divisor, (a.im * ratio - a.re) / divisor};
}

static bool small_integer(double a)
{
    return a == floor(a) && fabs(a) <= MOST_FACTORS;
}

static double real_power(double a, double b)
{
    if (!small_integer(b))
        return pow(a, b);
    double product = 1;
    for (int i = 0; i < (int)fabs(b); i++)
        product *= a;
    return b < 0 ? 1 / product : product;
}

/* Makes 0 of -0, which a minus before a real number leaves: sqrt(-4) is 2i, not -2i. */
static double unsigned_zero(double a)
{
    return a == 0 ? 0 : a;
}

/* a^b by exp(b log a), the principal value; multiplied out where b is a small integer. */
static spry_scalar power(spry_scalar a, spry_scalar b)
{
    if (b.im == 0 && small_integer(b.re)) {
        spry_scalar product = {1, 0};
        for (int i = 0; i < (int)fabs(b.re); i++)
            product = scalar_multiply(product, a);
        return b.re < 0 ? scalar_divide(real_number(1), product) : product;
    }
    if (a.im == 0 && b.im == 0 && a.re >= 0)
        return real_number(pow(a.re, b.re));
    const spry_scalar logarithm = {log(hypot(a.re, a.im)), atan2(unsigned_zero(a.im), a.re)};
    const spry_scalar w = scalar_multiply(b, logarithm);
    return (spry_scalar){exp(w.re) * cos(w.im), exp(w.re) * sin(w.im)};
}

/* The root with a real part that is not negative. */
static spry_scalar square_root(spry_scalar a)
{
    const double t = sqrt(0.5 * fabs(a.re) + 0.5 * hypot(a.re, a.im));
    if (t == 0)
        return (spry_scalar){0, a.im};
    if (a.re >= 0)
        return (spry_scalar){t, a.im / (2 * t)};
    return (spry_scalar){fabs(a.im) / (2 * t), copysign(t, unsigned_zero(a.im))};
}

static spry_scalar sign(spry_scalar a)
{
    const double size = fmax(fabs(a.re), fabs(a.im));
    if (size == 0)
        return real_number(1);
    const spry_scalar b = {a.re / size, a.im / size};
    const double length = hypot(b.re, b.im);
    return (spry_scalar){b.re / length, b.im / length};
}

static double modulo(double a, double b)
{
    const double rest = fmod(a, b);
    return rest < 0 ? rest + fabs(b) : rest;
}

/* What numbers are compared by, and real types know: functions of the real parts alone. */
static double real_call(program_word word, double a, double b)
{
    switch (word) {
    case WORD_ADD:
        return a + b;
    case WORD_SUBTRACT:
        return a - b;
    case WORD_NEGATE:
        return -a;
    case WORD_MULTIPLY:
    case WORD_TIMES:
        return a * b;
    case WORD_DIVIDE:
    case WORD_OVER:
        return a / b;
    case WORD_POWER:
        return real_power(a, b);
    case WORD_LESS:
        return a < b;
    case WORD_AT_MOST:
        return a <= b;
    case WORD_MORE:
        return a > b;
    case WORD_AT_LEAST:
        return a >= b;
    case WORD_EQUAL:
        return a == b;
    case WORD_UNEQUAL:
        return a != b;
    case WORD_NOT:
        return a == 0;
    case WORD_SQRT:
        return sqrt(a);
    case WORD_ABS:
        return fabs(a);
    case WORD_CONJ:
    case WORD_REAL:
        return a;
    case WORD_IMAG:
        return 0;
    case WORD_SIGN:
        return isnan(a) ? a : a < 0 ? -1 : 1;
    case WORD_MAX:
        return isnan(a) || a > b ? a : b;
    case WORD_MIN:
        return isnan(a) || a < b ? a : b;
    case WORD_MOD:
        return modulo(a, b);
    case WORD_POSITIVE:
        return a > 0 && isfinite(a);
    case WORD_FINITE:
        return isfinite(a);
    case WORD_INF:
        return INFINITY;
    default:
        return NAN;
    }
}

static spry_scalar complex_call(program_word word, spry_scalar a, spry_scalar b)
{
    switch (word) {
    case WORD_ADD:
        return (spry_scalar){a.re + b.re, a.im + b.im};
    case WORD_SUBTRACT:
        return (spry_scalar){a.re - b.re, a.im - b.im};
    case WORD_NEGATE:
        return (spry_scalar){-a.re, -a.im};
    case WORD_MULTIPLY:
    case WORD_TIMES:
        return scalar_multiply(a, b);
    case WORD_DIVIDE:
    case WORD_OVER:
        return scalar_divide(a, b);
    case WORD_POWER:
        return power(a, b);
    case WORD_EQUAL:
        return real_number(a.re == b.re && a.im == b.im);
    case WORD_UNEQUAL:
        return real_number(a.re != b.re || a.im != b.im);
    case WORD_NOT:
        return real_number(a.re == 0 && a.im == 0);
    case WORD_SQRT:
        return square_root(a);
    case WORD_ABS:
        return real_number(hypot(a.re, a.im));
    case WORD_CONJ:
        return (spry_scalar){a.re, -a.im};
    case WORD_IMAG:
        return real_number(a.im);
    case WORD_SIGN:
        return sign(a);
    case WORD_MAX:
        return isnan(a.re) || a.re > b.re ? a : b;
    case WORD_MIN:
        return isnan(a.re) || a.re < b.re ? a : b;
    case WORD_POSITIVE:
        return real_number(a.re > 0 && isfinite(a.re) && fabs(a.im) <= 1e-3 * a.re);
    case WORD_FINITE:
        return real_number(isfinite(a.re) && isfinite(a.im));
    default:
        return real_number(real_call(word, a.re, b.re));
    }
}

static bool truth(const scalars *s, spry_scalar a)
{
    return a.re != 0 || (!s->real && a.im != 0);
}

/* and, or, where look only at what decides, so that k > 0 and g[k - 1] > 0 is no fault at k = 0. */
static spry_scalar eval_call(scalars *s, const expr *e)
{
    spry_scalar a = {0, 0}, b = {0, 0};
    if (e->word == WORD_EPS)
        return real_number(s->eps);
    if (e->arg[0] != NONE)
        a = program_eval(s, e->arg[0]);
    if (e->word == WORD_WHERE)
        return program_eval(s, truth(s, a) ? e->arg[1] : e->arg[2]);
    if (e->word == WORD_AND || e->word == WORD_OR) {
        if (truth(s, a) == (e->word == WORD_OR))
            return real_number(e->word == WORD_OR);
        return real_number(truth(s, program_eval(s, e->arg[1])));
    }
    if (e->arg[1] != NONE)
        b = program_eval(s, e->arg[1]);
    return s->real ? real_number(real_call(e->word, a.re, b.re)) : complex_call(e->word, a, b);
}

static void note_fault(scalars *s, int e)
{
    if (s->fault == NONE)
        s->fault = s->program->exprs[e].place;
}

/* Where a slice of scalars begins, its length and how far they are apart; NULL after a fault. */
static const spry_scalar *slice_at(scalars *s, int e, int64_t *count, int64_t *apart)
{
    const expr *x = &s->program->exprs[e];
    const int64_t *extent = s->extent[x->name];
    const int64_t first = program_eval_count(s, x->arg[0]), last = program_eval_count(s, x->arg[1]);
    const int64_t column = x->arg[2] == NONE ? 0 : program_eval_index(s, x->arg[2], extent[1]);
    *count = last < first ? 0 : last - first + 1;
    *apart = extent[1];
    if (*count > 0 && (first < 0 || last >= extent[0]))
        note_fault(s, e);
    return s->fault == NONE && *count > 0 ? s->values + s->offset[x->name] + first * *apart + column
                                          : NULL;
}

/* sum conj(a_i) b_i */
static spry_scalar dot_of_scalars(scalars *s, const expr *x)
{
    int64_t count, other, apart, apart_b;
    spry_scalar sum = {0, 0};
    const spry_scalar *a = slice_at(s, x->arg[0], &count, &apart);
    const spry_scalar *b = slice_at(s, x->arg[1], &other, &apart_b);
    if (count != other)
        note_fault(s, x->arg[1]);
    for (int64_t i = 0; a && b && i < count && count == other; i++) {
        const spry_scalar u = a[i * apart], v = b[i * apart_b];
        sum.re += u.re * v.re + (s->real ? 0 : u.im * v.im);
        sum.im += s->real ? 0 : u.re * v.im - u.im * v.re;
    }
    return sum;
}

spry_scalar program_eval(scalars *s, int e)
{
    const expr *x = &s->program->exprs[e];
    if (x->kind == EXPR_NUMBER)
        return real_number(x->value);
    if (x->kind == EXPR_CALL)
        return eval_call(s, x);
    if (x->kind == EXPR_DOT && s->program->exprs[x->arg[0]].shape == SHAPE_SCALARS)
        return dot_of_scalars(s, x);
    if (x->kind == EXPR_NAME && x->shape == SHAPE_SCALAR) {
        const spry_scalar *value = program_scalar_at(s, e);
        return !value ? real_number(0) : s->real ? real_number(value->re) : *value;
    }
    return real_number(NAN);
}

bool program_holds(scalars *s, int e)
{
    return truth(s, program_eval(s, e));
}

int64_t program_eval_count(scalars *s, int e)
{
    const double value = program_eval(s, e).re, most = 9007199254740992.0; /* 2^53 */
    if (value == floor(value) && fabs(value) < most)
        return (int64_t)value;
    note_fault(s, e);
    return 0;
}

int64_t program_eval_index(scalars *s, int e, int64_t extent)
{
    const int64_t index = program_eval_count(s, e);
    if (index >= 0 && index < extent)
        return index;
    note_fault(s, e);
    return 0;
}

int64_t program_share_begin(double part, double parts, int64_t rows)
{
    if (!(part >= 0 && part <= parts && parts >= 1 && parts < 0x1p53))
        return 0;
    const int64_t n = (int64_t)parts, k = (int64_t)part, rest = rows % n;
    return rows / n * k + (k < rest ? k : rest);
}

program_array program_array_at(const scalars *s, int e)
{
    const int name = s->program->exprs[e].name;
    return (program_array){s->extent[name][0], s->extent[name][1], s->values + s->offset[name]};
}

spry_scalar *program_scalar_at(scalars *s, int e)
{
    const expr *x = &s->program->exprs[e];
    const int64_t *extent = s->extent[x->name];
    int64_t i = 0, j = 0;
    if (x->arg[0] != NONE)
        i = program_eval_index(s, x->arg[0], extent[0]);
    if (x->arg[1] != NONE)
        j = program_eval_index(s, x->arg[1], extent[1]);
    return s->fault == NONE ? s->values + s->offset[x->name] + i * extent[1] + j : NULL;
}
