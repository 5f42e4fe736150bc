/* Statistics against a matrix worked out by hand and against sums over dense pictures. */
#include "support/support.h"

#include "matrix/matrix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 *     [ 4 -1  .  . ]
 *     [-1  0  2  . ]      the 0 is stored
 *     [ .  .  .  3 ]
 *     [ .  .  3 -2 ]
 */
static void a_matrix_by_hand(void **state)
{
    const spry_arrays a = {.type = SPRY_TYPE_D,
                           .format = SPRY_FORMAT_CSR,
                           .rows = 4,
                           .cols = 4,
                           .nnz = 8,
                           .offsets = (int64_t[]){0, 2, 5, 6, 8},
                           .col_index = (int32_t[]){0, 1, 0, 1, 2, 3, 2, 3},
                           .values = (double[]){4, -1, -1, 0, 2, 3, 3, -2}};
    spry_matrix *A;
    spry_stats s = SPRY_STATS_INIT;
    assert_ok(*state, spry_matrix_new(*state, &a, SPRY_OWN_BORROW, &A));
    assert_ok(*state, spry_matrix_stats(A, &s));
    spry_matrix_free(A);
    assert_int_equal(s.nnz, 8);
    assert_int_equal(s.stored, 8);
    assert_int_equal(s.row_min, 1);
    assert_int_equal(s.row_max, 3);
    assert_true(s.row_mean == 2);
    assert_true(s.row_deviation == sqrt(0.5)); /* (0 + 1 + 1 + 0) / 4 */
    assert_int_equal(s.row_histogram[0], 0);
    assert_int_equal(s.row_histogram[1], 1);
    assert_int_equal(s.row_histogram[2], 3);
    assert_int_equal(s.empty_rows, 0);
    assert_int_equal(s.empty_cols, 0);
    assert_int_equal(s.lower_bandwidth, 1);
    assert_int_equal(s.upper_bandwidth, 1);
    assert_int_equal(s.profile, 2); /* rows 1 and 3 */
    assert_int_equal(s.diagonals, 3);
    assert_int_equal(s.missing_diagonal, 1);
    assert_int_equal(s.zero_diagonal, 1);
    assert_int_equal(s.explicit_zeros, 1);
    assert_int_equal(s.duplicates, 0);
    assert_int_equal(s.nonfinite, 0);
    assert_true(s.pattern_symmetry == 4.0 / 5); /* the 2 has no mirror image */
    assert_true(s.value_symmetry == 4.0 / 5);
    assert_true(s.hermitian_symmetry == 4.0 / 5);
    assert_false(s.symmetric || s.hermitian || s.skew);
    assert_int_equal(s.dominant_rows, 1);
    assert_int_equal(s.strictly_dominant_rows, 1);
    assert_int_equal(s.positive_diagonal, 1);
    assert_int_equal(s.block_size, 1);
    assert_true(s.block_fill == 1);
    assert_true(s.value_min == 1 && s.value_max == 4);
    assert_true(s.norm_one == 5);                                             /* column 0, 2 or 3 */
    assert_true(s.norm_inf == 5);                                             /* row 0 or 3 */
    assert_true(fabs(s.norm_frobenius - sqrt(44)) <= sqrt(44) * DBL_EPSILON); /* sqrt, scaling */
}

/* The same numbers from a dense picture of the matrix without duplicates, entry by entry. */
typedef struct dense_view {
    support_dense d;
    spry_stats s;
} dense_view;

static bool stored(const dense_view *v, int64_t i, int64_t j)
{
    return v->d.entries[i * v->d.cols + j] > 0;
}

static spry_scalar at(const dense_view *v, int64_t i, int64_t j)
{
    return v->d.at[i * v->d.cols + j];
}

/* Exact under the root for eighths, so that ties in size are ties in both. */
static double size_of(spry_scalar a)
{
    return sqrt(a.re * a.re + a.im * a.im);
}

