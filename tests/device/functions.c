/* Functions of callers as operators on devices: they are given vectors of the device and the
 * stream, and solves with them give what solves with the matrix give. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/engine/engine.h"
#include "device/linalg/vector.h"

#include <stdlib.h>
#include <string.h>

enum { N = 500 };

/* A matrix of three diagonals: below, on and above the main one. */
static const char text[] =
    "SP_KERNEL three_diagonals(const int n, const scalar low, const scalar middle,\n"
    "                          const scalar high, SP_GLOBAL const scalar *SP_RESTRICT x,\n"
    "                          SP_GLOBAL scalar *SP_RESTRICT y)\n"
    "{\n"
    "    const offset i = SP_GLOBAL_ID;\n"
    "    if (i < n) {\n"
    "        scalar sum = sp_mul(middle, x[i]);\n"
    "        if (i > 0)\n"
    "            sum = sp_fma(low, x[i - 1], sum);\n"
    "        if (i < n - 1)\n"
    "            sum = sp_fma(high, x[i + 1], sum);\n"
    "        y[i] = sum;\n"
    "    }\n"
    "}\n";

typedef struct line {
    spry_context *ctx;
    spry_device *d; /* NULL: the host */
    spry_kernel *kernel;
    spry_type type;
    spry_scalar low, middle, high;
    void *stream; /* that it should be given */
    int64_t calls, fail_at;
    bool lazy; /* does nothing */
} line;

static spry_scalar conjugate(spry_scalar a, bool really)
{
    return (spry_scalar){a.re, really ? -a.im : a.im};
}

static spry_status multiply_on_host(const line *l, spry_scalar low, spry_scalar middle,
                                    spry_scalar high, const spry_vector *x, spry_vector *y)
{
    const void *from = spry_vector_data_const(x);
    void *to = spry_vector_data(y);
    for (int64_t i = 0; i < x->n; i++) {
        const spry_scalar f[] = {low, middle, high};
        spry_scalar sum = {0, 0};
        for (int k = 0; k < 3; k++) {
            if (i + k - 1 < 0 || i + k - 1 >= x->n)
                continue;
            const spry_scalar v = value_get(l->type, from, i + k - 1);
            sum.re += f[k].re * v.re - f[k].im * v.im;
            sum.im += f[k].re * v.im + f[k].im * v.re;
        }
        value_set(l->type, to, i, sum);
    }
    return SPRY_STATUS_OK;
}

static spry_status multiply(void *data, spry_transpose op, const spry_vector *x, spry_vector *y,
                            void *stream)
{
    line *l = data;
    const bool other = op != SPRY_TRANSPOSE_NO, bar = op == SPRY_TRANSPOSE_CONJUGATE;
    const spry_scalar low = conjugate(other ? l->high : l->low, bar),
                      high = conjugate(other ? l->low : l->high, bar),
                      middle = conjugate(l->middle, bar);
    const int64_t n = spry_vector_size(x);
    spry_status status = SPRY_STATUS_OK;
    assert_ptr_equal(spry_vector_device(x), l->d);
    assert_ptr_equal(spry_vector_device(y), l->d);
    assert_ptr_equal(stream, l->stream);
    if (++l->calls == l->fail_at) {
        spry_context_set_message(l->ctx, "the caller ran out of paper");
        return SPRY_STATUS_BAD_INPUT;
    }
    if (l->lazy)
        return SPRY_STATUS_OK;
    if (!l->d)
        return multiply_on_host(l, low, middle, high, x, y);
    SPRY_GO(l->ctx, spry_kernel_set_int(l->kernel, "n", n));
    SPRY_GO(l->ctx, spry_kernel_set_scalar(l->kernel, "low", low));
    SPRY_GO(l->ctx, spry_kernel_set_scalar(l->kernel, "middle", middle));
    SPRY_GO(l->ctx, spry_kernel_set_scalar(l->kernel, "high", high));
    SPRY_GO(l->ctx, spry_kernel_set_input(l->kernel, "x", x));
    SPRY_GO(l->ctx, spry_kernel_set_vector(l->kernel, "y", y));
    SPRY_GO(l->ctx, spry_kernel_launch(l->kernel, 1, &n));
done:
    return status;
}

