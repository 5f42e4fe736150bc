/* Generators that draw at random: what is certain about them whatever is drawn. */
#include "support/generated.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The diagonal is `ratio` times the sum of the others, up to n roundings of that sum. */
static void assert_dominance(const support_dense *A, double ratio, double epsilon)
{
    for (int64_t i = 0; i < A->rows; i++) {
        double others = generated_others(A, i), expected = others > 0 ? ratio * others : 1;
        spry_scalar diagonal = generated_at(A, i, i);
        assert_true(fabs(diagonal.re - expected) <= (double)(A->rows + 4) * epsilon * expected);
        assert_true(diagonal.im == 0);
    }
}

static void dense_is_full_and_dominant(void **state)
{
    static const char *const options[] = {
        "size=30 type=s dominance=2", "size=30 type=d dominance=2", "size=30 type=c dominance=2",
        "size=30 type=z dominance=2"};
    for (int k = 0; k < 4; k++) {
        support_dense A = generated_dense(*state, "dense", options[k]);
        double below = 0;
        for (int64_t p = 0; p < 900; p++) {
            assert_int_equal(A.entries[p], 1);
            if (p % 31 != 0) { /* off the diagonal */
                assert_true(fabs(A.at[p].re) <= 1 && A.at[p].re != 0);
                assert_true((A.at[p].im != 0) == (k >= 2) && fabs(A.at[p].im) <= 1);
                below += A.at[p].re < 0;
            }
        }
        /* 870 fair draws: five standard deviations of 15 about the mean. */
        assert_true(fabs(below - 435) < 74);
        assert_dominance(&A, 2, k % 2 ? DBL_EPSILON : FLT_EPSILON);
        support_dense_free(&A);
    }
}

static void random_has_so_many_a_row(void **state)
{
    for (int per_row = 1; per_row <= 40; per_row += 3) {
        char options[64];
        snprintf(options, sizeof options, "size=40 per-row=%d dominance=1.5", per_row);
        spry_matrix *A = generated(*state, "random", options);
        matrix_arrays a = A->a;
        for (int64_t i = 0; i < 40; i++)
            assert_int_equal(a.offsets[i + 1] - a.offsets[i], per_row);
        support_dense dense = support_dense_of(A);
        assert_dominance(&dense, 1.5, DBL_EPSILON);
        for (int64_t i = 0; i < 40; i++)
            assert_int_equal(dense.entries[i * 41], 1); /* the diagonal is there */
        support_dense_free(&dense);
        spry_matrix_free(A);
    }
    spry_matrix *A = generated(*state, "random", "size=5"); /* fewer rows than the usual 16 */
    assert_int_equal(spry_matrix_nnz(A), 25);
    spry_matrix_free(A);
}

/* 30000 draws over 2000 columns: each quarter gets its share within five standard deviations. */
static void random_columns_are_uniform(void **state)
{
    spry_matrix *A = generated(*state, "random", "size=2000 per-row=16");
    matrix_arrays a = A->a;
    double quarter[4] = {0};
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++)
            quarter[a.col_index[k] / 500] += a.col_index[k] != i;
    for (int q = 0; q < 4; q++)
        assert_true(fabs(quarter[q] - 7500) < 5 * sqrt(30000 * 0.25 * 0.75));
    spry_matrix_free(A);
}

static void seeds_make_a_difference(void **state)
{
    static const char *const kinds[] = {"dense", "random", "rmat", "arrowhead", "circuit"};
    for (int k = 0; k < 5; k++) {
        spry_matrix *A = generated(*state, kinds[k], "size=50");
        spry_matrix *B = generated(*state, kinds[k], "size=50 seed=1");
        spry_matrix *C = generated(*state, kinds[k], "size=50 seed=2");
        support_same_arrays(A, B);
        support_dense a = support_dense_of(A), c = support_dense_of(C);
        int64_t differences = 0;
        for (int p = 0; p < 2500; p++)
            differences += a.at[p].re != c.at[p].re;
        assert_true(differences >= 98); /* at least what an arrow of 50 draws */
        support_dense_free(&a);
        support_dense_free(&c);
        spry_matrix_free(A);
        spry_matrix_free(B);
        spry_matrix_free(C);
    }
}