static void dense_row(dense_view *v, int64_t i)
{
    spry_stats *s = &v->s;
    int64_t length = 0, first = -1;
    double sum = 0, own = 0;
    for (int64_t j = 0; j < s->cols; j++) {
        if (!stored(v, i, j))
            continue;
        length++;
        first = first < 0 ? j : first;
        const double size = size_of(at(v, i, j));
        *(i == j ? &own : &sum) += size;
        s->norm_frobenius += size * size;
        s->explicit_zeros += size == 0;
        s->value_max = fmax(s->value_max, size);
        s->value_min = size > 0 ? fmin(s->value_min, size) : s->value_min;
        s->lower_bandwidth = i - j > s->lower_bandwidth ? i - j : s->lower_bandwidth;
        s->upper_bandwidth = j - i > s->upper_bandwidth ? j - i : s->upper_bandwidth;
    }
    s->nnz += length;
    s->row_min = length < s->row_min ? length : s->row_min;
    s->row_max = length > s->row_max ? length : s->row_max;
    s->row_histogram[length == 0 ? 0 : 1 + (int)log2((double)length)]++;
    s->empty_rows += length == 0;
    s->profile += first >= 0 && first < i ? i - first : 0;
    s->dominant_rows += own >= sum;
    s->strictly_dominant_rows += own > sum;
    s->norm_inf = fmax(s->norm_inf, own + sum);
    if (i >= s->cols)
        return;
    const spry_scalar d = at(v, i, i);
    s->missing_diagonal += !stored(v, i, i);
    s->zero_diagonal += stored(v, i, i) && d.re == 0 && d.im == 0;
    s->positive_diagonal += d.re > 0 && d.im == 0;
}

static void dense_columns_and_diagonals(dense_view *v)
{
    spry_stats *s = &v->s;
    for (int64_t j = 0; j < s->cols; j++) {
        double sum = 0;
        int64_t length = 0;
        for (int64_t i = 0; i < s->rows; i++) {
            sum += size_of(at(v, i, j));
            length += stored(v, i, j);
        }
        s->empty_cols += length == 0;
        s->norm_one = fmax(s->norm_one, sum);
    }
    for (int64_t diagonal = 1 - s->rows; diagonal < s->cols; diagonal++) {
        bool any = false;
        for (int64_t i = 0; i < s->rows; i++)
            if (i + diagonal >= 0 && i + diagonal < s->cols)
                any = any || stored(v, i, i + diagonal);
        s->diagonals += any;
    }
}

static void dense_symmetry(dense_view *v)
{
    spry_stats *s = &v->s;
    int64_t entries = 0, mirrored = 0, equal = 0, conjugate = 0;
    if (s->rows != s->cols)
        return;
    s->symmetric = s->hermitian = s->skew = true;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->cols; j++) {
            const spry_scalar a = at(v, i, j), b = at(v, j, i);
            const bool same = a.re == b.re && a.im == b.im, conj = a.re == b.re && a.im == -b.im;
            s->symmetric = s->symmetric && same;
            s->hermitian = s->hermitian && conj;
            s->skew = s->skew && a.re == -b.re && a.im == -b.im;
            if (i == j || !stored(v, i, j))
                continue;
            entries++;
            mirrored += stored(v, j, i);
            equal += same;
            conjugate += conj;
        }
    const double all = entries > 0 ? (double)entries : 1;
    s->pattern_symmetry = entries > 0 ? (double)mirrored / all : 1;
    s->value_symmetry = entries > 0 ? (double)equal / all : 1;
    s->hermitian_symmetry = entries > 0 ? (double)conjugate / all : 1;
}

static void dense_blocks(dense_view *v)
{
    spry_stats *s = &v->s;
    s->block_size = 1;
    s->block_fill = 1;
    for (int b = 2; b <= 8; b++) {
        int64_t blocks = 0;
        for (int64_t i = 0; i < s->rows; i += b)
            for (int64_t j = 0; j < s->cols; j += b) {
                bool any = false;
                for (int64_t p = i; p < i + b && p < s->rows; p++)
                    for (int64_t q = j; q < j + b && q < s->cols; q++)
                        any = any || stored(v, p, q);
                blocks += any;
            }
        const double fill = blocks > 0 ? (double)s->nnz / (double)(b * b * blocks) : 0;
        if (fill >= 0.8) {
            s->block_size = b;
            s->block_fill = fill;
        }
    }
}

static spry_stats dense_stats(const spry_matrix *A)
{
    dense_view v = {support_dense_of(A), {.rows = A->a.rows, .cols = A->a.cols}};
    spry_stats *s = &v.s;
    s->stored = A->a.nnz;
    s->row_min = s->rows > 0 ? INT64_MAX : 0;
    s->value_min = INFINITY;
    for (int64_t i = 0; i < s->rows; i++)
        dense_row(&v, i);
    s->value_min = isinf(s->value_min) ? 0 : s->value_min;
    s->norm_frobenius = sqrt(s->norm_frobenius);
    s->row_mean = s->rows > 0 ? (double)s->nnz / (double)s->rows : 0;
    for (int64_t i = 0; i < s->rows; i++) {
        int64_t length = 0;
        for (int64_t j = 0; j < s->cols; j++)
            length += stored(&v, i, j);
        s->row_deviation += pow((double)length - s->row_mean, 2);
    }
    s->row_deviation = s->rows > 0 ? sqrt(s->row_deviation / (double)s->rows) : 0;
    dense_columns_and_diagonals(&v);
    dense_symmetry(&v);
    dense_blocks(&v);
    for (int64_t k = 0; k < A->a.nnz; k++) { /* entries at a place that an earlier one has */
        int64_t row, col;
        matrix_place(&A->a, k, &row, &col);
        s->duplicates += --v.d.entries[row * s->cols + col] > 0;
    }
    support_dense_free(&v.d);
    return v.s;
}

