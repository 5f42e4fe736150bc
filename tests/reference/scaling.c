/* Scalings: what becomes of entries, that powers of two change no bit of a mantissa, and the norms
 * that each kind is for. */
#include "support/support.h"

#include "matrix/matrix.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"symmetric", "row", "column", "equilibrate", "match"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double size_of(spry_scalar v)
{
    return hypot(v.re, v.im);
}

/* Entries i, j times left_i right_j against the dense picture. Numbers are eighths and factors
 * small whole ones (times i for complex types), so that products are exact. */
static void check_scale(spry_context *ctx, const support_recipe *recipe, bool use_left,
                        bool use_right, bool same)
{
    spry_matrix *A = support_matrix(ctx, recipe);
    support_dense dense = support_dense_of(A);
    const spry_type type = recipe->type;
    spry_vector *left, *right;
    assert_ok(ctx, spry_vector_new(ctx, type, recipe->rows, NULL, SPRY_OWN_COPY, &left));
    assert_ok(ctx, spry_vector_new(ctx, type, recipe->cols, NULL, SPRY_OWN_COPY, &right));
    for (int64_t i = 0; i < recipe->rows; i++)
        value_set(
            type, left->data, i,
            (spry_scalar){(double)(i % 5 + 1), spry_type_is_complex(type) ? (double)(i % 3) : 0});
    for (int64_t j = 0; j < recipe->cols; j++)
        value_set(type, right->data, j,
                  same ? (spry_scalar){(double)(j % 5 + 1),
                                       spry_type_is_complex(type) ? (double)(j % 3) : 0}
                       : (spry_scalar){(double)(3 - j % 7), 0});
    for (int64_t i = 0; i < dense.rows; i++)
        for (int64_t j = 0; j < dense.cols; j++) {
            spry_scalar *v = &dense.at[i * dense.cols + j];
            const spry_scalar one = {1, 0};
            const spry_scalar l = use_left ? value_get(type, left->data, i) : one;
            const spry_scalar r = use_right ? value_get(type, right->data, j) : one;
            *v = (spry_scalar){l.re * v->re - l.im * v->im, l.re * v->im + l.im * v->re};
            *v = (spry_scalar){r.re * v->re - r.im * v->im, r.re * v->im + r.im * v->re};
        }
    assert_ok(ctx, spry_matrix_scale(A, use_left ? left : NULL, use_right ? right : NULL));
    /* real factors that are the same on both sides keep the kind; for hermitian conjugates would */
    if (same && use_left && use_right && recipe->symmetry != SPRY_SYMMETRY_HERMITIAN)
        assert_int_equal(spry_matrix_symmetry(A), recipe->symmetry);
    if (!use_left && !use_right)
        assert_int_equal(spry_matrix_symmetry(A), recipe->symmetry);
    assert_int_equal(spry_matrix_format(A), recipe->format);
    support_dense_same(support_dense_of(A), dense);
    spry_vector_free(left);
    spry_vector_free(right);
    spry_matrix_free(A);
}

static void scaled_entries(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++)
            for (int symmetry = SPRY_SYMMETRY_GENERAL; symmetry <= SPRY_SYMMETRY_HERMITIAN;
                 symmetry++)
                for (int use = 0; use < 8; use++)
                    check_scale(
                        *state,
                        &(support_recipe){.type = support_types[t],
                                          .format = (spry_format)format,
                                          .symmetry = (spry_symmetry)symmetry,
                                          .rows = 21,
                                          .cols = symmetry == SPRY_SYMMETRY_GENERAL ? 17 : 21,
                                          .nnz = 70,
                                          .sorted = true,
                                          .seed = 5},
                        use & 1, use & 2, use & 4);
}

/* Numbers over many powers of ten; row 3 and column 5 empty, row 7 zeros only, no diagonal in
 * row 8. */
