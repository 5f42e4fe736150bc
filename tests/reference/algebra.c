/*
 * Sums and products of matrices against dense arithmetic. Numbers are eighths of at most 4, so that
 * products are whole multiples of 1/64 and sums of a few thousand exact in every type: results must
 * be equal, not near.
 */
#include "support/support.h"

#include "matrix/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* C = A B with one entry at each place that a stored pair reaches. */
static support_dense dense_product(const support_dense *a, const support_dense *b)
{
    support_dense c = support_dense_zeros(a->rows, b->cols);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t k = 0; k < a->cols; k++)
            for (int64_t j = 0; j < b->cols && a->entries[i * a->cols + k]; j++) {
                if (!b->entries[k * b->cols + j])
                    continue;
                const spry_scalar v = times(a->at[i * a->cols + k], b->at[k * b->cols + j]);
                c.at[i * c.cols + j].re += v.re;
                c.at[i * c.cols + j].im += v.im;
                c.entries[i * c.cols + j] = 1;
            }
    return c;
}

static support_dense dense_transpose(const support_dense *a, bool conjugate)
{
    support_dense t = support_dense_zeros(a->cols, a->rows);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++) {
            const spry_scalar v = a->at[i * a->cols + j];
            t.at[j * t.cols + i] = (spry_scalar){v.re, conjugate ? -v.im : v.im};
            t.entries[j * t.cols + i] = a->entries[i * a->cols + j];
        }
    return t;
}

/* General CSR, sorted, no place twice. */
static void assert_plain(const spry_matrix *C)
{
    const matrix_arrays c = C->a;
    assert_int_equal(c.format, SPRY_FORMAT_CSR);
    assert_int_equal(c.symmetry, SPRY_SYMMETRY_GENERAL);
    assert_int_equal(c.offsets[0], 0);
    assert_int_equal(c.offsets[c.rows], c.nnz);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t k = c.offsets[i]; k < c.offsets[i + 1]; k++) {
            assert_true(c.col_index[k] >= 0 && c.col_index[k] < c.cols);
            assert_true(k == c.offsets[i] || c.col_index[k - 1] < c.col_index[k]);
        }
}

static void check_product(spry_context *ctx, const spry_matrix *A, const spry_matrix *B)
{
    spry_matrix *C = NULL;
    assert_ok(ctx, spry_matrix_multiply(A, B, &C));
    assert_plain(C);
    support_dense a = support_dense_of(A), b = support_dense_of(B);
    support_dense_same(support_dense_of(C), dense_product(&a, &b));
    support_dense_free(&a);
    support_dense_free(&b);
    spry_matrix_free(C);
}

static void check_sum(spry_context *ctx, const spry_matrix *A, const spry_matrix *B)
{
    const bool complex = spry_type_is_complex(spry_matrix_type(A));
    const spry_scalar alpha = {2, complex ? -1 : 0}, beta = {-0.5, complex ? 0.25 : 0};
    spry_matrix *C = NULL;
    assert_ok(ctx, spry_matrix_add(alpha, A, beta, B, &C));
    assert_plain(C);
    support_dense a = support_dense_of(A), b = support_dense_of(B);
    for (int64_t k = 0; k < a.rows * a.cols; k++) {
        const spry_scalar one = times(alpha, a.at[k]), other = times(beta, b.at[k]);
        a.at[k] = (spry_scalar){one.re + other.re, one.im + other.im};
        a.entries[k] = a.entries[k] || b.entries[k];
    }
    support_dense_free(&b);
    support_dense_same(support_dense_of(C), a);
    spry_matrix_free(C);
}

static void check_gram(spry_context *ctx, const spry_matrix *A)
{
    for (int conjugate = 0; conjugate < 2; conjugate++) {
        spry_matrix *C = NULL;
        assert_ok(ctx, spry_matrix_gram(A, conjugate == 1, &C));
        assert_plain(C);
        support_dense a = support_dense_of(A), t = dense_transpose(&a, conjugate == 1);
        support_dense_same(support_dense_of(C), dense_product(&t, &a));
        support_dense_free(&a);
        support_dense_free(&t);
        spry_matrix_free(C);
    }
}

