/*
 * Factors as sparse matrices: P A Q = L U within the roundings of its sums, of every type, whatever
 * was scaled and exchanged on the way.
 */
#include "support/generated.h"

#include "matrix/entries.h"

#include <math.h>
#include <stdlib.h>

#include <private/programs.h>

/* n x n numbers by rows. */
static spry_scalar *densified(const spry_matrix *A)
{
    const int64_t n = A->a.cols;
    spry_scalar *dense = calloc((size_t)(n * n), sizeof *dense);
    entry_loop w;
    assert_non_null(dense);
    entry_loop_start(&w, &A->a, (range){0, A->a.nnz});
    while (entry_loop_next(&w))
        for (int k = 0; k < w.count; k++) {
            const spry_scalar v = value_get(A->a.type, A->a.values, w.first + k);
            spry_scalar *to = dense + w.row[k] * n + w.col[k];
            *to = (spry_scalar){to->re + v.re, to->im + v.im};
        }
    return dense;
}

/* (L U)_ij, which must be A[rows[i], columns[j]]: n products and sums, each with a rounding of the
 * sum of sizes, and four of a complex product. */
static void check_entry(const spry_scalar *l, const spry_scalar *u, int64_t n, int64_t i, int64_t j,
                        spry_scalar a, double eps)
{
    double re = 0, im = 0, size = 0;
    for (int64_t k = 0; k < n; k++) {
        const spry_scalar x = l[i * n + k], y = u[k * n + j];
        re += x.re * y.re - x.im * y.im;
        im += x.re * y.im + x.im * y.re;
        size += hypot(x.re, x.im) * hypot(y.re, y.im);
    }
    if (!(hypot(re - a.re, im - a.im) <= 4 * (double)n * eps * size))
        fail_msg("entry (%d, %d): %g%+gi, not %g%+gi", (int)i, (int)j, re, im, a.re, a.im);
}

/* Those of a preconditioner that drops nothing, or (NULL) of spry_matrix_factors(); rows in A's
 * order where `plain`. */
static void check_made(const spry_matrix *A, const char *precon, bool plain)
{
    const int64_t n = A->a.rows;
    const bool single = A->a.type == SPRY_TYPE_S || A->a.type == SPRY_TYPE_C;
    spry_matrix *L = NULL, *U = NULL;
    spry_operator *M = NULL;
    int32_t *rows = calloc((size_t)n, sizeof *rows), *columns = calloc((size_t)n, sizeof *columns);
    if (precon) {
        assert_ok(A->ctx, spry_precon_new(A, NULL, precon, &M));
        assert_ok(A->ctx, spry_precon_factors(M, &L, &U, rows, columns));
        assert_true(L->a.format == SPRY_FORMAT_CSR && U->a.format == SPRY_FORMAT_CSR);
    } else {
        assert_ok(A->ctx, spry_matrix_factors(A, &L, &U, rows, columns));
        assert_true(L->a.format == SPRY_FORMAT_CSC && U->a.format == SPRY_FORMAT_CSR);
    }
    for (int64_t k = 0; k < n && plain; k++)
        assert_int_equal(rows[k], k);
    spry_scalar *a = densified(A), *l = densified(L), *u = densified(U);
    for (int64_t i = 0; i < n; i++) {
        assert_true(l[i * n + i].re == 1 && l[i * n + i].im == 0);
        for (int64_t j = 0; j < n; j++) {
            check_entry(l, u, n, i, j, a[rows[i] * n + columns[j]], single ? 0x1p-23 : 0x1p-52);
            const spry_scalar outside = i < j ? l[i * n + j] : u[i * n + j];
            assert_true(i == j || (outside.re == 0 && outside.im == 0));
        }
    }
    void *const all[] = {a, l, u, rows, columns};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    spry_matrix_free(L);
    spry_matrix_free(U);
    spry_operator_free(M);
}

static void check(const spry_matrix *A)
{
    check_made(A, NULL, false);
    check_made(A, "ilutp:tau=0,fill=1e6", false);
    check_made(A, "ilutp:tau=0,fill=1e6,pivot=1,order=none,defer=no", true);
}

static void test_product(void **state)
{
    static const char *const kinds[][2] = {{"convection-diffusion", "size=9 type=%s"},
                                           {"poisson2d", "size=8 type=%s"},
                                           {"helmholtz", "size=4"},
                                           {"random", "size=90 per-row=5 type=%s"}};
    static const char *const types[] = {"s", "d", "c", "z"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t t = 0; t < 4; t++) {
            char options[64];
            snprintf(options, sizeof options, kinds[k][1], types[t]);
            spry_matrix *A = generated(*state, kinds[k][0], options);
            check(A);
            spry_matrix_free(A);
        }
}

/* Zeros on the diagonal, and rows of very different sizes. */
static void test_exchanges(void **state)
{
    static const double dense[] = {0, 1e-9, 0, 0, 0, 0, 2e7, 0, 3, 0, 1e-30, 1, 0, 4, 0, 1e-3};
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 4, 4, dense);
    check(A);
    spry_matrix_free(A);
}

static void test_refusals(void **state)
{
    static const double singular[] = {1, 2, 2, 4}, wide[] = {1, 2};
    spry_matrix *A = support_from_rows(*state, SPRY_TYPE_D, 2, 2, singular), *L, *U;
    spry_matrix *B = support_from_rows(*state, SPRY_TYPE_D, 1, 2, wide);
    int32_t rows[2], columns[2];
    assert_int_equal(spry_matrix_factors(A, &L, &U, rows, columns), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(*state), "singular"));
    assert_int_equal(spry_matrix_factors(B, &L, &U, rows, columns), SPRY_STATUS_BAD_INPUT);
    assert_int_equal(spry_matrix_factors(A, NULL, &U, rows, columns), SPRY_STATUS_BAD_USAGE);
    spry_operator *M;
    assert_int_equal(spry_precon_new(A, NULL, "ilutp:tau=0,defer=no", &M), SPRY_STATUS_BAD_INPUT);
    assert_non_null(strstr(spry_message(*state), "singular"));
    assert_ok(*state, spry_precon_new(A, NULL, "jacobi", &M));
    assert_int_equal(spry_precon_factors(M, &L, &U, rows, columns), SPRY_STATUS_UNSUPPORTED);
    spry_operator_free(M);
    spry_matrix_free(A);
    spry_matrix_free(B);
}

static spry_status use(spry_context *ctx, void *A)
{
    spry_matrix *L = NULL, *U = NULL;
    int32_t rows[49], columns[49];
    (void)ctx;
    const spry_status status = spry_matrix_factors(A, &L, &U, rows, columns);
    spry_matrix_free(L);
    spry_matrix_free(U);
    return status;
}

static spry_status use_precon(spry_context *ctx, void *M)
{
    spry_matrix *L = NULL, *U = NULL;
    int32_t rows[49], columns[49];
    (void)ctx;
    const spry_status status = spry_precon_factors(M, &L, &U, rows, columns);
    spry_matrix_free(L);
    spry_matrix_free(U);
    return status;
}

static void test_torture(void **state)
{
    spry_matrix *A = generated(*state, "convection-diffusion", "size=7");
    spry_operator *M = NULL;
    support_torture(*state, use, A);
    assert_ok(*state, spry_precon_new(A, NULL, "ilutp", &M));
    support_torture(*state, use_precon, M);
    spry_operator_free(M);
    spry_matrix_free(A);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_product), CASE(test_exchanges),
                                       CASE(test_refusals), CASE(test_torture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
