/*
 * Weights of differences as exact fractions. The polynomial through all nodes but node j, and 1
 * there, is prod (t - s_m) / (s_j - s_m) (Lagrange); its derivative at a place is q! times a
 * coefficient of prod (t + place - s_m), an integer where places and nodes are. A node with a known
 * derivative counts twice (Hermite). B. Fornberg, Calculation of weights in finite difference
 * formulas, SIAM Rev. 40 (1998), 685-691, has the same numbers by a recursion in floating point.
 * Between points that were given the same products are in long double, and rounded once.
 */
#include "base/number.h"
#include "grid/grid.h"

__extension__ typedef __int128 int128;

static int128 size_of(int128 a)
{
    return a < 0 ? -a : a;
}

static int128 common_divisor(int128 a, int128 b)
{
    while (b != 0) {
        const int128 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Fractions here have small numbers: nodes are at most 2 WEIGHTS_MOST halves apart, a product of 13
 * such differences is less than 2^63, and so is what is left of a sum in lowest terms. */
static weight reduced(int128 num, int128 den)
{
    int128 d = common_divisor(size_of(num), size_of(den));
    d = den < 0 ? -d : d;
    return (weight){(int64_t)(num / d), (int64_t)(den / d)};
}

static weight difference(weight a, weight b)
{
    return reduced((int128)a.num * b.den - (int128)b.num * a.den, (int128)a.den * b.den);
}

/* The derivative number q at 0, in halves of the spacing, of prod (t + a_m) / den, times the power
 * of two that makes it one in spacings. */
static weight derivative(int q, int factors, const int *a, int128 den)
{
    int128 c[POWER_MOST + 1] = {1}; /* of t^0 .. t^q */
    for (int m = 0; m < factors; m++) {
        for (int k = q; k > 0; k--)
            c[k] = c[k] * a[m] + c[k - 1];
        c[0] *= a[m];
    }
    int128 num = c[q];
    for (int k = 1; k <= q; k++)
        num *= 2 * k;
    return reduced(num, den);
}

void grid_weights(int q, int place, int count, const int *nodes, int slope, weight *w)
{
    weight rest = {q == 0, 1}; /* that is left for the node with a slope: weights of 1 add up */
    for (int j = 0; j < count; j++) {
        int factors = 0, a[WEIGHTS_MOST + 1];
        int128 den = 1;
        for (int m = 0; m < count; m++) {
            if (m == j)
                continue;
            a[factors++] = place - nodes[m];
            den *= nodes[j] - nodes[m];
        }
        if (slope >= 0) { /* node `slope` once more; of itself this is the slope's weight */
            a[factors++] = place - nodes[slope];
            den *= j == slope ? 2 : nodes[j] - nodes[slope];
        }
        w[j == slope ? count : j] = derivative(q, factors, a, den);
        if (j != slope)
            rest = difference(rest, w[j]);
    }
    if (slope >= 0)
        w[slope] = rest;
}

double grid_weight_value(weight w)
{
    uint128 num = (uint128)(w.num < 0 ? -(uint64_t)w.num : (uint64_t)w.num);
    int exponent = 0;
    if (num == 0)
        return 0;
    for (; num >> 126 == 0; exponent--) /* the quotient has 63 bits and more then */
        num <<= 1;
    uint128 quotient = num / (uint64_t)w.den;
    bool rest = num % (uint64_t)w.den != 0;
    for (; quotient >> 62 != 0; exponent++) {
        rest = rest || (quotient & 1) != 0;
        quotient >>= 1;
    }
    /* The last bit stands for all that were cut off: rounding of 62 bits to 53 sees them. */
    const double size = ldexp((double)((uint64_t)quotient | rest), exponent);
    return w.num < 0 ? -size : size;
}

void grid_weights_at(int q, long double place, int count, const long double *nodes, int slope,
                     double *w)
{
    long double rest = q == 0;
    for (int j = 0; j < count; j++) {
        long double c[POWER_MOST + 1] = {1}, den = 1; /* of t^0 .. t^q */
        for (int m = 0; m < count + (slope >= 0); m++) {
            const long double node = nodes[m < count ? m : slope];
            if (m == j)
                continue;
            for (int k = q; k > 0; k--)
                c[k] = c[k] * (place - node) + c[k - 1];
            c[0] *= place - node;
            den *= m == count && j == slope ? 1 : nodes[j] - node;
        }
        for (int k = 1; k <= q; k++)
            c[q] *= k;
        w[j == slope ? count : j] = (double)(c[q] / den);
        rest -= j == slope ? 0 : c[q] / den;
    }
    if (slope >= 0)
        w[slope] = (double)rest;
}