typedef struct shape {
    int64_t rows, inner, cols;
    int64_t nnz_a, nnz_b;
    support_shape kind;
} shape;

static const shape shapes[] = {
    {0, 0, 0, 0, 0, SUPPORT_UNIFORM},        {0, 5, 3, 0, 4, SUPPORT_UNIFORM},
    {5, 0, 3, 0, 0, SUPPORT_UNIFORM},        {5, 3, 0, 6, 0, SUPPORT_UNIFORM},
    {1, 1, 1, 1, 1, SUPPORT_UNIFORM},        {4, 4, 4, 0, 9, SUPPORT_UNIFORM},
    {9, 7, 12, 20, 30, SUPPORT_UNIFORM},     {40, 3, 50, 60, 70, SUPPORT_UNIFORM},
    {30, 60, 30, 50, 60, SUPPORT_UNIFORM},   {50, 50, 50, 300, 400, SUPPORT_BANDED},
    {25, 80, 90, 200, 300, SUPPORT_ONE_ROW}, {60, 30, 20, 200, 300, SUPPORT_ONE_COL},
    {20, 20, 20, 900, 900, SUPPORT_UNIFORM},
};

static void products_and_sums_are_those_of_dense_matrices(void **state)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int t = 0; t < 4; t++)
            for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
                const shape *z = &shapes[s];
                support_recipe r = {.type = support_types[t],
                                    .format = (spry_format)format,
                                    .rows = z->rows,
                                    .cols = z->inner,
                                    .nnz = z->nnz_a,
                                    .shape = z->kind,
                                    .seed = 7 + s};
                spry_matrix *A = support_matrix(*state, &r);
                r.nnz = z->nnz_b;
                r.seed++;
                r.format = (spry_format)((format + 1) % 3);
                spry_matrix *D = support_matrix(*state, &r);
                r.rows = z->inner;
                r.cols = z->cols;
                spry_matrix *B = support_matrix(*state, &r);
                check_product(*state, A, B);
                check_sum(*state, A, D);
                check_gram(*state, A);
                spry_matrix_free(A);
                spry_matrix_free(B);
                spry_matrix_free(D);
            }
}

static void symmetric_kinds_stand_for_both_triangles(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int one = SPRY_SYMMETRY_GENERAL; one <= SPRY_SYMMETRY_HERMITIAN; one++)
            for (int other = SPRY_SYMMETRY_GENERAL; other <= SPRY_SYMMETRY_HERMITIAN; other++) {
                support_recipe r = {.type = support_types[t],
                                    .format = (spry_format)((one + t) % 3),
                                    .symmetry = (spry_symmetry)one,
                                    .rows = 17,
                                    .cols = 17,
                                    .nnz = 40,
                                    .seed = 3};
                spry_matrix *A = support_matrix(*state, &r);
                r.symmetry = (spry_symmetry)other;
                r.format = (spry_format)((other + t + 1) % 3);
                r.seed = 5;
                spry_matrix *B = support_matrix(*state, &r);
                check_product(*state, A, B);
                check_product(*state, A, A);
                check_sum(*state, A, B);
                check_sum(*state, A, A);
                check_gram(*state, A);
                spry_matrix_free(A);
                spry_matrix_free(B);
            }
}

/* R A P in both orders of the two products: R with few entries makes R A the cheaper one. */
static void triple_products(void **state)
{
    for (int t = 0; t < 4; t++)
        for (int few = 0; few < 2; few++) {
            support_recipe r = {.type = support_types[t],
                                .format = SPRY_FORMAT_CSR,
                                .rows = 15,
                                .cols = 30,
                                .nnz = few ? 5 : 100,
                                .seed = 11};
            spry_matrix *R = support_matrix(*state, &r), *C = NULL;
            r = (support_recipe){.type = support_types[t],
                                 .format = SPRY_FORMAT_COO,
                                 .rows = 30,
                                 .cols = 30,
                                 .nnz = 90};
            spry_matrix *A = support_matrix(*state, &r);
            r.cols = 12;
            r.nnz = 40;
            r.format = SPRY_FORMAT_CSC;
            spry_matrix *P = support_matrix(*state, &r);
            support_dense dr = support_dense_of(R), da = support_dense_of(A),
                          dp = support_dense_of(P), dt = dense_transpose(&dp, true);
            support_dense ap = dense_product(&da, &dp);
            assert_ok(*state, spry_matrix_triple(R, A, P, &C));
            assert_plain(C);
            support_dense_same(support_dense_of(C), dense_product(&dr, &ap));
            spry_matrix_free(C);
            assert_ok(*state, spry_matrix_triple(NULL, A, P, &C));
            support_dense_same(support_dense_of(C), dense_product(&dt, &ap));
            support_dense_free(&dr);
            support_dense_free(&da);
            support_dense_free(&dp);
            support_dense_free(&dt);
            support_dense_free(&ap);
            spry_matrix_free(C);
            spry_matrix_free(R);
            spry_matrix_free(A);
            spry_matrix_free(P);
        }
}

