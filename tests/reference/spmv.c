/*
 * Products with CSR matrices: rows of every length, long rows, plain and transposed, all factors,
 * against sums in long double; the same bits for any number of threads.
 */
#include "support/numeric.h"

#include "host/csr_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CSR arrays made at random, with a function that says how long each row is. */
typedef struct recipe {
    const char *name;
    int64_t rows, cols;
    int64_t (*length)(int64_t row, int64_t cols);
} recipe;

static int64_t length_rising(int64_t row, int64_t cols)
{
    return row < cols ? row : cols;
}

static int64_t length_few(int64_t row, int64_t cols)
{
    return row % 5 == 3 ? 0 : cols < 7 ? cols : 7;
}

static int64_t length_none(int64_t row, int64_t cols)
{
    (void)row;
    (void)cols;
    return 0;
}

static int64_t length_one_huge(int64_t row, int64_t cols)
{
    return row == 7 ? cols : row % 4;
}

static int64_t length_long(int64_t row, int64_t cols)
{
    static const int64_t lengths[] = {LONG_ROW - 1,     LONG_ROW, LONG_ROW + 1, 0, 2 * LONG_ROW,
                                      2 * LONG_ROW + 1, 3};
    (void)cols;
    return lengths[row % 7];
}

static int64_t length_first(int64_t row, int64_t cols)
{
    (void)cols;
    return 1 + (row % 100 == 0);
}

static const recipe recipes[] = {
    {"rising", 71, 90, length_rising},     {"square", 500, 500, length_few},
    {"tall", 5000, 3, length_few},         {"wide", 3, 5000, length_rising},
    {"empty rows", 40, 40, length_none},   {"no rows", 0, 9, length_few},
    {"no columns", 9, 0, length_none},     {"nothing", 0, 0, length_few},
    {"long rows", 14, 20000, length_long}, {"many rows", 5000, 5000, length_few},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

static const recipe huge_row = {"huge row", 50, 1000000, length_one_huge};
/* Every row has an entry in column 0: A^T has one row of 30000. */
static const recipe dense_column = {"dense column", 30000, 30000, length_first};

typedef struct arrays {
    const recipe *recipe;
    spry_type type;
    int64_t *offsets;
    int32_t *columns;
    void *values;
} arrays;

static arrays arrays_new(const recipe *r, spry_type type)
{
    arrays a = {.recipe = r, .type = type};
    a.offsets = calloc((size_t)r->rows + 1, sizeof *a.offsets);
    for (int64_t i = 0; i < r->rows; i++)
        a.offsets[i + 1] = a.offsets[i] + r->length(i, r->cols);
    const int64_t nnz = a.offsets[r->rows];
    a.columns = malloc((size_t)nnz * sizeof *a.columns + 1);
    for (int64_t i = 0; i < r->rows; i++) {
        const int64_t first = a.offsets[i], length = a.offsets[i + 1] - first;
        for (int64_t k = 0; k < length; k++) /* rise and begin with 0 */
            a.columns[first + k] = (int32_t)(k * (r->cols / length));
        if (length > 1) /* but the last lies anywhere behind the last but one */
            a.columns[first + length - 1] += (int32_t)(i % (r->cols / length));
    }
    a.values = numeric_array(type, nnz, 1, 11); /* off a vector's boundary */
    return a;
}

static void arrays_free(arrays *a)
{
    free(a->offsets);
    free(a->columns);
    numeric_free(a->type, a->values, 1);
}

static const struct factors {
    spry_scalar alpha, beta;
} factors[] = {{{1, 0}, {0, 0}}, {{-1, 0}, {1, 0}}, {{0.7, -0.3}, {-1.3, 0.2}}, {{2, 0}, {0, 0}}};
enum { FACTORS = sizeof factors / sizeof *factors };

static spry_scalar factor_for(spry_type type, spry_scalar factor)
{
    if (!spry_type_is_complex(type))
        factor.im = 0;
    if (type == SPRY_TYPE_S || type == SPRY_TYPE_C)
        factor = (spry_scalar){(float)factor.re, (float)factor.im};
    return factor;
}

/* op(A) x in long double: result and the number of terms in `terms`. */
static wide *reference(const arrays *a, spry_transpose op, const void *x, int64_t *terms)
{
    const int64_t rows = a->recipe->rows, n = op == SPRY_TRANSPOSE_NO ? rows : a->recipe->cols;
    wide *y = calloc((size_t)n + 1, sizeof *y);
    memset(terms, 0, ((size_t)n + 1) * sizeof *terms);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t k = a->offsets[i]; k < a->offsets[i + 1]; k++) {
            const int64_t from = op == SPRY_TRANSPOSE_NO ? a->columns[k] : i;
            const int64_t to = op == SPRY_TRANSPOSE_NO ? i : a->columns[k];
            y[to] = numeric_muladd(y[to], value_get(a->type, a->values, k),
                                   op == SPRY_TRANSPOSE_CONJUGATE, value_get(a->type, x, from));
            terms[to]++;
        }
    }
    return y;
}

