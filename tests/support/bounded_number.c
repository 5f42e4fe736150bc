/* Numbers with bounds. See the header. */
#include "support/bounded_number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

void number_open(bounded_context *c, spry_context *ctx, spry_type type)
{
    const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
    *c = (bounded_context){.real = !spry_type_is_complex(type),
                           .epsilon = single ? FLT_EPSILON : DBL_EPSILON,
                           .tiny = single ? 4 * FLT_MIN : 4 * DBL_MIN,
                           .huge = single ? 1e15L : 1e150L,
                           .random = host_kernels_for(ctx, type)->random};
    c->unit = c->epsilon / 2;
}

long double number_size(number a)
{
    return hypotl(a.re, a.im);
}

/* Scalars are rounded to double; complex operations by a few roundings, whole numbers (counters)
 * not at all. */
static number rounded(number a)
{
    if (a.err == 0 && a.im == 0 && a.re == floorl(a.re) && fabsl(a.re) < 1 / DBL_EPSILON)
        return a;
    a.err += 8 * (DBL_EPSILON / 2) * number_size(a);
    return a;
}

bool number_holds(bounded_context *c, number a)
{
    const long double size = number_size(a);
    c->unsure = c->unsure || (a.err > 0 && !(size > a.err));
    return size > 0;
}

/* -1, 0, 1 as the real part of a is below, at, above that of b. */
static int compare(bounded_context *c, number a, number b)
{
    const long double apart = a.re - b.re, err = a.err + b.err;
    c->unsure = c->unsure || (err > 0 && !(fabsl(apart) > err));
    return apart > 0 ? 1 : apart < 0 ? -1 : 0;
}

static number product(number a, number b)
{
    const long double x = number_size(a), y = number_size(b);
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re,
                    x * b.err + y * a.err + a.err * b.err};
}

static number quotient(number a, number b)
{
    const long double size = b.re * b.re + b.im * b.im, y = number_size(b) - b.err;
    number q = {(a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size, INFINITY};
    if (y > 0)
        q.err = (a.err + number_size(q) * b.err) / y;
    return q;
}

/* The root with a real part that is not negative. */
static number root(bounded_context *c, number a)
{
    const long double size = number_size(a), t = sqrtl((size + fabsl(a.re)) / 2);
    const long double other = t > 0 ? a.im / (2 * t) : 0;
    /* |sqrt(a) - sqrt(b)| = |a - b| / |sqrt(a) + sqrt(b)|; near the cut the roots may be apart. */
    const long double err = size > a.err ? a.err / sqrtl(size - a.err) : sqrtl(size + a.err);
    c->unsure = c->unsure || (a.re < 0 && fabsl(a.im) <= a.err && a.err > 0);
    if (a.re >= 0)
        return (number){t, other, err};
    return (number){fabsl(other), a.im < 0 ? -t : t, err};
}

static number sign(bounded_context *c, number a)
{
    const long double size = number_size(a);
    if (size == 0 && a.err == 0)
        return (number){1, 0, 0};
    c->unsure = c->unsure || !(size > a.err);
    return (number){a.re / size, a.im / size, c->real ? 0 : 2 * a.err / (size - a.err)};
}

static number power(number a, number b)
{
    number all = {1, 0, 0};
    if (b.err != 0 || b.im != 0 || b.re != floorl(b.re) || fabsl(b.re) > 8)
        abort(); /* no other powers in the programs of the tests */
    for (int k = 0; k < (int)fabsl(b.re); k++)
        all = rounded(product(all, a));
    return b.re < 0 ? quotient((number){1, 0, 0}, all) : all;
}

/* The larger, or with `less` the smaller; where rounding decides either may come out. */
static number choose(number a, number b, bool less)
{
    number chosen = (a.re > b.re) != less ? a : b;
    if (fabsl(a.re - b.re) <= a.err + b.err)
        chosen.err = fmaxl(a.err, b.err) + hypotl(a.re - b.re, a.im - b.im);
    return chosen;
}

static number truth(bool holds)
{
    return (number){holds, 0, 0};
}

/* Words that compare or ask. */
static number ask(bounded_context *c, program_word word, number a, number b)
{
    const number difference = {a.re - b.re, a.im - b.im, a.err + b.err};
    switch (word) {
    case WORD_LESS:
        return truth(compare(c, a, b) < 0);
    case WORD_AT_MOST:
        return truth(compare(c, a, b) <= 0);
    case WORD_MORE:
        return truth(compare(c, a, b) > 0);
    case WORD_AT_LEAST:
        return truth(compare(c, a, b) >= 0);
    case WORD_EQUAL:
        return truth(!number_holds(c, difference));
    case WORD_UNEQUAL:
        return truth(number_holds(c, difference));
    case WORD_NOT:
        return truth(!number_holds(c, a));
    case WORD_AND: /* the left one has been looked at */
    case WORD_OR:
        return truth(number_holds(c, b));
    case WORD_POSITIVE:
        c->unsure = c->unsure || fabsl(fabsl(a.im) - 1e-3L * a.re) <= 2 * a.err;
        return truth(compare(c, a, (number){0, 0, 0}) > 0 && fabsl(a.im) <= 1e-3L * a.re);
    case WORD_FINITE:
        return truth(true);
    default:
        abort();
    }
}

number number_call(bounded_context *c, program_word word, number a, number b)
{
    switch (word) {
    case WORD_ADD:
        return rounded((number){a.re + b.re, a.im + b.im, a.err + b.err});
    case WORD_SUBTRACT:
        return rounded((number){a.re - b.re, a.im - b.im, a.err + b.err});
    case WORD_NEGATE:
        return (number){-a.re, -a.im, a.err};
    case WORD_MULTIPLY:
        return rounded(product(a, b));
    case WORD_DIVIDE:
        return rounded(quotient(a, b));
    case WORD_POWER:
        return rounded(power(a, b));
    case WORD_SQRT:
        return rounded(root(c, a));
    case WORD_ABS:
        return rounded((number){number_size(a), 0, a.err});
    case WORD_CONJ:
        return (number){a.re, -a.im, a.err};
    case WORD_REAL:
        return (number){a.re, 0, a.err};
    case WORD_IMAG:
        return (number){a.im, 0, a.err};
    case WORD_SIGN:
        return rounded(sign(c, a));
    case WORD_MAX:
        return choose(a, b, false);
    case WORD_MIN:
        return choose(a, b, true);
    case WORD_MOD: /* of counters */
        return (number){a.re - b.re * floorl(a.re / b.re), 0, a.err};
    case WORD_EPS:
        return (number){c->epsilon, 0, 0};
    case WORD_INF:
        return (number){INFINITY, 0, 0};
    default:
        return ask(c, word, a, b);
    }
}
