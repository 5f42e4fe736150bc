/*
 * What is said of x at the edges of the range, and where a residual does not show all of x. Systems
 * that tests/reference/verdicts.c has found.
 */
#include "support/support.h"

#include "matrix/entries.h"
#include "matrix/matrix.h"

#include <float.h>
#include <math.h>
#include <spry/spry.h>
#include <stdlib.h>

enum { MOST = 8 };

typedef struct solved {
    spry_result result;
    spry_scalar x[MOST];
} solved;

/* A x = b of small dense numbers, from x = 0. */
static solved solve(spry_context *ctx, spry_type type, int rows, int cols, const spry_scalar *A,
                    const spry_scalar *b, const char *options)
{
    solved s = {.result = SPRY_RESULT_INIT};
    int64_t *offsets = calloc(MOST + 1, sizeof *offsets), count = 0;
    int32_t *columns = calloc(MOST * MOST, sizeof *columns);
    void *values = calloc(MOST * MOST, spry_type_size(type));
    spry_vector *right = NULL, *x = NULL;
    spry_solver *solver = NULL;
    assert_true(offsets && columns && values && rows <= MOST && cols <= MOST);
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++)
            if (A[i * cols + j].re != 0 || A[i * cols + j].im != 0) {
                columns[count] = j;
                value_set(type, values, count++, A[i * cols + j]);
            }
        offsets[i + 1] = count;
    }
    spry_matrix *M = support_from_csr(ctx, type, rows, cols, offsets, columns, values);
    assert_ok(ctx, spry_vector_new(ctx, type, rows, NULL, SPRY_OWN_COPY, &right));
    assert_ok(ctx, spry_vector_zeros(ctx, M, &x));
    for (int i = 0; i < rows; i++)
        value_set(type, right->data, i, b[i]);
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_matrix(solver, M));
    assert_ok(ctx, spry_solve(solver, right, x, &s.result));
    for (int j = 0; j < cols; j++) {
        s.x[j] = value_get(type, x->data, j);
        assert_true(isfinite(s.x[j].re) && isfinite(s.x[j].im));
    }
    spry_solver_free(solver);
    spry_vector_free(right);
    spry_vector_free(x);
    spry_matrix_free(M);
    return s;
}

/* x is scaled with b, whatever the shape of A. */
static void sizes_of_b_of_least_squares(void **state)
{
    spry_context *ctx = *state;
    static const char *const methods[] = {"lsqr", "lsmr", "cgls", "auto"};
    static const int shapes[][2] = {{5, 3}, {3, 5}};
    spry_scalar A[15], b[5];
    for (int k = 0; k < 2 * 4 * 4 * 2; k++) {
        const int *shape = shapes[k % 2], rows = shape[0], cols = shape[1];
        const spry_type type = support_types[k / 2 % 4];
        const double size = ldexp(1, (type_is_single(type) ? 30 : 400) * (k / 32 ? 1 : -1));
        char options[64];
        for (int i = 0; i < rows; i++) {
            b[i] = (spry_scalar){size * (i + 1), 0};
            for (int j = 0; j < cols; j++)
                A[i * cols + j] = (spry_scalar){i == j ? 4 : 1.0 / (i + j + 1), 0};
        }
        snprintf(options, sizeof options, "method=%s precon=none", methods[k / 8 % 4]);
        solved s = solve(ctx, type, rows, cols, A, b, options);
        if (!s.result.converged)
            fail_msg("%d x %d, type %s, b %g, %s: %s", rows, cols, spry_type_name(type), size,
                     options, s.result.detail);
        spry_result_clear(ctx, &s.result);
    }
}

/* Residuals do not show what A does not read: x is finite all the same (see solve()), and the
 * residual is its own. */
static void empty_columns_hide_nothing(void **state)
{
    spry_context *ctx = *state;
    static const spry_scalar A[] = {{1, 4}, {0, 0}, {0, 0}, {0, 0}, {-1, -3},
                                    {0, 0}, {0, 0}, {0, 0}, {0, 0}},
                             b[] = {{0.98, -0.47}, {-0.8, 0.73}, {-0.85, -0.9}};
    static const spry_scalar small[] = {{1, 0}, {0, 0}, {1, 0}, {0, 0}}, right[] = {{1, 0}, {3, 2}};
    spry_entry method = SPRY_ENTRY_INIT;
    for (int k = 0; spry_list_at(SPRY_LIST_METHODS, k, &method); k++)
        for (int t = 0; t < 4; t++) {
            char options[96];
            const bool c = spry_type_is_complex(support_types[t]);
            double off = 0, all = 0;
            snprintf(options, sizeof options, "method=%s precon=none max-iter=200", method.name);
            solved first = solve(ctx, support_types[t], 3, 3, A, b, options);
            solved s = solve(ctx, support_types[t], 2, 2, small, right, options);
            for (int i = 0; i < 2; i++) {
                off += pow(right[i].re - s.x[0].re, 2) + (c ? pow(right[i].im - s.x[0].im, 2) : 0);
                all += pow(right[i].re, 2) + (c ? pow(right[i].im, 2) : 0);
            }
            if (!(fabs(sqrt(off / all) - s.result.true_residual) < 1e-5))
                fail_msg("%s, type %s: told %g, is %g", method.name,
                         spry_type_name(support_types[t]), s.result.true_residual, sqrt(off / all));
            spry_result_clear(ctx, &first.result);
            spry_result_clear(ctx, &s.result);
        }
}