static void arrowhead_is_an_arrow(void **state)
{
    for (int k = 0; k < 2; k++) {
        support_dense A =
            generated_dense(*state, "arrowhead", k ? "size=60 type=z" : "size=60 type=d");
        for (int i = 0; i < 60; i++)
            for (int j = 0; j < 60; j++)
                assert_int_equal(A.entries[i * 60 + j], i == 0 || j == 0 || i == j);
        assert_true(generated_at(&A, 0, 0).re == 60 && generated_at(&A, 7, 7).re == 2);
        assert_true((generated_at(&A, 0, 9).im != 0) == (k == 1));
        assert_true(generated_symmetric(&A, true));
        assert_true(generated_definite(&A));
        support_dense_free(&A);
    }
}

/* With all the probability in one quarter every entry falls into one corner, and is added up there.
 */
static void rmat_by_hand(void **state)
{
    static const int sizes[] = {1, 2, 37, 64};
    for (int k = 0; k < 4; k++) {
        char options[96];
        const int n = sizes[k];
        snprintf(options, sizeof options, "size=%d per-row=3 a=1 b=0 c=0", n);
        support_dense A = generated_dense(*state, "rmat", options);
        for (int p = 0; p < n * n; p++)
            assert_true(A.at[p].re == (p % (n + 1) == 0 ? 1 : 0));
        support_dense_free(&A);
        snprintf(options, sizeof options, "size=%d per-row=3 a=0 b=1 c=0 dominance=4", n);
        A = generated_dense(*state, "rmat", options);
        int64_t entries = 0;
        for (int p = 0; p < n * n; p++)
            entries += A.entries[p];
        assert_int_equal(entries, n == 1 ? 1 : n + 1);
        assert_int_equal(A.entries[n - 1], 1);
        assert_dominance(&A, 4, DBL_EPSILON);
        support_dense_free(&A);
    }
}

/* Few entries, so that few fall together: quarters get a, b, c, d of them and quarters of quarters
 * the products of two of these, up to five standard deviations. */
static void rmat_keeps_its_probabilities(void **state)
{
    const int64_t n = 100000;
    const double p[2][2] = {{0.3, 0.25}, {0.25, 0.2}}, together = 50;
    spry_matrix *A = generated(*state, "rmat", "size=100000 per-row=2 a=0.3 b=0.25 c=0.25");
    matrix_arrays a = A->a;
    double found[4][4] = {{0}};
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++)
            found[4 * i / n][4 * a.col_index[k] / n] += a.col_index[k] != i;
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            double chance = p[r / 2][c / 2] * p[r % 2][c % 2], mean = (double)n * chance;
            assert_true(fabs(found[r][c] - mean) < 5 * sqrt(mean * (1 - chance)) + together);
        }
    }
    spry_matrix_free(A);
}

/* Lengths distributed over orders of magnitude: most rows are short, the first is huge. */
static void rmat_follows_a_power_law(void **state)
{
    spry_matrix *A = generated(*state, "rmat", "size=20000 per-row=9 type=c");
    matrix_arrays a = A->a;
    int64_t shorter = 0, longest = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        int64_t length = a.offsets[i + 1] - a.offsets[i];
        shorter += length < 9;
        longest = length > longest ? length : longest;
        bool diagonal = false;
        for (int64_t k = a.offsets[i]; k < a.offsets[i + 1]; k++)
            diagonal = diagonal || a.col_index[k] == i;
        assert_true(diagonal);
    }
    assert_true(shorter > a.rows * 6 / 10);
    assert_true(longest > 40 * 9);
    assert_int_equal(longest, a.offsets[1]);
    spry_matrix_free(A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_is_full_and_dominant),   cmocka_unit_test(random_has_so_many_a_row),
        cmocka_unit_test(random_columns_are_uniform),   cmocka_unit_test(seeds_make_a_difference),
        cmocka_unit_test(arrowhead_is_an_arrow),        cmocka_unit_test(rmat_by_hand),
        cmocka_unit_test(rmat_keeps_its_probabilities), cmocka_unit_test(rmat_follows_a_power_law),
    };
    return cmocka_run_group_tests(tests, support_setup, support_teardown);
}
