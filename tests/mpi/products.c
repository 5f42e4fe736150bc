/*
 * Products with matrices that are distributed over ranks: bit by bit those of one rank, whatever
 * the partition; transposes, facts, norms and inner products.
 */
#include "mpi/ranks.h"

#include "host/apply.h"

#include <string.h>

enum { N = 600 };

/* Matrices with rows and columns far apart, near the diagonal, and on the diagonal alone. */
static spry_matrix *make(spry_context *ctx, spry_type type, int kind, int64_t rows, int64_t cols)
{
    return kind == 0   ? support_sorted(ctx, type, SUPPORT_UNIFORM, rows, cols, 6 * rows, 3)
           : kind == 1 ? support_sorted(ctx, type, SUPPORT_BANDED, rows, cols, 4 * rows, 4)
           : kind == 2 ? support_long_row(ctx, type, rows)
                       : support_sorted(ctx, type, SUPPORT_ONE_COL, rows, cols, 2 * rows, 5);
}

static void fill(spry_type type, int64_t first, int64_t n, uint64_t seed, void *data)
{
    for (int64_t i = 0; i < n; i++)
        value_set(type, data, i, support_number(type, seed, (uint64_t)(first + i)));
}

/* One product of a rank's rows against the same of all rows. */
static void compare(spry_context *ctx, spry_context *alone, const spry_operator *op,
                    const spry_operator *whole, spry_transpose t, spry_scalar alpha,
                    spry_scalar beta)
{
    const bool plain = t == SPRY_TRANSPOSE_NO;
    const vector_part in = plain ? op->cols_part : op->rows_part;
    const vector_part out = plain ? op->rows_part : op->cols_part;
    const int64_t n = plain ? op->cols : op->rows, m = plain ? op->rows : op->cols;
    const size_t size = spry_type_size(op->type);
    spry_vector *x, *y, *X, *Y;
    assert_ok(ctx, spry_vector_new(ctx, op->type, n, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_new(ctx, op->type, m, NULL, SPRY_OWN_COPY, &y));
    assert_ok(alone, spry_vector_new(alone, op->type, plain ? whole->cols : whole->rows, NULL,
                                     SPRY_OWN_COPY, &X));
    assert_ok(alone, spry_vector_new(alone, op->type, plain ? whole->rows : whole->cols, NULL,
                                     SPRY_OWN_COPY, &Y));
    fill(op->type, in.first, n, 7, x->data);
    fill(op->type, out.first, m, 8, y->data);
    fill(op->type, 0, X->n, 7, X->data);
    fill(op->type, 0, Y->n, 8, Y->data);
    assert_ok(ctx, spry_operator_multiply(op, t, alpha, x, beta, y));
    assert_ok(alone, spry_operator_multiply(whole, t, alpha, X, beta, Y));
    assert_memory_equal(y->data, (char *)Y->data + (size_t)out.first * size, (size_t)m * size);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(X);
    spry_vector_free(Y);
}

static void check_products(spry_context *ctx, spry_context *alone, spry_type type, int kind,
                           int way, int64_t rows, int64_t cols)
{
    const spry_scalar one = {1, 0}, zero = {0, 0}, other = {-0.5, 0};
    int64_t row_starts[16], col_starts[16];
    spry_matrix *W = make(ctx, type, kind, rows, cols), *W2 = make(alone, type, kind, rows, cols);
    spry_matrix *A = NULL;
    spry_operator *op = NULL, *whole = NULL;
    ranks_starts(ctx, (ranks_way)way, rows, 1, row_starts);
    ranks_starts(ctx, (ranks_way)way, cols, 1, col_starts);
    assert_ok(ctx, dist_from_whole(W, row_starts, col_starts, &A));
    assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
    assert_ok(alone, spry_operator_from_matrix(W2, NULL, NULL, &whole));
    for (int t = 0; t < 3; t++) {
        compare(ctx, alone, op, whole, (spry_transpose)t, one, zero);
        compare(ctx, alone, op, whole, (spry_transpose)t, other, one);
    }
    spry_ranked found = SPRY_RANKED_INIT;
    assert_ok(ctx, spry_matrix_ranked(A, &found));
    assert_int_equal(found.rows, rows);
    assert_int_equal(found.cols, cols);
    assert_int_equal(found.nnz, W->a.nnz);
    spry_operator_free(op);
    spry_operator_free(whole);
    spry_matrix_free(A);
    spry_matrix_free(W);
    spry_matrix_free(W2);
}

static void products(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL), *alone = support_context(NULL);
    for (int type = 0; type < 4; type++)
        for (int kind = 0; kind < 4; kind++)
            for (int way = 0; way < RANKS_WAYS; way++) {
                check_products(ctx, alone, support_types[type], kind, way, N, N);
                if (kind != 2)
                    check_products(ctx, alone, support_types[type], kind, way, N, N / 3);
            }
    support_context_free(alone);
    support_context_free(ctx);
}

