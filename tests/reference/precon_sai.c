/*
 * Sparse approximate inverses: residuals of local problems in long double, orthogonal to their
 * vectors as least squares are; exact inverses where patterns are full; patterns that grow; vectors
 * that depend on each other, empty rows, zero diagonals; new values, threads, transposes, memory.
 */
#include "support/generated.h"
#include "support/numeric.h"

#include "precon/precon.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex number;
static const spry_scalar one = {1, 0}, zero = {0, 0};
enum { MOST_ROWS = 100 };

static number number_of(spry_scalar v)
{
    return (long double)v.re + I * (long double)v.im;
}

static number at(const support_dense *A, int64_t i, int64_t j)
{
    return number_of(A->at[i * A->cols + j]);
}

static spry_operator *make(const spry_matrix *A, const char *spec)
{
    spry_operator *M = NULL;
    assert_ok(A->ctx, spry_precon_new(A, NULL, spec, &M));
    assert_int_equal(strncmp(spry_operator_name(M), spec, strlen(spry_operator_name(M))), 0);
    assert_true(M->own_bytes > 0 && M->bytes > M->own_bytes);
    return M;
}

static spry_matrix *inverse_of(const spry_matrix *A, const char *spec)
{
    spry_matrix *X = NULL;
    spry_operator *M = make(A, spec);
    assert_ok(A->ctx, spry_operator_to_matrix(M, &X));
    spry_operator_free(M);
    return X;
}

static spry_matrix *random_matrix(spry_context *ctx, spry_type type, int size, int seed)
{
    return generated_as(ctx, type, "random", "size=%d per-row=6 dominance=2 seed=%d", size, seed);
}

/* A and M (op: of left ones both transposed, so that columns are the problems) written out. */
typedef struct pair {
    support_dense A, M;
    int64_t n;
    double unit;
} pair;

static support_dense flipped(support_dense A)
{
    support_dense B = support_dense_zeros(A.cols, A.rows);
    for (int64_t i = 0; i < A.rows; i++)
        for (int64_t j = 0; j < A.cols; j++) {
            B.at[j * A.rows + i] = A.at[i * A.cols + j];
            B.entries[j * A.rows + i] = A.entries[i * A.cols + j];
        }
    support_dense_free(&A);
    return B;
}

static pair pair_of(const spry_matrix *A, const spry_matrix *M, bool left)
{
    pair p = {support_dense_of(A), support_dense_of(M), A->a.rows, numeric_unit(A->a.type)};
    if (left) {
        p.A = flipped(p.A);
        p.M = flipped(p.M);
    }
    return p;
}

static void pair_free(pair *p)
{
    support_dense_free(&p->A);
    support_dense_free(&p->M);
}

/* r = e_k - A m_k; gives sum |a_ij| |m_j| + 1, squared and rooted. */
static long double residual(const pair *p, int64_t k, number *r)
{
    long double size = 1, sums[MOST_ROWS] = {0};
    assert_true(p->n <= MOST_ROWS);
    for (int64_t i = 0; i < p->n; i++)
        r[i] = i == k;
    for (int64_t j = 0; j < p->n; j++) {
        const number m = at(&p->M, j, k);
        for (int64_t i = 0; i < p->n && m != 0; i++) {
            const number a = at(&p->A, i, j);
            if (a == 0)
                continue;
            r[i] -= a * m;
            sums[i] += hypot((double)creall(a), (double)cimagl(a)) *
                       hypot((double)creall(m), (double)cimagl(m));
        }
    }
    for (int64_t i = 0; i < p->n; i++)
        size += sums[i] * sums[i];
    return sqrtl(size);
}

static long double frobenius(const pair *p)
{
    long double sum = 0;
    number *r = malloc((size_t)p->n * sizeof *r);
    for (int64_t k = 0; k < p->n; k++) {
        residual(p, k, r);
        for (int64_t i = 0; i < p->n; i++)
            sum += creall(r[i] * conjl(r[i]));
    }
    free(r);
    return sqrtl(sum);
}

/*
 * Least squares: a_j^H r = 0 for all vectors of a column's pattern. A computed x is the exact one
 * of vectors that are off by c rows cols units (N. Higham, Accuracy and Stability of Numerical
 * Algorithms, theorem 20.3), so that |a_j^H r| is at most that times |a_j| (|r| + |A| |x|); `slack`
 * is c, and larger where x stands in fewer bits.
 */
