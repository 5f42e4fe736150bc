/*
 * Dense functions of the notation: least squares with columns that depend on each other, and bases
 * of the spaces of the smallest eigenvalues. What they have to fulfil is checked, with bounds of a
 * few roundings per row: Householder's reflections and rotations change a matrix by no more.
 */
#include "support/support.h"

#include "program/dense.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 40 };

static const spry_scalar zero = {0, 0};

static spry_scalar number(uint64_t seed, int64_t i, bool complex)
{
    return (spry_scalar){2 * base_uniform(seed, (uint64_t)(2 * i)) - 1,
                         complex ? 2 * base_uniform(seed, (uint64_t)(2 * i + 1)) - 1 : 0};
}

/* sum += a b, or conj(a) b */
static void add(spry_scalar *sum, spry_scalar a, spry_scalar b, bool conjugated)
{
    const double im = conjugated ? -a.im : a.im;
    sum->re += a.re * b.re - im * b.im;
    sum->im += a.re * b.im + im * b.re;
}

static double size_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}

/* Column c of a test matrix: random, but for those that are 0 or a sum of the two before; below
 * `band` rows under the diagonal there is nothing. */
static void make_matrix(int rows, int cols, int band, int dependent, bool complex, spry_scalar *a)
{
    for (int c = 0; c < cols; c++)
        for (int i = 0; i < rows; i++) {
            const bool none = i > c + band || (dependent > 0 && c % dependent == 1 && c % 2 == 0);
            a[c * rows + i] = none ? zero : number(7, c * rows + i, complex);
            if (dependent > 0 && c >= 2 && c % dependent == 0) {
                a[c * rows + i] = a[(c - 1) * rows + i];
                add(&a[c * rows + i], (spry_scalar){2, 0}, a[(c - 2) * rows + i], false);
            }
        }
}

/* A^H (g - A y) = 0, and what is left is reported. */
static void check_least(int rows, int cols, int band, int dependent, bool complex)
{
    enum { RIGHTS = 3 };
    static spry_scalar a[MOST * MOST], kept[MOST * MOST], g[MOST * RIGHTS], y[MOST * RIGHTS];
    spry_scalar given[MOST * RIGHTS];
    double left[RIGHTS];
    int pivot[MOST];
    make_matrix(rows, cols, band, dependent, complex, a);
    memcpy(kept, a, sizeof kept);
    for (int i = 0; i < rows * RIGHTS; i++)
        given[i] = g[i] = number(9, i, complex);
    assert_true(
        dense_least(&(dense_problem){rows, cols, RIGHTS, DBL_EPSILON, a, g, y, left, pivot}));
    for (int j = 0; j < RIGHTS; j++) {
        spry_scalar r[MOST];
        double most = 0, sum = 0;
        for (int i = 0; i < rows; i++) {
            r[i] = given[j * rows + i];
            for (int c = 0; c < cols; c++)
                add(&r[i], (spry_scalar){-kept[c * rows + i].re, -kept[c * rows + i].im},
                    y[j * cols + c], false);
            sum += r[i].re * r[i].re + r[i].im * r[i].im;
        }
        for (int c = 0; c < cols; c++)
            most = fmax(most, size_of(y[j * cols + c]));
        /* Backward errors of rows * eps of A and g, each of whose numbers is at most 2 sqrt(2) * 3;
         * what is left of the columns that were left out is cols * eps of their norm. */
        const double bound = 100.0 * rows * cols * DBL_EPSILON * (1 + most) * rows;
        for (int c = 0; c < cols; c++) {
            spry_scalar dot = zero;
            for (int i = 0; i < rows; i++)
                add(&dot, kept[c * rows + i], r[i], true);
            if (!(size_of(dot) <= bound))
                fail_msg("%d x %d, band %d, dependent %d: column %d has %g of what is left", rows,
                         cols, band, dependent, c, size_of(dot));
        }
        assert_true(fabs(left[j] - sqrt(sum)) <= bound);
    }
    int rank = 0;
    for (int c = 0; c < cols; c++)
        rank += pivot[c] >= 0;
    assert_true(dependent > 0 ? rank < cols : rank == (cols < rows ? cols : rows));
}

static void least(void **state)
{
    (void)state;
    for (int complex = 0; complex < 2; complex++)
        for (int dependent = 0; dependent < 5; dependent += 2) {
            check_least(21, 20, 1, dependent, complex);
            check_least(30, 12, MOST, dependent, complex);
            check_least(24, 20, 4, dependent, complex);
            check_least(12, 12, MOST, dependent, complex);
        }
    check_least(8, 12, MOST, 0, true); /* more columns than rows */
    spry_scalar a = {NAN, 0}, g = {1, 0}, y;
    double left;
    int pivot;
    assert_false(dense_least(&(dense_problem){1, 1, 1, DBL_EPSILON, &a, &g, &y, &left, &pivot}));
    a = zero;
    assert_true(dense_least(&(dense_problem){1, 1, 1, DBL_EPSILON, &a, &g, &y, &left, &pivot}));
    assert_true(y.re == 0 && left == 1);
}

