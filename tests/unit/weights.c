/* Weights of differences: exact, against known ones and by what they have to do with polynomials.
 */
#include "grid/grid.h"
#include "support/support.h"

#include <math.h>

typedef struct known_weights {
    int q, place, count, nodes[9], slope;
    weight w[10];
} known_weights;

/* Tables of B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids,
 * Math. Comput. 51 (1988), 699-706, and by hand; places in halves. */
static const known_weights known[] = {
    {1, 0, 3, {-2, 0, 2}, -1, {{-1, 2}, {0, 1}, {1, 2}}},
    {2, 0, 3, {-2, 0, 2}, -1, {{1, 1}, {-2, 1}, {1, 1}}},
    {2, 0, 5, {-4, -2, 0, 2, 4}, -1, {{-1, 12}, {4, 3}, {-5, 2}, {4, 3}, {-1, 12}}},
    {1,
     0,
     7,
     {-6, -4, -2, 0, 2, 4, 6},
     -1,
     {{-1, 60}, {3, 20}, {-3, 4}, {0, 1}, {3, 4}, {-3, 20}, {1, 60}}},
    {2,
     0,
     9,
     {-8, -6, -4, -2, 0, 2, 4, 6, 8},
     -1,
     {{-1, 560}, {8, 315}, {-1, 5}, {8, 5}, {-205, 72}, {8, 5}, {-1, 5}, {8, 315}, {-1, 560}}},
    {4, 0, 5, {-4, -2, 0, 2, 4}, -1, {{1, 1}, {-4, 1}, {6, 1}, {-4, 1}, {1, 1}}},
    {1, 0, 3, {0, 2, 4}, -1, {{-3, 2}, {2, 1}, {-1, 2}}},
    {2, 0, 4, {0, 2, 4, 6}, -1, {{2, 1}, {-5, 1}, {4, 1}, {-1, 1}}},
    {0, 1, 2, {0, 2}, -1, {{1, 2}, {1, 2}}},
    {0, 1, 4, {-2, 0, 2, 4}, -1, {{-1, 16}, {9, 16}, {9, 16}, {-1, 16}}},
    {1, 1, 4, {-2, 0, 2, 4}, -1, {{1, 24}, {-9, 8}, {9, 8}, {-1, 24}}},
    {2, 0, 2, {0, 2}, 0, {{-2, 1}, {2, 1}, {-2, 1}}},             /* the mirror image */
    {2, 0, 3, {0, 2, 4}, 0, {{-7, 2}, {4, 1}, {-1, 2}, {-3, 1}}}, /* u''= ... - 3 h u' */
    {1, 0, 3, {0, 2, 4}, 0, {{0, 1}, {0, 1}, {0, 1}, {1, 1}}},    /* it is known */
};

static void known_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        weight w[WEIGHTS_MOST + 1];
        grid_weights(known[i].q, known[i].place, known[i].count, known[i].nodes, known[i].slope, w);
        for (int k = 0; k < known[i].count + (known[i].slope >= 0); k++) {
            assert_int_equal(w[k].num, known[i].w[k].num);
            assert_int_equal(w[k].den, known[i].w[k].den);
        }
    }
}

/* A fraction with 128 bits; the tests' sums have denominators that divide those of the weights. */
__extension__ typedef __int128 wide;
typedef struct fraction {
    wide num, den;
} fraction;
static fraction plus(fraction a, fraction b)
{
    wide num = a.num * b.den + b.num * a.den, den = a.den * b.den;
    wide x = num < 0 ? -num : num, y = den;
    while (y != 0) {
        const wide rest = x % y;
        x = y;
        y = rest;
    }
    return (fraction){num / x, den / x};
}

/* sum w_j s_j^k is the derivative of t^k, for every k below the number of data; in halves of the
 * spacing, where derivative q is 2^-q times as large. */
static void exact_for_polynomials(void **state)
{
    (void)state;
    for (int q = 0; q <= POWER_MOST; q++)
        for (int count = q + 1; count <= 9; count++)
            for (int place = -3; place <= 8; place++)
                for (int slope = -1; slope <= 0; slope++) {
                    int nodes[WEIGHTS_MOST];
                    weight w[WEIGHTS_MOST + 1];
                    for (int j = 0; j < count; j++)
                        nodes[j] = 2 * j;
                    grid_weights(q, place, count, nodes, slope, w);
                    for (int k = 0; k < count + (slope >= 0); k++) {
                        fraction sum = {0, 1};
                        for (int j = 0; j < count; j++) {
                            wide power = 1;
                            for (int e = 0; e < k; e++)
                                power *= nodes[j];
                            sum = plus(sum, (fraction){power * w[j].num, w[j].den});
                        }
                        if (slope >= 0 && k == 1) /* the slope of t at 0, for spacings of 2 */
                            sum = plus(sum, (fraction){2 * (wide)w[count].num, w[count].den});
                        wide wanted = k >= q ? 1 : 0;
                        for (int e = 0; e < k; e++)
                            wanted *= e < q ? 2 * (k - e) : place;
                        assert_true(sum.num == wanted * sum.den);
                    }
                }
}

/* Rounded once: no double is nearer than the one it is. */
static void rounded(void **state)
{
    (void)state;
    static const weight cases[] = {{1, 3},         {-205, 72},     {8, 315},
                                   {-1, 560},      {INT64_MAX, 3}, {INT64_MAX, INT64_MAX - 2},
                                   {1, INT64_MAX}, {7, 1},         {0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const weight w = cases[i];
        const double d = grid_weight_value(w);
        if (w.num == 0) {
            assert_true(d == 0);
            continue;
        }
        /* |d den - num| <= |neighbour den - num|, in integers: d = mantissa 2^exponent */
        int exponent;
        const double m = frexp(fabs(d), &exponent);
        const int64_t mantissa = (int64_t)ldexp(m, 53);
        const int shift = exponent - 53; /* d = mantissa 2^shift */
        /* mantissa den 2^shift against |num|, both times a power of two, as far as it fits */
        const long double exact = (long double)(w.num < 0 ? -w.num : w.num) / (long double)w.den;
        const long double off = fabsl(exact - ldexpl((long double)mantissa, shift));
        assert_true(off <= ldexpl(0.5L, shift) * (1 + 0x1p-9L));
        assert_true((d < 0) == (w.num < 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_ones),
                                       cmocka_unit_test(exact_for_polynomials),
                                       cmocka_unit_test(rounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
