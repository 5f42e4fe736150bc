/*
 * A matrix with more than 2^31 entries on a device, in type s: places and sizes of 64 bits
 * everywhere. It takes 40 GB of the host's memory and as much of the device's, so it runs where it
 * is asked for, by SPRY_TEST_LARGE=1, and where the device has 60 GB free. SPRY_TEST_LARGE=ROWS
 * runs the same with fewer rows on any device.
 *
 * The matrix is a symmetric band with 26 on the diagonal and -1 on 12 places on either side. All
 * products here are of whole numbers below 2^24, and so exact: every row is compared with its
 * closed form.
 */
#include "support/devices.h"

#include "operator/operator.h"

#include <math.h>
#include <stdlib.h>

enum { HALF = 12, WIDTH = 2 * HALF + 1, LARGE_ROWS = 87000000, PERIOD = 8 };
static const int64_t room_needed = (int64_t)60 * 1000 * 1000 * 1000;

/* Rows to test with; 0: not here. */
static int64_t rows_for(spry_device *d)
{
    const char *asked = getenv("SPRY_TEST_LARGE");
    const int64_t rows = asked ? strtoll(asked, NULL, 10) : 0;
    int64_t used, most, free_bytes;
    device_memory_now(d, &used, &most, &free_bytes);
    if (rows > 1)
        return rows;
    if (rows == 1 && free_bytes > room_needed)
        return LARGE_ROWS;
    print_message("SKIP: %s\n", rows == 1 ? "the device has less than 60 GB free"
                                          : "takes 40 GB here and there: SPRY_TEST_LARGE=1 asks");
    return 0;
}

static int64_t first_of(int64_t row)
{
    return row < HALF ? 0 : row - HALF;
}

static int64_t end_of(int64_t row, int64_t n)
{
    return row + HALF < n ? row + HALF + 1 : n;
}

/* Entries before a row: those of whole bands, less those that lie outside. */
static int64_t entries_before(int64_t row, int64_t n)
{
    const int64_t top = row < HALF ? row : HALF, bottom = row + HALF > n ? row + HALF - n : 0;
    return row * WIDTH - (top * HALF - top * (top - 1) / 2) - bottom * (bottom + 1) / 2;
}

static void fill_row(const matrix_arrays *a, int64_t row)
{
    float *values = a->values;
    int64_t k = entries_before(row, a->rows);
    a->offsets[row] = k;
    for (int64_t col = first_of(row); col < end_of(row, a->rows); col++, k++) {
        a->col_index[k] = (int32_t)col;
        values[k] = col == row ? WIDTH + 1 : -1;
    }
}

static spry_matrix *band(spry_context *ctx, int64_t n)
{
    matrix_arrays a = {.type = SPRY_TYPE_S, .format = SPRY_FORMAT_CSR, .rows = n, .cols = n};
    spry_matrix *A = NULL;
    a.nnz = entries_before(n, n);
    assert_ok(ctx, matrix_allocate(ctx, &a));
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < n; row++)
        fill_row(&a, row);
    a.offsets[n] = a.nnz;
    assert_ok(ctx, matrix_wrap(ctx, &a, &A));
    return A;
}

/* 0 + 1 + ... + 7 + 0 + 1 + ..., as many terms as asked for. */
static int64_t sum_of(int64_t terms)
{
    const int64_t rest = terms % PERIOD;
    return terms / PERIOD * (PERIOD * (PERIOD - 1) / 2) + rest * (rest - 1) / 2;
}

/* Row i of A x for x_j = 1, or j mod 8. */
static float closed_form(int64_t i, int64_t n, bool ones)
{
    const int64_t first = first_of(i), end = end_of(i, n);
    const int64_t sum = ones ? end - first : sum_of(end) - sum_of(first);
    return (float)((WIDTH + 2) * (ones ? 1 : i % PERIOD) - sum);
}

static void check_product(spry_device *d, const spry_operator *op, bool ones, const char *format)
{
    spry_context *ctx = d->ctx;
    const int64_t n = op->rows;
    int64_t wrong = 0, at = n;
    spry_vector *x = NULL, *y = NULL;
    assert_ok(ctx, spry_vector_new(ctx, SPRY_TYPE_S, n, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_like(x, n, &y));
    float *numbers = x->data;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        numbers[i] = ones ? 1 : (float)(i % PERIOD);
    assert_ok(ctx, spry_operator_apply(op, x, y));
    const float *found = y->data;
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(min : at)
    for (int64_t i = 0; i < n; i++)
        if (found[i] != closed_form(i, n, ones)) {
            wrong++;
            at = i < at ? i : at;
        }
    if (wrong > 0)
        fail_msg("%s: %lld rows are wrong; row %lld is %g, expected %g", format, (long long)wrong,
                 (long long)at, (double)found[at], (double)closed_form(at, n, ones));
    spry_vector_free(x);
    spry_vector_free(y);
}

/*
 * A x = A 1 by CG. Eigenvalues are between 27 - 25 = 2 and 27 + 6, so that CG is soon done, and
 * |x - 1| <= |A x - b| / 2.
 */
static void check_solve(spry_device *d, const spry_operator *op)
{
    const double tolerance = 1e-4, one = 1;
    spry_context *ctx = d->ctx;
    spry_solver *solver = NULL;
    spry_vector *ones = NULL, *b = NULL, *x = NULL;
    spry_result result = SPRY_RESULT_INIT;
    double size, error;
    assert_ok(ctx, spry_vector_on(d, SPRY_TYPE_S, op->rows, NULL, &ones));
    assert_ok(ctx, spry_vector_like(ones, op->rows, &b));
    assert_ok(ctx, spry_vector_like(ones, op->rows, &x));
    assert_ok(ctx, spry_vector_fill(ones, (spry_scalar){one, 0}));
    assert_ok(ctx, spry_operator_apply(op, ones, b));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg tol=1e-4 max-iter=40"));
    assert_ok(ctx, spry_solver_set_operator(solver, op));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_true(result.converged);
    assert_true(result.iterations > 1);
    assert_string_equal(result.device, spry_device_name(d));
    assert_ok(ctx, spry_vector_norm(b, &size));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-one, 0}, x, ones));
    assert_ok(ctx, spry_vector_norm(ones, &error));
    assert_true(error <= tolerance * size / 2 * 1.01); /* the residual is rounded, too */
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_vector_free(ones);
    spry_vector_free(b);
    spry_vector_free(x);
}

static void many_entries(spry_context *ctx, spry_device *d)
{
    static const char *const formats[] = {"csr", "sell"};
    const int64_t n = rows_for(d);
    if (n == 0)
        skip();
    double start = base_seconds();
    spry_matrix *A = band(ctx, n);
    print_message("%lld entries, made in %.1f s\n", (long long)A->a.nnz, base_seconds() - start);
    if (n == LARGE_ROWS)
        assert_true(A->a.nnz > (int64_t)1 << 31);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        spry_operator *op = NULL;
        start = base_seconds();
        assert_ok(ctx, spry_operator_from_matrix(A, d, formats[k], &op));
        print_message("%s: on the device after %.1f s\n", formats[k], base_seconds() - start);
        check_product(d, op, true, formats[k]);
        check_product(d, op, false, formats[k]);
        check_solve(d, op);
        spry_operator_free(op);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(many_entries)};
    return DEVICES_RUN(tests);
}