/* What cancels stays as a zero: [1 1] [1; -1] = [0], A - A = 0 with A's places. */
static void zeros_that_arise_are_kept(void **state)
{
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 1, 2, (double[]){1, 1}), *C = NULL;
    spry_matrix *B = support_from_rows(*state, SPRY_TYPE_D, 2, 1, (double[]){1, -1});
    assert_ok(*state, spry_matrix_multiply(A, B, &C));
    assert_int_equal(spry_matrix_nnz(C), 1);
    assert_true(*(double *)C->a.values == 0);
    spry_matrix_free(C);
    assert_ok(*state, spry_matrix_add((spry_scalar){1, 0}, A, (spry_scalar){-1, 0}, A, &C));
    assert_int_equal(spry_matrix_nnz(C), 2);
    assert_true(*(double *)C->a.values == 0);
    spry_matrix_free(C);
    assert_ok(*state, spry_matrix_add((spry_scalar){0, 0}, A, (spry_scalar){0, 0}, A, &C));
    assert_int_equal(spry_matrix_nnz(C), 2);
    spry_matrix_free(C);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

/*
 * Rows by hash: A names rows of B whose columns lie a million apart. B[k, j] is 1 at columns that
 * repeat from row to row, so that the sums and the order are known.
 */
static void columns_far_apart(void **state)
{
    enum { ROWS = 64, EACH = 300, STEP = 7001 };
    const int64_t cols = (int64_t)EACH * STEP * 2;
    for (int t = 0; t < 4; t++) {
        matrix_arrays b = {.type = support_types[t],
                           .format = SPRY_FORMAT_CSR,
                           .rows = ROWS,
                           .cols = cols,
                           .nnz = (int64_t)ROWS * EACH};
        assert_ok(*state, matrix_allocate(*state, &b));
        for (int64_t k = 0; k < b.nnz; k++) {
            /* even rows: multiples of STEP; odd rows: every second of them and some between */
            const int64_t row = k / EACH, at = k % EACH;
            b.col_index[k] = (int32_t)(row % 2 ? 2 * at * STEP + (at % 3 == 0) : at * STEP);
            value_set(b.type, b.values, k, (spry_scalar){(double)(row + 1), 0});
            b.offsets[row] = row * EACH;
        }
        b.offsets[ROWS] = b.nnz;
        spry_matrix *B, *A, *C = NULL;
        assert_ok(*state, matrix_wrap(*state, &b, &B));
        A = support_from_rows(*state, b.type, 3, ROWS,
                              (double[3 * ROWS]){[0] = 1,
                                                 [1] = 1,
                                                 [2] = 1,
                                                 [3] = 1,
                                                 [ROWS + 5] = 2,
                                                 [2 * ROWS + 4] = 1,
                                                 [2 * ROWS + 6] = -1});
        assert_ok(*state, spry_matrix_multiply(A, B, &C));
        assert_plain(C);
        const matrix_arrays c = C->a;
        assert_int_equal(c.offsets[2] - c.offsets[1], EACH); /* 2 times row 5 */
        for (int64_t k = c.offsets[1]; k < c.offsets[2]; k++)
            assert_true(value_get(c.type, c.values, k).re == 12);
        assert_int_equal(c.offsets[3] - c.offsets[2], EACH); /* row 4 less row 6 */
        for (int64_t k = c.offsets[2]; k < c.offsets[3]; k++)
            assert_true(value_get(c.type, c.values, k).re == -2);
        for (int64_t k = 0; k < c.offsets[1]; k++) { /* 1 + 3 and 2 + 4, as the column says */
            const int64_t j = c.col_index[k], at = j / STEP;
            const bool even = j % STEP == 0 && at < EACH;
            const bool odd = at % 2 == 0 && (j % STEP == 1) == (at / 2 % 3 == 0);
            assert_true(even || odd);
            assert_true(value_get(c.type, c.values, k).re == (even ? 4 : 0) + (odd ? 6 : 0));
        }
        spry_matrix_free(C);
        spry_matrix_free(A);
        spry_matrix_free(B);
    }
}