/* A^H r of these is below all numbers, of whatever x. */
static void gradients_that_vanish(void **state)
{
    spry_context *ctx = *state;
    static const char *const options[] = {"method=lsqr precon=none", "method=lsmr precon=none",
                                          "method=cgls precon=none"};
    static const double sizes[][2] = {{1e-260, 1e-71}, {1e-300, 1e-80}, {1e-200, 1e-85}};
    for (size_t k = 0; k < 9; k++) {
        const double a = sizes[k / 3][0], size = sizes[k / 3][1];
        const spry_scalar A[] = {{a, 0}, {0, 0}, {a, 0}, {a, 0}, {0, 0}, {a, 0}},
                          b[] = {{size, 0}, {2 * size, 0}, {4 * size, 0}};
        solved s = solve(ctx, SPRY_TYPE_D, 3, 2, A, b, options[k % 3]);
        /* The least-squares solution is (1, 10) / 3 times size / a. */
        const double off =
            fmax(fabs(s.x[0].re * (a / size) - 1.0 / 3), fabs(s.x[1].re * (a / size) - 10.0 / 3));
        if (s.result.converged && !(off < 1e-6))
            fail_msg("A %g, b %g, %s: converged, off by %g: %s", a, size, options[k % 3], off,
                     s.result.detail);
        spry_result_clear(ctx, &s.result);
    }
}

/* A step aside from an x^T y that is 0 leaves an x whose residual only twice the precision knows.
 */
static void steps_aside_are_confirmed(void **state)
{
    spry_context *ctx = *state;
    static const spry_scalar A[] = {{192, 256},        {0, 0},     {256, 64}, {0, 0},
                                    {-8, -32},         {-24, -32}, {0, 0},    {0x1p-7, -0x1p-7},
                                    {-0x1p-7, -0x1p-7}},
                             b[] = {{1, 0}, {1, 0}, {1, 0}};
    solved s = solve(ctx, SPRY_TYPE_C, 3, 3, A, b, "method=qmrsym precon=ilu max-iter=200");
    double off = 0;
    for (int i = 0; i < 3; i++) {
        double re = b[i].re, im = b[i].im;
        for (int j = 0; j < 3; j++) {
            re -= A[3 * i + j].re * s.x[j].re - A[3 * i + j].im * s.x[j].im;
            im -= A[3 * i + j].re * s.x[j].im + A[3 * i + j].im * s.x[j].re;
        }
        off += re * re + im * im;
    }
    off = sqrt(off / 3);
    if (!(fabs(off - s.result.true_residual) <= 0.05 * off))
        fail_msg("told %g, is %g", s.result.true_residual, off);
    spry_result_clear(ctx, &s.result);
}

/* A regular B whose rows and columns are multiplied by powers of two is not called singular, also
 * where rows differ by more than all digits and no scaling that looks at single rows and columns
 * brings B back. */
static void graded_is_not_singular(void **state)
{
    enum { N = 5 };
    spry_context *ctx = *state;
    static const char *const options[] = {"method=direct", "method=direct:kind=dense",
                                          "precon=direct:regular=no,kind=dense", ""};
    static const double B[N][N] = {{2.9, -0.7, -0.8, 0.5, 0},
                                   {-0.3, 8, 0, 0.2, -0.4},
                                   {-0.1, 0, 9, -0.1, -0.3},
                                   {0, -0.2, 0.1, 1.5, -0.1},
                                   {0, -0.2, -2.3, 0, 5}};
    for (int k = 0; k < 4 * 2 * 3; k++) {
        const bool complex = k / 4 % 2;
        const int way = k / 8;
        spry_scalar A[N * N], b[N];
        for (int i = 0; i < N; i++) {
            const int row = way == 0 ? 100 * (i - 2) : way == 1 ? (i % 2 ? 100 : -100) : 0;
            b[i] = (spry_scalar){ldexp(1 + i, row), 0};
            for (int j = 0; j < N; j++) {
                const double size = ldexp(B[i][j], row + (way == 2 ? 60 * (j - i) : 0));
                A[i * N + j] = (spry_scalar){size, complex && i != j ? -size : 0};
            }
        }
        solved s = solve(ctx, complex ? SPRY_TYPE_Z : SPRY_TYPE_D, N, N, A, b, options[k % 4]);
        if (s.result.reason == SPRY_REASON_SINGULAR)
            fail_msg("%s, way %d: %s", options[k % 4], way, s.result.detail);
        spry_result_clear(ctx, &s.result);
    }
}

/* The smallest number has an inverse in no type, and is none that is singular; nor is a number of A
 * infinite where a scaling would be. solve() fails where it is refused. */
static void smallest_numbers(void **state)
{
    spry_context *ctx = *state;
    const spry_scalar one[] = {{DBL_TRUE_MIN, 0}},
                      A[] = {{-1e-313, 0}, {0, 0}, {0, 0}, {0, 0}, {-6e-311, 0},
                             {0, 0},       {0, 0}, {0, 0}, {0, 0}},
                      b[] = {{-1e-311, 0}, {6e-311, 0}, {0, 0}};
    solved s = solve(ctx, SPRY_TYPE_D, 1, 1, one, one, "method=direct");
    assert_true(s.result.reason != SPRY_REASON_SINGULAR);
    spry_result_clear(ctx, &s.result);
    s = solve(ctx, SPRY_TYPE_D, 3, 3, A, b, "method=direct:kind=sparse");
    spry_result_clear(ctx, &s.result);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, support_setup, support_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sizes_of_b_of_least_squares), TEST(empty_columns_hide_nothing),
        TEST(gradients_that_vanish),       TEST(steps_aside_are_confirmed),
        TEST(graded_is_not_singular),      TEST(smallest_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
