/*
 * Exact solves: every kind of factors in every type against the residual that backward stability
 * allows, transposes, new values, matrices that are singular, and generalized inverses.
 */
#include "support/exact.h"
#include "support/generated.h"
#include "support/numeric.h"

#include "direct/factor.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const char *const kinds[] = {"dense", "band", "sparse", "suitesparse"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_present(const char *kind)
{
    return strcmp(kind, "suitesparse") != 0 || (sparse_cholmod.library && sparse_umfpack.library);
}

/* Large enough for LAPACK, and not a multiple of anything. */
static void test_solves(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS; k++)
            for (int size = 3; size <= 12; size += 9)
                for (int hermitian = 0; hermitian < 2 && is_present(kinds[k]); hermitian++) {
                    spry_matrix *A = exact_matrix(ctx, support_types[t], hermitian, size);
                    spry_operator *M = NULL;
                    char spec[48];
                    snprintf(spec, sizeof spec, "direct:kind=%s", kinds[k]);
                    assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
                    for (int op = 0; op < 3; op++)
                        exact_check(ctx, A, M, (spry_transpose)op, 1, spec);
                    spry_operator_free(M);
                    spry_matrix_free(A);
                }
}

/* The kernels by themselves, which LAPACK stands in for in such sizes. */
static void test_elimination(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++) {
        const spry_type type = support_types[t];
        const size_t size = spry_type_size(type);
        const front_kernels *kernels = front_kernels_for(ctx, type);
        spry_matrix *A = exact_matrix(ctx, type, false, 11);
        const int64_t n = A->a.rows;
        dense_factors f = {n, n, calloc((size_t)(n * n), size), calloc((size_t)n, 4), NULL};
        band_factors b = {.n = n, .rows = calloc((size_t)n, 4)};
        factor_band_of(A, NULL, &b.low, &b.high);
        const int64_t step = 2 * b.low + b.high + 1;
        b.factors = calloc((size_t)(n * step), size);
        for (int64_t i = 0; i < n; i++)
            for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
                const int64_t j = A->a.col_index[k];
                element_move(size, f.factors, j * n + i, A->a.values, k);
                element_move(size, b.factors, j * step + b.low + b.high + i - j, A->a.values, k);
            }
        assert_int_equal(kernels->dense_factor(n, 0, n, f.factors, f.rows), n);
        assert_int_equal(kernels->band_factor(&b), n);
        /* Without exchanges that differ, both do the same operations on the same numbers; with
         * them, both solve. Here: solutions agree as far as the condition, below 1e3, allows. */
        for (int op = 0; op < 3; op++) {
            void *x = numeric_array(type, n, 0, 5), *y = numeric_array(type, n, 0, 5);
            kernels->dense_solve(&f, (spry_transpose)op, 1, x);
            kernels->band_solve(&b, (spry_transpose)op, y);
            double most = 0, off = 0;
            for (int64_t i = 0; i < n; i++) {
                const spry_scalar u = value_get(type, x, i), v = value_get(type, y, i);
                most = fmax(most, hypot(u.re, u.im));
                off = fmax(off, hypot(u.re - v.re, u.im - v.im));
            }
            assert_true(most > 0 && off <= 1e3 * (double)n * numeric_unit(type) * most);
            numeric_free(type, x, 0);
            numeric_free(type, y, 0);
        }
        free(f.factors);
        free(f.rows);
        free(b.factors);
        free(b.rows);
        spry_matrix_free(A);
    }
}

/* Rows that elimination has to exchange: 0 on all of the diagonal. */
static void test_pivots(void **state)
{
    spry_context *ctx = *state;
    static const double rows[16] = {0, 2, 0, 0, 0, 0, 0, 3, 1, 1, 0, 0, 0, 0, 4, 0};
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS; k++) {
            spry_operator *M = NULL;
            spry_matrix *A = support_from_rows(ctx, support_types[t], 4, 4, rows);
            char spec[48];
            snprintf(spec, sizeof spec, "direct:kind=%s", kinds[k]);
            if (is_present(kinds[k])) {
                assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
                for (int op = 0; op < 3; op++)
                    exact_check(ctx, A, M, (spry_transpose)op, 1, spec);
            }
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

static void test_singular(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS; k++) {
            spry_matrix *A = exact_neumann(ctx, support_types[t], 9);
            spry_operator *M = NULL;
            char spec[48];
            snprintf(spec, sizeof spec, "direct:kind=%s", kinds[k]);
            if (is_present(kinds[k])) {
                assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_precon_new(A, NULL, spec, &M));
                support_message_has(ctx, "singular");
                support_message_has(ctx, "try direct:");
            }
            assert_null(M);
            spry_matrix_free(A);
        }
}

/* Scaling rows and columns by 1e12 each does not make a matrix singular. */
static void test_scaled(void **state)
{
    spry_context *ctx = *state;
    for (int k = 0; k < KINDS; k++) {
        spry_matrix *A = exact_matrix(ctx, SPRY_TYPE_D, false, 9);
        spry_operator *M = NULL;
        for (int64_t i = 0; i < A->a.rows; i++)
            for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++) {
                double *v = (double *)A->a.values + e;
                *v = ldexp(*v, (int)(i % 2) * 40 - (int)(A->a.col_index[e] % 3) * 20);
            }
        char spec[48];
        snprintf(spec, sizeof spec, "direct:kind=%s", kinds[k]);
        if (is_present(kinds[k]))
            assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
        spry_operator_free(M);
        spry_matrix_free(A);
    }
}