static spry_matrix *uneven(spry_context *ctx, spry_type type, int64_t rows, int64_t cols,
                           spry_symmetry symmetry)
{
    support_recipe r = {.type = type,
                        .format = SPRY_FORMAT_COO,
                        .symmetry = symmetry,
                        .rows = rows,
                        .cols = cols,
                        .nnz = 4 * rows,
                        .sorted = true,
                        .seed = 5};
    spry_matrix *A = support_matrix(ctx, &r);
    matrix_arrays a = A->a;
    int64_t n = 0;
    for (int64_t k = 0; k < a.nnz; k++) {
        const int32_t i = a.row_index[k], j = a.col_index[k];
        spry_scalar v = value_get(type, a.values, k);
        const double factor = pow(10, (i % 13) - 6) * pow(3, j % 9);
        if (i == 3 || j == 3 || j == 5 || i == 5 || (i == 8 && j == 8))
            continue;
        v = i == 7 || j == 7 ? (spry_scalar){0, 0} : (spry_scalar){factor * v.re, factor * v.im};
        a.row_index[n] = i;
        a.col_index[n] = j;
        value_set(type, a.values, n++, v);
    }
    A->a.nnz = n;
    return A;
}

static void norms(const spry_matrix *A, double *rows, double *cols, bool two)
{
    support_dense d = support_dense_of(A);
    memset(rows, 0, (size_t)d.rows * sizeof *rows);
    memset(cols, 0, (size_t)d.cols * sizeof *cols);
    for (int64_t i = 0; i < d.rows; i++)
        for (int64_t j = 0; j < d.cols; j++) {
            const double size = size_of(d.at[i * d.cols + j]);
            rows[i] = two ? hypot(rows[i], size) : fmax(rows[i], size);
            cols[j] = two ? hypot(cols[j], size) : fmax(cols[j], size);
        }
    support_dense_free(&d);
}

/* Zero, or between the bounds. */
static void assert_within(const double *numbers, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        assert_true(numbers[i] == 0 || (numbers[i] >= low && numbers[i] <= high));
}

static void assert_factors(const spry_vector *v, bool exact)
{
    for (int64_t i = 0; i < spry_vector_size(v); i++) {
        const spry_scalar f = value_get(spry_vector_type(v), spry_vector_data_const(v), i);
        int exponent;
        assert_true(f.re > 0 && isfinite(f.re) && f.im == 0);
        if (exact)
            assert_true(frexp(f.re, &exponent) == 0.5);
    }
}

static double factor_at(const spry_vector *v, int64_t i)
{
    return value_get(spry_vector_type(v), spry_vector_data_const(v), i).re;
}

/* Powers of two are off by at most a factor of sqrt(2) each; equilibrate also by the tolerance.
 * match: also of rows without a partner. */
static void norms_of_scaled_matrices(void **state)
{
    enum { ROWS = 60 };
    double rows[ROWS], cols[ROWS];
    for (int t = 0; t < 4; t++)
        for (int k = 1; k < KINDS; k++)
            for (int exact = 0; exact < 2; exact++)
                for (int two = 0; two < (k >= 3 ? 1 : 2); two++) {
                    spry_matrix *A =
                        uneven(*state, support_types[t], ROWS, 40, SPRY_SYMMETRY_GENERAL);
                    spry_vector *left, *right;
                    char kind[64];
                    snprintf(kind, sizeof kind, "%s:exact=%s,norm=%s,sweeps=30", kinds[k],
                             exact ? "yes" : "no", two ? "two" : "max");
                    assert_ok(*state, spry_scaling(A, kind, &left, &right));
                    assert_factors(left, exact);
                    assert_factors(right, exact);
                    assert_true(factor_at(left, 3) == 1 && factor_at(right, 5) == 1);
                    assert_true(factor_at(left, 7) == 1);
                    assert_ok(*state, spry_matrix_scale(A, left, right));
                    norms(A, rows, cols, two);
                    const double eps = 1e-6; /* of factors and numbers in single precision */
                    double spread = exact ? sqrt(2) * (1 + eps) : 1 + eps;
                    if (k >= 3)
                        spread = exact ? 2 * 1.01 * (1 + eps) : 1.01 * (1 + eps);
                    if (k != 2)
                        assert_within(rows, ROWS, 1 / spread, spread);
                    if (k != 1)
                        assert_within(cols, 40, 1 / spread, spread);
                    spry_vector_free(left);
                    spry_vector_free(right);
                    spry_matrix_free(A);
                }
}

