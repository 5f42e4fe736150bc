/* What a solve on a device says is what the same solve on the host says: which x is handed back,
 * and what is said of it. See reference/promises.c for the reasons. */
#include "support/devices.h"

#include "matrix/matrix.h"

#include <math.h>

typedef struct outcome {
    spry_result result;
    double x;
} outcome;

/* Solves with A and b = (size, size, ...), from zeros; keeps an element of x. */
static outcome solve(const spry_matrix *A, double size, const char *device, const char *options,
                     const char *method)
{
    spry_context *ctx = A->ctx;
    outcome o = {.result = SPRY_RESULT_INIT};
    char place[64];
    spry_solver *solver;
    spry_vector *b, *x;
    snprintf(place, sizeof place, "device=%s", device);
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &b));
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.cols, NULL, SPRY_OWN_COPY, &x));
    assert_ok(ctx, spry_vector_fill(b, (spry_scalar){size, 0}));
    assert_ok(ctx, spry_solver_new(ctx, &solver));
    assert_ok(ctx, spry_solver_set(solver, options));
    assert_ok(ctx, spry_solver_set(solver, place));
    if (method)
        assert_ok(ctx, spry_solver_set_method_text(solver, method));
    assert_ok(ctx, spry_solver_set_matrix(solver, A));
    assert_ok(ctx, spry_solve(solver, b, x, &o.result));
    assert_string_equal(o.result.device, device);
    o.x = value_get(x->type, spry_vector_data_const(x), 0).re;
    spry_solver_free(solver);
    spry_vector_free(b);
    spry_vector_free(x);
    return o;
}

static void same_verdict(spry_device *d, const spry_matrix *A, double size, const char *options,
                         const char *method)
{
    outcome on_device = solve(A, size, spry_device_name(d), options, method);
    outcome on_host = solve(A, size, "cpu", options, method);
    if (on_device.result.reason != on_host.result.reason ||
        on_device.result.iterations != on_host.result.iterations ||
        !(fabs(on_device.result.true_residual - on_host.result.true_residual) <=
          1e-10 * on_host.result.true_residual + 1e-14) ||
        !(fabs(on_device.x - on_host.x) <= 1e-10 * fabs(on_host.x)))
        fail_msg("%s: %s after %d, %g, x %g (%s); here %s after %d, %g, x %g (%s)", options,
                 spry_reason_name(on_device.result.reason), (int)on_device.result.iterations,
                 on_device.result.true_residual, on_device.x, on_device.result.detail,
                 spry_reason_name(on_host.result.reason), (int)on_host.result.iterations,
                 on_host.result.true_residual, on_host.x, on_host.result.detail);
    spry_result_clear(A->ctx, &on_device.result);
    spry_result_clear(A->ctx, &on_host.result);
}

/* r falls to 2^-10 |b| and grows again; x is there at each step, or at the end alone. */
static void best_and_last(spry_context *ctx, spry_device *d)
{
    static const char *const methods[] = {
        "method falls \"x at each step\"\n"
        "start:\n    r = b - A x\n    residual |r|\n    k = 0\n"
        "loop:\n    alpha = where(k < 10, 0.5, -9)\n    k = k + 1\n    x = x + alpha r\n"
        "    q = A r\n    r = r - alpha q\n    residual |r|\n",
        "method falls \"x at the end\"\n"
        "start:\n    r = b - A x\n    residual |r|\n    k = 0\n    d = 0 r\n"
        "loop:\n    alpha = where(k < 10, 0.5, -9)\n    k = k + 1\n    d = d + alpha r\n"
        "    q = A r\n    r = r - alpha q\n    estimate |r|\n"
        "finish:\n    x = x + d\n"};
    const double one[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 3, 3, one);
    for (int m = 0; m < 2; m++) {
        same_verdict(d, A, 4, "precon=none max-iter=13 keep=best", methods[m]);
        same_verdict(d, A, 4, "precon=none max-iter=13 keep=last", methods[m]);
        same_verdict(d, A, 4, "precon=none max-iter=13 tol=0 atol=0.1", methods[m]);
        outcome o = solve(A, 4, spry_device_name(d), "precon=none max-iter=13", methods[m]);
        assert_true(fabs(o.result.true_residual - ldexp(1, -10)) <= 1e-14);
        spry_result_clear(ctx, &o.result);
    }
    spry_matrix_free(A);
}

/* x = b / a is no number of the type; squares of columns differ by ten digits. */
static void ranges_and_scales(spry_context *ctx, spry_device *d)
{
    static const double cases[][2] = {{1e-10, 1e300}, {1e200, 1e-200}};
    static const char *const methods[] = {"method=lsqr tol=1e-6", "method=lsmr tol=1e-6",
                                          "method=cgls tol=1e-6"};
    for (int k = 0; k < 2; k++) {
        spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, 1, 1, cases[k]);
        same_verdict(d, A, cases[k][1], "method=cg precon=none", NULL);
        spry_matrix_free(A);
    }
    enum { ROWS = 12, COLS = 4 };
    double entries[ROWS * COLS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            entries[i * COLS + j] =
                (cos(1.0 + 3 * i * j + i) + (i == j ? 3 : 0)) * pow(10, j % 2 == 0 ? 0 : -5);
    spry_matrix *A = support_from_rows(ctx, SPRY_TYPE_D, ROWS, COLS, entries);
    for (int m = 0; m < 3; m++) {
        outcome on_device = solve(A, 1, spry_device_name(d), methods[m], NULL);
        outcome on_host = solve(A, 1, "cpu", methods[m], NULL);
        assert_true(on_device.result.converged && on_host.result.converged);
        assert_true(fabs(on_device.result.true_residual - on_host.result.true_residual) <= 1e-10);
        spry_result_clear(ctx, &on_device.result);
        spry_result_clear(ctx, &on_host.result);
    }
    spry_matrix_free(A);
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(best_and_last),
                                         DEVICES_TEST(ranges_and_scales)};
    return DEVICES_RUN(tests);
}