/* A M A = A for the generalized inverse, and M is hermitian: A (M r) = r for r = A x. */
static void test_regular(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 8; t++) {
        const spry_type type = support_types[t % 4];
        spry_matrix *A = exact_neumann(ctx, type, 9);
        const int64_t n = A->a.rows;
        spry_operator *M = NULL, *op = NULL;
        spry_vector *x = NULL, *r = NULL, *z = NULL, *back = NULL, *y = NULL;
        assert_ok(
            ctx, spry_precon_new(
                     A, NULL, t < 4 ? "direct:regular=yes" : "direct:kind=sparse,regular=yes", &M));
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, NULL, &op));
        void *numbers = numeric_array(type, n, 0, 9), *others = numeric_array(type, n, 0, 10);
        x = numeric_vector(ctx, type, n, numbers);
        y = numeric_vector(ctx, type, n, others);
        assert_ok(ctx, spry_vector_zeros(ctx, A, &r));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &z));
        assert_ok(ctx, spry_vector_zeros(ctx, A, &back));
        assert_ok(ctx, spry_operator_apply(op, x, r));
        assert_ok(ctx, spry_operator_apply(M, r, z));
        assert_ok(ctx, spry_operator_apply(op, z, back));
        assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, r, back));
        double off, norm, size;
        assert_ok(ctx, spry_vector_norm(back, &off));
        assert_ok(ctx, spry_vector_norm(z, &size));
        assert_ok(ctx, spry_vector_norm(r, &norm));
        /* |A| <= 8; z is a solution, pinned at one place: not much longer than x times n */
        assert_true(norm > 1 && size < (double)(n * n));
        assert_true(off <= 8 * (double)n * numeric_unit(type) * 8 * size);
        spry_scalar left, right;
        assert_ok(ctx, spry_operator_apply(M, x, z));
        assert_ok(ctx, spry_vector_dot(y, z, &left));
        assert_ok(ctx, spry_operator_apply(M, y, back));
        assert_ok(ctx, spry_vector_dot(back, x, &right));
        assert_ok(ctx, spry_vector_norm(z, &size));
        const double bound = 100 * (double)n * numeric_unit(type) * size * sqrt((double)n);
        assert_true(hypot(left.re - right.re, left.im - right.im) <= bound);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_vector_free(r);
        spry_vector_free(z);
        spry_vector_free(back);
        numeric_free(type, numbers, 0);
        numeric_free(type, others, 0);
        spry_operator_free(M);
        spry_operator_free(op);
        spry_matrix_free(A);
    }
}

/* Hermitian and definite at first, then neither: another library's turn. */
static void test_values(void **state)
{
    spry_context *ctx = *state;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < KINDS && is_present(kinds[k]); k++) {
            spry_matrix *A = exact_matrix(ctx, support_types[t], true, 12);
            spry_operator *M = NULL;
            char spec[48];
            snprintf(spec, sizeof spec, "direct:kind=%s", kinds[k]);
            assert_ok(ctx, spry_precon_new(A, NULL, spec, &M));
            for (int64_t i = 0; i < A->a.rows; i++)
                for (int64_t e = A->a.offsets[i]; e < A->a.offsets[i + 1]; e++)
                    if (A->a.col_index[e] > i)
                        support_put(A, e, (spry_scalar){0.25, 0});
            assert_ok(ctx, spry_operator_update(M, A));
            for (int op = 0; op < 3; op++)
                exact_check(ctx, A, M, (spry_transpose)op, 1, spec);
            spry_operator_free(M);
            spry_matrix_free(A);
        }
}

/* A factor that does not fit is not made: how large it is is known before. */
static void test_limit(void **state)
{
    (void)state;
    spry_context *ctx = support_context("threads=2");
    spry_matrix *A = generated(ctx, "poisson3d", "size=20");
    spry_operator *M = NULL;
    assert_ok(ctx, spry_precon_new(A, NULL, "direct:kind=sparse", &M));
    const int64_t bytes = M->own_bytes;
    spry_operator_free(M);
    ctx->options.memory_limit = ctx->memory_now + bytes;
    assert_status(ctx, SPRY_STATUS_NO_MEMORY, spry_precon_new(A, NULL, "direct:kind=sparse", &M));
    support_message_has(ctx, "of the memory limit");
    spry_matrix_free(A);
    support_context_free(ctx);
}

/* Elimination of a dense matrix looks for a request: by LAPACK, by our own, with a search of all.
 */
static void test_interrupt(void **state)
{
    spry_context *ctx = *state;
    for (int size = 4; size <= 6; size += 2)
        for (int regular = 0; regular < 2; regular++) {
            char options[32];
            snprintf(options, sizeof options, "size=%d", size);
            spry_matrix *A = generated(ctx, "poisson3d", options);
            factor f;
            assert_ok(ctx, factor_open(&factor_dense, A, regular, INFINITY, NULL, &f));
            spry_context_interrupt(ctx);
            assert_status(ctx, SPRY_STATUS_INTERRUPTED, factor_fill(&f, A));
            assert_true(spry_context_interrupted(ctx, true));
            assert_ok(ctx, factor_fill(&f, A)); /* it goes on as if nothing had been */
            factor_clear(&f);
            spry_matrix_free(A);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_solves, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_elimination, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_pivots, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_singular, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_scaled, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_regular, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_values, support_setup, support_teardown),
        cmocka_unit_test_setup_teardown(test_interrupt, support_setup, support_teardown),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