/* |low| + |high| is at most 2, so that |A x| >= 0.5 |x|. */
static line line_on(spry_context *ctx, spry_device *d, spry_type type, bool hermitian)
{
    const double im = spry_type_is_complex(type) ? 0.25 : 0;
    line l = {.ctx = ctx,
              .d = d,
              .type = type,
              .low = {-1, im},
              .middle = {2.5, hermitian ? 0 : im},
              .high = {hermitian ? -1 : -0.5, -im},
              .stream = d ? d->stream->handle : NULL};
    char options[16];
    snprintf(options, sizeof options, "type=%s", spry_type_name(type));
    if (hermitian && im != 0)
        l.middle.re = 2 * hypot(1, im) + 0.5;
    if (d)
        assert_ok(ctx, spry_kernel_new(d, text, "three_diagonals", options, &l.kernel));
    return l;
}

static spry_operator *operator_of(line *l)
{
    spry_operator *op = NULL;
    assert_ok(l->ctx,
              spry_operator_from_product(l->ctx, l->d, l->type, N, N, true, multiply, l, &op));
    assert_ptr_equal(spry_operator_device(op), l->d);
    return op;
}

/* The same as a matrix. */
static spry_matrix *matrix_of(const line *l)
{
    const size_t size = spry_type_size(l->type);
    int64_t *offsets = calloc(N + 1, sizeof *offsets), nnz = 0;
    int32_t *columns = calloc(3 * N, sizeof *columns);
    void *values = calloc(3 * N, size);
    const spry_scalar f[] = {l->low, l->middle, l->high};
    assert_true(offsets && columns && values);
    for (int32_t i = 0; i < N; i++) {
        for (int32_t j = i - 1; j <= i + 1; j++) {
            if (j < 0 || j >= N)
                continue;
            columns[nnz] = j;
            value_set(l->type, values, nnz++, f[j - i + 1]);
        }
        offsets[i + 1] = nnz;
    }
    return support_from_csr(l->ctx, l->type, N, N, offsets, columns, values);
}

static spry_vector *solve(spry_context *ctx, const spry_operator *A, const spry_operator *M,
                          const char *options, const spry_vector *b, spry_result *result)
{
    spry_solver *solver = NULL;
    spry_vector *x = NULL;
    assert_ok(ctx, spry_vector_like(b, b->n, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set_operator(solver, A));
    if (M)
        assert_ok(ctx, spry_solver_set_precon(solver, M));
    assert_ok(ctx, spry_solve(solver, b, x, result));
    assert_true(result->converged);
    spry_solver_free(solver);
    return x;
}

/* Both solve A x = b to the tolerance, and |A x| >= 0.5 |x|. */
static void check_near(const spry_vector *x, const spry_vector *y, const spry_vector *b, double tol)
{
    const double bound = 2 * tol * numeric_norm(b) / 0.5;
    spry_vector *difference = NULL;
    assert_ok(x->ctx, spry_vector_like(x, x->n, &difference));
    assert_ok(x->ctx, spry_vector_copy(x, difference));
    assert_ok(x->ctx, spry_vector_axpy((spry_scalar){-1, 0}, y, difference));
    assert_true(numeric_norm(difference) <= bound);
    assert_true(numeric_norm(x) > bound);
    spry_vector_free(difference);
}

/* --- solves -------------------------------------------------------------------------------------
 */

static void check_methods(spry_context *ctx, spry_device *d, spry_type type, bool hermitian,
                          const char *const *methods, int count)
{
    const double tol = 1e-9;
    line l = line_on(ctx, d, type, hermitian), jacobi = line_on(ctx, d, type, true);
    spry_matrix *A = matrix_of(&l);
    spry_operator *op = operator_of(&l), *M = operator_of(&jacobi), *csr = NULL;
    spry_vector *b = numeric_random(ctx, d, type, N, 1);
    jacobi.low = jacobi.high = (spry_scalar){0, 0};
    jacobi.middle = (spry_scalar){0.25, 0};
    assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &csr));
    for (int k = 0; k < count; k++) {
        char options[64];
        spry_result r[4] = {0};
        snprintf(options, sizeof options, "method=%s tol=%g", methods[k], tol);
        spry_vector *expected = solve(ctx, csr, NULL, options, b, &r[0]);
        spry_vector *const x[] = {solve(ctx, op, NULL, options, b, &r[1]),
                                  solve(ctx, op, M, options, b, &r[2]),
                                  solve(ctx, csr, M, options, b, &r[3])};
        assert_true(l.calls > 0 && jacobi.calls > 0);
        for (int i = 0; i < 3; i++) {
            assert_string_equal(r[i + 1].device, d ? spry_device_name(d) : "cpu");
            check_near(expected, x[i], b, tol);
            spry_vector_free(x[i]);
        }
        for (int i = 0; i < 4; i++)
            spry_result_clear(ctx, &r[i]);
        spry_vector_free(expected);
        l.calls = jacobi.calls = 0;
    }
    spry_operator_free(op);
    spry_operator_free(M);
    spry_operator_free(csr);
    spry_matrix_free(A);
    spry_vector_free(b);
    spry_kernel_free(l.kernel);
    spry_kernel_free(jacobi.kernel);
}