/* n terms of rounding errors of half an ulp each, and some for square roots. */
static void near(double a, double b, int64_t terms)
{
    assert_true(fabs(a - b) <= (double)(terms + 8) * DBL_EPSILON * fmax(fabs(a), fabs(b)));
}

static void same_stats(spry_stats found, spry_stats expected)
{
    const int64_t n = expected.nnz + expected.rows;
    near(found.row_deviation, expected.row_deviation, n);
    near(found.norm_one, expected.norm_one, expected.rows);
    near(found.norm_inf, expected.norm_inf, expected.cols);
    near(found.norm_frobenius, expected.norm_frobenius, n);
    near(found.value_min, expected.value_min, 0);
    near(found.value_max, expected.value_max, 0);
    found.row_deviation = expected.row_deviation;
    found.norm_one = expected.norm_one;
    found.norm_inf = expected.norm_inf;
    found.norm_frobenius = expected.norm_frobenius;
    found.value_min = expected.value_min;
    found.value_max = expected.value_max;
#define SAME(field) assert_int_equal(found.field, expected.field)
    SAME(nnz), SAME(stored), SAME(row_min), SAME(row_max), SAME(empty_rows), SAME(empty_cols);
    SAME(lower_bandwidth), SAME(upper_bandwidth), SAME(profile), SAME(diagonals);
    SAME(missing_diagonal), SAME(zero_diagonal), SAME(explicit_zeros), SAME(duplicates);
    SAME(symmetric), SAME(hermitian), SAME(skew), SAME(dominant_rows);
    SAME(strictly_dominant_rows), SAME(positive_diagonal), SAME(block_size), SAME(nonfinite);
    assert_memory_equal(found.row_histogram, expected.row_histogram, sizeof found.row_histogram);
    assert_true(found.row_mean == expected.row_mean && found.block_fill == expected.block_fill);
    assert_true(found.pattern_symmetry == expected.pattern_symmetry);
    assert_true(found.value_symmetry == expected.value_symmetry);
    assert_true(found.hermitian_symmetry == expected.hermitian_symmetry);
}

static void check(spry_context *ctx, support_recipe recipe)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        recipe.format = (spry_format)format;
        spry_matrix *A = support_matrix(ctx, &recipe);
        spry_stats found = SPRY_STATS_INIT;
        assert_ok(ctx, spry_matrix_stats(A, &found));
        spry_stats expected = dense_stats(A);
        same_stats(found, expected);
        spry_matrix_free(A);
    }
}

/* Small sizes give every kind of accident: empty rows, dominance, symmetry, zeros from 1/8 - 1/8.
 */
static void matrices_by_chance(void **state)
{
    static const int64_t sizes[][3] = {{0, 0, 0},  {0, 4, 0},   {4, 0, 0},    {1, 1, 1},
                                       {2, 2, 2},  {3, 2, 4},   {2, 3, 4},    {4, 4, 6},
                                       {5, 5, 30}, {9, 9, 200}, {20, 13, 50}, {30, 30, 60}};
    for (int t = 0; t < 4; t++)
        for (size_t z = 0; z < sizeof sizes / sizeof sizes[0]; z++)
            for (uint64_t seed = 0; seed < 8; seed++) {
                support_recipe recipe = {.type = support_types[t],
                                         .rows = sizes[z][0],
                                         .cols = sizes[z][1],
                                         .nnz = sizes[z][2],
                                         .shape = (support_shape)(seed % 4),
                                         .seed = seed};
                check(*state, recipe);
                if (recipe.rows != recipe.cols)
                    continue;
                recipe.symmetry = (spry_symmetry)(1 + seed % 3);
                check(*state, recipe);
            }
}

/* Dense b x b blocks: on the diagonal, and 2, 3 or 4 to the right of it, so that no larger size
 * fits. */