/*
 * Compares y with alpha s + beta old. Each of the terms is two products in either part, and each
 * product and sum rounds once: 2 terms + 8 roundings cover them, the factors and the last sum.
 */
static void check_result(const arrays *a, int64_t n, const wide *s, const int64_t *terms,
                         const struct factors *f, const void *old, const void *y)
{
    const spry_scalar alpha = factor_for(a->type, f->alpha), beta = factor_for(a->type, f->beta);
    for (int64_t i = 0; i < n; i++) {
        wide expected = {alpha.re * s[i].re - alpha.im * s[i].im,
                         alpha.re * s[i].im + alpha.im * s[i].re, numeric_size(alpha) * s[i].size};
        if (beta.re != 0 || beta.im != 0)
            expected = numeric_muladd(expected, beta, false, value_get(a->type, old, i));
        numeric_near(a->type, value_get(a->type, y, i), expected, 2 * (double)terms[i] + 8,
                     a->recipe->name, i);
    }
}

/* One op of one matrix, with all factors, for the context's threads and ISA level. */
static void check_op(spry_context *ctx, const arrays *a, const spry_operator *op,
                     spry_transpose transpose)
{
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int64_t n = plain ? a->recipe->rows : a->recipe->cols;
    const int64_t m = plain ? a->recipe->cols : a->recipe->rows;
    void *x = numeric_array(a->type, m, 1, 12), *old = numeric_array(a->type, n, 1, 13);
    int64_t *terms = malloc(((size_t)n + 1) * sizeof *terms);
    wide *s = reference(a, transpose, x, terms);
    spry_vector *vx = numeric_vector(ctx, a->type, m, x);
    for (int f = 0; f < FACTORS; f++) {
        const spry_scalar beta = factor_for(a->type, factors[f].beta);
        void *y = numeric_array(a->type, n, 1, 13);
        if (beta.re == 0) { /* must not be read */
            for (int64_t i = 0; i < n; i++)
                value_set(a->type, y, i, (spry_scalar){NAN, NAN});
        }
        spry_vector *vy = numeric_vector(ctx, a->type, n, y);
        assert_ok(ctx, spry_operator_multiply(op, transpose, factor_for(a->type, factors[f].alpha),
                                              vx, beta, vy));
        check_result(a, n, s, terms, &factors[f], old, y);
        spry_vector_free(vy);
        numeric_free(a->type, y, 1);
    }
    spry_vector_free(vx);
    free(s);
    free(terms);
    numeric_free(a->type, x, 1);
    numeric_free(a->type, old, 1);
}

static spry_matrix *matrix_of(spry_context *ctx, const arrays *a)
{
    spry_matrix *A = NULL;
    assert_ok(ctx, spry_matrix_from_csr(ctx, a->type, a->recipe->rows, a->recipe->cols, a->offsets,
                                        a->columns, a->values, SPRY_OWN_BORROW, &A));
    return A;
}

static void check_recipe(spry_context *ctx, const recipe *r, spry_type type)
{
    arrays a = arrays_new(r, type);
    spry_matrix *A = matrix_of(ctx, &a);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_int_equal(spry_operator_bytes(op),
                     a.offsets[r->rows] * (4 + (int64_t)spry_type_size(type)) + (r->rows + 1) * 8 +
                         (r->rows + r->cols) * (int64_t)spry_type_size(type));
    check_op(ctx, &a, op, SPRY_TRANSPOSE_NO);
    check_op(ctx, &a, op, SPRY_TRANSPOSE_YES);
    if (spry_type_is_complex(type))
        check_op(ctx, &a, op, SPRY_TRANSPOSE_CONJUGATE);
    spry_operator_free(op);
    spry_matrix_free(A);
    arrays_free(&a);
}