static void check_optimal(const pair *p, double slack)
{
    number *r = malloc((size_t)p->n * sizeof *r);
    for (int64_t k = 0; k < p->n; k++) {
        const long double size = residual(p, k, r);
        for (int64_t j = 0; j < p->n; j++) {
            number sum = 0;
            long double length = 0;
            if (p->M.entries[j * p->n + k] == 0)
                continue;
            for (int64_t i = 0; i < p->n; i++) {
                const number a = at(&p->A, i, j);
                if (a == 0)
                    continue;
                sum += conjl(a) * r[i];
                length += creall(a * conjl(a));
            }
            const long double bound = slack * (long double)p->n * p->unit * sqrtl(length) * size;
            if (!(cabsl(sum) <= bound))
                fail_msg("column %d, vector %d: %Lg left, not %Lg", (int)k, (int)j, cabsl(sum),
                         bound);
        }
    }
    free(r);
}

/* Equations that hold where M has entries. */
static void check_square(const pair *p)
{
    number *r = malloc((size_t)p->n * sizeof *r);
    for (int64_t k = 0; k < p->n; k++) {
        const long double size = residual(p, k, r);
        for (int64_t j = 0; j < p->n; j++)
            if (p->M.entries[j * p->n + k] > 0 &&
                !(cabsl(r[j]) <= 40 * (long double)p->n * p->unit * size))
                fail_msg("column %d, row %d: %Lg left", (int)k, (int)j, cabsl(r[j]));
    }
    free(r);
}

/* --- static patterns -----------------------------------------------------------------------------
 */

static const char *const specs[] = {"sai",
                                    "sai:tau=0.6",
                                    "sai:side=left,tau=0.4",
                                    "sai:power=2,most=9",
                                    "sai:side=left,power=3",
                                    "isai",
                                    "isai:power=2,side=left"};
enum { SPECS = sizeof specs / sizeof *specs };

static void check_spec(const spry_matrix *A, const char *spec)
{
    spry_matrix *M = inverse_of(A, spec);
    pair p = pair_of(A, M, strstr(spec, "left"));
    if (spec[0] == 'i')
        check_square(&p);
    else
        check_optimal(&p, 40);
    pair_free(&p);
    spry_matrix_free(M);
}

static void optimal(spry_context *ctx)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = random_matrix(ctx, support_types[t], 36, 5);
        for (int k = 0; k < SPECS; k++)
            check_spec(A, specs[k]);
        spry_matrix_free(A);
        /* Problems so large that their vectors are sorted. */
        A = random_matrix(ctx, support_types[t], MOST_ROWS, 7);
        check_spec(A, "sai:power=2");
        spry_matrix_free(A);
    }
}

static void test_optimal(void **state)
{
    (void)state;
    numeric_levels((const int[]){1}, 1, optimal);
}

/* With all places the inverse itself comes out: A M = I but for rounding, times the condition. */
static void test_exact(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = random_matrix(ctx, support_types[t], 24, 9);
        static const char *const full[] = {"sai:power=6", "sai:power=6,side=left", "isai:power=6"};
        for (int k = 0; k < 3; k++) {
            spry_matrix *M = inverse_of(A, full[k]);
            assert_int_equal(M->a.nnz, 24 * 24);
            pair p = pair_of(A, M, k == 1);
            number r[24];
            for (int64_t c = 0; c < p.n; c++) {
                const long double size = residual(&p, c, r);
                for (int64_t i = 0; i < p.n; i++)
                    assert_true(cabsl(r[i]) <= 40 * (long double)p.n * p.unit * size);
            }
            pair_free(&p);
            spry_matrix_free(M);
        }
        spry_matrix_free(A);
    }
}

/* Patterns that hold each other make || A M - I || fall. */
static void test_falls(void **state)
{
    spry_context *ctx = *state;
    static const char *const rising[] = {"sai:tau=0", "sai:tau=0.3", "sai:tau=0.6", "sai:tau=0.9",
                                         "sai",       "sai:power=2", "sai:power=3", "sai:power=4"};
    long double before = INFINITY, first = 0;
    spry_matrix *A = random_matrix(ctx, SPRY_TYPE_D, 50, 2);
    for (int k = 0; k < 8; k++) {
        spry_matrix *M = inverse_of(A, rising[k]);
        pair p = pair_of(A, M, false);
        const long double now = frobenius(&p);
        assert_true(now <= before * (1 + 1e-12L));
        before = now;
        first = k == 0 ? now : first;
        if (k == 0)
            assert_int_equal(M->a.nnz, 50);
        if (k == 4)
            assert_int_equal(M->a.nnz, A->a.nnz);
        pair_free(&p);
        spry_matrix_free(M);
    }
    assert_true(before < first / 2);
    spry_matrix_free(A);
}