static spry_matrix *blocked(spry_context *ctx, int64_t n, int b)
{
    int64_t *offsets = calloc((size_t)n + 1, sizeof *offsets);
    int32_t *columns = malloc((size_t)(2 * b * n) * sizeof *columns);
    float *values = calloc((size_t)(2 * b * n), sizeof *values);
    assert_true(offsets && columns && values);
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t block = i / b, right = block + 2 + block % 3;
        for (int q = 0; q < b; q++)
            columns[k++] = (int32_t)(block * b + q);
        for (int q = 0; q < b && right * b < n; q++)
            columns[k++] = (int32_t)(right * b + q);
        offsets[i + 1] = k;
    }
    return support_from_csr(ctx, SPRY_TYPE_S, n, n, offsets, columns, values);
}

static void blocks_are_found(void **state)
{
    for (int b = 1; b <= 8; b++) {
        spry_matrix *A = blocked(*state, 840, b); /* a multiple of every size */
        spry_stats s = SPRY_STATS_INIT;
        assert_ok(*state, spry_matrix_stats(A, &s));
        assert_int_equal(s.block_size, b);
        assert_true(s.block_fill == 1);
        assert_int_equal(s.explicit_zeros, spry_matrix_nnz(A));
        assert_true(s.value_min == 0 && s.value_max == 0);
        spry_matrix_free(A);
    }
}

static void values_that_are_no_numbers(void **state)
{
    static const double rows[] = {2, 1, 0, /**/ 1, 5, 3, /**/ 0, 4, 7};
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        spry_matrix *A = support_from_rows(*state, type, 3, 3, rows);
        spry_stats s = SPRY_STATS_INIT;
        support_put(A, 0, (spry_scalar){NAN, 0});
        support_put(A, 4, (spry_scalar){-INFINITY, 0});
        assert_ok(*state, spry_matrix_stats(A, &s));
        assert_int_equal(s.nonfinite, 2);
        assert_true(s.value_min == 1 && s.value_max == 7);
        assert_true(s.norm_inf == 11 && s.norm_one == 10);
        near(s.norm_frobenius, sqrt(1 + 1 + 25 + 16 + 49), 5);
        assert_int_equal(s.dominant_rows, 1); /* only the row of finite numbers */
        assert_int_equal(s.zero_diagonal, 0);
        assert_false(s.symmetric);
        spry_matrix_free(A);
    }
}

/* Squares of these leave the range of double; the norm does not. */
static void norms_neither_overflow_nor_vanish(void **state)
{
    static const double scales[] = {1e200, 1e-200, 5e-324};
    for (int i = 0; i < 3; i++) {
        spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2,
                                           (double[]){3 * scales[i], 0, 0, 4 * scales[i]});
        spry_stats s = SPRY_STATS_INIT;
        assert_ok(*state, spry_matrix_stats(A, &s));
        near(s.norm_frobenius, 5 * scales[i], 2);
        assert_true(s.value_max == 4 * scales[i]);
        spry_matrix_free(A);
        A = support_from_rows(*state, SPRY_TYPE_Z, 1, 1, (double[]){1});
        support_put(A, 0, (spry_scalar){3 * scales[i], 4 * scales[i]});
        assert_ok(*state, spry_matrix_stats(A, &s));
        near(s.value_max, 5 * scales[i], 2);
        near(s.norm_frobenius, 5 * scales[i], 2);
        spry_matrix_free(A);
    }
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    for (int shape = SUPPORT_UNIFORM; shape <= SUPPORT_BANDED; shape++) {
        spry_stats first = SPRY_STATS_INIT, later = SPRY_STATS_INIT;
        for (int t = 0; t < 4; t++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", support_threads[t]);
            spry_context *ctx = support_context(options);
            const support_recipe recipe = {.type = SPRY_TYPE_Z,
                                           .format = SPRY_FORMAT_CSR,
                                           .rows = 5000,
                                           .cols = 5000,
                                           .nnz = 60000,
                                           .shape = (support_shape)shape,
                                           .seed = 3};
            spry_matrix *A = support_matrix(ctx, &recipe);
            for (int64_t k = 0; k < A->a.nnz; k++) /* sums that depend on their order */
                support_put(
                    A, k,
                    (spry_scalar){base_uniform(7, (uint64_t)k), base_uniform(8, (uint64_t)k)});
            memset(&later, 0, sizeof later);
            assert_ok(ctx, spry_matrix_stats(A, &later));
            if (t == 0)
                first = later;
            assert_true(first.norm_frobenius == later.norm_frobenius);
            assert_true(first.norm_one == later.norm_one && first.norm_inf == later.norm_inf);
            assert_true(first.row_deviation == later.row_deviation);
            same_stats(later, first);
            spry_matrix_free(A);
            support_context_free(ctx);
        }
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_matrix_by_hand),
        TEST(matrices_by_chance),
        TEST(blocks_are_found),
        TEST(values_that_are_no_numbers),
        TEST(norms_neither_overflow_nor_vanish),
        TEST(threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