/* T = Y^H A Y, and Y is orthonormal and A Y = Y T. */
static void check_space(int n, int k, int rank, const spry_scalar *a, const spry_scalar *y,
                        spry_scalar *t)
{
    const double bound = 100.0 * n * DBL_EPSILON;
    double norm = 0;
    for (int i = 0; i < n * n; i++)
        norm += a[i].re * a[i].re + a[i].im * a[i].im;
    norm = sqrt(norm);
    static spry_scalar ay[MOST * MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            ay[i * k + j] = zero;
            for (int l = 0; l < n; l++)
                add(&ay[i * k + j], a[i * n + l], y[l * k + j], false);
        }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            spry_scalar dot = zero;
            t[i * k + j] = zero;
            for (int l = 0; l < n; l++) {
                add(&dot, y[l * k + i], y[l * k + j], true);
                add(&t[i * k + j], y[l * k + i], ay[l * k + j], true);
            }
            dot.re -= i == j && i < rank;
            assert_true(size_of(dot) <= bound);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            spry_scalar rest = ay[i * k + j];
            for (int l = 0; l < k; l++)
                add(&rest, (spry_scalar){-y[i * k + l].re, -y[i * k + l].im}, t[l * k + j], false);
            if (!(size_of(rest) <= bound * norm))
                fail_msg("%d x %d: A Y - Y T is %g of %g", n, k, size_of(rest), norm);
        }
}

/* Upper triangular with a given diagonal, hidden by reflections: its eigenvalues are known. */
static void hide(int n, bool complex, spry_scalar *a)
{
    for (uint64_t turn = 0; turn < 2; turn++) {
        spry_scalar v[MOST];
        double square = 0;
        for (int i = 0; i < n; i++) {
            v[i] = number(20 + turn, i, complex);
            square += v[i].re * v[i].re + v[i].im * v[i].im;
        }
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                spry_scalar dot = zero;
                for (int l = 0; l < n; l++)
                    add(&dot, v[l],
                        side ? (spry_scalar){a[i * n + l].re, -a[i * n + l].im} : a[l * n + i],
                        true);
                for (int l = 0; l < n; l++) {
                    spry_scalar *to = side ? &a[i * n + l] : &a[l * n + i];
                    spry_scalar by = {-2 / square * dot.re, -2 / square * dot.im}, more = zero;
                    add(&more, by, v[l], false);
                    to->re += more.re;
                    to->im += side ? -more.im : more.im;
                }
            }
    }
}

static void known_eigenvalues(void **state)
{
    (void)state;
    static spry_scalar a[MOST * MOST], y[MOST * MOST], t[MOST * MOST], room[4 * MOST * MOST];
    for (int complex = 0; complex < 2; complex++)
        for (int n = 1; n <= MOST; n += n < 8 ? 1 : 16) {
            const int k = (n + 1) / 2;
            if (n == 7) /* all alike, and no eigenvector for each */
                continue;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    a[i * n + j] = i == j  ? (spry_scalar){(i * 7) % n + 1, complex ? 0.5 : 0}
                                   : j > i ? (spry_scalar){0.1, complex ? -0.05 : 0}
                                           : zero;
            hide(n, complex, a);
            assert_true(dense_eig(n, k, a, !complex, y, room));
            check_space(n, k, k, a, y, t);
            spry_scalar trace = zero;
            double sum = 0;
            for (int i = 0; i < k; i++)
                add(&trace, (spry_scalar){1, 0}, t[i * k + i], false);
            for (int i = 1; i <= k; i++)
                sum += i;
            if (!(fabs(trace.re - sum) <= 0.01))
                fail_msg("n = %d: the sum of %d eigenvalues is %g, not %g", n, k, trace.re, sum);
        }
}

/* Eigenvalues 1 +- i, 2 +- i, ..: real spaces of two dimensions each. */
static void pairs(void **state)
{
    (void)state;
    enum { N = 12 };
    static spry_scalar a[N * N], y[N * N], t[N * N], room[4 * N * N];
    for (int k = 1; k <= N; k++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                a[i * N + j] = (spry_scalar){i == j           ? 1 + i / 2
                                             : i / 2 == j / 2 ? (i < j ? 1 : -1)
                                             : j > i          ? 0.1
                                                              : 0,
                                             0};
        hide(N, false, a);
        assert_true(dense_eig(N, k, a, true, y, room));
        for (int i = 0; i < N * k; i++)
            assert_true(y[i].im == 0);
        check_space(N, k, k - k % 2, a, y, t);
    }
}

/* A rotation by a right angle, a matrix of ones, zeros, one that is not finite: nothing to divide
 * by. */
static void odd_ones(void **state)
{
    (void)state;
    spry_scalar turn[4] = {{0, 0}, {-1, 0}, {1, 0}, {0, 0}}, y[9], t[9], room[36];
    assert_true(dense_eig(2, 2, turn, true, y, room));
    check_space(2, 2, 2, turn, y, t);
    assert_true(dense_eig(2, 1, turn, true, y, room));
    assert_true(y[0].re == 0 && y[1].re == 0);
    assert_true(dense_eig(2, 1, turn, false, y, room));
    check_space(2, 1, 1, turn, y, t);
    spry_scalar same[9];
    for (int value = 0; value < 2; value++) {
        for (int i = 0; i < 9; i++)
            same[i] = (spry_scalar){value, 0};
        assert_true(dense_eig(3, 2, same, true, y, room));
        check_space(3, 2, 2, same, y, t);
        assert_true(size_of(t[0]) + size_of(t[3]) < 1e-12); /* both eigenvalues are 0 */
    }
    same[4].re = INFINITY;
    assert_false(dense_eig(3, 2, same, true, y, room));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least),
        cmocka_unit_test(known_eigenvalues),
        cmocka_unit_test(pairs),
        cmocka_unit_test(odd_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