static void all_recipes(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        for (int r = 0; r < RECIPES; r++)
            check_recipe(ctx, &recipes[r], support_types[t]);
    }
}

static void test_recipes(void **state)
{
    (void)state;
    numeric_levels((const int[]){1, 3}, 2, all_recipes);
}

static void large_recipes(spry_context *ctx)
{
    check_recipe(ctx, &huge_row, SPRY_TYPE_D);
    check_recipe(ctx, &dense_column, SPRY_TYPE_S);
    check_recipe(ctx, &dense_column, SPRY_TYPE_Z);
}

static void test_large(void **state)
{
    (void)state;
    numeric_levels((const int[]){2}, 1, large_recipes);
}

/* y = 0.7 op(A) x - 1.3 y with a number of threads, to compare bit by bit. */
static void *product_with(int threads, const arrays *a, spry_transpose transpose)
{
    char options[32];
    snprintf(options, sizeof options, "threads=%d", threads);
    spry_context *ctx = support_context(options);
    const bool plain = transpose == SPRY_TRANSPOSE_NO;
    const int64_t n = plain ? a->recipe->rows : a->recipe->cols;
    const int64_t m = plain ? a->recipe->cols : a->recipe->rows;
    spry_matrix *A = matrix_of(ctx, a);
    spry_operator *op = NULL;
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    void *x = numeric_array(a->type, m, 0, 14), *y = numeric_array(a->type, n, 0, 15);
    spry_vector *vx = numeric_vector(ctx, a->type, m, x);
    spry_vector *vy = numeric_vector(ctx, a->type, n, y);
    assert_ok(ctx, spry_operator_multiply(op, transpose, (spry_scalar){0.7, 0}, vx,
                                          (spry_scalar){-1.3, 0}, vy));
    spry_vector_free(vx);
    spry_vector_free(vy);
    spry_operator_free(op);
    spry_matrix_free(A);
    support_context_free(ctx);
    numeric_free(a->type, x, 0);
    return y;
}

static void test_threads(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 7};
    const recipe *some[] = {&recipes[1], &recipes[8], &recipes[9], &dense_column, &huge_row};
    for (int t = 0; t < 4; t++) {
        for (int r = 0; r < (support_types[t] == SPRY_TYPE_D ? 5 : 4); r++) {
            arrays a = arrays_new(some[r], support_types[t]);
            const int last =
                spry_type_is_complex(a.type) ? SPRY_TRANSPOSE_CONJUGATE : SPRY_TRANSPOSE_YES;
            for (int op = SPRY_TRANSPOSE_NO; op <= last; op++) {
                const int64_t n = op == SPRY_TRANSPOSE_NO ? some[r]->rows : some[r]->cols;
                void *one = product_with(1, &a, (spry_transpose)op);
                for (int k = 0; k < 3; k++) {
                    void *more = product_with(threads[k], &a, (spry_transpose)op);
                    assert_memory_equal(one, more, (size_t)n * spry_type_size(a.type));
                    numeric_free(a.type, more, 0);
                }
                numeric_free(a.type, one, 0);
            }
            arrays_free(&a);
        }
    }
}

/* Parts are of equal work: a row of a million entries is shared by all of them. */
static void test_balance(void **state)
{
    (void)state;
    enum { PARTS = 4 };
    spry_context *ctx = support_context("threads=4");
    arrays a = arrays_new(&huge_row, SPRY_TYPE_D);
    csr_shares shares;
    assert_ok(ctx, csr_shares_make(ctx, SPRY_TYPE_D, huge_row.rows, huge_row.cols, a.offsets,
                                   a.columns, a.values, &shares));
    assert_int_equal(shares.parts, PARTS);
    assert_int_equal(shares.long_count, 1);
    const int64_t chunks = (huge_row.cols + LONG_ROW - 1) / LONG_ROW;
    for (int p = 1; p < PARTS; p++) {
        assert_int_equal(shares.cuts[p].row, 7);
        assert_true(llabs(shares.cuts[p].chunk - chunks * p / PARTS) <= 1);
    }
    csr_shares_clear(ctx, &shares);
    arrays_free(&a);
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recipes),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_balance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