/* The pattern: entries above the threshold in their rows, and the diagonal. */
static void test_pattern(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 4, 4,
                                       (double[]){2, -4, 1, 0, 0, 3, 0, 1, 5, 0, 0, 4, 1, 1, 1, 1});
    static const double kept[] = {1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1};
    spry_matrix *M = inverse_of(A, "sai:tau=0.5"); /* 2 is not more than half of 4 */
    support_dense D = support_dense_of(M);
    for (int k = 0; k < 16; k++)
        assert_int_equal(D.entries[k], kept[k]);
    support_dense_free(&D);
    spry_matrix_free(M);
    M = inverse_of(A, "sai:side=left,most=2"); /* the diagonal and the largest other of each row */
    D = support_dense_of(M);
    static const double two[] = {1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1};
    for (int k = 0; k < 16; k++)
        assert_int_equal(D.entries[k], two[k]);
    support_dense_free(&D);
    spry_matrix_free(M);
    spry_matrix_free(A);
}

/* --- patterns that grow --------------------------------------------------------------------------
 */

/* Columns are least squares over what they have grown to, and have ended because they are near
 * enough or may not grow. */
static void check_grown(const spry_matrix *A, const char *spec, long double eps, int64_t most)
{
    spry_matrix *M = inverse_of(A, spec);
    pair p = pair_of(A, M, strstr(spec, "left"));
    number *r = malloc((size_t)p.n * sizeof *r);
    check_optimal(&p, 40);
    for (int64_t k = 0; k < p.n; k++) {
        long double left = 0;
        int64_t count = 0;
        residual(&p, k, r);
        for (int64_t i = 0; i < p.n; i++) {
            left += creall(r[i] * conjl(r[i]));
            count += p.M.entries[i * p.n + k];
        }
        assert_int_equal(p.M.entries[k * p.n + k], 1);
        assert_true(count <= most);
        if (count < most && !(sqrtl(left) <= eps * 1.01L))
            fail_msg("%s, column %d: %d entries leave %Lg", spec, (int)k, (int)count, sqrtl(left));
    }
    free(r);
    pair_free(&p);
    spry_matrix_free(M);
}

static void test_grown(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = random_matrix(ctx, support_types[t], 40, 6);
        check_grown(A, "spai:eps=0.1,steps=50,add=1,most=9", 0.1L, 9);
        check_grown(A, "spai:eps=0.2,steps=50,add=3,side=left", 0.2L, 50);
        spry_matrix_free(A);
    }
    /* The best vectors come first: one step adds what reduces the residual most. */
    spry_matrix *A =
        support_from_rows(ctx, SPRY_TYPE_D, 3, 3, (double[]){4, 1, 3, 0, 4, 0, 0, 0, 4});
    spry_matrix *M = inverse_of(A, "spai:eps=0,steps=1,add=1");
    support_dense D = support_dense_of(M);
    static const int64_t expected[] = {1, 1, 1, 0, 1, 0, 0, 0, 1};
    for (int k = 0; k < 9; k++)
        assert_int_equal(D.entries[k], expected[k]);
    support_dense_free(&D);
    spry_matrix_free(M);
    spry_matrix_free(A);
}

/* --- factors -------------------------------------------------------------------------------------
 */

/* M as it is applied, column by column. */
static support_dense applied(const spry_operator *M)
{
    const int64_t n = M->rows;
    support_dense D = support_dense_zeros(n, n);
    void *e = numeric_array(M->type, n, 0, 1), *z = numeric_array(M->type, n, 0, 2);
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < n; i++)
            value_set(M->type, e, i, i == k ? one : zero);
        assert_ok(M->ctx, M->class->multiply(M, SPRY_TRANSPOSE_NO, one, e, zero, z));
        for (int64_t i = 0; i < n; i++)
            D.at[i * n + k] = value_get(M->type, z, i);
    }
    numeric_free(M->type, e, 0);
    numeric_free(M->type, z, 0);
    return D;
}

