/* Fused steps y = f .* (alpha A x + beta b) + gamma x + delta y on devices and on the host, and
 * vectors from one precision to the other, against sums in double precision. */
#include "support/devices.h"
#include "support/numeric.h"

#include "device/linalg/operator.h"
#include "device/linalg/step.h"
#include "matrix/entries.h"

#include <spry/spry.h>

#include <math.h>

enum { VECTORS = 4 };

static double size_of(spry_scalar a)
{
    return hypot(a.re, a.im);
}
static spry_scalar times(spry_scalar a, spry_scalar b)
{
    return (spry_scalar){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Each element within (terms + 8) roundings of the sum of the moduli of what is added up. */
static void check_step(spry_context *ctx, const spry_matrix *A, host_step c,
                       spry_vector *const v[VECTORS], const spry_vector *got)
{
    const spry_type type = A->a.type;
    const double eps = numeric_unit(type);
    for (int64_t i = 0; i < A->a.rows; i++) {
        spry_scalar sum = {0, 0};
        double all = 0;
        for (int64_t k = A->a.offsets[i]; k < A->a.offsets[i + 1]; k++) {
            const spry_scalar t = times(value_get(type, A->a.values, k),
                                        value_get(type, v[2]->data, A->a.col_index[k]));
            sum = (spry_scalar){sum.re + t.re, sum.im + t.im};
            all += size_of(t);
        }
        const spry_scalar b = value_get(type, v[1]->data, i), x = value_get(type, v[2]->data, i),
                          y = value_get(type, v[3]->data, i), f = value_get(type, v[0]->data, i);
        spry_scalar to = {c.alpha * sum.re + c.beta * b.re, c.alpha * sum.im + c.beta * b.im};
        to = times(f, to);
        to = (spry_scalar){to.re + c.gamma * x.re + c.delta * y.re,
                           to.im + c.gamma * x.im + c.delta * y.im};
        const double scale = size_of(f) * (fabs(c.alpha) * all + fabs(c.beta) * size_of(b)) +
                             fabs(c.gamma) * size_of(x) + fabs(c.delta) * size_of(y);
        const spry_scalar z = value_get(type, got->data, i);
        const double terms = (double)(A->a.offsets[i + 1] - A->a.offsets[i]) + 8;
        if (!(size_of((spry_scalar){z.re - to.re, z.im - to.im}) <= 4 * terms * eps * scale))
            fail_msg("row %d: (%g, %g), expected (%g, %g)", (int)i, z.re, z.im, to.re, to.im);
    }
    (void)ctx;
}

static void run_step(spry_context *ctx, spry_device *d, const spry_matrix *A, const char *format,
                     host_step c)
{
    spry_operator *op = NULL;
    operator_step *step = NULL;
    spry_vector *v[VECTORS], *on_device[VECTORS] = {NULL}, *got = NULL;
    if (d)
        assert_ok(ctx, spry_operator_from_matrix(A, d, format, &op));
    else
        assert_ok(ctx, spry_operator_from_matrix(A, NULL, format, &op));
    assert_ok(ctx, step_open(op, SPRY_TRANSPOSE_NO, &step));
    for (int k = 0; k < VECTORS; k++) {
        v[k] = numeric_random(ctx, NULL, A->a.type, A->a.rows, 7 + (uint64_t)k);
        assert_ok(ctx, d ? spry_vector_on(d, A->a.type, A->a.rows, NULL, &on_device[k])
                         : spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY,
                                           &on_device[k]));
        assert_ok(ctx, spry_vector_copy(v[k], on_device[k]));
    }
    assert_ok(ctx, spry_vector_new(ctx, A->a.type, A->a.rows, NULL, SPRY_OWN_COPY, &got));
    assert_ok(ctx, step_run(step, c, on_device[0], c.beta != 0 ? on_device[1] : NULL, on_device[2],
                            on_device[3]));
    assert_ok(ctx, spry_vector_copy(on_device[3], got));
    check_step(ctx, A, c, v, got);
    for (int k = 0; k < VECTORS; k++) {
        spry_vector_free(v[k]);
        spry_vector_free(on_device[k]);
    }
    spry_vector_free(got);
    step_free(step);
    spry_operator_free(op);
}

static void run_all(spry_context *ctx, spry_device *d)
{
    static const char *const options[] = {"size=11 type=s", "size=11 type=d", "size=11 type=c",
                                          "size=11 type=z"};
    static const host_step steps[] = {
        {-1, 1, 0, 0}, {-1, 1, 1, 0}, {0.5, 0, 0, 2}, {-0.25, 0.25, 1.5, -0.5}};
    for (int t = 0; t < 4; t++) {
        spry_matrix *A = NULL;
        assert_ok(ctx, spry_generate(ctx, "poisson3d", options[t], &A));
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
            run_step(ctx, d, A, "sell", steps[k]);
        /* one whose products are made whole, and the pass after them */
        if (t == 1 || !d)
            run_step(ctx, d, A, "merge", steps[3]);
        spry_matrix_free(A);
    }
}

static void test_steps(spry_context *ctx, spry_device *d)
{
    run_all(ctx, d);
}

static void test_steps_host(spry_context *ctx, spry_device *d)
{
    (void)d;
    run_all(ctx, NULL);
}

static void test_recast(spry_context *ctx, spry_device *d)
{
    enum { N = 1000 };
    static const spry_type pairs[][2] = {{SPRY_TYPE_D, SPRY_TYPE_S}, {SPRY_TYPE_Z, SPRY_TYPE_C}};
    for (int p = 0; p < 2; p++)
        for (int where = 0; where < 2; where++) {
            spry_vector *v = numeric_random(ctx, NULL, pairs[p][0], N, 3), *x = NULL, *y = NULL,
                        *z = NULL;
            assert_ok(ctx, where ? spry_vector_on(d, pairs[p][0], N, NULL, &x)
                                 : spry_vector_new(ctx, pairs[p][0], N, NULL, SPRY_OWN_COPY, &x));
            assert_ok(ctx, spry_vector_like(x, N, &z));
            assert_ok(ctx, where ? spry_vector_on(d, pairs[p][1], N, NULL, &y)
                                 : spry_vector_new(ctx, pairs[p][1], N, NULL, SPRY_OWN_COPY, &y));
            assert_ok(ctx, spry_vector_copy(v, x));
            assert_ok(ctx, step_recast(0.125, x, y));
            assert_ok(ctx, step_recast(8, y, z));
            spry_vector *got = NULL;
            assert_ok(ctx, spry_vector_new(ctx, pairs[p][0], N, NULL, SPRY_OWN_COPY, &got));
            assert_ok(ctx, spry_vector_copy(z, got));
            for (int64_t i = 0; i < N; i++) { /* powers of two do not round */
                const spry_scalar a = value_get(v->type, v->data, i),
                                  b = value_get(got->type, got->data, i);
                assert_true(b.re == (double)(float)a.re && b.im == (double)(float)a.im);
            }
            spry_vector_free(v);
            spry_vector_free(x);
            spry_vector_free(y);
            spry_vector_free(z);
            spry_vector_free(got);
        }
}

int main(void)
{
    static const devices_test tests[] = {DEVICES_TEST(test_steps), DEVICES_TEST(test_steps_host),
                                         DEVICES_TEST(test_recast)};
    return DEVICES_RUN(tests);
}