static void symmetric_scaling_keeps_the_kind(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int symmetry = SPRY_SYMMETRY_SYMMETRIC; symmetry <= SPRY_SYMMETRY_HERMITIAN;
             symmetry++)
            for (int k = 0; k < KINDS; k += k ? 1 : 3) {
                spry_matrix *A = uneven(*state, support_types[t], 40, 40, (spry_symmetry)symmetry);
                spry_vector *left, *right;
                assert_ok(*state, spry_scaling(A, kinds[k], &left, &right));
                assert_memory_equal(spry_vector_data_const(left), spry_vector_data_const(right),
                                    40 * spry_type_size(support_types[t]));
                assert_factors(left, true);
                assert_ok(*state, spry_matrix_scale(A, left, right));
                assert_int_equal(spry_matrix_symmetry(A), symmetry);
                spry_vector *d;
                assert_ok(*state, spry_matrix_diagonal(A, &d));
                for (int64_t i = 0; i < 40 && k == 0; i++) { /* sqrt(2) for each of two factors */
                    const double size = size_of(value_get(d->type, d->data, i));
                    assert_true(size == 0 || (size > 0.49 && size < 2.01));
                }
                spry_vector_free(d);
                spry_vector_free(left);
                spry_vector_free(right);
                spry_matrix_free(A);
            }
}

/* Scaled and scaled back by powers of two: every bit as before. */
static void powers_of_two_are_exact(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS; k++) {
            const spry_type type = support_types[t];
            spry_matrix *A = uneven(*state, type, 50, 50, SPRY_SYMMETRY_GENERAL), *B;
            spry_vector *f[2];
            assert_ok(*state, spry_matrix_convert(A, SPRY_FORMAT_COO, &B));
            assert_ok(*state, spry_scaling(A, kinds[k], &f[0], &f[1]));
            assert_ok(*state, spry_matrix_scale(B, f[0], f[1]));
            for (int side = 0; side < 2; side++)
                for (int64_t i = 0; i < 50; i++)
                    value_set(type, f[side]->data, i, (spry_scalar){1 / factor_at(f[side], i), 0});
            assert_ok(*state, spry_matrix_scale(B, f[0], f[1]));
            support_same_arrays(A, B);
            spry_vector_free(f[0]);
            spry_vector_free(f[1]);
            spry_matrix_free(A);
            spry_matrix_free(B);
        }
}

/* The smallest and largest numbers there are, infinities and NaN: factors stay positive and finite.
 */
static void extreme_numbers(void **state)
{
    static const double d[] = {DBL_MAX, 4.9406564584124654e-324, INFINITY, NAN, DBL_MIN};
    static const double s[] = {FLT_MAX, 1.401298464324817e-45, INFINITY, NAN, FLT_MIN};
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS; k++)
            for (int exact = 0; exact < 2; exact++) {
                const spry_type type = support_types[t];
                const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
                double numbers[25] = {0};
                for (int i = 0; i < 5; i++)
                    numbers[6 * i] = single ? s[i] : d[i];
                numbers[1] = numbers[5] = single ? FLT_MAX : DBL_MAX;
                spry_matrix *A = support_from_rows(*state, type, 5, 5, numbers);
                spry_vector *left, *right;
                char kind[64];
                snprintf(kind, sizeof kind, "%s:exact=%d,norm=two", kinds[k], exact);
                assert_ok(*state, spry_scaling(A, kind, &left, &right));
                assert_factors(left, exact);
                assert_factors(right, exact);
                spry_vector_free(left);
                spry_vector_free(right);
                spry_matrix_free(A);
            }
}