/* The same bits with every number of threads; sizes that wake them, and rows of every kind: bands,
 * blocks that share a pattern, columns at random over a wide range, a long row. */
static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const char *const kinds[][2] = {
        {"poisson3d", "size=24"},   {"elasticity", "size=8,type=s"},
        {"helmholtz", "size=14"},   {"random", "size=300000,per-row=2"},
        {"arrowhead", "size=1200"}, {"circuit", "size=20000"}};
    for (size_t m = 0; m < sizeof kinds / sizeof *kinds; m++) {
        spry_context *first = NULL;
        spry_matrix *products[3] = {NULL};
        for (int t = 0; t < 4; t++) {
            char options[32];
            snprintf(options, sizeof options, "threads=%d", support_threads[t]);
            spry_context *ctx = support_context(options);
            spry_matrix *A, *C[3];
            assert_ok(ctx, spry_generate(ctx, kinds[m][0], kinds[m][1], &A));
            assert_ok(ctx, spry_matrix_multiply(A, A, &C[0]));
            assert_ok(ctx, spry_matrix_gram(A, true, &C[1]));
            assert_ok(
                ctx, spry_matrix_add((spry_scalar){0.1, 0}, A, (spry_scalar){0.3, 0}, C[0], &C[2]));
            spry_matrix_free(A);
            for (int k = 0; k < 3; k++) {
                if (t == 0) {
                    products[k] = C[k];
                    continue;
                }
                support_same_arrays(products[k], C[k]);
                spry_matrix_free(C[k]);
            }
            if (t == 0)
                first = ctx;
            else
                support_context_free(ctx);
        }
        for (int k = 0; k < 3; k++)
            spry_matrix_free(products[k]);
        support_context_free(first);
    }
}

/* With numbers that round, A^T A must still be its own transpose, and a hermitian one's diagonal
 * real. */
static void gram_is_symmetric_to_the_bit(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = support_matrix(*state, &(support_recipe){.type = support_types[t],
                                                                  .format = SPRY_FORMAT_CSC,
                                                                  .rows = 300,
                                                                  .cols = 200,
                                                                  .nnz = 6000,
                                                                  .sorted = true,
                                                                  .seed = 8});
        const matrix_arrays a = A->a;
        for (int64_t k = 0; k < a.nnz; k++) {
            const spry_scalar v = value_get(a.type, a.values, k);
            value_set(a.type, a.values, k, (spry_scalar){v.re / 3, v.im / 7});
        }
        for (int conjugate = 0; conjugate < 2; conjugate++) {
            spry_matrix *C;
            spry_stats stats = SPRY_STATS_INIT;
            assert_ok(*state, spry_matrix_gram(A, conjugate == 1, &C));
            assert_ok(*state, spry_matrix_stats(C, &stats));
            assert_true(conjugate ? stats.hermitian : stats.symmetric);
            spry_matrix_free(C);
        }
        spry_matrix_free(A);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    spry_context *ctx = *state, *stranger = support_context(NULL);
    const spry_scalar one = {1, 0}, i = {0, 1};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    spry_matrix *B = support_from_rows(ctx, SPRY_TYPE_S, 3, 2, (double[]){1, 2, 3, 4, 5, 6});
    spry_matrix *S = support_from_rows(stranger, SPRY_TYPE_D, 3, 2, (double[]){1, 2, 3, 4, 5, 6}),
                *C = A;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_multiply(A, B, &C));
    assert_null(C);
    support_message_has(ctx, "product: the matrices are of types d and s");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_multiply(A, A, &C));
    support_message_has(ctx, "2 x 3 times 2 x 3");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_multiply(A, S, &C));
    support_message_has(ctx, "different contexts");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_add(one, A, one, B, &C));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_add(i, A, one, A, &C));
    support_message_has(ctx, "alpha has an imaginary part of 1");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_add(one, A, i, A, &C));
    support_message_has(ctx, "beta");
    spry_matrix *T;
    assert_ok(ctx, spry_matrix_transpose(A, false, &T));
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_add(one, A, one, T, &C));
    support_message_has(ctx, "sum: the matrices are 2 x 3 and 3 x 2");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_triple(NULL, A, T, &C));
    support_message_has(ctx, "P^H has 3 columns, A 2 rows");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_triple(A, A, A, &C));
    support_message_has(ctx, "A has 3 columns, P 2 rows");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_matrix_triple(A, A, T, &C));
    support_message_has(ctx, "R has 3 columns, A 2 rows");
    assert_null(C);
    spry_matrix_free(T);
    spry_matrix_free(S);
    spry_matrix_free(B);
    spry_matrix_free(A);
    support_context_free(stranger);
}