/* A hermitian positive definite matrix, complex for complex types. */
static spry_matrix *definite(spry_context *ctx, spry_type type, int size)
{
    spry_matrix *A = generated_as(ctx, type, "poisson2d", "size=%d", size);
    for (int64_t i = 0; i < A->a.rows; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k];
            const double factor = (i == j ? 1.4 : 1) * (1 + 0.1 * (double)((i + j) % 4));
            support_put(A, k, (spry_scalar){factor * value_get(type, A->a.values, k).re, 0});
        }
    generated_turn(A, 1, one);
    return A;
}

/*
 * M = G^H G with ones on the diagonal of G A G^H: the trace of M A is n; M is hermitian; with all
 * places it is the inverse. Errors are those of k x k Cholesky factors, times the condition of the
 * blocks, which is below 20 here.
 */
static void test_factors(void **state)
{
    spry_context *ctx = *state;
    static const char *const all[] = {"fsai", "fsai:tau=0.9,power=2", "fsai:growth=3,tau=0",
                                      "fsai:power=8"};
    for (int t = 0; t < 16; t++) {
        const spry_type type = support_types[t % 4];
        spry_matrix *A = definite(ctx, type, 5);
        spry_operator *M = make(A, all[t / 4]);
        pair p = {support_dense_of(A), applied(M), 25, numeric_unit(type)};
        const long double bound = 20 * 25 * 8 * (long double)p.unit;
        number trace = 0, r[25];
        for (int64_t k = 0; k < 25; k++) {
            residual(&p, k, r);
            trace += 1 - r[k];
            for (int64_t i = 0; i < 25; i++) {
                assert_true(cabsl(at(&p.M, i, k) - conjl(at(&p.M, k, i))) <= bound);
                if (t / 4 == 3)
                    assert_true(cabsl(r[i]) <= bound);
            }
        }
        assert_true(cabsl(trace - 25) <= 25 * bound);
        pair_free(&p);
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* Growing takes the entries that gain most: fewer iterations than a diagonal, and new values. */
static void test_factor_grows(void **state)
{
    spry_context *ctx = *state;
    static const char *const options[] = {"precon=fsai:tau=0", "precon=fsai:tau=0,growth=6,add=1",
                                          "precon=fsai:power=3"};
    int64_t before = 1000;
    spry_matrix *A = generated(ctx, "poisson2d", "size=30");
    for (int k = 0; k < 3; k++) {
        spry_result result = SPRY_RESULT_INIT;
        spry_vector *b = NULL, *x = NULL;
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        char text[128];
        snprintf(text, sizeof text, "method=cg %s", options[k]);
        assert_ok(ctx, spry_quick_solve(ctx, A, b, x, text, &result));
        assert_true(result.converged);
        assert_true(result.iterations < before);
        before = result.iterations;
        spry_result_clear(ctx, &result);
        spry_vector_free(b);
        spry_vector_free(x);
    }
    spry_matrix_free(A);
}

static void test_factor_refusals(void **state)
{
    spry_context *ctx = *state;
    spry_operator *M = NULL;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){2, 1, 0, 2});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "fsai", &M));
    support_message_has(ctx,
                        "row 0 (from 0) is not the same as its column, and fsai is for symmetric");
    spry_matrix_free(A);
    A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){2, 1, 1, 0});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "fsai", &M));
    support_message_has(ctx, "row 1 (from 0): the diagonal entry is not positive");
    spry_matrix_free(A);
    A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 2, 2, 1});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "fsai", &M));
    support_message_has(ctx, "its block of the matrix is not positive definite");
    assert_ok(ctx, spry_precon_new(A, NULL, "fsai:shift=1.5", &M));
    spry_operator_free(M);
    spry_matrix_free(A);
    /* New values are looked at as the first ones are. */
    A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){2, 1, 1, 2});
    M = make(A, "fsai");
    spry_matrix *B = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){2, 1, 0.5, 2});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_operator_update(M, B));
    support_message_has(ctx, "is not the same as its column, and fsai is for symmetric");
    assert_ok(ctx, spry_operator_update(M, A));
    spry_operator_free(M);
    spry_matrix_free(B);
    spry_matrix_free(A);
}

/* --- hard matrices -------------------------------------------------------------------------------
 */