static void empty_matrices(void **state)
{
    for (int64_t rows = 0; rows < 3; rows++)
        for (int k = 0; k < KINDS; k++) {
            spry_matrix *A = support_from_rows(*state, SPRY_TYPE_Z, rows, rows, (double[9]){0});
            spry_vector *left, *right;
            assert_ok(*state, spry_scaling(A, kinds[k], &left, &right));
            for (int64_t i = 0; i < rows; i++)
                assert_true(factor_at(left, i) == 1 && factor_at(right, i) == 1);
            assert_ok(*state, spry_matrix_scale(A, left, right));
            spry_vector_free(left);
            spry_vector_free(right);
            spry_matrix_free(A);
        }
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        double first[2][2197] = {{0}};
        for (int t = 0; t < 4; t++) {
            char options[32], kind[64];
            snprintf(options, sizeof options, "threads=%d", support_threads[t]);
            snprintf(kind, sizeof kind, "%s:exact=no", kinds[k]);
            spry_context *ctx = support_context(options);
            spry_matrix *A;
            spry_vector *f[2];
            assert_ok(ctx, spry_generate(ctx, "poisson3d", "size=13,points=27", &A));
            for (int64_t e = 0; e < A->a.nnz; e++)
                support_put(
                    A, e,
                    (spry_scalar){((double *)A->a.values)[e] * (base_uniform(3, (uint64_t)e)), 0});
            assert_ok(ctx, spry_scaling(A, kind, &f[0], &f[1]));
            for (int side = 0; side < 2; side++) {
                if (t == 0)
                    memcpy(first[side], f[side]->data, sizeof first[side]);
                assert_memory_equal(first[side], f[side]->data, sizeof first[side]);
                spry_vector_free(f[side]);
            }
            spry_matrix_free(A);
            support_context_free(ctx);
        }
    }
}

static void what_is_wrong_is_reported(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    spry_vector *left = NULL, *right = NULL, *v, *w;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_scaling(A, "colunm", &left, &right));
    support_message_has(ctx, "did you mean column");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_scaling(A, "symmetric", &left, &right));
    support_message_has(ctx, "2 x 3");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_scaling(A, "row:norm=three", &left, &right));
    support_message_has(ctx, "scaling row");
    assert_null(left);
    assert_null(right);
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_D, 3, NULL, SPRY_OWN_COPY, &v));
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_S, 2, NULL, SPRY_OWN_COPY, &w));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_scale(A, v, NULL));
    support_message_has(ctx, "left has 3 numbers, the matrix 2 rows");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_scale(A, w, NULL));
    support_message_has(ctx, "left is of type s, the matrix of type d");
    spry_entry kind = SPRY_ENTRY_INIT;
    for (int k = 0; k < KINDS; k++) {
        assert_true(spry_list_at(SPRY_LIST_SCALINGS, k, &kind));
        assert_string_equal(kind.name, kinds[k]);
    }
    assert_false(spry_list_at(SPRY_LIST_SCALINGS, KINDS, &kind));
    spry_vector_free(v);
    spry_vector_free(w);
    spry_matrix_free(A);
}

typedef struct job {
    spry_matrix *A;
    const char *kind;
} job;

static spry_status scale_all(spry_context *ctx, void *data)
{
    (void)ctx;
    const job *j = data;
    spry_vector *left, *right;
    spry_matrix *B = NULL;
    spry_status status = spry_scaling(j->A, j->kind, &left, &right);
    assert_true((status == SPRY_STATUS_OK) == (left && right));
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_convert(j->A, SPRY_FORMAT_CSC, &B);
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_scale(B, left, NULL); /* expands */
    spry_vector_free(left);
    spry_vector_free(right);
    spry_matrix_free(B);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    job j = {uneven(*state, SPRY_TYPE_C, 30, 30, SPRY_SYMMETRY_SYMMETRIC), NULL};
    for (int k = 0; k < KINDS; k++) {
        j.kind = kinds[k];
        support_torture(*state, scale_all, &j);
    }
    spry_matrix_free(j.A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(scaled_entries),
        TEST(norms_of_scaled_matrices),
        TEST(symmetric_scaling_keeps_the_kind),
        TEST(powers_of_two_are_exact),
        TEST(extreme_numbers),
        TEST(empty_matrices),
        TEST(bits_do_not_depend_on_threads),
        TEST(what_is_wrong_is_reported),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
