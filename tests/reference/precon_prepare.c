/*
 * Preparation around other preconditioners: exact ones stay exact in every type and transposed, M
 * is hermitian where A is and the other one is, pairs of rows come together, and factors that fail
 * without it do not.
 */
#include "support/generated.h"
#include "support/numeric.h"

#include "operator/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const spry_scalar one = {1, 0}, zero = {0, 0};

/* Diagonally dominant with rows shuffled and scaled by powers of two from 2^-powers to 2^powers:
 * hardly a diagonal entry exists, and those that are mean nothing. */
static spry_matrix *hidden(spry_context *ctx, spry_type type, int64_t n, int powers)
{
    double *dense = calloc((size_t)(n * n), sizeof *dense);
    assert_non_null(dense);
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * 7 % n; /* n is no multiple of 7 */
        const double scale =
            ldexp(1, (int)(base_random(3, (uint64_t)i) % (2 * (unsigned)powers + 1)) - powers);
        for (int64_t d = -2; d <= 2; d++)
            if (i + 3 * d >= 0 && i + 3 * d < n)
                dense[row * n + i + 3 * d] =
                    scale * (d == 0 ? 8 : (d % 2 ? 1 : -1) * (1 + 0.1 * (double)(i % 5)));
    }
    spry_matrix *A = support_from_rows(ctx, type, n, n, dense);
    free(dense);
    if (spry_type_is_complex(type))
        for (int64_t k = 0; k < A->a.nnz; k++) {
            const spry_scalar v = value_get(type, A->a.values, k);
            support_put(A, k, (spry_scalar){v.re * 0.6, v.re * (k % 2 ? 0.8 : -0.8)});
        }
    return A;
}

/* |r - op(A) op(M) r| against |r| + |op(A)| |z|, entry by entry, in units of the type. */
static double error_of(const spry_matrix *A, const spry_operator *M, spry_transpose op)
{
    spry_context *ctx = A->ctx;
    const spry_type type = A->a.type;
    const int64_t n = A->a.rows;
    spry_vector *r = numeric_random(ctx, NULL, type, n, 5),
                *z = numeric_random(ctx, NULL, type, n, 0);
    spry_scalar *found = malloc((size_t)n * sizeof *found),
                *back = malloc((size_t)n * sizeof *back);
    double *size = calloc((size_t)n, sizeof *size), worst = 0;
    assert_true(found && back && size);
    assert_ok(ctx, spry_operator_multiply(M, op, one, r, zero, z));
    for (int64_t i = 0; i < n; i++)
        found[i] = value_get(type, z->data, i);
    support_multiply(A, op, found, back);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const int64_t j = A->a.col_index[k], to = op == SPRY_TRANSPOSE_NO ? i : j;
            const int64_t from = op == SPRY_TRANSPOSE_NO ? j : i;
            const spry_scalar v = value_get(type, A->a.values, k);
            size[to] += hypot(v.re, v.im) * hypot(found[from].re, found[from].im);
        }
    for (int64_t i = 0; i < n; i++) {
        const spry_scalar v = value_get(type, r->data, i);
        worst = fmax(worst, hypot(v.re - back[i].re, v.im - back[i].im) /
                                (size[i] + hypot(v.re, v.im)) / numeric_unit(type));
    }
    free(size);
    free(found);
    free(back);
    spry_vector_free(r);
    spry_vector_free(z);
    return worst;
}

static void exact_ones_stay_exact(void **state)
{
    static const char *const specs[] = {
        "prepare:sub=direct", "prepare:order=none,scale=equilibrate,sub=[direct:kind=band]",
        "prepare:order=rcm,match=no,scale=none,sub=[direct:kind=dense]",
        "prepare:order=btf,sub=[direct:kind=band]", "prepare:symmetric=yes,sub=direct"};
    enum { N = 60 };
    for (int t = 0; t < 4; t++)
        for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
            spry_matrix *A = hidden(*state, support_types[t], N, 10);
            spry_operator *M = NULL;
            assert_ok(*state, spry_precon_new(A, NULL, specs[s], &M));
            for (int op = SPRY_TRANSPOSE_NO; op <= SPRY_TRANSPOSE_CONJUGATE; op++) {
                /* Elimination with pivots in rows that are scaled as they should be: some n units
                 * for each row, with little growth; without scaling rows spoil each other, by up
                 * to the 2^20 they differ. */
                const double bound =
                    (strstr(specs[s], "scale=none") || strstr(specs[s], "=yes") ? 0x1p20 : 1) * 16 *
                    N;
                const double error = error_of(A, M, (spry_transpose)op);
                if (!(error <= bound))
                    fail_msg("%s, type %s, product %d: %g units, allowed %g", specs[s],
                             spry_type_name(support_types[t]), op, error, bound);
            }
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* Iterations of gmres; -1: not converged, or the factors were refused as unstable. */
static int64_t iterations(const spry_matrix *A, const char *precon)
{
    spry_context *ctx = A->ctx;
    spry_vector *x = numeric_random(ctx, NULL, A->a.type, A->a.rows, 0),
                *b = numeric_random(ctx, NULL, A->a.type, A->a.rows, 4);
    char options[160];
    spry_result result = SPRY_RESULT_INIT;
    snprintf(options, sizeof options, "method=gmres,tol=1e-4,max-iter=200,precon=[%s]", precon);
    assert_ok(ctx, spry_vector_fill(x, zero));
    const spry_status status = spry_quick_solve(ctx, A, b, x, options, &result);
    if (status != SPRY_STATUS_OK)
        assert_status(ctx, SPRY_STATUS_BAD_INPUT, status);
    const int64_t count = status == SPRY_STATUS_OK && result.converged ? result.iterations : -1;
    spry_result_clear(ctx, &result);
    spry_vector_free(x);
    spry_vector_free(b);
    return count;
}

/* Off the diagonal entries are at most 4.8 / 8 of those on it, once that is found: factors without
 * fill are near enough for a residual that falls by more than a half each time. */
static void finds_the_diagonal(void **state)
{
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = hidden(*state, support_types[t], 400, 4); /* 2^8 units allow 1e-4 */
        assert_int_equal(iterations(A, "ilut"), -1);
        const int64_t with = iterations(A, "prepare:sub=ilut"),
                      jacobi = iterations(A, "prepare:sub=jacobi");
        assert_in_range(with, 1, 15);
        assert_in_range(jacobi, 1, 60);
        spry_matrix_free(A);
    }
}