/* Vectors that depend on each other, that are empty, rows that none reaches, no diagonal. */
static void test_deficient(void **state)
{
    spry_context *ctx = *state;
    static const double equal[] = {1, 1, 2, 0, 1, 1, 2, 0, 3, 3, 6, 1, 1, 1, 0, 2};
    static const double empty[] = {0, 0, 0, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 5};
    static const double hollow[] = {0, 1, 0, 2, 1, 0, 3, 0, 0, 3, 0, 1, 2, 0, 1, 0};
    static const double nothing[16] = {0};
    static const double *const all[] = {equal, empty, hollow, nothing};
    for (int m = 0; m < 16; m++) {
        spry_matrix *A = support_from_rows(ctx, support_types[m % 4], 4, 4, all[m / 4]);
        for (int k = 0; k < SPECS; k++) {
            spry_matrix *M = inverse_of(A, specs[k]);
            for (int64_t e = 0; e < M->a.nnz; e++)
                assert_true(value_finite(value_get(M->a.type, M->a.values, e)));
            pair p = pair_of(A, M, strstr(specs[k], "left"));
            if (specs[k][0] == 's')
                check_optimal(&p, 40);
            pair_free(&p);
            spry_matrix_free(M);
        }
        spry_matrix_free(A);
    }
}

/* Numbers whose squares are not there. */
static void test_extreme(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < 8; k++) {
        const spry_type type = support_types[k % 4];
        const bool single = type == SPRY_TYPE_S || type == SPRY_TYPE_C;
        const double factor = k < 4 ? (single ? 0x1p90 : 0x1p900) : (single ? 0x1p-90 : 0x1p-900);
        spry_matrix *A = random_matrix(ctx, type, 30, 4);
        spry_matrix *M = inverse_of(A, "sai");
        for (int64_t e = 0; e < A->a.nnz; e++) {
            const spry_scalar v = value_get(type, A->a.values, e);
            support_put(A, e, (spry_scalar){v.re * factor, v.im * factor});
        }
        spry_matrix *scaled = inverse_of(A, "sai");
        for (int64_t e = 0; e < M->a.nnz; e++) { /* powers of two change no bits */
            const spry_scalar v = value_get(type, M->a.values, e);
            const spry_scalar w = value_get(type, scaled->a.values, e);
            assert_true(v.re == w.re * factor && v.im == w.im * factor);
        }
        spry_matrix_free(scaled);
        spry_matrix_free(M);
        spry_matrix_free(A);
    }
    spry_operator *M = NULL;
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 2, 2, (double[]){1, 0, 0, 0x1p-1074});
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "sai", &M));
    support_message_has(ctx, "column 1 (from 0) of the inverse is beyond what type d can hold");
    spry_matrix_free(A);
}

/* --- operators -----------------------------------------------------------------------------------
 */

static void test_adjoint(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4 * SPECS; t++) {
        const spry_type type = support_types[t % 4];
        spry_matrix *A = random_matrix(ctx, type, 60, 8), *M = inverse_of(A, specs[t / 4]);
        spry_operator *op = make(A, specs[t / 4]);
        void *x = numeric_array(type, 60, 0, 3), *y = numeric_array(type, 60, 0, 4);
        void *Mx = numeric_array(type, 60, 0, 5), *My = numeric_array(type, 60, 0, 6);
        assert_ok(ctx, op->class->multiply(op, SPRY_TRANSPOSE_NO, one, x, zero, Mx));
        assert_ok(ctx, op->class->multiply(op, SPRY_TRANSPOSE_CONJUGATE, one, y, zero, My));
        wide left = {0}, right = {0};
        long double sum = 0;
        for (int64_t e = 0; e < M->a.nnz; e++)
            sum += numeric_size(value_get(type, M->a.values, e));
        for (int64_t i = 0; i < 60; i++) {
            left = numeric_muladd(left, value_get(type, Mx, i), true, value_get(type, y, i));
            right = numeric_muladd(right, value_get(type, x, i), true, value_get(type, My, i));
        }
        /* numbers of x and y are below 1 in each part; a row has at most 60 roundings */
        right.size = 4 * sum;
        numeric_near(type, (spry_scalar){(double)left.re, (double)left.im}, right, 60, "adjoint",
                     t);
        numeric_free(type, x, 0);
        numeric_free(type, y, 0);
        numeric_free(type, Mx, 0);
        numeric_free(type, My, 0);
        spry_operator_free(op);
        spry_matrix_free(M);
        spry_matrix_free(A);
    }
}

static spry_matrix *matrix_of(const spry_operator *op)
{
    spry_matrix *A = NULL;
    assert_ok(op->ctx, spry_operator_to_matrix(op, &A));
    return A;
}