/* What the whole matrix is, the distributed one is, on all ranks. */
static void facts(void **state)
{
    (void)state;
    static const char *const texts[] = {"poisson2d", "convection-diffusion", "tridiagonal"};
    static const spry_fact asked[] = {SPRY_FACT_SYMMETRIC, SPRY_FACT_HERMITIAN, SPRY_FACT_FINITE,
                                      SPRY_FACT_PATTERN_SYMMETRIC, SPRY_FACT_POSITIVE_DIAGONAL};
    spry_context *ctx = ranks_context(NULL);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        for (int broken = 0; broken < 3; broken++) {
            spry_matrix *W = NULL, *A = NULL;
            int64_t starts[16];
            assert_ok(ctx, spry_generate(ctx, texts[k], "size=12", &W));
            if (broken == 1) /* in the first row */
                support_put(W, 1, (spry_scalar){-7, 0});
            else if (broken == 2) /* a negative diagonal entry at the end */
                support_put(W, W->a.nnz - 1, (spry_scalar){-7, 0});
            matrix_forget(W, FACTS_ALL);
            ranks_starts(ctx, RANKS_EVEN, W->a.rows, 1, starts);
            assert_ok(ctx, dist_from_whole(W, starts, NULL, &A));
            for (size_t f = 0; f < sizeof asked / sizeof *asked; f++) {
                spry_truth ranked, single;
                assert_ok(ctx, spry_matrix_find_fact(W, asked[f], &ranked));
                assert_ok(ctx, spry_matrix_find_fact(A, asked[f], &single));
                assert_int_equal(ranked, single);
            }
            spry_matrix_free(A);
            spry_matrix_free(W);
        }
    support_context_free(ctx);
}

/* Norms, inner products and random numbers are those of the whole vector: to the bit where that is
 * asked for, else by the rounding of sums. */
static void sums(void **state)
{
    (void)state;
    enum { LONG = 70000, GRAIN = 4096 };
    for (int strict = 0; strict < 2; strict++) {
        spry_context *ctx = ranks_context(strict ? "repeat=strict" : NULL);
        spry_context *alone = support_context(NULL);
        for (int way = 0; way < RANKS_WAYS; way++) {
            int64_t starts[16];
            spry_vector *x, *y, *X, *Y;
            spry_scalar dot, all_dot;
            double norm, all_norm;
            ranks_starts(ctx, (ranks_way)way, LONG, GRAIN, starts);
            const int rank = spry_context_rank(ctx);
            const int64_t n = starts[rank + 1] - starts[rank];
            assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_Z, n, NULL, SPRY_OWN_COPY, &x));
            if (spry_context_ranks(ctx) > 1)
                x->part = (vector_part){true, starts[rank], LONG};
            assert_ok(ctx, spry_vector_like(x, n, &y));
            assert_ok(alone, spry_vector_new(alone, SPRY_TYPE_Z, LONG, NULL, SPRY_OWN_COPY, &X));
            assert_ok(alone, spry_vector_like(X, LONG, &Y));
            assert_ok(ctx, vector_random(x, 1));
            assert_ok(ctx, vector_random(y, 2));
            assert_ok(alone, vector_random(X, 1));
            assert_ok(alone, vector_random(Y, 2));
            assert_memory_equal(x->data, (char *)X->data + starts[rank] * 16, (size_t)n * 16);
            assert_ok(ctx, spry_vector_dot(x, y, &dot));
            assert_ok(alone, spry_vector_dot(X, Y, &all_dot));
            assert_ok(ctx, spry_vector_norm(x, &norm));
            assert_ok(alone, spry_vector_norm(X, &all_norm));
            /* Each sum is off by n roundings of |x| |y| at most. */
            const double bound = strict ? 0 : 2 * LONG * 0x1p-53 * all_norm * all_norm;
            assert_true(fabs(dot.re - all_dot.re) <= bound);
            assert_true(fabs(dot.im - all_dot.im) <= bound);
            assert_true(fabs(norm - all_norm) <= bound / all_norm);
            spry_vector_free(x);
            spry_vector_free(y);
            spry_vector_free(X);
            spry_vector_free(Y);
        }
        support_context_free(alone);
        support_context_free(ctx);
    }
}

/* What is wrong with one rank's rows is reported to all. */
static void bad_rows(void **state)
{
    (void)state;
    spry_context *ctx = ranks_context(NULL);
    const int last = spry_context_ranks(ctx) - 1;
    const bool bad = spry_context_rank(ctx) == last;
    const int64_t offsets[] = {0, 1, 2}, columns[] = {0, bad ? 1000 : 1}, falling[] = {0, 1, 0};
    const double values[] = {1, 2};
    spry_matrix *A = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_new_ranked(ctx, SPRY_TYPE_D, 2, -1, offsets, columns, values, &A));
    support_message_has(ctx, "column 1000 is outside");
    if (last > 0)
        support_message_has(ctx, "rank ");
    assert_null(A);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT,
                  spry_matrix_new_ranked(ctx, SPRY_TYPE_D, 2, -1, bad ? falling : offsets, offsets,
                                         values, &A));
    assert_status(
        ctx, SPRY_STATUS_BAD_USAGE,
        spry_matrix_new_ranked(ctx, SPRY_TYPE_D, bad ? -1 : 2, -1, offsets, offsets, values, &A));
    support_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(facts),
                                       cmocka_unit_test(sums), cmocka_unit_test(bad_rows)};
    MPI_Init(NULL, NULL);
    return ranks_run(cmocka_run_group_tests(tests, NULL, NULL));
}