static spry_status all_of_it(spry_context *ctx, void *data)
{
    (void)ctx;
    spry_matrix *A = data, *C = A;
    spry_status status = spry_matrix_multiply(A, A, &C);
    spry_matrix_free(C);
    if (status == SPRY_STATUS_OK) {
        status = spry_matrix_gram(A, true, &C);
        spry_matrix_free(C);
    }
    if (status == SPRY_STATUS_OK) {
        status = spry_matrix_triple(NULL, A, A, &C);
        spry_matrix_free(C);
    }
    if (status == SPRY_STATUS_OK) {
        status = spry_matrix_add((spry_scalar){1, 0}, A, (spry_scalar){2, 0}, A, &C);
        spry_matrix_free(C);
    }
    assert_true((status == SPRY_STATUS_OK) == (C != NULL));
    return status;
}

static void every_allocation_may_fail(void **state)
{
    for (int format = SPRY_FORMAT_COO; format <= SPRY_FORMAT_CSC; format++) {
        spry_matrix *A =
            support_matrix(*state, &(support_recipe){.type = SPRY_TYPE_Z,
                                                     .format = (spry_format)format,
                                                     .symmetry = SPRY_SYMMETRY_SYMMETRIC,
                                                     .rows = 40,
                                                     .cols = 40,
                                                     .nnz = 200,
                                                     .seed = 2});
        support_torture(*state, all_of_it, A);
        spry_matrix_free(A);
    }
}

typedef struct pair {
    spry_matrix *A, *B;
} pair;

static spry_status multiply(spry_context *ctx, void *data)
{
    (void)ctx;
    const pair *p = data;
    spry_matrix *C = p->A;
    const spry_status status = spry_matrix_multiply(p->A, p->B, &C);
    assert_true((status == SPRY_STATUS_OK) == (C != NULL));
    spry_matrix_free(C);
    return status;
}

/* Rows by hash, and enough of them for threads. */
static void every_allocation_of_wide_rows_may_fail(void **state)
{
    support_recipe r = {
        .format = SPRY_FORMAT_CSR, .rows = 9000, .cols = 60, .nnz = 20000, .seed = 2};
    pair p;
    p.A = support_matrix(*state, &r);
    r = (support_recipe){
        .format = SPRY_FORMAT_CSC, .rows = 60, .cols = 600000, .nnz = 600, .seed = 3};
    p.B = support_matrix(*state, &r);
    support_torture(*state, multiply, &p);
    spry_matrix_free(p.A);
    spry_matrix_free(p.B);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(products_and_sums_are_those_of_dense_matrices),
        TEST(symmetric_kinds_stand_for_both_triangles),
        TEST(triple_products),
        TEST(zeros_that_arise_are_kept),
        TEST(columns_far_apart),
        TEST(bits_do_not_depend_on_threads),
        TEST(gram_is_symmetric_to_the_bit),
        TEST(what_does_not_fit_is_refused),
        TEST(every_allocation_may_fail),
        TEST(every_allocation_of_wide_rows_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