static void methods(spry_context *ctx, spry_device *d)
{
    static const char *const definite[] = {"cg", "minres"};
    static const char *const general[] = {"bicgstab", "gmres", "bicg", "cgls"};
    for (int k = 0; k < 2; k++) {
        spry_device *place = k == 0 ? d : NULL;
        const int part = place && devices_few(d) ? 2 : 1;
        check_methods(ctx, place, SPRY_TYPE_D, true, definite, 2 / part);
        check_methods(ctx, place, SPRY_TYPE_D, false, general, 4 / part / part);
        check_methods(ctx, place, SPRY_TYPE_Z, false, general + 2, 2 / part);
    }
}

/* Vectors of the host are brought to the device and back. */
static void vectors_of_the_host(spry_context *ctx, spry_device *d)
{
    line l = line_on(ctx, d, SPRY_TYPE_D, true), on_host = line_on(ctx, NULL, SPRY_TYPE_D, true);
    spry_operator *op = operator_of(&l), *same = operator_of(&on_host);
    spry_vector *b = numeric_random(ctx, NULL, SPRY_TYPE_D, N, 1), *y = NULL;
    spry_result r[2] = {0};
    spry_vector *x = solve(ctx, op, NULL, "method=cg tol=1e-9", b, &r[0]);
    assert_null(spry_vector_device(x));
    assert_string_equal(r[0].device, spry_device_name(d));
    spry_vector *expected = solve(ctx, same, NULL, "method=cg tol=1e-9", b, &r[1]);
    check_near(expected, x, b, 1e-9);
    /* y = 2 A x - y, wherever: a product, and two roundings more */
    assert_ok(ctx, spry_vector_like(b, N, &y));
    assert_ok(ctx, spry_vector_copy(b, y));
    assert_ok(ctx, spry_operator_multiply(op, SPRY_TRANSPOSE_YES, (spry_scalar){2, 0}, x,
                                          (spry_scalar){-1, 0}, y));
    assert_ok(ctx, spry_vector_axpy((spry_scalar){-1, 0}, b, y)); /* 2 A x - b - b = 0 */
    assert_true(numeric_norm(y) <= 2 * 1e-9 * numeric_norm(b) + 1e-12 * numeric_norm(x));
    spry_result_clear(ctx, &r[0]);
    spry_result_clear(ctx, &r[1]);
    spry_operator_free(op);
    spry_operator_free(same);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_vector_free(y);
    spry_vector_free(expected);
    spry_kernel_free(l.kernel);
}

/* --- what goes wrong ----------------------------------------------------------------------------
 */