/* (M r, s) = (r, M s) for A scaled out of shape, and the operator says so. */
static void hermitian_stays_hermitian(void **state)
{
    static const char *const specs[] = {"prepare:sub=ic",
                                        "prepare:order=rcm,scale=equilibrate,sub=ict",
                                        "prepare:match=no,sub=ssor"};
    for (int t = 0; t < 4; t++)
        for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
            const spry_type type = support_types[t];
            spry_matrix *A = generated_as(*state, type, "poisson2d", "size=%d", 12);
            generated_turn(A, 0.7, one);
            spry_operator *M = NULL;
            const int64_t n = A->a.rows;
            assert_ok(*state, spry_precon_new(A, NULL, specs[s], &M));
            if (s < 2)
                assert_true(M->hermitian && M->definite);
            spry_vector *r = numeric_random(*state, NULL, type, n, 1),
                        *q = numeric_random(*state, NULL, type, n, 2),
                        *y = numeric_random(*state, NULL, type, n, 0),
                        *z = numeric_random(*state, NULL, type, n, 0);
            spry_scalar left, right;
            assert_ok(*state, spry_operator_apply(M, r, y));
            assert_ok(*state, spry_operator_apply(M, q, z));
            assert_ok(*state, spry_vector_dot(y, q, &left));
            assert_ok(*state, spry_vector_dot(r, z, &right));
            /* sums of n products, and triangles of some rows' depth on either side */
            const double bound =
                64 * (double)n * numeric_unit(type) * numeric_norm(y) * numeric_norm(q);
            assert_true(hypot(left.re - right.re, left.im - right.im) <= bound);
            spry_vector_free(r);
            spry_vector_free(q);
            spry_vector_free(y);
            spry_vector_free(z);
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* Rows i and n - 1 - i know of each other alone. Next to each other they are blocks of two, which
 * block-jacobi inverts exactly (numbers are powers of two). */
static void pairs_come_together(void **state)
{
    enum { N = 50 };
    double dense[N * N] = {0};
    for (int i = 0; i < N; i++)
        dense[i * N + N - 1 - i] = ldexp(1, i < N / 2 ? i : N - 1 - i);
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, N, N, dense);
    static const char *const orders[] = {"none", "rcm", "amd", "btf"};
    for (int k = 0; k < 4; k++) {
        spry_operator *M = NULL;
        char spec[64];
        snprintf(spec, sizeof spec, "prepare:order=%s,sub=[block-jacobi:block=2]", orders[k]);
        assert_ok(*state, spry_precon_new(A, NULL, spec, &M));
        assert_true(error_of(A, M, SPRY_TRANSPOSE_NO) == 0);
        spry_operator_free(M);
    }
    spry_matrix_free(A);
}

/* New values that would be matched otherwise: the order stays, the factors are new, M is right. */
static void new_values(void **state)
{
    spry_matrix *A = hidden(*state, SPRY_TYPE_D, 60, 10);
    spry_operator *M = NULL;
    assert_ok(*state, spry_precon_new(A, NULL, "prepare:sub=[direct:kind=band]", &M));
    for (int64_t k = 0; k < A->a.nnz; k++) {
        const spry_scalar v = value_get(SPRY_TYPE_D, A->a.values, k);
        support_put(A, k, (spry_scalar){v.re * ldexp(1, (int)(k % 9)), 0});
    }
    assert_ok(*state, spry_operator_update(M, A));
    /* as above; with partners of other values pivots lie anywhere */
    assert_true(error_of(A, M, SPRY_TRANSPOSE_NO) <= 16 * 60 * 0x1p9);
    spry_operator_free(M);
    spry_matrix_free(A);
}

static void hear(void *data, spry_log_level level, const char *message)
{
    if (level == SPRY_LOG_WARNING && strstr(message, "only 2 of 3 rows"))
        *(bool *)data = true;
}

static void what_is_wrong_is_reported(void **state)
{
    spry_context *ctx = *state;
    spry_matrix *A =
        support_from_rows(ctx, SPRY_TYPE_D, 3, 3, (double[]){0, 0, 1, 0, 0, 2, 3, 4, 5});
    spry_operator *M = NULL;
    bool heard = false;
    spry_context_set_log(ctx, hear, &heard);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(A, NULL, "prepare:sub=none", &M));
    support_message_has(ctx, "sub=none solves nothing");
    assert_true(heard);
    assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, "prepare:sub=jacobi", &M));
    support_message_has(ctx, "precon prepare");
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_precon_new(A, NULL, "prepare:order=mad", &M));
    support_message_has(ctx, "There are: none rcm amd nd btf");
    spry_matrix_free(A);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(exact_ones_stay_exact), TEST(finds_the_diagonal), TEST(hermitian_stays_hermitian),
        TEST(pairs_come_together),   TEST(new_values),         TEST(what_is_wrong_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