/* New values on the old pattern: as if made from them. */
static void test_update(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4 * SPECS; t++) {
        const char *spec = specs[t / 4];
        if (strstr(spec, "tau") || strstr(spec, "most"))
            continue; /* patterns that depend on values */
        spry_matrix *A = random_matrix(ctx, support_types[t % 4], 60, 8);
        spry_operator *op = make(A, spec);
        for (int64_t e = 0; e < A->a.nnz; e++)
            support_put(A, e, support_number(A->a.type, 5, (uint64_t)e));
        assert_ok(ctx, spry_operator_update(op, A));
        spry_matrix *updated = matrix_of(op), *fresh = inverse_of(A, spec);
        support_same_arrays(updated, fresh);
        assert_int_equal(strncmp(spry_operator_name(op), spec, 3), 0);
        spry_matrix_free(updated);
        spry_matrix_free(fresh);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

/* A solver that is notified of new values, also with M in single precision. */
static void test_solver_update(void **state)
{
    spry_context *ctx = *state;
    static const char *const options[] = {"precon=sai", "precon=sai:precision=single",
                                          "precon=isai:precision=half"};
    for (int k = 0; k < 3; k++) {
        spry_matrix *A = generated(ctx, "convection-diffusion", "size=8");
        spry_solver *solver = NULL;
        spry_vector *b = NULL, *x = NULL;
        spry_result result = SPRY_RESULT_INIT;
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=bicgstab tol=1e-9"));
        assert_ok(ctx, spry_solver_set(solver, options[k]));
        assert_ok(ctx, spry_solver_set_matrix(solver, A));
        assert_ok(ctx, spry_vector_ones(ctx, A, &b));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &x));
        for (int turn = 0; turn < 2; turn++) {
            assert_ok(ctx, spry_solve(solver, b, x, &result));
            assert_true(result.converged);
            spry_result_clear(ctx, &result);
            for (int64_t e = 0; e < A->a.nnz; e++)
                support_put(
                    A, e,
                    (spry_scalar){((double *)A->a.values)[e] * (1.5 + 0.001 * (double)(e % 7)), 0});
            assert_ok(ctx, spry_solver_update(solver));
        }
        spry_vector_free(b);
        spry_vector_free(x);
        spry_solver_free(solver);
        spry_matrix_free(A);
    }
}

/* Threads and what else is solved in parallel with a problem change no bits. */
static void test_threads(void **state)
{
    (void)state;
    spry_matrix *first[SPECS] = {NULL};
    spry_context *contexts[4];
    for (int c = 0; c < 4; c++) {
        char options[32];
        snprintf(options, sizeof options, "threads=%d", support_threads[c]);
        contexts[c] = support_context(options);
        spry_matrix *A = generated(contexts[c], "circuit", "size=120");
        for (int k = 0; k < SPECS; k++) {
            spry_matrix *M = inverse_of(A, specs[k]);
            if (first[k]) {
                support_same_arrays(first[k], M);
                spry_matrix_free(M);
            } else {
                first[k] = M;
            }
        }
        spry_matrix_free(A);
    }
    for (int k = 0; k < SPECS; k++)
        spry_matrix_free(first[k]);
    for (int c = 0; c < 4; c++)
        support_context_free(contexts[c]);
}

typedef struct tortured {
    const spry_matrix *A;
    const char *spec;
} tortured;

static spry_status make_and_free(spry_context *ctx, void *data)
{
    const tortured *t = data;
    spry_operator *op = NULL;
    spry_status status = spry_precon_new(t->A, NULL, t->spec, &op);
    if (status == SPRY_STATUS_OK)
        status = spry_operator_update(op, t->A);
    spry_operator_free(op);
    (void)ctx;
    return status;
}

static void test_torture(void **state)
{
    spry_context *ctx = *state;
    static const char *const all[] = {"sai:power=2", "isai:side=left", "spai",
                                      "fsai:growth=1,power=2"};
    for (int k = 0; k < 4; k++) {
        spry_matrix *A =
            k == 3 ? definite(ctx, SPRY_TYPE_Z, 4) : random_matrix(ctx, SPRY_TYPE_Z, 20, 3);
        support_torture(ctx, make_and_free, &(tortured){A, all[k]});
        spry_matrix_free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_optimal, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_exact, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_falls, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pattern, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_grown, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_factors, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_factor_grows, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_factor_refusals, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_deficient, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_extreme, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_adjoint, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_update, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_solver_update, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_threads, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_torture, support_setup, support_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