/* The solve ends with the function's status and message, as A or as M. */
static void failures(spry_context *ctx, spry_device *d)
{
    for (int as_precon = 0; as_precon < 2; as_precon++) {
        line l = line_on(ctx, d, SPRY_TYPE_D, true);
        spry_matrix *A = matrix_of(&l);
        spry_operator *op = operator_of(&l), *csr = NULL;
        spry_solver *solver = NULL;
        spry_vector *b = numeric_random(ctx, d, SPRY_TYPE_D, N, 1), *x = NULL;
        assert_ok(ctx, spry_operator_from_matrix(A, d, "csr", &csr));
        assert_ok(ctx, spry_vector_like(b, N, &x));
        assert_ok(ctx, spry_solver_new(ctx, &solver));
        assert_ok(ctx, spry_solver_set(solver, "method=cg tol=1e-9"));
        assert_ok(ctx, spry_solver_set_operator(solver, as_precon ? csr : op));
        if (as_precon)
            assert_ok(ctx, spry_solver_set_precon(solver, op));
        for (l.fail_at = 1; l.fail_at < 8; l.fail_at += 3) {
            l.calls = 0;
            assert_status(ctx, SPRY_STATUS_BAD_INPUT, spry_solve(solver, b, x, NULL));
            support_message_has(ctx, "the caller's product failed: the caller ran out of paper");
        }
        l.calls = l.fail_at = 0;
        assert_ok(ctx, spry_solve(solver, b, x, NULL)); /* all is well again */
        /* What a launch says is reported, too. */
        device_fail_next(d, WORK_LAUNCH, 1);
        spry_vector *y = numeric_random(ctx, d, SPRY_TYPE_D, N, 0);
        assert_status(ctx, SPRY_STATUS_DEVICE, spry_operator_apply(op, b, y));
        support_message_has(ctx, "the caller's product failed");
        support_message_has(ctx, "this launch was asked to fail");
        spry_solver_free(solver);
        spry_operator_free(op);
        spry_operator_free(csr);
        spry_matrix_free(A);
        spry_vector_free(b);
        spry_vector_free(x);
        spry_vector_free(y);
        spry_kernel_free(l.kernel);
    }
}

/* A function that does nothing is no A, and the solve says so by not converging. */
static void does_nothing(spry_context *ctx, spry_device *d)
{
    line l = line_on(ctx, d, SPRY_TYPE_D, true);
    spry_operator *op = operator_of(&l);
    spry_solver *solver = NULL;
    spry_result result = {0};
    spry_vector *b = numeric_random(ctx, d, SPRY_TYPE_D, N, 1), *x = NULL;
    l.lazy = true;
    assert_ok(ctx, spry_vector_like(b, N, &x));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, "method=cg tol=1e-9"));
    assert_ok(ctx, spry_solver_set_operator(solver, op));
    assert_ok(ctx, spry_solve(solver, b, x, &result));
    assert_false(result.converged);
    spry_result_clear(ctx, &result);
    spry_solver_free(solver);
    spry_operator_free(op);
    spry_vector_free(b);
    spry_vector_free(x);
    spry_kernel_free(l.kernel);
}

/* Bytes are what the caller says, and figures of a solve go by them. */
static void bytes(spry_context *ctx, spry_device *d)
{
    line l = line_on(ctx, d, SPRY_TYPE_D, true);
    spry_operator *op = operator_of(&l);
    spry_vector *b = numeric_random(ctx, d, SPRY_TYPE_D, N, 1);
    int64_t found[2];
    for (int k = 0; k < 2; k++) {
        spry_result result = {0};
        assert_ok(ctx, spry_operator_set_bytes(op, (16 + k * 100) * N));
        assert_int_equal(spry_operator_bytes(op), (16 + k * 100) * N);
        spry_vector_free(solve(ctx, op, NULL, "method=cg tol=1e-9", b, &result));
        found[k] = result.bytes_per_iteration;
        spry_result_clear(ctx, &result);
    }
    assert_true(found[0] >= 16 * N);
    /* cg has one product an iteration */
    assert_true(llabs(found[1] - found[0] - 100 * N) <= 100 * N / 10);
    assert_status(ctx, SPRY_STATUS_BAD_USAGE, spry_operator_set_bytes(op, -1));
    assert_int_equal(spry_operator_set_bytes(NULL, 1), SPRY_STATUS_BAD_USAGE);
    spry_operator *none = NULL;
    assert_status(ctx, SPRY_STATUS_BAD_USAGE,
                  spry_operator_from_product(ctx, d, SPRY_TYPE_D, N, N, true, NULL, &l, &none));
    assert_status(
        ctx, SPRY_STATUS_BAD_USAGE,
        spry_operator_from_product(ctx, d, SPRY_TYPE_D, -1, N, true, multiply, &l, &none));
    assert_int_equal(
        spry_operator_from_product(NULL, d, SPRY_TYPE_D, N, N, true, multiply, &l, &none),
        SPRY_STATUS_BAD_USAGE);
    assert_null(none);
    spry_operator_free(op);
    spry_vector_free(b);
    spry_kernel_free(l.kernel);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(methods), DEVICES_TEST(vectors_of_the_host),
                                         DEVICES_TEST(failures), DEVICES_TEST(does_nothing),
                                         DEVICES_TEST(bytes)};
    return DEVICES_RUN(tests);
}
